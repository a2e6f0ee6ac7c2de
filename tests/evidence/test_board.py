"""The evidence board: who says what, and how much it weighs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.evidence.board import (
    MAX_CANDIDATES,
    BoardModel,
    PassageRead,
    board_model,
    build_board,
)
from veridical.reading.base import NOTHING, ReadAnswer, Reading
from veridical.types import Candidate, Passage

QUESTION = "Who built the bridge?"
PLAIN = BoardModel(1.0, 1.0, 1.0, 2.0, 1.5, 0.2, thin=0.3, tied=0.05)
NAMES = ["Anna Berg", "Carl Dunn", "Eva Frost"]


def read(
    number: int,
    *answers: tuple[str, float],
    trust: float = math.nan,
    source: str | None = None,
    relevance: float = 0.8,
    text: str | None = None,
    document: int | None = None,
) -> PassageRead:
    """A passage that gives answers, each in a sentence of its own; its words are like no other passage's."""
    word = "".join("abcdefghij"[int(digit)] for digit in str(number))
    text = (
        text or " ".join(f"Report {word} of {word}{word} says {a} did {word}x." for a, _ in answers) or word
    )
    spans = [ReadAnswer(a, text.index(a), text.index(a) + len(a), p) for a, p in answers]
    passage = Passage(number, number if document is None else document, 0, 1000, 1000 + len(text), text)
    nothing = 1.0 - sum(p for _, p in answers)
    return PassageRead(passage, source, Reading(tuple(spans), nothing), relevance, trust)


def weights(reads: list[PassageRead]) -> dict[str, float]:
    return {c.text: c.weight for c in build_board(QUESTION, reads, model=PLAIN).candidates}


def test_answers_that_mean_the_same_are_one_candidate_with_all_its_witnesses() -> None:
    board = build_board(
        QUESTION,
        [read(1, ("Anna Berg", 0.9)), read(2, ("Berg", 0.6)), read(3, ("Carl Dunn", 0.7))],
        model=PLAIN,
    )
    assert [[w.passage_id for w in c.witnesses] for c in board.candidates] == [[1, 2], [3]]
    assert board.best is not None and board.best.text == "Anna Berg"
    assert board.status == "answered"


def test_a_candidate_is_named_without_what_its_witness_denies() -> None:
    best = build_board(QUESTION, [read(1, ("Anna Berg, not Carl Dunn", 0.9))]).best
    assert best is not None and best.text == "Anna Berg"


def test_a_weight_is_trust_times_reading_times_relevance() -> None:
    found = weights(
        [
            read(1, ("Anna Berg", 0.9), trust=0.6, relevance=0.5),
            read(2, ("Carl Dunn", 0.6), trust=0.5, relevance=0.5),
            read(3, ("Eva Frost", 0.6), relevance=0.25),
        ]
    )
    assert found == pytest.approx({"Anna Berg": 1.5 * 0.9 * 0.5, "Carl Dunn": 0.3, "Eva Frost": 0.15})


def test_a_distrusted_document_almost_vanishes_and_no_trusted_one_rules_alone() -> None:
    found = weights([read(1, ("Anna Berg", 0.9), trust=0.05), read(2, ("Carl Dunn", 0.9))])
    assert found["Anna Berg"] < 0.06 * found["Carl Dunn"]
    sure = weights([read(1, ("Anna Berg", 0.9), trust=1.0), read(2, ("Carl Dunn", 0.9))])
    assert sure["Anna Berg"] == pytest.approx(2 * sure["Carl Dunn"])


def test_ten_copies_weigh_as_one() -> None:
    text = "On a cold day in {} the bridge over the river was opened, and Carl Dunn had built it, they say. "
    text += "People came from all the valleys around to see it, and a band played until long after dark."
    copies = [
        read(i, ("Carl Dunn", 0.9), text=text.format("May" if i % 2 else "March")) for i in range(10, 20)
    ]
    one = weights([read(1, ("Anna Berg", 0.9)), copies[0]])
    assert weights([read(1, ("Anna Berg", 0.9)), *copies]) == pytest.approx(one)


