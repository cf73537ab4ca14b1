"""What must hold of models made of models, and of functions that must rise, from a file.

Each check yields pairs: whether something holds, and what is wrong where it does not. See
`pertinent.models.sound`, which asks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Holds = Iterator[tuple[Any, str]]


def _isotonic(calibrator: Any) -> Holds:
    """Check that a calibrator rises: its threshold is found by halving."""
    if not hasattr(calibrator, "X_thresholds_"):
        return
    x, y = (np.asarray(part, dtype=float) for part in _thresholds(calibrator))
    yield x.ndim == 1 and x.shape == y.shape and len(x) > 0, "a calibrator of another shape"
    yield np.isfinite(x) & np.isfinite(y), "a calibrator that is no number"
    rises = np.diff(y) >= 0 if calibrator.increasing_ else np.diff(y) <= 0
    yield (np.diff(x) > 0) & rises, "a calibrator that is not monotone"
    ends = calibrator.X_min_ == x[0] and calibrator.X_max_ == x[-1]
    yield ends and calibrator.out_of_bounds == "clip", "a calibrator with other ends"


def _thresholds(calibrator: Any) -> tuple[Any, Any]:
    return calibrator.X_thresholds_, calibrator.y_thresholds_


def _temperature(calibrator: Any) -> Holds:
    beta = np.asarray(calibrator.beta_, dtype=float)
    yield beta.ndim == 0 and np.isfinite(beta) and beta > 0, "a temperature that is no number"


def _discrete(model: Any) -> Holds:
    """Check naive Bayes: probabilities of all classes, features and categories."""
    if not hasattr(model, "class_log_prior_"):
        return
    count, d = len(model.classes_), model.n_features_in_
    yield np.shape(model.class_log_prior_) == (count,), "priors of another number"
    table = model.feature_log_prob_
    if isinstance(table, list):
        yield len(table) == d, "categories of other features"
        yield [np.ndim(p) == 2 and np.shape(p)[0] == count for p in table], "other categories"
    else:
        yield np.shape(table) == (count, d), "probabilities of other features"


def _pairs(model: Any) -> Holds:
    if hasattr(model, "estimators_"):
        count = len(model.classes_)
        yield len(model.estimators_) == count * (count - 1) // 2, "models of another number"


def _codes(model: Any) -> Holds:
    if hasattr(model, "estimators_"):
        wanted = (len(model.classes_), len(model.estimators_))
        yield np.shape(model.code_book_) == wanted, "a code book of another shape"


def _voting(model: Any) -> Holds:
    """Check a vote: members predict places of labels, which two attributes hold."""
    if not hasattr(model, "estimators_"):
        return
    yield np.array_equal(model.le_.classes_, model.classes_), "labels that differ"
    kept = [one for _, one in model.estimators if not isinstance(one, str)]
    yield len(kept) == len(model.estimators_), "members of another number"
    places = np.arange(len(model.classes_))
    yield (
        [np.array_equal(getattr(one, "classes_", ()), places) for one in model.estimators_],
        "members with other labels",
    )


def _quantiles(step: Any) -> Holds:
    """Check that quantiles rise: cuts behind them are found by halving."""
    if not hasattr(step, "quantiles_"):
        return
    found, at = np.asarray(step.quantiles_, float), np.asarray(step.references_, float)
    yield at.ndim == 1 and found.shape == (len(at), step.n_features_in_), "quantiles of a shape"
    yield np.isfinite(found).all() and (np.diff(found, axis=0) >= 0).all(), "quantiles that fall"
    yield (np.diff(at) > 0) & (at[:-1] >= 0) & (at[1:] <= 1), "quantiles at other places"


def _powers(step: Any) -> Holds:
    if not hasattr(step, "lambdas_"):
        return
    powers = np.asarray(step.lambdas_, float)
    yield powers.shape == (step.n_features_in_,), "powers of other features"
    yield np.isfinite(powers), "powers that are no numbers"
    scale = getattr(getattr(step, "_scaler", None), "scale_", None) if step.standardize else None
    yield scale is None or (np.asarray(scale) > 0).all(), "a scale that is not above 0"


def _dummy(model: Any) -> Holds:
    if hasattr(model, "class_prior_"):
        yield np.shape(model.class_prior_) == (len(model.classes_),), "priors of another number"


CHECKS: dict[str, Callable[[Any], Holds]] = {
    "IsotonicRegression": _isotonic,
    "_TemperatureScaling": _temperature,
    "_BaseDiscreteNB": _discrete,
    "OneVsOneClassifier": _pairs,
    "OutputCodeClassifier": _codes,
    "VotingClassifier": _voting,
    "DummyClassifier": _dummy,
    "QuantileTransformer": _quantiles,
    "PowerTransformer": _powers,
}
