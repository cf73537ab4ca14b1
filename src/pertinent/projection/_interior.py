"""An interior-point method for many centers at once: linear rows, one ball, bounds.

    min  sum_i p_i + n_i   s.t.   G (p - n) + v <= 0,   |P (p - n) + r| <= radius,
                                  0 <= p <= up,   0 <= n <= down.

Mehrotra's predictor and corrector with Nesterov-Todd scaling of the ball's second-order cone.
All centers share G and P. With ``a = G'y - P'z`` (y, (z0, z) the multipliers of rows and ball)
the start is dual feasible, and stays so: each iterate proves a lower bound, and a center that
cannot beat its cutoff stops as soon as its bound says so.

Each step eliminates p and n, and solves one system of size ``rows + rank + 1``:

    (B D B' + diag(slack / y, W^2)) (dy, dz0, dz) = right-hand side,     B = [G; 0; -P],

where D holds, for each feature, 1/theta_p + 1/theta_n of the barrier terms.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.certificate._linear import dual_values

ROUNDS = 35
#: Relative gap, and violation of the equations relative to the size of their terms, at the end.
GAP, RESIDUAL = 1e-9, 1e-9
#: Share of the way to the boundary that a step may go.
STAY_INSIDE = 0.995


@dataclass(frozen=True, eq=False)
class Balls:
    """The problems: what they share (G, P, radius), and one row of the other arrays for each."""

    G: FloatArray
    P: FloatArray
    radius: float
    values: FloatArray
    images: FloatArray
    up: FloatArray
    down: FloatArray
    cutoff: FloatArray

    def take(self, rows: IntArray) -> Balls:
        """Return some of the problems."""
        return Balls(
            self.G,
            self.P,
            self.radius,
            self.values[rows],
            self.images[rows],
            self.up[rows],
            self.down[rows],
            self.cutoff[rows],
        )


@dataclass(eq=False)
class _State:
    """Iterates of all problems; ``low`` and ``high`` are the multipliers of 0 <= p <= up etc."""

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

    def take(self, rows: IntArray) -> _State:
        return _State(*(getattr(self, f.name)[rows] for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Inside:
    """What came back for each problem.

    ``done`` says that the gap closed, ``cut`` that the bound passed the cutoff; neither means
    trouble (or emptiness), to be settled elsewhere. ``pull`` is z: the ball's multiplier.
    """

    step: FloatArray
    multipliers: FloatArray
    pull: FloatArray
    done: BoolArray
    cut: BoolArray


def solve_balls(balls: Balls) -> Inside:
    """Return the optimum of every problem."""
    n, d = balls.up.shape
    m, rank = len(balls.G), len(balls.P)
    out = Inside(
        np.zeros((n, d)),
        np.zeros((n, m)),
        np.zeros((n, rank)),
        np.zeros(n, dtype=bool),
        np.zeros(n, dtype=bool),
    )
    rows, state = np.arange(n), _begin(balls)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(ROUNDS):
            done, cut, sound = _judge(balls, state)
            out.step[rows], out.multipliers[rows] = state.p - state.n, state.y
            out.pull[rows], out.done[rows], out.cut[rows] = state.z[:, 1:], done, cut
            going = np.flatnonzero(~done & ~cut & sound)
            if not len(going):
                break
            if len(going) < len(rows):
                rows, balls, state = rows[going], balls.take(going), state.take(going)
            state = _advance(balls, state)
    return out


def _begin(balls: Balls) -> _State:
    """Return a dual feasible start: y small enough that |G'y| < 1, z = 0."""
    n, d = balls.up.shape
    m = len(balls.G)
    # The move to the ball's center of least length tells the size of things.
    to_center = balls.images @ np.linalg.pinv(balls.P).T if len(balls.P) else np.zeros((n, d))
    size = np.maximum(np.abs(to_center).mean(axis=1), 1e-8)[:, None]
    p = np.where(balls.up > 0, np.minimum(size, balls.up / 2), 0.0)
    q = np.where(balls.down > 0, np.minimum(size, balls.down / 2), 0.0)
    slack = np.maximum(-balls.values, size)
    y = np.minimum(size / slack, 0.5 / max(m, 1))
    a = y @ balls.G
    p_high = np.where(np.isfinite(balls.up), 0.5, 0.0)
    n_high = np.where(np.isfinite(balls.down), 0.5, 0.0)
    image = np.concatenate([np.zeros((n, 1)), balls.images + (p - q) @ balls.P.T], axis=1)
    image[:, 0] = np.maximum(balls.radius, 1.2 * np.linalg.norm(image, axis=1))
    z = np.zeros_like(image)
    z[:, 0] = size[:, 0] / image[:, 0]
    return _State(p, q, 1 + a + p_high, 1 - a + n_high, p_high, n_high, slack, y, image, z)


