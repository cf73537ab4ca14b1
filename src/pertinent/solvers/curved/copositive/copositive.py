"""The search for a copositivity proof that nothing lies within radius t.

See `pertinent.proofs.copositive.replay` for the argument. The search works on the corners that
have room, keeps for each part of the simplex the matrices of all combinations tried, and either
closes every part, or meets a point that satisfies all rows (a better answer), or gives up.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs import Simplices
from pertinent.solvers.curved.copositive.ball import (
    Corners,
    Option,
    Part,
    is_definite,
    remaining_corners,
    with_new_corner,
)
from pertinent.solvers.curved.copositive.split_matrix import split
from pertinent.solvers.curved.copositive.varying import varying_multipliers
from pertinent.solvers.search.engine import LastFirst, Limits, search
from pertinent.solvers.tolerances import BEYOND, LEAST_UNIT, NEVER_ZERO, ROOT_ROUNDING


class Node(NamedTuple):
    """A part that was closed, or split at the edge from ``first`` to ``second``.

    What closes it is an option, perhaps with a product, or a variation of multipliers.
    """

    option: int = -1
    first: int = 0
    second: int = 0
    share: float = 0.0
    product: int = -1
    variation: int = -1


class OpenPart(NamedTuple):
    """Why a part is open: corners in question, pairs of corners in the way, a point in the way."""

    corners: IntArray
    pairs: FloatArray | None = None
    y: FloatArray | None = None


Edge = tuple[int, int, float]


class PartSearch(LastFirst[Part]):
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
    programs : int, default=0
        How many linear programs to spend on multipliers that vary over a part.
    """

    def __init__(
        self,
        corners: Corners,
        t: float,
        options: list[Option],
        budget: int,
        splitting: int = 0,
        programs: int = 0,
    ) -> None:
        self.corners, self.t, self.budget = corners, t, budget
        self.splitting, self.programs = splitting, programs
        self.options = list(options)
        self.roots = [corners.matrix(t, option) for option in self.options]
        self.nodes: list[Node] = []
        self.products: list[FloatArray] = []
        self.varying: list[FloatArray] = []
        self.step: FloatArray | None = None
        self.hints: list[FloatArray] = []

    def run(self) -> bool:
        """Return whether the proof succeeded.

        Otherwise ``step`` may hold a better point, and ``hints`` some that may lead to one.
        """
        whole = Part(np.eye(len(self.corners.which)), list(self.roots))
        return search(self, [whole], Limits(rounds=self.budget))

    def advance(self, chosen: list[Part]) -> list[Part] | None:
        """Close a part, or return its two halves; None if there is no use in splitting it."""
        part = self._updated(chosen[0])
        left = self._close(part)
        if left is None:
            return []
        edge = self._edge(part, left)
        if edge is None:
            return None
        i, j, share = edge
        which = self.corners.which
        self.nodes.append(Node(-1, int(which[i]), int(which[j]), share))
        return [with_new_corner(part, i, j, share, old) for old in (j, i)]

    def proof(self) -> Simplices:
        """Return the successful run in the checker's form."""
        option, first, second, share, product, variation = zip(*self.nodes, strict=True)
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
            np.array(self.varying) if self.varying else None,
            np.array(variation) if self.varying else None,
        )

    def _updated(self, part: Part) -> Part:
        """Return the part with the matrices of options added since it was made."""
        missing = self.roots[len(part.matrices) :]
        if not missing:
            return part
        U = part.corners
        return Part(U, part.matrices + [U.T @ M @ U for M in missing])

    def _close(self, part: Part) -> OpenPart | None:
        """Close the part, and return None, or say what is left open of it."""
        left = np.zeros(0, dtype=np.int64)
        for k, M in enumerate(part.matrices):
            remaining = remaining_corners(M)
            if not len(remaining) or is_definite(M[remaining[:, None], remaining]):
                self.nodes.append(Node(k))
                return None
            if k == 0:
                left = remaining
        if self.programs > 0:
            return self._close_by_varying(part, left)
        return self._close_by_products(part, left) if self.splitting > 0 else OpenPart(left)

    def _close_by_varying(self, part: Part, left: IntArray) -> OpenPart | None:
        """Close the part by multipliers of the rows that vary over it."""
        self.programs -= 1
        U, local = part.corners, self.corners.local
        forms = np.stack([U.T @ M @ U for M in self.singles.values()])
        found = varying_multipliers(forms, self._free(part))
        if found.multipliers is None:
            return OpenPart(left, found.pairs)
        whole = np.zeros((local.n_rows + 2 * local.dim, 2 * local.dim + 1))
        used = np.array(list(self.singles))
        whole[used[:, None], self.corners.which] = found.multipliers / self.units[used, None]
        self.nodes.append(Node(variation=len(self.varying)))
        self.varying.append(whole)
        return None

    @cached_property
    def units(self) -> FloatArray:
        """A unit for each row and each cap."""
        local, t = self.corners.local, self.t
        reached = t * np.abs(local.slopes).max(axis=1)
        reached[: len(local.forms)] += t * t * np.abs(local.forms).max(axis=(1, 2))
        # A row may be 0 at the start.
        values = np.maximum(np.abs(local.values), np.maximum(LEAST_UNIT * reached, NEVER_ZERO))
        return np.append(values, np.full(2 * local.dim, t))

    @cached_property
    def singles(self) -> dict[int, FloatArray]:
        """The matrix of each row by itself, and of each cap that matters, in its unit."""
        m, d = self.corners.local.n_rows, self.corners.local.dim
        capped = self.corners.which[:-1][self.corners.room[:-1] < self.t]
        none = np.zeros(m + 2 * d)
        matrices = {}
        for k in [*range(m), *(m + capped).tolist()]:
            one = none.copy()
            one[k] = 1 / self.units[k]
            option = Option(one[:m], one[m:], none[m:])
            matrices[k] = self.corners.matrix(self.t, option)
        return matrices

    def _close_by_products(self, part: Part, left: IntArray) -> OpenPart | None:
        """Close the part by taking away products of corners."""
        k = next((k for k, M in enumerate(part.matrices) if (np.diagonal(M) > 0).all()), None)
        if k is None:
            return OpenPart(left)
        free = self._free(part)
        M = np.where(free, 0.0, part.matrices[k])
        kept = remaining_corners(M)
        cut = kept[:, None], kept
        found = split(M[cut], free[cut], self.splitting)
        self.splitting -= found.steps
        if found.nonnegative is None:
            pairs, y = np.zeros_like(M), np.zeros(len(M))
            pairs[cut], y[kept] = np.maximum(found.between, 0.0), found.y
            return OpenPart(left, pairs, part.corners @ y)
        n, used = 2 * self.corners.local.dim + 1, self.corners.which[kept]
        N = np.zeros((n, n))
        N[used[:, None], used] = found.nonnegative
        self.nodes.append(Node(k, product=len(self.products)))
        self.products.append(N[np.tril_indices(n)])
        return None

    def _free(self, part: Part) -> BoolArray:
        """Return the pairs of opposite corners that are still whole: their product is 0."""
        first, second = self.corners.opposite
        whole = (np.diagonal(part.corners) == 1) & (np.count_nonzero(part.corners, axis=0) == 1)
        free = np.zeros(part.corners.shape, dtype=bool)
        free[first, second] = whole[first] & whole[second]
        return free

    def _edge(self, part: Part, left: OpenPart) -> Edge | None:
        """Return the edge to split; None if a better point was met or nothing can be split."""
        if left.y is not None:
            self.hints.append(self.corners.step(self.t, left.y))
            if not self._explain(left.y):
                return None
        heaviest = None if left.pairs is None else self._heaviest(part, left.pairs)
        return self._lowest(part, left.corners) if heaviest is None else heaviest

    def _heaviest(self, part: Part, pairs: FloatArray) -> Edge | None:
        """Return the edge that is most in the way, divided by what its ends weigh."""
        edges = np.tril(np.where(self._free(part), 0.0, pairs), -1)
        i, j = np.unravel_index(edges.argmax(), edges.shape)
        if edges[i, j] <= 0:
            return None
        mine, other = pairs[[i, j]].sum(axis=1)
        return int(i), int(j), float(np.clip(mine / (mine + other), 0.2, 0.8))

    def _lowest(self, part: Part, remaining: IntArray) -> Edge | None:
        """Return the edge of the most negative entry, divided where the first option is lowest."""
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
        if beyond.max() > BEYOND * self.t:
            caps[int(beyond.argmax())] = 1.0
        elif excess.max() > ROOT_ROUNDING:
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
