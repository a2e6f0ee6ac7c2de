"""What every language model must do, as a test class to inherit from.

A backend's test module does::

    class TestMyLLM(LLMContract):
        def make(self):
            return MyLLM(...)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from veridical.errors import InputError, LLMError
from veridical.llm.base import LLM, Generation, Message

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
