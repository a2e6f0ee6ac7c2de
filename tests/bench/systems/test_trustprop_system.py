"""TrustPropRAG and its ablations: the order, what the model sees, and what each ablation takes away."""

from __future__ import annotations

from dataclasses import replace

import pytest

from veridical import registry
from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.trustprop import (
    NoOptimisation,
    NoPrompt,
    NoRescoring,
    TrivialFeedback,
    TrustProp,
)
from veridical.testing.system_contract import QUESTION, FakeLLM, fake_tools, pool

ABLATIONS = [name for name in registry.names("systems") if name.startswith("trustprop_")]


def passages(*known: tuple[float, float | None]) -> tuple[Retrieved, ...]:
    """A passage for each pair of similarity and trust."""
    return tuple(
        Retrieved(n, f"Passage {n} says so.", relevance=similarity, trust=trust)
        for n, (similarity, trust) in enumerate(known, 1)
    )


def shown(system: type[TrustProp], *known: tuple[float, float | None]) -> str:
    """What the model sees."""
    llm = FakeLLM()
    system(fake_tools(llm)).answer(Task(QUESTION, passages(*known)))
    [call] = llm.calls
    return call[-1].content


MIXED = ((0.9, 0.1), (0.7, 0.9), (0.5, 0.5))


def test_trust_and_similarity_are_mixed_with_alpha_of_six_tenths() -> None:
    # .6 t + .4 s with s = 1, 1/2, 0 is .46, .74, .30.
    system = TrustProp(fake_tools())
    assert system.utility(passages(*MIXED)) == pytest.approx([0.46, 0.74, 0.30])
    assert system.answer(Task(QUESTION, passages(*MIXED))).ranking == (1, 0, 2)


def test_similarity_is_scaled_within_the_first_hundred() -> None:
    many = passages(*[(0.9 - n / 1000, 0.5) for n in range(100)], (0.1, 1.0))
    assert TrustProp(fake_tools()).answer(Task(QUESTION, many)).ranking == tuple(range(101))


def test_the_model_sees_labels_and_two_decimals() -> None:
    text = shown(TrustProp, (0.9, 0.7), (0.8, 0.3), (0.7, 0.5), (0.6, 0.6999), (0.5, None))
    for line in ("HIGH (0.70)", "LOW (0.30)", "MEDIUM (0.50)", "MEDIUM (0.70)"):
        assert f"Trust: {line}" in text
    assert text.count("MEDIUM (0.50)") == 2, "what is not known has trust 1/2"


def test_five_passages_are_shown_each_cut_at_five_hundred_characters() -> None:
    llm = FakeLLM()
    long = tuple(replace(own, text=own.text + " word" * 200) for own in pool())
    TrustProp(fake_tools(llm)).answer(Task(QUESTION, long))
    text = llm.calls[0][-1].content
    bodies = [part.split("\n</document>")[0] for part in text.split("<document>\n")[1:]]
    assert len(bodies) == 5
    assert all(490 <= len(body) <= 500 for body in bodies)


def test_a_reader_answers_from_what_is_trusted() -> None:
    doubted = (replace(pool()[1], trust=0.1), replace(pool()[0], trust=0.9, relevance=0.5))
    tools = fake_tools()
    assert TrustProp(tools, top_k=1).answer(Task(QUESTION, doubted)).text == "1932"
    assert TrustProp(tools, top_k=1, trust_weight=0.0).answer(Task(QUESTION, doubted)).text == "1954"


def test_without_optimisation_all_trust_is_one_half_and_the_order_the_retrievers() -> None:
    text = shown(NoOptimisation, *MIXED)
    assert text.count("Trust: MEDIUM (0.50)") == 3
    assert text.index("Passage 1") < text.index("Passage 2") < text.index("Passage 3")
    assert NoOptimisation.about.belief is None


def test_without_rescoring_the_order_is_the_retrievers_and_trust_is_shown() -> None:
    text = shown(NoRescoring, *MIXED)
    assert text.index("LOW (0.10)") < text.index("HIGH (0.90)") < text.index("MEDIUM (0.50)")


def test_without_the_prompt_the_order_is_its_own_and_no_trust_is_shown() -> None:
    text = shown(NoPrompt, *MIXED)
    assert text.index("Passage 2") < text.index("Passage 1") < text.index("Passage 3")
    assert "Trust" not in text


def test_trivial_feedback_drops_what_was_found_bad_and_puts_up_what_was_found_good() -> None:
    judged = passages((0.9, 0.1), (0.8, 0.5), (0.75, 0.9), (0.5, None))
    assert TrivialFeedback(fake_tools()).answer(Task(QUESTION, judged)).ranking == (2, 1, 3)
    assert TrivialFeedback.about.belief == "feedback only"


def test_where_all_was_found_bad_there_is_nothing_to_answer_from() -> None:
    bad = tuple(replace(own, trust=0.1) for own in pool())
    reply = TrivialFeedback(fake_tools()).answer(Task(QUESTION, bad))
    assert (reply.text, reply.ranking) == ("", ())
    assert TrivialFeedback(fake_tools(FakeLLM())).answer(Task(QUESTION, bad)).text == "1932"


def test_inference_alone_is_another_belief_and_nothing_else() -> None:
    about = registry.load("systems", "trustprop_nli_only").about
    assert about.belief == "trustprop, nli only"


@pytest.mark.parametrize("name", ABLATIONS)
def test_an_ablation_that_only_changes_the_prompt_or_is_vanilla_needs_a_model(name: str) -> None:
    about = registry.load("systems", name).about
    assert about.ablation_of == "trustprop"
    own = name.removeprefix("trustprop_")
    assert ("llm" in about.needs) == (own in {"no_optimisation", "no_rescoring", "no_prompt"})


def test_there_are_the_papers_five_ablations() -> None:
    assert {name.removeprefix("trustprop_") for name in ABLATIONS} == {
        "nli_only",
        "no_optimisation",
        "no_prompt",
        "no_rescoring",
        "trivial_feedback",
    }


def test_one_call_is_made() -> None:
    llm = FakeLLM()
    assert TrustProp(fake_tools(llm)).answer(Task(QUESTION, pool())).usage.calls == len(llm.calls) == 1
    assert TrustProp(Tools(llm=fake_tools(llm).llm)).answer(Task(QUESTION, ())).text == "1932"
