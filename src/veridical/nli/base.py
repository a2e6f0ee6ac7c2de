"""What every NLI backend does: say how two texts stand to one another, and which sentences decided it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from veridical.types import NLIResult


@runtime_checkable
class NLIModel(Protocol):
    """Natural language inference between passages.

    ``name`` identifies backend and weights; judgements are cached under it, so it must change whenever the
    same pair could be judged differently.
    """

    @property
    def name(self) -> str:
        """Backend and version, such as ``features-1``."""
        ...

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[NLIResult]:
        """Judge (premise, hypothesis) pairs.

        Parameters
        ----------
        pairs
            Texts of one or more sentences each. Direction matters.

        Returns
        -------
        list of NLIResult
            One for each pair, in order; probabilities are finite, in [0, 1] and sum to 1 within 1e-6.
            Spans, where given, satisfy ``text[start:end] == span.text``.
        """
        ...
