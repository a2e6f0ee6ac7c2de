"""Parts of speech by word lists and endings, where no trained pipeline is there."""

from __future__ import annotations

import re
from dataclasses import dataclass

from veridical.evidence.mentions import is_verb, piece
from veridical.nli.lexicon import STOPWORDS, stem, word_list
from veridical.types import Record

_TOKEN = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*|[^\w\s]|_")
_NAMES_TOO = frozenset(("may", "will"))
_INTERJECTIONS = frozenset(word_list("yes no oh please well ok okay hello hi thanks sorry"))


@dataclass(frozen=True, slots=True)
class Tag(Record):
    """A token at [start, end) of a text: its universal part of speech and its lemma, in small letters."""

    start: int
    end: int
    kind: str
    lemma: str


def tagged(text: str) -> list[Tag]:
    """Cut a text into tokens and say roughly what each is.

    ``PUNCT`` are signs, ``DET`` function words of any kind, ``INTJ`` and ``VERB`` words in small letters that
    look it; all others are ``NOUN``. A lemma is a crude stem.
    """
    found = []
    for match in _TOKEN.finditer(text):
        word, lower = match.group(), match.group().lower()
        if not re.search(r"\w", word):
            kind = "PUNCT"
        elif lower in STOPWORDS and not _is_name(word, lower):
            kind = "DET"
        elif word[0].islower() and lower in _INTERJECTIONS:
            kind = "INTJ"
        elif word[0].islower() and is_verb(piece(text, *match.span(), "word")):
            kind = "VERB"
        else:
            kind = "NOUN"
        found.append(Tag(*match.span(), kind, stem(lower)))
    return found


def _is_name(word: str, lower: str) -> bool:
    """Whether a function word is written like a name: "US", "May"."""
    return (word.isupper() and len(word) > 1) or (word[0].isupper() and lower in _NAMES_TOO)
