"""Any three-class sequence-classification model that was exported to ONNX, read from a folder."""

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
    Tokens,
    input_types,
    open_session,
    padded,
    padding_id,
    token_limit,
)
from veridical.nli.align import (
    DEFAULT_MAX_PAIRS,
    Embed,
    VectorCache,
    best_matches,
    lexical_similarities,
    sentence_spans,
)
from veridical.nli.values import facts_of
from veridical.types import NLIResult, Span

FloatArray = npt.NDArray[np.float64]

_PREFIXES = {"entail": 0, "neutral": 1, "contra": 2}


class OnnxNLI:
    """Judge passages with a cross-encoder: aligned sentences only, the strongest pair decides.

    Parameters
    ----------
    folder
        Holds ``model.onnx``, ``tokenizer.json`` and ``config.json``; a callable is asked on first use.
    max_tokens
        Both sentences together, special tokens included; what is longer loses tokens from the longer side
        first, so both sides stay. None takes the model's own limit, at most 512.
    batch_size
        Sentence pairs of similar length that run together.
    n_threads
        Threads of one inference.
    max_pairs
        Sentence pairs judged for each pair of passages.
    embed
        Aligns sentences by embedding, as ``Encoder.encode``; None aligns by shared words.
    cache_size
        Sentence vectors kept between calls.

    Raises
    ------
    InputError
        If a number is out of range.
    ModelError
        On first use, if a file is missing or damaged, the labels are not the three of inference, or the graph
        asks for inputs that a tokenizer cannot give.
    """

    def __init__(
        self,
        folder: Path | Callable[[], Path],
        *,
        max_tokens: int | None = None,
        batch_size: int = 16,
        n_threads: int = 1,
        max_pairs: int = DEFAULT_MAX_PAIRS,
        embed: Embed | None = None,
        cache_size: int = 200_000,
    ) -> None:
        for label, value, least in (
            ("max_tokens", max_tokens, 8),
            ("batch_size", batch_size, 1),
            ("n_threads", n_threads, 1),
            ("max_pairs", max_pairs, 1),
        ):
            if value is not None and value < least:
                raise InputError(f"{label} must be at least {least}, got {value}.")
        self._where = folder
        self._max_tokens = max_tokens
        self.batch_size = batch_size
        self.n_threads = n_threads
        self.max_pairs = max_pairs
        self._embed = embed
        self._vectors = VectorCache(cache_size)

    @cached_property
    def folder(self) -> Path:
        """Where the model lies."""
        return self._where() if callable(self._where) else self._where

    @cached_property
    def name(self) -> str:
        """Backend, folder and the first eight digits of a hash of the files and settings."""
        digest = hashlib.sha256()
        for file in ("model.onnx", "tokenizer.json", "config.json"):
            with self._file(file).open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        digest.update(repr((self._max_tokens, self.max_pairs, self._embed is not None)).encode())
        return f"onnx-{self.folder.name}-{digest.hexdigest()[:8]}"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[NLIResult]:
        """Judge (premise, hypothesis) passages; see ``NLIModel.judge``.

        Returns
        -------
        list of NLIResult
            The probabilities of the sentence pair that most probably is entailment or contradiction, and that
            pair as spans. A side without a letter or digit is neutral to everything.
        """
        owner: list[int] = []
        spans: list[tuple[Span, Span]] = []
        if self._embed is not None:
            texts = dict.fromkeys(text for pair in pairs for text in pair)
            self._vectors.fill((span.text for text in texts for span in sentence_spans(text)), self._embed)
        for number, (premise, hypothesis) in enumerate(pairs):
            left, right = sentence_spans(premise), sentence_spans(hypothesis)
            for i, j in best_matches(self._similarities(left, right), self.max_pairs):
                owner.append(number)
                spans.append((left[i], right[j]))
        probabilities = self.judge_sentences([(a.text, b.text) for a, b in spans])
        best: dict[int, int] = {}
        strength = np.maximum(probabilities[:, 0], probabilities[:, 2])
        for row, number in enumerate(owner):
            if number not in best or strength[row] > strength[best[number]]:
                best[number] = row
        return [self._result(probabilities, spans, best.get(number)) for number in range(len(pairs))]

    @staticmethod
    def _result(probabilities: FloatArray, spans: list[tuple[Span, Span]], row: int | None) -> NLIResult:
        if row is None:
            return NLIResult(0.0, 1.0, 0.0)
        entailment, neutral, contradiction = (float(p) for p in probabilities[row])
        return NLIResult(entailment, neutral, contradiction, *spans[row])

    def _similarities(self, left: Sequence[Span], right: Sequence[Span]) -> npt.NDArray[np.float32]:
        if self._embed is None or not left or not right:
            return lexical_similarities([facts_of(s.text) for s in left], [facts_of(s.text) for s in right])
        return self._vectors.cosines(left, right)

    def judge_sentences(self, pairs: Sequence[tuple[str, str]]) -> FloatArray:
        """Judge (premise, hypothesis) as they are, without alignment.

        Returns
        -------
        numpy.ndarray
            Shape (n_pairs, 3), float64: entailment, neutral, contradiction; rows sum to one.
        """
        found = np.zeros((len(pairs), 3))
        if not pairs:
            return found
        encodings = self._tokenizer.encode_batch(list(pairs))
        order = np.argsort([len(encoding.ids) for encoding in encodings], kind="stable")
        for begin in range(0, len(order), self.batch_size):
            rows = order[begin : begin + self.batch_size]
            found[rows] = self._run([encodings[row] for row in rows])
        return found

    def _run(self, encodings: Sequence[Any]) -> FloatArray:
        feed = padded([Tokens(encoding.ids, encoding.type_ids) for encoding in encodings], self._pad_id)
        asked = {name: feed[name].astype(dtype) for name, dtype in self._inputs.items()}
        logits = np.asarray(self._session.run([self._output], asked)[0], dtype=np.float64)
        if logits.shape != (len(encodings), 3) or not np.isfinite(logits).all():
            raise ModelError(
                f"{self.folder / 'model.onnx'} gave numbers that are not finite, or shape {logits.shape}.",
                "It must be a sequence-classification model with three classes.",
            )
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return np.asarray((weights / weights.sum(axis=1, keepdims=True))[:, self._columns], dtype=np.float64)

    def _file(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise ModelError(
                f"{path} does not exist.",
                "An NLI model is a folder with model.onnx, tokenizer.json and config.json.",
            )
        return path

    @cached_property
    def _config(self) -> Mapping[str, Any]:
        path = self._file("config.json")
        try:
            config = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ModelError(f"{path} is not JSON: {error}", EXPORT) from error
        return config if isinstance(config, dict) else {}

    @cached_property
    def _columns(self) -> list[int]:
        """Which output is entailment, which neutral, which contradiction."""
        return label_columns(self._config.get("id2label"), self.folder / "config.json")

    @property
    def _pad_id(self) -> int:
        return padding_id(self._config)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self._file("tokenizer.json")
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare exceptions
            raise ModelError(f"{path} cannot be read: {error}", EXPORT) from error
        tokenizer.no_padding()
        tokenizer.enable_truncation(self._limit(), strategy="longest_first")
        return tokenizer

    def _limit(self) -> int:
        return token_limit(self._config, min(512, self._max_tokens or 512))

    @cached_property
    def _session(self) -> Any:
        self._columns  # noqa: B018  wrong labels are found before a large file is loaded
        return open_session(self._file("model.onnx"), n_threads=self.n_threads)

    @cached_property
    def _inputs(self) -> dict[str, type[np.signedinteger[Any]]]:
        return input_types(self._session, self.folder / "model.onnx")

    @cached_property
    def _output(self) -> str:
        names = [node.name for node in self._session.get_outputs()]
        return "logits" if "logits" in names else str(names[0])


def label_columns(id2label: object, where: Path | str) -> list[int]:
    """Find the outputs for entailment, neutral and contradiction by their names in a model's configuration.

    Parameters
    ----------
    id2label
        Output number to label, as ``config.json`` has it; case and endings of the labels do not matter.
    where
        Named in the error.

    Returns
    -------
    list of int
        The three output numbers, in that order.

    Raises
    ------
    ModelError
        If there are not exactly these three labels.
    """
    found: dict[int, int] = {}
    if isinstance(id2label, Mapping) and len(id2label) == 3:
        for number, label in id2label.items():
            for prefix, place in _PREFIXES.items():
                if str(label).lower().startswith(prefix) and str(number).isdigit():
                    found[place] = int(number)
    if sorted(found) != [0, 1, 2] or sorted(found.values()) != [0, 1, 2]:
        raise ModelError(
            f"{where} does not name the three classes of inference; id2label is {id2label!r}.",
            "It must map 0, 1 and 2 to entailment, neutral and contradiction, in any order.",
        )
    return [found[0], found[1], found[2]]
