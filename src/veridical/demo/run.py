"""The demo: the main job on the bundled corpus, before and after a little feedback."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from veridical.corpus.read import read_all
from veridical.corpus.scan import scan
from veridical.errors import InputError, VeridicalError
from veridical.pipeline.explaining import TrustOverview
from veridical.pipeline.facade import Veridical
from veridical.pipeline.progress import Progress
from veridical.settings import Settings
from veridical.types import (
    Answer,
    BuildReport,
    FeedbackReport,
    IngestReport,
    Problem,
    Record,
    RelationView,
    SourceDocument,
)

Verdict = Literal["right", "wrong", "open"]
N_CONFLICTS = 8


@dataclass(frozen=True, slots=True)
class DemoQuestion(Record):
    """One question with its two answers; the verdicts are for the table only."""

    question: str
    about: str
    before: Answer
    after: Answer
    before_verdict: Verdict
    after_verdict: Verdict
    before_source: str
    after_source: str
    judged: bool


@dataclass(frozen=True, slots=True)
class DemoFeedback(Record):
    """One piece of feedback and what it moved."""

    key: str
    value: float
    by: str
    note: str
    report: FeedbackReport


@dataclass(frozen=True, slots=True)
class DemoResult(Record):
    """All that the demo shows."""

    ingest: IngestReport
    build: BuildReport
    questions: tuple[DemoQuestion, ...]
    feedback: tuple[DemoFeedback, ...]
    trust: TrustOverview
    conflicts: tuple[RelationView, ...]


def run_demo(
    kb: Path,
    *,
    settings: Settings | None = None,
    progress: Progress | None = None,
    announce: Callable[[str], None] | None = None,
) -> DemoResult:
    """Ingest and build the bundled corpus, ask, give feedback, and ask again. No language model takes part.

    Parameters
    ----------
    kb
        Folder of the knowledge base. What an earlier demo left there is used again, its feedback undone.

    Raises
    ------
    InputError
        Another knowledge base is there.
    VeridicalError
        Not all of the bundled corpus can be ingested, so that the demo would show something else.
    """
    folder = resources.files("veridical.demo")
    script = tomllib.loads(folder.joinpath("demo.toml").read_text("utf-8"))
    with (
        resources.as_file(folder.joinpath("corpus")) as corpus,
        Veridical.open(kb, settings=settings, progress=progress, announce=announce) as v,
    ):
        _check_own(v, kb, corpus)
        ingest = v.ingest(corpus, key_root=corpus)
        if ingest.problems:
            raise _incomplete(ingest.problems)
        v.questions.clear()  # an earlier demo's questions would be answered better than new ones
        build = v.build(method="veridical")
        for item in v.list_feedback():
            if item.state != "undone":
                v.undo_feedback(item.ref)
        before = [_ask(v, q["text"]) for q in script["question"]]
        feedback = tuple(
            DemoFeedback(
                f["key"],
                float(f["value"]),
                f["by"],
                f["note"],
                v.feedback(f["key"], float(f["value"]), by=f["by"], note=f["note"]),
            )
            for f in script["feedback"]
        )
        after = [_ask(v, q["text"]) for q in script["question"]]
        judged = {f.key for f in feedback}
        questions = tuple(
            _question(q, b, a, judged) for q, b, a in zip(script["question"], before, after, strict=True)
        )
        return DemoResult(ingest, build, questions, feedback, v.trust(), tuple(v.conflicts(top=N_CONFLICTS)))


def _check_own(v: Veridical, kb: Path, corpus: Path) -> None:
    """Refuse a knowledge base with documents that are not the demo's: its feedback would be undone."""
    if not (kb / "kb.sqlite").is_file():
        if kb.is_dir() and any(kb.iterdir()):
            raise InputError(
                f"{kb} is not empty and holds no knowledge base.", "Name an empty folder with --kb."
            )
        return
    bundled = read_all(scan([corpus], key_root=corpus))
    own = {found.key for found in bundled if isinstance(found, SourceDocument)}
    if not {document.key for document in v.documents()} <= own:
        raise InputError(f"{kb} holds another knowledge base.", "Name an empty folder with --kb.")


def _incomplete(problems: Sequence[Problem]) -> VeridicalError:
    more = f" There are {len(problems) - 1} more such problems." if len(problems) > 1 else ""
    return VeridicalError(
        f"The demo's own documents cannot be ingested: {problems[0].path} {problems[0].reason}{more}",
        "Name an empty folder with --kb; if that does not help, install veridical again.",
    )


def _ask(v: Veridical, question: str) -> Answer:
    return v.ask(question, generator="reader")


def _question(script: dict[str, object], before: Answer, after: Answer, judged: set[str]) -> DemoQuestion:
    right, wrong = _strings(script["right"]), _strings(script["wrong"])
    # A question counts as judged if a document that answers it, rightly or wrongly, was.
    own = {
        hit.document.key
        for answer in (before, after)
        for hit in answer.hits
        if any(_says(hit.passage.text, value) for value in (*right, *wrong))
    }
    return DemoQuestion(
        question=str(script["text"]),
        about=str(script["about"]),
        before=before,
        after=after,
        before_verdict=_verdict(before.text, right, wrong),
        after_verdict=_verdict(after.text, right, wrong),
        before_source=_cited(before),
        after_source=_cited(after),
        judged=bool(own & judged),
    )


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _verdict(text: str, right: Sequence[str], wrong: Sequence[str]) -> Verdict:
    if any(_says(text, value) for value in wrong):
        return "wrong"
    return "right" if any(_says(text, value) for value in right) else "open"


def _says(text: str, value: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def _cited(answer: Answer) -> str:
    cited = {citation.document_id for citation in answer.citations}
    keys = [hit.document.key for hit in answer.hits if hit.document.id in cited]
    return ", ".join(dict.fromkeys(keys))
