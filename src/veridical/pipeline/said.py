"""An answer before it is stored, and the one that an evidence board gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical.answer.board_context import first_witnesses
from veridical.pipeline.boarding import HELP, MAX_CITED, Boarded, cite_witnesses, why_no_answer
from veridical.stores.answers import READER
from veridical.types import AnswerStatus, Hit

ALL_THE_SAME = "This is the likeliest answer all the same."


@dataclass(frozen=True)
class Said:
    """An answer before it is stored; ``hits`` where it leans on more than those that were ranked first."""

    text: str
    status: AnswerStatus
    generator: str
    fields: dict[str, object]
    notes: tuple[str, ...]
    hits: Sequence[Hit] | None = None


def said_by_board(boarded: Boarded, hits: Sequence[Hit], *, insist: bool) -> Said:
    """Give a board's heaviest answer, unless there is none, or it is thin or tied and nobody insists."""
    board = boarded.board
    why = () if board.status == "answered" else (why_no_answer(board),)
    if not board.candidates:
        return Said("", "no_evidence", READER, {}, why)
    first = board.candidates[0]
    if why and not insist:
        return Said("", "abstained", READER, {"probability": first.probability}, (*why, HELP))
    shown = boarded.with_witnesses(hits, first_witnesses(first, MAX_CITED))
    cited = cite_witnesses(first, shown)
    fields: dict[str, object] = {
        "citations": tuple(citation for citation in cited if citation.valid),
        "dropped_citations": tuple(citation for citation in cited if not citation.valid),
        "probability": first.probability,
    }
    status: AnswerStatus = "answered" if all(citation.valid for citation in cited) else "degraded"
    return Said(first.text, status, READER, fields, (*why, ALL_THE_SAME) if why else (), shown)
