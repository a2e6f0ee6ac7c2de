"""What every language model must do, as test classes to inherit from.

A backend's test module does::

    class TestMyLLM(LLMContract, ChooserContract, ScorerContract, NextTokensContract):
        def make(self):
            return MyLLM(...)

with the last three only where it has ``choose``, ``logprob`` and ``next_tokens``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from veridical.errors import InputError, LLMError
from veridical.llm.base import FLOOR, LLM, Choice, Chooser, Generation, Message, NextTokens, Scorer

CHOOSE = (Message("user", "Which is a colour?\nA. Ship\nB. Red\nC. Seven\nAnswer with the letter only."),)
LABELS = ("A", "B", "C")
ASK = (Message("system", "You are helpful."), Message("user", "Name a colour of the rainbow."))


def expect(condition: object, claim: str) -> None:
    """Fail a contract with the claim that does not hold."""
    if not condition:
        raise AssertionError(claim)


def expect_error(kind: type[Exception], call: Callable[[], object], claim: str) -> Exception:
    """Run ``call``, which must raise ``kind``, and return the error."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(claim)


class LLMContract:
    """The contract of :class:`veridical.llm.base.LLM`."""

    secret: str = ""
    """Something that must never be shown, such as an API key, where the backend has one."""

    def make(self) -> LLM:
        """Return a working model. May be called for each test."""
        raise NotImplementedError

    def make_failing(self) -> Iterable[LLM]:
        """Return models that cannot answer, each for another reason."""
        return ()

    def generate(self, llm: LLM, max_tokens: int = 8) -> Generation:
        """Ask the usual question."""
        return llm.generate(ASK, max_tokens=max_tokens, temperature=0.0, seed=1)

    def test_it_is_an_llm_with_a_name_before_anything_is_loaded(self) -> None:
        """The name is there at once, and stays."""
        llm = self.make()
        expect(isinstance(llm, LLM), "it follows the protocol")
        expect(llm.name.strip() == llm.name and llm.name, "the name is not empty")
        expect("\n" not in llm.name and llm.name == self.make().name, "the name is one line and stable")

    def test_a_generation_is_complete(self) -> None:
        """Text, cost, reason and time are all there and in range."""
        generation = self.generate(self.make())
        expect(
            generation.text and generation.text.strip() == generation.text, "text, without white space around"
        )
        usage = generation.usage
        expect(usage.calls >= 1, "the calls are counted")
        expect(usage.prompt_tokens >= 0 and usage.completion_tokens >= 0, "tokens are not negative")
        expect(0 <= usage.reused_tokens <= usage.prompt_tokens, "only what was asked can be used again")
        expect(generation.finish_reason, "the reason for the end is given")
        expect(generation.seconds >= 0, "time does not run backwards")
        expect(isinstance(generation.to_dict()["usage"], dict), "it turns into plain values")

    def test_temperature_zero_says_the_same_twice(self) -> None:
        """Nothing is drawn at temperature 0."""
        llm = self.make()
        expect(self.generate(llm).text == self.generate(llm).text, "the same request gives the same text")

    def test_max_tokens_is_obeyed(self) -> None:
        """One token is one token."""
        generation = self.generate(self.make(), max_tokens=1)
        expect(generation.usage.completion_tokens <= 1, "no more tokens than were allowed")

    def test_requests_that_make_no_sense_are_refused(self) -> None:
        """Nothing to answer, no room to answer in, a role nobody knows, a temperature below zero."""
        llm = self.make()
        wrong_role = (Message("wizard", "Hello"),)  # type: ignore[arg-type]
        for call, claim in (
            (lambda: llm.generate((), max_tokens=8), "no message is refused"),
            (lambda: llm.generate(ASK, max_tokens=0), "no room is refused"),
            (lambda: llm.generate(ASK, max_tokens=8, temperature=-1.0), "a negative temperature is refused"),
            (lambda: llm.generate(ASK, max_tokens=8, temperature=float("nan")), "no number is refused"),
            (lambda: llm.generate(wrong_role, max_tokens=8), "an unknown role is refused"),
        ):
            expect_error(InputError, call, claim)

    def test_several_threads_may_ask_at_once(self) -> None:
        """Answers do not get mixed up or lost."""
        llm = self.make()
        with ThreadPoolExecutor(3) as pool:
            generations = list(pool.map(lambda _: self.generate(llm, 4), range(3)))
        expect(all(generation.text for generation in generations), "each thread gets a text")

    def test_failures_are_llm_errors_that_say_what_to_do(self) -> None:
        """Whatever breaks, the reader learns what, and a way on."""
        for llm in self.make_failing():
            error = expect_error(LLMError, lambda llm=llm: self.generate(llm), f"{llm!r} fails")  # type: ignore[misc]
            expect(isinstance(error, LLMError) and error.message and error.hint, "message and hint are there")
            expect(not self.secret or self.secret not in str(error), "the secret stays out of the message")

    def test_secrets_are_not_shown(self) -> None:
        """Neither in ``repr`` nor in the name."""
        llm = self.make()
        expect(not self.secret or self.secret not in repr(llm) + llm.name, "the secret stays out of repr")


