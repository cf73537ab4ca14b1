"""What the three estimators share."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.lvq._cost import CHUNK_BYTES, GLVQCost, Layout
from pertinent.lvq._init import (
    INITS,
    drawn_prototypes,
    given_prototypes,
    initial_omega,
    is_integer,
    is_real,
    prototype_counts,
)
from pertinent.lvq._plot import plot_relevances
from pertinent.lvq._training import Units, to_training_units, train

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PrototypeClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Predict the label of the nearest prototype; subclasses say how distance is measured."""

    classes_: npt.NDArray[Any]
    prototypes_: FloatArray
    prototype_labels_: npt.NDArray[Any]
    relevances_: FloatArray
    loss_: float
    n_iter_: int
    n_features_in_: int

    def __init__(
        self,
        prototypes_per_class: Any,
        init: Any,
        steepness: float,
        max_iter: int,
        tol: float,
        random_state: Any,
    ) -> None:
        self.prototypes_per_class = prototypes_per_class
        self.init = init
        self.steepness = steepness
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @abstractmethod
    def _prototype_omega(self, prototype_class: IntArray) -> IntArray:
        """Return which omega measures the distances to each prototype."""

    @abstractmethod
    def _initial_omegas(
        self, X: FloatArray, n_omegas: int, random_state: np.random.RandomState
    ) -> FloatArray | None:
        """Return the omegas to start from, or None for the Euclidean metric."""

    @abstractmethod
    def _set_metric(self, omegas: FloatArray | None, layout: Layout) -> None:
        """Set the fitted attributes that describe the metric, ``relevances_`` among them."""

    @abstractmethod
    def _metrics(self) -> Iterator[tuple[IntArray, FloatArray | None]]:
        """Yield groups of prototypes with the omega that measures them, None if Euclidean."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the prototypes, and the metric if there is one to learn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples. Features of unlike units should be standardised first.
        y : array-like of shape (n_samples,)
            Class labels, of at least two classes.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self._check_parameters()
        self.classes_, class_index = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs samples of at least 2 classes. Got 1 class, "
                f"{self.classes_.tolist()[0]!r}; pass training data with more classes."
            )
        random_state = check_random_state(self.random_state)
        counts = prototype_counts(self.prototypes_per_class, self.classes_)
        prototype_class = np.repeat(np.arange(len(self.classes_)), counts)
        layout = Layout(prototype_class, self._prototype_omega(prototype_class))

        scaled, units = to_training_units(X)
        cost = GLVQCost(scaled, class_index, layout, float(self.steepness))
        prototypes = self._initial_prototypes(cost, units, counts, random_state)
        omegas = self._initial_omegas(scaled, layout.n_omegas, random_state)
        trained = train(cost, prototypes, omegas, self.max_iter, float(self.tol))
        if not trained.settled:
            self._warn_not_settled()

        self.prototypes_ = units.undo(trained.prototypes)
        self.prototype_labels_ = self.classes_[prototype_class]
        self.loss_ = trained.loss
        self.n_iter_ = trained.n_iter
        self._set_metric(trained.omegas, layout)
        return self

    def _initial_prototypes(
        self,
        cost: GLVQCost,
        units: Units,
        counts: IntArray,
        random_state: np.random.RandomState,
    ) -> FloatArray:
        if isinstance(self.init, str):
            return drawn_prototypes(cost.X, cost.y, counts, self.init, self.classes_, random_state)
        return units.apply(given_prototypes(self.init, counts, cost.X.shape[1]))

    def _check_parameters(self) -> None:
        if isinstance(self.init, str) and self.init not in INITS:
            raise ValueError(
                f"init must be one of {INITS} or an array of prototypes. Got {self.init!r} instead."
            )
        if not is_integer(self.max_iter, at_least=1):
            raise ValueError(f"max_iter must be a positive int. Got {self.max_iter!r} instead.")
        if not is_real(self.tol, above=0.0):
            raise ValueError(f"tol must be a float in (0, inf). Got {self.tol!r} instead.")
        if not is_real(self.steepness, above=0.0):
            raise ValueError(
                f"steepness must be a float in (0, inf). Got {self.steepness!r} instead."
            )

    def _warn_not_settled(self) -> None:
        warnings.warn(
            f"{type(self).__name__} stopped at max_iter={self.max_iter} while its loss was still "
            f"falling by more than tol={self.tol:g} per iteration. Increase max_iter or tol, or "
            "standardise the features.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def distances(self, X: Any) -> FloatArray:
        """Return the squared distance of each sample to each prototype.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_prototypes)
            ``|omega (x - w)|^2`` for the prototypes ``w`` in ``prototypes_``; omega is the
            identity for GLVQ.
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        distances = np.empty((len(X), len(self.prototypes_)))
        batch_rows = max(1, CHUNK_BYTES // (16 * self.n_features_in_))
        for rows in gen_batches(len(X), batch_rows):
            for members, omega in self._metrics():
                distances[rows, members] = _accurate_distances(
                    X[rows], self.prototypes_[members], omega
                )
        if not np.isfinite(distances).all():
            raise ValueError(
                "Squared distances overflow: X has entries up to "
                f"{np.abs(X).max():g}. Rescale the features before fitting."
            )
        return distances

    def decision_function(self, X: Any) -> FloatArray:
        """Return how close each sample is to the prototypes of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Minus the squared distance to the nearest prototype of each class. For two classes,
            the score of ``classes_[1]`` minus the one of ``classes_[0]``: positive where
            ``classes_[1]`` is predicted.
        """
        distances = self.distances(X)
        first_of_class = np.searchsorted(self.prototype_labels_, self.classes_)
        scores: FloatArray = -np.minimum.reduceat(distances, first_of_class, axis=1)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label of the nearest prototype; of equally near ones, the first counts.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Predicted labels.
        """
        # Prototypes are sorted by class, so the first of equally near prototypes belongs to the
        # first of equally scored classes: predict agrees with the argmax of decision_function.
        nearest = self.distances(X).argmin(axis=1)
        labels: npt.NDArray[Any] = self.prototype_labels_[nearest]
        return labels

    def plot_relevances(self, ax: Axes | None = None) -> Axes:
        """Draw ``relevances_`` as horizontal bars, the 20 largest at most.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        ax : matplotlib.axes.Axes
            The axes with the bars.

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra ``plot``).
        """
        check_is_fitted(self)
        fallback = [f"x{i}" for i in range(self.n_features_in_)]
        names = [str(name) for name in getattr(self, "feature_names_in_", fallback)]
        local = getattr(self, "local_relevances_", None)
        return plot_relevances(self.relevances_, names, local, ax)


class MatrixPrototypeClassifier(PrototypeClassifier):
    """A prototype classifier whose metric is learnt: ``rank`` and the first omegas."""

    rank: int | None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.rank is not None and not (
            is_integer(self.rank, at_least=1) and self.rank <= self.n_features_in_
        ):
            raise ValueError(
                "rank must be None or an int between 1 and the number of features, "
                f"{self.n_features_in_}. Got {self.rank!r} instead."
            )

    def _initial_omegas(
        self, X: FloatArray, n_omegas: int, random_state: np.random.RandomState
    ) -> FloatArray:
        rank = X.shape[1] if self.rank is None else int(self.rank)
        return np.repeat(initial_omega(X, rank, random_state)[None], n_omegas, axis=0)


def metric_diagonals(omegas: FloatArray) -> FloatArray:
    """Return the diagonal of ``omega' omega`` of each omega, scaled to sum to 1."""
    diagonals = np.sum(omegas**2, axis=1)
    return np.asarray(diagonals / diagonals.sum(axis=1, keepdims=True))


def _accurate_distances(X: FloatArray, W: FloatArray, omega: FloatArray | None) -> FloatArray:
    """Return squared distances from differences, accurate even next to a prototype.

    |z|^2 - 2 z'v + |v|^2, as used in training, would lose digits there.
    """
    if omega is not None:
        origin = W.mean(axis=0)
        X, W = (X - origin) @ omega.T, (W - origin) @ omega.T
    return np.asarray(cdist(X, W, "sqeuclidean"))
