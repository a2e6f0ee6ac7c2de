"""Status says what is here and behind; check names whatever was corrupted by hand."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from veridical import Veridical
from veridical.errors import StoreError
from veridical.stores import questions

Open = Callable[..., Veridical]


def corrupt(v: Veridical, *statements: str) -> tuple[str, ...]:
    with v.store.engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        for statement in statements:
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("PRAGMA foreign_keys=ON")
        connection.exec_driver_sql("BEGIN")
    return v.check().problems


def test_what_was_just_built_is_sound(kb: Veridical) -> None:
    kb.feedback("d1", "good")
    report = kb.check()
    assert report.problems == ()
    assert report.n_checked > 30


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE documents SET text = text || 'x' WHERE id = 3", "d3 (blog/gateway.md): its text"),
        ("UPDATE passages SET text = 'forged' WHERE document_id = 3", "d3 (blog/gateway.md): the passage"),
        ('UPDATE passages SET "end" = 9999 WHERE document_id = 3', "d3"),
        ("DELETE FROM passages WHERE document_id = 3", "d3 (blog/gateway.md) has no passage"),
        ("DELETE FROM documents WHERE id = 3", "refers to"),
        ("UPDATE judgements SET low_end = 9999", "points past"),
        ("INSERT INTO trust VALUES ('veridical', 'document', '99', 0.5, 0.5)", "document 99"),
        ("INSERT INTO trust VALUES ('veridical', 'source', 'nobody', 0.5, 0.5)", "source nobody"),
        ("UPDATE vectors SET data = x'0000' WHERE passage_id = 3", "vector"),
    ],
)
def test_what_is_corrupted_by_hand_is_named(kb: Veridical, statement: str, named: str) -> None:
    problems = corrupt(kb, statement)
    assert any(named in problem for problem in problems), problems


ANSWER = """UPDATE readings SET answers = '[["nonsense", 0, 8, 0.9]]'"""


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE questions SET text = 'Another one?'", "not what it was logged as"),
        (ANSWER, "is not what it says"),
        ("UPDATE readings SET answers = '{'", "is not what it says"),
        ("UPDATE question_pairs SET low_answer_end = 9999", "points past"),
        ("UPDATE question_pairs SET high_answer_end = high_answer_start", "points past"),
        ("UPDATE question_pairs SET origin = 'made'", "Nobody asked"),
        ("UPDATE question_pairs SET support = 'NaN'", "is damaged"),
        ("UPDATE question_vectors SET data = x'0000'", "vector of question"),
        ("DELETE FROM questions", "refers to"),
    ],
)
def test_what_was_learned_from_questions_is_checked_too(kb: Veridical, statement: str, named: str) -> None:
    with kb.store.write() as connection:
        questions.log(connection, "Which setting does the gateway of the office use?")
    kb.build()
    assert kb.check().problems == ()
    problems = corrupt(kb, statement)
    assert any(named in problem for problem in problems), problems


def test_a_damaged_verdict_is_left_out_of_the_conflicts(kb: Veridical) -> None:
    with kb.store.write() as connection:
        questions.log(connection, "Which setting does the gateway of the office use?")
    kb.build()
    assert any(e.question for view in kb.conflicts() for e in view.evidence)
    corrupt(kb, "UPDATE question_pairs SET contradiction = 'NaN'")
    assert not any(e.question for view in kb.conflicts() for e in view.evidence)


def test_a_damaged_vector_of_a_question_is_made_again(kb: Veridical) -> None:
    with kb.store.write() as connection:
        questions.log(connection, "Which setting does the gateway of the office use?")
    kb.build()
    assert corrupt(kb, "UPDATE question_vectors SET data = x'0000'")
    kb.build()
    assert kb.check().problems == ()


def test_lost_index_files_are_named_and_a_build_brings_them_back(kb: Veridical) -> None:
    shutil.rmtree(kb.store.index_folder)
    problems = " ".join(kb.check().problems)
    assert "BM25" in problems
    assert "dense" in problems
    kb.build()
    assert kb.check().problems == ()


def test_a_damaged_dense_index_is_named_and_rebuilt(kb: Veridical) -> None:
    [vectors] = kb.store.index_folder.glob("dense-*/vectors.npy")
    for content in (b"", b"garbage", vectors.read_bytes()[:200]):
        vectors.write_bytes(content)
        assert any("dense" in problem for problem in kb.check().problems)
    kb.build()
    assert kb.check().problems == ()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("vectors.npy", lambda rows: rows[:, :383]),
        ("vectors.npy", lambda rows: rows[:, 0]),
        ("vectors.npy", lambda rows: np.full_like(rows, np.nan)),
        ("vectors.npy", lambda rows: rows[::-1]),
        ("ids.npy", lambda ids: ids.astype(str)),
    ],
)
def test_a_dense_index_of_other_contents_is_named_does_not_stop_asking_and_is_rebuilt(
    kb: Veridical, name: str, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    [path] = kb.store.index_folder.glob(f"dense-*/{name}")
    np.save(path, np.ascontiguousarray(change(np.load(path))))
    assert kb.ask("Which setting does the gateway use?", always_answer=True).status == "answered"
    assert any("dense" in problem for problem in kb.check().problems)
    kb.build()
    assert kb.check().problems == ()
    assert "damaged" not in " ".join(kb.ask("Which setting does the gateway use?").notes)


@pytest.mark.parametrize("table", ["vectors", "sentence_vectors"])
@pytest.mark.parametrize(
    "data", ["x'0011'", "'text'", "CAST(zeroblob(768) AS TEXT)", "x'" + "007e" * 384 + "'"]
)
def test_damaged_vectors_are_named_and_embedded_again(
    kb: Veridical, corpus: Path, table: str, data: str
) -> None:
    assert len(corrupt(kb, f"UPDATE {table} SET data = {data} WHERE passage_id = 1")) == 1
    assert kb.ask("Which setting does the gateway use?", always_answer=True).status == "answered"
    kb.ingest(corpus, key_root=corpus)
    assert kb.build().n_embedded == 1
    assert kb.check().problems == ()


def test_a_damaged_database_is_named(kb: Veridical) -> None:
    kb.store.engine.dispose()
    data = bytearray(kb.store.database.read_bytes())
    middle = len(data) // 8192 * 4096
    data[middle:] = b"\xff" * len(data[middle:])
    kb.store.database.write_bytes(data)
    for path in kb.path.glob("kb.sqlite-*"):
        path.unlink()
    kb.close()
    try:
        problems = kb.check().problems
    except StoreError as error:
        problems = (str(error),)
    assert any("malformed" in problem or "damaged" in problem for problem in problems)


def test_status_follows_the_work(open_kb: Open, corpus: Path) -> None:
    v = open_kb()
    v.ingest(corpus, key_root=corpus)
    status = v.status()
    assert (status.documents, status.passages, status.sources) == (16, 16, 4)
    assert (status.built, status.lexical_behind, status.vectors_behind) == (False, 0, 16)
    v.build()
    v.feedback("d1", "good")
    v.feedback("d1", "good")
    v.feedback("d2", "bad")
    v.undo_feedback("f3")
    status = v.status()
    assert (status.built, status.vectors_behind, status.judged_pairs > 0) == (True, 0, True)
    assert (status.n_judged_documents, status.feedback) == (1, {"active": 2, "undone": 1})
    assert (status.method, status.calibrated) == ("veridical", False)
    assert status.bytes > 10_000
    assert (status.query_log, status.questions, status.question_pairs, status.made_pairs) == (True, 0, 0, 0)
    with v.store.write() as connection:
        questions.log(connection, "Which setting does the gateway of the office use?")
    v.questions.switch(on=False)
    status = v.status()
    assert (status.query_log, status.questions, status.questions_behind) == (False, 1, 1)
    v.build()
    status = v.status()
    assert (status.questions_behind, status.question_pairs) == (0, 6)
    (corpus / "wiki" / "new.md").write_text("# new\n\nA new page.\n", "utf-8")
    v.ingest(corpus, key_root=corpus)
    assert v.status().vectors_behind == 1
