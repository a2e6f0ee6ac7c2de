"""Read scores from 0 to 10 out of what a language model wrote, each under its own id or not at all."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

_MAX_CHARS = 20_000  # of a reply; many times what is asked for
_MAX_TAIL = 200
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_VALUE = (
    r"(?P<number>-?\d{1,6}(?:[.,]\d{1,6})?)(?![\d.,]*\d)(?:\s*(?:/|out\s+of|of)\s*(?P<whole>\d{1,4})(?!\d)"
    r"|\s*(?P<percent>%))?|\b(?P<word>" + "|".join(_WORDS) + r")\b"
)
_SEPARATOR = r"(?:[\s:=*_|`]|[-–—](?=\s)|\(0\s*(?:-|–|to)\s*10\))*"
_LABELLED = re.compile(rf"score{_SEPARATOR}(?:(?:is|of){_SEPARATOR})?(?:{_VALUE})", re.I)
_LAST = re.compile(rf"(?:^|[|:=,\s])\s*(?:{_VALUE})[\s.*_`|]*$", re.I)
_ONLY = re.compile(rf"\s*(?:{_VALUE})\s*", re.I)
_LINE_END = re.compile(r"[\s.;,*_`|)\]}]*(?:\n|$)")
_QUOTED = re.compile(r'<[^<>\n]*>|‹[^‹›\n]*›|"[^"\n]*"|“[^“”\n]*”')
_ID = re.compile(r"^[^\w\n]{0,12}(T\d{1,4})\b", re.I | re.M)
_JSON = re.compile(r'^[ \t*`•-]*(?=(?:\[[\[ \t]*)?\{\s*")', re.M)
_BEFORE_OBJECT = re.compile(r"[\s,;\[]*(?=\{)")
_LIST_BEGINS = re.compile(r'\{\s*"\w*"\s*:\s*\[\s*(?=\{)')
_DECODER = json.JSONDecoder()


def read_score(text: str, *, cut: bool = False) -> float | None:
    """Read the one score of a reply.

    Parameters
    ----------
    text
        What a model wrote: ``Credibility Score: 8``, ``score: 7.5``, ``9/10``, ``8 out of 10``, ``80%``,
        ``ten``, or a JSON object with the key ``score`` that begins a line.
    cut
        The reply ends where the tokens did: its last line is not read, unless it is a whole JSON object.

    Returns
    -------
    float or None
        In [0, 1], a tenth of the score; what is below 0 or above 10 is clamped. ``None`` if there is no
        score, or there are several and none of them ends a line. What stands in quotation marks or angle
        brackets is not the model's own and not read.
    """
    text = text[:_MAX_CHARS]
    if _JSON.search(text):
        found = [row["score"] for row in _objects(text) if "score" in row]
        return _of_json(found[0]) if len(found) == 1 else None
    return _score(_without_last_line(text) if cut else text)


def read_scores(text: str, ids: Collection[str], *, cut: bool = False) -> dict[str, float]:
    """Read the scores of a reply that judges several things, each under an id such as ``T3``.

    Parameters
    ----------
    text, cut
        As of `read_score`: lines that begin with an id, in any order, or JSON objects with the keys ``id``
        and ``score``, alone or in a list, up to where the JSON breaks. Where there is JSON, no line is read.
    ids
        Those that were asked about. Where there is only one, the reply need not repeat it.

    Returns
    -------
    dict
        In [0, 1] by id. An id that is missing, has no score, or comes more than once is left out, whatever
        became of the others; ids that were not asked about are passed over. Nothing is given by position.
    """
    text = text[:_MAX_CHARS]
    if _JSON.search(text):
        pairs = list(_from_json(text))
    else:
        pairs = list(_from_lines(_without_last_line(text) if cut else text))
    if not pairs and len(ids) == 1:
        pairs = [(next(iter(ids)), read_score(text, cut=cut))]
    times = Counter(id_ for id_, _ in pairs)
    return {id_: value for id_, value in pairs if id_ in ids and times[id_] == 1 and value is not None}


def _from_lines(text: str) -> Iterator[tuple[str, float | None]]:
    marks = list(_ID.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):  # of no marks there is no end
        yield mark[1].upper(), _score(text[mark.end() : end])


def _from_json(text: str) -> Iterator[tuple[str, float | None]]:
    for row in _objects(text):
        if "id" in row:
            yield str(row["id"]).strip().upper(), _of_json(row.get("score"))
        elif row and all(_ID.fullmatch(str(key)) for key in row):
            yield from ((str(key).upper(), _of_json(value)) for key, value in row.items())


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Objects with a score, or with no object inside, as far as the JSON is whole.

    JSON begins a line: an object within one may be copied out of what is judged. For the same reason nothing
    is read after the place where JSON breaks, which may lie in a string.
    """
    start = _JSON.search(text)
    while start is not None:
        place = start.end()
        while gap := _BEFORE_OBJECT.match(text, place):
            place = gap.end()
            try:
                value, place = _DECODER.raw_decode(text, place)
            except (ValueError, RecursionError):
                head = _LIST_BEGINS.match(text, place)
                if head is None:
                    return
                place = head.end()
            else:
                yield from _rows(value)
        start = _JSON.search(text, place)


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, list):
            todo += value
        elif isinstance(value, dict):
            inner = [each for each in value.values() if isinstance(each, (dict, list))]
            if "score" in value:
                inner = []
            todo += inner
            if not inner:
                yield value


def _of_json(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        match = _ONLY.fullmatch(value)
        return _number(match) if match else None
    return _clamped(value / 10.0) if abs(value) < 1e300 else None


def _score(text: str) -> float | None:
    plain = _QUOTED.sub(" ", text)
    labelled = [(match.end(), _number(match)) for match in _LABELLED.finditer(plain)]
    last = [value for end, value in labelled if _LINE_END.match(plain, end)]
    if last:
        return last[-1]
    if labelled:
        values = {value for _, value in labelled}
        return values.pop() if len(values) == 1 else None
    match = _LAST.search(plain.rstrip()[-_MAX_TAIL:].rpartition("\n")[2])
    return _number(match, clamp=False) if match else None


def _number(match: re.Match[str], *, clamp: bool = True) -> float | None:
    """The value of a match in [0, 1]; without ``clamp`` a number out of range is no score."""
    if match["word"]:
        return _WORDS.index(match["word"].lower()) / 10.0
    number = float(match["number"].replace(",", "."))
    whole = 100.0 if match["percent"] else float(match["whole"] or 10)
    if not whole or (not clamp and not 0.0 <= number <= whole):
        return None
    return _clamped(number / whole)


def _clamped(value: float) -> float | None:
    return min(max(value, 0.0), 1.0) if value == value else None


def _without_last_line(text: str) -> str:
    return text.rstrip().rpartition("\n")[0]
