"""What documents say of one another: the evidence, what clashes in it, and whom trust favours."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.errors import InputError, NotFoundError
from veridical.graph.build import load_graph
from veridical.pipeline import relating
from veridical.stores import documents
from veridical.types import RelationKind, RelationView

Open = Callable[..., Veridical]
ASKED = "Which setting does the gateway use?"
PAIRS = {frozenset((a, b)) for a in ("handbook", "wiki") for b in ("blog", "forum")}


@pytest.fixture
def asked(kb: Veridical) -> Veridical:
    kb.ask(ASKED)
    kb.build()
    return kb


def keys(views: list[RelationView]) -> list[frozenset[str]]:
    return [frozenset((str(view.head.source), str(view.tail.source))) for view in views]


def test_conflicts_are_the_contradictions_surest_first(asked: Veridical) -> None:
    found = asked.conflicts(top=100)
    assert {view.kind for view in found} == {RelationKind.CONTRADICTS}
    worth = [view.evidence[0].weight * (1.0 if view.evidence[0].question else 0.5) for view in found]
    assert worth == sorted(worth, reverse=True)
    of_gateway = [view for view in found if "gateway" in view.head.key]
    assert found[: len(of_gateway)] == of_gateway  # of which both were asked
    assert set(keys(of_gateway)) == PAIRS
    assert len({frozenset((view.head.id, view.tail.id)) for view in found}) == len(found)


def test_conflicts_are_those_of_the_graph(asked: Veridical) -> None:
    with asked.store.read() as connection:
        loaded = load_graph(connection)
    graph, ids = loaded.graph, loaded.document_ids
    clashing = {
        frozenset((ids[head], ids[tail]))
        for head, tail, sign in zip(graph.heads, graph.tails, graph.signs, strict=True)
        if sign < 0
    }
    assert {frozenset((v.head.id, v.tail.id)) for v in asked.conflicts(top=1000)} == clashing
    assert len(clashing) == 16


def test_evidence_shows_question_answers_and_sentences_with_their_places(asked: Veridical) -> None:
    view = asked.conflicts(top=1)[0]
    by_answers, by_inference = view.evidence[0], view.evidence[-1]
    assert (by_answers.question, by_answers.origin, by_answers.backend) == (ASKED, "asked", "fake-reader-1")
    assert (by_inference.question, by_inference.origin, by_inference.backend) == (
        None,
        "inference",
        "numbers-1",
    )
    with asked.store.read() as connection:
        texts = {d.id: documents.text_of(connection, d.id) for d in (view.head, view.tail)}
    for item in view.evidence:
        for document, sentence, values in (
            (view.head, item.head_sentence, item.head_values),
            (view.tail, item.tail_sentence, item.tail_values),
        ):
            number = "443" if document.source in ("handbook", "wiki") else "8080"
            assert sentence is not None
            assert sentence.text == f"The gateway of the office uses setting {number} since the last change."
            assert [value.text for value in values] == [number]
            for span in (sentence, *values):
                assert texts[document.id][span.start : span.end] == span.text


def test_relations_of_a_document_agree_with_the_conflicts(asked: Veridical) -> None:
    own = asked.relations("wiki/gateway.md")
    assert {v.kind for v in own} == {RelationKind.SUPPORTS, RelationKind.CONTRADICTS}
    against = asked.relations("wiki/gateway.md", kind="CONTRADICTS")
    assert against == [view for view in own if view.kind is RelationKind.CONTRADICTS]
    everything = asked.conflicts(top=1000)
    assert all(view in everything for view in against)
    assert {view.verdict for view in own if view.kind is RelationKind.SUPPORTS} == {""}


def test_before_feedback_no_side_is_favoured_and_after_it_the_trusted_one(asked: Veridical) -> None:
    before = asked.conflicts(top=1)[0]
    assert (before.favours, before.verdict, before.head_trust) == (None, "no feedback yet", None)
    asked.feedback("blog/gateway.md", "bad")
    (view,) = (
        v
        for v in asked.relations("blog/gateway.md")
        if v.tail.source == "handbook" or v.head.source == "handbook"
    )
    trusted = view.head if view.head.source == "handbook" else view.tail
    assert view.favours == trusted.id
    shown = {node.ref: node.trust for node in asked.trust().documents}
    assert (view.head_trust, view.tail_trust) == (shown[view.head.ref], shown[view.tail.ref])
    assert view.verdict.startswith(f"trust favours {trusted.ref} (0.")
    assert "to 0.0" in view.verdict


def test_where_nothing_is_known_of_either_side_it_says_so(open_kb: Open, tmp_path: Path) -> None:
    v = open_kb()
    for key, text in {
        "a": "The gateway of the office uses setting 1 since the last change.",
        "b": "The gateway of the office uses setting 2 since the last change.",
        "c": "Bananas are yellow and grow on quite another island, far from here.",
    }.items():
        (tmp_path / f"{key}.txt").write_text(text, "utf-8")
        v.ingest(tmp_path / f"{key}.txt")
    v.build()
    v.feedback("c.txt", "good")
    (view,) = v.conflicts()
    assert (view.favours, view.verdict) == (None, "nothing is known of either yet")
    v.feedback("a.txt", "good")
    v.feedback("b.txt", "good")
    (view,) = v.conflicts()
    assert view.favours is None
    assert view.verdict.startswith("trust favours neither (0.")


def test_a_later_document_stands_first_and_its_date_shows(open_kb: Open, tmp_path: Path) -> None:
    v = open_kb()
    said = "The gateway of the office uses setting {} since the last change."
    pages = [("old", said.format(1), "2021"), ("new", said.format(2), "2023")]
    lines = [json.dumps({"id": key, "text": text, "date": date}) for key, text, date in pages]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines), "utf-8")
    v.ingest(tmp_path / "pages.jsonl")
    v.build()
    (view,) = v.conflicts()
    assert (view.kind, view.head.key, view.head.date) == (RelationKind.SUPERSEDES, "new", "2023")
    assert view.evidence[0].kind is RelationKind.SUPERSEDES
    assert view.evidence[0].head_values[0].text == "2"
    assert v.relations("old", kind="supersedes") == [view]


def test_conflicts_can_be_cut_and_taken_from_one_source(asked: Veridical) -> None:
    everything = asked.conflicts(top=1000)
    assert asked.conflicts(top=3) == everything[:3]
    blog = asked.conflicts(top=1000, source="blog")
    assert blog == [v for v in everything if "blog" in (v.head.source, v.tail.source)]
    assert 0 < len(blog) < len(everything)


def test_conflicts_come_a_page_at_a_time(asked: Veridical, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = asked.conflicts(top=1000)
    monkeypatch.setattr(relating, "_PAGE", 3)
    assert asked.conflicts(top=1000) == everything


def test_what_does_not_exist_is_refused_with_a_hint(asked: Veridical) -> None:
    with pytest.raises(NotFoundError):
        asked.relations("d99")
    with pytest.raises(InputError, match="no kind of relation") as kind:
        asked.relations("d1", kind="likes")
    assert kind.value.hint is not None
    assert "supersedes" in kind.value.hint
    with pytest.raises(InputError, match="source called 'blo'") as source:
        asked.conflicts(source="blo")
    assert source.value.hint == "Did you mean blog?"
    for top in (0, -1, 2.5):
        with pytest.raises(InputError, match="top must be"):
            asked.conflicts(top=top)  # type: ignore[arg-type]


def test_where_there_is_nothing_it_says_what_to_do(open_kb: Open, corpus: Path, kb: Veridical) -> None:
    v = open_kb("fresh")
    v.ingest(corpus, key_root=corpus)
    assert (v.conflicts(), v.relations("d1")) == ([], [])
    assert "veridical build" in relating.advice(v.store)
    assert "--questions FILE" in relating.advice(kb.store)
    kb.ask(ASKED)
    assert "More questions" in relating.advice(kb.store)


def test_another_method_shows_its_own_trust(asked: Veridical) -> None:
    asked.feedback("blog/gateway.md", "bad")
    ours, published = asked.conflicts(top=1)[0], asked.conflicts(top=1, method="trustprop")[0]
    assert ours.evidence == published.evidence
    assert ours.head_trust != published.head_trust
