"""Whether there is another answer of the same size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pertinent.checking.findings import HOLDS, REFUTED, UNKNOWN, Finding
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.gaps import GAP_CONVEX, is_closed
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.task import Task, distance
from pertinent.proofs import OPTIMAL, Certificate, LinearProofs
from pertinent.proofs.core import WHOLE, Block
from pertinent.proofs.linear import leaves_one_point
from pertinent.proofs.records import UnknownProofs
from pertinent.setting.answers import Certified
from pertinent.setting.results import Results
from pertinent.setting.setting import Setting

#: Bounds and costs are sums of many terms: what is closer than this, relatively, is the same.
ROUNDED = 1e-12


def unique(
    name: str,
    results: Results,
    only: Callable[[], bool],
    equally_good: Callable[[FloatArray], bool],
) -> list[Finding]:
    """Judge whether there is another answer of the same size, where something is said of it.

    Parameters
    ----------
    name : str
    results : Results
    only : callable
        Whether the certificates show that there is none.
    equally_good : callable
        Whether another point, of shape (1, n_features), is as good an answer.
    """
    code = results.unique_code[0]
    if code == 1:
        return [_the_only_one(f"{name} is the only one of its size", results, only)]
    if code == 0:
        return [_not_the_only_one(f"{name} is not the only one of its size", results, equally_good)]
    return []


def as_good(size: float, best: float) -> bool:
    """Return whether a size is the best one, but for the gap."""
    return bool(size <= best * (1 + GAP_CONVEX) + 1e-12)


def _the_only_one(claim: str, results: Results, only: Callable[[], bool]) -> Finding:
    if results.status_code[0] != OPTIMAL:
        return Finding(claim, REFUTED, "it is not proved smallest")
    if only():
        return Finding(claim, HOLDS)
    return Finding(claim, UNKNOWN, "the certificate alone does not show it")


def _not_the_only_one(
    claim: str, results: Results, equally_good: Callable[[FloatArray], bool]
) -> Finding:
    other = results.second.get(0)
    if other is None or np.shape(other) != results.values.shape[1:]:
        return Finding(claim, REFUTED, "no other is shown")
    other = results.table.as_handed_out(np.asarray(other, dtype=float)[None])
    if (other == results.values).all():
        return Finding(claim, REFUTED, "the other is the same")
    if equally_good(other):
        return Finding(claim, HOLDS)
    return Finding(claim, UNKNOWN, "the other one stands on the very boundary, or beyond")


def is_only_one(
    prepared: Setting,
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
    region = prepared.region(certified[0].key, prepared.asked_margin)
    cells = cells_of(region)
    if cells is None:
        return False
    blocks = certified[0].certificate.blocks
    # Rounding may put the bound of the point's own piece above its cost.
    cost = float(distance(point, center, prepared.weights)[0]) * (1 + ROUNDED)
    whole, known = Task(region, center, prepared.weights, low, high), np.zeros(len(cells))
    for block in blocks:
        if block.piece == WHOLE and not isinstance(block.proofs, UnknownProofs):
            known = np.maximum(known, block.proofs.piece_bounds(whole)[0])
    left = []
    for piece in np.flatnonzero(known <= cost).tolist():
        own = tuple(replace(block, piece=0) for block in blocks if block.piece == piece)
        alone = replace(whole, region=cells[piece])
        if Certificate(1, own).bounds(alone)[0] <= cost:
            left.append((alone, own))
    if len(left) != 1:
        return False
    alone, own = left[0]
    return any(_leaves_one_point(alone, block, point, unit) for block in own)


def _leaves_one_point(task: Task, block: Block, point: FloatArray, unit: float) -> bool:
    """Return whether one proof alone shows its point optimal, and leaves it nowhere to go.

    What else the certificate holds may be better, but says nothing of these multipliers.
    """
    cell, proofs = task.cell, block.proofs
    if not cell.is_linear or not isinstance(proofs, LinearProofs) or len(proofs) != 1:
        return False
    cost, bound = distance(point, task.centers, task.weights), Certificate(1, (block,)).bounds(task)
    if not is_closed(cost, bound, point, task.centers, task.weights, GAP_CONVEX, unit)[0]:
        return False
    multipliers, limits = np.maximum(proofs.multipliers[0], 0.0), (task.lower[0], task.upper[0])
    return leaves_one_point(cell, multipliers, task.centers[0], task.weights, *limits)
