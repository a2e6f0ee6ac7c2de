"""The corpus of one data set under one attack: what is indexed, who publishes it, and each question's pool.

Labels and gold answers serve to draw samples, to simulate sources and feedback, and to evaluate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from veridical.bench import cache
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.bench.metrics.answers import contains
from veridical.bench.protocol import Asked, Corpus, IntArray, Pool, assign_sources
from veridical.bench.protocols import Protocol, Publishing
from veridical.bench.systems.base import Retrieved
from veridical.corpus.fields import source_of as publisher
from veridical.index.dense import top_rows
from veridical.index.encoder import Float32Array


@dataclass(frozen=True, eq=False)
class Layout:
    """A corpus with the questions put to it.

    Attributes
    ----------
    dataset, attack, seed
        What it was made of.
    questions
        Those that are asked, with their gold answers and wrong answers.
    corpus
        What is indexed and asked.
    names
        Shape (n,): id of a passage that each document is.
    titles, sources, dates
        Shape (n,) each; empty texts and ``None`` where the run has none.
    source_of
        Shape (n,): numbers of the sources; ``None`` where they are unknown.
    notes
        What was filled in or left out.
    """

    dataset: str
    attack: str
    seed: int
    questions: tuple[Question, ...]
    corpus: Corpus
    names: tuple[str, ...]
    titles: tuple[str, ...]
    sources: tuple[str | None, ...]
    dates: tuple[str | None, ...]
    source_of: IntArray | None
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """What is encoded: titles and texts."""
        pairs = zip(self.titles, self.corpus.texts, strict=True)
        return tuple(f"{title}\n{text}" if title else text for title, text in pairs)

    def digest(self, *more: str) -> str:
        """A hash of all of it and of what else its figures depend on."""
        sources = [] if self.source_of is None else self.source_of.tolist()
        facts = repr((self.titles, self.dates, self.sources, sources, [q.answers for q in self.questions]))
        wrong = repr([(q.wrong_answer, q.choices) for q in self.questions])
        return cache.key(self.dataset, self.attack, self.corpus.digest, facts, wrong, *more)[:16]

    def retrieved(self, document: int, relevance: float) -> Retrieved:
        """One document as a system gets it, without trust and credibility."""
        return Retrieved(
            document,
            self.corpus.texts[document],
            self.titles[document],
            self.sources[document],
            self.dates[document],
            relevance,
        )


def order(n_questions: int, seed: int) -> IntArray:
    """In what order a seed draws the questions of a data set, whatever the attack."""
    return np.random.default_rng([seed, 1]).permutation(n_questions).astype(np.int64)


def lay_out(
    dataset: str,
    attack: str,
    clean: Sequence[Question],
    attacked: Sequence[Question],
    protocol: Protocol,
    *,
    seed: int,
    n_asked: int | None = None,
    keep_dates: bool = False,
) -> Layout:
    """Draw a sample, index it, and say who publishes what.

    Parameters
    ----------
    clean, attacked
        The questions of a data set without false passages, and with those that an attack gives them, in one
        order. Where an attack could do nothing to a question it is indexed and not asked.
    protocol
        How to sample, and where sources come from.
    seed
        Of every draw.
    n_asked
        At most so many are asked; the corpus is the same whatever this is.
    keep_dates
        Whether dates stay even if having one tells true passages from false ones.
    """
    n_indexed, n_attacked = protocol.sample.sizes(len(clean))
    drawn = order(len(clean), seed)[:n_indexed].tolist()
    put = [attacked[index] for index in drawn[:n_attacked]]
    indexed = [*put, *(clean[index] for index in drawn[n_attacked:])]
    number: dict[tuple[str, int], int] = {}
    passages: list[LabelledPassage] = []
    own = [_index(question, number, passages) for question in indexed]
    false_of_any = attack != "clean"
    asked = [
        (question, documents)
        for question, documents in zip(put, own[:n_attacked], strict=True)
        if documents[False] or not false_of_any
    ][:n_asked]
    texts = tuple(passage.text for passage in passages)
    true = np.array([passage.label == "factual" for passage in passages], dtype=np.bool_)
    corpus = Corpus(
        texts,
        true,
        tuple(_asked(question, documents, texts) for question, documents in asked),
        tuple(question.text for question in indexed[n_attacked:]),
    )
    rng = np.random.default_rng([seed, 6])
    titles, title_note = _titles(passages, own, rng)
    sources, source_of, source_note = _sources(passages, protocol.publishing, seed)
    dates, date_note = _dates(passages, keep=keep_dates)
    return Layout(
        dataset,
        attack,
        seed,
        tuple(question for question, _ in asked),
        corpus,
        tuple(passage.id for passage in passages),
        titles,
        sources,
        dates,
        source_of,
        tuple(note for note in (title_note, source_note, date_note) if note),
    )


def pools(layout: Layout, texts: Float32Array, questions: Float32Array, protocol: Protocol) -> list[Pool]:
    """Retrieve for each question.

    Parameters
    ----------
    texts, questions
        Shapes (n, d) and (n_asked, d): unit rows.
    """
    found = []
    for place, (asked, vector) in enumerate(zip(layout.corpus.asked, questions, strict=True)):
        cosines = (texts @ vector).astype(np.float64)
        if protocol.pool == "corpus":
            near = top_rows(cosines, protocol.n_pool).astype(np.int64)
        else:
            own = np.array(sorted(asked.own_true | asked.own_false), dtype=np.int64)
            near = own[np.argsort(-cosines[own], kind="stable")][: protocol.n_pool]
        if protocol.order == "shuffled":
            near = np.random.default_rng([layout.seed, 7, place]).permutation(near)
        found.append(Pool(near, cosines[near], cosines[near], "dense"))
    return found


def _index(
    question: Question, number: dict[tuple[str, int], int], passages: list[LabelledPassage]
) -> dict[bool, set[int]]:
    """Give each passage its document. A text that one question holds n times is n documents; a text that
    several questions share is one.
    """
    own: dict[bool, set[int]] = {True: set(), False: set()}
    seen: dict[str, int] = {}
    for passage in question.passages:
        copy = seen[passage.text] = seen.get(passage.text, -1) + 1
        document = number.setdefault((passage.text, copy), len(passages))
        if document == len(passages):
            passages.append(passage)
        own[passages[document].label == "factual"].add(document)
    return own


def _asked(question: Question, own: dict[bool, set[int]], texts: Sequence[str]) -> Asked:
    bearing = {document for document in own[True] if contains(texts[document], question.answers)}
    return Asked(question.id, question.text, frozenset(own[True]), frozenset(own[False]), frozenset(bearing))


def _titles(
    passages: Sequence[LabelledPassage], own: Sequence[dict[bool, set[int]]], rng: np.random.Generator
) -> tuple[tuple[str, ...], str]:
    """Titles where every true passage has one; a false one without takes one of its question's true ones."""
    titles = [passage.title for passage in passages]
    true = [passage.title for passage in passages if passage.label == "factual"]
    if not all(true) or not true:
        any_there = any(titles)
        note = "titles are left out: not every true passage has one" if any_there else ""
        return ("",) * len(titles), note
    n_filled = 0
    for documents in own:
        there = [titles[document] for document in sorted(documents[True])] or true
        for document in sorted(documents[False]):
            if not titles[document]:
                titles[document] = there[int(rng.integers(len(there)))]
                n_filled += 1
    note = f"{n_filled} false passages had no title and got a true one's of their question"
    return tuple(titles), note if n_filled else ""


