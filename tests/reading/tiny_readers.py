"""Tiny span models with random weights, written as real ONNX folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def write_reader(
    folder: Path,
    *,
    outputs: str = "two",
    token_type_ids: bool = True,
    int_type: str = "int64",
    seed: int = 0,
    positions: int = 96,
) -> Path:
    """Write a model whose start and end logits are a random number for each token (and segment).

    ``outputs`` is ``two`` (start_logits and end_logits), ``one`` (logits with a last axis of two) or
    ``classes`` (logits of a classifier, which is no reader).
    """
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder / "tokenizer.json")
    config = {"max_position_embeddings": positions, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    _write_graph(folder / "model.onnx", outputs, token_type_ids, int_type, seed)
    return folder


def write_tokenizer(path: Path) -> None:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *letters, *(f"##{c}" for c in letters)]
    tokenizer = Tokenizer(models.WordPiece({t: i for i, t in enumerate(tokens)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(path))


def _write_graph(path: Path, outputs: str, token_type_ids: bool, int_type: str, seed: int) -> None:
    from onnx import TensorProto, checker, helper, numpy_helper, save

    rng = np.random.default_rng(seed)
    kind = getattr(TensorProto, int_type.upper())
    tables = {
        "words": rng.normal(size=(80, 2)).astype(np.float32) * 4,
        "segments": rng.normal(size=(2, 2)).astype(np.float32) * 4,
        "last": np.array([2], dtype=np.int64),
        "first": np.array([1], dtype=np.int64),
    }
    node, info = helper.make_node, helper.make_tensor_value_info
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if token_type_ids else [])]
    nodes = [
        node("Gather", ["words", "input_ids"], ["by_word"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "last"], ["weights"]),
        node("Mul", ["by_word", "weights"], ["kept"]),
    ]
    states = "kept"
    if token_type_ids:
        nodes.append(node("Gather", ["segments", "token_type_ids"], ["by_segment"]))
        nodes.append(node("Add", ["kept", "by_segment"], ["states"]))
        states = "states"
    if outputs == "two":
        nodes.append(node("Split", [states], ["start", "end"], axis=2, num_outputs=2))
        nodes += [node("Squeeze", [end, "last"], [f"{end}_logits"]) for end in ("start", "end")]
        given = [info(f"{end}_logits", TensorProto.FLOAT, ["batch", "width"]) for end in ("start", "end")]
    elif outputs == "one":
        nodes.append(node("Identity", [states], ["logits"]))
        given = [info("logits", TensorProto.FLOAT, ["batch", "width", 2])]
    else:
        nodes.append(node("ReduceSum", [states, "first"], ["logits"], keepdims=0))
        given = [info("logits", TensorProto.FLOAT, ["batch", 2])]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [info(name, kind, ["batch", "width"]) for name in names],
        given,
        [numpy_helper.from_array(table, name) for name, table in tables.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    checker.check_model(model)
    save(model, str(path))
