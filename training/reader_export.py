"""Write a trained reader as ONNX, in int8, with fitted probabilities, a model card and its sha256."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from reader_model import HEADS, LAYERS, MAX_SPAN, WIDTH, ReaderNet, fingerprint
from veridical.reading.onnx_ import OnnxReader
from veridical.reading.squad import Context, Item, best_f1, own_items, removed_item, similar_contexts
from veridical.reading.windows import Decoding, merge, window_spans

OPSET = 17
EPSILON = 1e-12


class Graph:
    """Collects the nodes and weights of one ONNX graph."""

    def __init__(self, net: ReaderNet) -> None:
        self.nodes: list[Any] = []
        self.weights: dict[str, np.ndarray] = {}
        self.net = {name: value.detach().float().numpy() for name, value in net.state_dict().items()}

    def constant(self, name: str, value: np.ndarray) -> str:
        """Add a weight or constant."""
        self.weights[name] = value
        return name

    def add(self, kind: str, inputs: list[str], output: str, *, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def linear(self, states: str, name: str, *, columns: slice = slice(None), tag: str = "") -> str:
        """``states @ weight.T + bias`` of a layer (or of some of its outputs)."""
        label = name + tag
        weight = self.constant(f"{label}.weight", np.ascontiguousarray(self.net[f"{name}.weight"][columns].T))
        bias = self.constant(f"{label}.bias", self.net[f"{name}.bias"][columns])
        return self.add(
            "Add", [self.add("MatMul", [states, weight], f"{label}.product"), bias], f"{label}.sum"
        )

    def norm(self, states: str, name: str) -> str:
        """Layer normalisation over the last axis."""
        parts = [self.constant(f"{name}.{p}", self.net[f"{name}.{p}"]) for p in ("weight", "bias")]
        return self.add("LayerNormalization", [states, *parts], f"{name}.out", axis=-1, epsilon=EPSILON)

    def layer(self, states: str, mask: str, i: int) -> str:
        """One transformer layer."""
        here = f"layers.{i}"
        parts = []
        for j, which in enumerate("qkv"):
            rows = slice(j * WIDTH, (j + 1) * WIDTH)
            flat = self.linear(states, f"{here}.qkv", columns=rows, tag=f".{which}")
            cut = self.add("Reshape", [flat, "heads"], f"{here}.{which}.cut")
            perm = [0, 2, 3, 1] if which == "k" else [0, 2, 1, 3]
            parts.append(self.add("Transpose", [cut], f"{here}.{which}.turned", perm=perm))
        raw = self.add("MatMul", parts[:2], f"{here}.raw")
        scaled = self.add("Mul", [raw, "scale"], f"{here}.scaled")
        masked = self.add("Add", [scaled, mask], f"{here}.masked")
        shares = self.add("Softmax", [masked], f"{here}.shares", axis=-1)
        mixed = self.add("MatMul", [shares, parts[2]], f"{here}.mixed")
        turned = self.add("Transpose", [mixed], f"{here}.turned", perm=[0, 2, 1, 3])
        joined = self.add("Reshape", [turned, "whole"], f"{here}.joined")
        states = self.norm(
            self.add("Add", [states, self.linear(joined, f"{here}.out")], f"{here}.after_attention"),
            f"{here}.norm1",
        )
        up = self.linear(states, f"{here}.up")
        inner = self.gelu(up, f"{here}.gelu")
        return self.norm(
            self.add("Add", [states, self.linear(inner, f"{here}.down")], f"{here}.after_inner"),
            f"{here}.norm2",
        )

    def gelu(self, states: str, name: str) -> str:
        """The exact Gaussian error linear unit, in the form that runtimes fuse."""
        root = self.add("Div", [states, "sqrt2"], f"{name}.root")
        error = self.add("Erf", [root], f"{name}.erf")
        plus = self.add("Add", [error, "one"], f"{name}.plus")
        return self.add("Mul", [self.add("Mul", [states, plus], f"{name}.twice"), "half"], name)


def write_float(net: ReaderNet, path: Path) -> None:
    """Write the network as a float32 ONNX model with outputs ``start_logits`` and ``end_logits``."""
    graph = Graph(net)
    for name, value in {"scale": (WIDTH / HEADS) ** -0.5, "sqrt2": 2**0.5, "one": 1.0, "half": 0.5}.items():
        graph.constant(name, np.array(value, dtype=np.float32))
    graph.constant("lowest", np.array(-1e4, dtype=np.float32))
    graph.constant("heads", np.array([0, 0, HEADS, WIDTH // HEADS], dtype=np.int64))
    graph.constant("whole", np.array([0, 0, WIDTH], dtype=np.int64))
    for name, value in {"zero": [0], "second": [1], "axes": [1, 2], "last": [2]}.items():
        graph.constant(name, np.array(value, dtype=np.int64))
    for table in ("words", "positions", "segments"):
        graph.constant(table, graph.net[f"{table}.weight"])
    shape = graph.add("Shape", ["input_ids"], "shape")
    length = graph.add("Slice", [shape, "second", "last", "zero"], "length")
    places = graph.add("Slice", ["positions", "zero", length, "zero"], "places")
    words = graph.add("Gather", ["words", "input_ids"], "words.out")
    segments = graph.add("Gather", ["segments", "token_type_ids"], "segments.out")
    states = graph.add("Add", [graph.add("Add", [words, segments], "words_and_segments"), places], "embedded")
    states = graph.norm(states, "norm")
    present = graph.add("Cast", ["attention_mask"], "present", to=TensorProto.FLOAT)
    absent = graph.add("Sub", ["one", present], "absent")
    mask = graph.add("Unsqueeze", [graph.add("Mul", [absent, "lowest"], "low"), "axes"], "mask")
    for i in range(LAYERS):
        states = graph.layer(states, mask, i)
    logits = graph.linear(states, "head")
    graph.nodes.append(helper.make_node("Split", [logits], ["start", "end"], axis=2, name="split"))
    for end in ("start", "end"):
        graph.add("Squeeze", [end, "last"], f"{end}_logits")
    names = ("input_ids", "attention_mask", "token_type_ids")
    info = helper.make_tensor_value_info
    made = helper.make_graph(
        graph.nodes,
        "reader",
        [info(name, TensorProto.INT64, ["batch", "length"]) for name in names],
        [info(f"{end}_logits", TensorProto.FLOAT, ["batch", "length"]) for end in ("start", "end")],
        [numpy_helper.from_array(value, name) for name, value in graph.weights.items()],
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


def quantise(source: Path, target: Path, *, reduce_range: bool = False) -> None:
    """Weights to int8, one scale a column; activations are quantised as they come. The head stays float."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(
        str(source),
        str(target),
        per_channel=True,
        reduce_range=reduce_range,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
        nodes_to_exclude=["head.product"],
    )


