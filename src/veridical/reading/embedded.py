"""The reader that comes with the package: a MiniLM-L6 cross-encoder, int8, see ``data/MODEL_CARD.md``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from veridical.errors import ModelError
from veridical.models.transformer import OnnxTransformer
from veridical.reading.onnx_ import OnnxReader
from veridical.reading.windows import Decoding

_DATA = "veridical.reading"
_REPAIR = "Install veridical again."


def data_folder() -> Path:
    """Where the shipped model lies."""
    return Path(str(resources.files(_DATA))) / "data"


class EmbeddedReader(OnnxReader):
    """The default reader: English, needs no download but the encoder's tokenizer.

    Parameters
    ----------
    tokenizer
        ``tokenizer.json`` of the embedded encoder (``minilm-l6-int8``); a callable is asked on first use.
    n_threads
        See `OnnxTransformer`.
    folder
        Another model of the same recipe: ``model.onnx`` and ``model.json``.

    Raises
    ------
    ModelError
        On first use, if the model is missing or is not the one that ``model.json`` names.
    """

    kind = "embedded"

    def __init__(
        self,
        tokenizer: Path | Callable[[], Path],
        *,
        n_threads: int = 1,
        folder: Path | None = None,
    ) -> None:
        super().__init__(folder or data_folder, n_threads=n_threads)
        self._tokenizer_at = tokenizer

    @cached_property
    def name(self) -> str:
        """``embedded-`` and the first eight digits of the model's sha256."""
        return f"embedded-{self._about['sha256'][:8]}"

    @cached_property
    def decoding(self) -> Decoding:
        """The constants that were fitted on passages kept for that."""
        about = self._about
        return Decoding(float(about["temperature"]), float(about["null_bias"]), int(about["max_span"]))

    @cached_property
    def _about(self) -> Mapping[str, Any]:
        path = self._file("model.json")
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            missing = {"sha256", "temperature", "null_bias", "max_span"} - set(about)
        except (ValueError, TypeError) as error:
            raise ModelError(f"{path} cannot be read: {error}", _REPAIR) from error
        if missing:
            raise ModelError(f"{path} lacks {', '.join(sorted(missing))}.", _REPAIR)
        return dict(about)

    @cached_property
    def _model(self) -> OnnxTransformer:
        path = self._model_file
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != self._about["sha256"]:
            raise ModelError(
                f"{path} is not the model that model.json names: sha256 {found[:12]}...", _REPAIR
            )
        return OnnxTransformer(path, n_threads=self.n_threads, batch_tokens=self.batch_tokens, hint=_REPAIR)

    @property
    def _tokenizer_file(self) -> Path:
        where = self._tokenizer_at
        return where() if callable(where) else where
