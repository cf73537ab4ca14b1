"""Where training starts: parameters, how many prototypes, where they lie, the first omega."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.utils import check_array
from sklearn.utils.extmath import randomized_svd

from pertinent.geometry.arrays import FloatArray, IntArray

INITS = ("kmeans", "mean", "random")

# Several prototypes that start at the same mean would stay together for ever, so each gets a
# random offset of this many standard deviations of its class.
MEAN_SPREAD = 0.1


def is_integer(value: object, at_least: int) -> bool:
    """Return whether value is an int (of Python or NumPy; no bool) and not below a limit.

    Examples
    --------
    >>> is_integer(3, at_least=1), is_integer(0, at_least=1), is_integer(True, at_least=1)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return int(value) >= at_least


def is_real(value: object, above: float) -> bool:
    """Return whether value is a finite number strictly above a limit.

    Examples
    --------
    >>> is_real(0.1, above=0.0), is_real("0.1", above=0.0), is_real(float("inf"), above=0.0)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return above < float(value) < float("inf")


def prototype_counts(prototypes_per_class: Any, classes: npt.NDArray[Any]) -> IntArray:
    """Return how many prototypes each class gets, in the order of ``classes``.

    Examples
    --------
    >>> prototype_counts(2, np.array(["no", "yes"])).tolist()
    [2, 2]
    >>> prototype_counts({"yes": 3, "no": 1}, np.array(["no", "yes"])).tolist()
    [1, 3]
    """
    labels = classes.tolist()
    if isinstance(prototypes_per_class, Mapping):
        counts = _counts_by_label(prototypes_per_class, labels)
    elif isinstance(prototypes_per_class, Sequence | np.ndarray) and not isinstance(
        prototypes_per_class, str
    ):
        counts = list(prototypes_per_class)
        if len(counts) != len(labels):
            raise ValueError(
                f"prototypes_per_class must have one entry for each of the {len(labels)} classes "
                f"{labels}, in this order. Got {len(counts)} entries instead."
            )
    else:
        counts = [prototypes_per_class] * len(labels)
    for count in counts:
        if not is_integer(count, at_least=1):
            raise ValueError(
                "prototypes_per_class must be a positive int, a dict from class label to positive "
                f"int, or a sequence of one positive int per class. Got {prototypes_per_class!r} "
                "instead."
            )
    return np.array([int(count) for count in counts], dtype=np.int64)


def _counts_by_label(counts: Mapping[Any, Any], labels: list[Any]) -> list[Any]:
    by_label = {
        (key.item() if isinstance(key, np.generic) else key): count for key, count in counts.items()
    }
    missing = [label for label in labels if label not in by_label]
    unknown = [label for label in by_label if label not in labels]
    if missing or unknown:
        raise ValueError(
            f"prototypes_per_class must name exactly the classes of y, {labels}. "
            f"Missing: {missing}; not a class: {unknown}."
        )
    return [by_label[label] for label in labels]


def given_prototypes(init: Any, counts: IntArray, n_features: int) -> FloatArray:
    """Return the user's own starting prototypes after checking their shape."""
    prototypes: FloatArray = check_array(init, dtype=np.float64, copy=True, input_name="init")
    expected = (int(counts.sum()), n_features)
    if prototypes.shape != expected:
        raise ValueError(
            f"init as an array must have shape {expected}: one row per prototype, class after "
            f"class in sorted order, {counts.tolist()} rows each (see prototypes_per_class). "
            f"Got shape {prototypes.shape} instead."
        )
    return prototypes


def drawn_prototypes(
    X: FloatArray,
    y: IntArray,
    counts: IntArray,
    init: str,
    classes: npt.NDArray[Any],
    random_state: np.random.RandomState,
) -> FloatArray:
    """Return starting prototypes of all classes, class after class."""
    start = {"kmeans": _cluster_centres, "mean": _spread_means, "random": _random_samples}[init]
    prototypes = []
    for k, count in enumerate(counts.tolist()):
        samples = X[y == k]
        if init != "mean" and len(samples) < count:
            raise ValueError(
                f"init={init!r} needs at least as many samples as prototypes in each class, but "
                f"class {classes.tolist()[k]!r} has {len(samples)} for {count} prototypes. "
                "Lower prototypes_per_class for this class, or pass init='mean'."
            )
        prototypes.append(start(samples, count, random_state))
    return np.vstack(prototypes)


def _cluster_centres(
    samples: FloatArray, count: int, random_state: np.random.RandomState
) -> FloatArray:
    if count == 1:
        return np.asarray(samples.mean(axis=0, keepdims=True))
    clusters = KMeans(count, n_init=1, random_state=random_state).fit(samples)
    return np.asarray(clusters.cluster_centers_, dtype=np.float64)


def _spread_means(
    samples: FloatArray, count: int, random_state: np.random.RandomState
) -> FloatArray:
    means = np.repeat(samples.mean(axis=0, keepdims=True), count, axis=0)
    if count > 1:
        means += MEAN_SPREAD * samples.std(axis=0) * random_state.standard_normal(means.shape)
    return means


def _random_samples(
    samples: FloatArray, count: int, random_state: np.random.RandomState
) -> FloatArray:
    return samples[random_state.choice(len(samples), count, replace=False)]


def initial_omega(X: FloatArray, rank: int, random_state: np.random.RandomState) -> FloatArray:
    """Return the first omega (rank, n_features): the Euclidean metric, as far as rank allows.

    A rectangular omega measures the leading principal components of the centred ``X``.
    """
    n_features = X.shape[1]
    directions = (
        np.eye(n_features) if rank == n_features else _principal_directions(X, rank, random_state)
    )
    return np.asarray(directions / np.sqrt(rank))  # trace(omega' omega) = 1


def _principal_directions(
    X: FloatArray, rank: int, random_state: np.random.RandomState
) -> FloatArray:
    n_found = min(rank, *X.shape)
    _, _, found = randomized_svd(X, n_components=n_found, random_state=random_state)
    if n_found == rank:
        return np.asarray(found, dtype=np.float64)
    # Fewer samples than rank: complete the basis with random orthogonal directions.
    filling = random_state.standard_normal((rank - n_found, X.shape[1]))
    return np.linalg.qr(np.vstack([found, filling]).T)[0].T
