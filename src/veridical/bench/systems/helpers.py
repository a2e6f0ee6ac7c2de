"""Models that published systems lean on besides the language model: used where their files are there.

A run puts what it has into `Tools.weights`, by name in the manifest: a folder, or something callable already.
Where a name is missing the system takes a stand-in and says so.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from veridical.bench.systems.base import Tools
from veridical.bench.systems.tagging import Tag
from veridical.errors import InputError, MissingExtraError, ModelError
from veridical.index.encoder import Float32Array

TAGGER = "spacy-en-core-web-sm"
"""Text to `Tag` objects; needs ``spacy``."""
SIMCSE = "simcse-bert-base"
"""Texts to vectors, shape (n, 768): the first token's last hidden state."""
ANSWER_NLI = "nli-deberta-v3-large"
"""Pairs of texts to probabilities that they contradict each other."""
_BATCH = 16


def helper(tools: Tools, name: str) -> Callable[..., Any] | None:
    """Return a helper model, loaded; ``None`` where it is not there.

    Raises
    ------
    MissingExtraError, ModelError
        Its files are there, and cannot be loaded.
    """
    given = tools.weights.get(name)
    if given is None or callable(given):
        return given
    if not isinstance(given, (str, Path)):
        raise InputError(f"The weights {name!r} are a {type(given).__name__}.", "Give a folder.")
    return _loaded(name, str(given))


@lru_cache(maxsize=8)
def _loaded(name: str, folder: str) -> Callable[..., Any]:
    try:
        return _LOADERS[name](folder)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"The weights {name!r} in {folder} cannot be loaded: {error}.",
            f"Fetch them again with: veridical models pull {name}",
        ) from error


def _tagger(folder: str) -> Callable[[str], list[Tag]]:
    try:
        import spacy
    except ImportError as error:
        raise ModelError(
            f"The pipeline in {folder} needs spaCy, which is not installed.", "Add it with: pip install spacy"
        ) from error
    pipeline = spacy.load(_unpacked(Path(folder)))

    def tag(text: str) -> list[Tag]:
        return [
            Tag(token.idx, token.idx + len(token.text), token.pos_, token.lemma_.lower())
            for token in pipeline(text)
        ]

    return tag


def _unpacked(folder: Path) -> Path:
    """The folder that holds the pipeline's configuration, out of the wheel where that is what is there."""
    wheel, inside = folder / "pipeline.whl", folder / "unpacked"
    if wheel.is_file() and not inside.is_dir():
        scratch = Path(tempfile.mkdtemp(dir=folder))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(scratch)
        scratch.replace(inside)
    found = sorted(folder.rglob("config.cfg"), key=lambda path: len(path.parts))
    if not found:
        raise OSError("there is no config.cfg in it")
    return found[0].parent


def _simcse(folder: str) -> Callable[[Sequence[str]], Float32Array]:
    torch, transformers = transformers_and_torch("SimCSE")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def encode(texts: Sequence[str]) -> Float32Array:
        rows = []
        with torch.inference_mode():
            for start in range(0, len(texts), _BATCH):
                batch = list(texts[start : start + _BATCH])
                inputs = tokenizer(batch, padding=True, truncation=True, return_tensors="pt")
                rows.append(model(**inputs).last_hidden_state[:, 0].float().numpy())
        return np.concatenate(rows) if rows else np.zeros((0, model.config.hidden_size), np.float32)

    return encode


def _contradiction(folder: str) -> Callable[[Sequence[tuple[str, str]]], list[float]]:
    torch, transformers = transformers_and_torch("The inference model")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    labels = {str(label).lower(): int(number) for number, label in model.config.id2label.items()}

    def judge(pairs: Sequence[tuple[str, str]]) -> list[float]:
        found: list[float] = []
        with torch.inference_mode():
            for start in range(0, len(pairs), _BATCH):
                left, right = zip(*pairs[start : start + _BATCH], strict=True)
                inputs = tokenizer(
                    list(left), list(right), padding=True, truncation=True, return_tensors="pt"
                )
                shares = torch.softmax(model(**inputs).logits.float(), dim=-1)
                found += shares[:, labels["contradiction"]].tolist()
        return found

    return judge


def require(extra: str, needed_for: str, *modules: str) -> None:
    """Look whether modules are installed, without importing them.

    Raises
    ------
    MissingExtraError
        If one is not.
    """
    if not all(find_spec(module) for module in modules):
        raise MissingExtraError(extra, needed_for)


def transformers_and_torch(needed_for: str) -> tuple[Any, Any]:
    """Import ``torch`` and ``transformers``.

    Raises
    ------
    MissingExtraError
        If one of them is not installed.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError("hf", needed_for) from error
    return torch, transformers


_LOADERS: dict[str, Callable[[str], Callable[..., Any]]] = {
    TAGGER: _tagger,
    SIMCSE: _simcse,
    ANSWER_NLI: _contradiction,
}
