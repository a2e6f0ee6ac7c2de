"""Exported rankings measure the same with another program as they do here."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.bench import trec
from veridical.bench.report.frame import Frame
from veridical.bench.report.stats import mean
from veridical.bench.rows import Results

pytrec_eval = pytest.importorskip("pytrec_eval")


@pytest.fixture
def folder(compared: Path, tmp_path: Path) -> Path:
    with Results(compared, read_only=True) as kept:
        written = trec.export(kept, tmp_path / "trec")
    assert sorted(path.name for path in written) == sorted(
        path.name for path in (tmp_path / "trec").iterdir()
    )
    return tmp_path / "trec"


@pytest.mark.parametrize("attack", ["clean", "own"])
def test_another_program_finds_the_same_ndcg(folder: Path, frame: Frame, attack: str) -> None:
    qrels = pytrec_eval.parse_qrel((folder / f"qrels.towns.{attack}.true.txt").open())
    run = pytrec_eval.parse_run((folder / f"run.towns.{attack}.trusting.feedback_0.3.txt").open())
    found = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.5"}).evaluate(run)
    known = next(one for one in frame.known if one.share == 0.3 and one.accuracy == 1.0)
    ours = frame.values("towns", attack, "trusting", known, "clean ndcg@5")
    assert {f"{seed}-{question}": value for (question, seed), value in ours.items()} == pytest.approx(
        {topic: values["ndcg_cut_5"] for topic, values in found.items()}
    )
    assert 0.0 < mean(ours).value <= 1.0


def test_false_passages_have_qrels_of_their_own(folder: Path) -> None:
    lines = (folder / "qrels.towns.own.false.txt").read_text("utf-8").split("\n")
    assert "0-opera 0 2-opera-f0 1" in lines
    assert not (folder / "qrels.towns.clean.false.txt").exists()


def test_failures_have_no_ranking(folder: Path) -> None:
    text = (folder / "run.towns.own.faulty.txt").read_text("utf-8")
    assert "0-fair " in text and "0-opera " not in text


def test_names_hold_no_blanks(folder: Path) -> None:
    for path in folder.iterdir():
        assert " " not in path.name
        fields = {len(line.split(" ")) for line in path.read_text("utf-8").splitlines()}
        assert fields == {4 if path.name.startswith("qrels") else 6}
