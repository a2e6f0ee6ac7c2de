"""Running an ONNX transformer: batches of similar length, each on a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from veridical.errors import ModelError

IntArray = npt.NDArray[np.int64]
Use = Callable[[IntArray, list[npt.NDArray[Any]], IntArray], None]

EXPORT = "Export the model again."
BATCH_TOKENS = 512
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_OFFSET_POSITIONS = frozenset({"roberta", "xlm-roberta", "camembert", "xlm-roberta-xl"})


class Tokens(NamedTuple):
    """One sequence as a model is given it, special tokens included."""

    ids: Sequence[int]
    type_ids: Sequence[int] | None = None


class OnnxTransformer:
    """A loaded model that takes token ids, an attention mask and, if it wants them, segments.

    Parameters
    ----------
    path
        The ``.onnx`` file.
    n_threads
        Batches that run at the same time, each on one thread: several threads within one small batch spend
        much of their time waiting for each other, above all on a busy machine.
    batch_tokens
        Sequences of similar length run together, up to about so many tokens; more no longer fit into the
        caches.
    pad_id
        Fills the shorter sequences of a batch.
    hint
        What to do about a model that cannot be loaded.

    Raises
    ------
    ModelError
        The file is missing or damaged, or the graph has other inputs.
    """

    def __init__(
        self,
        path: Path,
        *,
        n_threads: int = 1,
        batch_tokens: int = BATCH_TOKENS,
        pad_id: int = 0,
        hint: str = EXPORT,
    ) -> None:
        self._session = open_session(path, hint=hint)
        self.n_threads = n_threads
        self.batch_tokens = batch_tokens
        self._pad_id = pad_id
        self._inputs = input_types(self._session, path)
        self._workers: ThreadPoolExecutor | None = None

    @property
    def outputs(self) -> list[str]:
        """Names of what the graph gives."""
        return [str(node.name) for node in self._session.get_outputs()]

    def run(
        self,
        rows: Sequence[Tokens],
        use: Use,
        *,
        outputs: Sequence[str] | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> None:
        """Run all sequences.

        Parameters
        ----------
        rows
            Sequences of one token or more.
        use
            Called for each batch, in any thread: numbers of its rows, the outputs, and the attention mask of
            shape (n_rows_of_the_batch, length).
        outputs
            Which outputs; all by default.
        on_progress
            Called with the number of sequences finished after each batch, in this thread.
        """
        batches = length_batches([len(row.ids) for row in rows], self.batch_tokens)

        def one(batch: IntArray) -> None:
            feed = padded([rows[row] for row in batch], self._pad_id)
            found = self._session.run(outputs, {k: feed[k].astype(t) for k, t in self._inputs.items()})
            use(batch, found, feed["attention_mask"])

        if self.n_threads == 1 or len(batches) < 2:
            done: Iterable[None] = map(one, batches)
        else:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(self.n_threads, thread_name_prefix="onnx")
            done = self._workers.map(one, batches)
        for batch, _ in zip(batches, done, strict=True):
            if on_progress is not None:
                on_progress(len(batch))


def open_session(model: Path | bytes, *, n_threads: int = 1, hint: str = EXPORT) -> Any:
    """Load an ONNX model on the processor, from a file or from its bytes.

    Raises
    ------
    ModelError
        It is missing or damaged.
    """
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = n_threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    try:
        return ort.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises bare exceptions
        what = "The model" if isinstance(model, bytes) else model
        raise ModelError(f"{what} cannot be loaded: {error}", hint) from error


def input_types(session: Any, path: Path) -> dict[str, type[np.signedinteger[Any]]]:
    """Return which of ids, mask and segments a model takes, each with its type of integer.

    Raises
    ------
    ModelError
        It takes something else, or no ids.
    """
    asked = {node.name: np.int32 if "int32" in node.type else np.int64 for node in session.get_inputs()}
    unknown = sorted(set(asked) - set(_INPUTS))
    if unknown or "input_ids" not in asked:
        raise ModelError(
            f"{path} asks for {', '.join(unknown) or 'no input_ids'}.",
            f"Its inputs must be among {', '.join(_INPUTS)}.",
        )
    return asked


def padded(rows: Sequence[Tokens], pad_id: int) -> dict[str, IntArray]:
    """Lay sequences side by side: ids, attention mask and segments, each of shape (n_rows, longest)."""
    shape = (len(rows), max(len(row.ids) for row in rows))
    feed = {name: np.zeros(shape, dtype=np.int64) for name in _INPUTS}
    feed["input_ids"][:] = pad_id
    for number, row in enumerate(rows):
        feed["input_ids"][number, : len(row.ids)] = row.ids
        feed["attention_mask"][number, : len(row.ids)] = 1
        if row.type_ids is not None:
            feed["token_type_ids"][number, : len(row.ids)] = row.type_ids
    return feed


def length_batches(lengths: Sequence[int], batch_tokens: int) -> list[IntArray]:
    """Group sequences of similar length, so that little is spent on padding.

    The longest come first, so that no thread is left with one at the end.

    Returns
    -------
    list of numpy.ndarray
        Numbers of the sequences; padded, a batch holds at most ``batch_tokens``, or it is of one sequence.
    """
    order = np.argsort(lengths, kind="stable")
    batches: list[IntArray] = []
    begin = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - begin) * lengths[order[end]] > batch_tokens:
            batches.append(order[begin:end])
            begin = end
    return batches[::-1]


def token_limit(config: object, most: int) -> int:
    """Return how many tokens a model takes, from its ``config.json``, at most ``most``."""
    about = config if isinstance(config, dict) else {}
    positions = about.get("max_position_embeddings")
    limit = positions if isinstance(positions, int) and positions > 0 else 512
    if about.get("model_type") in _OFFSET_POSITIONS:
        limit -= padding_id(about) + 1  # these count positions from the padding id on
    return min(limit, most)


def padding_id(config: object) -> int:
    """Return the padding token's id from a model's ``config.json``; 0 by default."""
    pad = config.get("pad_token_id") if isinstance(config, dict) else None
    return pad if isinstance(pad, int) else 0
