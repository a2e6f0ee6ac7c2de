"""What systems get of a corpus: pools, trust and judgements, each computed once, and no label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runs

from veridical.bench import beliefs, material, protocols
from veridical.bench.attacks.base import Attack, create
from veridical.bench.known import Known, read
from veridical.bench.layout import lay_out
from veridical.bench.protocols import Protocol
from veridical.bench.scene import Making, Scene
from veridical.bench.shared import CachedEncoder, CachedReader
from veridical.bench.systems.base import About, Retrieved
from veridical.testing.fake_models import FakeModels


class Judge:
    """Judges a passage by its length, and fails on what is short."""

    name = "judge"

    def __init__(self) -> None:
        self.n_judged = 0

    def judge_documents(self, documents: Sequence[tuple[str, str]], **_: Any) -> list[float | None]:
        self.n_judged += len(documents)
        return [None if text.startswith("Long ago") else 0.7 for _, text in documents]

    def judge_triples(self, triples: Sequence[str], **_: Any) -> list[float | None]:
        raise NotImplementedError


def scene(folder: Path, *, attack: Attack | None = None, judge: Judge | None = None, **changed: Any) -> Scene:
    models = FakeModels()
    protocol: Protocol = replace(protocols.load("trustprop"), **changed)
    asked = material.questions(runs.write_data(folder / "data"), "towns")
    found = asked if attack is None else material.attacked(asked, attack, protocol, seed=0)
    layout = lay_out("towns", "some", material.clean(asked), found, protocol, seed=0)
    reader = CachedReader(models.reader(""), folder)
    making = Making(
        folder, models.encoder, reader, models.nli(""), CachedEncoder(models.encoder.encode), evaluator=judge
    )
    return Scene(layout, protocol, making, attack)


def test_a_task_holds_no_label(tmp_path: Path) -> None:
    task = scene(tmp_path).task(0, "veridical", Known(0.3, 1.0, "none"))
    shown = {field.name for field in fields(Retrieved)}
    assert shown == {
        "document", "text", "title", "source", "date", "relevance", "trust", "credibility",
    }  # fmt: skip
    assert all(one.credibility is None for one in task.pool)
    assert [one.relevance for one in task.pool] == sorted((one.relevance for one in task.pool), reverse=True)


def test_without_a_belief_there_is_no_trust(tmp_path: Path) -> None:
    task = scene(tmp_path).task(0, None, Known(0.3))
    assert {one.trust for one in task.pool} == {None}


def test_trust_is_that_of_the_belief(tmp_path: Path) -> None:
    at, known = scene(tmp_path), Known(0.5)
    expected = beliefs.believe("trustprop", at.world, at.anchors(known))
    assert [one.trust for one in at.task(0, "trustprop", known).pool] == pytest.approx(
        [expected[one.document] for one in at.task(0, None, known).pool]
    )


def test_trust_is_worked_out_once_a_belief_and_feedback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, n_calls = scene(tmp_path), []
    believe = beliefs.believe
    monkeypatch.setattr(beliefs, "believe", lambda *given: (n_calls.append(given[0]), believe(*given))[1])
    for _ in range(2):
        for place in range(3):
            for belief in ("veridical", "trustprop"):
                at.task(place, belief, Known(0.3))
    assert sorted(n_calls) == ["trustprop", "veridical"]


def test_ideal_judgements_are_ten_and_one(tmp_path: Path) -> None:
    at = scene(tmp_path)
    for one in at.task(0, None, Known(credibility="ideal")).pool:
        assert one.credibility == (10.0 if at.true[one.document] else 1.0)


def test_the_evaluator_judges_a_document_once_and_what_it_fails_on_is_even(tmp_path: Path) -> None:
    judge = Judge()
    at = scene(tmp_path, judge=judge)
    known = Known(credibility="evaluator")
    pools = [at.task(place, None, known).pool for place in (0, 1, 0)]
    assert judge.n_judged == len({one.document for pool in pools for one in pool})
    for one in pools[0]:
        assert one.credibility == (5.0 if one.text.startswith("Long ago") else 7.0)


def test_raters_who_collude_bend_the_feedback(tmp_path: Path) -> None:
    fair = scene(tmp_path / "fair", attack=create("substitution")).anchors(Known(0.5))
    bent = scene(tmp_path / "bent", attack=create("colluding_raters", {"bent": 0.4})).anchors(Known(0.5))
    assert (fair.documents == bent.documents).all()
    assert int((fair.values != bent.values).sum()) == round(0.4 * len(fair))


@pytest.mark.parametrize(
    "known",
    [
        Known(),
        Known(0.1),
        Known(0.3, 0.6),
        Known(credibility="ideal"),
        Known(0.05, 1.0, "evaluator"),
    ],
)
def test_what_is_known_can_be_read_from_its_name(known: Known) -> None:
    assert read(known.name) == known


def test_a_system_gets_only_what_it_takes() -> None:
    known = Known(0.3, 0.6, "ideal")
    assert known.of(About("a")).name == ""
    assert known.of(About("a", belief="veridical")) == Known(0.3, 0.6, "none")
    assert known.of(About("a", needs=frozenset({"credibility"}))) == Known(0.0, 1.0, "ideal")


def test_what_was_read_for_one_corpus_is_not_read_again_for_the_next(tmp_path: Path) -> None:
    first = scene(tmp_path)
    first.read_ahead()
    n = first.making.reader.n_read
    second = scene(tmp_path)
    second.read_ahead()
    assert n > 0 and second.making.reader.n_read == 0
    assert np.allclose(first.vectors, second.vectors)
