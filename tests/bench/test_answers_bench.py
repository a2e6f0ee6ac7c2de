"""The benchmark of answers: what is read and compared, whom votes reach, and how answers are marked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exams import CITIES, exam, question, reading

from veridical.bench import answer_runs, answers, protocol
from veridical.bench.answer_misses import Miss
from veridical.bench.answer_runs import Row, Setting
from veridical.bench.poison import POISONS
from veridical.evidence.board import Board
from veridical.types import Candidate, Span, Witness


def candidate(text: str, sure: dict[int, float], probability: float = 0.8) -> Candidate:
    span = Span(text, 0, len(text))
    witnesses = tuple(Witness(d, d, span, span, p, relevance=1.0, part=0.1) for d, p in sure.items())
    return Candidate(1, text, 1.0, probability, witnesses)


def test_the_nearest_documents_come_first_and_are_as_many_as_are_read():
    rng = np.random.default_rng(0)
    texts = rng.standard_normal((50, 8)).astype(np.float32)
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    (pool,) = answers.nearest(texts, texts[7:8])
    assert pool.documents[0] == 7
    assert len(pool.documents) == answers.N_READ
    assert (np.diff(pool.relevance) <= 0).all()


def test_passages_that_answer_alike_support_and_others_contradict():
    taken = exam()
    graph = answers.build_graph(taken)
    ends = np.stack([graph.heads, graph.tails], axis=1)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert len({tuple(pair) for pair in ends.tolist()}) == len(ends) == 3 * 6
    same = taken.corpus.true[graph.heads] == taken.corpus.true[graph.tails]
    assert (graph.signs[same] == 1).all()
    assert (graph.signs[~same] == -1).all()
    assert graph.by_answers.all()


def test_only_passages_that_a_build_would_ask_are_compared():
    taken = exam()
    far = [replace(pool, similarity=np.array([0.9, 0.8, 0.1, 0.1])) for pool in taken.pools]
    assert len(answers.question_relations(replace(taken, pools=tuple(far))).heads) == 3


def test_the_graph_has_the_sources_given_and_keeps_its_relations():
    taken = exam()
    graph = answers.build_graph(taken)
    assert graph.n_sources == 0
    sourced = answers.with_sources(graph, np.arange(taken.n_documents, dtype=np.int64) % 28)
    assert sourced.n_sources == 28
    assert sourced.heads is graph.heads
    assert answers.with_sources(sourced, None).n_sources == 0
    bare = answers.without_relations(sourced)
    assert (len(bare.heads), len(bare.weights), len(bare.answered), bare.n_sources) == (0, 0, 0, 28)


def test_trust_decides_between_answers_that_are_told_equally_often():
    taken = exam(n_false=2)
    true = taken.corpus.true
    believed = answers.answer_all(taken, np.where(true, 0.9, 0.1))
    assert believed.strict.tolist() == [1, 1, 1]
    assert believed.f1.tolist() == [1, 1, 1]
    assert believed.attack.tolist() == [0, 0, 0]
    fooled = answers.answer_all(taken, np.where(true, 0.1, 0.9))
    assert fooled.strict.tolist() == [0, 0, 0]
    assert fooled.attack.tolist() == [1, 1, 1]


def test_more_passages_win_where_nothing_is_known():
    taken = exam(n_false=5)
    assert answers.answer_all(taken, answers.unknown(taken)).attack.tolist() == [1, 1, 1]


def test_an_empty_board_is_a_wrong_answer_that_is_not_given():
    sheet = answers.mark([question("fair")], [Board((), "nothing")])
    assert sheet.text == ("",)
    assert [getattr(sheet, name).tolist() for name in answer_runs.MARKS] == [[0.0]] * 6


def test_what_is_marked_is_the_leading_candidate_even_if_it_would_be_withheld():
    board = Board((candidate("Paris", {0: 1.0}, 0.4),), "thin")
    sheet = answers.mark([question("fair")], [board])
    assert (sheet.given[0], sheet.probability[0], sheet.strict[0]) == (0.0, 0.4, 1.0)


def test_an_attack_names_a_wrong_answer_and_no_right_one():
    asked = question("fair")
    assert answers.attacked("in Lyon", asked)
    assert not answers.attacked("Lyon, not Paris", asked)
    assert not answers.attacked("Rome", asked)


def test_a_vote_reaches_the_documents_that_give_the_answer():
    found = answers.votes(candidate("Paris", {3: 0.6, 5: 0.4, 8: 0.01}), question("fair"))
    assert found == {3: (1.0, 1.0), 5: (1.0, pytest.approx(2 / 3))}


@pytest.mark.parametrize("text", ["Lyon", "Rome", "Lyon, not Paris"])
def test_a_vote_on_an_answer_that_is_not_plainly_right_is_bad(text):
    assert answers.votes(candidate(text, {3: 1.0}), question("fair")) == {3: (0.0, 1.0)}


def test_votes_on_one_document_are_averaged_by_weight():
    anchors = answers.as_anchors({4: [(1.0, 1.0), (0.0, 0.5)], 2: [(0.0, 1.0)]})
    assert anchors.documents.tolist() == [2, 4]
    assert anchors.values == pytest.approx([0, 2 / 3])
    assert anchors.weights.tolist() == [1.0, 1.5]


def test_votes_turn_the_answers_that_were_voted_on():
    taken = exam(n_false=5)
    found = answers.vote(taken, answers.build_graph(taken), (1, 3, 9))
    assert list(found) == [1, 3, 9]
    for n, (trust, voted) in found.items():
        assert voted.sum() == min(n, 3)  # there are no more questions
        assert answers.answer_all(taken, trust).attack[voted].sum() == 0


def test_a_run_goes_through_every_setting_of_every_corpus():
    exams = {poison: exam(poison) for poison in POISONS}
    ticks: list[int] = []
    done = answer_runs.run(exams, seed=0, tick=lambda: ticks.append(1))
    rows = done.rows
    assert set(done.misses) == {"written", "neutral"}
    assert len(rows) == len(ticks) == sum(answer_runs.n_settings(poison) for poison in POISONS)
    assert len({row.setting for row in rows}) == len(rows)
    by_setting = {row.setting: row for row in rows}
    perfect = by_setting[Setting("written", "no sources", "perfect trust")]
    assert perfect.marks["strict"].tolist() == [1, 1, 1]
    clean = by_setting[Setting("clean", "no sources", "feedback 0%")]
    assert clean.marks["attack"].sum() == 0
    assert not clean.touched.any()
    assert by_setting[Setting("written", "no sources", "feedback 30%")].touched.any()


def test_questions_without_poison_of_a_kind_are_not_scored():
    taken = exam("neutral")
    assert taken.attacked.all()
    bare = exam("clean")
    assert not bare.attacked.any()
    rows = answer_runs.run({"clean": bare}, seed=0).rows
    assert all(row.scored.all() for row in rows)


def test_feedback_and_sources_depend_on_the_seed_alone():
    taken = exam()
    first, again = (answer_runs.run({"written": taken}, seed=1).rows for _ in range(2))
    assert all(
        (a.marks["probability"] == b.marks["probability"]).all() for a, b in zip(first, again, strict=True)
    )
    anchors = protocol.judge(taken.corpus.true, 0.3, seed=1)
    row = next(r for r in first if r.setting.belief == "feedback 30%" and r.setting.sources == "no sources")
    assert row.touched.tolist() == protocol.has_judged(taken.corpus, anchors).tolist()


def test_rows_come_back_as_they_were_saved(tmp_path):
    done = answer_runs.run({"written": exam()}, seed=0)
    done.misses["written"].append(Miss("fair", "not read"))
    answer_runs.save(tmp_path / "work" / "rows.json", done)
    loaded = answer_runs.load(tmp_path / "work" / "rows.json")
    assert loaded.misses == done.misses
    for row, back in zip(done.rows, loaded.rows, strict=True):
        assert isinstance(back, Row)
        assert (back.setting, back.questions) == (row.setting, row.questions)
        assert back.scored.tolist() == row.scored.tolist()
        assert back.touched.tolist() == row.touched.tolist()
        assert {k: v.tolist() for k, v in back.marks.items()} == {k: v.tolist() for k, v in row.marks.items()}


def test_the_exam_of_these_tests_reads_every_city():
    for right, wrong in CITIES.values():
        assert reading(f"It was {right}.").best.text == right
        assert reading(f"It was {wrong}.").best.text == wrong
