"""Groups of answers that mean the same, and the form of words that stands for a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical.corpus.split import sentences
from veridical.reading.agree import SAME, agreement
from veridical.reading.said import asserted
from veridical.reading.squad import normalise, token_f1

#: Mean agreement at or above which groups of answers are joined.
JOIN = 0.5
_QUOTES = " \"'“”‘’„«»"


@dataclass(frozen=True, slots=True)
class Reply:
    """Answer ``number`` of the passage at ``place``, with the reader's probability for it."""

    place: int
    number: int
    text: str
    probability: float


def grouped(question: str, said: Sequence[Reply]) -> list[list[Reply]]:
    """Group answers that mean the same, by average link.

    Starting from the single texts, the two groups with the largest mean agreement are joined, as long as it
    is at least ``JOIN`` (texts count once, however many passages give them). Two answers of one passage
    that differ keep their groups apart: a passage that tells "Anna" from "Anna Smith" means two things. Trust
    plays no part, so a change in trust moves weights and never groups.

    Returns
    -------
    list of list of Reply
        Every answer is in one group. The order of ``said`` makes no difference to who shares a group.
    """
    texts = sorted({item.text for item in said})
    close = _agreements(question, texts)
    at = {text: i for i, text in enumerate(texts)}
    apart = {
        (at[x.text], at[y.text])
        for x in said
        for y in said
        if x.place == y.place and x.number != y.number and close[at[x.text]][at[y.text]] < SAME
    }
    groups = [[i] for i in range(len(texts))]
    links = {
        (a, b): close[a][b]
        for b in range(len(texts))
        for a in range(b)
        if close[a][b] >= JOIN and (a, b) not in apart
    }
    while links:
        a, b = max(links, key=lambda pair: (links[pair], -pair[0], -pair[1]))
        groups[a] += groups[b]
        groups[b] = []
        links = {pair: link for pair, link in links.items() if not {a, b}.intersection(pair)}
        for c, other in enumerate(groups):
            if c == a or not other:
                continue
            pairs = [(i, j) for i in groups[a] for j in other]
            mean = sum(close[i][j] for i, j in pairs) / len(pairs)
            if mean >= JOIN and not apart.intersection(pairs):
                links[min(a, c), max(a, c)] = mean
    number = {text: g for g, group in enumerate(groups) for text in (texts[i] for i in group)}
    found: list[list[Reply]] = [[] for _ in groups]
    for item in said:
        found[number[item.text]].append(item)
    return [group for group in found if group]


def _agreements(question: str, texts: Sequence[str]) -> list[list[float]]:
    close = [[1.0] * len(texts) for _ in texts]
    for i, left in enumerate(texts):
        for j in range(i):
            close[i][j] = close[j][i] = agreement(left, texts[j], question=question)
    return close


def form_of(weighted: Sequence[tuple[str, float]]) -> str:
    """The form of words that stands for a group: the one with the largest expected token F1.

    Parameters
    ----------
    weighted
        The texts of a group, each with its weight; a text may occur several times.

    Returns
    -------
    str
        One of the texts, its first sentence where it runs across several, without what it denies ("X, not Y")
        and without quotation marks around. Of forms that differ in case and punctuation only, the heaviest.
    """
    by_form: dict[str, float] = {}
    spelt: dict[str, dict[str, float]] = {}
    for raw, weight in sorted(weighted):
        text = _first_sentence(asserted(raw)).strip(_QUOTES) or raw
        form = normalise(text) or text
        by_form[form] = by_form.get(form, 0.0) + weight
        spellings = spelt.setdefault(form, {})
        spellings[text] = spellings.get(text, 0.0) + weight
    expected = {
        form: sum(weight * token_f1(form, other) for other, weight in by_form.items()) for form in by_form
    }
    best = max(by_form, key=lambda form: (expected[form], by_form[form], form))
    spellings = spelt[best]
    return max(spellings, key=lambda text: (spellings[text], text))


def _first_sentence(text: str) -> str:
    found = sentences(text)
    return found[0].text.rstrip(".") if len(found) > 1 else text