def _judge(balls: Balls, s: _State) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Return which problems are solved, which are cut off, and which are still sound."""
    step = s.p - s.n
    z = s.z[:, 1:]
    a = s.y @ balls.G - z @ balls.P
    # y'v from the rows, and -z'r - radius |z| from the ball's support, at step 0.
    excess = (s.y * balls.values).sum(axis=1) - (z * balls.images).sum(axis=1)
    excess -= balls.radius * np.linalg.norm(z, axis=1)
    zero, one = np.zeros_like(step), np.ones(step.shape[1])
    bound = dual_values(a, excess, zero, zero, one, -balls.down, balls.up)
    cost = (s.p + s.n).sum(axis=1)
    off_rows, off_image, off_radius = _residuals(balls, s, step)
    size = balls.radius + np.abs(s.u).max(axis=1)
    off = np.maximum(np.abs(off_image).max(axis=1, initial=0.0), np.abs(off_radius)) / size
    width = np.abs(balls.values) + np.abs(step).max(axis=1, initial=0.0)[:, None]
    off = np.maximum(off, (np.abs(off_rows) / width).max(axis=1, initial=0.0))
    done = (cost - bound <= GAP * cost) & (off <= RESIDUAL)
    sound = np.isfinite(cost) & np.isfinite(bound) & (cost < 1e15)
    return np.asarray(done & sound), np.asarray(bound > balls.cutoff), np.asarray(sound)


def _residuals(
    balls: Balls, s: _State, step: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return by how much rows, image and radius miss their equations."""
    off_rows = step @ balls.G.T + balls.values + s.slack
    off_image = s.u[:, 1:] - step @ balls.P.T - balls.images
    return off_rows, off_image, s.u[:, 0] - balls.radius


def _advance(balls: Balls, s: _State) -> _State:
    """Return the state after one predictor and corrector step."""
    newton = _Newton(balls, s)
    zero = np.zeros(len(s.p))
    guess = newton.solve(zero, None)
    forth, back = newton.reach(guess)
    after = newton.gap(guess, forth, back)
    center = np.clip((after / newton.gap_now) ** 3, 1e-8, 1.0)
    change = newton.solve(center * newton.gap_now / newton.count, guess)
    forth, back = (np.minimum(1.0, STAY_INSIDE * t) for t in newton.reach(change))
    return newton.moved(change, forth, back)


