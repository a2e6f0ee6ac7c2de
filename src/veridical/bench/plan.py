"""Which systems of a run can run, with what settings, and which cannot and why."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from veridical import registry
from veridical.bench.beliefs import NAMES
from veridical.bench.config import Choice, Config
from veridical.bench.known import Known
from veridical.bench.systems.base import About, System, Tools, missing
from veridical.errors import InputError, VeridicalError


@dataclass(frozen=True)
class Variant:
    """A system with its settings.

    Attributes
    ----------
    choice
        As the configuration has it, with ``top_k`` filled in where the system takes it.
    make
        The class.
    about
        What the system is.
    lacks
        Why it cannot run; empty if it can.
    """

    choice: Choice
    make: Any
    about: About
    lacks: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """As it stands in rows and tables."""
        return self.choice.label

    @property
    def top_k(self) -> int:
        """Passages that it answers from, as far as its settings tell; else 5."""
        value = self.choice.settings.get("top_k", 5)
        return value if isinstance(value, int) else 5

    def system(self, tools: Tools) -> System:
        """Make the system. Raises `InputError` if its settings do not fit."""
        try:
            made: System = self.make(tools, **self.choice.settings)
        except TypeError as error:
            raise InputError(
                f"System {self.label!r} does not take its settings: {error}.",
                "It takes: " + (", ".join(_settings(self.make)) or "none") + ".",
            ) from error
        return made


def variants(config: Config, tools: Tools) -> list[Variant]:
    """Look at every system of a run.

    Raises
    ------
    InputError
        A plugin cannot be loaded, or a setting is none of a system's.
    """
    return [_variant(choice, config, tools) for choice in config.systems]


def _variant(choice: Choice, config: Config, tools: Tools) -> Variant:
    make = registry.load("systems", choice.name)
    takes = _settings(make)
    if "top_k" in takes and "top_k" not in choice.settings:
        choice = replace(choice, settings={**choice.settings, "top_k": config.top_k})
    unknown = sorted(set(choice.settings) - set(takes))
    if unknown:
        raise InputError(
            f"{config.path}: system {choice.name!r} has no setting {unknown[0]!r}.",
            "It has: " + (", ".join(takes) or "none") + ".",
        )
    about: About = make.about
    lacks = list(missing(about, tools))
    if "credibility" in about.needs and set(config.credibility) == {"none"}:
        lacks.append("credibility (the configuration has nobody judge passages)")
    if "credibility" in about.needs and set(config.credibility) == {"evaluator"} and tools.llm is None:
        lacks.append("credibility (the evaluator needs a language model)")
    if about.belief is not None and about.belief not in NAMES:
        lacks.append(f"a belief that is not known: {about.belief}")
    found = Variant(choice, make, about, tuple(lacks))
    return found if lacks else _tried(found, tools)


def _tried(variant: Variant, tools: Tools) -> Variant:
    """Make it once: constructors are light, and what they refuse is a mistake in the settings."""
    try:
        variant.system(tools)
    except InputError:
        raise
    except VeridicalError as error:
        return replace(variant, lacks=(error.message,))
    return variant


def _settings(make: Any) -> list[str]:
    """The settings that a class takes by keyword, those of what it passes ``**settings`` on to included."""
    found: list[str] = []
    for base in getattr(make, "__mro__", (make,)):
        if base is object:
            continue
        init = base.__dict__.get("__init__") if isinstance(base, type) else base
        if init is None:
            continue
        parameters = list(inspect.signature(init).parameters.values())
        found += [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return list(dict.fromkeys(found))


def knowns(config: Config, *, poisoned: bool, has_evaluator: bool) -> list[Known]:
    """What is known of the documents, setting by setting, least first.

    A corpus without poison is asked with all shares of feedback, but with right judgements only.
    """
    judged = [kind for kind in config.credibility if kind != "evaluator" or has_evaluator]
    pairs = [(share, accuracy) for share, accuracy in config.judgements if poisoned or accuracy == 1.0]
    kinds = judged or ["none"]
    return [Known(share, accuracy, kind) for kind in kinds for share, accuracy in pairs]


@dataclass(frozen=True)
class Cell:
    """One system under what it takes of what is known."""

    variant: Variant
    known: Known


def cells(variants: Sequence[Variant], known: Sequence[Known]) -> list[Cell]:
    """Every system that can run, each once for what it takes; a system that takes nothing runs once."""
    found: dict[tuple[str, Known], Cell] = {}
    for variant in variants:
        if variant.lacks:
            continue
        for one in known:
            own = one.of(variant.about)
            if "credibility" in variant.about.needs and own.credibility == "none":
                continue
            found.setdefault((variant.label, own), Cell(variant, own))
    return list(found.values())
