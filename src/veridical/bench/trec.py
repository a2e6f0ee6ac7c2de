"""Rankings and relevance judgements in TREC format, for tools such as ``trec_eval`` and ``ir-measures``."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from veridical.bench.rows import Results
from veridical.errors import StoreError

_UNFIT = re.compile(r"[^\w.-]+")


def export(results: Results, folder: Path) -> list[Path]:
    """Write every run and the qrels of every corpus.

    A question is ``SEED-ID`` and a document ``NUMBER-ID``, without blanks. Of the two kinds of qrels ``true``
    has grade 1 for a question's own true documents, and ``false`` for its own false ones; so a run is
    measured by what it should have found, and by what it should not. Scores are made of ranks: -1, -2 and
    so on.

    Parameters
    ----------
    results
        A run's file.
    folder
        Where to; made if it is not there.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    corpora = results.corpora()
    files: dict[str, list[str]] = defaultdict(list)
    for digest, about in corpora.items():
        stem = f"{about['dataset']}.{about['attack']}"
        for question, own in about["qrels"].items():
            topic = f"{about['seed']}-{_fit(question)}"
            for kind in ("true", "false"):
                lines = [f"{topic} 0 {_name(about, document)} 1" for document in own[kind]]
                files[f"qrels.{stem}.{kind}.txt"] += lines
        del digest
    for row in results.all(corpora):
        key, about = row.key, corpora[row.key.corpus]
        if row.failed:
            continue
        parts = [key.dataset, key.attack, key.system, *([key.known] if key.known else [])]
        tag = _fit(key.system)
        files[f"run.{'.'.join(parts)}.txt"] += [
            f"{key.seed}-{_fit(key.question)} Q0 {_name(about, document)} {rank} {-rank} {tag}"
            for rank, document in enumerate(row.ranking, start=1)
        ]
    return [_written(folder / _fit(name), lines) for name, lines in sorted(files.items()) if lines]


def _name(about: dict[str, Any], document: int) -> str:
    return f"{document}-{_fit(about['documents'][document])}"


def _fit(text: str) -> str:
    return _UNFIT.sub("_", text)


def _written(path: Path, lines: list[str]) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(lines) + "\n", "utf-8")
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.") from error
    return path
