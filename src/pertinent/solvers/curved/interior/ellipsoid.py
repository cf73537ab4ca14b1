"""Linear rows and one ellipsoid: the cells of plausibility, all centers of a batch at once.

A row ``|P u|^2 + q'u + c <= 0`` is a ball ``|P u - r| <= radius`` if ``q = -2 P'r`` for some r:
then ``radius^2 = |r|^2 - c``. Such cells are solved by `interior.points`; a
center that it does not finish (an empty cell, numerical trouble) gets a cone program of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.geometry.region import Cell, Quadratic, row_products
from pertinent.geometry.running import is_late
from pertinent.geometry.task import distance
from pertinent.proofs import TangentProofs
from pertinent.solvers.curved.convex import solve_convex_row
from pertinent.solvers.curved.convex_concave import polish
from pertinent.solvers.curved.interior.points import Balls, Inside, solve_balls
from pertinent.solvers.curved.shifted import Shifted, shift, tangent_bounds
from pertinent.solvers.curved.stationary import may_replace, point_inside, refine
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.tolerances import FIRST_AIM, INTERIOR_DUST, NO_MULTIPLIER, NO_SLOPE

#: Newton's method starts next to the optimum.
NEWTON_STEPS = 4
#: Centers solved at once: their systems should stay in the processor's cache.
AT_ONCE = 64


#: The middle and the radius of each row looked at, None where it is no ball. Hundreds of pieces may
#: share a row, that of a density. (A `Ball` in here would keep its row alive.)
_MIDDLES: WeakKeyDictionary[Quadratic, tuple[FloatArray, float] | None] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Ball:
    """The inequality ``|P u - r| <= radius``, with u a point as the row sees it."""

    P: FloatArray
    r: FloatArray
    radius: float
    row: Quadratic

    def away(self, points: FloatArray) -> FloatArray:
        """Return ``P u - r`` of each point."""
        return self.row.image(points) - self.r


def ball_of(cell: Cell) -> Ball | None:
    """Return the single quadratic row of a cell as a ball; None if it is not one."""
    if len(cell.quadratics) != 1 or not cell.is_convex or cell.exponentials:
        return None
    row = cell.quadratics[0]
    if row not in _MIDDLES:
        _MIDDLES[row] = _middle(row) if len(row.plus) else None
    middle = _MIDDLES[row]
    return None if middle is None else Ball(row.plus, *middle, row)


def _middle(row: Quadratic) -> tuple[FloatArray, float] | None:
    # One equation for each feature, in its own unit: none is lost beside the others.
    unit = _units(row.plus)
    P, q = row.plus / unit, row.q / unit
    r = np.asarray(np.linalg.lstsq(P.T, -q / 2, rcond=None)[0], dtype=float)
    left = np.abs(q + 2 * P.T @ r).max(initial=0.0)
    square = float(r @ r - row.c)
    # The slope of a ball at its border is of this size: what is far below it is rounding.
    size = np.abs(P).max() * np.sqrt(max(square, 0.0))
    if left > NO_SLOPE * max(float(np.abs(q).max()), size) or square <= 0:
        return None
    return r, float(np.sqrt(square))


def _units(rows: FloatArray) -> FloatArray:
    """Return the largest entry of each column; 1 where all are 0."""
    unit = np.abs(rows).max(axis=0, initial=0.0)
    return np.where(unit > 0, unit, 1.0)


def solve_ellipsoid(task: Task) -> Solved:
    """Return the optimum of every center, with a tangent of the ellipsoid as the proof."""
    return solve_ellipsoids([task])[0]


def solve_ellipsoids(tasks: Sequence[Task]) -> list[Solved]:
    """Return the optima of several cells, solved together: small batches cost as much as one."""
    rooms = [_Room.of(task) for task in tasks]
    shapes = sorted({room.shape for room in rooms})
    for shape in shapes:
        alike = [room for room in rooms if room.shape == shape]
        balls = Balls.stack([room.balls() for room in alike])
        if not len(balls):
            continue
        parts = np.array_split(np.arange(len(balls)), range(AT_ONCE, len(balls), AT_ONCE))
        found, first = Inside.stack([solve_balls(balls.take(part)) for part in parts]), 0
        for room in alike:
            room.finish(found.take(np.arange(first, first + len(room.open))), len(balls) > 1)
            first += len(room.open)
    return [room.solved() for room in rooms]


@dataclass(eq=False)
class _Room:
    """One task: its ball, its problems, and the answers as they come in."""

    task: Task
    ball: Ball
    shifted: Shifted
    points: FloatArray
    outcome: CodeArray
    multipliers: FloatArray
    tangents: FloatArray
    open: IntArray

    @classmethod
    def of(cls, task: Task) -> _Room:
        ball = ball_of(task.cell)
        assert ball is not None
        shifted = shift(task)
        outcome = np.full(len(task), TROUBLE, dtype=np.int8)
        points = np.full(task.centers.shape, np.nan)
        outcome[shifted.contradictory] = EMPTY
        inside = ~shifted.contradictory & (shifted.values <= 0).all(axis=1)
        points[inside], outcome[inside] = shifted.start[inside], SOLVED
        return cls(
            task,
            ball,
            shifted,
            points,
            outcome,
            np.zeros((len(task), 1 + len(task.cell.G))),
            np.zeros((len(task), len(ball.P))),
            np.flatnonzero(outcome == TROUBLE),
        )

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.task.cell.G), len(self.ball.P)

    @property
    def row_sizes(self) -> FloatArray:
        size = np.abs(self.task.cell.G / self.task.weights).max(axis=1, initial=0.0)
        return np.where(size > 0, size, 1.0)

    def balls(self) -> Balls:
        """Return the open problems, with rows of slope 1 and a ball of radius 1."""
        shifted, rows, size = self.shifted, self.open, self.row_sizes
        P = shifted.plus[0] / self.ball.radius
        G = self.task.cell.G / self.task.weights / size[:, None]
        images = self.ball.away(shifted.start[rows]) / self.ball.radius
        # The shortest move to the middle of the ball tells the size of things.
        to_middle = row_products(images, np.asarray(np.linalg.pinv(P), dtype=float))
        B = np.vstack([G, np.zeros((1, P.shape[1])), -P])
        return Balls(
            np.repeat(B[None], len(rows), axis=0),
            shifted.values[rows][:, 1:] / size,
            images,
            shifted.up[rows],
            shifted.down[rows],
            self.task.cutoff[rows] - shifted.base[rows],
            np.abs(to_middle).mean(axis=1),
        )

    def finish(self, found: Inside, several: bool) -> None:
        """Take the answers to the open problems, in their order; with others or by themselves."""
        rows = self.open
        self.multipliers[rows], self.tangents[rows] = self._proof(found)
        self.outcome[rows[found.cut]] = CUT
        empty = found.empty.copy()
        empty[empty] = self._are_rays(rows[empty])
        self.outcome[rows[empty]] = EMPTY
        for k in np.flatnonzero(~found.cut & ~empty):
            i = int(rows[k])
            if found.done[k] and self._keep_exact(i, found.step[k]):
                continue
            if several and is_late():  # a single one may be the only point
                continue
            if not self._is_empty(i):
                self._solve_alone(i)

    def _proof(self, found: Inside) -> tuple[FloatArray, FloatArray]:
        """Return multipliers and tangents.

        With e = -z / |z|, every point of the ball has ``e'(P x - r) <= radius``, and the tangent
        at ``p = r + radius e`` says ``2 radius (e'(P x - r) - radius) <= 0``: its multiplier is
        ``|z| / (2 radius)``; z itself was found for a ball scaled to radius 1.
        """
        pull = found.pull / self.ball.radius
        size = np.linalg.norm(pull, axis=1)
        e = -pull / np.where(size > 0, size, 1.0)[:, None]
        first = size[:, None] / (2 * self.ball.radius)
        y = np.concatenate([first, found.multipliers / self.row_sizes], axis=1)
        return y, self.ball.r + self.ball.radius * e

    def _keep_exact(self, i: int, step: FloatArray) -> bool:
        """Make one center's answer exact; return whether that worked."""
        exact, y = _exact(self.shifted, i, step)
        point = point_inside(self.shifted, i, exact)
        if point is None:
            return False
        self.points[i], self.outcome[i] = point, SOLVED
        if y is not None:
            image = self.ball.row.image(self.shifted.start[i : i + 1])[0]
            self.multipliers[i] = y
            self.tangents[i] = image + self.shifted.plus[0] @ exact
        return True

    def _solve_alone(self, i: int) -> None:
        """Solve one center by a cone program of its own."""
        point, self.outcome[i], self.multipliers[i], touched = solve_convex_row(self.shifted, i)
        self.tangents[i] = touched[0]
        if point is not None:
            self.points[i] = point
        elif self.outcome[i] == EMPTY:
            self._is_empty(i)

    def _are_rays(self, rows: IntArray) -> BoolArray:
        """Return which multipliers say that there is no point."""
        some, ray = shift(self.task.take(rows)), np.ones(len(rows), dtype=bool)
        return np.isinf(tangent_bounds(some, (self.tangents[rows],), self.multipliers[rows], ray))

    def _is_empty(self, i: int) -> bool:
        """Return whether the multipliers, once cleaned, are a Farkas ray; keep it if so.

        A ray may have no slope towards an open side. What an interior method leaves there
        is taken out by the smallest change of ``v = (2 y0 (p - r), y)``: its slope is v'[P; G].
        """
        task, ball, y = self.task, self.ball, self.multipliers[i]
        v = np.concatenate([2 * y[0] * (self.tangents[i] - ball.r), y[1:]])
        size = np.abs(v).max(initial=0.0)
        if not (0 < size < np.inf):
            return False
        used = np.abs(v) > NO_MULTIPLIER * size
        rows = np.vstack([ball.P, task.cell.G])[used]
        slope = v[used] @ rows
        endless = np.where(slope > 0, np.isinf(task.lower[i]), np.isinf(task.upper[i]))
        unit = _units(rows[:, endless])
        change = np.linalg.lstsq((rows[:, endless] / unit).T, -slope[endless] / unit, rcond=None)[0]
        ray = np.zeros_like(v)
        ray[used] = v[used] + change
        ray[np.abs(ray) <= NO_MULTIPLIER * size] = 0.0  # what the change took out, but for rounding
        pull = ray[: len(ball.P)]
        length = float(np.linalg.norm(pull))
        if length == 0:
            return False
        multipliers = np.concatenate(
            [[length / (2 * ball.radius)], np.maximum(ray[len(pull) :], 0)]
        )
        tangent = ball.r + ball.radius / length * pull
        before = self.multipliers[i].copy(), self.tangents[i].copy()
        self.multipliers[i], self.tangents[i] = multipliers, tangent
        if self._are_rays(np.array([i]))[0]:
            self.outcome[i] = EMPTY
            return True
        self.multipliers[i], self.tangents[i] = before
        return False

    def solved(self) -> Solved:
        """Return the answers to all centers."""
        proofs = TangentProofs((self.tangents,), self.multipliers, self.outcome == EMPTY)
        return Solved(self.points, self.outcome, proofs)


def _exact(shifted: Shifted, i: int, step: FloatArray) -> tuple[FloatArray, FloatArray | None]:
    """Return the step without dust, just inside its rows, and its multipliers if it is exact."""
    local, cost = shifted.row(i), float(np.abs(step).sum())
    quick = refine(local, step, inside=FIRST_AIM, steps=NEWTON_STEPS)
    if quick is not None and local.within(quick.step, 0.0) and may_replace(local, quick, cost):
        return quick.step, quick.multipliers
    exact = polish(local, step)
    if exact is not None and may_replace(local, exact, cost):
        return exact.step, exact.multipliers
    return np.where(np.abs(step) < INTERIOR_DUST * np.abs(step).max(), 0.0, step), None


def ball_bounds(task: Task) -> tuple[FloatArray, TangentProofs] | None:
    """Return a lower bound for each center from one tangent of the ellipsoid, with its proof.

    Seen from the start (the center within its bounds) the ellipsoid lies beyond the tangent
    across the line to its middle: ``e'(P x - r) <= radius`` with e the direction of the start.
    None if the cell has no ellipsoid.
    """
    cell, lower, upper = task.cell, task.lower, task.upper
    ball = ball_of(cell)
    if ball is None:
        return None
    start = task.start()
    e = ball.away(start)
    away = np.linalg.norm(e, axis=1)
    e /= np.where(away > 0, away, 1.0)[:, None]
    gain = np.abs(np.matmul(e[:, None, :], ball.P)[:, 0, :]) / task.weights
    # Moving the free feature with the largest gain per cost is the cheapest way across.
    steep = np.where(lower < upper, gain, 0.0).max(axis=1)
    good = (away > ball.radius) & (steep > 0)
    y, bound = np.zeros((len(task), 1 + len(cell.G))), distance(start, task.centers, task.weights)
    y[good, 0] = 1.0 / (2 * ball.radius * steep[good])
    bound[good] += (away[good] - ball.radius) / steep[good]
    bound[(lower > upper).any(axis=1)] = np.inf
    return bound, TangentProofs((ball.r + ball.radius * e,), y, np.zeros(len(task), dtype=bool))
