"""The records that flow through veridical: frozen, typed, and free of behaviour.

Every record has ``to_dict()``, which gives plain JSON values; the command line's ``--json`` prints exactly
that. This module imports nothing else of the package.

Four numbers in [0, 1] are kept apart throughout (see ``docs/words.md``):

``relevance``
    how well a passage fits a question;
``trust``
    how far a document is believed, after feedback has been propagated;
``confidence``
    a model's own probability for what it says;
``utility``
    what a method ranks passages by. It is a number of that method and need not lie in [0, 1].
"""

from __future__ import annotations

from veridical.types.answers import (
    Answer,
    AnswerStatus,
    Candidate,
    Citation,
    Conflict,
    Hit,
    RankedPassage,
    Usage,
    Witness,
)
from veridical.types.base import Record, Span, plain
from veridical.types.chains import Chain, ChainOption, ChainStep, CredibilitySource, Hop, Trace, Triple
from veridical.types.corpus import (
    BuildReport,
    Document,
    DocumentFormat,
    IngestReport,
    Passage,
    Problem,
    SourceDocument,
)
from veridical.types.trust import (
    Feedback,
    FeedbackReport,
    NLILabel,
    NLIResult,
    Node,
    NodeKind,
    Reason,
    Relation,
    RelationEvidence,
    RelationKind,
    RelationView,
    TrustChange,
    TrustLabel,
)

__all__ = [
    "Answer",
    "AnswerStatus",
    "BuildReport",
    "Candidate",
    "Chain",
    "ChainOption",
    "ChainStep",
    "Citation",
    "Conflict",
    "CredibilitySource",
    "Document",
    "DocumentFormat",
    "Feedback",
    "FeedbackReport",
    "Hit",
    "Hop",
    "IngestReport",
    "NLILabel",
    "NLIResult",
    "Node",
    "NodeKind",
    "Passage",
    "Problem",
    "RankedPassage",
    "Reason",
    "Record",
    "Relation",
    "RelationEvidence",
    "RelationKind",
    "RelationView",
    "SourceDocument",
    "Span",
    "Trace",
    "Triple",
    "TrustChange",
    "TrustLabel",
    "Usage",
    "Witness",
    "plain",
]
