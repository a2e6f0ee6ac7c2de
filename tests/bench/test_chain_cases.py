"""What a method gets of a question: passages by nearness, their triples, and trust over the whole corpus."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from multihops import (
    ATTACKED,
    MORA,
    ORSA,
    QUESTIONS,
    ByHand,
    Near,
    passage,
    read_towns,
    the_case,
    the_claims,
    the_library,
)

from veridical.bench import chain_cases, protocol
from veridical.bench.chain_cases import all_claims, believed, library, related, without_poison
from veridical.bench.multihop import attacked


def turned(question, order):
    return replace(question, passages=tuple(question.passages[i] for i in order))


def test_passages_are_ordered_by_their_cosine_and_everything_follows():
    (case,) = library([turned(ATTACKED, (3, 2, 0, 1))], Near()).cases
    assert [own.id for own in case.passages] == ["p1", "p2", "p3", "p4"]
    np.testing.assert_allclose(case.cosines, [0.9, 0.8, 0.7, 0.4], atol=1e-6)
    assert case.documents.tolist() == [2, 3, 1, 0]
    assert case.false.tolist() == [True, False, False, False]
    assert case.supporting == {1, 2}
    titled = case.titled()
    assert list(titled) == [1, 2, 3, 4]
    title, first = titled[1]
    assert (title, first.id, first.text) == ("Ada Lind", 1, "Ada Lind was born in Uppsala.")
    assert (first.start, first.end) == (0, len(first.text))


def test_passages_are_encoded_with_their_titles_as_an_index_does():
    encode = Near()
    library([replace(ATTACKED, passages=ATTACKED.passages[2:4])], encode)
    assert encode.texts == [
        ["Orsa Bridge\nThe Orsa Bridge was designed by Ada Lind.", "Tea is served at four."],
        [ATTACKED.text],
    ]


def test_a_text_that_questions_share_is_one_document_and_one_under_another_title_is_not():
    tea = ATTACKED.passages[3]
    other = replace(MORA, passages=(replace(tea, id="again"), replace(tea, title="Drinks")))
    found = the_library(ATTACKED, other)
    assert len(found.corpus.texts) == len(found.titles) == len(found.vectors) == 7
    assert found.titles[3] == "Tea"
    assert found.titles[6] == "Drinks"
    assert sorted(found.cases[1].documents.tolist()) == [3, 6]
    assert found.corpus.true.tolist() == [False, *[True] * 6]


def test_the_corpus_knows_which_documents_are_a_questions_own():
    (asked,) = the_library().corpus.asked
    assert (asked.id, asked.own_false, asked.own_true) == ("orsa", {0}, {1, 2, 3, 4, 5})


def test_without_its_poison_a_case_has_the_same_passages_but_one():
    case = the_case()
    clean = without_poison(case)
    assert [own.id for own in clean.passages] == ["p2", "p3", "p4", "p5", "p6"]
    assert clean.question.passages == clean.passages
    assert clean.documents.tolist() == case.documents.tolist()[1:]
    assert clean.cosines.tolist() == case.cosines.tolist()[1:]
    assert clean.supporting == {0, 1}
    assert not clean.false.any()
    assert clean.question.wrong_answer == "Uppsala"
    assert without_poison(clean).passages == clean.passages


def test_triples_are_numbered_in_the_passages_order_and_know_their_place():
    stated = the_claims(the_case())
    assert [t.id for t in stated.triples] == [1, 2, 3, 4]
    assert [t.passage_id for t in stated.triples] == [1, 2, 3, 4]
    assert stated.triples[2].sentence.text == "The Orsa Bridge was designed by Ada Lind."
    assert {t.extractor for t in stated.triples} == {"by-hand"}
    np.testing.assert_allclose(stated.vectors[:, 0], [0.9, 0.8, 0.7, 0.4], atol=1e-6)


def test_credibilities_go_to_the_triples_one_by_one():
    stated = the_claims(the_case())
    given = stated.with_credibility(np.array([0.1, 1.0, 0.5, 0.0]))
    assert [t.credibility for t in given] == [0.1, 1.0, 0.5, 0.0]
    assert [t.credibility for t in stated.triples] == [None] * 4


def test_each_passage_is_seen_once_however_many_questions_it_belongs_to():
    found = the_library(ATTACKED, turned(replace(ATTACKED, id="again"), (2, 0)))
    extractor, encode = ByHand(), Near()
    both = all_claims(found, extractor, encode)
    assert len(extractor.calls) == 1
    assert len(extractor.calls[0]) == len(set(extractor.calls[0])) == 6
    assert len(encode.texts) == 1
    assert len(encode.texts[0]) == 4
    for stated, case in zip(both, found.cases, strict=True):
        alone = the_claims(case)
        assert stated.triples == alone.triples
        np.testing.assert_array_equal(stated.vectors, alone.vectors)
    assert [len(stated.triples) for stated in both] == [4, 2]


def test_a_case_without_triples_has_no_rows_of_vectors():
    bare = replace(ATTACKED, id="bare", passages=ATTACKED.passages[4:])
    stated = all_claims(the_library(bare, ATTACKED), ByHand(), Near())
    assert stated[0].triples == ()
    assert stated[0].vectors.shape == (0, 2)
    (alone,) = all_claims(the_library(bare), ByHand(), Near())
    assert alone.vectors.shape == (0, 2)


def test_gold_answers_and_labels_reach_neither_extractor_nor_encoder():
    bare = replace(
        ATTACKED,
        answers=("plugh",),
        wrong_answer="plugh wrong",
        passages=tuple(replace(p, id="plugh", label="factual", supporting=False) for p in ATTACKED.passages),
    )
    heard = []
    for question in (ATTACKED, bare):
        extractor, encode = ByHand(), Near()
        all_claims(library([question], encode), extractor, encode)
        heard.append((extractor.calls, encode.texts))
    assert heard[0] == heard[1]
    assert "plugh" not in repr(heard[1])


def graph_of(found):
    return related(found, Near(), read_towns)


def test_passages_that_name_another_town_contradict_and_copies_have_one_voice():
    copy = passage("copy", "Lind, Ada", "Ada Lind was born in Malmo.")
    found = the_library(replace(ATTACKED, passages=(*ATTACKED.passages, copy)))
    graph = graph_of(found)
    signs = {
        (int(low), int(high)): int(sign)
        for low, high, sign in zip(graph.heads, graph.tails, graph.signs, strict=True)
    }
    assert signs[0, 1] == signs[0, 6] == -1
    assert graph.n_sources == 0
    assert graph.voice_group[1] == graph.voice_group[6] != graph.voice_group[0]


def test_what_is_judged_and_what_contradicts_it_is_believed_or_not():
    found = the_library(*attacked(QUESTIONS).under("substituted"))
    true = found.corpus.true
    trust = believed(graph_of(found), true, 1.0, seed=0)
    assert trust.shape == (len(found.titles),)
    assert (trust[true] > 0.5).all()
    assert (trust[~true] < 0.5).all()


def test_of_a_corpus_that_nobody_judged_nothing_is_known():
    found = the_library(ATTACKED)
    bare = protocol.source_graph(len(found.titles), None)
    assert np.isnan(believed(bare, found.corpus.true, 0.0, seed=0)).all()
    once, again = (believed(bare, found.corpus.true, 0.4, seed=1) for _ in range(2))
    assert np.isnan(once).sum() == 4  # 2 of 5 true ones were judged, and 0 of 1
    np.testing.assert_array_equal(once, again)


def test_a_question_without_passages_is_a_case_without_any():
    found = library([replace(ORSA, passages=()), ATTACKED], Near())
    assert found.cases[0].passages == ()
    assert found.cases[0].supporting == frozenset()
    assert all_claims(found, ByHand(), Near())[0].triples == ()
    assert chain_cases.without_poison(found.cases[0]).passages == ()
