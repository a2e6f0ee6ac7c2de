"""Helper models are used as they are given, or loaded from their folders, and missing parts are named."""

from __future__ import annotations

import sys
import types
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veridical import registry
from veridical.bench.systems.base import Tools
from veridical.bench.systems.helpers import ANSWER_NLI, SIMCSE, TAGGER, helper
from veridical.bench.systems.tagging import Tag
from veridical.errors import InputError, MissingExtraError, ModelError
from veridical.models import load_manifest


def loaded(name: str, folder: Path) -> Callable[..., Any]:
    found = helper(Tools(weights={name: folder}), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", [ANSWER_NLI, SIMCSE, TAGGER])
class TestEachHelper:
    def test_it_has_a_row_in_the_manifest(self, name: str) -> None:
        assert load_manifest()[name].kind == "weights"

    def test_without_it_there_is_none_and_a_callable_is_taken_as_it_is(self, name: str) -> None:
        assert helper(Tools(), name) is None
        assert helper(Tools(weights={name: len}), name) is len

    def test_what_is_no_folder_is_refused(self, name: str) -> None:
        with pytest.raises(InputError, match="int"):
            helper(Tools(weights={name: 7}), name)


@pytest.mark.parametrize("name", [ANSWER_NLI, SIMCSE])
def test_without_the_library_the_pip_line_is_given(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError) as caught:
        loaded(name, tmp_path)
    assert "veridical[hf]" in caught.value.hint


@pytest.fixture(scope="module")
def transformers() -> Any:
    pytest.importorskip("torch", reason="the extra 'hf' is not installed")
    return pytest.importorskip("transformers", reason="the extra 'hf' is not installed")


@pytest.mark.parametrize("name", [ANSWER_NLI, SIMCSE])
def test_a_folder_without_a_model_names_the_command_that_fetches_it(
    name: str, transformers: Any, tmp_path: Path
) -> None:
    with pytest.raises(ModelError) as caught:
        loaded(name, tmp_path)
    assert f"veridical models pull {name}" in caught.value.hint


WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "oslo", "rome", "is", "the", "capital"]


def saved(transformers: Any, kind: str, folder: Path) -> Any:
    """A random model of one layer in a folder, as it is after loading."""
    config = transformers.BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=3,
        id2label={0: "entailment", 1: "neutral", 2: "contradiction"},
        label2id={"entailment": 0, "neutral": 1, "contradiction": 2},
    )
    getattr(transformers, kind)(config).save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return getattr(transformers, kind).from_pretrained(folder).eval()


def test_a_text_is_the_last_state_of_its_first_token(transformers: Any, tmp_path: Path) -> None:
    import torch

    model = saved(transformers, "BertModel", tmp_path)
    encode = loaded(SIMCSE, tmp_path)
    rows = encode(["oslo is the capital", "rome"])
    with torch.inference_mode():
        state = model(input_ids=torch.tensor([[2, 6, 3]])).last_hidden_state[0, 0].numpy()
    assert rows.shape == (2, 16)
    assert rows[1] == pytest.approx(state, abs=1e-5)
    assert encode([]).shape == (0, 16)


def test_the_share_of_a_contradiction_is_read_by_its_name(transformers: Any, tmp_path: Path) -> None:
    import torch

    model = saved(transformers, "BertForSequenceClassification", tmp_path)
    found = loaded(ANSWER_NLI, tmp_path)([("oslo", "rome"), ("rome is", "the capital")] * 10)
    tokens, kinds = torch.tensor([[2, 5, 3, 6, 3]]), torch.tensor([[0, 0, 0, 1, 1]])
    with torch.inference_mode():
        shares = model(input_ids=tokens, token_type_ids=kinds).logits.softmax(-1)[0]
    assert len(found) == 20
    assert found[0] == pytest.approx(float(shares[2]), abs=1e-5)
    assert np.allclose(found[::2], found[0], atol=1e-5)


class Token:
    def __init__(self, idx: int, text: str, pos: str, lemma: str) -> None:
        self.idx, self.text, self.pos_, self.lemma_ = idx, text, pos, lemma


def test_a_pipeline_is_taken_out_of_its_wheel_and_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    opened: list[Path] = []

    def load(folder: Path) -> Callable[[str], list[Token]]:
        opened.append(folder)
        assert (folder / "config.cfg").is_file()
        return lambda text: [Token(0, "Ships", "NOUN", "Ship"), Token(6, "sailed", "VERB", "sail")]

    module = types.ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    with zipfile.ZipFile(tmp_path / "pipeline.whl", "w") as wheel:
        wheel.writestr("en/__init__.py", "")
        wheel.writestr("en/en-3.8/config.cfg", "[nlp]")
    tag = loaded(TAGGER, tmp_path)
    assert tag("Ships sailed") == [Tag(0, 5, "NOUN", "ship"), Tag(6, 12, "VERB", "sail")]
    assert opened == [tmp_path / "unpacked" / "en" / "en-3.8"]
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("tmp")]


def test_a_folder_without_a_pipeline_is_a_model_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = types.ModuleType("spacy")
    module.load = print  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    with pytest.raises(ModelError, match=r"config\.cfg"):
        loaded(TAGGER, tmp_path)


def test_without_spacy_its_pip_line_is_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ModelError) as caught:
        loaded(TAGGER, tmp_path)
    assert "pip install spacy" in caught.value.hint


@pytest.mark.parametrize(
    ("system", "module", "extra"),
    [
        ("cram", "torch", "hf"),
        ("trustrag", "sklearn", "bench"),
        ("trustrag_stage1", "snowballstemmer", "bench"),
    ],
)
def test_a_system_whose_libraries_are_missing_is_not_even_made(
    system: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a run lists it as one that lacks something, rather than failing at each question."""
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError) as caught:
        registry.load("systems", system)(Tools())
    assert f"veridical[{extra}]" in caught.value.hint
