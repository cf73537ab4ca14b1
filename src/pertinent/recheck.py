"""Results judged again: bounds recomputed from the model and the certificates, without a solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray, Limits
from pertinent.answers import Certified
from pertinent.certificate import Certificate, LinearProofs
from pertinent.certificate._cardinality import StrictProofs
from pertinent.certificate._check import GAP_CONVEX, is_closed
from pertinent.certificate._fewest import FewestProofs
from pertinent.certificate._hull import HullProofs
from pertinent.certificate._proofs import WHOLE, Block, NoProofs
from pertinent.certificate._records import UnknownProofs
from pertinent.certificate._sufficient import RivalSetProofs, SufficientProofs
from pertinent.certificate._unique import leaves_one_point
from pertinent.exact.strict import owner_of
from pertinent.explanation import Negatives, Positives
from pertinent.negative import negative_limits
from pertinent.plausibility.hull import Hulls
from pertinent.positive import PositiveQuestion, held_limits, positive_limits
from pertinent.prepared import Prepared
from pertinent.projection.problem import distance
from pertinent.regions import Cell, Region

#: Proofs of a number of features, which must not be read as a distance.
COUNTS = (StrictProofs, FewestProofs, SufficientProofs, RivalSetProofs)


def recheck_negatives(
    prepared: Prepared, negatives: Negatives, untouched: BoolArray | None = None
) -> FloatArray:
    """Return the lower bound that each row's certificate proves for its negative."""
    samples = negatives.table.values
    limits = negative_limits(prepared, negatives.table, untouched)
    margin = prepared.asked_margin
    return _bounds(prepared, negatives.certificates, samples, limits, margin)


def recheck_positives(
    prepared: Prepared, question: PositiveQuestion, positives: Positives
) -> tuple[FloatArray, FloatArray]:
    """Return what the certificates prove: the bounds of phase 1 and of phase 2 (eq. 8)."""
    samples = positives.table.values
    question = question.in_precision_of(positives.table)
    margin = prepared.asked_margin
    lower, upper = positive_limits(prepared, positives.table, question)
    centers = np.broadcast_to(question.baseline, samples.shape)
    first = _bounds(prepared, positives.certificates, centers, (lower, upper), margin)
    off = np.abs(positives.sparse_values - question.baseline) <= question.off_tol
    held = off & positives.found[:, None]
    second = _bounds(
        prepared,
        positives.closeness_certificates,
        samples,
        held_limits(lower, upper, question, held),
        margin,
    )
    apart = np.abs(samples - question.baseline)
    spent = (np.where(held, prepared.weights, 0.0) * apart).sum(axis=1)
    return first, second - spent


def _bounds(
    prepared: Prepared,
    certified: Sequence[Certified],
    centers: FloatArray,
    limits: Limits,
    margin: float,
) -> FloatArray:
    low, high = (np.broadcast_to(limit, centers.shape) for limit in limits)
    # No point within the limits is closer than the nearest one of them.
    outside = np.maximum(np.maximum(low - centers, centers - high), 0.0)
    proved: FloatArray = (prepared.weights * outside).sum(axis=1)
    for part in certified:
        if not len(part.rows):
            continue
        region, _ = prepared.region(*part.key, margin)
        rows = part.rows
        shown = part.certificate.bounds(
            region, centers[rows], prepared.weights, low[rows], high[rows]
        )
        proved[rows] = np.maximum(proved[rows], shown)
    return proved


# -- What a stored certificate speaks of -----------------------------------------------------


def not_about(
    prepared: Prepared,
    question: PositiveQuestion,
    certified: Sequence[Certified],
    keys: Sequence[tuple[str, int]],
    goal: str,
    sample: FloatArray,
) -> str:
    """Return in words why certificates of one row do not speak of what was asked; "" if they do.

    Parameters
    ----------
    prepared : Prepared
    question : PositiveQuestion
    certified : sequence of Certified
    keys : sequence of tuple
        The regions that they may speak of.
    goal : {"distance", "strict", "size", "cost", "sufficient"}
        What they must bound: numbers of features and distances must not be mixed up.
    sample : ndarray of shape (n_features,)
    """
    if len(certified) > 1:
        return "there is more than one certificate for one answer"
    for part in certified:
        if part.key not in keys:
            return f"the certificate is about {_in_words(prepared, part.key)}"
        for block in part.certificate.blocks:
            if not _fits(prepared, question, part.key, block.proofs, goal):
                return "the certificate proves something else"
            for proofs in _nested(block.proofs):
                if isinstance(proofs, HullProofs) and not _own_corners(
                    prepared, part.key, block, proofs, sample
                ):
                    return "the certificate is about other training points"
    return ""


