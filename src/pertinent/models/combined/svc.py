"""Support vector classifiers whose kernel gives linear or quadratic regions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import CellUnion, Quadratic, Region
from pertinent.models.bayes.quadratic import rows_region
from pertinent.models.combined.duels import Duels, voted_region
from pertinent.models.linear import coefficients
from pertinent.models.registry import class_index, dense, model_classes, register_model


@register_model("sklearn.svm.SVC", "sklearn.svm.NuSVC")
def svc_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of an SVC with a linear kernel, or of two classes and degree 2."""
    name, n_classes = type(model).__name__, len(model_classes(model))
    quadratic = model.kernel == "poly" and model.degree == 2
    if model.kernel != "linear" and not quadratic:
        shown = f"kernel={model.kernel!r}"
        if model.kernel == "poly":
            shown += f", degree={model.degree}"
        raise UnsupportedModelError(
            f"{name}({shown}) has neither linear nor quadratic regions; supported are "
            "kernel='linear', and kernel='poly' with degree=2."
        )
    if quadratic and n_classes != 2:
        raise UnsupportedModelError(
            f"{name}(kernel='poly') with more than two classes votes between pairs of classes by "
            "quadratic scores; supported are two classes, and any number with kernel='linear'. "
            f"Use OneVsRestClassifier(LinearSVC()) instead, or {name}(kernel='linear')."
        )
    if quadratic:
        return _degree_two(model, label, margin)
    duels, t = duels_of(model), class_index(model, label)
    if n_classes == 2:
        # The row of two classes is positive for the second one.
        cell = duels.votes(((0, t == 1),))
        return CellUnion((cell.tighten(margin),))
    shape = model.decision_function_shape
    return voted_region(duels, t, margin, sums=bool(model.break_ties and shape == "ovr"))


def duels_of(model: Foreign) -> Duels:
    """Return the scores between pairs of classes, and what libsvm adds up for them.

    It adds up ``a_i (v_i'x)`` over the support vectors v of both classes, whose sum may be far
    smaller than its terms: ``|a_i| |v_i|'|x|``. Of n vectors each sum is rounded n times more.
    """
    W, b = coefficients(model)
    vectors, a = np.abs(dense(model.support_vectors_)), np.abs(dense(model.dual_coef_))
    n_classes, d = len(model_classes(model)), W.shape[1]
    owner = np.repeat(np.arange(n_classes), np.asarray(model.n_support_))
    rounds = (len(vectors) + d + 4) / (d + 4)
    terms = []
    for p, (i, j) in enumerate(combinations(range(n_classes), 2)):
        # Row j - 1 holds the weights of class i against j, and row i those of j against i.
        share = a[j - 1] * (owner == i) + a[i] * (owner == j) if n_classes > 2 else a[0]
        terms.append(np.append(rounds * (share @ vectors), rounds * abs(b[p])))
    return Duels(W, b, np.array(terms), n_classes)


def _degree_two(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of ``sum_i a_i (gamma v_i'x + r)^2 + b > 0`` or of its opposite."""
    vectors, a = dense(model.support_vectors_), dense(model.dual_coef_)[0]
    gamma, r = float(model._gamma), float(model.coef0)
    # sum_i a_i (gamma v_i'x + r)^2 = gamma^2 x'V'diag(a)V x + 2 gamma r a'V x + r^2 sum(a)
    A = gamma**2 * (vectors.T * a) @ vectors
    q = 2 * gamma * r * (a @ vectors)
    c = r * r * float(a.sum()) + float(model.intercept_[0])
    # A positive score means the second class; a row is "<= 0".
    second = class_index(model, label) == 1
    sign = -1.0 if second else 1.0
    # |A_ij| <= scale_i scale_j: features in small units count as much as those in large ones.
    scale = gamma * np.sqrt((vectors.T**2) @ np.abs(a))
    scale[scale == 0] = 1.0
    row = Quadratic.from_matrix(sign * A, sign * q, sign * c, scale=scale)
    own = vectors[a > 0] if second else vectors[a < 0]
    return rows_region([row], own.mean(axis=0)[None], margin)
