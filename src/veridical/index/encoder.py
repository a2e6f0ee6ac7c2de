"""The sentence encoder: an ONNX transformer with mean pooling, run without torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
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
    batch_tokens
        Texts of similar length run together, up to about so many tokens; more no longer fit into the caches.
    n_threads
        Batches that run at the same time, each on one thread: several threads within one small batch spend
        much of their time waiting for each other, above all on a busy machine.
    """

    dimensions = 384

    def __init__(
        self,
        folder: Path | Callable[[], Path],
        *,
        name: str = "minilm-l6-int8",
        max_tokens: int = 256,
        batch_tokens: int = 512,
        n_threads: int = 1,
    ) -> None:
        self._folder = folder
        self.name = name
        self.max_tokens = max_tokens
        self.batch_tokens = batch_tokens
        self.n_threads = n_threads
        self._session: Any = None
        self._tokenizer: Any = None
        self._pool: ThreadPoolExecutor | None = None

    def _load(self) -> None:
        if self._session is not None:
            return
        import onnxruntime as ort
        from tokenizers import Tokenizer

        folder = self._folder() if callable(self._folder) else self._folder
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
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
            Called with the number of texts finished after each batch, in this thread.

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
        batches = [order[begin:end] for begin, end in self._batches(lengths[order])]

        def run(rows: npt.NDArray[np.int64]) -> None:
            vectors[rows] = self._run([encodings[row].ids for row in rows])

        if self.n_threads == 1 or len(batches) == 1:
            done: Iterable[None] = map(run, batches)
        else:
            # The longest first, so that no thread is left with one at the end.
            batches.reverse()
            done = self._workers().map(run, batches)
        for rows, _ in zip(batches, done, strict=True):
            if on_progress is not None:
                on_progress(len(rows))
        return vectors

    def _batches(self, lengths: npt.NDArray[np.int64]) -> list[tuple[int, int]]:
        """Cut ascending lengths into runs whose padded size stays within the budget."""
        runs = []
        begin = 0
        for end in range(1, len(lengths) + 1):
            if end == len(lengths) or (end + 1 - begin) * lengths[end] > self.batch_tokens:
                runs.append((begin, end))
                begin = end
        return runs

    def _workers(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_threads, thread_name_prefix="encoder")
        return self._pool

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
