"""What the benchmark of extractors counts as found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veridical.bench import triples
from veridical.bench.triples import LabelledPassage, Question
from veridical.errors import InputError, NotFoundError
from veridical.evidence.triples import Extraction, Found

TEXT = "Ada Moe was born in Lom. She sang."
GOLD = ("Ada Moe", "place of birth", "Lom")


def found(head: str, tail: str, start: int = 0, end: int = 24) -> Found:
    return Found(head, "was born in", tail, start, end)


def question(*golds: triples.Pieces, answer: str = "Lom") -> Question:
    passage = LabelledPassage("Ada Moe (singer)", TEXT, ((0, 24), (25, 34)))
    return Question("q", (answer,), golds, (passage, LabelledPassage("Olm", "Olm is a band.", ())))


def figures(asked: Question, *extractions: tuple[Found, ...]) -> dict[str, list[float]]:
    scores = triples.score([asked], [[Extraction(one) for one in extractions]])
    return {metric: [value for _, value in rows] for metric, rows in scores.values.items()}


@pytest.mark.parametrize(
    ("one", "is_found", "is_strict"),
    [
        (found("Ada Moe", "Lom"), True, True),
        (found("ADA MOE", "the Lom"), True, True),
        (found("Ada Birgit Moe", "Lom, Norway"), True, False),
        (found("Moe", "Lom"), True, False),
        (found("Bo Dal", "Lom"), False, False),
        (found("Ada Moe", "Lommedalen"), False, False),
    ],
)
def test_a_gold_triple_is_found_by_its_head_and_tail(one: Found, is_found: bool, is_strict: bool) -> None:
    assert triples.is_found([one], GOLD) is is_found
    assert triples.is_strict(one, GOLD) is is_strict


def test_a_date_in_other_writing_is_the_same_tail() -> None:
    assert triples.same_tail("May 12, 1932", "12 May 1932")
    assert not triples.same_tail("May 12, 1932", "13 May 1932")


def test_a_triple_of_another_passage_counts_but_not_as_of_its_own() -> None:
    values = figures(question(GOLD), (), (found("Ada Moe", "Lom"),))
    assert values["recall"] == [1.0]
    assert values["recall, own passage"] == [0.0]
    assert values["strict recall"] == [1.0]


def test_each_supporting_sentence_is_covered_or_not() -> None:
    values = figures(question(GOLD), (found("Ada Moe", "Lom"),), ())
    assert values["supporting sentences covered"] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("answer", "in_tail", "in_triple"), [("Lom", [1.0], [1.0]), ("Ada Moe", [0.0], [1.0]), ("yes", [], [])]
)
def test_an_answer_is_looked_for_where_a_supporting_passage_says_it(
    answer: str, in_tail: list[float], in_triple: list[float]
) -> None:
    values = figures(question(GOLD, answer=answer), (found("Ada Moe", "Lom"),), ())
    assert (values["answer in a tail"], values["answer in a triple"]) == (in_tail, in_triple)


def test_figures_are_shares_by_metric_and_by_relation() -> None:
    asked = question(GOLD, ("Ada Moe", "spouse", "Bo Dal"))
    scores = triples.score([asked], [[Extraction((found("Ada Moe", "Lom"),)), Extraction(())]])
    rows = triples.summarise("set", "mine", scores, 100.0)
    values = {(row.setting, row.metric): row.value for row in rows}
    assert values["all", "recall"] == 0.5
    assert values["relation: spouse", "recall"] == 0.0
    assert values["all", "triples a passage"] == 0.5
    assert values["all", "passages a second"] == 100.0
    assert "relation: place of birth" in triples.table(rows)


def test_questions_are_read_with_the_places_of_their_supporting_sentences(tmp_path: Path) -> None:
    passage = {
        "title": "T",
        "text": TEXT,
        "sentences": ["Ada Moe was born in Lom. ", "She sang."],
        "supporting": [1],
    }
    row = {"id": 1, "answers": ["Lom"], "triples": [GOLD], "passages": [passage, {"text": "No title."}]}
    (tmp_path / "some.jsonl").write_text(json.dumps(row) + "\n\n", "utf-8")
    [asked] = triples.read(tmp_path, "some")
    assert asked.triples == (GOLD,)
    assert asked.passages == (LabelledPassage("T", TEXT, ((25, 34),)), LabelledPassage("", "No title.", ()))


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"id": 1}', '{"id": 1, "answers": [], "passages": [], "triples": [1]}']
)
def test_a_line_that_is_no_question_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "some.jsonl").write_text(line, "utf-8")
    with pytest.raises(InputError, match=r"some\.jsonl, line 1"):
        triples.read(tmp_path, "some")


def test_a_data_set_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="'some'"):
        triples.read(tmp_path, "some")
