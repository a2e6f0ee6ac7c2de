"""The benchmark script of method reliable, from data to figures, on five made-up questions without models."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest
from multihops import QUESTIONS, Engine, first_town, n_words, write_questions

from veridical.bench.chain_llm import N_ANSWERS
from veridical.testing.fakes import FakeReader, HashEncoder

PATH = Path(__file__).parents[2] / "benchmarks" / "reliable.py"
DATASETS = ("hotpotqa", "2wikimultihopqa", "musique")


class FakeModels:
    """Stands in for the models that the script would load."""

    def __init__(self, settings, announce=None):
        self.encoder = HashEncoder()

    def reader(self, spec):
        assert spec == "embedded"
        return FakeReader()


class FakeEngine(Engine):
    """Stands in for a GGUF file; counts calls over all instances."""

    n_calls = 0

    def __init__(self, path, *, n_threads=None):
        super().__init__(self._said)

    def _said(self, messages):
        FakeEngine.n_calls += 1
        text = messages[-1].content
        if "<lines>" in text or "Question:" in text:
            return first_town(messages)
        return "<Ada Lind; was born in; Malmo>" if "Ada Lind was born in Malmo" in text else "score: 7"

    count_tokens = staticmethod(n_words)

    def close(self):
        pass


@pytest.fixture
def script(monkeypatch):
    spec = importlib.util.spec_from_file_location("reliable_benchmark", PATH)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "Models", FakeModels)
    monkeypatch.setattr(module, "LlamaCppLLM", FakeEngine)
    return module


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in DATASETS:
        write_questions(folder / f"{name}.jsonl", QUESTIONS)
    return folder


@pytest.fixture
def run(script, data, tmp_path, monkeypatch):
    """Calls the script with some options; its exit code and the figures that it wrote, without the commit."""

    def call(*options, folder=data, out="figures.json"):
        path = tmp_path / out
        given = [str(folder), "--work", str(tmp_path / "work"), "--json", str(path), *options]
        monkeypatch.setattr(sys, "argv", ["reliable.py", *given])
        code = script.main()
        if not path.is_file():
            return code, None
        rows = json.loads(path.read_text("utf-8"))
        assert all(row.pop("commit") for row in rows)
        return code, rows

    return call


def by_metric(rows, metric):
    return {(row["dataset"], row["setting"]): row for row in rows if row["metric"] == metric}


def test_all_data_sets_are_run_clean_and_under_both_poisons(run, capsys):
    code, rows = run("--seeds", "1")
    assert code == 0
    strict = by_metric(rows, "strict")
    attacks = ("clean", "clean, alterable", "substituted", "template")
    assert {(name, setting.split(" | ")[0]) for name, setting in strict} == {
        (name, attack) for name in DATASETS for attack in attacks
    }
    counts = {setting.split(" | ")[0]: row["n"] for (_, setting), row in strict.items()}
    # Of five questions two can be altered, and one has no wrong answer for a template to tell.
    assert counts == {"clean": 5, "clean, alterable": 2, "substituted": 2, "template": 4}
    by_oracle = strict["hotpotqa", "substituted | TBS | ideal"]
    assert (by_oracle["method"], by_oracle["seeds"], by_oracle["limit"]) == ("reliable", 1, "all")
    assert (by_oracle["encoder"], by_oracle["reader"]) == ("hash-384", "fake-reader-1")
    assert by_metric(rows, "poisoned chains")["musique", "substituted | TBS | none"]["value"] is not None
    said = capsys.readouterr().out
    assert "commit " in said.splitlines()[0]
    assert (
        "hotpotqa: 5 questions; nothing can be substituted in 3 (answer in no supporting passage 1, "
        "no wrong answer 1, yes or no 1)" in said
    )
    assert "hotpotqa: evidence and poison in the chains" in said


def test_clean_questions_have_no_poison_and_no_credibility(run):
    _, rows = run("--datasets", "musique", "--seeds", "1")
    clean = {setting for _, setting in by_metric(rows, "strict") if setting.startswith("clean |")}
    assert {setting.split(" | ")[2] for setting in clean} == {"none"}
    poison = by_metric(rows, "context poisoned")
    assert all(poison["musique", setting]["value"] is None for setting in clean)


def test_a_limit_asks_the_first_questions_with_the_wrong_answers_of_all(run, capsys):
    code, rows = run("--limit", "1", "--datasets", "hotpotqa", "--seeds", "1")
    assert code == 0
    assert {row["n"] for row in by_metric(rows, "strict").values()} == {1}
    assert {row["limit"] for row in rows} == {1}
    assert "hotpotqa: 1 questions; nothing can be substituted in 0 (none)" in capsys.readouterr().out


def test_a_second_call_takes_its_rows_from_the_work_folder(run, script, monkeypatch):
    _, first = run("--datasets", "hotpotqa", "--seeds", "1")
    monkeypatch.setattr(script.chain_runs, "run", lambda *_, **__: pytest.fail("searched again"))
    _, again = run("--datasets", "hotpotqa", "--seeds", "1", out="again.json")
    assert again == first


def test_data_that_is_not_there_ends_with_a_message(run, tmp_path, capsys):
    code, rows = run(folder=tmp_path / "nowhere")
    assert (code != 0, rows) == (True, None)
    said = capsys.readouterr()
    assert "There is no data set 'hotpotqa'" in said.err.replace("\n", " ")
    assert "Traceback" not in said.err


def test_a_language_model_is_put_to_questions_that_can_be_altered_and_goes_on(run, tmp_path, capsys):
    kept = tmp_path / "examined.jsonl"
    options = ("--only-llm", "--llm", "model.gguf", "--llm-questions", "2", "--examined", str(kept))
    code, rows = run(*options)
    assert code == 0
    strict = by_metric(rows, "strict")
    assert {name for name, _ in strict} == {"hotpotqa", "2wikimultihopqa", "both"}
    assert len(strict) == 3 * N_ANSWERS
    assert strict["hotpotqa", "top 5, clean"]["n"] == 2
    assert strict["hotpotqa", "top 5, clean"]["method"] == "made"
    assert "language model made" in capsys.readouterr().out
    lines = [json.loads(line) for line in kept.read_text("ascii").splitlines()]
    assert [(line["dataset"], line["question"]) for line in lines] == [
        ("hotpotqa", "orsa"),
        ("2wikimultihopqa", "orsa"),
        ("hotpotqa", "mora"),
        ("2wikimultihopqa", "mora"),
    ]
    n_calls = FakeEngine.n_calls
    code, again = run(*options, out="again.json")
    assert (code, again) == (0, rows)
    assert FakeEngine.n_calls == n_calls
    # Without the kept figures the replies are still there, and give the same figures.
    kept.unlink()
    assert run(*options, out="third.json") == (0, rows)
    assert FakeEngine.n_calls == n_calls
