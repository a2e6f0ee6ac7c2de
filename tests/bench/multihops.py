"""Questions that take two passages, and stand-ins that follow a script, to test the benchmark of chains."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from veridical.bench.chain_cases import Case, Claims, Library, claims, library
from veridical.bench.datasets.questions import LabelledPassage, Question
from veridical.evidence.selectors import FloatArray, Step
from veridical.evidence.triples import Extraction, Found
from veridical.index.encoder import Float32Array
from veridical.llm.base import Choice, Generation, Message
from veridical.reading.base import NOTHING, ReadAnswer, Reading
from veridical.types import Usage

TOWNS = ("Malmo", "Uppsala", "Falun")


def passage(
    name: str, title: str, text: str, *, needed: bool = False, false: bool = False
) -> LabelledPassage:
    label = "misinformation" if false else "factual"
    return LabelledPassage(name, text, label, title=title, supporting=needed)


def born(name: str, bridge: str, designer: str, town: str) -> Question:
    """Asks for the town where the designer of a bridge was born; two of its passages are needed."""
    return Question(
        name,
        f"In which town was the designer of the {bridge} born?",
        (town,),
        (
            passage(f"{name}-1", bridge, f"The {bridge} was designed by {designer}.", needed=True),
            passage(
                f"{name}-2", designer, f"{designer} was born in {town}. {town} lies by the sea.", needed=True
            ),
            passage(f"{name}-3", town, f"{town} has a harbour."),
        ),
    )


ORSA = born("orsa", "Orsa Bridge", "Ada Lind", "Malmo")
MORA = born("mora", "Mora Bridge", "Nils Berg", "Uppsala")
YES = Question(
    "older",
    "Is the Orsa Bridge older than the Mora Bridge?",
    ("yes",),
    (passage("older-1", "Orsa Bridge", "The Orsa Bridge was opened in 1931. Yes, it was.", needed=True),),
)
LOST = Question(
    "lost",
    "In which town was tea first sold?",
    ("Falun",),
    (
        passage("lost-1", "Tea", "Tea was first sold by the hall.", needed=True),
        passage("lost-2", "Falun", "Falun has a hall."),
    ),
)
LONELY = Question(
    "lonely",
    "What did the painter paint?",
    ("blue boats",),
    (passage("lonely-1", "Painter", "The painter painted blue boats.", needed=True),),
)
QUESTIONS = (ORSA, MORA, YES, LOST, LONELY)


def write_questions(path: Path, questions: Sequence[Question]) -> None:
    """Write a data set as `veridical.bench.datasets.questions.read` reads it."""
    rows = [
        {
            "id": question.id,
            "question": question.text,
            "answers": list(question.answers),
            "passages": [
                {
                    "id": own.id,
                    "title": own.title,
                    "text": own.text,
                    "label": own.label,
                    "relevance": "high" if own.supporting else "low",
                }
                for own in question.passages
            ],
        }
        for question in questions
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


# One case whose every number is known: seven passages, nearest first, and a triple in each of the first four.

FALSE, TRUE, DESIGN, TEA = (
    ("Ada Lind", "was born in", "Uppsala"),
    ("Ada Lind", "was born in", "Malmo"),
    ("The Orsa Bridge", "was designed by", "Ada Lind"),
    ("Tea", "is served at", "four"),
)
ATTACKED = Question(
    "orsa",
    ORSA.text,
    ("Malmo",),
    (
        passage("p1", "Ada Lind", "Ada Lind was born in Uppsala.", false=True),
        passage("p2", "Ada Lind", "Ada Lind was born in Malmo.", needed=True),
        passage("p3", "Orsa Bridge", "The Orsa Bridge was designed by Ada Lind.", needed=True),
        passage("p4", "Tea", "Tea is served at four."),
        passage("p5", "Hall", "The hall is cold."),
        passage("p6", "Rain", "Rain falls."),
    ),
    wrong_answer="Uppsala",
)
NEARNESS = {"Uppsala": 0.9, "Malmo": 0.8, "designed by": 0.7, "Tea": 0.4, "hall": 0.3, "Rain": 0.2}

BELIEVED = np.array([0.1, 0.5, 0.9, np.nan, np.nan, np.nan])
OF_TRIPLES = {"Malmo": 0.9, "Ada Lind": 1.0, "four": 0.2}  # by tail; the poison's gets no usable judgement
OF_PASSAGES = {"Uppsala": 0.2, "designed": 0.3, "Tea": 0.35, "hall": 1.0, "Rain": 0.0}


class Near:
    """An encoder by which a text has a given cosine to every text that no key occurs in, such as a question.

    ``texts`` keeps what was encoded, call by call.
    """

    def __init__(self, nearness: Mapping[str, float] = NEARNESS) -> None:
        self.nearness = nearness
        self.texts: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> Float32Array:
        self.texts.append(list(texts))
        cosines = np.array([self._cosine(text) for text in texts], dtype=np.float64).reshape(-1)
        return np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1).astype(np.float32)

    def _cosine(self, text: str) -> float:
        if text.endswith("?"):  # a question, with or without the chain before it
            return 1.0
        return next((value for key, value in self.nearness.items() if key in text), 1.0)


class ByHand:
    """An extractor that finds in a passage those triples of a list whose three parts it holds."""

    name = "by-hand"

    def __init__(self, *triples: tuple[str, str, str]) -> None:
        self.triples = triples or (FALSE, TRUE, DESIGN, TEA)
        self.calls: list[list[tuple[str, str]]] = []

    def extract(
        self, passages: Sequence[tuple[str, str]], *, tick: Callable[[], object] | None = None
    ) -> list[Extraction]:
        self.calls.append(list(passages))
        return [
            Extraction(
                tuple(Found(*t, 0, len(text)) for t in self.triples if all(part in text for part in t))
            )
            for _, text in passages
        ]


class First:
    """A selector that takes the most reliable option so many times, and then stops; it keeps its steps."""

    name = "first"

    def __init__(self, n: int = 2) -> None:
        self.n = n
        self.calls: list[list[Step]] = []

    def select(self, steps: Sequence[Step]) -> list[FloatArray]:
        self.calls.append(list(steps))
        return [np.eye(1 + len(step.options))[int(step.hop <= self.n)] for step in steps]

    @property
    def offered_first(self) -> list[list[str]]:
        """The tails of the options of each search's first hop, in their order."""
        return [
            [text.strip("<>").split("; ")[2] for text in steps[0].options]
            for steps in self.calls
            if steps[0].hop == 1
        ]