def calibration_items(contexts: list[Context]) -> list[Item]:
    """Readings to fit probabilities on: answerable ones, and half as many that are not."""
    similar = similar_contexts(contexts)
    found: list[Item] = []
    negatives: list[Item] = []
    for context in contexts:
        found += own_items(context)
        for question in context.questions:
            if question.answers:
                removed = removed_item(context, question)
                near = similar.get(question.id, [])
                if removed is not None:
                    negatives.append(removed)
                if near:
                    text = contexts[near[0]].text
                    negatives.append(Item("other", context.file, question.text, text, ()))
    rng = np.random.default_rng(0)
    n = min(len(negatives), len(found) // 2)
    return found + [negatives[i] for i in rng.permutation(len(negatives))[:n]]


def fit_probabilities(reader: OnnxReader, items: list[Item]) -> Decoding:
    """Temperature and bias with the least log-loss of "answers here" and "does not answer".

    The probability of an answerable item's truth is the summed probability of all spans that overlap a marked
    one, as ``reading_of`` states it.
    """
    windows = reader.windows([(item.question, item.text) for item in items])
    logits = reader.logits(windows)
    cases: list[tuple[np.ndarray, np.ndarray]] = []
    by_item: dict[int, list[Any]] = {}
    for window, (starts, ends) in zip(windows, logits, strict=True):
        by_item.setdefault(window.pair, []).append(window_spans(window, starts, ends, Decoding()))
    for number, parts in by_item.items():
        spans = merge(parts)
        right = np.zeros(len(spans.starts), dtype=bool)
        for start, end in items[number].spans:
            right |= (spans.starts < end) & (spans.ends > start)
        keep = np.argsort(-spans.log_odds)[:400]
        cases.append((spans.log_odds[keep], right[keep]))

    def loss(temperature: float, bias: float) -> float:
        total = 0.0
        for log_odds, right in cases:
            odds = np.append((log_odds - bias) / temperature, 0.0)
            weights = np.exp(odds - odds.max())
            wanted = weights[:-1][right].sum() if right.any() else weights[-1]
            total -= float(np.log(max(wanted / weights.sum(), 1e-9)))
        return total / len(cases)

    grid = [(t, b) for t in np.arange(0.7, 2.6, 0.1) for b in np.arange(-2, 2.01, 0.25)]
    temperature, bias = min(grid, key=lambda point: loss(*point))
    return Decoding(round(float(temperature), 2), round(float(bias), 2), MAX_SPAN)


def f1_of(reader: OnnxReader, items: list[Item]) -> float:
    """Mean F1 of the first answer on answerable items."""
    asked = [item for item in items if item.spans]
    readings = reader.read_pairs([(item.question, item.text) for item in asked])
    scores = []
    for item, reading in zip(asked, readings, strict=True):
        golds = [item.text[a:b] for a, b in item.spans]
        scores.append(best_f1(reading.best.text if reading.best else "", golds))
    return float(np.mean(scores))


def finish(
    net: ReaderNet, calibration: list[Context], out: Path, about: dict[str, Any], *, tokenizer_path: Path
) -> None:
    """Write ``model.onnx`` and ``model.json`` to ``out``, the float model to ``out/float``."""
    (out / "float").mkdir(parents=True, exist_ok=True)
    for folder in (out, out / "float"):
        (folder / "tokenizer.json").write_bytes(tokenizer_path.read_bytes())
    write_float(net, out / "float" / "model.onnx")
    quantise(out / "float" / "model.onnx", out / "model.onnx")
    items = calibration_items(calibration)
    decoding = fit_probabilities(OnnxReader(out, n_threads=2), items)
    small = f1_of(OnnxReader(out, n_threads=2, decoding=decoding), items)
    large = f1_of(OnnxReader(out / "float", n_threads=2, decoding=decoding), items)
    print(f"F1 on calibration passages: int8 {small:.4f}, float {large:.4f}; {decoding}", flush=True)
    content = {
        "sha256": fingerprint(out / "model.onnx"),
        "bytes": (out / "model.onnx").stat().st_size,
        "temperature": decoding.temperature,
        "null_bias": decoding.null_bias,
        "max_span": decoding.max_span,
        "training": about,
    }
    (out / "model.json").write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
