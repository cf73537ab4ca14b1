"""Non-convex quadratic cells: a fast local answer, and a proof that it is the global one.

For each center: the best change of one feature (closed form), then the convex-concave procedure
from several starts; after each, a copositivity proof is tried at a radius just below the best
cost. A failed proof often holds a better point, which is then the new best. What cannot be proved
gets the largest radius that can.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Quadratic
from pertinent.geometry.running import is_over
from pertinent.proofs import CopositiveProofs, Simplices
from pertinent.solvers.curved.cone import ConeProgram
from pertinent.solvers.curved.convex_concave import convex_concave, polish, starts
from pertinent.solvers.curved.copositive.ball import Corners, Option
from pertinent.solvers.curved.copositive.copositive import PartSearch
from pertinent.solvers.curved.copositive.varying import MOST_CORNERS
from pertinent.solvers.curved.few import single_changes
from pertinent.solvers.curved.lagrange import prove_nothing
from pertinent.solvers.curved.shifted import Local, Shifted, shift
from pertinent.solvers.curved.stationary import (
    Stationary,
    is_stationary,
    multipliers_at,
    point_inside,
    shortened,
)
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.stages import Part, spread
from pertinent.solvers.tolerances import BETTER, LIFTED, PROGRESS, PROVED, PROVED_AT_LAST, WHOLE

#: Parts of the simplex a proof may look at: first try, last try, each step of the bisection.
FIRST, FIRST_OF_SEVERAL, LAST, BISECTION = 60, 30, 60, 20
#: The last try may take products of corners, in so many steps (for two classes, for more), or a
#: linear program for each part.
STEPS_OF_TWO, STEPS = 10_000, 500
#: Rows and bounds together from which on fewer of these programs are affordable.
AFFORDABLE_ROWS = 8
#: Where it fails, shares of the best cost to try with a single part, and where a bisection ends.
WIDER, CLOSE = (0.5, 0.9, 0.97, 0.99, 0.997, 0.999, 0.9997), 0.01
IMPROVEMENTS = 50
#: Parts that could not be closed from which to look for something better.
HINTS = 4


def solve_quadratic(task: Task) -> Solved:
    """Return a local optimum of every row, proved global where the proof was found."""
    shifted = shift(task)
    n = len(task)
    steps, costs = single_changes(shifted)
    points = np.full(task.centers.shape, np.nan)
    outcome = np.full(n, TROUBLE, dtype=np.int8)
    proofs: list[Simplices | None] = [None] * n
    empty: list[Part] = []
    bound = np.where(shifted.contradictory, np.inf, shifted.base)
    for i in range(n):
        if shifted.contradictory[i]:
            outcome[i] = EMPTY
            continue
        if (shifted.values[i] <= 0).all():
            points[i], outcome[i] = shifted.start[i], SOLVED
            continue
        if i and is_over():  # one row is tried, whatever the time
            continue
        search = _RowSearch(shifted, i)
        if search.beyond(task.cutoff[i] - shifted.base[i]):
            proofs[i], outcome[i] = search.proof, CUT
            bound[i] += search.proved
            continue
        if np.isfinite(costs[i]):
            search.offer(steps[i])
        search.run()
        proofs[i] = search.proof
        bound[i] += search.proved
        if search.best is not None:
            point = point_inside(shifted, i, search.best.step)
            if point is not None:
                points[i], outcome[i] = point, SOLVED
        elif search.proof is not None:
            outcome[i] = EMPTY
        else:
            nothing = prove_nothing(shifted, i)
            if nothing is not None:
                empty.append((np.array([i]), nothing))
                outcome[i], bound[i] = EMPTY, np.inf
    parts = [(np.arange(n), CopositiveProofs(tuple(proofs))), *empty]
    return Solved(points, outcome, spread(n, parts), bound)


def prove_row(
    shifted: Shifted, i: int, step: FloatArray, thoroughly: bool
) -> tuple[CopositiveProofs, float]:
    """Return a proof about one center, given a step believed to be the global optimum; its bound.

    Without effort it is a proof of the largest radius that takes little.
    """
    search = _RowSearch(shifted, i)
    search.offer(step)
    if thoroughly:
        search.prove_thoroughly()
    else:
        search.bisect()
    return CopositiveProofs((search.proof,)), float(shifted.base[i]) + search.proved


def local_row(shifted: Shifted, i: int, step: FloatArray | None) -> FloatArray | None:
    """Return the best step that the convex-concave procedure finds, without any proof."""
    search = _RowSearch(shifted, i, proofs=False)
    if step is not None:
        search.offer(step)
    search.run()
    return None if search.best is None else search.best.step


class _RowSearch:
    """The best step and the best proof for one center."""

    def __init__(self, shifted: Shifted, i: int, proofs: bool = True) -> None:
        self.proofs = proofs
        self.local = shifted.row(i)
        self.anchors = (shifted.task.cell.anchors - shifted.start[i]) * shifted.task.weights
        self.best: Stationary | None = None
        self.proof: Simplices | None = None

    @property
    def proved(self) -> float:
        """Nothing costs less than this; a ball that holds all of the box leaves no point."""
        if self.proof is None:
            return 0.0
        whole = float(np.maximum(self.local.up, self.local.down).sum())
        return np.inf if whole <= self.proof.radius else self.proof.radius

    @cached_property
    def corners(self) -> Corners:
        """The problem over the corners of its L1 ball."""
        return Corners(self.local)

    def offer(self, step: FloatArray) -> None:
        """Take a step that satisfies all rows, if it is better than the best."""
        cost = float(np.abs(step).sum())
        if self.best is None or cost < self.best.cost:
            self.best = Stationary(step, multipliers_at(self.local, step))

    def _offer_towards(self, anchor: FloatArray) -> None:
        """Take the first point on the way to an anchor that satisfies all rows."""
        step = np.clip(anchor, -self.local.down, self.local.up)
        if self.local.within(step, 0.0):
            self.offer(shortened(self.local, step))

    def beyond(self, cutoff: float) -> bool:
        """Return whether nothing lies within the cutoff: then no answer is of interest."""
        if not np.isfinite(cutoff) or is_over():
            return False
        if cutoff <= 0:
            return True
        search = PartSearch(self.corners, cutoff, self.options(cutoff), self._affordable(BISECTION))
        if search.run():
            self.proof = search.proof()
            return True
        return False

    def run(self) -> None:
        """Alternate between better steps and proofs until a proof closes, or starts run out."""
        self._search()
        if self.best is not None and self.proof is not None:
            self._finish()

    def _finish(self) -> None:
        """Go the last steps: a proof leaves room for something better by its gap."""
        assert self.best is not None
        if not is_stationary(self.local, self.best):
            program = ConeProgram(_spectral(self.local))
            found = convex_concave(program, self.best.step)
            if found is not None and found.cost < self.best.cost:
                self.best = found

    def _search(self) -> None:
        single = None if self.best is None else self.best.step
        if self.best is None:
            for anchor in self.anchors:
                self._offer_towards(anchor)
        if self.best is not None and self.prove():
            return
        natural = ConeProgram(self.local)
        spectral = ConeProgram(_spectral(self.local))
        for k, start in enumerate(starts(self.local, self.anchors, single)):
            if (self.best is not None or k) and is_over():
                return
            # The paper's own procedure, from the class mean, keeps the model's own split.
            program = natural if single is None or k == 1 else spectral
            before = np.inf if self.best is None else self.best.cost
            found = convex_concave(program, start, before)
            if found is not None and found.cost < before * (1 - BETTER):
                self.best = found
                if self.prove():
                    return
        if not self.proofs:
            return
        if self.best is None:
            self._prove_empty()
        elif not self.prove_thoroughly():
            self.bisect()

    @property
    def _programs_help(self) -> bool:
        """Whether multipliers that vary may close what constant ones leave open."""
        return self.local.n_rows > 1 and len(self.corners.which) <= MOST_CORNERS

    def prove(self) -> bool:
        """Return whether nothing better exists, improving the best on the way."""
        budget = FIRST_OF_SEVERAL if self._programs_help else FIRST
        return self._prove(PROVED, lambda t: self._by_parts(t, budget))

    def prove_thoroughly(self) -> bool:
        """Return whether nothing better exists, sparing no effort."""
        steps = STEPS_OF_TWO if self.local.n_rows == 1 else STEPS
        return self._prove(PROVED_AT_LAST, lambda t: self._thorough(t, steps, LAST))

    def _by_parts(self, t: float, budget: int) -> PartSearch:
        parts, programs = self._affordable(budget), int(self.local.n_rows > 1)
        return PartSearch(self.corners, t, self.options(t), parts, programs=programs)

    def _thorough(self, t: float, steps: int, parts: int) -> PartSearch:
        if not self._programs_help:
            steps, programs = self._affordable(steps), 0
        else:
            # The more rows and bounds there are, the larger each program.
            size = self.local.n_rows + int((self.corners.room < t).sum())
            parts = max(1, int(parts * min(1.0, AFFORDABLE_ROWS / size)))
            steps, programs = 0, parts
        return PartSearch(self.corners, t, self.options(t), parts, steps, programs)

    def _prove(self, radius: float, attempt: Callable[[float], PartSearch]) -> bool:
        if not self.proofs or is_over():
            return False
        for _ in range(IMPROVEMENTS):
            assert self.best is not None
            search = attempt(self.best.cost * radius)
            if search.run():
                self.proof = search.proof()
                return True
            better = search.step is not None and self._improve(search.step)
            if not better and not any(self._follow(hint) for hint in search.hints[:HINTS]):
                return False
        return False

    def _follow(self, hint: FloatArray) -> bool:
        """Take what is found from a hint, if it is better."""
        assert self.best is not None
        enough = self.best.cost * (1 - BETTER)
        near = polish(self.local, np.clip(hint, -self.local.down, self.local.up))
        if near is None or near.cost >= enough:
            near = convex_concave(ConeProgram(_spectral(self.local)), hint, self.best.cost)
        if near is None or near.cost >= enough:
            return False
        self.best = near
        return True

    def _affordable(self, budget: int) -> int:
        """Return the budget for this many corners: a part of twice as many costs four times."""
        return max(8, int(budget * min(1.0, (61 / len(self.corners.which)) ** 2)))

    def options(self, t: float) -> list[Option]:
        """Return combinations worth trying: the multipliers of the best step, with bounds."""
        local, none = self.local, np.zeros(2 * self.local.dim)
        y = self.best.multipliers if self.best is not None else np.zeros(local.n_rows)
        if not y.any() or float(y @ local.values) <= 0:
            worst = (local.values / np.maximum(np.abs(local.slopes).max(axis=1), 1e-300)).argmax()
            y = np.zeros(local.n_rows)
            y[worst] = 1.0 / abs(float(local.values[worst]))
        plain = Option(y, none, none)
        diagonal = np.diagonal(self.corners.matrix(t, plain))[:-1]
        room, which = self.corners.room[:-1], self.corners.which[:-1]
        cut = (diagonal <= 0) & (room < t)
        if not cut.any():
            return [plain]
        # A corner beyond its bound: lift its diagonal by k t (t - cap) to just above 0.
        lift = np.zeros(2 * local.dim)
        with np.errstate(invalid="ignore"):
            lift[which] = np.where(cut, (LIFTED - diagonal) / (t * (t - room)), 0.0)
        return [Option(y, none, factor * lift) for factor in (1.001, 1.5, 3.0)]

    def _improve(self, step: FloatArray) -> bool:
        """Take a step met by a failed proof, made stationary if that helps."""
        assert self.best is not None
        before = self.best.cost
        step = shortened(self.local, step)
        if np.abs(step).sum() < before:
            self.offer(step)
        exact = polish(self.local, step)
        if exact is not None and exact.cost < self.best.cost:
            self.best = exact
        return self.best.cost < before * (1 - PROGRESS)

    def bisect(self) -> None:
        """Keep the largest radius that can be proved with little effort."""
        assert self.best is not None
        low, high = 0.0, self.best.cost
        for share in () if is_over() else WIDER:
            search = self._thorough(share * self.best.cost, STEPS, 1)
            if not search.run():
                high = search.t
                break
            low, self.proof = search.t, search.proof()
        while high - low > CLOSE * self.best.cost and not is_over():
            t = (low + high) / 2
            search = self._by_parts(t, BISECTION)
            if search.run():
                low, self.proof = t, search.proof()
            else:
                high = t

    def _prove_empty(self) -> None:
        """Look at all of the box at once, if it is one: nothing may be left in it."""
        whole = float(np.maximum(self.local.up, self.local.down).sum()) * (1 + WHOLE)
        if np.isfinite(whole) and whole > 0:
            search = PartSearch(self.corners, whole, self.options(whole), LAST)
            if search.run():
                self.proof = search.proof()


def _spectral(local: Local) -> Local:
    """Return the problem with each form split by its eigenvectors: the least concave split."""
    rows = [Quadratic.from_matrix(Q, np.zeros(len(Q)), 0.0) for Q in local.forms]
    return replace(local, plus=tuple(r.plus for r in rows), minus=tuple(r.minus for r in rows))
