"""What every data set does: read its published file, and say how that file is called.

What retrieval or annotators of a data set gave a question is labelled ``factual``, unless the data set says
otherwise: nobody has checked each passage. Labels, gold answers and ``supporting`` are for evaluation only.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from veridical.bench.datasets.questions import Question


class DataSet:
    """One published data set, or a format that several share. Its constructor takes nothing.

    Attributes
    ----------
    name
        Its keyword in the registry.
    files
        What its file is called as published, likeliest first; looked for in the folder of its name.
    """

    name: ClassVar[str] = ""
    files: ClassVar[tuple[str, ...]] = ()

    def load(self, path: Path) -> list[Question]:
        """Read all questions that have an answer, in the file's order.

        Raises
        ------
        NotFoundError
            There is no such file.
        InputError
            The file is not in the published format; the message has the file and the line.
        """
        raise NotImplementedError

    def found_in(self, folder: Path) -> Path | None:
        """Return the data set's file in a folder, compressed by gzip or not; ``None`` if it is not there."""
        for name in self.files:
            for path in (folder / name, folder / f"{name}.gz"):
                if path.exists():
                    return path
        return None
