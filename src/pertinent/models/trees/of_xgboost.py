"""Classifiers of XGBoost, read from the JSON that the library writes of itself.

A node sends ``float32(x) < threshold`` to the left. Leaves are added up in single precision, one
tree after the other, from the base score on. Of two classes, class 1 is predicted where the
library's own link makes more than 0.5 of the sum. This link is a sigmoid in single precision: sums
up to about 9e-8 still give 0.5. So the least sum that gives more is not computed but asked for, of
a model with the same head and no trees; likewise the sum that the base score starts from, which
XGBoost rounds in a way of its own.

Of more classes the first with the largest probability is predicted. The softmax subtracts the
largest sum, so the winner has ``exp(0) = 1``, and one that is behind by d has exp(-d). With d above
2^-22 that is at most ``1 - 3 * 2^-24`` (expf being right to one unit), and after the division by
the same number the two differ; below that they may be equal, see `Tally.late`.

JSON holds each number in the fewest digits that give the same single.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign, IntArray
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, register_model
from pertinent.models.tolerances import LATE_SINGLE
from pertinent.models.trees.nodes import OneTree, at_output, end_to_end, last_singles, once

#: Objectives whose sums decide between classes: larger means class 1, or this class.
OBJECTIVES = frozenset(
    {
        "binary:logistic",
        "binary:logitraw",
        "binary:hinge",
        "multi:softprob",
        "multi:softmax",
    }
)

#: Objectives of numbers: the sum is the prediction, or its exponential is.
SUMS = frozenset(
    {
        "reg:squarederror",
        "reg:absoluteerror",
        "reg:pseudohubererror",
        "reg:quantileerror",
        "reg:squaredlogerror",
    }
)
EXPONENTIALS = frozenset({"count:poisson", "reg:gamma", "reg:tweedie"})


@register_model("xgboost.sklearn.XGBClassifier")
def xgboost_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a classifier of XGBoost predicts a label."""
    ensemble = booster_of(*used_of(model))
    return EnsembleRegion.of(ensemble, class_index(model, label), margin)


def used_of(model: Foreign) -> tuple[Foreign, int | None]:
    """Return the booster inside, and how many rounds of it predict; None: all of them."""
    missing = model.missing
    if missing is not None and not np.isnan(missing):
        raise UnsupportedModelError(
            f"{type(model).__name__}(missing={missing!r}) takes a number for a missing value. It "
            "is supported with missing=nan: replace that number in the data."
        )
    booster = model.get_booster()
    best = booster.attr("best_iteration")  # where training stopped early, predict stops there
    return booster, None if best is None else int(best) + 1


def regression_of(
    booster: Foreign, rounds: int | None = None
) -> tuple[Ensemble, Callable[[FloatArray], FloatArray] | None]:
    """Return the only sum of a Booster that predicts a number, and what it makes of it.

    None: nothing, the sum is the prediction.
    """
    learner = json.loads(booster.save_raw("json"))["learner"]
    objective = learner["objective"]["name"]
    require_sum_of_trees(learner, SUMS | EXPONENTIALS)
    head = _Head(booster, learner)

    def build() -> Ensemble:
        return _ensemble(learner, rounds, head)

    ensemble = once([bytes(booster.save_raw("ubj"))], ("xgboost", rounds), build)
    return ensemble, None if objective in SUMS else head.outputs


def booster_of(booster: Foreign, rounds: int | None = None) -> Ensemble:
    """Return a Booster in the one form of all ensembles, or the first rounds of it."""
    raw = bytes(booster.save_raw("ubj"))

    def build() -> Ensemble:
        learner = json.loads(booster.save_raw("json"))["learner"]
        require_sum_of_trees(learner)
        return _ensemble(learner, rounds, _Head(booster, learner))

    return once([raw], ("xgboost", rounds), build)


def _ensemble(learner: Any, rounds: int | None, head: _Head) -> Ensemble:
    model, count = learner["gradient_booster"]["model"], head.n_outputs
    last = len(model["trees"]) if rounds is None else int(model["iteration_indptr"][rounds])
    nodes = [
        _tree(tree, int(output), count)
        for tree, output in zip(model["trees"][:last], model["tree_info"][:last], strict=True)
    ]
    tally = Tally(head.base(), "float32")
    if count == 1:
        tally = Tally(tally.base, "float32", threshold=least_single(head.is_class_1))
    elif learner["objective"]["name"] == "multi:softprob":
        tally = Tally(tally.base, "float32", late=LATE_SINGLE)
    return Ensemble(end_to_end(nodes), head.dim, tally)


def require_sum_of_trees(learner: Any, objectives: frozenset[str] = OBJECTIVES) -> None:
    """Refuse a model that is no plain sum of trees, or has another objective."""
    kind, objective = learner["gradient_booster"]["name"], learner["objective"]["name"]
    if kind != "gbtree":
        raise UnsupportedModelError(
            f"XGBoost's booster {kind!r} is no plain sum of trees; supported is 'gbtree'."
        )
    if objective not in objectives:
        decides = "does not decide between classes by a"
        what = decides if objectives is OBJECTIVES else "predicts by no"
        raise UnsupportedModelError(
            f"XGBoost's objective {objective!r} {what} sum of trees; supported are "
            f"{', '.join(sorted(objectives))}."
        )
    trees = learner["gradient_booster"]["model"]["trees"]
    targets = int(learner["learner_model_param"].get("num_target", 1))
    if targets > 1 or any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        raise UnsupportedModelError(
            "XGBoost's trees with several outputs (multi_strategy='multi_output_tree', or several "
            "targets) are not supported; train one tree for each class."
        )
    if any(any(tree["split_type"]) for tree in trees):
        raise UnsupportedModelError(
            "XGBoost's own categories (enable_categorical) are not supported; encode them in a "
            "step before the model (OneHotEncoder, OrdinalEncoder)."
        )


