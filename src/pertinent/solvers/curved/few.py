"""At most three features that move: all of the space is searched, so that no row is left open.

The convex-concave procedure may miss a point, or the best one, and a copositivity proof may not
close. With few features left to move, boxes of them can be halved until each is known to hold
nothing better (`pertinent.solvers.curved.halving`).
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers.curved.halving import find, improve, restricted
from pertinent.solvers.curved.lagrange import prove_nothing
from pertinent.solvers.curved.shifted import Shifted, shift
from pertinent.solvers.curved.stationary import point_inside
from pertinent.solvers.problem import EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.stages import Part, Stage, spread
from pertinent.solvers.tolerances import PROVED

#: With more features than this free to move there are too many boxes.
MOST_FREE = 3


def _has_few_free(task: Task) -> BoolArray:
    free = (task.upper > task.lower).sum(axis=1)
    return np.asarray((free >= 1) & (free <= MOST_FREE))


def _search_all(task: Task, so_far: Solved) -> Solved:
    """Return what a search of all space finds, one row at a time."""
    n = len(task)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    parts: list[Part] = []
    for i in range(n):
        one = np.array([i])
        known = so_far.points[i] if so_far.outcome[i] == SOLVED else None
        point, proofs = _search(shift(task.take(one)), known)
        if proofs is not None:
            parts.append((one, proofs))
            outcome[i] = EMPTY
        if point is not None:
            points[i], outcome[i] = point, SOLVED
    return Solved(points, outcome, spread(n, parts))


#: All of the space, where at most three features may move.
FEW_FREE = Stage(_search_all, _has_few_free)


def _search(shifted: Shifted, known: FloatArray | None) -> tuple[FloatArray | None, Proofs | None]:
    """Return the best point of one center and a proof, either of which may be missing."""
    task, whole = shifted.task, shifted.row(0)
    if known is None:
        nothing = prove_nothing(shifted, 0)
        if nothing is not None:
            return None, nothing
    free = np.flatnonzero((whole.up > 0) | (whole.down > 0))
    local = restricted(whole, free)
    step = None if known is None else ((known - shifted.start[0]) * task.weights)[free]
    if step is None:
        step = find(local)
    if step is None:
        return None, None
    step = improve(local, step)
    full = np.zeros(whole.dim)
    full[free] = step
    point = point_inside(shifted, 0, full)
    if point is None:
        return known, None
    claim = HalvingProofs(distance(point[None], task.centers, task.weights) * PROVED)
    return point, claim
