"""Steps on numbers: scalers, projections onto components, selectors, imputers, products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import AffineMap
from pertinent.models.registry import dense
from pertinent.models.steps.clip import cut_off
from pertinent.models.steps.monotone import (
    FALLING,
    FAR,
    RISING,
    asked,
    bend,
    bend_falling,
    known_function,
    power,
    quantiles,
)
from pertinent.models.steps.products import Products, polynomial_pairs
from pertinent.models.steps.walk import (
    Columns,
    Walk,
    join,
    register_symbolic,
    register_transform,
)
from pertinent.tables.numbers import is_missing


@register_transform("sklearn.preprocessing.StandardScaler")
def standard_scaler(step: Foreign) -> AffineMap:
    """Return ``(x - mean) / scale``, each part where its switch is on."""
    n = step.n_features_in_
    scale = np.asarray(step.scale_, dtype=float) if step.with_std else np.ones(n)
    mean = np.asarray(step.mean_, dtype=float) if step.with_mean else np.zeros(n)
    return AffineMap(1.0 / scale, -mean / scale)


@register_transform("sklearn.preprocessing.RobustScaler")
def robust_scaler(step: Foreign) -> AffineMap:
    """Return ``(x - center) / scale``, each part where its switch is on."""
    n = step.n_features_in_
    scale = np.asarray(step.scale_, dtype=float) if step.with_scaling else np.ones(n)
    center = np.asarray(step.center_, dtype=float) if step.with_centering else np.zeros(n)
    return AffineMap(1.0 / scale, -center / scale)


@register_transform("sklearn.decomposition.PCA", "sklearn.decomposition.IncrementalPCA")
def principal_components(step: Foreign) -> AffineMap:
    """Return ``components (x - mean)``, divided by the standard deviations if whitened."""
    matrix = np.asarray(step.components_, dtype=float)
    if step.whiten:
        scale = np.sqrt(np.asarray(step.explained_variance_, dtype=float))
        matrix = matrix / np.maximum(scale, np.finfo(scale.dtype).eps)[:, None]
    return AffineMap(matrix, -matrix @ np.asarray(step.mean_, dtype=float))


@register_transform(
    "sklearn.decomposition.TruncatedSVD",
    "sklearn.random_projection.GaussianRandomProjection",
    "sklearn.random_projection.SparseRandomProjection",
)
def linear_components(step: Foreign) -> AffineMap:
    """Return ``components x``."""
    matrix = dense(step.components_)
    return AffineMap(matrix, np.zeros(len(matrix)))


@register_transform(
    "sklearn.decomposition.FactorAnalysis",
    "sklearn.decomposition.FastICA",
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "sklearn.neighbors.NeighborhoodComponentsAnalysis",
)
def probed(step: Foreign) -> AffineMap:
    """Return the map of a step that is known to be affine, from its answers at unit vectors."""
    n = step.n_features_in_
    answers = np.asarray(step.transform(np.vstack([np.zeros(n), np.eye(n)])), dtype=float)
    return AffineMap((answers[1:] - answers[0]).T, answers[0])


@register_symbolic("sklearn.preprocessing.MinMaxScaler")
def min_max_scaler(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return ``x scale + min``; with ``clip`` x is cut off at the range of the training data."""
    columns.require_numbers(walk, step)
    scale, low = np.asarray(step.scale_, dtype=float), np.asarray(step.min_, dtype=float)
    if step.clip:
        first, last = (np.asarray(e, dtype=float) for e in (step.data_min_, step.data_max_))
        # A constant column has a range all the same: as wide as feature_range.
        constant = first + (step.feature_range[1] - step.feature_range[0]) / scale
        columns = cut_off(step, columns, walk, first, np.where(last > first, last, constant))
    return columns.through(AffineMap(scale, low))


