"""A few documents about a bridge, and what tests of method reliable look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import sqlalchemy as sa

from veridical import ChainOptions, Veridical
from veridical.evidence.extract_embedded import EmbeddedExtractor
from veridical.evidence.triples import FAILED, Extraction
from veridical.types import Answer

Open = Callable[..., Veridical]
GATEWAY = "Which setting does the gateway of the office use?"
BRIDGE = "Which length has the Orsa bridge that Ada Lind built?"
TEXTS = {
    "lind": ("Ada Lind", "Ada Lind was an engineer. She built the Orsa bridge in 1931."),
    "orsa": ("Orsa bridge", "The Orsa bridge is in Dalarna. The Orsa bridge has a length of 90 metres."),
    "fake": ("Orsa bridge", "The Orsa bridge is a ferry. The Orsa bridge has a length of 55 metres."),
    "tea": ("Tea", "Tea is served at four in the kitchen."),
}
DOCUMENTS = [{"id": key, "title": title, "text": text} for key, (title, text) in TEXTS.items()]
OFFLINE = ChainOptions(credibility="trust", selector="embedded")


def count(v: Veridical, table: str) -> int:
    with v.store.read() as connection:
        return int(connection.execute(sa.text(f"SELECT count(*) FROM {table}")).scalar_one())


def keys(v: Veridical, answer: Answer) -> list[str]:
    known = {document.id: document.key for document in v.documents()}
    return [known[citation.document_id or 0] for citation in answer.citations]


def trust_of(v: Veridical, **options: str) -> dict[str, float]:
    known = {document.ref: document.key for document in v.documents()}
    found = {known[node.ref]: node.trust for node in v.trust(**options).documents}
    return {key: trust for key, trust in found.items() if trust is not None}


class Counting(EmbeddedExtractor):
    """Notes what it has seen; fails on passages with a certain word, as a dead server would."""

    def __init__(self, fails_on: str = "", dies: Exception | None = None) -> None:
        self.seen: list[str] = []
        self.fails_on, self.dies = fails_on, dies

    @property
    def name(self) -> str:
        return "counting-1"

    def extract(
        self, passages: Sequence[tuple[str, str]], *, tick: Callable[[], object] | None = None
    ) -> list[Extraction]:
        if self.dies is not None:
            raise self.dies
        self.seen += [text for _, text in passages]
        found = super().extract(passages, tick=tick)
        failed = Extraction((), FAILED + "it is too long")
        return [
            failed if self.fails_on and self.fails_on in text else each
            for (_, text), each in zip(passages, found, strict=True)
        ]
