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
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError, ModelError
from veridical.nli.align import (
    ALIGNMENT,
    DEFAULT_MAX_PAIRS,
    Embed,
    VectorCache,
    best_matches,
    lexical_similarities,
    sentence_spans,
)
from veridical.nli.compare import COSINE, FEATURES, compare
from veridical.nli.values import Facts, facts_of
from veridical.types import NLIResult, Span

FloatArray = npt.NDArray[np.float64]
Effort = Literal["full", "quick", "lexical"]

LABELS = ("entailment", "neutral", "contradiction")
#: Under "quick", what is less likely than this to be more than neutral gets no second look.
SCREEN = 0.10
_EPS = 1e-6
_COPY = np.array([0.98, 0.02, 0.0])
_NEUTRAL = NLIResult(0.0, 1.0, 0.0)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """The sentence pairs of a whole batch: ``owner`` is the passage pair, the rest index its sentences."""

    owner: npt.NDArray[np.int64]
    left: list[Span]
    right: list[Span]
    table: npt.NDArray[np.float32]


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
        spans = {text: sentence_spans(text) for text in dict.fromkeys(t for pair in pairs for t in pair)}
        facts = {text: [facts_of(span.text) for span in found] for text, found in spans.items()}
        if self.effort == "full" and self._embed is not None:
            self._vectors.fill([span.text for found in spans.values() for span in found], self._embed)
        candidates = self._align(pairs, spans, facts)
        if not len(candidates.owner):
            return [_NEUTRAL for _ in pairs]
        sentence_probabilities = self._sentence_probabilities(candidates)
        return self._decide(pairs, candidates, sentence_probabilities)

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
        for number, (premise, hypothesis) in enumerate(pairs):
            if self.effort == "full":
                similar = self._vectors.cosines(spans[premise], spans[hypothesis])
            else:
                similar = lexical_similarities(facts[premise], facts[hypothesis])
            for i, j in comparable(similar, facts[premise], facts[hypothesis], self.max_pairs):
                owner.append(number)
                left.append(spans[premise][i])
                right.append(spans[hypothesis][j])
                rows.append(
                    (
                        *compare(facts[premise][i], facts[hypothesis][j]),
                        float(similar[i, j]),
                    )
                )
        table = np.array(rows, dtype=np.float32).reshape(len(rows), len(FEATURES) + 1)
        return _Candidates(np.array(owner, dtype=np.int64), left, right, table)

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
        copies = copied(
            [span.text for span in candidates.left],
            [span.text for span in candidates.right],
            candidates.table,
        )
        scaling = self._scaling
        results = []
        for number, (premise, hypothesis) in enumerate(pairs):
            begin, end = int(starts[number]), int(starts[number + 1])
            if begin == end:
                results.append(_NEUTRAL)
                continue
            seen, best_entailment, best_contradiction = passage_evidence(
                probabilities[begin:end], jaccard[begin:end], copies[begin:end]
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


@dataclass(frozen=True, slots=True)
class Scaling:
    """Multinomial logistic scaling of the strongest sentence evidence to passage probabilities.

    A passage pair with evidence x (``passage_evidence``) has softmax(W x + b). ``intercepts`` hold the log
    prior, so that another prior is a shift.
    """

    coefficients: FloatArray
    intercepts: FloatArray
    prior: tuple[float, ...]

    def at_prior(self, prior: Sequence[float] | None) -> Scaling:
        """Return the scaling for other class shares: b + log(new / old)."""
        if prior is None:
            return self
        shift = np.log(np.asarray(prior)) - np.log(np.asarray(self.prior))
        return Scaling(self.coefficients, self.intercepts + shift, tuple(prior))

    def apply(self, evidence: FloatArray) -> FloatArray:
        """Return probabilities of entailment, neutral and contradiction; they sum to one."""
        z = self.coefficients @ evidence + self.intercepts
        weights = np.exp(z - z.max())
        return np.asarray(weights / weights.sum(), dtype=np.float64)


def passage_evidence(
    probabilities: FloatArray, overlaps: npt.NDArray[np.float32], copies: npt.NDArray[np.bool_]
) -> tuple[FloatArray, int, int]:
    """Sum up the sentence pairs of one passage pair.

    Parameters
    ----------
    probabilities
        Shape (n, 3), n at least 1, of the sentence pairs.
    overlaps
        Shape (n,): Jaccard overlap of their words.
    copies
        Shape (n,): whether a pair is one sentence twice.

    Returns
    -------
    tuple
        x = (logit e, logit c, o, o logit e, copied) and the rows of e and c: the largest probabilities of
        entailment and of contradiction, with o the overlap at e. A copy is taken for e before all else, and
        never for c. Contradiction has no such term: a clash need not share words.
    """
    any_copy = bool(copies.any())
    at_e = int(copies.argmax()) if any_copy else int(probabilities[:, 0].argmax())
    contradiction = np.where(copies, 0.0, probabilities[:, 2])
    at_c = int(contradiction.argmax())
    strongest = _logit(np.array([probabilities[at_e, 0], contradiction[at_c]]))
    overlap = float(overlaps[at_e])
    return np.array([*strongest, overlap, overlap * strongest[0], any_copy]), at_e, at_c


def comparable(
    similarities: npt.NDArray[np.float32], left: Sequence[Facts], right: Sequence[Facts], max_pairs: int
) -> list[tuple[int, int]]:
    """Align sentences, but leave out pairs with nothing in common and lines too short to be a statement."""
    return [
        (i, j)
        for i, j in best_matches(similarities, max_pairs)
        if similarities[i, j] > 0 and len(left[i].words) > 1 and len(right[j].words) > 1
    ]


def copied(
    left: Sequence[str], right: Sequence[str], table: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """Find the pairs that are one sentence twice, but for those too short to say anything of their own."""
    same = np.array([a == b for a, b in zip(left, right, strict=True)], dtype=np.bool_)
    return np.asarray(same & (table[:, FEATURES.index("n_words_h")] >= 4), dtype=np.bool_)


def _logit(p: FloatArray) -> FloatArray:
    clipped = np.clip(p, _EPS, 1.0 - _EPS)
    return np.asarray(np.log(clipped / (1.0 - clipped)), dtype=np.float64)


def _data(file: str) -> bytes:
    return (resources.files("veridical.nli") / "data" / file).read_bytes()


class _Trees:
    """Boosted trees in an ONNX file: columns in, three probabilities out."""

    def __init__(self, file: str, n_columns: int, n_threads: int) -> None:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = n_threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = ort.InferenceSession(_data(file), options, providers=["CPUExecutionProvider"])
        self._n_columns = n_columns

    def judge(self, table: npt.NDArray[np.float32]) -> FloatArray:
        """Return shape (n, 3); rows sum to one."""
        if not len(table):
            return np.zeros((0, 3))
        name = self._session.get_inputs()[0].name
        raw = self._session.run(None, {name: np.ascontiguousarray(table[:, : self._n_columns])})[-1]
        found = np.asarray(raw, dtype=np.float64)
        return np.asarray(found / found.sum(axis=1, keepdims=True), dtype=np.float64)
