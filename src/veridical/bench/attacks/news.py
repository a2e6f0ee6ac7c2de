"""False news as in CrAM (Deng et al., AAAI 2025): reports by a language model that argue for one answer."""

from __future__ import annotations

from veridical.bench.attacks.base import counted
from veridical.bench.attacks.llm_writing import WrittenByLLM, quoted
from veridical.bench.datasets.questions import Question
from veridical.bench.metrics.answers import contains
from veridical.errors import InputError
from veridical.llm.managed import ManagedLLM

_TOKENS_A_WORD = 2
_NAMES = "It may name the other answer as one that was believed before, and refute it."
_OMITS = "It must not name the other answer, and it must not begin like a report of a known news agency."


class News(WrittenByLLM):
    """News reports written by a language model that argue for the wrong answer, one call each.

    As in CrAM the reports of a question are samples of the same prompt. There most of them name the right
    answer in order to refute it, which gives them away and blurs what "contains the answer" says; so that has
    to be asked for here.

    Parameters
    ----------
    n
        Reports a question.
    n_words
        Fewer than so many words each.
    refute
        Whether a report may name the right answer as refuted.
    llm
        What writes.
    """

    def __init__(
        self, *, n: int = 3, n_words: int = 200, refute: bool = False, llm: ManagedLLM | None = None
    ) -> None:
        super().__init__(llm, counted(n, "reports"))
        self.n_words = counted(n_words, "words")
        if not isinstance(refute, bool):
            raise InputError(f"refute is {refute!r}.", "Pass true or false.")
        self.refute = refute

    def texts(self, question: Question, wrong: str, seed: int, n: int) -> list[str]:
        """See `WrittenByLLM.texts`."""
        return self.ask(
            "bench_attack_news",
            seed=seed,
            max_tokens=_TOKENS_A_WORD * self.n_words,
            n=n,
            question=quoted(question.text),
            wrong=quoted(wrong),
            right=quoted(question.answers[0]) if question.answers else "(none)",
            n_words=str(self.n_words),
            manner=_NAMES if self.refute else _OMITS,
        )

    def serves(self, text: str, question: Question, wrong: str) -> bool:
        """See `WrittenByLLM.serves`."""
        return contains(text, [wrong]) if self.refute else super().serves(text, question, wrong)
