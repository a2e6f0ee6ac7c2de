"""The default NLI backend: compare what aligned sentences say, and let boosted trees judge the comparison.

Nothing is downloaded beyond the sentence encoder, and even that can be left out. What was fitted, on what and
how well it does stands in ``data/MODEL_CARD.md``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError, ModelError
from veridical.models.transformer import open_session
from veridical.nli.align import (
    ALIGNMENT,
    DEFAULT_MAX_PAIRS,
    Embed,
    VectorCache,
    lexical_similarities,
    sentence_spans,
)
from veridical.nli.compare import COSINE, FEATURES, TURNED, compare
from veridical.nli.passages import (
    Scaling,
    comparable,
    denials,
    passage_evidence,
    repeats,
    said_of,
)
from veridical.nli.values import Facts, facts_of
from veridical.types import NLIResult, Span

FloatArray = npt.NDArray[np.float64]
Effort = Literal["full", "quick", "lexical"]

LABELS = ("entailment", "neutral", "contradiction")
#: Under "quick", what is less likely than this to be more than neutral gets no second look.
SCREEN = 0.10
_COPY = np.array([0.98, 0.02, 0.0])
_NEUTRAL = NLIResult(0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The sentence pairs of a whole batch: ``owner`` is the passage pair, ``copies`` one sentence twice.

    ``denials`` are counted for each passage pair.
    """

    owner: npt.NDArray[np.int64]
    left: list[Span]
    right: list[Span]
    table: npt.NDArray[np.float32]
    copies: npt.NDArray[np.bool_]
    denials: list[int]

    def turned(self) -> _Candidates:
        """The same with premise and hypothesis in each other's place."""
        table = self.table[:, [*TURNED, len(TURNED)]]
        return _Candidates(self.owner, self.right, self.left, table, self.copies, self.denials)


