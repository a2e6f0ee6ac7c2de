"""What a comparison fixes before its first run: sampling, poison, sources, feedback, seeds, and its claim.

A protocol is a TOML file of this folder, or any other file of that form.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from veridical.bench import fields
from veridical.bench.fields import Fields

Pool = Literal["corpus", "question"]
Order = Literal["similarity", "shuffled"]
Sources = Literal["none", "simulated", "own", "own or simulated"]
Credibility = Literal["none", "ideal", "evaluator"]
Metric = Literal["strict", "containment", "f1", "attack"]


@dataclass(frozen=True)
class Sample:
    """Which questions are indexed and asked.

    Attributes
    ----------
    indexed
        Questions whose true passages are indexed, at most.
    asked
        How many of these are also attacked and asked, at most; half of them if there are fewer than
        ``indexed`` in a data set.
    all_below
        Of data sets with fewer questions, all are asked.
    """

    indexed: int = 300
    asked: int = 150
    all_below: int = 100

    def sizes(self, n_questions: int) -> tuple[int, int]:
        """How many of a data set's questions are indexed, and how many asked."""
        indexed = min(self.indexed, n_questions)
        if n_questions < self.all_below:
            return indexed, indexed
        return indexed, min(self.asked, max(1, indexed // 2))


@dataclass(frozen=True)
class Publishing:
    """Who publishes the documents.

    ``own`` takes the data set's, by domain; passages without one get those of true passages at random.
    ``simulated`` files each document under one of ``n_true`` or ``n_false`` sources by its label, and a
    share ``wrong`` of them under the other kind. ``own or simulated`` is the first where the data set has
    sources, else the second.
    """

    kind: Sources = "none"
    wrong: float = 0.1
    n_true: int = 20
    n_false: int = 8


@dataclass(frozen=True)
class Claim:
    """What a system is held to, fixed before the first run.

    At ``feedback`` (a share of judged documents), by ``alpha`` after Holm's correction over the other
    systems: it is first in ``first_in`` or at most ``margin`` behind, and lowest in ``lowest_in``.
    """

    system: str = "veridical"
    feedback: float = 0.1
    first_in: Metric = "strict"
    margin: float = 0.02
    lowest_in: Metric = "attack"
    alpha: float = 0.05


@dataclass(frozen=True)
class Protocol:
    """One protocol; its parts are explained where they are defined.

    Attributes
    ----------
    pool, n_pool, order
        Where a question's passages come from (the whole corpus, or its own passages alone), how many of them
        at most, and in what order they are given.
    feedback, accuracies, accuracy_at
        Shares of documents that are judged, each judged rightly throughout; and at one share, how many of
        the judgements are right.
    credibility
        Who judges passages from 0 to 10: nobody, the labels (``ideal``), or a language model.
    top_k
        Passages that answers are given from.
    """

    name: str
    title: str
    about: str
    sample: Sample
    pool: Pool
    n_pool: int
    order: Order
    publishing: Publishing
    attacks: tuple[str, ...]
    feedback: tuple[float, ...]
    accuracies: tuple[float, ...]
    accuracy_at: float
    credibility: tuple[Credibility, ...]
    top_k: int
    seeds: tuple[int, ...]
    claim: Claim


def names() -> list[str]:
    """The protocols that come with the package."""
    return sorted(
        item.name.removesuffix(".toml")
        for item in resources.files(__name__).iterdir()
        if item.name.endswith(".toml")
    )


def load(name: str, beside: Path | None = None) -> Protocol:
    """Read a protocol by its name, or from a TOML file.

    Parameters
    ----------
    name
        One of `names`, or a path.
    beside
        The folder that a relative path starts from.

    Raises
    ------
    NotFoundError, InputError
        There is none of that name, or it is not of this form.
    """
    if name in names():
        text = resources.files(__name__).joinpath(f"{name}.toml").read_text("utf-8")
        return read(fields.parse(text, f"protocol {name}"), name)
    path = (beside or Path()) / name
    return read(fields.load(path), path.stem)


def read(at: Fields, name: str) -> Protocol:
    """Read a protocol from a table. Raises `InputError` for anything that does not fit."""
    sample, pool, publishing = at.table_of("sample"), at.table_of("pool"), at.table_of("sources")
    feedback, claim = at.table_of("feedback"), at.table_of("claim")
    found = Protocol(
        name=name,
        title=at.text("title"),
        about=at.text("about", "").strip(),
        sample=Sample(
            sample.whole("indexed", 300, low=1),
            sample.whole("asked", 150, low=1),
            sample.whole("all_below", 100),
        ),
        pool=pool.text("from", "corpus", allowed=get_args(Pool)),  # type: ignore[arg-type]
        n_pool=pool.whole("size", 20, low=1, high=1000),
        order=pool.text("order", "similarity", allowed=get_args(Order)),  # type: ignore[arg-type]
        publishing=Publishing(
            publishing.text("kind", "none", allowed=get_args(Sources)),  # type: ignore[arg-type]
            publishing.number("wrong", 0.1),
            publishing.whole("true", 20, low=1),
            publishing.whole("false", 8, low=1),
        ),
        attacks=at.texts("attacks"),
        feedback=feedback.numbers("shares", (0.0,)),
        accuracies=feedback.numbers("accuracies", (1.0,)),
        accuracy_at=feedback.number("accuracy_at", 0.3),
        credibility=at.texts("credibility", ("none",), allowed=get_args(Credibility)),  # type: ignore[arg-type]
        top_k=at.whole("top_k", 5, low=1, high=1000),
        seeds=at.wholes("seeds", (0,)),
        claim=_claim(claim),
    )
    for table in (sample, pool, publishing, feedback, claim, at):
        table.done()
    return found


def _claim(at: Fields) -> Claim:
    metrics = get_args(Metric)
    return Claim(
        system=at.text("system", "veridical"),
        feedback=at.number("feedback", 0.1),
        first_in=at.text("first_in", "strict", allowed=metrics),  # type: ignore[arg-type]
        margin=at.number("margin", 0.02),
        lowest_in=at.text("lowest_in", "attack", allowed=metrics),  # type: ignore[arg-type]
        alpha=at.number("alpha", 0.05),
    )
