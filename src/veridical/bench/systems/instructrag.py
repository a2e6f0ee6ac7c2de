"""InstructRAG (arXiv 2406.13629): say how the documents lead to the answer, then answer."""

from __future__ import annotations

from veridical.answer.context import escape
from veridical.bench.systems.answering import numbered, say
from veridical.bench.systems.base import TOP_K, About, Reply, Task, Tools, nearest
from veridical.bench.systems.replies import final_answer

MAX_TOKENS = 200


class InstructRAG:
    """Explain in a few sentences how the documents lead to the answer, with two examples before (one call).

    The published in-context variant: the documents are numbered with titles and reversed, so that the best
    one stands last, and the question begins in lower case and ends with a question mark. Differs in its
    words and in its examples, which are written by hand in place of the model's own rationales; in its room
    (200 tokens in place of 4,096); and in a last line ``Answer: ...``, so that the answer can be compared
    strictly. The whole rationale, which the paper looks for the answer in, is kept in ``detail``. The variant
    with trained weights is not here.

    Parameters
    ----------
    tools
        With a language model.
    top_k
        Documents in the prompt.
    max_tokens
        The most tokens to write.
    """

    name = "instructrag"
    about = About(
        "InstructRAG (ICL)",
        "arXiv 2406.13629",
        differs="own words and hand-written examples, 200 tokens, a last line that gives the answer alone",
        needs=frozenset({"llm"}),
    )

    def __init__(self, tools: Tools, *, top_k: int = TOP_K, max_tokens: int = MAX_TOKENS) -> None:
        self.tools, self.top_k, self.max_tokens = tools, top_k, max_tokens

    def answer(self, task: Task) -> Reply:
        """Answer by a rationale; see `System.answer`."""
        shown = [task.pool[place] for place in reversed(nearest(task, self.top_k))]
        said = say(
            self.tools,
            "bench_instructrag",
            stage="answer",
            max_tokens=self.max_tokens,
            documents=numbered(shown) or "(none)",
            question=escape(as_asked(task.question)),
        )
        ranking = tuple(range(len(task.pool)))
        return Reply(final_answer(said.text), ranking, usage=said.usage, detail={"rationale": said.text})


def as_asked(question: str) -> str:
    """Write a question as the published prompt has it: ``where is it?``."""
    text = question.strip()
    text = text if text.endswith("?") else text + "?"
    return text[0].lower() + text[1:]
