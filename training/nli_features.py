"""Fit the models of ``veridical.nli.features`` and write them where the package keeps them.

    python training/nli_features.py DATA_DIR --encoder FOLDER [--seed 0] [--out FOLDER] [--cache FOLDER]

About ten minutes on two cores, most of it the encoder. What is fitted: gradient-boosted trees that judge two
sentences (one model with the encoder's cosine, one without), and for each a vector scaling that turns the
deciding sentence pair of two passages into probabilities of the passage pair at a stated prior.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import time
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nli_pairs import Pair, answered, composed, contexts, fever_neutrals, neighbours, nli_pairs, substitutions
from veridical.nli.align import DEFAULT_MAX_PAIRS, best_matches, lexical_similarities, sentence_spans
from veridical.nli.compare import COSINE, FEATURES, compare
from veridical.nli.features import SCREEN
from veridical.nli.passages import N_EVIDENCE, comparable, denials, passage_evidence, repeats, said_of
from veridical.nli.values import facts_of

Array = npt.NDArray[np.float32]
LABELS = ("entailment", "neutral", "contradiction")
#: Share of each class among neighbouring passages of a corpus that the probabilities are stated for.
PRIOR = (0.12, 0.80, 0.08)


class Vectors:
    """Sentence vectors, kept in a folder between runs."""

    def __init__(self, encode: Callable[[Sequence[str]], Array], cache: Path) -> None:
        self._encode, self._cache = encode, cache
        self._known: dict[str, Array] = {}
        if (cache / "texts.json").exists():
            texts = json.loads((cache / "texts.json").read_text(encoding="utf-8"))
            self._known = dict(zip(texts, np.load(cache / "vectors.npy"), strict=True))

    def add(self, texts: Sequence[str]) -> None:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(new), 4096):
            part = new[start : start + 4096]
            self._known.update(zip(part, self._encode(part).astype(np.float16), strict=True))
            print(f"  encoded {start + len(part)} of {len(new)} sentences", flush=True)
            self._save()

    def _save(self) -> None:
        self._cache.mkdir(parents=True, exist_ok=True)
        np.save(self._cache / "vectors.npy", np.stack(list(self._known.values())))
        (self._cache / "texts.json").write_text(json.dumps(list(self._known)), encoding="utf-8")

    def cosines(self, left: Sequence[str], right: Sequence[str]) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.rows(left), self.rows(right)), dtype=np.float32)

    def rows(self, texts: Sequence[str]) -> Array:
        return np.stack([self._known[text] for text in texts]).astype(np.float32)


def to_sentences(pair: Pair) -> Pair | None:
    """Reduce a pair of texts to its best-aligned sentences."""
    left = [s.text for s in sentence_spans(pair.premise)]
    right = [s.text for s in sentence_spans(pair.hypothesis)]
    if not left or not right:
        return None
    if len(left) * len(right) == 1:
        return Pair(left[0], right[0], pair.label, pair.origin, pair.held_out)
    table = lexical_similarities([facts_of(s) for s in left], [facts_of(s) for s in right])
    i, j = best_matches(table, 1)[0]
    return Pair(left[i], right[j], pair.label, pair.origin, pair.held_out)


def near_neutrals(passages: Sequence[tuple[str, bool]], n: int, rng: random.Random) -> list[Pair]:
    """Pair sentences of true text with their nearest others: alike, and neither implied nor contradicted."""
    owned = [(s.text, held) for text, held in passages for s in sentence_spans(text)]
    near = neighbours([text for text, _ in owned], 4)
    found = []
    for row in rng.sample(range(len(owned)), min(n, len(owned))):
        text, held_out = owned[row]
        other = [owned[k][0] for k in near[row] if owned[k][1] == held_out]
        if other:
            found.append(Pair(text, rng.choice(other), "neutral", "reading-near", held_out))
    return found


def build(data: Path, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Make the sentence pairs and the passage pairs."""

    def rng(stage: str) -> random.Random:
        return random.Random(f"{seed} {stage}")

    pairs = nli_pairs(data, rng("pairs"))
    pairs += fever_neutrals(pairs, 4_000, rng("neutrals"))
    reading = contexts(data, 700, rng("contexts"))
    changed = substitutions(reading, rng("substitutions"))
    sentences = [s for pair in pairs if (s := to_sentences(pair)) is not None]
    for passage, before, after, _ in changed:
        sentences.append(Pair(before, after, "contradiction", "reading-substituted", passage.held_out))
    for passage, before, _, _ in changed[:600]:
        sentences.append(Pair(before, before, "entailment", "reading-same", passage.held_out))
    sentences += answered(reading, 3, rng("answered"))
    sentences += near_neutrals([(c.text, c.held_out) for c in reading], 8_000, rng("near"))
    texts = [(s.text, c.held_out) for c in reading for s in sentence_spans(c.text)]
    for text, held_out in rng("random").sample(texts, min(2_000, len(texts))):
        other = rng(f"random {text}").choice(texts)[0]
        sentences.append(Pair(text, other, "neutral", "reading-random", held_out))
    passages = composed(pairs, reading, changed, rng("passages"))
    # Only the held-out passages are used: the scaling is fitted and reported on them.
    passages = [p for p in passages if p.held_out]
    rng("order").shuffle(passages)  # they come in turns, and will be halved by turns
    return sentences, passages


