"""CrAM: weights of passages and tokens, attention in a tiny random model, and the tracing of heads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from veridical.bench.systems.base import Retrieved, Task, Tools
from veridical.bench.systems.cram import WEIGHTS, CrAM, by_credibility, placed, weighed_tokens
from veridical.bench.systems.cram_attention import (
    Traced,
    all_heads,
    answer_logprob,
    attention_layers,
    passage_weights,
    reweighted,
    strongest,
    token_weights,
    trace,
)
from veridical.errors import InputError, MissingExtraError, ModelError


class TestWeights:
    def test_an_evaluators_scores_run_from_nothing_to_all(self) -> None:
        assert passage_weights([7, 7, 8, 9, 10]) == pytest.approx([0, 0, 1 / 3, 2 / 3, 1])

    def test_scores_that_are_all_alike_weigh_fully(self) -> None:
        assert passage_weights([3, 3]) == passage_weights([0, 0]) == (1.0, 1.0)
        assert passage_weights([]) == ()

    def test_ideal_scores_are_tenths(self) -> None:
        assert passage_weights([1, 10, 10], ideal=True) == pytest.approx([0.1, 1.0, 1.0])

    @pytest.mark.parametrize("score", [-1.0, 10.5, math.nan])
    def test_scores_off_the_scale_are_refused(self, score: float) -> None:
        with pytest.raises(InputError, match="credibility"):
            passage_weights([score, 5.0])

    def test_a_token_has_the_weight_of_the_passage_that_it_reaches_into(self) -> None:
        offsets = [(0, 0), (0, 4), (4, 8), (8, 12), (12, 13)]
        assert token_weights(offsets, [(5, 7), (8, 12)], [0.2, 0.0]) == [1.0, 1.0, 0.2, 0.0, 1.0]

    def test_the_most_credible_passage_stands_last(self) -> None:
        passages = [Retrieved(n, "", credibility=score) for n, score in enumerate([9.0, None, 1.0, 9.0])]
        assert [own.document for own in by_credibility(passages)] == [2, 1, 0, 3]


def test_without_the_library_the_pip_line_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtraError) as caught:
        answer_logprob(None, [1], [2])
    assert "veridical[hf]" in caught.value.hint


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="the extra 'hf' is not installed")


@pytest.fixture(scope="module")
def transformers(torch: Any) -> Any:
    return pytest.importorskip("transformers", reason="the extra 'hf' is not installed")


N_LAYERS, N_HEADS, VOCABULARY = 2, 4, 97


def made(torch: Any, transformers: Any, attention: str = "eager") -> Any:
    """A random model of two layers with four heads each, two of which share their keys."""
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=N_HEADS,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.4,  # so that attention is not flat
        attn_implementation=attention,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    return transformers.LlamaForCausalLM(config).eval()


@pytest.fixture(scope="module")
def model(torch: Any, transformers: Any) -> Iterator[Any]:
    yield made(torch, transformers)


PROMPT = [0, 11, 12, 13, 21, 22, 23, 31, 32]
HALF = [1.0, 1.0, 0.1, 0.1, 1.0, 1.0, 0.5, 1.0, 1.0]


def attention(torch: Any, model: Any, tokens: Sequence[int]) -> np.ndarray:
    """Shape (layers, heads, queries, keys)."""
    with torch.inference_mode():
        found = model(input_ids=torch.tensor([list(tokens)]), output_attentions=True).attentions
    return np.stack([layer[0].double().numpy() for layer in found])


def expected(rows: np.ndarray, weights: Sequence[float]) -> np.ndarray:
    """Attention times weight, scaled to sum to one again."""
    scaled = rows * np.asarray(weights)
    return scaled / scaled.sum(axis=-1, keepdims=True)


class TestAttention:
    def test_two_equal_shares_and_a_weight_of_a_tenth_are_one_to_ten(self) -> None:
        assert expected(np.array([0.5, 0.5]), [0.1, 1.0]) == pytest.approx([0.0909, 0.9091], abs=5e-5)

    def test_in_chosen_heads_attention_is_scaled_by_weight_and_in_others_it_stays(
        self, torch: Any, model: Any
    ) -> None:
        before = attention(torch, model, PROMPT)
        with reweighted(model, [(0, 1), (0, 2)], HALF):
            after = attention(torch, model, PROMPT)
        assert np.abs(before[0, 1] - after[0, 1]).max() > 0.01
        assert after[0, [1, 2]] == pytest.approx(expected(before[0, [1, 2]], HALF), abs=1e-6)
        assert np.array_equal(after[0, [0, 3]], before[0, [0, 3]])

    def test_it_does_what_the_layer_computes_from_the_queries_and_keys_themselves(
        self, torch: Any, model: Any
    ) -> None:
        """The last layer sees changed inputs, so its attention is compared at the same inputs."""
        with reweighted(model, [(0, 0)], HALF):
            one = attention(torch, model, PROMPT)
        with reweighted(model, [(0, 0), (1, 3)], HALF):
            both = attention(torch, model, PROMPT)
        assert both[1, 3] == pytest.approx(expected(one[1, 3], HALF), abs=1e-6)
        assert both[1, :3] == pytest.approx(one[1, :3], abs=1e-6)

    def test_weight_zero_is_not_seen_and_everything_stays_finite(self, torch: Any, model: Any) -> None:
        weights = [1.0, *[0.0] * 8]
        with reweighted(model, all_heads(model), weights):
            after = attention(torch, model, PROMPT)
        assert after[..., 1:].max() == 0.0
        assert after[..., 0] == pytest.approx(np.ones((N_LAYERS, N_HEADS, 9)))

    def test_a_token_that_no_head_sees_changes_nothing(self, torch: Any, model: Any) -> None:
        weights = [1.0 if place != 4 else 0.0 for place in range(9)]
        other = [*PROMPT[:4], 77, *PROMPT[5:]]
        with reweighted(model, all_heads(model), weights):
            one, two = (answer_logprob(model, prompt, [41, 42]) for prompt in (PROMPT, other))
        assert one == pytest.approx(two, abs=1e-5)
        assert answer_logprob(model, PROMPT, [41, 42]) != pytest.approx(
            answer_logprob(model, other, [41, 42]), abs=1e-3
        )

    def test_weights_of_one_change_nothing_and_afterwards_nothing_is_left(
        self, torch: Any, model: Any
    ) -> None:
        before = attention(torch, model, PROMPT)
        with reweighted(model, all_heads(model), [1.0] * 9):
            assert np.array_equal(attention(torch, model, PROMPT), before)
        with reweighted(model, all_heads(model), HALF):
            pass
        assert np.array_equal(attention(torch, model, PROMPT), before)

    def test_what_is_written_later_weighs_the_prompt_too_and_itself_fully(
        self, torch: Any, model: Any
    ) -> None:
        """Token by token with what was kept, as all at once."""
        given = torch.tensor([PROMPT])
        with reweighted(model, all_heads(model), HALF), torch.inference_mode():
            written = model.generate(
                input_ids=given,
                attention_mask=torch.ones_like(given),
                max_new_tokens=4,
                min_new_tokens=4,
                do_sample=False,
                use_cache=True,
                return_dict_in_generate=True,
                output_logits=True,
            )
            whole = model(input_ids=written.sequences, use_cache=False).logits[0, len(PROMPT) - 1 : -1]
        assert torch.cat(written.logits).numpy() == pytest.approx(whole.numpy(), abs=1e-4)
        assert len(whole) == 4

    def test_other_kinds_of_attention_wrong_heads_and_wrong_weights_are_refused(
        self, torch: Any, transformers: Any, model: Any
    ) -> None:
        with pytest.raises(InputError) as caught:
            attention_layers(made(torch, transformers, "sdpa"))
        assert "eager" in caught.value.hint
        for heads, weights in (([(2, 0)], HALF), ([(0, 4)], HALF), ([(0, 0)], [1.5]), ([(0, 0)], [math.nan])):
            with pytest.raises(InputError), reweighted(model, heads, weights):
                pass


class TestTracing:
    def test_an_answer_is_scored_where_each_token_is_predicted_the_first_too(
        self, torch: Any, model: Any
    ) -> None:
        with torch.inference_mode():
            logs = model(input_ids=torch.tensor([[*PROMPT, 41]])).logits[0].double().log_softmax(-1)
        expected = float(logs[len(PROMPT) - 1, 41] + logs[len(PROMPT), 42])
        assert answer_logprob(model, PROMPT, [41, 42]) == pytest.approx(expected, abs=1e-4)

    def test_a_heads_effect_is_what_the_answer_loses_when_it_alone_weighs(self, model: Any) -> None:
        samples = [Traced(PROMPT, [41, 42], HALF), Traced(PROMPT[:5], [50], HALF[:5])]
        found = trace(model, samples)
        assert found.shape == (N_LAYERS, N_HEADS)
        losses = []
        for sample in samples:
            with reweighted(model, [(1, 2)], sample.weights):
                lost = answer_logprob(model, sample.prompt, sample.wrong)
            losses.append(answer_logprob(model, sample.prompt, sample.wrong) - lost)
        assert found[1, 2] == pytest.approx(np.mean(losses), abs=1e-6)
        assert np.abs(found).min() > 0.0

    def test_the_head_that_carries_the_answer_is_found(self, torch: Any, transformers: Any) -> None:
        """All other heads of the last layer write nothing, and those of the first do not either."""
        model = made(torch, transformers)
        width = model.config.hidden_size // N_HEADS
        with torch.no_grad():
            for layer, module in enumerate(attention_layers(model)):
                for head in range(N_HEADS):
                    if (layer, head) != (1, 2):
                        module.o_proj.weight[:, head * width : (head + 1) * width] = 0.0
        found = trace(model, [Traced(PROMPT, [41], HALF)])
        assert np.abs(np.delete(found.ravel(), 1 * N_HEADS + 2)).max() < 1e-6 < abs(found[1, 2])

    def test_the_strongest_heads_come_first(self) -> None:
        assert strongest(np.array([[0.1, -3.0], [0.5, 0.2]]), 3) == [(1, 0), (1, 1), (0, 0)]

    def test_there_must_be_something_to_trace(self, model: Any) -> None:
        for samples in ([], [Traced([], [1], [])], [Traced([1], [], [1.0])]):
            with pytest.raises(InputError, match="nothing to trace"):
                trace(model, samples)


TEMPLATE = (
    "{% for message in messages %}<s> {{ message['role'] }} {{ message['content'] | trim }} {% endfor %}"
    "{% if add_generation_prompt %}<s> assistant {% endif %}"
)


@pytest.fixture(scope="module")
def tokenizer(transformers: Any) -> Any:
    """Words as tokens, those of a prompt mostly unknown."""
    import tokenizers

    words = ["<s>", "</s>", "[unk]", "Oslo", "Rome", "capital", "is", "The", "assistant"]
    words += [f"word{n}" for n in range(len(words), VOCABULARY)]
    kind = tokenizers.models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="[unk]")
    made = tokenizers.Tokenizer(kind)
    made.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="[unk]"
    )
    wrapped.chat_template = TEMPLATE
    return wrapped


PASSAGES = (
    Retrieved(0, "The capital is Oslo .", credibility=8.0),
    Retrieved(1, "The capital is Rome .", credibility=2.0),
)
TASK = Task("Which is the capital?", PASSAGES)


class TestPrompt:
    def test_each_passage_stands_where_it_is_said_to_whatever_the_template_does(self, tokenizer: Any) -> None:
        odd = (Retrieved(0, "PASSAGESLOT1X {{ 7 }}"), Retrieved(1, "  Rome  ", "A title"))
        prompt = placed(tokenizer, "PASSAGESLOT0X which?", odd)
        shown = [prompt.text[start:end] for start, end in prompt.spans]
        assert shown == ["PASSAGESLOT1X {{ 7 }}", "A title:   Rome"]
        assert prompt.text.count("PASSAGESLOT0X") == 0
        assert prompt.text.endswith("<s> assistant ")

    def test_without_a_template_it_is_two_paragraphs(self, tokenizer: Any) -> None:
        class Plain:
            chat_template = None

        prompt = placed(Plain(), "Which?", PASSAGES)
        assert [prompt.text[start:end] for start, end in prompt.spans] == [own.text for own in PASSAGES]

    def test_tokens_of_a_passage_and_no_others_have_its_weight(self, tokenizer: Any) -> None:
        prompt = placed(tokenizer, "Which?", PASSAGES)
        tokens, each = weighed_tokens(tokenizer, prompt, [0.25, 0.0])
        words = tokenizer.convert_ids_to_tokens(tokens)
        assert [word for word, weight in zip(words, each, strict=True) if weight == 0.25] == [
            "The", "capital", "is", "Oslo", "[unk]",
        ]  # fmt: skip
        assert words[each.index(0.0) :][:4] == ["The", "capital", "is", "Rome"]
        assert sum(weight < 1.0 for weight in each) == 10

    def test_a_tokenizer_that_does_not_say_where_tokens_stand_is_refused(self) -> None:
        with pytest.raises(InputError, match="tokens stand"):
            weighed_tokens(object(), placed(type("Plain", (), {}), "?", ()), [])


class TestAnswers:
    def test_it_answers_with_one_call_and_says_that_no_head_was_traced(
        self, model: Any, tokenizer: Any
    ) -> None:
        tools = Tools(weights={WEIGHTS: (model, tokenizer)})
        reply = CrAM(tools, max_tokens=4).answer(TASK)
        assert reply.usage.calls == 1
        assert 0 < reply.usage.completion_tokens <= 4
        assert reply.detail["weights"] == (0.0, 1.0)
        assert reply.ranking == (0, 1)
        assert "traced" in reply.notes[0]
        assert CrAM(tools, heads=[(0, 1)], max_tokens=1).answer(TASK).notes == ()

    def test_what_the_least_credible_passage_says_is_not_seen(self, model: Any, tokenizer: Any) -> None:
        tools = Tools(weights={WEIGHTS: (model, tokenizer)})
        other = Task(TASK.question, (PASSAGES[0], Retrieved(1, "is is The capital .", credibility=2.0)))
        one, two = (CrAM(tools, max_tokens=6).answer(task).text for task in (TASK, other))
        assert one == two != ""
        seen = [CrAM(tools, heads=[], max_tokens=6).answer(task).text for task in (TASK, other)]
        assert seen[0] != seen[1]

    def test_ideal_scores_leave_a_tenth(self, model: Any, tokenizer: Any) -> None:
        tools = Tools(weights={WEIGHTS: (model, tokenizer)})
        task = Task("?", (Retrieved(0, "Oslo", credibility=10.0), Retrieved(1, "Rome", credibility=1.0)))
        assert CrAM(tools, ideal=True, max_tokens=1).answer(task).detail["weights"] == (0.1, 1.0)

    def test_a_folder_is_loaded_with_attention_that_can_be_weighed(
        self, model: Any, tokenizer: Any, tmp_path: Any
    ) -> None:
        model.save_pretrained(tmp_path)
        tokenizer.save_pretrained(tmp_path)
        task = Task(TASK.question, PASSAGES)
        loaded, given = (
            CrAM(Tools(weights={WEIGHTS: weights}), max_tokens=4).answer(task)
            for weights in (tmp_path, (model, tokenizer))
        )
        assert loaded.text == given.text

    def test_without_weights_and_without_a_model_in_the_folder_it_says_how_to_get_them(
        self, transformers: Any, tmp_path: Any
    ) -> None:
        for weights, kind in (({}, InputError), ({WEIGHTS: tmp_path}, ModelError)):
            with pytest.raises(kind) as caught:
                CrAM(Tools(weights=weights)).answer(TASK)
            assert f"veridical models pull {WEIGHTS}" in caught.value.hint

    def test_no_passage_and_passages_that_nobody_judged_are_answered_from(
        self, model: Any, tokenizer: Any
    ) -> None:
        system = CrAM(Tools(weights={WEIGHTS: (model, tokenizer)}), max_tokens=2)
        assert system.answer(Task("Which?", ())).ranking == ()
        unjudged = Task("Which?", (Retrieved(0, "Oslo"), Retrieved(1, "Rome")))
        assert system.answer(unjudged).detail["weights"] == (1.0, 1.0)
