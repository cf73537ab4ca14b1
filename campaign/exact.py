"""Predictions in extended precision, from the model's attributes: what rounding does not decide.

A bound speaks of the formula of a model in real numbers. Where ``predict`` adds up what cancels,
a point beside the boundary may get the other class by rounding alone; that refutes no bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from campaign.tables import Array

_LONG = np.longdouble


def exact_predict(model: Any, points: Array) -> Array | None:
    """Return the class of each point without the rounding of double precision.

    None if the model is of none of the kinds written down here. Points are as the model gets them.
    """
    scores = _SCORES.get(type(model).__name__)
    if scores is None or getattr(model, "shrink_threshold", None):
        return None
    return np.asarray(scores(model, np.asarray(points).astype(_LONG)))


def _long(values: Any) -> Array:
    return np.asarray(values, dtype=_LONG)


def _linear(model: Any, points: Array) -> Array:
    scores = points @ _long(model.coef_).T + _long(model.intercept_)
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    return np.asarray(model.classes_[scores.argmax(axis=1)])


def _bayes(model: Any, points: Array) -> Array:
    away = points[:, None, :] - _long(model.theta_)
    variances = _long(model.var_)
    logs = np.log(_long(model.class_prior_)) - np.log(variances).sum(axis=1) / 2
    scores = logs - (away * away / variances).sum(axis=2) / 2
    return np.asarray(model.classes_[scores.argmax(axis=1)])


def _discriminant(model: Any, points: Array) -> Array:
    scores = []
    for mean, R, s, prior in zip(
        model.means_, model.rotations_, model.scalings_, model.priors_, strict=True
    ):
        seen = (points - _long(mean)) @ _long(R)
        square = (seen * seen / _long(s)).sum(axis=1)
        scores.append(np.log(_LONG(prior)) - np.log(_long(s)).sum() / 2 - square / 2)
    return np.asarray(model.classes_[np.stack(scores, axis=1).argmax(axis=1)])


def _nearest(prototypes: Any, labels: Any, omegas: Any, points: Array) -> Array:
    away = points[:, None, :] - _long(prototypes)
    if omegas is not None:
        away = np.stack([away[:, k] @ _long(omega).T for k, omega in enumerate(omegas)], axis=1)
    return np.asarray(labels)[(away * away).sum(axis=2).argmin(axis=1)]


def _centroids(model: Any, points: Array) -> Array:
    return _nearest(model.centroids_, model.classes_, None, points)


def _neighbour(model: Any, points: Array) -> Array:
    return _nearest(model._fit_X, model.classes_[model._y], None, points)


def _lvq(model: Any, points: Array) -> Array:
    omegas = getattr(model, "omega_", None)
    if omegas is not None:
        local = np.ndim(omegas) == 3
        omegas = omegas[model.prototype_omega_] if local else [omegas] * len(model.prototypes_)
    return _nearest(model.prototypes_, model.prototype_labels_, omegas, points)


_SCORES = {
    **dict.fromkeys(
        ("LogisticRegression", "LinearSVC", "RidgeClassifier", "SGDClassifier", "Perceptron",
         "LinearDiscriminantAnalysis"), _linear,
    ),
    "GaussianNB": _bayes,
    "QuadraticDiscriminantAnalysis": _discriminant,
    "NearestCentroid": _centroids,
    "KNeighborsClassifier": _neighbour,
    "GLVQ": _lvq,
    "GMLVQ": _lvq,
    "LGMLVQ": _lvq,
}  # fmt: skip
