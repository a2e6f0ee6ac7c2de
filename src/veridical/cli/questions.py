"""The command ``ask``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.board import print_board
from veridical.cli.chains import chain_options, print_best_chain, print_trace, save_trace
from veridical.cli.options import KB_DEFAULT, Json, Kb, Method
from veridical.cli.output import announce, out, print_json, trust_text
from veridical.cli.waiting import waiting
from veridical.types import Answer, Citation, Conflict, Hit, RelationKind

_MAX_CONFLICTS = 5
_NARROW = 72


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(ask)


def ask(
    question: Annotated[str, typer.Argument(help="The question.")],
    kb: Kb = KB_DEFAULT,
    top_k: Annotated[int, typer.Option("--top-k", "-k", help="Passages to answer from.")] = 5,
    method: Method = None,
    trust_weight: Annotated[
        float | None, typer.Option(metavar="0..1", help="How much trust counts; 0 is plain retrieval.")
    ] = None,
    no_trust: Annotated[bool, typer.Option("--no-trust", help="Plain retrieval and a plain prompt.")] = False,
    retriever: Annotated[
        str | None, typer.Option(metavar="NAME", help="hybrid, dense or bm25. Default: hybrid.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option(metavar="DATE", help="Leave out documents of later dates.")
    ] = None,
    generator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="reader (the heaviest candidate), llm, extractive (a sentence), or auto: "
            "a configured LLM, else the reader.",
        ),
    ] = "auto",
    read: Annotated[
        bool, typer.Option("--read/--no-read", help="Read the nearest passages one by one, or only retrieve.")
    ] = True,
    n_read: Annotated[int, typer.Option("--n-read", metavar="N", help="Passages to read.")] = 20,
    always_answer: Annotated[
        bool, typer.Option("--always-answer", help="Answer even where the evidence is thin or tied.")
    ] = False,
    context: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Method reliable: answer from the chains' triples (tbs) or the passages behind them (sbs). "
            "Default: tbs for a language model, sbs for the reader.",
        ),
    ] = None,
    credibility: Annotated[
        str | None,
        typer.Option(
            metavar="FROM",
            help="Method reliable: what triples are believed by: llm, trust, joint or none. "
            "Default: llm where a language model answers, else trust.",
        ),
    ] = None,
    selector: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Method reliable: what chooses the next triple: embedded or llm."),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Method reliable: show hop by hop how the chains were found.")
    ] = False,
    trace_html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Method reliable: write the trace as a page.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Answer a question, with the evidence: candidates and who gives them, trust, and what contradicts what.

    With --json the trace of method reliable is there only with --trace, since it is long.

    Examples:

      veridical ask "Which port does the VPN use?"

      veridical ask "How long are backups kept?" --always-answer

      veridical ask "Where is the office?" --no-read --no-trust

      veridical ask "Who approves purchases?" --as-of 2024-06-30 --json

      veridical ask "Who heads the team that runs the VPN?" --method reliable --trace
    """
    from veridical.pipeline.asking import exit_code
    from veridical.pipeline.facade import Veridical

    chains = chain_options(context, credibility, selector, traced=trace or trace_html is not None)
    with Veridical.open(kb, announce=announce) as v, waiting("reading and answering"):
        answer = v.ask(
            question,
            top_k=top_k,
            method=method,
            trust_weight=trust_weight,
            use_trust=not no_trust,
            retriever=retriever,
            as_of=as_of,
            generator=generator,  # type: ignore[arg-type]
            read=read,
            n_read=n_read,
            always_answer=always_answer,
            chains=chains,
        )
    shown = answer if trace else replace(answer, trace=None)
    if as_json:
        print_json(shown)
    else:
        print_answer(answer)
        print_trace(shown)
    if trace or trace_html is not None:
        save_trace(answer, trace_html)
    return exit_code(answer)


def print_answer(answer: Answer) -> None:
    """Print an answer with all that it rests on."""
    out.print()
    out.print(_headline(answer))
    likely = "" if answer.probability is None or not answer.text else f"{answer.probability:.0%} likely · "
    out.print(
        Text(
            f"{answer.ref if answer.id else 'not stored'} · {answer.status} · {likely}{answer.generator} · "
            f"method {answer.method} · "
            f"{sum(answer.seconds.values()) * 1000:.0f} ms",
            style="dim",
        )
    )
    for citation in answer.citations:
        out.print(_citation(citation))
    for citation in answer.dropped_citations:
        out.print(Text(f"  dropped {citation.marker}: {citation.problem}", style="yellow"))
    print_best_chain(answer)
    print_board(answer)
    if answer.hits:
        out.print(_hits(answer.hits))
    for hit in answer.kept_out:
        out.print(_kept_out(hit))
    if answer.conflicts:
        out.print(_conflicts(answer.conflicts))
        if len(answer.conflicts) > _MAX_CONFLICTS:
            out.print(Text(f"... {len(answer.conflicts)} in all; --json lists them.", style="dim"))
    for note in answer.notes:
        out.print(Text(f"note: {note}", style="dim"))
    _ask_for_a_vote(answer)


