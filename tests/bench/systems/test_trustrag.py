"""TrustRAG: likeness of texts, clusters, every case of the first stage, and its three calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("sklearn", reason="the extra 'bench' is not installed")
pytest.importorskip("snowballstemmer", reason="the extra 'bench' is not installed")

from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.rouge import overlapping, rouge_l
from veridical.bench.systems.trustrag import (
    Kept,
    TrustRAG,
    TrustRAGFilter,
    clusters,
    cosine,
    inner_cosine,
    trustworthy,
)
from veridical.llm.base import Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM
from veridical.testing.fakes import FakeReader

WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=8).map(" ".join)


def around(direction: int, spread: float, n: int, dimensions: int = 12) -> list[np.ndarray]:
    """Rows near to an axis: the further ``spread`` the less alike, each in a way of its own."""
    rows = []
    for k in range(n):
        row = np.zeros(dimensions)
        row[direction] = 1.0
        row[4 + 2 * direction + k % 4] = spread
        rows.append(row)
    return rows


def kept(texts: Sequence[str], rows: Sequence[np.ndarray]) -> Kept:
    return trustworthy(texts, np.array(rows))


SAME = "the bridge at halden was opened in nineteen thirty two by the mayor"
APART = ("ore ships west", "a lake lies north", "bells ring at noon", "snow fell early", "mills grind rye")


class TestRougeL:
    def test_five_of_six_words_in_order_are_five_sixths(self) -> None:
        left, right = (f"the capital of france is {town}" for town in ("paris", "london"))
        assert rouge_l(left, right) == pytest.approx(0.8333, abs=5e-5)

    def test_half_of_the_words_are_a_half(self) -> None:
        assert rouge_l("a b c d", "a b x y") == 0.5

    def test_order_counts_and_gaps_do_not(self) -> None:
        assert rouge_l("a b c d", "d c b a") == 0.25
        assert rouge_l("a b c d", "a x b y c z d") == pytest.approx(8 / 11)

    def test_endings_capitals_and_signs_do_not_count(self) -> None:
        assert rouge_l("Bridges opened!", "bridge, opening") == 1.0

    def test_short_words_keep_their_endings(self) -> None:
        assert rouge_l("cats", "cat") == 1.0
        assert rouge_l("its", "it") == 0.0

    def test_a_text_without_a_word_is_like_nothing(self) -> None:
        assert rouge_l("", "") == rouge_l("...", "a") == 0.0

    @settings(max_examples=80, deadline=None)
    @given(WORDS, WORDS)
    def test_it_is_what_the_usual_table_says(self, left: str, right: str) -> None:
        a, b = left.split(), right.split()
        table = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
        for i, one in enumerate(a):
            for j, other in enumerate(b):
                table[i + 1, j + 1] = (
                    table[i, j] + 1 if one == other else max(table[i, j + 1], table[i + 1, j])
                )
        expected = 2 * table[-1, -1] / (len(a) + len(b)) if a and b else 0.0
        assert rouge_l(left, right) == expected

    @settings(max_examples=50, deadline=None)
    @given(WORDS, WORDS)
    def test_it_is_symmetric_and_a_share(self, left: str, right: str) -> None:
        assert rouge_l(left, right) == rouge_l(right, left)
        assert 0.0 <= rouge_l(left, right) <= 1.0
        assert not left or rouge_l(left, left) == 1.0


class TestOverlap:
    def test_both_of_a_pair_go(self) -> None:
        assert overlapping([SAME, APART[0], SAME], 0.25) == {0, 2}

    def test_exactly_the_threshold_is_not_above_it(self) -> None:
        four = ["a b c d", "a x y z"]
        assert rouge_l(*four) == 0.25
        assert overlapping(four, 0.25) == frozenset()
        assert overlapping(four, 0.249) == {0, 1}

    def test_what_is_like_the_first_that_went_goes_too(self) -> None:
        assert overlapping([SAME, SAME, SAME], 0.25) == {0, 1, 2}

    def test_a_third_alike_that_has_no_partner_left_is_compared_with_the_first_only(self) -> None:
        one, two = "a b c d", "p q r s"
        assert overlapping([one, one, two, two, two], 0.25) == {0, 1, 2, 3}


class TestClusters:
    def test_two_bundles_are_parted_and_the_first_rows_comes_first(self) -> None:
        rows = np.array(around(0, 0.1, 3) + around(1, 0.1, 2))
        assert clusters(rows) == ((0, 1, 2), (3, 4))
        assert clusters(rows[::-1]) == ((0, 1), (2, 3, 4))

    def test_equal_rows_are_one_cluster_and_nothing_is_divided_by_zero(self) -> None:
        with np.errstate(all="raise"):
            assert clusters(np.ones((4, 3))) == ((0, 1, 2, 3), ())
            assert clusters(np.full((3, 3), 0.1)) == ((0, 1, 2), ())
            assert clusters(np.zeros((2, 3))) == ((0, 1), ())

    def test_a_row_that_is_the_mean_of_all_is_no_trouble(self) -> None:
        rows = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
        with np.errstate(all="raise"):
            first, second = clusters(rows)
        assert sorted(first + second) == [0, 1, 2]

    def test_cosines(self) -> None:
        rows = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
        half = np.sqrt(0.5)
        assert inner_cosine(rows) == pytest.approx((half + 0.0 + half) / 3)
        assert cosine(rows[0], rows[1]) == pytest.approx(half)
        assert cosine(rows[0], np.zeros(2)) == 0.0


class TestFirstStage:
    def test_texts_that_do_not_overlap_all_stay_however_near_their_vectors_are(self) -> None:
        assert kept(APART, around(0, 0.0, 5)) == Kept((0, 1, 2, 3, 4), "nothing overlaps")

    def test_a_tight_cluster_is_dropped_and_the_loose_one_kept(self) -> None:
        rows = around(0, 0.1, 3) + around(1, 1.0, 2)
        assert kept([SAME, SAME, SAME, *APART[:2]], rows) == Kept((3, 4), "a cluster is alike inside")

    def test_of_the_kept_cluster_what_overlaps_is_dropped_too(self) -> None:
        rows = around(0, 0.1, 2) + around(1, 1.0, 3)
        texts = [*APART[:2], SAME, APART[2], SAME]
        assert kept(texts, rows).places == (3,)

    def test_two_tight_clusters_leave_nothing(self) -> None:
        rows = around(0, 0.1, 3) + around(1, 0.1, 2)
        assert kept([SAME] * 3 + list(APART[:2]), rows) == Kept((), "both clusters are alike inside")

    def test_two_loose_clusters_both_stay_but_for_what_overlaps_in_each(self) -> None:
        rows = around(0, 1.0, 3) + around(1, 1.0, 2)
        found = kept([SAME, APART[0], SAME, APART[1], APART[2]], rows)
        assert found == Kept((1, 3, 4), "no cluster is alike inside")

    def test_true_passages_that_repeat_each_other_go_as_well(self) -> None:
        rows = around(0, 0.05, 3) + around(1, 1.0, 2)
        syndicated = [f"{SAME} says agency {n}" for n in range(3)]
        assert not {0, 1, 2} & set(kept([*syndicated, *APART[:2]], rows).places)

    def test_a_single_passage_beside_tight_others_is_what_stays(self) -> None:
        rows = around(0, 0.1, 4) + around(1, 0.0, 1)
        assert kept([SAME] * 4 + [APART[0]], rows) == Kept((4,), "a single one is kept")

    def test_a_single_passage_beside_loose_others_is_dropped(self) -> None:
        rows = around(0, 1.0, 4) + around(1, 0.0, 1)
        found = kept([SAME, SAME, *APART[:3]], rows)
        assert found == Kept((0, 1, 2, 3), "a single one is dropped")

    def test_a_single_passage_that_is_like_the_tight_others_goes_with_them(self) -> None:
        rows = [*around(0, 0.02, 4), around(0, 0.0, 1)[0] + 0.25 * np.eye(12)[1]]
        assert cosine(rows[-1], rows[0]) > 0.88
        assert kept([SAME] * 5, rows) == Kept((), "the single one is like the others")

    def test_exactly_the_threshold_counts_as_tight_where_one_of_two_is_dropped(self) -> None:
        rows = np.array(around(0, 0.1, 2) + around(1, 1.0, 2))
        texts = [SAME, SAME, *APART[:2]]
        exact = inner_cosine(rows[:2])
        assert trustworthy(texts, rows, alike=exact).case == "a cluster is alike inside"
        assert trustworthy(texts, rows, alike=exact + 1e-9).case == "no cluster is alike inside"

    def test_of_two_passages_the_better_ranked_stays_and_no_mean_of_nothing_is_taken(self) -> None:
        with np.errstate(all="raise"):
            assert kept([SAME, SAME], [*around(0, 0.1, 1), *around(1, 0.1, 1)]) == Kept((0,), "two passages")

    def test_copies_with_equal_vectors_leave_nothing(self) -> None:
        with np.errstate(all="raise"):
            assert kept([SAME] * 3, around(0, 0.0, 3)) == Kept((), "all are equal")

    def test_one_passage_or_none_stays(self) -> None:
        assert kept([SAME], around(0, 0.0, 1)).places == (0,)
        assert trustworthy([], np.zeros((0, 3))).places == ()

    def test_kept_passages_stay_in_the_order_of_their_ranks(self) -> None:
        rows = np.array(around(0, 1.0, 3) + around(1, 1.0, 2))[[3, 0, 4, 1, 2]]
        found = kept([SAME, SAME, *APART[:3]], rows)
        assert list(found.places) == sorted(found.places)
        assert len(found.places) > 2


def encode(rows: Sequence[np.ndarray]):  # type: ignore[no-untyped-def]
    return lambda texts: np.array(rows[: len(texts)], dtype=np.float32)


def task(texts: Sequence[str]) -> Task:
    return Task("When was it opened?", tuple(Retrieved(n, text) for n, text in enumerate(texts)))


ROWS = around(0, 0.1, 3) + around(1, 1.0, 2)
TEXTS = [SAME, SAME, SAME, "It opened in 1954.", "A lake lies north."]


class TestAnswers:
    def test_the_reader_answers_from_what_stays(self) -> None:
        reply = TrustRAGFilter(Tools(reader=FakeReader(), encode=encode(ROWS))).answer(task(TEXTS))
        assert (reply.text, reply.ranking) == ("1954", (3, 4))
        assert reply.detail["case"] == "a cluster is alike inside"
        assert "SimCSE" in reply.notes[0]

    def test_the_published_encoder_is_used_where_it_is_there(self) -> None:
        tools = Tools(reader=FakeReader(), weights={"simcse-bert-base": encode(ROWS)})
        assert TrustRAGFilter(tools).answer(task(TEXTS)).notes == ()

    def test_only_the_nearest_passages_are_looked_at(self) -> None:
        tools = Tools(reader=FakeReader(), encode=encode(ROWS))
        assert TrustRAGFilter(tools).answer(task([*TEXTS, "more"])).ranking == (3, 4)
        assert TrustRAGFilter(tools, top_k=1).answer(task(TEXTS)).ranking == (0,)

    def test_three_calls_write_a_note_merge_it_with_what_stays_and_weigh_both(self) -> None:
        replies = {"Note:": "It opened in 1932.", "Merged text:": "It opened in 1954.", "few words:": "1954"}

        def reply(messages: Sequence[Message]) -> str:
            return next(text for end, text in replies.items() if messages[-1].content.endswith(end))

        llm = ScriptedLLM(reply)
        said = TrustRAG(Tools(llm=ManagedLLM(llm), encode=encode(ROWS))).answer(task(TEXTS))
        assert (said.text, said.usage.calls) == ("1954", 3)
        note, merge, weigh = (call[-1].content for call in llm.calls)
        assert SAME not in note + merge and "It opened in 1954." in merge and "It opened in 1932." in merge
        assert "It opened in 1954." in weigh and "It opened in 1932." in weigh and "lake" not in weigh

    def test_the_note_is_asked_without_passages_and_where_nothing_stays_the_merge_says_so(self) -> None:
        llm = ScriptedLLM(["I don't know", "nothing", "1932"])
        TrustRAG(Tools(llm=ManagedLLM(llm), encode=encode(around(0, 0.0, 3)))).answer(task([SAME] * 3))
        assert "Passages:\n(none)" in llm.calls[1][-1].content
