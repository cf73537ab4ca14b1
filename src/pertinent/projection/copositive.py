"""The search for a copositivity proof that nothing lies within radius t.

See `pertinent.certificate._copositive` for the argument. The search works on the corners that
have room, keeps for each part of the simplex the matrices of all combinations tried, and either
closes every part, or meets a point that satisfies all rows (a better answer), or gives up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent._typing import FloatArray, IntArray
from pertinent.certificate import Simplices
from pertinent.projection.shifted import Local

#: Stricter than the checker, so that it agrees.
ENTRY_ERROR = 3e-14
DEFINITE = 1e-13


class Corners:
    """One `Local` problem over the corners of its L1 ball."""

    def __init__(self, local: Local) -> None:
        self.local = local
        d = local.dim
        room = np.concatenate([local.up, local.down, [np.inf]])
        self.which = np.flatnonzero(room > 0)
        self.room = room[self.which]
        self.feature = np.where(self.which == 2 * d, 0, self.which % d)
        self.sign = np.where(self.which < d, 1.0, np.where(self.which < 2 * d, -1.0, 0.0))
        self.slopes = local.slopes[:, self.feature] * self.sign
        pick = np.ix_(self.feature, self.feature)
        self.forms = np.array([Q[pick] for Q in local.forms]).reshape(
            -1, len(pick[0]), len(pick[0])
        )
        self.forms *= np.outer(self.sign, self.sign)
        opposite = (self.feature[:, None] == self.feature) & (self.sign[:, None] * self.sign < 0)
        self.opposite = np.nonzero(opposite)

    def matrix(self, t: float, option: Option) -> FloatArray:
        """Return M of a combination, lowered by rounding."""
        rows, nq = option.rows, len(self.forms)
        c, g = float(rows @ self.local.values), rows @ self.slopes
        size = float(rows @ np.abs(self.local.values))
        Q = np.tensordot(rows[:nq], self.forms, axes=1) if nq else np.zeros((len(g), len(g)))
        g_size, Q_size = np.abs(g), np.abs(Q)
        if len(rows) > 1:
            g_size = rows @ np.abs(self.slopes)
            Q_size = np.tensordot(rows[:nq], np.abs(self.forms), axes=1)
        if option.bounded:
            caps, cuts = option.caps[self.which[:-1]], option.cuts[self.which[:-1]]
            used = np.flatnonzero(caps + cuts)
            room = self.room[used]
            c -= caps[used] @ room
            size += caps[used] @ room
            g[used] += caps[used] - cuts[used] * room
            g_size[used] += caps[used] + cuts[used] * room
            Q[used, used] += cuts[used]
            Q_size[used, used] += cuts[used]
        M = c + t * (g[:, None] + g) / 2 + t * t * Q
        M -= (
            ENTRY_ERROR
            * (2 * self.local.dim + 1)
            * (size + t * (g_size[:, None] + g_size) / 2 + t * t * Q_size)
        )
        M[self.opposite] = np.abs(M).max()
        return np.asarray(M)

    def step(self, t: float, y: FloatArray) -> FloatArray:
        """Return the step s of weights y on the corners."""
        s = np.zeros(self.local.dim)
        np.add.at(s, self.feature, t * self.sign * y)
        return s


@dataclass(frozen=True, eq=False)
class Option:
    """A nonnegative combination of rows, caps and cuts (over all 2d corners)."""

    rows: FloatArray
    caps: FloatArray
    cuts: FloatArray

    @property
    def bounded(self) -> bool:
        """Whether bounds take part."""
        return bool(self.caps.any() or self.cuts.any())


@dataclass(frozen=True, eq=False)
class Part:
    """A sub-simplex: its corners as columns, and the matrix of each option."""

    corners: FloatArray
    matrices: list[FloatArray]


class Search:
    """Try to close every part of the simplex at radius t."""

    def __init__(self, corners: Corners, t: float, options: list[Option], budget: int) -> None:
        self.corners, self.t, self.budget = corners, t, budget
        self.options = list(options)
        self.roots = [corners.matrix(t, option) for option in self.options]
        self.nodes: list[tuple[int, int, int, float]] = []
        self.step: FloatArray | None = None

    def run(self) -> bool:
        """Return whether the proof succeeded; otherwise ``step`` may hold a better point."""
        stack = [Part(np.eye(len(self.corners.which)), list(self.roots))]
        while stack:
            if len(self.nodes) >= self.budget:
                return False
            part = self._updated(stack.pop())
            closing, remaining = self._closing(part)
            if closing >= 0:
                self.nodes.append((closing, 0, 0, 0.0))
                continue
            split = self._split(part, remaining)
            if split is None:
                return False
            i, j, share = split
            self.nodes.append((-1, int(self.corners.which[i]), int(self.corners.which[j]), share))
            stack += [_replace(part, i, j, share, replaced) for replaced in (j, i)]
        return True

    def proof(self) -> Simplices:
        """Return the successful run in the checker's form."""
        option, first, second, share = zip(*self.nodes, strict=True)
        return Simplices(
            self.t,
            np.array([o.rows for o in self.options]),
            np.array([o.caps for o in self.options]),
            np.array([o.cuts for o in self.options]),
            np.array(option),
            np.array(first),
            np.array(second),
            np.array(share),
        )

    def _updated(self, part: Part) -> Part:
        """Return the part with the matrices of options added since it was made."""
        missing = self.roots[len(part.matrices) :]
        if not missing:
            return part
        U = part.corners
        return Part(U, part.matrices + [U.T @ M @ U for M in missing])

    def _closing(self, part: Part) -> tuple[int, IntArray]:
        """Return the option that closes the part, or -1 and what is left of the first option."""
        left = np.zeros(0, dtype=np.int64)
        for k, M in enumerate(part.matrices):
            remaining = _remaining(M)
            if not len(remaining) or _definite(M[remaining[:, None], remaining]):
                return k, remaining
            if k == 0:
                left = remaining
        return -1, left

    def _split(self, part: Part, remaining: IntArray) -> tuple[int, int, float] | None:
        """Return the edge to split; None if a better point was met or nothing can be split."""
        M = part.matrices[0]
        inner = M[remaining[:, None], remaining]
        worst = int(remaining[np.diagonal(inner).argmin()])
        if M[worst, worst] <= 0 and not self._explain(part, part.corners[:, worst]):
            return None
        a, b = np.unravel_index(inner.argmin(), inner.shape)
        if a == b:
            off = inner + np.diag(np.full(len(inner), np.inf))
            a, b = np.unravel_index(off.argmin(), off.shape)
            if a == b:
                return None
        i, j = int(remaining[a]), int(remaining[b])
        curvature = M[i, i] + M[j, j] - 2 * M[i, j]
        share = 0.5
        if curvature > 0:
            share = float(np.clip((M[j, j] - M[i, j]) / curvature, 0.1, 0.9))
        new = share * part.corners[:, i] + (1 - share) * part.corners[:, j]
        lowest = share * share * M[i, i] + (1 - share) ** 2 * M[j, j]
        lowest += 2 * share * (1 - share) * M[i, j]
        if lowest <= 0 and not self._explain(part, new):
            return None
        return i, j, share

    def _explain(self, part: Part, y: FloatArray) -> bool:
        """Return whether some option is positive at y, adding the most violated row if needed.

        If no row is violated at y there is nothing to explain: y is a better point.
        """
        if any(float(y @ M @ y) > 0 for M in self.roots):
            return True
        step = self.corners.step(self.t, y)
        local = self.corners.local
        excess, d = local.excess(step) / np.maximum(local.scales(step), 1e-300), local.dim
        beyond = np.concatenate([step - local.up, -step - local.down])
        rows, caps = np.zeros(local.n_rows), np.zeros(2 * d)
        if beyond.max() > 1e-9 * self.t:
            caps[int(beyond.argmax())] = 1.0
        elif excess.max() > 1e-12:
            k = int(excess.argmax())
            rows[k] = 1.0 / max(abs(float(local.values[k])), float(local.scales(step)[k]))
        else:
            self.step = np.clip(step, -local.down, local.up)
            return False
        if len(self.options) >= 12:
            return False
        self.options.append(Option(rows, caps, np.zeros(2 * d)))
        self.roots.append(self.corners.matrix(self.t, self.options[-1]))
        return True


