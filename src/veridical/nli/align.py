"""Which sentences of two passages speak of the same thing: best matches, looked for from both sides."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from veridical.nli.values import Facts
from veridical.types import Span

FloatArray = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], FloatArray]

#: A passage has about five sentences; what is longer than this many is judged by its beginning.
MAX_SENTENCES = 64
DEFAULT_MAX_PAIRS = 6
#: Raised whenever other sentences would be compared, so that judgements on record are made again.
ALIGNMENT = 4


@lru_cache(maxsize=16_384)
def sentence_spans(text: str) -> tuple[Span, ...]:
    """Cut a passage into sentences, at most ``MAX_SENTENCES`` of them.

    Returns
    -------
    tuple of Span
        Non-empty spans in order, ``text[start:end] == span.text``; none for a text without a letter or digit.
        Headings are left out where there is anything else: they name a subject and say nothing of it.
    """
    from veridical.corpus.split import is_heading, sentences

    found = [span for span in sentences(text) if any(c.isalnum() for c in span.text)]
    telling = [span for span in found if not is_heading(span.text)]
    return tuple((telling or found)[:MAX_SENTENCES])


def lexical_similarities(premise: Sequence[Facts], hypothesis: Sequence[Facts]) -> FloatArray:
    """Cosines of the sentences' sets of content words.

    Returns
    -------
    numpy.ndarray
        Shape (n_premise, n_hypothesis), float32, in [0, 1]; zero where a sentence has no content word.
    """
    out = np.zeros((len(premise), len(hypothesis)), dtype=np.float32)
    for i, left in enumerate(premise):
        for j, right in enumerate(hypothesis):
            shared = len(left.words & right.words)
            if shared:
                out[i, j] = shared / (len(left.words) * len(right.words)) ** 0.5
    return out


def best_matches(
    similarities: FloatArray,
    max_pairs: int = DEFAULT_MAX_PAIRS,
    *,
    repeated: Sequence[tuple[int, int]] = (),
) -> list[tuple[int, int]]:
    """Choose the sentence pairs worth comparing.

    Each sentence, of either side, brings its best partner; of these pairs the most similar are kept.
    Sentences that both sides have bring none, so that what is added to them is not crowded out.

    Parameters
    ----------
    similarities
        Shape (n_premise, n_hypothesis), any range.
    max_pairs
        At most this many pairs, at least 1.
    repeated
        (premise index, hypothesis index) of sentences that are the same on both sides.

    Returns
    -------
    list of tuple
        (premise index, hypothesis index) without repetition, most similar first, ties by index; empty only
        where a side has no sentence, or all are repeated.
    """
    if not similarities.size:
        return []
    known_rows, known_columns = {i for i, _ in repeated}, {j for _, j in repeated}
    of_row, of_column = similarities.argmax(axis=1).tolist(), similarities.argmax(axis=0).tolist()
    chosen = {(i, j) for i, j in enumerate(of_row) if i not in known_rows}
    chosen |= {(i, j) for j, i in enumerate(of_column) if j not in known_columns}
    ranked = sorted(chosen, key=lambda pair: (-float(similarities[pair]), pair))
    return ranked[: max(1, max_pairs)]


class VectorCache:
    """Sentence vectors by text, least recently used go first. Half precision is enough for a cosine."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._rows: OrderedDict[str, npt.NDArray[np.float16]] = OrderedDict()

    def put(self, texts: Sequence[str], vectors: FloatArray) -> None:
        for text, vector in zip(texts, np.asarray(vectors, dtype=np.float16), strict=True):
            self._rows[text] = vector

    def fill(self, texts: Iterable[str], embed: Embed) -> None:
        """Encode what is not known, and keep all of ``texts`` at least until the next call."""
        wanted = list(dict.fromkeys(texts))
        for text in wanted:
            if text in self._rows:
                self._rows.move_to_end(text)
        missing = [text for text in wanted if text not in self._rows]
        if missing:
            self.put(missing, embed(missing))
        while len(self._rows) > max(self._size, len(wanted)):
            self._rows.popitem(last=False)

    def rows(self, spans: Sequence[Span]) -> FloatArray:
        return np.stack([self._rows[span.text] for span in spans]).astype(np.float32)

    def cosines(self, left: Sequence[Span], right: Sequence[Span]) -> FloatArray:
        if not left or not right:
            return np.zeros((len(left), len(right)), dtype=np.float32)
        return np.asarray(self.rows(left) @ self.rows(right).T, dtype=np.float32)

    def paired_cosines(self, left: Sequence[Span], right: Sequence[Span]) -> FloatArray:
        if not left:
            return np.zeros(0, dtype=np.float32)
        return np.asarray(np.einsum("ij,ij->i", self.rows(left), self.rows(right)), dtype=np.float32)
