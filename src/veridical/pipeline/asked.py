"""What is asked, and what there is to answer with; both are checked before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from veridical.corpus.fields import iso_date
from veridical.corpus.readers.base import clean
from veridical.errors import InputError
from veridical.llm.base import LLM
from veridical.llm.managed import ManagedLLM, manage
from veridical.pipeline.boarding import N_READ
from veridical.pipeline.models import Models
from veridical.pipeline.reasoning import Reasoner
from veridical.pipeline.retrieval import POOL, RetrieverName
from veridical.reading.base import Reader

Generator = Literal["auto", "reader", "llm", "extractive"]
GENERATORS: tuple[Generator, ...] = get_args(Generator)
_MAX_QUESTION_CHARS = 10_000


@dataclass(frozen=True)
class Question:
    """A question with how it is to be answered; checked when it is made.

    Raises
    ------
    InputError
        The text is empty or too long, or a number is out of range.
    """

    text: str
    top_k: int = 5
    trust_weight: float | None = None
    use_trust: bool = True
    retriever: RetrieverName = "hybrid"
    as_of: str | None = None
    n_read: int = N_READ
    always_answer: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", clean(self.text))
        if not self.text.strip():
            raise InputError("The question is empty.", 'Ask something, as in: veridical ask "Which port?"')
        if len(self.text) > _MAX_QUESTION_CHARS:
            raise InputError(
                f"The question has {len(self.text):,} characters; the limit is {_MAX_QUESTION_CHARS:,}."
            )
        if not isinstance(self.top_k, int) or not 1 <= self.top_k <= POOL:
            raise InputError(f"top_k must be a whole number from 1 to {POOL}, not {self.top_k!r}.")
        if not isinstance(self.n_read, int) or not 1 <= self.n_read <= POOL:
            raise InputError(f"n_read must be a whole number from 1 to {POOL}, not {self.n_read!r}.")
        if self.trust_weight is not None and not 0.0 <= self.trust_weight <= 1.0:
            raise InputError(f"The trust weight must lie between 0 and 1; {self.trust_weight:g} does not.")
        if self.as_of is not None:
            date = iso_date(self.as_of)
            if date is None:
                raise InputError(f"{self.as_of!r} is no date.", "Write it as YYYY-MM-DD.")
            object.__setattr__(self, "as_of", date)


@dataclass(frozen=True)
class Means:
    """What there is to answer with.

    Attributes
    ----------
    generator
        What was asked for.
    llm
        The language model, where one may answer. Under ``auto`` the small embedded one never does.
    reader
        Makes the reader; ``None`` where passages are not to be read.
    reasoner
        Finds chains to answer from; ``None`` where the passages themselves are answered from.
    """

    generator: Generator = "auto"
    llm: ManagedLLM | None = None
    reader: Callable[[], Reader] | None = None
    reasoner: Reasoner | None = None

    @classmethod
    def of(
        cls, generator: str, *, own: LLM | None, models: Models, reader: Callable[[], Reader] | None
    ) -> Means:
        """Choose among what there is: the language model given, else the one that the settings name.

        Raises
        ------
        InputError
            There is no such generator, or what it needs is not there.
        """
        chosen = next((name for name in GENERATORS if name == generator), None)
        if chosen is None:
            raise InputError(f"{generator!r} is no generator.", "There are: " + ", ".join(GENERATORS))
        if chosen == "reader" and reader is None:
            raise InputError(
                "Generator 'reader' answers from passages that were read, and nothing is to be read.",
                "Leave out --no-read (read=False) and method trustprop, or use another generator.",
            )
        server = models.settings.llm_base_url or models.settings.llm_model
        asked = chosen == "llm" or (chosen == "auto" and (own is not None or server))
        found = (own or models.llm()) if asked else None
        llm = None if found is None else manage(found)
        if llm is None and chosen == "llm":
            raise InputError(
                "No language model is configured.",
                "Set VERIDICAL_LLM_BASE_URL and VERIDICAL_LLM_MODEL, or: pip install 'veridical[local]'",
            )
        return cls(chosen, llm, reader)
