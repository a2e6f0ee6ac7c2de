"""What a sentence can be asked for: dates, numbers and names, each with the sentence put as a question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from veridical.nli.dates import read_dates
from veridical.nli.lexicon import KINDS, STOPWORDS, stem, word_list
from veridical.reading.denied import denial

Kind = Literal["date", "number", "name"]

_MAX_WORDS = 45
_MIN_WORDS = 4
_NUMBER_WORDS = "|".join(
    word_list(
        """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety dozen hundred
        thousand million billion trillion"""
    )
)
_NUMBER = re.compile(
    r"(?<![\w.,/:-])(?P<money>(?:US|A|C|NZ)?[$€£¥])?"
    rf"(?:\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|(?:{_NUMBER_WORDS})\b)"
    rf"(?:[\s-](?:{_NUMBER_WORDS})\b)*(?![\w/:]|[.,-]\d|-\w)(?P<percent>\s?%|\s(?:percent|per\s+cent)\b)?",
    re.IGNORECASE,
)
_CAPITALS = r"[^\W\d_a-zß-öø-ÿ](?:[\w’'&-]|\.(?=\w))*"
_LINKS = r"(?:(?:of|the|de|van|von|der|da|di|del|la|al|bin|and|&)\s+){0,2}"
_NAME = re.compile(rf"(?<![\w.-]){_CAPITALS}(?:\.?\s+{_LINKS}{_CAPITALS})*")
_LISTED_BEFORE = re.compile(rf"{_CAPITALS}[\"”’']*(?:,|,?\s+(?:and|or|&))\s+(?:the\s+)?[\"“‘']*\Z")
_LISTED_AFTER = re.compile(rf"[\"”’']*(?:,|,?\s+(?:and|or|&))\s+(?:the\s+)?[\"“‘']*{_CAPITALS}")
_POSSESSIVE = re.compile(r"[’']s?\Z")
_TOKEN = re.compile(r"\w+(?:[’'.,-]\w+)*")
_OPENS = re.compile(r"[^\w\s,’'-]\s*\Z")
_ARTICLE = re.compile(r"\b(?:the|a|an)\s+\Z", re.IGNORECASE)
_BEFORE_DATE = re.compile(r"\b(?P<word>in|on)\s+(?:the\s+(?:year\s+)?)?\Z", re.IGNORECASE)
_PERSON_BEFORE = re.compile(r"\bby\s+\Z", re.IGNORECASE)
_PLACE_BEFORE = re.compile(r"\b(?P<word>in|at|near|from|to|into|across)\s+(?:the\s+)?\Z", re.IGNORECASE)
_WORD_BEFORE = re.compile(r"\b(?P<word>[^\W\d_][\w’'-]*)\s+\Z")
_WORD_AFTER = re.compile(r"[\s-]+(?P<word>[^\W\d_][\w’'-]*)")
_YEAR = re.compile(r"\d{4}")
_DAY = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_NO_NOUN = STOPWORDS | frozenset(
    word_list("about around nearly almost only approximately roughly say says said since within per among")
)
_STANDS_FOR = frozenset(word_list("it he she they"))
_POINTS = frozenset(word_list("this these those that its his her their there we i you one such"))
_NO_NAME = frozenset(
    word_list(
        """however although though sometimes many most some several various such according also both each
        either no not yes today later now then thus hence therefore furthermore moreover meanwhile similarly
        additionally instead often usually since because while when where after before during despite unlike
        like unless until once given other another certain recent first second third finally overall"""
    )
)


@dataclass(frozen=True, slots=True)
class Askable:
    """A value in a sentence: ``text == sentence[start:end]``, and a question that it answers.

    ``words`` are the stems of the value's words.
    """

    kind: Kind
    text: str
    start: int
    end: int
    question: str
    words: frozenset[str]


@lru_cache(maxsize=16_384)
def askable_values(sentence: str, subject: str = "") -> tuple[Askable, ...]:
    """Find what a sentence can be asked for.

    The question is the sentence with the value replaced by words that ask for it ("The bridge was opened in
    what year?"): the reader is trained on such questions too, and nothing is lost by turning them round.

    Parameters
    ----------
    sentence
        As a passage holds it.
    subject
        What a pronoun stands for that it begins with, such as the document's title; may be empty.

    Returns
    -------
    tuple of Askable
        In order of kind and place. None where the sentence is very short or long, or begins with a word that
        points to something said before.
    """
    tokens = _TOKEN.findall(sentence)
    if not _MIN_WORDS <= len(tokens) <= _MAX_WORDS:
        return ()
    spoken = with_subject(sentence, subject)
    if tokens[0].lower() in _POINTS or (tokens[0].lower() in _STANDS_FOR and spoken == sentence):
        return ()
    shift = len(spoken) - len(sentence)
    found = []
    for kind, start, end in places_of(sentence):
        if (kind == "name" and _is_one_of_many(sentence, start, end)) or denial(sentence, start, end):
            continue
        begin, words = _asks(kind, spoken, start + shift, end + shift)
        question = " ".join(f"{spoken[:begin]}{words}{spoken[end + shift :]}".split())
        question = question.strip("\"'“”‘’*#•- ").rstrip(".!?;:,)")
        question = question[:1].upper() + question[1:] + "?"
        found.append(Askable(kind, sentence[start:end], start, end, question, words_of(sentence[start:end])))
    return tuple(found)


def with_subject(sentence: str, subject: str) -> str:
    """The sentence with its subject in place of a pronoun that it begins with."""
    first = _TOKEN.search(sentence)
    if not subject or first is None or first[0].lower() not in _STANDS_FOR:
        return sentence
    return sentence[: first.start()] + subject + sentence[first.end() :]


def held_values(sentence: str) -> tuple[tuple[Kind, frozenset[str]], ...]:
    """Kind and stems of every value in a sentence, whether or not it could be asked for."""
    return tuple((kind, words_of(sentence[start:end])) for kind, start, end in places_of(sentence))


def kinds_in(text: str) -> frozenset[Kind]:
    """The kinds of the values in a text."""
    return frozenset(kind for kind, _, _ in places_of(text))


def words_of(text: str) -> frozenset[str]:
    """Stems of a text's words, numbers included."""
    return frozenset(stem(word.lower()) for word in _TOKEN.findall(text))


@lru_cache(maxsize=16_384)
def places_of(sentence: str) -> tuple[tuple[Kind, int, int], ...]:
    """Kind and place of each value: dates, then numbers, then names; they do not overlap."""
    taken: list[tuple[int, int]] = []
    read_dates(sentence, (), taken)
    found: list[tuple[Kind, int, int]] = [("date", *place) for place in taken]
    for match in _NUMBER.finditer(sentence):
        if not _overlaps(*match.span(), taken):
            taken.append(match.span())
            found.append(("number", *match.span()))
    found += [("name", *place) for place in _names(sentence) if not _overlaps(*place, taken)]
    return tuple(found)


def _overlaps(start: int, end: int, places: list[tuple[int, int]]) -> bool:
    return any(a < end and start < b for a, b in places)


def _names(sentence: str) -> list[tuple[int, int]]:
    """Capitalised words in a row, but not what is capitalised only as it begins a sentence."""
    found = []
    for match in _NAME.finditer(sentence):
        start, end = match.span()
        if possessive := _POSSESSIVE.search(sentence, start, end):
            end = possessive.start()
        first = _TOKEN.match(sentence, start, end)
        opens = not sentence[:start].strip() or _OPENS.search(sentence, 0, start) is not None
        if first is None or end - start < 2:
            continue
        alone = first.end() >= end
        if first[0].lower() in _NO_NAME | _NO_NOUN or (opens and alone):
            rest = None if alone else _NAME.search(sentence, first.end(), end)
            if rest is None:
                continue
            start = rest.start()
        found.append((start, end))
    return found


def _is_one_of_many(sentence: str, start: int, end: int) -> bool:
    """Whether another name would be as good an answer.

    So it is for names in a list, for what only describes ("an American actor"), and for subjects, as many a
    thing may have done the same.
    """
    listed = _LISTED_BEFORE.search(sentence, 0, start) or _LISTED_AFTER.match(sentence, end)
    after = _WORD_AFTER.match(sentence, end)
    article = _ARTICLE.search(sentence, 0, start)
    describes = article and after and after["word"].islower() and after["word"] not in _NO_NOUN
    is_subject = not _TOKEN.search(sentence, 0, article.start() if article else start)
    return bool(listed or describes or is_subject or KINDS.get(stem(sentence[start:end].lower())) == "nation")


def _asks(kind: Kind, sentence: str, start: int, end: int) -> tuple[int, str]:
    """Where the stretch begins that is replaced, and what stands there instead."""
    if kind == "number":
        return _asks_how_many(sentence, start, end)
    return _asks_when(sentence, start, end) if kind == "date" else _asks_who(sentence, start)


def _asks_when(sentence: str, start: int, end: int) -> tuple[int, str]:
    text = sentence[start:end]
    what = "what year" if _YEAR.fullmatch(text) else "what date" if _DAY.search(text) else "what time"
    before = _BEFORE_DATE.search(sentence, 0, start)
    return (before.start(), f"{before['word'].lower()} {what}") if before else (start, what)


def _asks_how_many(sentence: str, start: int, end: int) -> tuple[int, str]:
    match = _NUMBER.fullmatch(sentence, start, end)
    if match and (match["money"] or match["percent"]):
        return start, "how much money" if match["money"] else "what percentage"
    after = _WORD_AFTER.match(sentence, end)
    if after and after["word"].lower() not in _NO_NOUN:
        article = _ARTICLE.search(sentence, 0, start)
        return (article.start() if article else start), "how many"
    before = _WORD_BEFORE.search(sentence, 0, start)
    if before and before["word"].lower() not in _NO_NOUN:
        return before.start(), f"which {before['word']}"
    return start, "what number"


def _asks_who(sentence: str, start: int) -> tuple[int, str]:
    if before := _PERSON_BEFORE.search(sentence, 0, start):
        return before.start(), "by whom"
    if before := _PLACE_BEFORE.search(sentence, 0, start):
        return before.start(), f"{before['word'].lower()} which place"
    article = _ARTICLE.search(sentence, 0, start)
    return (article.start() if article else start), "who or what"
