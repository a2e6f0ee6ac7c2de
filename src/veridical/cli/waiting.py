"""A sign of life for work that cannot say how far it is."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from veridical.cli.output import err

AFTER_S = 2.0


@contextmanager
def waiting(text: str, *, after_s: float = AFTER_S) -> Iterator[None]:
    """Show a spinner on stderr once the block takes long; nothing where stderr is no terminal."""
    if not err.is_terminal:
        yield
        return
    status = err.status(text)
    timer = threading.Timer(after_s, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
