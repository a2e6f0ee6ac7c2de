"""Imports go one way: a package imports only from those above it in the order of the architecture."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "src" / "veridical"

ORDER = (
    ("types", "errors"),
    ("settings", "registry"),
    ("models", "stores", "llm", "prompts"),
    ("corpus",),
    ("index",),
    ("nli",),
    ("reading",),
    ("graph",),
    ("trust",),
    ("feedback",),
    ("evidence",),
    ("answer",),
    ("methods",),
    ("pipeline",),
    ("ui",),
    ("demo", "bench"),
    ("testing",),
    ("cli",),
)
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
HEAVY = {"onnxruntime", "tantivy", "scipy", "openai", "xllamacpp", "tokenizers", "pypdf", "trafilatura"}


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)


def imports(path: Path, *, top_level_only: bool = False) -> list[str]:
    tree = ast.parse(path.read_text("utf-8"))
    nodes = tree.body if top_level_only else list(ast.walk(tree))
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def package_of(name: str) -> str | None:
    parts = name.split(".")
    return parts[1] if parts[0] == "veridical" and len(parts) > 1 and parts[1] in LEVEL else None


def test_every_package_has_a_place_in_the_order() -> None:
    here = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.name[0] not in "_."}
    here = {name for name in here if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()}
    assert here == set(LEVEL)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_a_module_imports_only_from_above(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for name in imports(path):
        other = package_of(name)
        if other is not None and other != own:
            assert LEVEL[other] < LEVEL[own], f"{path.name} imports {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_nothing_heavy_is_imported_when_a_module_is(path: Path) -> None:
    heavy = {name.split(".")[0] for name in imports(path, top_level_only=True)} & HEAVY
    assert not heavy or "testing" in path.parts


def test_only_settings_reads_the_environment() -> None:
    readers = {
        path.relative_to(PACKAGE).as_posix()
        for path in modules()
        if "os.environ" in path.read_text("utf-8") or "getenv" in path.read_text("utf-8")
    }
    assert readers == {"settings.py"}
