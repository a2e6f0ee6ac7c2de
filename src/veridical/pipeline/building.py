"""Building: vectors, indexes, neighbours, judgements, questions and trust, each redone only where it must.

Every stage commits in small steps, so that a build that is killed goes on where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from veridical.errors import InputError
from veridical.evidence.triples import Extractor
from veridical.graph import candidates, rare, voices
from veridical.graph.build import load_graph
from veridical.graph.entailment import judge_both_ways, sentence_texts
from veridical.graph.locality import near_together
from veridical.index import bm25, dense
from veridical.index.encoder import Float32Array, TextEncoder
from veridical.methods.base import Method
from veridical.nli.base import NLIModel
from veridical.pipeline import beliefs, extracting, learning, making
from veridical.pipeline.progress import Stages
from veridical.reading.base import Reader
from veridical.stores import Store, derived, documents, made, questions, schema, values
from veridical.stores.documents import index_text
from veridical.types import BuildReport, RelationKind

ENCODE_BATCH = 64
JUDGE_BATCH = 512
DEFAULT_MADE = 4
MAX_MADE = 100
# Seconds on two cores, measured on 120-word passages; a build replaces them by what it sees itself.
_SECONDS_PER_PASSAGE = 0.025
_SECONDS_PER_PAIR = 0.002
_SECONDS_PER_READ = 0.015
_SECONDS_PER_MADE = 0.012
_PAIRS_PER_PASSAGE = 7.0
_GRID = np.float32(2048)  # 11 bits: cosines are off by some 0.0002
_NO_SOURCES = (
    "No document has a source, so feedback on one says nothing of others from the same place. Ingest a "
    "folder per source ('veridical ingest handbook/ wiki/'), or give JSONL records a 'source' or a 'url'."
)

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Vectors:
    """Every passage: ids, ascending, documents and texts by number, of shape (p,), and unit rows (p, d)."""

    ids: IntArray
    owner: IntArray
    texts: IntArray
    rows: Float32Array


@dataclass(frozen=True)
class Parts:
    """What a build works with.

    ``n_made`` is how many questions a document puts to its neighbours; ``extractor`` finds the triples of all
    passages, where that is to be done ahead of questions.
    """

    encoder: TextEncoder
    nli: NLIModel
    reader: Reader
    method: Method
    n_made: int
    extractor: Extractor | None = None


def check_made(value: int | str) -> int:
    """Return how many questions a document puts to its neighbours, or raise InputError if it can be none."""
    try:
        n_made = int(value)
    except ValueError:
        n_made = -1
    if not 0 <= n_made <= MAX_MADE:
        raise InputError(
            f"A document cannot put {value} questions to its neighbours.",
            f"Give a number from 0 to {MAX_MADE}.",
        )
    return n_made


def made_in_force(store: Store, made: int | None, reader: str) -> int:
    """Return how many questions a document puts to its neighbours.

    As asked, else as set, else ``DEFAULT_MADE``; but none where each is a call of a language model.
    """
    with store.read() as connection:
        chosen = values.setting(connection, "made_questions") if made is None else made
    if chosen == "":
        return 0 if reader == "llm" else DEFAULT_MADE
    return check_made(chosen)


def run(store: Store, parts: Parts, stages: Stages) -> BuildReport:
    """Bring everything that is derived up to date."""
    encoder, nli, reader, method = parts.encoder, parts.nli, parts.reader, parts.method
    with stages.run("lexical index", bm25.n_behind(store), "passages") as progress:
        bm25.sync(store, on_progress=progress.advance)
    with stages.run("near-duplicates", voices.n_behind(store), "documents") as progress:
        voices.update(store, on_progress=progress.advance)
    n_embedded = _embed(store, encoder, stages)
    with stages.run("dense index"):
        _refresh_dense(store, encoder, changed=n_embedded > 0)
    with stages.run("neighbours"):
        vectors = _vectors(store, encoder)
        pairs = _neighbours(store, vectors)
    n_judged = _judge(store, encoder, nli, pairs, stages)
    learned = learning.update(store, encoder, reader, vectors.ids, vectors.rows, stages)
    owner = dict(zip(vectors.ids.tolist(), vectors.owner.tolist(), strict=True))
    asked = making.update(store, reader, owner, pairs, parts.n_made, stages)
    with stages.run("trust"), store.write() as connection:
        # Judgements of an earlier model stand until those of this one are complete.
        outdated = derived.judged_pairs(connection, nli.name) - set(pairs)
        derived.forget_judgements(connection, nli.name, outdated)
        loaded = load_graph(connection)
        beliefs.update_all(connection, method)
        values.set_state(connection, "built", "yes")
        values.set_state(connection, "nli_shares", json.dumps(getattr(nli, "shares", None)))
        counts = documents.count(connection)
        n_question_pairs = questions.n_pairs(connection)
    extracted = _extract(store, parts, stages)
    graph = loaded.graph
    _remember_rates(
        store,
        [
            ("rate:embed", n_embedded, stages.seconds["embedding"]),
            ("rate:pair", n_judged, stages.seconds["relations"]),
            ("rate:read", learned.n_read, stages.seconds["questions"]),
            ("rate:made", asked.n_read, stages.seconds["made questions"]),
        ],
    )
    return BuildReport(
        n_documents=graph.n_documents,
        n_passages=counts["passages"],
        n_embedded=n_embedded,
        n_pairs=len(pairs),
        n_pairs_judged=n_judged,
        n_supports=loaded.n_relations[RelationKind.SUPPORTS],
        n_contradicts=loaded.n_relations[RelationKind.CONTRADICTS],
        n_supersedes=loaded.n_relations[RelationKind.SUPERSEDES],
        n_sources=graph.n_sources,
        method=method.name,
        n_questions=learned.n_questions,
        n_made=asked.n_questions,
        n_read=learned.n_read + asked.n_read,
        n_question_pairs=n_question_pairs,
        n_extracted=extracted.n_seen,
        n_triples=extracted.n_triples,
        n_not_extracted=extracted.n_failed,
        seconds=dict(stages.seconds),
        notes=(*((_NO_SOURCES,) if graph.n_documents and not graph.n_sources else ()), *extracted.notes),
    )


def _extract(store: Store, parts: Parts, stages: Stages) -> extracting.Extracted:
    """Find triples, last of all: where a language model's budget ends, everything else is done."""
    if parts.extractor is None:
        return extracting.Extracted()
    return extracting.update(store, parts.extractor, parts.encoder, stages)


