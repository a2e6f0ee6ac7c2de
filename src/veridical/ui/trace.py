"""How an answer of method ``reliable`` was reasoned, as a page."""

from __future__ import annotations

from pathlib import Path

from veridical.errors import InputError
from veridical.types import Answer
from veridical.ui import page

N_CHAINS = 5


def write_trace(answer: Answer, path: Path) -> None:
    """Write the page; it appears whole or not at all.

    Raises
    ------
    InputError
        The answer was not reasoned along chains.
    StoreError
        The file cannot be written.
    """
    page.write(render(answer), path)


def render(answer: Answer) -> str:
    """Return the page as HTML; every text from a document is escaped.

    Raises
    ------
    InputError
        The answer was not reasoned along chains.
    """
    trace = answer.trace
    if trace is None:
        raise InputError(
            "This answer has no trace: it was not reasoned along chains.", "Ask with method reliable."
        )
    hits = (*answer.hits, *answer.kept_out)
    return page.render(
        "veridical.ui",
        "trace.html.jinja",
        answer=answer,
        trace=trace,
        triples={triple.id: triple for triple in trace.triples},
        names={hit.document.id: hit.document.title or hit.document.key for hit in hits},
        shown=trace.chains[:N_CHAINS],
        weight=round(float(trace.settings.get("relevance_weight", 0.4)), 3),
    )
