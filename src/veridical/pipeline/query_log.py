"""The query log as users handle it: listed, switched, cleared, filled from a file, written as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, get_args

from veridical.corpus.readers.base import clean, clean_line
from veridical.errors import InputError
from veridical.pipeline import beliefs
from veridical.stores import Store, answers, questions
from veridical.stores.questions import LoggedQuestion, Origin

MAX_CHARS = 10_000
_MAX_FILE_BYTES = 200_000_000
_EXPECTED = 'Write one question a line, or JSON such as {"question": "Which port?"}; # begins a comment.'


class QueryLog:
    """The questions that were put to one knowledge base; relations are learned from them.

    Parameters
    ----------
    store
        Gives the store on demand.
    refresh
        Brings trust up to date after relations have gone.
    """

    def __init__(self, store: Callable[[], Store], refresh: Callable[[], None]) -> None:
        self._store = store
        self._refresh = refresh

    @property
    def is_on(self) -> bool:
        """Whether questions are logged."""
        with self._store().read() as connection:
            return questions.is_on(connection)

    def switch(self, *, on: bool) -> None:
        """Log questions from now on, or do not; what is in the log stays."""
        with self._store().write() as connection:
            questions.switch(connection, on=on)

    def every(self) -> list[LoggedQuestion]:
        """All logged questions, oldest first."""
        with self._store().read() as connection:
            return questions.every(connection)

    def add(self, path: str | Path | Sequence[str]) -> int:
        """Add the questions of a file, or those listed, all of them or none; return how many were new.

        Raises
        ------
        InputError
            The file cannot be read, or a line of it is no question; the message names the line.
        """
        if isinstance(path, (str, Path)):
            return self.merge(read_file(Path(path)))
        at = answers.now()
        return self.merge([_checked({"question": q}, f"question {i}", at) for i, q in enumerate(path, 1)])

    def merge(self, found: Sequence[LoggedQuestion]) -> int:
        """Add questions from elsewhere, whatever their ids; return how many were new."""
        with self._store().write() as connection:
            return questions.merge(connection, found)

    def clear(self) -> int:
        """Forget all questions and what was learned from them; return how many there were."""
        with self._store().write() as connection:
            n = questions.clear(connection)
            if n:
                beliefs.mark_behind(connection)
        self._refresh()
        self._store().forget_log()
        return n

    def export_lines(self) -> list[str]:
        """The log as JSON lines, which `add` reads."""
        return list(lines_of(self.every()))


def lines_of(logged: Iterable[LoggedQuestion]) -> Iterator[str]:
    """One JSON line a question."""
    for item in logged:
        fields = {"question": item.text, "origin": item.origin, "at": item.at, "n_asked": item.n_asked}
        yield json.dumps(fields, ensure_ascii=False)


def read_file(path: Path) -> list[LoggedQuestion]:
    """Read questions, one a line, as plain text or as JSON with a ``question``.

    Empty lines and those that begin with ``#`` are skipped.
    """
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise InputError(f"{path} has more than {_MAX_FILE_BYTES:,} bytes.", "Cut it into several files.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    found = parse_lines(text.split("\n"), where=str(path))
    if not found:
        raise InputError(f"{path} holds no question.", _EXPECTED)
    return found


def parse_lines(lines: Iterable[str], *, where: str) -> list[LoggedQuestion]:
    """Read the lines of a file of questions, or of an exported log.

    Raises
    ------
    InputError
        A line is no question.
    """
    at = answers.now()
    return [
        _parse(line, f"{where}, line {number}", at)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _parse(line: str, where: str, at: str) -> LoggedQuestion:
    start = line.lstrip()
    if start.startswith("["):
        raise InputError(f"{where}: a list is no question.", _EXPECTED)
    try:
        raw = json.loads(line) if start.startswith("{") else {"question": line}
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: this is not JSON ({error.msg}).", _EXPECTED) from error
    except RecursionError as error:
        raise InputError(f"{where}: this is nested too deeply.", _EXPECTED) from error
    return _checked(raw, where, at)


def _checked(raw: Any, where: str, at: str) -> LoggedQuestion:
    try:
        text = raw["question"]
        if not isinstance(text, str):
            raise TypeError("'question' is no text")
        text = clean(text).strip()
        if not any(c.isalnum() for c in text):
            raise ValueError("the question is empty")
        if len(text) > MAX_CHARS:
            raise ValueError(f"the question has more than {MAX_CHARS:,} characters")
        origin, n_asked, when = raw.get("origin", "file"), raw.get("n_asked", 0), raw.get("at", at)
        if origin not in get_args(Origin):
            raise ValueError(f"there is no origin {clean_line(str(origin))[:40]!r}")
        if not isinstance(n_asked, int) or isinstance(n_asked, bool) or not 0 <= n_asked < 2**53:
            raise ValueError("'n_asked' is no count")
        if not isinstance(when, str):
            raise TypeError("'at' is no text")
        return LoggedQuestion(0, text, origin, clean_line(when)[:40], n_asked)
    except KeyError:
        raise InputError(f"{where}: there is no 'question'.", _EXPECTED) from None
    except (ValueError, TypeError) as error:
        raise InputError(f"{where}: {error}.", _EXPECTED) from error
