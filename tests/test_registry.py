"""Keywords stand for implementations, ours and third parties'."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest

from veridical import registry
from veridical.errors import InputError

BUILT_IN = [(kind, name) for kind, rows in registry._BUILT_IN.items() for name in rows]


class FakeEntry:
    """What an installed package's entry point looks like to the registry."""

    def __init__(self, name: str, value: Any) -> None:
        self.name = name
        self._value = value

    def load(self) -> Any:
        if isinstance(self._value, Exception):
            raise self._value
        return self._value


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[FakeEntry]]:
    """Entry points by group; tests add to it."""
    groups: dict[str, list[FakeEntry]] = {}

    def entry_points(*, group: str, name: str | None = None) -> list[FakeEntry]:
        return [entry for entry in groups.get(group, []) if name in (None, entry.name)]

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    return groups


@pytest.mark.parametrize(("kind", "name"), BUILT_IN)
def test_every_built_in_row_can_be_imported(kind: str, name: str) -> None:
    assert callable(registry.load(kind, name))


@pytest.mark.parametrize("kind", ["methods", "nli", "solvers"])
def test_an_unknown_name_is_refused_with_a_list_of_those_there_are(kind: str) -> None:
    with pytest.raises(InputError) as caught:
        registry.load(kind, "no-such-thing")
    assert "no-such-thing" in caught.value.message
    for name in registry.names(kind):
        assert name in caught.value.hint


def test_third_parties_add_their_own(plugins: dict[str, list[FakeEntry]]) -> None:
    class Theirs:
        pass

    plugins["veridical.methods"] = [FakeEntry("theirs", Theirs)]
    assert registry.load("methods", "theirs") is Theirs
    assert "theirs" in registry.names("methods")
    assert "theirs" not in registry.names("nli")
    assert registry.names("methods") == sorted(registry.names("methods"))


def test_a_plugin_cannot_take_the_name_of_a_built_in(plugins: dict[str, list[FakeEntry]]) -> None:
    plugins["veridical.methods"] = [FakeEntry("veridical", int)]
    assert registry.load("methods", "veridical") is not int
    assert registry.names("methods").count("veridical") == 1


def test_a_plugin_that_cannot_be_loaded_is_named(plugins: dict[str, list[FakeEntry]]) -> None:
    plugins["veridical.nli"] = [FakeEntry("broken", ImportError("no module named x"))]
    with pytest.raises(InputError, match=r"broken.*no module named x"):
        registry.load("nli", "broken")
