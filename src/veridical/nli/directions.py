"""Judge pairs in both directions, since a model may say more one way round than the other."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.nli.base import NLIModel
from veridical.types import NLILabel, NLIResult


def both_directions(model: NLIModel, pairs: Sequence[tuple[str, str]]) -> list[NLIResult]:
    """Judge each pair as given and turned round, and combine the two.

    Parameters
    ----------
    model
        Any backend. One that has ``judge_both``, which gives both judgements of each pair, is asked once.
    pairs
        (left, right) texts.

    Returns
    -------
    list of NLIResult
        One for each pair, by ``combine``; ``premise_span`` lies in the left text, the other in the right.
    """
    judge_both = getattr(model, "judge_both", None)
    if judge_both is not None:
        return [combine(a, b) for a, b in judge_both(pairs)]
    forward = model.judge(pairs)
    backward = model.judge([(right, left) for left, right in pairs])
    return [combine(a, b) for a, b in zip(forward, backward, strict=True)]


def combine(forward: NLIResult, backward: NLIResult) -> NLIResult:
    """Join the judgements of (left, right) and (right, left) into one of the unordered pair.

    Contradiction is symmetric, so the two readings of it are two estimates of one thing and their mean is
    taken. Entailment is not: that one text implies the other, whichever, is support, so the larger counts.
    Neutral gets the rest; where nothing is left, the others are scaled to sum to one. Order does not matter.

    Returns
    -------
    NLIResult
        Its spans come from the direction that speaks more for its label, left text first.
    """
    contradiction = (forward.contradiction + backward.contradiction) / 2
    entailment = max(forward.entailment, backward.entailment)
    total = max(1.0, contradiction + entailment)
    contradiction, entailment = contradiction / total, entailment / total
    neutral = max(0.0, 1.0 - contradiction - entailment)
    label = NLIResult(entailment, neutral, contradiction).label
    if label is NLILabel.NEUTRAL:  # show what came closest to being more
        label = NLILabel.ENTAILMENT if entailment >= contradiction else NLILabel.CONTRADICTION
    spans = (forward.premise_span, forward.hypothesis_span)
    if spans[0] is None or getattr(backward, label.value) > getattr(forward, label.value):
        spans = (backward.hypothesis_span, backward.premise_span)
    return NLIResult(entailment, neutral, contradiction, *spans)
