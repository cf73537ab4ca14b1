"""The L1 ball of radius t as a simplex, and its parts: what copositivity proofs are made over.

See `pertinent.proofs.copositive.replay` for the argument.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.solvers.curved.shifted import Local
from pertinent.solvers.tolerances import DEFINITE, ENTRY_ROUNDING


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
        self._slope_sizes, self._form_sizes = np.abs(self.slopes), np.abs(self.forms)
        opposite = (self.feature[:, None] == self.feature) & (self.sign[:, None] * self.sign < 0)
        self.opposite = np.nonzero(opposite)

    def matrix(self, t: float, option: Option) -> FloatArray:
        """Return M of a combination, lowered by rounding."""
        rows, nq = option.rows, len(self.forms)
        c, g = float(rows @ self.local.values), rows @ self.slopes
        size = float(rows @ np.abs(self.local.values))
        Q = _combined(rows[:nq], self.forms)
        g_size, Q_size = np.abs(g), np.abs(Q)
        if len(rows) > 1:
            g_size, Q_size = rows @ self._slope_sizes, _combined(rows[:nq], self._form_sizes)
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
            ENTRY_ROUNDING
            * (2 * self.local.dim + 1 + self.local.n_rows / 10)
            * (size + t * (g_size[:, None] + g_size) / 2 + t * t * Q_size)
        )
        M[self.opposite] = np.abs(M).max()
        return np.asarray(M)

    def step(self, t: float, y: FloatArray) -> FloatArray:
        """Return the step s of weights y on the corners."""
        s = np.zeros(self.local.dim)
        np.add.at(s, self.feature, t * self.sign * y)
        return s


def _combined(multipliers: FloatArray, forms: FloatArray) -> FloatArray:
    """Return ``sum_k multipliers_k forms_k``."""
    size = forms.shape[1:]
    return np.asarray((multipliers @ forms.reshape(len(forms), size[0] * size[1])).reshape(size))


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


def with_new_corner(part: Part, i: int, j: int, share: float, old: int) -> Part:
    """Return the part whose corner ``old`` is now the new point of the edge from i to j."""
    corners = part.corners.copy()
    corners[:, old] = share * part.corners[:, i] + (1 - share) * part.corners[:, j]
    matrices = []
    for M in part.matrices:
        new = share * M[i] + (1 - share) * M[j]
        own = share * new[i] + (1 - share) * new[j]
        moved = M.copy()
        moved[old], moved[:, old] = new, new
        moved[old, old] = own
        matrices.append(moved)
    return Part(corners, matrices)


def remaining_corners(M: FloatArray) -> IntArray:
    """Return the rows left after deleting, again and again, those without a negative entry."""
    remaining = np.flatnonzero((M < 0).any(axis=1))
    while len(remaining):
        kept = (M[remaining[:, None], remaining] < 0).any(axis=1)
        if kept.all():
            break
        remaining = remaining[kept]
    return remaining


def is_definite(M: FloatArray) -> bool:
    """Return whether M, brought to a diagonal of ones, is clearly positive definite."""
    diagonal = np.diagonal(M)
    if (diagonal <= 0).any():
        return False
    scaled = M / np.sqrt(np.outer(diagonal, diagonal))
    return bool(np.linalg.eigvalsh(scaled)[0] > DEFINITE * len(M))
