"""The search for a copositivity proof that nothing lies within radius t.

See `pertinent.certificate._copositive` for the argument. The search works on the corners that
have room, keeps for each part of the simplex the matrices of all combinations tried, and either
closes every part, or meets a point that satisfies all rows (a better answer), or gives up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pertinent._typing import BoolArray, FloatArray, IntArray
from pertinent.certificate import Simplices
from pertinent.projection.shifted import Local
from pertinent.projection.splitting import Split, split

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


class Node(NamedTuple):
    """A part that was closed, by an option and perhaps a product, or split at an edge."""

    option: int = -1
    product: int = -1
    first: int = 0
    second: int = 0
    share: float = 0.0


class Open(NamedTuple):
    """Why a part is open: the corners in question, and what a splitting of those met, if tried."""

    corners: IntArray
    split: Split | None


class Search:
    """Try to close every part of the simplex at radius t.

    Parameters
    ----------
    corners : Corners
    t : float
    options : list of Option
    budget : int
        How many parts to look at.
    splitting : int, default=0
        How many steps to spend, over all parts, on products of corners that may close them.
    """

    def __init__(
        self, corners: Corners, t: float, options: list[Option], budget: int, splitting: int = 0
    ) -> None:
        self.corners, self.t, self.budget, self.splitting = corners, t, budget, splitting
        self.options = list(options)
        self.roots = [corners.matrix(t, option) for option in self.options]
        self.nodes: list[Node] = []
        self.products: list[FloatArray] = []
        self.step: FloatArray | None = None
        self.hints: list[FloatArray] = []

    def run(self) -> bool:
        """Return whether the proof succeeded.

        Otherwise ``step`` may hold a better point, and ``hints`` some that may lead to one.
        """
        stack = [Part(np.eye(len(self.corners.which)), list(self.roots))]
        while stack:
            if len(self.nodes) >= self.budget:
                return False
            part = self._updated(stack.pop())
            left = self._close(part)
            if left is None:
                continue
            edge = self._edge(part, left)
            if edge is None:
                return False
            i, j, share = edge
            which = self.corners.which
            self.nodes.append(Node(-1, -1, int(which[i]), int(which[j]), share))
            stack += [_replace(part, i, j, share, replaced) for replaced in (j, i)]
        return True

    def proof(self) -> Simplices:
        """Return the successful run in the checker's form."""
        option, product, first, second, share = zip(*self.nodes, strict=True)
        return Simplices(
            self.t,
            np.array([o.rows for o in self.options]),
            np.array([o.caps for o in self.options]),
            np.array([o.cuts for o in self.options]),
            np.array(option),
            np.array(first),
            np.array(second),
            np.array(share),
            np.array(self.products) if self.products else None,
            np.array(product) if self.products else None,
        )

    def _updated(self, part: Part) -> Part:
        """Return the part with the matrices of options added since it was made."""
        missing = self.roots[len(part.matrices) :]
        if not missing:
            return part
        U = part.corners
        return Part(U, part.matrices + [U.T @ M @ U for M in missing])

    def _close(self, part: Part) -> Open | None:
        """Close the part, and return None, or say what is left open of it."""
        left = np.zeros(0, dtype=np.int64)
        for k, M in enumerate(part.matrices):
            remaining = _remaining(M)
            if not len(remaining) or _definite(M[remaining[:, None], remaining]):
                self.nodes.append(Node(k))
                return None
            if k == 0:
                left = remaining
        return self._close_by_products(part, left) if self.splitting > 0 else Open(left, None)

    def _close_by_products(self, part: Part, left: IntArray) -> Open | None:
        """Close the part by taking away products of corners, or return what is in the way."""
        k = next((k for k, M in enumerate(part.matrices) if (np.diagonal(M) > 0).all()), None)
        if k is None:
            return Open(left, None)
        free = self._free(part)
        M = np.where(free, 0.0, part.matrices[k])
        kept = _remaining(M)
        cut = kept[:, None], kept
        found = split(M[cut], free[cut], self.splitting)
        self.splitting -= found.steps
        which, n = self.corners.which, 2 * self.corners.local.dim + 1
        if found.nonnegative is None:
            return Open(kept, found)
        N = np.zeros((n, n))
        N[which[kept][:, None], which[kept]] = found.nonnegative
        self.nodes.append(Node(k, len(self.products)))
        self.products.append(N[np.tril_indices(n)])
        return None

    def _free(self, part: Part) -> BoolArray:
        """Return the pairs of opposite corners that are still whole: their product is 0."""
        first, second = self.corners.opposite
        whole = (np.diagonal(part.corners) == 1) & (np.count_nonzero(part.corners, axis=0) == 1)
        free = np.zeros(part.corners.shape, dtype=bool)
        free[first, second] = whole[first] & whole[second]
        return free

    def _edge(self, part: Part, left: Open) -> tuple[int, int, float] | None:
        """Return the edge to split; None if a better point was met or nothing can be split."""
        if left.split is not None:
            return self._edge_of_split(part, left.corners, left.split)
        remaining = left.corners
        M = part.matrices[0]
        inner = M[remaining[:, None], remaining]
        worst = int(remaining[np.diagonal(inner).argmin()])
        if M[worst, worst] <= 0 and not self._explain(part.corners[:, worst]):
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
        if lowest <= 0 and not self._explain(new):
            return None
        return i, j, share

    def _edge_of_split(
        self, part: Part, kept: IntArray, found: Split
    ) -> tuple[int, int, float] | None:
        """Return the edge that weighs most in what keeps the sets apart.

        If that is ``y y'``, y is a point of the simplex that no option explains.
        """
        y = part.corners[:, kept] @ found.y
        self.hints.append(self.corners.step(self.t, y))
        if not self._explain(y):
            return None
        free = self._free(part)[kept[:, None], kept]
        weight = np.where(free, 0.0, np.tril(found.between, -1))
        i, j = np.unravel_index(weight.argmax(), weight.shape)
        if weight[i, j] <= 0:
            return None
        mine, other = np.maximum(found.between[[i, j]], 0.0).sum(axis=1)
        return int(kept[i]), int(kept[j]), float(np.clip(mine / (mine + other), 0.1, 0.9))

    def _explain(self, y: FloatArray) -> bool:
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
