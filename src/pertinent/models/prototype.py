"""Nearest-prototype classifiers: the label of the nearest prototype wins.

With one metric for all prototypes the distances differ by linear functions, and the region of a
class is a union of polyhedra, one for each of its prototypes (the paper's algorithm 2). With a
metric for each prototype (LGMLVQ) the differences are quadratic.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign
from pertinent.geometry.region import Region
from pertinent.geometry.winners import MetricRegion, Scores, WinnerRegion
from pertinent.models.registry import class_index, model_classes, register_model

#: The smallest margin of models that compute in single precision, whatever they are given.
SINGLE = 1e-6


def nearest_region(
    prototypes: FloatArray,
    is_own: BoolArray,
    margin: float,
    metric: FloatArray | None = None,
    handicap: FloatArray | None = None,
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
    own, rivals = Scores(W[is_own], b[is_own]), Scores(W[~is_own], b[~is_own])
    return WinnerRegion(own, rivals).tighten(margin)


def first_nearest_region(
    prototypes: FloatArray,
    is_own: BoolArray,
    margin: float,
    metric: FloatArray | None = None,
    handicap: FloatArray | None = None,
) -> Region:
    """Return the same for a model that takes the first of equally near prototypes.

    Coinciding prototypes are equally far from everywhere: but for the first of them (the first
    with the smallest handicap), they win nowhere and have no cell.
    """
    rank = np.arange(len(prototypes))
    if handicap is not None:
        rank = np.argsort(handicap, kind="stable")
    # Adding 0 turns -0.0 into 0.0: the two coincide.
    kept = np.sort(rank[np.unique(prototypes[rank] + 0.0, axis=0, return_index=True)[1]])
    if handicap is not None:
        handicap = handicap[kept]
    return nearest_region(prototypes[kept], is_own[kept], margin, metric, handicap)


def _is_label(labels: Any, label: Any) -> BoolArray:
    return np.array([value == label for value in np.asarray(labels).tolist()], dtype=bool)


@register_model("pertinent.lvq.GLVQ", subclasses=False)
def glvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a class of GLVQ: Euclidean distances."""
    own = _is_label(model.prototype_labels_, label)
    return first_nearest_region(_floats(model.prototypes_), own, margin)


@register_model("pertinent.lvq.GMLVQ", subclasses=False)
def gmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a class of GMLVQ: one learnt metric for all prototypes."""
    own = _is_label(model.prototype_labels_, label)
    return first_nearest_region(_floats(model.prototypes_), own, margin, _floats(model.omega_))


@register_model("pertinent.lvq.LGMLVQ", subclasses=False)
def lgmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of a class of LGMLVQ: a learnt metric for each prototype or class."""
    own = _is_label(model.prototype_labels_, label)
    omegas = _floats(model.omega_)[model.prototype_omega_]
    return local_region(_floats(model.prototypes_), omegas, own, margin)


def local_region(
    prototypes: FloatArray, omegas: FloatArray, is_own: BoolArray, margin: float
) -> Region:
    """Return where the nearest prototype is an own one, each with a metric of its own.

    Parameters
    ----------
    prototypes : ndarray of shape (n_prototypes, n_features)
    omegas : ndarray of shape (n_prototypes, rank, n_features)
    is_own : ndarray of bool, shape (n_prototypes,)
    margin : float
    """
    items = [(omega, omega @ p) for omega, p in zip(omegas, prototypes, strict=True)]
    own = tuple(item for item, mine in zip(items, is_own, strict=True) if mine)
    rivals = tuple(item for item, mine in zip(items, is_own, strict=True) if not mine)
    places = prototypes[is_own], prototypes[~is_own]
    return MetricRegion(own, rivals, places).tighten(margin)


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


@register_model("sklvq.models.GLVQ", subclasses=False)
def sklvq_glvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklvq's GLVQ (its distance must be the squared Euclidean one)."""
    _require_sklvq_distance(model, "squared-euclidean", "euclidean")
    return first_nearest_region(_floats(model.prototypes_), _sklvq_own(model, label), margin)


@register_model("sklvq.models.GMLVQ", subclasses=False)
def sklvq_gmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklvq's GMLVQ."""
    _require_sklvq_distance(model, "adaptive-squared-euclidean")
    own, omega = _sklvq_own(model, label), _floats(model.omega_)
    return first_nearest_region(_floats(model.prototypes_), own, margin, omega)


