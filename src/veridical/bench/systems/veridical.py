"""The package's own default: an evidence board under propagated trust; and what each part is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from veridical.answer.board_context import build_board_context, leading
from veridical.answer.chains_answer import read_answer
from veridical.answer.context import build_context, escape
from veridical.bench.systems.answering import MAX_TOKENS, Said, closed, from_passages, say
from veridical.bench.systems.base import TOP_K, About, Need, Reply, Retrieved, Task, Tools, best_first
from veridical.bench.systems.hits import as_hits, candidates
from veridical.errors import InputError
from veridical.graph.build import Side, relation_of
from veridical.graph.evidence import of_question
from veridical.graph.from_questions import MIN_SIMILARITY, POOL_SIZE, pairs_of
from veridical.index.encoder import Float32Array
from veridical.llm.usage import measure
from veridical.methods import veridical as product
from veridical.pipeline.boarding import N_READ, Boarded, read_board
from veridical.pipeline.ranking import Ranked
from veridical.reading.base import Reader, Reading
from veridical.stores.documents import index_text
from veridical.types import Hit, Relation, RelationKind

_NEEDS: frozenset[Need] = frozenset({"reader", "trust"})


class Veridical:
    """Rank by expected usefulness, read passages one by one, weigh their answers by trust: the product.

    Trust is propagated beforehand by the method ``veridical``. The nearest passages and those ranked first
    are read, and an evidence board weighs what they answer; a dated passage that a later one contradicts
    counts as far as the later one is not to be believed. Without a language model the leading candidate is
    the answer, whether or not the product would give it unasked, which ``detail`` tells. With one the model
    answers from the board (one call), as in the product but for the form: a few words and no citations, as
    of all systems here. Where no passage answers anything, it answers from the passages themselves.

    Parameters
    ----------
    tools
        With a reader; vectors, by which paraphrases are told, where there is an encoder.
    top_k
        Passages ranked first.
    n_read
        Nearest passages that are read besides.
    """

    name = "veridical"
    about = About("veridical", calls="1, or 0 without a language model", needs=_NEEDS, belief="veridical")
    trusts = True
    boards = True
    knows_sources = True
    dates_answers = True
    """Whether what passages answer to the question relates them."""

    def __init__(self, tools: Tools, *, top_k: int = TOP_K, n_read: int = N_READ) -> None:
        self.tools, self.top_k, self.n_read = tools, top_k, n_read

    def answer(self, task: Task) -> Reply:
        """Answer from an evidence board; see `System.answer`."""
        if self.tools.reader is None:
            raise InputError(f"System {self.name} has no reader.", "Give it one.")
        with measure() as spent:
            pool = [self._known(own) for own in task.pool]
            reader = _Reads(self.tools.reader)
            relations = self._relations(task.question, pool, reader) if self.dates_answers else []
            utility = product.Veridical().rank(candidates(pool, _superseded(relations, len(pool))))
            order = best_first(utility.tolist())
            hits = as_hits(pool, utility.tolist())
            ranked = Ranked([hits[i] for i in order[: self.top_k]], [], 0, hits, relations)
            reply = (
                self._by_board(task.question, ranked, reader)
                if self.boards and self.tools.answers
                else self._by_passages(task.question, ranked, pool)
            )
        return replace(reply, ranking=order, usage=spent.total)

    def _known(self, passage: Retrieved) -> Retrieved:
        return replace(
            passage,
            trust=passage.trust if self.trusts else None,
            source=passage.source if self.knows_sources else None,
        )

    def _by_board(self, question: str, ranked: Ranked, reader: Reader) -> Reply:
        boarded = read_board(
            question, ranked, reader, dense=True, vectors=self._vectors(ranked.pool), n_read=self.n_read
        )
        best = boarded.board.best
        detail = {"status": boarded.board.status}
        if self.tools.llm is not None:
            said = self._said(question, ranked, boarded)
            return Reply(said.text, (), detail=detail)
        if best is None:
            return Reply("", (), detail=detail)
        return Reply(best.text, (), best.probability, detail=detail)

    def _said(self, question: str, ranked: Ranked, boarded: Boarded) -> Said:
        """Have the language model answer from the board, or from the passages where nothing is on it."""
        if not boarded.candidates:
            return self._from_labelled(question, ranked.hits)
        witnesses = (w for candidate in leading(boarded.candidates) for w in candidate.witnesses)
        context = build_board_context(boarded.candidates, boarded.with_witnesses(ranked.hits, witnesses))
        return self._asked(question, "bench_board", "board", context.text)

    def _by_passages(self, question: str, ranked: Ranked, pool: Sequence[Retrieved]) -> Reply:
        """Answer without a board: from the passages ranked first, which a model sees with their trust."""
        if self.tools.llm is None:
            shown = [pool[hit.relevance_rank - 1] for hit in ranked.hits]
            said = from_passages(self.tools, question, shown)
            return Reply(said.text, (), said.probability)
        return Reply(self._from_labelled(question, ranked.hits).text, ())

    def _from_labelled(self, question: str, hits: Sequence[Hit]) -> Said:
        if not hits:
            return closed(self.tools, question)
        return self._asked(question, "bench_trusted", "documents", build_context(hits).text)

    def _asked(self, question: str, prompt: str, field: str, evidence: str) -> Said:
        asked = {"question": escape(question).strip(), field: evidence}
        said = say(self.tools, prompt, stage="answer", max_tokens=MAX_TOKENS, **asked)
        return Said(read_answer(said.text), usage=said.usage)

    def _vectors(self, hits: Sequence[Hit]) -> _Vectors:
        return _Vectors(self.tools, {hit.passage.id: hit for hit in hits})

    def _relations(self, question: str, pool: Sequence[Retrieved], reader: Reader) -> list[Relation]:
        """Relate dated passages by what they answer to the question, as a build does; the surest first."""
        near = islice(enumerate(pool, 1), POOL_SIZE)
        chosen = {place: own for place, own in near if own.relevance >= MIN_SIMILARITY}
        if sum(own.date is not None for own in chosen.values()) < 2:
            return []  # of passages without dates none replaces another
        texts = {place: own.text for place, own in chosen.items()}
        readings = dict(zip(texts, reader.read(question, list(texts.values())), strict=True))
        documents = {place: own.document for place, own in chosen.items()}
        found = pairs_of(0, question, readings, documents, reader=reader.name, texts=texts)
        items = [item for item in map(of_question, found) if item is not None and item.is_sure]
        sides = {place: Side(own.document, own.text, 0, own.date) for place, own in chosen.items()}
        return [relation_of(item, sides) for item in sorted(items, key=lambda item: item.rank)]


class _Vectors:
    """Unit vectors of passages by id; ``None`` without an encoder."""

    def __init__(self, tools: Tools, hits: Mapping[int, Hit]) -> None:
        self._encode, self._hits = tools.encode, hits

    def __call__(self, ids: Sequence[int]) -> Float32Array | None:
        if self._encode is None or not ids:
            return None
        hits = [self._hits[i] for i in ids]
        return self._encode([index_text(hit.document.title, hit.passage.text) for hit in hits])


class _Reads:
    """A reader that reads each passage once for the question at hand."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._known: dict[tuple[str, str], Reading] = {}

    @property
    def name(self) -> str:
        return self._reader.name

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
        if new:
            self._known.update(zip(new, self._reader.read_pairs(new), strict=True))
        return [self._known[pair] for pair in pairs]


