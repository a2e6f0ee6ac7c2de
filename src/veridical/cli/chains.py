"""The trace of method ``reliable`` in a terminal: the chains, and hop by hop what was offered and chosen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from veridical.cli.output import counted, err, out
from veridical.errors import InputError
from veridical.types import Answer, Chain, ChainOption, ChainStep, Hop, Trace, Triple

if TYPE_CHECKING:
    from veridical.pipeline.reasoning import ChainOptions

_CHAINS = 5
_STEPS = 3
_ALSO = 2
_OUT = 3
_LEGEND = "probability, relevance, credibility, reliability, and the triple"


def chain_options(
    context: str | None, credibility: str | None, selector: str | None, *, traced: bool
) -> ChainOptions | None:
    """How chains are to be found; ``None`` where nothing was said about it and no trace is wanted.

    Raises
    ------
    InputError
        One of them is unknown.
    """
    if context is None and credibility is None and selector is None and not traced:
        return None
    from veridical.pipeline.reasoning import ChainOptions

    return ChainOptions(context=context, credibility=credibility, selector=selector)  # type: ignore[arg-type]


def print_best_chain(answer: Answer) -> None:
    """Print the surest chain that holds a triple on a line; nothing where there is none."""
    trace = answer.trace
    best = next((chain for chain in trace.chains if chain.triples), None) if trace else None
    if trace is None or best is None:
        return
    triples = {triple.id: triple for triple in trace.triples}
    line = Text("best chain: ", style="dim")
    line.append_text(Text(" → ").join(_claim(triples[number]) for number in best.triples))
    sure = f"  (confidence {_share(best.confidence)}; --trace shows how it was found)"
    line.append(sure, style="dim")
    out.print(line)


def save_trace(answer: Answer, path: Path | None) -> None:
    """Write the trace of an answer as a page, if a path was given.

    Raises
    ------
    InputError
        The answer has no trace.
    StoreError
        The page cannot be written.
    """
    if answer.trace is None:
        raise InputError("This answer was not reasoned along chains.", "Ask with --method reliable.")
    if path is not None:
        from veridical.ui.trace import write_trace

        write_trace(answer, path)
        err.print(Text(f"Trace: {path}", style="dim"))


def print_trace(answer: Answer) -> None:
    """Print the trace of an answer as a tree; nothing where it has none."""
    if answer.trace is not None:
        out.print(tree(answer.trace))


def tree(trace: Trace) -> Tree:
    """Lay out a trace: the surest chains with the sentences behind them, and each hop.

    Of a hop the surest chains are shown, of a chain's choices those that were kept and the likeliest others;
    how many are left out is said.
    """
    triples = {triple.id: triple for triple in trace.triples}
    root = Tree(
        Text.assemble(
            ("How it was reasoned", "bold"),
            (
                f" · {counted(trace.n_triples, 'triple')} by {trace.extractor} · "
                f"{counted(trace.n_prompts, 'choice')} by {trace.selector} · "
                f"credibility: {trace.credibility} · context: {trace.context}",
                "dim",
            ),
        ),
        guide_style="dim",
    )
    chains = root.add(Text("Chains", style="bold"))
    for chain in trace.chains[:_CHAINS]:
        _chain(chains, chain, triples)
    for hop in trace.hops:
        _hop(root, hop, triples)
    for note in trace.notes:
        root.add(Text(f"note: {note}", style="dim"))
    return root


def _chain(parent: Tree, chain: Chain, triples: Mapping[int, Triple]) -> None:
    end = "finished" if chain.finished else "cut at the last hop"
    empty = "" if chain.triples else " · no triple: it stopped at once"
    node = parent.add(Text.assemble((_share(chain.confidence), "cyan"), (f" · {end}{empty}", "dim")))
    for number in chain.triples:
        triple = triples[number]
        said = _claim(triple)
        said.append(f"\nd{triple.document_id}", style="dim")
        said.append(f" “{_line(triple.sentence.text)}”", style="italic dim")
        node.add(said)


def _hop(parent: Tree, hop: Hop, triples: Mapping[int, Triple]) -> None:
    before = f", {hop.n_finished} finished before" if hop.n_finished else ""
    node = parent.add(
        Text.assemble(
            (f"Hop {hop.number}", "bold"),
            (f" · {counted(len(hop.steps), 'chain')} continued{before}", "dim"),
            (f"\n{_LEGEND}" if hop.steps else "", "dim italic"),
        )
    )
    for step in hop.steps[:_STEPS]:
        _step(node, step, triples)
    _more(node, len(hop.steps) - _STEPS, "chain")


def _step(parent: Tree, step: ChainStep, triples: Mapping[int, Triple]) -> None:
    chain = " → ".join(
        _line(f"{triples[i].head} {triples[i].relation} {triples[i].tail}") for i in step.chain
    )
    node = parent.add(Text.assemble((_share(step.confidence), "cyan"), f" {chain or 'the empty chain'}"))
    others = sorted((o for o in step.options if not o.kept), key=lambda o: -o.probability)[:_ALSO]
    shown = [option for option in step.options if option.kept or option in others]
    for option in shown:
        node.add(_option(option, triples))
    _more(node, len(step.options) - len(shown), "choice")
    for option in step.kept_out[:_OUT]:
        node.add(_kept_out(option, triples))
    _more(node, len(step.kept_out) - _OUT, "triple", " kept out by credibility")


def _option(option: ChainOption, triples: Mapping[int, Triple]) -> Table:
    mark = ("✓ ", "bold green") if option.kept else ("  ", "")
    figures = Text.assemble(
        mark, (f"{option.label} {_share(option.probability):>5} ", "bold"), (_numbers(option), "dim")
    )
    if option.triple is None:
        return _row(figures, Text("stop: nothing more is needed", style="italic"))
    return _row(figures, _claim(triples[option.triple]))


def _kept_out(option: ChainOption, triples: Mapping[int, Triple]) -> Table:
    claim = _claim(triples[option.triple]) if option.triple is not None else Text()
    figures = Text.assemble(("✗ ", "red"), " " * 8, (_numbers(option), "dim"))
    return _row(figures, Text.assemble(("kept out by credibility: ", "red"), claim))


def _row(figures: Text, text: Text) -> Table:
    """Set figures before a text, so that those of all choices stand below each other however it wraps."""
    row = Table.grid(padding=(0, 2))
    row.add_row(figures, text)
    return row


def _numbers(option: ChainOption) -> str:
    values = (option.relevance, option.credibility, option.reliability)
    return " ".join("    " if value is None else f"{value:4.2f}" for value in values)


def _claim(triple: Triple) -> Text:
    return Text.assemble(
        (_line(triple.head), "bold"), f" · {_line(triple.relation)} · ", (_line(triple.tail), "bold")
    )


def _more(parent: Tree, n: int, what: str, how: str = "") -> None:
    if n > 0:
        parent.add(Text(f"... {n} more {what if n == 1 else what + 's'}{how}", style="dim"))


def _share(value: float) -> str:
    return "<0.1%" if 0.0 < value < 0.001 else f"{value:.0%}" if value >= 0.0995 else f"{value:.1%}"


def _line(text: str) -> str:
    return " ".join(text.split())
