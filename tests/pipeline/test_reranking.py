"""Reranking somebody else's passages: known by text, else by source, else neutral; never by an id alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from veridical import Veridical
from veridical.errors import InputError

QUERY = "Which setting does the gateway of the office use?"
GOOD = "The gateway of the office uses setting 443 since the last change."
BAD = "The gateway of the office uses setting 8080 since the last change."
NEW = "The gateway of the office uses setting 22 since the last change."


@pytest.fixture
def judged(kb: Veridical) -> Veridical:
    kb.feedback("handbook/gateway.md", "good")
    kb.feedback("wiki/gateway.md", "good")
    kb.feedback("blog/gateway.md", "bad")
    return kb


def text_of(v: Veridical, key: str) -> str:
    [hit] = [h for h in v.ask(QUERY, top_k=100).hits if h.document.key == key]
    return hit.passage.text


def test_passages_are_known_by_their_text(judged: Veridical) -> None:
    good, bad = text_of(judged, "handbook/gateway.md"), text_of(judged, "blog/gateway.md")
    ranked = judged.rerank(QUERY, [bad, NEW, good])
    assert [r.index for r in ranked] == [2, 1, 0]
    assert [r.label for r in ranked] == ["HIGH", None, "LOW"]
    assert ranked[0].trust > 0.7 > 0.3 > ranked[2].trust
    assert "its text is that of" in ranked[0].reasons[0].text
    assert "nothing is known" in ranked[1].reasons[0].text


def test_white_space_around_a_text_does_not_matter(judged: Veridical) -> None:
    good = text_of(judged, "handbook/gateway.md")
    assert judged.rerank(QUERY, [f"\n {good}  \n"])[0].trust == judged.rerank(QUERY, [good])[0].trust


def test_an_unknown_text_is_known_by_its_source(judged: Veridical) -> None:
    ranked = judged.rerank(QUERY, [{"text": NEW, "source": s} for s in ("blog", "nobody", "handbook")])
    assert [r.source for r in ranked] == ["handbook", "nobody", "blog"]
    assert ranked[1].trust is None
    sources = {s.name: s.trust for s in judged.trust().sources}
    assert ranked[0].trust == sources["handbook"]


def test_an_id_alone_grants_no_trust(judged: Veridical) -> None:
    forged = {"text": NEW, "id": "handbook/gateway.md"}
    assert judged.rerank(QUERY, [forged])[0].trust is None
    assert judged.rerank(QUERY, [{"text": NEW, "id": "d1"}])[0].trust is None


def test_an_id_finds_a_piece_of_its_document(judged: Veridical) -> None:
    piece = {"text": GOOD, "id": "handbook/gateway.md"}
    assert judged.rerank(QUERY, [piece])[0].trust > 0.7
    assert judged.rerank(QUERY, [{"text": GOOD.upper(), "id": "handbook/gateway.md"}])[0].trust is None
    assert judged.rerank(QUERY, [{"text": "x" * 60_000, "id": "handbook/gateway.md"}])[0].trust is None


def test_given_similarities_are_used_and_missing_ones_computed(judged: Veridical) -> None:
    given = [{"text": "a", "similarity": 0.2}, {"text": "b", "similarity": np.float32(0.9)}]
    encoded = judged.models.encoder.n_encoded
    ranked = judged.rerank(QUERY, given)
    assert [r.text for r in ranked] == ["b", "a"]
    assert judged.models.encoder.n_encoded == encoded
    mixed = judged.rerank(QUERY, [{"text": NEW, "similarity": 0.01}, {"text": "Bananas are yellow."}])
    assert mixed[0].text == NEW
    assert mixed[0].similarity > 0.5


def test_with_nothing_known_the_order_is_by_similarity(kb: Veridical) -> None:
    texts = ["Bananas are yellow.", NEW, "The office of the gateway."]
    ranked = kb.rerank(QUERY, texts)
    similarities = [r.similarity for r in ranked]
    assert similarities == sorted(similarities, reverse=True)
    assert all(r.trust is None for r in ranked)
    assert [r.utility for r in ranked] == similarities


def test_trust_weight_zero_is_by_similarity(judged: Veridical) -> None:
    good, bad = text_of(judged, "handbook/gateway.md"), text_of(judged, "blog/gateway.md")
    given = [{"text": bad, "similarity": 0.9}, {"text": good, "similarity": 0.8}]
    assert [r.text for r in judged.rerank(QUERY, given, trust_weight=0.0)] == [bad, good]
    assert [r.text for r in judged.rerank(QUERY, given)] == [good, bad]


def test_the_same_passage_twice_stays_twice(judged: Veridical) -> None:
    good = text_of(judged, "handbook/gateway.md")
    ranked = judged.rerank(QUERY, [good, good, {"text": good, "source": "wiki"}])
    assert [r.index for r in ranked] == [0, 1, 2]


def test_a_text_that_several_hold_counts_as_the_least_trusted_unless_its_source_is_given(
    judged: Veridical, tmp_path: Any
) -> None:
    good = text_of(judged, "handbook/gateway.md")
    copy = tmp_path / "copy" / "blog" / "copy.txt"
    copy.parent.mkdir(parents=True)
    copy.write_text(good, "utf-8")
    judged.ingest(copy.parent)
    judged.feedback("blog/copy.txt", 0.0)
    trusts = {d.key: n.trust for d in judged.documents() for n in judged.trust().documents if n.ref == d.ref}
    low = judged.rerank(QUERY, [good])[0].trust
    assert low == min(trusts["blog/copy.txt"], trusts["handbook/gateway.md"])
    assert (
        judged.rerank(QUERY, [{"text": good, "source": "handbook"}])[0].trust == trusts["handbook/gateway.md"]
    )


def test_top_k_cuts_the_list(judged: Veridical) -> None:
    assert len(judged.rerank(QUERY, [NEW, GOOD, BAD], top_k=2)) == 2
    assert judged.rerank(QUERY, []) == []


@pytest.mark.parametrize(
    ("passages", "options"),
    [
        ("a string", {}),
        ([1], {}),
        ([None], {}),
        ([{}], {}),
        ([{"text": None}], {}),
        ([{"text": "a", "score": 1.0}], {}),
        ([{"text": "a", "similarity": float("nan")}], {}),
        ([{"text": "a", "similarity": "high"}], {}),
        ([{"text": "a", "similarity": True}], {}),
        (["a"], {"top_k": 0}),
        (["a"], {"top_k": -1}),
        (["a"], {"trust_weight": float("nan")}),
        (["a"], {"trust_weight": 2.0}),
        (["a"], {"method": "magic"}),
    ],
)
def test_what_cannot_be_ranked_is_refused(judged: Veridical, passages: Any, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        judged.rerank(QUERY, passages, **options)


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\x00"])
def test_odd_texts_are_merely_unknown(judged: Veridical, text: str) -> None:
    [ranked] = judged.rerank(QUERY, [{"text": text, "id": text, "source": text}])
    assert (ranked.text, ranked.trust) == (text, None)


def test_results_are_plain_json(judged: Veridical) -> None:
    import json

    for ranked in judged.rerank(QUERY, [{"text": GOOD, "similarity": 1}]):
        assert json.loads(json.dumps(ranked.to_dict(), allow_nan=False))["similarity"] == 1.0