@dataclass(eq=False)
class _Change:
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
        rank = len(balls.P)
        self.B = np.vstack([balls.G, np.zeros((1, balls.G.shape[1])), -balls.P])
        self.scaling = _Scaling(s.u, s.z)
        D = self.give_p + self.give_n
        self.K = np.matmul(self.B * D[:, None, :], self.B.T)
        m = len(balls.G)
        here = np.arange(m)
        self.K[:, here, here] += s.slack / s.y
        self.K[:, m:, m:] += self.scaling.squared()
        self.off_rows, off_image, off_radius = _residuals(balls, s, s.p - s.n)
        self.off_ball = np.concatenate([off_radius[:, None], off_image], axis=1)
        a = s.y @ balls.G - s.z[:, 1:] @ balls.P
        self.off_p = np.where(self.p_open, 1 + a - s.p_low + s.p_high, 0.0)
        self.off_n = np.where(self.n_open, 1 - a - s.n_low + s.n_high, 0.0)
        self.count = (
            self.p_open.sum(1) + self.n_open.sum(1) + self.p_capped.sum(1) + self.n_capped.sum(1)
        ) + (m + (1 if rank else 0))
        self.gap_now = self.gap(None, 0.0, 0.0)

    def solve(self, target: FloatArray, guess: _Change | None) -> _Change:
        """Return the change towards products of size ``target``, second order by ``guess``."""
        s, t = self.s, target[:, None]
        want_p, want_n = t - s.p_low * s.p, t - s.n_low * s.n
        cap_p, cap_n = t - s.p_high * self.p_room, t - s.n_high * self.n_room
        want_y = t - s.slack * s.y
        ball = -_jordan(self.scaling.point, self.scaling.point)
        ball[:, 0] += target
        if guess is not None:
            want_p, want_n = want_p - guess.p * guess.p_low, want_n - guess.n * guess.n_low
            cap_p, cap_n = cap_p + guess.p * guess.p_high, cap_n + guess.n * guess.n_high
            want_y = want_y - guess.slack * guess.y
            ball -= _jordan(self.scaling.times(guess.z), self.scaling.over(guess.u))
        side_p = np.where(self.p_open, want_p / s.p, 0.0) - _ratio(
            cap_p, self.p_room, self.p_capped
        )
        side_n = np.where(self.n_open, want_n / s.n, 0.0) - _ratio(
            cap_n, self.n_room, self.n_capped
        )
        side_p, side_n = side_p - self.off_p, side_n - self.off_n
        e = self.give_p * side_p - self.give_n * side_n
        towards = self.scaling.times(_divide(self.scaling.point, ball))
        m = s.y.shape[1]
        right = np.matmul(e[:, None, :], self.B.T)[:, 0, :]
        right[:, :m] += self.off_rows + want_y / s.y
        right[:, m:] += towards + self.off_ball
        solved = np.linalg.solve(self.K, right[:, :, None])[:, :, 0]
        dy, dz = solved[:, :m], solved[:, m:]
        da = np.matmul(solved[:, None, :], self.B)[:, 0, :]
        dp, dn = self.give_p * (side_p - da), self.give_n * (side_n + da)
        du = towards - self.scaling.times(self.scaling.times(dz))
        return _Change(
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

    def reach(self, c: _Change) -> tuple[FloatArray, FloatArray]:
        """Return how far primal and dual parts can go until they touch a bound."""
        s = self.s
        forth = [
            _room(s.p, c.p, self.p_open),
            _room(s.n, c.n, self.n_open),
            _room(self.p_room, -c.p, self.p_capped),
            _room(self.n_room, -c.n, self.n_capped),
            _room(s.slack, c.slack),
            _cone_room(s.u, c.u),
        ]
        back = [
            _room(s.p_low, c.p_low, self.p_open),
            _room(s.n_low, c.n_low, self.n_open),
            _room(s.p_high, c.p_high, self.p_capped),
            _room(s.n_high, c.n_high, self.n_capped),
            _room(s.y, c.y),
            _cone_room(s.z, c.z),
        ]
        return np.minimum.reduce(forth), np.minimum.reduce(back)

    def gap(
        self, c: _Change | None, forth: FloatArray | float, back: FloatArray | float
    ) -> FloatArray:
        """Return the sum of all products after a change."""
        s = self.s if c is None else self.moved(c, np.minimum(forth, 1.0), np.minimum(back, 1.0))
        p_room, n_room = self.balls.up - s.p, self.balls.down - s.n
        total = np.where(self.p_open, s.p * s.p_low, 0.0) + np.where(
            self.n_open, s.n * s.n_low, 0.0
        )
        total += np.where(self.p_capped, p_room * s.p_high, 0.0)
        total += np.where(self.n_capped, n_room * s.n_high, 0.0)
        return np.asarray(total.sum(1) + (s.slack * s.y).sum(1) + (s.u * s.z).sum(1))

    def moved(self, c: _Change, forth: FloatArray, back: FloatArray) -> _State:
        """Return the state after a change."""
        s, f, b = self.s, forth[:, None], back[:, None]
        return _State(
            s.p + f * c.p,
            s.n + f * c.n,
            s.p_low + b * c.p_low,
            s.n_low + b * c.n_low,
            s.p_high + b * c.p_high,
            s.n_high + b * c.n_high,
            s.slack + f * c.slack,
            s.y + b * c.y,
            s.u + f * c.u,
            s.z + b * c.z,
        )


class _Scaling:
    """The Nesterov-Todd scaling W of a second-order cone: ``W z = u / W``."""

    def __init__(self, u: FloatArray, z: FloatArray) -> None:
        size_u, size_z = np.sqrt(_form(u)), np.sqrt(_form(z))
        u, z = u / size_u[:, None], z / size_z[:, None]
        self.size = np.sqrt(size_u / size_z)
        mirrored = z.copy()
        mirrored[:, 1:] *= -1
        half = np.sqrt((1 + (u * z).sum(axis=1)) / 2)
        self.w = (u + mirrored) / (2 * half[:, None])
        self.point = self.times(z) * size_z[:, None]

    def times(self, v: FloatArray) -> FloatArray:
        """Return W v."""
        return self.size[:, None] * self._apply(v, 1.0)

    def over(self, v: FloatArray) -> FloatArray:
        """Return the inverse of W, times v."""
        return self._apply(v, -1.0) / self.size[:, None]

    def _apply(self, v: FloatArray, sign: float) -> FloatArray:
        w0, w1 = self.w[:, :1], sign * self.w[:, 1:]
        inner = (w1 * v[:, 1:]).sum(axis=1, keepdims=True)
        first = w0 * v[:, :1] + inner
        rest = v[:, 1:] + (v[:, :1] + inner / (1 + w0)) * w1
        return np.concatenate([first, rest], axis=1)

    def squared(self) -> FloatArray:
        """Return W^2 = size^2 (2 w w' - J)."""
        out = 2 * self.w[:, :, None] * self.w[:, None, :]
        here = np.arange(1, out.shape[1])
        out[:, 0, 0] -= 1.0
        out[:, here, here] += 1.0
        return np.asarray(out * (self.size**2)[:, None, None])


def _form(v: FloatArray) -> FloatArray:
    """Return v'Jv, positive inside the cone."""
    tail = np.linalg.norm(v[:, 1:], axis=1)
    return np.asarray((v[:, 0] - tail) * (v[:, 0] + tail))


def _jordan(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the product (a'b, a0 b1 + b0 a1) of the cone's algebra."""
    out = a[:, :1] * b + b[:, :1] * a
    out[:, 0] = (a * b).sum(axis=1)
    return out


def _divide(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return x with a x = b in the cone's algebra."""
    first = (a[:, 0] * b[:, 0] - (a[:, 1:] * b[:, 1:]).sum(axis=1)) / _form(a)
    rest = (b[:, 1:] - first[:, None] * a[:, 1:]) / a[:, :1]
    return np.concatenate([first[:, None], rest], axis=1)


def _ratio(top: FloatArray, bottom: FloatArray, where: BoolArray) -> FloatArray:
    return np.where(where, top / bottom, 0.0)


def _room(at: FloatArray, change: FloatArray, where: BoolArray | None = None) -> FloatArray:
    """Return the largest t with at + t change >= 0."""
    falls = change < 0 if where is None else where & (change < 0)
    return np.asarray(np.where(falls, -at / change, np.inf).min(axis=1, initial=np.inf))


def _cone_room(at: FloatArray, change: FloatArray) -> FloatArray:
    """Return the largest t that keeps at + t change in the cone."""
    # The first root of  a t^2 + 2 b t + c = 0,  c = at'J at > 0.
    a = _signed_form(change, change)
    b, c = _signed_form(at, change), _form(at)
    bottom = -b + np.sqrt(b * b - a * c)
    return np.asarray(np.where(bottom > 0, c / bottom, np.inf))


def _signed_form(v: FloatArray, w: FloatArray) -> FloatArray:
    return np.asarray(v[:, 0] * w[:, 0] - (v[:, 1:] * w[:, 1:]).sum(axis=1))
