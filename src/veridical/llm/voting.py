"""A choice among labels by sampled replies, for language models without log-probabilities."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from veridical.errors import EmptyReplyError, LLMError
from veridical.llm.base import LLM, Choice, Generation, Message
from veridical.llm.labels import check_choice, shares
from veridical.types import Usage

MAX_TOKENS = 16
"""Room for a label with signs around it; a reply that needs more is no label."""
_AROUND = " \t\r\n.,:;!?()[]{}<>*_#|`'\"“”‘’«»"
_SHOWN = 60


def ballot(reply: str, labels: Sequence[str]) -> str | None:
    """Return the label that a reply is, punctuation around it aside; ``None`` if it says anything else."""
    for text in (reply.strip(), reply.strip(_AROUND)):
        if text in labels:
            return text
    return None


def vote(
    llm: LLM,
    messages: Sequence[Message],
    labels: Sequence[str],
    *,
    n_votes: int = 5,
    seed: int = 0,
    n_concurrent: int = 1,
) -> Choice:
    """Choose among labels by the shares of ``n_votes`` replies, sampled at temperature 1.

    Parameters
    ----------
    llm
        Only its ``generate`` is used.
    messages, labels
        As of :meth:`veridical.llm.base.Chooser.choose`.
    n_votes
        How many replies are sampled, each with a seed of its own. Empty replies and those that are no label
        are not counted; ``Choice.n_votes`` says how many were.
    seed
        Fixes the seeds of the replies. No two values of it share one.
    n_concurrent
        How many replies may be on their way at once.

    Raises
    ------
    InputError
        If an argument is out of range.
    LLMError
        If the model is down or too slow, or none of its replies was a label.
    """
    check_choice(messages, labels, n_votes)
    began = time.monotonic()

    def sample(number: int) -> Generation | None:
        try:
            return llm.generate(
                messages, max_tokens=MAX_TOKENS, temperature=1.0, seed=seed * n_votes + number
            )
        except EmptyReplyError:
            return None

    if n_concurrent > 1 and n_votes > 1:
        with ThreadPoolExecutor(min(n_concurrent, n_votes)) as pool:
            asked = [pool.submit(copy_context().run, sample, number) for number in range(n_votes)]
            replies = [future.result() for future in asked]
    else:
        replies = [sample(number) for number in range(n_votes)]
    texts = [reply.text for reply in replies if reply is not None]
    counts = Counter(found for text in texts if (found := ballot(text, labels)) is not None)
    if not counts:
        raise _no_vote(llm.name, n_votes, texts, labels)
    probabilities, unseen = shares(counts, labels)
    usage = sum((reply.usage if reply else Usage(calls=1) for reply in replies), Usage())
    return Choice(
        probabilities, "votes", usage, time.monotonic() - began, n_votes=counts.total(), unseen=unseen
    )


def _no_vote(name: str, n_votes: int, texts: Sequence[str], labels: Sequence[str]) -> LLMError:
    said = " ".join(texts[0].split())[:_SHOWN] if texts else ""
    shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
    return LLMError(
        f"None of {n_votes} sampled replies of the language model {name!r} is one of the labels {shown}"
        + (f"; the first reads {said!r}" if said else "; they are empty")
        + ".",
        "Use a larger model, or a server that gives log-probabilities.",
    )
