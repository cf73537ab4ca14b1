"""What certificates show of answers, and answers that claim no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Limits, alike
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, ROUNDING, is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.proofs import (
    FAILED,
    FEASIBLE,
    INFEASIBLE,
    OPTIMAL,
    FewestProofs,
    SeveralProofs,
    StrictProofs,
)
from pertinent.proofs.core import WHOLE
from pertinent.proofs.supports.sufficient import RivalSetProofs, SufficientProofs
from pertinent.setting.answers import Certified, claimed_unique
from pertinent.setting.judge import Ledger
from pertinent.setting.reasons.implausible import is_about_neighbours
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.recheck import (
    limit_distances,
)
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting

R = TypeVar("R", Positives, Negatives)

#: Proofs of a number of features, which must not be read as a distance.
COUNTS = (StrictProofs, FewestProofs, SufficientProofs, RivalSetProofs)
#: How far a distance over some features may miss a bound by rounding alone.
ROUNDED = 1e-12


@dataclass(frozen=True, eq=False)
class Asked:
    """What was asked of n samples, and which points the judge accepted."""

    setting: Setting
    samples: FloatArray
    labels: IntArray
    ledger: Ledger

    def about(
        self,
        parts: Sequence[Certified],
        kind: Kind,
        labels: IntArray,
        fits: Callable[[Any, IntArray], bool],
    ) -> tuple[Certified, ...]:
        """Return the certificates that speak of the region asked for, by proofs that fit."""
        return tuple(
            part
            for part in parts
            if part.key.kind is kind
            and bool((labels[part.rows] == part.key.place).all())
            and all(fits(b.proofs, part.rows[b.rows]) for b in part.certificate.blocks)
            and self._is_of_neighbours(part)
        )

    def _is_of_neighbours(self, part: Certified) -> bool:
        """Return whether what is said of blends is about the neighbours that may be blended."""
        if not isinstance(self.setting.within, Hulls):
            return True
        owner = self.setting.owners(part.key, self.setting.asked_margin)
        for block in part.certificate.blocks:
            place = int(owner[block.piece]) if block.piece != WHOLE else -1
            for i, row in enumerate(part.rows[block.rows]):
                one = block.proofs.take(np.array([i]))
                if not is_about_neighbours(self.setting, place, one, self.samples[row]):
                    return False
        return True

    def gaps(self, parts: Sequence[Certified], lattice: bool, n: int) -> FloatArray:
        """Return the relative gap within which each answer is optimal; -1: it never is."""
        gap = np.full(n, GAP_NONCONVEX)
        for part in parts:
            convex = not lattice and self.setting.region(part.key, 0.0).is_convex
            sure = part.certificate.trusted()
            gap[part.rows] = np.where(sure, GAP_CONVEX if convex else GAP_NONCONVEX, -1.0)
        return gap

    def shown(
        self,
        found: Positives | Negatives,
        points: FloatArray,
        centers: FloatArray,
        limits: Limits,
        bound: FloatArray,
        gap: FloatArray,
        said: FloatArray,
    ) -> Shown:
        """Return the distances, and whether bounds meet them in the precision of the samples.

        ``said`` is what was claimed: bounds that show less are raised to the distance of the
        limits, which no point undercuts.
        """
        weights, unit = self.setting.weights, ROUNDING
        if found.table.single_precision:
            unit = rounding_unit(True, points.shape[1])
        size = distance(points, centers, weights)
        closed = is_closed(size, bound, points, centers, weights, gap, unit)
        if not closed.all() or (said > bound).any():
            bound = np.maximum(bound, limit_distances(self.setting, centers, limits))
            closed = is_closed(size, bound, points, centers, weights, gap, unit)
        return Shown(size, bound, closed)


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown of distances: their size, a bound, and whether it meets the size."""

    size: FloatArray
    bound: FloatArray
    closed: BoolArray


def is_distance(proofs: Any, rows: IntArray) -> bool:
    """Return whether proofs speak of distances, not of numbers of features."""
    if isinstance(proofs, SeveralProofs):
        return all(is_distance(part, rows) for _, part in proofs.parts)
    return not isinstance(proofs, COUNTS)


def accepted(
    asked: Asked,
    found: Positives | Negatives,
    points: FloatArray,
    kind: Kind,
    labels: IntArray,
    limits: Limits,
) -> BoolArray:
    """Return which answers have a point that the judge accepted, within the row's own limits."""
    low, high = limits
    inside = ((points >= low) & (points <= high)).all(axis=1)
    return np.asarray(found.found & inside & asked.ledger.holds(points, kind, labels))


def status_of(
    found: Positives | Negatives, good: BoolArray, closed: BoolArray, none: BoolArray
) -> CodeArray:
    """Return the status that is shown: what was said, or less."""
    said = found.status_code
    if good.all() and (closed | (said != OPTIMAL)).all():
        return said
    status = np.where((said == OPTIMAL) & ~closed, FEASIBLE, said)
    status = np.where((said == INFEASIBLE) & ~none, FAILED, status)
    return np.where(found.found & ~good, FAILED, status).astype(np.int8)


def at_most(said: FloatArray, proved: FloatArray, size: FloatArray) -> FloatArray:
    """Return the smallest of what is said, proved and, where there is a point, its size."""
    return np.asarray(np.fmin(np.fmin(said, proved), size))


def stated(asked: Asked, found: R, status: CodeArray, good: BoolArray, **numbers: FloatArray) -> R:
    """Return the answers with the status, and the numbers where there is a point."""
    said = found.status_code
    if asked.setting.may_fold_badly and len(found):
        # What the model predicts there is its own rounding: proofs about its region say nothing.
        wrong = asked.setting.misplaced(found.table, asked.labels)
        status = np.where(wrong & (status == OPTIMAL), FEASIBLE, status)
        status = np.where(wrong & (status == INFEASIBLE), FAILED, status).astype(np.int8)
        for name in ("bound", "closeness_bound"):
            numbers[name] = np.where(wrong, 0.0, numbers[name])
    told = {"status_code": status, "label": asked.labels, **numbers}
    changes: dict[str, Any] = {
        name: value for name, value in told.items() if not alike(value, getattr(found, name))
    }
    if not changes:
        return found
    if not np.array_equal(said, status):
        changes["unique_code"] = claimed_unique(found.unique_code, status)
        reasons = found.reasons.copy()
        reasons[(status == FAILED) & (said != FAILED)] = Reason(Why.NO_PROOF)
        changes["reasons"] = reasons
        gone = found.found & ~good
        if gone.any():
            changes |= _without(found, gone)
            for name in ("objective", "closeness"):
                changes[name] = np.where(gone, np.nan, numbers[name])
    return replace(found, **changes)


def _without(found: Positives | Negatives, gone: BoolArray) -> dict[str, Any]:
    """Return the fields of answers whose points are taken back."""
    out: dict[str, Any] = {"values": np.where(gone[:, None], np.nan, found.values)}
    if isinstance(found, Negatives):
        return out | {"changed": found.changed & ~gone[:, None]}
    out["sparse_values"] = np.where(gone[:, None], np.nan, found.sparse_values)
    return out | {"kept": found.kept & ~gone[:, None], "trivial": found.trivial & ~gone}
