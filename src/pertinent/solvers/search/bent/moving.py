"""Points that keep rows of bent columns, moved back to their centers as far as the rows allow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.affine import BentRows
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.running import is_over
from pertinent.solvers.problem import Task
from pertinent.solvers.search.bent.parts import Number
from pertinent.solvers.tolerances import BENT_CUTS, BENT_ROUNDS


@dataclass(frozen=True, eq=False)
class Placed:
    """A point, and the curves there: asking a hundred of them takes longer than all else."""

    point: FloatArray
    image: FloatArray


@dataclass(frozen=True, eq=False)
class Places:
    """Where points of the rows of a task may lie."""

    rows: BentRows
    numbers: list[Number]
    task: Task
    domain: Domain

    def at(self, point: FloatArray, near: Placed | None = None) -> Placed:
        """Return a point with its curves; they are asked again only where a near one differs."""
        if near is None:
            return Placed(point, self.rows.image(point[None])[0])
        image, moved = near.image.copy(), point != near.point
        for m, curve in enumerate(self.rows.curves):
            if moved[curve.column]:
                image[m] = curve(point[[curve.column]])[0]
        return Placed(point, image)

    def value(self, placed: Placed) -> FloatArray:
        """Return by how much a point exceeds each row."""
        return np.asarray(self.rows.value_of(placed.point[None], placed.image[None])[0])

    def hold(self, placed: Placed, i: int) -> bool:
        """Return whether a point keeps all rows and rules of a sample."""
        point, t = placed.point, self.task
        if (point < t.lower[i]).any() or (point > t.upper[i]).any():
            return False
        if not (self.value(placed) <= 0).all():
            return False
        return not bool(self.domain.take(np.array([i])).violation(point[None])[0])

    def moved_back(self, placed: Placed, i: int) -> FloatArray:
        """Return a point with each number moved back to its center as far as the rows allow."""
        for number in sorted(self.numbers, key=lambda n: -n.weight):
            if is_over():
                break
            j, center = number.column, float(self.task.centers[i, number.column])
            out = min(max(center, self.task.lower[i, j]), self.task.upper[i, j])
            if placed.point[j] == out:
                continue
            tried = placed.point.copy()
            tried[j] = self._back(number, placed, i, float(out))
            tried = self.domain.completed(tried[None])[0]
            if tried[j] == placed.point[j]:
                continue
            moved = self.at(tried, placed)
            if self.hold(moved, i):
                placed = moved
        return placed.point

    def _back(self, number: Number, placed: Placed, i: int, out: float) -> float:
        """Return the number closest to ``out`` with which the rows hold, as cutting finds it."""
        j, inside = number.column, float(placed.point[number.column])
        others = self.value(placed) - number.adds(placed.point[[j]])[0]
        shares = np.linspace(0.0, 1.0, BENT_CUTS)
        for _ in range(BENT_ROUNDS):
            x = inside + (out - inside) * shares
            x[-1] = out
            if j in self.domain.confined:
                side = self.domain.floor if out < inside else self.domain.ceil
                x = side(j, x, np.full(len(x), i))
            with np.errstate(invalid="ignore"):
                good = (others + number.adds(x) <= 0).all(axis=1)
            good[0] = True
            k = int(np.flatnonzero(good)[-1])
            if k == len(x) - 1:
                return float(x[k])
            step, inside, out = abs(out - inside), float(x[k]), float(x[k + 1])
            if abs(out - inside) >= step or inside == out:
                break
        return inside
