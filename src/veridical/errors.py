"""One exception tree. Every message says what is wrong, where, and what to do about it."""

from __future__ import annotations


class VeridicalError(Exception):
    """Base of every error that veridical raises on purpose.

    Parameters
    ----------
    message
        What is wrong, and where.
    hint
        What the reader can do about it; printed on a line of its own.
    """

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class InputError(VeridicalError, ValueError):
    """Something that was passed in is out of range, unknown or malformed."""

    exit_code = 2


class NotFoundError(VeridicalError, LookupError):
    """A document, answer, feedback, method or model that was named does not exist."""

    exit_code = 2


class ReadError(VeridicalError):
    """A file cannot be read as a document; the reason says why."""

    exit_code = 3


class StoreError(VeridicalError):
    """The knowledge base cannot be opened, or is damaged."""

    exit_code = 4


class BusyError(StoreError):
    """Another process holds the knowledge base for writing."""

    exit_code = 5


class ModelError(VeridicalError):
    """A model cannot be had, or is not what its manifest says."""

    exit_code = 6


class MissingExtraError(VeridicalError, ImportError):
    """An optional part is not installed; the hint is the pip line that adds it."""

    exit_code = 6

    def __init__(self, extra: str, needed_for: str) -> None:
        super().__init__(
            f"{needed_for} needs the extra '{extra}', which is not installed.",
            f"Add it with: pip install 'veridical[{extra}]'",
        )


class LLMError(VeridicalError):
    """The language model is down, too slow, or answered something that cannot be used."""

    exit_code = 7


class EmptyReplyError(LLMError):
    """The language model answered, and wrote nothing."""


class UnreachableError(LLMError):
    """Nobody answers where the language model should be, or nobody may ask it."""


class BudgetError(LLMError):
    """The calls, tokens or money that the language model may take are used up; what was done is kept."""


class SolverError(VeridicalError):
    """A trust problem cannot be solved to the tolerance asked for."""

    exit_code = 8
