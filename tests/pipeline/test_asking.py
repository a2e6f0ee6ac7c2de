"""Asking: plain where nothing is known, by trust where something is, and the evidence always in sight."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veridical import Veridical
from veridical.errors import InputError, LLMError, ModelError, StoreError
from veridical.llm.scripted import ScriptedLLM
from veridical.pipeline.asking import exit_code
from veridical.pipeline.retrieval import Retriever
from veridical.types import Answer

Open = Callable[..., Veridical]
GATEWAY = "Which setting does the gateway of the office use?"
RETRIEVERS = ("hybrid", "dense", "bm25")


def order(answer: Answer) -> list[tuple[int, float]]:
    return [(hit.passage.id, hit.relevance) for hit in answer.hits]


def plain(v: Veridical, question: str, retriever: Any) -> list[tuple[int, float]]:
    pool = Retriever(v.store, v.models.encoder).retrieve(question, retriever=retriever)
    return list(zip(pool.ids, pool.relevance, strict=True))


def test_before_a_build_asking_is_plain_and_says_so(open_kb: Open, corpus: Path) -> None:
    v = open_kb()
    v.ingest(corpus, key_root=corpus)
    answer = v.ask(GATEWAY, read=False)
    assert answer.status == "answered"
    assert answer.method == "plain retrieval"
    assert any("veridical build" in note for note in answer.notes)
    assert order(answer) == plain(v, GATEWAY, "bm25")[:5]
    assert all(hit.trust is None and hit.label is None for hit in answer.hits)


@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_without_feedback_the_ranking_is_plain_retrieval_bit_for_bit(kb: Veridical, retriever: str) -> None:
    answer = kb.ask(GATEWAY, retriever=retriever, top_k=100)
    assert order(answer) == plain(kb, GATEWAY, retriever)
    assert [hit.relevance_rank for hit in answer.hits] == list(range(1, len(answer.hits) + 1))


@pytest.mark.parametrize("retriever", RETRIEVERS)
@pytest.mark.parametrize("method", ["veridical", "trustprop"])
@pytest.mark.parametrize("options", [{"trust_weight": 0.0}, {"use_trust": False}])
def test_trust_switched_off_is_plain_retrieval(
    kb: Veridical, retriever: str, method: str, options: dict[str, Any]
) -> None:
    kb.feedback("handbook/gateway.md", "good")
    kb.feedback("blog/gateway.md", "bad")
    answer = kb.ask(GATEWAY, retriever=retriever, method=method, top_k=100, **options)
    assert order(answer) == plain(kb, GATEWAY, retriever)


def test_feedback_that_was_undone_leaves_plain_retrieval(kb: Veridical) -> None:
    kb.feedback("handbook/gateway.md", "good")
    kb.undo_feedback("f1")
    assert order(kb.ask(GATEWAY, top_k=100)) == plain(kb, GATEWAY, "hybrid")


@pytest.mark.parametrize("method", ["veridical", "trustprop"])
@pytest.mark.parametrize("retriever", RETRIEVERS)
def test_feedback_moves_what_it_should(kb: Veridical, method: str, retriever: str) -> None:
    kb.feedback("handbook/gateway.md", "good")
    kb.feedback("blog/gateway.md", "bad")
    answer = kb.ask(GATEWAY, method=method, retriever=retriever)
    places = [hit.document.key for hit in answer.hits]
    assert places[0] in ("handbook/gateway.md", "wiki/gateway.md")
    assert "blog/gateway.md" not in places[:2]
    assert "443" in answer.text
    trust = {hit.document.key: hit.trust for hit in kb.ask(GATEWAY, method=method, top_k=100).hits}
    assert trust["handbook/gateway.md"] > 0.7
    assert trust["wiki/gateway.md"] > 0.5 > trust["forum/gateway.md"] > trust["blog/gateway.md"]


def test_each_hit_says_what_moved_it(kb: Veridical) -> None:
    kb.feedback("handbook/gateway.md", "good", by="anna")
    first = kb.ask(GATEWAY).hits[0]
    said = "; ".join(reason.text for reason in first.reasons)
    assert "judged 1 by anna (f1)" in said
    assert "source handbook" in said
    assert "contradicts" in said


def test_contradictions_among_the_hits_are_shown_with_both_sentences(kb: Veridical) -> None:
    answer = kb.ask(GATEWAY)
    assert answer.conflicts
    texts = {hit.document.id: hit.passage for hit in answer.hits}
    for conflict in answer.conflicts:
        for document, span in (
            (conflict.left_document, conflict.left_span),
            (conflict.right_document, conflict.right_span),
        ):
            passage = texts[document]
            assert passage.text[span.start - passage.start : span.end - passage.start] == span.text
    numbers = {frozenset(("443" in c.left_span.text, "443" in c.right_span.text)) for c in answer.conflicts}
    assert frozenset((True, False)) in numbers


def dated(tmp_path: Path) -> Path:
    rows = [
        {"id": "old", "date": "2020-05-01", "text": "The gateway of the office uses setting 1 now."},
        {"id": "new", "date": "2024-05-01", "text": "The gateway of the office uses setting 2 now."},
        {"id": "none", "text": "The gateway of the office is next to the door."},
    ]
    path = tmp_path / "dated.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


def test_as_of_leaves_out_what_came_later_and_says_so(open_kb: Open, tmp_path: Path) -> None:
    v = open_kb()
    v.ingest(dated(tmp_path))
    v.build()
    assert {hit.document.key for hit in v.ask(GATEWAY).hits} == {"old", "new", "none"}
    answer = v.ask(GATEWAY, as_of="2022-01-01")
    assert {hit.document.key for hit in answer.hits} == {"old", "none"}
    assert any("1 passage" in note and "2022-01-01" in note for note in answer.notes)


def test_a_later_statement_supersedes_and_stands_before_the_earlier(open_kb: Open, tmp_path: Path) -> None:
    v = open_kb()
    v.ingest(dated(tmp_path))
    assert v.build().n_supersedes == 1
    v.feedback("new", 0.8)
    places = [hit.document.key for hit in v.ask(GATEWAY).hits]
    assert places.index("new") < places.index("old")
    [conflict] = v.ask(GATEWAY).conflicts
    assert conflict.kind == "SUPERSEDES"
    assert conflict.left_span.text.endswith("setting 2 now.")


@pytest.mark.parametrize(
    ("question", "options", "message"),
    [
        ("", {}, "empty"),
        (" \n\t", {}, "empty"),
        ("x" * 10_001, {}, "10,001"),
        ("q", {"top_k": 0}, "top_k"),
        ("q", {"top_k": 101}, "top_k"),
        ("q", {"top_k": 2.5}, "top_k"),
        ("q", {"trust_weight": float("nan")}, "trust weight"),
        ("q", {"trust_weight": -0.1}, "trust weight"),
        ("q", {"trust_weight": 1.1}, "trust weight"),
        ("q", {"method": "magic"}, "magic"),
        ("q", {"retriever": "magic"}, "magic"),
        ("q", {"generator": "magic"}, "magic"),
        ("q", {"as_of": "soon"}, "soon"),
        ("q", {"n_read": 0}, "n_read"),
        ("q", {"n_read": 101}, "n_read"),
        ("q", {"generator": "reader", "read": False}, "nothing is to be read"),
        ("q", {"generator": "reader", "method": "trustprop"}, "nothing is to be read"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    kb: Veridical, question: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kb.ask(question, **options)


def test_asking_where_nothing_is_says_how_to_begin(open_kb: Open) -> None:
    with pytest.raises(StoreError, match="no knowledge base"):
        open_kb("nowhere").ask("What?")


@pytest.mark.parametrize(
    "question", ["\x00\x1b[31m?", "AND OR NOT ( ^ :", "🙂" * 50, "\ud800", "' OR 1=1 --"]
)
def test_odd_questions_are_answered_like_any_other(kb: Veridical, question: str) -> None:
    assert kb.ask(question).status in ("answered", "abstained", "no_evidence")


def test_an_llm_is_used_where_there_is_one_and_can_be_declined(open_kb: Open, kb: Veridical) -> None:
    v = open_kb("kb", llm=ScriptedLLM(["It uses setting 8080 [1]."]))
    answer = v.ask(GATEWAY)
    assert (answer.status, answer.text) == ("answered", "It uses setting 8080 [1].")
    assert [c.marker for c in answer.citations] == ["[1]"]
    assert v.ask(GATEWAY, generator="extractive").generator == "extractive"
    with pytest.raises(InputError, match="No language model"):
        kb.ask(GATEWAY, generator="llm")


def test_citations_point_at_what_the_passage_says(open_kb: Open, kb: Veridical) -> None:
    v = open_kb("kb", llm=ScriptedLLM(["It uses setting 8080 [1]."] * 2))
    asked = [
        v.ask(GATEWAY),
        v.ask(GATEWAY, read=False),
        kb.ask(GATEWAY, always_answer=True),
        kb.ask(GATEWAY, read=False),
    ]
    assert all(answer.citations for answer in asked)
    for answer in asked:
        hits = {hit.passage.id: hit.passage for hit in answer.hits}
        for citation in answer.citations:
            passage = hits[citation.passage_id]
            place = slice(citation.start - passage.start, citation.end - passage.start)
            assert citation.valid
            assert passage.text[place] == citation.quote


def test_an_invalid_citation_is_dropped_and_named_and_the_answer_degrades(
    open_kb: Open, kb: Veridical
) -> None:
    v = open_kb("kb", llm=ScriptedLLM(["It uses setting 8080 [1], and tea at four [9]."]))
    answer = v.ask(GATEWAY)
    assert answer.status == "degraded"
    [dropped] = answer.dropped_citations
    assert dropped.marker == "[9]"
    assert dropped.problem
    assert "[9]" not in answer.text
    assert exit_code(answer) == 0


def test_an_llm_that_fails_leaves_the_evidence_and_a_clear_error(open_kb: Open, kb: Veridical) -> None:
    v = open_kb("kb", llm=ScriptedLLM([LLMError("The server is on fire.", "Wait.")]))
    answer = v.ask(GATEWAY)
    assert (answer.status, answer.text) == ("failed", "")
    assert len(answer.hits) == 5
    assert any("on fire" in note for note in answer.notes)
    assert exit_code(answer) == LLMError.exit_code == 7


def test_the_embedded_llm_is_asked_only_by_name(open_kb: Open, kb: Veridical) -> None:
    llm = ScriptedLLM([ModelError("The model is not here.", "Pull it.")])
    v = open_kb("kb", embedded=llm)
    answer = v.ask(GATEWAY, read=False)
    assert (answer.status, answer.generator, llm.calls) == ("answered", "extractive", [])
    assert v.ask(GATEWAY, generator="llm").status == "failed"


def test_passages_newer_than_the_build_are_spoken_of(kb: Veridical, tmp_path: Path) -> None:
    assert not any("newer" in note for note in kb.ask(GATEWAY).notes)
    (tmp_path / "late.txt").write_text("The gateway uses setting 999.", encoding="utf-8")
    kb.ingest(tmp_path / "late.txt")
    assert any("1 passage is newer than the last build" in note for note in kb.ask(GATEWAY).notes)
    kb.build()
    assert not any("newer" in note for note in kb.ask(GATEWAY).notes)


def test_answers_are_remembered_by_number(kb: Veridical) -> None:
    assert [kb.ask(GATEWAY).ref, kb.ask(GATEWAY).ref] == ["a1", "a2"]


def test_an_answer_is_plain_json(kb: Veridical) -> None:
    kb.feedback("d1", "good")
    answer = kb.ask(GATEWAY, top_k=100)
    again = json.loads(json.dumps(answer.to_dict(), allow_nan=False))
    assert again["text"] == answer.text
    assert again["conflicts"][0]["kind"] == "CONTRADICTS"


def test_a_build_by_another_process_is_noticed(open_kb: Open, corpus: Path) -> None:
    v, other = open_kb(), open_kb()
    v.ingest(corpus, key_root=corpus)
    assert v.ask(GATEWAY).method == "plain retrieval"
    other.build()
    answer = v.ask(GATEWAY)
    assert answer.method == "veridical"
    assert answer.hits[0].similarity is not None


def test_a_lost_index_is_an_answer_by_the_other_or_an_error_that_says_what_to_do(kb: Veridical) -> None:
    import shutil

    shutil.rmtree(kb.store.index_folder)
    kb.close()
    answer = kb.ask(GATEWAY)
    assert answer.status == "no_evidence"
    assert any("veridical build" in note for note in answer.notes)
    kb.build()
    assert kb.ask(GATEWAY).hits
    assert kb.check().problems == ()


def test_damaged_bm25_files_are_named_and_built_anew(kb: Veridical) -> None:
    for path in (kb.store.index_folder / "bm25-1").iterdir():
        path.write_bytes(b"\x00garbage")
    kb.close()
    with pytest.raises(StoreError, match="BM25") as caught:
        kb.ask(GATEWAY)
    assert "veridical build" in caught.value.hint
    assert any("BM25" in problem for problem in kb.check().problems)
    kb.build()
    assert kb.ask(GATEWAY).hits


def test_trustprop_does_not_claim_that_more_feedback_would_calibrate_it(kb: Veridical) -> None:
    for document in kb.documents()[:12]:
        kb.feedback(document.ref, "good")
    notes = " ".join((*kb.ask(GATEWAY, method="trustprop").notes, *kb.trust(method="trustprop").notes))
    assert "fewer than ten" not in notes
    assert "ten are needed" not in notes
