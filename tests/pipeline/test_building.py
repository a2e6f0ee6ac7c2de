"""Building: nothing is done twice, only what changed is done again, and the result equals a fresh build."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from veridical import Veridical
from veridical.errors import BusyError, InputError, StoreError
from veridical.graph.build import relations_of_document
from veridical.stores import derived, values
from veridical.testing.fake_models import by_numbers
from veridical.testing.fakes import HashEncoder, ScriptedNLI

Open = Callable[..., Veridical]


def trust_by_name(v: Veridical) -> dict[str, float | None]:
    keys = {d.ref: d.key for d in v.documents()}
    found = v.trust()
    return {
        keys.get(node.ref, f"source {node.name}"): node.trust for node in (*found.documents, *found.sources)
    }


def relations_by_key(v: Veridical) -> set[tuple[str, str, str, float]]:
    keys = {d.id: d.key for d in v.documents()}
    found = set()
    with v.store.read() as connection:
        for document_id in keys:
            for r in relations_of_document(connection, document_id):
                ends = sorted((keys[r.head], keys[r.tail]))
                found.add((*ends, r.kind.value, round(r.weight, 12)))
    return found


def assert_same_trust(left: Veridical, right: Veridical) -> None:
    ours, theirs = trust_by_name(left), trust_by_name(right)
    assert ours.keys() == theirs.keys()
    assert {k for k, t in ours.items() if t is None} == {k for k, t in theirs.items() if t is None}
    for key, trust in ours.items():
        if trust is not None:
            assert trust == pytest.approx(theirs[key], abs=1e-8), key


def test_a_second_build_does_nothing_again(open_kb: Open, corpus: Path) -> None:
    nli = ScriptedNLI(by_numbers)
    v = open_kb(nli=nli)
    v.ingest(corpus, key_root=corpus)
    first = v.build()
    encoded, judged = v.models.encoder.n_encoded, nli.n_judged
    second = v.build()
    assert (first.n_embedded, first.n_pairs_judged) == (16, first.n_pairs)
    assert (second.n_embedded, second.n_pairs_judged) == (0, 0)
    assert (v.models.encoder.n_encoded, nli.n_judged) == (encoded, judged)
    assert (second.n_supports, second.n_contradicts) == (first.n_supports, first.n_contradicts)


def test_after_a_change_only_what_it_touched_is_done_again(kb: Veridical, corpus: Path) -> None:
    (corpus / "wiki" / "badge.md").write_text("# badge\n\nBring 2 photos for a badge.\n", "utf-8")
    kb.ingest(corpus, key_root=corpus)
    report = kb.build()
    assert report.n_embedded == 1
    assert 0 < report.n_pairs_judged < report.n_pairs / 2


def test_a_build_after_a_change_equals_a_build_from_nothing(open_kb: Open, corpus: Path) -> None:
    grown, fresh = open_kb("grown"), open_kb("fresh")
    grown.ingest(corpus, key_root=corpus)
    grown.build()
    grown.feedback("handbook/gateway.md", "good")
    (corpus / "blog" / "badge.md").write_text("# badge\n\nBadges are made in 3 days.\n", "utf-8")
    (corpus / "forum" / "extra.md").write_text(
        "# x\n\nThe badge of the office uses setting 14 since the last change.\n", "utf-8"
    )
    (corpus / "wiki" / "archive.md").unlink()
    grown.delete("wiki/archive.md")
    grown.ingest(corpus, key_root=corpus)
    grown.build()
    fresh.ingest(corpus, key_root=corpus)
    fresh.build()
    fresh.feedback("handbook/gateway.md", "good")
    assert relations_by_key(grown) == relations_by_key(fresh)
    assert_same_trust(grown, fresh)
    assert grown.check().problems == fresh.check().problems == ()


def test_a_dry_run_says_what_there_is_to_do_and_does_none_of_it(open_kb: Open, corpus: Path) -> None:
    v = open_kb()
    v.ingest(corpus, key_root=corpus)
    planned = v.build(dry_run=True, method="trustprop")
    assert planned.estimate_only
    assert planned.n_embedded == 16
    assert planned.n_pairs_judged > 0
    assert sum(planned.seconds.values()) > 0
    assert v.models.encoder.n_encoded == 0
    status = v.status()
    assert (status.built, status.vectors_behind, status.method) == (False, 16, "veridical")
    v.build()
    again = v.build(dry_run=True)
    assert (again.n_embedded, again.n_pairs_judged) == (0, 0)


def test_a_build_without_any_source_says_so_and_how_to_give_one(
    open_kb: Open, corpus: Path, tmp_path: Path
) -> None:
    v = open_kb()
    file = tmp_path / "alone.md"
    file.write_text("# alone\n\nThe office has 3 doors.\n", "utf-8")
    v.ingest(file)
    report = v.build()
    assert (report.n_documents, report.n_sources) == (1, 0)
    [note] = report.notes
    assert "No document has a source" in note
    assert "'source'" in note and "folder" in note
    v.ingest(corpus / "wiki")
    assert v.build().notes == ()
    v.delete(*(d.ref for d in v.documents()))
    assert v.build().notes == ()


def test_building_nothing_is_an_error_that_says_how_to_begin(open_kb: Open) -> None:
    with pytest.raises(StoreError, match="no knowledge base") as caught:
        open_kb("nowhere").build()
    assert "ingest" in caught.value.hint


@pytest.mark.parametrize("options", [{"method": "magic"}, {"method": ""}])
def test_an_unknown_method_is_refused_and_not_remembered(kb: Veridical, options: dict[str, str]) -> None:
    if options["method"]:
        with pytest.raises(InputError, match="magic") as caught:
            kb.build(**options)
        assert "trustprop" in caught.value.hint
    assert kb.setting("method") == "veridical"


def test_the_method_of_a_build_is_remembered(kb: Veridical) -> None:
    kb.build(method="trustprop")
    assert kb.setting("method") == "trustprop"
    assert kb.ask("Which setting does the gateway use?").method == "trustprop"


class Broken(ScriptedNLI):
    def judge(self, pairs: object) -> list[object]:  # type: ignore[override]
        raise InputError("broken")


def test_a_backend_that_fails_is_not_remembered(open_kb: Open, corpus: Path) -> None:
    v = open_kb(nli=Broken())
    v.ingest(corpus, key_root=corpus)
    with pytest.raises(InputError, match="broken"):
        v.build(nli="onnx:/nowhere", method="trustprop")
    assert (v.setting("nli"), v.setting("method")) == ("features", "veridical")


def test_a_new_nli_model_judges_all_pairs_anew(open_kb: Open, kb: Veridical) -> None:
    other = open_kb("kb", nli=ScriptedNLI(name="neutral-1"))
    report = other.build()
    assert report.n_pairs_judged == report.n_pairs > 0
    assert report.n_supports == report.n_contradicts == 0


def test_a_new_encoder_embeds_all_passages_anew(open_kb: Open, kb: Veridical) -> None:
    other = open_kb("kb")
    other.models.encoder = HashEncoder()
    other.models.encoder.name = "hash-2"
    assert other.build().n_embedded == 16
    with other.store.read() as connection:
        assert "hash-2" in values.state(connection, "dense")


def test_only_one_ingest_or_build_runs_at_a_time_and_the_second_is_told(open_kb: Open, corpus: Path) -> None:
    v, second = open_kb(), open_kb()
    v.ingest(corpus, key_root=corpus)
    v.build()
    with v.store.exclusive("build"):
        for work in (
            second.build,
            lambda: second.ingest(corpus, key_root=corpus),
            lambda: second.delete("d1"),
        ):
            with pytest.raises(BusyError, match="veridical build") as caught:
                work()
            assert "Asking and voting work" in caught.value.hint
        assert second.ask("Which setting does the gateway use?").hits
        assert second.feedback("d1", "good").recorded
    assert second.build().n_embedded == 0


def test_neighbours_are_found_among_other_documents_only(kb: Veridical) -> None:
    with kb.store.read() as connection:
        owner = dict(connection.exec_driver_sql("SELECT id, document_id FROM passages").all())
        lists = derived.neighbours(connection)
    assert len(lists) == 16
    assert all(owner[i] != owner[j] for i, near in lists.items() for j in near)


def test_copies_do_not_support_one_another(open_kb: Open, tmp_path: Path) -> None:
    text = "The gateway of the office uses setting 443 since the last change.\n"
    for name in ("a/x.txt", "b/x.txt"):
        path = tmp_path / "c" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    v = open_kb()
    v.ingest(tmp_path / "c")
    assert v.build().n_supports == 0


def test_progress_is_told_for_every_stage(open_kb: Open, corpus: Path, tmp_path: Path) -> None:
    class Log:
        def __init__(self) -> None:
            self.lines: list[str] = []
            self.amounts: dict[str, float] = {}
            self.totals: dict[str, float | None] = {}

        def stage(self, name: str, total: float | None, unit: str) -> None:
            self.lines.append(name)
            self.totals[name] = total

        def advance(self, amount: float) -> None:
            self.amounts[self.lines[-1]] = self.amounts.get(self.lines[-1], 0) + amount

        def done(self) -> None:
            self.lines.append(f"{self.lines[-1]} done")

    log = Log()
    v = open_kb()
    v._progress = log
    v.ingest(corpus, key_root=corpus)
    v.build()
    assert log.lines[0::2] == [line.removesuffix(" done") for line in log.lines[1::2]]
    for name, total in log.totals.items():
        if total:
            assert log.amounts[name] == pytest.approx(total), name


def test_trust_is_finite_and_between_zero_and_one(kb: Veridical) -> None:
    kb.feedback("handbook/gateway.md", "good")
    kb.feedback("blog/badge.md", 0.0)
    known = np.array([t for t in trust_by_name(kb).values() if t is not None])
    assert len(known) == 20
    assert ((known >= 0) & (known <= 1)).all()
