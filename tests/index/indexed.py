"""Stores filled for index tests, and BM25 as a formula."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from veridical.corpus.dedupe import content_hash
from veridical.stores import Store, derived, documents
from veridical.types import SourceDocument, Span


def put_texts(store: Store, texts: Mapping[str, str]) -> dict[str, int]:
    """Store one document of one passage for each key; return passage ids by key."""
    found = {}
    with store.write() as connection:
        for key, text in texts.items():
            document = SourceDocument(key, content_hash("", text), text)
            _, document_id = documents.put(connection, document, [Span(text, 0, len(text))], None)
            found[key] = document_id
        by_document = {p.document_id: p.id for p in documents.every_passage(connection)}
    return {key: by_document[document_id] for key, document_id in found.items()}


def put_vectors(store: Store, vectors: np.ndarray, encoder: str = "e") -> list[int]:
    """Store one document for each vector; return passage ids in order."""
    ids = list(put_texts(store, {f"k{row}": f"Text {row}." for row in range(len(vectors))}).values())
    with store.write() as connection:
        derived.put_vectors(connection, encoder, ids, vectors, [vectors[:1]] * len(ids))
    return ids


def unit_rows(n: int, seed: int = 0, dimensions: int = 32) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, dimensions)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def bm25_by_formula(texts: Mapping[int, Sequence[str]], terms: Sequence[str]) -> dict[int, float]:
    """BM25 of tokenised texts: k1 = 1.2, b = 0.75, idf = ln(1 + (N - df + 0.5) / (df + 0.5))."""
    n, mean = len(texts), sum(map(len, texts.values())) / len(texts)
    df = Counter(term for words in texts.values() for term in set(words))
    found = {}
    for key, words in texts.items():
        total = 0.0
        for term in set(terms) & set(words):
            tf = words.count(term)
            idf = math.log(1 + (n - df[term] + 0.5) / (df[term] + 0.5))
            total += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / mean))
        if total > 0:
            found[key] = total
    return found
