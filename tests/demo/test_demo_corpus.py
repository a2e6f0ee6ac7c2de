"""The demo corpus is what the demo says it is."""

from __future__ import annotations

import html
import json
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

DEMO = Path(str(files("veridical.demo")))
CORPUS = DEMO / "corpus"
SOURCES = {"handbook", "wiki", "old-wiki", "forum", "vendor-blog"}
RELIABLE = {"handbook", "wiki"}


@dataclass(frozen=True)
class Text:
    key: str
    source: str
    title: str
    date: str | None
    text: str


def _value(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found.group(1) if found else None


def _from_markdown(key: str, raw: str) -> Text:
    _, head, body = raw.split("---\n", 2)
    return Text(key, key.split("/")[0], _value("title: (.+)", head) or "", _value("date: (.+)", head), body)


def _from_html(key: str, raw: str) -> Text:
    article = raw[raw.index("<article>") : raw.index("</article>")]
    text = html.unescape(re.sub("<[^>]+>", " ", re.sub("<h1>.*?</h1>", "", article)))
    title = _value("<title>(.+)</title>", raw) or ""
    return Text(key, key.split("/")[0], title, _value('name="date" content="(.+?)"', raw), text)


def _from_jsonl(raw: str) -> list[Text]:
    rows = [json.loads(line) for line in raw.splitlines()]
    return [Text(r["id"], r["source"], r["title"], r.get("date"), r["text"]) for r in rows]


def _read_corpus() -> list[Text]:
    """Read with a few lines of our own, so that a fault in the package's readers cannot hide one here."""
    texts: list[Text] = []
    for path in sorted(p for p in CORPUS.rglob("*") if p.is_file()):
        key, raw = path.relative_to(CORPUS).as_posix(), path.read_text("utf-8")
        if path.suffix == ".md":
            texts.append(_from_markdown(key, raw))
        elif path.suffix == ".html":
            texts.append(_from_html(key, raw))
        elif path.suffix == ".jsonl":
            texts.extend(_from_jsonl(raw))
        else:
            texts.append(Text(key, key.split("/")[0], "", None, raw))
    return texts


TEXTS = _read_corpus()
SETUP: dict[str, Any] = tomllib.loads((DEMO / "demo.toml").read_text("utf-8"))
QUESTIONS: list[dict[str, Any]] = SETUP["question"]
FEEDBACK: list[dict[str, Any]] = SETUP["feedback"]


def _states(text: Text, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", " ".join(text.text.split())) is not None


def _stating(values: list[str]) -> set[str]:
    return {t.key for t in TEXTS if any(_states(t, value) for value in values)}


def _about(question: dict[str, Any]) -> set[str]:
    """Return the documents that give an accepted or a wrong answer to a question."""
    subject = set(re.findall(r"[a-z]{4,}", question["text"].lower())) - {"what", "when", "does"}
    keys = _stating([*question["right"], *question["wrong"]])
    return {
        t.key
        for t in TEXTS
        if t.key in keys and sum(w in t.text.lower() for w in subject) * 2 >= len(subject)
    }


def test_it_holds_about_sixty_documents() -> None:
    assert 55 <= len(TEXTS) <= 65


def test_every_document_has_a_key_of_its_own() -> None:
    assert [key for key, n in Counter(t.key for t in TEXTS).items() if n > 1] == []


def test_it_comes_from_five_sources_with_ten_documents_each_at_least() -> None:
    counts = Counter(t.source for t in TEXTS)
    assert set(counts) == SOURCES
    assert min(counts.values()) >= 10


def test_it_is_stored_in_four_formats() -> None:
    suffixes = {p.suffix for p in CORPUS.rglob("*") if p.is_file()}
    assert suffixes == {".md", ".html", ".jsonl", ".txt"}


def test_documents_are_short() -> None:
    lengths = {t.key: len(t.text.split()) for t in TEXTS}
    assert {key: n for key, n in lengths.items() if not 60 <= n <= 220} == {}


def test_all_but_a_few_documents_are_dated_between_2021_and_2026() -> None:
    dates = [t.date for t in TEXTS if t.date]
    assert len(TEXTS) - len(dates) <= 8
    assert all(re.fullmatch(r"202[1-6]-\d\d-\d\d", date) for date in dates)


def test_the_archived_wiki_is_older_than_the_handbook_page_it_disagrees_with() -> None:
    dates = {t.key: t.date or "" for t in TEXTS}
    for question in QUESTIONS:
        right, wrong = _stating(question["right"]), _stating(question["wrong"])
        old = [dates[key] for key in wrong & _about(question) if key.startswith("old-wiki/")]
        new = [dates[key] for key in right & _about(question) if key.startswith("handbook/")]
        assert old and new and max(old) < min(new), question["text"]


def test_no_two_documents_have_the_same_text() -> None:
    assert len({" ".join(t.text.split()).lower() for t in TEXTS}) == len(TEXTS)


def test_there_are_ten_questions_and_six_pieces_of_feedback() -> None:
    assert (len(QUESTIONS), len(FEEDBACK)) == (10, 6)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q["text"])
def test_the_right_answer_stands_in_handbook_and_wiki_and_the_wrong_one_elsewhere(
    question: dict[str, Any],
) -> None:
    sources = {t.key: t.source for t in TEXTS}
    right = {sources[key] for key in _stating(question["right"]) & _about(question)}
    wrong = {sources[key] for key in _stating(question["wrong"]) & _about(question)}
    assert right >= RELIABLE
    assert wrong and not wrong & RELIABLE


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q["text"])
def test_no_document_gives_both_the_right_and_a_wrong_answer(question: dict[str, Any]) -> None:
    assert _stating(question["right"]) & _stating(question["wrong"]) & _about(question) == set()


def test_each_piece_of_feedback_names_a_document_of_its_own_and_says_who_and_why() -> None:
    keys = [f["key"] for f in FEEDBACK]
    assert len(set(keys)) == len(keys)
    assert set(keys) <= {t.key for t in TEXTS}
    assert all(0.0 <= f["value"] <= 1.0 and f["by"] and f["note"] for f in FEEDBACK)


def test_at_most_three_questions_have_a_judged_document() -> None:
    judged = {f["key"] for f in FEEDBACK}
    assert len([q for q in QUESTIONS if judged & _about(q)]) <= 3


def test_the_source_alone_does_not_tell_true_from_false() -> None:
    right = {key for q in QUESTIONS for key in _stating(q["right"]) & _about(q)}
    wrong = {key for q in QUESTIONS for key in _stating(q["wrong"]) & _about(q)}
    forum = {t.key for t in TEXTS if t.source == "forum"}
    assert len(forum & right) >= 3
    assert len(forum & wrong) >= 3
    assert _states(next(t for t in TEXTS if t.key == "vendor-blog/battery-life.md"), "18 months")
    assert _states(next(t for t in TEXTS if t.key == "wiki/batteries.md"), "18 months")


def test_three_planted_posts_push_one_value() -> None:
    assert _stating(["35 days"]) == {"forum-2003", "forum-2007", "forum-2011"}


def test_exactly_one_document_tries_to_give_orders_to_its_reader() -> None:
    orders = [t.key for t in TEXTS if re.search("ignore the other documents", t.text, re.IGNORECASE)]
    assert orders == ["forum-1052"]