class FeatureNLI:
    """Judge passages by values, names, words and denials of their aligned sentences.

    Directional, but only mildly: columns for premise and hypothesis differ, most evidence does not.

    Parameters
    ----------
    embed
        Turns sentences into unit rows, shape (n, d), as ``Encoder.encode`` does. None leaves the encoder out
        (``effort="lexical"``).
    effort
        ``full`` aligns all sentences by embedding; ``quick`` aligns by shared words, judges without the
        encoder, and embeds only sentences of pairs that may be more than neutral; ``lexical`` never embeds.
    max_pairs
        Sentence pairs compared for each pair of passages.
    screen
        Under ``quick``: least probability, without the encoder, of not being neutral for a second look.
    prior
        Shares of entailment, neutral and contradiction among the pairs that will be judged, for which the
        probabilities are stated. None keeps the shipped prior of neighbouring passages in a corpus.
    n_threads
        Threads of the tree model.
    cache_size
        Sentence vectors kept between calls (768 bytes each).

    Raises
    ------
    InputError
        If ``effort`` needs an encoder and has none, or an argument is out of range.
    """

    def __init__(
        self,
        embed: Embed | None = None,
        *,
        effort: Effort | None = None,
        max_pairs: int = DEFAULT_MAX_PAIRS,
        screen: float = SCREEN,
        prior: tuple[float, float, float] | None = None,
        n_threads: int = 1,
        cache_size: int = 200_000,
    ) -> None:
        effort = effort or ("lexical" if embed is None else "quick")
        if effort not in get_args(Effort):
            raise InputError(
                f"Unknown effort '{effort}'.",
                f"Use one of {', '.join(get_args(Effort))}.",
            )
        if embed is None and effort != "lexical":
            raise InputError(
                f"effort='{effort}' needs an encoder.",
                "Pass embed, or use effort='lexical'.",
            )
        if max_pairs < 1:
            raise InputError(f"max_pairs must be at least 1, got {max_pairs}.")
        if prior is not None and (len(prior) != 3 or min(prior) <= 0 or abs(sum(prior) - 1) > 1e-6):
            raise InputError(f"prior must be three positive shares that sum to 1, got {prior}.")
        self.effort: Effort = effort
        self.max_pairs = max_pairs
        self.screen = screen
        self.prior = prior
        self._embed = embed
        self._n_threads = n_threads
        self._vectors = VectorCache(cache_size)

    @property
    def shares(self) -> tuple[float, ...]:
        """Shares of entailment, neutral and contradiction for which the probabilities are stated."""
        return self._scaling.prior

    @cached_property
    def name(self) -> str:
        """Backend, effort and the first eight digits of a hash of weights and settings."""
        digest = hashlib.sha256()
        files = [
            "settings.json",
            "lexical.onnx",
            *([] if self.effort == "lexical" else ["full.onnx"]),
        ]
        for file in files:
            digest.update(_data(file))
        settings = (self.effort, self.max_pairs, self.screen, self.prior, ALIGNMENT)
        digest.update(repr(settings).encode())
        return f"features-{self.effort}-{digest.hexdigest()[:8]}"

    def warm(self, sentences: Sequence[str], vectors: npt.NDArray[np.float32] | None = None) -> None:
        """Take in sentence vectors that are known already, or compute those that are not.

        Parameters
        ----------
        sentences
            Texts as ``sentence_spans`` cuts them.
        vectors
            Unit rows for them, shape (n, d); None encodes.
        """
        if vectors is not None:
            self._vectors.put(sentences, vectors)
        elif self._embed is not None:
            self._vectors.fill(sentences, self._embed)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[NLIResult]:
        """Judge (premise, hypothesis) passages; see ``NLIModel.judge``.

        Every distinct sentence is read and embedded once a call. Two passages without sentences in common
        reach are neutral and carry no spans. A verbatim copy is entailment.

        Returns
        -------
        list of NLIResult
            One for each pair, in order. The spans are the two sentences that speak most for the more probable
            of entailment and contradiction.
        """
        return self._results(pairs, self._candidates(pairs))

    def judge_both(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[NLIResult, NLIResult]]:
        """Judge each pair as given and turned round, in little more time than one way takes.

        Returns
        -------
        list of tuple
            What ``judge`` says of (left, right) and of (right, left).
        """
        candidates = self._candidates(pairs)
        backward = self._results([(right, left) for left, right in pairs], candidates.turned())
        return list(zip(self._results(pairs, candidates), backward, strict=True))

    def _candidates(self, pairs: Sequence[tuple[str, str]]) -> _Candidates:
        spans = {text: sentence_spans(text) for text in dict.fromkeys(t for pair in pairs for t in pair)}
        facts = {text: [facts_of(span.text) for span in found] for text, found in spans.items()}
        if self.effort == "full" and self._embed is not None:
            self._vectors.fill([span.text for found in spans.values() for span in found], self._embed)
        return self._align(pairs, spans, facts)

    def _results(self, pairs: Sequence[tuple[str, str]], candidates: _Candidates) -> list[NLIResult]:
        if not len(candidates.owner):
            return [_NEUTRAL for _ in pairs]
        return self._decide(pairs, candidates, self._sentence_probabilities(candidates))

    def _align(
        self,
        pairs: Sequence[tuple[str, str]],
        spans: dict[str, tuple[Span, ...]],
        facts: dict[str, list[Facts]],
    ) -> _Candidates:
        owner: list[int] = []
        left: list[Span] = []
        right: list[Span] = []
        rows: list[tuple[float, ...]] = []
        copies: list[bool] = []
        said = {text: said_of(found) for text, found in facts.items()}
        for number, (premise, hypothesis) in enumerate(pairs):
            ours, theirs = spans[premise], spans[hypothesis]
            if self.effort == "full":
                similar = self._vectors.cosines(ours, theirs)
            else:
                similar = lexical_similarities(facts[premise], facts[hypothesis])
            repeated = repeats([s.text for s in ours], [s.text for s in theirs], facts[premise])
            both = facts[premise], facts[hypothesis]
            for i, j in comparable(similar, *both, repeated, self.max_pairs):
                owner.append(number)
                left.append(ours[i])
                right.append(theirs[j])
                copies.append((i, j) in repeated)
                rows.append((*compare(both[0][i], both[1][j]), float(similar[i, j])))
        return _Candidates(
            np.array(owner, dtype=np.int64),
            left,
            right,
            np.array(rows, dtype=np.float32).reshape(len(rows), len(FEATURES) + 1),
            np.array(copies, dtype=np.bool_),
            [denials(said[premise], said[hypothesis]) for premise, hypothesis in pairs],
        )

    def _sentence_probabilities(self, candidates: _Candidates) -> FloatArray:
        """Judge sentence pairs: shape (n_candidates, 3) in the order of ``LABELS``."""
        if self.effort == "full":
            found = self._full.judge(candidates.table)
        else:
            found = self._lexical.judge(candidates.table[:, : len(FEATURES)])
        if self.effort == "quick" and self._embed is not None:
            again = np.flatnonzero(1.0 - found[:, 1] >= self.screen)
            left = [candidates.left[row] for row in again]
            right = [candidates.right[row] for row in again]
            self._vectors.fill([span.text for span in (*left, *right)], self._embed)
            table = candidates.table[again]
            table[:, -1] = self._vectors.paired_cosines(left, right)
            found[again] = self._full.judge(table)
        return found

    def _decide(
        self,
        pairs: Sequence[tuple[str, str]],
        candidates: _Candidates,
        probabilities: FloatArray,
    ) -> list[NLIResult]:
        """Take the strongest sentence pair for either side, and scale to probabilities of the passages."""
        starts = np.searchsorted(candidates.owner, np.arange(len(pairs) + 1))
        jaccard = candidates.table[:, FEATURES.index("word_jaccard")]
        copies = candidates.copies
        scaling = self._scaling
        results = []
        for number, (premise, hypothesis) in enumerate(pairs):
            begin, end = int(starts[number]), int(starts[number + 1])
            if begin == end:
                results.append(_NEUTRAL)
                continue
            seen, best_entailment, best_contradiction = passage_evidence(
                probabilities[begin:end], jaccard[begin:end], copies[begin:end], candidates.denials[number]
            )
            final = _COPY if premise == hypothesis else scaling.apply(seen)
            row = begin + (best_entailment if final[0] >= final[2] else best_contradiction)
            results.append(
                NLIResult(
                    float(final[0]),
                    float(final[1]),
                    float(final[2]),
                    candidates.left[row],
                    candidates.right[row],
                )
            )
        return results

    @cached_property
    def _full(self) -> _Trees:
        return _Trees("full.onnx", len(FEATURES) + 1, self._n_threads)

    @cached_property
    def _lexical(self) -> _Trees:
        return _Trees("lexical.onnx", len(FEATURES), self._n_threads)

    @cached_property
    def _scaling(self) -> Scaling:
        settings = json.loads(_data("settings.json"))
        if settings["features"] != [*FEATURES, COSINE]:
            raise ModelError(
                "The fitted feature model does not belong to this version of the code.",
                "Reinstall veridical, or fit it again with training/nli_features.py.",
            )
        own = settings["scaling"][self.effort]
        return Scaling(
            np.array(own["coefficients"]),
            np.array(own["intercepts"]),
            tuple(settings["prior"]),
        ).at_prior(self.prior)


def _data(file: str) -> bytes:
    return (resources.files("veridical.nli") / "data" / file).read_bytes()


class _Trees:
    """Boosted trees in an ONNX file: columns in, three probabilities out."""

    def __init__(self, file: str, n_columns: int, n_threads: int) -> None:
        self._session = open_session(_data(file), n_threads=n_threads)
        self._n_columns = n_columns

    def judge(self, table: npt.NDArray[np.float32]) -> FloatArray:
        """Return shape (n, 3); rows sum to one."""
        if not len(table):
            return np.zeros((0, 3))
        name = self._session.get_inputs()[0].name
        raw = self._session.run(None, {name: np.ascontiguousarray(table[:, : self._n_columns])})[-1]
        found = np.asarray(raw, dtype=np.float64)
        return np.asarray(found / found.sum(axis=1, keepdims=True), dtype=np.float64)
