"""Ends a batch of calls early, when the model cannot be reached or nobody waits for it any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from veridical.errors import LLMError, UnreachableError

_MAX_UNREACHED = 3
_CURRENT: ContextVar[Halt | None] = ContextVar("veridical_llm_batch", default=None)


class Halt:
    """Ends a batch early: when the model cannot be reached, or as soon as somebody says so."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._n_unreached = 0
        self.reason: LLMError | None = None

    def stop(self, reason: LLMError) -> None:
        """Send nothing more, and wait for no other try."""
        with self._lock:
            self.reason = self.reason or reason
        self._stopped.set()

    @contextmanager
    def around(self) -> Iterator[None]:
        """Let the calls inside, and in copies of their context, belong to this batch."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def wait(self, seconds: float) -> bool:
        """Wait, at the longest until the batch is stopped; say whether it is."""
        return self._stopped.wait(seconds)

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


def current() -> Halt | None:
    """The batch that the present call belongs to, if it belongs to one."""
    return _CURRENT.get()


def pause(seconds: float) -> None:
    """Wait between two tries of a call.

    Raises
    ------
    LLMError
        The batch that the call belongs to is stopped.
    """
    batch = _CURRENT.get()
    if batch is None:
        time.sleep(seconds)
    elif batch.wait(seconds) and batch.reason is not None:
        raise batch.reason
