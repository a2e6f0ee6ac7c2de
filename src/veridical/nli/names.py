"""One thing under several names: titles, initials, acronyms, countries and their people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from veridical.nli.lexicon import stem, word_list

#: They stand before a name, or after it, and are none.
TITLES: frozenset[str] = frozenset(
    stem(word)
    for word in word_list(
        """mr mrs ms miss dr prof professor doctor sir dame lord lady rev reverend saint st fr father
        president senator governor mayor king queen prince princess emperor empress pope bishop archbishop
        cardinal captain general colonel major lieutenant sergeant admiral commander chancellor minister
        premier secretary judge justice chief coach jr sr junior senior phd md esq hon"""
    )
)

#: Names of one thing, each a regular expression; a name that holds a capital is written so.
_SAME = (
    r"United States(?: of America)?; U\.S\.(?:A\.)?; USA; US; America; American",
    r"United Kingdom; U\.K\.; UK; Great Britain; Britain; British",
    r"Soviet Union; USSR; U\.S\.S\.R\.; Soviet",
    r"European Union; EU; E\.U\.",
    r"United Nations; UN; U\.N\.",
    r"New York City; NYC; New York",
    r"Los Angeles; LA; L\.A\.",
    r"Washington,? D\.?C\.?; Washington",
    "Netherlands; Holland; Dutch",
    "Persia; Iran; Persian; Iranian",
    "Burma; Myanmar; Burmese",
    "Ceylon; Sri Lanka",
    "Constantinople; Istanbul",
    "Bombay; Mumbai",
    "Peking; Beijing",
    "France; French",
    "Germany; German",
    "Italy; Italian",
    "Spain; Spanish",
    "China; Chinese",
    "Japan; Japanese",
    "India; Indian",
    "Russia; Russian",
    "Canada; Canadian",
    "Mexico; Mexican",
    "Australia; Australian",
    "Ireland; Irish",
    "Scotland; Scottish",
    "Wales; Welsh",
    "England; English",
    "Sweden; Swedish",
    "Poland; Polish",
    "Greece; Greek",
    "Turkey; Turkish",
    "Brazil; Brazilian",
    "Korea; Korean",
    "Egypt; Egyptian",
    "Norway; Norwegian",
    "Denmark; Danish",
    "Portugal; Portuguese",
    "Austria; Austrian",
    "Switzerland; Swiss",
    "Belgium; Belgian",
    "Finland; Finnish",
    "Hungary; Hungarian",
    "Argentina; Argentine",
    "Israel; Israeli",
    "Cuba; Cuban",
)
_WORDS = re.compile(r"[A-Za-z]+")


def _groups() -> tuple[re.Pattern[str], tuple[frozenset[str], ...]]:
    patterns, words = [], []
    for number, line in enumerate(_SAME):
        names = [name.strip() for name in line.split(";")]
        patterns.append(f"(?P<g{number}>{'|'.join(names)})")
        plain = [re.sub(r"\(\?:(.*?)\)|\\|\?", r"\1", name).replace(".", "") for name in names]
        words.append(frozenset(stem(word.lower()) for name in plain for word in _WORDS.findall(name)))
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)"), tuple(words)


_PATTERN, _GROUP_WORDS = _groups()
_ANY = frozenset[str]().union(*_GROUP_WORDS)
_RUN = re.compile(r"(?:[A-Z][\w'’-]*)(?:\s+(?:(?:of|the|and|for|de|on)\s+|&\s+)*[A-Z][\w'’-]*)+")


def other_names(sentence: str, names: Set[str]) -> frozenset[str]:
    """Stems by which another text may name what this sentence names.

    The words of its countries' other names, and the initials of its names of two to six words.

    Parameters
    ----------
    names
        Stems of the sentence's own names.
    """
    found: set[str] = set()
    if not _ANY.isdisjoint(names):
        for match in _PATTERN.finditer(sentence):
            found |= _GROUP_WORDS[int(str(match.lastgroup)[1:])]
    found.update(_acronyms(sentence))
    return frozenset(found)


def _acronyms(sentence: str) -> Iterator[str]:
    for run in _RUN.findall(sentence):
        words = run.removeprefix("The ").split()
        initials = "".join(word[0] for word in words if word[0].isupper()).lower()
        if 2 <= len(initials) <= 6:
            yield stem(initials)
