"""Markdown, turned into readable text: what a reader of the rendered page would see.

A heading is a line of its own, a table row becomes ``a | b``, code is kept; link targets, images, comments
and tags are dropped. Front matter (lines of ``key: value`` between ``---``) may give title and date, and
nothing else: see ``veridical.corpus.fields``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from veridical.corpus.fields import iso_date
from veridical.corpus.readers.base import Parsed, clean, clean_line, decode

if TYPE_CHECKING:
    from markdown_it.token import Token

_MAX_PARSED_CHARS = 5_000_000
_MAX_NESTING = 100
_MAX_BRACKET_DEPTHS = 500_000
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\n")
_FRONT_MATTER = re.compile(r"\s*---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*$\n?", re.S | re.M)
_ENTRY = re.compile(r"([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)")
_DATE_KEYS = (
    "updated",
    "last_updated",
    "lastmod",
    "last_modified",
    "modified",
    "date",
    "published",
    "created",
)


def parse(data: bytes) -> Parsed:
    """Read Markdown in UTF-8 or with a byte order mark; raises ``ReadError`` on anything else.

    What would take too long to render is kept as it is written: more than 5 million characters, or a maze of
    brackets.
    """
    text = clean(decode(data))
    front, body = split_front_matter(text)
    title = clean_line(front.get("title", ""))
    date = next((d for key in _DATE_KEYS if (d := iso_date(front.get(key)))), None)
    if len(body) > _MAX_PARSED_CHARS or _is_bracket_maze(body):
        return Parsed(body, title, date)
    blocks = list(_blocks(body))
    if not title:
        title = next((clean_line(text) for kind, text in blocks if kind == "heading"), "")
    return Parsed(_join(blocks), title, date)


def _is_bracket_maze(body: str) -> bool:
    """Whether brackets in brackets would take seconds: the parser looks into each once for every level."""
    depth = work = 0
    for found in _BRACKET.finditer(body):
        if found[0] == "[":
            depth += 1
            work += min(depth, _MAX_NESTING)
            if work > _MAX_BRACKET_DEPTHS:
                return True
        else:
            depth = max(depth - 1, 0) if found[0] == "]" else 0
    return False


def split_front_matter(text: str) -> tuple[dict[str, str], str]:
    """Split off front matter: its plain ``key: value`` lines (keys in lower case), and the rest of the text.

    Nested values are ignored. A block with no such line, between two rules, is text.
    """
    match = _FRONT_MATTER.match(text)
    if not match:
        return {}, text
    entries = {}
    for line in match[1].splitlines():
        if entry := _ENTRY.fullmatch(line.rstrip()):
            value = entry[2].strip()
            if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
                value = value[1:-1]
            entries[entry[1].lower().replace("-", "_")] = value
    return (entries, text[match.end() :]) if entries else ({}, text)


def _blocks(body: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of each block: ``heading``, ``text``, ``item``, ``row`` or ``code``."""
    from markdown_it import MarkdownIt

    tokens = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table").parse(body)
    lists: list[int | None] = []  # the next number of each open list, None for bullets
    marker, kind = "", "text"
    row: list[str] | None = None
    for token in tokens:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                ordered = token.type == "ordered_list_open"
                lists.append(int(token.attrs.get("start", 1)) if ordered else None)
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                number = lists[-1]
                marker = "- " if number is None else f"{number}. "
                lists[-1] = None if number is None else number + 1
            case "list_item_close":
                marker = ""
            case "heading_open" | "paragraph_open":
                kind = "heading" if token.type == "heading_open" else "text"
            case "tr_open":
                row = []
            case "tr_close":
                yield "row", " | ".join(row or [])
                row = None
            case "inline" if row is not None:
                row.append(clean_line(_inline(token)))
            case "inline" | "fence" | "code_block" | "html_block":
                if text := _text_of(token):
                    yield _kind_of(token, kind, marker), marker + text
                    marker = ""


def _kind_of(token: Token, kind: str, marker: str) -> str:
    if token.type in ("fence", "code_block"):
        return "code"
    return "item" if marker else kind if token.type == "inline" else "text"


def _text_of(token: Token) -> str:
    if token.type == "inline":
        return _inline(token).strip()
    if token.type == "html_block":
        from veridical.corpus.readers.html import fragment_text

        return fragment_text(token.content)
    return token.content.strip("\n")


def _inline(token: Token) -> str:
    parts = []
    for child in token.children or ():
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak" or child.content.lower().startswith("<br"):
            parts.append("\n")
    return "".join(parts)


def _join(blocks: list[tuple[str, str]]) -> str:
    """Join blocks by empty lines; items of a list and rows of a table by line ends."""
    text, before = "", ""
    for kind, block in blocks:
        separator = "\n" if kind == before and kind in ("item", "row") else "\n\n"
        text += (separator if text else "") + block
        before = kind
    return text
