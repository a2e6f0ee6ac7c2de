"""The retrieval protocol samples, simulates and evaluates as it says, and labels reach no method."""

from __future__ import annotations

import json

import numpy as np
import pytest

from veridical.bench import protocol, relating, retrieval, summary
from veridical.bench.datasets.questions import LabelledPassage, Question, read
from veridical.errors import InputError, NotFoundError
from veridical.graph import evidence
from veridical.methods.veridical import Veridical


def questions(n=12, n_true=4, n_false=2):
    made = []
    for q in range(n):
        passages = [LabelledPassage(f"{q}t{i}", f"true text {q} {i}", "factual") for i in range(n_true)]
        passages += [
            LabelledPassage(f"{q}f{i}", f"false text {q} {i}", "misinformation") for i in range(n_false)
        ]
        passages.append(LabelledPassage(f"{q}o", f"old text {q}", "outdated"))
        made.append(Question(f"q{q}", f"question {q}", (f"{q} 0",), tuple(passages)))
    return made


def corpus():
    return protocol.sample(questions(), n_indexed=10, n_attacked=4, seed=3)


def unit_rows(n, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, 16)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_true_passages_of_all_and_false_ones_of_the_attacked_are_indexed():
    made = corpus()
    assert len(made.texts) == 10 * 4 + 4 * 2
    assert int((~made.true).sum()) == 8
    assert len(made.asked) == 4
    assert all(len(a.own_true) == 4 and len(a.own_false) == 2 for a in made.asked)
    assert not any("old" in text for text in made.texts)


def test_answer_bearing_documents_are_own_true_ones_that_hold_a_gold_answer():
    for asked in corpus().asked:
        assert len(asked.answer_bearing) == 1
        assert asked.answer_bearing < asked.own_true


def test_a_text_that_two_questions_share_is_one_document():
    shared = LabelledPassage("s", "shared", "factual")
    pair = [Question(f"q{i}", "?", ("x",), (shared,)) for i in range(2)]
    made = protocol.sample(pair, n_indexed=2, n_attacked=2)
    assert made.texts == ("shared",)
    assert made.asked[0].own_true == made.asked[1].own_true == {0}


def test_seeds_differ_and_repeat():
    assert corpus().texts == corpus().texts
    assert corpus().texts != protocol.sample(questions(), n_indexed=10, n_attacked=4, seed=4).texts


def test_more_questions_than_there_are_is_an_error():
    with pytest.raises(InputError, match="out of 12"):
        protocol.sample(questions(), n_indexed=13, n_attacked=4)


def test_pure_sources_publish_one_kind_and_misfiled_shares_are_as_asked():
    true = np.random.default_rng(0).random(20_000) < 0.7
    assert ((protocol.assign_sources(true, wrong=0.0) < 20) == true).all()
    misfiled = (protocol.assign_sources(true, wrong=0.2) < 20) != true
    assert misfiled.mean() == pytest.approx(0.2, abs=0.01)


def test_feedback_is_correct_nested_and_a_share_of_both_kinds():
    true = np.random.default_rng(0).random(1000) < 0.7
    few, many = protocol.judge(true, 0.05), protocol.judge(true, 0.3)
    assert set(few.documents) < set(many.documents)
    np.testing.assert_array_equal(many.values, true[many.documents])
    assert many.values.mean() == pytest.approx(true.mean(), abs=0.01)
    assert len(protocol.judge(true, 0.0)) == 0


def test_evaluation_counts_what_it_says():
    asked = protocol.Asked("q", "?", frozenset({0, 1}), frozenset({2}), frozenset({1}))
    made = protocol.Corpus(("a", "b", "c", "d"), np.array([True, True, False, True]), (asked,))
    order = np.array([2, 3, 1, 0])
    pool = protocol.Pool(order, np.arange(4.0)[::-1], np.full(4, np.nan), "bm25")
    values = protocol.evaluate(made, [pool], protocol.plain)
    assert values["fp@5"][0] == pytest.approx(3 / 4)
    assert values["fp@5 narrow"][0] == pytest.approx(2 / 3)  # document 3 has no false twin
    assert values["clean recall@5"][0] == 1
    assert values["poison kept@5"][0] == 1
    assert values["answer recall@5"][0] == 1
    expected = (1 / np.log2(4) + 1 / np.log2(5)) / (1 + 1 / np.log2(3))
    assert values["clean ndcg@5"][0] == pytest.approx(expected)


