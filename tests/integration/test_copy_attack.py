"""From files to trust: ten copies of a plant weigh what one does, and a later date does not save it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veridical import Veridical
from veridical.testing.fake_models import FakeModels

FACT = "The gateway of the office uses setting {} since the last change."
TALE = (
    "It was carried up the stairs by two men who had never seen the building before, set down beside the "
    "window, and left there under a grey cloth until somebody came back from the shop with longer screws, "
    "a drill that worked and a lamp to see by, which took the better part of a wet afternoon in spring."
)
CHANGES = ("two", "window", "grey", "shop", "longer", "drill", "lamp", "better", "wet", "spring")


def page(key: str, number: int, tale: str = "", **fields: str) -> dict[str, str]:
    return {"id": key, "text": f"{FACT.format(number)} {tale}".strip(), **fields}


TRUE = [page(f"true{i}", 443, f"Those of floor {'abc'[i]} know it by heart.") for i in range(3)]


def copies(n: int, *, exact: bool, **fields: str) -> list[dict[str, str]]:
    """The plant, and n - 1 copies in which at most one word is another."""
    said = [TALE if exact or not i else TALE.replace(CHANGES[i], "other") for i in range(n)]
    return [page(f"plant{i}", 8080, tale, **fields) for i, tale in enumerate(said)]


def trust(folder: Path, pages: list[dict[str, str]], votes: dict[str, str]) -> dict[str, float]:
    folder.mkdir()
    (folder / "pages.jsonl").write_text("\n".join(json.dumps(p) for p in pages), "utf-8")
    with Veridical.open(folder / "kb") as v:
        v.models = FakeModels()
        v.ingest(folder / "pages.jsonl")
        v.build()
        for key, vote in votes.items():
            v.feedback(key, vote)  # type: ignore[arg-type]
        return {node.name: 0.5 if node.trust is None else node.trust for node in v.trust().documents}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("fields", [{}, {"source": "forum"}], ids=["no source", "one source"])
def test_ten_copies_that_are_all_called_good_move_others_no_more_than_one(
    tmp_path: Path, exact: bool, fields: dict[str, str]
) -> None:
    votes = {"true0": "good"}
    before = trust(tmp_path / "before", TRUE, votes)
    once = trust(tmp_path / "once", [*TRUE, *copies(1, exact=exact, **fields)], votes | {"plant0": "good"})
    flood = copies(10, exact=exact, **fields)
    often = trust(tmp_path / "often", [*TRUE, *flood], votes | {p["id"]: "good" for p in flood})
    for key in ("true1", "true2"):
        assert once[key] < before[key] - 0.02
        assert often[key] == pytest.approx(once[key], abs=0.03)


@pytest.mark.parametrize("exact", [True, False])
def test_ten_copies_are_distrusted_like_one_where_the_truth_is_known(tmp_path: Path, exact: bool) -> None:
    votes = {"true0": "good", "true1": "good"}
    once = trust(tmp_path / "once", [*TRUE, *copies(1, exact=exact)], votes)
    often = trust(tmp_path / "often", [*TRUE, *copies(10, exact=exact)], votes)
    assert once["plant0"] < 0.4
    assert all(often[f"plant{i}"] < 0.42 for i in range(10))
    assert often["true2"] == pytest.approx(once["true2"], abs=0.03)


def test_a_plant_with_a_later_date_that_is_called_bad_lifts_what_it_claims_to_replace(tmp_path: Path) -> None:
    old = [{**p, "date": "2021-01-01"} for p in TRUE]
    forged = [{**p, "date": "2024-01-01"} for p in copies(1, exact=True)]
    found = trust(tmp_path / "forged", [*old, *forged], {"plant0": "bad"})
    assert found["plant0"] < 0.05
    assert min(found[f"true{i}"] for i in range(3)) > 0.55
    update = trust(tmp_path / "update", [*old, *forged], {"plant0": "good"})
    assert min(update[f"true{i}"] for i in range(3)) > 0.45
