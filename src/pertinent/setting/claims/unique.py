"""Whether certificates show that an answer is the only one of its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.gaps import GAP_CONVEX, is_closed, rounding_unit
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.task import Task, distance
from pertinent.proofs import Certificate, LinearProofs
from pertinent.proofs.core import WHOLE, Block
from pertinent.proofs.linear import leaves_one_point
from pertinent.proofs.records import UnknownProofs
from pertinent.setting.answers import Certified
from pertinent.setting.limits import held_limits, positive_limits, turned_off
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.results import Negatives, Positives, Results
from pertinent.setting.setting import Setting

#: Bounds and costs are sums of many terms: what is closer than this, relatively, is the same.
ROUNDED = 1e-12


def is_only_change(setting: Setting, negative: Negatives, limits: Limits) -> bool:
    """Return whether one negative is shown to be the only smallest change."""
    lattice = setting.domain_of(negative.table, changes=True) is not None
    how = limits, lattice, unit_of(negative)
    samples, parts = negative.table.values, negative.certificates
    return is_only_one(setting, parts, samples, negative.values, *how)


def is_only_pair(setting: Setting, question: PositiveQuestion, positive: Positives) -> bool:
    """Return whether both phases of one positive are shown to have one optimum only."""
    table, parts = positive.table, positive.certificates
    baseline = np.broadcast_to(question.baseline, table.values.shape)
    limits = positive_limits(setting, table, question)
    how = setting.domain_of(table, changes=False) is not None, unit_of(positive)
    if not is_only_one(setting, parts, baseline, positive.sparse_values, limits, *how):
        return False
    held = turned_off(setting, positive.sparse_values, question)
    limits, parts = held_limits(setting, *limits, question, held), positive.closeness_certificates
    return is_only_one(setting, parts, table.values, positive.values, limits, *how)


def unit_of(results: Results) -> float:
    """Return the share that rounding takes, in the precision of the samples."""
    return rounding_unit(results.table.single_precision, results.values.shape[1])


def is_only_one(
    setting: Setting,
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
    if not ((setting.weights > 0) | (low == high)).all():
        return False
    if (point == np.clip(center, low, high)).all():
        return True
    if lattice or len(certified) != 1:
        return False
    region = setting.region(certified[0].key, setting.asked_margin)
    cells = cells_of(region)
    if cells is None:
        return False
    blocks = certified[0].certificate.blocks
    # Rounding may put the bound of the point's own piece above its cost.
    cost = float(distance(point, center, setting.weights)[0]) * (1 + ROUNDED)
    whole, known = Task(region, center, setting.weights, low, high), np.zeros(len(cells))
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
