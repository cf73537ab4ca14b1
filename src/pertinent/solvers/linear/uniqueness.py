"""Whether the optimum is the only one.

At an optimal vertex every feature whose reduced cost is not zero must stay where it is, and
every row with a positive multiplier must stay tight. If the remaining features are determined
by those rows, the optimum is unique. If not, a second optimum is looked for and shown; where there
is none, other multipliers of the same optimum show that, and become part of the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry import task as geometry
from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.geometry.region import row_products
from pertinent.geometry.running import is_over
from pertinent.proofs import Block, LinearProofs, Proofs
from pertinent.solvers.problem import SOLVED, Task
from pertinent.solvers.programs.linear import LinearProgram
from pertinent.solvers.tolerances import APART, FLAT, INDEPENDENT

#: With more rows than this, multipliers that are equal are looked at once.
MANY_ROWS = 100


@dataclass(eq=False)
class Decision:
    """Whether optima are the only ones, for each row.

    Parameters
    ----------
    unique : ndarray of int8, shape (n,)
        1, 0 or -1: unique, not, not decided.
    second : dict of int to ndarray
        Another optimum of the rows that have one.
    multipliers : dict of int to ndarray
        Multipliers by which rows are seen to be unique, where those of their proofs do not show it.
    """

    unique: CodeArray
    second: dict[int, FloatArray] = field(default_factory=dict)
    multipliers: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def none(cls, n: int) -> Decision:
        """Return that nothing was decided."""
        return cls(np.full(n, -1, dtype=np.int8))

    def update(self, rows: IntArray, decided: Decision) -> None:
        """Take over what was decided of some rows."""
        self.unique[rows] = decided.unique
        self.second.update({int(rows[k]): point for k, point in decided.second.items()})
        self.multipliers.update({int(rows[k]): y for k, y in decided.multipliers.items()})

    def block(self, piece: int) -> tuple[Block, ...]:
        """Return the multipliers as part of a certificate, where there are any."""
        if not self.multipliers:
            return ()
        proofs = LinearProofs(
            np.array(list(self.multipliers.values())), np.zeros(len(self.multipliers), dtype=bool)
        )
        return (Block(piece, np.array(list(self.multipliers)), proofs),)


def decide_unique(task: Task, points: FloatArray, proofs: Proofs) -> Decision:
    """Return whether the optimum of each row is the only one."""
    if not isinstance(proofs, LinearProofs) or not task.cell.is_linear:
        # Weights are positive, so a center that already lies inside is its only nearest point.
        unique = np.where((points == task.centers).all(axis=1), 1, -1)
        return Decision(unique.astype(np.int8))
    if is_clear(task, proofs.multipliers):
        return Decision(np.ones(len(task), dtype=np.int8))
    unique = np.full(len(task), -1, dtype=np.int8)
    y = _certain(proofs.multipliers, task)
    # Those of a single row are few different numbers: w_i / |g_i| of the last feature that moved.
    few = np.unique(y)[:, None] if y.shape[1] == 1 and len(y) > MANY_ROWS else y
    slopes, flat = _flat(few, task)
    # At most one feature could move at no cost, and a tight row that it is part of forbids it.
    alone = flat.sum(axis=1) <= (few > 0).any(axis=1)
    if np.count_nonzero(alone) == len(alone):
        unique[:] = 1
        return Decision(unique)
    if few is not y:
        slopes, flat = _flat(y, task)
    tight = y > 0
    can_rise, can_fall = _free_directions(task, points, slopes, flat)
    free = can_rise | can_fall
    n_free, n_tight = free.sum(axis=1), tight.sum(axis=1)
    unique[n_free == 0] = 1
    # One feature with zero reduced cost under a positive multiplier: its row determines it.
    unique[(n_free == 1) & (n_tight >= 1)] = 1
    if (unique == 1).all():
        return Decision(unique)
    _by_rank(task.cell.G, free, tight, n_free, n_tight, unique)
    decision = Decision(unique)
    undecided = np.flatnonzero(unique < 0)
    if len(task.cell.G) == 1 and len(undecided):
        undecided = _exchange(task, points, free, undecided, decision)
    for i in undecided.tolist():
        if is_over():
            break
        face = search_face(task, i, points[i], y[i], can_rise[i], can_fall[i])
        unique[i] = face.verdict
        if face.other is not None:
            decision.second[i] = face.other
        if face.multipliers is not None:
            decision.multipliers[i] = face.multipliers
    return decision


def is_clear(task: geometry.Task, multipliers: FloatArray) -> bool:
    """Return whether no row can have another optimum, whatever its multipliers are.

    Without any, nothing pulls: each feature is where it costs least. Under a single row at most
    one feature can move at no cost, ``y |g_i| = w_i``, if no two are alike in ``|g_i| / w_i``; and
    the row, which is tight, forbids it.
    """
    per_cost = task.cell.per_cost(task.weights)
    if not per_cost.is_positive:
        return False
    if multipliers.shape[1] == 1 and per_cost.least_gap > 4 * FLAT:
        return True
    return not np.count_nonzero(multipliers)


def _flat(y: FloatArray, task: Task) -> tuple[FloatArray, BoolArray]:
    """Return the slopes ``a = G'y``, and where ``|a_i| = w_i``."""
    slopes = row_products(y, np.ascontiguousarray(task.cell.G.T))
    apart = np.abs(slopes)
    apart -= task.weights
    return slopes, np.abs(apart, out=apart) <= FLAT * task.weights


