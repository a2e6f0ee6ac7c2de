"""TrustPropRAG (arXiv 2609.00543) and its ablations: rank by trust and relevance, show trust to the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical.answer.chains_answer import read_answer
from veridical.answer.context import Style, build_context, escape
from veridical.answer.generate import MAX_TOKENS
from veridical.bench.systems.answering import Said, closed, from_passages, say
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, best_first
from veridical.bench.systems.hits import as_hits, candidates
from veridical.evidence.rescore import NEUTRAL, FloatArray
from veridical.methods import trustprop as published

PAPER = "arXiv 2609.00543"
POOL = 100
"""Passages whose scores are scaled and mixed with trust."""

_OWN_WORDS = "own words of the prompt"


class TrustProp:
    """Rank by ``.6 trust + .4 relevance``, answer from the best k with their trust and its label (one call).

    Trust is propagated beforehand by feedback, sources and inference, by the method ``trustprop`` of the
    package, which follows the paper. Relevance is scaled to [0, 1] within the pool of 100; trust that is not
    known is 1/2. Passages are cut at 500 characters, as in the published code. Differs from the paper in the
    words of the prompt, and where there is no language model in that a reader answers, which sees no trust.

    Parameters
    ----------
    tools
        With a language model, or else a reader.
    top_k
        Passages in the prompt.
    trust_weight
        The paper's alpha, in [0, 1].
    """

    name = "trustprop"
    about = About("TrustPropRAG", PAPER, differs=_OWN_WORDS, needs=frozenset({"trust"}), belief="trustprop")
    rescores = True
    """Whether trust counts in the order."""
    style: Style = "trustprop"
    """How passages are shown: with trust, or ``plain``."""

    def __init__(
        self, tools: Tools, *, top_k: int = TOP_K, trust_weight: float = published.TRUST_WEIGHT
    ) -> None:
        self.tools, self.top_k, self.trust_weight = tools, top_k, trust_weight

    def answer(self, task: Task) -> Reply:
        """Answer from what is relevant and trusted; see `System.answer`."""
        pool = [self.believed(own) for own in task.pool[:POOL]]
        utility = self.utility(pool)
        order = [place for place in best_first(utility.tolist()) if self.keeps(pool[place])]
        shown = order[: self.top_k]
        said = self._said(task.question, [pool[i] for i in shown], utility[shown])
        ranking = (*order, *range(len(pool), len(task.pool)))
        return Reply(said.text, ranking, said.probability, said.usage)

    def believed(self, passage: Retrieved) -> Retrieved:
        """Return the passage with the trust that counts: 1/2 where none is known."""
        known = passage.trust is not None and not np.isnan(passage.trust)
        return passage if known else replace(passage, trust=NEUTRAL)

    def utility(self, pool: Sequence[Retrieved]) -> FloatArray:
        """What passages are ordered by, shape (p,)."""
        weight = self.trust_weight if self.rescores else 0.0
        return published.TrustProp().rank(candidates(pool), trust_weight=weight)

    def keeps(self, passage: Retrieved) -> bool:
        """Whether a passage may be answered from."""
        del passage
        return True

    def _said(self, question: str, shown: Sequence[Retrieved], utility: FloatArray) -> Said:
        if self.tools.llm is None:
            return from_passages(self.tools, question, shown)
        if not shown:
            return closed(self.tools, question)
        context = build_context(as_hits(shown, utility.tolist()), style=self.style)
        said = say(
            self.tools,
            self.style,
            stage="answer",
            max_tokens=MAX_TOKENS[self.style],
            documents=context.text,
            question=escape(question).strip(),
        )
        return Said(read_answer(said.text), usage=said.usage)


def _ablation(title: str, differs: str, belief: str | None, *, by_llm: bool = False) -> About:
    needs = frozenset({"trust"} if belief else set()) | frozenset({"llm"} if by_llm else set())
    return About(
        f"TrustPropRAG, {title}",
        PAPER,
        differs=f"{differs}; {_OWN_WORDS}",
        needs=needs,  # type: ignore[arg-type]
        belief=belief,
        ablation_of="trustprop",
    )


class NoOptimisation(TrustProp):
    """TrustPropRAG without trust: every passage is MEDIUM, 0.50, and the order is the retriever's (one call).

    The paper's row "prompt only". Without a language model it would be vanilla RAG, so it needs one.
    """

    name = "trustprop_no_optimisation"
    about = _ablation("no optimisation", "nothing is propagated: all trust is 1/2", None, by_llm=True)
    rescores = False

    def believed(self, passage: Retrieved) -> Retrieved:
        """Return the passage with trust 1/2."""
        return replace(passage, trust=NEUTRAL)


class TrivialFeedback(TrustProp):
    """Feedback that is not propagated: bad documents are dropped, good ones are put up (one call).

    The paper does not say by how much it boosts; here by what trust .9 in place of 1/2 is worth in the mix.
    """

    name = "trustprop_trivial_feedback"
    about = _ablation(
        "trivial feedback",
        "judged documents only: bad ones are dropped, good ones have trust .9, a boost that the paper leaves "
        "open",
        "feedback only",
    )

    def keeps(self, passage: Retrieved) -> bool:
        """Leave out what was found bad."""
        return passage.trust is None or passage.trust >= NEUTRAL


class NLIOnly(TrustProp):
    """TrustPropRAG without edges between documents of one source (one call)."""

    name = "trustprop_nli_only"
    about = _ablation("NLI only", "no edges between documents of one source", "trustprop, nli only")


class NoRescoring(TrustProp):
    """TrustPropRAG in the retriever's order; the model still sees trust (one call).

    Without a language model it would be vanilla RAG, so it needs one.
    """

    name = "trustprop_no_rescoring"
    about = _ablation("no rescoring", "the order is the retriever's", "trustprop", by_llm=True)
    rescores = False


class NoPrompt(TrustProp):
    """TrustPropRAG in its own order, with the plain prompt of the paper's baseline (one call).

    Without a language model it would be TrustPropRAG itself, so it needs one.
    """

    name = "trustprop_no_prompt"
    about = _ablation("no prompt", "the model sees no trust", "trustprop", by_llm=True)
    style: Style = "plain"
