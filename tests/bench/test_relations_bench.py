"""Pairs whose relation is known: which are made of a question, and how a judge is scored on them."""

from __future__ import annotations

import numpy as np

from veridical.bench.datasets.questions import Label, LabelledPassage, Question
from veridical.bench.relations import (
    MAX_PAIRS,
    Case,
    argued,
    cases_of,
    clear_wrong,
    mend,
    sets_against,
)

REAL = "The office is in Oslo, by the harbour."
REAL_TOO = "Oslo has been the seat of the office since 1990."
SILENT = "The office opens at nine."
FAKE = "The office is in Bergen, not in Oslo."
FAKE_TOO = "Reports agree that Bergen is where the office is."


def question(
    *passages: tuple[str, Label], wrong: str | None = "Bergen", choices: tuple[str, ...] = ()
) -> Question:
    own = tuple(LabelledPassage(f"p{i}", text, label) for i, (text, label) in enumerate(passages))
    return Question("q1", "Where is the office?", ("Oslo",), own, wrong, choices=choices)


def kinds(cases: list[Case]) -> dict[str, set[tuple[str, str]]]:
    found: dict[str, set[tuple[str, str]]] = {}
    for case in cases:
        found.setdefault(f"{case.kind} {case.expected}", set()).add((case.left, case.right))
    return found


def cases(asked: Question, other: str | None = None) -> dict[str, set[tuple[str, str]]]:
    return kinds(cases_of(asked, np.random.default_rng(0), other))


def test_fakes_and_real_passages_contradict_and_those_of_one_kind_support_each_other() -> None:
    found = cases(
        question(
            (REAL, "factual"),
            (REAL_TOO, "factual"),
            (SILENT, "factual"),
            (FAKE, "misinformation"),
            (FAKE_TOO, "misinformation"),
        )
    )
    assert found["fake and real contradicts"] == {(f, r) for f in (FAKE, FAKE_TOO) for r in (REAL, REAL_TOO)}
    assert found["two real supports"] == {(REAL, REAL_TOO)}
    assert found["two fakes supports"] == {(FAKE, FAKE_TOO)}
    assert found["real with and without neither"] == {(REAL, SILENT), (REAL_TOO, SILENT)}


def test_a_changed_real_passage_contradicts_real_ones_and_supports_fakes() -> None:
    found = cases(question((REAL, "factual"), (REAL_TOO, "factual"), (FAKE, "misinformation")))
    changed, changed_too = REAL.replace("Oslo", "Bergen"), REAL_TOO.replace("Oslo", "Bergen")
    assert found["changed real and real contradicts"] == {(changed, REAL_TOO), (changed_too, REAL)}
    assert found["changed real and fake supports"] == {(changed, FAKE), (changed_too, FAKE)}
    mended = "The office is in Oslo, not in Bergen."
    assert found["mended fake and real supports"] == {(mended, REAL), (mended, REAL_TOO)}


def test_style_neutral_pairs_are_told_apart() -> None:
    asked = question((REAL, "factual"), (REAL_TOO, "factual"), (FAKE, "misinformation"))
    for case in cases_of(asked, np.random.default_rng(0)):
        assert (case.family == "style-neutral") == ("changed" in case.kind or "mended" in case.kind)


def test_a_fake_that_does_not_name_the_wrong_answer_is_unclear() -> None:
    vague = "The office is somewhere else altogether."
    asked = question((REAL, "factual"), (vague, "misinformation"), (FAKE, "misinformation"))
    unclear = [c for c in cases_of(asked, np.random.default_rng(0)) if c.family == "unclear"]
    assert kinds(unclear) == {
        "unclear fake and real contradicts": {(vague, REAL)},
        "two fakes, one unclear supports": {(vague, FAKE)},
    }


def test_a_fake_that_sets_the_right_answer_against_the_wrong_one_is_unclear() -> None:
    asked = question((FAKE, "misinformation"), ("It is in Oslo, and not in Bergen.", "misinformation"))
    assert [argued(asked, passage) for passage in asked.passages] == ["Bergen", None]
    assert sets_against("It is Oslo, by the sea, rather than Bergen.", ["Oslo"], ["Bergen"])
    assert not sets_against("It is in Oslo. It is not in Bergen.", ["Oslo"], ["Bergen"])
    assert not sets_against("In Oslo it was not until Bergen fell.", ["Oslo"], ["Bergen"])
    assert not sets_against("Oslo, not Bergen.", [], ["Bergen"])


def test_a_wrong_answer_that_overlaps_a_right_one_argues_for_nothing() -> None:
    assert clear_wrong(question((REAL, "factual"), wrong="Oslo harbour")) == ()
    assert clear_wrong(question((REAL, "factual"), wrong="Bergen")) == ("Bergen",)


def test_where_choices_are_offered_fakes_of_two_choices_contradict_each_other() -> None:
    other = "The office is in Trondheim."
    asked = question(
        (REAL, "factual"),
        (FAKE, "misinformation"),
        (other, "misinformation"),
        wrong=None,
        choices=("Oslo", "Bergen", "Trondheim"),
    )
    assert argued(asked, asked.passages[1]) == "Bergen"
    found = cases(asked)
    assert found["two fakes apart contradicts"] == {(FAKE, other)}
    changed = REAL.replace("Oslo", "Bergen")
    assert (changed, FAKE) in found["changed real and fake supports"]
    assert (changed, other) in found["changed real and fake apart contradicts"]


def test_current_and_outdated_passages_contradict_and_changed_ones_agree_with_each_other() -> None:
    old = "The office is in Bergen."
    asked = question((REAL, "factual"), (REAL_TOO, "factual"), (old, "outdated"), wrong=None)
    found = cases(asked, "Tromso")
    assert found["current and outdated contradicts"] == {(REAL, old), (REAL_TOO, old)}
    assert found["two changed real supports"] == {
        (REAL.replace("Oslo", "Tromso"), REAL_TOO.replace("Oslo", "Tromso"))
    }


def test_one_question_gives_only_so_many_pairs_of_a_kind() -> None:
    real = [(f"Oslo has office number {i}.", "factual") for i in range(20)]
    found = cases_of(question(*real), np.random.default_rng(0))  # type: ignore[arg-type]
    assert len(found) == MAX_PAIRS


def test_a_mended_fake_argues_for_the_right_answer_and_refutes_the_wrong_one() -> None:
    assert mend(FAKE, ["Oslo"], "Bergen", [REAL]) == "The office is in Oslo, not in Bergen."
    assert mend("Nobody knows.", ["Oslo"], "Bergen", [REAL]) is None
    assert mend(FAKE, ["Kristiania"], "Bergen", [REAL]) is None
