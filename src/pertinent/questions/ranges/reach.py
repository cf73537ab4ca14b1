"""How far points of a piece can go along one column before a row stops them.

All points of a batch at once: each has a column and a direction of its own. What comes back is a
proposal, kept a little inside by twice the rounding; `pertinent.proofs.boxes` decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.affine import BentRows, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows
from pertinent.geometry.cell import Exponential
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.rounding import MarginRows
from pertinent.geometry.running import is_over
from pertinent.questions.tolerances import EXPONENTIAL

#: Halvings of a convex row.
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class Moves(Rows):
    """Points, each with the column that it may move along and its direction (1 or -1)."""

    points: FloatArray
    columns: IntArray
    signs: FloatArray

    @property
    def every(self) -> IntArray:
        """The place of each."""
        return np.arange(len(self.points))

    def at(self, lengths: FloatArray) -> FloatArray:
        """Return the points after moves of these lengths; an endless move stays where it is."""
        moved = self.points.copy()
        moved[self.every, self.columns] += self.signs * np.where(np.isinf(lengths), 0.0, lengths)
        return moved


def reach(piece: MarginRows, moves: Moves, unit: float) -> FloatArray:
    """Return how far each point can move within a piece; -1 where it is not inside."""
    if not len(moves.points):
        return np.zeros(0)
    lengths = np.full(len(moves.points), np.inf)
    if piece.ends is not None:
        lengths = np.minimum(lengths, _to_ends(piece.ends, moves))
    if len(piece.G):
        lengths = np.minimum(lengths, _linear(piece, moves, unit))
    for row, _ in piece.curved:
        lengths = np.minimum(lengths, _quadratic(row, moves, unit))
    for bend in piece.bends:
        lengths = np.minimum(lengths, _exponential(bend, moves))
    for block, _ in piece.bent:
        lengths = np.minimum(lengths, _bent(block, moves, 2 * unit))
    return lengths


def _bent(block: BentRows, moves: Moves, unit: float) -> FloatArray:
    """Return where a row may end, by halving; each of its terms is taken at its worst on the way.

    So what has failed once has failed for good, also where terms of one column pull both ways.
    """
    own, columns = moves.points[moves.every, moves.columns], moves.columns
    value, size = block.value(moves.points), block.sizes(moves.points)
    slopes = block.G.T[columns]

    def holds(lengths: FloatArray) -> BoolArray:
        steps = moves.signs * lengths
        worst = value + np.maximum(slopes * steps[:, None], 0.0)
        most = size + block.terms.T[columns] * lengths[:, None]
        for m, curve in enumerate(block.curves):
            mine = columns == curve.column
            at, there = curve(own[mine]), curve(own[mine] + steps[mine])
            with np.errstate(invalid="ignore"):
                moved = np.where(block.B[:, m] == 0, 0.0, (there - at)[:, None] * block.B[:, m])
            worst[mine] += np.maximum(moved, 0.0)
            most[mine] += block.terms[:, block.dim + m] * np.abs(there)[:, None]
        return np.asarray((worst <= -2 * unit * most).all(axis=1))

    inside = (value <= 0).all(axis=1)
    low, high = np.zeros(len(own)), np.full(len(own), np.nan)
    first = 2.0**-20 * (1.0 + np.abs(own))
    tried = first
    for _ in range(HALVINGS):  # ever farther, until a row fails
        if not np.isnan(high).any() or is_over():
            break
        good = holds(tried) & np.isnan(high)
        high = np.where(np.isnan(high) & ~good, tried, high)
        low, tried = np.where(good, tried, low), np.where(good, 2 * tried, tried)
    endless = np.isnan(high) & (tried == 2.0**HALVINGS * first)
    for _ in range(HALVINGS):
        middle = np.where(np.isnan(high), low, (low + high) / 2)
        if ((middle == low) | (middle == high)).all() or is_over():
            break
        good = holds(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return np.where(inside, np.where(endless, np.inf, low), -1.0)


def _to_ends(ends: tuple[FloatArray, FloatArray], moves: Moves) -> FloatArray:
    low, high = ends
    inside = ((moves.points >= low) & (moves.points <= high)).all(axis=1)
    own = moves.points[moves.every, moves.columns]
    room = np.where(moves.signs > 0, high[moves.columns] - own, own - low[moves.columns])
    return np.asarray(np.where(inside, room, -1.0))


def _linear(piece: MarginRows, moves: Moves, unit: float) -> FloatArray:
    """``slack(t) >= slack - t (s g + unit terms)`` along a column, s the direction."""
    seen = moves.points if piece.origin is None else moves.points - piece.origin
    slopes, constant = piece.terms[:, :-1], piece.terms[:, -1]
    plain = piece.h - row_products(seen, piece.G)
    base = plain - unit * (constant + row_products(np.abs(moves.points), slopes))
    rate = moves.signs[:, None] * piece.G.T[moves.columns] + unit * slopes.T[moves.columns]

    def first(sums: FloatArray | float) -> FloatArray:
        # An answer may lie closer to a row than a proposal: it can move away from it.
        slack = np.maximum(base - (2 * unit * np.asarray(sums))[..., None], 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            lengths = np.where(rate > 0, slack / rate, np.inf).min(axis=1, initial=np.inf)
        return np.where((plain < 0).any(axis=1), -1.0, lengths)

    if piece.sums is None:
        return first(0.0)
    lengths = first(piece.sums(moves.points))
    there = np.maximum(piece.sums(moves.points), piece.sums(moves.at(np.maximum(lengths, 0.0))))
    return first(there)


def _quadratic(row: Quadratic, moves: Moves, unit: float) -> FloatArray:
    """Return the first t at which ``a t^2 + b t + c`` is 0, with c raised by the rounding."""
    a = np.diagonal(row.A)[moves.columns]
    b = moves.signs * row.gradient(moves.points)[moves.every, moves.columns]
    value, here = row.value(moves.points), row.added_up(moves.points)

    def first(added: FloatArray) -> FloatArray:
        c = np.minimum(value + 2 * unit * added, 0.0)
        root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            near = np.where(b > 0, -2 * c / (b + root), (root - b) / (2 * a))
        never = np.where(b > 0, (a < 0) & (b * b < 4 * a * c), a <= 0)
        return np.where(value > 0, -1.0, np.where(never, np.inf, near))

    lengths = first(here)
    return first(np.maximum(here, row.added_up(moves.at(np.maximum(lengths, 0.0)))))


def _exponential(bend: Exponential, moves: Moves) -> FloatArray:
    """Return where a convex row ends, by halving."""

    def holds(lengths: FloatArray) -> BoolArray:
        return np.asarray(bend.value(moves.at(lengths)) <= -EXPONENTIAL)

    inside = holds(np.zeros(len(moves.points)))
    rate = (moves.signs[:, None] * bend.W.T[moves.columns]).max(axis=1)
    # The largest term alone ends it here at the latest.
    terms = row_products(moves.points, bend.W) + bend.b
    with np.errstate(divide="ignore", invalid="ignore"):
        along = moves.signs[:, None] * bend.W.T[moves.columns]
        last = np.where(along > 0, -terms / along, np.inf).min(axis=1)
    low, high = np.zeros(len(last)), np.where(np.isfinite(last), np.maximum(last, 0.0), 0.0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        good = holds(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return np.where(inside, np.where(rate <= 0, np.inf, low), -1.0)


def holds_within(block: BentRows, low: FloatArray, high: FloatArray, unit: float) -> bool:
    """Return whether rows over bent columns hold in a box, each term at its own worst."""
    with np.errstate(invalid="ignore"):
        ends = [np.where(block.G == 0, 0.0, block.G * side) for side in (low, high)]
        sizes = [np.where(np.isfinite(side), np.abs(side), 0.0) for side in (low, high)]
        worst = np.maximum(*ends).sum(axis=1) - block.h
        most = block.terms[:, : block.dim] @ np.maximum(*sizes) + block.terms[:, -1]
        for m, curve in enumerate(block.curves):
            at = curve(np.array([low[curve.column], high[curve.column]]))
            own = block.B[:, [m]]
            worst = worst + np.where(own == 0, 0.0, own * at).max(axis=1)
            most = most + block.terms[:, block.dim + m] * (np.abs(at).max() + curve.beside)
    return bool((worst <= -unit * most).all())
