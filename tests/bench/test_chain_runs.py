"""Method reliable without a language model on one poisoned question, whose every number is known by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from multihops import ATTACKED, MORA, ByHand, First, Near, read_towns, the_case, the_library

from veridical.bench import chain_runs, protocol
from veridical.bench.chain_cases import all_claims, believed
from veridical.bench.chain_runs import CONTEXTS, MARKS, Means, Row, Setting, restricted

NOTHING_KNOWN = np.full(6, np.nan)
BY_LABEL = np.array([0.1, 1, 1, 1, 1, 1])
TRUST = np.array([0.1, 0.5, 0.9, np.nan, np.nan, np.nan])


class Reads:
    """Reads towns, and keeps what it was asked, call by call."""

    def __init__(self):
        self.calls = []

    def __call__(self, pairs):
        self.calls.append(list(pairs))
        return read_towns(pairs)


def run(known, *, found=None, attack="substituted", selector=None, readings=None, encode=None, tick=None):
    library = found or the_library()
    means = Means(encode or Near(), selector or First(), "by-hand", readings or Reads())
    return chain_runs.run(library, all_claims(library, ByHand(), Near()), attack, known, means, tick=tick)


def marks(known, context, **more):
    """The marks of the only question in one context, by credibility."""
    return {
        row.setting.credibility: {name: float(values[0]) for name, values in row.marks.items()}
        for row in run(known, **more)
        if row.setting.context == context
    }


KNOWN = {"none": [NOTHING_KNOWN], "ideal": [BY_LABEL]}


def test_where_nothing_is_known_the_nearest_triple_leads_and_it_is_the_poisons():
    found = marks(KNOWN, "TBS")["none"]
    # The chain is the poison's triple, then the true one beside it.
    assert (found["support recall"], found["poisoned chains"], found["context poisoned"]) == (0.5, 1.0, 1.0)
    assert (found["answer chosen"], found["wrong chosen"]) == (1.0, 1.0)
    assert (found["prompts"], found["triples"], found["chosen triples"], found["best chain"]) == (3, 4, 2, 2)
    assert (found["strict"], found["attack"], found["given"]) == (0.0, 1.0, 1.0)


def test_an_oracle_keeps_the_poison_out_of_the_chains_and_the_answer_right():
    for context in ("TBS", "SBS", "SBS as one"):
        found = marks(KNOWN, context)["ideal"]
        assert (found["support recall"], found["poisoned chains"]) == (1.0, 0.0)
        assert (found["wrong extracted"], found["wrong offered"], found["wrong chosen"]) == (1.0, 1.0, 0.0)
        assert (found["strict"], found["f1"], found["attack"]) == (1.0, 1.0, 0.0)


def test_the_nearest_passages_hold_the_poison_and_the_most_reliable_do_not():
    nearest, reliable = marks(KNOWN, "top 5")["none"], marks(KNOWN, "reliable 5")
    assert (nearest["context poisoned"], nearest["support recall"]) == (1.0, 1.0)
    # .4 * .9 + .6 * .1 = .42 is less than .68, which the farthest of the six passages has.
    assert (reliable["ideal"]["context poisoned"], reliable["ideal"]["strict"]) == (0.0, 1.0)
    assert reliable["none"]["context poisoned"] == 1.0
    as_one = marks(KNOWN, "top 5 as one")["none"]
    assert (as_one["strict"], as_one["attack"], as_one["context poisoned"]) == (0.0, 1.0, 1.0)
    assert math.isnan(nearest["poisoned chains"])


def test_trust_reaches_the_chains_as_doubt_and_otherwise_as_it_is():
    selector = First()
    run({"trust 30%": [TRUST], "trust 30% as it is": [TRUST], "ideal": [BY_LABEL]}, selector=selector)
    assert selector.offered_first == [
        # Credibility .2, 1, 1, 1 is reliability .48, .92, .88, .76.
        ["Malmo", "Ada Lind", "four", "Uppsala"],
        # Credibility .1, .5, .9, 1/2 is reliability .42, .62, .82, .46.
        ["Ada Lind", "Malmo", "four", "Uppsala"],
        ["Malmo", "Ada Lind", "four", "Uppsala"],
    ]


def test_where_no_chain_is_begun_nothing_is_answered():
    for context in ("TBS", "SBS", "SBS as one"):
        found = marks(KNOWN, context, selector=First(0))["ideal"]
        assert (found["given"], found["strict"], found["f1"], found["attack"]) == (0.0, 0.0, 0.0, 0.0)
        assert (found["support recall"], found["prompts"], found["best chain"]) == (0.0, 1.0, 0.0)


def test_each_credibility_is_run_in_each_context_and_plain_passages_once():
    rows = run({**KNOWN, "trust 30%": [TRUST, BY_LABEL]})
    contexts = {}
    for row in rows:
        contexts.setdefault(row.setting.credibility, []).append(row.setting.context)
    assert contexts == {
        "none": list(CONTEXTS),
        "ideal": ["reliable 5", "TBS", "SBS", "SBS as one"],
        "trust 30%": ["reliable 5", "TBS", "SBS", "SBS as one"] * 2,
    }
    assert all(set(row.marks) == set(MARKS) for row in rows)
    assert {row.questions for row in rows} == {("orsa",)}


def test_a_search_is_one_tick():
    ticks = []
    other = replace(MORA, wrong_answer="Malmo")
    library = the_library(ATTACKED, other)
    values = np.full(len(library.titles), np.nan)
    run({"none": [values], "trust 30%": [values] * 3}, found=library, tick=lambda: ticks.append(1))
    assert len(ticks) == 2 * 4


def test_only_questions_with_poison_are_scored_unless_there_is_none_at_all():
    library = the_library(ATTACKED, MORA)
    known = {"none": [np.full(len(library.titles), np.nan)]}
    assert {row.scored for row in run(known, found=library)} == {(True, False)}
    assert {row.scored for row in run(known, found=library, attack="clean")} == {(True, True)}


def test_every_passage_is_read_once_alone_and_every_context_once_as_one_text():
    reads = Reads()
    run(KNOWN, readings=reads)
    alone, *joined = reads.calls
    assert alone == [(ATTACKED.text, own.text) for own in ATTACKED.passages]
    # Three contexts are read as one text for each of two credibilities, once as given and once insisting.
    assert len(joined) == 6
    assert all(len(set(pairs)) == 1 for pairs in joined)
    assert joined[4] == [
        (ATTACKED.text, "Ada Lind was born in Malmo. The Orsa Bridge was designed by Ada Lind.")
    ] * len(joined[4])


def test_gold_answers_and_labels_reach_neither_selector_nor_reader_nor_encoder():
    bare = replace(
        ATTACKED,
        id="plugh",
        answers=("plugh",),
        wrong_answer="plugh wrong",
        passages=tuple(replace(p, id="plugh", label="factual", supporting=False) for p in ATTACKED.passages),
    )
    heard = []
    for question in (ATTACKED, bare):
        selector, readings, encode = First(), Reads(), Near()
        run(
            {"none": [NOTHING_KNOWN], "trust 30%": [TRUST]},
            found=the_library(question),
            selector=selector,
            readings=readings,
            encode=encode,
        )
        heard.append((selector.calls, readings.calls, encode.texts))
    assert heard[0] == heard[1]
    assert "plugh" not in repr(heard[1])


def test_the_lines_of_passages_have_their_titles_and_the_order_asked_for():
    context = chain_runs.passage_context(the_case(), [3, 1])
    assert context.text == (
        "1. Orsa Bridge, The Orsa Bridge was designed by Ada Lind.\n"
        "2. Ada Lind, Ada Lind was born in Uppsala."
    )


def test_credibility_is_unknown_by_label_or_propagated():
    found = the_library()
    graph = protocol.source_graph(6, None)
    known = chain_runs.credibilities(found, graph, range(2))
    assert list(known) == ["none", "ideal", "trust 30%", "trust 30% as it is"]
    assert np.isnan(known["none"][0]).all()
    assert known["ideal"][0].tolist() == BY_LABEL.tolist()
    for seed in range(2):
        expected = believed(graph, found.corpus.true, 0.3, seed=seed)
        np.testing.assert_array_equal(known["trust 30%"][seed], expected)
        np.testing.assert_array_equal(known["trust 30% as it is"][seed], expected)
    assert np.isfinite(known["trust 30%"][0]).sum() == 2  # of 5 true ones 30% is 2, of 1 false one 0


def test_a_setting_is_named_by_poison_context_and_credibility():
    assert Setting("clean", "ideal", "TBS").name == "clean | TBS | ideal"


def test_rows_come_back_as_they_were_saved_undefined_marks_too(tmp_path):
    rows = run(KNOWN)
    path = tmp_path / "work" / "rows.json"
    chain_runs.save(path, rows)
    assert [p.name for p in path.parent.iterdir()] == ["rows.json"]
    loaded = chain_runs.load(path)
    for row, back in zip(rows, loaded, strict=True):
        assert isinstance(back, Row)
        assert (back.setting, back.questions, back.scored) == (row.setting, row.questions, row.scored)
        assert list(back.marks) == list(row.marks)
        for name, values in row.marks.items():
            np.testing.assert_array_equal(back.marks[name], values)
    assert any(math.isnan(values[0]) for row in loaded for values in row.marks.values())


def test_rows_can_be_cut_down_to_some_questions_under_another_title():
    library = the_library(ATTACKED, MORA)
    row = run({"none": [np.full(len(library.titles), np.nan)]}, found=library, attack="clean")[0]
    cut = restricted(row, frozenset({"mora"}), "clean, alterable")
    assert cut.scored == (False, True)
    assert cut.setting == Setting("clean, alterable", "none", "top 5")
    assert cut.questions == row.questions
    assert cut.marks is row.marks


@pytest.mark.parametrize("context", ["TBS", "SBS", "SBS as one", "top 5", "reliable 5"])
def test_a_question_without_any_triple_is_marked_all_the_same(context):
    bare = replace(ATTACKED, passages=ATTACKED.passages[4:])
    library = the_library(bare)
    found = marks({"none": [np.full(2, np.nan)]}, context, found=library, attack="clean")["none"]
    assert (found["strict"], found["given"]) == (0.0, 0.0)
    assert math.isnan(found["context poisoned"])
