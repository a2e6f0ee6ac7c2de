"""Questions that documents put to their neighbours: a sentence of one, with a date, number or name asked for.

The document that asks knows its own answer, so only the neighbour is read, and of it only the sentences that
speak of the same thing. What is asked depends on a document and its neighbours alone, so a change of the
corpus touches only the documents that it is near to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from veridical.graph.askable import (
    Askable,
    Kind,
    askable_values,
    held_values,
    kinds_in,
    places_of,
    with_subject,
    words_of,
)
from veridical.nli.align import sentence_spans
from veridical.nli.values import facts_of
from veridical.reading.agree import SAME, agreement
from veridical.reading.base import ReadAnswer, Reading
from veridical.reading.compare import Verdict
from veridical.reading.denied import denial, undenied
from veridical.types import Span

VERSION = "1"
"""Changes whenever other questions would be made, or the same readings could give other verdicts."""
RELIANCE: Mapping[Kind, float] = {"date": 0.9, "number": 0.7, "name": 0.7}
"""How often a clash that such a question finds is one, see ``benchmarks/made_questions.py``."""
_MIN_SHARED = 2
_MIN_COVERED = 0.6
_MIN_NAMED = 0.75
_NAME_WEIGHT = 2.0
_UNSURE = 3.0
_SAME_WEIGHT = 0.5  # to find that two say the same is worth less than to find a clash
_KIND_WEIGHT: Mapping[Kind, float] = {"date": 1.0, "number": 1.0, "name": 0.8}


@dataclass(frozen=True, slots=True)
class MadeQuestion:
    """A question of one passage to another.

    ``answer`` is the asking passage's own, ``window`` is what is to be read of the other; both have offsets
    into their passages. ``fit`` in [0, 1) says how far the window speaks of what the question asks.
    """

    asker: int
    other: int
    kind: Kind
    question: str
    answer: Span
    window: Span
    fit: float

    def in_passage(self, reading: Reading) -> Reading:
        """A reading of the window, with offsets into the passage, and only of what can answer.

        An answer must hold a value of the kind that was asked for, and say more than the question does.
        """
        shift, said = self.window.start, words_of(self.question)
        heard = undenied(self.window.text, reading, question=self.question)
        answers = tuple(
            ReadAnswer(a.text, a.start + shift, a.end + shift, a.probability)
            for a in heard.answers
            if self.kind in kinds_in(a.text) and not words_of(a.text) <= said
        )
        return Reading(answers, reading.no_answer)

    def verdict(self, reading: Reading) -> Verdict:
        """How the two passages stand to each other, the asking one on the left.

        With p the probabilities of what can answer and a the agreement of each with the asking passage's
        answer, support is ``r sum p a`` and contradiction ``r sum p (1 - a)``, where r is how far questions
        of the kind are to be relied on. Where the window says the asking passage's answer, too, though maybe
        of something else, there is no contradiction.

        Parameters
        ----------
        reading
            What the window answers, read on its own.
        """
        said = self.in_passage(reading).answers
        agreed = [agreement(self.answer.text, answer.text, question=self.question) for answer in said]
        weights = [(p.probability * a, p.probability * (1.0 - a)) for p, a in zip(said, agreed, strict=True)]
        support, contradiction = (sum(pair[side] for pair in weights) for side in (0, 1))
        if self._says_the_same():
            contradiction = 0.0
        side = 0 if support >= contradiction else 1
        heard = max(zip(weights, said, strict=True), key=lambda item: item[0][side])[1] if said else None
        own = ReadAnswer(self.answer.text, self.answer.start, self.answer.end, 1.0)
        reliance = RELIANCE[self.kind]
        return Verdict(reliance * support, reliance * contradiction, own, heard)

    def _says_the_same(self) -> bool:
        own, window = self.answer.text, self.window.text
        return any(
            kind == self.kind and agreement(own, window[start:end], question=self.question) >= SAME
            for kind, start, end in places_of(window)
            if not denial(window, start, end)
        )


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A passage of another document that is near, with the document's title."""

    id: int
    document_id: int
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its words, weighed, and which kinds of values it holds."""

    span: Span
    words: Mapping[str, float]
    values: tuple[tuple[Kind, frozenset[str]], ...]


@lru_cache(maxsize=16_384)
def _sentences(text: str, subject: str) -> tuple[tuple[_Sentence, tuple[Askable, ...]], ...]:
    found = []
    for span in sentence_spans(text):
        facts = facts_of(with_subject(span.text, subject))
        words = {word: _NAME_WEIGHT if word in facts.names else 1.0 for word in facts.words}
        found.append((_Sentence(span, words, held_values(span.text)), askable_values(span.text, subject)))
    return tuple(found)


def questions_of(
    passages: Mapping[int, str], title: str, neighbours: Mapping[int, Sequence[Neighbour]], n: int
) -> list[MadeQuestion]:
    """Choose what a document asks its neighbours.

    Each neighbouring document is asked what fits it best, those first that the questions fit best, then each
    once more, and so on; never two values of one sentence in one passage, and no question twice.

    Parameters
    ----------
    passages
        The document's passages by id.
    title
        Its title, which stands for a pronoun that a sentence begins with; may be empty.
    neighbours
        What is near to each passage.
    n
        How many questions, at most.

    Returns
    -------
    list of MadeQuestion
        The best fit first; ties by passage ids and place.
    """
    if n < 1:
        return []
    best: dict[tuple[int, int, int], MadeQuestion] = {}
    owner = {near.id: near.document_id for found in neighbours.values() for near in found}
    for asker, text in sorted(passages.items()):
        own = _sentences(text, title)
        for near in neighbours.get(asker, ()):
            others = [sentence for sentence, _ in _sentences(near.text, near.title)]
            for number, (sentence, values) in enumerate(own):
                for made in _candidates(asker, near, sentence, values, others):
                    key = (asker, number, near.id)
                    if key not in best or made.fit > best[key].fit:
                        best[key] = made
    ranked = sorted(best.values(), key=lambda m: (-m.fit, m.asker, m.other, m.answer.start))
    return _in_turns(ranked, owner, n)


def _in_turns(ranked: Sequence[MadeQuestion], owner: Mapping[int, int], n: int) -> list[MadeQuestion]:
    """Take the best of each document, then the second best, until there are ``n``."""
    asked: dict[int, int] = {}
    turns: list[tuple[int, int, MadeQuestion]] = []
    seen: set[tuple[int, str]] = set()
    for place, made in enumerate(ranked):
        if (made.other, made.question) in seen:
            continue
        seen.add((made.other, made.question))
        turn = asked.get(owner[made.other], 0)
        asked[owner[made.other]] = turn + 1
        turns.append((turn, place, made))
    return [made for _, _, made in sorted(turns, key=lambda item: item[:2])[:n]]


def _candidates(
    asker: int, near: Neighbour, sentence: _Sentence, values: Sequence[Askable], others: Sequence[_Sentence]
) -> Iterator[MadeQuestion]:
    """A question for each value of a sentence, to the neighbour's sentence that shares most with it."""
    if not values or not others:
        return
    shared = [sum(w for word, w in sentence.words.items() if word in other.words) for other in others]
    place = max(range(len(others)), key=lambda i: (shared[i], -i))
    other = others[place]
    if shared[place] < _MIN_SHARED or other.words.keys() == sentence.words.keys():
        return  # another thing, or the same words, which need no question
    for value in values:
        asked = {word: w for word, w in sentence.words.items() if word not in value.words}
        fit = _fit(asked, sentence, value, other)
        others_say = [
            words for kind, words in other.values if kind == value.kind and not words <= asked.keys()
        ]
        if fit is None or not others_say:
            continue
        at = sentence.span.start
        fit *= _KIND_WEIGHT[value.kind]
        if value.words in others_say:
            fit *= _SAME_WEIGHT
        yield MadeQuestion(
            asker,
            near.id,
            value.kind,
            value.question,
            Span(value.text, at + value.start, at + value.end),
            other.span,
            fit,
        )


