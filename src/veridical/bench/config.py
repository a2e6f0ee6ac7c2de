"""What a run compares, from a TOML file; what it leaves out is as the protocol has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from veridical import registry
from veridical.bench import fields, protocols
from veridical.bench.attacks.base import settings_of
from veridical.bench.fields import Fields
from veridical.bench.protocols import Credibility, Protocol
from veridical.errors import InputError, NotFoundError

ALL = "all"
BUILT_IN_ATTACKS = ("clean", "own")
"""No poison at all, and the false passages that a data set brings."""


@dataclass(frozen=True)
class Choice:
    """Something chosen by its name, with settings, under a label of its own.

    ``swept`` names the setting that goes through several values; the choices that differ in it alone make
    one curve.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""
    swept: str | None = None

    @property
    def written(self) -> str:
        """The settings as JSON, the same for the same settings."""
        return json.dumps(dict(self.settings), sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True)
class DatasetChoice:
    """A data set, and how many of its questions are asked (``None``: all that the protocol asks)."""

    name: str
    questions: int | None = None


@dataclass(frozen=True)
class Config:
    """One comparison.

    Attributes
    ----------
    path
        The file it was read from.
    data
        Folder with the data sets.
    top_k
        Passages that answers are given from, for systems that have a setting of that name.
    feedback, accuracies, accuracy_at, credibility, seeds
        See `veridical.bench.protocols.Protocol`.
    llm
        ``none``, ``settings`` (the environment's), or a GGUF file.
    against
        The system that the others are tested against.
    answers
        Whether questions are answered; else only rankings are measured, and no passage is read for an answer.
    notes
        What the report says besides under its limitations.
    """

    path: Path
    title: str
    protocol: Protocol
    data: Path
    datasets: tuple[DatasetChoice, ...]
    attacks: tuple[Choice, ...]
    systems: tuple[Choice, ...]
    feedback: tuple[float, ...]
    accuracies: tuple[float, ...]
    accuracy_at: float
    credibility: tuple[Credibility, ...]
    seeds: tuple[int, ...]
    top_k: int
    llm: str
    against: str
    answers: bool = True
    notes: tuple[str, ...] = ()

    @property
    def judgements(self) -> tuple[tuple[float, float], ...]:
        """Pairs of share and accuracy of feedback, each once."""
        right = [(share, 1.0) for share in self.feedback]
        is_noisy = self.accuracy_at > 0 and min(self.accuracies, default=1.0) < 1.0
        noisy = [(self.accuracy_at, accuracy) for accuracy in self.accuracies if is_noisy]
        return tuple(dict.fromkeys([*right, *noisy]))


def load(path: Path, data: Path | None = None) -> Config:
    """Read a run's TOML file.

    Parameters
    ----------
    path
        The file.
    data
        The folder with the data sets, in place of the file's own.

    Raises
    ------
    NotFoundError, InputError
        The file, the protocol or the data folder is not there, or a value does not fit; the message names
        the file and the key, and says what would do.
    """
    at = fields.load(path)
    beside = path.parent
    named = at.text("protocol")
    if named not in protocols.names() and not named.endswith(".toml"):
        known = ", ".join(protocols.names())
        raise at.wrong("protocol", f"one of: {known}; or the path of a TOML file")
    protocol = protocols.load(named, beside)
    folder = _folder(at, beside, data)
    feedback = at.numbers("feedback", protocol.feedback)
    accuracies = at.numbers("accuracies", protocol.accuracies)
    n_questions = at.whole("questions", 0) or None
    found = Config(
        path=path,
        title=at.text("title", path.stem),
        protocol=protocol,
        data=folder,
        datasets=tuple(_dataset(item, n_questions) for item in at.items("datasets", "a list of data sets")),
        attacks=_attacks(at, protocol),
        systems=_systems(at),
        feedback=feedback,
        accuracies=accuracies,
        accuracy_at=at.number("accuracy_at", protocol.accuracy_at),
        credibility=at.texts("credibility", protocol.credibility, allowed=get_args(Credibility)),  # type: ignore[arg-type]
        seeds=at.wholes("seeds", protocol.seeds),
        top_k=at.whole("top_k", protocol.top_k, low=1, high=1000),
        llm=at.text("llm", "none"),
        against=at.text("against", protocol.claim.system),
        answers=at.flag("answers", True),
        notes=at.texts("notes", ()),
    )
    at.done()
    if not found.datasets:
        raise at.wrong("datasets", "at least one data set")
    return found


