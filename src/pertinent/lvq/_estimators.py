"""The estimators GLVQ, GMLVQ and LGMLVQ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.lvq._base import MatrixPrototypeClassifier, PrototypeClassifier, metric_diagonals
from pertinent.lvq._cost import Layout


class GLVQ(PrototypeClassifier):
    r"""Generalized learning vector quantization: the nearest prototype by Euclidean distance.

    Parameters
    ----------
    prototypes_per_class : int, dict or array-like of int, default=1
        Number of prototypes of every class; or of each class, as a dict from label to number or as
        a sequence in the order of ``classes_`` (sorted labels).
    init : {"kmeans", "mean", "random"} or array-like, default="kmeans"
        Where the prototypes start: at the k-means centres of their class, at the mean of their
        class (several ones with a small random offset), or at random samples of their class. An
        array of shape (n_prototypes, n_features) is taken as it is, its rows class after class in
        the order of ``classes_``.
    steepness : float, default=5.0
        Steepness of the sigmoid in the cost, see Notes.
    max_iter : int, default=200
        Largest number of L-BFGS iterations.
    tol : float, default=1e-5
        Training ends when an iteration lowers the loss by less than ``tol``, or when no component
        of the gradient exceeds ``tol`` (for data scaled to total variance 1).
    random_state : int, RandomState instance or None, default=None
        Seed for "kmeans", "random", and "mean" with several prototypes per class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Prototypes in the units of X, sorted by class.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Class label of each prototype.
    relevances_ : ndarray of shape (n_features,)
        Diagonal of the metric, scaled to sum to 1. Here ``1 / n_features`` throughout, as the
        Euclidean metric treats all features alike.
    loss_ : float
        Cost of the training data, between 0 and 1.
    n_iter_ : int
        Number of L-BFGS iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X was a data frame with string columns.

    See Also
    --------
    GMLVQ : Learns one metric for all prototypes.
    LGMLVQ : Learns a metric for each prototype or class.

    Notes
    -----
    With ``d+`` and ``d-`` the squared distances of a sample to the nearest prototype of its own
    class and of any other class, L-BFGS minimises the mean over the samples of

    .. math::  \phi(\mu) = \frac{1}{1 + e^{-\beta \mu}}, \qquad
               \mu = \frac{d^+ - d^-}{d^+ + d^-},

    where :math:`\beta` is ``steepness`` [1]_. A sample that coincides with prototypes of both
    kinds has :math:`\mu = 0`. The cost has many local minima: the result depends on ``init``.

    References
    ----------
    .. [1] A. Sato and K. Yamada, "Generalized learning vector quantization", Advances in Neural
       Information Processing Systems 8, 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pertinent.lvq import GLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    >>> model.prototypes_.shape, model.prototype_labels_.tolist()
    ((6, 4), [0, 0, 1, 1, 2, 2])
    >>> model.predict(X[:3]).tolist()
    [0, 0, 0]
    """

    def __init__(
        self,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        *,
        steepness: float = 5.0,
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: Any = None,
    ) -> None:
        super().__init__(prototypes_per_class, init, steepness, max_iter, tol, random_state)

    def _prototype_omega(self, prototype_class: IntArray) -> IntArray:
        return np.zeros_like(prototype_class)

    def _initial_omegas(
        self, X: FloatArray, n_omegas: int, random_state: np.random.RandomState
    ) -> None:
        return None

    def _set_metric(self, omegas: FloatArray | None, layout: Layout) -> None:
        self.relevances_ = np.full(self.n_features_in_, 1.0 / self.n_features_in_)

    def _metrics(self) -> Iterator[tuple[IntArray, None]]:
        yield np.arange(len(self.prototypes_)), None


class GMLVQ(MatrixPrototypeClassifier):
    """Generalized matrix LVQ: the nearest prototype by one learnt metric.

    The squared distance of a sample x to a prototype w is ``(x - w)' Lambda (x - w)`` with
    ``Lambda = omega' omega``. It learns which features, and which combinations of features, tell
    the classes apart.

    Parameters
    ----------
    prototypes_per_class, init, max_iter
        As in `GLVQ`.
    rank : int, default=None
        Number of rows of omega, at most (and by default) the number of features. A low rank is
        faster to train, and projects the data to ``rank`` dimensions. Omega starts at the
        principal components if ``rank`` is given and at the Euclidean metric otherwise.
    steepness : float, default=2.0
        Steepness of the sigmoid in the cost, see the Notes of `GLVQ`.
    tol : float, default=5e-5
        As in `GLVQ`.
    random_state : int, RandomState instance or None, default=None
        As in `GLVQ`, and for the principal components.

    Attributes
    ----------
    classes_, prototypes_, prototype_labels_, loss_, n_iter_, n_features_in_, feature_names_in_
        As in `GLVQ`.
    omega_ : ndarray of shape (rank, n_features)
        The factor of the metric, normalised so that ``trace(omega_.T @ omega_) == 1``.
    relevances_ : ndarray of shape (n_features,)
        Diagonal of the metric; sums to 1.

    See Also
    --------
    GLVQ : The same with the Euclidean metric.
    LGMLVQ : Learns a metric for each prototype or class.

    Notes
    -----
    The cost is the one of `GLVQ`, with the learnt distance [1]_. A relevance depends on the units
    of its feature, so standardise features before comparing their relevances. Strongly correlated
    features can take over each other's relevance.

    References
    ----------
    .. [1] P. Schneider, M. Biehl and B. Hammer, "Adaptive relevance matrices in learning vector
       quantization", Neural Computation 21(12), 2009.

    Examples
    --------
    Only the first of two features tells the classes apart:

    >>> import numpy as np
    >>> from pertinent.lvq import GMLVQ
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat(["left", "right"], 100)
    >>> X = rng.normal(size=(200, 2))
    >>> X[y == "right", 0] += 4
    >>> model = GMLVQ(random_state=0).fit(X, y)
    >>> model.predict([[0, 9], [4, -9]]).tolist()
    ['left', 'right']
    >>> bool(model.relevances_[0] > 0.9)
    True
    """

    omega_: FloatArray

    def __init__(
        self,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        *,
        rank: int | None = None,
        steepness: float = 2.0,
        max_iter: int = 200,
        tol: float = 5e-5,
        random_state: Any = None,
    ) -> None:
        super().__init__(prototypes_per_class, init, steepness, max_iter, tol, random_state)
        self.rank = rank

    def _prototype_omega(self, prototype_class: IntArray) -> IntArray:
        return np.zeros_like(prototype_class)

    def _set_metric(self, omegas: FloatArray | None, layout: Layout) -> None:
        assert omegas is not None
        self.omega_ = omegas[0]
        self.relevances_ = metric_diagonals(omegas)[0]

    def _metrics(self) -> Iterator[tuple[IntArray, FloatArray]]:
        yield np.arange(len(self.prototypes_)), self.omega_


class LGMLVQ(MatrixPrototypeClassifier):
    """Localized generalized matrix LVQ: each prototype, or each class, has its own metric.

    The squared distance of a sample x to a prototype w is ``(x - w)' Lambda (x - w)`` with
    ``Lambda = omega' omega`` and omega the one of this prototype. The borders between classes are
    then quadratic, not piecewise linear as with `GLVQ` and `GMLVQ`.

    Parameters
    ----------
    prototypes_per_class, init, steepness, max_iter, tol, random_state
        As in `GMLVQ`.
    localization : {"prototype", "class"}, default="prototype"
        Whether each prototype has its own omega or the prototypes of a class share one.
    rank : int, default=None
        Number of rows of each omega, at most (and by default) the number of features. A low rank
        is faster to train. The omegas start at the principal components of X if ``rank`` is given
        and at the Euclidean metric otherwise.

    Attributes
    ----------
    classes_, prototypes_, prototype_labels_, loss_, n_iter_, n_features_in_, feature_names_in_
        As in `GLVQ`.
    omega_ : ndarray of shape (n_omegas, rank, n_features)
        The factors of the metrics, each normalised so that ``trace(omega.T @ omega) == 1``.
    prototype_omega_ : ndarray of shape (n_prototypes,)
        Which omega a prototype uses: ``omega_[prototype_omega_[p]]`` for prototype p.
    relevances_ : ndarray of shape (n_features,)
        Diagonal of the metric, averaged over the omegas; sums to 1.
    local_relevances_ : ndarray of shape (n_omegas, n_features)
        Diagonal of each metric; each row sums to 1.

    See Also
    --------
    GLVQ : The same with the Euclidean metric.
    GMLVQ : The same with one metric for all prototypes.

    Notes
    -----
    The cost is the one of `GLVQ`, with the learnt distances [1]_. As every metric has trace 1, they
    differ in shape only, not in size. There are ``n_omegas * rank * n_features`` numbers to learn:
    with few samples prefer `GMLVQ`, a low ``rank`` or ``localization="class"``.

    References
    ----------
    .. [1] P. Schneider, M. Biehl and B. Hammer, "Adaptive relevance matrices in learning vector
       quantization", Neural Computation 21(12), 2009.

    Examples
    --------
    Each class is a line in its own direction, and the lines cross:

    >>> import numpy as np
    >>> from pertinent.lvq import LGMLVQ
    >>> rng = np.random.default_rng(0)
    >>> long, short = rng.normal(size=200), 0.05 * rng.normal(size=200)
    >>> X = np.column_stack([long, short])
    >>> y = np.repeat(["flat", "steep"], 100)
    >>> X[y == "steep"] = X[y == "steep"][:, ::-1]
    >>> model = LGMLVQ(random_state=0).fit(X, y)
    >>> model.predict([[3, 0], [0, 3]]).tolist()
    ['flat', 'steep']
    >>> model.omega_.shape, model.prototype_omega_.tolist()
    ((2, 2, 2), [0, 1])
    """

    omega_: FloatArray
    prototype_omega_: IntArray
    local_relevances_: FloatArray

    def __init__(
        self,
        prototypes_per_class: Any = 1,
        init: Any = "kmeans",
        *,
        localization: Literal["prototype", "class"] = "prototype",
        rank: int | None = None,
        steepness: float = 2.0,
        max_iter: int = 200,
        tol: float = 5e-5,
        random_state: Any = None,
    ) -> None:
        super().__init__(prototypes_per_class, init, steepness, max_iter, tol, random_state)
        self.localization = localization
        self.rank = rank

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.localization not in ("prototype", "class"):
            raise ValueError(
                f"localization must be 'prototype' or 'class'. Got {self.localization!r} instead."
            )

    def _prototype_omega(self, prototype_class: IntArray) -> IntArray:
        if self.localization == "class":
            return prototype_class
        return np.arange(len(prototype_class))

    def _set_metric(self, omegas: FloatArray | None, layout: Layout) -> None:
        assert omegas is not None
        self.omega_ = omegas
        self.prototype_omega_ = layout.prototype_omega
        self.local_relevances_ = metric_diagonals(omegas)
        self.relevances_ = self.local_relevances_.mean(axis=0)

    def _metrics(self) -> Iterator[tuple[IntArray, FloatArray]]:
        for k, omega in enumerate(self.omega_):
            yield np.flatnonzero(self.prototype_omega_ == k), omega
