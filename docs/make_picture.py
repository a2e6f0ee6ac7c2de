"""Write a picture of what a command really prints: ``python docs/make_picture.py OUT.svg COMMAND...``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 118


def main() -> None:
    """Run the command with colours on and save its output as SVG."""
    target, command = Path(sys.argv[1]), sys.argv[2:]
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=True)
    with Path(os.devnull).open("w") as nowhere:
        console = Console(
            record=True, width=WIDTH, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        shown = " ".join(
            f'"{word}"' if " " in word else word for word in [Path(command[0]).name, *command[1:]]
        )
        console.print(Text(f"$ {shown}", style="bold"))
        console.print(Text.from_ansi(done.stdout.rstrip("\n")))
        picture = console.export_svg(title="veridical")
        # The picture stands alone: no fonts from elsewhere, no advertisement.
        picture = re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->", "", picture, flags=re.DOTALL)
        target.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
