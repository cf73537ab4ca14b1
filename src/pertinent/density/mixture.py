"""One Gaussian mixture for each class, and the ellipsoids inside which its density is high.

The mixture's density is a sum, so each weighted component is a lower bound of it:

    p(z) = sum_j pi_j N(z | mu_j, S_j)  >=  pi_j N(z | mu_j, S_j)      for every j.

Hence every point of the ellipsoid

    |L_j (z - mu_j)|^2  <=  2 (log pi_j + log det L_j - r/2 log(2 pi) - threshold),

with ``L_j'L_j`` the inverse of S_j, has ``log p(z) >= threshold``. The ellipsoids are convex, and
their union is where plausible points may lie (sec. III-E of the paper).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pertinent.density.tolerances import TIGHTER
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import AffineMap, Cell, CellUnion, Quadratic


class PlausibilityWarning(UserWarning):
    """A mixture could not be fitted as asked; the message says what was done instead.

    Parameters
    ----------
    said : str
        What was done.
    advice : str
        What else to write in Python.

    Examples
    --------
    >>> from pertinent import PlausibilityWarning
    >>> warning = PlausibilityWarning("Flat.", "Set reg_covar.")
    >>> print(warning)
    Flat. Set reg_covar.
    >>> warning.said
    'Flat.'
    """

    def __init__(self, said: str, advice: str = "") -> None:
        super().__init__(f"{said} {advice}".rstrip())
        self.said = said


@record_as("class-mixture")
@dataclass(frozen=True, eq=False)
class ClassMixture:
    """The density of one class, in the space of the mixture.

    Parameters
    ----------
    weights : ndarray of shape (n_components,)
    means : ndarray of shape (n_components, n_dims)
    roots : ndarray of shape (n_components, n_dims, n_dims)
        ``L_j``, with ``L_j'L_j`` the inverse of the covariance.
    threshold : float
        Log-density that plausible points must have.
    reference : ndarray of shape (n_samples,)
        Log-densities of the class's own training points, ascending.
    """

    weights: FloatArray
    means: FloatArray
    roots: FloatArray
    threshold: float
    reference: FloatArray

    @property
    def dim(self) -> int:
        """Dimension of the space of the mixture."""
        return int(self.means.shape[1])

    @cached_property
    def peaks(self) -> FloatArray:
        """The weighted log-density of each component at its mean."""
        diagonal = np.abs(np.diagonal(self.roots, axis1=1, axis2=2))
        log_det = np.log(diagonal).sum(axis=1)
        return np.asarray(np.log(self.weights) + log_det - self.dim / 2 * np.log(2 * np.pi))

    def parts(self, z: FloatArray) -> FloatArray:
        """Return the weighted log-density of each component, shape (n, n_components)."""
        out = np.empty((len(z), len(self.weights)))
        for j, (mean, root) in enumerate(zip(self.means, self.roots, strict=True)):
            away = np.matmul((z - mean)[:, None, :], root.T)[:, 0, :]
            out[:, j] = self.peaks[j] - 0.5 * (away * away).sum(axis=1)
        return out

    def log_density(self, z: FloatArray) -> FloatArray:
        """Return the log-density of the mixture."""
        return np.asarray(np.logaddexp.reduce(self.parts(z), axis=1))

    def percentile(self, log_density: FloatArray) -> FloatArray:
        """Return how many percent of the class's training points have a lower density."""
        below = np.searchsorted(self.reference, log_density, side="left")
        share = 100.0 * below / max(1, len(self.reference))
        return np.where(np.isnan(log_density), np.nan, share)

    def ellipsoids(self, through: AffineMap, margin: float) -> CellUnion:
        """Return where some component alone reaches the threshold, in the units of the samples.

        A component whose peak lies below the threshold has no such points. A margin is asked for
        in units of the threshold, so that the units of the features do not matter.
        """
        unit = max(1.0, abs(self.threshold))
        asked = self.threshold + (TIGHTER + margin) * unit
        cells = []
        for mean, root, peak in zip(self.means, self.roots, self.peaks, strict=True):
            # Whatever the margin, the same components: proofs name cells by their place.
            if peak < self.threshold + TIGHTER * unit:
                continue
            # |L (z - mu)|^2 <= 2 (peak - threshold), with z = M x + t.
            flat_top = np.zeros((0, self.dim)), np.zeros(self.dim)
            ball = Quadratic(root, *flat_top, float(-2.0 * (peak - asked)), mean)
            flat = Cell(np.zeros((0, self.dim)), np.zeros(0), (ball,), anchors=mean[None])
            cells.append(flat.pull_back(through))
        return CellUnion(tuple(cells), through.dim_in)

    def judge(self) -> Any:
        """Return the mixture as scikit-learn's own, whose ``score_samples`` judges points."""
        from sklearn.mixture import GaussianMixture

        mixture = GaussianMixture(len(self.weights), covariance_type="full")
        mixture.weights_, mixture.means_ = self.weights, self.means
        # scikit-learn keeps U with U U' = S^-1, so U = L'.
        mixture.precisions_cholesky_ = np.swapaxes(self.roots, 1, 2)
        mixture.n_features_in_ = self.dim
        return mixture


@record_as("densities")
@dataclass(frozen=True, eq=False)
class Densities:
    """The mixtures of all classes, and the way into their space.

    Parameters
    ----------
    into : AffineMap
        From the units of the samples to the space of the mixtures.
    mixtures : tuple of ClassMixture
        In the order of the model's classes.
    quantile : float
    """

    into: AffineMap
    mixtures: tuple[ClassMixture, ...]
    quantile: float

    def region(self, k: int, margin: float) -> CellUnion:
        """Return where points of class ``k`` are plausible."""
        return self.mixtures[k].ellipsoids(self.into, margin)

    def log_density(self, k: int, points: FloatArray) -> FloatArray:
        """Return scikit-learn's log-density of points under the mixture of class ``k``."""
        if not len(points):
            return np.zeros(0)
        image = self.into(points)
        return np.asarray(self.mixtures[k].judge().score_samples(image))

    def words(self) -> str:
        """Return what is asked for, in words."""
        if self.quantile == 1:
            return "as dense as the densest training point of its class"
        if self.quantile == 0:
            return "as dense as the least dense training point of its class"
        return f"as dense as the densest {100 * (1 - self.quantile):g}% of its class"