def test_copies_that_give_another_answer_speak_for_themselves() -> None:
    text = (
        "On a cold day in spring the bridge over the river was opened, and {} had built it alone, they say."
    )
    found = weights([read(i, (name, 0.9), text=text.format(name)) for i, name in enumerate(NAMES[:2])])
    assert found["Anna Berg"] == found["Carl Dunn"]


def test_each_further_passage_of_a_source_or_document_counts_half_as_much() -> None:
    single = weights([read(1, ("Anna Berg", 0.8))])["Anna Berg"]
    several = [read(i, ("Anna Berg", 0.8)) for i in range(3)]
    assert weights(several)["Anna Berg"] == pytest.approx(3 * single)
    of_one_source = [replace(r, source="elmford.example") for r in several]
    assert weights(of_one_source)["Anna Berg"] == pytest.approx(1.75 * single)
    of_one_document = [replace(r, passage=replace(r.passage, document_id=7)) for r in several]
    assert weights(of_one_document)["Anna Berg"] == pytest.approx(1.75 * single)


def test_two_answers_of_one_passage_stay_two_candidates_unless_they_mean_the_same() -> None:
    board = build_board(QUESTION, [read(1, ("Anna Berg", 0.5), ("Carl Dunn", 0.4)), read(2, ("Berg", 0.8))])
    assert {len(c.witnesses) for c in board.candidates} == {1, 2}
    twice = build_board(QUESTION, [read(1, ("Anna Berg", 0.5), ("Berg's", 0.4))])
    assert [w.probability for c in twice.candidates for w in c.witnesses] == [pytest.approx(0.9)]


def test_a_witness_quotes_its_sentence_with_places_in_the_document() -> None:
    one = read(1, ("Anna Berg", 0.5), ("Carl Dunn", 0.3))
    for candidate in build_board(QUESTION, [one]).candidates:
        (witness,) = candidate.witnesses
        for span in (witness.answer, witness.sentence):
            assert one.passage.text[span.start - 1000 : span.end - 1000] == span.text
        assert witness.answer.text in witness.sentence.text
        assert witness.sentence.text.count("Report") == 1


def test_where_no_passage_says_anything_the_board_is_empty() -> None:
    silent = replace(read(1), reading=NOTHING)
    board = build_board(QUESTION, [silent, read(2, ("Anna Berg", 0.01))])
    assert (board.status, board.candidates, board.n_read, board.n_silent) == ("nothing", (), 2, 2)
    assert build_board(QUESTION, []).status == "nothing"


def test_weak_evidence_is_thin_and_even_evidence_is_tied() -> None:
    assert build_board(QUESTION, [read(1, ("Anna Berg", 0.05))], model=PLAIN).status == "thin"
    even = [read(1, ("Anna Berg", 0.9)), read(2, ("Carl Dunn", 0.9))]
    assert build_board(QUESTION, even, model=PLAIN).status == "tied"
    assert build_board(QUESTION, [replace(even[0], trust=0.8), even[1]], model=PLAIN).status == "answered"


def test_the_best_candidates_are_shown_and_all_count() -> None:
    many = [read(i, (word * 4, 0.5)) for i, word in enumerate("abcdefghijklmno")]
    board = build_board(QUESTION, many, model=PLAIN)
    assert [c.number for c in board.candidates] == list(range(1, MAX_CANDIDATES + 1))
    assert board.candidates[0].probability < 1 / len(many)
    assert board.n_silent == len(many) - MAX_CANDIDATES


