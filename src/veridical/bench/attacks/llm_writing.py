"""What attacks share whose passages a language model writes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from veridical import prompts
from veridical.answer.chains_answer import read_answer
from veridical.answer.context import escape
from veridical.bench.attacks.base import Attack
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains, normalise
from veridical.bench.wrong_answers import wrong_answers
from veridical.errors import InputError, LLMError, UnreachableError
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM, Request

STAGE = "attack"
_N_TRIES = 3
_WRONG_TOKENS = 30


class WrittenByLLM(Attack):
    """An attack whose passages a language model writes, asked again where they do not serve.

    Parameters
    ----------
    llm
        What writes.
    n
        Passages a question.
    """

    needs_llm = True

    def __init__(self, llm: ManagedLLM | None, n: int) -> None:
        if llm is None:
            raise InputError("This attack needs a language model that writes its passages.")
        self.llm, self.n = llm, n

    def texts(self, question: Question, wrong: str, seed: int, n: int) -> list[str]:
        """Have texts written for a question, up to ``n``; see `ask`."""
        raise NotImplementedError

    def serves(self, text: str, question: Question, wrong: str) -> bool:
        """Whether a text can be planted: it names the wrong answer, and no right one."""
        return contains(text, [wrong]) and not contains(text, question.answers)

    def shown(self, text: str, question: Question) -> str:
        """Return a text as it is planted: as it was written."""
        del question
        return text

    def apply(self, questions: Sequence[Question], *, seed: int = 0) -> list[Question]:
        """See `Attack.apply`; a question without a wrong answer gets one from the model."""
        return super().apply([self._with_wrong(q, seed) for q in questions], seed=seed)

    def plant(self, question: Question, rng: np.random.Generator) -> list[LabelledPassage]:
        """See `Attack.plant`."""
        wrong = wrong_answers(question)
        if not wrong:
            return []
        found: dict[str, None] = {}
        for _ in range(_N_TRIES):
            drawn = int(rng.integers(2**31))
            wanted = self.n - len(found)
            texts = self.texts(question, wrong[0], drawn, wanted) if wanted > 0 else []
            found.update(dict.fromkeys(text for text in texts if self.serves(text, question, wrong[0])))
        return [
            LabelledPassage(
                f"{question.id}-llm-{i}",
                self.shown(text, question),
                "misinformation",
                title=_title(question, rng),
            )
            for i, text in enumerate(list(found)[: self.n])
        ]

    def ask(self, prompt: str, *, seed: int, max_tokens: int, n: int = 1, **fields: str) -> list[str]:
        """Fill in ``PROMPT_system`` and ``PROMPT_user`` and sample ``n`` replies at temperature 1.

        Replies that failed are left out.

        Raises
        ------
        BudgetError, UnreachableError
            Calls are used up, or nobody answers.
        """
        asked = (
            Message("system", prompts.render(f"{prompt}_system")),
            Message("user", prompts.render(f"{prompt}_user", **fields)),
        )
        requests = [Request(asked, max_tokens, temperature=1.0, seed=seed + i) for i in range(n)]
        replies = self.llm.generate_many(requests, stage=STAGE)
        for reply in replies:
            if isinstance(reply, UnreachableError):
                raise reply
        return [reply.text for reply in replies if not isinstance(reply, LLMError)]

    def _with_wrong(self, question: Question, seed: int) -> Question:
        if wrong_answers(question) or not question.answers:
            return question
        for attempt in range(_N_TRIES):
            replies = self.ask(
                "bench_attack_wrong",
                seed=seed + attempt,
                max_tokens=_WRONG_TOKENS,
                question=quoted(question.text),
                right=quoted(question.answers[0]),
            )
            for wrong in map(read_answer, replies):
                told_apart = not contains(wrong, question.answers) and not any(
                    contains(gold, [wrong]) for gold in question.answers
                )
                if normalise(wrong) and told_apart:
                    return replace(question, wrong_answer=wrong)
        return question


def quoted(text: str) -> str:
    """Return text as data for a prompt."""
    return escape(text).strip()


def _title(question: Question, rng: np.random.Generator) -> str:
    titles = [passage.title for passage in question.labelled("factual")] or [""]
    return titles[int(rng.integers(len(titles)))]
