"""Classifiers of LightGBM, read from the text that the library writes of itself.

A node sends ``x <= threshold`` to the left, in double precision. Leaves are added up in double
precision, one tree after the other; class 1 of two is predicted where p = sigmoid(sum) is larger
than 1 - p. Sums up to about 2e-16 still give p = 0.5: the least one that gives more is found with
the same ``exp``. Of more classes the first with the largest probability is predicted: see
`Tally.late`, as for XGBoost but in double precision.

Each node treats missing values in one of three ways:

====  =====================================================================
none  NaN is taken for 0
zero  NaN, and every number between -1e-35 and 1e-35, goes to the default side
NaN   NaN goes to the default side
====  =====================================================================

The text holds each number in 17 digits, which give the same double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.ensembles import Ensemble, EnsembleRegion, Tally
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.geometry.region import Region
from pertinent.models.registry import class_index, register_model
from pertinent.models.tolerances import LATE_DOUBLE
from pertinent.models.trees.nodes import OneTree, at_output, end_to_end, once, with_runs

#: Numbers up to this size are zero to LightGBM.
ZERO = float(np.float32(1e-35))
#: Objectives of numbers: the sum is the prediction, or its exponential is.
SUMS = frozenset({"regression", "regression_l1", "huber", "fair", "quantile", "mape"})
EXPONENTIALS = frozenset({"poisson", "gamma", "tweedie"})
#: Objectives whose sums decide between classes.
DECIDING = ("binary", "multiclass")
#: Parts of ``decision_type``.
DEFAULT_LEFT, NONE_MISSING, ZERO_MISSING = 2, 0, 1


@register_model("lightgbm.sklearn.LGBMClassifier")
def lightgbm_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where a classifier of LightGBM predicts a label."""
    # Where training stopped early, both the text and predict stop at the best round.
    text = model.booster_.model_to_string()
    return EnsembleRegion.of(ensemble_of(text), class_index(model, label), margin)


def ensemble_of(text: str) -> Ensemble:
    """Return the model of a text in the one form of all ensembles."""

    def build() -> Ensemble:
        return _ensemble(*parts_of(text))

    return once([text.encode()], ("lightgbm",), build)


def regression_of(text: str) -> tuple[Ensemble, Callable[[FloatArray], FloatArray] | None]:
    """Return the only sum of a model of a text that predicts numbers, and what becomes of it.

    None: nothing, the sum is the prediction.
    """
    known, trees = parts_of(text)
    objective, *options = known.get("objective", "none").split()
    if objective not in SUMS | EXPONENTIALS or "sqrt" in options:
        raise UnsupportedModelError(
            f"LightGBM's objective {' '.join([objective, *options])!r} predicts no sum of trees; "
            f"supported are {', '.join(sorted(SUMS | EXPONENTIALS))} (without reg_sqrt)."
        )

    def build() -> Ensemble:
        nodes = [_tree(tree, 0, 1) for tree in trees]
        tally = Tally(np.zeros(1), divisor=_divisor(known, len(trees)), threshold=0.0)
        return Ensemble(end_to_end(nodes), int(known["max_feature_idx"]) + 1, tally)

    ensemble = once([text.encode()], ("lightgbm",), build)
    return ensemble, None if objective in SUMS else _exponentials


def _exponentials(sums: FloatArray) -> FloatArray:
    """Return the exponential of each sum, as the library computes it."""
    return np.array([_exp(s) for s in sums.tolist()])


def _divisor(head: dict[str, str], rounds: int) -> float:
    """Return what sums are divided by: a forest (boosting_type="rf") divides by its rounds."""
    return float(max(rounds, 1)) if "average_output" in head else 1.0


