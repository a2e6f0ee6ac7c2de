"""Put the leading candidate answers of an evidence board into a prompt, each with who gives it.

The model sees every answer once, with the strength of its evidence and the sentences that give it, so that
ten documents that repeat one claim take no more room than three that say another. Of the leading answer's
first passage it sees the whole, for what a single sentence leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from veridical import prompts
from veridical.answer.context import (
    DEFAULT_BUDGET_TOKENS,
    Context,
    ContextEntry,
    escape,
    token_quarters,
    trust_label,
    write_entry,
)
from veridical.errors import InputError
from veridical.types import Candidate, Hit, Witness

MAX_CANDIDATES = 4
MAX_WITNESSES = 3

_LEAST_WEIGHT = 0.1
_WHOLE_CHARS = 1500
_ANSWER_CHARS = 200


def leading(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates worth showing to a model, heaviest first, each with the witnesses worth showing.

    At most ``MAX_CANDIDATES`` with a tenth of the first one's weight or more, and of each at most
    ``MAX_WITNESSES`` witnesses, one a document.
    """
    chosen = []
    for candidate in candidates[:MAX_CANDIDATES]:
        if candidate.weight < _LEAST_WEIGHT * candidates[0].weight:
            break
        chosen.append(replace(candidate, witnesses=tuple(first_witnesses(candidate, MAX_WITNESSES))))
    return chosen


def first_witnesses(candidate: Candidate, n: int) -> list[Witness]:
    """The first ``n`` witnesses of a candidate, one a document."""
    first: dict[int, Witness] = {}
    for witness in candidate.witnesses:
        first.setdefault(witness.document_id, witness)
    return list(first.values())[:n]


def build_board_context(
    candidates: Sequence[Candidate],
    hits: Sequence[Hit],
    *,
    budget_tokens: int = DEFAULT_BUDGET_TOKENS,
) -> Context:
    """Write the leading candidates down for a prompt.

    Parameters
    ----------
    candidates
        The board, heaviest first.
    hits
        Passages by whose place, from 1, witnesses are numbered. A witness whose passage is not among them is
        counted, but not shown.
    budget_tokens
        About how many tokens the board may take; what does not fit is left out from the last answer on.

    Raises
    ------
    InputError
        If there are no candidates, or the budget is below 1.
    """
    if not candidates or budget_tokens < 1:
        raise InputError("A board without answers or without room was asked for.", "Pass both.")
    numbered = {hit.passage.id: (place, hit) for place, hit in enumerate(hits, 1)}
    shown: dict[int, ContextEntry] = {}
    blocks: list[str] = []
    budget, n_left_out = 4 * budget_tokens, 0
    for candidate, whole in zip(leading(candidates), candidates, strict=False):
        entries = list(_entries(candidate, numbered, whole=candidate.number == candidates[0].number))
        block = _write(candidate, entries, n_documents=len({w.document_id for w in whole.witnesses}))
        cost = token_quarters(block)
        if blocks and cost > budget:
            n_left_out += 1
            continue
        budget -= cost
        blocks.append(block)
        for entry in entries:
            shown[entry.marker] = _joined(shown.get(entry.marker), entry)
    notes = (f"{n_left_out} candidate answers did not fit into the prompt",) if n_left_out else ()
    return Context(tuple(shown[marker] for marker in sorted(shown)), "\n\n".join(blocks), notes)


def _entries(
    candidate: Candidate, numbered: dict[int, tuple[int, Hit]], *, whole: bool
) -> Iterator[ContextEntry]:
    for place, witness in enumerate(candidate.witnesses):
        if witness.passage_id not in numbered:
            continue
        marker, hit = numbered[witness.passage_id]
        length = len(hit.passage.text)
        start, end = (at - hit.passage.start for at in (witness.sentence.start, witness.sentence.end))
        all_of_it = whole and place == 0 and length <= _WHOLE_CHARS
        yield ContextEntry(
            marker=marker,
            passage=hit.passage,
            document=hit.document,
            trust=hit.trust,
            label=hit.label or trust_label(hit.trust),
            n_shown=length,
            places=() if all_of_it else ((start, end),),
        )


def _joined(known: ContextEntry | None, entry: ContextEntry) -> ContextEntry:
    """One entry for a passage that is shown under several answers."""
    if known is None or not entry.places:
        return entry
    if not known.places:
        return known
    return replace(entry, places=tuple(sorted({*known.places, *entry.places})))


def _write(candidate: Candidate, entries: Sequence[ContextEntry], *, n_documents: int) -> str:
    n_more = n_documents - len(entries)
    more = f"\n({n_more} more document{'s say' if n_more > 1 else ' says'} the same.)" if n_more > 0 else ""
    return prompts.render(
        "board_candidate",
        number=str(candidate.number),
        strength=trust_label(candidate.probability) or "UNKNOWN",
        answer=escape(candidate.text[:_ANSWER_CHARS]).strip(),
        documents="\n".join(write_entry(entry, "veridical") for entry in entries),
        more=more,
    )
