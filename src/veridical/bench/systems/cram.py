"""CrAM (arXiv 2406.11497): in chosen heads, attention to a passage is scaled by its credibility."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, nearest
from veridical.bench.systems.cram_attention import (
    Head,
    all_heads,
    passage_weights,
    reweighted,
    token_weights,
)
from veridical.bench.systems.helpers import require, transformers_and_torch
from veridical.errors import InputError, LLMError, ModelError
from veridical.llm.base import Message
from veridical.prompts import render
from veridical.types import Record, Usage

WEIGHTS = "cram-qwen1-5-7b-chat"
MAX_TOKENS = 100
UNJUDGED = 5.0
_SLOT = "PASSAGESLOT{}X"
_ONE_AT_A_TIME = threading.Lock()
"""Held while a model is weighed, as the weights of one question would count for another's."""


@dataclass(frozen=True, slots=True)
class Placed(Record):
    """A prompt as the model reads it, and the characters [start, end) at which each passage stands."""

    text: str
    spans: tuple[tuple[int, int], ...]


class CrAM:
    """Answer from passages that the model attends to as far as they are credible (1 call).

    Passages stand in the order of their scores, the most credible next to the question. In some heads the
    attention to each is multiplied by its weight (`passage_weights`); the text stays as it is. By the
    evaluator's rule the least credible passage is not seen at all in these heads, be its score 7 of 10.

    Parameters
    ----------
    tools
        With the weights: a folder of a causal model, or a model of ``transformers`` with eager attention and
        its tokenizer.
    top_k
        Passages in the prompt.
    heads
        Those that weigh, see `veridical.bench.systems.cram_attention.trace`; by default all.
    ideal
        Whether the scores are ideal ones, of which a tenth is the weight.
    max_tokens
        The most tokens to write.

    Raises
    ------
    MissingExtraError
        If torch or transformers is not installed.
    """

    name = "cram"
    about = About(
        "CrAM",
        "arXiv 2406.11497",
        "heads are traced by log-probability, each token where it is predicted; untraced, all heads weigh",
        "1",
        frozenset({"credibility", "weights"}),
        weights=WEIGHTS,
    )

    def __init__(
        self,
        tools: Tools,
        *,
        top_k: int = TOP_K,
        heads: Sequence[Head] | None = None,
        ideal: bool = False,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        require("hf", "CrAM", "torch", "transformers")
        self.tools, self.top_k, self.ideal, self.max_tokens = tools, top_k, ideal, max_tokens
        self.heads = None if heads is None else [(int(layer), int(head)) for layer, head in heads]

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The model and its tokenizer."""
        given = self.tools.weights.get(WEIGHTS)
        if given is None:
            raise InputError(
                f"The weights {WEIGHTS!r} are not there.", f"Fetch them with: veridical models pull {WEIGHTS}"
            )
        if isinstance(given, (str, Path)):
            return _from_folder(str(given))
        model, tokenizer = given
        return model, tokenizer

    def answer(self, task: Task) -> Reply:
        """Answer with weighed attention; see `System.answer`."""
        model, tokenizer = self._loaded
        passages = by_credibility([task.pool[place] for place in nearest(task, self.top_k)])
        weights = passage_weights([credibility(passage) for passage in passages], ideal=self.ideal)
        prompt = placed(tokenizer, task.question, passages)
        heads = all_heads(model) if self.heads is None else self.heads
        text, usage = _written(model, tokenizer, prompt, weights, heads, self.max_tokens)
        notes = ("all heads weigh, none was traced",) if self.heads is None else ()
        ranking = tuple(range(len(task.pool)))
        return Reply(read_answer(text), ranking, usage=usage, notes=notes, detail={"weights": weights})


@lru_cache(maxsize=1)
def _from_folder(folder: str) -> tuple[Any, Any]:
    _, transformers = transformers_and_torch("CrAM")
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            folder, attn_implementation="eager", dtype="auto"
        )
        return model.eval(), transformers.AutoTokenizer.from_pretrained(folder)
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The model in {folder} cannot be loaded: {error}.",
            f"Fetch it again with: veridical models pull {WEIGHTS}",
        ) from error


def by_credibility(passages: Sequence[Retrieved]) -> list[Retrieved]:
    """Sort passages by rising credibility; equals keep their order."""
    return sorted(passages, key=credibility)


def credibility(passage: Retrieved) -> float:
    """Return a passage's credibility, the middle of the scale where nobody judged it."""
    return UNJUDGED if passage.credibility is None else passage.credibility


def placed(tokenizer: Any, question: str, passages: Sequence[Retrieved]) -> Placed:
    """Write the prompt, and know where each passage is without looking for it.

    The conversation is put into the model's own form with a word in place of each passage, and the passages
    take the places of these words, so that no template can alter one.
    """
    slots = [_SLOT.format(place) for place in range(len(passages))]
    lines = "\n".join(f"[{place + 1}] {slot}" for place, slot in enumerate(slots))
    asked = escape(question).strip()
    for slot in slots:
        asked = asked.replace(slot, "")
    messages = (
        Message("system", render("bench_cram_system")),
        Message("user", render("bench_cram_user", passages=lines, question=asked)),
    )
    rest, text, spans = _in_form(tokenizer, messages), "", []
    for slot, passage in zip(slots, passages, strict=True):
        before, found, rest = rest.partition(slot)
        if not found:
            raise LLMError("The model's template leaves passages out.", "Use another model.")
        head = f"{passage.title}: " if passage.title else ""
        shown = escape(head + passage.text).strip()
        spans.append((len(text) + len(before), len(text) + len(before) + len(shown)))
        text += before + shown
    return Placed(text + rest, tuple(spans))


def weighed_tokens(tokenizer: Any, prompt: Placed, weights: Sequence[float]) -> tuple[list[int], list[float]]:
    """Cut a prompt into tokens, and give each the weight of the passage that it is of, others 1.

    Raises
    ------
    InputError
        If the tokenizer does not say where its tokens stand.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise InputError("The tokenizer does not say where tokens stand.", "Use a fast tokenizer.")
    has_form = getattr(tokenizer, "chat_template", None) is not None  # which writes the first sign itself
    cut = tokenizer(prompt.text, return_offsets_mapping=True, add_special_tokens=not has_form)
    offsets = [(int(start), int(end)) for start, end in cut["offset_mapping"]]
    return list(cut["input_ids"]), token_weights(offsets, prompt.spans, weights)


def _in_form(tokenizer: Any, messages: Sequence[Message]) -> str:
    """The conversation in the form that the model was trained on; as two paragraphs where it has none."""
    if getattr(tokenizer, "chat_template", None) is None:
        return "\n\n".join(message.content for message in messages)
    turns = [{"role": message.role, "content": message.content} for message in messages]
    return str(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))


def _written(
    model: Any,
    tokenizer: Any,
    prompt: Placed,
    weights: Sequence[float],
    heads: Sequence[Head],
    max_tokens: int,
) -> tuple[str, Usage]:
    """What the model writes, always the likeliest token."""
    torch, _ = transformers_and_torch("CrAM")
    tokens, each = weighed_tokens(tokenizer, prompt, weights)
    given = torch.tensor([tokens], device=model.device)
    with _ONE_AT_A_TIME, torch.inference_mode(), reweighted(model, heads, each):
        written = model.generate(
            input_ids=given,
            attention_mask=torch.ones_like(given),
            max_new_tokens=max_tokens,
            do_sample=False,
            pad_token_id=tokenizer.pad_token_id
            if tokenizer.pad_token_id is not None
            else tokenizer.eos_token_id,
        )[0, len(tokens) :]
    text = tokenizer.decode(written, skip_special_tokens=True)
    return str(text), Usage(calls=1, prompt_tokens=len(tokens), completion_tokens=len(written))
