"""What is shown of answers, and answers that claim no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Limits, alike
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Certified, claimed_unique
from pertinent.setting.claims.bounds import limit_distances
from pertinent.setting.judge import Ledger
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

R = TypeVar("R", Positives, Negatives)

#: How far a distance over some features may miss a bound by rounding alone.
ROUNDED = 1e-12


@dataclass(frozen=True, eq=False)
class Measure:
    """What is shown of one objective of n answers.

    Parameters
    ----------
    size : ndarray of shape (n,)
        The objective of each point; NaN where there is none.
    bound : ndarray of shape (n,)
        What is proved of it.
    closed : ndarray of bool, shape (n,)
        Whether the bound meets the size.
    parts : tuple of Certified
        The certificates that speak of it.
    foreign : str
        Why a certificate does not, in words; "" if all do.
    """

    size: FloatArray
    bound: FloatArray
    closed: BoolArray
    parts: Sequence[Certified] = field(default=(), kw_only=True)
    foreign: str = field(default="", kw_only=True)


@dataclass(frozen=True, eq=False)
class Shown:
    """What is shown of n answers: of their objective, of their closeness, and of their points.

    ``good`` tells, for each answer, whether the judge accepted its point.
    """

    few: Measure
    near: Measure
    good: BoolArray


def accepted(
    found: Positives | Negatives,
    points: FloatArray,
    kind: Kind,
    labels: IntArray,
    limits: Limits,
    ledger: Ledger | None,
) -> BoolArray:
    """Return which answers have a point that the judge accepted, within the row's own limits.

    Without a ledger all that there are: they are judged elsewhere.
    """
    if ledger is None:
        return found.found
    low, high = limits
    inside = ((points >= low) & (points <= high)).all(axis=1)
    return np.asarray(found.found & inside & ledger.holds(points, kind, labels))


def measured(
    setting: Setting,
    parts: Sequence[Certified],
    points: FloatArray,
    centers: FloatArray,
    limits: Limits,
    bound: FloatArray,
    said: FloatArray,
    *,
    single: bool,
    gap: FloatArray,
    foreign: str = "",
) -> Measure:
    """Return the distances, and whether bounds meet them in the precision of the samples.

    ``said`` is what was claimed: bounds that show less are raised to the distance of the
    limits, which no point undercuts.
    """
    weights, unit = setting.weights, rounding_unit(single, points.shape[1])
    size = distance(points, centers, weights)
    closed = is_closed(size, bound, points, centers, weights, gap, unit)
    if not closed.all() or (said > bound).any():
        bound = np.maximum(bound, limit_distances(setting, centers, limits))
        closed = is_closed(size, bound, points, centers, weights, gap, unit)
    return Measure(size, bound, closed, parts=parts, foreign=foreign)


def gaps_of(setting: Setting, parts: Sequence[Certified], lattice: bool, n: int) -> FloatArray:
    """Return the relative gap within which each answer is optimal; -1: it never is."""
    gap = np.full(n, GAP_NONCONVEX)
    for part in parts:
        convex = not lattice and setting.region(part.key, 0.0).is_convex
        sure = part.certificate.trusted()
        gap[part.rows] = np.where(sure, GAP_CONVEX if convex else GAP_NONCONVEX, -1.0)
    return gap


def of_samples(found: R, table: Table, labels: IntArray, **how: Any) -> R:
    """Return answers as those of the samples that were asked about, whatever they say."""
    changes: dict[str, Any] = {} if found.table is table else {"table": table}
    own = {"label": labels, **how}
    changes |= {name: own[name] for name in own if not alike(own[name], getattr(found, name))}
    return replace(found, **changes) if changes else found


def stated(setting: Setting, found: R, shown: Shown) -> R:
    """Return the answers with what is shown of them: the status, and numbers where points are."""
    said, few, near = found.status_code, shown.few, shown.near
    status = _status(found, shown)
    bound = at_most(found.bound, few.bound, few.size)
    close = bound if near is few else at_most(found.closeness_bound, near.bound, near.size)
    if setting.may_fold_badly and len(found):
        # What the model predicts there is its own rounding: proofs about its region say nothing.
        wrong = setting.misplaced(found.table, found.label)
        status = np.where(wrong & (status == OPTIMAL), FEASIBLE, status)
        status = np.where(wrong & (status == INFEASIBLE), FAILED, status).astype(np.int8)
        bound, close = np.where(wrong, 0.0, bound), np.where(wrong, 0.0, close)
    told: dict[str, Any] = {"status_code": status, "bound": bound, "closeness_bound": close}
    told |= {"objective": few.size, "closeness": near.size}
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
        gone = found.found & ~shown.good
        if gone.any():
            changes |= _without(found, gone)
            for name in ("objective", "closeness"):
                changes[name] = np.where(gone, np.nan, told[name])
    return replace(found, **changes)


def _status(found: Positives | Negatives, shown: Shown) -> CodeArray:
    """Return the status that is shown: what was said, or less."""
    said, closed = found.status_code, shown.few.closed & shown.near.closed
    if shown.good.all() and (closed | (said != OPTIMAL)).all():
        return said
    status = np.where((said == OPTIMAL) & ~closed, FEASIBLE, said)
    status = np.where((said == INFEASIBLE) & ~np.isinf(shown.few.bound), FAILED, status)
    return np.where(found.found & ~shown.good, FAILED, status).astype(np.int8)


def at_most(said: FloatArray, proved: FloatArray, size: FloatArray) -> FloatArray:
    """Return the smallest of what is said, proved and, where there is a point, its size."""
    return np.asarray(np.fmin(np.fmin(said, proved), size))


def _without(found: Positives | Negatives, gone: BoolArray) -> dict[str, Any]:
    """Return the fields of answers whose points are taken back."""
    out: dict[str, Any] = {"values": np.where(gone[:, None], np.nan, found.values)}
    if isinstance(found, Negatives):
        return out | {"changed": found.changed & ~gone[:, None]}
    out["sparse_values"] = np.where(gone[:, None], np.nan, found.sparse_values)
    return out | {"kept": found.kept & ~gone[:, None], "trivial": found.trivial & ~gone}
