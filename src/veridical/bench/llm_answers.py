"""Answers by a language model from a poisoned corpus: a plain prompt, trust labels, the evidence board."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from veridical.answer.board_context import leading
from veridical.answer.context import Style, trust_label
from veridical.answer.generate import generate_answer
from veridical.bench import answers
from veridical.bench.answers import Exam
from veridical.bench.cache import key
from veridical.bench.metrics.answers import contains
from veridical.bench.protocol import FloatArray
from veridical.bench.results import Bootstrap, Result
from veridical.errors import LLMError
from veridical.llm.base import LLM
from veridical.methods.base import Candidates
from veridical.methods.veridical import Veridical
from veridical.types import Candidate, Document, Hit, Passage

N_QUESTIONS = 60
TOP_K = 5


@dataclass(frozen=True)
class Prompt:
    """One way to ask: how the passages are ranked and written down."""

    name: str
    style: Style
    by_board: bool = False


PROMPTS = (
    Prompt("vanilla", "plain"),
    Prompt("trust labels", "veridical"),
    Prompt("board", "veridical", by_board=True),
)


@dataclass(frozen=True)
class Said:
    """What the model wrote to one question under one prompt; empty where it wrote nothing usable."""

    prompt: str
    belief: str
    question: str
    text: str
    n_tokens: int


def ask_all(
    exam: Exam,
    beliefs: dict[str, FloatArray],
    llm: LLM,
    folder: Path,
    *,
    n_questions: int = N_QUESTIONS,
    tick: Callable[[], object] | None = None,
) -> list[Said]:
    """Put the first questions of an exam to a language model, with each prompt and each belief.

    The plain prompt knows no trust and is asked once. What was answered before is taken from ``folder``.

    Parameters
    ----------
    beliefs
        Trust by name, each of shape (n_documents,).
    tick
        Called after each answer.
    """
    found = []
    store = _Store(folder / f"llm-{key(llm.name)}.jsonl")
    for place in range(min(n_questions, len(exam.questions))):
        for prompt in PROMPTS:
            for belief, trust in (
                beliefs.items() if prompt.style != "plain" else [("", answers.unknown(exam))]
            ):
                found.append(_ask(exam, place, prompt, belief, trust, llm, store))
                if tick is not None:
                    tick()
    return found


def n_calls(n_beliefs: int, n_questions: int = N_QUESTIONS) -> int:
    """Return how many answers `ask_all` gives."""
    return n_questions * sum(1 if prompt.style == "plain" else n_beliefs for prompt in PROMPTS)


def _ask(
    exam: Exam, place: int, prompt: Prompt, belief: str, trust: FloatArray, llm: LLM, store: _Store
) -> Said:
    question = exam.questions[place]
    hits = list(_hits(exam, place, trust, plain=prompt.style == "plain"))
    shown = hits[:TOP_K]
    candidates: tuple[Candidate, ...] = ()
    if prompt.by_board:
        candidates = answers.board(exam, place, trust).candidates
        shown = _with_witnesses(hits, shown, candidates)
    asked = key(prompt.name, question.text, *(f"{h.passage.text} {h.trust}" for h in shown), repr(candidates))
    text, n_tokens = store.get(asked) or store.put(
        asked, *_generate(question.text, shown, llm, prompt.style, candidates)
    )
    return Said(prompt.name, belief, question.id, text, n_tokens)


def _hits(exam: Exam, place: int, trust: FloatArray, *, plain: bool) -> Iterator[Hit]:
    """The pool as the product ranks it."""
    pool = exam.pools[place]
    believed = trust[pool.documents]
    utility = pool.relevance
    if not plain:
        candidates = Candidates(pool.relevance, pool.similarity, believed, pool.retriever)
        utility = Veridical().rank(candidates)
    for i in np.argsort(-utility, kind="stable").tolist():
        number = int(pool.documents[i])
        text = exam.corpus.texts[number]
        yield Hit(
            passage=Passage(number, number, 0, 0, len(text), text),
            document=Document(number, f"document {number}", "", "", n_passages=1, n_chars=len(text)),
            relevance=float(pool.relevance[i]),
            relevance_rank=i + 1,
            utility=float(utility[i]),
            trust=None if np.isnan(believed[i]) else float(believed[i]),
            label=trust_label(float(believed[i])),
            similarity=float(pool.similarity[i]),
        )


def _with_witnesses(hits: Sequence[Hit], shown: Sequence[Hit], candidates: Sequence[Candidate]) -> list[Hit]:
    there = {hit.passage.id for hit in shown}
    wanted = {w.passage_id for candidate in leading(candidates) for w in candidate.witnesses} - there
    return [*shown, *(hit for hit in hits if hit.passage.id in wanted)]


def _generate(
    question: str, hits: Sequence[Hit], llm: LLM, style: Style, candidates: Sequence[Candidate]
) -> tuple[str, int]:
    try:
        made = generate_answer(question, hits, llm, style=style, candidates=candidates, seed=0)
    except LLMError:
        return "", 0
    return made.text, made.usage.prompt_tokens


class _Store:
    """Answers under a key of all that was asked, one JSON line each."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, tuple[str, int]] = {}
        if path.is_file():
            for line in path.read_text("utf-8").splitlines():
                try:
                    name, text, n_tokens = json.loads(line)
                except ValueError:
                    continue  # cut off by a kill
                self._known[name] = (text, n_tokens)

    def get(self, name: str) -> tuple[str, int] | None:
        return self._known.get(name)

    def put(self, name: str, text: str, n_tokens: int) -> tuple[str, int]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as out:
            out.write("\n" + json.dumps([name, text, n_tokens]) + "\n")
        self._known[name] = (text, n_tokens)
        return text, n_tokens


def summarise(dataset: str, exam: Exam, said: Sequence[Said], llm: str) -> list[Result]:
    """Average by prompt and belief: containment EM, attack success, whether anything was written, tokens."""
    questions = {question.id: question for question in exam.questions}
    results = []
    for prompt, belief in dict.fromkeys((s.prompt, s.belief) for s in said):
        rows = [s for s in said if (s.prompt, s.belief) == (prompt, belief)]
        bootstrap = Bootstrap([s.question for s in rows])
        figures = {
            "containment": [contains(s.text, questions[s.question].answers) for s in rows],
            "attack": [answers.attacked(s.text, questions[s.question]) for s in rows],
            "answered": [bool(s.text) for s in rows],
            "prompt tokens": [float(s.n_tokens) for s in rows],
        }
        setting = f"{exam.poison} | {prompt}" + (f" | {belief}" if belief else "")
        for metric, values in figures.items():
            mean = bootstrap.mean(np.array(values, dtype=np.float64))
            results.append(Result(dataset, setting, llm, metric, mean.value, mean.low, mean.high, mean.n))
    return results


def table(results: Sequence[Result]) -> str:
    """Lay out what `summarise` returned, one line a prompt and belief."""
    found = {(r.setting, r.metric): r for r in results}
    lines = [f"{'language model, prompt':<44}{'containment EM':>20}{'attack success':>20}{'tokens':>8}"]
    for setting in dict.fromkeys(setting for setting, _ in found):
        cells = [found[setting, name] for name in ("containment", "attack")]
        text = "".join(f"{f'{r.value:.3f} [{r.low:.2f},{r.high:.2f}]':>20}" for r in cells)
        lines.append(f"{setting:<44}{text}{found[setting, 'prompt tokens'].value:>8.0f}")
    return "\n".join(lines)
