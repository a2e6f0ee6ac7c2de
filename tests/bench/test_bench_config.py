"""A run's TOML: what it leaves out comes from the protocol, and what does not fit is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import write_config

from veridical.bench import config as configs
from veridical.bench import protocols
from veridical.errors import InputError, NotFoundError


def test_what_is_left_out_is_as_the_protocol_has_it(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    (tmp_path / "data").mkdir()
    path.write_text('protocol = "trustprop"\ndata = "data"\ndatasets = ["towns"]\n', "utf-8")
    read, protocol = configs.load(path), protocols.load("trustprop")
    assert read.title == "run"
    assert read.feedback == protocol.feedback
    assert read.seeds == protocol.seeds
    assert tuple(choice.name for choice in read.attacks) == protocol.attacks
    assert {choice.name for choice in read.systems} >= {"vanilla"}
    assert (read.llm, read.against, read.top_k) == ("none", "veridical", protocol.top_k)


@pytest.mark.parametrize(
    ("line", "key", "wanted"),
    [
        ({"protocol": '"none such"'}, "protocol", "trustprop"),
        ({"feedback": "[0.1, 1.5]"}, "feedback", "0 to 1"),
        ({"feedback": "[0.1, 0.1]"}, "feedback", "each once"),
        ({"feedback": '"all"'}, "feedback", "list of numbers"),
        ({"seeds": "[]"}, "seeds", "whole numbers"),
        ({"seeds": "[0.5]"}, "seeds", "whole numbers"),
        ({"systems": '["vanila"]'}, "systems", "vanilla"),
        ({"systems": "[3]"}, "systems", "systems"),
        ({"systems": '["vanilla", "vanilla"]'}, "systems", "label"),
        ({"systems": '[{name = "vanilla", setings = {}}]'}, "setings", "settings"),
        ({"systems": '[{name = "vanilla", sweep = {top_k = 3}}]'}, "sweep", "list of values"),
        ({"attacks": '["flattery"]'}, "attacks", "clean"),
        ({"credibility": '["rumour"]'}, "credibility", "ideal"),
        ({"datasets": "[]"}, "datasets", "at least one"),
        ({"data": '"nowhere"'}, "data", "folder"),
        ({"top_k": "0"}, "top_k", "whole number"),
        ({"questions": "true"}, "questions", "whole number"),
        ({"colour": "1"}, "colour", "feedback"),
    ],
)
def test_what_does_not_fit_is_named_with_the_file_and_what_would(
    tmp_path: Path, line: dict[str, str], key: str, wanted: str
) -> None:
    path = write_config(tmp_path, **line)
    with pytest.raises(InputError) as caught:
        configs.load(path)
    assert key in caught.value.message
    assert wanted in str(caught.value)
    assert str(path) in caught.value.message


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('protocol = "trustprop"\n', "utf-8")
    with pytest.raises(InputError, match="data is missing"):
        configs.load(path)


def test_a_missing_file_and_one_that_is_no_toml_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        configs.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = ", "utf-8")
    with pytest.raises(InputError, match=r"bad\.toml is not TOML"):
        configs.load(tmp_path / "bad.toml")


def test_a_sweep_is_one_choice_a_value(tmp_path: Path) -> None:
    read = configs.load(write_config(tmp_path, systems='[{name = "vanilla", sweep = {top_k = [1, 5]}}]'))
    assert [choice.label for choice in read.systems] == ["vanilla, top_k=1", "vanilla, top_k=5"]
    assert {choice.swept for choice in read.systems} == {"top_k"}


def test_right_judgements_are_asked_once(tmp_path: Path) -> None:
    read = configs.load(write_config(tmp_path, feedback="[0.0, 0.3]", accuracies="[1.0, 0.6]"))
    assert read.judgements == ((0.0, 1.0), (0.3, 1.0), (0.3, 0.6))
    right = configs.load(write_config(tmp_path, feedback="[0.1]", accuracies="[1.0]"))
    assert right.judgements == ((0.1, 1.0),)


@pytest.mark.parametrize("name", protocols.names())
def test_every_protocol_can_be_read_and_says_what_it_is(name: str) -> None:
    protocol = protocols.load(name)
    assert protocol.title and protocol.about
    assert set(protocol.attacks) <= set(configs.attack_names())
    assert protocol.claim.feedback in protocol.feedback


def test_the_margin_is_fixed_at_two_points_of_strict_exact_match() -> None:
    claim = protocols.load("trustprop").claim
    assert (claim.system, claim.first_in, claim.margin) == ("veridical", "strict", 0.02)
    assert (claim.lowest_in, claim.feedback, claim.alpha) == ("attack", 0.1, 0.05)


def test_a_protocol_of_ones_own_is_a_file_beside_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'title = "Mine"\nattacks = ["own"]\n[pool]\nfrom = "question"\n', "utf-8"
    )
    read = configs.load(write_config(tmp_path, protocol='"mine.toml"'))
    assert (read.protocol.name, read.protocol.pool) == ("mine", "question")


def test_a_protocol_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(
        'title = "Mine"\nattacks = ["own"]\n[pool]\nform = "question"\n', "utf-8"
    )
    with pytest.raises(InputError, match="form is no key here"):
        configs.load(write_config(tmp_path, protocol='"mine.toml"'))


@pytest.mark.parametrize(("n", "sizes"), [(617, (300, 150)), (59, (59, 59)), (278, (278, 139))])
def test_small_data_sets_are_asked_whole(n: int, sizes: tuple[int, int]) -> None:
    assert protocols.load("trustprop").sample.sizes(n) == sizes
