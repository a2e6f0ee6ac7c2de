"""Hits made from plain texts."""

from __future__ import annotations

import pytest

from veridical.types import Document, Hit, Passage


@pytest.fixture
def make_hits():
    def make(*texts, trust=(), titles=(), documents=(), starts=(), sources=()):
        hits = []
        for i, text in enumerate(texts):
            document_id = documents[i] if documents else i + 1
            start = starts[i] if starts else 0
            document = Document(
                id=document_id,
                key=f"doc{document_id}",
                version="v",
                title=titles[i] if titles else "",
                source=sources[i] if sources else None,
            )
            passage = Passage(100 + i, document_id, 0, start, start + len(text), text)
            hits.append(Hit(passage, document, 1.0 - 0.1 * i, i + 1, 1.0, trust[i] if trust else None))
        return hits

    return make
