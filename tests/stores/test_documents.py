"""Documents: what a change keeps and what it takes with it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sqlalchemy as sa
from stored import count, document_of, paragraphs, passage_ids, put

from veridical.errors import InputError, NotFoundError
from veridical.stores import Store, answers, derived, documents, schema
from veridical.stores.derived import Judgement, NodeTrust
from veridical.types import Answer, Candidate, Citation, Document, Hit, Passage

ENCODER = "hash-384"


def derive(connection: sa.Connection, low: int, high: int) -> None:
    """Give two passages everything that can be derived from them."""
    rows = np.eye(2, 4, dtype=np.float32)
    derived.put_vectors(connection, ENCODER, [low, high], rows, [rows, rows])
    derived.put_neighbours(connection, {low: {high: 0.5}, high: {low: 0.5}})
    derived.put_judgements(connection, "nli-1", [Judgement(low, high, 0.7, 0.1)])


def test_the_same_document_twice_changes_nothing(store: Store) -> None:
    document = document_of("a", "One.\nTwo.", title="T", source="s", date="2024", metadata={"path": "a"})
    with store.write() as connection:
        assert documents.put(connection, document, paragraphs(document.text), "a") == ("added", 1)
        before = passage_ids(connection, 1)
        assert documents.put(connection, document, paragraphs(document.text), "a") == ("unchanged", 1)
        assert passage_ids(connection, 1) == before
        assert documents.count(connection) == {"documents": 1, "passages": 2, "sources": 1}


def test_a_changed_document_keeps_its_id_and_its_unchanged_passages(store: Store) -> None:
    with store.write() as connection:
        document_id = put(connection, "a", "One.\nTwo.\nThree.")
        other = put(connection, "b", "Other.")
        before = passage_ids(connection, document_id)
        derive(connection, before["Three."], passage_ids(connection, other)["Other."])
        changed = document_of("a", "Zero.\nOne.\nThree.")
        assert documents.put(connection, changed, paragraphs(changed.text), None) == ("replaced", document_id)
        after = passage_ids(connection, document_id)
        assert after["One."] == before["One."]
        assert after["Three."] == before["Three."]
        assert after["Zero."] > max(before.values())
        assert len(derived.judgements(connection)) == 1
        assert len(derived.all_vectors(connection, ENCODER)[0]) == 2
        for passage in documents.passages_by_ids(connection, list(after.values())).values():
            assert changed.text[passage.start : passage.end] == passage.text
        ordinals = {p.text: p.ordinal for p in documents.every_passage(connection) if p.document_id == 1}
        assert ordinals == {"Zero.": 0, "One.": 1, "Three.": 2}


def test_a_passage_that_went_takes_all_that_was_derived_from_it(store: Store) -> None:
    with store.write() as connection:
        first, second = put(connection, "a", "One.\nTwo."), put(connection, "b", "Other.")
        derive(connection, passage_ids(connection, first)["Two."], passage_ids(connection, second)["Other."])
        put(connection, "a", "One.")
        assert derived.judgements(connection) == []
        assert derived.neighbours(connection) == {}
        assert len(derived.all_vectors(connection, ENCODER)[0]) == 1
        assert count(connection, schema.sentence_vectors) == 1


def test_equal_passages_of_one_document_are_told_apart_by_their_order(store: Store) -> None:
    with store.write() as connection:
        put(connection, "a", "Same.\nSame.\nOther.")
        before = [p.id for p in documents.every_passage(connection) if p.text == "Same."]
        put(connection, "a", "Same.\nSame.\nSame.")
        after = [p.id for p in documents.every_passage(connection)]
        assert after[:2] == before
        assert len(set(after)) == 3


def test_a_new_title_makes_passages_new_since_the_indexes_see_it(store: Store) -> None:
    with store.write() as connection:
        document_id = put(connection, "a", "One.", title="Old")
        before = passage_ids(connection, document_id)
        put(connection, "a", "One.", title="New")
        assert passage_ids(connection, document_id)["One."] != before["One."]


def test_a_replaced_document_loses_its_trust_and_others_keep_theirs(store: Store) -> None:
    with store.write() as connection:
        first, second = put(connection, "a", "One."), put(connection, "b", "Two.")
        rows = [NodeTrust("document", str(i), 0.9, 0.9) for i in (first, second)]
        rows.append(NodeTrust("source", str(first), 0.4, None))
        derived.put_trust(connection, "veridical", rows)
        put(connection, "a", "Something else.")
        assert derived.trust(connection, "veridical") == rows[1:]


def test_a_change_of_metadata_alone_keeps_passages_and_trust(store: Store) -> None:
    with store.write() as connection:
        document_id = put(connection, "a", "One.", source="old")
        before = passage_ids(connection, document_id)
        trust = [NodeTrust("document", str(document_id), 0.9, 0.9)]
        derived.put_trust(connection, "veridical", trust)
        changed = document_of("a", "One.", source="new", date="2024-05")
        assert documents.put(connection, changed, paragraphs("One."), None)[0] == "replaced"
        found = documents.find(connection, "a")
        assert (found.source, found.date) == ("new", "2024-05")
        assert passage_ids(connection, document_id) == before
        assert derived.trust(connection, "veridical") == trust


def test_a_corpus_that_moved_says_what_it_said(store: Store) -> None:
    with store.write() as connection:
        document = document_of("a", "One.")
        documents.put(connection, document, paragraphs("One."), "old/a.txt")
        assert documents.put(connection, document, paragraphs("One."), "new/a.txt")[0] == "unchanged"
        origin = connection.execute(sa.select(schema.documents.c.origin)).scalar_one()
        assert origin == "new/a.txt"


def test_deleting_takes_everything_along_and_no_id_is_used_again(store: Store) -> None:
    with store.write() as connection:
        first, second = put(connection, "a", "One."), put(connection, "b", "Two.")
        derive(connection, passage_ids(connection, first)["One."], passage_ids(connection, second)["Two."])
        derived.put_trust(connection, "veridical", [NodeTrust("document", str(second), 0.9, 0.9)])
        gone = passage_ids(connection, second)["Two."]
        documents.delete(connection, second)
        assert [d.key for d in documents.every(connection)] == ["a"]
        assert derived.judgements(connection) == []
        assert derived.neighbours(connection) == {}
        assert derived.trust(connection, "veridical") == []
        assert len(derived.all_vectors(connection, ENCODER)[0]) == 1
        assert documents.passages_by_ids(connection, [gone]) == {}
        again = put(connection, "b", "Two.")
        assert again > second
        assert passage_ids(connection, again)["Two."] > gone
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


def test_an_answer_that_quoted_a_deleted_document_loses_its_text(store: Store) -> None:
    with store.write() as connection:
        first, second = put(connection, "a", "Secret."), put(connection, "b", "Public.")
        quoting, other = (answers.put(connection, answer(connection, i)) for i in (first, second))
        documents.delete(connection, first)
        table = schema.answers
        texts = {row.id: row.text for row in connection.execute(sa.select(table.c.id, table.c.text))}
        assert "Secret" not in texts[quoting]
        assert texts[other] == "It says Public."


def answer(connection: sa.Connection, document_id: int) -> Answer:
    """An answer that cites one document and had another in its context."""
    hits = []
    for document in documents.every(connection):
        passage = documents.every_passage(connection)[0]
        hits.append(Hit(passage, document, 1.0, 1, 1.0))
    text = documents.text_of(connection, document_id)
    citation = Citation("1", document_id, None, text, 0, len(text), True)
    return Answer(0, "?", f"It says {text}", "answered", "veridical", "test", (citation,), (), tuple(hits))


def test_feedback_on_an_answer_goes_to_the_documents_that_it_cited(store: Store) -> None:
    with store.write() as connection:
        put(connection, "a", "One.")
        second = put(connection, "b", "Two.")
        answer_id = answers.put(connection, answer(connection, second))
        version = documents.find(connection, "b").version
        voted = answers.voted_documents(connection, f"a{answer_id}")
        assert voted == answers.Voted(answer_id, None, (("b", version, 1.0),))


def test_an_answer_that_cited_nothing_or_does_not_exist_takes_no_feedback(store: Store) -> None:
    with store.write() as connection:
        silent = Answer(0, "?", "", "no_evidence", "veridical", "none")
        answer_id = answers.put(connection, silent)
        with pytest.raises(NotFoundError, match="cited no document"):
            answers.voted_documents(connection, f"a{answer_id}")
        with pytest.raises(NotFoundError, match="no answer a77"):
            answers.voted_documents(connection, "a77")


@pytest.mark.parametrize(
    ("ref", "named"),
    [
        ("a1", (1, None)),
        (" a12 ", (12, None)),
        ("a1.2", (1, 2)),
        ("a1.0", (1, 0)),
        ("d1", None),
        ("a", None),
        ("a.1", None),
        ("a1.", None),
        ("a1.2.3", None),
        ("a1.md", None),
        ("a1.-2", None),
    ],
)
def test_answers_and_their_candidates_have_short_names(
    ref: str, named: tuple[int, int | None] | None
) -> None:
    assert answers.parse(ref) == named
    assert answers.is_ref(ref) is (named is not None)


def with_candidates(connection: sa.Connection, document_id: int, generator: str = "test") -> int:
    """An answer with two candidates: the first by document "a", the second by "a" and "b"."""
    candidates = (Candidate(1, "One", 2.0, 0.6), Candidate(2, "Two", 1.0, 0.3))
    behind = [
        answers.CandidateDocument(1, "a", "v1", 1.0),
        answers.CandidateDocument(2, "b", "v2", 0.7),
        answers.CandidateDocument(2, "a", "v1", 1.0),
    ]
    made = replace(answer(connection, document_id), candidates=candidates, generator=generator)
    return answers.put(connection, made, behind)


def test_a_vote_on_a_candidate_goes_to_those_who_give_it_by_their_share(store: Store) -> None:
    with store.write() as connection:
        put(connection, "a", "One.")
        i = with_candidates(connection, put(connection, "b", "Two."))
        second = answers.voted_documents(connection, f"a{i}.2")
        assert second == answers.Voted(i, 2, (("a", "v1", 1.0), ("b", "v2", 0.7)))
        assert answers.voted_documents(connection, f"a{i}").candidate is None


def test_a_vote_on_what_the_reader_answered_is_one_on_the_first_candidate(store: Store) -> None:
    with store.write() as connection:
        i = with_candidates(connection, put(connection, "a", "One."), answers.READER)
        assert answers.voted_documents(connection, f"a{i}") == answers.Voted(i, 1, (("a", "v1", 1.0),))


@pytest.mark.parametrize("number", ["0", "3", "99", "999999999999999999"])
def test_a_candidate_that_is_not_there_is_refused_with_those_there_are(store: Store, number: str) -> None:
    with store.write() as connection:
        i = with_candidates(connection, put(connection, "a", "One."))
        with pytest.raises(NotFoundError, match=f"no candidate {number}") as caught:
            answers.voted_documents(connection, f"a{i}.{number}")
        assert f"a{i}.1 to a{i}.2" in caught.value.hint


def test_an_answer_that_read_nothing_has_no_candidates_to_vote_on(store: Store) -> None:
    with store.write() as connection:
        i = answers.put(connection, answer(connection, put(connection, "a", "One.")))
        with pytest.raises(NotFoundError, match="no candidate 1") as caught:
            answers.voted_documents(connection, f"a{i}.1")
        assert "without reading" in caught.value.hint


def test_a_candidate_that_a_deleted_document_gave_loses_its_text(store: Store) -> None:
    with store.write() as connection:
        first = put(connection, "b", "Two.")
        i = with_candidates(connection, put(connection, "a", "One."))
        documents.delete(connection, first)
        table = schema.answer_candidates
        query = sa.select(table.c.number, table.c.text).where(table.c.answer_id == i)
        texts = {row.number: row.text for row in connection.execute(query)}
        assert texts[1] == "One"
        assert "Two" not in texts[2]


def test_a_document_is_found_by_short_id_and_by_key(store: Store) -> None:
    with store.write() as connection:
        document_id = put(connection, "wiki/ports.md", "One.\nTwo.", title="Ports", source="wiki")
        found = documents.find(connection, "wiki/ports.md")
        assert documents.find(connection, f" d{document_id} ") == found
        assert isinstance(found, Document)
        assert (found.ref, found.n_passages, found.n_chars) == ("d1", 2, len("One.\nTwo."))


def test_a_short_id_that_is_the_key_of_another_document_is_refused(store: Store) -> None:
    with store.write() as connection:
        put(connection, "d2", "One.")
        assert documents.find(connection, "d2").key == "d2"
        put(connection, "b", "Two.")
        with pytest.raises(InputError, match=r"'d2'.*\(b\).*\(d1\)") as caught:
            documents.find(connection, "d2")
        assert "id:2" in caught.value.hint
        assert "key:d2" in caught.value.hint
        put(connection, "d3", "Three.")
        assert documents.find(connection, "d3").id == 3  # both name the same document


def test_a_prefix_says_whether_an_id_or_a_key_is_meant(store: Store) -> None:
    with store.write() as connection:
        for key in ("d2", "b", "key:d2", "id:1"):
            put(connection, key, f"Text of {key}.")
        refs = ("id:2", "id:d2", "key:d2", "key:key:d2", "key:id:1", "id:1", "key:b")
        found = [documents.find(connection, ref).key for ref in refs]
        assert found == ["b", "b", "d2", "key:d2", "id:1", "d2", "b"]
        for ref in ("id:9", "key:d1", "key:"):
            with pytest.raises(NotFoundError):
                documents.find(connection, ref)


@pytest.mark.parametrize("ref", ["d99", "ports", "old/ports.md", "", "%", "d" + "9" * 30, "_", "d٣"])
def test_what_is_not_there_is_refused(store: Store, ref: str) -> None:
    with store.write() as connection:
        put(connection, "wiki/ports.md", "One.")
        with pytest.raises(NotFoundError, match="No document is called"):
            documents.find(connection, ref)


def test_near_keys_are_offered(store: Store) -> None:
    with store.write() as connection:
        put(connection, "wiki/ports.md", "One.")
        with pytest.raises(NotFoundError) as caught:
            documents.find(connection, "old/ports.md")
        assert "d1 (wiki/ports.md)" in caught.value.hint
        with pytest.raises(NotFoundError) as caught:
            documents.find(connection, "100%")  # no pattern
        assert "ports" not in caught.value.hint


def test_more_ids_than_one_statement_takes(store: Store) -> None:
    n = 1203
    with store.write() as connection:
        for number in range(n):
            put(connection, f"k{number}", f"Text {number}.")
        ids = list(range(1, n + 1))
        assert sorted(documents.by_ids(connection, ids)) == ids
        assert sorted(documents.passages_by_ids(connection, [*ids, n + 7])) == ids
        assert documents.by_ids(connection, []) == {}
        put(connection, "long", "\n".join(f"Line {number}." for number in range(n)))
        put(connection, "long", "All gone.")
        assert documents.count(connection)["passages"] == n + 1


def test_passages_come_whole(store: Store) -> None:
    with store.write() as connection:
        put(connection, "a", "One.\nTwo.")
        assert documents.every_passage(connection) == [
            Passage(1, 1, 0, 0, 4, "One."),
            Passage(2, 1, 1, 5, 9, "Two."),
        ]


@pytest.mark.parametrize(
    ("title", "text", "seen"),
    [
        ("", "Text.", "Text."),
        ("Title", "Text.", "Title\nText."),
        (" Title ", "\nTitle: text", "\nTitle: text"),
    ],
)
def test_indexes_see_the_title_once(title: str, text: str, seen: str) -> None:
    assert documents.index_text(title, text) == seen
