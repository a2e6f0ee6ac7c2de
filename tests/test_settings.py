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
        }
    )
    assert settings == Settings(tmp_path, True, 7, "http://localhost:8080/v1", "m", "k", 2.5, 0)


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
