"""The graph after any sequence of changes is the one that a build from scratch makes of the same corpus."""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from veridical import Veridical
from veridical.graph import candidates, from_questions
from veridical.graph.build import load_graph
from veridical.pipeline import learning
from veridical.stores import schema
from veridical.testing.fake_models import FakeModels

THINGS = ("gateway", "printer", "archive", "badge")
NUMBERS = (443, 8080, 9100)
SOURCES = (None, "wiki", "blog")
DATES = (None, "2021-04-01", "2023")
FILLER = (
    "It was written down by the people of the second floor for whoever comes next.",
    "Nobody has asked for anything else, and the matter was closed in the same week.",
    "Keys hang beside the door of the kitchen; bring them back before the evening.",
    "A list of all exceptions is kept in the blue folder on top of the cupboard.",
)


TRUTH = {
    "settings", "documents", "passages", "feedback", "questions",
    "answers", "answer_documents", "answer_candidates", "candidate_documents",
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """What a document says: a number of each of some things, and what says nothing of them.

    Two pages with different ``words`` are not equally near to anything else.
    """

    facts: tuple[tuple[str, int], ...]
    filler: int
    source: str | None
    date: str | None
    words: int | None = None

    @property
    def record(self) -> dict[str, str]:
        said = [
            f"The {thing} of the office uses setting {number} for everyone." for thing, number in self.facts
        ]
        fields = {"source": self.source, "date": self.date}
        text = " ".join([*said, FILLER[self.filler], *self._own()])
        return {"text": text, **{name: value for name, value in fields.items() if value is not None}}

    def _own(self) -> list[str]:
        if self.words is None:
            return []
        rng = random.Random(f"{self.words} {self.facts}")
        words = ["".join(rng.choices("bcdfghjklmnprstvwz", k=9)) for _ in range(rng.randint(3, 12))]
        return [f"Mind the {' and the '.join(words)}."]


@dataclass
class Kb:
    """A knowledge base on fakes, with the pages that it should hold."""

    folder: Path
    v: Veridical = field(init=False)
    pages: dict[str, Page] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.v = Veridical.open(self.folder / "kb")
        self.v.models = FakeModels()

    def put(self, pages: dict[str, Page]) -> None:
        if not pages:
            return
        self.pages.update(pages)
        lines = [json.dumps({"id": key, **page.record}) for key, page in pages.items()]
        (self.folder / "pages.jsonl").write_text("\n".join(lines), "utf-8")
        self.v.ingest(self.folder / "pages.jsonl")

    def delete(self, key: str) -> None:
        if key in self.pages:
            del self.pages[key]
            self.v.delete(f"key:{key}")

    def play(self, steps: list[tuple[str, Any]]) -> None:
        for name, what in steps:
            if name == "put":
                self.put(what)
            elif name == "delete":
                self.delete(what)
            elif name == "ask":
                self.v.ask(f"Which setting does the {what} use?")
            else:
                self.v.build()
        self.v.build()

    def forget_what_is_derived(self) -> None:
        with self.v.store.write() as connection:
            for table in set(schema.metadata.tables) - TRUTH:
                connection.execute(schema.metadata.tables[table].delete())


@contextmanager
def new_kb() -> Iterator[Kb]:
    folder = Path(tempfile.mkdtemp())
    kb = Kb(folder)
    try:
        yield kb
    finally:
        kb.v.close()
        shutil.rmtree(folder)


def graph(v: Veridical) -> dict[str, object]:
    """All of the graph by the keys of the documents, whatever their numbers."""
    with v.store.read() as connection:
        loaded = load_graph(connection)
    found, name = loaded.graph, {d.id: d.key for d in v.documents()}
    keys = [name[i] for i in loaded.document_ids]

    def groups(numbers: Sequence[int]) -> set[frozenset[str]]:
        members: dict[int, set[str]] = {}
        for key, number in zip(keys, numbers, strict=True):
            members.setdefault(int(number), set()).add(key)
        return {frozenset(part) for part in members.values()}

    edges = zip(
        found.heads.tolist(),
        found.tails.tolist(),
        found.signs.tolist(),
        found.weights.round(9).tolist(),
        found.answered.tolist(),
        strict=True,
    )
    dated = zip(
        found.later.tolist(),
        found.earlier.tolist(),
        found.supersede_weights.round(9).tolist(),
        found.superseded_by_answers.tolist(),
        strict=True,
    )
    return {
        "edges": {(frozenset((keys[a], keys[b])), *rest) for a, b, *rest in edges},
        "superseding": {(keys[a], keys[b], *rest) for a, b, *rest in dated},
        "texts": groups(found.text_group.tolist()),
        "voices": groups(found.voices.tolist()),
        "sources": {
            key: loaded.sources[s] if s >= 0 else None for key, s in zip(keys, found.source_of, strict=True)
        },
    }


def short_lists(patch: pytest.MonkeyPatch) -> None:
    """Make lists so short that every newcomer displaces somebody."""
    patch.setitem(candidates.update_neighbours.__kwdefaults__, "n_neighbours", 2)
    patch.setitem(from_questions.update_pools.__kwdefaults__, "size", 3)
    patch.setattr(learning, "POOL_SIZE", 3)


FACTS = st.lists(
    st.tuples(st.sampled_from(THINGS), st.sampled_from(NUMBERS)),
    min_size=1,
    max_size=3,
    unique_by=lambda fact: fact[0],
).map(tuple)


def pages(words: st.SearchStrategy[int | None]) -> st.SearchStrategy[Page]:
    where = (st.integers(0, len(FILLER) - 1), st.sampled_from(SOURCES), st.sampled_from(DATES))
    return st.builds(Page, FACTS, *where, words)


def histories(n_keys: int, page: st.SearchStrategy[Page]) -> st.SearchStrategy[Any]:
    """Pages to begin with, and what happens then."""
    keys = st.sampled_from([f"page{i}" for i in range(n_keys)])
    steps = st.one_of(
        st.tuples(st.just("put"), st.dictionaries(keys, page, min_size=1, max_size=4)),
        st.tuples(st.just("delete"), keys),
        st.tuples(st.just("ask"), st.sampled_from(THINGS)),
        st.tuples(st.just("build"), st.none()),
    )
    return st.tuples(st.dictionaries(keys, page, min_size=2, max_size=n_keys), st.lists(steps, max_size=8))


def compare(ours: dict[str, object], theirs: dict[str, object]) -> None:
    for part, value in ours.items():
        assert value == theirs[part], part


SLOW = settings(
    max_examples=12,
    deadline=None,
    phases=[
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ],  # shrinking takes minutes; histories are short anyway
    suppress_health_check=[HealthCheck.too_slow],
)


@given(histories(12, pages(st.none())))
@SLOW
def test_after_any_changes_the_graph_is_what_a_build_makes_of_the_documents_alone(history: Any) -> None:
    first, steps = history
    with pytest.MonkeyPatch.context() as patch, new_kb() as kb:
        short_lists(patch)
        kb.put(first)
        kb.v.build()
        kb.play(steps)
        ours = graph(kb.v)
        assert kb.v.check().problems == ()
        kb.forget_what_is_derived()
        kb.v.build()
        compare(ours, graph(kb.v))


@given(histories(6, pages(st.integers(0, 99))))
@SLOW
def test_the_order_in_which_documents_came_makes_no_difference(history: Any) -> None:
    first, steps = history
    with pytest.MonkeyPatch.context() as patch, new_kb() as kb, new_kb() as fresh:
        short_lists(patch)
        kb.put(first)
        kb.v.build()
        kb.play(steps)
        fresh.put(dict(sorted(kb.pages.items(), reverse=True)))
        if not fresh.pages:
            assert graph(kb.v)["edges"] == set()
            return
        fresh.v.questions.merge(kb.v.questions.every())
        fresh.v.build()
        compare(graph(kb.v), graph(fresh.v))


@given(histories(6, pages(st.none())))
@SLOW
def test_nor_does_it_where_pages_are_copies_of_one_another(history: Any) -> None:
    # With lists of full length: which of two copies a list names is a matter of order.
    first, steps = history
    with new_kb() as kb, new_kb() as fresh:
        kb.put(first)
        kb.play(steps)
        fresh.put(dict(sorted(kb.pages.items(), reverse=True)))
        if not fresh.pages:
            return
        fresh.v.questions.merge(kb.v.questions.every())
        fresh.v.build()
        compare(graph(kb.v), graph(fresh.v))
