"""An answer of method ``reliable`` with a small trace, for tests of what shows one."""

from __future__ import annotations

from dataclasses import replace

from veridical.types import (
    Answer,
    Chain,
    ChainOption,
    ChainStep,
    Citation,
    Document,
    Hit,
    Hop,
    Passage,
    Span,
    Trace,
    Triple,
)

SENTENCE = "The lighthouse was built by Ada Brand in 1871."
TRIPLES = tuple(
    Triple(number, number, number, head, relation, tail, Span(said, 0, len(said)), "embedded", credibility)
    for number, head, relation, tail, said, credibility in (
        (1, "Lighthouse", "built by", "Ada Brand", SENTENCE, 0.9),
        (2, "Ada Brand", "born in", "Oslo <b>", "Ada Brand was born in Oslo <b>.", 0.8),
        (3, "Ada Brand", "born in", "Rome", "Ada Brand was born in Rome.", 0.1),
    )
)


def option(label: str, triple: int | None, probability: float, *, kept: bool = False) -> ChainOption:
    """Return a choice; the numbers of a triple are its own credibility, and the same ones for all else."""
    if triple is None:
        return ChainOption(label, None, probability, kept=kept)
    return ChainOption(label, triple, probability, 0.75, TRIPLES[triple - 1].credibility, 0.66, kept)


TRACE = Trace(
    question="Where was the builder of the lighthouse born?",
    triples=TRIPLES,
    hops=(
        Hop(
            1,
            (
                ChainStep(
                    (),
                    1.0,
                    (option("A", None, 0.05), option("B", 1, 0.9, kept=True), option("C", 2, 0.05)),
                    (option("", 3, 0.0),),
                ),
            ),
        ),
        Hop(2, (ChainStep((1,), 0.9, (option("A", None, 0.2), option("B", 2, 0.8, kept=True))),), 1),
    ),
    chains=(Chain((1, 2), 0.72, False), Chain((), 0.00004, True)),
    selector="embedded",
    extractor="embedded",
    credibility="trust",
    context="tbs",
    n_triples=3,
    n_prompts=2,
    settings={"relevance_weight": 0.4},
    notes=("one passage gave no triple",),
)
_HIT = Hit(
    Passage(1, 1, 0, 0, len(SENTENCE), SENTENCE),
    Document(1, "coast.md", "", "On the <i>coast</i>"),
    relevance=0.7,
    relevance_rank=1,
    utility=0.7,
)
ANSWER = Answer(
    id=4,
    question=TRACE.question,
    text="Oslo",
    status="answered",
    method="reliable",
    generator="reader",
    citations=(Citation("[1]", 1, 1, SENTENCE, 0, len(SENTENCE), valid=True),),
    hits=(_HIT,),
    trace=TRACE,
)
UNTRACED = replace(ANSWER, trace=None)
