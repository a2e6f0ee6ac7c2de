"""SQuAD-style data for training and judging readers: passages, questions, and the hard cases made from them.

Three kinds of hard case are made from annotated questions. A *removed* passage is the question's own without
the sentences that were marked as answers; an *other* passage is similar but about something else; neither
answers. A *substituted* passage says another answer of the same kind, and still answers.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from veridical.errors import ReadError
from veridical.types import Record, Span

Kind = Literal["own", "removed", "other", "substituted"]

_WORD = re.compile(r"[^\W_]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+")
_DIGIT = re.compile(r"\d")
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_YEAR = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b")
_MONTH = re.compile(
    r"\b(january|february|march|april|june|july|august|september|october|november|december)\b"
)
_SMALL = frozenset(["of", "the", "and", "de", "la", "von", "van", "in", "for", "to", "a", "an", "on", "at"])
_RARE_SHARE = 0.05
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been but by can could did do does for from had has have how i if in "
        "into is it its many much not of on or s some such than that the their them there these they this "
        "those to was were what when where which who whom whose why will with would you your ",
    )
)


@dataclass(frozen=True, slots=True)
class Question(Record):
    """A question on a passage, and what each annotator marked as its answer."""

    id: str
    text: str
    answers: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Context(Record):
    """A passage with its questions; ``held_out`` ones are never trained on."""

    file: str
    text: str
    questions: tuple[Question, ...]
    held_out: bool


@dataclass(frozen=True, slots=True)
class Item(Record):
    """One reading: a question, a passage, and the (start, end) characters that answer, if any do."""

    kind: Kind
    file: str
    question: str
    text: str
    spans: tuple[tuple[int, int], ...]


def is_held_out(text: str) -> bool:
    """Whether a passage belongs to the tenth that training never sees; by hash, so that it stays so."""
    return _bucket(text) % 10 == 0


def is_calibration(text: str) -> bool:
    """Whether a passage belongs to the fiftieth that sets probabilities and trains no weights."""
    return _bucket(text) == 1


def _bucket(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.strip().encode("utf-8")).digest()[:8]) % 50


def read_contexts(folder: Path) -> list[Context]:
    """Read every ``*.jsonl`` of a folder, one passage a line.

    A line is ``{"context", "questions": [{"id", "question", "answers": [{"text", "start"}]}]}`` with
    character offsets; answers that do not fit their passage are left out.

    Raises
    ------
    ReadError
        There is no such file, or a line is malformed.
    """
    paths = sorted(folder.glob("*.jsonl"))
    if not paths:
        raise ReadError(f"{folder} has no *.jsonl files.", "Point at the folder with the reading data.")
    found: dict[str, Context] = {}
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                text = row["context"]
                questions = tuple(_question(item, text) for item in row["questions"])
            except (ValueError, KeyError, TypeError) as error:
                raise ReadError(
                    f"{path}:{number} is no passage with questions: {error!r}", "Mend the line."
                ) from error
            if text.strip() not in found:
                found[text.strip()] = Context(path.stem, text, questions, is_held_out(text))
    return list(found.values())


def _question(row: dict[str, object], text: str) -> Question:
    answers = []
    for answer in row["answers"]:  # type: ignore[attr-defined]
        said, start = answer["text"], int(answer["start"])
        lead = len(said) - len(said.lstrip())
        span = Span(said.strip(), start + lead, start + lead + len(said.strip()))
        if span.text and text[span.start : span.end] == span.text:
            answers.append(span)
    return Question(str(row["id"]), str(row["question"]).strip(), tuple(answers))


def own_items(context: Context) -> list[Item]:
    """The annotated questions as they are."""
    return [
        Item("own", context.file, q.text, context.text, tuple((a.start, a.end) for a in q.answers))
        for q in context.questions
        if q.answers
    ]


def removed_item(context: Context, question: Question) -> Item | None:
    """The question's own passage without the marked sentences; None if little, or an answer, is left."""
    kept, place = [], 0
    bounds = [match.end() for match in _SENTENCE_END.finditer(context.text)] + [len(context.text)]
    for bound in bounds:
        if not any(answer.start < bound and answer.end > place for answer in question.answers):
            kept.append(context.text[place:bound])
        place = bound
    text = "".join(kept).strip()
    words = f" {normalise(text)} "
    if len(words.split()) < 25 or any(f" {normalise(a.text)} " in words for a in question.answers):
        return None
    return Item("removed", context.file, question.text, text, ())


def substituted_item(context: Context, question: Question, replacement: str) -> Item | None:
    """The passage with its shortest marked answer replaced wherever it stands; None if nothing changes."""
    target = min(question.answers, key=lambda answer: (len(answer.text), answer.start))
    if normalise(target.text) == normalise(replacement) or not normalise(target.text):
        return None
    pattern = re.compile(rf"(?<!\w){re.escape(target.text)}(?!\w)", re.IGNORECASE)
    places = [match.span() for match in pattern.finditer(context.text)]
    if (target.start, target.end) not in places:
        return None
    text = pattern.sub(lambda _: replacement, context.text)
    growth = len(replacement) - len(target.text)
    spans = []
    for answer in question.answers:
        if answer.start <= target.start and answer.end >= target.end:
            start = answer.start + growth * sum(end <= answer.start for _, end in places)
            end = answer.end + growth * sum(end <= answer.end for _, end in places)
            spans.append((start, end))
    return Item("substituted", context.file, question.text, text, tuple(spans))


