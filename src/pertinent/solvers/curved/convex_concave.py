"""The convex-concave procedure: each concave part replaced by its tangent, again and again.

The tangent of ``-|N s|^2`` at the last step lies above it, so every answer of the convex
subproblem satisfies the true rows, and costs never rise. A start outside the cell is let in by
a penalty on violated rows, raised until it pays to satisfy them.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.running import is_over
from pertinent.solvers.curved.cone import ConeProgram
from pertinent.solvers.curved.shifted import Local
from pertinent.solvers.curved.stationary import Stationary, refine
from pertinent.solvers.problem import SOLVED
from pertinent.solvers.tolerances import COARSE_DUST, CONVERGED, FINE_DUST, LEFT_OVER, NEARLY_INSIDE

ROUNDS = 40
PENALTY, PENALTY_GROWTH, PENALTY_LIMIT = 10.0, 5.0, 1e7
#: Slow progress this far above the best cost known is not worth going on.
HOPELESS = 1.05


def convex_concave(
    program: ConeProgram, start: FloatArray, known: float = np.inf
) -> Stationary | None:
    """Return the stationary point the procedure reaches from ``start``, None if it reaches none.

    Parameters
    ----------
    known : float
        Cost of the best point known: converging slowly to something worse ends the procedure.
    """
    local = program.local
    step = np.clip(start, -local.down, local.up)
    penalty = None if local.within(step, NEARLY_INSIDE) else PENALTY
    cost, support = np.inf, None
    for _ in range(ROUNDS):
        answer = program.solve(step, penalty)
        if answer.outcome != SOLVED:
            return None
        if is_over():
            return polish(local, answer.step)
        step = answer.step
        before, cost = cost, float(np.abs(step).sum())
        inside = local.within(step, NEARLY_INSIDE)
        if penalty is not None:
            if inside and answer.slack <= NEARLY_INSIDE:
                penalty = None
            elif penalty >= PENALTY_LIMIT:
                return None
            else:
                penalty *= PENALTY_GROWTH
                continue
        last, support = support, _support(step)
        if abs(before - cost) <= CONVERGED * cost:
            return polish(local, step)
        if cost > known * HOPELESS and before < np.inf and before - cost < 0.01 * cost:
            return None  # slowly on the way to something worse than what is known
        # Once the same features move twice in a row, Newton's method goes the rest of the way.
        if last is not None and np.array_equal(last, support):
            exact = polish(local, step, FINE_DUST)
            if exact is not None and exact.cost <= cost * (1 + CONVERGED):
                return exact
    return polish(local, step)


def polish(
    local: Local, step: FloatArray, dusts: tuple[float, ...] = COARSE_DUST
) -> Stationary | None:
    """Return the exact stationary point next to ``step``, on the border of its tight rows."""
    for dust in dusts:
        exact = refine(local, step, dust)
        if exact is not None and local.within(exact.step, LEFT_OVER):
            return exact
    return None


def _support(step: FloatArray) -> IntArray:
    return np.flatnonzero(np.abs(step) > FINE_DUST[0] * np.abs(step).max(initial=0.0))


def starts(local: Local, anchors: FloatArray, single: FloatArray | None) -> list[FloatArray]:
    """Return where to start: class mean, nearest anchors inside, single change, the center.

    The first anchor is the class mean. From the center itself, most rows are violated and the
    first subproblem projects onto the linearisation.
    """
    found = [] if single is None else [single]
    if len(anchors):
        found.append(anchors[0])
        distance = np.abs(np.clip(anchors, -local.down, local.up)).sum(axis=1)
        for k in np.argsort(distance, kind="stable"):
            if k and local.within(np.clip(anchors[k], -local.down, local.up), 0.0):
                found.append(anchors[k])
                break
    found.append(np.zeros(local.dim))
    return found
