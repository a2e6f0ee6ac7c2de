"""What a run knows of its documents besides their texts: feedback, and judgements of passages."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.bench.protocols import Credibility
from veridical.bench.systems.base import About


@dataclass(frozen=True, order=True)
class Known:
    """What is known of the documents of a corpus.

    Attributes
    ----------
    share, accuracy
        How many documents are judged, and how many of the judgements are right, in [0, 1].
    credibility
        Who judges passages from 0 to 10.
    """

    share: float = 0.0
    accuracy: float = 1.0
    credibility: Credibility = "none"

    @property
    def name(self) -> str:
        """As it stands in rows and tables; empty where nothing is known."""
        parts = []
        if self.share:
            parts.append(f"feedback {self.share:.4g}")
            if self.accuracy < 1.0:
                parts.append(f"accuracy {self.accuracy:.4g}")
        if self.credibility != "none":
            parts.append(f"credibility {self.credibility}")
        return ", ".join(parts)

    def of(self, about: About) -> Known:
        """Only what a system takes: without a belief no feedback, without that need no credibility."""
        share, accuracy = (self.share, self.accuracy) if about.belief is not None else (0.0, 1.0)
        judged = self.credibility if "credibility" in about.needs else "none"
        return Known(share, accuracy if share else 1.0, judged)


def read(name: str) -> Known:
    """Read what `Known.name` wrote."""
    values = dict(part.rsplit(" ", 1) for part in name.split(", ") if part)
    return Known(
        float(values.get("feedback", 0.0)),
        float(values.get("accuracy", 1.0)),
        values.get("credibility", "none"),  # type: ignore[arg-type]
    )