def features(pairs: Sequence[Pair]) -> tuple[Array, npt.NDArray[np.int64]]:
    """Compare sentences: shape (n, n_features), and the labels as indices into ``LABELS``."""
    table = np.array([compare(facts_of(p.premise), facts_of(p.hypothesis)) for p in pairs], dtype=np.float32)
    return table, np.array([LABELS.index(p.label) for p in pairs])


def with_cosines(table: Array, pairs: Sequence[Pair], vectors: Vectors) -> Array:
    vectors.add([text for p in pairs for text in (p.premise, p.hypothesis)])
    cosines = vectors.cosines([p.premise for p in pairs], [p.hypothesis for p in pairs])
    return np.column_stack([table, cosines]).astype(np.float32)


def sample(pairs: Sequence[Pair], n: int) -> list[Pair]:
    """Take n pairs by a hash of their text: nearly the same ones when the data change a little."""
    return sorted(pairs, key=lambda p: zlib.crc32(f"{p.premise}|{p.hypothesis}".encode()))[:n]


def auc(positive: npt.NDArray[np.float64], negative: npt.NDArray[np.float64]) -> float:
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([positive, negative]))
    return float(
        (ranks[: len(positive)].sum() - len(positive) * (len(positive) + 1) / 2)
        / (len(positive) * len(negative))
    )


