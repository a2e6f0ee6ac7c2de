"""What a run says of itself beside its rows: systems, models, corpora, and what trust was worth."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from veridical.bench import beliefs
from veridical.bench.attacks.style import style
from veridical.bench.config import Choice, Config
from veridical.bench.known import Known
from veridical.bench.plan import Variant
from veridical.bench.protocol import BoolArray, FloatArray
from veridical.bench.scene import Making, Scene

_MOST_POINTS = 60
_N_BINS = 10


def about_run(
    config: Config, variants: Sequence[Variant], making: Making, llm: str, version: str
) -> dict[str, Any]:
    """What reports print of a run: what was compared, with what, on what, and what was not run."""
    protocol = config.protocol
    return {
        "title": config.title,
        "config": str(config.path),
        "against": config.against,
        "notes": list(config.notes),
        "seeds": list(config.seeds),
        "protocol": {
            "name": protocol.name,
            "title": protocol.title,
            "about": protocol.about,
            "pool": protocol.pool,
            "n_pool": protocol.n_pool,
            "sources": protocol.publishing.kind,
            "claim": _plain(protocol.claim),
        },
        "systems": {variant.label: _about(variant) for variant in variants},
        "models": {
            "encoder": making.encoder.name,
            "reader": making.reader.name,
            "nli": making.nli.name,
            "llm": llm,
        },
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "version": version,
    }


def _about(variant: Variant) -> dict[str, Any]:
    about = variant.about
    belief = "" if about.belief is None else about.belief
    return {
        "name": variant.choice.name,
        "settings": dict(variant.choice.settings),
        "swept": variant.choice.swept,
        "title": about.title,
        "paper": about.paper,
        "differs": about.differs,
        "calls": about.calls,
        "belief": belief,
        "needs": sorted(about.needs),
        "ablation_of": about.ablation_of,
        "lacks": list(variant.lacks),
    }


def _plain(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def about_scene(scene: Scene, attack: Choice) -> dict[str, Any]:
    """What reports and exports need of a corpus: sizes, names of documents, and what is relevant to what."""
    at = scene.layout
    qrels = {
        asked.id: {
            "text": asked.text,
            "true": sorted(asked.own_true),
            "false": sorted(asked.own_false),
            "bearing": sorted(asked.answer_bearing),
        }
        for asked in at.corpus.asked
    }
    n_false = int((~scene.true).sum())
    return {
        "attack_name": attack.name,
        "swept": None if attack.swept is None else [attack.swept, attack.settings[attack.swept]],
        "n_documents": len(at.corpus.texts),
        "n_false": n_false,
        "n_questions": len(at.questions),
        "n_sources": 0 if at.source_of is None else len(set(at.source_of.tolist())),
        "notes": list(at.notes),
        "style": style(at.questions).facts(),
        "documents": list(at.names),
        "qrels": qrels,
    }


def about_trust(scene: Scene, belief: str, known: Known) -> dict[str, Any]:
    """How well trust tells true documents from false ones, over those that were not judged, and holds."""
    judged = scene.anchors(known).documents.tolist()
    left = np.ones(len(scene.true), dtype=np.bool_)
    left[judged] = False
    return _worth(scene.trust(belief, known)[left], scene.true[left], n_judged=len(judged))


def _worth(trust: FloatArray, true: BoolArray, *, n_judged: int) -> dict[str, Any]:
    points = beliefs.roc(trust, true)
    said = np.nan_to_num(trust, nan=0.5)
    bins = np.minimum((said * _N_BINS).astype(np.int64), _N_BINS - 1)
    counts = np.bincount(bins, minlength=_N_BINS)
    return {
        "n": len(true),
        "n_judged": n_judged,
        "n_unknown": int(np.isnan(trust).sum()),
        "auc": _number(beliefs.auc(trust, true)),
        "roc": [[round(x, 4), round(y, 4)] for x, y in _thinned(points).tolist()],
        "bins": [
            {
                "n": int(count),
                "said": float(said[bins == place].mean()),
                "true": float(true[bins == place].mean()),
            }
            for place, count in enumerate(counts.tolist())
            if count
        ],
    }


def about_credibility(scene: Scene) -> dict[str, Any] | None:
    """The same of the evaluator's judgements, over what it judged; ``None`` if that is nothing."""
    if not scene.judged:
        return None
    documents = sorted(scene.judged)
    values = np.array([scene.judged[document] / 10.0 for document in documents])
    return _worth(values, scene.true[documents], n_judged=0)


def _thinned(points: FloatArray) -> FloatArray:
    if len(points) <= _MOST_POINTS:
        return points
    return points[np.unique(np.linspace(0, len(points) - 1, _MOST_POINTS).astype(np.int64))]


def _number(value: float) -> float | None:
    return None if np.isnan(value) else value