class ChooserContract:
    """The contract of :class:`veridical.llm.base.Chooser`."""

    def make_chooser(self) -> Chooser:
        """Return a model that can choose between A, B and C. May be called for each test."""
        made = self.make()  # type: ignore[attr-defined]
        expect(isinstance(made, Chooser), "it follows the protocol")
        return made  # type: ignore[no-any-return]

    def check(self, choice: Choice, labels: tuple[str, ...] = LABELS) -> None:
        """Whatever was chosen, this holds."""
        expect(tuple(choice.probabilities) == labels, "each label is there, in the order asked")
        values = choice.probabilities.values()
        expect(all(0.0 <= value <= 1.0 for value in values), "probabilities are probabilities")
        expect(math.isclose(sum(values), 1.0, abs_tol=1e-9), "they sum to one")
        expect(set(choice.unseen) < set(labels), "some label was seen")
        expect(all(choice.probabilities[label] == FLOOR for label in choice.unseen), "unseen is the floor")
        expect(choice.mode in {"logprobs", "votes"}, "it says how it came about")
        expect((choice.n_votes > 0) == (choice.mode == "votes"), "votes are counted where there are some")
        expect(choice.usage.calls >= 1 and choice.seconds >= 0, "the cost is there")

    def test_a_choice_is_complete(self) -> None:
        """Probabilities in order, summing to one, and how they came about."""
        self.check(self.make_chooser().choose(CHOOSE, LABELS))

    def test_labels_come_back_in_the_order_asked(self) -> None:
        """Also where it is not that of the alphabet."""
        self.check(self.make_chooser().choose(CHOOSE, ("C", "A", "B")), ("C", "A", "B"))

    def test_the_order_of_the_labels_changes_nothing(self) -> None:
        """Only the prompt does; engines that compute a prompt in parts may differ in the last digits."""
        chooser = self.make_chooser()
        one, other = (chooser.choose(CHOOSE, labels).probabilities for labels in (LABELS, LABELS[::-1]))
        expect(all(abs(one[label] - other[label]) < 0.05 for label in LABELS), "each label keeps its share")

    def test_choices_that_make_no_sense_are_refused(self) -> None:
        """No message, too few labels, the same one twice, an empty one, no votes."""
        chooser = self.make_chooser()
        for labels in ((), ("A",), ("A", "B", "A"), ("A", ""), ("A", " "), ("A", " B")):
            expect_error(InputError, lambda labels=labels: chooser.choose(CHOOSE, labels), f"{labels}")  # type: ignore[misc]
        expect_error(InputError, lambda: chooser.choose((), LABELS), "no message is refused")
        expect_error(InputError, lambda: chooser.choose(CHOOSE, LABELS, n_votes=0), "no vote is refused")

    def test_several_threads_may_choose_at_once(self) -> None:
        """Choices do not get mixed up or lost."""
        chooser = self.make_chooser()
        orders = (LABELS, ("B", "A"), ("C", "B", "A"), ("B", "C"))
        with ThreadPoolExecutor(4) as pool:
            choices = list(pool.map(lambda labels: chooser.choose(CHOOSE, labels), orders))
        for labels, choice in zip(orders, choices, strict=True):
            self.check(choice, labels)


