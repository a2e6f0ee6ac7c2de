"""Method ``reliable`` without a language model on one library of questions, in every setting."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from veridical.answer.chain_context import ChainContext, ContextLine, source_context, triple_context
from veridical.answer.chains_answer import answer_by_reader
from veridical.answer.context import trust_label
from veridical.bench.chain_cases import Case, Claims, Encode, Library, believed
from veridical.bench.chain_marks import (
    ANSWER_MARKS,
    CHAIN_MARKS,
    Marks,
    answer_marks,
    chain_marks,
    plain_marks,
)
from veridical.bench.multihop import Attack
from veridical.bench.protocol import FloatArray
from veridical.evidence.board import PassageRead, build_board
from veridical.evidence.chains import ChainSettings, search
from veridical.evidence.credibility import combine, doubted
from veridical.evidence.reliability import reliability
from veridical.evidence.rescore import relevance_model
from veridical.evidence.selectors import Selector
from veridical.graph.arrays import Graph
from veridical.reading.base import NOTHING, Reading
from veridical.types import Trace

TOP_K = 5
SHARE = 0.3
"""Share of the documents that are judged."""
DOUBTED = "trust "
"""How the name of a credibility begins of which chains take the doubt."""
IDEAL = (1.0, 0.1)
"""Credibility of what is true and of what is false, to an oracle (ReliableRAG's ideal setting)."""
MARKS = (*ANSWER_MARKS, *CHAIN_MARKS)
CONTEXTS = ("top 5", "top 5 as one", "reliable 5", "TBS", "SBS", "SBS as one")
"""Nearest passages; most reliable ones, without chains; triples of the chains; passages behind the chains.

Triples are read as one text, and passages one by one, as the product does, unless they are said to be read as
one, too."""

Readings = Callable[[Sequence[tuple[str, str]]], list[Reading]]
Tick = Callable[[], object]


@dataclass(frozen=True)
class Setting:
    """Which poison there is, where credibility is from, and what is answered from."""

    attack: str
    credibility: str
    context: str

    @property
    def name(self) -> str:
        """The text under which it stands in the results."""
        return f"{self.attack} | {self.context} | {self.credibility}"


@dataclass(frozen=True, eq=False)
class Row:
    """The marks of all questions in one setting, each array of shape (n_questions,).

    ``scored`` says which questions have the poison that the setting is about.
    """

    setting: Setting
    questions: tuple[str, ...]
    scored: tuple[bool, ...]
    marks: Mapping[str, FloatArray]


@dataclass(frozen=True)
class Means:
    """What a run needs of the product, each as it ships."""

    encode: Encode
    selector: Selector
    extractor: str
    readings: Readings
    search: ChainSettings = field(default_factory=ChainSettings)


def credibilities(found: Library, graph: Graph, seeds: Sequence[int]) -> dict[str, list[FloatArray]]:
    """Return the credibility of each document by where it is from, one array a seed.

    ``none``: not known (NaN). ``ideal``: by label. ``trust 30%``: propagated from that share of feedback, of
    which chains take the doubt, as the product does. ``trust 30% as it is``: the same without that.
    """
    true = found.corpus.true
    propagated = [believed(graph, true, SHARE, seed=seed) for seed in seeds]
    return {
        "none": [np.full(len(true), np.nan)],
        "ideal": [np.where(true, *IDEAL)],
        f"{DOUBTED}{SHARE:.0%}": propagated,
        f"{DOUBTED}{SHARE:.0%} as it is": propagated,
    }


def run(
    found: Library,
    stated: Sequence[Claims],
    attack: Attack,
    known: Mapping[str, Sequence[FloatArray]],
    means: Means,
    *,
    tick: Tick | None = None,
) -> list[Row]:
    """Answer every question in every setting.

    Parameters
    ----------
    stated
        The triples of each case.
    known
        As `credibilities` gives them.
    tick
        Called once a search.

    Returns
    -------
    list of Row
        A credibility of which there are several has several rows, in order.
    """
    run = _Run(found, stated, attack, means, tick or (lambda: None))
    rows = []
    for name, values in known.items():
        for credibility in values:
            rows += run.rows(name, credibility)
    return rows


class _Run:
    """One library under one attack."""

    def __init__(
        self, found: Library, stated: Sequence[Claims], attack: Attack, means: Means, tick: Tick
    ) -> None:
        self.found, self.stated, self.attack, self.means, self.tick = found, stated, attack, means, tick
        pairs = [(case.question.text, own.text) for case in found.cases for own in case.passages]
        readings = iter(means.readings(pairs))
        self.readings = [[next(readings) for _ in case.passages] for case in found.cases]
        self.relevance = [_relevance(case) for case in found.cases]

    def rows(self, name: str, credibility: FloatArray) -> list[Row]:
        by_context: dict[str, list[Marks]] = {context: [] for context in CONTEXTS}
        as_one: dict[str, list[ChainContext]] = {"top 5 as one": [], "TBS": [], "SBS as one": []}
        for place, case in enumerate(self.found.cases):
            own = credibility[case.documents]
            nearest = list(range(1, len(case.passages) + 1))[:TOP_K]
            eta = doubted(own) if name.startswith(DOUBTED) and not name.endswith("as it is") else own
            mixed = reliability(case.cosines, eta)
            best = (np.argsort(-mixed, kind="stable")[:TOP_K] + 1).tolist()
            trace = self._trace(place, eta)
            sources = source_context(trace, case.titled())
            behind = [line.passage.id for line in sources.lines if line.passage is not None]
            chains = chain_marks(case, self.stated[place].triples, trace)
            by_context["top 5"].append(self._by_board(place, nearest, np.full(len(own), np.nan)))
            by_context["top 5 as one"].append(plain_marks(case, nearest))
            by_context["reliable 5"].append(self._by_board(place, best, own))
            by_context["TBS"].append(chains)
            by_context["SBS"].append({**self._by_board(place, behind, own), **chains})
            by_context["SBS as one"].append(chains)
            as_one["top 5 as one"].append(passage_context(case, nearest))
            as_one["TBS"].append(triple_context(trace))
            as_one["SBS as one"].append(sources)
            self.tick()
        for context, read in as_one.items():
            answers = self._read_as_one(read)
            by_context[context] = [
                {**marks, **answer} for marks, answer in zip(by_context[context], answers, strict=True)
            ]
        scored = tuple(self.attack == "clean" or bool(case.false.any()) for case in self.found.cases)
        ids = tuple(case.question.id for case in self.found.cases)
        return [
            Row(Setting(self.attack, name, context), ids, scored, _columns(marks))
            for context, marks in by_context.items()
            if name == "none" or context not in {"top 5", "top 5 as one"}
        ]

    def _trace(self, place: int, own: FloatArray) -> Trace:
        case, claims = self.found.cases[place], self.stated[place]
        trust = np.array([own[triple.passage_id - 1] for triple in claims.triples], dtype=np.float64)
        values, _ = combine("llm", trust, np.full(len(trust), np.nan))
        return search(
            case.question.text,
            claims.with_credibility(values),
            claims.vectors,
            self.means.encode,
            self.means.selector,
            self.means.search,
            extractor=self.means.extractor,
            credibility="trust",
            context="tbs",
        )

    def _by_board(self, place: int, places: Sequence[int], trust: FloatArray) -> Marks:
        """Answer from some passages, each read on its own, as the product does; places count from 1."""
        case = self.found.cases[place]
        titled = case.titled()
        reads = [
            PassageRead(
                titled[at][1],
                None,
                self.readings[place][at - 1],
                float(self.relevance[place][at - 1]),
                float(trust[at - 1]),
                trust_label(float(trust[at - 1])),
            )
            for at in places
        ]
        rows = [case.documents[at - 1] for at in places]
        board = build_board(case.question.text, reads, vectors=self.found.vectors[rows])
        text = board.candidates[0].text if board.candidates else ""
        answered = answer_marks(case, text, given=board.status == "answered")
        return {**plain_marks(case, places), **answered}

    def _read_as_one(self, contexts: Sequence[ChainContext]) -> list[Marks]:
        """Answer from the lines of each case's context, read as one text."""
        asked = _Recorder()
        pairs = list(zip(self.found.cases, contexts, strict=True))
        for case, context in pairs:
            _answer(case, context, asked)
        known = dict(zip(asked.pairs, self.means.readings(asked.pairs), strict=True))
        reader = _Known(known)
        return [_answer(case, context, reader) for case, context in pairs]


def passage_context(case: Case, places: Sequence[int]) -> ChainContext:
    """Write passages down as those behind chains are, in this order; places count from 1."""
    titled = case.titled()
    lines = [
        ContextLine(number, ", ".join(filter(None, (titled[at][0], titled[at][1].text))), (), titled[at][1])
        for number, at in enumerate(places, 1)
    ]
    return ChainContext("sbs", tuple(lines))


def _answer(case: Case, context: ChainContext, reader: _Known) -> Marks:
    if not context.lines:
        return answer_marks(case, "", given=False)
    text = answer_by_reader(case.question.text, context, reader, insist=True).text
    given = answer_by_reader(case.question.text, context, reader).text
    return answer_marks(case, text, given=bool(given))


class _Known:
    """A reader that has read everything before."""

    name = "known"

    def __init__(self, readings: Mapping[tuple[str, str], Reading]) -> None:
        self._readings = readings

    def read(self, question: str, passages: Sequence[str]) -> list[Reading]:
        return self.read_pairs([(question, passage) for passage in passages])

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        return [self._readings[pair] for pair in pairs]


class _Recorder(_Known):
    """Notes what is to be read, so that all of it can be read at once."""

    def __init__(self) -> None:
        super().__init__({})
        self.pairs: list[tuple[str, str]] = []

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[Reading]:
        self.pairs += pairs
        return [NOTHING] * len(pairs)


def _relevance(case: Case) -> FloatArray:
    logs = relevance_model().log_probability(case.cosines, case.cosines, dense=True)
    result: FloatArray = np.exp(logs)
    return result


def _columns(marks: Sequence[Marks]) -> dict[str, FloatArray]:
    return {name: np.array([own.get(name, math.nan) for own in marks], dtype=np.float64) for name in MARKS}


def save(path: Path, rows: Sequence[Row]) -> None:
    """Write rows, atomically."""
    lines = [
        {
            "setting": [row.setting.attack, row.setting.credibility, row.setting.context],
            "questions": row.questions,
            "scored": row.scored,
            "marks": {name: values.tolist() for name, values in row.marks.items()},
        }
        for row in rows
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(lines), encoding="utf-8")
    part.replace(path)


def load(path: Path) -> list[Row]:
    """Read what `save` wrote."""
    return [
        Row(
            Setting(*line["setting"]),
            tuple(line["questions"]),
            tuple(line["scored"]),
            {name: np.array(values, dtype=np.float64) for name, values in line["marks"].items()},
        )
        for line in json.loads(path.read_text("utf-8"))
    ]


def restricted(row: Row, questions: Collection[str], title: str) -> Row:
    """Return a row that scores these questions only, with another title in place of its attack."""
    scored = tuple(name in questions for name in row.questions)
    return replace(row, scored=scored, setting=replace(row.setting, attack=title))