def _superseded(relations: Sequence[Relation], n: int) -> list[int] | None:
    """Place of each passage's successor in the pool, -1 where it has none; passage ids are places from 1."""
    successor = [-1] * n
    for relation in relations:
        if relation.kind is RelationKind.SUPERSEDES and relation.head_passage and relation.tail_passage:
            earlier = relation.tail_passage - 1
            if successor[earlier] < 0:
                successor[earlier] = relation.head_passage - 1
    return successor if relations else None


def _ablation(title: str, differs: str, belief: str | None = "veridical") -> About:
    return About(
        f"veridical, {title}",
        differs=differs,
        calls=Veridical.about.calls,
        needs=_NEEDS if belief else _NEEDS - {"trust"},
        belief=belief,
        ablation_of="veridical",
    )


class NoTrust(Veridical):
    """`Veridical` as if nothing were known of documents: the board weighs by reading and relevance alone."""

    name = "veridical_no_trust"
    about = _ablation("no trust", "no feedback and no trust", belief=None)
    trusts = False


class NoBoard(Veridical):
    """`Veridical` without its board: answers come from the k passages ranked first.

    A reader takes the likeliest span of all; a language model sees the passages with their trust (one call).
    """

    name = "veridical_no_board"
    about = _ablation("no board", "answers come from the passages ranked first, not from a board")
    boards = False


class NoQuestions(Veridical):
    """`Veridical` without relations from questions, in trust and between the passages at hand."""

    name = "veridical_no_questions"
    about = _ablation(
        "no relations from questions",
        "what documents answer to questions relates none of them",
        "veridical, no questions",
    )
    dates_answers = False


class NoSources(Veridical):
    """`Veridical` without sources: they carry no trust, and many passages of one are many voices."""

    name = "veridical_no_sources"
    about = _ablation("no sources", "nobody knows who publishes what", "veridical, no sources")
    knows_sources = False
