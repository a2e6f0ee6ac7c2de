"""Puts a report together from a run's rows."""

from __future__ import annotations

from veridical.bench import beliefs
from veridical.bench.report import claim, curves, quality, styles, tables
from veridical.bench.report.blocks import Block, Cell, Heading, Report, Table, Text, row
from veridical.bench.report.frame import Frame
from veridical.errors import InputError

FEW = 100
"""With fewer questions than this, a report says that it can show little."""


def build(frame: Frame, against: str | None = None) -> Report:
    """Make a report.

    Parameters
    ----------
    frame
        The rows.
    against
        The system that the others are tested against; by default the configuration's.

    Raises
    ------
    InputError
        That system has no rows.
    """
    chosen = against or str(frame.facts["against"])
    if chosen not in frame.systems:
        if against is not None:
            raise InputError(f"{against!r} has no rows.", "Those that have: " + ", ".join(frame.systems))
        chosen = frame.systems[0]
    facts = frame.facts
    blocks: list[Block] = [
        *claim.section(frame),
        *tables.overview(frame),
        *tables.answers(frame, chosen),
        *tables.rankings(frame),
        *curves.section(frame, chosen),
        *quality.trust(frame),
        *quality.calibration(frame, chosen),
        *quality.cost(frame, chosen),
        *_systems(frame),
        *_not_run(frame),
        *_corpora(frame),
        *_limitations(frame),
    ]
    protocol = facts["protocol"]
    lead = f"{protocol['title']} (protocol {protocol['name']}). {' '.join(protocol['about'].split())}"
    return Report(str(facts["title"]), lead, _facts(frame), tuple(blocks))


def _facts(frame: Frame) -> tuple[tuple[str, str], ...]:
    facts, models = frame.facts, frame.facts["models"]
    sizes = frame.n_answered
    several = f"{min(sizes)} to {max(sizes)} a data set and attack"
    return (
        ("questions", several if len(set(sizes)) > 1 else str(sizes[0])),
        ("seeds", ", ".join(map(str, facts["seeds"]))),
        ("language model", models["llm"] or "none: the reader answers"),
        ("reader", models["reader"]),
        ("encoder", models["encoder"]),
        ("inference", models["nli"]),
        ("machine", facts["machine"]),
        ("version", ", ".join(sorted({row.version for row in frame.all_rows()}))),
    )


def _systems(frame: Frame) -> list[Block]:
    """What was compared, and what is not as published."""
    rows = []
    for label, about in frame.facts["systems"].items():
        belief = beliefs.WAYS.get(about["belief"])
        trust = "" if not about["belief"] else belief.about if belief else about["belief"]
        texts = (about["paper"], about["calls"], trust, about["differs"])
        rows.append(row(frame.title(label), texts))
    columns = ("system", "paper", "calls a question", "trust by", "not as published")
    notes = ("k is the number of passages.",)
    failed = frame.n_failed()
    found: list[Block] = [Heading("Systems"), Table(columns, tuple(rows), "What was compared", notes)]
    if failed:
        lines = tuple(f"{frame.title(system)}: {n} failed answers" for system, n in failed.items())
        found += [
            Text(("Failures count as no answer: in exact match as wrong, in attack success as no success.",)),
            Text(lines, as_list=True),
        ]
    noted = {note: frame.title(r.key.system) for r in frame.all_rows() for note in r.notes}
    if noted:
        found.append(Text(("What systems note of their answers:",)))
        found.append(Text(tuple(f"{who}: {note}" for note, who in noted.items()), as_list=True))
    return found


def _not_run(frame: Frame) -> list[Block]:
    systems = frame.facts["systems"]
    lacking = {frame.title(name): about["lacks"] for name, about in systems.items() if about["lacks"]}
    lacking |= {f"attack {name}": lacks for name, lacks in frame.facts.get("attacks_not_run", {}).items()}
    blocks: list[Block] = [Heading("Not run")]
    if not lacking:
        return [*blocks, Text(("Every system and attack of the configuration could run.",))]
    rows = tuple(row(name, [", ".join(lacks)]) for name, lacks in lacking.items())
    return [*blocks, Table(("system", "lacks"), rows, "What was not run, and what it waits for")]


def _corpora(frame: Frame) -> list[Block]:
    rows = []
    for about in frame.corpora.values():
        texts = (
            about["attack"],
            str(about["seed"]),
            f"{about['n_questions']:,}",
            f"{about['n_documents']:,}",
            f"{about['n_false']:,}",
            f"{about['n_sources']:,}" if about["n_sources"] else "none",
            "; ".join(about["notes"]),
        )
        rows.append((Cell(about["dataset"]), *(Cell(text) for text in texts)))
    columns = ("data set", "attack", "seed", "asked", "documents", "false", "sources", "notes")
    return [
        Heading("Corpora"),
        Table(columns, tuple(rows), "What was indexed and asked"),
        *styles.table(frame),
    ]


def _limitations(frame: Frame) -> list[Block]:
    models, sizes = frame.facts["models"], frame.n_answered
    lines = [
        "Feedback is simulated from labels: documents are judged at random, whether or not anybody would "
        "read them, and mistakes are made at random, too.",
        "Labels hold for their question; a passage counts as true or false for all of them.",
        "Relations from questions come from the questions that are asked, each as if it had been asked once "
        "before.",
        "FP@5 counts any true document, so true ones that have nothing to do with the question raise it: "
        "read it beside clean recall and clean nDCG.",
        "The encoder was itself trained on question-passage pairs of nq and triviaqa, among many others.",
        "An attack that never succeeds can be had by never answering: read attack success beside strict EM "
        "and the share without an answer.",
        "Intervals and tests are over the questions of these data sets and say nothing of others.",
    ]
    lines[:0] = frame.facts.get("notes", [])
    if not models["llm"]:
        lines.append(
            "No language model took part: the embedded reader answers for every system, so systems that "
            "differ only in their prompts are alike, and the differences are those of ranking and filtering."
        )
    if min(sizes) < FEW:
        lines.append(
            f"Some figures stand on {min(sizes)} questions. With so few, a difference of less than about "
            f"{1.4 / min(sizes) ** 0.5:.2f} in exact match cannot be told from chance; figures on them show "
            "that a system runs, not how good it is."
        )
    if any("simulated" in note for about in frame.corpora.values() for note in about["notes"]):
        lines.append("Sources are simulated where a data set has none of its own.")
    return [Heading("Limitations"), Text(tuple(lines), as_list=True)]
