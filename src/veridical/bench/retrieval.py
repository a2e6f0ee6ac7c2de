"""One run of the retrieval benchmark: pools of three retrievers, relations, and every setting and method."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.bench import protocol
from veridical.bench.baselines import NoPropagation
from veridical.bench.protocol import Corpus, Pool
from veridical.bench.relating import relate
from veridical.corpus.dedupe import near_duplicates
from veridical.graph.arrays import Graph
from veridical.graph.evidence import Rows
from veridical.index.bm25 import LexicalIndex
from veridical.index.dense import top_rows
from veridical.index.hybrid import fuse
from veridical.methods.base import Method
from veridical.methods.trustprop import TrustProp
from veridical.methods.veridical import Veridical

Float32Array = npt.NDArray[np.float32]

FEEDBACK = (0.0, 0.05, 0.1, 0.3)
RETRIEVERS = ("dense", "bm25", "hybrid")


_ASKED = ("asked", "asked and inferred", "others asked")


@dataclass(frozen=True)
class Setting:
    """What a method has to go by: sources with a share of documents misfiled (``None``: none), relations.

    ``relations`` names the evidence that documents are related by, empty for none.
    """

    name: str
    wrong: float | None
    relations: str = ""


SETTINGS = (
    Setting("pure", 0.0),
    Setting("10% wrong", 0.1),
    Setting("20% wrong", 0.2),
    Setting("none", None),
    Setting("none, relations", None, "inferred"),
    Setting("10% wrong, relations", 0.1, "inferred"),
    Setting("none, asked", None, "asked"),
    Setting("none, asked + relations", None, "asked and inferred"),
    Setting("10% wrong, asked", 0.1, "asked"),
    Setting("none, others asked", None, "others asked"),
    Setting("none, made questions", None, "made"),
    Setting("none, labels", None, "labels"),
)
"""``inferred``: between neighbours; ``asked``: from the questions that are scored, each asked once before;
``others asked``: from as many that are not; ``made``: by inference, and from questions that documents put to
one another, so without anybody's; ``labels``: an upper bound for ``asked``."""

WITHOUT_CLASH = "without clash"
"""Row of an ablation: the default method where it does not know which side of a clash answers more outright
(`veridical.trust.clashes`), in the settings whose relations come from questions that people asked."""
PERFECT = "perfect trust"
"""Row of an upper bound: the default method's ranking where trust is .99 or .01 as the label says."""


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
    relations: Mapping[str, Rows] | None = None,
    sources: bool = True,
    feedback: Sequence[float] = FEEDBACK,
    poison: str = "",
) -> Iterator[Row]:
    """Yield the rows of one sample of questions: every setting, method and retriever.

    Parameters
    ----------
    corpus, found
        What is indexed, and the pools.
    seed
        Of sources and feedback.
    relations
        Evidence by the names that `SETTINGS` has for it; a setting that needs what is not there is left out.
    sources
        Whether to go through the settings that have sources.
    feedback
        Shares of documents that are judged.
    poison
        Names a corpus of another kind in the settings' names.
    """
    known = {} if relations is None else relations
    voices = np.array(near_duplicates(corpus.texts), dtype=np.int64)
    for setting in settings(known, sources=sources):
        graph = replace(_graph(corpus, setting, seed), voice_group=voices)
        if setting.relations:
            graph = relate(graph, known[setting.relations])
        named = replace(setting, name=f"{poison}: {setting.name}" if poison else setting.name)
        for share in feedback:
            yield from _rows(corpus, found, graph, named, share, seed)


def _rows(
    corpus: Corpus, found: dict[str, list[Pool]], graph: Graph, setting: Setting, share: float, seed: int
) -> Iterator[Row]:
    n = len(corpus.texts)
    anchors = protocol.judge(corpus.true, share, seed=seed)
    judged = protocol.has_judged(corpus, anchors)
    ranks: list[tuple[str, Callable[[Pool], protocol.IntArray]]] = [("plain", protocol.plain)]
    for method in methods():
        state = method.believe(graph, anchors)
        ranks.append((method.name, protocol.by_method(method, state.trust[:n])))
    if setting.relations in _ASKED:
        even = Veridical().believe(replace(graph, margins=np.empty(0)), anchors)
        ranks.append((WITHOUT_CLASH, protocol.by_method(Veridical(), even.trust[:n])))
    if setting.wrong is None and not setting.relations:
        ranks.append((PERFECT, protocol.by_method(Veridical(), np.where(corpus.true, 0.99, 0.01))))
    ids = tuple(asked.id for asked in corpus.asked)
    for name, rank in ranks:
        for retriever, at in found.items():
            values = protocol.evaluate(corpus, at, rank)
            yield Row(retriever, setting.name, share, name, ids, judged, values)


def settings(relations: Iterable[str] = (), *, sources: bool = True) -> list[Setting]:
    """Return the settings that a run goes through, given the names of the relations that it has."""
    known = {"", *relations}
    return [at for at in SETTINGS if at.relations in known and (sources or at.wrong is None)]


def n_rows(
    relations: Iterable[str] = (), *, sources: bool = True, feedback: Sequence[float] = FEEDBACK
) -> int:
    """Return how many rows one `run` yields."""
    chosen = settings(relations, sources=sources)
    n_more = sum(at.relations in _ASKED or (at.wrong is None and not at.relations) for at in chosen)
    return (len(chosen) * (1 + len(methods())) + n_more) * len(feedback) * len(RETRIEVERS)


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