def _headline(answer: Answer) -> Text:
    if answer.text:
        return Text(answer.text, style="bold")
    if answer.status == "abstained":
        return Text("No answer: the evidence does not settle it.", style="bold yellow")
    if answer.status == "no_evidence" and answer.hits:
        return Text("No answer: nothing that was found answers this question.", style="bold yellow")
    if answer.status == "no_evidence":
        return Text("No answer: nothing that was ingested fits this question.", style="bold yellow")
    return Text("No answer. The evidence that was retrieved is below.", style="bold red")


def _ask_for_a_vote(answer: Answer) -> None:
    if not answer.id:
        return
    first = f"{answer.ref}.{answer.candidates[0].number}" if answer.candidates else ""
    if answer.citations:
        or_else = f"(or bad; or one candidate: {first})" if first else "(or bad)"
        out.print(Text(f"Was it right? veridical feedback good {answer.ref}   {or_else}", style="dim"))
    elif first:
        out.print(Text(f"Do you know better? veridical feedback good {first}   (or bad)", style="dim"))


def _citation(citation: Citation) -> Text:
    where = f"d{citation.document_id} at {citation.start}-{citation.end}"
    return Text.assemble(
        f"  {citation.marker} ", (f"“{_short(citation.quote, 160)}”", "italic"), (f"  ({where})", "dim")
    )


def _hits(hits: tuple[Hit, ...]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    if out.width < _NARROW:
        return _narrow_hits(table, hits)
    for name, justify in (("#", "right"), ("id", "left"), ("trust", "left"), ("relevance", "right")):
        table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("document", ratio=2, overflow="fold")
    table.add_column("why", ratio=2, overflow="fold")
    for number, hit in enumerate(hits, 1):
        document = hit.document
        about = Text.assemble(
            document.title or document.key,
            (f"\n{document.key}", "dim"),
            (f" · {document.date}" if document.date else "", "dim"),
        )
        why = "; ".join(reason.text for reason in hit.reasons)
        table.add_row(
            Text(f"[{number}]"),
            document.ref,
            trust_text(hit.trust, hit.label),
            f"{hit.relevance:.3f}\n(place {hit.relevance_rank})",
            about,
            Text(why, style="dim"),
        )
    return table


def _narrow_hits(table: Table, hits: tuple[Hit, ...]) -> Table:
    """One column beside the number, for terminals without room for six."""
    table.add_column("#", no_wrap=True)
    table.add_column("document, and why it stands here", overflow="fold")
    for number, hit in enumerate(hits, 1):
        document = hit.document
        why = "; ".join(reason.text for reason in hit.reasons)
        about = Text.assemble(
            f"{document.ref} {document.title or document.key} · ",
            trust_text(hit.trust, hit.label),
            (f"\n{document.key} · relevance {hit.relevance:.3f} (place {hit.relevance_rank})", "dim"),
            (f"\n{why}" if why else "", "dim"),
        )
        table.add_row(Text(f"[{number}]"), about)
    return table


def _kept_out(hit: Hit) -> Text:
    document = hit.document
    return Text.assemble(
        ("kept out by trust: ", "dim"),
        f"{document.ref} {document.title or document.key} (place {hit.relevance_rank} by relevance, trust ",
        trust_text(hit.trust, hit.label),
        ")",
    )


def _conflicts(conflicts: tuple[Conflict, ...]) -> Table:
    """The surest contradictions, both sentences side by side; of time where the later one comes first."""
    table = Table(title="What contradicts what", title_style="bold red", title_justify="left")
    table.add_column("one", ratio=1, overflow="fold")
    table.add_column("", justify="center", no_wrap=True)
    table.add_column("the other", ratio=1, overflow="fold")
    for conflict in conflicts[:_MAX_CONFLICTS]:
        later = conflict.kind is RelationKind.SUPERSEDES
        table.add_row(
            Text.assemble((f"d{conflict.left_document} ", "bold"), conflict.left_span.text),
            Text(f"{'later than' if later else 'against'}\n{conflict.confidence:.2f}", style="dim"),
            Text.assemble((f"d{conflict.right_document} ", "bold"), conflict.right_span.text),
        )
    return table


def _short(text: str, n: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= n else line[: n - 3].rstrip() + "..."
