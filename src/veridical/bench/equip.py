"""The models of a run, with their caches, from settings and a configuration."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from veridical.bench.config import Config
from veridical.bench.scene import Making, Progress
from veridical.bench.shared import CachedEncoder, CachedReader, PricedCache
from veridical.bench.systems.base import Tools
from veridical.evidence.credibility import LLMEvaluator
from veridical.llm.budget import Prices
from veridical.llm.managed import ManagedLLM
from veridical.models import ModelStore, load_manifest
from veridical.pipeline.models import Models
from veridical.settings import Settings

MOST_REPLIES = 10_000_000
NO_LLM, SETTINGS = "none", "settings"


def equip(
    config: Config, settings: Settings, folder: Path, *, models: Models | None = None, progress: Progress
) -> tuple[Making, Tools]:
    """Make what a run works with; models load on first use.

    Parameters
    ----------
    config
        Says which language model, if any.
    settings
        Where models live, and the language model where the configuration leaves it to the settings.
    folder
        Where vectors, readings, judgements and replies are kept.
    models
        By default those that the settings name.
    progress
        See `veridical.bench.scene.Progress`.

    Raises
    ------
    InputError, MissingExtraError
        The language model cannot be had.
    """
    if config.llm not in (NO_LLM, SETTINGS):
        where = (config.path.parent / Path(config.llm).expanduser()).resolve()
        named = str(where) if where.exists() else config.llm
        settings = replace(settings, llm_base_url=None, llm_model=named)
        models = models and Models(settings)
    models = models or Models(settings)
    llm = None if config.llm == NO_LLM or not config.answers else _managed(models, settings, folder)
    reader = CachedReader(models.reader("embedded"), folder)
    encode = CachedEncoder(models.encoder.encode)
    nli = models.nli("features")
    making = Making(
        folder=folder,
        encoder=models.encoder,
        reader=reader,
        nli=nli,
        encode=encode,
        evaluator=None if llm is None else LLMEvaluator(llm),
        progress=progress,
    )
    store = ModelStore(settings.models_dir, offline=True)
    there = {name: store.path(name) for name in load_manifest() if store.present(name)}
    return making, Tools(llm, reader, nli, encode, there, config.answers)


def _managed(models: Models, settings: Settings, folder: Path) -> ManagedLLM | None:
    """Keep replies with the run, and what they had cost."""
    llm = models.llm()
    if llm is None:
        return None
    managed = models.managed(llm)
    kept = getattr(managed.llm, "identity", None) is not None
    return ManagedLLM(
        managed.llm,
        cache=PricedCache(folder / "llm-cache.db", max_replies=MOST_REPLIES) if kept else None,
        budget=managed.budget,
        n_concurrent=managed.n_concurrent,
        prices=Prices(settings.llm_price_in, settings.llm_price_out),
    )
