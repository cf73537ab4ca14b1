"""Classifiers of CatBoost, read from the JSON that the library writes of itself.

A split sends ``float32(x) > border`` to the right. Leaves are added up in double precision, one
tree after the other, then scaled and shifted. Class 1 of two is predicted where the result is above
the logit of the probability threshold (0 unless it was set); of more classes the first with the
largest result. Most trees are symmetric: one split a level, and bit i of a leaf's number says
whether split i went to the right.

JSON holds each number in the digits that give the same double.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally, Trees, summation_error
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, register_model
from pertinent.models.trees.nodes import OneTree, end_to_end, last_singles, once

#: Losses of numbers whose prediction is the sum itself.
SUMS = frozenset({"RMSE", "MAE", "Quantile", "Huber", "Expectile", "MAPE", "Lq"})


@register_model("catboost.core.CatBoostClassifier")
def catboost_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a classifier of CatBoost predicts a label."""
    text = _text_of(model)
    threshold = float(model.get_probability_threshold() or 0.5)
    # Not n_features_in_, which a model from a file or a pickle says is 0.
    classes, dim = len(model.classes_), len(model.feature_names_)
    ensemble = ensemble_of(text, classes, dim, threshold)
    return EnsembleRegion.of(ensemble, class_index(model, label), margin)


