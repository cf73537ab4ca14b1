"""How far values of small answers may move, judged by the model on a grid of values."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache
from itertools import product
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

import pertinent
from pertinent.api import preparing
from tests.proofs import planted_truth as truth_of
from tests.proofs.planted_problems import Claim, Problem
from tests.proofs.planted_trees import in_numpy
from tests.proofs.planted_truth import DATA, HIGH, LOW, X, bayes, logistic, softmax, tree
from tests.shown import proved_of_negatives

LIMITS = {j: (LOW, HIGH) for j in range(4)}
#: A claim that is not looked at: what is judged is only whether ranges hold.
NOTHING = ("optimal", 0.0, 0.0, 0.0, True)


@contextmanager
def without_compiling():
    """Let sums of trees be searched in NumPy, with nothing made ready beforehand."""
    with in_numpy(), mock.patch.object(preparing, "make_ready"):
        yield


def ranges(model, samples=X, min_proba=None, under=nullcontext, base=None, **rules):
    """Return the problem of ranges and boxes of both answers; a range that is too wide is false."""
    plain = isinstance(samples, np.ndarray)
    rules = {"bounds": LIMITS} | rules if plain else rules
    how = {"constraints": pertinent.Constraints(**rules), "min_proba": min_proba}
    plain_base = np.zeros(4) if base is None else base
    how["baseline"] = plain_base if plain else {"job": "none", "age": 30, "debt": 0.0}

    def ask():
        with under():
            found = pertinent.Explainer(model(), **how).explain(samples)
            return [(one, one.ranges, one.box, one.kept_ranges) for one in found], found

    def claims(asked):
        told, found = asked
        return [
            Claim(*NOTHING, others_hold=all_hold(model(), found, i, *parts))
            for i, (_, *parts) in enumerate(told)
        ]

    return Problem(ask, claims, lambda: [0.0] * len(samples), handed_out=True)


def all_hold(model, found, i, moved, box, kept):
    """Return whether each value in its range, and each corner of the box, keeps the class."""
    negative, positive = _row(found.negative.points, i), _row(found.positive.points, i)
    target = found.negative.target[i]
    label = found.positive.classes[found.positive.label[i]]
    changes = [({name: v}, negative, target) for name, r in moved.items() for v in _values(r)]
    base = _stand_ins(found, i) or [positive]
    changes += [
        ({name: v}, point, label) for name, r in kept.items() for v in _values(r) for point in base
    ]
    changes += [
        (dict(zip(box, corner, strict=True)), negative, target)
        for corner in product(*(_values(r) for r in box.values()))
        if box  # without an answer there is none
    ]
    return all(_said(model, point | change) == wanted for change, point, wanted in changes)


def _stand_ins(found, i):
    """Return points with the values that were enough where others stand in for the positive."""
    [instead] = found.instead([i])
    if instead is None or instead.positive is None:
        return []
    one = instead.positive
    if one.method != "sufficient":
        return [_row(one.points, 0)]
    own, features = one.table.write(one.table.values), one.table.features
    fixed = [features.names[j] for j in np.flatnonzero(one.kept[0])]
    keep = {name: value for name, value in _row(own, 0).items() if name in fixed}
    return [_row(other, k) | keep for other in (own, *_corners(found)) for k in range(len(other))]


def _corners(found):
    """Yield tables whose rows stand for every value: corners of the bounds, and the data."""
    if hasattr(found.positive.points, "iloc"):
        yield table()
    else:
        yield np.array(list(product([LOW, HIGH], repeat=4)))
        yield DATA


def _row(points, i):
    if hasattr(points, "iloc"):
        return points.iloc[i].to_dict()
    return {f"x{j}": value for j, value in enumerate(points[i].tolist())}


def _values(span):
    """Return some values of a range: its ends and points between them, or its categories."""
    if isinstance(span, list):
        return span
    low, high = np.clip(span, -50.0, 50.0)
    return np.linspace(low, high, 7).tolist()


def _said(model, row):
    named = hasattr(model, "feature_names_in_")
    return model.predict(pd.DataFrame([row]) if named else np.array([list(row.values())]))[0]


@cache
def table():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "job": rng.choice(["fixed", "part-time", "none"], 80),
            "age": rng.integers(20, 60, 80),
            "debt": rng.normal(0, 1, 80).round(2),
        }
    )


@cache
def pipeline():
    """Return a model of categories, bins and a number."""
    X = table()
    score = (X.job == "fixed") + (X.age > 40) - X.debt
    parts = [
        ("words", OneHotEncoder(sparse_output=False), ["job"]),
        ("bins", KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), ["age"]),
        ("numbers", "passthrough", ["debt"]),
    ]
    return make_pipeline(ColumnTransformer(parts), LogisticRegression()).fit(X, score > 1)


def range_questions():
    """Return all problems of ranges by name, the cheapest first."""
    return {
        "ranges": ranges(logistic),
        "ranges, rules": ranges(logistic, integer=[0], relations=["x0 + x2 <= 2.2"]),
        "ranges, three classes": ranges(softmax),
        "ranges, probable": ranges(softmax, min_proba=0.55),
        "ranges, tree": ranges(tree),
        "ranges, sum of trees": ranges(truth_of.forest, X[:1], under=without_compiling),
        "ranges, curved": ranges(bayes),
        "ranges, tilted": ranges(truth_of.discriminant),
        "ranges, without bounds": ranges(bayes, bounds={}),
        "ranges, tilted, without bounds": ranges(truth_of.discriminant, bounds={}),
        "ranges, bells": ranges(truth_of.three_bells),
        "ranges, bells, half open": ranges(
            bayes, bounds={0: (0.6, None), 2: (0.6, None), 3: (0.6, None)}
        ),
        "ranges, categories": ranges(pipeline, table()[:3]),
        "ranges, whatever the others are": ranges(logistic, base=X[1]),
        "ranges, whatever the others are, tree": ranges(tree, base=X[1]),
        "ranges, whatever the others are, sum of trees": ranges(
            truth_of.forest, X[:1], under=without_compiling, base=X[0]
        ),
    }


#: The samples and the data as they are written: one digit after the point.
WRITTEN = DATA.round(1)


def on_the_grid(model, data=WRITTEN):
    """Return the problem of nearest contrasts where steps and ranges are those of the data."""

    def prepared():
        return pertinent.Explainer(model(), data=data, baseline=np.zeros(4))

    def ask():
        return prepared().explain(X).negative

    def claims(found):
        setting = prepared().setting
        proved = proved_of_negatives(setting, found)[0]
        label = model().predict(X)
        out = []
        for i, point in enumerate(np.asarray(found.points, dtype=float)):
            fine = np.isfinite(point).all() and model().predict(point[None])[0] != label[i]
            value = float(np.abs(point - X[i]) @ setting.weights) if fine else np.inf
            sure = bool(proved[i] >= value * (1 - 1e-4) - 1e-9)
            out.append(Claim(found.status[i], value, float(found.bound[i]), float(proved[i]), sure))
        return out

    def truth():
        own = prepared()
        low, high = np.minimum(data.min(0), X), np.maximum(data.max(0), X)
        least = []
        for i, x in enumerate(X):
            axes = [
                np.unique([*np.arange(round(a * 10), round(b * 10) + 1) / 10, v])
                for a, b, v in zip(low[i], high[i], x, strict=True)
            ]
            points = np.array(list(product(*axes)))
            good = model().predict(points) != model().predict(x[None])[0]
            least.append(float((np.abs(points - x) @ own.setting.weights)[good].min()))
        return least

    return Problem(ask, claims, cache(truth), handed_out=True, stopped=True)


def grid_questions():
    """Return questions whose values are confined to the grid of the data."""
    return {
        "on the grid": on_the_grid(logistic),
        "on the grid, tree": on_the_grid(tree),
        "on the grid, curved": on_the_grid(bayes),
        "on the grid, tilted": on_the_grid(truth_of.discriminant),
    }
