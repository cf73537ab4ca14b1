"""Fitting: from training points to one mixture for each class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold, cross_val_score

from pertinent.density.mixture import ClassMixture, PlausibilityWarning
from pertinent.density.recipe import Recipe
from pertinent.density.tolerances import ADDED, REG_COVAR, SINGULAR, TIGHTER
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.region import AffineMap

FOLDS = 3


def fit_map(data: FloatArray, columns: IntArray, dim: int, recipe: Recipe) -> AffineMap:
    """Return the affine map from samples to the space in which mixtures are fitted.

    ``columns`` are those of ``data``, shape (n, dim), that hold numbers; the others are ignored.
    """
    numbers = data[:, columns]
    mean, scale = np.zeros(len(columns)), np.ones(len(columns))
    if recipe.standardize:
        spread = numbers.std(axis=0)
        mean, scale = numbers.mean(axis=0), np.where(spread > 0, spread, 1.0)
    matrix, shift = np.diag(1.0 / scale), -mean / scale
    if recipe.projection is not None:
        # "pca": as many directions as hold 95% of the variance.
        wanted = 0.95 if recipe.projection == "pca" else int(recipe.projection)
        most = min(numbers.shape)
        if wanted > most:
            raise InputError(
                f"projection={wanted} asks for more directions than the data has ({most})."
            )
        pca = PCA(wanted, svd_solver="full").fit((numbers - mean) / scale)
        matrix = pca.components_ @ matrix
        shift = pca.components_ @ (shift - pca.mean_)
    whole = np.zeros((len(matrix), dim))
    whole[:, columns] = matrix
    return AffineMap(whole, shift)


def fit_class(z: FloatArray, label: Any, recipe: Recipe) -> ClassMixture:
    """Return the mixture of one class from its points in the space of the mixture."""
    if len(z) < 2:
        raise InputError(
            f"Class {label!r} has {len(z)} training points, and a mixture needs at least 2. "
            "Give more data to Plausibility, or explain without it."
        )
    fitted = _regularised(z, label, _count(z, label, recipe), recipe)
    mixture = ClassMixture(
        fitted.weights_, fitted.means_, _roots(fitted, z.shape[1]), 0.0, np.zeros(0)
    )
    # The best component's part is what an ellipsoid can promise, so it sets the threshold.
    best = mixture.parts(z).max(axis=1)
    return ClassMixture(
        mixture.weights,
        mixture.means,
        mixture.roots,
        _below(float(np.quantile(best, recipe.quantile))),
        np.sort(fitted.score_samples(z)),
    )


def _mixture(count: int, reg_covar: float, recipe: Recipe) -> GaussianMixture:
    return GaussianMixture(
        count,
        covariance_type=recipe.covariance_type,
        reg_covar=reg_covar,
        random_state=recipe.random_state,
    )


def _fit(z: FloatArray, count: int, reg_covar: float, recipe: Recipe) -> GaussianMixture:
    with warnings.catch_warnings():
        # Expectation-maximisation that stops early still gives a density.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return _mixture(count, reg_covar, recipe).fit(z)


def _variance(z: FloatArray) -> float:
    """Return the class's variance in an average direction; 1 if it has none."""
    return float(z.var(axis=0).mean()) or 1.0


def _count(z: FloatArray, label: Any, recipe: Recipe) -> int:
    """Return the number of components: as asked, or the best by BIC or cross-validation."""
    asked = recipe.n_components
    if not isinstance(asked, str):
        if asked > len(z):
            warnings.warn(
                f"Class {label!r} has {len(z)} training points: {len(z)} components are fitted "
                f"instead of {asked}.",
                PlausibilityWarning,
                stacklevel=2,
            )
        return min(int(asked), len(z))
    reg = recipe.reg_covar if recipe.reg_covar is not None else ADDED * _variance(z)
    if asked == "cv":
        return _by_cross_validation(z, reg, recipe)
    counts = range(1, max(1, min(recipe.max_components, len(z) // 2)) + 1)
    return 1 + int(np.argmin([_fit(z, count, reg, recipe).bic(z) for count in counts]))


def _by_cross_validation(z: FloatArray, reg: float, recipe: Recipe) -> int:
    """Return the smallest number of components that is within one standard error of the best."""
    most = min(recipe.max_components, len(z) // (2 * FOLDS))
    if most < 2:
        return 1
    # Data often comes sorted, so folds are drawn at random.
    folds = KFold(FOLDS, shuffle=True, random_state=recipe.random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        scores = np.array(
            [cross_val_score(_mixture(c, reg, recipe), z, cv=folds) for c in range(1, most + 1)]
        )
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(FOLDS)
    best = int(mean.argmax())
    return 1 + int(np.flatnonzero(mean >= mean[best] - error[best])[0])


def _regularised(z: FloatArray, label: Any, count: int, recipe: Recipe) -> GaussianMixture:
    """Return the fitted mixture, with degenerate components made round enough to use."""
    if recipe.reg_covar is not None:
        return _fit(z, count, recipe.reg_covar, recipe)
    variance = _variance(z)
    fitted = _fit(z, count, REG_COVAR * variance, recipe)
    smallest = 1.0 / np.linalg.norm(_roots(fitted, z.shape[1]), 2, axis=(1, 2)) ** 2
    flat = int((smallest < SINGULAR * variance).sum())
    if not flat:
        return fitted
    said = (
        f"Class {label!r}: {flat} of {count} mixture components have a (nearly) singular "
        f"covariance ({len(z)} points in {z.shape[1]} dimensions), so {ADDED:.0%} of the class's "
        "average variance was added to the diagonal of every covariance."
    )
    advice = (
        "Fewer components, a projection to fewer dimensions or covariance_type='diag' avoid this; "
        "reg_covar sets the amount."
    )
    warnings.warn(PlausibilityWarning(said, advice), stacklevel=2)
    return _fit(z, count, ADDED * variance, recipe)


def _roots(fitted: GaussianMixture, dim: int) -> FloatArray:
    """Return L_j with L_j'L_j the inverse covariance, whatever the covariance type."""
    upper, count = fitted.precisions_cholesky_, len(fitted.weights_)
    if fitted.covariance_type == "full":
        return np.ascontiguousarray(np.swapaxes(upper, 1, 2))
    if fitted.covariance_type == "tied":
        return np.repeat(np.ascontiguousarray(upper.T)[None], count, axis=0)
    values = np.reshape(upper, (count, -1)) * np.ones(dim)
    return np.stack([np.diag(row) for row in values])


def _below(quantile: float) -> float:
    """Return a threshold that the training point at the quantile clears by more than rounding.

    Proofs speak of points that exceed the threshold by `TIGHTER`.
    """
    return quantile - 2.0 * TIGHTER * max(1.0, abs(quantile))
