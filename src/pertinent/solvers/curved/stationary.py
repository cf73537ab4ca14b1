"""Newton's method on the optimality conditions: from a nearly optimal step to an exact one.

Given which features move (S) and which rows are tight (T), the conditions

    sign(s_S) + sum_k y_k grad q_k(s)_S = 0,     q_k(s) = 0 for k in T

determine ``s`` and the multipliers ``y``. Features that do not move sit exactly at 0, and those
at a bound exactly at the bound: no dust is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.solvers.curved.shifted import Local, Shifted, real_roots
from pertinent.solvers.tolerances import (
    AIMS,
    DUST,
    LEFT_OVER,
    NEWTON_DONE,
    NEWTON_NEAR,
    NO_WORSE,
    ROOT_ROUNDING,
    ROUNDED,
    STATIONARY,
    TIGHT,
)

#: Newton steps at most.
STEPS = 12


@dataclass(frozen=True, eq=False)
class Stationary:
    """A step with the multipliers of all rows."""

    step: FloatArray
    multipliers: FloatArray

    @property
    def cost(self) -> float:
        """The L1 norm of the step."""
        return float(np.abs(self.step).sum())


def multipliers_at(local: Local, s: FloatArray, tight: float = TIGHT) -> FloatArray:
    """Return nonnegative multipliers that come closest to stationarity at ``s``."""
    moving = _moving(local, s, DUST)
    active = np.flatnonzero(local.excess(s) >= -tight * local.scales(s))
    y = np.zeros(local.n_rows)
    if len(active) and moving.any():
        J = local.gradients(s)[active[:, None], np.flatnonzero(moving)]
        size = np.abs(J).max(axis=1)
        size[size == 0] = 1.0
        scaled, _ = nnls((J / size[:, None]).T, -np.sign(s[moving]))
        y[active] = scaled / size
    return y


def is_stationary(local: Local, found: Stationary, rtol: float = STATIONARY) -> bool:
    """Return whether no feature would like to move, by the multipliers of the rows."""
    s, pull = found.step, found.multipliers @ local.gradients(found.step)
    # Moving up costs 1 (or gives back 1, below 0) and changes the rows by `pull`; down likewise.
    rise = np.where(s >= 0, 1.0, -1.0) + pull
    fall = np.where(s <= 0, 1.0, -1.0) - pull
    return bool(
        ((rise >= -rtol) | (s >= local.up)).all() and ((fall >= -rtol) | (s <= -local.down)).all()
    )


def may_replace(local: Local, exact: Stationary, cost: float) -> bool:
    """Return whether a step made exact, of convex rows, may stand for the one it was made from.

    What a solver leaves may be outside by little and so cost too little: of convex rows a step from
    which no feature would like to move is the best, whatever the other one costs.
    """
    return exact.cost <= cost * (1 + NO_WORSE) or is_stationary(local, exact)


def shortened(local: Local, step: FloatArray) -> FloatArray:
    """Return the shortest multiple ``r * step``, 0 < r <= 1, that satisfies every row."""
    c, b = local.values, local.slopes @ step
    a = np.zeros(local.n_rows)
    a[: len(local.forms)] = (local.forms @ step) @ step
    roots = np.concatenate(real_roots(a, b, c))
    for r in np.sort(roots[(roots > 0) & (roots < 1)]):
        if local.within(r * step, ROOT_ROUNDING):
            return np.asarray(r * step)
    return step


def refine(
    local: Local, s: FloatArray, dust: float = DUST, inside: float = 0.0, steps: int = STEPS
) -> Stationary | None:
    """Return the stationary point next to ``s``, or None if Newton's method finds none.

    Parameters
    ----------
    dust : float
        Features that moved less than this share of the largest move count as not moved.
    inside : float
        Tight rows are solved for ``-inside`` of their terms instead of 0.
    steps : int
        Newton steps at most.
    """
    moving = _moving(local, s, dust)
    s = _snapped(local, s, moving, dust)
    y = multipliers_at(local, s)
    tight = np.flatnonzero(y > 0)
    if not moving.any() or not len(tight):
        return None
    signs = np.sign(s[moving])
    free = np.flatnonzero(moving)
    largest = np.inf
    for _ in range(steps):
        change = _newton(local, s, y, free, tight, signs, inside)
        if change is None:
            return None
        s[free] += change[: len(free)]
        y[tight] += change[len(free) :]
        before, largest = largest, float(np.abs(change[: len(free)]).max())
        if largest <= NEWTON_DONE * np.abs(s).max():
            break
        if largest > NEWTON_NEAR * np.abs(s).max() and largest > 2 * before:
            return None  # on its way to nowhere
    if (np.sign(s[moving]) != signs).any() or (y < 0).any() or not np.isfinite(s).all():
        return None
    if (s > local.up).any() or (s < -local.down).any():
        return None
    return Stationary(s, y)


def point_inside(shifted: Shifted, i: int, step: FloatArray) -> FloatArray | None:
    """Return the point of a step, moved by rounding-sized amounts until the cell contains it.

    None if the step is not even nearly inside.
    """
    cell, local = shifted.task.cell, shifted.row(i)
    point = shifted.point(i, step)
    if cell.contains(point[None])[0]:
        return point
    for inside in AIMS:
        moved = refine(local, step, dust=ROUNDED, inside=inside)
        candidates = [step * (1 + inside)] if moved is None else [moved.step, step * (1 + inside)]
        for candidate in candidates:
            held = np.clip(candidate, -local.down, local.up)
            point = shifted.point(i, held)
            if cell.contains(point[None])[0]:
                return point
    return shifted.point(i, step) if local.within(step, LEFT_OVER) else None


def _moving(local: Local, s: FloatArray, dust: float) -> BoolArray:
    """Return which features moved, and not as far as their bound."""
    size = dust * np.abs(s).max(initial=0.0)
    return np.asarray((np.abs(s) > size) & (s < local.up - size) & (s > size - local.down))


def _snapped(local: Local, s: FloatArray, moving: BoolArray, dust: float) -> FloatArray:
    """Return ``s`` with every feature that does not move exactly at 0 or at its bound."""
    size = dust * np.abs(s).max(initial=0.0)
    still = np.where(
        s >= local.up - size, local.up, np.where(s <= size - local.down, -local.down, 0)
    )
    still = np.where(np.abs(s) <= size, 0.0, still)
    return np.where(moving, s, still)


def _newton(
    local: Local,
    s: FloatArray,
    y: FloatArray,
    free: IntArray,
    tight: IntArray,
    signs: FloatArray,
    inside: float,
) -> FloatArray | None:
    """Return one Newton step for (s_free, y_tight)."""
    nq, f, m = len(local.forms), len(free), len(tight)
    J = local.gradients(s)[tight[:, None], free]
    H = np.zeros((f, f))
    for k in tight[tight < nq]:
        H += 2 * y[k] * local.forms[k][free[:, None], free]
    matrix = np.zeros((f + m, f + m))
    matrix[:f, :f], matrix[:f, f:], matrix[f:, :f] = H, J.T, J
    excess = local.excess(s)[tight]
    if inside:
        excess = excess + inside * local.scales(s)[tight]
    right = -np.concatenate([signs + J.T @ y[tight], excess])
    # Rows may differ by many orders of magnitude: bring all to the same size first.
    size = np.abs(matrix).max(axis=1)
    if not np.isfinite(size).all() or (size == 0).any():
        return None
    try:
        return np.asarray(np.linalg.solve(matrix / size[:, None], right / size))
    except np.linalg.LinAlgError:
        return None