def _sources(
    passages: Sequence[LabelledPassage], publishing: Publishing, seed: int
) -> tuple[tuple[str | None, ...], IntArray | None, str]:
    nobody = (None,) * len(passages)
    true = np.array([passage.label == "factual" for passage in passages], dtype=np.bool_)
    own = [publisher(passage.source) for passage in passages]
    known = [name for name, is_true in zip(own, true, strict=True) if is_true and name is not None]
    has_own = bool(known) and len(known) >= 0.9 * int(true.sum())
    if publishing.kind == "none" or (publishing.kind == "own" and not has_own):
        return nobody, None, ""
    if publishing.kind != "simulated" and has_own:
        rng = np.random.default_rng([seed, 8])
        n_filled = sum(name is None for name in own)
        filled = [name or known[int(rng.integers(len(known)))] for name in own]
        numbers: dict[str, int] = {}
        source_of = np.array([numbers.setdefault(name, len(numbers)) for name in filled], dtype=np.int64)
        note = f"{n_filled} passages had no source and got those of true passages at random"
        return tuple(filled), source_of, note if n_filled else ""
    source_of = assign_sources(
        true, wrong=publishing.wrong, n_true=publishing.n_true, n_false=publishing.n_false, seed=seed
    )
    names = tuple(f"source {number}" for number in source_of.tolist())
    return names, source_of, f"sources are simulated, {publishing.wrong:.0%} of the documents misfiled"


def _dates(passages: Sequence[LabelledPassage], *, keep: bool) -> tuple[tuple[str | None, ...], str]:
    """Dates, unless having one tells true from false and they are not to be kept all the same."""
    dates = tuple(passage.date for passage in passages)
    shares = []
    for label in (True, False):
        has = [passage.date is not None for passage in passages if (passage.label == "factual") is label]
        shares.append(sum(has) / len(has) if has else None)
    if not any(dates) or None in shares or abs((shares[0] or 0.0) - (shares[1] or 0.0)) <= 0.05:
        return dates, ""
    if keep:
        return dates, (
            f"{shares[0] or 0.0:.0%} of the true passages and {shares[1] or 0.0:.0%} of the false ones have "
            "dates; they are part of the attack"
        )
    return (None,) * len(dates), "dates are left out: having one would tell true passages from false ones"


def without_false(question: Question) -> Question:
    """Return a question with its true passages only."""
    return replace(question, passages=question.labelled("factual"))
