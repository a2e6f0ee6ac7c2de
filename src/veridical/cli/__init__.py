"""The command line: it reads arguments and prints; everything it shows is computed elsewhere."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of the command ``veridical``."""
    from veridical.cli.app import run

    run()
