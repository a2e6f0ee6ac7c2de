"""The only place that reads the environment. Everything else is handed its settings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from veridical.errors import InputError

_ON = {"1", "true", "yes", "on"}
_OFF = {"", "0", "false", "no", "off"}
_MOST = 1e15


def _given(env: Mapping[str, str], name: str, low: float, high: float, unset: str) -> float | None:
    """The number that a variable holds; ``None`` if it is unset."""
    raw = env.get(name, "").strip()
    if not raw:
        return None
    try:
        value = float(raw)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise InputError(
            f"{name}={raw!r} is not a number from {low:g} to {high:g}.", f"Unset {name} {unset}."
        )
    return value


def _number(env: Mapping[str, str], name: str, default: float, *, low: float, high: float) -> float:
    value = _given(env, name, low, high, f"to use {default:g}")
    return default if value is None else value


def _whole_number(env: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    value = _number(env, name, default, low=low, high=high)
    if value != int(value):
        raise InputError(f"{name}={env[name]!r} is not a whole number.", f"Unset {name} to use {default}.")
    return int(value)


def _limit(env: Mapping[str, str], name: str) -> float | None:
    return _given(env, name, 0, _MOST, "for no limit")


def _whole_limit(env: Mapping[str, str], name: str) -> int | None:
    value = _limit(env, name)
    if value is not None and value != int(value):
        raise InputError(f"{name}={env[name]!r} is not a whole number.", f"Unset {name} for no limit.")
    return None if value is None else int(value)


def _switch(env: Mapping[str, str], name: str) -> bool:
    raw = env.get(name, "").strip().lower()
    if raw not in _ON | _OFF:
        raise InputError(f"{name}={env[name]!r} is neither on nor off.", "Set it to 1 or 0.")
    return raw in _ON


def _text(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None


def _folder(env: Mapping[str, str], name: str, default: Path) -> Path:
    try:
        return Path(_text(env, name) or default).expanduser()
    except RuntimeError as error:
        raise InputError(f"{name}={env[name]!r}: {error}", "Give a whole path.") from error


def _switch_or_path(env: Mapping[str, str], name: str) -> bool | Path:
    """On if it is unset; else what it says, or the path that it is."""
    raw = env.get(name, "").strip()
    if raw.lower() in _ON | _OFF:
        return not raw or _switch(env, name)
    return _folder(env, name, Path())


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one process. ``Settings.from_env()`` reads them; tests build them by hand.

    Attributes
    ----------
    models_dir
        Where fetched models are kept (``VERIDICAL_MODELS_DIR``).
    offline
        Never download a model (``VERIDICAL_OFFLINE=1``).
    n_threads
        Threads for model inference (``VERIDICAL_THREADS``; default: the processors this process may use).
    llm_base_url, llm_model, llm_api_key
        Any OpenAI-compatible server (``VERIDICAL_LLM_BASE_URL``, ``_MODEL``, ``_API_KEY``). The key is kept
        out of ``repr``. A model without a base URL is run in this process: a GGUF file, or a name of the
        manifest.
    llm_context
        Tokens that prompt and reply may have together in the embedded engine (``VERIDICAL_LLM_CONTEXT``).
    llm_timeout_s, llm_retries
        Seconds a call may take (``VERIDICAL_LLM_TIMEOUT``) and how often it is tried again
        (``VERIDICAL_LLM_RETRIES``).
    llm_concurrency
        The most calls that are sent at once (``VERIDICAL_LLM_CONCURRENCY``).
    llm_cache
        Whether replies are kept in the knowledge base's folder, or another file to keep them in
        (``VERIDICAL_LLM_CACHE``: 1, 0 or a path).
    llm_max_calls, llm_max_tokens, llm_max_cost
        What may be sent and spent while a knowledge base is open (``VERIDICAL_LLM_MAX_CALLS``,
        ``_MAX_TOKENS``, ``_MAX_COST``); ``None`` for no limit.
    llm_price_in, llm_price_out
        Money for a million tokens of prompt and of reply (``VERIDICAL_LLM_PRICE_IN``, ``_PRICE_OUT``).
    """

    models_dir: Path
    offline: bool = False
    n_threads: int = 1
    llm_base_url: str | None = None
    llm_model: str | None = None
    llm_api_key: str | None = field(default=None, repr=False)
    llm_timeout_s: float = 60.0
    llm_retries: int = 3
    llm_concurrency: int = 8
    llm_cache: bool | Path = True
    llm_max_calls: int | None = None
    llm_max_tokens: int | None = None
    llm_max_cost: float | None = None
    llm_price_in: float = 0.0
    llm_price_out: float = 0.0
    llm_context: int = 4096

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from the environment (or from the mapping given).

        Raises
        ------
        InputError
            A variable is set to something that cannot be used; the message names it.
        """
        env = os.environ if environ is None else environ
        default_dir = platformdirs.user_cache_path("veridical") / "models"
        settings = cls(
            models_dir=_folder(env, "VERIDICAL_MODELS_DIR", default_dir),
            offline=_switch(env, "VERIDICAL_OFFLINE"),
            n_threads=_whole_number(env, "VERIDICAL_THREADS", _available_cpus(), low=1, high=1024),
            llm_base_url=_text(env, "VERIDICAL_LLM_BASE_URL"),
            llm_model=_text(env, "VERIDICAL_LLM_MODEL"),
            llm_api_key=_text(env, "VERIDICAL_LLM_API_KEY"),
            llm_timeout_s=_number(env, "VERIDICAL_LLM_TIMEOUT", 60.0, low=0.1, high=3600),
            llm_retries=_whole_number(env, "VERIDICAL_LLM_RETRIES", 3, low=0, high=20),
            llm_concurrency=_whole_number(env, "VERIDICAL_LLM_CONCURRENCY", 8, low=1, high=1000),
            llm_cache=_switch_or_path(env, "VERIDICAL_LLM_CACHE"),
            llm_max_calls=_whole_limit(env, "VERIDICAL_LLM_MAX_CALLS"),
            llm_max_tokens=_whole_limit(env, "VERIDICAL_LLM_MAX_TOKENS"),
            llm_max_cost=_limit(env, "VERIDICAL_LLM_MAX_COST"),
            llm_price_in=_number(env, "VERIDICAL_LLM_PRICE_IN", 0.0, low=0, high=_MOST),
            llm_price_out=_number(env, "VERIDICAL_LLM_PRICE_OUT", 0.0, low=0, high=_MOST),
            llm_context=_whole_number(env, "VERIDICAL_LLM_CONTEXT", 4096, low=64, high=1_048_576),
        )
        if settings.llm_max_cost is not None and not (settings.llm_price_in or settings.llm_price_out):
            raise InputError(
                "VERIDICAL_LLM_MAX_COST is set, and no price is.",
                "Set VERIDICAL_LLM_PRICE_IN and VERIDICAL_LLM_PRICE_OUT, for a million tokens.",
            )
        return settings


def _available_cpus() -> int:
    try:
        return max(1, len(os.sched_getaffinity(0)))
    except AttributeError:  # not on this platform
        return max(1, os.cpu_count() or 1)
