"""Sentence and passage pairs to fit the feature backend on, from data whose licence allows it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.nli.align import sentence_spans
from veridical.nli.values import facts_of

#: file -> at most this many pairs; fever's and the rest of the 'yes' rows of the data's README, and no other.
ALLOWED = {
    "fever": 10_000, "fever-symmetric": 708, "snli": 5_000, "cad-snli": 5_000, "breaking-nli": 2_000,
    "med": 1_500,
}  # fmt: skip
LABELS = ("entailment", "neutral", "contradiction")
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
    """Set claims against evidence for other claims that shares words with them: near, yet apart."""
    fever = [p for p in pairs if p.origin == "fever"]
    index: dict[str, list[int]] = {}
    for i, pair in enumerate(fever):
        for name in sorted(facts_of(pair.premise).names):
            index.setdefault(name, []).append(i)
    found: list[Pair] = []
    for pair in rng.sample(fever, min(n, len(fever))):
        claim = facts_of(pair.hypothesis)
        near = {
            i
            for name in sorted(claim.names)
            for i in rng.sample(index.get(name, []), min(30, len(index.get(name, []))))
        }
        other = [
            fever[i].premise
            for i in sorted(near)
            if fever[i].held_out == pair.held_out and fever[i].premise[:40] != pair.premise[:40]
        ]
        if not other:
            other = [rng.choice(fever).premise]
        # The nearest is often the same statement out of another copy of the page: leave the two nearest out.
        other.sort(key=lambda text: -len(facts_of(text).words & claim.words))
        found.append(
            Pair(other[min(2, len(other) - 1)], pair.hypothesis, "neutral", "fever-neutral", pair.held_out)
        )
    return found


@dataclass(frozen=True)
class Context:
    """A passage of the reading data with answers, (text, start), and questions, (question, text, start)."""

    text: str
    answers: tuple[tuple[str, int], ...]
    questions: tuple[tuple[str, str, int], ...]
    held_out: bool


def contexts(data: Path, n_each: int, rng: random.Random) -> list[Context]:
    """Sample passages of the reading data."""
    found = []
    for name in READING:
        read = list(rows(data / "reading" / f"{name}.jsonl"))
        for row in rng.sample(read, min(n_each, len(read))):
            questions: Any = row["questions"]
            asked = tuple((q["question"], a["text"], a["start"]) for q in questions for a in q["answers"][:1])
            answers = {(a["text"], a["start"]) for q in questions for a in q["answers"]}
            found.append(Context(row["context"], tuple(sorted(answers)), asked, _held_out(row["context"])))
    return found


def answer_type(text: str) -> str | None:
    """Sort an answer by its shape, so that it is replaced by one of the same kind."""
    if re.fullmatch(r"(?:in\s+)?(?:1\d{3}|20\d{2})", text):
        return "year"
    if re.fullmatch(r"[$€£]?\d[\d,.]*%?(?: \w+)?", text):
        return f"number {text[:1] in '$€£'} {text[-1:] == '%'} {' ' in text}"
    words = text.split()
    if 1 <= len(words) <= 4 and all(
        w[0].isupper() for w in words if w.lower() not in {"of", "the", "de", "and"}
    ):
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
            others = [
                o
                for o in rng.sample(
                    pool[answer_type(text) or ""], min(20, len(pool[answer_type(text) or ""]))
                )
                if not set(o.lower().split()) & set(text.lower().split()) and o not in passage.text
            ]
            spans = [
                s for s in sentence_spans(passage.text) if s.start <= start and start + len(text) <= s.end
            ]
            if not others or not spans:
                continue
            whole = passage.text[:start] + others[0] + passage.text[start + len(text) :]
            at = start - spans[0].start
            changed = spans[0].text[:at] + others[0] + spans[0].text[at + len(text) :]
            found.append((passage, spans[0].text, changed, whole))
    return found


_QUESTION_START = re.compile(
    r"^(?:in|on|at|by|to|from|for|of|with)?\s*(?:what|which|who|whom|whose|when|where|why|how\s+(?:many|much|long|old|far|"
    r"often|large|big|tall)|how)\b\s*(?:(?:did|does|do|is|was|are|were|has|have|had|can|could|will|would)\b)?\s*",
    re.IGNORECASE,
)
_DENIALS = (
    "{wrong}, not {right}",
    "{wrong} rather than {right}",
    "{wrong}, and not {right}",
    "{wrong} instead of {right}",
)


#: What a writer says who knows of another answer; {other} and {said} are statements, {wrong} an answer.
_ARGUED = (
    "Contrary to the belief that {other}, {said}.",
    "While many believe that {other}, {said}.",
    "Although {wrong} is often assumed, {said}.",
    "It is a myth that {other}; {said}.",
    "It was long thought that {other}, but {said}.",
    "The claim that {other} is false, and {said}.",
    "It is not {wrong}: {said}.",
    "Despite reports of {wrong}, {said}.",
)


def argued(question: str, answer: str, wrong: str, rng: random.Random) -> str:
    """State an answer, and half of the time deny another: in its place, or in a clause of its own."""
    how = rng.random()
    if how < 0.5:
        return statement(question, answer, rng)
    if how < 0.75:
        return statement(question, rng.choice(_DENIALS).format(wrong=answer, right=wrong), rng)
    said, other = (statement(question, text, rng).rstrip(".") for text in (answer, wrong))
    return rng.choice(_ARGUED).format(other=other, said=said, wrong=wrong)


def statement(question: str, answer: str, rng: random.Random) -> str:
    """Turn a question and its answer into a statement, good enough for features that look at words."""
    body = _QUESTION_START.sub("", question.strip()).rstrip(" ?.")
    text = f"{body} {answer}" if rng.random() < 0.6 or not body else f"{answer} {body}"
    return text[:1].upper() + text[1:] + "."


def answered(passages: list[Context], n_each: int, rng: random.Random) -> list[Pair]:
    """State right and wrong answers to questions on a passage, against its sentences.

    The right answer is entailed by the sentence that answers, another of its kind contradicts it; to the
    passage's other sentences either is neutral. Both deny the other as often: denial alone says nothing.
    """
    pool: dict[str, list[str]] = {}
    for passage in passages:
        for text, _ in passage.answers:
            pool.setdefault(answer_type(text) or f"other {min(len(text.split()), 5)}", []).append(text)
    found: list[Pair] = []
    for passage in passages:
        spans = sentence_spans(passage.text)
        for question, right, start in rng.sample(passage.questions, min(n_each, len(passage.questions))):
            where = [s.text for s in spans if s.start <= start and start + len(right) <= s.end]
            here = [text for text, _ in passage.answers if answer_type(text) == answer_type(right)]
            others = (
                _others(pool, right, passage.text, rng)
                + [t for t in here if t not in right and right not in t][:2]
            )
            if not where or not others or len(right.split()) > 8:
                continue
            wrong = rng.choice(others)
            said = {
                "entailment": argued(question, right, wrong, rng),
                "contradiction": argued(question, wrong, right, rng),
            }
            held_out = passage.held_out
            found += [
                Pair(where[0], text, label, "reading-answered", held_out) for label, text in said.items()
            ]
            found += _two_denials(question, right, wrong, held_out, rng)
            hypothesis = facts_of(rng.choice(list(said.values())))
            rest = sorted(
                (s.text for s in spans if s.text != where[0] and right not in s.text),
                key=lambda text: -len(facts_of(text).words & hypothesis.words),
            )
            if rest:
                found += [
                    Pair(rest[0], said[k], "neutral", "reading-unanswered", held_out)
                    for k in rng.sample(list(said), 1)
                ]
    return found


def _two_denials(question: str, right: str, wrong: str, held_out: bool, rng: random.Random) -> list[Pair]:
    """Set two statements against one another that both deny: the same thing, or what the other says."""
    if rng.random() < 0.7:
        return []
    first = statement(question, rng.choice(_DENIALS).format(wrong=wrong, right=right), rng)
    label, (a, b) = rng.choice((("entailment", (wrong, right)), ("contradiction", (right, wrong))))
    second = statement(question, rng.choice((*_DENIALS, "{wrong}")).format(wrong=a, right=b), rng)
    return [Pair(first, second, label, "reading-denied", held_out)]


def _others(pool: dict[str, list[str]], answer: str, text: str, rng: random.Random) -> list[str]:
    """Answers to other questions with this one's shape and no word of it, and not in the text."""
    alike = pool.get(answer_type(answer) or f"other {min(len(answer.split()), 5)}", [])
    words = set(answer.lower().split())
    return [
        o
        for o in rng.sample(alike, min(20, len(alike)))
        if not set(o.lower().split()) & words and o not in text
    ]