def estimate(store: Store, parts: Parts, *, n_more_questions: int = 0) -> BuildReport:
    """Say what a build would do and about how long it would take, without doing it."""
    encoder, nli, reader, method = parts.encoder, parts.nli, parts.reader, parts.method
    with store.read() as connection:
        counts = documents.count(connection)
        n_embed = len(derived.without_vectors(connection, encoder.name))
        known = derived.judged_pairs(connection, nli.name)
        pairs = {*candidates.candidate_pairs(derived.neighbours(connection)), *known}
        embed_rate = float(values.state(connection, "rate:embed", str(_SECONDS_PER_PASSAGE)))
        pair_rate = float(values.state(connection, "rate:pair", str(_SECONDS_PER_PAIR)))
        read_rate = float(values.state(connection, "rate:read", str(_SECONDS_PER_READ)))
        made_rate = float(values.state(connection, "rate:made", str(_SECONDS_PER_MADE)))
        n_made = parts.n_made * made.n_unmade(connection)
        n_extract = extracting.n_behind(connection, parts.extractor)
        extract_rate = extracting.rate(connection)
        n_questions, n_read = learning.behind(connection, reader.name, counts["passages"], n_more_questions)
    n_pairs = sum(pair not in known for pair in pairs) + round(n_embed * _PAIRS_PER_PASSAGE)
    return BuildReport(
        n_documents=counts["documents"],
        n_passages=counts["passages"],
        n_embedded=n_embed,
        n_pairs=len(pairs) + round(n_embed * _PAIRS_PER_PASSAGE),
        n_pairs_judged=n_pairs,
        n_supports=0,
        n_contradicts=0,
        n_supersedes=0,
        n_sources=counts["sources"],
        method=method.name,
        n_questions=n_questions,
        n_made=n_made,
        n_read=n_read + n_made,
        n_extracted=n_extract,
        seconds={
            "embedding": n_embed * embed_rate,
            "relations": n_pairs * pair_rate,
            "questions": n_read * read_rate,
            "made questions": n_made * made_rate,
            **({} if parts.extractor is None else {"triples": n_extract * extract_rate}),
        },
        estimate_only=True,
        notes=_calls(parts, n_read + n_made, n_pairs, n_extract),
    )


def _calls(parts: Parts, n_read: int, n_pairs: int, n_extract: int) -> tuple[str, ...]:
    """Say what is sent to a language model."""
    called = [(n_read, "readings", parts.reader.name), (n_pairs, "judgements", parts.nli.name)]
    if parts.extractor is not None:
        called.append((n_extract, "extractions of triples", parts.extractor.name))
    notes = [f"Up to {n} {what} are calls of a language model." for n, what, name in called if _is_llm(name)]
    return tuple(notes) or ("No language model is called and nothing leaves this machine.",)


def _is_llm(name: str) -> bool:
    return name.startswith("llm")


