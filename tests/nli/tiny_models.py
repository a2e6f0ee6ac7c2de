"""Tiny three-class models with random weights, written as real ONNX folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np


def write_model(
    folder: Path,
    labels: tuple[str, ...] = ("contradiction", "entailment", "neutral"),
    *,
    token_type_ids: bool = True,
    seed: int = 0,
    positions: int = 64,
    config: dict | None = None,
    int_type: str = "int64",
) -> Path:
    """Write a model whose logits are the mask-weighted mean of one random vector a token (and a segment)."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder / "tokenizer.json")
    id2label = {str(i): label for i, label in enumerate(labels)}
    content = {"id2label": id2label, "max_position_embeddings": positions, "pad_token_id": 0}
    (folder / "config.json").write_text(json.dumps(content | (config or {})), encoding="utf-8")
    _write_graph(folder / "model.onnx", token_type_ids, seed, int_type, len(labels))
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


def _write_graph(path: Path, token_type_ids: bool, seed: int, int_type: str, n_classes: int) -> None:
    from onnx import TensorProto, checker, helper, numpy_helper, save

    rng = np.random.default_rng(seed)
    kind = getattr(TensorProto, int_type.upper())
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if token_type_ids else [])]
    tables = {
        "words": rng.normal(size=(80, n_classes)).astype(np.float32) * 6,
        "segments": rng.normal(size=(2, n_classes)).astype(np.float32) * 6,
        "last": np.array([2], dtype=np.int64),
        "first": np.array([1], dtype=np.int64),
    }
    node = helper.make_node
    nodes = [
        node("Gather", ["words", "input_ids"], ["by_word"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "last"], ["weights"]),
    ]
    states = "by_word"
    if token_type_ids:
        nodes += [
            node("Gather", ["segments", "token_type_ids"], ["by_segment"]),
            node("Mul", ["by_word", "by_segment"], ["states"]),
        ]
        states = "states"
    nodes += [
        node("Mul", [states, "weights"], ["kept"]),
        node("ReduceSum", ["kept", "first"], ["total"], keepdims=0),
        node("ReduceSum", ["weights", "first"], ["count"], keepdims=0),
        node("Div", ["total", "count"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "width"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", n_classes])],
        [numpy_helper.from_array(table, name) for name, table in tables.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    checker.check_model(model)
    save(model, str(path))
