"""Models of XGBoost's JSON and UBJSON, checked and written anew.

A model that its scikit-learn class has written predicts up to the best round, as that class does;
one that a Booster has written predicts with all trees.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError, optional
from pertinent.geometry.arrays import Foreign, IntArray
from pertinent.models.trees.files.checked import (
    MOST_CLASSES,
    MOST_FEATURES,
    from_the_root,
    names_of,
    number_text,
    numbers,
    require,
    require_modest,
    whole,
    wholes,
    written,
)
from pertinent.models.trees.native import BoosterClassifier, BoosterRegressor
from pertinent.models.trees.of_xgboost import (
    EXPONENTIALS,
    OBJECTIVES,
    SUMS,
    empty_tree,
    require_sum_of_trees,
)

#: The node above a root.
NO_NODE = 2**31 - 1
OBJECTIVE = "its objective"


def model_of(document: Any) -> Foreign:
    """Return the model of a document, which the library predicts with."""
    library = optional("xgboost", "boosters", "Predicting with a model of XGBoost")
    learner = document["learner"]
    objective = learner["objective"]["name"]
    require(isinstance(objective, str), OBJECTIVE)
    require_sum_of_trees(learner, OBJECTIVES | SUMS | EXPONENTIALS)
    clean = _learner(learner)
    version = [whole(part, 0, 10_000, "its version") for part in document["version"]]
    if len(version) != 3 or version[0] < 1:
        raise UnsupportedModelError("Models of XGBoost are read from version 1 on.")
    booster = library.Booster({"nthread": 1})
    booster.load_model(bytearray(written({"learner": clean, "version": version}).encode()))
    dim = int(clean["learner_model_param"]["num_feature"])
    names = names_of(learner.get("feature_names", []), dim, "f")
    kind = BoosterClassifier if objective in OBJECTIVES else BoosterRegressor
    return kind(booster, names=names)


def _learner(learner: Any) -> dict[str, Any]:
    head = learner["learner_model_param"]
    classes = whole(head.get("num_class", 0), 0, MOST_CLASSES, "its number of classes")
    objective = _objective(learner["objective"], classes)
    dim = whole(head["num_feature"], 1, MOST_FEATURES, "its number of columns")
    base = _numbers_text(head["base_score"], (1, max(classes, 1)), "its base score")
    return {
        "attributes": {},
        "feature_names": [],
        "feature_types": [],
        "gradient_booster": {"model": _trees(learner, dim, max(classes, 1)), "name": "gbtree"},
        "learner_model_param": {
            "base_score": base,
            "boost_from_average": "1",
            "num_class": str(classes),
            "num_feature": str(dim),
            "num_target": "1",
        },
        "objective": objective,
    }


def _numbers_text(text: Any, counts: tuple[int, ...], what: str) -> str:
    """Return the text of a number, or of a list of so many of them."""
    require(isinstance(text, str), what)
    inner = text[1:-1] if text[:1] + text[-1:] == "[]" else text
    parts = [number_text(part.strip(), what) for part in inner.split(",")]
    require(len(parts) in counts, what)
    return f"[{','.join(parts)}]" if inner is not text else parts[0]


def _objective(objective: Any, classes: int) -> dict[str, Any]:
    """Return an objective with its parameters, each of which is a number, or a list of one."""
    several = objective["name"].startswith("multi:")
    require(classes > 1 if several else classes < 2, "its number of classes")
    out: dict[str, Any] = {"name": objective["name"]}
    for group, parameters in objective.items():
        if group != "name":
            known = all(name.isidentifier() and name.isascii() for name in (group, *parameters))
            require(known and parameters.get("num_class", str(classes)) == str(classes), OBJECTIVE)
            out[group] = {k: _numbers_text(v, (1,), OBJECTIVE) for k, v in parameters.items()}
    return out


def _trees(learner: Any, dim: int, outputs: int) -> dict[str, Any]:
    model = learner["gradient_booster"]["model"]
    require(not len(model.get("cats", {}).get("enc", [])), "categories that no tree asks about")
    count = len(model["trees"])
    output = wholes(model["tree_info"], count, 0, outputs - 1, "the classes of its trees")
    head = model["gbtree_model_param"]
    forest = whole(head.get("num_parallel_tree", 1), 0, max(count, 1), "its trees in a round")
    ends = _rounds(model, count, outputs * max(forest, 1))
    last = _best(learner, len(ends) - 1)
    used = int(ends[last])
    trees = [_tree(tree, place, dim) for place, tree in enumerate(model["trees"][:used])]
    require_modest(sum(len(tree["parents"]) for tree in trees), dim, outputs)
    return {
        "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
        "gbtree_model_param": {"num_parallel_tree": str(max(forest, 1)), "num_trees": str(used)},
        "iteration_indptr": ends[: last + 1].tolist(),
        "tree_info": output[:used].tolist(),
        "trees": trees,
    }


def _rounds(model: Any, count: int, in_one: int) -> IntArray:
    """Return after how many trees each round ends; models of before version 2 do not say it."""
    if "iteration_indptr" not in model:
        require(count % in_one == 0, "its trees in a round")
        return np.arange(0, count + 1, in_one)
    listed = model["iteration_indptr"]
    ends = wholes(listed, len(listed), 0, count, "the ends of its rounds")
    right = len(ends) and ends[0] == 0 and ends[-1] == count and (np.diff(ends) >= 0).all()
    require(right, "the ends of its rounds")
    return ends


def _best(learner: Any, rounds: int) -> int:
    """Return how many rounds predict."""
    attributes = learner.get("attributes", {})
    if "scikit_learn" not in attributes or "best_iteration" not in attributes:
        return rounds
    return whole(attributes["best_iteration"], 0, rounds - 1, "its best round") + 1


def _tree(tree: Any, place: int, dim: int) -> dict[str, Any]:
    """Return a tree of the library, its nodes level by level, those left out that were removed."""
    size = len(tree["left_children"])
    require(size > 0, "a tree without nodes")
    left, right = (
        wholes(tree[name], size, -1, size - 1, "a node below that is none")
        for name in ("left_children", "right_children")
    )
    order = from_the_root(left, right)
    number = np.full(size + 1, -1)
    number[order] = np.arange(len(order))
    left, right, inner = number[left[order]], number[right[order]], left[order] >= 0
    column = wholes(tree["split_indices"], size, 0, NO_NODE, "a column")[order]
    require(column[inner] < dim, "a column that is none")
    with np.errstate(over="ignore"):
        cut = numbers(tree["split_conditions"], size, "a number of a node")[order].astype("f4")
    require(np.isfinite(cut), "a number of a node")
    parent = np.full(len(order), NO_NODE)
    parent[left[inner]] = parent[right[inner]] = np.flatnonzero(inner)
    default = wholes(tree["default_left"], size, 0, 1, "the side of a missing value")[order]
    nodes, zeros = len(order), [0.0] * len(order)
    return {
        **empty_tree(place, dim),
        "base_weights": zeros,
        "default_left": default.tolist(),
        "left_children": left.tolist(),
        "loss_changes": zeros,
        "parents": parent.tolist(),
        "right_children": right.tolist(),
        "split_conditions": json.loads(f"[{','.join(map(str, cut))}]"),
        "split_indices": np.where(inner, column, 0).tolist(),
        "split_type": [0] * nodes,
        "sum_hessian": zeros,
        "tree_param": {**empty_tree(place, dim)["tree_param"], "num_nodes": str(nodes)},
    }