def _certain(multipliers: FloatArray, task: Task) -> FloatArray:
    """Return the multipliers without those that rounding alone may have left.

    A row with a positive multiplier is tight at every optimum; one of 1e-17 proves no such thing.
    """
    steepest = task.cell.per_cost(task.weights).sizes[0]
    return np.where(multipliers * steepest > FLAT, multipliers, 0.0)


def _free_directions(
    task: Task, points: FloatArray, slopes: FloatArray, flat: BoolArray
) -> tuple[BoolArray, BoolArray]:
    """Return which features could rise, and which could fall, at zero reduced cost.

    The slope of the Lagrangian is ``a_i + w_i`` right of the center and ``a_i - w_i`` left of
    it, with ``a = G'y``: it can vanish only where ``|a_i| = w_i``, which is rare.
    """
    can_rise = np.zeros(points.shape, dtype=bool)
    can_fall = np.zeros(points.shape, dtype=bool)
    rows, columns = np.nonzero(flat)
    at, slope, w = points[rows, columns], slopes[rows, columns], task.weights[columns]
    center, tolerance = task.centers[rows, columns], FLAT * w
    right = np.where(at >= center, w, -w) + slope
    left = np.where(at > center, w, -w) + slope
    free_right = (at < task.upper[rows, columns]) & (np.abs(right) <= tolerance)
    free_left = (at > task.lower[rows, columns]) & (np.abs(left) <= tolerance)
    can_rise[rows, columns], can_fall[rows, columns] = free_right, free_left
    return can_rise, can_fall


def _by_rank(
    G: FloatArray,
    free: BoolArray,
    tight: BoolArray,
    n_free: IntArray,
    n_tight: IntArray,
    unique: CodeArray,
) -> None:
    """Mark rows unique whose tight rows determine the free features (full column rank)."""
    several = np.flatnonzero((unique < 0) & (n_free <= n_tight))
    if not len(several):
        return
    sizes = np.stack([n_tight[several], n_free[several]], axis=1)
    for k_tight, k_free in np.unique(sizes, axis=0):
        rows = several[(sizes == (k_tight, k_free)).all(axis=1)]
        t = np.argsort(~tight[rows], axis=1, kind="stable")[:, :k_tight]
        f = np.argsort(~free[rows], axis=1, kind="stable")[:, :k_free]
        blocks = G[t[:, :, None], f[:, None, :]]
        scale = np.abs(blocks).max(axis=(1, 2), keepdims=True)
        singular = np.linalg.svd(blocks / np.where(scale > 0, scale, 1.0), compute_uv=False)
        determined = singular[:, -1] > INDEPENDENT
        unique[rows[determined]] = 1


def _exchange(
    task: Task,
    points: FloatArray,
    free: BoolArray,
    rows: IntArray,
    decision: Decision,
) -> IntArray:
    """One row: features tied in gain per cost can take over from each other.

    A feature that has moved hands part of its share to a tied one that still has room. Return the
    rows where none has anything to hand over, or nobody to take it.
    """
    g = task.cell.G[0]
    start = task.start()[rows]
    moved = np.abs(points[rows] - start) * np.abs(g) * free[rows]
    end = np.where(g > 0, task.lower[rows], task.upper[rows])
    with np.errstate(invalid="ignore"):
        room = np.where(free[rows] & (g != 0), np.abs(end - points[rows]) * np.abs(g), 0.0)
    at = np.arange(len(rows))
    giver, taker = moved.argmax(axis=1), room.argmax(axis=1)
    # The best giver may be the best taker too: then one of them must be the runner-up.
    same = giver == taker
    others_give, others_take = moved.copy(), room.copy()
    others_give[at, taker], others_take[at, giver] = 0.0, 0.0
    second_giver, second_taker = others_give.argmax(axis=1), others_take.argmax(axis=1)
    by_giver = np.minimum(moved[at, giver], others_take[at, second_taker])
    by_taker = np.minimum(others_give[at, second_giver], room[at, taker])
    change_giver = same & (by_taker > by_giver)
    giver = np.where(change_giver, second_giver, giver)
    taker = np.where(same & ~change_giver, second_taker, taker)
    share = np.minimum(moved[at, giver], room[at, taker]) / 2
    # An endless room still needs an end.
    share = np.where(np.isfinite(share), share, 0.5)
    for k, i in enumerate(rows):
        if share[k] <= 0:
            continue
        other = points[i].copy()
        other[giver[k]] += share[k] / g[giver[k]]
        other[taker[k]] -= share[k] / g[taker[k]]
        size = np.abs(points[i]).max()
        if np.abs(other - points[i]).max() <= FLAT * size:
            continue  # too close together to tell from rounding: not decided
        decision.unique[i], decision.second[int(i)] = 0, other
    return rows[share <= 0]


