"""Explaining: contributions add up to the trust that they explain, and order is by trust."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.errors import InputError, NotFoundError

Open = Callable[..., Veridical]


@pytest.fixture
def judged(kb: Veridical) -> Veridical:
    kb.feedback("handbook/gateway.md", "good", by="anna")
    kb.feedback("blog/gateway.md", "bad", by="ben")
    kb.feedback("wiki/badge.md", 0.7, by="anna", weight=2)
    return kb


@pytest.mark.parametrize("method", ["veridical", "trustprop"])
def test_contributions_add_up_to_the_trust(judged: Veridical, method: str) -> None:
    for document in judged.documents():
        found = judged.explain(document.ref, method=method, top=1000)
        total = 0.5 + found.constant + found.prior_contribution + sum(a.contribution for a in found.anchors)
        assert total + found.unfinished == pytest.approx(found.raw, abs=1e-6)
        if method == "veridical":
            assert found.unfinished == pytest.approx(0.0, abs=1e-6)
            assert found.anchor_contribution == pytest.approx(
                sum(a.contribution for a in found.anchors), abs=1e-9
            )
        assert sum(a.share for a in found.anchors) == pytest.approx(1.0, abs=1e-6)


def test_the_explanation_names_judgements_relations_and_sentences(judged: Veridical) -> None:
    found = judged.explain("wiki/gateway.md")
    assert {a.name for a in found.anchors} == {
        "handbook on the gateway",
        "blog on the gateway",
        "wiki on the badge",
    }
    assert all(a.given[0].startswith("f") for a in found.anchors)
    kinds = {r.kind for r in found.relations}
    assert {"SAME_SOURCE", "CONTRADICTS"} <= kinds
    spoken = [r.sentences for r in found.relations if r.kind == "CONTRADICTS" and r.sentences]
    assert spoken
    for left, right in spoken:
        assert ("443" in left) != ("443" in right)


def test_same_source_edges_of_the_published_method_are_called_so(judged: Veridical) -> None:
    owner = {d.ref: d.source for d in judged.documents()}
    found = judged.explain("wiki/gateway.md", method="trustprop", top=1000)
    for relation in found.relations:
        same = owner[relation.head] == owner[relation.tail]
        assert (relation.kind == "SAME_SOURCE") == same, relation


def test_what_is_explained_is_the_trust_that_is_shown(judged: Veridical) -> None:
    shown = {node.ref: node.trust for node in judged.trust().documents}
    for document in judged.documents():
        found = judged.explain(document.ref)
        assert found.trust == pytest.approx(shown[document.ref], abs=1e-8)


def test_nothing_to_explain_says_so(kb: Veridical, open_kb: Open, corpus: Path) -> None:
    found = kb.explain("d1")
    assert (found.trust, found.label, found.anchors) == (None, None, ())
    assert any("No document has been judged" in note for note in found.notes)
    v = open_kb("unbuilt")
    v.ingest(corpus, key_root=corpus)
    assert any("veridical build" in note for note in v.explain("d1").notes)
    assert any("veridical build" in note for note in v.trust().notes)


def test_documents_and_sources_are_ranked_by_trust(judged: Veridical) -> None:
    found = judged.trust()
    for nodes in (found.documents, found.sources):
        trusts = [node.trust for node in nodes]
        assert trusts == sorted(trusts, reverse=True)
    assert found.sources[0].name in ("handbook", "wiki")
    assert {(s.name, s.n_documents, s.n_judged) for s in found.sources} == {
        ("handbook", 4, 1), ("wiki", 4, 1), ("blog", 4, 1), ("forum", 4, 0)
    }  # fmt: skip


def test_another_method_can_be_looked_at_without_changing_the_own(judged: Veridical) -> None:
    published = judged.trust(method="trustprop")
    assert published.method == "trustprop"
    assert published.sources[0].trust is None
    assert judged.setting("method") == "veridical"
    before = {n.ref: n.trust for n in published.documents}
    judged.feedback("forum/badge.md", "bad")
    after = {n.ref: n.trust for n in judged.trust(method="trustprop").documents}
    assert after != before


def test_what_does_not_exist_is_refused(judged: Veridical) -> None:
    with pytest.raises(NotFoundError):
        judged.explain("d99")
    with pytest.raises(InputError):
        judged.explain("d1", method="magic")


def test_none_may_be_named(judged: Veridical) -> None:
    found = judged.explain("d1", top=0)
    assert (found.anchors, found.relations) == ((), ())
    assert found.trust is not None


def test_an_update_and_a_copy_are_called_so(open_kb: Open, tmp_path: Path) -> None:
    said = "The gateway of the office uses setting {} since the last change."
    pages = [("old", 1, "2021"), ("new", 2, "2023"), ("copy", 1, "2021")]
    lines = [json.dumps({"id": key, "text": said.format(n), "date": date}) for key, n, date in pages]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines), "utf-8")
    v = open_kb()
    v.ingest(tmp_path / "pages.jsonl")
    v.build()
    v.feedback("new", "bad")
    found = v.explain("old", top=10)
    kinds = {frozenset((r.head, r.tail)): r.kind for r in found.relations}
    ref = {d.key: d.ref for d in v.documents()}
    assert kinds[frozenset((ref["old"], ref["new"]))] == "SUPERSEDES"
    assert kinds[frozenset((ref["old"], ref["copy"]))] == "SAME_TEXT"
    assert found.trust is not None
    assert found.trust > 0.5
    v.feedback("copy", "bad", by="ben")
    v.feedback("old", "good", by="anna", weight=3)
    (share,) = [a for a in v.explain("new").anchors if a.ref != ref["new"]]
    assert share.value == 0.75
    assert [line.split(" by ")[1] for line in share.given] == ["ben", "anna"]
    published = {frozenset((r.head, r.tail)): r.kind for r in v.explain("old", method="trustprop").relations}
    assert published[frozenset((ref["old"], ref["new"]))] == "SUPERSEDES"
