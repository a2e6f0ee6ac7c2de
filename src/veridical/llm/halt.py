"""Ends a batch of calls early when the model cannot be reached."""

from __future__ import annotations

import threading

from veridical.errors import LLMError, UnreachableError

_MAX_UNREACHED = 3


class Halt:
    """Ends a batch early when the model cannot be reached."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_unreached = 0
        self.reason: LLMError | None = None

    def stop(self, reason: LLMError) -> None:
        """Send nothing more."""
        with self._lock:
            self.reason = self.reason or reason

    def reached(self) -> None:
        """The model answered, well or badly."""
        with self._lock:
            self._n_unreached = 0

    def unreached(self, error: LLMError) -> None:
        """Count a call to which nobody answered."""
        with self._lock:
            self._n_unreached += 1
            if self._n_unreached >= _MAX_UNREACHED and self.reason is None:
                message = (
                    f"{error.message} After {self._n_unreached} such failures in a row no more was sent."
                )
                self.reason = UnreachableError(message, error.hint)
