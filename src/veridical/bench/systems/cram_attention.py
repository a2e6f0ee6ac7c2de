"""CrAM's attention: passages weigh in chosen heads as much as they are credible, and how heads are chosen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.bench.systems.helpers import transformers_and_torch
from veridical.errors import InputError

Head = tuple[int, int]
"""Layer and head, from 0."""
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Traced:
    """A prompt whose answer was wrong, for `trace`.

    Attributes
    ----------
    prompt, wrong
        Numbers of tokens: of the prompt, and of the wrong answer behind it.
    weights
        One a token of the prompt, in [0, 1]; below 1 for tokens of passages that mislead.
    """

    prompt: Sequence[int]
    wrong: Sequence[int]
    weights: Sequence[float]


def passage_weights(scores: Sequence[float], *, ideal: bool = False) -> tuple[float, ...]:
    """Turn scores of credibility (0 to 10) into weights in [0, 1].

    For scores of an evaluator the least is subtracted and the greatest then divided by, so that the least
    credible passage gets 0 however high its score; scores that are all alike give 1 each. For ``ideal`` ones
    the weight is a tenth of the score.

    >>> [round(weight, 2) for weight in passage_weights([7, 7, 8, 9, 10])]
    [0.0, 0.0, 0.33, 0.67, 1.0]
    """
    values = [float(score) for score in scores]
    if not all(0.0 <= value <= 10.0 for value in values):
        raise InputError("A credibility is not between 0 and 10.", "Give each passage a score in this range.")
    if ideal:
        return tuple(value / 10.0 for value in values)
    least, most = min(values, default=0.0), max(values, default=0.0)
    if least == most:
        return tuple(1.0 for _ in values)
    return tuple((value - least) / (most - least) for value in values)


def token_weights(
    offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]], weights: Sequence[float]
) -> list[float]:
    """Give tokens at [start, end) of a text the weight of the span that they reach into, others 1."""
    found = []
    for start, end in offsets:
        inside = (
            weight
            for (low, high), weight in zip(spans, weights, strict=True)
            if start < high and low < end and start < end
        )
        found.append(next(inside, 1.0))
    return found


@contextmanager
def reweighted(model: Any, heads: Iterable[Head], weights: Sequence[float]) -> Iterator[None]:
    """Have a model's attention to the first tokens weighed in some heads, while the context is open.

    The logarithm of a token's weight is added to the attention before the softmax, in reading the prompt and
    in writing. That is attention times weight, scaled to sum to one again; with weight 0 a token is not seen.

    Parameters
    ----------
    model
        A causal model of ``transformers`` with eager attention.
    heads
        Those that weigh; the others see everything.
    weights
        One a token of the prompt, in [0, 1]. The first token, which may have nothing else to look at, should
        have 1.

    Raises
    ------
    InputError
        If the model's attention is not eager, a head is none of its, or a weight is out of range.
    """
    torch, _ = transformers_and_torch("CrAM")
    layers = attention_layers(model)
    chosen: dict[int, list[int]] = defaultdict(list)
    for layer, head in heads:
        if not (0 <= layer < len(layers) and 0 <= head < n_heads(model)):
            raise InputError(
                f"The model has no head {head} in layer {layer}.", "Trace the heads of this model."
            )
        chosen[layer].append(head)
    values = torch.tensor(list(weights), dtype=torch.float64)
    if not bool(((values >= 0) & (values <= 1)).all()):
        raise InputError("A token's weight is not between 0 and 1.", "See passage_weights.")
    hooks = [
        layers[layer].register_forward_pre_hook(_adding(torch, which, values.log()), with_kwargs=True)
        for layer, which in chosen.items()
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def attention_layers(model: Any) -> list[Any]:
    """Return the attention modules of a model, first layer first.

    Raises
    ------
    InputError
        If there are none that can be weighed.
    """
    found = {
        module.layer_idx: module
        for module in model.modules()
        if hasattr(module, "layer_idx") and type(module).__name__.endswith("Attention")
    }
    if getattr(model.config, "_attn_implementation", None) != "eager" or not found:
        raise InputError(
            "The attention of this model cannot be weighed.",
            "Load it with attn_implementation='eager'; other kinds keep no mask for each head.",
        )
    return [found[layer] for layer in sorted(found)]


def n_heads(model: Any) -> int:
    """Heads a layer."""
    return int(model.config.num_attention_heads)


def all_heads(model: Any) -> list[Head]:
    """Every head of a model."""
    return [(layer, head) for layer in range(len(attention_layers(model))) for head in range(n_heads(model))]


def trace(model: Any, samples: Sequence[Traced], *, tick: Callable[[], object] | None = None) -> FloatArray:
    """Say how much of a wrong answer each head carries, by causal tracing.

    The effect of a head is the log-probability of the wrong answer as the model is, less that when only this
    head weighs; the mean over the samples. Each token of the answer is scored where it is predicted, one
    before its own place, the first one too. A sample takes one pass and one a head.

    Parameters
    ----------
    model
        As of `reweighted`.
    samples
        At least one; the paper has 100.
    tick
        Called after each sample.

    Returns
    -------
    array
        Shape (n_layers, n_heads).

    Raises
    ------
    InputError
        As `reweighted`, or there is no sample, or one has no prompt or no answer.
    """
    if not samples or not all(sample.prompt and sample.wrong for sample in samples):
        raise InputError("There is nothing to trace.", "Give samples with a prompt and a wrong answer.")
    heads = all_heads(model)
    total = np.zeros((heads[-1][0] + 1, n_heads(model)))
    for sample in samples:
        plain = answer_logprob(model, sample.prompt, sample.wrong)
        for head in heads:
            with reweighted(model, [head], sample.weights):
                total[head] += plain - answer_logprob(model, sample.prompt, sample.wrong)
        if tick is not None:
            tick()
    return total / len(samples)


def strongest(effects: FloatArray, n: int) -> list[Head]:
    """Return the n heads of the greatest effect, the greatest first."""
    order = np.argsort(-effects, axis=None, kind="stable")[:n].tolist()
    return [(place // effects.shape[1], place % effects.shape[1]) for place in order]


def answer_logprob(model: Any, prompt: Sequence[int], answer: Sequence[int]) -> float:
    """Return log P(answer | prompt), summed over its tokens."""
    torch, _ = transformers_and_torch("CrAM")
    tokens = torch.tensor([[*prompt, *answer]], device=model.device)
    with torch.inference_mode():
        logits = model(input_ids=tokens, use_cache=False).logits[0].double()
    before = torch.log_softmax(logits[len(prompt) - 1 : -1], dim=-1)
    return float(before.gather(1, tokens[0, len(prompt) :, None]).sum())


def _adding(torch: Any, heads: Sequence[int], logs: Any) -> Callable[..., Any]:
    """Return a hook that gives an attention layer a mask of its own for each head."""

    def hook(module: Any, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        mask = named.get("attention_mask")
        if mask is None or mask.dim() != 4 or not mask.is_floating_point():
            raise InputError(
                "The model gave its attention no mask to add to.", "Load it with attn_implementation='eager'."
            )
        least = torch.finfo(mask.dtype).min
        bias = logs.clamp(min=least).to(device=mask.device, dtype=mask.dtype)[: mask.shape[-1]]
        mask = mask.expand(-1, module.config.num_attention_heads, -1, -1).clone()
        # Twice the least number would be minus infinity, and a row of these no distribution.
        mask[:, heads, :, : len(bias)] = (mask[:, heads, :, : len(bias)] + bias).clamp(min=least)
        return given, {**named, "attention_mask": mask}

    return hook