def parts_of(text: str) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the fields of the head of a text, and those of each tree."""
    head, *trees = text.split("\nend of trees")[0].split("\nTree=")
    return _fields(head), [_fields(tree) for tree in trees]


def _fields(block: str) -> dict[str, str]:
    lines = (line.partition("=") for line in block.splitlines())
    return {name: value for name, _, value in lines}


def _ensemble(head: dict[str, str], trees: list[dict[str, str]]) -> Ensemble:
    objective, *options = head.get("objective", "none").split()
    if objective not in DECIDING:
        raise UnsupportedModelError(
            f"LightGBM's objective {objective!r} does not decide between classes by a sum of "
            "trees; supported are 'binary' and 'multiclass'."
        )
    count = int(head["num_tree_per_iteration"])
    nodes = [_tree(tree, i % count, count) for i, tree in enumerate(trees)]
    divisor = _divisor(head, len(trees) // count)
    tally = Tally(np.zeros(count), divisor=divisor, late=LATE_DOUBLE)
    if count == 1:
        steepness = next(float(o.partition(":")[2]) for o in options if o.startswith("sigmoid:"))
        tally = Tally(np.zeros(1), divisor=divisor, threshold=_least_sum(steepness))
    return Ensemble(end_to_end(nodes), int(head["max_feature_idx"]) + 1, tally)


def _least_sum(steepness: float) -> float:
    """Return the least sum whose sigmoid p is larger than 1 - p."""

    def lead(sums: FloatArray) -> FloatArray:
        p = np.array([1.0 / (1.0 + _exp(-steepness * s)) for s in sums.tolist()])
        return p - (1.0 - p)

    return float(np.nextafter(last_at_most(lead, np.zeros(1))[0], np.inf))


def _exp(x: float) -> float:
    """Return exp of the C library, which LightGBM calls too; NumPy's may differ in a bit."""
    return math.exp(x) if x < 700.0 else math.inf


def require_plain(tree: dict[str, str]) -> None:
    """Refuse a tree whose leaves are not constant, or that asks for categories."""
    if int(tree.get("is_linear", "0")):
        raise UnsupportedModelError(
            "LightGBM's linear trees (linear_tree=True) are not supported: their leaves are not "
            "constant."
        )
    if int(tree["num_cat"]):
        raise UnsupportedModelError(
            "LightGBM's own categories (categorical_feature, or columns of type category) are not "
            "supported; encode them in a step before the model (OneHotEncoder, OrdinalEncoder)."
        )


def _tree(tree: dict[str, str], output: int, n_outputs: int) -> OneTree:
    require_plain(tree)
    leaves = np.array(tree["leaf_value"].split(), dtype=float)
    inner = len(leaves) - 1

    def numbers(name: str, kind: type) -> Any:
        found: Any = np.array(tree[name].split() if inner else [], dtype=kind)
        return np.concatenate([found, np.zeros(len(leaves), dtype=kind)])

    decision, cut = numbers("decision_type", np.int64), numbers("threshold", float)
    sides = [numbers(name, np.int64) for name in ("left_child", "right_child")]
    # A leaf l is written as -l - 1; here it is node inner + l.
    lower, upper = (np.where(side < 0, inner - side - 1, side) for side in sides)
    default, kind = (decision & DEFAULT_LEFT) > 0, decision >> 2
    column = numbers("split_feature", np.int64)
    column[inner:] = -1
    value = at_output(np.concatenate([np.zeros(inner), leaves]), output, n_outputs)
    missing = np.where(kind == NONE_MISSING, cut >= 0.0, default)
    one = OneTree(column, cut, lower, upper, value, missing)
    zero = np.flatnonzero((kind == ZERO_MISSING) & (column >= 0))
    return with_runs(one, {int(i): _around_zero(float(cut[i]), bool(default[i])) for i in zero})


def _around_zero(cut: float, default_low: bool) -> tuple[list[float], list[bool]]:
    """Return the runs of numbers on the same side, where zero goes to the default side.

    Up to each of the cuts, and after the last: whether numbers go to the lower side.
    """
    before = float(np.nextafter(-ZERO, -np.inf))
    cuts = sorted({cut, before, ZERO})
    ends = [*cuts, math.inf]
    return cuts, [default_low if before < end <= ZERO else end <= cut for end in ends]
