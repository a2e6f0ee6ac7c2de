"""What was cleared from the query log is gone from the files, also while another process has them open."""

from __future__ import annotations

from pathlib import Path

from veridical import Veridical


def test_cleared_questions_leave_no_trace_while_another_has_the_base_open(open_kb, corpus: Path) -> None:
    holder, other = open_kb(), open_kb()
    holder.ingest(corpus, key_root=corpus)
    holder.build()
    holder.ask("Where do the zorblaxian walruses winter?")
    assert b"zorblaxian" in _files(holder)
    assert other.questions.clear() == 1
    assert b"zorblaxian" not in _files(holder)


def _files(v: Veridical) -> bytes:
    return b"".join(path.read_bytes() for path in v.path.iterdir() if path.name.startswith("kb.sqlite"))
