"""Fixtures that several packages' tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from veridical.settings import Settings
from veridical.stores import Store
from veridical.testing.fakes import HashEncoder, ScriptedNLI


@pytest.fixture
def hash_encoder() -> HashEncoder:
    """An encoder without a model."""
    return HashEncoder()


@pytest.fixture
def scripted_nli() -> ScriptedNLI:
    """Inference that finds everything neutral."""
    return ScriptedNLI()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings that reach no network and keep models in a folder of the test's own."""
    return Settings(models_dir=tmp_path / "models", offline=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A new, empty knowledge base."""
    opened = Store(tmp_path / "kb", create=True)
    yield opened
    opened.close()
