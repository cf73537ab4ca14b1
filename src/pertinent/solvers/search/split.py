"""How a relaxed point becomes an allowed one, or two cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, Rows
from pertinent.geometry.domain import Bins, Domain
from pertinent.proofs.cases.branch import CHANGE, LEAF, SPLIT
from pertinent.solvers.problem import Task
from pertinent.solvers.search.narrow import CHANGED, UNCHANGED, UNDECIDED, Boxes
from pertinent.solvers.tolerances import ON_LATTICE


@dataclass(frozen=True, eq=False)
class Splits(Rows):
    """How each of some cases is split.

    Parameters
    ----------
    kind : ndarray of int8
        SPLIT, CHANGE, or LEAF as long as nothing is chosen.
    place : ndarray of int
        The column or the unit.
    low, high : ndarray
        Of a SPLIT: ``x[place] <= low`` or ``x[place] >= high``.
    """

    kind: CodeArray
    place: IntArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def none(cls, n: int) -> Self:
        """Return no split of any of n cases."""
        kind = np.full(n, LEAF, dtype=np.int8)
        return cls(kind, np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n))

    @property
    def is_leaf(self) -> BoolArray:
        """The cases for which nothing is chosen."""
        return np.asarray(self.kind == LEAF)

    def choose(
        self,
        rows: IntArray,
        kind: int,
        place: IntArray | int,
        low: FloatArray | float = 0.0,
        high: FloatArray | float = 0.0,
    ) -> None:
        """Choose the splits of some cases."""
        self.kind[rows], self.place[rows], self.low[rows], self.high[rows] = kind, place, low, high


def children(boxes: Boxes, splits: Splits) -> Boxes:
    """Return all left cases, then all right ones.

    A SPLIT has ``x[place] <= low`` on its left and ``x[place] >= high`` on its right; a CHANGE has
    the unit ``place`` unchanged on its left and changed on its right.
    """
    n, place = len(boxes), splits.place
    both = Boxes.stack([boxes, boxes])
    split = np.flatnonzero(splits.kind == SPLIT)
    j = place[split]
    both.upper[split, j] = np.minimum(both.upper[split, j], splits.low[split])
    both.lower[n + split, j] = np.maximum(both.lower[n + split, j], splits.high[split])
    change = np.flatnonzero(splits.kind == CHANGE)
    both.state[change, place[change]] = UNCHANGED
    both.state[n + change, place[change]] = CHANGED
    return both


def rounded_boxes(domain: Domain, boxes: Boxes, points: FloatArray, task: Task) -> Boxes:
    """Return the boxes in which everything discrete is fixed near the relaxed points.

    Groups take their largest part. A number on a lattice is rounded away from the center: a
    relaxed point moves as little as its rows allow, so a little more is likely to satisfy them.
    """
    lower, upper, state = boxes.lower.copy(), boxes.upper.copy(), boxes.state.copy()
    every = np.arange(len(points))
    for group in domain.groups:
        can = upper[:, group] >= 1.0
        chosen = group[np.where(can, points[:, group], -1.0).argmax(axis=1)]
        upper[:, group], lower[:, group] = 0.0, 0.0
        upper[every, chosen], lower[every, chosen] = 1.0, 1.0
    j = domain.lattice
    if len(j):
        value = _away(domain, j, points[:, j], task.centers[boxes.row][:, j], boxes)
        lower[:, j] = upper[:, j] = np.clip(value, lower[:, j], upper[:, j])
    _on_one_side(domain, boxes, points, lower, upper)
    for bins in domain.bins:
        if bins.column in domain.lattice:  # a number that was rounded may have left its bin
            own_bin = np.arange(len(bins.columns)) == bins.of(lower[:, bins.column])[:, None]
            lower[:, bins.columns] = upper[:, bins.columns] = own_bin
    if state.shape[1] and domain.max_changes is not None:
        state = _keep_largest(domain, boxes, points, task)
    return Boxes(boxes.row, lower, upper, state)


def _on_one_side(
    domain: Domain, boxes: Boxes, points: FloatArray, lower: FloatArray, upper: FloatArray
) -> None:
    """Let numbers with a gap around their own value stay there, or move on one side of it."""
    if domain.own is None or domain.gap is None:
        return
    j = np.setdiff1d(domain.confined, domain.lattice)
    own, x = domain.own[boxes.row][:, j], points[:, j]
    below, above = (side[boxes.row][:, j] for side in domain.gap)
    falls, rises = x < (own + below) / 2, x > (own + above) / 2
    least = np.where(rises, above, np.where(falls, -np.inf, own))
    most = np.where(falls, below, np.where(rises, np.inf, own))
    lower[:, j] = np.clip(least, lower[:, j], upper[:, j])
    upper[:, j] = np.clip(most, lower[:, j], upper[:, j])


def _away(
    domain: Domain, j: IntArray, values: FloatArray, centers: FloatArray, boxes: Boxes
) -> FloatArray:
    below, above = domain.floor(j, values, boxes.row), domain.ceil(j, values, boxes.row)
    tolerance = ON_LATTICE * (1.0 + np.abs(values))
    nearest = np.where(values - below <= above - values, below, above)
    outward = np.where(values > centers, above, below)
    return np.where(np.abs(values - nearest) <= tolerance, nearest, outward)


def _keep_largest(domain: Domain, boxes: Boxes, points: FloatArray, task: Task) -> CodeArray:
    """Let the units that moved most change, as many as may, and keep the others."""
    moves, state = unit_moves(domain, boxes, points, task), boxes.state
    moves = np.where(state == CHANGED, np.inf, np.where(state == UNDECIDED, moves, -1.0))
    rank = np.argsort(np.argsort(-moves, axis=1, kind="stable"), axis=1, kind="stable")
    allowed = (rank < (domain.max_changes or 0)) & (moves > 0)
    return np.where(allowed, CHANGED, UNCHANGED).astype(np.int8)


def unit_moves(domain: Domain, boxes: Boxes, points: FloatArray, task: Task) -> FloatArray:
    """Return how much each unit differs from the row's own values, in units of cost."""
    out = np.zeros((len(points), len(domain.units)))
    if domain.own is None:
        return out
    moved = np.abs(points - domain.own[boxes.row]) * task.weights
    np.add.at(out.T, domain.unit_of_column, moved.T)
    return out


