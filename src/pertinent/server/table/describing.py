"""A model and its data described, so that a page can draw a control for each feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pertinent import __version__
from pertinent.api.explainer import Explainer
from pertinent.rules.inferred import RANGE, STEP
from pertinent.server.solving.asking import rules_in_json
from pertinent.server.solving.form import CATEGORY, NUMBER, Column, RowForm
from pertinent.server.table.columns import Kept
from pertinent.setting.question import Method, Norm
from pertinent.summary.summary import model_name
from pertinent.tables.raw import raw_rows
from pertinent.tables.reading import read_table
from pertinent.views.report import model_fingerprint

#: Bars of a distribution, and categories that it shows.
BARS, MOST_BARS = 24, 30


def describe(
    explainer: Explainer, form: RowForm, columns: Mapping[str, Kept], count: int
) -> dict[str, Any]:
    """Return what `GET /api/v1/model` answers."""
    setting, wording = explainer.setting, explainer.settings.wording
    classes = setting.classes.tolist()
    return {
        "name": model_name(setting.model),
        "kind": f"{type(setting.model).__module__.split('.')[0]}.{type(setting.model).__name__}",
        "classes": classes,
        "class_words": {str(label): wording.labels.get(label) or str(label) for label in classes},
        "subject": wording.subject,
        "version": __version__,
        "fingerprint": model_fingerprint(setting.model),
        "has_probability": hasattr(setting.model, "predict_proba"),
        "n_rows": count,
        "id_name": "row",
        "features": _features(explainer, form, columns),
        "inferred": [
            {"feature": rule.feature, "rule": rule.kind, "words": str(rule)}
            for rule in explainer.inferred
        ],
        "rules": rules_in_json(explainer.settings.constraints),
        "methods": [str(method) for method in Method],
        "norms": [str(norm) for norm in Norm],
        "plausible": explainer.has_data,
        "options": {
            "method": str(explainer.settings.method),
            "norm": str(explainer.settings.norm),
            "min_probability": explainer.settings.min_proba,
            "plausible": setting.within is not None,
        },
    }


def _features(
    explainer: Explainer, form: RowForm, columns: Mapping[str, Kept]
) -> list[dict[str, Any]]:
    wording, typical = explainer.settings.wording, _typical(explainer, form)
    ranges = {r.feature: r.numbers for r in explainer.inferred if r.kind == RANGE}
    steps = {r.feature: r for r in explainer.inferred if r.kind == STEP}
    out = []
    for column, usual in zip(form.columns, typical, strict=True):
        kept = columns.get(column.name)
        low, high = _ends(kept, ranges.get(column.name))
        step = steps.get(column.name)
        whole = column.kind != NUMBER
        out.append({
            "name": column.name,
            "text": wording.feature(column.name),
            "unit": wording.units.get(column.name),
            "kind": column.kind,
            "low": None if column.kind == CATEGORY else low,
            "high": None if column.kind == CATEGORY else high,
            "step": (1.0 if whole else None) if step is None else float(step.numbers[0]),
            "decimals": (0 if whole else None) if step is None else step.lattice.decimals,
            "categories": list(column.categories) if column.kind == CATEGORY else None,
            "typical": usual,
            "missing_allowed": column.may_be_missing,
            "distribution": None if kept is None else _distribution(column, kept),
        })  # fmt: skip
    return out


def _typical(explainer: Explainer, form: RowForm) -> list[Any]:
    """Return the values that features rest at, as their owner knows them."""
    baseline = explainer.question.baseline
    sample = [c.categories[0] if c.kind == CATEGORY and c.categories else 0 for c in form.columns]
    table = read_table(explainer.setting.features, form.table([sample]))
    return list(raw_rows(table, np.broadcast_to(baseline, table.values.shape))[0])


def _ends(kept: Kept | None, given: tuple[float, ...] | None) -> tuple[Any, Any]:
    """Return the range of a slider: that of the data."""
    if kept is not None and kept.levels is None and not kept.missing.all():
        known = kept.values[~kept.missing]
        return _finite(known.min()), _finite(known.max())
    low, high = given if given is not None else (None, None)
    return _finite(low), _finite(high)


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _distribution(column: Column, kept: Kept) -> dict[str, Any] | None:
    known = kept.values[~kept.missing]
    if not len(known):
        return None
    if kept.levels is not None:
        codes, counts = np.unique(known, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:MOST_BARS]
        return {
            "values": [kept.levels[codes[k]] for k in order],
            "counts": [int(counts[k]) for k in order],
        }
    if column.kind == CATEGORY or known.dtype.kind == "b":
        values, counts = np.unique(known, return_counts=True)
        return {"values": values.tolist()[:MOST_BARS], "counts": counts.tolist()[:MOST_BARS]}
    finite = known[np.isfinite(known)].astype(float)
    if not len(finite):
        return None
    counts, edges = np.histogram(finite, bins=BARS)
    return {"edges": [float(e) for e in edges], "counts": [int(c) for c in counts]}