def _embed(store: Store, encoder: TextEncoder, stages: Stages) -> int:
    dimensions = encoder.encode([]).shape[1]
    with store.write() as connection:
        derived.use_encoder(connection, encoder.name)
        damaged = derived.damaged_vectors(connection, dimensions)
        derived.drop_vectors(connection, damaged)
        missing = derived.without_vectors(connection, encoder.name)
    with stages.run("embedding", len(missing), "passages") as progress:
        for part in documents.chunks(missing, ENCODE_BATCH):
            with store.read() as connection:
                texts = extracting.titled(connection, part)
            own = [index_text(title, text) for title, text in texts.values()]
            inner = [sentence_texts(text) for _, text in texts.values()]
            flat = [*own, *(sentence for sentences in inner for sentence in sentences)]
            vectors = encoder.encode(flat)
            split = np.cumsum([len(own), *(len(sentences) for sentences in inner)])[:-1]
            first, *rest = np.split(vectors, split) if len(own) else [vectors]
            with store.write() as connection:
                derived.put_vectors(connection, encoder.name, list(texts), first, rest)
            progress.advance(len(part))
    return len(missing)


def drop_gone_vectors(store: Store) -> None:
    """Write the dense index anew without passages that are gone, if it holds any."""
    stamp = dense.stamp_in_force(store)
    ids = dense.ids_of(store, stamp)
    if ids is None:
        return  # there is none, or the next build makes it again
    with store.read() as connection:
        live = connection.execute(sa.select(schema.passages.c.id)).scalars().all()
    if not np.isin(ids, np.array(live, dtype=np.int64)).all():
        dense.rebuild(store, stamp.removeprefix("dense-").rpartition("-")[0])


def _refresh_dense(store: Store, encoder: TextEncoder, *, changed: bool) -> None:
    stamp = dense.stamp_in_force(store)
    held = dense.ids_of(store, stamp) if stamp else None
    with store.read() as connection:
        ids, _ = derived.all_vectors(connection, encoder.name)
    stale = changed or held is None or not np.array_equal(held, ids) or dense.is_damaged(store, stamp)
    if stale or dense.encoder_of(stamp) != encoder.name:
        dense.rebuild(store, encoder.name)


def _vectors(store: Store, encoder: TextEncoder) -> Vectors:
    with store.read() as connection:
        ids, rows = derived.all_vectors(connection, encoder.name)
        table = schema.passages
        found = connection.execute(sa.select(table.c.id, table.c.document_id, table.c.text_hash)).all()
    numbers: dict[str, int] = {}
    known = {row.id: (row.document_id, numbers.setdefault(row.text_hash, len(numbers))) for row in found}
    of = np.array([known.get(int(i), (-1, -1)) for i in ids], dtype=np.int64).reshape(-1, 2)
    live = of[:, 0] >= 0
    return Vectors(ids[live], of[live, 0], of[live, 1], rows[live])


def _neighbours(store: Store, vectors: Vectors) -> list[tuple[int, int]]:
    with store.read() as connection:
        known = derived.neighbours(connection)
    rare.refresh(store)
    # On this grid sums of products are exact in single precision: a cosine is the same in whatever block it
    # is computed, ties are ties, and lists do not depend on what was there when they were made.
    rows = np.asarray(np.round(vectors.rows * _GRID) / _GRID, dtype=np.float32)
    changed = candidates.update_neighbours(vectors.ids, vectors.owner, rows, known, text_of=vectors.texts)
    with store.write() as connection:
        derived.put_neighbours(connection, changed)
    near = candidates.candidate_pairs(candidates.merged(known, changed, vectors.ids.tolist()))
    return sorted({*near, *rare.stored_pairs(store, vectors.ids, vectors.owner, vectors.texts)})


def _judge(
    store: Store, encoder: TextEncoder, nli: NLIModel, pairs: list[tuple[int, int]], stages: Stages
) -> int:
    with store.read() as connection:
        known = derived.judged_pairs(connection, nli.name)
    todo = near_together([pair for pair in pairs if pair not in known])
    with stages.run("relations", len(todo), "pairs") as progress:
        for part in documents.chunks(todo, JUDGE_BATCH):
            with store.read() as connection:
                found = documents.passages_by_ids(connection, sorted({i for pair in part for i in pair}))
                vectors = derived.sentence_vectors(connection, encoder.name, sorted(found))
            live = [pair for pair in part if pair[0] in found and pair[1] in found]
            texts = {i: passage.text for i, passage in found.items()}
            results = judge_both_ways(nli, live, texts, vectors)
            with store.write() as connection:
                derived.put_judgements(connection, nli.name, results)
            progress.advance(len(part))
    return len(todo)


def _remember_rates(store: Store, rates: Sequence[tuple[str, int, float]]) -> None:
    """Keep the seconds that one of each took, where enough were done to tell."""
    with store.write() as connection:
        for key, n, seconds in rates:
            if n >= 100:
                values.set_state(connection, key, f"{seconds / n:.6f}")
