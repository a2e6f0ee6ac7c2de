"""With the shipped reader and the real encoder: who agrees and who clashes, from questions and without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.errors import ModelError
from veridical.models import ModelStore
from veridical.reading.embedded import data_folder
from veridical.settings import Settings
from veridical.stores import documents, questions, readings

pytestmark = pytest.mark.skipif(
    not (data_folder() / "model.onnx").is_file(), reason="the model is not trained yet"
)
PAGES = {
    "museum": "The Halden bridge was opened in 1932 by Mayor Anna Lind. It took six years to build, and the "
    "town celebrated for three days.",
    "guide": "Visitors like the old harbour of Halden. The Halden bridge was opened in 1954 by Mayor Anna "
    "Lind. The view is best in the evening.",
    "archive": "After six years of work, the bridge at Halden was opened to traffic in 1932, as the minutes "
    "of the council show.",
    "orchestra": "The Vienna orchestra gave its first concert in 1842. It plays every Sunday in winter.",
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Veridical]:
    settings = Settings.from_env()
    try:
        ModelStore(settings.models_dir, offline=settings.offline).resolve("minilm-l6-int8")
    except ModelError as error:
        pytest.skip(f"the encoder cannot be had: {error.message}")
    folder = tmp_path_factory.mktemp("real")
    (folder / "pages").mkdir()
    for name, text in PAGES.items():
        (folder / "pages" / f"{name}.txt").write_text(text, "utf-8")
    with Veridical.open(folder / "kb", settings=settings) as v:
        v.ingest(folder / "pages", key_root=folder / "pages")
        v.build()
        yield v


def stands(v: Veridical, origin: str) -> dict[frozenset[str], str]:
    """How documents stand to each other by what questions of one origin found."""
    found = {}
    with v.store.read() as connection:
        name = {d.id: d.key.removesuffix(".txt") for d in documents.every(connection)}
        for pair in questions.pairs(connection):
            owner = readings.owners(connection, [pair.low_passage, pair.high_passage])
            if pair.origin == origin and max(pair.support, pair.contradiction) > 0.5:
                ends = frozenset(name[document] for document in owner.values())
                found[ends] = "agree" if pair.support > pair.contradiction else "clash"
    return found


def test_a_clash_is_found_before_anyone_has_asked(kb: Veridical) -> None:
    found = stands(kb, "made")
    assert found[frozenset({"museum", "guide"})] == "clash"
    assert "agree" not in {kind for ends, kind in found.items() if "guide" in ends}
    assert not any("orchestra" in ends for ends in found)


def test_what_an_answer_read_says_who_agrees_and_who_clashes(kb: Veridical) -> None:
    kb.ask("When was the Halden bridge opened?")
    at_once = stands(kb, "asked")
    assert at_once == {
        frozenset({"museum", "archive"}): "agree",
        frozenset({"museum", "guide"}): "clash",
        frozenset({"archive", "guide"}): "clash",
    }
    assert kb.build().n_read == 0
    assert stands(kb, "asked") == at_once
    assert kb.check().problems == ()


def test_a_file_of_questions_teaches_without_being_asked(kb: Veridical, tmp_path: Path) -> None:
    path = tmp_path / "faq.txt"
    path.write_text("Who opened the Halden bridge?\n", "utf-8")
    report = kb.build(questions=path)
    assert report.n_read > 0
    assert stands(kb, "asked")[frozenset({"museum", "archive"})] == "agree"