def choose_splits(domain: Domain, boxes: Boxes, points: FloatArray, task: Task) -> Splits:
    """Return how to split each case where its point breaks a rule; LEAF where it breaks none."""
    splits = Splits.none(len(points))
    if boxes.state.shape[1]:
        _by_change(domain, boxes, points, task, splits)
    _by_group(domain, boxes, points, splits)
    _by_lattice(domain, boxes, points, task, splits)
    return splits


def _by_change(
    domain: Domain, boxes: Boxes, points: FloatArray, task: Task, splits: Splits
) -> None:
    """Decide the undecided unit that moves most, where the rules of change are broken."""
    own = domain.own[boxes.row] if domain.own is not None else points
    moves = unit_moves(domain, boxes, points, task)
    open_ = np.where(boxes.state == UNDECIDED, moves, 0.0)
    broken = np.zeros(len(points), dtype=bool)
    if domain.max_changes is not None:
        broken |= ((moves > 0) & (boxes.state != UNCHANGED)).sum(axis=1) > domain.max_changes
    for group in domain.together:
        unit = domain.units[group[0]]
        shown = [(domain.owner == f) & ~domain.follows for f in group]
        moved = np.stack([(points != own)[:, mine].any(axis=1) for mine in shown], axis=1)
        uneven = moved.any(axis=1) & ~moved.all(axis=1) & (boxes.state[:, unit] == UNDECIDED)
        broken |= uneven
        open_[:, unit] = np.where(uneven, np.maximum(open_[:, unit], 1e300), open_[:, unit])
        _push_off(domain, boxes, points, own, group, splits)
    rows = np.flatnonzero(broken & splits.is_leaf & (open_ > 0).any(axis=1))
    splits.choose(rows, CHANGE, open_[rows].argmax(axis=1))