def fit_trees(table: Array, labels: npt.NDArray[np.int64], weights: npt.NDArray[np.float64], seed: int):
    """Boost small trees, a fixed number of them."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        learning_rate=0.08, max_iter=160, max_leaf_nodes=15, min_samples_leaf=40, l2_regularization=1.0,
        max_bins=128, early_stopping=False, random_state=seed,
    )  # fmt: skip
    return model.fit(table, labels, sample_weight=weights)


#: Weight of each origin in the fit, so that statements of fact count for more than captions.
ORIGIN_WEIGHTS = {
    "fever": 1.5,
    "fever-symmetric": 1.5,
    "fever-neutral": 1.5,
    "snli": 0.4,
    "cad-snli": 0.6,
    "breaking-nli": 0.5,
    "med": 0.4,
    "reading-near": 1.5,
    "reading-answered": 1.0,
    "reading-unanswered": 1.2,
    "reading-random": 0.5,
    "reading-denied": 2.5,
    "reading-substituted": 0.8,
    "reading-same": 0.5,
}


def origin_weights(pairs: Sequence[Pair]) -> npt.NDArray[np.float64]:
    return np.array([ORIGIN_WEIGHTS[p.origin] for p in pairs])


def to_onnx(model: Any, n_columns: int, path: Path) -> None:
    """Write the trees as one ONNX tree ensemble with a softmax, which onnxruntime evaluates.

    The general converter lags behind the library, and a boosted model is only a table of nodes.
    """
    from onnx import TensorProto, helper, save

    columns: dict[str, list[Any]] = {
        key: []
        for key in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids")
    }
    leaves: dict[str, list[Any]] = {key: [] for key in ("treeids", "nodeids", "ids", "weights")}
    tree = 0
    for stage in model._predictors:
        for label, predictor in enumerate(stage):
            for number, node in enumerate(predictor.nodes):
                leaf = bool(node["is_leaf"])
                row = (
                    tree,
                    number,
                    0 if leaf else int(node["feature_idx"]),
                    0.0 if leaf else float(node["num_threshold"]),
                    "LEAF" if leaf else "BRANCH_LEQ",
                    0 if leaf else int(node["left"]),
                    0 if leaf else int(node["right"]),
                )
                for values, value in zip(columns.values(), row, strict=True):
                    values.append(value)
                if leaf:
                    for values, value in zip(
                        leaves.values(), (tree, number, label, float(node["value"])), strict=True
                    ):
                        values.append(value)
            tree += 1
    node = helper.make_node(
        "TreeEnsembleClassifier", ["features"], ["label", "probabilities"],
        domain="ai.onnx.ml", post_transform="SOFTMAX",
        classlabels_int64s=[0, 1, 2], base_values=[float(b) for b in model._baseline_prediction.ravel()],
        **{f"nodes_{key}": values for key, values in columns.items()},
        **{f"class_{key}": values for key, values in leaves.items()},
    )  # fmt: skip
    graph = helper.make_graph(
        [node], "sentence_pairs",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, n_columns])],
        [helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
         helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [None, 3])],
    )  # fmt: skip
    save(
        helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 15)],
            ir_version=8,
        ),
        str(path),
    )


def evidence(
    passages: Sequence[Pair], effort: str, lexical: Any, full: Any, vectors: Vectors
) -> npt.NDArray[np.float64]:
    """What the scaling sees of each passage pair under one effort of ``FeatureNLI``, shape (n, 7)."""
    rows: list[Pair] = []
    owner: list[int] = []
    copies: list[bool] = []
    n_denials: list[int] = []
    if effort == "full":
        vectors.add([s.text for p in passages for t in (p.premise, p.hypothesis) for s in sentence_spans(t)])
    for number, pair in enumerate(passages):
        left = [s.text for s in sentence_spans(pair.premise)]
        right = [s.text for s in sentence_spans(pair.hypothesis)]
        facts = [facts_of(t) for t in left], [facts_of(t) for t in right]
        if effort == "full":
            similar = vectors.rows(left) @ vectors.rows(right).T
        else:
            similar = lexical_similarities(*facts)
        repeated = repeats(left, right, facts[0])
        for i, j in comparable(similar, *facts, repeated, DEFAULT_MAX_PAIRS):
            rows.append(Pair(left[i], right[j], pair.label, pair.origin, pair.held_out))
            owner.append(number)
            copies.append((i, j) in repeated)
        n_denials.append(denials(said_of(facts[0]), said_of(facts[1])))
    table, _ = features(rows)
    if effort == "full":
        found = full.predict_proba(with_cosines(table, rows, vectors))
    else:
        found = lexical.predict_proba(table)
    if effort == "quick":
        again = np.flatnonzero(1 - found[:, 1] >= SCREEN)
        found[again] = full.predict_proba(with_cosines(table[again], [rows[i] for i in again], vectors))
    starts = np.searchsorted(np.array(owner), np.arange(len(passages) + 1))
    jaccard = table[:, FEATURES.index("word_jaccard")]
    same = np.array(copies)
    # Passages with no sentences to compare are neutral without being asked, and carry no evidence.
    spans = [(a, b) for a, b in itertools.pairwise(starts)]
    return np.array(
        [
            passage_evidence(found[a:b], jaccard[a:b], same[a:b], n_denials[number])[0]
            if a < b
            else np.full(N_EVIDENCE, np.nan)
            for number, (a, b) in enumerate(spans)
        ]
    )


def fit_scaling(seen, labels: npt.NDArray[np.int64]) -> dict:
    """Fit multinomial logistic regression of the passage label, classes weighted to ``PRIOR``."""
    from sklearn.linear_model import LogisticRegression

    share = np.bincount(labels, minlength=3) / len(labels)
    weights = (np.array(PRIOR) / share)[labels]
    model = LogisticRegression(C=10.0, max_iter=2000).fit(seen, labels, sample_weight=weights)
    return {"coefficients": model.coef_.round(5).tolist(), "intercepts": model.intercept_.round(5).tolist()}


def report(title: str, pairs: Sequence[Pair], probabilities) -> dict[str, dict[str, float]]:
    """Print accuracy and contradiction AUC against the rest, by origin."""
    out = {}
    labels = np.array([LABELS.index(p.label) for p in pairs])
    origins = np.array([p.origin for p in pairs])
    for origin in [*sorted(set(origins)), "all"]:
        mask = (origins == origin) | (origin == "all")
        got = probabilities[mask]
        own = labels[mask]
        row = {"n": int(mask.sum()), "accuracy": float((got.argmax(1) == own).mean())}
        for index, name in ((0, "entailment"), (2, "contradiction")):
            if 0 < (own == index).sum() < len(own):
                row[f"auc_{name}"] = auc(got[own == index, index], got[own != index, index])
        out[origin] = {k: round(v, 3) for k, v in row.items()}
        print(
            f"  {title:<10} {origin:<22} " + "  ".join(f"{k} {v}" for k, v in out[origin].items()), flush=True
        )
    return out


def scale(
    passages: Sequence[Pair], effort: str, lexical: Any, full: Any, vectors: Vectors, settings: dict[str, Any]
) -> None:
    """Fit the scaling of one effort and note how it does.

    Trees know the sentences that they were fitted on, so the passages are held-out ones: one half of them is
    fitted on, the other reported.
    """
    seen = evidence(passages, effort, lexical, full, vectors)
    own = np.array([LABELS.index(p.label) for p in passages])
    judged = np.isfinite(seen[:, 0])
    seen, own, passages = (
        seen[judged],
        own[judged],
        [p for p, is_in in zip(passages, judged, strict=True) if is_in],
    )
    odd = np.arange(len(passages)) % 2 == 1
    scaling = fit_scaling(seen[~odd], own[~odd])
    z = seen[odd] @ np.array(scaling["coefficients"]).T + np.array(scaling["intercepts"])
    probabilities = np.exp(z - z.max(1, keepdims=True))
    probabilities /= probabilities.sum(1, keepdims=True)
    rest = [p for p, o in zip(passages, odd, strict=True) if o]
    settings["scaling"][effort] = scaling
    settings["held_out"][f"{effort} passages"] = report(f"{effort} P", rest, probabilities)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("src/veridical/nli/data"))
    parser.add_argument("--cache", type=Path, default=Path("build/nli-cache"))
    parser.add_argument("--n-full", type=int, default=14_000, help="pairs for the model with the encoder")
    parser.add_argument(
        "--encoder", type=Path, required=True, help="folder with model.onnx and tokenizer.json"
    )
    return parser.parse_args()


def main() -> None:
    args = read_arguments()
    from veridical.index.encoder import Encoder

    begin = time.time()
    vectors = Vectors(Encoder(args.encoder, n_threads=2).encode, args.cache)
    pairs, passages = build(args.data, args.seed)
    print(f"{len(pairs)} sentence pairs, {len(passages)} passage pairs, {time.time() - begin:.0f} s")
    args.out.mkdir(parents=True, exist_ok=True)
    fit = [p for p in pairs if not p.held_out]
    held = [p for p in pairs if p.held_out]
    settings: dict[str, Any] = {
        "features": [*FEATURES, COSINE],
        "labels": LABELS,
        "prior": PRIOR,
        "seed": args.seed,
        "scaling": {},
        "held_out": {},
    }
    models: dict[str, Any] = {}
    for name in ("lexical", "full"):
        if name == "full":  # the encoder costs time, so this one sees fewer pairs
            fit, held, passages = sample(fit, args.n_full), sample(held, 2_000), sample(passages, 1_500)
        table, labels = features(fit)
        held_table, _ = features(held)
        if name == "full":
            table, held_table = with_cosines(table, fit, vectors), with_cosines(held_table, held, vectors)
        models[name] = model = fit_trees(table, labels, origin_weights(fit), args.seed)
        print(f"{name} fitted on {len(fit)} pairs, {time.time() - begin:.0f} s", flush=True)
        to_onnx(model, table.shape[1], args.out / f"{name}.onnx")
        settings["held_out"][f"{name} sentences"] = report(name, held, model.predict_proba(held_table))
        for effort in ("lexical",) if name == "lexical" else ("quick", "full"):
            scale(passages, effort, models["lexical"], models.get("full"), vectors, settings)
    (args.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    for file in sorted(args.out.iterdir()):
        print(file.name, file.stat().st_size, hashlib.sha256(file.read_bytes()).hexdigest())
    print(f"done in {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