class ScorerContract:
    """The contract of :class:`veridical.llm.base.Scorer`."""

    def make_scorer(self) -> Scorer:
        """Return a model that can score a text. May be called for each test."""
        made = self.make()  # type: ignore[attr-defined]
        expect(isinstance(made, Scorer), "it follows the protocol")
        return made  # type: ignore[no-any-return]

    def test_a_score_is_complete(self) -> None:
        """A log-probability of so many tokens, and what it cost."""
        scored = self.make_scorer().logprob(ASK, "Red is a colour.")
        expect(math.isfinite(scored.logprob) and scored.logprob <= 0.0, "a logarithm of a probability")
        expect(scored.n_tokens >= 1, "the tokens are counted")
        expect(scored.usage.calls >= 1 and scored.seconds >= 0, "the cost is there")

    def test_a_likely_text_scores_higher_than_an_unlikely_one(self) -> None:
        """A colour rather than noise of the same length."""
        scorer = self.make_scorer()
        likely, noise = (scorer.logprob(ASK, text).logprob for text in ("Red", "}{;"))
        expect(likely > noise, "the answer is likelier than noise")

    def test_scores_that_make_no_sense_are_refused(self) -> None:
        """Nothing to score, and nothing it would answer."""
        scorer = self.make_scorer()
        expect_error(InputError, lambda: scorer.logprob(ASK, ""), "an empty text is refused")
        expect_error(InputError, lambda: scorer.logprob((), "Red"), "no message is refused")


class NextTokensContract:
    """The contract of :class:`veridical.llm.base.NextTokens`."""

    def make_lister(self) -> NextTokens:
        """Return a model that lists what may come next. May be called for each test."""
        made = self.make()  # type: ignore[attr-defined]
        expect(isinstance(made, NextTokens), "it follows the protocol")
        return made  # type: ignore[no-any-return]

    def test_next_tokens_are_a_part_of_a_distribution(self) -> None:
        """The likeliest first, each spelling once, together at most everything."""
        likely = self.make_lister().next_tokens(ASK, n_top=20)
        values = [value for _, value in likely.tokens]
        expect(0 < len(values) <= 20, "no more are listed than asked for, and some are")
        expect(values == sorted(values, reverse=True), "the likeliest comes first")
        expect(sum(map(math.exp, values)) <= 1.0 + 1e-6, "together they are no more than certain")
        expect(len({text for text, _ in likely.tokens}) == len(values), "each spelling is there once")
        expect(likely.usage.calls >= 1 and likely.seconds >= 0, "the cost is there")

    def test_what_is_written_already_counts(self) -> None:
        """What comes next depends on it."""
        lister = self.make_lister()
        first, later = (lister.next_tokens(ASK, text, n_top=5).tokens for text in ("", "Red and blue and"))
        expect(first != later, "another beginning, another next token")

    def test_lists_that_make_no_sense_are_refused(self) -> None:
        """No conversation, and none or too many tokens."""
        lister = self.make_lister()
        expect_error(InputError, lambda: lister.next_tokens(()), "no message is refused")
        for n_top in (0, 1001):
            expect_error(InputError, lambda n=n_top: lister.next_tokens(ASK, n_top=n), f"{n_top} are refused")  # type: ignore[misc]
