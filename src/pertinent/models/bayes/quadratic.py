"""Quadratic classifiers: the class with the largest Gaussian log-likelihood wins.

Class k scores ``offset_k - |F_k (x - mean_k)|^2``, with ``F_k'F_k = inv(covariance_k) / 2`` and
``offset_k = log prior_k - logdet(covariance_k) / 2``. Label ``t`` beats k where

    |F_t (x - mean_t)|^2 - |F_k (x - mean_k)|^2 + offset_k - offset_t <= 0,

a difference of two convex quadratics. One cell with K - 1 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.quadratic import Squares, Sums
from pertinent.geometry.region import Cell, CellUnion, Quadratic, Region
from pertinent.geometry.rounding import ROUNDOFF
from pertinent.models.registry import class_index, register_model
from pertinent.models.tolerances import CLEAR

#: What is added up for a square counts so often, beside a row's own sizes. The image ``F u`` is a
#: sum of d terms, off by (d + 2) u |F| |u|; its square by twice that times the image, and the sum
#: of squares by d u more: in all ``(d + 4) u (|F u|^2 + 2 (|F| |u|)^2)``, the former in the sizes.
ROUNDS = 2


def gaussian_region(
    factors: Sequence[FloatArray],
    means: FloatArray,
    offsets: FloatArray,
    logs: FloatArray,
    model: Foreign,
    label: Any,
    margin: float,
    anchors: FloatArray,
) -> Region:
    """Return where ``label`` has the largest score ``offset_k - |F_k (x - mean_k)|^2``.

    Parameters
    ----------
    factors : sequence of ndarray of shape (rank_k, n_features)
        For two classes with the same ``F'F`` the row between them is linear, and is made so.
    means : ndarray of shape (n_classes, n_features)
    offsets : ndarray of shape (n_classes,)
    logs : ndarray of shape (n_classes,)
        The absolute values of the logarithms that each offset is the sum of, added up.
    model : fitted classifier
        Asked for its ``classes_`` only.
    label : one of ``classes_``
    margin : float
    anchors : ndarray of shape (n_anchors, n_features)
        Where a search may start.
    """
    t = class_index(model, label)
    if np.isneginf(offsets[t]) or any(
        _same_scores(factors, means, offsets, k, t) for k in range(t)
    ):
        # No prior, or a tie that goes to the earlier class: this one would need 0 <= -1.
        return CellUnion((Cell(np.zeros((1, means.shape[1])), np.array([-1.0])),))
    rows = [
        beats(factors[t], means[t], offsets[t], factors[k], means[k], offsets[k], logs[t] + logs[k])
        for k in range(len(means))
        if k != t and not np.isneginf(offsets[k])  # a class without a prior never wins
    ]
    return rows_region(rows, anchors, margin)


def _same_scores(
    factors: Sequence[FloatArray], means: FloatArray, offsets: FloatArray, k: int, t: int
) -> bool:
    """Return whether two classes score every point alike, to the last bit."""
    return bool(
        offsets[k] == offsets[t]
        and np.array_equal(means[k], means[t])
        and np.array_equal(factors[k], factors[t])
    )


def rows_region(rows: Sequence[Quadratic], anchors: FloatArray, margin: float) -> Region:
    """Return the region where all rows hold; rows without a quadratic part become linear."""
    straight = [row for row in rows if not len(row.plus) and not len(row.minus)]
    curved = tuple(row for row in rows if len(row.plus) or len(row.minus))
    G = np.array([row.q for row in straight]).reshape(len(straight), anchors.shape[1])
    h = np.array([row.q @ row.at - row.c for row in straight])
    # The model still adds up squares to decide them.
    sums = [row.sums for row in straight if row.sums is not None]
    added = sum(sums[1:], sums[0]) if sums else None
    return CellUnion((Cell(G, h, curved, anchors=anchors, sums=added).tighten(margin),))


def beats(
    plus: FloatArray,
    mean: FloatArray,
    offset: float,
    minus: FloatArray,
    other_mean: FloatArray,
    other_offset: float,
    logs: float = 0.0,
) -> Quadratic:
    """Return the row "the first class scores at least as high as the second".

    Covariances that are equal up to rounding give a linear row, and a class that is clearly
    narrower in every direction a convex one. ``logs`` is the size of what both offsets were added
    up from.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models.bayes.quadratic import beats
    >>> same = np.eye(2)
    >>> row = beats(same, np.zeros(2), 0.0, same, np.array([2.0, 0.0]), 0.0)
    >>> row.plus.shape, row.q + 0.0, row.c  # 4 x1 - 4 <= 0: nearer to 0 than to (2, 0)
    ((0, 2), array([4., 0.]), -4.0)
    """
    # With u = x - m: |P(x-m)|^2 - |N(x-n)|^2 = |Pu|^2 - |Nu|^2 - 2 (N(m-n))'N u - |N(m-n)|^2.
    apart = minus @ (mean - other_mean)
    q = -2 * (apart @ minus)
    c = float(other_offset - offset - apart @ apart)
    sums = _sums(plus, mean, minus, other_mean, float(2 * logs))  # the model's logarithms, and ours
    return Quadratic(*_one_form(plus, minus), q, c, mean, sums)


def _sums(
    plus: FloatArray, mean: FloatArray, minus: FloatArray, other: FloatArray, logs: float
) -> Sums:
    """Return what is added up to decide a row."""
    first, second = np.abs(plus), np.abs(minus)
    none, beside = np.zeros(len(plus)), second @ np.abs(mean - other)
    if _is_diagonal(plus) and _is_diagonal(minus):
        # Images are products; those of our own row are among its sizes, but for |N(m-n)|^2.
        squares = (
            Squares(np.diagonal(first).copy(), mean, none),
            Squares(np.diagonal(second).copy(), other, none),
        )
        return Sums(squares, np.zeros(len(mean)), logs + float(beside @ beside))
    squares = Squares(first, mean, none), Squares(second, other, np.zeros(len(minus)))
    return Sums(tuple(s.times(ROUNDS) for s in squares), np.zeros(len(mean)), logs)


def _one_form(plus: FloatArray, minus: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return factors of the same difference, some of them empty where nothing is lost by it.

    What may be rounding only is left out: it is less than `Sums` says that may be rounded. What is
    clearly of one sign is written as one form. What is neither stays a difference: curvature of
    1e-12 decides 1e12 spreads away.
    """
    none = np.zeros((0, plus.shape[1]))
    first, second = plus.T @ plus, minus.T @ minus
    A = first - second
    # Units of 1 for every feature: a share is the same whatever the features are measured in.
    scale = np.sqrt(np.maximum(np.diagonal(first), np.diagonal(second)))
    scale[scale == 0] = 1.0
    judged = A / np.outer(scale, scale)
    straight = _is_diagonal(plus) and _is_diagonal(minus)
    values = np.diagonal(judged) if straight else np.linalg.eigvalsh(judged)
    # |u'Au| <= max |value| sum_i (scale_i u_i)^2, which is at most |P| |u| and |N| |u| squared.
    noise = 0.0 if straight else ROUNDS * (len(A) + 4) * ROUNDOFF
    if np.abs(values).max(initial=0.0) <= noise:
        return none, none
    if straight:  # feature by feature: equal variances are no curvature at all
        values = values[values != 0]
    if values.min() >= CLEAR:
        return _root(A, scale, straight), none
    if values.max() <= -CLEAR:
        return none, _root(-A, scale, straight)
    return plus, minus