def _fit(asked: Mapping[str, float], sentence: _Sentence, value: Askable, other: _Sentence) -> float | None:
    """How far another sentence speaks of what a question asks; ``None`` where it speaks of something else.

    It must share a name and hardly miss one, share most of the words, and most of those that are no names
    (which say what is said of whom), and give no other date or number beside the one that is asked for.
    """
    held = other.words.keys()
    common = sum(weight for word, weight in asked.items() if word in held)
    total = sum(asked.values())
    plain = [word for word, weight in asked.items() if weight == 1.0 and not word[0].isdigit()]
    names = [word for word, weight in asked.items() if weight > 1.0]
    told, named = sum(word in held for word in plain), sum(word in held for word in names)
    if common < _MIN_COVERED * total or told < max(1.0, _MIN_COVERED * len(plain)):
        return None
    if not named or named < _MIN_NAMED * len(names):
        return None
    if any(_differs(kind, sentence, value, other) for kind in ("date", "number")):
        return None
    return common / (total + _UNSURE)


def _differs(kind: Kind, sentence: _Sentence, value: Askable, other: _Sentence) -> bool:
    """Whether the two sentences give different dates or numbers besides the one that is asked for."""
    mine = [words for k, words in sentence.values if k == kind and not words <= value.words]
    if all(words <= other.words.keys() for words in mine):
        return False
    said = {word for words in mine for word in words} | value.words
    theirs = [words for k, words in other.values if k == kind and not words <= said]
    return len(theirs) > (kind == value.kind)