@register_symbolic("sklearn.preprocessing.MaxAbsScaler")
def max_abs_scaler(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return ``x / scale``; with ``clip`` (scikit-learn 1.9) x is cut off at -scale and scale."""
    columns.require_numbers(walk, step)
    scale = np.asarray(step.scale_, dtype=float)
    if getattr(step, "clip", False):
        columns = cut_off(step, columns, walk, -scale, scale)
    return columns.through(AffineMap(1.0 / scale, np.zeros(len(scale))))


@register_symbolic("sklearn.feature_selection.SelectorMixin")
def selector(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the selected columns."""
    return columns.take(np.flatnonzero(step.get_support()))


@register_symbolic("sklearn.preprocessing.FunctionTransformer")
def function_transformer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns, bent by a known rising function; others than None are refused."""
    known = known_function(step, RISING)
    if known is not None:
        function, ends = known
        return bend(step, columns, walk, [function] * len(columns), ends)
    known = known_function(step, FALLING)
    if known is not None:
        return bend_falling(step, columns, walk, *known)
    if step.func is not None and not _only_checks(step):
        name = getattr(step.func, "__name__", repr(step.func))
        raise walk.refuse(
            step, f"applies {name!r}, which is not known to be affine, or to rise everywhere: "
            f"func=None passes through, and {', '.join((*RISING, *FALLING))} of NumPy are "
            "known. "
            "Put it in front of the pipeline, and explain in its units.",
        )  # fmt: skip
    return columns


def _only_checks(step: Foreign) -> bool:
    """Return whether a function checks an array of doubles, as in HistGradientBoosting."""
    func = step.func
    if getattr(func, "func", None) is not check_array or func.args or step.kw_args:
        return False
    return bool(func.keywords.get("dtype") == [np.float64])


@register_symbolic("sklearn.impute.SimpleImputer")
def simple_imputer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns themselves: answers have no missing values to fill."""
    _require_missing(step, walk)
    walk.stop_missing(columns)
    statistics = np.asarray(step.statistics_)
    empty = is_missing(statistics)
    if step.keep_empty_features:
        empty = np.zeros(len(statistics), dtype=bool)
    for k, value in enumerate(statistics):
        _record_fill(columns, k, value, walk, ambiguous=bool(step.add_indicator))
    kept = columns.take(np.flatnonzero(~empty))
    if not step.add_indicator:
        return kept
    zeros = columns.constant(np.zeros(len(step.indicator_.features_)))
    return join([kept, zeros], columns)


def _require_missing(step: Foreign, walk: Walk) -> None:
    """Refuse steps that take an ordinary value for a missing one: they are no identity."""
    if not is_missing(np.array([step.missing_values], dtype=object)).all():
        raise walk.refuse(
            step,
            f"takes the ordinary value {step.missing_values!r} for a missing one; only "
            "missing_values=NaN or None is folded.",
        )


def _record_fill(
    columns: Columns, k: int, value: object, walk: Walk, ambiguous: bool = False
) -> None:
    """Note what a missing value is read as, in raw units."""
    if columns.raw[k] >= 0:
        feature, raw_value = int(columns.raw[k]), value
    else:
        row = columns.map.dense()[k]
        inputs = np.flatnonzero(row)
        if len(inputs) != 1 or not walk.features.is_plain or columns.bends:
            return
        feature = int(inputs[0])
        raw_value = (float(value) - columns.map.shift[k]) / row[feature]  # type: ignore[arg-type]
    walk.fill(feature, raw_value)
    if ambiguous:
        walk.ambiguous.add(feature)


@register_symbolic("sklearn.impute.KNNImputer", "sklearn.impute.IterativeImputer")
def model_imputer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns themselves; what it fills in depends on the other columns."""
    _require_missing(step, walk)
    if step.add_indicator:
        raise walk.refuse(step, "adds indicators of missing values; fit it without them.")
    walk.stop_missing(columns)
    walk.ambiguous.update(int(j) for j in columns.raw if j >= 0)
    return columns


@register_symbolic("sklearn.impute.MissingIndicator")
def missing_indicator(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return zeros: answers have no missing values."""
    _require_missing(step, walk)
    walk.stop_missing(columns)
    walk.ambiguous.update(int(j) for j in columns.raw if j >= 0)
    return columns.constant(np.zeros(len(step.features_)))


@register_symbolic("sklearn.preprocessing.PolynomialFeatures")
def polynomial(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns and their products; degrees above 2 are refused."""
    columns.require_numbers(walk, step)
    columns.require_unbent(walk, step)
    powers = np.asarray(step.powers_)
    if powers.sum(axis=1).max(initial=0) > 2:
        raise walk.refuse(step, "makes products of more than two columns; degree=2 is supported.")
    if columns.products is not None:
        raise walk.refuse(step, "multiplies products again; one such step is supported.")
    linear, pairs, places = polynomial_pairs(powers)
    bias: FloatArray = (powers.sum(axis=1) == 0).astype(float)
    after = columns.through(AffineMap(linear, bias))
    if not len(pairs):
        return after
    matrix = sp.csr_array(
        (np.ones(len(places)), (places, np.arange(len(places)))), shape=(len(powers), len(pairs))
    )
    products = Products(columns.map, pairs, matrix)
    return replace(after, products=products)


@register_symbolic("sklearn.preprocessing.PowerTransformer")
def power_transformer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns bent by powers, which rise; Box-Cox takes numbers above 0."""
    box_cox = step.method == "box-cox"
    ends, least = (RISING["log"], 1 / FAR) if box_cox else (RISING["cbrt"], -FAR)
    functions = [asked(step, k, least) for k in range(len(columns))]
    # (u - mean) / scale: where powers level off, both are close and the scale is small.
    scaler = step._scaler if step.standardize else None
    added = None if scaler is None else (np.abs(scaler.mean_) / scaler.scale_).tolist()
    quick = [power(step, k, least) for k in range(len(columns))]
    return bend(step, columns, walk, functions, ends, added, quick)


#: The slope of the normal quantile where scikit-learn cuts it off, at 1e-7 from both ends.
NORMAL_ENDS = 5e6


@register_symbolic("sklearn.preprocessing.QuantileTransformer")
def quantile_transformer(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns bent by their quantiles, which rise."""
    functions = [asked(step, k) for k in range(len(columns))]
    # Near its ends the normal quantile is as steep as that.
    steep = 1.0 if step.output_distribution == "uniform" else NORMAL_ENDS
    quick = [quantiles(step, k) for k in range(len(columns))]
    return bend(step, columns, walk, functions, RISING["cbrt"], [steep] * len(columns), quick)


@register_symbolic(
    "sklearn.preprocessing.Normalizer",
    "sklearn.preprocessing.SplineTransformer",
    "sklearn.decomposition.KernelPCA",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.kernel_approximation.RBFSampler",
    refused=True,
)
def not_affine(step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Refuse with the reason."""
    reasons = {
        "Normalizer": "divides each sample by its own norm",
        "SplineTransformer": "makes of each column several that rise and fall again (splines)",
    }
    why = reasons.get(type(step).__name__, "is a nonlinear map")
    raise walk.refuse(step, f"{why}, so equal scores are no planes in raw units.")