def composed(
    pairs: list[Pair],
    reading: list[Context],
    changed: list[tuple[Context, str, str, str]],
    rng: random.Random,
) -> list[Pair]:
    """Make passages of several sentences of which at most one pair is not neutral, as in a real corpus.

    A claim, or a sentence with another answer, is put among the sentences of a neighbouring passage;
    neighbours as they are, are neutral.
    """
    found: list[Pair] = []
    texts = [c.text for c in reading]
    near = neighbours(texts, 6)
    for i, context in enumerate(reading):
        for j in near[i][:3]:
            if reading[j].held_out == context.held_out:
                found.append(Pair(context.text, texts[j], "neutral", "passages-near", context.held_out))
    place = {c.text: i for i, c in enumerate(reading)}
    for context, before, after, _ in changed:
        filler = texts[rng.choice(near[place[context.text]])]
        label, said = rng.choice((("contradiction", after), ("entailment", before)))
        found.append(
            Pair(
                context.text,
                _insert(filler, said, context.text, rng),
                label,
                "passages-substituted",
                context.held_out,
            )
        )
    for pair in answered([c for c in reading if c.held_out], 4, rng):
        if pair.origin == "reading-answered":
            whole = next(c.text for c in reading if pair.premise in c.text)
            text = _insert(texts[rng.choice(near[place[whole]])], pair.hypothesis, whole, rng)
            found.append(Pair(whole, text, pair.label, "passages-answered", pair.held_out))
    found += planted([row for row in changed if row[0].held_out], rng)
    found += disputed(reading, near, rng)
    fever = [p for p in pairs if p.origin in {"fever", "fever-neutral"}]
    chosen = rng.sample(fever, min(5_000, len(fever)))
    evidence = [p.premise for p in chosen]
    near = neighbours(evidence, 4)
    for i, pair in enumerate(chosen):
        filler = _insert(evidence[rng.choice(near[i])], pair.hypothesis, pair.premise, rng)
        found.append(Pair(pair.premise, filler, pair.label, f"passages-{pair.origin}", pair.held_out))
    return found


