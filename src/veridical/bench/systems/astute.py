"""AstuteRAG (arXiv 2410.07176): consolidate what the model remembers with what was retrieved."""

from __future__ import annotations

from veridical.answer.context import escape
from veridical.bench.systems.answering import numbered, say
from veridical.bench.systems.base import TOP_K, About, Reply, Retrieved, Task, Tools, nearest
from veridical.bench.systems.replies import confidence, final_answer, is_unsure

MEMORY_TOKENS = 120
ANSWER_TOKENS = 220


class AstuteRAG:
    """Write a passage from memory, group it with the retrieved ones, answer by the best group (2 calls).

    The first call writes what the model knows, or says that it does not know. The second consolidates: it
    puts together what agrees, keeps apart what conflicts, drops what is beside the point, names the
    passages of each group, and answers by the group that is best supported, with a confidence. Differs from
    the paper in doing the last two steps in one prompt, as its public re-implementations do; in one round of
    consolidation; in its words; and in its room for them.

    Parameters
    ----------
    tools
        With a language model.
    top_k
        Retrieved passages in the prompt.
    max_tokens
        The most tokens of the second reply.
    """

    name = "astute"
    about = About(
        "AstuteRAG",
        "arXiv 2410.07176",
        differs="consolidation and answer in one prompt, one round, own words",
        calls="2",
        needs=frozenset({"llm"}),
    )

    def __init__(self, tools: Tools, *, top_k: int = TOP_K, max_tokens: int = ANSWER_TOKENS) -> None:
        self.tools, self.top_k, self.max_tokens = tools, top_k, max_tokens

    def answer(self, task: Task) -> Reply:
        """Answer from memory and passages; see `System.answer`."""
        question = escape(task.question).strip()
        known = say(
            self.tools,
            "bench_astute_memory",
            stage="memory",
            max_tokens=MEMORY_TOKENS,
            question=question,
        )
        shown = [task.pool[place] for place in nearest(task, self.top_k)]
        sources = ["source: retrieved"] * len(shown)
        if not is_unsure(known.text):
            shown.append(Retrieved(-1, known.text))
            sources.append("source: your memory")
        said = say(
            self.tools,
            "bench_astute_answer",
            stage="answer",
            max_tokens=self.max_tokens,
            passages=numbered(shown, sources) or "(none)",
            question=question,
        )
        return Reply(
            final_answer(said.text),
            tuple(range(len(task.pool))),
            confidence(said.text),
            known.usage + said.usage,
            detail={"memory": known.text, "consolidated": said.text},
        )
