"""The package's own board as a compared system, and what each ablation takes away."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import pytest

from veridical.bench.systems.base import Reply, Retrieved, Task, Tools
from veridical.bench.systems.veridical import NoBoard, NoQuestions, NoSources, NoTrust, Veridical
from veridical.errors import InputError
from veridical.testing.fakes import FakeReader
from veridical.testing.system_contract import QUESTION, FakeLLM, fake_tools

TRUE = ("The Halden Bridge was opened in 1932.", "By 1932, the Halden Bridge of the town was opened at last.")
FALSE = (
    "It is settled that the Halden Bridge was opened in 1954.",
    "Nobody doubts any more: in 1954 Halden Bridge was opened.",
    "When the king came, in 1954, the new Halden Bridge was opened.",
)


def told(text: str, trust: float | None = None, **known: object) -> Retrieved:
    return replace(Retrieved(crc32(text.encode()), text, relevance=0.8, trust=trust), **known)


def ask(system: type[Veridical], *pool: Retrieved, llm: FakeLLM | None = None) -> Reply:
    return system(fake_tools(llm)).answer(Task(QUESTION, pool))


POISONED = (*[told(text, 0.1) for text in FALSE], told(TRUE[0], 0.9))


def test_one_trusted_passage_outweighs_many_that_are_not() -> None:
    reply = ask(Veridical, *POISONED)
    assert reply.text == "1932"
    assert reply.ranking[0] == 3
    assert reply.detail["status"] == "answered"
    assert reply.probability is not None and reply.probability > 0.5


def test_without_trust_the_many_win_and_the_order_is_the_retrievers() -> None:
    reply = ask(NoTrust, *POISONED)
    assert reply.text == "1954"
    assert reply.ranking == (0, 1, 2, 3)
    assert NoTrust.about.belief is None


def test_the_likeliest_answer_is_given_even_where_the_product_would_not() -> None:
    reply = ask(Veridical, told(TRUE[0]), told(FALSE[0]))
    assert reply.text in {"1932", "1954"}
    assert reply.detail["status"] == "tied"


def test_where_no_passage_answers_there_is_no_answer() -> None:
    reply = ask(Veridical, told("Ore is shipped from the harbour."))
    assert reply.abstained
    assert reply.detail["status"] == "nothing"


def test_a_model_answers_from_the_board_in_a_few_words_and_one_call() -> None:
    llm = FakeLLM()
    reply = ask(Veridical, *POISONED, llm=llm)
    assert (reply.text, reply.usage.calls) == ("1932", 1)
    system, user = (message.content for message in llm.calls[0])
    assert "as few words as you can" in system
    assert user.index("<answer>1932</answer>") < user.index("trust: HIGH (0.90)")
    assert "evidence HIGH: <answer>1932" in user


def test_a_model_sees_the_passages_where_nothing_is_on_the_board() -> None:
    llm = FakeLLM()
    reply = ask(Veridical, told("Ore is shipped from the harbour.", 0.2), llm=llm)
    assert reply.text == "1932"
    user = llm.calls[0][-1].content
    assert "trust: LOW (0.20)" in user and "Ore is shipped" in user


def test_without_the_board_the_passages_ranked_first_are_shown_with_their_trust() -> None:
    llm = FakeLLM()
    ask(NoBoard, *POISONED, llm=llm)
    user = llm.calls[0][-1].content
    assert user.index("HIGH (0.90)") < user.index("LOW (0.10)")
    assert "<answer>" not in user


def test_without_the_board_a_reader_takes_the_likeliest_span_of_the_passages_ranked_first() -> None:
    tools = fake_tools()
    assert NoBoard(tools, top_k=1).answer(Task(QUESTION, POISONED)).text == "1932"
    assert NoBoard(tools, top_k=1).answer(Task(QUESTION, POISONED[:3])).text == "1954"


def test_many_passages_of_one_source_are_not_many_voices_unless_nobody_knows_the_source() -> None:
    pool = (
        *[told(text, source="one paper") for text in FALSE],
        *[told(text, source=f"paper {n}") for n, text in enumerate(TRUE)],
    )
    # 1 + 1/2 + 1/4 against 2; without sources 3 against 2.
    assert ask(Veridical, *pool).text == "1932"
    assert ask(NoSources, *pool).text == "1954"
    assert NoSources.about.belief == "veridical, no sources"


def test_a_later_passage_takes_weight_from_the_one_that_it_contradicts() -> None:
    pool = (
        told(TRUE[0], 0.61, date="2001-05-01", relevance=0.9),
        told(FALSE[0], 0.6, date="2020-05-01", relevance=0.8),
    )
    assert ask(Veridical, *pool).text == "1954"
    assert ask(Veridical, *pool).ranking == (1, 0)
    assert ask(NoQuestions, *pool).text == "1932"
    assert ask(NoQuestions, *pool).ranking == (0, 1)
    assert NoQuestions.about.belief == "veridical, no questions"


def test_a_later_passage_that_is_not_trusted_takes_nothing() -> None:
    pool = (
        told(TRUE[0], 0.6, date="2001-05-01", relevance=0.9),
        told(FALSE[0], 0.1, date="2020-05-01", relevance=0.8),
    )
    assert ask(Veridical, *pool).text == "1932"


def test_each_passage_is_read_once() -> None:
    reader = FakeReader()
    dated = [replace(own, date=f"20{n:02}-01-01") for n, own in enumerate(POISONED)]
    Veridical(Tools(reader=reader)).answer(Task(QUESTION, tuple(dated)))
    assert reader.n_read == len(dated)


def test_a_board_needs_a_reader() -> None:
    with pytest.raises(InputError, match="reader"):
        Veridical(Tools()).answer(Task(QUESTION, POISONED))
