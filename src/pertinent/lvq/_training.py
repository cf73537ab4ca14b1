"""Training: minimise the GLVQ cost by L-BFGS in well-scaled units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from pertinent.geometry.arrays import FloatArray
from pertinent.lvq._cost import GLVQCost, is_large
from pertinent.lvq.tolerances import LARGEST, SMALLEST

# From this many samples on, large square omegas are trained along the principal axes and in single
# precision. With a ``tol`` below this one, rounding would end the training early.
MANY = 4096
SINGLE_TOL = 1e-5


@dataclass(frozen=True)
class Units:
    """A shift and a scale; in its own units the training data have mean 0, total variance 1.

    One scale serves all features, so that the Euclidean metric stays the user's own.
    """

    origin: FloatArray
    scale: float

    def apply(self, X: FloatArray) -> FloatArray:
        """Return X in training units."""
        return (X - self.origin) / self.scale

    def undo(self, X: FloatArray) -> FloatArray:
        """Return X in the user's units."""
        return X * self.scale + self.origin


def to_training_units(X: FloatArray) -> tuple[FloatArray, Units]:
    """Return a scaled copy of the training data and its units.

    Examples
    --------
    >>> scaled, units = to_training_units(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> scaled.tolist(), units.scale
    ([[-1.0, 0.0], [1.0, 0.0]], 1.0)
    """
    largest = max(float(X.max()), -float(X.min()))
    if largest > LARGEST:
        raise ValueError(
            f"X must not exceed {LARGEST:g} in absolute value, or squared distances overflow. "
            f"Got {largest:g}. Rescale the features, e.g. with StandardScaler."
        )
    origin = X.mean(axis=0)
    scaled = X - origin
    scale = float(np.linalg.norm(scaled) / np.sqrt(len(X)))
    if scale < SMALLEST:
        if np.ptp(X, axis=0).max() > 0.0:
            raise ValueError(
                f"The features of X vary by less than {SMALLEST:g} and squared distances "
                "underflow. Rescale the features, e.g. with StandardScaler."
            )
        scale = 1.0  # all samples are equal
    scaled /= scale
    return scaled, Units(origin, scale)


class Trained(NamedTuple):
    """The outcome of training; ``settled`` is False if ``max_iter`` ended it."""

    prototypes: FloatArray
    omegas: FloatArray | None
    loss: float
    n_iter: int
    settled: bool


@dataclass(frozen=True)
class Packing:
    """Prototypes and omegas as the one vector that L-BFGS sees."""

    prototypes_shape: tuple[int, ...]
    omegas_shape: tuple[int, ...] | None

    @staticmethod
    def join(prototypes: FloatArray, omegas: FloatArray | None) -> FloatArray:
        """Return all parameters as one vector."""
        if omegas is None:
            return prototypes.ravel()
        return np.concatenate([prototypes.ravel(), omegas.ravel()])

    def split(self, vector: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """Return prototypes and omegas."""
        n = int(np.prod(self.prototypes_shape))
        prototypes = vector[:n].reshape(self.prototypes_shape)
        if self.omegas_shape is None:
            return prototypes, None
        return prototypes, vector[n:].reshape(self.omegas_shape)


def train(
    cost: GLVQCost,
    prototypes: FloatArray,
    omegas: FloatArray | None,
    max_iter: int,
    tol: float,
) -> Trained:
    """Return prototypes and normalised omegas of smallest cost near the given start."""
    if omegas is not None and is_large(omegas) and len(cost.X) >= MANY:
        # The same problem, turned: L-BFGS takes the same steps in any orthonormal basis, and in
        # this one the cost can tell distant omegas by a few of their rows.
        axes = principal_axes(cost.X)
        X = cost.X @ axes
        if tol >= SINGLE_TOL:
            X = X.astype(np.float32)
        turned = minimised(replace(cost, X=X), prototypes @ axes, omegas @ axes, max_iter, tol)
        assert turned.omegas is not None
        return turned._replace(prototypes=turned.prototypes @ axes.T, omegas=turned.omegas @ axes.T)
    return minimised(cost, prototypes, omegas, max_iter, tol)


def principal_axes(X: FloatArray) -> FloatArray:
    """Return the principal axes of centred data as columns, those of largest variance first.

    Examples
    --------
    >>> np.abs(principal_axes(np.array([[1.0, 5.0], [-1.0, -5.0], [1.0, -5.0], [-1.0, 5.0]])))
    array([[0., 1.],
           [1., 0.]])
    """
    return np.linalg.eigh(X.T @ X)[1][:, ::-1]


def minimised(
    cost: GLVQCost,
    prototypes: FloatArray,
    omegas: FloatArray | None,
    max_iter: int,
    tol: float,
) -> Trained:
    """Return prototypes and normalised omegas as L-BFGS finds them."""
    packing = Packing(prototypes.shape, None if omegas is None else omegas.shape)

    def objective(vector: FloatArray) -> tuple[float, FloatArray]:
        return normalised_objective(cost, packing, vector)

    result = minimize(
        objective,
        packing.join(prototypes, omegas),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_iter, "maxfun": 100 * max_iter, "ftol": tol, "gtol": tol},
    )
    prototypes, omegas = packing.split(result.x)
    if omegas is not None:
        omegas = omegas / _norms(omegas)
    return Trained(prototypes, omegas, float(result.fun), int(result.nit), result.status != 1)


def normalised_objective(
    cost: GLVQCost, packing: Packing, vector: FloatArray
) -> tuple[float, FloatArray]:
    """Return cost and gradient as functions of omegas of any size.

    The cost is taken at ``n(omega) = omega / |omega|``, whose metric has trace 1. With g the
    gradient at n(omega), the chain rule gives ``(g - <g, n> n) / |omega|``.
    """
    prototypes, omegas = packing.split(vector)
    if omegas is None:
        value, by_prototypes, _ = cost(prototypes)
        return value, by_prototypes.ravel()
    norms = _norms(omegas)
    unit = omegas / norms
    value, by_prototypes, by_unit = cost(prototypes, unit)
    assert by_unit is not None
    radial = np.sum(by_unit * unit, axis=(1, 2), keepdims=True)
    return value, packing.join(by_prototypes, (by_unit - radial * unit) / norms)


def _norms(omegas: FloatArray) -> FloatArray:
    """Return the Frobenius norm of each omega, ``sqrt(trace(omega' omega))``, broadcastable."""
    return np.asarray(np.sqrt(np.sum(omegas**2, axis=(1, 2), keepdims=True)))
