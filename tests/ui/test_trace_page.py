"""The page of a trace: all of it there, nothing of it live."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from veridical.errors import InputError, StoreError
from veridical.testing.sample_trace import ANSWER, SENTENCE, UNTRACED
from veridical.types import Candidate, Span, Witness
from veridical.ui.trace import render, write_trace


class Balance(HTMLParser):
    """Which tags are open."""

    VOID = frozenset({"meta", "br", "i/"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_nothing_of_elsewhere() -> None:
    page = Balance()
    page.feed(render(ANSWER))
    assert page.open == []
    assert {"script", "link", "img", "iframe"}.isdisjoint(tag for tag, _ in page.seen)
    assert not any(name in attrs for _, attrs in page.seen for name in ("src", "href"))


def test_what_documents_say_is_text_and_no_markup() -> None:
    html = render(ANSWER)
    assert "Oslo &lt;b&gt;" in html
    assert "On the &lt;i&gt;coast&lt;/i&gt;" in html
    assert "Oslo <b>" not in html


def test_each_choice_stands_there_with_its_numbers_and_what_was_kept_out() -> None:
    html = render(ANSWER)
    for part in ("Hop 2: 1 chain continued, 1 finished before", "kept out by credibility", "90.0%", "0.66"):
        assert part in html
    assert html.count('<tr class="kept">') == 2
    assert html.count('<tr class="out">') == 1
    assert "0.4 × relevance + 0.6 × credibility" in html


def test_candidates_stand_there_with_who_gives_them() -> None:
    said = Span(SENTENCE, 0, len(SENTENCE))
    witness = Witness(1, 1, said, said, 0.8, 0.9, 0.25, title="On the <i>coast</i>")
    page = render(replace(ANSWER, text="", candidates=(Candidate(1, "Oslo <b>", 1.0, 0.28, (witness,)),)))
    assert "28.0%" in page
    assert "d1 On the &lt;i&gt;coast&lt;/i&gt; · trust 0.25" in page
    assert "Candidate answers" not in render(ANSWER)


def test_the_weights_of_the_mix_are_written_in_short() -> None:
    assert ANSWER.trace is not None
    trace = replace(ANSWER.trace, settings={"relevance_weight": 0.7})
    assert "0.7 × relevance + 0.3 × credibility" in render(replace(ANSWER, trace=trace))


def test_half_a_character_is_no_harm(tmp_path: Path) -> None:
    write_trace(replace(ANSWER, notes=("the model said \ud800",)), tmp_path / "page.html")
    assert "the model said ?" in (tmp_path / "page.html").read_text("utf-8")


def test_an_answer_without_chains_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no trace"):
        write_trace(UNTRACED, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_a_page_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(StoreError, match="cannot be written"):
        write_trace(ANSWER, tmp_path / "file" / "page.html")
    write_trace(ANSWER, tmp_path / "new" / "page.html")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["page.html"]
