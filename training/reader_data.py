"""Training examples for the reader: an endless, reproducible stream of batches that can start anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from reader_model import MAX_SPAN
from veridical.reading.squad import (
    Context,
    Item,
    Question,
    Substitutes,
    own_items,
    removed_item,
    similar_contexts,
)

CLS, SEP = 101, 102
MAX_QUESTION = 40
CHUNK = 32  # batches that are sorted by length together
P_SUBSTITUTED = 0.15
P_NEGATIVE = 0.5
P_REMOVED = 0.4
P_WINDOW_WITHOUT = 0.1


@dataclass(frozen=True)
class Example:
    """Token ids of one reading, where its passage begins, the marked (first, last) tokens, and its origin."""

    ids: list[int]
    begin: int
    targets: list[tuple[int, int]]
    item: Item
    offsets: list[tuple[int, int]]


@dataclass(frozen=True)
class Batch:
    """Padded inputs, all (batch, length), and what to aim at."""

    ids: Tensor
    attention: Tensor
    segments: Tensor
    passage: Tensor
    examples: list[Example]

    @property
    def targets(self) -> list[list[tuple[int, int]]]:
        """The marked tokens of each example."""
        return [example.targets for example in self.examples]


class Stream:
    """Examples from the passages that may be trained on.

    Epoch ``e`` is a function of ``(seed, e)`` alone: every question once, 15% of them on a passage that says
    another answer, and for half of them a passage without an answer.
    """

    def __init__(self, contexts: list[Context], tokenizer: object, *, batch: int, seed: int) -> None:
        self._contexts = contexts
        self._tokenizer = tokenizer
        self._batch = batch
        self._seed = seed
        self._similar = similar_contexts(contexts)
        self._substitutes = Substitutes(contexts)
        self._items: tuple[int, list[Item]] = (-1, [])

    def items(self, epoch: int) -> list[Item]:
        """All readings of one epoch, shuffled."""
        if self._items[0] != epoch:
            self._items = (epoch, self._make(epoch))
        return self._items[1]

    def _make(self, epoch: int) -> list[Item]:
        rng = np.random.default_rng((self._seed, epoch))
        found: list[Item] = []
        for context in self._contexts:
            for question, own in zip(
                (q for q in context.questions if q.answers), own_items(context), strict=True
            ):
                other = None
                if rng.random() < P_SUBSTITUTED:
                    other = self._substitutes.draw(context, question, rng)
                found.append(other or own)
                if rng.random() < P_NEGATIVE:
                    negative = self._negative(context, question, own, rng)
                    if negative is not None:
                        found.append(negative)
        return [found[i] for i in rng.permutation(len(found))]

    def _negative(
        self, context: Context, question: Question, own: Item, rng: np.random.Generator
    ) -> Item | None:
        if rng.random() < P_REMOVED:
            removed = removed_item(context, question)
            if removed is not None:
                return removed
        near = self._similar.get(question.id, [])
        if not near:
            return None
        text = self._contexts[near[int(rng.integers(len(near)))]].text
        return Item("other", own.file, own.question, text, ())

    def batches(self, epoch: int, max_tokens: int) -> Iterator[Batch]:
        """The batches of one epoch; examples of similar length together."""
        items = self.items(epoch)
        size = CHUNK * self._batch
        for place in range(0, len(items), size):
            rng = np.random.default_rng((self._seed, epoch, place))
            examples = encode(self._tokenizer, items[place : place + size], max_tokens, rng)
            examples.sort(key=lambda example: len(example.ids))
            groups = [examples[i : i + self._batch] for i in range(0, len(examples), self._batch)]
            for i in rng.permutation(len(groups)):
                yield collate(groups[i])

    def n_batches(self, epoch: int) -> int:
        """Number of batches in an epoch."""
        return -(-len(self.items(epoch)) // self._batch)


def encode(
    tokenizer: object, items: list[Item], max_tokens: int, rng: np.random.Generator | None
) -> list[Example]:
    """Tokenize readings; a passage that is too long is cut to a window.

    With ``rng`` the window is random, around an answer mostly; without it is the first.
    """
    questions = tokenizer.encode_batch([i.question for i in items], add_special_tokens=False)  # type: ignore[attr-defined]
    passages = tokenizer.encode_batch([i.text for i in items], add_special_tokens=False)  # type: ignore[attr-defined]
    found = []
    for item, question, passage in zip(items, questions, passages, strict=True):
        head = [CLS, *question.ids[:MAX_QUESTION], SEP]
        room = max_tokens - len(head) - 1
        spans = [_tokens_of(passage.offsets, start, end) for start, end in item.spans]
        spans = [span for span in spans if span is not None and span[1] - span[0] < MAX_SPAN]
        if item.spans and not spans:
            continue
        at = 0 if rng is None else _window(len(passage.ids), room, spans, rng)
        inside = [(a, b) for a, b in spans if a >= at and b < at + room]
        shift = len(head) - at
        found.append(
            Example(
                [*head, *passage.ids[at : at + room], SEP],
                len(head),
                [(a + shift, b + shift) for a, b in inside],
                item,
                passage.offsets[at : at + room],
            )
        )
    return found


def _window(n_tokens: int, room: int, spans: list[tuple[int, int]], rng: np.random.Generator) -> int:
    if n_tokens <= room:
        return 0
    if not spans or rng.random() < P_WINDOW_WITHOUT:
        return int(rng.integers(n_tokens - room + 1))
    first, last = spans[int(rng.integers(len(spans)))]
    low, high = max(0, last + 1 - room), min(first, n_tokens - room)
    return int(rng.integers(low, high + 1)) if high >= low else max(0, min(first, n_tokens - room))


def _tokens_of(offsets: list[tuple[int, int]], start: int, end: int) -> tuple[int, int] | None:
    inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
    return (inside[0], inside[-1]) if inside else None


def collate(examples: list[Example]) -> Batch:
    """Pad examples to the longest, rounded up to a multiple of 8."""
    width = -(-max(len(example.ids) for example in examples) // 8) * 8
    shape = (len(examples), width)
    ids, attention, segments = (torch.zeros(shape, dtype=torch.long) for _ in range(3))
    passage = torch.zeros(shape, dtype=torch.bool)
    for row, example in enumerate(examples):
        length = len(example.ids)
        ids[row, :length] = torch.tensor(example.ids)
        attention[row, :length] = 1
        segments[row, example.begin : length] = 1
        passage[row, example.begin : length - 1] = True
    return Batch(ids, attention, segments, passage, examples)
