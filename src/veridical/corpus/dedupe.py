"""When two texts are one: the version of a document, and equality of what two passages say."""

from __future__ import annotations

import hashlib
import re
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

Signature = npt.NDArray[np.uint32]

N_PERMUTATIONS = 128
THRESHOLD = 0.8
_SHINGLE = 3
_N_BANDS = 32  # of four hashes each: a pair at the threshold shares none of them once in 20 million
_FEW = 64  # so few texts are compared all with all
_LARGE_BUCKET = 64
_CHUNK = 4096
_WORD = re.compile(r"([^\W_]+(?:['’][^\W_]+)?)|[.!?:;\n]")
_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion"
)
_FACT = re.compile(
    rf"\d|\A(?:not|no|never|none|neither|nor|without|cannot|{_NUMBERS.replace(' ', '|')})\Z|n['’]t\Z"
)


def content_hash(title: str, text: str) -> str:
    """Return the version of a document: SHA-256 (hexadecimal) of what it says, title and text.

    Line ends and the way accents are encoded make no difference; anything else does, a space included, since
    offsets into the text must keep their meaning.
    """
    said = f"{title}\0{text}".replace("\r\n", "\n").replace("\r", "\n")
    return _sha256(unicodedata.normalize("NFC", said))


def normalised_text(text: str) -> str:
    """Return ``text`` as it is compared with others: NFKC, case folded, white space made single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def text_hash(text: str) -> str:
    """Return a hash (SHA-256, hexadecimal) that two texts share if they differ in case and spacing only."""
    return _sha256(normalised_text(text))


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def signature(text: str) -> Signature:
    """Return what is kept of a text to find its near-duplicates by.

    Returns
    -------
    numpy.ndarray
        Shape (``N_PERMUTATIONS`` + 1,). Under each of the permutations the least hash of the text's shingles
        (runs of three words; a text of fewer is one shingle), and last a hash of its facts. The share of
        equal numbers in two signatures, the last aside, estimates the Jaccard similarity of their shingles
        within 0.09 (two standard errors).
    """
    words = _words(text)
    return np.append(_least_hashes(_shingles(words)), np.uint32(_facts(words)))


def near_duplicates(
    texts: Sequence[str], *, threshold: float = THRESHOLD, same_facts: bool = True
) -> list[int]:
    """Group texts that say the same in nearly the same words.

    Two texts are near-duplicates if the Jaccard similarity of their shingles (runs of three words, case and
    punctuation aside) is at least ``threshold`` and they state the same facts: numbers, negations and names
    (words with a capital inside a sentence). A copy in which a port or a city was replaced is a voice of its
    own. Groups are closed: what is near-duplicate of a near-duplicate belongs to the group too.

    Parameters
    ----------
    texts
        Any texts. Those of fewer than three words are near-duplicates only where their words are equal.
    threshold
        In (0, 1].
    same_facts
        False to go by the words alone, for callers that know already that two texts say the same.

    Returns
    -------
    list of int
        The number of each text's group, shared by near-duplicates; groups are numbered from 0 in the order of
        their first texts. Which texts share a group does not depend on their order.
    """
    unique = sorted(set(texts))
    words = [_words(text) for text in unique]
    shingles = [_shingles(of) for of in words]
    facts = [_facts(of) if same_facts else 0 for of in words]
    if len(unique) <= _FEW:
        pairs = np.column_stack(np.triu_indices(len(unique), 1))
    else:
        pairs = _candidates(np.stack([_least_hashes(of) for of in shingles]), np.array(facts))
    alike = [
        facts[i] == facts[j] and _jaccard(shingles[i], shingles[j]) >= threshold for i, j in pairs.tolist()
    ]
    groups = dict(zip(unique, _closed(len(unique), pairs[np.array(alike, dtype=bool)]), strict=True))
    return _numbered(groups[text] for text in texts)


def groups_of_signatures(
    matrix: npt.ArrayLike, threshold: float = THRESHOLD, *, same_facts: bool = True
) -> list[int]:
    """Group texts by their stored signatures, as ``near_duplicates`` does but with the estimated similarity.

    Parameters
    ----------
    matrix
        Shape (n_texts, ``N_PERMUTATIONS`` + 1), rows as ``signature`` gives them. 100,000 take some seconds.
    threshold
        Least share of equal numbers. Candidates are found by locality-sensitive hashing, which is sure from
        about 0.7 upwards (of pairs at 0.7 it misses one in 6,000, at 0.6 one in 80).

    Returns
    -------
    list of int
        The number of each row's group, as ``near_duplicates`` numbers them.
    """
    rows = np.asarray(matrix, dtype=np.uint32).reshape(-1, N_PERMUTATIONS + 1)
    if not same_facts:
        rows = rows.copy()
        rows[:, -1] = 0
    # Equal rows are one to begin with, and sorted, so that the order of the input can make no difference.
    unique, place = np.unique(rows, axis=0, return_inverse=True)
    hashes = np.ascontiguousarray(unique[:, :-1])
    pairs = _candidates(hashes, unique[:, -1])
    alike = np.zeros(len(pairs), dtype=bool)
    for begin in range(0, len(pairs), _CHUNK):
        i, j = pairs[begin : begin + _CHUNK].T
        alike[begin : begin + _CHUNK] = (hashes[i] == hashes[j]).mean(axis=1) >= threshold
    groups = np.array(_closed(len(unique), pairs[alike]), dtype=np.int64)
    return _numbered(groups[place.reshape(-1)])


def _words(text: str) -> list[str]:
    """Words of a text; those that state a fact are marked with a leading space."""
    found = []
    begins = True
    for match in _WORD.finditer(unicodedata.normalize("NFKC", text)):
        word = match[1] or ""
        if not word:
            begins = True  # the end of a sentence
            continue
        is_name = not begins and word[0].isupper() and not word.isupper()
        word = word.casefold()
        found.append(f" {word}" if is_name or _FACT.search(word) else word)
        begins = False
    return found


def _facts(words: Iterable[str]) -> int:
    """A hash of the numbers, negations and names among words, whatever their order and number."""
    return zlib.crc32(" ".join(sorted({word for word in words if word[0] == " "})).encode("utf-8", "replace"))


def _shingles(words: Sequence[str]) -> frozenset[int]:
    """Hashes of all runs of three words; of the whole where it is shorter."""
    plain = [word.lstrip() for word in words]
    runs = zip(plain, plain[1:], plain[2:], strict=False) if len(plain) >= _SHINGLE else [plain]
    return frozenset(zlib.crc32(" ".join(run).encode("utf-8", "replace")) for run in runs)


def _jaccard(left: frozenset[int], right: frozenset[int]) -> float:
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared)


@cache
def _permutations() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Odd factors and offsets, shape (``N_PERMUTATIONS``, 1), always the same."""
    numbers = np.random.default_rng(20).integers(0, 1 << 63, (2, N_PERMUTATIONS, 1), dtype=np.uint64)
    return numbers[0] | np.uint64(1), numbers[1]