def read_towns(pairs: Sequence[tuple[str, str]]) -> list[Reading]:
    """Read the first town that each passage names, at .9."""
    return [_town(text) for _, text in pairs]


def _town(text: str) -> Reading:
    found = sorted((text.find(town), town) for town in TOWNS if town in text)
    if not found:
        return NOTHING
    start, town = found[0]
    return Reading((ReadAnswer(town, start, start + len(town), 0.9),), 0.1)


def the_library(*questions: Question) -> Library:
    return library(questions or (ATTACKED,), Near())


def the_case() -> Case:
    return the_library().cases[0]


def the_claims(case: Case, extractor: ByHand | None = None) -> Claims:
    by = extractor or ByHand()
    found = by.extract([(own.title, own.text) for own in case.passages])
    return claims(case, found, Near(), extractor=by.name)


class Engine:
    """A language model by rule, each of whose calls takes 2 s; tokens are words.

    ``reply`` makes the text of a reply of the messages. A choice goes to the first option, or to stop once
    the chain holds two triples. Of every prompt 3 tokens are reused. After ``n_left`` calls it breaks down.
    """

    name = "made"
    identity = "made-1"
    n_concurrent = 1

    def __init__(self, reply: Callable[[Sequence[Message]], str], *, n_left: float = np.inf) -> None:
        self.reply = reply
        self.n_left = n_left
        self.calls: list[tuple[Message, ...]] = []

    def generate(self, messages: Sequence[Message], **options: object) -> Generation:
        self._count(messages)
        text = self.reply(messages)
        return Generation(text, _usage(messages, len(text.split())), "stop", 2.0)

    def choose(
        self, messages: Sequence[Message], labels: Sequence[str], *, n_votes: int = 5, seed: int = 0
    ) -> Choice:
        self._count(messages)
        chain = messages[-1].content.split("Chain so far:")[1]
        taken = labels[0 if chain.count("<") == 2 else 1]
        probabilities = {label: float(label == taken) for label in labels}
        return Choice(probabilities, "logprobs", _usage(messages, 1), 2.0)

    def _count(self, messages: Sequence[Message]) -> None:
        if len(self.calls) >= self.n_left:
            raise RuntimeError("killed")
        self.calls.append(tuple(messages))


def n_words(messages: Sequence[Message]) -> int:
    return sum(len(message.content.split()) for message in messages)


def _usage(messages: Sequence[Message], n_written: int) -> Usage:
    return Usage(1, n_words(messages), n_written, reused_tokens=3)


def first_town(messages: Sequence[Message]) -> str:
    """Answer with the town that the prompt names first."""
    text = messages[-1].content
    named = sorted((text.find(town), town) for town in ("Malmo", "Uppsala") if town in text)
    return named[0][1] if named else "Kiruna"