def _in_words(prepared: Prepared, key: tuple[str, int]) -> str:
    kind, place = key
    known = 0 <= place < len(prepared.classes)
    name = repr(prepared.classes.tolist()[place]) if known else f"number {place}"
    return f"class {name}" if kind == "is" else f"all classes but {name}"


def _fits(
    prepared: Prepared,
    question: PositiveQuestion,
    key: tuple[str, int],
    proofs: Any,
    goal: str,
) -> bool:
    """Return whether proofs are of the kind that answers the question, and about its numbers."""
    if isinstance(proofs, NoProofs | UnknownProofs):
        return True
    if goal == "distance":
        return not any(isinstance(inner, COUNTS) for inner in _nested(proofs))
    if goal == "sufficient":
        return isinstance(proofs, SufficientProofs if key[0] == "is" else RivalSetProofs)
    if goal == "strict":
        if not isinstance(proofs, StrictProofs) or proofs.listed:
            return False
        same = np.array_equal(proofs.baseline, question.baseline)
        owner, own = proofs.owner, owner_of(prepared)
        grouped = owner is own if own is None or owner is None else np.array_equal(owner, own)
        return same and proofs.off_tol == question.off_tol and grouped
    if not isinstance(proofs, FewestProofs) or any(a.listed for a in proofs.arguments):
        return False
    same = np.array_equal(proofs.rest, question.baseline[None])
    return same and proofs.off_tol == question.off_tol and proofs.goal == goal


def _nested(value: Any) -> Iterator[Any]:
    """Yield proofs and the proofs inside them."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from _nested(item)
    elif is_dataclass(value):
        yield value
        for f in fields(value):
            yield from _nested(getattr(value, f.name))


def _own_corners(
    prepared: Prepared,
    key: tuple[str, int],
    block: Block,
    proofs: HullProofs,
    sample: FloatArray,
) -> bool:
    """Return whether a proof about blends is about the neighbours that may be blended."""
    if not isinstance(prepared.within, Hulls):
        return False
    owner: IntArray = prepared.region(*key, prepared.asked_margin)[1]
    k = int(owner[block.piece])
    near = prepared.within.nearest(k, sample, prepared.weights)
    return np.array_equal(proofs.corners, prepared.within.points[k][near][None])


# -- Whether there is no other answer of the same size ---------------------------------------


def is_only_one(
    prepared: Prepared,
    certified: Sequence[Certified],
    center: FloatArray,
    point: FloatArray,
    limits: Limits,
    lattice: bool,
    unit: float,
) -> bool:
    """Return whether one row's certificate shows that its point is the only nearest one.

    All arrays have one row. False says that this was not shown, not that there are others.
    """
    low, high = (np.broadcast_to(limit, center.shape) for limit in limits)
    if not ((prepared.weights > 0) | (low == high)).all():
        return False
    if (point == np.clip(center, low, high)).all():
        return True
    if lattice or len(certified) != 1:
        return False
    region, _ = prepared.region(*certified[0].key, prepared.asked_margin)
    blocks = certified[0].certificate.blocks
    cost = distance(point, center, prepared.weights)
    known = np.zeros(len(region))
    for block in blocks:
        if block.piece == WHOLE and not isinstance(block.proofs, UnknownProofs):
            args = (center, prepared.weights, low, high)
            known = np.maximum(known, block.proofs.piece_bounds(region, *args)[0])
    left = []
    for piece in np.flatnonzero(known <= cost[0]).tolist():
        own = tuple(replace(block, piece=0) for block in blocks if block.piece == piece)
        alone = Region((region.cells[piece],), region.dim)
        bound = Certificate(1, own).bounds(alone, center, prepared.weights, low, high)
        if bound[0] <= cost[0]:
            left.append((alone.cells[0], own, bound))
    if len(left) != 1:
        return False
    cell, own, bound = left[0]
    closed = is_closed(cost, bound, point, center, prepared.weights, GAP_CONVEX, unit)[0]
    return bool(closed) and any(
        _is_vertex(prepared, cell, block.proofs, center, (low, high)) for block in own
    )


def _is_vertex(
    prepared: Prepared,
    cell: Cell,
    proofs: Any,
    center: FloatArray,
    limits: Limits,
) -> bool:
    """Return whether the multipliers leave no direction in which an optimum could move."""
    if not cell.is_linear or not isinstance(proofs, LinearProofs):
        return False
    low, high = (limit[0] for limit in limits)
    multipliers = np.maximum(proofs.multipliers[0], 0.0)
    return leaves_one_point(cell, multipliers, center[0], prepared.weights, low, high)
