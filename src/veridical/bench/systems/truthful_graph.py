"""The graph of facts that TruthfulRAG walks, and the entropy that it filters paths by."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from veridical.index.encoder import Float32Array
from veridical.types import Record

KIND = "is a"
"""The relation that gives an entity's type."""
NEAREST = 5
"""How many entities near to each of the question's are looked at, and as many relations near to it."""

Encode = Callable[[Sequence[str]], Float32Array]
Step = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Path(Record):
    """Entities from one of the question's on, what joins them, and how well it fits the question.

    ``hits`` are entities of a type that the answer may have, ``votes`` steps that are near to the question.
    """

    entities: tuple[str, ...]
    text: str
    hits: int
    votes: int
    similarity: float


class FactGraph:
    """Entities and what is said to join them, whichever way round. Names that differ in case are one."""

    def __init__(self) -> None:
        self._types: dict[str, Counter[str]] = defaultdict(Counter)
        self._joined: dict[str, dict[str, None]] = defaultdict(dict)
        self._said: dict[Step, dict[str, None]] = defaultdict(dict)
        self.names: dict[str, str] = {}

    def add(self, triples: Iterable[tuple[str, str, str]]) -> None:
        """Add (head, relation, tail); those of relation `KIND` give the type of their head."""
        for head, relation, tail in triples:
            if relation.casefold().strip() == KIND:
                self._types[self._node(head)][tail.casefold().strip()] += 1
                continue
            start, end = self._node(head), self._node(tail)
            if start == end:
                continue
            self._joined[start][end] = self._joined[end][start] = None
            self._said[_step(start, end)][f"{head} {relation} {tail}"] = None

    def of_type(self, types: Iterable[str]) -> frozenset[str]:
        """Return the entities whose commonest type is among some."""
        wanted = {kind.casefold().strip() for kind in types}
        return frozenset(
            node for node, found in self._types.items() if found and found.most_common(1)[0][0] in wanted
        )

    def paths(
        self, question: str, entities: Sequence[str], types: Iterable[str], encode: Encode
    ) -> list[Path]:
        """Return paths of one and two steps, best first.

        They begin at the entities nearest to the question's. First come those with most entities of an
        answer's type and steps that are near to the question, of equals those that begin nearest.

        Parameters
        ----------
        entities
            Of the question; the question itself where there are none.
        types
            That an answer may have.
        """
        if not self._said:
            return []
        starts = self._near_entities(entities or [question], encode)
        answers = self.of_type(types)
        near = self._near_steps(question, NEAREST * max(1, len(entities)), set(starts) | answers, encode)
        found: dict[frozenset[Step], Path] = {}
        for start, similarity in starts.items():
            for nodes in self._walks(start):
                steps = [_step(one, other) for one, other in pairwise(nodes)]
                path = Path(
                    tuple(self.names[node] for node in nodes),
                    "; ".join(text for step in steps for text in self._said[step]),
                    sum(node in answers for node in nodes),
                    sum(step in near for step in steps),
                    similarity,
                )
                found.setdefault(frozenset(steps), path)
        return sorted(found.values(), key=lambda path: (-path.hits - path.votes, -path.similarity))

    def _node(self, name: str) -> str:
        node = " ".join(name.casefold().split())
        self.names.setdefault(node, name)
        return node

    def _near_entities(self, entities: Sequence[str], encode: Encode) -> dict[str, float]:
        """The nearest entities that are joined to others, each with its best cosine, nearest first."""
        nodes = list(self._joined)
        rows = np.asarray(encode([self.names[node] for node in nodes]))
        best: dict[str, float] = {}
        for values in np.asarray(encode(list(entities))) @ rows.T:
            for place in np.argsort(-values, kind="stable")[:NEAREST].tolist():
                best[nodes[place]] = max(best.get(nodes[place], -1.0), float(values[place]))
        return dict(sorted(best.items(), key=lambda item: -item[1]))

    def _near_steps(self, question: str, n: int, touching: set[str], encode: Encode) -> frozenset[Step]:
        """The n steps nearest to the question, less those that touch none of some entities."""
        steps = list(self._said)
        rows = np.asarray(encode(["; ".join(self._said[step]) for step in steps]))
        values = rows @ np.asarray(encode([question]))[0]
        nearest = np.argsort(-values, kind="stable")[:n].tolist()
        return frozenset(steps[place] for place in nearest if touching.intersection(steps[place]))

    def _walks(self, start: str) -> Iterable[tuple[str, ...]]:
        for middle in self._joined[start]:
            yield start, middle
            for end in self._joined[middle]:
                if end != start:
                    yield start, middle, end


def entropy(logprobs: Sequence[float]) -> float:
    """Return the Shannon entropy in bits of probabilities given by their natural logarithms, renormalised.

    >>> round(entropy([math.log(0.9), math.log(0.1)]), 4)
    0.469
    """
    shares = np.exp(np.asarray(logprobs, dtype=np.float64) - max(logprobs))
    shares /= shares.sum()
    return float(-(shares * np.log2(np.where(shares > 0, shares, 1.0))).sum())


def conflicting(with_path: Sequence[float], without: float, tau: float) -> tuple[int, ...]:
    """Return the places of paths that raise the entropy by more than ``tau``, as the paper has it."""
    return tuple(place for place, value in enumerate(with_path) if value - without > tau)


def legacy_conflicting(
    with_path: Sequence[float], without: float, tau: float, n_most: int = 10
) -> tuple[int, ...]:
    """Return the places of paths that stay by the rule of the public code.

    Those that raise the entropy, or lower it by no more than a factor of ``10^tau``; at most ``n_most``, the
    greatest difference first. Where there are none, those of the highest entropy.
    """
    kept = [
        place
        for place, value in enumerate(with_path)
        if value >= without or (value > 0 and without / value <= 10.0**tau)
    ]
    if not kept and with_path:
        kept = [place for place, value in enumerate(with_path) if value == max(with_path)]
    return tuple(sorted(kept, key=lambda place: -with_path[place])[:n_most])


def chunks(text: str, size: int = 1024, overlap: int = 128, chars_per_token: int = 4) -> list[str]:
    """Cut a text into stretches of about ``size`` tokens that share about ``overlap`` with the next."""
    width, step = size * chars_per_token, (size - overlap) * chars_per_token
    found = [text[start : start + width].strip() for start in range(0, max(1, len(text)), step)]
    return [chunk for chunk in found if chunk]


def _step(one: str, other: str) -> Step:
    return (one, other) if one <= other else (other, one)
