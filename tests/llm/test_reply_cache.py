"""Replies are found by the whole request, and whatever is wrong with the file costs no answer."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.errors import InputError, StoreError
from veridical.llm import replies
from veridical.llm.base import Choice, Generation, Message, Scored
from veridical.llm.cache import ReplyCache
from veridical.llm.managed import ChoiceRequest, ManagedLLM, Request
from veridical.llm.openai_ import OpenAILLM
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.llm_server import KEY, ScriptedServer
from veridical.types import Usage

ONE = (Message("system", "Be short."), Message("user", "Name a colour."))
SECRET = "zebra-crossing-4711"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kb" / "llm-cache.db"


@pytest.fixture
def cache(path: Path):
    with ReplyCache(path) as cache:
        yield cache


def put(cache: ReplyCache, name: str, reply: str = "reply") -> None:
    cache.put(name.encode(), reply, Usage(1, 10, 2, money=0.5))


def ask(cache: ReplyCache, script=lambda messages: "Red.", **options) -> Generation:
    return ManagedLLM(ScriptedLLM(script), cache=cache).generate(ONE, **{"max_tokens": 8, **options})


def choose(cache: ReplyCache, script: list[str]) -> Choice:
    return ManagedLLM(ScriptedLLM(script), cache=cache).choose(ONE, ["A", "B"])


def damage(cache: ReplyCache, stored: str) -> None:
    """Put something else in the place of all replies."""
    with closing(sqlite3.connect(cache.path)) as connection, connection:
        connection.execute("UPDATE replies SET reply = ?", (stored,))


def test_nothing_is_made_before_there_is_something_to_keep(path: Path, cache: ReplyCache) -> None:
    assert cache.get(b"key") is None
    assert cache.report().n_replies == 0
    assert cache.clear() == 0
    assert not path.parent.exists()


def test_a_reply_comes_back_as_it_was_and_costs_nothing(cache: ReplyCache) -> None:
    first = ask(cache, ["Red, or “röd” 🟥.\nOr blue."])
    again = ask(cache, [])
    assert again == replace(first, usage=Usage(cached_calls=1), seconds=0.0)


def test_a_reply_is_there_for_the_next_process(path: Path) -> None:
    with ReplyCache(path) as first:
        put(first, "key")
    with ReplyCache(path) as second:
        assert second.get(b"key") == "reply"


_TEXT = st.text(min_size=1)
_NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@given(text=_TEXT.filter(str.strip), reason=_TEXT)
def test_any_generation_is_read_as_it_was_written(text: str, reason: str) -> None:
    generation = Generation(text, Usage(1, 5, 6), reason, 3.0)
    found = replies.read(Generation, replies.written(generation))
    assert found == Generation(text, Usage(cached_calls=1), reason, 0.0)


@given(weights=st.dictionaries(_TEXT, st.floats(1e-6, 1.0), min_size=2), logprob=_NUMBER)
def test_any_choice_and_score_is_read_as_it_was_written(weights: dict[str, float], logprob: float) -> None:
    shares = {label: weight / sum(weights.values()) for label, weight in weights.items()}
    choice = Choice(shares, "votes", Usage(5), 3.0, n_votes=5, unseen=tuple(shares)[:1])
    found = replies.read(Choice, replies.written(choice))
    assert found == replace(choice, usage=Usage(cached_calls=1), seconds=0.0)
    assert list(found.probabilities) == list(shares)
    scored = replies.read(Scored, replies.written(Scored(logprob, 3, Usage(1), 3.0)))
    assert scored == Scored(logprob, 3, Usage(cached_calls=1), 0.0)


@pytest.mark.parametrize(
    "stored",
    [
        *("", "{", "[]", "null", "[" * 100_000, '"x"'),
        *('{"text": 3, "finish_reason": "stop"}', '{"text": "x"}', '{"text": " ", "finish_reason": "stop"}'),
    ],
)
def test_what_is_no_reply_is_asked_again_and_replaced(cache: ReplyCache, stored: str) -> None:
    ask(cache)
    damage(cache, stored)
    assert ask(cache, ["Blue."]).text == "Blue."
    assert ask(cache, []).text == "Blue."


@pytest.mark.parametrize(
    "stored",
    [
        '{"probabilities": [], "mode": "votes", "unseen": [], "n_votes": 5}',
        '{"probabilities": {"A": 0.5, "B": 0.5}, "mode": "votes", "unseen": [], "n_votes": Infinity}',
        '{"probabilities": {"A": NaN, "B": 1}, "mode": "votes", "unseen": [], "n_votes": 5}',
        '{"probabilities": {"A": 5, "B": -4}, "mode": "votes", "unseen": [], "n_votes": 5}',
        '{"probabilities": {"A": 0.5, "B": 0.4}, "mode": "votes", "unseen": [], "n_votes": 5}',
        '{"probabilities": {"A": 1}, "mode": "votes", "unseen": [], "n_votes": 5}',
        '{"probabilities": {"A": 0.5, "C": 0.5}, "mode": "votes", "unseen": [], "n_votes": 5}',
    ],
)
def test_what_is_no_choice_among_the_labels_is_asked_again(cache: ReplyCache, stored: str) -> None:
    choose(cache, ["A"])
    damage(cache, stored)
    assert choose(cache, ["B"]).probabilities == choose(cache, []).probabilities == {"A": 1e-4, "B": 0.9999}


MANY = {"type": "object", "properties": {"a": {"type": "string"}}}
BASE = Request(ONE, 8, 0.0, 1, MANY)


@pytest.mark.parametrize(
    "other",
    [
        replace(BASE, messages=ONE[:1]),
        replace(BASE, messages=(ONE[0], Message("user", "Name a color."))),
        replace(BASE, messages=(ONE[0], Message("assistant", "Name a colour."))),
        replace(BASE, messages=(Message("system", "Be short.Name"), Message("user", " a colour."))),
        replace(BASE, max_tokens=9),
        replace(BASE, temperature=0.1),
        replace(BASE, seed=2),
        replace(BASE, seed=None),
        replace(BASE, schema=None),
        replace(BASE, schema={**MANY, "required": ["a"]}),
    ],
)
def test_another_request_has_another_key(cache: ReplyCache, other: Request) -> None:
    llm = ManagedLLM(ScriptedLLM(["one", "two"]), cache=cache)
    found = [llm.generate_many([request], stage="s")[0].text for request in (BASE, other, BASE, other)]
    assert found == ["one", "two", "one", "two"]


CHOICE = ChoiceRequest(ONE, ["A", "B"])


@pytest.mark.parametrize(
    "other",
    [
        replace(CHOICE, messages=ONE[:1]),
        replace(CHOICE, labels=["A", "C"]),
        replace(CHOICE, labels=["B", "A"]),
        replace(CHOICE, n_votes=6),
        replace(CHOICE, seed=1),
    ],
)
def test_another_choice_has_another_key(cache: ReplyCache, other: ChoiceRequest) -> None:
    llm = ManagedLLM(ScriptedLLM(["A", "A"]), cache=cache)
    for request in (CHOICE, other, CHOICE, other):
        assert isinstance(llm.choose_many([request], stage="s")[0], Choice)
    assert llm.usage_by_stage()["s"].cached_calls == 2


def test_the_order_of_a_schemas_names_makes_no_other_key(cache: ReplyCache) -> None:
    ask(cache, schema=MANY)
    assert ask(cache, [], schema=dict(reversed(MANY.items()))).text == "Red."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("http://127.0.0.1:1/v1", "m"), ("http://127.0.0.1:1/v1", "n")),
        (("http://127.0.0.1:1/v1", "m"), ("http://127.0.0.1:2/v1", "m")),
    ],
)
def test_another_model_has_another_key(one: tuple[str, str], other: tuple[str, str]) -> None:
    keys = {replies.key_of(OpenAILLM(*which).identity, "generate", {"a": 1}) for which in (one, other)}
    assert len(keys) == 2


def test_a_key_or_password_that_changes_leaves_replies_valid() -> None:
    plain = OpenAILLM("http://127.0.0.1:1/v1", "m")
    keyed = OpenAILLM("http://me:pass@127.0.0.1:1/v1", "m", "sk-other")
    assert plain.identity == keyed.identity


def test_another_weight_file_of_the_same_name_has_another_key(tmp_path: Path) -> None:
    from veridical.llm.llama_cpp_ import LlamaCppLLM

    file = tmp_path / "small.gguf"
    file.write_bytes(b"GGUF one")
    before = LlamaCppLLM(file).identity
    assert LlamaCppLLM(file).identity == before
    file.write_bytes(b"GGUF other")
    assert LlamaCppLLM(file).identity != before


def test_neither_prompts_nor_keys_are_in_the_file(path: Path) -> None:
    server = ScriptedServer()
    url = server.url.replace("http://", f"http://{SECRET}:{SECRET}@")
    try:
        with ReplyCache(path) as cache:
            llm = ManagedLLM(OpenAILLM(url, "tiny-model", KEY), cache=cache)
            asked = (Message("system", SECRET), Message("user", "A question about Popocatépetl"))
            assert llm.generate(asked, max_tokens=8).text == "Red."
            stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    finally:
        server.close()
    assert b"Red." in stored
    for word in (SECRET, KEY, "Popocat", "tiny-model", "127.0.0.1"):
        assert word.encode() not in stored


def test_what_is_forgotten_leaves_no_trace(path: Path, cache: ReplyCache) -> None:
    for i in range(50):
        put(cache, f"key {i}", f"{SECRET} {i}")
    assert cache.clear() == 50
    assert cache.get(b"key 1") is None
    assert not any(SECRET.encode() in file.read_bytes() for file in path.parent.iterdir())
    put(cache, "key 1", "new")
    assert cache.get(b"key 1") == "new"


def test_a_report_says_what_is_there_and_what_it_cost(cache: ReplyCache) -> None:
    for name in "ab":
        put(cache, name)
    report = cache.report()
    assert (report.n_replies, report.calls, report.tokens, report.money) == (2, 2, 24, 1.0)
    assert report.bytes > 0 and report.oldest is not None and report.oldest > 1e9


def test_the_oldest_are_dropped_when_there_are_too_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veridical.llm.cache._PRUNE_EVERY", 5)
    with ReplyCache(path, max_replies=10) as cache:
        for i in range(31):
            put(cache, str(i))
        kept = [i for i in range(31) if cache.get(str(i).encode()) is not None]
    assert kept == list(range(21, 31))


def test_a_limit_of_no_reply_is_refused(path: Path) -> None:
    with pytest.raises(InputError, match="max_replies"):
        ReplyCache(path, max_replies=0)


def damage_header(path: Path) -> None:
    path.write_bytes(b"not a database at all, but some text" * 50)


def damage_middle(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    for start in range(4096, len(raw), 4096):
        raw[start : start + 200] = os.urandom(200)
    path.write_bytes(raw)


@pytest.mark.parametrize("damage", [damage_header, damage_middle])
def test_a_damaged_file_is_set_aside_and_a_new_one_begun(path: Path, damage) -> None:
    with ReplyCache(path) as cache:
        for i in range(200):
            put(cache, str(i), "reply " * 20)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    damage(path)
    with ReplyCache(path) as cache:
        assert ask(cache).text == "Red."
        assert len(cache.notes) == 1 and "set aside" in cache.notes[0]
        assert ask(cache, []).text == "Red."
        assert path.with_name("llm-cache.db.damaged").is_file()
        cache.clear()
        assert not path.with_name("llm-cache.db.damaged").exists()


def test_a_damaged_file_can_be_forgotten(path: Path) -> None:
    path.parent.mkdir()
    damage_header(path)
    with ReplyCache(path) as cache:
        assert cache.clear() == 0
    assert not path.exists()


def test_a_database_of_something_else_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE replies (mine TEXT)")
        connection.execute("INSERT INTO replies VALUES ('precious')")
    with ReplyCache(path) as cache:
        assert ask(cache).text == "Red."
        assert cache.notes and all("not cached" in note for note in cache.notes)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT mine FROM replies").fetchall() == [("precious",)]


def test_where_nothing_can_be_written_answers_come_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way of a folder")
    with ReplyCache(tmp_path / "file" / "llm-cache.db") as cache:
        assert [ask(cache).text for _ in range(2)] == ["Red.", "Red."]
        assert len(cache.notes) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that one may not write")
def test_a_read_only_folder_costs_no_answer(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o500)
    try:
        with ReplyCache(path) as cache:
            assert ask(cache).text == "Red."
            assert cache.notes
    finally:
        path.parent.chmod(0o700)


class Full(sqlite3.Connection):
    """A connection to a disk on which there is no room."""

    def execute(self, sql, *arguments):
        if sql.startswith(("INSERT", "DELETE")):
            raise sqlite3.OperationalError("database or disk is full")
        return super().execute(sql, *arguments)


def test_a_full_disk_costs_no_answer_and_is_said_where_something_is_to_be_forgotten(
    cache: ReplyCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Full))
    assert [ask(cache).text for _ in range(2)] == ["Red.", "Red."]
    assert len(cache.notes) == 1 and "full" in cache.notes[0]
    with pytest.raises(StoreError, match="cannot be emptied"):
        cache.clear()


def test_threads_share_a_cache(cache: ReplyCache) -> None:
    def work(which: int) -> None:
        for i in range(50):
            put(cache, f"{which} {i}", f"{which} {i}")
            assert cache.get(f"{which} {i}".encode()) == f"{which} {i}"

    threads = [threading.Thread(target=work, args=(which,)) for which in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.report().n_replies == 200
    assert cache.notes == ()
