"""Self-RAG (arXiv 2310.11511): a model that writes tokens of reflection, and chooses by them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veridical import prompts
from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, best_first, nearest
from veridical.bench.systems.weights import Trained
from veridical.llm.base import Likely, Message
from veridical.llm.usage import measure

WEIGHTS = "self-rag-7b"
MAX_TOKENS = 100

RETRIEVE, KEEP = "[Retrieval]", "[No Retrieval]"
RELEVANT, IRRELEVANT = "[Relevant]", "[Irrelevant]"
SUPPORT = ("[Fully supported]", "[Partially supported]", "[No support / Contradictory]")
UTILITY = tuple(f"[Utility:{number}]" for number in range(1, 6))
_REFLECTION = re.compile(
    "|".join(re.escape(token) for token in (RETRIEVE, KEEP, RELEVANT, IRRELEVANT, *SUPPORT, *UTILITY))
    + r"|\[Continue to Use Evidence\]|</?paragraph>|</?s>"
)

Chances = Mapping[str, float]
"""Probabilities by token; a token that is not there was not among the likeliest, and has none."""


@dataclass(frozen=True)
class Weights:
    """What the three critiques of a reply count for."""

    relevance: float = 1.0
    support: float = 1.0
    utility: float = 0.5


class SelfRAG(Trained):
    """Answer from each passage alone, and take the answer whose tokens of reflection score best.

    Short form, by Self-RAG's own weights. First the model says whether to retrieve: it does where
    P(retrieve) / (P(retrieve) + P(no retrieval)) is above the threshold. The published code divides the
    logarithms instead, which makes .9 of what is .9 into .04. Then it continues each passage, and a reply is
    scored by relevance, support and utility, see `score`. ``1 + k`` calls that write or decide, and up to 3
    more of one token for each passage, by which the probabilities are read: the engine gives none of what it
    writes. The likelihood of the whole reply, which the published code can add, is left out. A token that is
    not among the likeliest has probability 0.

    Parameters
    ----------
    tools
        With the weights ``self-rag-7b``: a GGUF file, which is used without a template of conversations, or a
        language model that generates and lists next tokens. It has to write tokens of reflection out.
    top_k
        Passages that are answered from.
    adaptive
        Whether the model may do without passages.
    threshold
        Above which it retrieves.
    w_relevance, w_support, w_utility
        The weights of the score. The defaults are those of the published function (1, 1, .5).
    max_tokens
        The most tokens of a reply.
    """

    name = "self_rag"
    about = About(
        "Self-RAG",
        "arXiv 2310.11511",
        differs="short form; the decision to retrieve divides probabilities, not their logarithms; "
        "reflection is read in calls of its own",
        calls="1 + 4 k",
        needs=frozenset({"weights"}),
        weights=WEIGHTS,
    )
    raw = True

    def __init__(
        self,
        tools: Tools,
        *,
        top_k: int = TOP_K,
        adaptive: bool = True,
        threshold: float = 0.2,
        w_relevance: float = 1.0,
        w_support: float = 1.0,
        w_utility: float = 0.5,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        super().__init__(tools, top_k=top_k)
        self.adaptive, self.threshold = adaptive, threshold
        self.weights = Weights(w_relevance, w_support, w_utility)
        self.max_tokens = max_tokens

    def answer(self, task: Task) -> Reply:
        """Answer by critique; see `System.answer`."""
        with measure() as spent, self._llm.stage("answer"):
            places = nearest(task, self.top_k)
            rest = tuple(range(len(places), len(task.pool)))
            asked = prompts.render("bench_self_rag_user", question=escape(task.question).strip()) + "\n"
            wanted = retrieves(self._likely(asked)) if places and self.adaptive else 1.0
            if not places or wanted <= self.threshold:
                text = self._written(asked + KEEP)
                return Reply(
                    bare(text), tuple(range(len(task.pool))), usage=spent.total, detail={"retrieves": wanted}
                )
            found = [self._critique(asked + with_passage(task.pool[place])) for place in places]
        order = best_first([value for _, value in found])
        return Reply(
            bare(found[order[0]][0]),
            tuple(places[i] for i in order) + rest,
            usage=spent.total,
            detail={"retrieves": wanted, "scores": [value for _, value in found]},
        )

    def _critique(self, prompt: str) -> tuple[str, float]:
        """Continue a prompt, and score what was written."""
        relevance = self._likely(prompt)
        text = self._written(prompt)
        support, utility = (self._at_first(prompt, text, tokens) for tokens in (SUPPORT, UTILITY))
        return text, score(relevance, support, utility, self.weights)

    def _at_first(self, prompt: str, text: str, tokens: Sequence[str]) -> Chances:
        """Chances of these tokens where the first of them was written; none where none was."""
        starts = [text.find(token) for token in tokens if token in text]
        return self._likely(prompt, text[: min(starts)]) if starts else {}

    def _likely(self, prompt: str, written: str = "") -> Chances:
        return chances(self._llm.next_tokens((Message("user", prompt),), written))

    def _written(self, prompt: str) -> str:
        return self._llm.generate((Message("user", prompt),), max_tokens=self.max_tokens).text


def chances(likely: Likely) -> Chances:
    """Turn logarithms into probabilities, by token without white space around it."""
    found: dict[str, float] = {}
    for token, value in likely.tokens:
        found[token.strip()] = found.get(token.strip(), 0.0) + math.exp(value)
    return found


def retrieves(at_start: Chances) -> float:
    """P(retrieve) against P(no retrieval), in [0, 1]; 1 where the model considers neither."""
    yes, no = at_start.get(RETRIEVE, 0.0), at_start.get(KEEP, 0.0)
    return yes / (yes + no) if yes + no > 0 else 1.0


def score(relevance: Chances, support: Chances, utility: Chances, weights: Weights) -> float:
    """Score a reply by its tokens of reflection.

    ``w_rel rel + w_sup sup + w_use use`` with ``rel = P(relevant) / (P(relevant) + P(irrelevant))``,
    ``sup = (P(fully) + P(partially) / 2)`` over the sum of the three, and ``use`` the mean of
    (-1, -1/2, 0, 1/2, 1) under the five utilities. A critique that was not written counts 0.
    """
    rel = _mean(relevance, (RELEVANT, IRRELEVANT), (1.0, 0.0))
    sup = _mean(support, SUPPORT, (1.0, 0.5, 0.0))
    use = _mean(utility, UTILITY, (-1.0, -0.5, 0.0, 0.5, 1.0))
    return weights.relevance * rel + weights.support * sup + weights.utility * use


def _mean(found: Chances, tokens: Sequence[str], values: Sequence[float]) -> float:
    masses = [found.get(token, 0.0) for token in tokens]
    total = sum(masses)
    return sum(m * v for m, v in zip(masses, values, strict=True)) / total if total > 0 else 0.0


def with_passage(passage: Retrieved) -> str:
    """Write a passage as the model was trained to read it, behind the token that asks for one."""
    head = f"{escape(passage.title)}\n" if passage.title else ""
    return f"{RETRIEVE}<paragraph>{head}{escape(passage.text)}</paragraph>"


def bare(text: str) -> str:
    """Return the answer in a reply, without reflection."""
    return read_answer(_REFLECTION.sub("\n", text))
