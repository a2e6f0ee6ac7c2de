"""Where a document comes from and of when it is: the rules for ``source`` and ``date``.

A ``source`` is taken from what the owner of the corpus says: a field of a JSONL record, the domain of a
record's URL, or the folder that a file lies in. It is never taken from the text of a document, its front
matter or its HTML head: whoever writes a document could otherwise file it under a publisher that is believed.
A date from a document's head is taken, since a date is believed only as far as its document is.
"""

from __future__ import annotations

import contextlib
import ipaddress
import re
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

MAX_SOURCE_CHARS = 200
MAX_URL_CHARS = 2000
_FIRST_YEAR, _LAST_YEAR = 1000, 2200
_WEB_SCHEMES = {"http", "https", "ftp", "ftps"}
_URL = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]*)?://")
_MONTH_NAMES = [
    ["jan", "january"],
    ["feb", "february"],
    ["mar", "march"],
    ["apr", "april"],
    ["may"],
    ["jun", "june"],
    ["jul", "july"],
    ["aug", "august"],
    ["sep", "sept", "september"],
    ["oct", "october"],
    ["nov", "november"],
    ["dec", "december"],
]
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names}
_BARE_HOST = re.compile(r"([^\s/:@?#]+)(?:[:/?#]|\Z)")
_PART = re.compile(r"(\d{4})(?:-(\d{2}))?")
_YMD = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})\b")
_DOTTED = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")
_SLASHED = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})")
_DAY_MONTH = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([a-z]+)\.?,?\s+(\d{4})")
_MONTH_DAY = re.compile(r"([a-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")


def registered_domain(url: str) -> str | None:
    """Return the domain that somebody registered for the host of ``url``.

    Parameters
    ----------
    url
        An absolute web address, or one without its scheme (``www.example.com/page``). It is never opened.

    Returns
    -------
    str or None
        ``example.co.uk`` for ``https://news.example.co.uk:8080/x``, by the bundled Public Suffix List (hosts
        under a shared domain such as ``github.io`` are sources of their own). An IP address or a name
        without dots stands for itself. International names are given in their ASCII form. None where
        there is no host, and for more than ``MAX_URL_CHARS`` characters.
    """
    return _registered_domain(url) if len(url) <= MAX_URL_CHARS else None


@lru_cache(maxsize=10_000)
def _registered_domain(url: str) -> str | None:
    host = _host(url)
    if not host:
        return None
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        pass
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode("ascii")
    if not re.fullmatch(r"[\w.-]+", host) or ".." in host:
        return None
    registered: str | None = _suffixes().privatesuffix(host)
    return (registered or host).removeprefix("www.")


def _host(url: str) -> str | None:
    url = url.strip()
    if "://" not in url and not url.startswith("//"):
        match = _BARE_HOST.match(url)
        if not match or "." not in match[1][1:-1]:
            return None
        url = f"//{url}"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    if parts.scheme and parts.scheme.lower() not in _WEB_SCHEMES:
        return None
    return host.strip(".").lower() if host else None


@lru_cache(maxsize=1)
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList()


def source_of(given: object = None, url: str | None = None, folder: str | None = None) -> str | None:
    """Return the source of a document: the first of these that says something.

    Parameters
    ----------
    given
        What the record says; if that is a URL, its registered domain.
    url
        The record's URL: its registered domain.
    folder
        The top folder that the file lies in.
    """
    if isinstance(given, (str, int)) and not isinstance(given, bool):
        name = " ".join(str(given).split())[:MAX_SOURCE_CHARS]
        if name:
            return (registered_domain(name) if _URL.match(name) else None) or name
    if url and (domain := registered_domain(url)):
        return domain
    return folder or None


def iso_date(value: object) -> str | None:
    """Read a date, keeping the precision that it was given with.

    Parameters
    ----------
    value
        ISO 8601 first (the date as written, whatever the time zone), then common English forms, RFC 2822, and
        numbers: a year, or seconds or milliseconds since 1970.

    Returns
    -------
    str or None
        ``YYYY-MM-DD``, ``YYYY-MM`` or ``YYYY``; None for what is not one certain date: a relative one
        ("6 hours ago"), one without its year, one that could be two dates (``03/05/2024``), or a year
        outside 1000 to 2200. It is never guessed, and never today.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return _from_number(value)
    if not isinstance(value, str):
        return None
    text = " ".join(value.split())
    if not text or len(text) > 80:
        return None
    return _iso(text) or _by_pattern(text.lower()) or _rfc2822(text) or _by_dateparser(text)


def _from_number(value: float) -> str | None:
    if _FIRST_YEAR <= value <= _LAST_YEAR and value == int(value):
        return f"{int(value):04d}"
    seconds = value / 1000 if value >= 1e11 else value
    if 1e8 <= seconds <= 7e9:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return None


def _iso(text: str) -> str | None:
    if match := _PART.fullmatch(text):
        year, month = match.groups()
        return _checked(year, month) if month else _checked(year)
    try:
        return _in_range(datetime.fromisoformat(text).date())
    except ValueError:
        pass
    match = _YMD.match(text)
    return _checked(match[1], match[3], match[4]) if match else None


def _by_pattern(text: str) -> str | None:
    if match := _DOTTED.fullmatch(text):
        return _checked(match[3], match[2], match[1])
    if match := _SLASHED.fullmatch(text):
        first, second, year = match[1], match[3], match[4]
        as_day_first, as_month_first = _checked(year, second, first), _checked(year, first, second)
        certain = first == second or not (as_day_first and as_month_first)
        return (as_day_first or as_month_first) if certain else None
    if (match := _DAY_MONTH.fullmatch(text)) and match[2] in _MONTHS:
        return _checked(match[3], _MONTHS[match[2]], match[1])
    if (match := _MONTH_DAY.fullmatch(text)) and match[1] in _MONTHS:
        return _checked(match[3], _MONTHS[match[1]], match[2])
    return None


def _rfc2822(text: str) -> str | None:
    try:
        return _in_range(parsedate_to_datetime(text).date())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _by_dateparser(text: str) -> str | None:
    # Slow to import, hence last; a date without its year in full is not one certain date.
    if not re.search(r"(?<!\d)\d{4}(?!\d)", text) or _SLASHED.search(text):
        return None
    import dateparser

    settings = {
        "STRICT_PARSING": True,
        "PARSERS": ["absolute-time"],
        "REQUIRE_PARTS": ["day", "month", "year"],
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    try:
        found = dateparser.parse(text, languages=["en"], settings=settings)
    except (ValueError, OverflowError, RecursionError):
        return None
    return _in_range(found.date()) if found and f"{found.year:04d}" in text else None


def _checked(year: str | int, month: str | int | None = None, day: str | int | None = None) -> str | None:
    """Return the parts as a date of their own precision, if there is such a date."""
    try:
        whole = date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    length = 10 if day else 7 if month else 4
    text = _in_range(whole)
    return text[:length] if text else None


def _in_range(value: date) -> str | None:
    return value.isoformat() if _FIRST_YEAR <= value.year <= _LAST_YEAR else None
