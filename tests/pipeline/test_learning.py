"""Learning from questions: nothing is read twice, and any changes end where a fresh build would."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from veridical import Veridical
from veridical.graph.from_questions import MIN_SIMILARITY
from veridical.pipeline import learning, making
from veridical.reading.base import ReadAnswer, Reading
from veridical.stores import documents, questions, readings, schema, values

Open = Callable[..., Veridical]
GATEWAY = "Which setting does the gateway of the office use?"
PRINTER = "Which setting does the printer of the office use since the last change?"
DERIVED = (
    schema.question_vectors,
    schema.question_pools,
    schema.readings,
    schema.question_pairs,
    schema.made_questions,
)


def fact(thing: str, number: int) -> str:
    return f"The {thing} of the office uses setting {number} since the last change."


def log(v: Veridical, *texts: str) -> list[int]:
    with v.store.write() as connection:
        found = [questions.log(connection, text) for text in texts]
    return [number for number in found if number is not None]


def learned(v: Veridical) -> dict[str, Any]:
    """All that was learned from questions, by text instead of id, and without what only caches."""
    with v.store.read() as connection:
        text = {p.id: (p.document_id, p.text) for p in documents.every_passage(connection)}
        asked = questions.texts(connection)
        rows = connection.execute(sa.select(schema.readings)).all()
        return {
            "pools": {
                asked[q]: {text[p]: s for p, s in pool.items()}
                for q, pool in readings.pools(connection).items()
            },
            "readings": {(asked[r.question_id], text[r.passage_id], r.reader): r.answers for r in rows},
            "pairs": set(questions.pairs(connection)),
        }


def from_scratch(v: Veridical) -> dict[str, Any]:
    """What a build learns that knows of no earlier one."""
    with v.store.write() as connection:
        for table in DERIVED:
            connection.execute(table.delete())
        values.set_state(connection, readings.POOLED_UP_TO, "0")
    v.build()
    return learned(v)


def asked_pairs(v: Veridical) -> list[questions.QuestionPair]:
    with v.store.read() as connection:
        return [pair for pair in questions.pairs(connection) if pair.origin == "asked"]


def names(v: Veridical, pair: questions.QuestionPair) -> tuple[str, ...]:
    with v.store.read() as connection:
        owner = readings.owners(connection, [pair.low_passage, pair.high_passage])
        keys = {d.id: d.key for d in documents.every(connection)}
    return tuple(sorted(keys[document] for document in owner.values()))


def test_a_build_learns_who_agrees_and_who_clashes_from_a_logged_question(kb: Veridical) -> None:
    log(kb, GATEWAY)
    report = kb.build(made=0)
    assert (report.n_questions, report.n_made) == (1, 0)
    assert report.n_read > 0
    found = {names(kb, pair): pair for pair in asked_pairs(kb)}
    gateways = [f"{source}/gateway.md" for source in ("blog", "forum", "handbook", "wiki")]
    assert set(found) == {(a, b) for a in gateways for b in gateways if a < b}
    assert report.n_question_pairs == 6
    for (left, right), pair in found.items():
        same = {left, right} in ({gateways[0], gateways[1]}, {gateways[2], gateways[3]})
        assert (pair.support > pair.contradiction) == same


def test_the_answers_that_a_pair_names_stand_in_the_passages(kb: Veridical) -> None:
    log(kb, GATEWAY)
    kb.build(made=0)
    with kb.store.read() as connection:
        text = {p.id: p.text for p in documents.every_passage(connection)}
    said = set()
    for pair in asked_pairs(kb):
        said.add(text[pair.low_passage][pair.low_answer_start : pair.low_answer_end])
        said.add(text[pair.high_passage][pair.high_answer_start : pair.high_answer_end])
    assert said == {"443", "8080"}


def test_nothing_is_read_or_embedded_twice(kb: Veridical) -> None:
    log(kb, GATEWAY)
    first = kb.build()
    reader, encoder = kb.models.reader(""), kb.models.encoder
    n_read, n_encoded = reader.n_read, encoder.n_encoded
    second = kb.build()
    assert first.n_read == n_read > 0
    assert (second.n_read, reader.n_read, encoder.n_encoded) == (0, n_read, n_encoded)
    assert second.n_question_pairs == first.n_question_pairs


def test_a_second_question_reads_only_its_own_pool(kb: Veridical) -> None:
    log(kb, GATEWAY)
    kb.build()
    log(kb, PRINTER)
    assert 0 < kb.build().n_read <= learning.POOL_SIZE


@pytest.mark.parametrize("n_made", [0, 4])
def test_after_changes_it_is_what_a_build_from_nothing_learns(
    kb: Veridical, corpus: Path, n_made: int
) -> None:
    log(kb, GATEWAY, PRINTER)
    kb.build(made=n_made)
    (corpus / "wiki" / "gateway.md").write_text(f"# changed\n\n{fact('gateway', 22)}\n", "utf-8")
    for number in range(6):  # nearer to the question than what its pool holds
        (corpus / "blog" / f"new{number}.md").write_text(
            f"Which setting does the gateway of the office use? {fact('gateway', 440 + number % 2)}\n",
            "utf-8",
        )
    kb.delete("handbook/gateway.md", "forum/printer.md")
    (corpus / "handbook" / "gateway.md").unlink()
    kb.ingest(corpus, key_root=corpus)
    kb.build()
    log(kb, "What is the badge of the office?")
    (corpus / "blog" / "new1.md").unlink()
    kb.delete("blog/new1.md")
    kb.build()
    grown = learned(kb)
    assert grown["pairs"] and len(grown["pools"]) == 3
    assert grown == from_scratch(kb)
    assert kb.check().problems == ()


def test_a_deleted_passage_gives_its_place_in_a_pool_to_the_next(kb: Veridical) -> None:
    (question,) = log(kb, GATEWAY)
    kb.build()
    with kb.store.read() as connection:
        before = readings.pools(connection)[question]
    nearest = max(before, key=lambda passage: before[passage])
    with kb.store.read() as connection:
        (document,) = readings.owners(connection, [nearest]).values()
    kb.delete(f"d{document}")
    report = kb.build(made=0)
    with kb.store.read() as connection:
        after = readings.pools(connection)[question]
    assert len(after) == len(before) == learning.POOL_SIZE
    assert set(after) - set(before) and nearest not in after
    assert report.n_read <= 1


def test_what_is_far_from_a_question_is_not_asked(kb: Veridical) -> None:
    log(kb, "Completely unrelated words about quantum gravity")
    assert kb.build(made=0).n_read == 0
    with kb.store.read() as connection:
        (pool,) = readings.pools(connection).values()
    assert max(pool.values()) < MIN_SIMILARITY


def test_clearing_the_log_takes_along_what_was_learned_from_it(kb: Veridical) -> None:
    log(kb, GATEWAY)
    kb.build()
    assert kb.questions.clear() == 1
    assert asked_pairs(kb) == []
    found = learned(kb)
    assert (found["pools"], found["readings"]) == ({}, {})
    assert kb.build().n_questions == 0


class OtherReader:
    """Answers every question with the first word, under another name."""

    name = "first-word"

    def read(self, question: str, passages: list[str]) -> list[Reading]:
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: list[tuple[str, str]]) -> list[Reading]:
        found = []
        for _, passage in pairs:
            word = passage.split()[0]
            found.append(Reading((ReadAnswer(word, 0, len(word), 0.8),), 0.2))
        return found


def test_another_reader_reads_everything_anew_and_replaces_the_first(open_kb: Open, kb: Veridical) -> None:
    log(kb, GATEWAY)
    first = kb.build(made=0)
    other = open_kb("kb")
    other.models._reader = OtherReader()
    report = other.build(reader="onnx:somewhere")
    assert report.n_read == first.n_read
    assert {pair.reader for pair in asked_pairs(other)} == {"first-word"}
    assert other.setting("reader") == "onnx:somewhere"
    with other.store.read() as connection:
        assert {r.passage_id for r in readings.readings(connection, "fake-reader-1")} == set()


def test_another_encoder_finds_the_pools_anew(open_kb: Open, kb: Veridical) -> None:
    log(kb, GATEWAY)
    kb.build()
    other = open_kb("kb")
    other.models.encoder.name = "hash-2"
    assert other.build().n_read == 0  # the same pools, and what was read stays
    assert learned(other) == learned(kb)
    with other.store.read() as connection:
        assert set(connection.execute(sa.select(schema.question_vectors.c.encoder)).scalars()) == {"hash-2"}


def test_a_new_way_to_compare_is_used_on_what_was_read(
    kb: Veridical, monkeypatch: pytest.MonkeyPatch
) -> None:
    log(kb, GATEWAY)
    kb.build(made=0)
    assert asked_pairs(kb)
    monkeypatch.setattr(learning, "VERSION", "never-agrees")
    monkeypatch.setattr(learning.from_questions, "pairs_of", lambda *_, **__: [])
    assert kb.build().n_read == 0
    assert asked_pairs(kb) == []


class Killed(Exception):
    """Stands for a kill in the middle of a build."""


def test_a_build_that_is_stopped_goes_on_where_it_was(kb: Veridical, monkeypatch: pytest.MonkeyPatch) -> None:
    log(kb, GATEWAY, PRINTER)
    monkeypatch.setattr(learning, "READ_BATCH", 3)
    reader = kb.models.reader("")
    read, left = reader.read_pairs, [2]

    def stops(pairs: Any) -> Any:
        if not left[0]:
            raise Killed
        left[0] -= 1
        return read(pairs)

    monkeypatch.setattr(reader, "read_pairs", stops)
    with pytest.raises(Killed):
        kb.build()
    assert reader.n_read == 6
    left[0] = 1000
    kb.build(made=0)
    whole = learned(kb)
    assert reader.n_read == len(whole["readings"])
    assert whole == from_scratch(kb)


# --- at once, after an answer ---


def ask(v: Veridical, text: str) -> tuple[int, dict[int, Reading], dict[int, float]]:
    """Log a question and read what is nearest to it, as an answer does."""
    pool = v._retriever.retrieve(text)
    nearest = dict(zip(pool.ids, pool.similarity, strict=True))
    with v.store.write() as connection:
        question_id = questions.log(connection, text, "asked", pool.vector, v.models.encoder.name)
        assert question_id is not None
        passages = documents.passages_by_ids(connection, pool.ids[:20])
    reader = v.models.reader("")
    read = reader.read(text, [passage.text for passage in passages.values()])
    return question_id, dict(zip(passages, read, strict=True)), nearest


def learn(v: Veridical, text: str) -> int:
    question_id, found, nearest = ask(v, text)
    with v.store.write() as connection:
        return learning.learn(connection, question_id, text, found, nearest, "fake-reader-1")


def test_what_an_answer_read_is_learned_at_once_and_not_read_again(kb: Veridical) -> None:
    assert learn(kb, GATEWAY) > 0
    at_once = asked_pairs(kb)
    assert len(at_once) == 6
    assert kb.build(made=0).n_read == 0
    assert asked_pairs(kb) == at_once
    assert learn(kb, GATEWAY) == 0
    assert learned(kb) == from_scratch(kb)


def test_what_lies_outside_the_pool_is_not_kept(kb: Veridical) -> None:
    log(kb, GATEWAY)
    kb.build(made=0)
    kept = learned(kb)
    question_id, found, nearest = ask(kb, GATEWAY)
    assert len(found) > learning.POOL_SIZE
    with kb.store.write() as connection:
        assert learning.learn(connection, question_id, GATEWAY, found, nearest, "fake-reader-1") == 0
    assert learned(kb) == kept


def test_a_question_spelled_in_another_way_teaches_nothing_new(kb: Veridical) -> None:
    log(kb, GATEWAY.upper())
    assert learn(kb, GATEWAY) == 0


def test_passages_that_went_meanwhile_are_left_out(kb: Veridical) -> None:
    question_id, found, nearest = ask(kb, GATEWAY)
    kb.delete("wiki/gateway.md")
    with kb.store.write() as connection:
        assert learning.learn(connection, question_id, GATEWAY, found, nearest, "fake-reader-1") > 0
    assert len(asked_pairs(kb)) == 3


# --- what documents ask one another ---


def bridge(name: str, number: int, when: str = "day") -> str:
    return f"The {name} bridge carries {number} trains over the river every {when}."


def write_bridges(folder: Path, **pages: str) -> None:
    folder.mkdir(exist_ok=True)
    for key, text in pages.items():
        (folder / f"{key}.md").write_text(f"# Notes\n\n{text}\n", "utf-8")


@pytest.fixture
def bridges(open_kb: Open, tmp_path: Path) -> Veridical:
    """Three pages on one bridge, two of which agree, and one on another; built."""
    folder = tmp_path / "pages"
    write_bridges(
        folder,
        a=bridge("Halden", 503),
        b=bridge("Halden", 503, "wet day"),
        c=bridge("Halden", 498, "dry day"),
        d=bridge("Moss", 498),
    )
    v = open_kb("bridges")
    v.ingest(folder, key_root=folder)
    v.build()
    return v


def made_pairs(v: Veridical) -> dict[tuple[str, ...], set[str]]:
    """By documents, how they stand to each other."""
    found: dict[tuple[str, ...], set[str]] = {}
    with v.store.read() as connection:
        pairs = [pair for pair in questions.pairs(connection) if pair.origin == "made"]
    for pair in pairs:
        said = "agree" if pair.support > pair.contradiction else "clash"
        found.setdefault(names(v, pair), set()).add(said)
    return found


def test_documents_ask_their_neighbours_and_find_clashes_before_anyone_has_asked(bridges: Veridical) -> None:
    assert made_pairs(bridges) == {
        ("a.md", "b.md"): {"agree"},
        ("a.md", "c.md"): {"clash"},
        ("b.md", "c.md"): {"clash"},
    }
    status = bridges.status()
    assert (status.questions, status.made_pairs > 0) == (0, True)


def test_the_report_says_what_was_asked_and_a_second_build_asks_nothing(bridges: Veridical) -> None:
    reader = bridges.models.reader("")
    n_read = reader.n_read
    again = bridges.build()
    assert (again.n_made, again.n_read, reader.n_read) == (n_read, 0, n_read)
    assert again.n_made > 0


def test_the_budget_bounds_what_is_asked_and_none_is_asked_for_nothing(bridges: Veridical) -> None:
    assert bridges.build(made=1).n_made <= 4
    assert bridges.setting("made_questions") == "1"
    assert bridges.build(made=0).n_made == 0
    assert made_pairs(bridges) == {}
    with bridges.store.read() as connection:
        assert questions.n_pairs(connection) == 0


def test_a_reader_that_is_a_language_model_is_asked_nothing_unless_one_says_so(bridges: Veridical) -> None:
    assert bridges.build(reader="llm").n_made == 0
    assert bridges.build(reader="llm", made=2).n_made > 0
    assert bridges.build().n_made > 0


def test_an_estimate_says_what_a_language_model_would_be_called_for(bridges: Veridical) -> None:
    assert bridges.build(dry_run=True).notes == (
        "No language model is called and nothing leaves this machine.",
    )
    log(bridges, GATEWAY)
    bridges.models.reader("").name = "llm-x"
    assert bridges.build(dry_run=True).notes == ("Up to 4 readings are calls of a language model.",)


def test_an_estimate_says_how_many_would_be_asked_at_most(open_kb: Open, bridges: Veridical) -> None:
    assert bridges.build(dry_run=True).n_made == 0
    fresh = open_kb("fresh")
    fresh.ingest(bridges.path.parent / "pages")
    assert fresh.build(dry_run=True, made=3).n_made == 12


def test_a_changed_document_is_asked_anew_and_others_are_not(bridges: Veridical) -> None:
    folder = bridges.path.parent / "pages"
    write_bridges(folder, c=bridge("Halden", 503, "hot day"))
    bridges.ingest(folder, key_root=folder)
    reader = bridges.models.reader("")
    before = reader.n_read
    bridges.build()
    assert made_pairs(bridges) == {
        ("a.md", "b.md"): {"agree"},
        ("a.md", "c.md"): {"agree"},
        ("b.md", "c.md"): {"agree"},
    }
    assert reader.n_read - before <= 4  # a and b ask c, and c asks them


def test_what_a_document_asked_goes_with_it(bridges: Veridical) -> None:
    bridges.delete("a.md")
    assert set(made_pairs(bridges)) == {("b.md", "c.md")}
    bridges.build()
    assert set(made_pairs(bridges)) == {("b.md", "c.md")}


def test_another_way_to_make_questions_makes_them_all_anew(
    bridges: Veridical, monkeypatch: pytest.MonkeyPatch
) -> None:
    n = bridges.build().n_made
    monkeypatch.setattr(making, "VERSION", "other")
    assert bridges.build().n_read == n


def test_a_build_that_is_stopped_while_documents_ask_goes_on_where_it_was(
    bridges: Veridical, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, n_made = learned(bridges), bridges.build().n_made
    with bridges.store.write() as connection:
        connection.execute(schema.made_questions.delete())
        connection.execute(schema.question_pairs.delete())
    monkeypatch.setattr(making, "BATCH", 1)
    reader = bridges.models.reader("")
    read, before = reader.read_pairs, reader.n_read

    def stops(pairs: Any) -> Any:
        if reader.n_read - before >= n_made // 2:
            raise Killed
        return read(pairs)

    monkeypatch.setattr(reader, "read_pairs", stops)
    with pytest.raises(Killed):
        bridges.build()
    assert 0 < reader.n_read - before < n_made
    monkeypatch.setattr(reader, "read_pairs", read)
    bridges.build()
    assert reader.n_read - before == n_made
    assert learned(bridges) == whole


@pytest.mark.parametrize("seed", range(4))
def test_any_changes_end_where_a_build_from_nothing_does(open_kb: Open, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "pages"
    v = open_kb("changing")
    asked = 0
    for step in range(18):
        act = chance.choice(["write", "write", "write", "delete", "ask", "clear", "build"])
        if act == "write" or step < 5:
            name = chance.choice(["Halden", "Halden", "Moss"])
            when = chance.choice(["day", "wet day", "dry day", "hot day"])
            numbers = [chance.choice([498, 503]) for _ in range(chance.choice([1, 2]))]
            text = " ".join(bridge(name, number, when) for number in numbers)
            write_bridges(folder, **{"abcdef"[step] if step < 5 else chance.choice("abcdef"): text})
            v.ingest(folder, key_root=folder)
        elif act == "delete" and len(v.documents()) > 3:
            gone = chance.choice(v.documents()).key
            v.delete(gone)
            (folder / gone).unlink()
        elif act == "ask":
            asked += 1
            v.ask(f"Q{asked}: how many trains the Halden bridge carries over the river?")
        elif act == "clear" and chance.random() < 0.3:
            v.questions.clear()
        elif act == "build":
            v.build(made=chance.choice([2, 3]))
        assert v.check().problems == ()
    v.build(made=2)
    grown = learned(v)
    assert any(pair.origin == "made" for pair in grown["pairs"])
    assert grown == from_scratch(v)
