"""Edges over all pairs of a corpus are held against what labels and answers say."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.bench.datasets.questions import Label, LabelledPassage, Question
from veridical.bench.relation_corpus import RelationCorpus, draw, found_kinds, questions_of_pairs, score
from veridical.bench.relation_scores import Judged, corpus_results, pair_results, show
from veridical.bench.relations import Case
from veridical.graph.evidence import SURE, Rows

TEXTS: list[tuple[str, Label]] = [
    ("The office is in Oslo.", "factual"),
    ("Oslo has the office.", "factual"),
    ("The office opens at nine.", "factual"),
    ("The office is in Bergen.", "misinformation"),
    ("Bergen has the office.", "misinformation"),
    ("The office is elsewhere.", "misinformation"),
]


def question(name: str, texts: list[tuple[str, Label]]) -> Question:
    own = tuple(LabelledPassage(f"{name}{i}", text, label) for i, (text, label) in enumerate(texts))
    return Question(name, "Where is the office?", ("Oslo",), own, "Bergen")


@pytest.fixture
def corpus() -> RelationCorpus:
    other: list[tuple[str, Label]] = [("Cats sleep a lot.", "factual"), ("Oslo has cats.", "factual")]
    return draw([question("q", TEXTS), question("r", other)], 100)


def place(corpus: RelationCorpus, *texts: str) -> tuple[int, int]:
    left, right = sorted(corpus.texts.index(text) for text in texts)
    return left, right


def rows(*edges: tuple[tuple[int, int], int, float]) -> Rows:
    ends = np.array([pair for pair, _, _ in edges], dtype=np.int64).reshape(-1, 2)
    signs = np.array([sign for _, sign, _ in edges], dtype=np.int64)
    weights = np.array([weight for _, _, weight in edges], dtype=float)
    answered = np.ones(len(edges), dtype=np.bool_)
    return Rows(ends[:, 0], ends[:, 1], signs, weights, answered, np.zeros(len(edges)))


def test_pairs_stand_as_their_passages_answer(corpus: RelationCorpus) -> None:
    oslo, oslo_too, silent, bergen, bergen_too, vague = (text for text, _ in TEXTS)
    assert corpus.strict[place(corpus, oslo, oslo_too)] == "supports"
    assert corpus.strict[place(corpus, bergen, bergen_too)] == "supports"
    assert corpus.strict[place(corpus, oslo, bergen)] == "contradicts"
    assert corpus.strict[place(corpus, oslo, silent)] == "neither"
    for unclear in ((silent, bergen), (vague, oslo), (vague, bergen)):
        assert corpus.strict[place(corpus, *unclear)] is None
        assert corpus.by_label[place(corpus, *unclear)] is not None
    assert place(corpus, oslo, "Oslo has cats.") not in corpus.strict


def test_outdated_passages_contradict_current_ones_and_say_nothing_of_one_another() -> None:
    texts: list[tuple[str, Label]] = [
        ("It is in Oslo.", "factual"),
        ("It is in Rome.", "outdated"),
        ("It is in Paris.", "outdated"),
    ]
    found = draw([question("q", texts)], 10)
    assert found.strict[0, 1] == "contradicts"
    assert found.strict[1, 2] is None


def test_questions_are_drawn_until_there_are_enough_documents() -> None:
    asked = [question(str(i), [(f"{text} {i}", label) for text, label in TEXTS]) for i in range(9)]
    found = draw(asked, 13, seed=3)
    assert len(found.texts) == 18
    assert len(found.questions) == 3
    assert found.n_pairs == 18 * 17 // 2


def test_an_edge_counts_where_it_can_be_said_whether_it_is_right(corpus: RelationCorpus) -> None:
    oslo, oslo_too, _, bergen, _, vague = (text for text, _ in TEXTS)
    edges = found_kinds(
        rows(
            (place(corpus, oslo, bergen), -1, 0.9),
            (place(corpus, oslo, oslo_too), -1, 0.8),
            (place(corpus, vague, oslo), -1, 0.7),
            (place(corpus, oslo, "Cats sleep a lot."), -1, 0.6),
            (place(corpus, oslo_too, bergen), -1, 0.1),
        ),
        0.5,
    )
    found = score(corpus, corpus.strict, edges, "contradicts")
    assert sorted(found.right) == [False, False, True]
    assert sum(found.found) == 1
    assert len(found.found) == 4
    asked = questions_of_pairs([("s", [0, 1, 6])])
    again = score(corpus, corpus.strict, edges, "contradicts", asked)
    assert set(again.found_of) == {"q"}


def test_the_results_of_a_corpus_have_precision_recall_and_the_share_of_pairs_examined(
    corpus: RelationCorpus,
) -> None:
    oslo, oslo_too, _, bergen, _, _ = (text for text, _ in TEXTS)
    found = rows((place(corpus, oslo, bergen), -1, SURE), (place(corpus, oslo, oslo_too), 1, SURE / 2))
    results = corpus_results("made", corpus, {"answers": (found, 7)}, [("q", range(6))])
    by_name = {(r.setting, r.metric): r.value for r in results}
    assert by_name["corpus, strict", "contradicts precision"] == 1.0
    assert by_name["corpus, strict", "contradicts recall"] == 0.25
    assert by_name["corpus, strict", "supports recall"] == 0.0
    assert by_name["corpus", "pairs examined"] == 7 / corpus.n_pairs
    assert by_name["curve: contradicts, weight at least 0.2", "recall"] == 0.25
    assert by_name["curve: supports, weight at least 0.9", "recall"] == 0.0
    text = show(results)
    assert "made: all pairs of the corpus, strict" in text
    assert "0.250 [" in text
    assert "1.00 / 0.25" in text


def case(expected: str, family: str = "fakes", name: str = "q") -> Case:
    return Case(name, "?", "a", "b", expected, expected, family)  # type: ignore[arg-type]


def test_a_judge_that_knows_all_scores_one_and_one_that_knows_nothing_a_half() -> None:
    cases = [case("contradicts", name="q"), case("supports", name="r"), case("neither", name="q")]
    support, contradiction = np.array([0.0, 0.9, 0.0]), np.array([0.9, 0.0, 0.1])
    judged = {
        "knows": Judged.of_answers(support, contradiction),
        "does not": Judged.of_answers(np.zeros(3), np.zeros(3)),
    }
    found = {(r.setting, r.method, r.metric): r.value for r in pair_results("made", cases, judged)}
    assert found["fakes", "knows", "AUC"] == 1.0
    assert found["fakes", "does not", "AUC"] == 0.5
    assert found["pairs", "knows", "contradicts precision"] == 1.0
    assert found["pairs", "knows", "supports recall"] == 1.0
    assert found["pairs", "does not", "supports recall"] == 0.0
    assert np.isnan(found["pairs", "does not", "supports precision"])
    assert found["kind: neither (neither)", "knows", "contradicts"] == 0.0


def test_of_several_judges_the_one_whose_word_is_worth_most_is_heard() -> None:
    inference = Judged.of_inference(np.array([0.9, 0.9]), np.array([0.0, 0.0]))
    answers = Judged.of_answers(np.array([0.0, 0.0]), np.array([0.9, 0.1]))
    both = Judged.worthiest([inference, answers])
    assert both.kinds.tolist() == [-1, 1]
    assert both.ratio[0] > both.ratio[1]
