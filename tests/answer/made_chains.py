"""Traces made from plain chains: passages of one sentence a triple, each passage a document of its own."""

from __future__ import annotations

from veridical.types import Chain, Passage, Span, Trace, Triple

OFFSET = 1000  # where each passage begins in its document


def passage_of(number: int, text: str) -> Passage:
    return Passage(100 + number, number, 0, OFFSET, OFFSET + len(text), text)


def triple_of(id_: int, passage: Passage, written: str, sentence: str | None = None) -> Triple:
    head, relation, tail = (piece.strip() for piece in written.split(";"))
    said = sentence or passage.text
    start = passage.start + passage.text.index(said)
    span = Span(said, start, start + len(said))
    return Triple(id_, passage.document_id, passage.id, head, relation, tail, span, "made")


def trace_of(triples: list[Triple], *chains: tuple[int, ...]) -> Trace:
    return Trace(
        question="q",
        triples=tuple(triples),
        hops=(),
        chains=tuple(Chain(chain, 1.0 / (1 + i), True) for i, chain in enumerate(chains)),
        selector="made",
        extractor="made",
        credibility="none",
        context="tbs",
    )
