"""Opening, migrating, locking and transactions of a knowledge base."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from stored import count, passage_ids, put

from veridical.errors import BusyError, StoreError
from veridical.stores import Store, documents, engine, schema, values


def test_a_new_store_has_exactly_the_schema_that_the_code_describes(store: Store) -> None:
    with store.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        assert context.get_current_revision() == engine.HEAD_REVISION


def test_a_store_is_opened_again_as_it_was_left(tmp_path: Path) -> None:
    first = Store(tmp_path / "kb", create=True)
    with first.write() as connection:
        put(connection, "a", "One.")
    first.close()
    again = Store(tmp_path / "kb")
    with again.read() as connection:
        assert [d.key for d in documents.every(connection)] == ["a"]
    again.close()


def test_a_store_that_is_not_there_is_only_made_on_demand(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no knowledge base") as caught:
        Store(tmp_path / "kb")
    assert "veridical ingest" in caught.value.hint
    assert not (tmp_path / "kb").exists()


def test_a_file_where_the_folder_should_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "kb").write_text("x", "utf-8")
    with pytest.raises(StoreError, match="cannot be made"):
        Store(tmp_path / "kb", create=True)


def test_the_database_writes_ahead_and_enforces_references(store: Store) -> None:
    with store.read() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_newer_schema_is_refused_and_left_alone(store: Store) -> None:
    with store.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    store.close()
    with pytest.raises(StoreError, match=r"newer veridical.*9999") as caught:
        Store(store.folder)
    assert "Upgrade veridical" in caught.value.hint


def test_a_database_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "kb.sqlite")
    other.execute("CREATE TABLE recipes (id INTEGER)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match="something else"):
        Store(tmp_path, create=True)
    other = sqlite3.connect(tmp_path / "kb.sqlite")
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    other.close()


@pytest.mark.parametrize("data", [b"not a database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_damaged_file_is_refused_with_the_way_out(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "kb.sqlite").write_bytes(data)
    with pytest.raises(StoreError, match=r"kb\.sqlite") as caught:
        Store(tmp_path)
    assert "veridical import" in caught.value.hint


def test_damage_found_while_reading_is_our_error_too(store: Store) -> None:
    with store.write() as connection:
        for number in range(200):
            put(connection, f"k{number}", f"Text {number}.\n" * 50)
    store.close()
    with sqlite3.connect(store.database) as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page = plain.execute("SELECT rootpage FROM sqlite_master WHERE name='documents'").fetchone()[0]
    plain.close()
    data = bytearray(store.database.read_bytes())
    data[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    store.database.write_bytes(bytes(data))
    opened = Store(store.folder)
    with pytest.raises(StoreError, match="damaged"), opened.read() as connection:
        documents.every(connection)
    opened.close()


def test_several_processes_may_make_the_same_store_at_once(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from veridical.stores import Store\n"
    code += "Store(Path(sys.argv[1]), create=True).close()"
    command = [sys.executable, "-c", code, str(tmp_path / "kb")]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(4)]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    Store(tmp_path / "kb").close()


LATER_REVISION = '''
"""A later schema: the table that everything refers to is made anew."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    with op.batch_alter_table("documents", recreate="always") as batch:
        batch.add_column(sa.Column("language", sa.String()))
    {more}