def answer_kind(text: str) -> str:
    """A coarse type of an answer, within which one can stand for another: its form and number of words."""
    words = text.split()
    low = text.lower()
    size = min(len(words), 6)
    if _MONTH.search(low) or _YEAR.fullmatch(low):
        return f"date {size}"
    if _DIGIT.search(text):
        return f"number {size}"
    if all(word[:1].isupper() or word.lower() in _SMALL for word in words) and not words[0].isupper():
        return f"name {size}"
    return f"phrase {size}"


class Substitutes:
    """Answers of the data by file, kind and the question's first word, from which another can be drawn."""

    def __init__(self, contexts: Iterable[Context]) -> None:
        self._pools: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for context in contexts:
            for question in context.questions:
                for answer in question.answers[:1]:
                    self._pools[self._key(context.file, question.text, answer.text)].append(answer.text)

    @staticmethod
    def _key(file: str, question: str, answer: str) -> tuple[str, str, str]:
        return file, answer_kind(answer), question.lower().split()[0] if question.split() else ""

    def draw(self, context: Context, question: Question, rng: np.random.Generator) -> Item | None:
        """The question's passage with another answer of the same kind; None if there is none to be had."""
        if not question.answers:
            return None
        shortest = min(question.answers, key=lambda answer: (len(answer.text), answer.start)).text
        pool = self._pools.get(self._key(context.file, question.text, shortest), [])
        if len(shortest.split()) > 6 or len(pool) < 2:
            return None
        return substituted_item(context, question, pool[int(rng.integers(len(pool)))])


def words_of(text: str) -> list[str]:
    """Lower-cased words without the commonest."""
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP]


def similar_contexts(contexts: Sequence[Context], n: int = 8) -> dict[str, list[int]]:
    """For each question's id the ``n`` most similar passages of its file that do not answer it, best first.

    Similarity is the cosine of sublinear TF-IDF vectors of question plus own passage (a quarter of its
    weight) against passages. A passage qualifies if it holds none of the marked answers and lacks a rare word
    of the question (in at most 5% of the file's passages) that the own passage has. A question without such a
    word fits other passages just as well ("Is it worth the money?"), so it gets none: calling those
    unanswerable would teach that a different answer is no answer.
    """
    from scipy import sparse

    found: dict[str, list[int]] = {}
    for file in sorted({context.file for context in contexts}):
        mine = [i for i, context in enumerate(contexts) if context.file == file]
        bags = [Counter(words_of(contexts[i].text)) for i in mine]
        seen = Counter(word for bag in bags for word in bag)
        column = {word: j for j, word in enumerate(sorted(seen))}
        idf = np.log(len(mine) / np.array([seen[word] for word in column]))
        passages = _tfidf(bags, column, idf)
        rare = {word for word, count in seen.items() if count <= max(1, _RARE_SHARE * len(mine))}
        plain = [f" {normalise(contexts[i].text)} " for i in mine]
        for at, i in enumerate(mine):
            questions = [q for q in contexts[i].questions if q.answers]
            if not questions:
                continue
            asked = _tfidf([Counter(words_of(q.text)) for q in questions], column, idf)
            wanted = asked + 0.25 * sparse.vstack([passages[at]] * len(questions))
            cosines = np.asarray((wanted @ passages.T).todense())
            for question, row in zip(questions, cosines, strict=True):
                keys = rare.intersection(words_of(question.text)) & bags[at].keys()
                marked = [f" {normalise(answer.text)} " for answer in question.answers]
                good = []
                for j in np.argsort(-row, kind="stable")[: 6 * n]:
                    if j != at and keys - bags[j].keys() and not any(m in plain[j] for m in marked):
                        good.append(mine[j])
                found[question.id] = good[:n]
    return found


def _tfidf(bags: Sequence[Counter[str]], column: dict[str, int], idf: Any) -> Any:
    from scipy import sparse

    rows, columns, values = [], [], []
    for row, bag in enumerate(bags):
        known = [(column[word], count) for word, count in bag.items() if word in column]
        weights = np.array([(1 + np.log(count)) * idf[j] for j, count in known])
        norm = float(np.linalg.norm(weights)) or 1.0
        rows += [row] * len(known)
        columns += [j for j, _ in known]
        values += list(weights / norm)
    return sparse.csr_matrix((values, (rows, columns)), shape=(len(bags), len(column)))


def normalise(text: str) -> str:
    """Lower-cased, without punctuation, articles and extra white space: the form to compare answers in."""
    kept = "".join(" " if char in string.punctuation else char for char in text.lower())
    return " ".join(_ARTICLES.sub(" ", kept).split())


def token_f1(said: str, gold: str) -> float:
    """F1 of the normalised words of two answers, in [0, 1]."""
    ours, theirs = normalise(said).split(), normalise(gold).split()
    if not ours or not theirs:
        return float(ours == theirs)
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs))


def best_f1(said: str, golds: Iterable[str]) -> float:
    """The best F1 against any annotator's answer."""
    return max((token_f1(said, gold) for gold in golds), default=0.0)


def exact_match(said: str, golds: Iterable[str]) -> bool:
    """Whether the normalised answer is that of any annotator."""
    return any(normalise(said) == normalise(gold) for gold in golds)
