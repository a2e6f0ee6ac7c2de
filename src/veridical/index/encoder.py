"""The sentence encoder: an ONNX transformer with mean pooling, run without torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from veridical.errors import ModelError

Float32Array = npt.NDArray[np.float32]


@runtime_checkable
class TextEncoder(Protocol):
    """Anything that turns texts into unit vectors."""

    @property
    def name(self) -> str:
        """Identifies the weights; vectors are cached under it."""
        ...

    def encode(
        self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None
    ) -> Float32Array:
        """Return one L2-normalised row a text."""
        ...


class Encoder:
    """An ONNX sentence encoder (token states averaged over the attention mask, then L2-normalised).

    Parameters
    ----------
    folder
        Holds ``model.onnx`` and ``tokenizer.json``; a callable is asked on first use.
    name
        Identifies the weights; vectors are cached under it.
    max_tokens
        Longer texts are cut here. MiniLM was trained on 256 word pieces.
    batch_size
        Texts of similar length run together, at most this many.
    n_threads
        Threads of one inference. The runtime otherwise takes every core of the host, container or not.
    """

    dimensions = 384

    def __init__(
        self,
        folder: Path | Callable[[], Path],
        *,
        name: str = "minilm-l6-int8",
        max_tokens: int = 256,
        batch_size: int = 16,
        n_threads: int = 1,
    ) -> None:
        self._folder = folder
        self.name = name
        self.max_tokens = max_tokens
        self.batch_size = batch_size
        self.n_threads = n_threads
        self._session: Any = None
        self._tokenizer: Any = None

    def _load(self) -> None:
        if self._session is not None:
            return
        import onnxruntime as ort
        from tokenizers import Tokenizer

        folder = self._folder() if callable(self._folder) else self._folder
        options = ort.SessionOptions()
        options.intra_op_num_threads = self.n_threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            session = ort.InferenceSession(
                str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # both libraries raise bare exceptions
            raise ModelError(
                f"The encoder in {folder} cannot be loaded: {error}",
                "Remove the folder and run 'veridical models pull' to fetch it again.",
            ) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        self._tokenizer = tokenizer
        self._inputs = {node.name for node in session.get_inputs()}
        self._session = session

    def encode(
        self, texts: Sequence[str], *, on_progress: Callable[[int], None] | None = None
    ) -> Float32Array:
        """Encode texts.

        Parameters
        ----------
        texts
            Any number of strings; an empty one gives the vector of the empty sequence.
        on_progress
            Called with the number of texts finished after each batch.

        Returns
        -------
        numpy.ndarray
            Shape (n_texts, 384), float32, rows of unit length, in the order given.
        """
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        self._load()
        # A lone surrogate, as in an argument that was no UTF-8, is no text to the tokenizer.
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = self._tokenizer.encode_batch(readable)
        lengths = np.array([len(encoding.ids) for encoding in encodings])
        order = np.argsort(lengths, kind="stable")  # by length, so that little is spent on padding
        for begin in range(0, len(order), self.batch_size):
            rows = order[begin : begin + self.batch_size]
            vectors[rows] = self._run([encodings[row].ids for row in rows])
            if on_progress is not None:
                on_progress(len(rows))
        return vectors

    def _run(self, ids: list[list[int]]) -> Float32Array:
        width = max(len(row) for row in ids)
        tokens = np.zeros((len(ids), width), dtype=np.int64)
        mask = np.zeros((len(ids), width), dtype=np.int64)
        for i, row in enumerate(ids):
            tokens[i, : len(row)] = row
            mask[i, : len(row)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        states = self._session.run(None, {key: feed[key] for key in self._inputs})[0]
        weights = mask[:, :, None].astype(np.float32)
        pooled = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(norms, 1e-12), dtype=np.float32)