def _least_hashes(shingles: Iterable[int]) -> Signature:
    """The least upper 32 bits of ``factor * shingle + offset`` (mod 2^64), for each of the permutations."""
    factors, offsets = _permutations()
    values = np.fromiter(shingles, dtype=np.uint64)
    least = np.full(N_PERMUTATIONS, np.iinfo(np.uint64).max, dtype=np.uint64)
    for begin in range(0, len(values), _CHUNK):
        hashed = values[begin : begin + _CHUNK] * factors + offsets
        np.minimum(least, hashed.min(axis=1), out=least)
    return (least >> np.uint64(32)).astype(np.uint32)


def _candidates(hashes: Signature, facts: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Pairs of rows (i < j) with equal facts and at least one equal band of hashes, shape (n_pairs, 2)."""
    found = [np.empty((0, 2), dtype=np.int64)]
    width = N_PERMUTATIONS // _N_BANDS
    for band in range(_N_BANDS):
        keys = np.column_stack([hashes[:, band * width : (band + 1) * width], facts.astype(np.uint32)])
        order = np.lexsort(keys.T)
        new = np.any(keys[order[1:]] != keys[order[:-1]], axis=1)
        bounds = np.flatnonzero(np.concatenate([[True], new, [True]]))
        for at in np.flatnonzero(np.diff(bounds) > 1):
            found.append(_pairs_within(np.sort(order[bounds[at] : bounds[at + 1]])))
    return np.unique(np.concatenate(found), axis=0)


def _pairs_within(rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """All pairs of a bucket; of a very large one each row's pairs with the next few and with the first."""
    n = len(rows)
    if n <= _LARGE_BUCKET:
        first, second = np.triu_indices(n, 1)
    else:
        first = np.concatenate([np.arange(n - step) for step in range(1, 9)] + [np.zeros(n - 1, dtype=int)])
        second = np.concatenate([np.arange(step, n) for step in range(1, 9)] + [np.arange(1, n)])
    return np.column_stack([rows[first], rows[second]]).astype(np.int64)


def _closed(n: int, pairs: npt.NDArray[np.int64]) -> list[int]:
    """Number the groups that pairs join directly or through others."""
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = root[root[i]]
            i = root[i]
        return i

    for i, j in pairs.tolist():
        a, b = find(i), find(j)
        root[max(a, b)] = min(a, b)
    return _numbered([find(i) for i in range(n)])


def _numbered(groups: Iterable[int]) -> list[int]:
    """Number groups from 0 in the order in which they first occur."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(int(group), len(numbers)) for group in groups]
