from __future__ import annotations

import io
import json

import pytest

from veridical.cli.output import _PlainConsole, print_json

UNSEEN = [
    "\u061c",
    "\u200b",
    "\u200e",
    "\u202e",
    "\u2060",
    "\u2066",
    "\u206a",
    "\ufeff",
    "\U000e0041",
    "\x9b",
]
# Persian and Indic scripts and emoji need the joiners.
NEEDED = ["\u200c", "\u200d", "\u00ad", "\u00e9", "\t"]


def shown(text: str) -> str:
    stream = io.StringIO()
    _PlainConsole(file=stream, highlight=False, markup=False, emoji=False, width=80).print(text, end="")
    return stream.getvalue()


@pytest.mark.parametrize("char", UNSEEN, ids=ascii)
def test_what_reorders_or_hides_text_is_not_printed(char: str) -> None:
    assert shown(f"a{char}b") == "ab"


@pytest.mark.parametrize("char", NEEDED[:4], ids=ascii)
def test_what_scripts_need_is_printed(char: str) -> None:
    assert shown(f"a{char}b") == f"a{char}b"


@pytest.mark.parametrize("char", UNSEEN + NEEDED, ids=ascii)
def test_json_keeps_every_character_and_shows_the_unseen_ones_as_escapes(
    char: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_json({"text": f"a{char}b"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"text": f"a{char}b"}
    assert char not in UNSEEN or char not in out
