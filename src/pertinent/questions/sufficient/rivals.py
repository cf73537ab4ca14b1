"""Sufficient sets for unions of polyhedra and boxes: hit every rival.

A rival is a point of another class within the bounds. A set of features is sufficient iff each
rival differs from the sample in one of them, so the smallest set that hits all rivals is sought.

- Boxes (trees): the rival of a leaf that differs least is the sample clipped into the leaf, so
  all rivals that matter are known at once.
- Polyhedra: a rival that agrees with the set proposed so far is a projection; they are found one
  after the other, until there is none left.

Rivals that prove a set necessary lie in another class by the margin that rounding needs; those
that a set must hit to be called sufficient may come as close as that to the other class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.region import Cell, Region
from pertinent.proofs import Block, Certificate
from pertinent.questions.sufficient.worst import Suffices, Varying
from pertinent.questions.supports.closed_forms import boxes_of
from pertinent.questions.supports.smallest import Supports, smallest
from pertinent.questions.supports.subsets import Budget, Gains
from pertinent.questions.tolerances import MOST_RIVALS
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.solvers import project
from pertinent.solvers.search.engine import Problem, search
from pertinent.tables.features import Features


class State(Enum):
    """How far the search for one sample's set is."""

    OPEN = "open"  #: there may be rivals that the set does not rule out
    DONE = "done"  #: no rival is left
    NONE = "none"  #: the sample is its own rival: no set suffices
    STOPPED = "stopped"  #: the search gave up
    FAILED = "failed"  #: a solver gave neither a rival nor a proof that there is none