def _text_of(model: Foreign) -> bytes:
    """Return what the library writes of a model."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        model.save_model(str(file), format="json")
        return file.read_bytes()


def params_of(text: bytes) -> Any:
    """Return how a model of a text was trained."""
    return json.loads(text)["model_info"]["params"]


def leaves_gaps(model: Foreign) -> bool:
    """Return whether a model of CatBoost takes missing values."""
    options = params_of(_text_of(model)).get("data_processing_options", {})
    found = options.get("float_features_binarization", {})
    return bool(found.get("nan_mode") != "Forbidden")


def regression_of(model: Foreign) -> tuple[Ensemble, Callable[[FloatArray], FloatArray]]:
    """Return the only sum of a CatBoostRegressor, and the line that makes a prediction of it."""
    text, dim = _text_of(model), len(model.feature_names_)
    loss = params_of(text)["loss_function"]["type"]
    if loss not in SUMS:
        raise UnsupportedModelError(
            f"CatBoostRegressor(loss_function={loss!r}) predicts no sum of trees; supported are "
            f"{', '.join(sorted(SUMS))}."
        )
    scale, bias = json.loads(text)["scale_and_bias"]
    shift = float(np.ravel(bias)[0])

    def build() -> Ensemble:
        return Ensemble(_nodes(json.loads(text)), dim, Tally(np.zeros(1), threshold=0.0))

    ensemble = once([text], ("catboost", "number", dim), build)
    return ensemble, partial(_on_a_line, float(scale), shift)


def _on_a_line(scale: float, shift: float, sums: FloatArray) -> FloatArray:
    return scale * sums + shift


def ensemble_of(text: bytes, n_classes: int, dim: int, threshold: float = 0.5) -> Ensemble:
    """Return the model of a text in the one form of all ensembles."""

    def build() -> Ensemble:
        return _ensemble(json.loads(text), n_classes, dim, threshold)

    return once([text], ("catboost", n_classes, dim, threshold), build)


def _ensemble(model: Any, n_classes: int, dim: int, threshold: float) -> Ensemble:
    scale, bias = model["scale_and_bias"]
    nodes, shift = _nodes(model), np.array(bias, dtype=float)
    outputs = nodes.value.shape[1]
    if outputs != (1 if n_classes == 2 else n_classes) and outputs != n_classes:
        raise UnsupportedModelError(
            f"This CatBoostClassifier has {outputs} outputs for {n_classes} classes: it predicts "
            "several labels at once, and not one of several."
        )
    if outputs == 1:
        return Ensemble(nodes, dim, _of_two(float(scale), float(shift[0]), threshold))
    return _of_more(nodes, dim, float(scale), shift)


def _nodes(model: Any) -> Trees:
    features = _columns(model)
    symmetric = model.get("oblivious_trees")
    if symmetric is not None:
        return end_to_end([_symmetric(tree, features) for tree in symmetric])
    return end_to_end([_branched(tree, features) for tree in model["trees"]])


def _of_two(scale: float, bias: float, threshold: float) -> Tally:
    """Return how class 1 wins: ``scale * sum + bias > logit(threshold)``, as it rounds."""
    logit = np.log(threshold / (1.0 - threshold))
    last = last_at_most(lambda s: scale * s + bias, np.array([logit]))
    # The library's own logit may differ in the last bits, unless it is 0.
    doubt = 0.0 if logit == 0.0 else 8 * np.finfo(float).eps * max(abs(logit) / scale, abs(logit))
    return Tally(np.zeros(1), threshold=float(np.nextafter(last[0], np.inf)), doubt=doubt)


def _of_more(nodes: Trees, dim: int, scale: float, shift: Any) -> Ensemble:
    if scale == 1.0 and not shift.any():
        return Ensemble(nodes, dim, Tally(shift))
    # Scaled and shifted after the sum, not before it: close sums are decided for no class.
    scaled = replace(nodes, value=nodes.value * scale)
    first = Ensemble(scaled, dim, Tally(shift))
    doubt = summation_error(first.leaves.value, first.leaves.tree, first.tally)
    return Ensemble(scaled, dim, Tally(shift, doubt=doubt))


def require_numbers(model: Any) -> None:
    """Refuse a model that treats other features than numbers."""
    info = model["features_info"]
    others = sorted(name for name, found in info.items() if name != "float_features" and found)
    if others:
        raise UnsupportedModelError(
            f"CatBoost's own treatment of {', '.join(others)} is not supported (it learns numbers "
            "from the labels of other rows); encode categories in a step before the model."
        )


def _columns(model: Any) -> list[tuple[int, bool]]:
    """Return the column of each numeric feature, and whether a missing value goes to the left."""
    require_numbers(model)
    return [
        (int(f["flat_feature_index"]), f["nan_value_treatment"] != "AsTrue")
        for f in model["features_info"].get("float_features", [])
    ]


def _split(split: Any, features: list[tuple[int, bool]]) -> tuple[int, float, bool]:
    """Return column, border, and whether a missing value goes to the left."""
    if split["split_type"] != "FloatFeature":
        raise UnsupportedModelError(
            f"CatBoost's splits of type {split['split_type']} are not supported: only those of "
            "numbers are."
        )
    column, missing_left = features[int(split["float_feature_index"])]
    return column, float(np.float32(split["border"])), missing_left


def _symmetric(tree: Any, features: list[tuple[int, bool]]) -> OneTree:
    """Return a tree of one split a level as a full binary tree.

    Node k has the nodes 2 k + 1 and 2 k + 2 below it, and the last split comes first: so the
    leaves are in the order of their numbers.
    """
    splits = [_split(split, features) for split in reversed(tree.get("splits") or [])]
    depth = len(splits)
    values = np.array(tree["leaf_values"], dtype=float).reshape(2**depth, -1)
    level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
    column, border, missing = (np.array([s[i] for s in splits] or [0])[level] for i in range(3))
    leaves, node = len(values), np.arange(2 ** (depth + 1) - 1)
    return OneTree(
        np.concatenate([column, np.full(leaves, -1)]).astype(np.int64),
        np.concatenate([last_singles(border), np.zeros(leaves)]),
        2 * node + 1,
        2 * node + 2,
        np.concatenate([np.zeros((leaves - 1, values.shape[1])), values]),
        np.concatenate([missing, np.zeros(leaves)]).astype(bool),
    )


def _branched(tree: Any, features: list[tuple[int, bool]]) -> OneTree:
    """Return a tree whose nodes each have a split of their own."""
    waiting, rows = [tree], list[tuple[int, float, bool, int, int, Any]]()
    for node in waiting:  # grows as the nodes below are met
        if "split" in node:
            below = len(waiting)
            waiting += [node["left"], node["right"]]
            rows.append((*_split(node["split"], features), below, below + 1, None))
        else:
            rows.append((-1, 0.0, False, 0, 0, node["value"]))
    column, border, missing, lower, upper, found = zip(*rows, strict=True)
    width = max(np.size(value) for value in found if value is not None)
    values = [np.zeros(width) if value is None else np.ravel(value) for value in found]
    return OneTree(
        np.array(column),
        last_singles(np.array(border)),
        np.array(lower),
        np.array(upper),
        np.array(values, dtype=float),
        np.array(missing, dtype=bool),
    )
