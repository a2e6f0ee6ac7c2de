"""A stored reading may be damaged: then that is said, with the way out, and nothing else breaks."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from veridical import Veridical
from veridical.errors import StoreError

QUESTION = "What does the gateway use?"


@pytest.mark.parametrize("answers", ["garbage", "null", "[[1, 2]]", '[["a", 0, 1, "sure"]]', "[7]"])
def test_a_damaged_reading_is_named_and_clearing_the_log_mends_it(
    open_kb, corpus: Path, tmp_path: Path, answers: str
) -> None:
    v: Veridical = open_kb()
    v.ingest(corpus, key_root=corpus)
    v.build()
    v.ask(QUESTION)
    v.build()
    with v.store.write() as connection:
        n = connection.execute(sa.text("update readings set answers = :a"), {"a": answers}).rowcount
    assert n
    assert v.ask(QUESTION).hits
    late = tmp_path / "late.txt"
    late.write_text("The gateway uses setting 999. What does the gateway use?", encoding="utf-8")
    v.ingest(late)
    with pytest.raises(StoreError, match="is damaged") as caught:
        v.build()
    assert "questions clear" in caught.value.hint
    v.questions.clear()
    v.build()
    assert v.ask(QUESTION).hits
