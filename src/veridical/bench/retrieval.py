"""One run of the retrieval benchmark: pools of three retrievers, relations, and every setting and method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.bench import protocol
from veridical.bench.baselines import NoPropagation
from veridical.bench.protocol import Corpus, Pool
from veridical.graph.arrays import Graph
from veridical.graph.candidates import candidate_pairs, update_neighbours
from veridical.index.bm25 import LexicalIndex
from veridical.index.dense import top_rows
from veridical.index.hybrid import fuse
from veridical.methods.base import Method
from veridical.methods.trustprop import TrustProp
from veridical.methods.veridical import Veridical

Float32Array = npt.NDArray[np.float32]

FEEDBACK = (0.0, 0.05, 0.1, 0.3)
RETRIEVERS = ("dense", "bm25", "hybrid")


@dataclass(frozen=True)
class Setting:
    """What a method has to go by: sources with a share of documents misfiled (``None``: none), relations."""

    name: str
    wrong: float | None
    relations: bool = False


SETTINGS = (
    Setting("pure", 0.0),
    Setting("10% wrong", 0.1),
    Setting("20% wrong", 0.2),
    Setting("none", None),
    Setting("none, relations", None, relations=True),
    Setting("10% wrong, relations", 0.1, relations=True),
)


def methods() -> list[Method]:
    """Return what is compared, plain retrieval aside."""
    return [NoPropagation(), TrustProp(), Veridical()]


def pools(corpus: Corpus, texts: Float32Array, questions: Float32Array) -> dict[str, list[Pool]]:
    """Retrieve for each question with each retriever.

    Parameters
    ----------
    corpus
        What is indexed and asked.
    texts, questions
        Shapes (n, d) and (n_asked, d): unit rows.
    """
    lexical = LexicalIndex(None)
    lexical.update(list(enumerate(corpus.texts)))
    found: dict[str, list[Pool]] = {name: [] for name in RETRIEVERS}
    for asked, vector in zip(corpus.asked, questions, strict=True):
        cosines = (texts @ vector).astype(np.float64)
        near = top_rows(cosines, protocol.POOL).astype(np.int64)
        words = lexical.search(asked.text, protocol.POOL)
        fused = fuse([[i for i, _ in words], near.tolist()], protocol.POOL)
        found["dense"].append(Pool(near, cosines[near], cosines[near], "dense"))
        for name, pairs in (("bm25", words), ("hybrid", fused)):
            documents = np.array([i for i, _ in pairs], dtype=np.int64)
            numbers = np.array([value for _, value in pairs], dtype=np.float64)
            found[name].append(Pool(documents, numbers, cosines[documents], name))
    return found


def neighbour_pairs(texts: Float32Array) -> list[tuple[int, int]]:
    """Return the document pairs that the pipeline would judge."""
    ids = np.arange(len(texts), dtype=np.int64)
    return candidate_pairs(update_neighbours(ids, ids, texts, {}))


def relate(graph: Graph, pairs: Sequence[tuple[int, int]], judged: Float32Array) -> Graph:
    """Return the graph with the relations that are more likely than neutral.

    Parameters
    ----------
    graph
        Without relations.
    pairs
        Document pairs, heads before tails.
    judged
        Shape (len(pairs), 2): entailment and contradiction.
    """
    entailment, contradiction = judged[:, 0].astype(np.float64), judged[:, 1].astype(np.float64)
    weights = np.maximum(entailment, contradiction)
    kept = weights > 1.0 - entailment - contradiction
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)[kept]
    signs = np.where(contradiction > entailment, -1, 1)[kept]
    return protocol.with_relations(graph, ends[:, 0], ends[:, 1], signs, np.minimum(weights[kept], 1.0))


@dataclass(frozen=True)
class Row:
    """What one method did in one setting: per question that was asked, each metric.

    ``judged`` says which questions had a judged document of their own.
    """

    retriever: str
    setting: str
    feedback: float
    method: str
    questions: tuple[str, ...]
    judged: npt.NDArray[np.bool_]
    values: dict[str, protocol.FloatArray]


def run(
    corpus: Corpus,
    found: dict[str, list[Pool]],
    *,
    seed: int,
    relations: Callable[[Graph], Graph] | None = None,
    feedback: Sequence[float] = FEEDBACK,
) -> Iterator[Row]:
    """Yield the rows of one sample of questions: every setting, method and retriever.

    Parameters
    ----------
    corpus, found
        What is indexed, and the pools.
    seed
        Of sources and feedback.
    relations
        Adds relations to a graph without any; ``None`` leaves those settings out.
    feedback
        Shares of documents that are judged.
    """
    ids = tuple(asked.id for asked in corpus.asked)
    n = len(corpus.texts)
    for setting in settings(with_relations=relations is not None):
        graph = _graph(corpus, setting, seed)
        if setting.relations and relations is not None:
            graph = relations(graph)
        for share in feedback:
            anchors = protocol.judge(corpus.true, share, seed=seed)
            judged = protocol.has_judged(corpus, anchors)
            ranks: list[tuple[str, Callable[[Pool], protocol.IntArray]]] = [("plain", protocol.plain)]
            for method in methods():
                state = method.believe(graph, anchors)
                ranks.append((method.name, protocol.by_method(method, state.trust[:n])))
            for name, rank in ranks:
                for retriever, at in found.items():
                    values = protocol.evaluate(corpus, at, rank)
                    yield Row(retriever, setting.name, share, name, ids, judged, values)


def settings(*, with_relations: bool) -> list[Setting]:
    """Return the settings that a run goes through."""
    return [setting for setting in SETTINGS if with_relations or not setting.relations]


def n_rows(*, with_relations: bool, feedback: Sequence[float] = FEEDBACK) -> int:
    """Return how many rows one `run` yields."""
    n_settings = len(settings(with_relations=with_relations))
    return n_settings * len(feedback) * (1 + len(methods())) * len(RETRIEVERS)


def _graph(corpus: Corpus, setting: Setting, seed: int) -> Graph:
    if setting.wrong is None:
        return protocol.source_graph(len(corpus.texts), None)
    source_of = protocol.assign_sources(corpus.true, wrong=setting.wrong, seed=seed)
    return protocol.source_graph(len(corpus.texts), source_of)


def save(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows of one run to an ``.npz`` file, atomically."""
    heads = [[row.retriever, row.setting, str(row.feedback), row.method] for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part.npz")
    np.savez_compressed(
        part,
        heads=np.array(heads),
        questions=np.array(rows[0].questions),
        judged=np.stack([row.judged for row in rows]),
        values=np.stack([[row.values[metric] for metric in protocol.METRICS] for row in rows]),
    )
    part.replace(path)


def load(path: Path) -> list[Row]:
    """Read what `save` wrote."""
    with np.load(path) as stored:
        heads, judged, values = stored["heads"], stored["judged"], stored["values"]
        asked = tuple(stored["questions"].tolist())
    return [
        Row(
            str(at[0]),
            str(at[1]),
            float(at[2]),
            str(at[3]),
            asked,
            flags,
            dict(zip(protocol.METRICS, table, strict=True)),
        )
        for at, flags, table in zip(heads, judged, values, strict=True)
    ]
