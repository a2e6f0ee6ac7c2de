"""Method reliable from end to end on fakes, without a language model: chains, and where they are from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bridging import BRIDGE, DOCUMENTS, GATEWAY, Counting, Open, count, keys, trust_of

from veridical import ChainOptions, Veridical
from veridical.errors import InputError
from veridical.evidence.chains import ChainSettings


def test_a_reader_answers_from_the_triples_and_cites_the_sentence_behind_them(kb: Veridical) -> None:
    answer = kb.ask(GATEWAY, method="reliable", chains=ChainOptions(context="tbs"))
    assert (answer.status, answer.method, answer.generator) == ("answered", "reliable", "reader")
    assert answer.text in ("443", "8080")
    [citation] = answer.citations
    assert citation.valid
    assert answer.text in citation.quote
    hits = {hit.passage.id: hit.passage for hit in answer.hits}
    passage = hits[citation.passage_id or 0]
    assert citation.start is not None
    start = citation.start - passage.start
    assert passage.text[start : start + len(citation.quote)] == citation.quote
    assert set(answer.seconds) == {"retrieve", "rank", "triples", "credibility", "chains", "answer"}


def test_a_reader_answers_from_the_passages_behind_the_chains_with_a_board(bridges: Veridical) -> None:
    answer = bridges.ask("Which length has the Orsa bridge?", always_answer=True)
    assert answer.trace is not None
    assert answer.trace.context == "sbs"
    behind = {
        t.passage_id for t in answer.trace.triples if any(t.id in c.triples for c in answer.trace.chains)
    }
    witnesses = {w.passage_id for candidate in answer.candidates for w in candidate.witnesses}
    assert witnesses
    assert witnesses <= behind
    assert answer.text in ("90", "55")


def test_the_trace_shows_how_chains_were_found(bridges: Veridical) -> None:
    trace = bridges.ask(BRIDGE).trace
    assert trace is not None
    assert (trace.selector, trace.extractor, trace.credibility) == ("embedded", "embedded-1", "trust")
    assert trace.n_triples == count(bridges, "triples") > 5
    assert 1 <= trace.n_prompts <= 46
    assert trace.settings["relevance_weight"] == 0.4
    assert [c.confidence for c in trace.chains] == sorted((c.confidence for c in trace.chains), reverse=True)
    known = {triple.id for triple in trace.triples}
    assert all(set(chain.triples) <= known for chain in trace.chains)
    texts = {p.id: p for hit in bridges.ask(BRIDGE, top_k=100).hits for p in [hit.passage]}
    for triple in trace.triples:
        passage, span = texts[triple.passage_id], triple.sentence
        assert passage.text[span.start - passage.start : span.end - passage.start] == span.text


def test_an_answer_with_its_trace_is_plain_json(bridges: Veridical) -> None:
    told = json.loads(json.dumps(bridges.ask(BRIDGE).to_dict(), allow_nan=False))
    assert told["trace"]["hops"][0]["steps"][0]["options"][0]["label"] == "A"


def test_triples_are_found_once_and_only_what_changed_is_seen_again(
    open_kb: Open, tmp_path: Path, extractor: Counting
) -> None:
    path = tmp_path / "bridges.jsonl"
    path.write_text("\n".join(map(json.dumps, DOCUMENTS)), "utf-8")
    v = open_kb("bridges")
    v.ingest(path)
    report = v.build(method="reliable")
    assert (report.n_extracted, report.n_not_extracted, len(extractor.seen)) == (4, 0, 4)
    assert report.n_triples == count(v, "triples")
    n_encoded = v.models.encoder.n_encoded  # type: ignore[attr-defined]
    first = v.ask(BRIDGE)
    n_queries = v.models.encoder.n_encoded - n_encoded  # type: ignore[attr-defined]
    assert first.trace is not None
    assert n_queries == 1 + sum(len(hop.steps) for hop in first.trace.hops)
    assert len(extractor.seen) == 4
    changed = [*DOCUMENTS[:3], {**DOCUMENTS[3], "text": "Tea is served at five in the hall."}]
    path.write_text("\n".join(map(json.dumps, changed)), "utf-8")
    v.ingest(path)
    v.ask(BRIDGE)
    assert extractor.seen[4:] == ["Tea is served at five in the hall."]
    assert v.build().n_extracted == 0


def test_without_a_build_for_it_the_question_finds_its_triples_itself(kb: Veridical) -> None:
    assert count(kb, "triples") == 0
    first, again = (kb.ask(GATEWAY, method="reliable", n_read=3) for _ in range(2))
    assert count(kb, "extractions") == 3
    assert first.trace == again.trace


def test_before_any_build_chains_are_found_without_trust(open_kb: Open, corpus: Path) -> None:
    v = open_kb("new")
    v.ingest(corpus, key_root=corpus)
    answer = v.ask(GATEWAY, method="reliable", always_answer=True)
    assert (answer.method, answer.text) in {("reliable", "443"), ("reliable", "8080")}
    assert any("not built" in note for note in answer.notes)


def test_a_vote_on_the_answer_moves_the_documents_behind_it_and_with_them_the_chains(
    bridges: Veridical,
) -> None:
    question = "Which length has the Orsa bridge?"
    options = ChainOptions(context="tbs", search=ChainSettings(top_k=2))
    wrong = bridges.ask(question, chains=options)
    [key] = keys(bridges, wrong)
    assert wrong.text in ("90", "55")
    bridges.feedback(wrong.ref, "bad")
    trust = trust_of(bridges)
    assert trust[key] == min(trust.values()) < 0.5
    after = bridges.ask(question, chains=options)
    assert after.trace is not None
    judged = wrong.citations[0].document_id
    assert {t.credibility for t in after.trace.triples if t.document_id == judged} <= {2.0 * trust[key]}
    assert (after.text, keys(bridges, after)) != (wrong.text, [key])


def test_credibility_keeps_out_what_relevance_alone_would_offer(bridges: Veridical) -> None:
    bridges.feedback("fake", "bad")
    bridges.feedback("orsa", "good")
    search = ChainSettings(top_k=4)
    trace = bridges.ask(BRIDGE, chains=ChainOptions(search=search)).trace
    assert trace is not None
    fake = next(d.id for d in bridges.documents() if d.key == "fake")
    by_id = {triple.id: triple for triple in trace.triples}
    step = trace.hops[0].steps[0]
    assert fake not in {by_id[o.triple].document_id for o in step.options if o.triple is not None}
    assert fake in {by_id[o.triple].document_id for o in step.kept_out if o.triple is not None}
    blind = bridges.ask(BRIDGE, chains=ChainOptions(search=search, credibility="none")).trace
    assert blind is not None
    assert all(triple.credibility is None for triple in blind.triples)


def test_trust_switched_off_leaves_credibility_out_and_cannot_be_asked_for(bridges: Veridical) -> None:
    bridges.feedback("fake", "bad")
    trace = bridges.ask(BRIDGE, use_trust=False).trace
    assert trace is not None
    assert trace.credibility == "none"
    with pytest.raises(InputError, match="switched off"):
        bridges.ask(BRIDGE, use_trust=False, chains=ChainOptions(credibility="trust"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"context": "xyz"}, "no context"),
        ({"credibility": "ideal"}, "no credibility"),
        ({"selector": "magic"}, "no selector"),
        ({"extractor": "magic"}, "no extractor"),
    ],
)
def test_unknown_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ChainOptions(**options)


def test_options_for_chains_need_the_method(kb: Veridical) -> None:
    with pytest.raises(InputError, match="does not answer from chains"):
        kb.ask(GATEWAY, chains=ChainOptions())


@pytest.mark.parametrize(
    "options", [{"credibility": "llm"}, {"credibility": "joint"}, {"selector": "llm"}, {"extractor": "llm"}]
)
def test_what_needs_a_language_model_says_so(kb: Veridical, options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="needs a language model"):
        kb.ask(GATEWAY, method="reliable", chains=ChainOptions(**options))
    assert kb.ask(GATEWAY, method="reliable", always_answer=True).text


def test_an_extractive_answer_has_no_chains(kb: Veridical) -> None:
    answer = kb.ask(GATEWAY, method="reliable", generator="extractive")
    assert (answer.generator, answer.trace) == ("extractive", None)
