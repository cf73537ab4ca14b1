"""What holds over many samples: one summary, which text, plots and the report show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.rules.words import Speech
from pertinent.setting.claims.instead import fixed_by_rules
from pertinent.setting.question import Overlap
from pertinent.summary.summary import Summary, asked_of, model_name, rule_lines
from pertinent.summary.tolerances import LEAST_SHOWN
from pertinent.summary.words import Said

if TYPE_CHECKING:
    from pertinent.setting.results import Results
    from pertinent.summary.asked import Answered

STATUSES = tuple(str(one) for one in Said)
#: Quantiles of distances that are listed.
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
BINS = 24


def summarize_population(explanations: Answered) -> Summary:
    """Return counts, shares and distributions over all samples, as plain values."""
    asked = asked_of(explanations)
    positive, negative = explanations.positive, explanations.negative
    wording, features = asked.settings.wording, explanations.table.features
    fixed = fixed_by_rules(asked.setting, asked.question, explanations.table, positive.method)
    kept = positive.kept & ~fixed
    empty = ~kept.any(axis=1) & positive.found
    speech, rules = wording.speech(features.names), rule_lines(asked)
    return {
        "n": len(explanations),
        "subject": wording.subject,
        "model": model_name(asked.model),
        "n_features": len(features),
        "library": type(asked.model).__module__.split(".")[0],
        "estimator": type(asked.model).__name__,
        "settings": _settings(asked.model),
        "rules": rules,
        "constraints": "; ".join(rules) or "none",
        "between": bool(asked.question.between),
        "avoid": asked.settings.overlap is Overlap.AVOID,
        "baseline": asked.baseline,
        "measure": asked.measure,
        "margin": float(asked.setting.asked_margin),
        **({"search": True} if asked.setting.by_search else {}),
        "classes": [_class(explanations, k) for k in range(len(positive.classes))],
        "features": [{"name": name, "text": wording.feature(name)} for name in features.names],
        "kept": _by_class(explanations, kept, positive.found),
        "changed": _by_class(explanations, negative.changed, negative.found),
        "positive": _outcomes(positive, speech),
        "negative": _outcomes(negative, speech),
        "nothing_needed": int(empty.sum()),
        "rules_fix": bool(positive.kept[empty].any()),
        "n_kept": _counts(kept.sum(axis=1)[positive.found]),
        "n_changed": _counts(negative.changed.sum(axis=1)[negative.found]),
        "distance": _distribution(negative.objective[negative.found]),
        "overlap": _counts(explanations.overlap),
        "contrast": _contrast(explanations),
    }


def _class(explanations: Answered, k: int) -> Summary:
    label = explanations.positive.classes.tolist()[k]
    text = asked_of(explanations).settings.wording.label(label)
    return {"label": label, "text": text, "count": int((explanations.positive.label == k).sum())}


def _by_class(explanations: Answered, mask: BoolArray, found: BoolArray) -> list[list[int]]:
    """Return how often each feature occurs: one row for each class."""
    label = explanations.positive.label
    places = range(len(explanations.positive.classes))
    return [mask[(label == k) & found].sum(axis=0).tolist() for k in places]


def _outcomes(results: Results, speech: Speech) -> Summary:
    status = results.status
    reasons: dict[str, int] = {}
    for why in results.reasons:
        if why is not None:
            reason = why.words(results.classes, speech)
            reasons[reason] = reasons.get(reason, 0) + 1
    ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    return {
        "status": {name: int((status == name).sum()) for name in STATUSES},
        "reasons": [{"reason": reason, "count": count} for reason, count in ordered],
    }


def _counts(values: Any) -> list[int]:
    """Return how many samples have 0, 1, 2, ... of something."""
    return [int(n) for n in np.bincount(np.asarray(values, dtype=np.int64))]


def _distribution(values: FloatArray) -> Summary:
    known = values[np.isfinite(values)]
    if not len(known):
        return {"quantiles": [], "edges": [], "counts": []}
    counts, edges = np.histogram(
        known, bins=BINS, range=(0.0, max(float(known.max()), LEAST_SHOWN))
    )
    return {
        "quantiles": [[q, float(np.quantile(known, q))] for q in QUANTILES],
        "edges": edges.tolist(),
        "counts": counts.tolist(),
    }


def _contrast(explanations: Answered) -> list[list[int]]:
    """Return how many samples of each class have their contrast in each class."""
    negative, n = explanations.negative, len(explanations.positive.classes)
    table = np.zeros((n, n), dtype=np.int64)
    rows = negative.found & (negative.target_place >= 0)
    np.add.at(table, (negative.label[rows], negative.target_place[rows]), 1)
    return [[int(count) for count in row] for row in table]


def _settings(model: Any) -> str:
    """Return the model's parameters that differ from their defaults."""
    if not hasattr(model, "get_params"):
        return "unknown"
    if hasattr(model, "steps"):
        return " → ".join(type(step).__name__ for _, step in model.steps)
    own, usual = model.get_params(deep=False), type(model)().get_params(deep=False)
    changed = [
        f"{key}={value!r}" for key, value in own.items() if repr(value) != repr(usual.get(key))
    ]
    return ", ".join(changed)[:300] or "defaults"
