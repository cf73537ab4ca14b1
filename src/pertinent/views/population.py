"""What holds over many samples: one summary, from which text, plots and the report are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.summary.rule_words import Reasons, called_by, feature_text, rules_text
from pertinent.summary.summary import Summary, asked_of, model_name
from pertinent.summary.words import counted, label_text, listed, percent

if TYPE_CHECKING:
    from pertinent.setting.results import Results
    from pertinent.summary.asked import Answered

STATUSES = ("optimal", "feasible", "infeasible", "failed")
#: Quantiles of distances that are listed.
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
BINS = 24


def summarize_population(explanations: Answered) -> Summary:
    """Return counts, shares and distributions over all samples, as plain values."""
    asked = asked_of(explanations)
    positive, negative = explanations.positive, explanations.negative
    wording, features = asked.wording, explanations.table.features
    kept = _free(explanations, positive.kept)
    worded = Reasons(asked, features)
    return {
        "n": len(explanations),
        "subject": wording.subject,
        "model": model_name(asked.prepared.model),
        "n_features": len(features),
        "constraints": rules_text(asked.prepared, called_by(wording, features.names)),
        "baseline": asked.baseline,
        "measure": asked.measure,
        "margin": float(asked.prepared.asked_margin),
        "classes": [_class(explanations, k) for k in range(len(positive.classes))],
        "features": [
            {"name": name, "text": feature_text(wording, name)} for name in features.names
        ],
        "kept": _by_class(explanations, kept, positive.found),
        "changed": _by_class(explanations, negative.changed, negative.found),
        "positive": _outcomes(positive, worded),
        "negative": _outcomes(negative, worded),
        "nothing_needed": int((~kept.any(axis=1) & positive.found).sum()),
        "n_kept": _counts(kept.sum(axis=1)[positive.found]),
        "n_changed": _counts(negative.changed.sum(axis=1)[negative.found]),
        "distance": _distribution(negative.objective),
        "overlap": _counts(explanations.overlap),
        "contrast": _contrast(explanations),
    }


def _class(explanations: Answered, k: int) -> Summary:
    label = explanations.positive.classes.tolist()[k]
    named = asked_of(explanations).wording.labels.get(label)
    count = int((explanations.positive.label == k).sum())
    return {"label": label, "text": named or label_text(label), "count": count}


def _free(explanations: Answered, kept: BoolArray) -> BoolArray:
    """Return what is kept by choice: a frozen feature is kept whatever it is good for."""
    frozen = explanations.table.features.indices(asked_of(explanations).prepared.constraints.frozen)
    chosen = kept.copy()
    chosen[:, frozen] = False
    return chosen


def _by_class(explanations: Answered, mask: BoolArray, found: BoolArray) -> list[list[int]]:
    """Return how often each feature occurs: one row for each class."""
    label = explanations.positive.label
    places = range(len(explanations.positive.classes))
    return [mask[(label == k) & found].sum(axis=0).tolist() for k in places]


def _outcomes(results: Results, worded: Reasons) -> Summary:
    status = results.status
    reasons: dict[str, int] = {}
    for raw in results.reason:
        reason = worded(raw)
        if reason is not None:
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
    counts, edges = np.histogram(known, bins=BINS, range=(0.0, max(float(known.max()), 1e-12)))
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


# -- In words --------------------------------------------------------------------------------


def population_text(population: Summary) -> str:
    """Return what holds over all samples, in words."""
    n = population["n"]
    if n == 0:
        return "There are no samples."
    lines = [f"{counted(n, population['subject'])} explained: {_class_words(population)}."]
    lines += [_frequent(population, k) for k in range(len(population["classes"]))]
    lines += [_distance_words(population), _proof_words(population)]
    lines += _absent(population)
    return "\n".join(line for line in lines if line)


def _class_words(population: Summary) -> str:
    parts = [f"{c['count']:,} predicted {c['text']}" for c in population["classes"] if c["count"]]
    return listed(parts)


def _frequent(population: Summary, k: int) -> str:
    """Return what most often was enough, and what most often would have changed it."""
    chosen = population["classes"][k]
    if not chosen["count"]:
        return ""
    kept = _most(population, population["kept"][k], chosen["count"])
    changed = _most(population, population["changed"][k], chosen["count"])
    parts = []
    if kept:
        parts.append(f"most often enough: {kept}")
    if changed:
        parts.append(f"most often changed to leave it: {changed}")
    return f"Predicted {chosen['text']}: {'; '.join(parts)}." if parts else ""


def _most(population: Summary, counts: list[int], total: int, most: int = 3) -> str:
    ranked = sorted(range(len(counts)), key=lambda j: (-counts[j], j))[:most]
    names = population["features"]
    parts = [f"{names[j]['text']} ({percent(counts[j] / total)})" for j in ranked if counts[j]]
    return ", ".join(parts)


def _distance_words(population: Summary) -> str:
    quantiles = dict(population["distance"]["quantiles"])
    if not quantiles:
        return ""
    changes = population["n_changed"]
    one = changes[1] / sum(changes) if len(changes) > 1 and sum(changes) else 0.0
    return (
        f"The smallest change has a median size of {quantiles[0.5]:.3g} (90% are below "
        f"{quantiles[0.9]:.3g}); in {percent(one)} of the cases it changes a single feature."
    )


def _proof_words(population: Summary) -> str:
    """Return how many of the answers are proved smallest; what has none is another matter."""
    parts = []
    for name, words in (("positive", "what was enough"), ("negative", "what would change it")):
        status = population[name]["status"]
        found = status["optimal"] + status["feasible"]
        if found:
            parts.append(f"{percent(status['optimal'] / found)} of {words}")
        if 0 < found < population["n"]:
            parts[-1] += " where something does"
    return f"Proved smallest: {listed(parts)}." if parts else ""


def _absent(population: Summary) -> list[str]:
    out = []
    if population["nothing_needed"]:
        fixed = ", with what the rules fix," if population["constraints"] != "none" else ""
        share = percent(population["nothing_needed"] / population["n"])
        out.append(
            f"For {share} nothing in particular was needed: the base values{fixed} get the same "
            "prediction."
        )
    for name, words in (("positive", "is enough"), ("negative", "would change it")):
        answers = population[name]
        none = answers["status"]["infeasible"]
        if none:
            why = answers["reasons"][0]["reason"]
            share = percent(none / population["n"])
            out.append(f"For {share} it is proved that nothing {words}; most often: {why}.")
        if answers["status"]["failed"]:
            out.append(f"No answer on what {words} for {answers['status']['failed']:,}.")
    return out
