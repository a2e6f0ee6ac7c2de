"""RobustRAG: what keywords are made of, which stay, and how passages vote on the next token."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.isolated import UNKNOWN, answer_of, isolated
from veridical.bench.systems.robustrag import (
    RobustRAGDecoding,
    RobustRAGKeyword,
    abstains,
    keywords,
    rank_weights,
    shared_keywords,
    voted,
)
from veridical.bench.systems.tagging import Tag, tagged
from veridical.errors import EmptyReplyError, InputError
from veridical.llm.base import Likely, Message
from veridical.llm.managed import ManagedLLM
from veridical.llm.scripted import ScriptedLLM
from veridical.types import Usage


def task(*texts: str) -> Task:
    return Task("Which is it?", tuple(Retrieved(n, text) for n, text in enumerate(texts)))


def scripted(by_passage: Mapping[str, str | Exception], last: str = "done") -> ScriptedLLM:
    """Replies to a passage by its text, and to the keywords with ``last``."""

    def reply(messages: Sequence[Message]) -> str | Exception:
        said = messages[-1].content
        return next((answer for text, answer in by_passage.items() if f"] {text}\n" in said), last)

    return ScriptedLLM(reply)


def answered(llm: ScriptedLLM, texts: Sequence[str], **settings: float) -> tuple[str, str]:
    """The answer, and the words that the last call was shown."""
    reply = RobustRAGKeyword(Tools(llm=ManagedLLM(llm)), **settings).answer(task(*texts))
    return reply.text, llm.calls[-1][-1].content.partition("\n")[0]


class TestKeywords:
    def test_they_are_the_answer_its_runs_of_content_words_and_these_words(self) -> None:
        found = set(keywords("the old Bridge of Halden opened by Ann Lee").values())
        assert found == {
            "the old Bridge of Halden opened by Ann Lee",
            "old Bridge",
            "old",
            "Bridge",
            "Halden",
            "Ann Lee",
            "Ann",
            "Lee",
        }

    def test_forms_of_a_word_and_capitals_are_one_keyword(self) -> None:
        assert keywords("bridges").keys() & keywords("Bridge").keys()

    def test_names_that_are_written_like_function_words_are_kept(self) -> None:
        assert "US" in keywords("the US").values()
        assert "12 May 1932" in keywords("on 12 May 1932").values()
        assert "may" not in keywords("it may rain").values()

    def test_what_a_pipeline_calls_a_verb_or_a_sign_is_left_out(self) -> None:
        def tag(text: str) -> list[Tag]:
            return [Tag(0, 3, "NOUN", "sun"), Tag(4, 8, "VERB", "rise"), Tag(8, 9, "PUNCT", ".")]

        assert keywords("Sun rose.", tag).keys() == {"sun rise", "sun"}

    def test_tokens_stand_where_they_say(self) -> None:
        text = "O'Neill, yes, was born in 1932."
        kinds = {text[tag.start : tag.end]: tag.kind for tag in tagged(text)}
        assert kinds == {
            "O'Neill": "NOUN", ",": "PUNCT", "yes": "INTJ", "was": "DET", "born": "VERB", "in": "DET",
            "1932": "NOUN", ".": "PUNCT",
        }  # fmt: skip


class TestThreshold:
    def test_weights_of_ranks_sum_to_the_number_of_answers(self) -> None:
        weights = rank_weights([0, 2, 3], 0.9)
        assert weights == pytest.approx([1.1816, 0.9571, 0.8614], abs=5e-5)
        assert sum(weights) == pytest.approx(3.0)
        assert rank_weights([0, 2, 3], 1.0) == pytest.approx([1.0, 1.0, 1.0])

    def test_of_three_weighted_answers_the_keyword_of_the_last_alone_is_dropped(self) -> None:
        kept = shared_keywords(["Oslo", "Rome", "Bern"], rank_weights([0, 2, 3], 0.9))
        assert [keyword.text for keyword in kept] == ["Oslo", "Rome"]

    def test_of_three_equal_answers_every_keyword_passes(self) -> None:
        assert len(shared_keywords(["Oslo", "Rome", "Bern"], [1.0] * 3)) == 3

    def test_of_four_answers_two_have_to_agree(self) -> None:
        kept = shared_keywords(["Oslo", "Rome", "Bern", "in Oslo"], [1.0] * 4)
        assert [(keyword.text, keyword.weight) for keyword in kept] == [("Oslo", 2.0)]

    def test_three_answers_are_enough_however_many_there_are(self) -> None:
        answers = ["Oslo"] * 3 + [f"Town{n}" for n in range(37)]
        assert [keyword.text for keyword in shared_keywords(answers, [1.0] * 40)] == ["Oslo"]

    def test_an_answer_counts_once_however_often_it_says_a_word(self) -> None:
        kept = shared_keywords(["Oslo Oslo Oslo", "Rome", "Bern", "Paris"], [1.0] * 4)
        assert kept == ()

    def test_the_longest_come_first(self) -> None:
        kept = shared_keywords(["Ann Lee"], [1.0])
        assert [keyword.text for keyword in kept] == ["Ann Lee", "Ann", "Lee"]
        assert [k.text for k in shared_keywords(["Ann Lee"], [1.0], only_phrases=True)] == ["Ann Lee"]

    def test_function_words_and_signs_are_no_keywords(self) -> None:
        assert shared_keywords(["the", "...", "it"], [1.0] * 3) == ()


class TestKeywordAnswers:
    def test_the_last_prompt_has_the_words_and_no_passage(self) -> None:
        llm = scripted({"a": "Oslo", "b": "in Oslo", "c": "Rome", "d": "Bern"}, last="Oslo.")
        text, shown = answered(llm, ["a", "b", "c", "d"])
        assert (text, shown) == ("Oslo", "Words and phrases: Oslo")
        assert len(llm.calls) == 5

    def test_passages_that_do_not_answer_take_no_part(self) -> None:
        llm = scripted({"a": "I don't know.", "b": "Rome", "c": "I do not know", "d": EmptyReplyError("-")})
        assert answered(llm, ["a", "b", "c", "d"])[1] == "Words and phrases: Rome"

    def test_where_none_answers_there_is_no_answer_and_no_last_call(self) -> None:
        llm = scripted({"a": UNKNOWN, "b": UNKNOWN})
        reply = RobustRAGKeyword(Tools(llm=ManagedLLM(llm))).answer(task("a", "b"))
        assert reply.abstained
        assert len(llm.calls) == 2

    def test_ranks_count_from_the_first_passage_also_if_that_does_not_answer(self) -> None:
        llm = scripted({"a": "Oslo", "b": UNKNOWN, "c": "Rome", "d": "Bern"})
        assert answered(llm, ["a", "b", "c", "d"], gamma=0.9)[1] == "Words and phrases: Oslo, Rome"

    def test_the_stand_in_is_named_and_a_pipeline_that_is_there_is_used(self) -> None:
        def tag(text: str) -> list[Tag]:
            return []

        llm = ManagedLLM(scripted({"a": "Oslo"}))
        own, real = (RobustRAGKeyword(Tools(llm=llm, weights=w)) for w in ({}, {"spacy-en-core-web-sm": tag}))
        assert "spaCy" in own.answer(task("a")).notes[0]
        assert real.answer(task("a")).notes == ()

    def test_gammas_that_make_no_sense_are_refused(self) -> None:
        for gamma in (0.0, 1.5):
            with pytest.raises(InputError, match="gamma"):
                RobustRAGKeyword(Tools(), gamma=gamma)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("I don't know", None), ("I don’t know.", None), ("I do not have that", None), ("...", None),
     ("Oslo.", "Oslo"), ("I, Claudius", "I, Claudius"), ("Idaho", "Idaho")],
)  # fmt: skip
def test_a_reply_is_an_answer_or_says_that_it_is_none(reply: str, answer: str | None) -> None:
    assert answer_of(reply) == answer


def test_an_isolated_answer_sees_its_own_context_only() -> None:
    llm = scripted({"a": "Oslo", "b": "Rome"})
    pool = task("a", "b").pool
    assert isolated(Tools(llm=ManagedLLM(llm)), "?", [[pool[0]], [pool[1]]]) == ["Oslo", "Rome"]
    assert ["] b" in call[-1].content for call in llm.calls] == [False, True]


class Lister(ScriptedLLM):
    """Lists next tokens by which passage the prompt holds and what was written; ``None`` is no passage."""

    def __init__(self, tables: Mapping[str | None, Mapping[str, Mapping[str, float]]]) -> None:
        super().__init__(())
        self.tables = tables
        self.seen: list[tuple[str | None, str]] = []

    def next_tokens(self, messages: Sequence[Message], written: str = "", *, n_top: int = 100) -> Likely:
        passage = next((key for key in self.tables if key and f"] {key}\n" in messages[-1].content), None)
        self.seen.append((passage, written))
        listed = sorted(self.tables[passage].get(written, {"": 1.0}).items(), key=lambda item: -item[1])
        tokens = tuple((token, math.log(chance)) for token, chance in listed[:n_top])
        return Likely(tokens, Usage(1, 5, 1), 0.0)


def decoded(
    tables: Mapping[str | None, Mapping[str, Mapping[str, float]]], **settings: float
) -> tuple[str, Lister]:
    llm = Lister(tables)
    texts = [key for key in tables if key]
    return RobustRAGDecoding(Tools(llm=ManagedLLM(llm)), **settings).answer(task(*texts)).text, llm


TWO = {"a": {"": {"x": 0.6, "y": 0.4}}, "b": {"": {"x": 0.2, "y": 0.7, "z": 0.1}}, None: {"": {"w": 1.0}}}


class TestDecoding:
    def test_the_token_of_the_highest_sum_wins_if_it_is_far_enough_ahead(self) -> None:
        distributions = [TWO["a"][""], TWO["b"][""]]
        assert voted(distributions, 0.0) == "y"
        assert voted(distributions, 0.29) == "y"
        assert voted(distributions, 0.5) is None
        assert voted([], 0.0) is None

    def test_two_tokens_that_tie_leave_it_to_the_model(self) -> None:
        assert voted([{"x": 1.0}, {"y": 1.0}], 0.0) is None

    def test_answers_are_voted_on_and_the_model_without_passages_is_not_asked(self) -> None:
        text, llm = decoded(TWO)
        assert text == "y"
        assert (None, "") not in llm.seen

    def test_without_a_lead_the_model_writes_what_it_would_without_passages(self) -> None:
        assert decoded(TWO, eta=0.25)[0] == "w"  # .25 times two passages is more than the lead of .3

    def test_the_first_token_is_no_i_and_no_please(self) -> None:
        first = {"I": 0.5, " Please": 0.3, "x": 0.2}
        tables = {"a": {"": first, "x": {"I": 1.0}, "xI": {"": 1.0}}, None: {}}
        assert decoded(tables)[0] == "xI"

    def test_a_passage_that_is_sure_not_to_know_takes_no_part(self) -> None:
        silent = {"": {"I": 1.0}, "I": {" don't": 1.0}, "I don't": {" know": 1.0}}
        text, llm = decoded({"a": silent, "b": TWO["b"], None: {}})
        assert text == "y"
        assert [written for passage, written in llm.seen if passage == "a"] == ["", "I", "I don't"]

    def test_where_all_are_sure_not_to_know_there_is_no_answer(self) -> None:
        silent = {"": {"I": 1.0}, "I": {" don't": 1.0}, "I don't": {" know": 1.0}}
        assert decoded({"a": silent, None: TWO[None]})[0] == ""

    @pytest.mark.parametrize(("chance", "silent"), [(0.998, True), (0.995, False), (0.9, False)])
    def test_not_to_know_has_to_be_almost_certain_as_a_whole(self, chance: float, silent: bool) -> None:
        steps = ["I", " don", "'t", " know"]
        table = {"".join(steps[:n]): {step: chance, "no": 1 - chance} for n, step in enumerate(steps)}
        llm = Lister({None: table})
        assert abstains(ManagedLLM(llm), (Message("user", "?"),), 0.99) is silent

    def test_one_look_is_enough_at_a_passage_that_answers(self) -> None:
        llm = Lister({None: {"": {"Oslo": 0.9, "I": 0.1}}})
        assert not abstains(ManagedLLM(llm), (Message("user", "?"),), 0.99)
        assert len(llm.seen) == 1

    def test_it_ends_with_the_line_and_at_the_limit(self) -> None:
        tables = {"a": {"": {"x": 1.0}, "x": {"\n": 1.0}, "x\n": {"y": 1.0}}, None: {}}
        assert decoded(tables)[0] == "x"
        endless = {"a": {"x" * n: {"x": 1.0} for n in range(9)}, None: {}}
        assert decoded(endless, max_tokens=3)[0] == "xxx"
