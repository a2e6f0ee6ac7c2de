"""An answer without a language model: the sentence of the retrieved passages that is best supported.

A sentence's standing is its relevance to the question, times the trust of its document, times what other
documents say to the same effect. The sentence is given word for word, with a citation to its place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from veridical.answer.cite import cite_sentence
from veridical.answer.words import covered, values, weight, words
from veridical.corpus.split import is_heading, sentences
from veridical.errors import InputError
from veridical.types import Citation, Hit, Record, Span

FloatArray = NDArray[np.floating]
Embed = Callable[[Sequence[str]], FloatArray]

GENERATOR = "extractive"
NEUTRAL_TRUST = 0.5

_COSINE_SHARE = 0.5
_SATURATION = 1.2
_USUAL_WORDS = 12.0
_LENGTH_SHARE = 0.4
_SUPPORT_GAIN = 0.5
_SAME_WORDS = 0.5
_SAME_WORDS_WITH_VALUE = 0.2
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Candidate(Record):
    """One sentence, and what speaks for it.

    Attributes
    ----------
    marker
        The place of its passage among the hits, from 1.
    sentence
        With offsets into the passage.
    relevance
        To the question, in [0, 1].
    trust
        Of its document; 0.5 where it is not known.
    support
        From other documents, in [0, 1); copies of one text count as one voice. Looked for only where it
        could still make this sentence the best one, else 0.
    supporters
        Ids of the documents that say the same.
    standing
        ``relevance * trust * (1 + support / 2)``: what candidates are ordered by.
    """

    marker: int
    passage_id: int
    document_id: int
    sentence: Span
    relevance: float
    trust: float
    support: float = 0.0
    supporters: tuple[int, ...] = ()
    standing: float = 0.0


@dataclass(frozen=True, slots=True)
class Extraction(Record):
    """The best-supported sentence, its citation, and the runners-up (best first, itself included)."""

    text: str
    citation: Citation
    best: Candidate
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    hit: Hit
    marker: int
    row: int
    span: Span
    words: tuple[str, ...]
    distinct: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]


def extract_answer(
    question: str,
    hits: Sequence[Hit],
    *,
    question_vector: FloatArray | None = None,
    sentence_vectors: Mapping[int, FloatArray] | None = None,
    embed: Embed | None = None,
    max_encoded: int = 4,
) -> Extraction | None:
    """Choose the best-supported sentence among the hits.

    Parameters
    ----------
    question
        The question.
    hits
        The top k passages, most useful first.
    question_vector
        Shape (d,), L2-normalised: the question's embedding, where retrieval has it already.
    sentence_vectors
        By passage id, shape (n_sentences, d), L2-normalised: embeddings of
        ``veridical.corpus.split.sentences(passage.text)``, in that order. Entries of another length are
        passed over.
    embed
        Texts to L2-normalised rows, for what is not in ``sentence_vectors``. Only the ``max_encoded``
        sentences that fit the question best by their words are encoded.
    max_encoded
        The most sentences to encode, 0 or more.

    Returns
    -------
    Extraction or None
        ``None`` where the hits hold no sentence at all. Without vectors and ``embed``, relevance comes from
        shared words alone.

    Raises
    ------
    InputError
        If ``max_encoded`` is negative.
    """
    if max_encoded < 0:
        raise InputError(f"max_encoded is {max_encoded}.", "Pass 0 or more.")
    asked = frozenset(words(question))
    found = _collect(hits, asked)
    if not found:
        return None
    shared = [_shared(asked, sentence) for sentence in found]
    cosine = _cosines(question, found, shared, question_vector, sentence_vectors or {}, embed, max_encoded)
    relevance = shared
    if cosine:  # a sentence that was not worth encoding counts as unlike the question
        relevance = [_mix(share, cosine.get(place, 0.0)) for place, share in enumerate(shared)]
    candidates = _stand(found, relevance)
    best = candidates[0]
    passage = hits[best.marker - 1].passage
    notes = ["no language model took part: this is the best-supported sentence, word for word"]
    if best.supporters:
        n = len(best.supporters)
        notes.append(f"{n} other document{'s say' if n > 1 else ' says'} the same")
    return Extraction(
        text=best.sentence.text,
        citation=cite_sentence(best.marker, passage, best.sentence),
        best=best,
        candidates=tuple(candidates),
        notes=tuple(notes),
    )


def _collect(hits: Sequence[Hit], asked: frozenset[str]) -> list[_Sentence]:
    """All sentences that could answer; questions and scraps only where there is nothing else."""
    everything: list[_Sentence] = []
    for place, hit in enumerate(hits):
        for row, span in enumerate(sentences(hit.passage.text)):
            numbers, names = values(span.text)
            held = tuple(words(span.text))
            everything.append(
                _Sentence(hit, place + 1, row, span, held, frozenset(held), numbers - asked, names - asked)
            )
    telling = [
        s
        for s in everything
        if len(s.words) >= _LEAST_WORDS and not s.span.text.endswith("?") and not is_heading(s.span.text)
    ]
    return telling or everything


def _shared(asked: frozenset[str], sentence: _Sentence) -> float:
    """Words shared with the question, in [0, 1]: BM25's saturation and length damping, without its idf.

    The document's title counts half, since a sentence rarely repeats what its page is about.
    """
    total = sum(weight(word) for word in asked)
    if not total:
        return 0.0
    counts = Counter(sentence.words)
    title = words(sentence.hit.document.title)
    damp = 1.0 - _LENGTH_SHARE + _LENGTH_SHARE * len(sentence.words) / _USUAL_WORDS
    got = 0.0
    for word in asked:
        if counts[word]:
            got += weight(word) * counts[word] * (1 + _SATURATION) / (counts[word] + _SATURATION * damp)
        elif word in title:
            got += 0.5 * weight(word)
    return min(1.0, got / total)


def _cosines(
    question: str,
    found: Sequence[_Sentence],
    shared: Sequence[float],
    question_vector: FloatArray | None,
    sentence_vectors: Mapping[int, FloatArray],
    embed: Embed | None,
    max_encoded: int,
) -> dict[int, float]:
    """Cosine to the question by place in ``found``: all that are cached, or those worth encoding."""
    cached = _cached(found, sentence_vectors) if question_vector is not None or embed is not None else {}
    missing = [place for place in range(len(found)) if place not in cached]
    short = sorted(missing, key=lambda place: -shared[place])[:max_encoded] if embed is not None else []
    texts = [found[place].span.text for place in short]
    if question_vector is None:
        if embed is None or not (cached or short):
            return {}
        rows = np.asarray(embed([question, *texts]), dtype=np.float64)
        question_vector, rows = rows[0], rows[1:]
    else:
        rows = np.asarray(embed(texts), dtype=np.float64) if embed is not None and texts else np.empty((0, 0))
    vectors = {**cached, **{place: rows[i] for i, place in enumerate(short)}}
    asked = np.asarray(question_vector, dtype=np.float64)
    return {place: float(np.clip(vector @ asked, 0.0, 1.0)) for place, vector in vectors.items()}


def _cached(found: Sequence[_Sentence], sentence_vectors: Mapping[int, FloatArray]) -> dict[int, FloatArray]:
    cached: dict[int, FloatArray] = {}
    n_rows: dict[int, int] = {}
    for place, sentence in enumerate(found):
        passage = sentence.hit.passage
        rows = sentence_vectors.get(passage.id)
        if rows is None:
            continue
        if passage.id not in n_rows:
            n_rows[passage.id] = len(sentences(passage.text))
        if rows.ndim == 2 and rows.shape[0] == n_rows[passage.id]:
            cached[place] = rows[sentence.row]
    return cached


def _mix(shared: float, cosine: float) -> float:
    return (1.0 - _COSINE_SHARE) * shared + _COSINE_SHARE * cosine


def _stand(found: Sequence[_Sentence], relevance: Sequence[float]) -> list[Candidate]:
    """Order the sentences, best first; ties stay in the order of the hits."""
    base = [share * _trust(sentence.hit) for sentence, share in zip(found, relevance, strict=True)]
    # Support raises a standing by less than this much, so that the others cannot win any more.
    contender = max(base) / (1.0 + _SUPPORT_GAIN)
    candidates: list[Candidate] = []
    for sentence, share, standing in zip(found, relevance, base, strict=True):
        support, supporters = _support(sentence, found) if standing >= contender else (0.0, ())
        candidates.append(
            Candidate(
                marker=sentence.marker,
                passage_id=sentence.hit.passage.id,
                document_id=sentence.hit.document.id,
                sentence=sentence.span,
                relevance=share,
                trust=_trust(sentence.hit),
                support=support,
                supporters=supporters,
                standing=standing * (1.0 + _SUPPORT_GAIN * support),
            )
        )
    return sorted(candidates, key=lambda candidate: -candidate.standing)


def _trust(hit: Hit) -> float:
    return NEUTRAL_TRUST if hit.trust is None or hit.trust != hit.trust else float(hit.trust)


def _support(sentence: _Sentence, found: Sequence[_Sentence]) -> tuple[float, tuple[int, ...]]:
    """How surely at least one other voice that says the same can be believed, and whose they are."""
    voices: dict[tuple[str, ...], float] = {}
    supporters: dict[int, None] = {}
    for other in found:
        document = other.hit.document.id
        # A copy, in this document or in another, is the same voice again.
        if (
            document == sentence.hit.document.id
            or other.words == sentence.words
            or not _agree(sentence, other)
        ):
            continue
        voices[other.words] = max(voices.get(other.words, 0.0), _trust(other.hit))
        supporters.setdefault(document)
    doubt = float(np.prod([1.0 - 0.5 * trust for trust in voices.values()])) if voices else 1.0
    return 1.0 - doubt, tuple(supporters)


def _agree(left: _Sentence, right: _Sentence) -> bool:
    """Whether two sentences say the same: enough words in common, and no value against a value."""
    if left.numbers - right.numbers and right.numbers - left.numbers:
        return False
    if (left.numbers or right.numbers) and not left.numbers & right.numbers:
        return False
    if left.names and right.names and not left.names & right.names:
        return False
    smaller, larger = sorted((left.distinct, right.distinct), key=len)
    same_value = bool(left.numbers & right.numbers or left.names & right.names)
    return covered(smaller, larger) >= (_SAME_WORDS_WITH_VALUE if same_value else _SAME_WORDS)