def planted(changed: list[tuple[Context, str, str, str]], rng: random.Random) -> list[Pair]:
    """Repeat much of a passage and add one sentence: with another answer, or of another passage.

    What is added decides: repeating what is true makes nothing true.
    """
    found = []
    for number, (context, before, after, _) in enumerate(changed):
        sentences = [s.text for s in sentence_spans(context.text)]
        kept = [s for s in sentences if s != before or rng.random() < 0.5]
        kept = kept[: rng.randint(1, len(kept))] if kept else sentences
        other = changed[(number + 1) % len(changed)][1]
        label, added = rng.choice((("contradiction", after), ("entailment", other)))
        kept.insert(rng.randint(0, len(kept)), added)
        found.append(Pair(context.text, " ".join(kept), label, "passages-planted", context.held_out))
    return found


def disputed(reading: list[Context], near: list[list[int]], rng: random.Random) -> list[Pair]:
    """Argue an answer in several sentences: a right or a wrong one, or one to a neighbour's question."""
    pool: dict[str, list[str]] = {}
    for passage in reading:
        for text, _ in passage.answers:
            pool.setdefault(answer_type(text) or f"other {min(len(text.split()), 5)}", []).append(text)
    found = []
    for passage, others in zip(reading, near, strict=True):
        if not passage.held_out:
            continue
        neighbour = reading[rng.choice(others)]
        for number in range(min(4, len(passage.questions))):
            label = ("entailment", "contradiction", "neutral", rng.choice(LABELS))[number]
            asked = neighbour if label == "neutral" else passage
            question, right, _ = rng.choice(asked.questions)
            wrong = _others(pool, right, asked.text, rng)
            if not wrong or len(right.split()) > 8:
                continue
            said, against = (wrong[0], right) if label == "contradiction" else (right, wrong[0])
            lines = [argued(question, said, against, rng) for _ in range(rng.randint(1, 3))]
            lines += [s.text for s in sentence_spans(neighbour.text)][:2]
            rng.shuffle(lines)
            found.append(Pair(passage.text, " ".join(lines), label, "passages-disputed", passage.held_out))
    return found


def _insert(filler: str, said: str, against: str, rng: random.Random) -> str:
    """Put a sentence at a random place among up to four of another text that do not repeat ``against``."""
    known = [facts_of(s.text).words for s in sentence_spans(against)]
    others = [s.text for s in sentence_spans(filler) if not _repeats(facts_of(s.text).words, known)][:4]
    others.insert(rng.randint(0, len(others)), said)
    return " ".join(others)


def _repeats(words: frozenset[str], known: list[frozenset[str]]) -> bool:
    return any(len(words & other) > 0.5 * len(words | other) for other in known)


def neighbours(texts: list[str], n: int) -> list[list[int]]:
    """Find the texts that share most words, weighted by rarity; never an almost equal one."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    matrix = TfidfVectorizer(sublinear_tf=True, stop_words="english", max_df=0.2).fit_transform(texts)
    found: list[list[int]] = []
    for start in range(0, len(texts), 512):
        similar = (matrix[start : start + 512] @ matrix.T).toarray()
        top = np.argsort(-similar, axis=1, kind="stable")[:, : n + 8]
        for row, columns in enumerate(top):
            near = [int(j) for j in columns if j != start + row and similar[row, j] < 0.8]
            found.append(near[:n] or [(start + row + 1) % len(texts)])
    return found
