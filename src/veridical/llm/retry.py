"""How long to wait before asking a server again, and when to stop asking."""

from __future__ import annotations

import email.utils
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

from veridical.errors import InputError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with jitter, bounded in tries and in total time.

    Attributes
    ----------
    max_retries
        Tries after the first, 0 or more.
    first_wait_s, max_wait_s
        The wait before the first retry, doubled for each further one up to the maximum.
    total_s
        No try begins, and no wait ends, later than this after the beginning.
    """

    max_retries: int = 3
    first_wait_s: float = 0.5
    max_wait_s: float = 8.0
    total_s: float = 120.0

    def __post_init__(self) -> None:
        """Refuse values that would retry for ever, or never start."""
        if self.max_retries < 0:
            raise InputError(f"max_retries is {self.max_retries}.", "Pass 0 or more.")
        for name in ("first_wait_s", "max_wait_s", "total_s"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} is {value}.", "Pass a finite number of seconds, 0 or more.")

    def wait_s(self, n_failed: int, jitter: float, retry_after_s: float | None = None) -> float:
        """Seconds to wait after the ``n_failed``-th failure (from 1).

        What the server asks for in ``Retry-After`` is the least that is waited. ``jitter`` in [0, 1] takes
        up to half of our own wait away, so that many clients do not come back all at once.
        """
        own = min(self.first_wait_s * 2.0 ** min(n_failed - 1, 60), self.max_wait_s)
        return max(own * (1.0 - 0.5 * jitter), retry_after_s or 0.0)


def retry_after_s(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Read ``Retry-After`` (seconds or a date) or ``Retry-After-Ms``; ``None`` if there is none to obey.

    Parameters
    ----------
    headers
        Response headers, looked up by lower-case name.
    now
        Unix time to count a date from; the clock's by default.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        raw = headers.get(name)
        if raw is None:
            continue
        try:
            seconds = float(raw) * unit
        except ValueError:
            if unit != 1.0:
                continue
            try:
                at = email.utils.parsedate_to_datetime(raw).timestamp()
            except (ValueError, TypeError, OverflowError):
                continue
            seconds = at - (time.time() if now is None else now)
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    return None