@dataclass(frozen=True, eq=False)
class Face:
    """What was found on a face.

    Parameters
    ----------
    verdict : int
        1 if the optimum is alone, 0 if there is another one, -1 if that is unclear.
    other : ndarray of shape (n_features,), optional
    multipliers : ndarray of shape (n_rows,), optional
        Optimal multipliers by which the optimum can be seen to be alone.
    """

    verdict: int
    other: FloatArray | None = None
    multipliers: FloatArray | None = None


def search_face(
    task: Task,
    row: int,
    point: FloatArray,
    y: FloatArray,
    can_rise: BoolArray,
    can_fall: BoolArray,
) -> Face:
    """Return whether an optimum is alone on its face, which multipliers ``y`` describe.

    On the face, features with a nonzero reduced cost keep their value, the others stay on their
    side of the center, and rows with a positive multiplier stay tight. Features that sit at an
    end of what is left to them are pushed off it as far as possible.
    """
    cell, center = task.cell, task.centers[row]
    fall_to = np.where(point > center, np.maximum(task.lower[row], center), task.lower[row])
    rise_to = np.where(point < center, np.minimum(task.upper[row], center), task.upper[row])
    low = np.where(can_fall, fall_to, point)
    high = np.where(can_rise, rise_to, point)
    push = np.where(point <= low, 1.0, 0.0) - np.where(point >= high, 1.0, 0.0)
    # An endless face needs an end to show a second point, away from the first.
    reach = 1.0 + np.abs(point)
    low = np.where(np.isfinite(low), low, point - reach)
    high = np.where(np.isfinite(high), high, point + reach)
    tight = y > 0
    activity = cell.G @ point
    pushed = LinearProgram(
        -push,
        cell.G,
        row_lower=np.where(tight, np.minimum(cell.h, activity), -np.inf),
        row_upper=np.maximum(cell.h, activity),
        lower=low,
        upper=high,
    ).solve()
    if pushed.outcome != SOLVED:
        return Face(-1)
    other, prices = pushed.v, -pushed.prices
    if np.abs(other - point).max() > APART * (1.0 + np.abs(point).max()):
        return Face(0, other)
    # Pushing moves only what sits at an end: the rest must be determined by the tight rows.
    inside = (point > low) & (point < high)
    rank = np.linalg.matrix_rank(cell.G[tight][:, inside]) if inside.any() else 0
    if rank < inside.sum():
        return Face(-1)
    prices = np.where(tight, prices, np.maximum(prices, 0.0))  # but for rounding they are
    return Face(1, multipliers=_strict(task, row, y, prices))


def _strict(task: Task, row: int, y: FloatArray, prices: FloatArray) -> FloatArray | None:
    """Return optimal multipliers that charge for leaving the optimum; None if there are none.

    Pushing features off their ends is in vain because of the prices z of the rows, ``(G'z)_i``
    being at least what feature i is pushed by, and 0 for features between their ends. So under
    ``y + t z`` whatever could move at no cost under ``y`` costs something. The step t must
    leave multipliers positive, and slopes ``|a_i|`` on the side of their weights where they are.
    """
    cell, weights = task.cell, task.weights
    slopes, turns = y @ cell.G, prices @ cell.G
    apart = np.abs(np.abs(slopes) - weights)
    room = np.where(apart <= FLAT * weights, weights, apart)
    turns = np.where(task.lower[row] == task.upper[row], 0.0, turns)
    limits = [room[turns != 0] / np.abs(turns[turns != 0]), y[prices < 0] / -prices[prices < 0]]
    step = 0.5 * min(limit.min(initial=np.inf) for limit in limits)
    return y + step * prices if 0 < step < np.inf else None
