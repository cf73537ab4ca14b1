"""What a user asks for: plausibility by the density of each class, or by blends of real points."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.density.hull import Hulls
from pertinent.density.mixture import Densities
from pertinent.density.recipe import Recipe
from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.tables.features import Features
from pertinent.tables.progress import Progress, told
from pertinent.tables.reading import read_table
from pertinent.tables.table import as_frame


class PlausibilityMethod(StrEnum):
    """How data of a class are described."""

    MIXTURE = "mixture"
    HULL = "hull"


METHODS = tuple(map(str, PlausibilityMethod))


class Plausibility:
    """Keep explanations where data of their class lie.

    Parameters
    ----------
    data : array or DataFrame of shape (n, n_features)
        Training data, in the units of the samples that are explained.
    labels : sequence of n labels
        Their classes.
    n_components : int, "bic" or "cv"
        Components of each class's mixture: as many for all, or chosen for each class by the
        Bayesian information criterion or by cross-validation.
    covariance_type : {"full", "tied", "diag", "spherical"}
    quantile : float in [0, 1]
        How dense: a plausible point is at least as dense as this share of the training points of
        its class, measured by the component that suits each point best.
    projection : None, "pca" or int
        Fit the mixtures on this many principal components ("pca": as many as hold 95% of the
        variance). Directions outside of that space are left free; the promise is about the
        density of the projected point. Bound them by `Constraints` where that matters.
    random_state : int, optional
    method : {"mixture", "hull"}
        "hull" needs no density: a plausible point is a blend (convex combination) of the
        ``n_neighbors`` training points of its class that lie nearest to the sample.
    n_neighbors : int
        For "hull".
    standardize : bool
        Divide each feature by its standard deviation first, so that units do not matter for
        the principal components and for the fit. Turn off for images and the like.
    max_components : int
        Largest number that "bic" and "cv" try.
    reg_covar : float, optional
        Added to the diagonal of every covariance (scikit-learn's parameter of that name). By
        default as little as possible, and more, with a warning, where a component degenerates.
    progress : bool or callable, optional
        True for a bar (extra ``cli``) while mixtures are fitted, False for none; a function is
        called with the number of classes done and of all. By default a bar appears in a terminal
        or a notebook where that takes longer than two seconds.

    Notes
    -----
    The promise is a density. For class k let ``threshold`` be the ``quantile`` of
    ``max_j log(pi_j N_j(z_i))`` over its training points. Each returned point lies in an
    ellipsoid in which one component alone reaches the threshold, and the mixture's density is at
    least that of any of its components; scikit-learn's own ``score_samples`` confirms it for
    every point.

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> plausible = pertinent.Plausibility(X, y, n_components=1)
    >>> pn = pertinent.pertinent_negatives(model, X[:2], target=1, plausibility=plausible)
    >>> pn.status.tolist(), bool((pn.log_density >= pn.density_threshold).all())
    (['optimal', 'optimal'], True)
    >>> bool((plausible.score_samples(pn.points, 1) >= plausible.threshold(1)).all())
    True
    """

    def __init__(
        self,
        data: Any,
        labels: Any,
        n_components: int | str = "bic",
        covariance_type: str = "full",
        quantile: float = 0.5,
        projection: int | str | None = None,
        random_state: int | None = 0,
        *,
        method: str = PlausibilityMethod.MIXTURE.value,
        n_neighbors: int = 10,
        standardize: bool = True,
        max_components: int = 5,
        reg_covar: float | None = None,
        progress: Progress | bool | None = None,
    ) -> None:
        if method not in METHODS:
            raise InputError(f"method must be one of {METHODS}. Got {method!r}.")
        if not n_neighbors >= 1:
            raise InputError(f"n_neighbors must be at least 1. Got {n_neighbors!r}.")
        self.data = data
        self.labels = np.asarray(labels)
        self.method = method
        self.n_neighbors = n_neighbors
        self.progress = progress
        self.recipe = Recipe(
            n_components,
            covariance_type,
            quantile,
            projection,
            random_state,
            standardize,
            max_components,
            reg_covar,
        )
        self.recipe.check()
        if self.labels.ndim != 1 or len(self.labels) != len(data):
            raise InputError(
                f"labels must hold one label for each of the {len(data)} rows of data. "
                f"Got shape {self.labels.shape}."
            )
        self._bound: dict[Any, Densities | Hulls] = {}

    def __repr__(self) -> str:
        if self.method == PlausibilityMethod.HULL:
            return f"Plausibility(method='hull', n_neighbors={self.n_neighbors})"
        r = self.recipe
        return (
            f"Plausibility(n_components={r.n_components!r}, quantile={r.quantile!r}, "
            f"projection={r.projection!r})"
        )

    def relabelled(self, labels_of: Callable[[FloatArray], NDArray[Any]]) -> Plausibility:
        """Return the same with other labels, where those given are numbers that a model predicts.

        For a regressor: the classes of numbers are where they lie beside the range asked for.
        """
        if self.labels.dtype.kind not in "iuf":
            raise InputError(
                "The labels of Plausibility for a regressor are the numbers that it learnt from, "
                f"one for each row of data. Got {self.labels[:3].tolist()!r:.60}."
            )
        other = copy(self)
        other.labels, other._bound = labels_of(self.labels.astype(float)), {}
        return other

    def bind(self, features: Features, classes: Any) -> Densities | Hulls:
        """Return what is asked for in a model's own features and order of classes; remembered."""
        names = np.asarray(classes).tolist()
        key = (features.key, tuple(names))
        if key not in self._bound:
            values = read_table(features, self.data, "Plausibility's data").values
            own = self.labels.tolist()
            rows = [np.flatnonzero([one == label for one in own]) for label in names]
            self._refuse_without_data(names, rows)
            make = self._hulls if self.method == PlausibilityMethod.HULL else self._densities
            self._bound[key] = make(features, values, names, rows)
        return self._bound[key]

    def _refuse_without_data(self, names: list[Any], rows: list[IntArray]) -> None:
        missing = [label for label, own in zip(names, rows, strict=True) if not len(own)]
        if missing:
            raise InputError(
                f"Plausibility has no training points of the classes {missing[:10]}. Give labels "
                f"as the model knows them: {names[:10]}."
            )

    def _densities(
        self, features: Features, values: FloatArray, names: list[Any], rows: list[IntArray]
    ) -> Densities:
        from pertinent.density.fit import fit_class, fit_map

        into = fit_map(values, number_columns(features), features.dim, self.recipe)
        mixtures = []
        with told(self.progress, "Fitting densities") as tell:
            for label, own in zip(names, rows, strict=True):
                mixtures.append(fit_class(into(values[own]), label, self.recipe))
                if tell is not None:
                    tell(len(mixtures), len(names))
        return Densities(into, tuple(mixtures), float(self.recipe.quantile))

    def _hulls(
        self, features: Features, values: FloatArray, names: list[Any], rows: list[IntArray]
    ) -> Hulls:
        if not features.is_plain:
            raise InputError(
                "method='hull' blends training points, and categories cannot be blended. Use "
                "method='mixture', which looks at the numbers only."
            )
        return Hulls(tuple(values[own] for own in rows), tuple(rows), int(self.n_neighbors))

    # -- On its own, without a model ---------------------------------------------------------

    def _alone(self) -> tuple[Features, Densities]:
        frame = as_frame(self.data)
        count = np.shape(self.data)[1]
        names = frame.columns if frame is not None else [f"x{i}" for i in range(count)]
        features = Features(tuple(names))
        found = self.bind(features, np.unique(self.labels))
        if not isinstance(found, Densities):
            raise InputError("method='hull' has no density.")
        return features, found

    def _place(self, label: Any) -> int:
        known: list[Any] = np.unique(self.labels).tolist()
        if label not in known:
            raise InputError(f"There are no training points of class {label!r}. Known: {known}.")
        return known.index(label)

    def threshold(self, label: Any) -> float:
        """Return the log-density that plausible points of a class must have."""
        return self._alone()[1].mixtures[self._place(label)].threshold

    def transform(self, X: Any) -> FloatArray:
        """Return samples in the space of the mixtures."""
        features, found = self._alone()
        return found.into(read_table(features, X).values)

    def mixture(self, label: Any) -> Any:
        """Return the fitted mixture of a class as scikit-learn's GaussianMixture."""
        return self._alone()[1].mixtures[self._place(label)].judge()

    def score_samples(self, X: Any, label: Any) -> FloatArray:
        """Return the log-densities of samples under the mixture of a class."""
        features, found = self._alone()
        return found.log_density(self._place(label), read_table(features, X).values)


def number_columns(features: Features) -> IntArray:
    """Return the columns that hold numbers rather than categories."""
    if features.is_plain:
        return np.arange(features.dim)
    numbers = [features.first[j] for j in range(len(features)) if not features.is_category(j)]
    if not numbers:
        raise InputError("Plausibility needs at least one feature that is a number.")
    return np.array(numbers, dtype=np.int64)
