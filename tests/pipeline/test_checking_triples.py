"""Check names whatever of the triples, their vectors and their credibilities was corrupted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from veridical import Veridical
from veridical.corpus.split import sentences
from veridical.evidence.triples import Extraction, Found
from veridical.stores import documents, triples
from veridical.stores.derived import DIMENSIONS


@pytest.fixture
def with_triples(kb: Veridical) -> Veridical:
    """The knowledge base with one triple a sentence, embedded and judged."""
    with kb.store.write() as connection:
        found = {
            passage.id: Extraction(
                tuple(Found("it", "says", s.text, s.start, s.end) for s in sentences(passage.text))
            )
            for passage in documents.every_passage(connection)
        }
        triples.put_extractions(connection, "x", found)
        vectors = {i: np.zeros((len(one.triples), DIMENSIONS), np.float32) for i, one in found.items()}
        triples.put_vectors(connection, "x", "e", vectors)
        stored = triples.extracted(connection, "x", list(found))
        ids = [triple.id for one in stored.values() for triple in one]
        triples.put_triple_credibilities(connection, "j", {ids[0]: None, ids[1]: 1.0})
        triples.put_passage_credibilities(connection, "j", dict.fromkeys(found, 0.5))
    return kb


def test_triples_as_they_were_put_are_sound(with_triples: Veridical) -> None:
    assert with_triples.check().problems == ()


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE triples SET sentence_end = 9999 WHERE id = 1", "The triples of passage"),
        ("UPDATE triples SET relation = '' WHERE id = 1", "The triples of passage"),
        ("DELETE FROM triples WHERE id = 1", "The triples of passage"),
        ("DELETE FROM extractions WHERE passage_id = 2", "The triples of passage 2"),
        ("UPDATE triple_vectors SET data = x'0000' WHERE passage_id = 2", "of a triple of passage 2"),
        ("UPDATE triple_vectors SET data = 'no' WHERE passage_id = 2", "of a triple of passage 2"),
        ("UPDATE credibilities SET value = 3", "How far triple 1 is believed"),
        ("UPDATE passage_credibilities SET value = 'x' WHERE passage_id = 2", "How far passage 2 is"),
        ("INSERT INTO credibilities VALUES (9999, 'j', 0.5)", "A row of credibilities refers to"),
        ("INSERT INTO extractions VALUES (9999, 'x', 0, NULL)", "A row of extractions refers to"),
    ],
)
def test_what_is_corrupted_of_triples_is_named(with_triples: Veridical, statement: str, named: str) -> None:
    with with_triples.store.engine.connect() as connection:
        connection.exec_driver_sql("ROLLBACK")
        connection.exec_driver_sql("PRAGMA foreign_keys=OFF")
        connection.exec_driver_sql(statement)
        connection.exec_driver_sql("PRAGMA foreign_keys=ON")
        connection.exec_driver_sql("BEGIN")
    problems = with_triples.check().problems
    assert any(named in problem for problem in problems), problems


def test_an_export_carries_no_triples_and_an_import_begins_without(
    with_triples: Veridical, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("export") / "kb.zip"
    with_triples.export(file)
    other = Veridical(file.parent / "other")
    other.import_(file)
    with other.store.read() as connection:
        ids = [passage.id for passage in documents.every_passage(connection)]
        assert triples.without_extraction(connection, "x") == ids != []
    assert other.check().problems == ()
    other.close()
