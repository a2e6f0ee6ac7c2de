"""The commands ``veridical trust ...``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from veridical.cli.options import KB_DEFAULT, REFERENCE, Json, Kb, Method
from veridical.cli.output import out, print_json, trust_text

if TYPE_CHECKING:
    from veridical.pipeline.explaining import Explanation, TrustedNode

_LEAST_FLOW = 0.005  # what would be printed as nought

app = typer.Typer(help="See what is trusted, and why.", no_args_is_help=True)


@app.command()
def show(
    document: Annotated[str, typer.Argument(metavar="DOC", help=f"{REFERENCE}.")],
    kb: Kb = KB_DEFAULT,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """Show the trust of one document, of its source, and the feedback on it.

    Example: veridical trust show d12
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        found = v.explain(document, method=method, top=0)
    if as_json:
        print_json(found)
        return
    _head(found)
    for item in found.feedback:
        out.print(Text(f"  {item.ref}: {item.value:g} by {item.by} at {item.at} ({item.state}) {item.note}"))
    for source in found.sources:
        if source.name == found.document.source:
            out.print(Text.assemble(f"  source {source.name}: ", trust_text(source.trust, source.label)))
    for note in found.notes:
        out.print(Text(f"note: {note}", style="dim"))


@app.command()
def top(
    kb: Kb = KB_DEFAULT,
    n: Annotated[int, typer.Option("-n", min=1, help="How many of each.")] = 10,
    lowest: Annotated[bool, typer.Option("--lowest", help="The least trusted first.")] = False,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """List the most (or least) trusted documents, and all sources by their own trust.

    Example: veridical trust top --lowest -n 20
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        found = v.trust(method=method)
    if as_json:
        print_json(found)
        return
    documents = tuple(reversed(found.documents)) if lowest else found.documents
    out.print(_nodes(documents[:n], "documents"))
    out.print(_nodes(found.sources[:n], "sources"))
    for note in found.notes:
        out.print(Text(f"note: {note}", style="dim"))


@app.command()
def explain(
    document: Annotated[str, typer.Argument(metavar="DOC", help=f"{REFERENCE}.")],
    kb: Kb = KB_DEFAULT,
    n: Annotated[int, typer.Option("-n", min=1, help="How many judgements and relations.")] = 8,
    method: Method = None,
    as_json: Json = False,
) -> None:
    """List the judgements and relations that moved a document's trust, with their shares.

    Example: veridical trust explain d12
    """
    from veridical.pipeline.facade import Veridical

    with Veridical.open(kb) as v:
        found = v.explain(document, method=method, top=n)
    if as_json:
        print_json(found)
    else:
        _explain(found)


def _explain(found: Explanation) -> None:
    _head(found)
    parts = (
        f"  before calibration {found.raw:.3f} = 0.5 {found.anchor_contribution:+.3f} from judgements"
        f" {found.prior_contribution + found.constant:+.3f} from elsewhere"
    )
    if abs(found.unfinished) > _LEAST_FLOW:
        parts += f" {found.unfinished:+.3f} unfinished: the solver stopped that far from the optimum"
    out.print(Text(parts, style="dim"))
    if found.anchors:
        table = Table(title="judgements", title_justify="left", box=None, padding=(0, 2, 0, 0))
        for name in ("document", "judged", "moves trust by", "share", ""):
            table.add_column(name, header_style="dim", overflow="fold")
        for anchor in found.anchors:
            given = "; ".join(anchor.given)
            cells = (
                f"{anchor.ref} {anchor.name}",
                given,
                f"{anchor.contribution:+.3f}",
                f"{anchor.share:.0%}",
            )
            table.add_row(*(Text(cell) for cell in cells), Text("█" * round(20 * anchor.share), style="cyan"))
        out.print(table)
    if found.relations:
        table = Table(title="relations", title_justify="left", box=None, padding=(0, 2, 0, 0))
        for name in ("between", "kind", "weight", "flow", "without it"):
            table.add_column(name, header_style="dim", overflow="fold")
        for relation in found.relations:
            if relation.flow < _LEAST_FLOW and abs(relation.effect) < _LEAST_FLOW:
                continue
            row = (
                f"{relation.head} – {relation.tail}",
                relation.kind,
                f"{relation.weight:.3f}",
                f"{relation.flow:.0%}",
                f"{relation.effect:+.3f}",
            )
            table.add_row(*(Text(cell) for cell in row))
            for sentence in relation.sentences or ():
                table.add_row(Text(f"    {sentence}", style="italic dim"))
        out.print(table)
    out.print(_nodes(found.sources, "sources"))
    for note in found.notes:
        out.print(Text(f"note: {note}", style="dim"))


def _head(found: Explanation) -> None:
    document = found.document
    out.print(
        Text.assemble(
            (f"{document.ref} {document.title or document.key}", "bold"),
            (f"  {document.key}  ", "dim"),
            "trust ",
            trust_text(found.trust, found.label),
            ("" if found.calibrated or found.trust is None else " (uncalibrated)", "dim"),
        )
    )


def _nodes(nodes: tuple[TrustedNode, ...], title: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("trust", "id", "name", "documents" if title == "sources" else "source", "judged"):
        table.add_column(name, overflow="fold")
    for node in nodes:
        if node.kind == "source":
            cells = ("", node.name, str(node.n_documents), str(node.n_judged))
        else:
            cells = (node.ref, node.name, node.source or "", "yes" if node.n_judged else "")
        table.add_row(trust_text(node.trust, node.label), *(Text(cell) for cell in cells))
    return table
