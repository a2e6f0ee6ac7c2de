"""``veridical models cache`` shows what is kept of language models' replies, and forgets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from veridical.llm.cache import FILE, ReplyCache
from veridical.types import Usage

Cli = Callable[..., object]


@pytest.fixture
def kept(kb: Path) -> Path:
    with ReplyCache(kb / FILE) as cache:
        for i in range(3):
            cache.put(bytes([i]), "reply", Usage(2, 500, 20, money=0.25))
    return kb / FILE


def test_it_says_what_is_kept_and_what_it_took(cli: Cli, kept: Path) -> None:
    ran = cli("models", "cache")
    shown = " ".join(ran.out.split())
    assert ran.code == 0
    assert "3 replies of language models" in shown
    assert "They took 6 calls, 1,560 tokens and 0.75 of money." in shown


def test_json_holds_the_numbers(cli: Cli, kept: Path) -> None:
    shown = json.loads(cli("models", "cache", "--json").out)
    assert shown["forgotten"] == 0
    assert [Path(cache["path"]).name for cache in shown["caches"]] == [FILE]
    assert (shown["caches"][0]["n_replies"], shown["caches"][0]["tokens"]) == (3, 1560)


def test_it_forgets(cli: Cli, kept: Path) -> None:
    assert "Forgot 3 replies" in cli("models", "cache", "--clear").out
    assert "No replies" in cli("models", "cache").out
    again = json.loads(cli("models", "cache", "--clear", "--json").out)
    assert (again["forgotten"], again["caches"][0]["n_replies"]) == (0, 0)


def test_deleting_a_document_forgets_them_too(cli: Cli, kept: Path) -> None:
    assert cli("delete", "d1").code == 0
    with ReplyCache(kept) as cache:
        assert cache.report().n_replies == 0


def test_without_a_knowledge_base_there_is_nothing_to_show(cli: Cli) -> None:
    ran = cli("models", "cache", "--kb", "nowhere")
    assert (ran.code, ran.out) == (4, "")
    assert not Path("nowhere").exists()
