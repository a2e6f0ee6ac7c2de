"""Marks of chains and answers, each counted by hand on one question of six passages."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from multihops import ATTACKED, Near, the_case, the_claims

from veridical.answer.chain_context import source_context, triple_context
from veridical.bench.chain_cases import library, without_poison
from veridical.bench.chain_marks import (
    ANSWER_MARKS,
    CHAIN_MARKS,
    answer_marks,
    chain_marks,
    false_lines,
    plain_marks,
)
from veridical.types import Chain, ChainOption, ChainStep, Hop, Span, Trace, Triple

FALSE, TRUE, DESIGN, TEA = 1, 2, 3, 4  # triples; each is of the passage of its number


def traced(*chains, offered=(), triples=None):
    """A trace with these chains of triple ids, at whose only step some triples were offered."""
    found = the_claims(the_case()).triples if triples is None else triples
    options = (
        ChainOption("A", None, 0.5),
        *(ChainOption("B", i, 0.5 / len(offered), kept=False) for i in offered),
    )
    hops = (Hop(1, (ChainStep((), 1.0, options),)),)
    return Trace(
        "?",
        tuple(found),
        hops,
        tuple(Chain(own, 0.5, True) for own in chains),
        "hand",
        "hand",
        "none",
        "tbs",
        n_triples=len(found),
        n_prompts=7,
    )


def marked(*chains, offered=(), case=None, triples=None):
    own = case or the_case()
    found = the_claims(the_case()).triples if triples is None else triples
    return chain_marks(own, found, traced(*chains, offered=offered, triples=found))


def asked(**changes):
    """The case with its question changed."""
    case = the_case()
    return replace(case, question=replace(case.question, **changes))


def test_every_mark_of_three_chains_is_as_counted_by_hand():
    found = marked((TRUE, DESIGN), (DESIGN, FALSE), (TEA,), offered=(FALSE, TRUE, DESIGN))
    assert found == {
        "support recall": 1.0,
        "poisoned chains": pytest.approx(1 / 3),
        "context poisoned": 1.0,
        "answer extracted": 1.0,
        "answer offered": 1.0,
        "answer chosen": 1.0,
        "wrong extracted": 1.0,
        "wrong offered": 1.0,
        "wrong chosen": 1.0,
        "triples": 4.0,
        "prompts": 7.0,
        "chosen triples": 4.0,
        "best chain": 2.0,
    }
    assert set(found) == set(CHAIN_MARKS)


def test_support_is_what_the_chains_hold_of_the_passages_that_are_needed():
    assert marked((DESIGN, TEA))["support recall"] == 0.5
    assert marked((TEA, FALSE))["support recall"] == 0.0
    assert marked((DESIGN,), (TRUE,))["support recall"] == 1.0


def test_clean_chains_are_not_poisoned_by_what_was_only_offered():
    found = marked((TRUE, DESIGN), offered=(FALSE,))
    assert (found["poisoned chains"], found["context poisoned"]) == (0.0, 0.0)
    assert (found["wrong extracted"], found["wrong offered"], found["wrong chosen"]) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    ("chains", "offered", "stages"),
    [
        (((TRUE,),), (TRUE,), (1.0, 1.0, 1.0)),
        (((DESIGN,),), (TRUE, DESIGN), (1.0, 1.0, 0.0)),
        (((DESIGN,),), (DESIGN,), (1.0, 0.0, 0.0)),
    ],
)
def test_the_answer_is_lost_at_the_stage_that_dropped_it(chains, offered, stages):
    found = marked(*chains, offered=offered)
    assert tuple(found[f"answer {stage}"] for stage in ("extracted", "offered", "chosen")) == stages


def test_an_answer_that_no_triple_bears_was_not_extracted():
    others = [t for t in the_claims(the_case()).triples if t.id != TRUE]
    assert marked((DESIGN,), triples=others)["answer extracted"] == 0.0


def test_the_poison_bears_no_right_answer_and_true_passages_no_wrong_one():
    def said(number, place, tail):
        return Triple(number, place, place, "Ada Lind", "was born in", tail, Span("", 0, 0), "hand")

    swapped = (said(1, 1, "Malmo"), said(2, 2, "Uppsala"))
    found = marked((1, 2), offered=(1, 2), triples=swapped)
    assert [
        found[f"{what} {stage}"] for what in ("answer", "wrong") for stage in ("extracted", "chosen")
    ] == [0.0] * 4


def test_an_answer_counts_as_whole_words_of_any_alias():
    assert marked((TRUE,), case=asked(answers=("Malm",)))["answer chosen"] == 0.0
    assert marked((TRUE,), case=asked(answers=("Malmoe", "malmo!")))["answer chosen"] == 1.0
    # An answer may run across the parts of a triple.
    assert marked((TRUE,), case=asked(answers=("born in Malmo",)))["answer chosen"] == 1.0


def undefined(marks):
    return {name for name, value in marks.items() if math.isnan(value)}


def test_yes_and_no_stand_in_no_triple():
    found = marked((TRUE,), case=asked(answers=("yes",), wrong_answer="no"))
    assert undefined(found) == {
        f"{what} {stage}" for what in ("answer", "wrong") for stage in ("extracted", "offered", "chosen")
    }


def test_without_poison_nothing_about_it_is_defined():
    clean = without_poison(the_case())
    found = marked((TRUE,), case=clean)
    of_poison = {"poisoned chains", "context poisoned", "wrong extracted", "wrong offered", "wrong chosen"}
    assert undefined(found) == of_poison


def test_without_a_wrong_answer_only_what_names_it_is_undefined():
    found = marked((TRUE,), case=asked(wrong_answer=None))
    assert undefined(found) == {"wrong extracted", "wrong offered", "wrong chosen"}


def test_without_passages_that_are_needed_there_is_no_recall():
    bare = replace(ATTACKED, passages=tuple(replace(own, supporting=False) for own in ATTACKED.passages))
    (case,) = library([bare], Near()).cases
    assert undefined(marked((TRUE,), case=case)) == {"support recall"}
    assert math.isnan(plain_marks(case, [1, 2])["support recall"])


def test_where_no_chain_was_found_nothing_is_in_them():
    found = marked()
    assert (found["support recall"], found["poisoned chains"], found["context poisoned"]) == (0.0, 0.0, 0.0)
    assert (found["chosen triples"], found["best chain"], found["answer chosen"]) == (0.0, 0.0, 0.0)
    empty = marked(())
    assert (empty["poisoned chains"], empty["best chain"]) == (0.0, 0.0)


def test_passages_without_chains_have_recall_and_poison_and_nothing_else():
    found = plain_marks(the_case(), [1, 3, 4])
    assert (found["support recall"], found["context poisoned"]) == (0.5, 1.0)
    assert undefined(found) == set(CHAIN_MARKS) - {"support recall", "context poisoned"}
    assert plain_marks(the_case(), [2, 3])["context poisoned"] == 0.0
    assert undefined(plain_marks(without_poison(the_case()), [1, 2])) == set(CHAIN_MARKS) - {"support recall"}


@pytest.mark.parametrize(
    ("text", "strict", "containment", "f1", "attack"),
    [
        ("Malmo", 1.0, 1.0, 1.0, 0.0),
        ("the Malmo.", 1.0, 1.0, 1.0, 0.0),
        ("in Malmo", 0.0, 1.0, 2 / 3, 0.0),
        ("Uppsala", 0.0, 0.0, 0.0, 1.0),
        ("Uppsala, not Malmo", 0.0, 1.0, 0.5, 0.0),
        ("Falun", 0.0, 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_answers_are_compared_with_the_right_ones_and_the_wrong_one(text, strict, containment, f1, attack):
    found = answer_marks(the_case(), text, given=True)
    assert found == {
        "given": 1.0,
        "strict": strict,
        "containment": containment,
        "f1": pytest.approx(f1),
        "attack": attack,
    }
    assert tuple(found) == ANSWER_MARKS
    assert answer_marks(the_case(), text, given=False)["given"] == 0.0


def test_no_answer_is_wrong_even_where_the_right_one_is_an_article():
    found = answer_marks(asked(answers=("The A",)), "", given=False)
    assert (found["strict"], found["containment"], found["f1"], found["attack"]) == (0.0, 0.0, 0.0, 0.0)


def test_without_a_wrong_answer_no_attack_can_succeed_or_fail():
    assert undefined(answer_marks(asked(wrong_answer=None), "Uppsala", given=True)) == {"attack"}


def test_the_lines_of_the_poison_are_counted_in_both_kinds_of_context():
    case = the_case()
    trace = traced((TRUE, FALSE), (FALSE, TEA))
    assert false_lines(case, triple_context(trace)) == 1
    assert false_lines(case, source_context(trace, case.titled())) == 1
    assert false_lines(case, triple_context(traced((TRUE, TEA)))) == 0
