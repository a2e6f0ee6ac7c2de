"""Reading TOML tables with errors that name the file, the key, and what would do."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from veridical.errors import InputError, NotFoundError


def load(path: Path) -> Fields:
    """Read a TOML file.

    Raises
    ------
    NotFoundError
        There is no such file.
    InputError
        It cannot be read, or is no TOML; the message says where.
    """
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {path}.", "Give the path of a TOML file.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    return parse(text, str(path))


def parse(text: str, where: str) -> Fields:
    """Read TOML; ``where`` names it in errors. Raises `InputError` if it is none."""
    try:
        return Fields(tomllib.loads(text), where)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where} is not TOML: {error}.") from error


class Fields:
    """One table, of which each key is asked for once, and `done` refuses what nobody asked for.

    Parameters
    ----------
    table
        As ``tomllib`` gives it.
    where
        The file, and the keys that lead to the table.
    """

    def __init__(self, table: Mapping[str, Any], where: str) -> None:
        self.table, self.where = table, where
        self._known: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self.table

    def wrong(self, key: str, wanted: str) -> InputError:
        """An error about one key."""
        return InputError(f"{self.where}: {key} is {self.table.get(key)!r}.", f"It takes {wanted}.")

    def text(self, key: str, default: str | None = None, *, allowed: Sequence[str] = ()) -> str:
        """A text, one of those allowed where there are any."""
        wanted = "one of: " + ", ".join(allowed) if allowed else "a text"
        value = self._get(key, default, wanted)
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise self.wrong(key, wanted)
        return value

    def number(self, key: str, default: float | None = None, *, low: float = 0.0, high: float = 1.0) -> float:
        """A number in a range."""
        return self._number(key, self._get(key, default, f"a number from {low:g} to {high:g}"), low, high)

    def numbers(
        self, key: str, default: Sequence[float] | None = None, *, low: float = 0.0, high: float = 1.0
    ) -> tuple[float, ...]:
        """Numbers in a range, each once."""
        wanted = f"a list of numbers from {low:g} to {high:g}, each once"
        values = self._list(key, default, wanted)
        numbers = tuple(self._number(key, value, low, high) for value in values)
        if len(set(numbers)) != len(numbers):
            raise self.wrong(key, wanted)
        return numbers

    def whole(self, key: str, default: int | None = None, *, low: int = 0, high: int = 10**9) -> int:
        """A whole number in a range."""
        wanted = f"a whole number from {low} to {high}"
        return self._whole(key, self._get(key, default, wanted), low, high)

    def wholes(
        self, key: str, default: Sequence[int] | None = None, *, low: int = 0, high: int = 10**9
    ) -> tuple[int, ...]:
        """Whole numbers in a range, each once, at least one."""
        wanted = f"a list of whole numbers from {low} to {high}, each once"
        values = self._list(key, default, wanted)
        numbers = tuple(self._whole(key, value, low, high) for value in values)
        if not numbers or len(set(numbers)) != len(numbers):
            raise self.wrong(key, wanted)
        return numbers

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._get(key, default, "true or false")
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def texts(
        self, key: str, default: Sequence[str] | None = None, *, allowed: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Texts, each once; those allowed where there are any."""
        wanted = "a list, each once, of: " + ", ".join(allowed) if allowed else "a list of texts, each once"
        values = self._list(key, default, wanted)
        fit = all(isinstance(value, str) and (not allowed or value in allowed) for value in values)
        if not fit or len(set(values)) != len(values):
            raise self.wrong(key, wanted)
        return tuple(values)

    def items(self, key: str, wanted: str) -> list[Fields]:
        """A list of tables; a text in it stands for a table with that ``name``."""
        found = []
        for place, value in enumerate(self._list(key, None, wanted), start=1):
            table = {"name": value} if isinstance(value, str) else value
            if not isinstance(table, Mapping):
                raise self.wrong(key, wanted)
            found.append(Fields(table, f"{self.where}: {key}, number {place}"))
        return found

    def table_of(self, key: str) -> Fields:
        """A table; empty where there is none."""
        value = self._get(key, {}, "a table")
        if not isinstance(value, Mapping):
            raise self.wrong(key, "a table")
        return Fields(value, f"{self.where}: [{key}]")

    def values(self, key: str) -> dict[str, Any]:
        """A table whose keys are anything; empty where there is none."""
        return dict(self.table_of(key).table)

    def done(self) -> None:
        """Refuse keys that nobody asked for."""
        unknown = sorted(set(self.table) - self._known)
        if unknown:
            raise InputError(
                f"{self.where}: {unknown[0]} is no key here.", "There are: " + ", ".join(sorted(self._known))
            )

    def _get(self, key: str, default: Any, wanted: str) -> Any:
        self._known.add(key)
        if key not in self.table and default is None:
            raise InputError(f"{self.where}: {key} is missing.", f"It takes {wanted}.")
        return self.table.get(key, default)

    def _list(self, key: str, default: Any, wanted: str) -> list[Any]:
        value = self._get(key, default, wanted)
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self.wrong(key, wanted)
        return list(value)

    def _number(self, key: str, value: Any, low: float, high: float) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise self.wrong(key, f"numbers from {low:g} to {high:g}")
        return float(value)

    def _whole(self, key: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(key, f"whole numbers from {low} to {high}")
        return value
