"""Reading: what the nearest passages answer, who is believed, when not to answer, and what is kept of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa

from veridical import Veridical
from veridical.errors import LLMError, MissingExtraError, ModelError
from veridical.llm.scripted import ScriptedLLM
from veridical.reading.base import ReadAnswer, Reading
from veridical.stores import questions, schema
from veridical.testing.fakes import FakeReader
from veridical.types import Answer

Open = Callable[..., Veridical]
GATEWAY = "Which setting does the gateway of the office use?"
NOWHERE = "Which setting does the lighthouse of the office use?"
SAYS_8080 = ("blog/gateway.md", "forum/gateway.md")


class BrokenReader(FakeReader):
    """Cannot be had, for the reason given."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self._error = error

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        raise self._error


class UnsureReader(FakeReader):
    """Reads as FakeReader does, but is sure of nothing."""

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        return [
            Reading(tuple(ReadAnswer(a.text, a.start, a.end, 0.04) for a in reading.answers), 0.9)
            for reading in super().read_pairs(pairs)
        ]


@pytest.fixture
def judged(kb: Veridical) -> Veridical:
    """One page of those that say 8080 is known to be wrong."""
    kb.feedback("blog/gateway.md", "bad")
    return kb


def keys(v: Veridical, answer: Answer, number: int) -> set[str]:
    by_id = {document.id: document.key for document in v.documents()}
    return {by_id[w.document_id] for w in answer.candidates[number].witnesses}


def test_the_answer_is_the_heaviest_candidate_with_its_probability_and_checked_citations(
    judged: Veridical,
) -> None:
    answer = judged.ask(GATEWAY)
    assert (answer.status, answer.generator, answer.text) == ("answered", "reader", "443")
    assert answer.probability == answer.candidates[0].probability
    assert answer.candidates[0].text == "443"
    assert [c.quote for c in answer.citations] == [
        "The gateway of the office uses setting 443 since the last change."
    ] * 2
    for citation in answer.citations:
        passage = answer.hits[int(citation.marker.strip("[]")) - 1].passage
        assert citation.valid
        assert (citation.document_id, citation.passage_id) == (passage.document_id, passage.id)
    assert "read" in answer.seconds


def test_each_candidate_shows_who_gives_it_how_far_they_are_trusted_and_the_sentence(
    judged: Veridical,
) -> None:
    answer = judged.ask(GATEWAY)
    assert [c.text for c in answer.candidates] == ["443", "8080"]
    assert [c.number for c in answer.candidates] == [1, 2]
    assert keys(judged, answer, 0) == {"handbook/gateway.md", "wiki/gateway.md"}
    assert keys(judged, answer, 1) == set(SAYS_8080)
    trust = {node.ref: node.trust for node in judged.trust().documents}
    for candidate in answer.candidates:
        for witness in candidate.witnesses:
            assert witness.trust == trust[f"d{witness.document_id}"]
            assert witness.title.endswith("on the gateway")
            with judged.store.read() as connection:
                table = schema.documents
                query = sa.select(table.c.key, table.c.text).where(table.c.id == witness.document_id)
                row = connection.execute(query).one()
            assert row.key == witness.key
            for span in (witness.answer, witness.sentence):
                assert row.text[span.start : span.end] == span.text


def test_evidence_that_is_tied_is_shown_and_not_answered_from(kb: Veridical) -> None:
    answer = kb.ask(GATEWAY)
    assert (answer.status, answer.text, answer.citations) == ("abstained", "", ())
    assert {c.text for c in answer.candidates} == {"443", "8080"}
    assert any("about as likely" in note for note in answer.notes)
    assert any("What would help: a vote on a candidate" in note for note in answer.notes)


def test_thin_evidence_is_shown_and_not_answered_from(open_kb: Open, kb: Veridical) -> None:
    v = open_kb("kb", reader=UnsureReader())
    v.feedback("blog/gateway.md", "bad")
    v.feedback("forum/gateway.md", "bad")
    answer = v.ask(GATEWAY)
    assert (answer.status, answer.text) == ("abstained", "")
    assert answer.candidates
    assert any("thin" in note for note in answer.notes)


def test_who_insists_gets_the_likeliest_answer_and_is_told(kb: Veridical) -> None:
    answer = kb.ask(GATEWAY, always_answer=True)
    assert answer.status == "answered"
    assert answer.text == answer.candidates[0].text
    assert answer.citations
    assert any("tied" in note for note in answer.notes)
    assert any("all the same" in note for note in answer.notes)
    assert not any("What would help" in note for note in answer.notes)


