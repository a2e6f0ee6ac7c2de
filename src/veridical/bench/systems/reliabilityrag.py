"""ReliabilityRAG (arXiv 2509.23519): the largest set of passages whose answers do not clash."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical.bench.systems.answering import from_passages
from veridical.bench.systems.base import TOP_K, About, Reply, Task, Tools, nearest
from veridical.bench.systems.helpers import ANSWER_NLI, helper
from veridical.bench.systems.isolated import isolated
from veridical.bench.systems.robustrag import RobustRAGKeyword
from veridical.errors import InputError
from veridical.llm.usage import measure
from veridical.reading.agree import DIFFERENT, agreement

MAX_EXACT = 20
"""Answers up to which the largest set is searched for exactly; the work can double with each."""
CONTRADICTS_FROM = 0.5
ISOLATED_TOKENS = 50

Edge = tuple[int, int]
_PAPER = "arXiv 2509.23519"
_STAND_IN = (
    "answers contradict where `veridical.reading.agree` says that they differ, in place of DeBERTa's NLI"
)


class ReliabilityRAG:
    """Answer from the passages of a maximum independent set of the contradiction graph (k + 1 calls).

    Each passage is answered from alone; answers that contradict each other are joined by an edge; passages
    that do not answer are left out. Of the largest sets without an edge the one of the best ranks is kept,
    and the question answered from its passages in the order of their ranks. If no passage answers, all are
    kept, as published. A majority of colluding passages wins by design, also over the best-ranked one.

    Parameters
    ----------
    tools
        With a language model, or else a reader, which then gives the answers that are compared, too.
    top_k
        Passages answered from, at most `MAX_EXACT`.
    flip_rate
        Share of the judgements that are turned round, to see what errors of inference do.
    gamma
        Count a passage of rank i (from 0) as ``gamma^i`` instead of as one; 1 is as published.

    Raises
    ------
    InputError
        If ``top_k`` is above `MAX_EXACT` or a share out of range.
    """

    name = "reliabilityrag"
    about = About("ReliabilityRAG (MIS)", _PAPER, f"{_STAND_IN}, unless it is there", "k + 1")

    def __init__(
        self, tools: Tools, *, top_k: int = TOP_K, flip_rate: float = 0.0, gamma: float = 1.0
    ) -> None:
        if not 1 <= top_k <= MAX_EXACT:
            raise InputError(f"top_k is {top_k}.", f"Pass 1 to {MAX_EXACT}; above it, use sampling.")
        if not 0 <= flip_rate <= 1 or not 0 < gamma <= 1:
            raise InputError(f"flip_rate is {flip_rate} and gamma {gamma}.", "Pass numbers between 0 and 1.")
        self.tools, self.top_k, self.flip_rate, self.gamma = tools, top_k, flip_rate, gamma

    def answer(self, task: Task) -> Reply:
        """Answer from a maximum independent set; see `System.answer`."""
        places = nearest(task, self.top_k)
        with measure() as spent:
            answers = isolated(
                self.tools,
                task.question,
                [[task.pool[place]] for place in places],
                max_tokens=ISOLATED_TOKENS,
            )
            alive = [rank for rank, answer in enumerate(answers) if answer is not None]
            edges = contradictions(
                self.tools, task.question, [answers[rank] or "" for rank in alive], self.flip_rate, task.seed
            )
            weights = [self.gamma**rank for rank in alive]
            chosen = tuple(places[alive[i]] for i in independent_set(len(alive), edges, weights)) or places
            said = from_passages(self.tools, task.question, [task.pool[place] for place in chosen])
        detail = {"isolated": answers, "edges": [(alive[i], alive[j]) for i, j in edges]}
        return Reply(said.text, chosen, said.probability, spent.total, _notes(self.tools), detail)


class ReliabilityRAGSampled:
    """Answer from samples of a long ranking whose answers do not contradict each other (T + 1 calls).

    ``n_samples`` contexts of ``size`` passages are drawn with replacement, the better ranks more often (see
    `sampling_weights`), and shown worst first. The largest set of samples without a contradiction is kept,
    of equals the one of the best ranks, and the question answered from their passages, repetitions included.
    Samples that do not answer are left out. Equal samples are asked once.

    Parameters
    ----------
    tools
        With a language model, or else a reader.
    depth
        Passages drawn from.
    n_samples, size
        T and m; T at most `MAX_EXACT`.
    gamma
        See `sampling_weights`.
    flip_rate
        As of `ReliabilityRAG`.
    """

    name = "reliabilityrag_sampled"
    about = About("ReliabilityRAG (sampled MIS)", _PAPER, f"{_STAND_IN}, unless it is there", "T + 1")

    def __init__(
        self,
        tools: Tools,
        *,
        depth: int = 50,
        n_samples: int = 10,
        size: int = 1,
        gamma: float = 1.0,
        flip_rate: float = 0.0,
    ) -> None:
        if not 1 <= n_samples <= MAX_EXACT or size < 1 or depth < 1:
            raise InputError(
                f"n_samples is {n_samples}, size {size}, depth {depth}.",
                f"Pass 1 or more, and at most {MAX_EXACT} samples.",
            )
        if not 0 <= gamma <= 1 or not 0 <= flip_rate <= 1:
            raise InputError(f"gamma is {gamma} and flip_rate {flip_rate}.", "Pass numbers between 0 and 1.")
        self.tools, self.depth, self.n_samples, self.size = tools, depth, n_samples, size
        self.gamma, self.flip_rate = gamma, flip_rate

    def answer(self, task: Task) -> Reply:
        """Answer from the samples that agree; see `System.answer`."""
        samples = draw(
            len(nearest(task, self.depth)),
            n_samples=self.n_samples,
            size=self.size,
            gamma=self.gamma,
            seed=task.seed,
        )
        samples.sort()  # so that the first of equally large sets is the one of the best ranks
        with measure() as spent:
            answers = isolated(
                self.tools,
                task.question,
                [[task.pool[place] for place in reversed(sample)] for sample in samples],
                max_tokens=ISOLATED_TOKENS,
            )
            alive = [number for number, answer in enumerate(answers) if answer is not None]
            edges = contradictions(
                self.tools, task.question, [answers[i] or "" for i in alive], self.flip_rate, task.seed
            )
            chosen = [place for i in independent_set(len(alive), edges) for place in samples[alive[i]]]
            said = from_passages(self.tools, task.question, [task.pool[place] for place in chosen])
        detail = {"samples": samples, "isolated": answers}
        ranking = tuple(dict.fromkeys(chosen))
        return Reply(said.text, ranking, said.probability, spent.total, _notes(self.tools), detail)


class ReliabilityRAGKeyword(RobustRAGKeyword):
    """RobustRAG's keywords with answers of better-ranked passages counting more (k + 1 calls)."""

    name = "reliabilityrag_keyword"
    about = replace(
        RobustRAGKeyword.about,
        title="ReliabilityRAG (keyword)",
        paper=_PAPER,
        differs=f"{RobustRAGKeyword.about.differs}; gamma is .9, as 1 would be RobustRAG",
    )

    def __init__(self, tools: Tools, *, top_k: int = TOP_K, gamma: float = 0.9) -> None:
        super().__init__(tools, top_k=top_k, gamma=gamma)


