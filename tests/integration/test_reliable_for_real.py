"""Method reliable with real processes, a real client and real models: stopped, and gone on with."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from office import write_corpus

from veridical import ChainOptions, Veridical
from veridical.errors import BudgetError, ModelError
from veridical.models import ModelStore
from veridical.pipeline.models import ENCODER, Models
from veridical.settings import Settings
from veridical.testing.fakes import FakeReader, HashEncoder, ScriptedNLI
from veridical.testing.llm_server import Fault, ScriptedServer, completion

Spawn = Callable[..., subprocess.Popen[str]]
OpenKb = Callable[[str], Veridical]
N_FILES = 24
SLOW = """
import time
from veridical.evidence.extract_embedded import EmbeddedExtractor
from veridical.pipeline import extracting
extracting.BATCH = 2
see = EmbeddedExtractor.extract
EmbeddedExtractor.extract = lambda self, *given, **more: (time.sleep(0.1), see(self, *given, **more))[1]
"""
BY_LLM = ChainOptions(context="tbs", credibility="trust", selector="embedded", extractor="llm")
QUESTION = "Which setting does the gateway of room number 0 use?"


class Served(Models):
    """Real settings and a real client, on a fake encoder, reader and NLI."""

    encoder = HashEncoder()  # type: ignore[assignment]

    def nli(self, spec: str) -> ScriptedNLI:
        del spec
        return ScriptedNLI()

    def reader(self, spec: str) -> FakeReader:
        del spec
        return FakeReader()


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """Lists one triple that every page of the office bears out."""
    found = ScriptedServer()
    found.usual = Fault(completion("<room number; uses setting; change>"))
    yield found
    found.close()


@pytest.fixture
def connect(tmp_path: Path, server: ScriptedServer) -> Iterator[Callable[..., Veridical]]:
    """Opens the knowledge base of an office on the server, with settings as given."""
    write_corpus(tmp_path / "corpus", N_FILES)
    opened: list[Veridical] = []

    def make(**options: int) -> Veridical:
        given = {"llm_base_url": server.url, "llm_model": "m", "llm_retries": 0, "llm_concurrency": 1}
        settings = Settings(models_dir=tmp_path / "none", offline=True, **{**given, **options})  # type: ignore[arg-type]
        v = Veridical.open(tmp_path / "kb", settings=settings)
        v.models = Served(settings, None, tmp_path / "kb")
        v.ingest(tmp_path / "corpus")
        opened.append(v)
        return v

    yield make
    for v in opened:
        v.close()


def seen(kb: Path) -> int:
    """How many passages of a knowledge base have been seen; 0 before there is a table."""
    try:
        with sqlite3.connect(f"file:{kb / 'kb.sqlite'}?mode=ro", uri=True) as connection:
            return int(connection.execute("SELECT count(*) FROM extractions").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def stored(v: Veridical) -> list[tuple[object, ...]]:
    query = "SELECT passage_id, ordinal, head, relation, tail FROM triples ORDER BY 1, 2"
    with v.store.read() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def test_an_extraction_that_is_killed_goes_on_where_it_was(
    tmp_path: Path, spawn: Spawn, open_kb: OpenKb
) -> None:
    corpus = write_corpus(tmp_path / "corpus", N_FILES)
    for name in ("kb", "plain"):
        v = open_kb(name)
        v.ingest(corpus)
        v.close()
    process = spawn("build", "--kb", "kb", "--method", "reliable", before=SLOW)
    while process.poll() is None and seen(tmp_path / "kb") < 4:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    n_before = seen(tmp_path / "kb")
    assert 4 <= n_before < N_FILES
    done = spawn("build", "--kb", "kb", "--method", "reliable", "--json")
    said, errors = done.communicate(timeout=120)
    assert done.returncode == 0, errors
    assert json.loads(said)["n_extracted"] == N_FILES - n_before
    killed, plain = open_kb("kb"), open_kb("plain")
    plain.build(method="reliable")
    assert stored(killed) == stored(plain) != []
    assert killed.check().problems == ()


def test_a_server_that_dies_during_a_build_costs_only_what_it_did_not_answer(
    connect: Callable[..., Veridical], server: ScriptedServer
) -> None:
    v = connect()
    server.faults = [server.usual] * 5 + [Fault(drop=True)] * 100
    report = v.build(method="reliable", extractor="llm")
    assert (report.n_extracted, report.n_not_extracted) == (5, N_FILES - 5)
    assert any(f"{N_FILES - 5} passages have no triples yet" in note for note in report.notes)
    n_sent = len(server.requests)
    assert n_sent < N_FILES
    assert v.setting("extractor") == "llm"
    server.faults = []
    assert v.build().n_extracted == N_FILES - 5
    assert len(server.requests) - n_sent == N_FILES - 5


def test_a_server_that_dies_during_a_question_leaves_what_was_found_and_the_next_one_goes_on(
    connect: Callable[..., Veridical], server: ScriptedServer
) -> None:
    v = connect()
    v.build()
    server.faults = [server.usual] * 5 + [Fault(drop=True)] * 100
    failed = v.ask(QUESTION, method="reliable", generator="reader", chains=BY_LLM)
    assert (failed.status, failed.text) == ("failed", "")
    assert failed.trace is not None
    assert len(failed.trace.triples) == 5
    assert failed.hits
    server.faults, n_sent = [], len(server.requests)
    answer = v.ask(QUESTION, method="reliable", generator="reader", chains=BY_LLM)
    assert answer.status != "failed"
    assert answer.trace is not None
    assert answer.trace.chains
    assert len(server.requests) - n_sent == 20 - 5


def test_a_budget_that_runs_out_is_an_error_and_a_larger_one_pays_only_for_the_rest(
    connect: Callable[..., Veridical], server: ScriptedServer
) -> None:
    v = connect(llm_max_calls=10)
    with pytest.raises(BudgetError, match="10 of 10"):
        v.build(method="reliable", extractor="llm")
    assert len(server.requests) == 10
    assert v.setting("method") == "veridical"
    assert v.check().problems == ()
    v.close()
    assert connect(llm_max_calls=100).build(method="reliable", extractor="llm").n_extracted == N_FILES
    assert len(server.requests) == N_FILES


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Veridical]:
    """A small corpus on the real encoder and reader, and the extractor and selector that need no LLM."""
    settings = Settings.from_env()
    try:
        ModelStore(settings.models_dir, offline=settings.offline).resolve(ENCODER)
    except ModelError as error:
        pytest.skip(f"the sentence encoder cannot be had here: {error}")
    root = tmp_path_factory.mktemp("real")
    texts = {
        "lind": ("Ada Lind", "Ada Lind was an engineer from Malmo. Ada Lind designed the Orsa Bridge."),
        "orsa": ("Orsa Bridge", "The Orsa Bridge was opened in 1931. It has a length of 92 metres."),
        "fake": ("Orsa Bridge", "The Orsa Bridge was opened in 1931. It has a length of 340 metres."),
        "mora": ("Mora Bridge", "The Mora Bridge was opened in 1956. Nils Berg designed the Mora Bridge."),
        "berg": ("Nils Berg", "Nils Berg was a painter before he turned to bridges."),
        "tea": ("Tea", "Tea is served in the hall at four."),
    }
    rows = [{"id": key, "title": title, "text": text} for key, (title, text) in texts.items()]
    (root / "bridges.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with Veridical.open(root / "kb", settings=settings) as v:
        v.ingest(root / "bridges.jsonl")
        v.build(method="reliable")
        yield v


def test_a_chain_leads_from_a_person_to_what_is_said_of_her_bridge(real: Veridical) -> None:
    answer = real.ask(
        "In which year was the bridge that Ada Lind designed opened?", chains=ChainOptions("tbs")
    )
    assert "1931" in answer.text
    assert answer.trace is not None
    by_id = {triple.id: triple for triple in answer.trace.triples}
    chains = [[by_id[i].tail for i in chain.triples] for chain in answer.trace.chains]
    assert any("Orsa Bridge" in tails and "1931" in tails for tails in chains), chains
    assert all(citation.valid and "1931" in citation.quote for citation in answer.citations)


def test_feedback_on_a_wrong_answer_puts_the_next_one_right(real: Veridical) -> None:
    question, options = "What length has the Orsa Bridge?", ChainOptions("sbs")
    real.feedback("fake", "bad")
    real.feedback("orsa", "good")
    answer = real.ask(question, chains=options, always_answer=True)
    real.undo_feedback("f1")
    real.undo_feedback("f2")
    assert "92" in answer.text
    assert answer.trace is not None
    believed = {t.document_id: t.credibility for t in answer.trace.triples}
    keys = {document.key: document.id for document in real.documents()}
    assert (believed[keys["orsa"]] or 0) > 0.5 > (believed[keys["fake"]] or 0)
