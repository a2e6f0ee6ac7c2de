"""Judging stored passage pairs: both directions, combined into one symmetric judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.corpus.split import sentences
from veridical.nli.base import NLIModel
from veridical.stores.derived import Judgement
from veridical.types import NLIResult, Span


def sentence_texts(text: str) -> list[str]:
    """The sentences of a passage, in the order in which their vectors are stored."""
    return [span.text for span in sentences(text)]


def judge_both_ways(
    model: NLIModel,
    pairs: Sequence[tuple[int, int]],
    texts: Mapping[int, str],
    vectors: Mapping[int, npt.NDArray[np.float32]],
) -> list[Judgement]:
    """Judge passage pairs in both directions.

    Parameters
    ----------
    pairs
        (low id, high id).
    texts
        Passage id to text.
    vectors
        Passage id to sentence vectors, handed to models that can use them.

    Returns
    -------
    list of Judgement
        Contradiction is symmetric, so its probability is the mean of the two directions; one passage supports
        another if either entails the other, so entailment is the larger. What both exceed 1 by is scaled off.
    """
    warm = getattr(model, "warm", None)
    if warm is not None:
        _warm(warm, texts, vectors)
    forward = model.judge([(texts[low], texts[high]) for low, high in pairs])
    backward = model.judge([(texts[high], texts[low]) for low, high in pairs])
    return [
        _combine(low, high, there, back)
        for (low, high), there, back in zip(pairs, forward, backward, strict=True)
    ]


def _warm(warm: Any, texts: Mapping[int, str], vectors: Mapping[int, npt.NDArray[np.float32]]) -> None:
    for passage_id, matrix in vectors.items():
        found = sentence_texts(texts[passage_id])
        if len(found) == len(matrix):
            warm(found, matrix)


def _combine(low: int, high: int, there: NLIResult, back: NLIResult) -> Judgement:
    entailment = max(there.entailment, back.entailment)
    contradiction = (there.contradiction + back.contradiction) / 2
    excess = max(1.0, entailment + contradiction)
    kind = "entailment" if entailment >= contradiction else "contradiction"
    if getattr(there, kind) >= getattr(back, kind):
        first, second = there.premise_span, there.hypothesis_span
    else:
        first, second = back.hypothesis_span, back.premise_span
    return Judgement(low, high, entailment / excess, contradiction / excess, *_place(first), *_place(second))


def _place(span: Span | None) -> tuple[int | None, int | None]:
    return (None, None) if span is None else (span.start, span.end)
