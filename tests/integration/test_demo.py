"""The demo: six judgements put answers right and none wrong, and its page is safe and whole by itself."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.demo.page import render, write_page
from veridical.demo.run import DemoResult, run_demo
from veridical.errors import InputError, ModelError, StoreError
from veridical.models import ModelStore
from veridical.pipeline import facade
from veridical.pipeline.models import ENCODER
from veridical.settings import Settings
from veridical.testing.fake_models import FakeModels

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}
HOSTILE = "<script>alert(1)</script><img src=x onerror=y>\"'&</td></table>{{ 7*7 }}{% for %}"


@pytest.fixture(scope="module")
def faked(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    """The demo on fake models: its form, not its merit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facade, "Models", lambda *_: FakeModels())
        return run_demo(tmp_path_factory.mktemp("demo") / "kb")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> DemoResult:
    settings = Settings.from_env()
    try:
        ModelStore(settings.models_dir, offline=settings.offline).resolve(ENCODER)
    except ModelError as error:
        pytest.skip(f"the sentence encoder cannot be had here: {error}")
    return run_demo(tmp_path_factory.mktemp("real") / "kb", settings=settings)


class Wellformed(HTMLParser):
    """Fails on a tag that is not closed in its place; collects tags and what they link to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), (tag, names)
        assert not any(name.startswith("on") for name in names)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "srcset", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(page: str) -> Wellformed:
    parser = Wellformed()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def test_feedback_puts_answers_right_and_none_wrong(real: DemoResult) -> None:
    before = [row.before_verdict for row in real.questions]
    after = [row.after_verdict for row in real.questions]
    assert len(after) == 10
    assert after.count("right") >= before.count("right") + 4
    assert [b for b, a in zip(before, after, strict=True) if b == "right" != a] == []


def test_questions_are_put_right_by_what_was_not_judged_for_them(real: DemoResult) -> None:
    put_right = [r for r in real.questions if (r.before_verdict, r.after_verdict) != ("right", "right")]
    assert sum(not row.judged for row in put_right if row.after_verdict == "right") >= 2


def test_the_demo_reads_everything_and_gives_six_pieces_of_feedback(faked: DemoResult) -> None:
    assert faked.ingest.problems == ()
    assert 50 <= faked.ingest.added <= 70
    assert len(faked.feedback) == 6
    assert all(given.report.n_moved for given in faked.feedback)


def test_the_page_is_well_formed_and_needs_nothing_else(faked: DemoResult) -> None:
    page = render(faked)
    found = parsed(page)
    assert found.tags[:2] == ["html", "head"]
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert found.links == []
    assert {"script", "link", "iframe", "object", "img", "base"}.isdisjoint(found.tags)
    assert not re.search(r"@import|url\(", page)
    for row in faked.questions:
        assert row.question in found.text


def test_hostile_texts_stay_texts_on_the_page(faked: DemoResult) -> None:
    [first, *rest] = faked.questions
    hits = tuple(
        dataclasses.replace(hit, document=dataclasses.replace(hit.document, title=HOSTILE, key=HOSTILE))
        for hit in first.after.hits
    )
    answer = dataclasses.replace(first.after, text=HOSTILE, hits=hits)
    row = dataclasses.replace(first, question=HOSTILE, about=HOSTILE, after=answer, after_source=HOSTILE)
    given = dataclasses.replace(faked.feedback[0], key=HOSTILE, note=HOSTILE, by=HOSTILE)
    sources = tuple(dataclasses.replace(source, name=HOSTILE) for source in faked.trust.sources)
    hostile = dataclasses.replace(
        faked,
        questions=(row, *rest),
        feedback=(given, *faked.feedback[1:]),
        trust=dataclasses.replace(faked.trust, sources=sources),
    )
    found = parsed(render(hostile))
    assert {"script", "img"}.isdisjoint(found.tags)
    assert HOSTILE in found.text
    assert found.tags == parsed(render(faked)).tags


def test_a_page_that_cannot_be_written_leaves_nothing_behind(faked: DemoResult, tmp_path: Path) -> None:
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.iterdir())
    for path in (tmp_path / "folder.html", tmp_path / "file" / "x.html"):
        with pytest.raises(StoreError, match="cannot be written"):
            write_page(faked, path)
    assert sorted(tmp_path.iterdir()) == before
    write_page(faked, tmp_path / "new" / "page.html")
    assert (tmp_path / "new" / "page.html").read_text("utf-8") == render(faked)


def test_the_demo_can_be_run_again_with_the_same_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facade, "Models", lambda *_: FakeModels())
    first, second = run_demo(tmp_path / "kb"), run_demo(tmp_path / "kb")
    assert [q.after.text for q in first.questions] == [q.after.text for q in second.questions]
    assert [q.before.text for q in first.questions] == [q.before.text for q in second.questions]
    assert (second.ingest.added, second.build.n_embedded) == (0, 0)


def test_the_demo_leaves_the_knowledge_base_of_somebody_else_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facade, "Models", lambda *_: FakeModels())
    (tmp_path / "own" / "wiki").mkdir(parents=True)
    (tmp_path / "own" / "wiki" / "page.txt").write_text("A page of the user's own wiki.")
    with Veridical.open(tmp_path / "kb") as v:
        v.ingest(tmp_path / "own", key_root=tmp_path / "own")
        v.feedback("wiki/page.txt", "good")
    with pytest.raises(InputError, match="another knowledge base"):
        run_demo(tmp_path / "kb")
    with Veridical.open(tmp_path / "kb") as v:
        assert [f.state for f in v.list_feedback()] == ["active"]
        assert len(v.documents()) == 1


def test_the_demo_leaves_a_folder_with_other_files_alone(tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("A page of the user's own.")
    with pytest.raises(InputError, match="not empty"):
        run_demo(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["page.txt"]
