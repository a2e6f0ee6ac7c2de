"""The embedded model for real, where its library and its file can be had."""

from __future__ import annotations

import builtins
import json
import math

import pytest

from veridical.errors import InputError, LLMError, MissingExtraError, ModelError
from veridical.llm.base import FLOOR, Message
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.testing.llm_contract import ChooserContract, LLMContract, NextTokensContract, ScorerContract

NAME = "smollm2-135m-instruct"
ASK = (Message("user", "What is the capital of France?"),)


@pytest.fixture(scope="module")
def model_folder():
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    from veridical.models import ModelStore
    from veridical.settings import Settings

    settings = Settings.from_env()
    try:
        return ModelStore(settings.models_dir, offline=settings.offline).resolve(NAME)
    except ModelError as error:
        pytest.skip(f"the embedded model cannot be had here: {error.message}")


@pytest.fixture(scope="module")
def llm(model_folder):
    model = LlamaCppLLM(model_folder, name=NAME, n_ctx=512, n_threads=1)
    yield model
    model.close()


class TestLlamaCppKeepsTheContract(LLMContract, ChooserContract, ScorerContract, NextTokensContract):
    @pytest.fixture(autouse=True)
    def _model(self, llm):
        self.llm = llm

    def make(self):
        return self.llm

    def make_failing(self):
        yield LlamaCppLLM(self.llm._where, n_ctx=64, n_threads=1, timeout_s=1e-6)


def test_it_writes_no_log_to_the_terminal(llm, capfd):
    llm.generate(ASK, max_tokens=4)
    assert capfd.readouterr() == ("", "")


def test_a_prompt_that_is_too_long_is_refused_with_the_sizes(llm):
    with pytest.raises(LLMError, match="512") as caught:
        llm.generate((Message("user", "word " * 2000),), max_tokens=4)
    assert "fewer passages" in caught.value.hint


def test_a_choice_on_a_prompt_that_is_too_long_is_refused_too(llm):
    with pytest.raises(LLMError, match="512") as caught:
        llm.choose((Message("user", "word " * 2000),), ("A", "B"))
    assert "VERIDICAL_LLM_CONTEXT" in caught.value.hint


def test_tokens_are_counted_and_a_cut_is_told(llm):
    generation = llm.generate((Message("user", "Tell me a long story about a ship."),), max_tokens=6)
    assert generation.finish_reason == "length"
    assert generation.usage.completion_tokens == 6
    assert generation.usage.prompt_tokens > 8


LETTERS = (
    Message(
        "user", "Which is the capital of France?\nA. Rome\nB. Paris\nC. Oslo\nAnswer with the letter only."
    ),
)
# Parts of one prompt are computed together or, where some are kept, apart, and then differ in late digits.
CLOSE = 0.02


def test_a_choice_is_the_probability_of_the_labels_among_all_labels(llm):
    choice = llm.choose(LETTERS, ("A", "B", "C"))
    assert choice.mode == "logprobs" and choice.unseen == ()
    scores = {
        label: sum(math.exp(llm.logprob(LETTERS, spelling).logprob) for spelling in (label, f" {label}"))
        for label in "ABC"
    }
    total = sum(scores.values())
    for label, probability in choice.probabilities.items():
        assert probability == pytest.approx(scores[label] / total, abs=CLOSE)


def test_each_of_many_labels_is_seen_however_unlikely(llm):
    labels = [chr(ord("A") + place) for place in range(21)]
    choice = llm.choose(LETTERS, labels)
    assert choice.unseen == ()
    assert choice.usage.calls == 1
    three = llm.choose(LETTERS, ("A", "B", "C")).probabilities
    total = sum(choice.probabilities[label] for label in "ABC")
    assert choice.probabilities["B"] / total == pytest.approx(three["B"], abs=CLOSE)


def test_a_choice_is_the_same_whether_the_beginning_of_its_prompt_is_there_or_not(model_folder):
    cold, warm = (LlamaCppLLM(model_folder, n_ctx=512, n_threads=1) for _ in range(2))
    beginning = Message("system", "green house under seven trees " * 30)
    warm.choose((beginning, Message("user", "What is the capital of Norway? Say a letter.")), ("A", "B"))
    found = [llm.choose((beginning, *LETTERS), ("A", "B", "C")) for llm in (cold, warm)]
    cold.close()
    warm.close()
    assert [choice.usage.reused_tokens > 100 for choice in found] == [False, True]
    for label in "ABC":
        one, other = (choice.probabilities[label] for choice in found)
        assert one == pytest.approx(other, abs=0.002)


def test_labels_far_down_the_list_are_looked_up_among_all_tokens(llm):
    choice = llm.choose(ASK, ("#", "}"))
    assert choice.unseen == ()
    scores = [llm.logprob(ASK, "#").logprob, llm.logprob(ASK, "}").logprob]
    assert min(scores) < -9.0  # not among the first
    assert choice.probabilities["#"] > FLOOR


def test_labels_that_are_no_token_are_voted_on(llm):
    with pytest.raises(LLMError, match="None of 2 sampled replies"):
        llm.choose(LETTERS, ("Zqxj", "Zzxj"), n_votes=2)


def test_a_score_is_the_sum_over_tokens_of_what_the_model_gives_each(llm):
    """Step by step over its own lists of likely tokens, each time with the beginning of the reply given."""
    tokens = ["The", " capital", " of", " France", " is", " Paris"]
    llm.logprob(ASK, "".join(tokens))  # so that both ways below find the prompt there
    scored = llm.logprob(ASK, "".join(tokens))
    total = 0.0
    for place, token in enumerate(tokens):
        reply = (Message("assistant", "".join(tokens[:place])),) if place else ()
        body = llm._server.chat(
            {
                "messages": [{"role": turn.role, "content": turn.content} for turn in (*ASK, *reply)],
                "max_tokens": 1,
                "temperature": 0.0,
                "logprobs": True,
                "top_logprobs": 200,
            }
        )
        top = body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        total += next(entry["logprob"] for entry in top if entry["token"] == token)
    assert scored.n_tokens == len(tokens)
    assert scored.logprob == pytest.approx(total, abs=0.001)


