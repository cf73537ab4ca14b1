"""The tree of cases of a knapsack, as it grows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.proofs.cases.branch import LEAF, SPLIT, Tree


@dataclass(eq=False)
class Growing:
    """Nodes in lists: appending to arrays of one entry each takes longer than bounding a case.

    The right child of a node comes next after the left one.
    """

    kind: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    proof: list[int] = field(default_factory=list)
    multipliers: list[float] = field(default_factory=list)
    rays: list[bool] = field(default_factory=list)

    def leaf(self, proof: int = -1) -> int:
        """Return the place of a new leaf."""
        self.kind.append(LEAF)
        self.place.append(0)
        self.low.append(0.0)
        self.high.append(0.0)
        self.left.append(-1)
        self.proof.append(proof)
        return len(self.kind) - 1

    def split(self, node: int, column: int, low: float, high: float) -> tuple[int, int]:
        """Split a leaf, and return its children, which its proof holds for."""
        self.kind[node], self.place[node] = SPLIT, column
        self.low[node], self.high[node] = low, high
        self.left[node] = self.leaf(self.proof[node])
        return self.left[node], self.leaf(self.proof[node])

    def prove(self, node: int, multiplier: float, ray: bool) -> None:
        """Keep what proves the bound of a leaf."""
        self.proof[node] = len(self.rays)
        self.multipliers.append(multiplier)
        self.rays.append(ray)

    def finish(self) -> tuple[Tree, FloatArray, BoolArray]:
        """Return the tree with its multipliers."""
        left = np.array(self.left, dtype=np.int64)
        place, proof = (np.array(part, dtype=np.int64) for part in (self.place, self.proof))
        kind, right = np.array(self.kind, dtype=np.int8), np.where(left < 0, -1, left + 1)
        tree = Tree(kind, place, np.array(self.low), np.array(self.high), left, right, proof)
        return tree, np.array(self.multipliers).reshape(-1, 1), np.array(self.rays, dtype=bool)
