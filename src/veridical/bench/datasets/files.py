"""Records of JSON files with their places, and errors that name the file and the line."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from veridical.bench.datasets.questions import Question
from veridical.errors import InputError, NotFoundError

Placed = Iterable[tuple[str, Any]]
"""Records, each with where it stands ("line 3")."""

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")
_WRONG = (ValueError, KeyError, TypeError, AttributeError, IndexError)


def questions(
    path: Path, records: Placed, read: Callable[[Any, str], Question | None], what: str
) -> list[Question]:
    """Turn records into questions; ``read`` gets a record and its place, and gives ``None`` to leave it out.

    Raises
    ------
    InputError
        A record does not fit; the message has the file, the place and what is wrong. Or none was read.
    """
    found, n_records = [], 0
    for place, record in records:
        n_records += 1
        try:
            if not isinstance(record, dict):
                raise TypeError(f"it is {type(record).__name__}, not an object")
            question = read(record, place)
        except _WRONG as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise InputError(
                f"{path}, {place}: not a question of {what} ({missing}).",
                f"Give the file as {what} publishes it.",
            ) from error
        if question is not None:
            found.append(question)
    if not found:
        raise InputError(
            f"{path}: of {n_records} questions none has an answer.",
            "Give a part of the data set that has answers.",
        )
    return found


def lines(path: Path) -> Iterator[tuple[str, Any]]:
    """Read a file of one JSON object a line, gzipped or not. Raises as `whole`."""
    number = 0
    try:
        with _open(path) as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield f"line {number}", json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise InputError(f"{path}, line {number}: not JSON ({_said(error)}).") from error
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise _unreadable(path, error, number) from error


def whole(path: Path) -> str:
    """Read a text file, gzipped or not.

    Raises
    ------
    NotFoundError
        There is no such file.
    InputError
        It cannot be read as text.
    """
    try:
        with _open(path) as file:
            found: str = file.read()
            return found
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise _unreadable(path, error) from error


def head(path: Path, n: int = 1 << 16) -> str:
    """Return the beginning of a text file, ``n`` characters. Raises as `whole`."""
    try:
        with _open(path) as file:
            found: str = file.read(n)
            return found
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise _unreadable(path, error) from error


def elements(path: Path, key: str = "") -> Iterator[tuple[str, Any]]:
    """Read the elements of a file that is one JSON array, or an object that holds one under a key.

    Elements are read one by one, so that each has its line. Raises as `whole`.
    """
    text = whole(path)
    at, what = 0, "a JSON array"
    if key:
        named = re.search(rf'"{re.escape(key)}"\s*:', text)
        at, what = (named.end() if named else len(text)), f"an object with an array under {key!r}"
    at = _skip(text, at)
    if text[at : at + 1] != "[":
        raise InputError(f"{path}, line {_line(text, at)}: not {what}.")
    line, counted, n = _line(text, at), at, 0
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        line, counted = line + text.count("\n", counted, at), at
        try:
            record, end = _DECODER.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError) as error:
            place = error.lineno if isinstance(error, json.JSONDecodeError) else line
            raise InputError(f"{path}, line {place}: not JSON ({_said(error)}).") from error
        yield f"line {line}, record {n}", record
        n += 1
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise InputError(f"{path}, line {_line(text, at)}: not JSON (',' or ']' is missing).")


def text(record: Mapping[str, Any], key: str) -> str:
    """Return a field that has to be a text with something in it. Raises `KeyError` or `ValueError`."""
    value = record[key]
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key} is {str(value)[:40]!r}, not a text")
    return value.strip()


def texts(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a field that has to be a list of texts, each once. Raises `KeyError` or `ValueError`."""
    values = record[key]
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{key} is not a list of texts")
    return tuple(dict.fromkeys(value.strip() for value in values if value.strip()))


def _open(path: Path) -> Any:
    if not path.is_file():
        raise NotFoundError(
            f"There is no file {path}.", "'veridical bench fetch' brings published data sets."
        )
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig")
    return path.open(encoding="utf-8-sig")


def _unreadable(path: Path, error: Exception, after: int | None = None) -> InputError:
    place = "" if after is None else f", line {after + 1}"
    return InputError(f"{path}{place}: cannot be read ({error}).", "Fetch the file again.")


def _said(error: Exception) -> str:
    return error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
