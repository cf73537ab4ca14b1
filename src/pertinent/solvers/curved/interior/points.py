"""An interior-point method for many centers at once: linear rows, one ball, bounds.

    min  sum_i p_i + n_i   s.t.   G (p - n) + v <= 0,   |P (p - n) + r| <= 1,
                                  0 <= p <= up,   0 <= n <= down.

Mehrotra's predictor and corrector with Nesterov-Todd scaling of the ball's second-order cone.
With ``a = G'y - P'z`` (y, (z0, z) the multipliers of rows and ball)
the start is dual feasible, and stays so: each iterate proves a lower bound, and a center that
cannot beat its cutoff stops as soon as its bound says so.

Each step eliminates p and n, and solves one system of size ``rows + rank + 1``:

    (B D B' + diag(slack / y, W^2)) (dy, dz0, dz) = right-hand side,     B = [G; 0; -P],

where D holds, for each feature, 1/theta_p + 1/theta_n of the barrier terms.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Rows
from pertinent.geometry.running import is_late
from pertinent.solvers.curved.interior.algebra import Scaling, cone_room, divide, jordan
from pertinent.solvers.curved.shifted import least_costs
from pertinent.solvers.tolerances import (
    CENTERED,
    EMPTY_REACH,
    INTERIOR_GAP,
    INTERIOR_RESIDUAL,
    LEAST_START,
    LOOKS_EMPTY,
)

ROUNDS = 40
#: Share of the way to the boundary that a step may go.
STAY_INSIDE = 0.99


@dataclass(frozen=True, eq=False)
class Balls(Rows):
    """The problems, scaled to radius 1.

    Parameters
    ----------
    B : ndarray of shape (n, m + 1 + rank, d)
        ``[G; 0; -P]`` of each problem.
    values : ndarray of shape (n, m)
    images : ndarray of shape (n, rank)
        The vectors r.
    up, down : ndarray of shape (n, d)
    cutoff : ndarray of shape (n,)
    size : ndarray of shape (n,)
        How far features move, roughly.
    """

    B: FloatArray
    values: FloatArray
    images: FloatArray
    up: FloatArray
    down: FloatArray
    cutoff: FloatArray
    size: FloatArray

    @property
    def m(self) -> int:
        """Number of linear rows."""
        return int(self.values.shape[1])

    def pull(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``a = G'y - P'z``; the first entry of z counts for nothing."""
        both = np.concatenate([y, z], axis=1)
        return np.asarray(np.matmul(both[:, None, :], self.B)[:, 0, :])

    def apply(self, step: FloatArray) -> FloatArray:
        """Return ``(G s, 0, -P s)``."""
        return np.asarray(np.matmul(self.B, step[:, :, None])[:, :, 0])


@dataclass(eq=False)
class _State(Rows):
    """Iterates of all problems, or a change of them.

    ``low`` and ``high`` are the multipliers of 0 <= p <= up and of 0 <= n <= down.
    """

    p: FloatArray
    n: FloatArray
    p_low: FloatArray
    n_low: FloatArray
    p_high: FloatArray
    n_high: FloatArray
    slack: FloatArray
    y: FloatArray
    u: FloatArray
    z: FloatArray


@dataclass(frozen=True, eq=False)
class Inside(Rows):
    """What came back for each problem.

    ``done`` says that the gap closed, ``cut`` that the bound passed the cutoff, ``empty`` that
    the multipliers are a Farkas ray; none of them means trouble, to be settled elsewhere.
    ``pull`` is z: the ball's multiplier.
    """

    step: FloatArray
    multipliers: FloatArray
    pull: FloatArray
    done: BoolArray
    cut: BoolArray
    empty: BoolArray

    @classmethod
    def blank(cls, balls: Balls) -> Inside:
        """Return room for the answers."""
        n, flags = len(balls), np.zeros((3, len(balls)), dtype=bool)
        step, y = np.zeros(balls.up.shape), np.zeros((n, balls.m))
        return cls(step, y, np.zeros(balls.images.shape), *flags)


