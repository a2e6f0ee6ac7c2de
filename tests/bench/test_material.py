"""Questions of a run: what a data set brings, with a wrong answer for each where there is one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import runs

from veridical.bench import material, protocols
from veridical.bench.attacks.base import create
from veridical.errors import NotFoundError


def test_a_data_set_is_read_by_its_name(tmp_path: Path) -> None:
    asked = material.questions(runs.write_data(tmp_path), "towns")
    assert [question.id for question in asked] == list(runs.TOPICS)
    assert [question.wrong_answer for question in asked][:2] == ["1950", "1951"]


def test_what_is_not_there_is_told_with_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        material.questions(tmp_path, "towns")
    assert str(tmp_path) in caught.value.message and "towns" in caught.value.message


def test_questions_without_a_wrong_answer_get_one_of_its_kind(tmp_path: Path) -> None:
    asked = material.questions(runs.write_data(tmp_path), "towns")
    bare = [replace(question, wrong_answer=None) for question in asked]
    for question in material.with_wrong_answers(bare):
        assert question.wrong_answer is not None and question.wrong_answer.isdecimal()
        assert question.wrong_answer not in question.answers


def test_an_attack_touches_only_what_is_asked(tmp_path: Path) -> None:
    asked = material.questions(runs.write_data(tmp_path), "towns")
    protocol = replace(protocols.load("trustprop"), sample=protocols.Sample(8, 3, 1))
    found = material.attacked(asked, create("substitution"), protocol, seed=0)
    assert sum(bool(question.labelled("misinformation")) for question in found) == 3
    assert [question.id for question in found] == [question.id for question in asked]


def test_an_attack_that_costs_calls_touches_only_what_is_answered(tmp_path: Path) -> None:
    asked = material.questions(runs.write_data(tmp_path), "towns")
    attack = create("substitution")
    attack.needs_llm = True  # type: ignore[misc]
    found = material.attacked(asked, attack, protocols.load("trustprop"), seed=0, n_asked=2)
    assert sum(bool(question.labelled("misinformation")) for question in found) == 2