def _push_off(
    domain: Domain,
    boxes: Boxes,
    points: FloatArray,
    own: FloatArray,
    group: IntArray,
    splits: Splits,
) -> None:
    """Split a number that must change: it lies below or above its own value."""
    must = boxes.state[:, domain.units[group[0]]] == CHANGED
    for j in np.flatnonzero(np.isin(domain.owner, group) & ~domain.in_group & ~domain.follows):
        below, above = domain.next_to_own(int(j), own[:, j])
        room = ON_LATTICE * (above - below)
        close = (points[:, j] > below + room) & (points[:, j] < above - room)
        rows = np.flatnonzero(must & close & splits.is_leaf)
        splits.choose(rows, SPLIT, int(j), below[rows], above[rows])


def _by_group(domain: Domain, boxes: Boxes, points: FloatArray, splits: Splits) -> None:
    """Split the group that is divided most evenly, at its largest part.

    Where the group tells on which side of its edges a number is cut off, split the number.
    """
    if not domain.groups:
        return
    largest = np.stack([points[:, group].max(axis=1) for group in domain.groups], axis=1)
    rows = np.flatnonzero((largest.min(axis=1) < 1 - ON_LATTICE) & splits.is_leaf)
    which = largest[rows].argmin(axis=1)
    for k, group in enumerate(domain.groups):
        mine = rows[which == k]
        if len(mine):
            splits.choose(mine, SPLIT, group[points[np.ix_(mine, group)].argmax(axis=1)], 0.0, 1.0)
    for bins in domain.bins:
        if bins.excess is not None:
            mine = rows[np.isin(splits.place[rows], bins.columns)]
            edge = _edge_to_split(bins, boxes.take(mine), points[mine])
            splits.choose(mine, SPLIT, bins.column, edge, edge)


def _edge_to_split(bins: Bins, boxes: Boxes, points: FloatArray) -> FloatArray:
    """Return the edge of the outer bin, of those in reach, that has more of the 1."""
    part = np.where(boxes.upper[:, bins.columns] >= 1.0, points[:, bins.columns], -1.0)
    return np.asarray(np.where(part[:, -1] > part[:, 0], bins.edges[-1], bins.edges[0]))


def _by_lattice(
    domain: Domain, boxes: Boxes, points: FloatArray, task: Task, splits: Splits
) -> None:
    """Split the number farthest, in cost, from what is allowed."""
    confined = domain.confined
    if not len(confined):
        return
    values = points[:, confined]
    below = domain.floor(confined, values, boxes.row)
    above = domain.ceil(confined, values, boxes.row)
    off = np.minimum(values - below, above - values)
    away = off > ON_LATTICE * (1.0 + np.abs(values))
    off = np.where(away, off * task.weights[confined], 0.0)
    rows = np.flatnonzero((off > 0).any(axis=1) & splits.is_leaf)
    which = off[rows].argmax(axis=1)
    splits.choose(rows, SPLIT, confined[which], below[rows, which], above[rows, which])


def split_on_edges(domain: Domain, boxes: Boxes, points: FloatArray, splits: Splits) -> None:
    """Decide the bin of a number that its relaxed bin does not hold.

    A relaxed number on an edge is in either bin, within rounding: ``x = 3`` in a bin that ends
    below 3. Where a change has a smallest size it must go on, and costs what the relaxation does
    not see until the bin is decided.
    """
    every = np.arange(len(points))
    for bins in (bins for bins in domain.bins if bins.excess is None):  # those share their edges
        chosen = points[:, bins.columns].argmax(axis=1)
        column, x = bins.columns[chosen], points[:, bins.column]
        open_ = boxes.lower[every, column] < boxes.upper[every, column]
        outside = (x < bins.low[chosen]) | (x > bins.high[chosen])
        rows = np.flatnonzero(open_ & outside & splits.is_leaf)
        splits.choose(rows, SPLIT, column[rows], 0.0, 1.0)
