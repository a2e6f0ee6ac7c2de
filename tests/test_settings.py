"""Settings come from the environment, and a bad value is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.errors import InputError
from veridical.settings import Settings


def test_an_empty_environment_gives_usable_defaults() -> None:
    settings = Settings.from_env({})
    assert settings.models_dir.is_absolute()
    assert settings.models_dir.name == "models"
    assert not settings.offline
    assert settings.n_threads >= 1
    assert (settings.llm_base_url, settings.llm_model, settings.llm_api_key) == (None, None, None)
    assert (settings.llm_timeout_s, settings.llm_retries) == (60.0, 3)


def test_every_variable_is_read(tmp_path: Path) -> None:
    settings = Settings.from_env(
        {
            "VERIDICAL_MODELS_DIR": str(tmp_path),
            "VERIDICAL_OFFLINE": "1",
            "VERIDICAL_THREADS": "7",
            "VERIDICAL_LLM_BASE_URL": "http://localhost:8080/v1",
            "VERIDICAL_LLM_MODEL": "m",
            "VERIDICAL_LLM_API_KEY": "k",
            "VERIDICAL_LLM_TIMEOUT": "2.5",
            "VERIDICAL_LLM_RETRIES": "0",
            "VERIDICAL_LLM_CONCURRENCY": "3",
            "VERIDICAL_LLM_CACHE": str(tmp_path / "replies.db"),
            "VERIDICAL_LLM_MAX_CALLS": "100",
            "VERIDICAL_LLM_MAX_TOKENS": "20000",
            "VERIDICAL_LLM_MAX_COST": "1.5",
            "VERIDICAL_LLM_PRICE_IN": "0.25",
            "VERIDICAL_LLM_PRICE_OUT": "2",
        }
    )
    assert settings == Settings(
        models_dir=tmp_path,
        offline=True,
        n_threads=7,
        llm_base_url="http://localhost:8080/v1",
        llm_model="m",
        llm_api_key="k",
        llm_timeout_s=2.5,
        llm_retries=0,
        llm_concurrency=3,
        llm_cache=tmp_path / "replies.db",
        llm_max_calls=100,
        llm_max_tokens=20_000,
        llm_max_cost=1.5,
        llm_price_in=0.25,
        llm_price_out=2.0,
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VERIDICAL_THREADS", "many"),
        ("VERIDICAL_THREADS", "0"),
        ("VERIDICAL_THREADS", "1.5"),
        ("VERIDICAL_THREADS", "nan"),
        ("VERIDICAL_LLM_TIMEOUT", "-1"),
        ("VERIDICAL_LLM_TIMEOUT", "inf"),
        ("VERIDICAL_LLM_RETRIES", "21"),
        ("VERIDICAL_LLM_RETRIES", "2.9"),
        ("VERIDICAL_LLM_CONTEXT", "63"),
        ("VERIDICAL_LLM_CONCURRENCY", "0"),
        ("VERIDICAL_LLM_MAX_CALLS", "-1"),
        ("VERIDICAL_LLM_MAX_CALLS", "1.5"),
        ("VERIDICAL_LLM_MAX_TOKENS", "lots"),
        ("VERIDICAL_LLM_MAX_COST", "nan"),
        ("VERIDICAL_LLM_PRICE_IN", "-0.1"),
        ("VERIDICAL_LLM_PRICE_OUT", "inf"),
        ("VERIDICAL_OFFLINE", "perhaps"),
        ("VERIDICAL_MODELS_DIR", "~no-such-user-anywhere/models"),
    ],
)
def test_a_bad_value_is_refused_and_the_variable_named(name: str, value: str) -> None:
    with pytest.raises(InputError, match=name):
        Settings.from_env({name: value})


@pytest.mark.parametrize("value", ["", " ", "0", "false", "No", "OFF"])
def test_offline_can_be_switched_off_in_words(value: str) -> None:
    assert not Settings.from_env({"VERIDICAL_OFFLINE": value}).offline


@pytest.mark.parametrize("value", ["1", "true", " Yes ", "ON"])
def test_offline_can_be_switched_on_in_words(value: str) -> None:
    assert Settings.from_env({"VERIDICAL_OFFLINE": value}).offline


def test_blank_values_count_as_unset() -> None:
    blank = dict.fromkeys(
        [
            "VERIDICAL_MODELS_DIR",
            "VERIDICAL_THREADS",
            "VERIDICAL_LLM_BASE_URL",
            "VERIDICAL_LLM_MODEL",
            "VERIDICAL_LLM_API_KEY",
            "VERIDICAL_LLM_TIMEOUT",
        ],
        "  ",
    )
    assert Settings.from_env(blank) == Settings.from_env({})


def test_space_around_a_key_does_not_become_part_of_it() -> None:
    assert Settings.from_env({"VERIDICAL_LLM_API_KEY": "secret\r\n"}).llm_api_key == "secret"


def test_the_models_folder_may_start_at_home() -> None:
    assert Settings.from_env({"VERIDICAL_MODELS_DIR": "~/m"}).models_dir == Path.home() / "m"


def test_the_api_key_never_shows_in_repr() -> None:
    settings = Settings.from_env({"VERIDICAL_LLM_API_KEY": "very-secret"})
    assert settings.llm_api_key == "very-secret"
    assert "very-secret" not in repr(settings)
    assert "very-secret" not in str(settings)


def test_the_context_of_the_embedded_engine_is_read() -> None:
    assert Settings.from_env({"VERIDICAL_LLM_CONTEXT": "8192"}).llm_context == 8192


@pytest.mark.parametrize(
    ("value", "where"), [("", True), ("1", True), ("on", True), ("0", False), ("No", False)]
)
def test_the_cache_of_replies_can_be_switched(value: str, where: bool) -> None:
    assert Settings.from_env({"VERIDICAL_LLM_CACHE": value}).llm_cache is where


def test_the_cache_of_replies_can_be_a_path_of_ones_home() -> None:
    assert Settings.from_env({"VERIDICAL_LLM_CACHE": "~/replies.db"}).llm_cache == Path.home() / "replies.db"


def test_no_limit_is_set_unless_asked_for() -> None:
    settings = Settings.from_env({})
    assert (settings.llm_max_calls, settings.llm_max_tokens, settings.llm_max_cost) == (None, None, None)
    assert Settings.from_env({"VERIDICAL_LLM_MAX_CALLS": "0"}).llm_max_calls == 0


def test_a_limit_of_money_needs_prices() -> None:
    with pytest.raises(InputError, match="VERIDICAL_LLM_MAX_COST is set, and no price is"):
        Settings.from_env({"VERIDICAL_LLM_MAX_COST": "5"})
    Settings.from_env({"VERIDICAL_LLM_MAX_COST": "5", "VERIDICAL_LLM_PRICE_OUT": "1"})
