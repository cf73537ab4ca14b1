"""From a stationary step to a point that satisfies every inequality in floating point."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.solvers.curved.shifted import Shifted
from pertinent.solvers.curved.stationary import refine

#: How far inside the tight rows to aim, as shares of the rows' terms, until the point is inside.
INSIDE = (0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10)
#: What may be left over where nothing of the above helps.
LEFT_OVER = 1e-9


def settle(shifted: Shifted, i: int, step: FloatArray) -> FloatArray | None:
    """Return the point of a step, moved by rounding-sized amounts until the cell contains it.

    None if the step is not even nearly inside.
    """
    cell, local = shifted.task.cell, shifted.row(i)
    point = shifted.point(i, step)
    if cell.contains(point[None])[0]:
        return point
    for inside in INSIDE:
        moved = refine(local, step, dust=1e-12, inside=inside)
        candidates = [step * (1 + inside)] if moved is None else [moved.step, step * (1 + inside)]
        for candidate in candidates:
            held = np.clip(candidate, -local.down, local.up)
            point = shifted.point(i, held)
            if cell.contains(point[None])[0]:
                return point
    return shifted.point(i, step) if local.within(step, LEFT_OVER) else None
