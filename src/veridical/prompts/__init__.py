"""Prompts as text files, filled in by a loader that refuses unknown and missing fields.

A prompt is ``NAME.txt`` beside this file; ``{{field}}`` marks where a value goes. Values are put in once and
never looked at again, so a value that holds ``{{other}}`` stays as it is.
"""

from __future__ import annotations

import functools
import importlib.resources
import re

from veridical.errors import InputError, NotFoundError

_FIELD = re.compile(r"\{\{([a-z_]+)\}\}")


def names() -> list[str]:
    """Return the names of all prompts, sorted."""
    here = importlib.resources.files(__name__)
    return sorted(item.name[: -len(".txt")] for item in here.iterdir() if item.name.endswith(".txt"))


def fields(name: str) -> frozenset[str]:
    """Return the fields that prompt ``name`` must be given.

    Raises
    ------
    NotFoundError
        If there is no such prompt.
    """
    return frozenset(_FIELD.findall(_template(name)))


def render(name: str, **values: str) -> str:
    """Fill in a prompt.

    Parameters
    ----------
    name
        The file's name without ``.txt``.
    **values
        Exactly the prompt's fields, each a string. Strings go in as they are: escaping is the caller's.

    Returns
    -------
    str
        The text, without the file's final line break.

    Raises
    ------
    NotFoundError
        If there is no such prompt.
    InputError
        If a field is missing, unknown, or not a string; the message names it.
    """
    template, wanted = _template(name), fields(name)
    for problem, found in (("misses", wanted - values.keys()), ("does not know", values.keys() - wanted)):
        if found:
            raise InputError(
                f"Prompt {name!r} {problem} the field {', '.join(sorted(found))}.",
                f"Its fields are: {', '.join(sorted(wanted)) or 'none'}.",
            )
    for field, value in values.items():
        if not isinstance(value, str):
            raise InputError(f"Field {field} of prompt {name!r} is {type(value).__name__}.", "Pass a string.")
    return _FIELD.sub(lambda match: values[match.group(1)], template)


@functools.lru_cache(maxsize=64)
def _template(name: str) -> str:
    if not re.fullmatch(r"[a-z_]+", name):
        raise NotFoundError(f"There is no prompt {name!r}.", f"Prompts: {', '.join(names())}.")
    try:
        text = importlib.resources.files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFoundError(f"There is no prompt {name!r}.", f"Prompts: {', '.join(names())}.") from None
    return text.rstrip("\n")