'''


@pytest.fixture
def later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the migrations to which a test adds a later revision; returns its file."""
    folder = tmp_path / "migrations"
    shutil.copytree(engine.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(engine, "MIGRATIONS", folder)
    monkeypatch.setattr(engine, "HEAD_REVISION", "0004")
    return folder / "versions" / "m0004_later.py"


def test_an_older_store_is_migrated_on_open_and_loses_no_row(store: Store, later: Path) -> None:
    with store.write() as connection:
        document_id = put(connection, "a", "One.\nTwo.")
        before = passage_ids(connection, document_id)
    later.write_text(LATER_REVISION.format(more=""), "utf-8")
    # The first is still open, so what it wrote may lie in the write-ahead log only.
    migrated = Store(store.folder)
    with migrated.read() as connection:
        assert "language" in {c["name"] for c in sa.inspect(connection).get_columns("documents")}
        assert passage_ids(connection, document_id) == before
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
    migrated.close()
    with sqlite3.connect(store.folder / "kb.before-0004") as backup:
        assert backup.execute("SELECT version_num FROM alembic_version").fetchone() == ("0003",)
        assert backup.execute("SELECT count(*) FROM passages").fetchone() == (2,)
    backup.close()


@pytest.mark.parametrize(
    "more", ["raise RuntimeError('stop')", "op.execute('DELETE FROM documents')"], ids=["fails", "dangles"]
)
def test_a_migration_that_goes_wrong_changes_nothing(store: Store, later: Path, more: str) -> None:
    with store.write() as connection:
        document_id = put(connection, "a", "One.\nTwo.")
    later.write_text(LATER_REVISION.format(more=more), "utf-8")
    with pytest.raises((RuntimeError, StoreError)):
        Store(store.folder)
    with store.read() as connection:
        assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "0003"
        assert "language" not in {c["name"] for c in sa.inspect(connection).get_columns("documents")}
        assert len(passage_ids(connection, document_id)) == 2


def as_first_released(folder: Path) -> Path:
    """A database of the first schema, with a row in every table that held truth."""
    database = folder / engine.DATABASE
    made = sa.create_engine(f"sqlite:///{database}")
    config = Config()
    config.set_main_option("script_location", str(engine.MIGRATIONS))
    with made.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
    made.dispose()
    with closing(sqlite3.connect(database)) as plain, plain:
        plain.execute(
            "INSERT INTO documents VALUES "
            "(4, 'a', 'v', 'T', 'One.', 'h', 's', NULL, '2020', 'text', NULL, '{}')"
        )
        plain.execute("INSERT INTO passages VALUES (7, 4, 0, 0, 4, 'One.', 'h', 'i')")
        plain.execute("INSERT INTO feedback VALUES (2, 'a', 'v', 1.0, 1.0, 'me', 'why', 'then', 3, NULL)")
        plain.execute("INSERT INTO answers VALUES (3, 'Q?', 'One.', 'answered', 'm', 'g', 'then')")
        plain.execute("INSERT INTO answer_documents VALUES (3, 0, 'a', 'v', 1)")
        plain.execute("INSERT INTO settings VALUES ('method', 'trustprop')")
    return database


def test_a_store_of_the_first_schema_is_brought_up_to_date_and_keeps_what_it_held(tmp_path: Path) -> None:
    tables = ("documents", "passages", "feedback", "answers", "answer_documents", "settings")
    with closing(sqlite3.connect(as_first_released(tmp_path))) as plain:
        before = {name: plain.execute(f"SELECT * FROM {name}").fetchall() for name in tables}
    opened = Store(tmp_path)
    with opened.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
        for name in tables:
            after = connection.exec_driver_sql(f"SELECT * FROM {name}").fetchall()
            assert [tuple(row)[: len(before[name][0])] for row in after] == before[name]
        assert connection.execute(sa.select(schema.feedback.c.candidate)).scalar_one() is None
    with opened.write() as connection:  # ids go on where they were
        assert put(connection, "b", "Two.") == 5
    opened.close()


def test_what_hangs_on_a_question_an_answer_or_a_passage_goes_with_it(store: Store) -> None:
    with store.write() as connection:
        document_id = put(connection, "a", "One.\nTwo.")
        one, two = sorted(passage_ids(connection, document_id).values())
        run = connection.execute
        for number in (1, 2):
            run(
                schema.questions.insert().values(
                    id=number, text="Q?", text_hash=str(number), origin="asked", at="then", n_asked=1
                )
            )
            run(schema.question_vectors.insert().values(question_id=number, encoder="e", data=b""))
            pool = {"question_id": number, "passage_id": one}
            run(schema.question_pools.insert().values(**pool, similarity=0.5))
            run(schema.readings.insert().values(**pool, reader="r", no_answer=1.0, answers=[]))
            verdict = {
                "question": f"Q{number}?",
                "origin": "asked",
                "asker": 0,
                "support": 1.0,
                "contradiction": 0.0,
            }
            pair = {"question_id": number, "low_passage": one, "high_passage": two, "reader": "r"}
            run(schema.question_pairs.insert().values(**pair, **verdict))
        run(schema.signatures.insert().values(document_id=document_id, data=b""))
        answer = {"question": "Q?", "text": "One.", "status": "answered", "method": "m"}
        run(schema.answers.insert().values(id=1, **answer, generator="g", at="then"))
        run(
            schema.answer_candidates.insert().values(
                answer_id=1, number=1, text="One", weight=1.0, probability=0.5
            )
        )
        run(schema.candidate_documents.insert().values(answer_id=1, number=1, key="a", version="v", part=1.0))
    hanging = (schema.question_pools, schema.readings, schema.question_pairs)
    with store.write() as connection:
        connection.execute(schema.questions.delete().where(schema.questions.c.id == 1))
        assert [count(connection, table) for table in (schema.question_vectors, *hanging)] == [1, 1, 1, 1]
        connection.execute(schema.answers.delete())
        assert (
            count(connection, schema.answer_candidates) == count(connection, schema.candidate_documents) == 0
        )
        documents.delete(connection, document_id)
        assert [count(connection, table) for table in (schema.signatures, *hanging)] == [0, 0, 0, 0]
        assert count(connection, schema.question_vectors) == 1


def test_a_write_that_raises_leaves_no_trace(store: Store) -> None:
    with pytest.raises(RuntimeError, match="stop"), store.write() as connection:
        put(connection, "a", "One.")
        raise RuntimeError("stop")
    with store.read() as connection:
        assert documents.count(connection) == {"documents": 0, "passages": 0, "sources": 0}


def test_readers_see_the_old_state_until_a_write_is_committed(store: Store) -> None:
    with store.write() as connection:
        put(connection, "a", "One.")
    with store.read() as reader:
        assert count(reader, schema.documents) == 1
        with store.write() as writer:
            put(writer, "b", "Two.")
            with store.read() as other:
                assert count(other, schema.documents) == 1
        assert count(reader, schema.documents) == 1  # a snapshot stays what it was
    with store.read() as reader:
        assert count(reader, schema.documents) == 2


def test_a_database_that_stays_locked_is_said_to_be_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "_BUSY_TIMEOUT_MS", 50)
    opened = Store(tmp_path / "kb", create=True)
    with opened.write(), pytest.raises(BusyError, match="locked"), opened.write():
        pass
    with opened.write() as connection:  # and free again
        put(connection, "a", "One.")
    opened.close()


def test_a_wrong_statement_is_not_blamed_on_the_disk(store: Store) -> None:
    with pytest.raises(sa.exc.IntegrityError), store.write() as connection:
        for _ in range(2):
            connection.execute(schema.settings.insert().values(key="k", value="v"))


HOLD = """
import sys, time
from pathlib import Path
from veridical.stores import Store
with Store(Path(sys.argv[1])).exclusive("build"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(store: Store) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the store."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(store.folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.communicate()


def test_the_second_process_learns_who_works_and_since_when(
    store: Store, holder: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(BusyError) as caught, store.exclusive("ingest"):
        pass
    assert "'veridical build'" in caught.value.message
    assert str(holder.pid) in caught.value.message
    assert "for 0 min" in caught.value.message
    with store.write() as connection:  # asking and voting go on meanwhile
        put(connection, "a", "One.")


def test_the_lock_of_a_killed_process_is_free_at_once(store: Store, holder: subprocess.Popen[bytes]) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(30)
    with store.exclusive("ingest"):
        found = json.loads((store.folder / "write.holder").read_text("utf-8"))
        assert (found["task"], found["pid"]) == ("ingest", os.getpid())


def test_the_lock_is_exclusive_within_a_process_too_and_freed_after_an_error(store: Store) -> None:
    other = Store(store.folder)
    with pytest.raises(RuntimeError, match="stop"), store.exclusive("ingest"):
        with pytest.raises(BusyError, match="ingest"), other.exclusive("build"):
            pass
        raise RuntimeError("stop")
    with other.exclusive("build"):
        pass
    other.close()


def test_a_holder_that_cannot_be_read_does_no_harm(store: Store) -> None:
    with store.exclusive("ingest"):
        (store.folder / "write.holder").write_text("{", "utf-8")
        other = Store(store.folder)
        with pytest.raises(BusyError, match="only just begun"), other.exclusive("build"):
            pass
        other.close()


def test_a_holder_that_cannot_be_written_is_an_error_of_ours(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        with pytest.raises(StoreError, match="No space left") as caught, store.exclusive("build"):
            pass
    assert "disk" in caught.value.hint
    with store.exclusive("build"):  # the lock was freed
        pass


def test_a_write_that_is_killed_leaves_the_old_state(store: Store) -> None:
    code = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from stored import put
from veridical.stores import Store
with Store(Path(sys.argv[1])).write() as connection:
    for number in range(500):
        put(connection, f"k{number}", "Some text. " * 100)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", code, str(store.folder), str(Path(__file__).parent)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    with store.write() as connection:
        put(connection, "a", "One.")
        assert documents.count(connection)["documents"] == 1


def test_settings_and_state_are_kept_apart(store: Store) -> None:
    with store.write() as connection:
        values.set_setting(connection, "method", "trustprop")
        values.set_setting(connection, "method", "veridical")
        values.set_state(connection, "method", "state")
    with store.read() as connection:
        assert values.setting(connection, "method") == "veridical"
        assert values.state(connection, "method") == "state"
        assert values.setting(connection, "none", "default") == "default"
        assert values.settings(connection) == {"method": "veridical"}
