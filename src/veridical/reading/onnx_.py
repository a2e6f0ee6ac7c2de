"""Any extractive (SQuAD-style) model that was exported to ONNX, read from a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from veridical.errors import InputError, ModelError
from veridical.models.transformer import (
    EXPORT,
    IntArray,
    OnnxTransformer,
    Tokens,
    padding_id,
    token_limit,
)
from veridical.reading.base import NOTHING, Reading
from veridical.reading.windows import (
    Decoding,
    FloatArray,
    Spans,
    Window,
    reading_of,
    window_spans,
    windows_of,
)

ALONE = 1
"""``batch_tokens`` by which each window runs by itself."""


class OnnxReader:
    """Read passages with a model that gives each token a start and an end logit.

    The first token stands for "the passage does not answer", as in models trained on SQuAD 2. A model that
    was trained on answerable questions only never says so: its ``no_answer`` means little.

    Parameters
    ----------
    folder
        Holds ``model.onnx`` and ``tokenizer.json``, and ``config.json`` where there is one; a callable is
        asked on first use. The graph gives ``start_logits`` and ``end_logits`` (batch, length), or one output
        (batch, length, 2).
    max_tokens
        Question, passage and special tokens together. Longer passages are read in windows.
    stride
        Tokens that neighbouring windows share; by default a quarter of ``max_tokens``.
    batch_tokens
        Windows that run together, padded, hold about so many tokens. By default each runs alone: an int8
        model scales activations by what is in a batch, so that a reading would depend on the others, for a
        tenth more speed.
    n_threads
        See `OnnxTransformer`.
    decoding
        How logits become probabilities.

    Raises
    ------
    InputError
        If a number is out of range.
    ModelError
        On first use, if a file is missing or damaged, or the graph has other inputs or outputs.
    """

    kind = "onnx"

    def __init__(
        self,
        folder: Path | Callable[[], Path],
        *,
        max_tokens: int = 256,
        stride: int | None = None,
        batch_tokens: int = ALONE,
        n_threads: int = 1,
        decoding: Decoding | None = None,
    ) -> None:
        stride = max_tokens // 4 if stride is None else stride
        for label, value, least in (
            ("max_tokens", max_tokens, 32),
            ("stride", stride, 0),
            ("batch_tokens", batch_tokens, 1),
            ("n_threads", n_threads, 1),
        ):
            if value < least:
                raise InputError(f"{label} must be at least {least}, got {value}.")
        if stride > max_tokens // 4:
            raise InputError(
                f"stride must be at most a quarter of max_tokens ({max_tokens // 4}), got {stride}.",
                "Windows must move on.",
            )
        self._where = folder
        self.max_tokens = max_tokens
        self.stride = stride
        self.batch_tokens = batch_tokens
        self.n_threads = n_threads
        self._decoding = decoding

    @cached_property
    def folder(self) -> Path:
        """Where the model lies."""
        return self._where() if callable(self._where) else self._where

    @cached_property
    def name(self) -> str:
        """Backend, folder and the first eight digits of a hash of the files and settings."""
        digest = hashlib.sha256()
        for file in (self._model_file, self._tokenizer_file):
            with file.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        digest.update(repr((self.max_tokens, self.stride, self.decoding)).encode())
        return f"{self.kind}-{self.folder.name}-{digest.hexdigest()[:8]}"

    @cached_property
    def decoding(self) -> Decoding:
        """How logits become probabilities."""
        return self._decoding or Decoding()

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        """Put one question to passages, each read on its own; see ``Reader.read``."""
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        """Read (question, passage) pairs; see ``Reader.read_pairs``.

        A question or passage without a letter or digit answers nothing. Questions are cut at a third of
        ``max_tokens``.
        """
        windows = self.windows(pairs)
        spans: dict[int, list[Spans]] = {}
        for window, (starts, ends) in zip(windows, self.logits(windows), strict=True):
            spans.setdefault(window.pair, []).append(window_spans(window, starts, ends, self.decoding))
        return [
            reading_of(passage, spans[number]) if number in spans else NOTHING
            for number, (_, passage) in enumerate(pairs)
        ]

    def windows(self, pairs: Sequence[tuple[str, str]]) -> list[Window]:
        """Tokenize pairs into windows of at most ``max_tokens``."""
        asked = [
            (number, self._short(_readable(question)), _readable(passage))
            for number, (question, passage) in enumerate(pairs)
            if _says_something(question) and _says_something(passage)
        ]
        encodings = (
            self._tokenizer.encode_batch([(question, passage) for _, question, passage in asked])
            if asked
            else []
        )
        return [
            window
            for (number, _, passage), encoding in zip(asked, encodings, strict=True)
            for window in windows_of(number, encoding, passage)
        ]

    def logits(self, windows: Sequence[Window]) -> list[tuple[FloatArray, FloatArray]]:
        """Run the model: start and end logits of each window, each of shape (n_tokens_of_the_window,)."""
        found: list[tuple[FloatArray, FloatArray]] = [(np.empty(0), np.empty(0))] * len(windows)

        def keep(batch: IntArray, outputs: list[npt.NDArray[Any]], mask: IntArray) -> None:
            starts, ends = self._both_ends(outputs, mask.shape)
            for place, row in enumerate(batch.tolist()):
                width = len(windows[row].ids)
                found[row] = starts[place, :width], ends[place, :width]

        if windows:
            rows = [Tokens(window.ids, window.type_ids) for window in windows]
            self._model.run(rows, keep, outputs=self._outputs)
        return found

    def _both_ends(
        self, outputs: Sequence[npt.NDArray[Any]], shape: tuple[int, ...]
    ) -> tuple[FloatArray, FloatArray]:
        results = [np.asarray(output, dtype=np.float64) for output in outputs]
        if len(results) == 1 and results[0].shape == (*shape, 2):
            results = [results[0][..., 0], results[0][..., 1]]
        if [result.shape for result in results] != [shape, shape] or not all(
            np.isfinite(result).all() for result in results
        ):
            raise ModelError(
                f"{self._model_file} gave numbers that are not finite, or the shapes "
                f"{[result.shape for result in results]} for {shape}.",
                "It must be a question-answering model: one start and one end logit a token.",
            )
        return results[0], results[1]

    def _short(self, question: str) -> str:
        """Cut a question so that it leaves room for the passage."""
        tokens = self._plain_tokenizer.encode(question, add_special_tokens=False)
        limit = self._limit // 3
        return question if len(tokens.ids) <= limit else question[: tokens.offsets[limit - 1][1]]

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise ModelError(
                f"{path} does not exist.", "A reader is a folder with model.onnx and tokenizer.json."
            )
        return path

    @property
    def _model_file(self) -> Path:
        return self._file("model.onnx")

    @property
    def _tokenizer_file(self) -> Path:
        return self._file("tokenizer.json")

    @cached_property
    def _config(self) -> Mapping[str, Any]:
        path = self.folder / "config.json"
        if not path.is_file():
            return {}
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelError(f"{path} is not JSON: {error}", EXPORT) from error
        return config if isinstance(config, dict) else {}

    @cached_property
    def _limit(self) -> int:
        return token_limit(self._config, self.max_tokens)

    @cached_property
    def _plain_tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self._tokenizer_file
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare exceptions
            raise ModelError(f"{path} cannot be read: {error}", EXPORT) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(self._plain_tokenizer.to_str())
        stride = min(self.stride, self._limit // 4)
        tokenizer.enable_truncation(self._limit, stride=stride, strategy="only_second")
        return tokenizer

    @cached_property
    def _model(self) -> OnnxTransformer:
        return OnnxTransformer(
            self._model_file,
            n_threads=self.n_threads,
            batch_tokens=self.batch_tokens,
            pad_id=padding_id(self._config),
        )

    @cached_property
    def _outputs(self) -> list[str]:
        names = self._model.outputs
        by_end = {end: next((n for n in names if n.startswith(end)), None) for end in ("start", "end")}
        if by_end["start"] and by_end["end"]:
            return [by_end["start"], by_end["end"]]
        return names[:1] if len(names) == 1 or names[0] == "logits" else names[:2]


def _readable(text: str) -> str:
    """Replace lone surrogates, which are no text to a tokenizer, by as many question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _says_something(text: str) -> bool:
    return any(char.isalnum() for char in text)