def solve_balls(balls: Balls) -> Inside:
    """Return the optimum of every problem, or of several those that are solved in time."""
    out = Inside.blank(balls)
    rows, state = np.arange(len(balls)), _begin(balls)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(ROUNDS):
            flags = _judge(balls, state)
            out.step[rows], out.multipliers[rows] = state.p - state.n, state.y
            out.pull[rows] = state.z[:, 1:]
            out.done[rows], out.cut[rows], out.empty[rows], stopped = flags
            going = np.flatnonzero(~stopped)
            if not len(going) or (len(out) > 1 and is_late()):
                break
            if len(going) < len(rows):
                rows, balls, state = rows[going], balls.take(going), state.take(going)
            state = _advance(balls, state)
    return out


def _begin(balls: Balls) -> _State:
    """Return a dual feasible start: y small enough that |G'y| < 1, z = 0."""
    size = np.maximum(balls.size, LEAST_START)[:, None]
    p = np.where(balls.up > 0, np.minimum(size, balls.up / 2), 0.0)
    q = np.where(balls.down > 0, np.minimum(size, balls.down / 2), 0.0)
    slack = np.maximum(-balls.values, size)
    y = np.minimum(size / slack, 0.5 / max(balls.m, 1))
    p_high = np.where(np.isfinite(balls.up), 0.5, 0.0)
    n_high = np.where(np.isfinite(balls.down), 0.5, 0.0)
    image = -balls.apply(p - q)[:, balls.m :]
    image[:, 1:] += balls.images
    image[:, 0] = np.maximum(1.0, 1.2 * np.linalg.norm(image[:, 1:], axis=1))
    z = np.zeros_like(image)
    a = balls.pull(y, z)
    z[:, 0] = size[:, 0] / image[:, 0]
    return _State(p, q, 1 + a + p_high, 1 - a + n_high, p_high, n_high, slack, y, image, z)


def _judge(balls: Balls, s: _State) -> tuple[BoolArray, BoolArray, BoolArray, BoolArray]:
    """Return which problems are solved, cut off, proved empty, and which stop for any reason."""
    step, z = s.p - s.n, s.z[:, 1:]
    a = balls.pull(s.y, s.z)
    # y'v from the rows, and -z'r - |z| from the ball's support, at step 0.
    excess = (s.y * balls.values).sum(axis=1) - (z * balls.images).sum(axis=1)
    excess -= np.linalg.norm(z, axis=1)
    bound = least_costs(a, excess, balls.up, balls.down)
    empty = _looks_empty(a, excess, balls)
    cost = (s.p + s.n).sum(axis=1)
    done = (cost - bound <= INTERIOR_GAP * cost) & (_violation(balls, s, step) <= INTERIOR_RESIDUAL)
    cut = ~empty & (bound > balls.cutoff)
    broken = ~(np.isfinite(cost) & np.isfinite(bound))
    done &= ~empty & ~broken
    return np.asarray(done), cut, empty, np.asarray(done | cut | empty | broken)


def _looks_empty(a: FloatArray, excess: FloatArray, balls: Balls) -> BoolArray:
    """Return whether ``excess + a's > 0`` for every step s within reach; others check it strictly.

    Where a feature is endless, a ray has no slope; an interior point only comes close to that.
    """
    end = np.minimum(np.where(a > 0, balls.down, balls.up), EMPTY_REACH)
    return np.asarray(excess - (np.abs(a) * end).sum(axis=1) > LOOKS_EMPTY * np.abs(excess))


