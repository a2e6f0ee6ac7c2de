"""Retrieval-augmented generation that learns which documents to trust.

>>> from veridical import Veridical
>>> v = Veridical.open("kb")                               # doctest: +SKIP
>>> v.ingest("docs/"); v.build()                           # doctest: +SKIP
>>> v.ask("How long are backups kept?").text               # doctest: +SKIP

Importing the package loads nothing heavy; each name is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_WHERE = {
    "Veridical": "veridical.pipeline.facade",
    "Settings": "veridical.settings",
    "VeridicalError": "veridical.errors",
    "Answer": "veridical.types",
    "BuildReport": "veridical.types",
    "ChainOptions": "veridical.pipeline.reasoning",
    "Citation": "veridical.types",
    "Conflict": "veridical.types",
    "Document": "veridical.types",
    "Feedback": "veridical.types",
    "FeedbackReport": "veridical.types",
    "Hit": "veridical.types",
    "IngestReport": "veridical.types",
    "Passage": "veridical.types",
    "RankedPassage": "veridical.types",
    "Relation": "veridical.types",
}

__all__ = [
    "Answer",
    "BuildReport",
    "ChainOptions",
    "Citation",
    "Conflict",
    "Document",
    "Feedback",
    "FeedbackReport",
    "Hit",
    "IngestReport",
    "Passage",
    "RankedPassage",
    "Relation",
    "Settings",
    "Veridical",
    "VeridicalError",
    "__version__",
]

if TYPE_CHECKING:
    from veridical.errors import VeridicalError
    from veridical.pipeline.facade import Veridical
    from veridical.pipeline.reasoning import ChainOptions
    from veridical.settings import Settings
    from veridical.types import (
        Answer,
        BuildReport,
        Citation,
        Conflict,
        Document,
        Feedback,
        FeedbackReport,
        Hit,
        IngestReport,
        Passage,
        RankedPassage,
        Relation,
    )


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'veridical' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
