"""The small language model that can be had from a package index, run for real."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from veridical.errors import ModelError
from veridical.llm.llama_cpp_ import LlamaCppLLM
from veridical.models import ModelStore
from veridical.settings import Settings


@pytest.fixture
def embedded_llm() -> Iterator[LlamaCppLLM]:
    """SmolLM2 in this process; a test that cannot have it is skipped, and says why."""
    pytest.importorskip("xllamacpp", reason="the extra 'local' is not installed")
    name, settings = "smollm2-135m-instruct", Settings.from_env()
    try:
        folder = ModelStore(settings.models_dir, offline=settings.offline).resolve(name)
    except ModelError as error:
        pytest.skip(f"the embedded model cannot be had here: {error.message}")
    llm = LlamaCppLLM(folder, name=name, n_ctx=2048, n_threads=1)
    yield llm
    llm.close()
