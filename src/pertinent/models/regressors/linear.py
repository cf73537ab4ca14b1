"""Linear regressors: the prediction is ``f(w x + b)`` with f increasing, the identity in most.

``low <= w x + b <= high`` is a cell of two rows, ``w x <= high - b`` and ``-w x <= b - low``.
"""

from __future__ import annotations

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.geometry.rounding import ROUNDOFF
from pertinent.models.linear import require_usable
from pertinent.models.registry import dense
from pertinent.models.regressors.ranges import Link, Range
from pertinent.models.regressors.registry import register_regressor, registered_regressor


@register_regressor(
    *(
        f"sklearn.linear_model.{name}"
        for name in (
            "LinearRegression",
            "Ridge",
            "RidgeCV",
            "Lasso",
            "LassoCV",
            "LassoLars",
            "LassoLarsCV",
            "LassoLarsIC",
            "Lars",
            "LarsCV",
            "ElasticNet",
            "ElasticNetCV",
            "OrthogonalMatchingPursuit",
            "OrthogonalMatchingPursuitCV",
            "BayesianRidge",
            "ARDRegression",
            "HuberRegressor",
            "QuantileRegressor",
            "TheilSenRegressor",
            "SGDRegressor",
            "PassiveAggressiveRegressor",
        )
    ),
    "sklearn.svm.LinearSVR",
)
def linear_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where a linear regressor predicts within a range."""
    coef = _one_row(model, dense(model.coef_))
    intercept = float(np.ravel(np.asarray(model.intercept_, dtype=float))[0])
    require_usable(model, coef, np.array([intercept]))
    ends, size = wanted.ends, np.abs(coef)
    if ends.is_empty:
        return CellUnion((), len(coef))
    rows: list[tuple[FloatArray, float, float]] = []
    if ends.high < np.inf:
        rows.append((coef, ends.high - intercept, abs(ends.high) + _terms(ends.high_off)))
    if ends.low > -np.inf:
        rows.append((-coef, intercept - ends.low, abs(ends.low) + _terms(ends.low_off)))
    G = np.array([row for row, _, _ in rows]).reshape(-1, len(coef))
    # predict adds up w x + b, and the end is subtracted from the intercept here.
    terms = np.array([[*size, abs(intercept) + more] for _, _, more in rows])
    cell = Cell(G, np.array([right for _, right, _ in rows]), magnitudes=terms if rows else None)
    return CellUnion((cell.tighten(margin),))


def _terms(off: float) -> float:
    """Return a term that rounds to as much as an end may be off."""
    return off / (4 * ROUNDOFF)


@register_regressor(
    "sklearn.linear_model.PoissonRegressor",
    "sklearn.linear_model.GammaRegressor",
    "sklearn.linear_model.TweedieRegressor",
)
def generalised_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where a generalised linear model predicts within a range.

    Its link is the identity or a logarithm: ``predict`` is ``w x + b`` or ``exp(w x + b)``.
    """
    link = model._base_loss.link
    if type(link).__name__ not in ("IdentityLink", "LogLink"):
        raise UnsupportedModelError(
            f"{type(model).__name__} with the link {type(link).__name__}: supported are the "
            "identity and the logarithm."
        )
    if type(link).__name__ == "LogLink":
        wanted = wanted.through(Link(link.inverse))
    return linear_in_range(model, wanted, margin)


def _one_row(model: Foreign, coef: FloatArray) -> FloatArray:
    if coef.ndim == 2 and len(coef) != 1:
        raise UnsupportedModelError(
            f"This {type(model).__name__} predicts {len(coef)} numbers at once; explain one number "
            "at a time with a regressor of its own."
        )
    return np.ravel(coef)


def adds_up_in_double(model: Foreign) -> bool:
    """Return whether ``X @ coef_ + intercept_`` of single precision is rounded in double precision.

    As for `pertinent.models.linear.adds_up_in_double`: nothing may stand before the model.
    """
    if registered_regressor(model) not in (linear_in_range, generalised_in_range):
        return False
    return np.result_type(model.coef_.dtype, np.float32) == np.float64