@dataclass(eq=False)
class _Row:
    """One sample: the rivals found, and the smallest set that hits them."""

    place: int
    sample: FloatArray
    budget: Budget
    features: Features
    hits: dict[tuple[int, bytes], Supports]
    rivals: list[FloatArray] = field(default_factory=list)
    sure: list[bool] = field(default_factory=list)
    size: int = 0
    mask: BoolArray = field(default=None)  # type: ignore[arg-type]
    multipliers: FloatArray | None = None
    state: State = State.OPEN

    def __post_init__(self) -> None:
        self.mask = np.zeros(len(self.features), dtype=bool)

    def differs(self, rivals: FloatArray) -> BoolArray:
        """Return the features in which rivals differ from the sample."""
        return self.features.by_feature(rivals != self.sample)

    def meet(self, rivals: FloatArray, sure: bool) -> None:
        """Take in rivals, and propose the smallest set that hits all."""
        alike = ~self.differs(rivals).any(axis=1)
        if alike.any():
            # Nothing tells the sample from its rival: not even all features suffice.
            same = rivals[alike]
            self.state, self.rivals, self.sure = State.NONE, list(same[:1]), [sure]
            return
        self.rivals += list(rivals)
        self.sure += [sure] * len(rivals)
        if len(self.rivals) > MOST_RIVALS:
            self.state = State.STOPPED
            return
        if self.rivals:
            hit = self._smallest(self.differs(np.array(self.rivals)))
            self.size, self.multipliers = int(hit.bound[0]), hit.extra.get((0, 0))
            if hit.found[0]:
                self.mask = hit.mask[0]
            else:
                self.state = State.STOPPED

    def _smallest(self, sets: BoolArray) -> Supports:
        """Return the smallest set that hits all; samples with the same rivals ask once."""
        asked = self.size, sets.tobytes()
        if asked not in self.hits:
            self.hits[asked] = smallest_hitting(sets, self.size, self.budget)
        return self.hits[asked]

    def proof(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the rivals that are surely of another class, and the weights of their rows."""
        rivals = np.array(self.rivals).reshape(-1, len(self.sample))
        sure = np.array(self.sure, dtype=bool)
        if self.multipliers is None or not len(self.multipliers) or not sure.all():
            return rivals[sure], None
        return rivals, self.multipliers


@dataclass(frozen=True, eq=False)
class _Others:
    """Where other classes are: surely, and possibly."""

    sure: Region
    wide: Region

    def boxes(self) -> list[Sequence[Cell]] | None:
        """Return the cells of both; None where some are not boxes."""
        known = [boxes_of(region) for region in (self.sure, self.wide)]
        boxes = [cells for cells in known if cells is not None]
        return boxes if len(boxes) == len(known) else None


def hit_rivals(asked: Varying) -> Suffices:
    """Return the fewest features that leave no room for another class."""
    setting, table, k = asked.setting, asked.table, asked.k
    margin = setting.margin_for(table)
    # A margin that was asked for makes rivals of whatever comes closer than that.
    inner = -margin if setting.asked_margin > 0 else margin
    others = _Others(setting.rivals(k, inner), setting.rivals(k, -margin))
    hits: dict[tuple[int, bytes], Supports] = {}
    shared = setting.features, hits
    rows = [_Row(i, x, asked.effort.budget(), *shared) for i, x in enumerate(table.values)]
    boxes = others.boxes() if asked.domain is None else None
    if boxes is None:
        meeting = _Meeting(others, asked)
        search(meeting, rows)
        return _answers(rows, Certificate(len(rows), tuple(meeting.none_left)))
    ends = [
        (np.array([cell.lower for cell in cells]), np.array([cell.upper for cell in cells]))
        for cells in boxes
    ]
    for row, low, high in zip(rows, asked.lower, asked.upper, strict=True):
        _meet_boxes(row, ends, low, high)
    return _answers(rows, None)


def _meet_boxes(row: _Row, boxes: Sequence[Limits], low: FloatArray, high: FloatArray) -> None:
    """Meet the sample clipped into every leaf of another class that the bounds leave.

    ``boxes`` are the ends of the leaves that surely are of another class, and possibly.
    """
    for (lowest, highest), sure in zip(boxes, (True, False), strict=True):
        if row.state is State.OPEN and len(lowest):
            floor, ceiling = np.maximum(lowest, low), np.minimum(highest, high)
            possible = (floor <= ceiling).all(axis=1)
            rivals = np.clip(row.sample, floor[possible], ceiling[possible])
            rivals = rivals[minimal_sets(rivals != row.sample)]
            unmet = ((rivals == row.sample) | ~row.mask).all(axis=1)
            if sure or unmet.any():
                row.meet(rivals if sure else rivals[unmet], sure)
    if row.state is State.OPEN:
        row.state = State.DONE


@dataclass(eq=False)
class _Meeting(Problem[list[_Row]]):
    """The search of all samples: each meets its nearest rival that agrees with its set."""

    others: _Others
    asked: Varying
    #: Proofs that samples have no rival even in the widest sense.
    none_left: list[Block] = field(default_factory=list)

    def advance(self, chosen: list[_Row]) -> list[_Row]:
        """Let samples meet rivals; return those whose set is still to be tried."""
        left = self._without_rival(chosen, self.others.sure, True)
        for row in self._without_rival(left, self.others.wide, False):
            row.state = State.DONE
        return [row for row in chosen if row.state is State.OPEN]

    def leave(self, waiting: list[_Row]) -> None:
        """Give up the samples whose set is still to be tried."""
        for row in waiting:
            row.state = State.STOPPED

    def _without_rival(self, rows: list[_Row], region: Region, sure: bool) -> list[_Row]:
        """Let each sample meet its nearest rival; return those for which there is none."""
        if not rows:
            return []
        here, setting = np.array([row.place for row in rows]), self.asked.setting
        some = self.asked.take(here)
        x, fixed = some.table.values, setting.features.by_column(np.array([r.mask for r in rows]))
        low, high = np.where(fixed, x, some.lower), np.where(fixed, x, some.upper)
        options = replace(setting.options, unique=False)
        found = project(x, region, setting.weights, low, high, options, domain=some.domain)
        none = np.isinf(found.believed)
        if not sure:
            blocks = found.certificate.take(np.flatnonzero(none)).blocks
            self.none_left += [replace(b, rows=here[none][b.rows]) for b in blocks]
        for j in np.flatnonzero(~none):
            if np.isfinite(found.objective[j]):
                rows[j].meet(found.points[j : j + 1], sure)
            else:
                rows[j].state = State.FAILED
        return [rows[j] for j in np.flatnonzero(none)]


def minimal_sets(sets: BoolArray) -> IntArray:
    """Return the places of the sets that contain no other one, the first of equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.questions.sufficient.rivals import minimal_sets
    >>> minimal_sets(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)).tolist()
    [1, 3]
    """
    _, first = np.unique(sets, axis=0, return_index=True)
    first = np.sort(first)
    some = sets[first].astype(np.float32)
    count = np.asarray(some.sum(axis=1))
    # T_j lies in T_i and is smaller:  |T_i and T_j| = |T_j| < |T_i|.
    larger = np.any((some @ some.T == count) & (count < count[:, None]), axis=1)
    return np.asarray(first[np.logical_not(larger)])


def smallest_hitting(sets: BoolArray, start: int, budget: Budget) -> Supports:
    """Return the smallest set that hits every one of given sets; fewer than ``start`` do not.

    S hits T if they share a feature:  sum_{i in S} [i in T] >= 1.
    """
    usable = np.asarray(sets.any(axis=0))[None]
    return smallest(Gains(sets[None].astype(float), np.ones((1, len(sets))), usable), budget, start)


_REASONS = {
    State.DONE: None,
    State.NONE: Reason(Why.TOO_CLOSE),
    State.STOPPED: Reason(Why.STOPPED),
    State.FAILED: Reason(Why.NO_RIVAL),
}


def _answers(rows: list[_Row], none_left: Certificate | None) -> Suffices:
    reason: NDArray[np.object_] = np.array([_REASONS[row.state] for row in rows], dtype=object)
    size = [np.inf if row.state is State.NONE else float(row.size) for row in rows]
    proofs = [row.proof() for row in rows]
    return Suffices(
        np.array([row.mask for row in rows]),
        np.array([row.state is State.DONE for row in rows]),
        np.array(size),
        reason,
        tuple(rivals for rivals, _ in proofs),
        {i: weights for i, (_, weights) in enumerate(proofs) if weights is not None},
        none_left,
    )
