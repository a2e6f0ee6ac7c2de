"""PoisonedRAG (Zou et al., USENIX Security 2025), black box: short texts by a language model."""

from __future__ import annotations

import json
import re

from veridical.bench.attacks.base import counted
from veridical.bench.attacks.llm_writing import WrittenByLLM, quoted
from veridical.bench.datasets.questions import Question
from veridical.llm.managed import ManagedLLM

_SCHEMA = {
    "type": "object",
    "properties": {"texts": {"type": "array", "items": {"type": "string"}}},
    "required": ["texts"],
}
_NUMBER = re.compile(r"^\s*(?:[-*]|\d+[.):])\s*")
_TOKENS_A_WORD = 2


class PoisonedRAG(WrittenByLLM):
    """Short texts written by a language model, one call a question, each after the question itself.

    The question in front is what makes a text be retrieved; the text is what makes a reader conclude the
    wrong answer. As in the paper, unless a text misses the wrong answer or names a right one: then the model
    is asked again, up to three times in all. Whether a reader falls for it is not tried beforehand.

    Parameters
    ----------
    n
        Passages a question.
    n_words
        About how long each is.
    llm
        What writes.
    """

    def __init__(self, *, n: int = 5, n_words: int = 30, llm: ManagedLLM | None = None) -> None:
        super().__init__(llm, counted(n, "texts"))
        self.n_words = counted(n_words, "words")

    def texts(self, question: Question, wrong: str, seed: int, n: int) -> list[str]:
        """See `WrittenByLLM.texts`."""
        replies = self.ask(
            "bench_attack_texts",
            seed=seed,
            max_tokens=100 + _TOKENS_A_WORD * n * self.n_words,
            question=quoted(question.text),
            wrong=quoted(wrong),
            n_texts=str(n),
            n_words=str(self.n_words),
        )
        return [text for reply in replies for text in read_texts(reply)]

    def shown(self, text: str, question: Question) -> str:
        """See `WrittenByLLM.shown`."""
        head = question.text.strip().rstrip(".")
        return f"{head} {text}" if head.endswith("?") else f"{head}. {text}"


def read_texts(reply: str) -> list[str]:
    """Read the texts of a reply: of its JSON, or else its lines without numbers."""
    begin, end = reply.find("{"), reply.rfind("}")
    try:
        found = json.loads(reply[begin : end + 1])["texts"]
        texts = [text for text in found if isinstance(text, str)]
    except (ValueError, KeyError, TypeError):
        texts = [_NUMBER.sub("", line) for line in reply.splitlines()]
    return [text.strip() for text in texts if text.strip()]
