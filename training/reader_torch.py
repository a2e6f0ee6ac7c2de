"""The reader's network as it is trained, in torch: to time it beside the int8 model that ships."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from reader_model import ReaderNet
from veridical.models.transformer import length_batches
from veridical.reading.onnx_ import FloatArray, OnnxReader
from veridical.reading.windows import Window

BATCH_TOKENS = 8192  # torch is at its best with larger batches than the shipped model


class TorchReader(OnnxReader):
    """Reads as `OnnxReader` does, but for the network: same windows, same decoding, float32 in torch.

    The weights are not trained, so what it reads means nothing; how long it takes does not depend on them.

    Parameters
    ----------
    like
        Whose tokenizer, windows and decoding to use.
    n_threads
        Of torch.
    """

    kind = "torch"

    def __init__(self, like: OnnxReader, *, n_threads: int = 1) -> None:
        super().__init__(
            lambda: like.folder,
            max_tokens=like.max_tokens,
            stride=like.stride,
            decoding=like.decoding,
            n_threads=n_threads,
        )
        self._like = like
        torch.set_num_threads(n_threads)
        torch.manual_seed(0)
        self._net = ReaderNet().eval()

    def windows(self, pairs: Sequence[tuple[str, str]]) -> list[Window]:
        """Tokenize pairs into windows; see `OnnxReader.windows`."""
        return self._like.windows(pairs)

    @torch.inference_mode()
    def logits(self, windows: Sequence[Window]) -> list[tuple[FloatArray, FloatArray]]:
        """Start and end logits of each window."""
        found: list[tuple[FloatArray, FloatArray]] = [(np.empty(0), np.empty(0))] * len(windows)
        for batch in length_batches([len(window.ids) for window in windows], BATCH_TOKENS):
            rows = [windows[i] for i in batch.tolist()]
            shape = (len(rows), max(len(window.ids) for window in rows))
            ids, mask, segments = (torch.zeros(shape, dtype=torch.long) for _ in range(3))
            for row, window in enumerate(rows):
                ids[row, : len(window.ids)] = torch.tensor(window.ids)
                mask[row, : len(window.ids)] = 1
                segments[row, : len(window.ids)] = torch.tensor(window.type_ids)
            logits = self._net(ids, mask, segments).double().numpy()
            for row, number in enumerate(batch.tolist()):
                width = len(windows[number].ids)
                found[number] = logits[row, :width, 0], logits[row, :width, 1]
        return found
