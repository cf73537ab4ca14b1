r"""The GLVQ cost and its gradient, by matrix products.

For a sample ``x`` let ``d+`` be the squared distance to the nearest prototype of its own class and
``d-`` the one to the nearest prototype of any other class. The cost [1]_ is the mean over the
samples of

.. math::  \phi(\mu) = \frac{1}{1 + e^{-\beta \mu}}, \qquad
           \mu = \frac{d^+ - d^-}{d^+ + d^- + \varepsilon}  \in (-1, 1),

where mu is negative exactly if the sample is classified correctly. The steeper the sigmoid, the
closer the cost is to the share of errors; for a small ``β`` it is an affine function of mu, i.e.
the cost without squashing.

The tiny ``ε`` (`DEGENERACY`; the data have total variance 1 during training) makes the cost
differentiable where ``d+ = d- = 0``, i.e. where a sample coincides with a prototype of its own
class and with one of another class: there ``mu = 0`` and its gradient is 0 (`relative_difference`).

References
----------
.. [1] A. Sato and K. Yamada, "Generalized learning vector quantization", Advances in Neural
   Information Processing Systems 8, 1995.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import get_blas_funcs
from scipy.special import expit

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.lvq.tolerances import DEGENERACY

# Working memory of the cost: the samples are visited in chunks of about this size. It has to hold
# a few hundred samples for fast matrix products; beyond that, larger chunks are not faster.
CHUNK_BYTES = 16 * 2**20

# From this many features on, square omegas are measured by their triangular factors.
LARGE = 128

# Rows of a triangular factor that are measured for every sample. If the features are principal
# components they hold most of a distance, and the rest is needed for the nearest omegas only.
HEAD = 32


@dataclass(frozen=True)
class Layout:
    """Which class each prototype belongs to, and which omega measures its distances."""

    prototype_class: IntArray
    prototype_omega: IntArray

    @property
    def n_omegas(self) -> int:
        """Number of different metrics."""
        return int(self.prototype_omega.max()) + 1

    def groups(self) -> Iterator[tuple[int, IntArray]]:
        """Yield each omega's index with the prototypes that it measures."""
        for k in range(self.n_omegas):
            yield k, np.flatnonzero(self.prototype_omega == k)


class CostGradient(NamedTuple):
    """The cost and its derivatives; ``omegas`` is None for the Euclidean metric."""

    cost: float
    prototypes: FloatArray
    omegas: FloatArray | None