def test_where_no_passage_answers_there_is_no_answer_unless_somebody_insists(kb: Veridical) -> None:
    answer = kb.ask(NOWHERE)
    assert (answer.status, answer.text, answer.candidates) == ("no_evidence", "", ())
    assert any("None of the 16 passages" in note for note in answer.notes)
    insisted = kb.ask(NOWHERE, always_answer=True)
    assert (insisted.status, insisted.generator) == ("answered", "extractive")
    assert insisted.text
    assert any("None of the 16 passages" in note for note in insisted.notes)


def test_without_reading_nothing_is_read_and_answers_are_what_they_were(open_kb: Open, kb: Veridical) -> None:
    reader = FakeReader()
    answer = open_kb("kb", reader=reader).ask(GATEWAY, read=False)
    assert reader.n_read == 0
    assert (answer.status, answer.generator, answer.candidates) == ("answered", "extractive", ())
    assert answer.text.startswith("The gateway of the office uses setting")
    assert answer.probability is None
    assert "read" not in answer.seconds


def test_the_published_method_has_no_board(open_kb: Open, kb: Veridical) -> None:
    reader = FakeReader()
    answer = open_kb("kb", reader=reader).ask(GATEWAY, method="trustprop")
    assert (reader.n_read, answer.candidates, answer.generator) == (0, (), "extractive")


@pytest.mark.parametrize(
    "error",
    [
        ModelError("The model is not here.", "Pull it."),
        MissingExtraError("local", "Reading"),
        LLMError("The server is on fire.", "Wait."),
    ],
)
def test_a_reader_that_cannot_be_had_leaves_plain_answers_and_says_why(
    open_kb: Open, kb: Veridical, error: Exception
) -> None:
    v = open_kb("kb", reader=BrokenReader(error))
    for generator in ("auto", "reader", "extractive"):
        answer = v.ask(GATEWAY, generator=generator)
        assert (answer.status, answer.generator, answer.candidates) == ("answered", "extractive", ())
        [note] = [note for note in answer.notes if "not read one by one" in note]
        assert str(error).split("\n")[0] in note


def test_the_nearest_passages_are_read_and_those_ranked_first_besides(
    open_kb: Open, judged: Veridical
) -> None:
    for n_read, top_k, expected in ((1, 1, {1, 2}), (3, 1, {3, 4}), (20, 5, {16}), (1, 16, {16})):
        reader = FakeReader()
        open_kb("kb", reader=reader).ask(GATEWAY, n_read=n_read, top_k=top_k)
        assert reader.n_read in expected


def test_what_is_cited_stands_among_the_hits_even_beyond_the_first(judged: Veridical) -> None:
    answer = judged.ask(GATEWAY, top_k=1)
    assert len(answer.citations) == len(answer.hits) == 2
    assert {c.passage_id for c in answer.citations} == {hit.passage.id for hit in answer.hits}
    assert [c.marker for c in answer.citations] == ["[1]", "[2]"]
    assert "gives an answer" in answer.hits[1].reasons[0].text
    assert not {hit.passage.id for hit in answer.kept_out} & {hit.passage.id for hit in answer.hits}


def test_trust_decides_between_answers_and_switched_off_does_not(judged: Veridical) -> None:
    judged.feedback("forum/gateway.md", "bad")
    believed, plain = judged.ask(GATEWAY), judged.ask(GATEWAY, use_trust=False)
    assert believed.candidates[0].text == "443"
    assert believed.candidates[0].probability > plain.candidates[0].probability
    assert all(w.trust is None for c in plain.candidates for w in c.witnesses)
    assert plain.status == "abstained"


def test_a_configured_language_model_answers_from_the_board(open_kb: Open, judged: Veridical) -> None:
    llm = ScriptedLLM(["It uses setting 443 [1]."])
    answer = open_kb("kb", llm=llm).ask(GATEWAY)
    assert (answer.status, answer.generator, answer.text) == (
        "answered",
        "scripted",
        "It uses setting 443 [1].",
    )
    assert [c.text for c in answer.candidates] == ["443", "8080"]
    assert answer.probability is None
    prompt = llm.calls[0][1].content
    assert prompt.index("<answer>443</answer>") < prompt.index("<answer>8080</answer>")
    assert "trust: LOW" in prompt
    assert "printer" not in prompt


