"""Commands about documents: ingest, build, delete, export, import, status, check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import KB_DEFAULT, REFERENCE, Json, Kb, Method
from veridical.cli.output import Bars, announce, counted, err, out, print_json
from veridical.types import BuildReport, IngestReport

if TYPE_CHECKING:
    from veridical.pipeline.backup import BackupReport

_MAX_PROBLEMS = 20


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (ingest, build, delete, export, status, check):
        app.command()(command)
    app.command(name="import")(import_)


def ingest(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Files and folders.")],
    kb: Kb = KB_DEFAULT,
    prefix: Annotated[str, typer.Option(metavar="NAME", help="Put before every document key.")] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first unreadable file.")] = False,
    as_json: Json = False,
) -> int:
    """Read documents: JSONL (own schema or BEIR), text, Markdown, HTML, PDF.

    A file that has not changed is left alone; one that has replaces its old version everywhere. What cannot
    be read is reported and skipped.

    Examples:

      veridical ingest handbook/ wiki/

      veridical ingest news.jsonl --prefix news
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb, progress=Bars(), announce=announce) as v:
        report = v.ingest(*paths, prefix=prefix, strict=strict)
    if as_json:
        print_json(report)
    else:
        _print_ingest(report, kb)
    nothing = not (report.added or report.replaced or report.unchanged)
    return 3 if nothing and report.problems else 0


def _print_ingest(report: IngestReport, kb: Path) -> None:
    for problem in report.problems[:_MAX_PROBLEMS]:
        line = f", line {problem.line}" if problem.line else ""
        err.print(Text.assemble(("skipped ", "yellow"), f"{problem.path}{line} {problem.reason}"))
    if len(report.problems) > _MAX_PROBLEMS:
        err.print(f"... and {len(report.problems) - _MAX_PROBLEMS} more; --json lists all.")
    for note in report.notes:
        err.print(Text(note, style="dim"))
    out.print(
        f"{report.added} added, {report.replaced} replaced, {report.unchanged} unchanged, "
        f"{len(report.problems)} skipped; {report.n_passages} passages in {kb} "
        f"({sum(report.seconds.values()):.1f} s)."
    )
    if report.added or report.replaced:
        out.print("Next: veridical build")


def build(
    kb: Kb = KB_DEFAULT,
    method: Method = None,
    nli: Annotated[
        str | None, typer.Option(metavar="NAME", help="NLI backend: features, onnx:FOLDER, or llm.")
    ] = None,
    reader: Annotated[
        str | None, typer.Option(metavar="NAME", help="Reader: embedded, onnx:FOLDER, or llm.")
    ] = None,
    extractor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Find the triples of all passages, for method reliable: embedded, or llm."
        ),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Questions to add to the log, one a line.")
    ] = None,
    made: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Questions that a document puts to its neighbours; 0 for none. Remembered; at first 4.",
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what it would cost.")] = False,
    as_json: Json = False,
) -> None:
    """Bring indexes, relations and trust up to date; only what changed is done again.

    A build that is stopped goes on where it was when it is run again.

    Examples:

      veridical build --dry-run

      veridical build --method trustprop

      veridical build --questions faq.txt
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb, progress=Bars(), announce=announce) as v:
        report = v.build(
            method=method,
            nli=nli,
            reader=reader,
            extractor=extractor,
            questions=questions,
            made=made,
            dry_run=dry_run,
        )
    if as_json:
        print_json(report)
    else:
        _print_build(report)


def _print_build(report: BuildReport) -> None:
    if report.estimate_only:
        seconds = sum(report.seconds.values())
        out.print(
            f"A build would embed {report.n_embedded:,} of {counted(report.n_passages, 'passage')}, judge "
            f"about {counted(report.n_pairs_judged, 'passage pair')} and read at most "
            f"{counted(report.n_read, 'passage')} for {counted(report.n_questions, 'logged question')} and "
            f"those that documents put to one another: about {_duration(seconds)} on this machine."
        )
    else:
        out.print(
            f"{counted(report.n_documents, 'document')} from {counted(report.n_sources, 'source')}, "
            f"{counted(report.n_passages, 'passage')} ({report.n_embedded:,} newly embedded), "
            f"{counted(report.n_pairs, 'passage pair')} ({report.n_pairs_judged:,} newly judged)."
        )
        out.print(
            f"{counted(report.n_questions, 'question')} in the log, {report.n_made:,} that documents put to "
            f"their neighbours ({counted(report.n_read, 'passage')} newly read), and by what they answer "
            f"these agree or clash: {counted(report.n_question_pairs, 'passage pair')}."
        )
        if report.n_extracted:
            out.print(
                f"{counted(report.n_triples, 'triple')} newly found in "
                f"{counted(report.n_extracted, 'passage')}."
            )
        out.print(
            f"Between documents: {report.n_supports} support, {report.n_contradicts} contradict, "
            f"{report.n_supersedes} supersede. Method: {report.method}."
        )
        stages = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in report.seconds.items())
        out.print(Text(f"{_duration(sum(report.seconds.values()))}: {stages}.", style="dim"))
    for note in report.notes:
        out.print(Text(note, style="dim"))


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"


def delete(
    documents: Annotated[list[str], typer.Argument(metavar="DOC...", help=f"{REFERENCE}.")],
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Remove documents and all that was derived from them.

    Feedback on them stays on record, without effect unless the same text comes back.

    Example: veridical delete d12 forum/old-thread.html
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        gone = v.delete(*documents)
    if as_json:
        print_json(gone)
        return
    for document in gone:
        out.print(f"Deleted {document.ref} ({document.key}).")


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A zip file to write.")],
    kb: Kb = KB_DEFAULT,
    as_json: Json = False,
) -> None:
    """Write all that is truth (documents, feedback, query log, settings) to one file.

    Example: veridical export backup.zip
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        report = v.export(file)
    if as_json:
        print_json(report)
    else:
        out.print(f"{_held(report)} in {file}.")


