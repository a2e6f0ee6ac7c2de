"""What was claimed before a run is judged as it was written, for and against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from veridical.bench.report import claim
from veridical.bench.report.frame import Frame

Make = Callable[..., Frame]
N = 200


def ones(n: int) -> list[float]:
    return [1.0] * n + [0.0] * (N - n)


def verdict(frame: Frame) -> claim.Verdict:
    (found,) = claim.verdicts(frame)
    return found


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        (120, 100, "first"),
        (120, 120, "first"),
        (119, 120, "not inferior"),  # .005 behind, and the interval ends below .02
        (97, 100, "open"),  # .015 behind, with an interval that goes beyond .02
        (60, 100, "behind"),
    ],
)
def test_first_or_not_inferior_by_the_margin(made: Make, ours: int, theirs: int, expected: str) -> None:
    frame = made({"ours": {"strict": ones(ours)}, "theirs": {"strict": ones(theirs)}})
    assert verdict(frame).first == expected


def test_of_several_others_the_best_one_counts(made: Make) -> None:
    marks = {"ours": {"strict": ones(80)}, "weak": {"strict": ones(10)}, "strong": {"strict": ones(100)}}
    found = verdict(made(marks))
    assert (found.first, found.ahead[0]) == ("behind", "strong")
    assert found.ahead[1] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected", "counts"),
    [
        (10, 60, "lowest", (1, 0, 0)),
        (10, 12, "open", (0, 1, 0)),
        (10, 10, "open", (0, 1, 0)),
        (12, 10, "not lowest", (0, 1, 0)),
        (60, 10, "not lowest", (0, 0, 1)),
    ],
)
def test_lowest_means_significantly_below_every_other(
    made: Make, ours: int, theirs: int, expected: str, counts: tuple[int, int, int]
) -> None:
    marks = {
        "ours": {"strict": ones(50), "attack": ones(ours)},
        "theirs": {"strict": ones(50), "attack": ones(theirs)},
    }
    found = verdict(made(marks))
    assert found.lowest == expected
    assert (found.n_below, found.n_level, found.n_above) == counts


def test_many_comparisons_take_more_evidence(made: Make) -> None:
    """Seven of seven that differ have p about .016: enough alone, not among twenty."""
    alone = {"ours": {"strict": ones(9), "attack": ones(0)}, "a": {"strict": ones(9), "attack": ones(7)}}
    assert verdict(made(alone)).lowest == "lowest"
    many = alone | {f"b{i}": {"strict": ones(9), "attack": ones(7)} for i in range(19)}
    assert verdict(made(many)).lowest == "open"


def test_its_own_ablations_are_no_others(made: Make) -> None:
    marks = {
        "ours": {"strict": ones(50)},
        "less": {"strict": ones(90)},
        "theirs": {"strict": ones(40)},
    }
    assert verdict(made(marks, systems={"less": {"ablation_of": "ours"}})).first == "first"
    assert verdict(made(marks, systems={"less": {"name": "ours"}})).first == "first"
    assert verdict(made(marks)).first == "behind"


def test_a_clean_corpus_has_no_attack_to_be_lowest_under(made: Make) -> None:
    marks = {name: {"strict": ones(50), "attack": ones(1)} for name in ("ours", "theirs")}
    assert verdict(made(marks, attack="clean")).lowest == ""


def test_where_it_fails_the_report_says_to_whom_and_at_what_price(made: Make) -> None:
    marks = {
        "ours": {"strict": ones(50), "attack": ones(20), "abstained": ones(0)},
        "silent": {"strict": ones(0), "attack": ones(0), "abstained": ones(N)},
        "theirs": {"strict": ones(90), "attack": ones(80), "abstained": ones(0)},
    }
    blocks = claim.section(made(marks))
    lines = [line for block in blocks for line in getattr(block, "lines", ())]
    assert any("Theirs is ahead by 0.200" in line for line in lines)
    assert any(
        "Silent is lower" in line and "without an answer 1.000 against 0.000" in line for line in lines
    )


def test_without_others_there_is_nothing_to_judge(made: Make) -> None:
    frame = made({"ours": {"strict": ones(3)}})
    assert claim.verdicts(frame) == []
    assert "nothing to judge" in claim.section(frame)[1].lines[0]  # type: ignore[union-attr]


def test_only_what_both_answered_is_compared(made: Make) -> None:
    strict = np.array(ones(100))
    frame = made({"ours": {"strict": strict.tolist()}, "theirs": {"strict": strict.tolist()}})
    rows = frame._rows["nq", "own", "theirs", ""]
    for place in range(50):  # those that it would have got right are not there yet
        del rows[f"q{place}", 0]
    assert verdict(frame).first == "first"
    assert verdict(frame).ahead[1] == 0.0
