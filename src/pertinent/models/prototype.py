"""Nearest-prototype classifiers: the label of the nearest prototype wins.

With one metric for all prototypes the distances differ by linear functions, and the region of a
class is a union of polyhedra, one for each of its prototypes (the paper's algorithm 2). With a
metric for each prototype (LGMLVQ) the differences are quadratic.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.affine import Scores
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign
from pertinent.geometry.quadratic import Squares, Sums
from pertinent.geometry.region import Region
from pertinent.geometry.rounding import COARSER
from pertinent.geometry.winners import MetricRegion, WinnerRegion
from pertinent.models.registry import class_index, model_classes, register_model


class AddsUp(Enum):
    """How a model adds up squared distances: it decides by what their rounding is measured."""

    #: ``|x|^2 - 2 x'p + |p|^2``, whose terms are large where the origin is far.
    EXPANDED = "expanded"
    #: The squares of differences, ``x - p`` or ``(x - m) - (p - m)`` with m amid the prototypes.
    DIFFERENCES = "differences"
    #: Differences, after distances to the centers of balls have left out most of the items.
    BALLS = "balls"


def nearest_region(
    prototypes: FloatArray,
    is_own: BoolArray,
    margin: float,
    metric: FloatArray | None = None,
    handicap: FloatArray | None = None,
    *,
    adds_up: AddsUp = AddsUp.EXPANDED,
    coarser: float = 1.0,
) -> Region:
    """Return where the nearest prototype is one of those marked as own.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, n_features)
    is_own : ndarray of bool, shape (n_prototypes,)
    margin : float
    metric : ndarray of shape (rank, n_features), optional
        ``omega``: distances are ``|omega (x - p)|^2``. Euclidean by default.
    handicap : ndarray of shape (n_prototypes,), optional
        Added to each squared distance.
    adds_up : AddsUp
    coarser : float
        How many times more than in double precision the model rounds.

    Notes
    -----
    ``|omega (x - p)|^2 = |omega x|^2 - (2 (omega p)'omega x - |omega p|^2)``: the nearest
    prototype has the largest linear score.
    """
    # Seen from the middle of the prototypes: far from the origin, |p|^2 would swamp the rest.
    middle = prototypes.mean(axis=0)
    images = prototypes - middle if metric is None else (prototypes - middle) @ metric.T
    W = 2 * images if metric is None else 2 * images @ metric
    b = -(images * images).sum(axis=1) - W @ middle
    if handicap is not None:
        b = b - handicap
    there = -(images * images).sum(axis=1)
    squares = _squares(metric, middle, adds_up, coarser)
    sizes = Sums(squares, np.zeros_like(middle), 0.0)(prototypes)
    if adds_up is AddsUp.BALLS:
        sizes += squares[-1](np.abs(prototypes).max(axis=0, initial=0.0)[None])
    if handicap is not None:
        there = there - handicap
        sizes += 2 * np.abs(handicap)
    own, rivals = (
        Scores(W[some], b[some], sizes[some], (middle, there[some])) for some in (is_own, ~is_own)
    )
    sums = Sums(squares, np.zeros_like(middle), 0.0)
    return WinnerRegion(own, rivals, sums=sums).tighten(margin)


def _squares(
    metric: FloatArray | None, middle: FloatArray, adds_up: AddsUp, coarser: float
) -> tuple[Squares, ...]:
    """Return what is added up for ``|omega (x - p)|^2``, of which x and p have each their part.

    ``(a + b)^2 <= 2 a^2 + 2 b^2``. Differences count twice: the model's, and those of our own
    scores. Of the expanded form each of three sums is rounded d times and added to the next:
    ``(d + 1/2)`` of its own terms, and two of the differences. Images under a metric are sums
    themselves: three times as much.
    """
    d, factor = len(middle), 2 * (1 if metric is None else 3)
    S = np.ones(d) if metric is None else np.abs(metric)
    none = np.zeros(len(S))
    squares = (Squares(S, middle, none).times(factor * (1 + coarser)),)
    if adds_up is AddsUp.DIFFERENCES:
        return squares
    share = coarser * (d + 0.5) / (d + 4)
    return *squares, Squares(S, np.zeros(d), none).times(factor * share)


def first_nearest_region(
    prototypes: FloatArray,
    is_own: BoolArray,
    margin: float,
    metric: FloatArray | None = None,
    handicap: FloatArray | None = None,
    *,
    adds_up: AddsUp = AddsUp.EXPANDED,
    coarser: float = 1.0,
) -> Region:
    """Return the same for a model that takes the first of equally near prototypes.

    Coinciding prototypes are equally far from everywhere: but for the first of them (the first
    with the smallest handicap), they win nowhere and have no cell.
    """
    rank = np.arange(len(prototypes))
    if handicap is not None:
        rank = np.argsort(handicap, kind="stable")
    first: dict[bytes, int] = {}
    # Adding 0 turns -0.0 into 0.0: the two coincide.
    for i, row in zip(rank.tolist(), prototypes[rank] + 0.0, strict=True):
        first.setdefault(row.tobytes(), i)
    kept = np.sort(list(first.values()))
    if handicap is not None:
        handicap = handicap[kept]
    own = is_own[kept]
    return nearest_region(
        prototypes[kept], own, margin, metric, handicap, adds_up=adds_up, coarser=coarser
    )


def local_region(
    prototypes: FloatArray,
    omegas: FloatArray,
    is_own: BoolArray,
    margin: float,
    *,
    adds_up: AddsUp = AddsUp.EXPANDED,
    coarser: float = 1.0,
) -> Region:
    """Return where the nearest prototype is an own one, each with a metric of its own.

    As in `nearest_region`, and ``omegas`` of shape (n_prototypes, rank, n_features).
    """
    items = [(omega, omega @ p) for omega, p in zip(omegas, prototypes, strict=True)]
    own = tuple(item for item, mine in zip(items, is_own, strict=True) if mine)
    rivals = tuple(item for item, mine in zip(items, is_own, strict=True) if not mine)
    places = prototypes[is_own], prototypes[~is_own]
    middle = prototypes.mean(axis=0)
    far = np.abs(prototypes - middle).max(axis=0, initial=0.0)
    sums = []
    for omega in omegas:
        squares = _squares(omega, middle, adds_up, coarser)
        # What is added up for a prototype is at most that for the farthest in every feature.
        most = sum(
            float(square((square.origin + far + np.abs(middle - square.origin))[None])[0])
            for square in squares
        )
        sums.append(Sums(squares, np.zeros_like(middle), most))
    ours = tuple(size for size, mine in zip(sums, is_own, strict=True) if mine)
    theirs = tuple(size for size, mine in zip(sums, is_own, strict=True) if not mine)
    return MetricRegion(own, rivals, places, sums=(ours, theirs)).tighten(margin)


@register_model("sklearn.neighbors.NearestCentroid", subclasses=False)
def nearest_centroid_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a class of NearestCentroid with the Euclidean metric."""
    if model.metric != "euclidean":
        raise UnsupportedModelError(
            f"NearestCentroid(metric={model.metric!r}) has regions that are neither polyhedra nor "
            "quadratic; supported is metric='euclidean'."
        )
    centroids = _floats(model.centroids_)
    own = np.arange(len(centroids)) == class_index(model, label)
    priors = getattr(model, "class_prior_", None)
    if priors is None or np.isclose(priors, 1 / len(centroids)).all():
        return first_nearest_region(centroids, own, margin)
    # With unequal priors: |(x - c) / s|^2 - 2 log(prior), features of no spread unscaled.
    spread = np.where(model.within_class_std_dev_ != 0, model.within_class_std_dev_, 1.0)
    with np.errstate(divide="ignore"):
        handicap = -2.0 * np.log(np.asarray(priors, dtype=float))
    possible = np.isfinite(handicap)
    return first_nearest_region(
        centroids[possible], own[possible], margin, np.diag(1.0 / spread), handicap[possible]
    )


class Learnt(NamedTuple):
    """The prototypes of a model, each with its label, and how distances are measured.

    ``omega`` is None (Euclidean), a matrix for all, or one for each prototype or class; ``single``
    says that the model computes in single precision, whatever it is given. The sums of a model that
    is not known to add up differences count as expanded, which covers both.
    """

    prototypes: Any
    labels: Any
    omega: Any = None
    single: bool = False
    adds_up: AddsUp = AddsUp.EXPANDED


def _reads(*names: str) -> Callable[[Callable[[Foreign], Learnt]], Callable[[Foreign], Learnt]]:
    """Register the function that reads the prototypes of some classes."""

    def add(read: Callable[[Foreign], Learnt]) -> Callable[[Foreign], Learnt]:
        register_model(*names, subclasses=False)(partial(_learnt_region, read))
        return read

    return add


def _learnt_region(
    read: Callable[[Foreign], Learnt], model: Foreign, label: Any, margin: float
) -> Region:
    learnt = read(model)
    labels, prototypes = np.asarray(learnt.labels).tolist(), _floats(learnt.prototypes)
    own = np.array([value == label for value in labels], dtype=bool)
    # Samples in single precision are added up so where the prototypes are, too.
    single = learnt.single or np.asarray(learnt.prototypes).dtype == np.float32
    coarser = COARSER if single else 1.0
    omega = None if learnt.omega is None else _floats(learnt.omega)
    if omega is None or omega.ndim == 2:
        return first_nearest_region(
            prototypes, own, margin, omega, adds_up=learnt.adds_up, coarser=coarser
        )
    if len(omega) != len(own):
        omega = omega[[class_index(model, value) for value in labels]]
    return local_region(prototypes, omega, own, margin, adds_up=learnt.adds_up, coarser=coarser)


@_reads("pertinent.lvq.GLVQ", "pertinent.lvq.GMLVQ", "pertinent.lvq.LGMLVQ")
def _own(model: Foreign) -> Learnt:
    omega: Any = getattr(model, "omega_", None)
    if hasattr(model, "prototype_omega_"):
        omega = omega[model.prototype_omega_]
    prototypes = np.asarray(model.prototypes_, dtype=float)
    return Learnt(prototypes, model.prototype_labels_, omega, adds_up=AddsUp.DIFFERENCES)


@_reads("sklvq.models.GLVQ", "sklvq.models.GMLVQ", "sklvq.models.LGMLVQ")
def _sklvq(model: Foreign) -> Learnt:
    known = {
        "GLVQ": ("squared-euclidean", "euclidean"),
        "GMLVQ": ("adaptive-squared-euclidean",),
        "LGMLVQ": ("local-adaptive-squared-euclidean",),
    }[type(model).__name__]
    if model.distance_type not in known:
        raise UnsupportedModelError(
            f"{type(model).__name__}(distance_type={model.distance_type!r}): supported is "
            f"{' or '.join(repr(name) for name in known)}."
        )
    labels = model_classes(model)[np.asarray(model.prototypes_labels_)]  # it keeps their places
    return Learnt(model.prototypes_, labels, None if len(known) == 2 else model.omega_)


@_reads(
    "sklearn_lvq.glvq.GlvqModel",
    "sklearn_lvq.grlvq.GrlvqModel",
    "sklearn_lvq.gmlvq.GmlvqModel",
    "sklearn_lvq.lgmlvq.LgmlvqModel",
)
def _sklearn_lvq(model: Foreign) -> Learnt:
    kind, omega = type(model).__name__, None
    if kind == "GrlvqModel":
        omega = np.diag(np.sqrt(_floats(model.lambda_)))
    elif kind == "GmlvqModel":
        omega = model.omega_
    elif kind == "LgmlvqModel":
        omega = np.stack([_floats(one) for one in model.omegas_])
    return Learnt(model.w_, model.c_w_, omega)


@_reads("prosemble.models.glvq.GLVQ")
def _prosemble_glvq(model: Foreign) -> Learnt:
    distance = getattr(model.distance_fn, "__name__", repr(model.distance_fn))
    if distance != "squared_euclidean_distance_matrix":
        raise UnsupportedModelError(
            f"GLVQ(distance_fn={distance}): supported is the default, the squared Euclidean one."
        )
    return Learnt(model.prototypes_, model.prototype_labels_, single=True)


@_reads("prosemble.models.matrix_lvq.GMLVQ")
def _prosemble_gmlvq(model: Foreign) -> Learnt:
    omega = _floats(model.omega_).T  # features are its rows
    return Learnt(model.prototypes_, model.prototype_labels_, omega, single=True)


@_reads("prosemble.models.local_matrix_lvq.LGMLVQ")
def _prosemble_lgmlvq(model: Foreign) -> Learnt:
    omegas = _floats(model.omegas_).transpose(0, 2, 1)
    return Learnt(model.prototypes_, model.prototype_labels_, omegas, single=True)


def _floats(array: Any) -> FloatArray:
    return np.ascontiguousarray(array, dtype=float)
