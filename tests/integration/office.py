"""A corpus of any size whose sources disagree."""

from __future__ import annotations

from pathlib import Path

THINGS = ("gateway", "printer", "archive", "badge", "kitchen", "garage")


def sentence(thing: str, room: int, number: int) -> str:
    return f"The {thing} of room number {room} uses setting {number} since the last change."


def write_corpus(root: Path, n_files: int) -> Path:
    """Files of four sources, two of which say other numbers than the other two."""
    for i in range(n_files):
        source = ("handbook", "wiki", "blog", "forum")[i % 4]
        room = i // 4
        text = sentence(THINGS[room % len(THINGS)], room, 10 + room + (500 if i % 4 > 1 else 0))
        path = root / source / f"page{room:03}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {source} on room {room}\n\n{text}\n", "utf-8")
    return root
