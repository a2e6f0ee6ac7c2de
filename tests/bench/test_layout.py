"""What is indexed and asked: copies, titles and sources that would tell true from false are not left to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from veridical.bench import protocols
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.layout import Layout, lay_out, pools, without_false
from veridical.bench.protocols import Protocol, Publishing, Sample

N = 12


def questions(n_copies: int = 2, **of_false: str) -> list[Question]:
    """Each with two true passages and a false one that is there several times."""
    found = []
    for place in range(N):
        true = [
            LabelledPassage(f"q{place}-t{i}", f"True {place} {i}.", "factual", title=f"Title {place}")
            for i in range(2)
        ]
        false = [
            LabelledPassage(f"q{place}-f{i}", f"False {place}.", "misinformation", **of_false)
            for i in range(n_copies)
        ]
        found.append(Question(f"q{place}", f"Question {place}?", (f"{place} 0",), (*true, *false), "wrong"))
    return found


def protocol(**changed: object) -> Protocol:
    return replace(protocols.load("trustprop"), **{"sample": Sample(10, 5, 3), **changed})  # type: ignore[arg-type]


def laid_out(
    asked: list[Question], attack: str = "own", n_asked: int | None = None, **changed: object
) -> Layout:
    clean = [without_false(question) for question in asked]
    return lay_out("made", attack, clean, asked, protocol(**changed), seed=0, n_asked=n_asked)


def test_as_many_questions_are_indexed_and_asked_as_the_protocol_says() -> None:
    layout = laid_out(questions())
    assert len(layout.questions) == len(layout.corpus.asked) == 5
    assert len(layout.corpus.others) == 5
    assert int(layout.corpus.true.sum()) == 20
    assert int((~layout.corpus.true).sum()) == 10


def test_a_text_that_a_question_holds_many_times_is_as_many_documents() -> None:
    layout = laid_out(questions(n_copies=7))
    assert all(len(asked.own_false) == 7 for asked in layout.corpus.asked)


def test_a_text_that_questions_share_is_one_document() -> None:
    shared = LabelledPassage("s", "Both hold this.", "factual", title="Shared")
    asked = [replace(question, passages=(*question.passages, shared)) for question in questions()]
    layout = laid_out(asked)
    assert layout.corpus.texts.count("Both hold this.") == 1
    number = layout.corpus.texts.index("Both hold this.")
    assert all(number in asked.own_true for asked in layout.corpus.asked)


def test_the_same_questions_are_asked_whatever_the_attack() -> None:
    own, clean = laid_out(questions()), laid_out([without_false(q) for q in questions()], "clean")
    assert [q.id for q in own.questions] == [q.id for q in clean.questions]


def test_a_question_that_an_attack_leaves_alone_is_indexed_and_not_asked() -> None:
    asked = questions()
    asked = [without_false(question) if question.id in ("q1", "q3", "q5") else question for question in asked]
    layout = laid_out(asked)
    assert not {"q1", "q3", "q5"} & {question.id for question in layout.questions}
    assert int(layout.corpus.true.sum()) == 20


def test_fewer_questions_may_be_asked_of_the_same_corpus() -> None:
    few, all_of_them = laid_out(questions(), n_asked=2), laid_out(questions())
    assert few.corpus.texts == all_of_them.corpus.texts
    assert few.questions == all_of_them.questions[:2]


def test_a_false_passage_without_a_title_gets_a_true_one_of_its_question() -> None:
    layout = laid_out(questions())
    for asked in layout.corpus.asked:
        titles = {layout.titles[document] for document in asked.own_true}
        assert {layout.titles[document] for document in asked.own_false} == titles
    assert any("had no title" in note for note in layout.notes)


def test_titles_are_left_out_where_true_passages_lack_them() -> None:
    asked = [
        replace(
            question,
            passages=tuple(replace(p, title="") if p.id.endswith("t0") else p for p in question.passages),
        )
        for question in questions(title="Only the false one has it")
    ]
    layout = laid_out(asked)
    assert set(layout.titles) == {""}
    assert any("titles are left out" in note for note in layout.notes)


def test_dates_are_left_out_where_having_one_would_tell() -> None:
    assert set(laid_out(questions(date="2020-01-01")).dates) == {None}
    asked = [
        replace(question, passages=tuple(replace(p, date="2020-01-01") for p in question.passages))
        for question in questions()
    ]
    assert set(laid_out(asked).dates) == {"2020-01-01"}


def test_a_false_passage_without_a_source_gets_one_of_a_true_passage() -> None:
    asked = [
        replace(
            question,
            passages=tuple(
                replace(p, source=f"https://news{place % 3}.example.com/{p.id}")
                if p.label == "factual"
                else p
                for p in question.passages
            ),
        )
        for place, question in enumerate(questions())
    ]
    layout = laid_out(asked, publishing=Publishing("own"))
    assert set(layout.sources) == {"example.com"}
    assert layout.source_of is not None and set(layout.source_of.tolist()) == {0}
    assert any("had no source" in note for note in layout.notes)


def test_simulated_sources_misfile_a_share() -> None:
    pure = laid_out(questions(), publishing=Publishing("simulated", wrong=0.0))
    assert pure.source_of is not None
    assert ((pure.source_of < 20) == pure.corpus.true).all()
    wrong = laid_out(questions(), publishing=Publishing("simulated", wrong=1.0))
    assert wrong.source_of is not None
    assert ((wrong.source_of < 20) == ~wrong.corpus.true).all()


@pytest.mark.parametrize("kind", ["none", "own"])
def test_without_sources_nobody_publishes(kind: str) -> None:
    layout = laid_out(questions(), publishing=Publishing(kind))  # type: ignore[arg-type]
    assert layout.source_of is None
    assert set(layout.sources) == {None}


def unit_rows(n: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, 8)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_nearest_passages_of_the_corpus_come_first() -> None:
    layout = laid_out(questions())
    texts, asked = unit_rows(len(layout.corpus.texts), 1), unit_rows(len(layout.questions), 2)
    for pool, vector in zip(pools(layout, texts, asked, protocol(n_pool=6)), asked, strict=True):
        assert len(pool.documents) == 6
        assert (np.diff(pool.similarity) <= 0).all()
        assert pool.similarity[0] == pytest.approx(float((texts @ vector).max()))


def test_a_question_can_be_left_with_its_own_passages() -> None:
    layout = laid_out(questions())
    texts, asked = unit_rows(len(layout.corpus.texts), 1), unit_rows(len(layout.questions), 2)
    for order in ("similarity", "shuffled"):
        found = pools(layout, texts, asked, protocol(pool="question", order=order))
        for pool, own in zip(found, layout.corpus.asked, strict=True):
            assert set(pool.documents.tolist()) == own.own_true | own.own_false


@pytest.mark.parametrize("change", ["text", "answer", "source", "attack"])
def test_the_digest_tells_corpora_apart(change: str) -> None:
    asked = questions()
    first = asked[0].passages[0]
    if change == "text":
        asked[0] = replace(asked[0], passages=(replace(first, text="Another."), *asked[0].passages[1:]))
    if change == "answer":
        asked = [replace(question, answers=("other",)) for question in asked]
    publishing = Publishing("simulated", wrong=0.5 if change == "source" else 0.0)
    attack = "another" if change == "attack" else "own"
    base = laid_out(questions(), publishing=Publishing("simulated", wrong=0.0))
    everything = Sample(N, N, 1)
    base = laid_out(questions(), sample=everything, publishing=Publishing("simulated", wrong=0.0))
    other = laid_out(asked, attack, sample=everything, publishing=publishing)
    again = laid_out(questions(), sample=everything, publishing=Publishing("simulated", wrong=0.0))
    assert base.digest() == again.digest() != other.digest()
    assert base.digest("one encoder") != base.digest("another")


def test_dates_that_are_part_of_an_attack_are_kept_though_they_tell() -> None:
    asked = questions(date="2020-01-02")
    clean = [without_false(question) for question in asked]
    left_out = lay_out("made", "own", clean, asked, protocol(), seed=0)
    kept = lay_out("made", "own", clean, asked, protocol(), seed=0, keep_dates=True)
    assert not any(left_out.dates)
    assert "2020-01-02" in kept.dates
    assert "0% of the true passages and 100% of the false ones have dates" in " ".join(kept.notes)