def _replace(part: Part, i: int, j: int, share: float, replaced: int) -> Part:
    """Return the part whose corner ``replaced`` is now the new point of the edge."""
    corners = part.corners.copy()
    corners[:, replaced] = share * part.corners[:, i] + (1 - share) * part.corners[:, j]
    matrices = []
    for M in part.matrices:
        new = share * M[i] + (1 - share) * M[j]
        own = share * new[i] + (1 - share) * new[j]
        moved = M.copy()
        moved[replaced], moved[:, replaced] = new, new
        moved[replaced, replaced] = own
        matrices.append(moved)
    return Part(corners, matrices)


def _remaining(M: FloatArray) -> IntArray:
    """Return the rows left after deleting, again and again, those without a negative entry."""
    remaining = np.flatnonzero((M < 0).any(axis=1))
    while len(remaining):
        kept = (M[remaining[:, None], remaining] < 0).any(axis=1)
        if kept.all():
            break
        remaining = remaining[kept]
    return remaining


def _definite(M: FloatArray) -> bool:
    diagonal = np.diagonal(M)
    if (diagonal <= 0).any():
        return False
    scaled = M / np.sqrt(np.outer(diagonal, diagonal))
    return bool(np.linalg.eigvalsh(scaled)[0] > DEFINITE * len(M))