@dataclass(frozen=True)
class GLVQCost:
    """The mean of phi(mu) over all samples, as a function of prototypes and omegas.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples, centred and with total variance 1. Large square omegas measure samples of type
        float32 in single precision: nearly twice as fast, with gradients to about 1e-6.
    y : ndarray of shape (n_samples,)
        Class indices.
    layout : Layout
        Class and omega of each prototype.
    steepness : float
        The factor ``β`` of the sigmoid.
    chunk_bytes : int, default=CHUNK_BYTES
        Working memory.
    """

    X: FloatArray
    y: IntArray
    layout: Layout
    steepness: float
    chunk_bytes: int = CHUNK_BYTES

    def __call__(self, prototypes: FloatArray, omegas: FloatArray | None = None) -> CostGradient:
        """Return cost and gradient; ``omegas=None`` stands for the Euclidean metric."""
        n_samples = len(self.X)
        factors = _triangular_factors(omegas, self.X.dtype)
        sums = _Sums.zeros(prototypes, omegas)
        if factors is not None:
            sums.moments = np.zeros_like(omegas, dtype=self.X.dtype)
        step = self._chunk_rows(prototypes, omegas, factors is not None)
        for start in range(0, n_samples, step):
            chunk = slice(start, start + step)
            if factors is None:
                self._add(sums, self.X[chunk], self.y[chunk], prototypes, omegas)
            else:
                self._add_by_factors(sums, self.X[chunk], self.y[chunk], prototypes, factors)
        if omegas is not None and factors is not None:
            sums.project_moments(omegas)
        sums.divide(n_samples)
        return _gradient(sums, self.layout, prototypes, omegas)

    def _chunk_rows(
        self, prototypes: FloatArray, omegas: FloatArray | None, by_factors: bool = False
    ) -> int:
        n_prototypes, n_features = prototypes.shape
        projected = 0 if omegas is None else omegas.shape[0] * omegas.shape[1]
        if by_factors:
            projected = n_features  # one metric at a time
        floats_per_row: int = projected + n_features + 6 * n_prototypes
        return max(1, self.chunk_bytes // (self.X.itemsize * floats_per_row))

    def _add(
        self,
        sums: _Sums,
        X: FloatArray,
        y: IntArray,
        prototypes: FloatArray,
        omegas: FloatArray | None,
    ) -> None:
        """Add the samples ``X`` of classes ``y`` to the sums."""
        distances, projected = _project_and_measure(X, self.layout, prototypes, omegas)
        own_class = y[:, None] == self.layout.prototype_class
        cost, C = _cost_and_derivatives(distances, own_class, self.steepness)
        sums.cost += float(cost.sum())
        sums.weights += C.sum(axis=0)
        sums.samples += C.T @ X
        if sums.projections is not None:
            for k, members in self.layout.groups():
                sums.projections[k] += _weighted_product(C[:, members].sum(axis=1), projected[k], X)

    def _add_by_factors(
        self,
        sums: _Sums,
        X: FloatArray,
        y: IntArray,
        prototypes: FloatArray,
        factors: list[_Factor],
    ) -> None:
        """Add samples to the sums, for large square omegas: half the work, or less.

        With ``omega = Q R``, R triangular, ``|omega x| = |R x|``; and the sum of
        ``c_i (omega x_i) x_i'`` is omega times the symmetric ``S = sum_i c_i x_i x_i'``. Each takes
        half as many products as one with a full matrix.
        """
        own_class = y[:, None] == self.layout.prototype_class
        distances = _nearest_by_factors(X, self.layout, own_class, prototypes, factors)
        cost, C = _cost_and_derivatives(distances, own_class, self.steepness)
        sums.cost += float(cost.sum())
        sums.weights += C.sum(axis=0)
        sums.samples += C.T.astype(X.dtype) @ X
        syrk = get_blas_funcs("syrk", (X,))
        for k, members in self.layout.groups():
            c = C[:, members].sum(axis=1)
            for sign in (1.0, -1.0):
                rows = np.flatnonzero(sign * c > 0.0)
                if len(rows):
                    scaled = X[rows] * np.sqrt(np.abs(c[rows]))[:, None].astype(X.dtype)
                    # Fills the lower triangle, seen in C's order of rows.
                    syrk(sign, scaled.T, 1.0, sums.moments[k].T, overwrite_c=1)


@dataclass
class _Sums:
    """Sums over the samples from which cost and gradient follow.

    ``C[i, p]`` is the derivative of sample i's cost by its distance to prototype p (only two
    entries of a row differ from 0) and ``c_k`` the sum of the columns that omega k measures.
    """

    cost: float  # sum of phi(mu)
    weights: FloatArray  # (P,)       C' 1
    samples: FloatArray  # (P, d)     C' X
    projections: FloatArray | None  # (K, r, d)  (diag(c_k) X omega_k')' X
    moments: Any = None  # (K, d, d)  lower triangles of X' diag(c_k) X, in the precision of X

    @classmethod
    def zeros(cls, prototypes: FloatArray, omegas: FloatArray | None) -> _Sums:
        return cls(
            cost=0.0,
            weights=np.zeros(len(prototypes)),
            samples=np.zeros_like(prototypes),
            projections=None if omegas is None else np.zeros_like(omegas),
        )

    def project_moments(self, omegas: FloatArray) -> None:
        """Set the projections to ``omega_k S_k``, S_k the moments."""
        assert self.projections is not None
        for omega, lower, projection in zip(omegas, self.moments, self.projections, strict=True):
            np.matmul(omega, lower + np.tril(lower, -1).T, out=projection)

    def divide(self, n_samples: int) -> None:
        self.cost /= n_samples
        self.weights /= n_samples
        self.samples /= n_samples
        if self.projections is not None:
            self.projections /= n_samples


class _Factor(NamedTuple):
    """The triangular R of ``omega = Q R``, as an oblong upper and a triangular lower part."""

    head: Any  # (h, d)
    tail: Any  # (d - h, d - h), in Fortran's order

    @classmethod
    def of(cls, omega: FloatArray, dtype: Any) -> _Factor:
        R: Any = np.linalg.qr(omega, mode="r")
        R = R.astype(dtype)
        return cls(R[:HEAD], np.asfortranarray(R[HEAD:, HEAD:]))


def _triangular_factors(omegas: FloatArray | None, dtype: Any) -> list[_Factor] | None:
    """Return the factor of each omega, None unless they are large and square."""
    if omegas is None or not is_large(omegas):
        return None
    return [_Factor.of(omega, dtype) for omega in omegas]


def is_large(omegas: FloatArray) -> bool:
    """Return whether the omegas are measured by their triangular factors."""
    _, rank, n_features = omegas.shape
    return bool(rank == n_features >= LARGE)


def _nearest_by_factors(
    X: Any, layout: Layout, own_class: BoolArray, prototypes: FloatArray, factors: list[_Factor]
) -> FloatArray:
    """Return the squared distances (n, P), exact as far as the nearest two depend on them.

    The first rows of a triangular factor give a lower bound of the distance. The remaining ones,
    nearly all of the work, are measured where this bound is the smallest of a sample's own or of
    the other classes, and then wherever it does not exceed the distance so found.
    """
    distances = np.empty((len(X), len(prototypes)))
    for k, members in layout.groups():
        head = factors[k].head.T
        V = prototypes[members].astype(X.dtype) @ head
        distances[:, members] = squared_distances(X @ head, V)
    rows = np.arange(len(X))[:, None]
    first = np.column_stack(_nearest_two(distances, own_class))
    wanted = np.zeros(distances.shape, dtype=bool)
    wanted[rows, first] = True
    measured = _add_tails(distances, wanted, X, layout, prototypes, factors)
    found = distances[rows, first]
    wanted = distances <= np.where(own_class, found[:, :1], found[:, 1:])
    _add_tails(distances, wanted & ~measured, X, layout, prototypes, factors)
    return distances


def _add_tails(
    distances: FloatArray,
    wanted: BoolArray,
    X: Any,
    layout: Layout,
    prototypes: FloatArray,
    factors: list[_Factor],
) -> BoolArray:
    """Add what the heads left out of the wanted distances; return which ones are then complete."""
    trmm = get_blas_funcs("trmm", (X,))
    complete = np.zeros_like(wanted)
    for k, members in layout.groups():
        rows = np.flatnonzero(wanted[:, members].any(axis=1))
        if len(rows):
            tail = factors[k].tail
            Z = trmm(1.0, tail, X[rows, HEAD:].T, overwrite_b=1).T
            V = prototypes[members, HEAD:].astype(X.dtype) @ tail.T
            distances[np.ix_(rows, members)] += squared_distances(Z, V)
            complete[np.ix_(rows, members)] = True
    return complete


def _project_and_measure(
    X: FloatArray, layout: Layout, prototypes: FloatArray, omegas: FloatArray | None
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the squared distances (n, P) and, for each omega, the samples ``X omega'``."""
    if omegas is None:
        return squared_distances(X, prototypes), []
    distances = np.empty((len(X), len(prototypes)))
    n_omegas, rank, n_features = omegas.shape
    stacked = X @ omegas.reshape(n_omegas * rank, n_features).T  # all projections in one product
    projected = [stacked[:, k * rank : (k + 1) * rank] for k in range(n_omegas)]
    for k, members in layout.groups():
        distances[:, members] = squared_distances(projected[k], prototypes[members] @ omegas[k].T)
    return distances, projected


def _gradient(
    sums: _Sums, layout: Layout, prototypes: FloatArray, omegas: FloatArray | None
) -> CostGradient:
    """Turn the sums into the gradient.

    With m = C'1 and G = C'X of the prototypes w_p that omega measures, and Lambda = omega'omega:

        d cost / d w_p   = -2 Lambda sum_i C_ip (x_i - w_p)  =  -2 Lambda (G_p - m_p w_p)
        d cost / d omega =  2 omega sum_ip C_ip (x_i - w_p)(x_i - w_p)'
                         =  2 { sum_i c_i (omega x_i) x_i'
                                - sum_p [ (omega G_p) w_p' + (omega w_p)(G_p - m_p w_p)' ] }
    """
    attraction = sums.samples - sums.weights[:, None] * prototypes
    if omegas is None or sums.projections is None:
        return CostGradient(sums.cost, -2.0 * attraction, None)
    by_prototypes = np.empty_like(prototypes)
    by_omegas = np.empty_like(omegas)
    for k, members in layout.groups():
        omega, W = omegas[k], prototypes[members]
        by_prototypes[members] = -2.0 * (attraction[members] @ omega.T) @ omega
        by_omegas[k] = 2.0 * (
            sums.projections[k]
            - (sums.samples[members] @ omega.T).T @ W
            - (W @ omega.T).T @ attraction[members]
        )
    return CostGradient(sums.cost, by_prototypes, by_omegas)


def squared_distances(Z: FloatArray, V: FloatArray) -> FloatArray:
    """Return the squared Euclidean distance of each row of Z to each row of V.

    One matrix product: fast, and accurate enough for training on centred data.
    """
    # |z - v|^2 = |z|^2 - 2 z'v + |v|^2, where rounding may leave a tiny negative number
    distances = Z @ V.T
    distances *= -2.0
    distances += np.einsum("ij,ij->i", Z, Z)[:, None]
    distances += np.einsum("ij,ij->i", V, V)
    return np.maximum(distances, 0.0, out=distances)


def relative_difference(
    plus: FloatArray, minus: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mu and its derivatives with respect to ``d+`` and ``d-``.

    Examples
    --------
    >>> mu, by_plus, by_minus = relative_difference(np.array([1.0, 0.0]), np.array([3.0, 0.0]))
    >>> mu.round(6).tolist()
    [-0.5, 0.0]
    >>> by_plus[0].round(6).item(), by_minus[0].round(6).item()
    (0.375, -0.125)
    """
    total = plus + minus + DEGENERACY
    mu = (plus - minus) / total
    # (1 - mu) / total and -(1 + mu) / total, written without cancellation
    by_plus = (2.0 * minus + DEGENERACY) / total**2
    by_minus = -(2.0 * plus + DEGENERACY) / total**2
    return mu, by_plus, by_minus


def _nearest_two(distances: FloatArray, own_class: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the nearest prototype of each sample's own class and the nearest of the others."""
    own = np.where(own_class, distances, np.inf).argmin(axis=1)
    return own, np.where(own_class, np.inf, distances).argmin(axis=1)


def _cost_and_derivatives(
    distances: FloatArray, own_class: BoolArray, steepness: float
) -> tuple[FloatArray, FloatArray]:
    """Return phi(mu) of each sample and its derivatives by all distances, C of shape (n, P)."""
    rows = np.arange(len(distances))
    nearest_own, nearest_other = _nearest_two(distances, own_class)
    mu, by_plus, by_minus = relative_difference(
        distances[rows, nearest_own], distances[rows, nearest_other]
    )
    phi = expit(steepness * mu)
    slope = steepness * phi * (1.0 - phi)  # phi'(mu)
    C = np.zeros_like(distances)
    C[rows, nearest_own] = slope * by_plus
    C[rows, nearest_other] = slope * by_minus
    return phi, C


def _weighted_product(weights: FloatArray, Z: FloatArray, X: FloatArray) -> FloatArray:
    """Return ``sum_i weights_i z_i x_i'``, visiting only rows whose weight is not 0."""
    rows = np.flatnonzero(weights)
    if len(rows) == len(weights):
        return (Z * weights[:, None]).T @ X
    return (Z[rows] * weights[rows, None]).T @ X[rows]
