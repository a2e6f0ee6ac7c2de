"""Plain values, and what every record shares."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


def plain(value: Any) -> Any:
    """Turn a record, or anything that holds records, into plain JSON values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "item") and callable(value.item) and not isinstance(value, (str, bytes)):
        return value.item()  # NumPy scalars
    return value


class Record:
    """Base of all records: gives them ``to_dict()``."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values, nested records included."""
        result: dict[str, Any] = plain(self)
        return result


@dataclass(frozen=True, slots=True)
class Span(Record):
    """A stretch of text with its place: ``text == whole[start:end]`` in characters."""

    text: str
    start: int
    end: int