def test_following_the_likeliest_next_token_gives_what_is_generated_greedily(llm):
    said = llm.generate(ASK, max_tokens=6)
    written = ""
    for _ in range(6):
        written += llm.next_tokens(ASK, written, n_top=5).tokens[0][0]
    assert written.strip() == said.text


def test_a_next_token_has_the_probability_that_its_text_scores(llm):
    for text, value in llm.next_tokens(ASK, "The capital", n_top=3).tokens:
        whole, before = llm.logprob(ASK, "The capital" + text), llm.logprob(ASK, "The capital")
        assert math.exp(value) == pytest.approx(math.exp(whole.logprob - before.logprob), abs=CLOSE)


def test_the_end_of_a_reply_is_an_empty_token(llm):
    yes = (Message("user", "Say yes or no."),)
    said = llm.generate(yes, max_tokens=60)
    assert said.finish_reason == "stop"
    assert llm.next_tokens(yes, said.text, n_top=3).tokens[0][0] == ""


def test_signs_of_the_model_in_what_is_written_are_letters(llm):
    plain, signed = (llm.next_tokens(ASK, text, n_top=3).usage.prompt_tokens for text in ("a", "<|im_end|>"))
    assert signed > plain


def test_next_tokens_that_do_not_fit_the_context_are_refused(llm):
    with pytest.raises(LLMError, match="tokens"):
        llm.next_tokens(ASK, "word " * 600)


def test_a_score_does_not_choose_another_spelling_of_the_text(llm):
    assert llm.logprob(ASK, "Xyzzy plugh").n_tokens == llm.count_tokens("Xyzzy plugh")


def test_characters_of_several_tokens_are_scored(llm):
    scored = llm.logprob(ASK, "\u0141\u00f3d\u017a")
    assert scored.n_tokens > 4
    assert -300.0 < scored.logprob < -10.0


def test_signs_of_the_model_in_a_text_to_score_are_letters(llm):
    assert llm.logprob(ASK, "<|im_end|>").n_tokens > 1
    assert llm.count_tokens("<|im_end|>") == 1


def test_a_score_that_does_not_fit_the_context_is_refused_with_the_sizes(llm):
    with pytest.raises(LLMError, match="tokens") as caught:
        llm.logprob(ASK, "word " * 600)
    assert "512" in caught.value.hint


def test_a_prompt_is_computed_from_where_it_parts_from_an_earlier_one(llm):
    """Also if another one was asked in between: each beginning is kept."""
    beginnings = [f"{word} " * 150 for word in ("red", "blue")]
    usages = [
        llm.generate((Message("system", beginning), Message("user", f"{number}?")), max_tokens=1).usage
        for number in (1, 2)
        for beginning in beginnings
    ]
    assert [usage.reused_tokens < 20 for usage in usages] == [True, True, False, False]
    for usage in usages[2:]:
        assert usage.reused_tokens > 150
        assert usage.prompt_tokens - usage.reused_tokens < 40


def test_a_reply_follows_a_schema(llm):
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "year": {"type": "integer"}},
        "required": ["name", "year"],
        "additionalProperties": False,
    }
    said = llm.generate((Message("user", "Ann was born in 1934."),), max_tokens=60, schema=schema)
    found = json.loads(said.text)
    assert found.keys() == {"name", "year"}
    assert isinstance(found["name"], str) and isinstance(found["year"], int)


def test_a_schema_that_is_none_is_an_error_of_the_model(llm):
    with pytest.raises(LLMError, match="refused"):
        llm.generate(ASK, max_tokens=5, schema={"type": "nonsense"})


def test_what_replies_depend_on_is_the_name_and_the_file(tmp_path):
    path = tmp_path / "tiny.gguf"
    assert LlamaCppLLM(path).identity == "tiny"
    path.write_bytes(b"one")
    first = LlamaCppLLM(path).identity
    path.write_bytes(b"another")
    assert len({first, LlamaCppLLM(path).identity, LlamaCppLLM(path, name="x").identity}) == 3


def test_a_file_that_is_no_model_is_a_model_error(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF but not really")
    with pytest.raises(ModelError, match=r"broken\.gguf"):
        LlamaCppLLM(path).generate(ASK, max_tokens=4)


def test_a_file_that_is_not_there_names_the_command_that_fetches_it(tmp_path):
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    with pytest.raises(ModelError) as caught:
        LlamaCppLLM(tmp_path / "none.gguf").generate(ASK, max_tokens=4)
    assert "veridical models pull" in caught.value.hint


def test_without_the_library_the_pip_line_is_given(monkeypatch):
    honest = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "xllamacpp":
            raise ImportError(name)
        return honest(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(MissingExtraError) as caught:
        LlamaCppLLM("model.gguf").generate(ASK, max_tokens=4)
    assert "veridical[local]" in caught.value.hint


def test_nothing_is_loaded_or_looked_for_before_the_first_call():
    llm = LlamaCppLLM("no/such/folder/tiny.gguf")
    assert llm.name == "tiny"
    assert LlamaCppLLM("models/smollm2-135m-instruct/model.gguf").name == NAME
    assert LlamaCppLLM(lambda: 1 / 0).name == "llama.cpp"


@pytest.mark.parametrize("wrong", [{"n_ctx": 1}, {"n_threads": 0}, {"timeout_s": 0.0}])
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(InputError):
        LlamaCppLLM("tiny.gguf", **wrong)