def _folder(at: Fields, beside: Path, given: Path | None) -> Path:
    """Return the folder with the data sets, which has to be there."""
    named = at.text("data", None if given is None else str(given))
    folder = (beside / Path(named).expanduser()).resolve() if given is None else given.resolve()
    if folder.is_dir():
        return folder
    if given is not None:
        raise NotFoundError(f"There is no folder {given} with data sets.", "Give another one with --data.")
    raise at.wrong("data", f"a folder with data sets; {folder} is none")


def attack_names() -> list[str]:
    """All attacks that there are."""
    return sorted({*BUILT_IN_ATTACKS, *registry.names("attacks")})


def _dataset(at: Fields, n_questions: int | None) -> DatasetChoice:
    found = DatasetChoice(at.text("name"), at.whole("questions", n_questions or 0) or None)
    at.done()
    return found


def _attacks(at: Fields, protocol: Protocol) -> tuple[Choice, ...]:
    known = attack_names()
    if "attacks" not in at:
        at.texts("attacks", protocol.attacks)
        return _checked(at, "attacks", [Choice(name, label=name) for name in protocol.attacks], known)
    chosen = [choice for item in at.items("attacks", "a list of attacks") for choice in _choices(item, known)]
    return _checked(at, "attacks", [_fitting(at, choice) for choice in chosen], known)


def _fitting(at: Fields, choice: Choice) -> Choice:
    """Refuse settings that an attack does not have."""
    takes = [] if choice.name in BUILT_IN_ATTACKS else settings_of(registry.load("attacks", choice.name))
    unknown = sorted(set(choice.settings) - set(takes))
    if unknown:
        raise InputError(
            f"{at.where}: attacks has {choice.name!r} with a setting {unknown[0]!r}.",
            "It takes: " + (", ".join(takes) or "none") + ".",
        )
    return choice


def _systems(at: Fields) -> tuple[Choice, ...]:
    known = registry.names("systems")
    if at.table.get("systems", ALL) == ALL:
        at.text("systems", ALL)
        return tuple(Choice(name, label=name) for name in known)
    chosen: list[Choice] = []
    for item in at.items("systems", "a list of systems, or 'all'"):
        if item.table.get("name") == ALL:
            chosen += [Choice(name, label=name) for name in known]
        else:
            chosen += _choices(item, known)
    return _checked(at, "systems", chosen, known)


def _checked(at: Fields, key: str, chosen: Sequence[Choice], known: Sequence[str]) -> tuple[Choice, ...]:
    labels = [choice.label for choice in chosen]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise InputError(
            f"{at.where}: {key} has {twice[0]!r} twice.", "Give each a label, or other settings."
        )
    unknown = [choice.name for choice in chosen if choice.name not in known]
    if unknown or not chosen:
        raise InputError(
            f"{at.where}: {key} has {unknown[0]!r}." if unknown else f"{at.where}: {key} is empty.",
            "There are: " + ", ".join(known),
        )
    return tuple(chosen)


def _choices(at: Fields, known: Sequence[str]) -> Iterator[Choice]:
    """One choice, or one for each value of what is swept."""
    name = at.text("name", allowed=known)
    settings, sweep, label = at.values("settings"), at.values("sweep"), at.text("label", "")
    at.done()
    if not sweep:
        yield Choice(name, settings, label or _label(name, settings))
        return
    if len(sweep) > 1:
        raise at.wrong("sweep", "one setting with a list of values; write a second entry for another")
    for key, values in sweep.items():
        if not isinstance(values, list) or not values:
            raise at.wrong("sweep", "a setting with a list of values")
        for value in values:
            given = {**settings, key: value}
            yield Choice(name, given, f"{label or name}, {key}={value}", swept=key)


def _label(name: str, settings: Mapping[str, Any]) -> str:
    return ", ".join([name, *(f"{key}={value}" for key, value in settings.items())])
