"""HTML: the readable part of a page, without navigation, scripts, styles, and what a browser would not show.

``trafilatura`` finds the main text of a page. Where it keeps too little (short pages, forum threads, bare
fragments), the page's own block structure is rendered instead. Title and date may come from the page's
head, a source or URL never does: see ``veridical.corpus.fields``. Nothing is ever fetched.
"""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from veridical.corpus.fields import iso_date
from veridical.corpus.readers.base import Parsed, bom_of, clean, clean_line, decode, refuse_binary
from veridical.errors import ReadError

_MAX_MAIN_TEXT_ELEMENTS = 10_000
_LEAST_SHARE = 1 / 3
_NEVER_SHOWN_NAMES = """
    head script style template noscript iframe object embed svg math canvas audio video select datalist"""
_BLOCK_NAMES = """
    address article aside blockquote body caption dd details div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody tfoot thead tr ul"""
_NEVER_SHOWN = frozenset(_NEVER_SHOWN_NAMES.split())
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_BOILERPLATE = frozenset({"nav", "footer", "aside", "button", "menu", "dialog"})
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?![.\d])")
_CHARSET = re.compile(
    rb"<(?:meta|\?xml)[^>]{0,200}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.I
)
_DATE_METAS = (
    "article:modified_time",
    "og:updated_time",
    "datemodified",
    "last-modified",
    "dcterms.modified",
    "article:published_time",
    "datepublished",
    "date",
    "dc.date",
    "dcterms.date",
    "pubdate",
    "publish-date",
    "dcterms.created",
)


def parse(data: bytes) -> Parsed:
    """Read a page or a fragment of one; raises ``ReadError`` for bytes that are not text."""
    page = decode_html(data)
    root = _root(page)
    if root is None:
        return Parsed("")
    title, date = _title(root), _date(root)
    _drop(root, _NEVER_SHOWN)
    n_elements = sum(1 for _ in root.iter())
    main = _main_text(root) if n_elements <= _MAX_MAIN_TEXT_ELEMENTS else ""
    _drop(root, _BOILERPLATE)
    whole = _render(root)
    text = main if len(main.split()) >= _LEAST_SHARE * len(whole.split()) and main else whole
    return Parsed(text, title, date)


def fragment_text(html: str) -> str:
    """Return the readable text of a piece of HTML."""
    root = _root(html)
    if root is None:
        return ""
    _drop(root, _NEVER_SHOWN)
    return _render(root)


