"""Points proposed by projection: the nearest ones of the regions, not yet judged by the model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pertinent.answering.blends import nearest_blends
from pertinent.answering.conflict import why_none
from pertinent.density import Hulls
from pertinent.density.hull import Blend
from pertinent.geometry.arrays import CodeArray, FloatArray, IntArray
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed
from pertinent.geometry.region import Region
from pertinent.geometry.task import Task, distance
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Answers, Ask, Certified, blank, merged
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.solvers import Projections, project


def solve(prepared: Setting, ask: Ask, used: FloatArray) -> Answers:
    """Solve the rows, those of the same class and margin together."""
    if not len(ask):
        return blank(ask.centers)
    k, margin = ask.labels[0], used[0]
    if len(ask) == 1 or ((ask.labels == k).all() and (used == margin).all()):
        return _solve_alike(prepared, ask, int(k), float(margin))
    parts = [
        (rows, _solve_alike(prepared, _part(prepared, ask, rows), label, value))
        for label, value, rows in _alike(ask.labels, used)
    ]
    return merged(ask.centers, parts)


def _part(prepared: Setting, ask: Ask, rows: IntArray) -> Ask:
    """Return some of the questions, their samples only where solving looks at them."""
    if isinstance(prepared.within, Hulls):
        return ask.take(rows)
    low, high = ask.low[rows], ask.high[rows]
    labels, rules = ask.labels[rows], ask.rules.take(rows)
    return Ask(ask.table, ask.centers[rows], ask.kind, labels, low, high, rules)


def _solve_alike(prepared: Setting, ask: Ask, k: int, used: float) -> Answers:
    """Solve with the margin ``used``; bounds and status speak of the margin asked for."""
    key = RegionKey(ask.kind, k)
    region = prepared.region(key, used)
    asked, n = prepared.asked_margin, len(ask)
    wide = region if used == asked else prepared.region(key, asked)
    blends: dict[int, Blend] = {}
    if isinstance(prepared.within, Hulls):
        found, bound, status, blends = _blended(
            prepared, ask, region, prepared.owners(key, used), wide
        )
    else:
        found = project(
            ask.centers,
            region,
            prepared.weights,
            ask.low,
            ask.high,
            prepared.options,
            domain=ask.rules.domain,
            proved_on=wide,
        )
        bound, status = found.bound, found.status
    convex = region.is_convex and ask.rules.domain is None
    gap = np.full(n, GAP_CONVEX if convex else GAP_NONCONVEX)
    # A bound that only repeats a solver's word proves nothing: no gap counts as closed.
    repeated = ~found.certificate.trusted()
    if np.count_nonzero(repeated):
        gap[repeated] = -1.0
        status = np.where(repeated & (status == OPTIMAL), FEASIBLE, status).astype(np.int8)
    certified = Certified(key, np.arange(n), found.certificate)
    reasons, blend = np.empty((2, n), dtype=object)
    for i, own in blends.items():
        blend[i] = own
    if np.count_nonzero(status > FEASIBLE):
        _give_reasons(prepared, reasons, found, ask, key)
    return Answers(
        points=found.points,
        objective=found.objective,
        bound=bound,
        status=status,
        unique=found.unique,
        label=np.full(n, -1),  # the model's own word is still to come
        reason=reasons,
        second=found.second,
        certificates=(certified,),
        blend=blend,
        gap=gap,
    )


def _blended(
    prepared: Setting, ask: Ask, region: Region, owner: IntArray, wide: Region
) -> tuple[Projections, FloatArray, CodeArray, dict[int, Blend]]:
    """Return projections onto blends of training points, with bounds and statuses."""
    assert isinstance(prepared.within, Hulls)
    args = (ask.centers, ask.low, ask.high)
    samples = ask.table.values
    found, blends = nearest_blends(prepared.within, samples, region, owner, prepared.weights, args)
    bound = found.certificate.bounds(Task.of(wide, args[0], prepared.weights, args[1], args[2]))
    # Nothing inside the tightened region does not mean nothing at all.
    gone = (found.status == INFEASIBLE) & np.isfinite(bound)
    status = np.where(gone, FAILED, found.status)
    has = np.flatnonzero(found.status <= FEASIBLE)
    points = found.points[has]
    cost = found.objective[has] = distance(points, args[0][has], prepared.weights)
    closed = is_closed(cost, bound[has], points, args[0][has], prepared.weights, GAP_CONVEX)
    status[has] = np.where(closed, OPTIMAL, FEASIBLE)
    bound[has] = np.minimum(bound[has], cost)
    return found, bound, status, blends


def _give_reasons(
    prepared: Setting,
    reasons: NDArray[np.object_],
    found: Projections,
    ask: Ask,
    key: RegionKey,
) -> None:
    near = ask.table.values if isinstance(prepared.within, Hulls) else ask.centers
    for i in np.flatnonzero(found.status == INFEASIBLE):
        part = Certified(key, np.array([i]), found.certificate.take(np.array([i])))
        reasons[i] = why_none(prepared, part, near[i], (ask.low[i], ask.high[i]))
    for i in np.flatnonzero(found.status == FAILED):
        reasons[i] = Reason(Why.NO_PROOF)


def _alike(labels: IntArray, used: FloatArray) -> Iterator[tuple[int, float, IntArray]]:
    """Yield each class and margin with its rows."""
    for k in np.unique(labels):
        own = np.flatnonzero(labels == k)
        for margin in np.unique(used[own]):
            yield int(k), float(margin), own[used[own] == margin]
