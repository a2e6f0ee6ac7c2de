"""Sentence and passage pairs to fit the feature backend on, from data whose licence allows it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from veridical.nli.align import sentence_spans
from veridical.nli.values import facts_of

#: file -> at most this many pairs; fever's and the rest of the 'yes' rows of the data's README, and no other.
ALLOWED = {
    "fever": 10_000, "fever-symmetric": 708, "snli": 5_000, "cad-snli": 5_000, "breaking-nli": 2_000, "med": 1_500,
}  # fmt: skip
READING = ("squadshifts-wiki", "squadshifts-reddit", "squadshifts-reviews")


@dataclass(frozen=True)
class Pair:
    """Two texts, what the first says of the second, where they come from, and whether they are held out."""

    premise: str
    hypothesis: str
    label: str
    origin: str
    held_out: bool


def rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _held_out(key: str) -> bool:
    """Hold out a fifth, all pairs of one premise together, the same ones whatever the seed."""
    import zlib

    return zlib.crc32(key.encode()) % 5 == 0


def nli_pairs(data: Path, rng: random.Random) -> list[Pair]:
    """Read the pairs of the allowed sets; a premise of several sentences stays whole."""
    found = []
    for name, limit in ALLOWED.items():
        read = list(rows(data / "nli" / f"{name}.jsonl"))
        rng.shuffle(read)
        if name == "breaking-nli":  # nine tenths of it are contradictions
            few = [row for row in read if row["label"] != "contradiction"]
            read = few + [row for row in read if row["label"] == "contradiction"]
        for row in read[:limit]:
            held_out = _held_out(row["premise"]) if row["split"] != "train" or name != "cad-snli" else False
            found.append(Pair(row["premise"], row["hypothesis"], row["label"], name, held_out))
    return found


def fever_neutrals(pairs: list[Pair], n: int, rng: random.Random) -> list[Pair]:
    """Set claims against evidence for other claims that shares words with them: near, and about something else."""
    fever = [p for p in pairs if p.origin == "fever"]
    index: dict[str, list[int]] = {}
    for i, pair in enumerate(fever):
        for name in sorted(facts_of(pair.premise).names):
            index.setdefault(name, []).append(i)
    found: list[Pair] = []
    for pair in rng.sample(fever, min(n, len(fever))):
        claim = facts_of(pair.hypothesis)
        near = {i for name in sorted(claim.names) for i in rng.sample(index.get(name, []), min(30, len(index.get(name, []))))}
        other = [fever[i].premise for i in sorted(near) if fever[i].held_out == pair.held_out and fever[i].premise[:40] != pair.premise[:40]]
        if not other:
            other = [rng.choice(fever).premise]
        # The nearest is often the same statement out of another copy of the page: leave the two nearest out.
        other.sort(key=lambda text: -len(facts_of(text).words & claim.words))
        found.append(Pair(other[min(2, len(other) - 1)], pair.hypothesis, "neutral", "fever-neutral", pair.held_out))
    return found


@dataclass(frozen=True)
class Context:
    """A passage of the reading data with its answers: (text, start)."""

    text: str
    answers: tuple[tuple[str, int], ...]
    held_out: bool


def contexts(data: Path, n_each: int, rng: random.Random) -> list[Context]:
    """Sample passages of the reading data, without their questions."""
    found = []
    for name in READING:
        read = list(rows(data / "reading" / f"{name}.jsonl"))
        for row in rng.sample(read, min(n_each, len(read))):
            answers = {(a["text"], a["start"]) for q in row["questions"] for a in q["answers"]}  # type: ignore[index]
            found.append(Context(row["context"], tuple(sorted(answers)), _held_out(row["context"])))
    return found


def answer_type(text: str) -> str | None:
    """Sort an answer by its shape, so that it is replaced by one of the same kind."""
    if re.fullmatch(r"(?:in\s+)?(?:1\d{3}|20\d{2})", text):
        return "year"
    if re.fullmatch(r"[$€£]?\d[\d,.]*%?(?: \w+)?", text):
        return f"number {text[:1] in '$€£'} {text[-1:] == '%'} {' ' in text}"
    words = text.split()
    if 1 <= len(words) <= 4 and all(w[0].isupper() for w in words if w.lower() not in {"of", "the", "de", "and"}):
        return f"name {min(len(words), 3)}"
    return None


def substitutions(passages: list[Context], rng: random.Random) -> list[tuple[Context, str, str, str]]:
    """Replace one answer of each passage by another answer of the same shape.

    Returns
    -------
    list of tuple
        (passage, its sentence, the sentence with the other answer, the whole passage with it).
    """
    pool: dict[str, list[str]] = {}
    for passage in passages:
        for text, _ in passage.answers:
            kind = answer_type(text)
            if kind:
                pool.setdefault(kind, []).append(text)
    found = []
    for passage in passages:
        usable = [(t, s) for t, s in passage.answers if answer_type(t) and passage.text[s : s + len(t)] == t]
        for text, start in rng.sample(usable, min(2, len(usable))):
            others = [o for o in rng.sample(pool[answer_type(text) or ""], min(20, len(pool[answer_type(text) or ""])))
                      if not set(o.lower().split()) & set(text.lower().split()) and o not in passage.text]
            spans = [s for s in sentence_spans(passage.text) if s.start <= start and start + len(text) <= s.end]
            if not others or not spans:
                continue
            whole = passage.text[:start] + others[0] + passage.text[start + len(text) :]
            at = start - spans[0].start
            changed = spans[0].text[:at] + others[0] + spans[0].text[at + len(text) :]
            found.append((passage, spans[0].text, changed, whole))
    return found



def composed(
    pairs: list[Pair], reading: list[Context], changed: list[tuple[Context, str, str, str]], rng: random.Random
) -> list[Pair]:
    """Make passages of several sentences of which at most one pair is not neutral, as in a real corpus.

    A claim, or a sentence with another answer, is put among the sentences of a neighbouring passage; neighbours
    as they are, are neutral.
    """
    found: list[Pair] = []
    texts = [c.text for c in reading]
    near = _neighbours(texts, 6)
    for i, context in enumerate(reading):
        for j in near[i][:3]:
            if reading[j].held_out == context.held_out:
                found.append(Pair(context.text, texts[j], "neutral", "passages-near", context.held_out))
    place = {c.text: i for i, c in enumerate(reading)}
    for context, before, after, _ in changed:
        filler = texts[rng.choice(near[place[context.text]])]
        label, said = rng.choice((("contradiction", after), ("entailment", before)))
        found.append(Pair(context.text, _insert(filler, said, rng), label, "passages-substituted", context.held_out))
    fever = [p for p in pairs if p.origin in {"fever", "fever-neutral"}]
    chosen = rng.sample(fever, min(5_000, len(fever)))
    evidence = [p.premise for p in chosen]
    near = _neighbours(evidence, 4)
    for i, pair in enumerate(chosen):
        filler = _insert(evidence[rng.choice(near[i])], pair.hypothesis, rng)
        found.append(Pair(pair.premise, filler, pair.label, f"passages-{pair.origin}", pair.held_out))
    return found


def _insert(filler: str, sentence: str, rng: random.Random) -> str:
    """Put a sentence at a random place among up to four sentences of another text."""
    others = [s.text for s in sentence_spans(filler)][:4]
    others.insert(rng.randint(0, len(others)), sentence)
    return " ".join(others)


def _neighbours(texts: list[str], n: int) -> list[list[int]]:
    """Find the texts that share most words, weighted by rarity; never an almost equal one."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    matrix = TfidfVectorizer(sublinear_tf=True, stop_words="english", max_df=0.2).fit_transform(texts)
    found = []
    for i in range(len(texts)):
        similar = (matrix @ matrix[i].T).toarray().ravel()
        found.append([int(j) for j in similar.argsort()[::-1][: n + 20] if j != i and similar[j] < 0.8][:n])
    return found
