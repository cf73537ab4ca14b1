"""The working set of the lock-step simplex: one small basis for each row still at work."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, fields

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.solvers.linear.simplex.scaled import Asked, ScaledRows, Steps


@dataclass(frozen=True, eq=False)
class Batch:
    """All rows of one call: what is asked (in the units of G), and where the answers go.

    The rows may ask for several cells, whose coefficients stand one below the other.
    """

    scaled: ScaledRows
    cell: IntArray | None  # which cell each row asks for; None where there is but one
    asked: Asked  # of all rows; its G is that of the first cell
    free: bool  # no feature has a bound
    stops: bool  # some row has a cutoff
    steps: Steps
    #: Bases at their optimum, and bases cut short; written down together at the end.
    optimal: list[Bases] = field(default_factory=list)
    cut: list[Bases] = field(default_factory=list)

    def right(self, row: IntArray) -> FloatArray:
        """Return the scaled right-hand sides of some rows."""
        return self.scaled.demand(
            self.asked.demand[row], None if self.cell is None else self.cell[row]
        )

    def rows_at(self, row: IntArray, tight: IntArray) -> IntArray:
        """Return where the rows ``tight`` of the cell that each row asks for stand."""
        return tight if self.cell is None else tight + self.cell[row] * (self.scaled.n_rows + 1)

    def columns_at(self, row: IntArray, feature: IntArray) -> IntArray:
        """Return where the columns of features stand, likewise."""
        if self.cell is None:
            return feature
        width = int(self.scaled.rows.shape[1])
        return feature + self.cell[row] * width

    def rooms(self, row: IntArray, feature: IntArray, upward: BoolArray) -> FloatArray:
        """Return the room of one feature per row, on the given side."""
        if self.free:
            return np.full(len(row), np.inf)
        return np.where(upward, self.asked.up[row, feature], self.asked.down[row, feature])


@dataclass(eq=False)
class Bases:
    """Bases of k tight rows T and k moving features J; positions from k on are padding.

    Padding names row m (``0 >= 0``) and feature 0 with an inverse of 0, so that it adds nothing
    to any sum. Arrays over positions keep the batch last: every operation runs along it.
    """

    row: IntArray  # (a,) position in the batch
    size: IntArray  # (a,) k
    resting: FloatArray  # (a,) cost of the features at a bound
    bound: FloatArray  # (a,) dual objective
    tight: IntArray  # (K, a) T
    moving: IntArray  # (K, a) J
    price: FloatArray  # (K, a) y_T
    side: FloatArray  # (K, a) z_J = +-1
    value: FloatArray  # (K, a) t_J
    room: FloatArray  # (K, a) how far t_J may go, on its side
    inverse: FloatArray  # (K, K, a) of A_TJ: rows as J, columns as T
    slack: FloatArray  # (a, m + 1) A t - r
    pull: FloatArray  # (a, d) z = y A
    high: FloatArray  # (a, d) the next breakpoint of z_i when it rises; inf: none
    low: FloatArray  # (a, d) the same when it falls
    rest: FloatArray  # (a, d) steps of the features at a bound, else 0; (a, 0) if nothing is bound

    def __len__(self) -> int:
        return len(self.row)

    def take(self, keep: IntArray) -> Bases:
        """Return some of the bases, each array along its own axis."""
        return Bases(*(getattr(self, name).take(keep, axis=axis) for name, axis in _AXES))

    def finished(self, keep: IntArray) -> Bases:
        """Return some of the bases, trimmed and without what only a further pivot would need."""
        none = self.slack[:, :0]
        bare = copy(self)
        bare.slack = bare.pull = bare.high = bare.low = none
        bare = bare.take(keep)
        width = int(bare.size.max(initial=1))
        for name in _POSITIONS:
            setattr(bare, name, getattr(bare, name)[:width])
        bare.inverse = bare.inverse[:width, :width]
        return bare

    def widen(self, width: int) -> None:
        """Pad every basis to the given number of positions."""
        grow = width - len(self.tight)
        if grow <= 0:
            return
        count = len(self)
        self.inverse, old = np.zeros((width, width, count)), self.inverse
        self.inverse[:-grow, :-grow] = old
        padding = {"tight": -1, "room": np.inf}  # before each cell's first row stands a zero row
        for name in _POSITIONS:
            array = getattr(self, name)
            pad = np.full((grow, count), padding.get(name, 0), dtype=array.dtype)
            setattr(self, name, np.concatenate([array, pad]))


_BATCH_FIRST = frozenset({"slack", "pull", "high", "low", "rest"})
#: Every array, and the axis along which its bases lie.
_AXES = tuple((f.name, 0 if f.name in _BATCH_FIRST else -1) for f in fields(Bases))
_POSITIONS = ("tight", "moving", "price", "side", "value", "room")


def join(parts: list[Bases]) -> Bases:
    """Return the bases of several working sets as one."""
    if len(parts) == 1:
        return parts[0]
    width = max(len(part.tight) for part in parts)
    for part in parts:
        part.widen(width)
    return Bases(
        *(
            np.concatenate([getattr(part, name) for part in parts], axis=axis)
            for name, axis in _AXES
        )
    )


def combine(coefficients: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return ``sum_p coefficients[p] vectors[p]``, added one after the other."""
    total: FloatArray = coefficients[0] * vectors[0]
    for p in range(1, len(vectors)):
        total += coefficients[p] * vectors[p]
    return total


def add_multiple(target: FloatArray, factor: FloatArray, table: FloatArray, at: IntArray) -> None:
    """Add ``factor[i] table[at[i]]`` to row i of the target."""
    product = table.take(at, axis=0)
    product *= factor[:, None]
    target += product


def tree_sum(terms: FloatArray) -> FloatArray:
    """Return the sums over the last axis, adding halves; overwrites the terms.

    `numpy.sum` may add in another order for another shape; this order depends on the length only.
    """
    width = terms.shape[1]
    while width > 1:
        half = (width + 1) // 2
        terms[:, : width - half] += terms[:, half:width]
        width = half
    return terms[:, 0]
