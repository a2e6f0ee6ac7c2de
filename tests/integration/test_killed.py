"""Killed at any moment and run again, work ends in the same state as work that nobody interrupted."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from office import write_corpus

from veridical import Veridical
from veridical.stores import documents

Spawn = Callable[..., subprocess.Popen[str]]
OpenKb = Callable[[str], Veridical]
QUESTIONS = ("setting of the gateway", "room number 17", "handbook", "last change of room 40")

SLOW_INGEST = """
import time
from veridical.pipeline import ingesting
ingesting.BATCH = 8
cut = ingesting.passages
ingesting.passages = lambda text: (time.sleep(0.002), cut(text))[1]
"""
SLOW_BUILD = """
import time
from veridical.pipeline import building
building.ENCODE_BATCH = building.JUDGE_BATCH = 8
encode, nli = fakes.encoder.encode, fakes.nli("")
judge = nli.judge
fakes.encoder.encode = lambda texts, **options: (time.sleep(0.02), encode(texts, **options))[1]
nli.judge = lambda pairs: (time.sleep(0.02), judge(pairs))[1]
"""


def kill_some_times(
    start: Callable[[], subprocess.Popen[str]], begun: Callable[[], bool], n: int, seed: int
) -> int:
    """Start, kill after a random while of work, and again; return how many were killed before they ended."""
    chance = random.Random(seed)
    n_killed = 0
    for _ in range(n):
        process = start()
        while process.poll() is None and not begun():
            time.sleep(0.005)
        time.sleep(chance.uniform(0.0, 0.5))
        process.kill()
        process.communicate()
        n_killed += process.returncode == -9
    return n_killed


def finish(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


def state(v: Veridical) -> tuple[object, ...]:
    with v.store.read() as connection:
        return documents.every(connection), documents.every_passage(connection)


def found(v: Veridical) -> list[list[tuple[int, float]]]:
    return [
        [(hit.passage.id, pytest.approx(hit.relevance, abs=1e-6)) for hit in v.ask(q, retriever="bm25").hits]
        for q in QUESTIONS
    ]


def trusts(v: Veridical) -> dict[str, float | None]:
    known = v.trust()
    return {node.ref: node.trust for node in (*known.documents, *known.sources)}


def test_a_killed_ingest_ends_as_one_that_was_not(tmp_path: Path, spawn: Spawn, open_kb: OpenKb) -> None:
    write_corpus(tmp_path / "corpus", 200)
    database = tmp_path / "kb" / "kb.sqlite"

    def start() -> subprocess.Popen[str]:
        return spawn("ingest", "corpus", "--kb", "kb", before=SLOW_INGEST)

    n_killed = kill_some_times(start, database.is_file, 4, seed=1)
    assert n_killed >= 2
    finish(spawn("ingest", "corpus", "--kb", "kb"))
    plain = open_kb("plain")
    plain.ingest(tmp_path / "corpus")
    killed = open_kb("kb")
    assert state(killed) == state(plain)
    assert found(killed) == found(plain)
    assert killed.check().problems == ()
    assert killed.status().lexical_behind == 0


def test_a_killed_reingest_of_changed_files_ends_as_one_that_was_not(
    tmp_path: Path, spawn: Spawn, open_kb: OpenKb
) -> None:
    corpus = write_corpus(tmp_path / "corpus", 80)
    for name in ("kb", "plain"):
        v = open_kb(name)
        v.ingest(corpus)
        v.build()
        v.feedback("corpus/handbook/page003.md", "good")
        v.feedback("corpus/blog/page004.md", "bad")
    for path in sorted(corpus.rglob("*.md"))[::2]:
        path.write_text(path.read_text("utf-8").replace("uses setting", "now has setting"), "utf-8")

    def start() -> subprocess.Popen[str]:
        return spawn("ingest", "corpus", "--kb", "kb", before=SLOW_INGEST + "time.sleep(0.05)")

    kill_some_times(start, (tmp_path / "kb" / "write.holder").is_file, 4, seed=2)
    finish(spawn("ingest", "corpus", "--kb", "kb"))
    killed, plain = open_kb("kb"), open_kb("plain")
    plain.ingest(corpus)
    ours, theirs = trusts(killed), trusts(plain)
    assert ours.keys() == theirs.keys()
    for key, trust in ours.items():
        assert trust == (theirs[key] if trust is None else pytest.approx(theirs[key], abs=1e-8)), key
    served = {hit.passage.text for q in QUESTIONS for hit in killed.ask(q, top_k=100).hits}
    assert not any("uses setting" in text for text in served if "now has" in text)
    assert killed.check().problems == ()
    texts = [sorted(p.text for p in state(v)[1]) for v in (killed, plain)]  # type: ignore[attr-defined]
    assert texts[0] == texts[1]


def test_a_killed_build_ends_as_one_that_was_not(tmp_path: Path, spawn: Spawn, open_kb: OpenKb) -> None:
    corpus = write_corpus(tmp_path / "corpus", 48)
    for name in ("kb", "plain"):
        v = open_kb(name)
        v.ingest(corpus)
        v.feedback("corpus/handbook/page003.md", "good")
        v.feedback("corpus/blog/page004.md", "bad")
        v.close()

    def start() -> subprocess.Popen[str]:
        return spawn("build", "--kb", "kb", before=SLOW_BUILD)

    n_killed = kill_some_times(start, (tmp_path / "kb" / "write.holder").is_file, 4, seed=3)
    assert n_killed >= 2
    finish(spawn("build", "--kb", "kb"))
    killed, plain = open_kb("kb"), open_kb("plain")
    plain.build()
    ours, theirs = trusts(killed), trusts(plain)
    assert ours.keys() == theirs.keys()
    assert any(trust is not None for trust in ours.values())
    for key, trust in ours.items():
        assert trust == (theirs[key] if trust is None else pytest.approx(theirs[key], abs=1e-8)), key
    for question in QUESTIONS:
        left, right = killed.ask(question), plain.ask(question)
        assert left.text == right.text
        assert [h.passage.id for h in left.hits] == [h.passage.id for h in right.hits]
    assert killed.status().judged_pairs == plain.status().judged_pairs
    assert killed.check().problems == ()
