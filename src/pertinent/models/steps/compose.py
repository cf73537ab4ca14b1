"""Steps made of steps: pipelines, unions of features, transformers of some columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.geometry.arrays import Foreign, IntArray
from pertinent.geometry.region import AffineMap
from pertinent.models.steps.walk import Columns, Walk, apply_step, join, register_symbolic


@register_symbolic("sklearn.pipeline.Pipeline", "imblearn.pipeline.Pipeline")
def pipeline_step(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns after all steps."""
    return walk_steps(step.steps, columns, walk)


def walk_steps(steps: list[tuple[str, Foreign]], columns: Columns, walk: Walk) -> Columns:
    """Return the columns after some steps; samplers of imblearn act in training only."""
    for name, inner in steps:
        if hasattr(inner, "fit_resample") and not hasattr(inner, "transform"):
            continue
        columns = apply_step(name, inner, columns, walk)
    return columns


@register_symbolic("sklearn.pipeline.FeatureUnion", "sklearn.compose.ColumnTransformer")
def side_by_side(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns of all transformers, each of its own columns and times its weight."""
    weights, parts = step.transformer_weights or {}, []
    union = hasattr(step, "transformer_list")  # each gets all columns
    for name, inner, *chosen in step.transformer_list if union else step.transformers_:
        if isinstance(inner, str) and inner == "drop":
            continue
        own = columns if union else columns.take(_places(chosen[0], columns, step, walk))
        if not union and not len(own):
            continue
        part = apply_step(name, inner, own, walk)
        if weights.get(name) is not None:
            scale = np.full(len(part), float(weights[name]))
            part = part.through(AffineMap(scale, np.zeros(len(part))))
        parts.append(part)
    return join(parts, columns)


def _places(chosen: Any, columns: Columns, step: Foreign, walk: Walk) -> IntArray:
    """Return the places of columns given by name, position, slice or mask."""
    n = len(columns)
    names = [str(c) for c in getattr(step, "feature_names_in_", columns.names)]
    if isinstance(chosen, slice):
        ends = [names.index(e) if isinstance(e, str) else e for e in (chosen.start, chosen.stop)]
        if isinstance(chosen.stop, str):
            ends[1] += 1  # a slice of names includes its end
        return np.arange(n)[slice(ends[0], ends[1], chosen.step)]
    if isinstance(chosen, str) or np.ndim(chosen) == 0:
        chosen = [chosen]
    items = list(chosen)
    if items and all(isinstance(c, bool | np.bool_) for c in items):
        return np.flatnonzero(items)
    places = []
    for item in items:
        if isinstance(item, str):
            if item not in names:
                raise walk.refuse(step, f"selects {item!r} by name, and names are lost before it.")
            places.append(names.index(item))
        else:
            places.append(int(item) % n)
    return np.array(places, dtype=np.int64)
