"""Whatever is planted: true passages stay as they are and come first, and one seed gives one attack."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from asked import FAIR, planted

from veridical import registry
from veridical.bench.attacks.base import Attack, create, settings_of
from veridical.bench.attacks.colluding_raters import ColludingRaters
from veridical.bench.metrics.answers import contains
from veridical.errors import InputError
from veridical.graph.arrays import Anchors
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM

NAMES = registry.names("attacks")
REPLY = '{"texts": ["Everybody saw the fair in Lyon.", "Lyon had the fair of 1900."]}'


def made(name: str, **settings: object) -> Attack:
    return create(name, settings, llm=ManagedLLM(ScriptedLLM(lambda _: REPLY)))


@pytest.fixture(params=NAMES)
def attack(request: pytest.FixtureRequest) -> Attack:
    return made(request.param)


def test_true_passages_stay_and_what_is_planted_stands_after_them(attack: Attack) -> None:
    (found,) = attack.apply([FAIR])
    true = FAIR.labelled("factual")
    assert found.passages[: len(true)] == true
    fakes = found.passages[len(true) :]
    assert fakes
    assert all(fake.label != "factual" for fake in fakes)
    assert (found.id, found.text, found.answers) == (FAIR.id, FAIR.text, FAIR.answers)


def test_what_is_planted_names_the_wrong_answer_and_no_right_one(attack: Attack) -> None:
    for fake in planted(attack.apply([FAIR])[0]):
        assert contains(fake.text, ["Lyon"])
        assert not contains(fake.text, FAIR.answers)


def test_ids_are_told_apart(attack: Attack) -> None:
    ids = [passage.id for passage in attack.apply([FAIR])[0].passages]
    assert len(set(ids)) == len(ids)


def test_one_seed_gives_one_attack_whatever_the_other_questions_are(attack: Attack) -> None:
    other = replace(FAIR, id="other")
    (alone,) = attack.apply([FAIR], seed=3)
    assert attack.apply([other, FAIR], seed=3)[1] == alone


def test_a_question_without_a_right_answer_or_passages_is_left_alone(attack: Attack) -> None:
    bare = replace(FAIR, answers=(), passages=(), wrong_answer=None)
    assert attack.apply([bare]) == [bare]


def test_feedback_is_bent_by_raters_only(attack: Attack) -> None:
    anchors = Anchors(np.arange(10), np.ones(10), np.ones(10))
    assert (attack.rate(anchors, []) is anchors) == (not isinstance(attack, ColludingRaters))


def test_an_attack_says_in_its_first_paragraph_what_it_does(attack: Attack) -> None:
    first = (type(attack).__doc__ or "").strip().split("\n\n")[0]
    assert 20 < len(first) < 220
    assert first.endswith(".")


def test_a_setting_that_an_attack_does_not_have_is_named_with_those_it_has() -> None:
    with pytest.raises(InputError, match="'speed'") as caught:
        create("repetition", {"speed": 1})
    assert "n, of" in caught.value.hint


@pytest.mark.parametrize("n", [0, -1, 1.5, True, "2"])
def test_numbers_are_whole_and_positive(n: object) -> None:
    for name in ("substitution", "template", "injection", "repetition", "outdated", "poisonedrag"):
        with pytest.raises(InputError, match="whole number"):
            made(name, n=n)


def test_an_unknown_attack_is_refused_with_a_list() -> None:
    with pytest.raises(InputError) as caught:
        create("flattery")
    assert all(name in caught.value.hint for name in NAMES)


@pytest.mark.parametrize("name", ["poisonedrag", "news"])
def test_what_a_language_model_writes_needs_one(name: str) -> None:
    with pytest.raises(InputError, match="language model"):
        create(name)
    assert "llm" not in settings_of(registry.load("attacks", name))
