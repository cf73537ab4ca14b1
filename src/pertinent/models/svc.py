"""Support vector classifiers whose kernel gives linear or quadratic regions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Quadratic, Region
from pertinent.models.linear import coefficients, linear_region
from pertinent.models.quadratic import rows_region
from pertinent.models.registry import class_index, dense, model_classes, register_model


@register_model("sklearn.svm.SVC")
def svc_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a two-class SVC with a linear kernel or a polynomial of degree 2."""
    quadratic = model.kernel == "poly" and model.degree == 2
    if model.kernel != "linear" and not quadratic:
        shown = f"kernel={model.kernel!r}"
        if model.kernel == "poly":
            shown += f", degree={model.degree}"
        raise UnsupportedModelError(
            f"SVC({shown}) has neither linear nor quadratic regions; supported are "
            "kernel='linear', and kernel='poly' with degree=2."
        )
    if len(model_classes(model)) != 2:
        raise UnsupportedModelError(
            "SVC with more than two classes votes between pairs of classes. "
            "Use LinearSVC, or OneVsRestClassifier(SVC(kernel='linear')), instead."
        )
    if quadratic:
        return _degree_two(model, label, margin)
    return linear_region(*coefficients(model), model, label, margin)


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