@pytest.mark.parametrize("options", [{"read": False}, {"use_trust": False}, {"method": "trustprop"}])
def test_a_language_model_sees_the_passages_where_no_board_is_asked_for(
    open_kb: Open, judged: Veridical, options: dict[str, object]
) -> None:
    llm = ScriptedLLM(["It uses setting 443 [1]."])
    open_kb("kb", llm=llm).ask(GATEWAY, **options)
    assert "<answer>" not in llm.calls[0][1].content
    assert "Documents:" in llm.calls[0][1].content


def test_a_language_model_sees_the_passages_where_the_board_says_nothing(
    open_kb: Open, kb: Veridical
) -> None:
    llm = ScriptedLLM(["The documents do not answer this."])
    answer = open_kb("kb", llm=llm).ask(NOWHERE)
    assert answer.status == "answered"
    assert "Documents:" in llm.calls[0][1].content


def test_the_reader_comes_before_the_embedded_model_which_is_asked_only_by_name(
    open_kb: Open, judged: Veridical
) -> None:
    llm = ScriptedLLM(["It uses setting 443 [1]."] * 3)
    v = open_kb("kb", embedded=llm)
    assert v.ask(GATEWAY).generator == "reader"
    assert llm.calls == []
    assert v.ask(GATEWAY, generator="llm").generator == "scripted"
    assert v.ask(GATEWAY, read=False).generator == "extractive"


def test_the_reader_can_be_asked_for_where_a_language_model_is_configured(
    open_kb: Open, judged: Veridical
) -> None:
    v = open_kb("kb", llm=ScriptedLLM([]))
    assert v.ask(GATEWAY, generator="reader").generator == "reader"
    sentence = v.ask(GATEWAY, generator="extractive")
    assert sentence.generator == "extractive"
    assert [c.text for c in sentence.candidates] == ["443", "8080"]


def test_a_language_model_that_fails_leaves_the_board(open_kb: Open, judged: Veridical) -> None:
    answer = open_kb("kb", llm=ScriptedLLM([LLMError("Down.", "Wait.")])).ask(GATEWAY)
    assert (answer.status, answer.text) == ("failed", "")
    assert [c.text for c in answer.candidates] == ["443", "8080"]


def dated(tmp_path: Path) -> Path:
    rows = [
        {"id": "old", "date": "2020-05-01", "text": "The gateway of the office uses setting 1 now."},
        {"id": "new", "date": "2024-05-01", "text": "The gateway of the office uses setting 2 now."},
        *({"id": f"r{i}", "text": f"The cellar of house {i} is {i} metres long."} for i in range(4)),
    ]
    path = tmp_path / "dated.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_what_a_trusted_later_passage_supersedes_counts_less(open_kb: Open, tmp_path: Path) -> None:
    v = open_kb()
    v.ingest(dated(tmp_path))
    v.build()
    v.feedback("old", 0.8)
    v.feedback("new", 0.8)
    answer = v.ask(GATEWAY)
    assert answer.candidates[0].text == "2"
    weights = {c.text: c.witnesses[0].relevance for c in answer.candidates}
    assert weights["1"] < 0.6 * weights["2"]
    v.undo_feedback("f2")
    v.feedback("new", 0.1)  # whose date is then not believed
    weights = {c.text: c.witnesses[0].relevance for c in v.ask(GATEWAY).candidates}
    assert weights["1"] == pytest.approx(weights["2"], rel=0.2)


def test_questions_are_logged_with_what_was_read_and_not_where_the_log_is_off(kb: Veridical) -> None:
    kb.ask(GATEWAY)
    with kb.store.write() as connection:
        [logged] = questions.every(connection)
        assert (logged.text, logged.n_asked) == (GATEWAY, 1)
        n_read = sa.select(sa.func.count()).select_from(schema.readings)
        n_pairs = sa.select(sa.func.count()).select_from(schema.question_pairs)
        assert connection.execute(n_read).scalar_one() >= 4
        assert connection.execute(n_pairs).scalar_one() >= 4
        questions.switch(connection, on=False)
    answer = kb.ask("Which setting does the printer of the office use?")
    assert answer.question == "Which setting does the printer of the office use?"
    with kb.store.read() as connection:
        assert [q.text for q in questions.every(connection)] == [GATEWAY]
        table = schema.answers
        kept = connection.execute(sa.select(table.c.question).where(table.c.id == answer.id)).scalar_one()
        assert kept == ""


def test_the_board_is_plain_json(judged: Veridical) -> None:
    again = json.loads(json.dumps(judged.ask(GATEWAY).to_dict(), allow_nan=False))
    assert again["candidates"][0]["witnesses"][0]["sentence"]["text"].startswith("The gateway")