def _tree(tree: Any, output: int, n_outputs: int) -> OneTree:
    left = np.array(tree["left_children"], dtype=np.int64)
    number = np.array(tree["split_conditions"], dtype=np.float32)
    with np.errstate(over="ignore"):
        # float32(x) < t is float32(x) <= the single before t.
        before = np.nextafter(number, np.float32(-np.inf)).astype(float)
    return OneTree(
        np.where(left < 0, -1, np.array(tree["split_indices"], dtype=np.int64)),
        last_singles(before),
        left,
        np.array(tree["right_children"], dtype=np.int64),
        at_output(number.astype(float), output, n_outputs),
        np.array(tree["default_left"], dtype=bool),
    )


class _Head:
    """What a Booster does beside its trees: a Booster with the same head and empty trees says so.

    Parameters
    ----------
    booster : xgboost.Booster
    learner : dict
        What it says of itself.
    """

    def __init__(self, booster: Foreign, learner: Any) -> None:
        parameters = learner["learner_model_param"]
        self.dim, self.n_outputs = (
            int(parameters["num_feature"]),
            max(1, int(parameters["num_class"])),
        )
        model = learner["gradient_booster"]["model"]
        bare = {
            **model,
            "trees": [empty_tree(k, self.dim) for k in range(self.n_outputs)],
            "tree_info": list(range(self.n_outputs)),
            "iteration_indptr": [0, self.n_outputs],
            "gbtree_model_param": {
                **model["gbtree_model_param"],
                "num_trees": str(self.n_outputs),
                "num_parallel_tree": "1",
            },
        }
        head = {
            **learner,
            "gradient_booster": {**learner["gradient_booster"], "model": bare},
            "attributes": {},
            "feature_names": [],
            "feature_types": [],
        }
        version = json.loads(booster.save_config())["version"]
        self._bare = type(booster)()
        text = json.dumps({"learner": head, "version": version})
        self._bare.load_model(bytearray(text.encode()))

    def base(self) -> FloatArray:
        """Return what the sums start from."""
        rows = np.zeros((1, self.dim), dtype=np.float32)
        start = self._bare.inplace_predict(rows, predict_type="margin")
        return np.ravel(np.asarray(start, dtype=float))

    def is_class_1(self, sums: FloatArray) -> BoolArray:
        """Return which sums the library makes more than 0.5 of."""
        return np.asarray(self.outputs(sums) > 0.5)

    def outputs(self, sums: FloatArray) -> FloatArray:
        """Return what the library makes of sums."""
        rows = np.zeros((len(sums), self.dim), dtype=np.float32)
        with np.errstate(over="ignore"):
            margin = sums.astype(np.float32)
        output = self._bare.inplace_predict(rows, base_margin=margin)
        return np.asarray(np.ravel(output), dtype=float)


def empty_tree(place: int, dim: int) -> dict[str, Any]:
    """Return a tree of one leaf that adds nothing."""
    none: dict[str, Any] = {
        name: []
        for name in ("categories", "categories_nodes", "categories_segments", "categories_sizes")
    }
    zeros = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
    whole = {"default_left": 0, "left_children": -1, "right_children": -1, "split_indices": 0}
    sizes = {"num_deleted": 0, "num_feature": dim, "num_nodes": 1, "size_leaf_vector": 1}
    return {
        **none,
        **{name: [0.0] for name in zeros},
        **{name: [number] for name, number in whole.items()},
        "id": place,
        "parents": [2**31 - 1],
        "split_type": [0],
        "tree_param": {name: str(size) for name, size in sizes.items()},
    }


def least_single(holds: Callable[[FloatArray], BoolArray]) -> float:
    """Return the least single for which something holds that holds for all larger ones.

    Examples
    --------
    >>> import numpy as np
    >>> least_single(lambda numbers: numbers > 0.5)
    0.5000000596046448
    """
    most = np.float32(np.finfo(np.float32).max)
    low, high = (int(_ordered(np.array([end]))[0]) for end in (-most, most))
    if not holds(_single(np.array([high])))[0]:
        return float(np.inf)
    if holds(_single(np.array([low])))[0]:
        return -float(np.inf)
    while high - low > 1:  # it holds at high, not at low
        between = np.unique(np.linspace(low, high, 258)[1:-1].astype(np.int64))
        between = between[(between > low) & (between < high)]
        true = holds(_single(between))
        first = int(true.argmax()) if true.any() else len(true)
        low = int(between[first - 1]) if first else low
        high = int(between[first]) if first < len(true) else high
    return float(_single(np.array([high]))[0])


def _ordered(numbers: Any) -> IntArray:
    """Return integers that are ordered as the singles are."""
    bits = numbers.astype(np.float32).view(np.int32).astype(np.int64)
    return np.asarray(np.where(bits < 0, -(2**31) - bits, bits))


def _single(ordered: IntArray) -> FloatArray:
    """Return the singles of integers made by `_ordered`, as doubles."""
    bits = np.where(ordered < 0, -(2**31) - ordered, ordered)
    return bits.astype(np.int32).view(np.float32).astype(float)
