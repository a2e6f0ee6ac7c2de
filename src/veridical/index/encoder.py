"""The sentence encoder: an ONNX transformer with mean pooling, run without torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from veridical.errors import ModelError
from veridical.models.transformer import BATCH_TOKENS, IntArray, OnnxTransformer, Tokens

Float32Array = npt.NDArray[np.float32]
_REPAIR = "Remove the folder and run 'veridical models pull' to fetch it again."


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
    batch_tokens, n_threads
        See `OnnxTransformer`.
    """

    dimensions = 384

    def __init__(
        self,
        folder: Path | Callable[[], Path],
        *,
        name: str = "minilm-l6-int8",
        max_tokens: int = 256,
        batch_tokens: int = BATCH_TOKENS,
        n_threads: int = 1,
    ) -> None:
        self._folder = folder
        self.name = name
        self.max_tokens = max_tokens
        self.batch_tokens = batch_tokens
        self.n_threads = n_threads
        self._model: OnnxTransformer | None = None
        self._tokenizer: Any = None

    def _load(self) -> OnnxTransformer:
        if self._model is not None:
            return self._model
        from tokenizers import Tokenizer

        folder = self._folder() if callable(self._folder) else self._folder
        try:
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the library raises bare exceptions
            raise ModelError(f"The encoder in {folder} cannot be loaded: {error}", _REPAIR) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        self._tokenizer = tokenizer
        self._model = OnnxTransformer(
            folder / "model.onnx", n_threads=self.n_threads, batch_tokens=self.batch_tokens, hint=_REPAIR
        )
        return self._model

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
        model = self._load()
        # A lone surrogate, as in an argument that was no UTF-8, is no text to the tokenizer.
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        rows = [Tokens(encoding.ids) for encoding in self._tokenizer.encode_batch(readable)]

        def pool(batch: IntArray, outputs: list[npt.NDArray[Any]], mask: IntArray) -> None:
            weights = mask[:, :, None].astype(np.float32)
            pooled = (outputs[0] * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
            norms = np.linalg.norm(pooled, axis=1, keepdims=True)
            vectors[batch] = pooled / np.maximum(norms, 1e-12)

        model.run(rows, pool, on_progress=on_progress)
        return vectors