@register_model("sklvq.models.LGMLVQ", subclasses=False)
def sklvq_lgmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklvq's LGMLVQ, with one matrix a prototype or a class."""
    _require_sklvq_distance(model, "local-adaptive-squared-euclidean")
    own, omegas = _sklvq_own(model, label), _floats(model.omega_)
    if len(omegas) != len(own):
        omegas = omegas[np.asarray(model.prototypes_labels_)]
    return local_region(_floats(model.prototypes_), omegas, own, margin)


def _sklvq_own(model: Foreign, label: Any) -> BoolArray:
    """``prototypes_labels_`` of sklvq holds places in ``classes_``, not labels."""
    return np.asarray(np.asarray(model.prototypes_labels_) == class_index(model, label))


def _require_sklvq_distance(model: Foreign, *known: str) -> None:
    if model.distance_type not in known:
        raise UnsupportedModelError(
            f"{type(model).__name__}(distance_type={model.distance_type!r}): supported is "
            f"{' or '.join(repr(name) for name in known)}."
        )


@register_model("sklearn_lvq.glvq.GlvqModel", subclasses=False)
def sklearn_lvq_glvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklearn-lvq's GlvqModel."""
    return first_nearest_region(_floats(model.w_), _is_label(model.c_w_, label), margin)


@register_model("sklearn_lvq.grlvq.GrlvqModel", subclasses=False)
def sklearn_lvq_grlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklearn-lvq's GrlvqModel: a relevance for each feature."""
    own = _is_label(model.c_w_, label)
    metric = np.diag(np.sqrt(_floats(model.lambda_)))
    return first_nearest_region(_floats(model.w_), own, margin, metric)


@register_model("sklearn_lvq.gmlvq.GmlvqModel", subclasses=False)
def sklearn_lvq_gmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklearn-lvq's GmlvqModel."""
    own = _is_label(model.c_w_, label)
    return first_nearest_region(_floats(model.w_), own, margin, _floats(model.omega_))


@register_model("sklearn_lvq.lgmlvq.LgmlvqModel", subclasses=False)
def sklearn_lvq_lgmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of sklearn-lvq's LgmlvqModel, with one matrix a prototype or a class."""
    own = _is_label(model.c_w_, label)
    omegas = [_floats(omega) for omega in model.omegas_]
    if len(omegas) != len(own):
        places = [model_classes(model).tolist().index(c) for c in np.asarray(model.c_w_).tolist()]
        omegas = [omegas[place] for place in places]
    return local_region(_floats(model.w_), np.stack(omegas), own, margin)


@register_model("prosemble.models.glvq.GLVQ", subclasses=False)
def prosemble_glvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of prosemble's GLVQ (its distance must be the squared Euclidean one)."""
    distance = getattr(model.distance_fn, "__name__", repr(model.distance_fn))
    if distance != "squared_euclidean_distance_matrix":
        raise UnsupportedModelError(
            f"GLVQ(distance_fn={distance}): supported is the default, the squared Euclidean one."
        )
    own = _is_label(model.prototype_labels_, label)
    return first_nearest_region(_floats(model.prototypes_), own, _single(margin))


@register_model("prosemble.models.matrix_lvq.GMLVQ", subclasses=False)
def prosemble_gmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of prosemble's GMLVQ, whose omega has features as rows."""
    own = _is_label(model.prototype_labels_, label)
    return first_nearest_region(
        _floats(model.prototypes_), own, _single(margin), _floats(model.omega_).T
    )


@register_model("prosemble.models.local_matrix_lvq.LGMLVQ", subclasses=False)
def prosemble_lgmlvq_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of prosemble's LGMLVQ, with one matrix a prototype."""
    own = _is_label(model.prototype_labels_, label)
    omegas = _floats(model.omegas_).transpose(0, 2, 1)
    return local_region(_floats(model.prototypes_), omegas, own, _single(margin))


def _single(margin: float) -> float:
    """Return a margin that covers the rounding of a model that computes in single precision.

    The last bit of such a model's distances depends on the other samples of the batch.
    """
    return float(np.sign(margin) * max(abs(margin), SINGLE))


def _floats(array: Any) -> FloatArray:
    return np.ascontiguousarray(array, dtype=float)