def _held(report: BackupReport) -> str:
    return (
        f"{report.n_documents} documents, {report.n_feedback} items of feedback and {report.n_questions} "
        "questions"
    )


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that export wrote.")],
    kb: Kb = KB_DEFAULT,
    merge: Annotated[bool, typer.Option("--merge", help="Add to documents that are here.")] = False,
    as_json: Json = False,
) -> None:
    """Read an export, all of it or nothing.

    Example: veridical import backup.zip --kb restored
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        report = v.import_(file, merge=merge)
    if as_json:
        print_json(report)
    else:
        out.print(f"{_held(report)} from {file}.")
        for note in report.notes:
            out.print(Text(note, style="dim"))
        out.print("Next: veridical build")


def status(kb: Kb = KB_DEFAULT, as_json: Json = False) -> None:
    """Say what is here, and what is behind.

    Example: veridical status --json
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        report = v.status()
    if as_json:
        print_json(report)
        return
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    counts = f"{report.documents} documents, {report.passages} passages, {report.sources} sources"
    feedback = ", ".join(f"{n} {state}" for state, n in report.feedback.items()) or "none yet"
    behind = f"{report.lexical_behind} passages not in BM25, {report.vectors_behind} without vectors"
    asked = f"{report.question_pairs} passage pairs from questions, {report.made_pairs} from one another"
    log = f"{'on' if report.query_log else 'off'}; {report.questions} questions"
    log += f", {report.questions_behind} of them new since the build" * bool(report.questions_behind)
    judged = f"{report.n_judged_documents} judged documents, "
    rows = [
        (
            "Knowledge base",
            f"{report.folder} ({report.bytes / 1e6:.1f} MB){', read-only' * report.read_only}",
        ),
        ("Content", counts),
        ("Built", ("yes; " if report.built else "no; ") + behind),
        ("Relations", f"{report.judged_pairs} passage pairs judged, {asked}"),
        ("Query log", log),
        ("Feedback", feedback),
        ("Trust", judged + ("calibrated" if report.calibrated else "uncalibrated (ten are needed)")),
        ("Method", report.method),
    ]
    for name, value in rows:
        table.add_row(Text(name, style="bold"), Text(value))
    out.print(table)


def check(kb: Kb = KB_DEFAULT, as_json: Json = False) -> int:
    """Prove that nothing dangles; exits with 1 if something does.

    Example: veridical check
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        report = v.check()
    if as_json:
        print_json(report)
    elif report.problems:
        for problem in report.problems:
            out.print(Text(problem, style="red"))
    else:
        out.print("Nothing dangles.")
    return 1 if report.problems else 0