TRUST = st.one_of(st.just(math.nan), st.floats(0, 1))
READS = st.lists(
    st.builds(
        lambda number, name, p, trust, source, relevance, twin: read(
            number,
            (name, p),
            trust=trust,
            source=source,
            relevance=relevance,
            text=f"The bridge by the old mill, built of stone and with patience, is said to be by {name}."
            if twin
            else None,
        ),
        st.integers(0, 1000),
        st.sampled_from([*NAMES, "Berg", "Dunn"]),
        st.floats(0.03, 1),
        TRUST,
        st.sampled_from([None, "a.example", "b.example"]),
        st.floats(0.01, 1),
        st.booleans(),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda r: r.passage.id,
)


def weight_of(candidates: tuple[Candidate, ...], passage: int) -> float:
    return max((c.weight for c in candidates for w in c.witnesses if w.passage_id == passage), default=0.0)


@settings(max_examples=150, deadline=None)
@given(READS, st.randoms())
def test_the_order_of_passages_makes_no_difference(reads: list[PassageRead], random) -> None:
    shuffled = list(reads)
    random.shuffle(shuffled)
    assert build_board(QUESTION, shuffled) == build_board(QUESTION, reads)


@settings(max_examples=200, deadline=None)
@given(READS, st.data())
def test_raising_the_trust_of_a_witness_never_lowers_the_weight_of_its_candidate(
    reads: list[PassageRead], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(reads) - 1))
    before = 0.5 if math.isnan(reads[at].trust) else reads[at].trust
    raised = [*reads]
    raised[at] = replace(reads[at], trust=data.draw(st.floats(before, 1)))
    old = weight_of(build_board(QUESTION, reads).candidates, reads[at].passage.id)
    new = weight_of(build_board(QUESTION, raised).candidates, reads[at].passage.id)
    assert new >= old * (1 - 1e-12)


@settings(max_examples=150, deadline=None)
@given(READS)
def test_probabilities_are_a_distribution_and_parts_are_shares(reads: list[PassageRead]) -> None:
    board = build_board(QUESTION, reads)
    chances = [c.probability for c in board.candidates]
    assert all(0 <= p <= 1 for p in chances) and sum(chances) <= 1 + 1e-12
    assert chances == sorted(chances, reverse=True)
    for candidate in board.candidates:
        assert sum(w.part for w in candidate.witnesses) == pytest.approx(1)
        assert all(0 < w.voice <= 1 for w in candidate.witnesses)


def test_unknown_trust_everywhere_weighs_as_even_trust_everywhere() -> None:
    reads = [read(1, ("Anna Berg", 0.5)), read(2, ("Carl Dunn", 0.9)), read(3, ("Berg", 0.7))]
    assert weights(reads) == weights([replace(r, trust=0.5) for r in reads])


def test_the_shipped_constants_are_in_range() -> None:
    model = board_model()
    assert 0 < model.thin < 1 and 0 <= model.tied < 1
    assert (
        min(model.reading_power, model.relevance_power, model.trust_power, model.sharpness, model.missing) > 0
    )


def test_paraphrases_by_their_vectors_are_one_voice_within_a_candidate() -> None:
    reads = [read(1, ("Anna Berg", 0.6)), read(2, ("Anna Berg", 0.9)), read(3, ("Anna Berg", 0.3))]
    reads.append(read(4, ("Carl Dunn", 0.8)))
    near = [0.95, math.sqrt(1 - 0.95**2), 0.0]
    vectors = np.array([[1, 0, 0], near, [0, 0, 1], [1, 0, 0]], dtype=np.float32)

    def found(rows: npt.NDArray[np.float32] | None) -> dict[str, float]:
        board = build_board(QUESTION, reads, vectors=rows, model=PLAIN)
        return {c.text: c.weight for c in board.candidates}

    assert found(None)["Anna Berg"] == pytest.approx(0.8 * (0.6 + 0.9 + 0.3))
    assert found(vectors)["Anna Berg"] == pytest.approx(0.8 * (0.9 + 0.3))
    assert found(vectors)["Carl Dunn"] == found(None)["Carl Dunn"]
    order = [2, 0, 3, 1]
    shuffled = build_board(QUESTION, [reads[i] for i in order], vectors=vectors[order], model=PLAIN)
    assert shuffled == build_board(QUESTION, reads, vectors=vectors, model=PLAIN)


def test_a_passage_without_a_vector_is_no_paraphrase() -> None:
    reads = [read(1, ("Anna Berg", 0.6)), read(2, ("Anna Berg", 0.9))]
    vectors = np.array([[1, 0], [math.nan, math.nan]], dtype=np.float32)
    assert build_board(QUESTION, reads, vectors=vectors) == build_board(QUESTION, reads)
