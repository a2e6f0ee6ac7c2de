"""The command line: it reads arguments and prints; everything it shows is computed elsewhere."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of the command ``veridical``."""
    try:
        from veridical.cli.app import run

        run()
    except KeyboardInterrupt:  # while modules are loaded, or while another interrupt is being answered
        sys.exit(130)