def test_a_question_counts_as_judged_if_a_document_of_its_own_was():
    made = corpus()
    assert not protocol.has_judged(made, protocol.judge(made.true, 0.0)).any()
    assert protocol.has_judged(made, protocol.judge(made.true, 1.0)).all()


RELATIONS = {
    name: relating.inferred([(0, 1), (2, 5)], np.array([[0.8, 0.1], [0.1, 0.7]], dtype=np.float32))
    for name in ("inferred", "asked")
}


@pytest.fixture(scope="module")
def rows():
    made = corpus()
    pools = retrieval.pools(made, unit_rows(len(made.texts)), unit_rows(len(made.asked), seed=1))
    return list(retrieval.run(made, pools, seed=0, relations=RELATIONS))


def test_a_run_has_every_setting_method_and_retriever_once(rows):
    keys = {(row.retriever, row.setting, row.feedback, row.method) for row in rows}
    assert len(keys) == len(rows) == retrieval.n_rows(RELATIONS)


def test_without_feedback_the_default_method_ranks_as_plain_retrieval(rows):
    by_key = {(r.retriever, r.setting, r.feedback, r.method): r for r in rows}
    for (retriever, setting, feedback, method), row in by_key.items():
        if method == "veridical" and feedback == 0:
            plain = by_key[retriever, setting, feedback, "plain"]
            for metric in protocol.METRICS:
                np.testing.assert_array_equal(row.values[metric], plain.values[metric])


def test_rows_survive_a_round_trip_over_disk(rows, tmp_path):
    retrieval.save(tmp_path / "rows.npz", rows)
    again = retrieval.load(tmp_path / "rows.npz")
    assert len(again) == len(rows)
    for before, after in zip(rows, again, strict=True):
        assert (before.setting, before.method, before.questions) == (
            after.setting,
            after.method,
            after.questions,
        )
        np.testing.assert_array_equal(before.judged, after.judged)
        np.testing.assert_array_equal(before.values["fp@5"], after.values["fp@5"])


def test_the_summary_has_intervals_splits_and_the_gain_over_plain(rows):
    results = summary.summarise("demo", [rows, rows], n_draws=50)
    found = {(r.setting, r.method, r.metric): r for r in results}
    setting = "dense | pure | feedback 30%"
    plain, ours = (found[setting, method, "clean ndcg@5"] for method in ("plain", "veridical"))
    gain = found[setting, "veridical", summary.GAIN]
    assert gain.value == pytest.approx(ours.value - plain.value)
    assert plain.low <= plain.value <= plain.high
    assert plain.n == 4
    assert found[setting, "plain", "clean ndcg@5 (own judged)"].n <= 4
    assert "demo, bm25" in summary.table(results, "demo")


def test_settings_whose_relations_or_sources_are_not_wanted_are_left_out():
    assert {at.relations for at in retrieval.settings(RELATIONS)} == {"", "inferred", "asked"}
    assert [at.name for at in retrieval.settings(sources=False)] == ["none"]


def test_the_upper_bound_ranks_misinformation_last():
    made = corpus()
    alike = np.ones((len(made.texts) + len(made.asked), 4), dtype=np.float32) / 2
    pools = retrieval.pools(made, alike[: len(made.texts)], alike[len(made.texts) :])
    found = {row.method: row for row in retrieval.run(made, pools, seed=0, feedback=(0.0,), sources=False)}
    assert found[retrieval.PERFECT].setting == "none"
    assert found[retrieval.PERFECT].values["fp@5"].tolist() == [1.0] * 4
    assert found["plain"].values["fp@5"].mean() < 1.0


