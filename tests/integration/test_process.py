"""One process and its surroundings: interrupts, pipes, terminals, encodings, folders that refuse."""

from __future__ import annotations

import ctypes
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from office import write_corpus

from veridical import Veridical

Spawn = Callable[..., subprocess.Popen[str]]
OpenKb = Callable[[str], Veridical]
WAITS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell hands down that it is ignored
import time
from pathlib import Path
def slow(texts, **options):
    Path("begun").touch()
    time.sleep(60)
fakes.encoder.encode = slow
"""


@pytest.fixture
def kb(tmp_path: Path, open_kb: OpenKb) -> Veridical:
    v = open_kb("kb")
    v.ingest(write_corpus(tmp_path / "corpus", 16), key_root=tmp_path / "corpus")
    return v


def test_ctrl_c_ends_with_130_and_a_message(tmp_path: Path, spawn: Spawn, kb: Veridical) -> None:
    process = spawn("build", "--kb", "kb", before=WAITS)
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Stopped. Nothing is lost" in errors
    assert "Traceback" not in out + errors
    assert kb.build().n_embedded == 16


def test_ctrl_c_while_modules_are_loaded_leaves_no_traceback(spawn: Spawn) -> None:
    before = (
        "import builtins, veridical.cli\n"
        "load = builtins.__import__\n"
        "def stop(name, *rest):\n"
        "    if name == 'veridical.cli.app':\n"
        "        raise KeyboardInterrupt\n"
        "    return load(name, *rest)\n"
        "builtins.__import__ = stop\n"
    )
    process = spawn("status", before=before)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.parametrize("arguments", [("trust", "top", "-n", "1000"), ("trust", "top", "--json")])
def test_a_reader_that_goes_away_is_no_error_worth_showing(
    spawn: Spawn, kb: Veridical, arguments: tuple[str, ...]
) -> None:
    process = spawn(*arguments, "--kb", "kb")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    errors = process.stderr.read()
    assert process.wait(timeout=30) in (0, 1, 141)
    assert errors == ""


def test_no_color_and_pipes_get_no_escape_codes_and_a_terminal_gets_some(spawn: Spawn, kb: Veridical) -> None:
    piped, _ = spawn("ask", "the gateway", "--kb", "kb").communicate(timeout=60)
    assert "\x1b" not in piped
    assert "\x1b[" in on_a_terminal(spawn, {})
    colours = re.compile(r"\x1b\[[0-9;]*3[0-7]")
    assert not colours.search(on_a_terminal(spawn, {"NO_COLOR": "1"}))


def on_a_terminal(spawn: Spawn, env: dict[str, str], *arguments: str, before: str = "") -> str:
    main, side = pty.openpty()
    process = spawn(
        *(arguments or ("ask", "the gateway", "--kb", "kb")),
        before=before,
        stdout=side,
        stderr=side,
        env={"TERM": "xterm-256color", **env},
    )
    os.close(side)
    written = b""
    try:
        while chunk := os.read(main, 65536):
            written += chunk
    except OSError:
        pass  # the other end has closed
    os.close(main)
    process.wait(timeout=60)
    return written.decode("utf-8", "replace")


def test_long_work_shows_on_a_terminal_how_far_it_is_and_what_is_left(spawn: Spawn, kb: Veridical) -> None:
    before = (
        "import time\n"
        "from veridical.pipeline import building\n"
        "building.ENCODE_BATCH = 4\n"
        "encode = fakes.encoder.encode\n"
        "fakes.encoder.encode = lambda texts, **options: (time.sleep(0.25), encode(texts, **options))[1]\n"
    )
    shown = on_a_terminal(spawn, {"COLUMNS": "100"}, "build", "--kb", "kb", before=before)
    assert "embedding" in shown
    assert "16/16" in shown
    assert re.search(r"left.*\d:\d\d", shown)
    assert "16 documents" in shown


def test_an_encoding_that_lacks_a_character_shows_an_escape(spawn: Spawn, kb: Veridical) -> None:
    for arguments in (("ask", "the gateway"), ("trust", "top"), ("status", "--json")):
        process = spawn(*arguments, "--kb", "kb", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((b"ask", b"caf\xe9"), 0),
        ((b"feedback", b"good", b"d1", b"--note", b"caf\xe9", b"--by", b"\xff"), 0),
        ((b"feedback", b"good", b"caf\xe9"), 2),
        ((b"trust", b"show", b"caf\xe9"), 2),
        ((b"ask", b"q", b"--method", b"caf\xe9"), 2),
        ((b"ask", b"q", b"--as-of", b"caf\xe9"), 2),
        ((b"ingest", b"corpus", b"--prefix", b"caf\xe9"), 0),
    ],
)
def test_arguments_that_are_no_text_are_no_crash(
    spawn: Spawn, kb: Veridical, arguments: tuple[bytes, ...], code: int
) -> None:
    process = spawn(*arguments, b"--kb", b"kb", errors="replace")
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode == code, errors


def bound_by_permissions() -> None:
    """Take from root, in a new process, the right to write where permissions say no."""
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, in force after exec


@pytest.mark.skipif(sys.platform != "linux", reason="takes rights from root in Linux's way")
def test_a_folder_that_cannot_be_written_is_named_and_can_be_asked(
    tmp_path: Path, spawn: Spawn, kb: Veridical
) -> None:
    kb.build()
    kb.close()
    for path in [tmp_path / "kb", *(tmp_path / "kb").rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        for arguments in (
            ("ingest", "corpus", "--kb", "kb"),
            ("build", "--kb", "kb"),
            ("feedback", "good", "d1", "--kb", "kb"),
            ("ingest", "corpus", "--kb", "kb/inner"),
        ):
            process = spawn(*arguments, preexec_fn=bound_by_permissions)
            _, errors = process.communicate(timeout=60)
            assert "Traceback" not in errors
            assert process.returncode == 4, (arguments, errors)
            assert "kb" in errors
        process = spawn("ask", "the gateway", "--kb", "kb", "--json", preexec_fn=bound_by_permissions)
        answer, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert json.loads(answer)["status"] == "answered"
        assert any("could not be stored" in note for note in json.loads(answer)["notes"])
    finally:
        for path in [tmp_path / "kb", *(tmp_path / "kb").rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_bad_setting_in_the_environment_is_named(spawn: Spawn, kb: Veridical) -> None:
    process = spawn("status", "--kb", "kb", real=True, env={"VERIDICAL_THREADS": "many"})
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "VERIDICAL_THREADS" in errors
    assert "Traceback" not in errors
