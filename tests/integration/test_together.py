"""Several processes on one knowledge base: one long task at a time, asking and voting meanwhile."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from office import write_corpus

from veridical import Veridical

Spawn = Callable[..., subprocess.Popen[str]]
OpenKb = Callable[[str], Veridical]
HELD = """
import time
from pathlib import Path
encode = fakes.encoder.encode
def slow(texts, **options):
    while not Path("go").exists():
        time.sleep(0.01)
    return encode(texts, **options)
fakes.encoder.encode = slow
"""


@pytest.fixture
def kb(tmp_path: Path, open_kb: OpenKb) -> Veridical:
    v = open_kb("kb")
    v.ingest(write_corpus(tmp_path / "corpus", 16), key_root=tmp_path / "corpus")
    v.build()
    return v


def test_a_second_long_task_is_told_that_the_first_is_running_while_asking_and_voting_go_on(
    tmp_path: Path, spawn: Spawn, kb: Veridical
) -> None:
    (tmp_path / "corpus" / "wiki" / "new.md").write_text("# new\n\nA new page about the garden.\n", "utf-8")
    kb.ingest(tmp_path / "corpus", key_root=tmp_path / "corpus")
    kb.close()
    first = spawn("build", "--kb", "kb", before=HELD)
    holder = tmp_path / "kb" / "write.holder"
    while not holder.exists() and first.poll() is None:
        time.sleep(0.01)
    second, third = spawn("build", "--kb", "kb"), spawn("ingest", "corpus", "--kb", "kb")
    asked = spawn("ask", "Which setting has the gateway?", "--kb", "kb", "--json")
    voted = spawn("feedback", "good", "d1", "--kb", "kb", "--json")
    for refused in (second, third):
        out, errors = refused.communicate(timeout=60)
        assert (refused.returncode, out) == (5, "")
        said = " ".join(errors.split())
        assert "Another process works on kb: 'veridical build', process" in said
        assert "Asking and voting work meanwhile" in said
    assert json.loads(asked.communicate(timeout=60)[0])["status"] == "answered"
    assert json.loads(voted.communicate(timeout=60)[0])["n_moved"] > 0
    assert first.poll() is None
    (tmp_path / "go").touch()
    assert first.wait(timeout=60) == 0
    assert [f.state for f in kb.list_feedback()] == ["active"]
    assert kb.trust().documents[0].trust > 0.9
    assert not holder.exists()


VOTE = """
import sys
from veridical import Veridical
with Veridical.open("kb") as v:
    for i in range(10):
        v.feedback(f"d{i + 1}", i % 2, by=sys.argv[1])
sys.exit()
"""


def test_two_voters_at_once_lose_nothing(spawn: Spawn, kb: Veridical, open_kb: OpenKb) -> None:
    voters = [spawn(name, before=VOTE) for name in ("anna", "ben")]
    for voter in voters:
        assert voter.wait(timeout=60) == 0, voter.stderr and voter.stderr.read()
    items = kb.list_feedback()
    assert len(items) == len({item.id for item in items}) == 20
    assert {item.by for item in items} == {"anna", "ben"}
    before = {node.ref: node.trust for node in kb.trust().documents}
    kb.build()
    after = {node.ref: node.trust for node in kb.trust().documents}
    assert after == {ref: pytest.approx(trust, abs=1e-8) for ref, trust in before.items()}


def test_two_first_ingests_at_once_end_in_one_sound_knowledge_base(
    tmp_path: Path, spawn: Spawn, open_kb: OpenKb
) -> None:
    write_corpus(tmp_path / "corpus", 16)
    both = [spawn("ingest", "corpus", "--kb", "kb") for _ in range(2)]
    codes = []
    for process in both:
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
        codes.append(process.returncode)
    assert sorted(codes) in ([0, 0], [0, 5])
    v = open_kb("kb")
    assert len(v.documents()) == 16
    assert v.check().problems == ()