def contradictions(
    tools: Tools, question: str, answers: Sequence[str], flip_rate: float = 0.0, seed: int = 0
) -> list[Edge]:
    """Return the pairs (i, j), i < j, of answers that contradict each other.

    One pass of inference a pair, in this direction, on what the answers say as sentences; they contradict at
    `CONTRADICTS_FROM` or more. Without the model they do where `agreement` is at most `DIFFERENT`. Each
    judgement is turned round with probability ``flip_rate``.
    """
    pairs = [(i, j) for i in range(len(answers)) for j in range(i + 1, len(answers))]
    judge = helper(tools, ANSWER_NLI)
    if judge is None:
        found = [agreement(answers[i], answers[j], question=question) <= DIFFERENT for i, j in pairs]
    else:
        sentences = [f"The answer to the question: {question}\nis {answer}." for answer in answers]
        shares = judge([(sentences[i], sentences[j]) for i, j in pairs]) if pairs else []
        found = [share >= CONTRADICTS_FROM for share in shares]
    flipped = np.random.default_rng(seed).random(len(pairs)) < flip_rate
    return [pair for pair, clash, flip in zip(pairs, found, flipped, strict=True) if clash != flip]


def independent_set(n: int, edges: Sequence[Edge], weights: Sequence[float] | None = None) -> tuple[int, ...]:
    """Return the heaviest set of nodes without an edge between two of them.

    Parameters
    ----------
    n
        Nodes 0 to n - 1; the time taken can double with each.
    edges
        Pairs of them.
    weights
        Positive, one a node; without them each is 1, which gives a maximum independent set.

    Returns
    -------
    tuple of int
        Rising; of equally heavy sets the one that comes first in the order of words.

    Examples
    --------
    >>> independent_set(4, [(0, 1), (1, 2), (2, 3)])
    (0, 2)
    """
    weight = [1.0] * n if weights is None else [float(value) for value in weights]
    clashing = [0] * n
    for i, j in edges:
        clashing[i] |= 1 << j
        clashing[j] |= 1 << i
    left = [sum(weight[i:]) for i in range(n + 1)]
    best: tuple[float, tuple[int, ...]] = (0.0, ())

    def search(place: int, total: float, taken: tuple[int, ...], barred: int) -> None:
        # Sets with the earlier node are tried first, so that the first of equals is the one to keep.
        nonlocal best
        if total > best[0] + 1e-9:
            best = (total, taken)
        for node in range(place, n):
            if total + left[node] <= best[0] + 1e-9:
                return
            if not barred >> node & 1:
                search(node + 1, total + weight[node], (*taken, node), barred | clashing[node])

    search(0, 0.0, (), 0)
    return best[1]


def sampling_weights(n: int, gamma: float) -> tuple[float, ...]:
    """Probability with which each of n ranks is drawn: ``gamma^i``, for gamma 0 ``1 - i / n``, summing to 1.

    >>> [round(weight, 4) for weight in sampling_weights(5, 0.0)]
    [0.3333, 0.2667, 0.2, 0.1333, 0.0667]
    """
    raw = np.array([gamma**i if gamma else 1 - i / n for i in range(n)])
    return tuple((raw / raw.sum()).tolist())


def draw(n: int, *, n_samples: int, size: int, gamma: float, seed: int) -> list[tuple[int, ...]]:
    """Draw samples of ranks, each sorted; a rank can be in one more than once."""
    if not n:
        return []
    chance = np.random.default_rng(seed)
    drawn = chance.choice(n, size=(n_samples, min(size, n)), p=sampling_weights(n, gamma))
    return [tuple(sorted(sample)) for sample in drawn.tolist()]


def _notes(tools: Tools) -> tuple[str, ...]:
    return () if helper(tools, ANSWER_NLI) else (f"stand-in: {_STAND_IN}",)
