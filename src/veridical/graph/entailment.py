"""Judging stored passage pairs: both directions, combined into one symmetric judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.corpus.split import sentences
from veridical.nli.base import NLIModel
from veridical.nli.directions import both_directions
from veridical.stores.derived import Judgement
from veridical.types import Span


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
        One a pair, in order, as ``veridical.nli.directions.combine`` joins the two directions.
    """
    warm = getattr(model, "warm", None)
    if warm is not None:
        _warm(warm, texts, vectors)
    found = both_directions(model, [(texts[low], texts[high]) for low, high in pairs])
    return [
        Judgement(
            low,
            high,
            result.entailment,
            result.contradiction,
            *_place(result.premise_span),
            *_place(result.hypothesis_span),
        )
        for (low, high), result in zip(pairs, found, strict=True)
    ]


def _warm(warm: Any, texts: Mapping[int, str], vectors: Mapping[int, npt.NDArray[np.float32]]) -> None:
    for passage_id, matrix in vectors.items():
        found = sentence_texts(texts[passage_id])
        if len(found) == len(matrix):
            warm(found, matrix)


def _place(span: Span | None) -> tuple[int | None, int | None]:
    return (None, None) if span is None else (span.start, span.end)