def test_the_ablation_differs_only_where_margins_were_known_and_judged(rows):
    without = [row for row in rows if row.method == retrieval.WITHOUT_CLASH]
    assert {row.setting for row in without} == {"none, asked", "10% wrong, asked"}
    with_it = {(r.retriever, r.setting, r.feedback): r for r in rows if r.method == "veridical"}
    for row in without:  # the fixture's relations have no margins
        same = with_it[row.retriever, row.setting, row.feedback].values
        np.testing.assert_array_equal(row.values["clean ndcg@5"], same["clean ndcg@5"])


def test_the_ablation_does_not_know_which_side_of_a_clash_answers_more_outright():
    made = protocol.sample(questions(60), n_indexed=60, n_attacked=60)
    clashes = [(min(asked.own_true), max(asked.own_false)) for asked in made.asked]
    ends = np.array(clashes)
    against, sure = np.zeros(len(ends)), np.full(len(ends), 0.4)
    rows = evidence.rows_of(ends[:, 0], ends[:, 1], against, sure, answered=True, margins=against - 0.5)
    axes = np.eye(61, dtype=np.float32)
    own = [int(text.split()[2]) for text in made.texts]
    near = axes[own] + 0.1 * made.true[:, None] * axes[60]  # what is false is the nearest to its question
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    pools = retrieval.pools(made, near, axes[[int(asked.id[1:]) for asked in made.asked]])
    run = retrieval.run(made, pools, seed=0, relations={"asked": rows}, sources=False, feedback=(0.3,))
    found = {row.method: row for row in run if row.setting == "none, asked" and row.retriever == "dense"}
    ours, without = found["veridical"].values, found[retrieval.WITHOUT_CLASH].values
    assert ours["clean ndcg@5"].mean() > without["clean ndcg@5"].mean()


def test_rows_of_another_poison_say_so():
    made = corpus()
    pools = retrieval.pools(made, unit_rows(len(made.texts)), unit_rows(len(made.asked), seed=1))
    found = list(retrieval.run(made, pools, seed=0, sources=False, feedback=(0.1,), poison="neutral"))
    assert {row.setting for row in found} == {"neutral: none"}
    assert len(found) == retrieval.n_rows(sources=False, feedback=(0.1,))


def test_a_question_without_misinformation_is_not_scored():
    asked = protocol.Asked("q", "?", frozenset({0}), frozenset(), frozenset())
    made = protocol.Corpus(("a",), np.array([True]), (asked,))
    pool = protocol.Pool(np.array([0]), np.ones(1), np.ones(1), "dense")
    values = protocol.evaluate(made, [pool], protocol.plain)
    assert all(np.isnan(numbers).all() for numbers in values.values())


def test_questions_that_are_not_attacked_are_the_others():
    made = corpus()
    assert len(made.others) == 6
    assert not {asked.text for asked in made.asked} & set(made.others)


def test_good_feedback_helps_a_sample_of_the_protocol():
    made = protocol.sample(questions(60), n_indexed=60, n_attacked=60)
    graph = protocol.source_graph(len(made.texts), protocol.assign_sources(made.true, wrong=0.0))
    trust = Veridical().believe(graph, protocol.judge(made.true, 0.3)).trust[: len(made.texts)]
    known = ~np.isnan(trust)
    assert trust[known & made.true].min() > trust[known & ~made.true].max()


def test_a_data_set_is_read_and_its_faults_are_named(tmp_path):
    row = {
        "id": "a",
        "question": "?",
        "answers": ["x"],
        "passages": [{"id": "p", "text": "t", "label": "factual"}],
    }
    path = tmp_path / "small.jsonl"
    path.write_text(json.dumps(row) + "\n\n", encoding="utf-8")
    assert read(tmp_path, "small")[0].labelled("factual")[0].text == "t"
    row["passages"][0]["label"] = "true-ish"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        read(tmp_path, "small")
    with pytest.raises(NotFoundError, match="none"):
        read(tmp_path, "none")