def decode_html(data: bytes) -> str:
    """Decode a page: byte order mark, else UTF-8, else what the page declares, as strict as for text."""
    if bom_of(data):
        return clean(decode(data))
    refuse_binary(data)
    try:
        return clean(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        place = error.start
    declared = _CHARSET.search(data[:4096])
    name = declared[1].decode("ascii").lower() if declared else ""
    # Browsers read Latin-1 as Windows-1252, so that is what such pages mean.
    name = {"iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "us-ascii": "cp1252"}.get(
        name, name
    )
    if name and not re.search("utf|unicode|escape|puny|idna|raw", name):
        try:
            return clean(data.decode(name))
        except (LookupError, ValueError):
            raise ReadError(
                f"is neither UTF-8 nor {name}, which it declares.", "Convert it to UTF-8."
            ) from None
    raise ReadError(
        f"is not valid UTF-8 at byte {place} and declares no other encoding.", "Convert it to UTF-8."
    )


def _root(page: str) -> Any:
    """Parse a page into a tree; None if there is nothing in it."""
    from lxml import etree
    from lxml import html as lxml_html

    if not page.strip():
        return None
    parser = lxml_html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = lxml_html.document_fromstring(page.encode("utf-8"), parser=parser)
    except etree.ParserError:
        return None
    except (etree.LxmlError, ValueError) as error:
        raise ReadError(f"cannot be parsed as HTML: {clean_line(str(error))[:200]}.") from None
    return root


def _drop(root: Any, tags: frozenset[str]) -> None:
    """Empty elements with these tags, and those that are hidden, keeping the text that follows them."""
    doomed = [e for e in root.iter() if e is not root and (e.tag in tags or _is_hidden(e))]
    for element in doomed:  # emptied, not removed: removing thousands takes quadratic time
        element.clear(keep_tail=True)


def _is_hidden(element: Any) -> bool:
    style = element.get("style")
    return element.get("hidden") is not None or bool(style and _HIDDEN.search(style.lower()))


def _title(root: Any) -> str:
    metas = _metas(root)
    for text in (metas.get("og:title"), root.findtext(".//title"), _first_heading(root)):
        if text and (title := clean_line(text)):
            return title
    return ""


def _first_heading(root: Any) -> str:
    heading = next(root.iter("h1", "h2"), None)
    return "" if heading is None else "".join(heading.itertext())


def _metas(root: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop") or meta.get("http-equiv")
        if name and (content := meta.get("content")):
            found.setdefault(name.strip().lower(), content)
    return found


def _date(root: Any) -> str | None:
    """Return the date that the page gives for itself: when it was changed, else when it was published."""
    metas = _metas(root)
    candidates: list[object] = [metas.get(name) for name in _DATE_METAS]
    candidates += _linked_data_dates(root)
    candidates += [element.get("datetime") for element in root.iter("time") if element.get("datetime")][:1]
    return next((date for value in candidates if (date := iso_date(value))), None)


def _linked_data_dates(root: Any) -> list[object]:
    dates: list[object] = []
    for script in root.iter("script"):
        if script.get("type") == "application/ld+json" and script.text:
            try:
                data = json.loads(script.text)
            except (ValueError, RecursionError):
                continue
            if isinstance(data, dict):
                dates += [data.get("dateModified"), data.get("datePublished")]
    return dates


def _main_text(root: Any) -> str:
    """Return what ``trafilatura`` takes for the main text, a paragraph a block; "" if it finds none."""
    from trafilatura import extract
    from trafilatura.settings import use_config

    config = use_config()
    # Its own fallback for short texts breaks paragraphs at every tag; ours is in _render().
    config.set("DEFAULT", "MIN_EXTRACTED_SIZE", "0")
    config.set("DEFAULT", "MIN_OUTPUT_SIZE", "0")
    config.set("DEFAULT", "EXTRACTION_TIMEOUT", "0")
    try:
        text = (
            extract(copy.deepcopy(root), favor_recall=True, fast=True, include_comments=True, config=config)
            or ""
        )
    except Exception:  # whatever it stumbles over, the page can still be rendered
        return ""
    return _paragraphs([_table_row(line) for line in text.split("\n") if line.strip(" |:-")])


def _table_row(line: str) -> str:
    stripped = line.strip()
    if stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 1:
        return " | ".join(cell.strip() for cell in stripped[1:-1].split("|"))
    return line.rstrip()


def _paragraphs(blocks: list[str]) -> str:
    """Join blocks by empty lines; list items and table rows by line ends."""
    text = ""
    before = False
    for block in blocks:
        is_line = block.startswith("- ") or " | " in block
        text += ("" if not text else "\n" if before and is_line else "\n\n") + block
        before = is_line
    return text


def _render(root: Any) -> str:
    """Render a tree by its block elements. Iterative, since a page may nest as deep as it likes."""
    from lxml import etree

    renderer = _Renderer()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            renderer.start(element.tag)
            renderer.text(element.text)
        else:
            renderer.end(element.tag)
            renderer.text(element.tail)
    renderer.flush()
    return _paragraphs(renderer.blocks)


class _Renderer:
    """Collects the text between the ends of block elements into ``blocks``."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self._parts: list[str] = []
        self._marker = ""
        self._n_pre = 0

    def start(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.flush()
        if tag == "li":
            self._marker = "- "
        elif tag == "pre":
            self._n_pre += 1
        elif tag == "br":
            self._parts.append("\n")

    def end(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.flush()
        if tag == "pre":
            self._n_pre -= 1
        elif tag in ("td", "th"):
            self._parts.append(" | ")

    def text(self, text: str | None) -> None:
        if text:
            self._parts.append(text if self._n_pre else text.replace("\n", " "))

    def flush(self) -> None:
        text = "".join(self._parts)
        self._parts.clear()
        lines = text.split("\n")
        if not self._n_pre:
            lines = [" ".join(line.split()).removesuffix("|").rstrip() for line in lines]
        text = "\n".join(line for line in lines if line.strip())
        if text:
            self.blocks.append(self._marker + text)
            self._marker = ""