def _is_diagonal(factor: FloatArray) -> bool:
    return len(factor) == factor.shape[1] and bool((np.diag(np.diagonal(factor)) == factor).all())


def _root(A: FloatArray, scale: FloatArray, straight: bool) -> FloatArray:
    """Return F with ``F'F = A`` for a matrix without negative eigenvalues."""
    if straight:
        return np.diag(np.sqrt(np.maximum(np.diagonal(A), 0.0)))
    return Quadratic.from_matrix(A, np.zeros(len(A)), 0.0, scale=scale).plus


def _spectral_region(
    model: Foreign,
    label: Any,
    margin: float,
    means: Foreign,
    priors: Foreign,
    spectra: Sequence[tuple[FloatArray, FloatArray]],
) -> Region:
    """Return the region of Gaussians by the eigenvalues and eigenvectors of their covariances."""
    factors = [vectors.T / np.sqrt(2 * values)[:, None] for values, vectors in spectra]
    with np.errstate(divide="ignore"):  # -inf for a class without a prior
        offsets = np.log(np.asarray(priors, dtype=float))
    # logdet is the sum of the logs of the eigenvalues: no determinant overflows.
    offsets = offsets - 0.5 * np.array([np.log(values).sum() for values, _ in spectra])
    # Naive Bayes has 2 pi v for v: that is the same for all classes, but it is rounded.
    logs = np.array([np.abs(np.log(v)).sum() + len(v) * np.log(2 * np.pi) for v, _ in spectra])
    logs = 0.5 * logs + np.abs(np.log(np.maximum(priors, np.finfo(float).tiny)))
    centers = np.asarray(means, dtype=float)
    t = class_index(model, label)
    # The mean, and the points one standard deviation away along each axis.
    mean, axes = centers[t], np.sqrt(spectra[t][0])[:, None] * spectra[t][1].T
    anchors = np.vstack([mean, mean + axes, mean - axes])
    return gaussian_region(factors, centers, offsets, logs, model, label, margin, anchors)


@register_model("sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis")
def qda_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a quadratic discriminant analysis, whichever solver fitted it.

    Every solver leaves the eigenvectors (``rotations_``) and eigenvalues (``scalings_``, after
    ``reg_param`` or shrinkage) of the covariances; ``covariance_`` may be missing and is not
    regularised in every version, so it is not read.
    """
    scalings = [np.asarray(s, dtype=float) for s in model.scalings_]
    if any((s <= 0).any() for s in scalings):
        raise InputError(
            "A covariance of this QuadraticDiscriminantAnalysis is singular: some of its "
            "scalings_ are 0, and its scores are infinite. Fit it with a reg_param above 0."
        )
    rotations = [np.asarray(r, dtype=float) for r in model.rotations_]
    spectra = list(zip(scalings, rotations, strict=True))
    return _spectral_region(model, label, margin, model.means_, model.priors_, spectra)


@register_model("sklearn.naive_bayes.GaussianNB")
def gaussian_nb_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of Gaussian naive Bayes: diagonal covariances ``var_``."""
    variances = np.asarray(model.var_, dtype=float)  # var_smoothing is included
    if (variances <= 0).any():
        raise InputError(
            "A variance of this GaussianNB is 0, and its scores are infinite. Fit it with a "
            "larger var_smoothing."
        )
    spectra = [(values, np.eye(len(values))) for values in variances]
    return _spectral_region(model, label, margin, model.theta_, model.class_prior_, spectra)
