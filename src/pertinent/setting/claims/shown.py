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

    ``good`` tells, for each answer, whether the judge accepted its point, and ``predicted`` the
    class that it has then.
    """

    few: Measure
    near: Measure
    good: BoolArray
    predicted: IntArray


def accepted(
    found: Positives | Negatives,
    kind: Kind,
    labels: IntArray,
    limits: Limits,
    ledger: Ledger | None,
) -> tuple[BoolArray, IntArray]:
    """Return which answers have a point that the judge accepted for their sample, and its class.

    The point must lie within the row's own limits. Without a ledger all that there are: they are
    judged elsewhere.
    """
    if ledger is None:
        return found.found, np.full(len(found), -1)
    place = ledger.predicted(found.values, found.table.values, kind, labels)
    return found.found & (place >= 0) & within(found.values, limits), place


def within(points: FloatArray, limits: Limits) -> BoolArray:
    """Return which points lie within limits."""
    return np.asarray(((points >= limits[0]) & (points <= limits[1])).all(axis=1))


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
    gap = np.full(n, -1.0 if setting.by_search else GAP_NONCONVEX)
    for part in parts:
        convex = not lattice and setting.region(part.key, 0.0).is_convex
        sure = part.certificate.trusted() & (not setting.by_search)
        gap[part.rows] = np.where(sure, GAP_CONVEX if convex else GAP_NONCONVEX, -1.0)
    return gap


def of_samples(found: R, table: Table, labels: IntArray, **how: Any) -> R:
    """Return answers as those of the samples that were asked about, whatever they say.

    Raises
    ------
    RuntimeError
        If a search handed in answers to fewer or more samples: one row would speak for another.
    """
    odd = found.misfit(len(table))
    if odd is not None:
        raise RuntimeError(f"A search answered {len(table)} samples with another number of {odd}.")
    changes: dict[str, Any] = {} if found.table is table else {"table": table}
    own = {"label": labels, **how}
    changes |= {name: own[name] for name in own if not alike(own[name], getattr(found, name))}
    return replace(found, **changes) if changes else found


def stated(setting: Setting, found: R, shown: Shown, **told: Any) -> R:
    """Return the answers with what is shown of them: the status, and numbers where points are.

    ``told`` are fields that follow from the points.
    """
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
    told |= {"status_code": status, "bound": bound, "closeness_bound": close}
    told |= {"objective": few.size, "closeness": near.size, "values": found.values}
    if near is not few and near.foreign:
        told["closeness_certificates"] = tuple(near.parts)
    if not shown.good.all():
        for name in ("objective", "closeness"):
            told[name] = np.where(shown.good, told[name], np.nan)
        for name in told.keys() & {"values", "sparse_values"}:
            told[name] = np.where(shown.good[:, None], told[name], np.nan)
    changes: dict[str, Any] = {
        name: value for name, value in told.items() if not alike(value, getattr(found, name))
    }
    if not changes:
        return found
    if "status_code" in changes:
        changes["unique_code"] = claimed_unique(found.unique_code, status)
        reasons = found.reasons.copy()
        reasons[(status == FAILED) & (said != FAILED)] = Reason(Why.NO_PROOF)
        changes["reasons"] = reasons
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
