"""The command line: what it prints, where it prints it, and with which code it ends."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from veridical.cli.app import app

Cli = Callable[..., Any]
ESCAPE = re.compile(r"\x1b")


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(commands(typer.main.get_command(app)))
QUESTION = "Which port is that of the gateway?"


def test_every_command_of_the_issue_is_there() -> None:
    named = {" ".join(path) for path in ALL}
    assert {
        "ingest", "build", "ask", "delete", "export", "import", "status", "check", "demo",
        "feedback good", "feedback bad", "feedback grade", "feedback list", "feedback undo",
        "feedback export", "feedback import", "relations", "conflicts", "trust show", "trust top",
        "trust explain", "questions list", "questions add", "questions clear", "questions export",
        "questions on", "questions off",
        "models list", "models pull", "models path", "models cache",
        "bench run", "bench report", "bench compare", "bench list", "bench fetch", "bench export",
    } == named  # fmt: skip


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_explains_itself_with_an_example(cli: Cli, path: tuple[str, ...]) -> None:
    ran = cli(*path, "--help")
    assert ran.code == 0
    assert "Example" in ran.out
    assert f"veridical {' '.join(path)}" in " ".join(ran.out.split())
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_and_every_option_has_a_help_text_and_takes_json(path: tuple[str, ...]) -> None:
    command = ALL[path]
    assert "--json" in {option for p in command.params for option in p.opts}
    missing = [p.name for p in command.params if not getattr(p, "help", None)]
    assert missing == []


JSON_RUNS = (
    ("ingest", "corpus"),
    ("build", "--dry-run"),
    ("build",),
    ("ask", QUESTION, "--always-answer"),
    ("feedback", "good", "d1"),
    ("feedback", "bad", "a1"),
    ("feedback", "good", "a1.2"),
    ("feedback", "grade", "d2", "--value", "0.4"),
    ("feedback", "list"),
    ("feedback", "export"),
    ("feedback", "export", "votes.jsonl"),
    ("feedback", "import", "votes.jsonl"),
    ("feedback", "undo", "f1"),
    ("trust", "show", "d1"),
    ("trust", "top"),
    ("trust", "explain", "d1"),
    ("relations", "d1"),
    ("conflicts",),
    ("status",),
    ("check",),
    ("export", "backup.zip"),
    ("import", "backup.zip", "--kb", "other"),
    ("delete", "d1"),
    ("models", "list"),
    ("models", "path", "minilm-l6-int8"),
)


def test_json_is_all_that_stdout_has_and_plain_output_is_no_json(cli: Cli, corpus: Path) -> None:
    for arguments in JSON_RUNS:
        ran = cli(*arguments, "--json")
        assert ran.code == 0, (arguments, ran.err)
        assert isinstance(json.loads(ran.out), dict | list), arguments
    cli("feedback", "bad", "d2")
    for arguments in JSON_RUNS[2:-4]:
        ran = cli(*arguments)
        assert ran.code in (0, 2), (arguments, ran.err)
        assert not ESCAPE.search(ran.out + ran.err), arguments
        assert "Traceback" not in ran.err


def test_the_first_ten_minutes(cli: Cli, corpus: Path) -> None:
    ran = cli("ingest", "corpus")
    assert "4 added" in ran.out
    assert "veridical build" in ran.out
    early = cli("ask", QUESTION)
    assert early.code == 0
    assert "not built yet" in early.out
    assert "veridical build" in early.out
    assert "contradict" in cli("build").out
    asked = cli("ask", QUESTION)
    assert "8080" in asked.out
    assert "443" in asked.out
    assert "What contradicts what" in asked.out
    assert "No answer: the evidence does not settle it" in asked.out
    assert "Candidate answers" in asked.out
    assert "veridical feedback good a2.1" in asked.out
    wrong = re.search(r"(a2\.\d) .* 8080", asked.out)
    assert wrong
    voted = cli("feedback", "bad", wrong[1], "--by", "anna", "--note", "old")
    assert re.search(r"Recorded f1: 0 on d\d \(\S+\.md\) by anna", voted.out)
    assert re.search(r"unknown +0\.\d\d (HIGH|MEDIUM|LOW)", voted.out)
    assert "ncalibrated" in voted.out
    again = cli("ask", QUESTION)
    assert again.out.strip().startswith("443")
    assert re.search(r"a3 · answered · \d\d% likely · reader", again.out)
    assert "veridical feedback good a3 " in again.out
    assert "ncalibrated" in again.out
    assert "after trust" in cli("ask", QUESTION, "--no-read").out
    assert "judgements" in cli("trust", "explain", "d1").out
    listed = cli("feedback", "list").out
    assert "anna" in listed
    assert wrong[1] in listed
    undone = cli("feedback", "undo", wrong[1])
    assert "Undone f1" in undone.out
    assert "unknown" in undone.out
    assert "Nothing dangles" in cli("check").out
    assert "4 documents" in cli("status").out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("ask", ""), 2, "empty"),
        (("ask", "q", "--top-k", "0"), 2, "top_k"),
        (("ask", "q", "--top-k", "many"), 2, "--top-k"),
        (("ask", "q", "--trust-weight", "nan"), 2, "trust weight"),
        (("ask", "q", "--method", "magic"), 2, "magic"),
        (("ask", "q", "--retriever", "magic"), 2, "magic"),
        (("ask", "q", "--generator", "magic"), 2, "magic"),
        (("ask", "q", "--generator", "llm"), 2, "No language model"),
        (("ask", "q", "--as-of", "soon"), 2, "soon"),
        (("ask",), 2, "Usage: veridical ask"),
        (("ask", "q", "--nonsense"), 2, "--nonsense"),
        (("nonsense",), 2, "nonsense"),
        (("feedback", "nonsense"), 2, "nonsense"),
        (("feedback", "good", "d99"), 2, "d99"),
        (("feedback", "good", "a99"), 2, "a99"),
        (("feedback", "good", "a99.1"), 2, "no answer a99"),
        (("feedback", "good", "a1.2.3"), 2, "a1.2.3"),
        (("ask", "q", "--n-read", "0"), 2, "n_read"),
        (("ask", "q", "--no-read", "--generator", "reader"), 2, "--no-read"),
        (("feedback", "grade", "d1", "--value", "7"), 2, "7"),
        (("feedback", "grade", "d1"), 2, "value"),
        (("feedback", "good", "d1", "--weight", "0"), 2, "weight"),
        (("feedback", "undo", "f99"), 2, "f99"),
        (("feedback", "import", "missing.jsonl"), 2, "missing.jsonl"),
        (("feedback", "export", "no/such/file"), 2, "no/such/file"),
        (("trust", "show", "nobody"), 2, "nobody"),
        (("trust", "explain", "d99"), 2, "d99"),
        (("trust", "top", "-n", "0"), 2, "-n"),
        (("delete", "d99"), 2, "d99"),
        (("import", "missing.zip"), 2, "missing.zip"),
        (("export", "no/such/x.zip"), 4, "no/such/x.zip"),
        (("build", "--nli", "magic"), 2, "magic"),
        (("models", "pull", "magic"), 2, "magic"),
        (("models", "path", "magic"), 2, "magic"),
        (("ingest", "missing"), 3, "missing"),
        (("ingest", "corpus/empty.md", "--strict"), 3, "empty.md"),
        (("status", "--kb", "nowhere"), 4, "nowhere"),
        (("ask", "q", "--kb", "file"), 4, "file"),
        (("ingest", "corpus", "--kb", "file"), 4, "file"),
    ],
)
def test_errors_have_a_code_say_what_is_wrong_and_are_on_stderr(
    cli: Cli, kb: Path, arguments: tuple[str, ...], code: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("not a folder")
    Path("corpus/empty.md").write_text("")
    if "--nli" in arguments:
        from veridical.pipeline import facade, models

        monkeypatch.setattr(facade, "Models", models.Models)
    ran = cli(*arguments)
    assert ran.code == code, ran.err
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == "" or arguments == ("ingest", "missing")


def test_what_cannot_be_read_is_listed_and_is_no_failure_while_something_can(cli: Cli, corpus: Path) -> None:
    (corpus / "empty.md").write_text("")
    ran = cli("ingest", "corpus")
    assert ran.code == 0
    assert "empty.md" in ran.err
    assert "1 skipped" in ran.out


def test_check_ends_with_one_if_something_dangles(cli: Cli, kb: Path) -> None:
    import shutil

    shutil.rmtree(kb / "index")
    ran = cli("check")
    assert ran.code == 1
    assert "BM25" in ran.out
    assert cli("check", "--json").code == 1


def test_status_says_what_is_behind(cli: Cli, corpus: Path) -> None:
    cli("ingest", "corpus")
    assert "4 without vectors" in cli("status").out
    cli("build")
    assert "0 without vectors" in cli("status").out


def test_version_and_bare_command(cli: Cli) -> None:
    from veridical import __version__

    assert cli("--version").out.strip() == f"veridical {__version__}"
    assert "ingest" in cli("--help").out
    bare = cli()
    assert "Usage" in bare.out + bare.err
    assert "Traceback" not in bare.err


HOSTILE = (
    "[red]red[/red] [/] [bold] [link=http://evil] :smile: "
    "\x1b[31mansi\x1b]0;title\x07 \x9b31m \u202egnp.exe <script>alert(1)</script> {{ 7*7 }} %s %(x)s \\"
)


def test_hostile_documents_cannot_steer_the_terminal(cli: Cli, tmp_path: Path) -> None:
    rows = [
        {
            "id": f"k{i} {HOSTILE}",
            "title": HOSTILE,
            "source": f"s{i} {HOSTILE}",
            "text": f"The port of the gateway is {n} for the staff {HOSTILE}. " + "x" * 5000,
        }
        for i, n in enumerate((443, 8080, 443))
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    name = tmp_path / "d[/]x"
    for path in (name / "[red]a[" / "b].txt", name / "e[" / "].txt", tmp_path / "x[" / "y"):
        path.parent.mkdir(parents=True)
        path.write_text("" if path.name == "].txt" else "Tea is served at four.")
    for arguments in (
        ("ingest", "rows.jsonl", "d[/]x", "--kb", "k[/]b"),
        ("build", "--kb", "k[/]b"),
        ("ask", QUESTION + HOSTILE, "--kb", "k[/]b"),
        ("feedback", "bad", "d1", "--kb", "k[/]b", "--by", HOSTILE, "--note", HOSTILE),
        ("feedback", "list", "--kb", "k[/]b"),
        ("ask", QUESTION, "--kb", "k[/]b"),
        ("trust", "top", "--kb", "k[/]b"),
        ("trust", "show", "d1", "--kb", "k[/]b"),
        ("trust", "explain", "d2", "--kb", "k[/]b"),
        ("trust", "show", HOSTILE, "--kb", "k[/]b"),
        ("status", "--kb", "k[/]b"),
        ("export", "x[/].zip", "--kb", "k[/]b"),
        ("delete", "d2", "d1", "--kb", "k[/]b"),
    ):
        ran = cli(*arguments)
        assert ran.code in (0, 2), (arguments, ran.err)
        assert "Traceback" not in ran.err
        for stream in (ran.out, ran.err):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", stream), arguments
    for arguments in (("trust", "top"), ("feedback", "list"), ("ask", QUESTION)):
        ran = cli(*arguments, "--json", "--kb", "k[/]b")
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", ran.out)
        json.loads(ran.out)


def test_markup_in_a_document_is_shown_as_it_is(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The [red]port[/red] of the gateway is :warning: 443.")
    cli("ingest", "a.txt")
    assert "The [red]port[/red] of the gateway is :warning: 443." in " ".join(
        cli("ask", QUESTION).out.split()
    )


@pytest.mark.parametrize("columns", ["40", "20", "1", "500"])
def test_any_width_will_do(cli: Cli, kb: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    cli("feedback", "good", "d1")
    monkeypatch.setenv("COLUMNS", columns)
    for arguments in (
        ("ask", QUESTION),
        ("trust", "top"),
        ("trust", "explain", "d2"),
        ("status",),
        ("ask", "-h"),
    ):
        ran = cli(*arguments)
        assert ran.code == 0
        assert "Traceback" not in ran.err
        if columns == "40":
            assert max(len(line) for line in ran.out.splitlines()) <= 100


def test_feedback_travels_through_a_file_whatever_its_notes_hold(cli: Cli, kb: Path) -> None:
    cli("feedback", "good", "d1", "--note", "two\u2028lines\u0085here")
    assert cli("feedback", "export", "votes.jsonl").code == 0
    cli("feedback", "undo", "f1")
    ran = cli("ingest", "corpus", "--kb", "other")
    ran = cli("feedback", "import", "votes.jsonl", "--kb", "other", "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["recorded"]) == 1


def test_an_answer_of_nothing_says_so(cli: Cli, kb: Path) -> None:
    ran = cli("ask", "zzz", "--retriever", "bm25")
    assert ran.code == 0
    assert "No answer: nothing that was ingested fits" in ran.out


STATES: dict[str, tuple[tuple[str, ...], ...]] = {
    "empty": (("ingest", "nothing"),),
    "empty and built": (("ingest", "nothing"), ("build",)),
    "not built": (("ingest", "corpus"),),
    "not built but judged": (("ingest", "corpus"), ("feedback", "good", "d1")),
    "built": (("ingest", "corpus"), ("build",)),
    "built by the published method": (
        ("ingest", "corpus"),
        ("build", "--method", "trustprop"),
        ("feedback", "good", "d1"),
    ),
    "all deleted": (
        ("ingest", "corpus"),
        ("build",),
        ("feedback", "good", "d1"),
        ("delete", "d1", "d2", "d3", "d4"),
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_in_every_state_every_command_answers_or_says_why_not(
    cli: Cli, corpus: Path, tmp_path: Path, state: str
) -> None:
    (tmp_path / "nothing").mkdir()
    for arguments in STATES[state]:
        assert cli(*arguments).code == 0, arguments
    for arguments in (
        ("ask", QUESTION),
        ("ask", QUESTION, "--method", "trustprop", "--retriever", "dense"),
        ("ask", QUESTION, "--no-trust", "--retriever", "bm25", "--as-of", "2020"),
        ("trust", "top"),
        ("trust", "top", "--lowest", "--method", "trustprop"),
        ("trust", "show", "d2"),
        ("trust", "explain", "d2"),
        ("trust", "explain", "d2", "--method", "trustprop"),
        ("feedback", "list"),
        ("feedback", "grade", "d2", "--value", "0.5"),
        ("feedback", "good", "a1"),
        ("feedback", "undo", "f1"),
        ("feedback", "export"),
        ("status",),
        ("check",),
        ("export", "x.zip"),
        ("import", "x.zip"),
        ("import", "x.zip", "--merge"),
        ("build", "--dry-run"),
        ("ingest", "corpus"),
        ("build",),
        ("check",),
        ("delete", "d1"),
        ("check",),
    ):
        for form in ((), ("--json",)):
            ran = cli(*arguments, *form)
            assert ran.code in (0, 2), (arguments, ran.out, ran.err)
            assert ran.code == 0 or ran.err, arguments
            assert arguments != ("check",) or ran.code == 0


def test_an_explanation_names_how_far_from_the_optimum_the_published_solver_stopped(
    cli: Cli, kb: Path
) -> None:
    cli("feedback", "bad", "d1")
    shown = cli("trust", "explain", "d1", "--method", "trustprop")
    found = json.loads(cli("trust", "explain", "d1", "--method", "trustprop", "--json").out)
    assert found["unfinished"] > 0.005
    assert f"{found['unfinished']:+.3f} unfinished" in shown.out
    assert "unfinished" not in cli("trust", "explain", "d1").out