def _violation(balls: Balls, s: _State, step: FloatArray) -> FloatArray:
    """Return the largest violation of an equation, relative to the size of its terms."""
    rows, ball = _residuals(balls, s, step)
    size = 1.0 + np.abs(s.u).max(axis=1)
    width = np.abs(balls.values) + np.abs(step).max(axis=1, initial=0.0)[:, None]
    off = (np.abs(rows) / width).max(axis=1, initial=0.0)
    return np.asarray(np.maximum(np.abs(ball).max(axis=1) / size, off))


def _residuals(balls: Balls, s: _State, step: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return by how much the slacks of the rows, and (u0, u), miss their equations."""
    image = balls.apply(step)
    ball = s.u + image[:, balls.m :]
    ball[:, 0] -= 1.0
    ball[:, 1:] -= balls.images
    return image[:, : balls.m] + balls.values + s.slack, ball


def _advance(balls: Balls, s: _State) -> _State:
    """Return the state after one predictor and corrector step.

    Primal and dual parts take the same step: with steps of their own, the cone's two vectors
    drift apart and the steps become tiny.
    """
    newton = _Newton(balls, s)
    guess = newton.solve(np.zeros(len(s.p)), None)
    center = np.clip((1.0 - np.minimum(newton.reach(guess), 1.0)) ** 3, CENTERED, 1.0)
    change = newton.solve(center * newton.product, guess)
    return newton.moved(change, np.minimum(1.0, STAY_INSIDE * newton.reach(change)))


class _Newton:
    """The linear system at one state, used for predictor and corrector."""

    def __init__(self, balls: Balls, s: _State) -> None:
        self.balls, self.s = balls, s
        self.p_room, self.n_room = balls.up - s.p, balls.down - s.n
        self.p_open, self.n_open = balls.up > 0, balls.down > 0
        self.p_capped = self.p_open & np.isfinite(balls.up)
        self.n_capped = self.n_open & np.isfinite(balls.down)
        theta_p = s.p_low / s.p + _ratio(s.p_high, self.p_room, self.p_capped)
        theta_n = s.n_low / s.n + _ratio(s.n_high, self.n_room, self.n_capped)
        self.give_p = np.where(self.p_open, 1.0 / theta_p, 0.0)
        self.give_n = np.where(self.n_open, 1.0 / theta_n, 0.0)
        self.scaling = Scaling(s.u, s.z)
        m, D = balls.m, self.give_p + self.give_n
        self.K = np.matmul(balls.B * D[:, None, :], balls.B.transpose(0, 2, 1))
        here = np.arange(m)
        self.K[:, here, here] += s.slack / s.y
        self.K[:, m:, m:] += self.scaling.squared()
        self.off_rows, self.off_ball = _residuals(balls, s, s.p - s.n)
        a = balls.pull(s.y, s.z)
        self.off_p = np.where(self.p_open, 1 + a - s.p_low + s.p_high, 0.0)
        self.off_n = np.where(self.n_open, 1 - a - s.n_low + s.n_high, 0.0)
        self.product = self._average_product()

    def solve(self, target: FloatArray, guess: _State | None) -> _State:
        """Return the change towards products of size ``target``, second order by ``guess``."""
        s, t = self.s, target[:, None]
        want_p, want_n = t - s.p_low * s.p, t - s.n_low * s.n
        cap_p, cap_n = t - s.p_high * self.p_room, t - s.n_high * self.n_room
        want_y = t - s.slack * s.y
        ball = -jordan(self.scaling.point, self.scaling.point)
        ball[:, 0] += target
        if guess is not None:
            want_p, want_n = want_p - guess.p * guess.p_low, want_n - guess.n * guess.n_low
            cap_p, cap_n = cap_p + guess.p * guess.p_high, cap_n + guess.n * guess.n_high
            want_y = want_y - guess.slack * guess.y
            ball -= jordan(self.scaling.times(guess.z), self.scaling.over(guess.u))
        side_p = np.where(self.p_open, want_p / s.p, 0.0) - _ratio(
            cap_p, self.p_room, self.p_capped
        )
        side_n = np.where(self.n_open, want_n / s.n, 0.0) - _ratio(
            cap_n, self.n_room, self.n_capped
        )
        side_p, side_n = side_p - self.off_p, side_n - self.off_n
        e = self.give_p * side_p - self.give_n * side_n
        towards = self.scaling.times(divide(self.scaling.point, ball))
        m = s.y.shape[1]
        right = self.balls.apply(e)
        right[:, :m] += self.off_rows + want_y / s.y
        right[:, m:] += towards + self.off_ball
        solved = _solve_each(self.K, right)
        dy, dz = solved[:, :m], solved[:, m:]
        da = self.balls.pull(dy, dz)
        dp, dn = self.give_p * (side_p - da), self.give_n * (side_n + da)
        du = towards - self.scaling.times(self.scaling.times(dz))
        return _State(
            dp,
            dn,
            np.where(self.p_open, (want_p - s.p_low * dp) / s.p, 0.0),
            np.where(self.n_open, (want_n - s.n_low * dn) / s.n, 0.0),
            _ratio(cap_p + s.p_high * dp, self.p_room, self.p_capped),
            _ratio(cap_n + s.n_high * dn, self.n_room, self.n_capped),
            (want_y - s.slack * dy) / s.y,
            dy,
            du,
            dz,
        )

    def reach(self, c: _State) -> FloatArray:
        """Return how far a change can go until anything touches a bound."""
        s = self.s
        rooms = np.stack(
            [
                _room(s.p, c.p, self.p_open),
                _room(s.n, c.n, self.n_open),
                _room(self.p_room, -c.p, self.p_capped),
                _room(self.n_room, -c.n, self.n_capped),
                _room(s.slack, c.slack),
                cone_room(s.u, c.u),
                _room(s.p_low, c.p_low, self.p_open),
                _room(s.n_low, c.n_low, self.n_open),
                _room(s.p_high, c.p_high, self.p_capped),
                _room(s.n_high, c.n_high, self.n_capped),
                _room(s.y, c.y),
                cone_room(s.z, c.z),
            ]
        )
        return np.asarray(rooms.min(axis=0))

    def _average_product(self) -> FloatArray:
        """Return the average of all products of a bound's room and its multiplier."""
        s = self.s
        total = (s.slack * s.y).sum(1) + (s.u * s.z).sum(1)
        count = np.full(len(total), s.y.shape[1] + 1.0)
        for open_, room, multiplier in (
            (self.p_open, s.p, s.p_low),
            (self.n_open, s.n, s.n_low),
            (self.p_capped, self.p_room, s.p_high),
            (self.n_capped, self.n_room, s.n_high),
        ):
            total += np.where(open_, room * multiplier, 0.0).sum(1)
            count += open_.sum(1)
        return np.asarray(total / count)

    def moved(self, c: _State, length: FloatArray) -> _State:
        """Return the state after a change."""
        s, t = self.s, length[:, None]
        return _State(*(getattr(s, f.name) + t * getattr(c, f.name) for f in fields(s)))


def _solve_each(K: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solution of each system; NaN for a singular one, which then counts as broken."""
    try:
        return np.asarray(np.linalg.solve(K, right[:, :, None])[:, :, 0], dtype=float)
    except np.linalg.LinAlgError:
        if len(K) == 1:
            return np.full_like(right, np.nan)
        return np.vstack([_solve_each(K[i : i + 1], right[i : i + 1]) for i in range(len(K))])


def _ratio(top: FloatArray, bottom: FloatArray, where: BoolArray) -> FloatArray:
    return np.where(where, top / bottom, 0.0)


def _room(at: FloatArray, change: FloatArray, where: BoolArray | None = None) -> FloatArray:
    """Return the largest t with at + t change >= 0."""
    falls = change < 0 if where is None else where & (change < 0)
    return np.asarray(np.where(falls, -at / change, np.inf).min(axis=1, initial=np.inf))
