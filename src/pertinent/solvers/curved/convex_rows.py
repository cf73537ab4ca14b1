"""Cells with convex and other curved rows (a density under QDA, say): the convex rows come first.

What the convex rows alone rule out, all rows rule out; and a nearest point of the convex rows
that satisfies the others too is the answer. Only where neither is the case are the non-convex
rows looked at: whether a convex combination of all rows leaves any point at all, then by the
local search, and then for a bound on what it found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, IntArray
from pertinent.geometry.region import Cell
from pertinent.proofs import Proofs, TangentProofs
from pertinent.solvers.curved.convex import solve_convex
from pertinent.solvers.curved.few import single_changes
from pertinent.solvers.curved.interior.ellipsoid import ball_of, solve_ellipsoid
from pertinent.solvers.curved.lagrange import prove_bound, prove_empty
from pertinent.solvers.curved.shifted import Shifted, shift, tangent_bounds
from pertinent.solvers.problem import CUT, EMPTY, SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.stages import Part, Stage, spread


def convex_part(cell: Cell) -> Cell:
    """Return the cell without its non-convex rows."""
    return replace(cell, quadratics=tuple(row for row in cell.quadratics if row.is_convex))


def has_convex_row(cell: Cell) -> bool:
    """Return whether some quadratic row is convex."""
    return any(row.is_convex for row in cell.quadratics)


def _solve_convex_part(task: Task) -> Solved:
    part = replace(task, region=convex_part(task.cell))
    return (solve_convex if ball_of(part.cell) is None else solve_ellipsoid)(part)


def _solve_convex_rows(task: Task, so_far: Solved) -> Solved:
    """Return what the convex rows alone decide, and where no row's combination leaves a point."""
    easy = _solve_convex_part(task)
    proofs = _on_whole(easy.proofs, task.cell)
    bound = tangent_bounds(shift(task), proofs.tangents, proofs.multipliers, proofs.ray)
    solved = (easy.outcome == SOLVED) & np.isfinite(bound)
    solved[solved] = task.cell.contains(easy.points[solved])
    points = np.where(solved[:, None], easy.points, np.nan)
    outcome = np.where(solved, SOLVED, np.where(bound < task.cutoff, TROUBLE, CUT)).astype(np.int8)
    outcome[np.isinf(bound)] = EMPTY
    parts: list[Part] = [(np.arange(len(task)), proofs)]
    empty = _without_point(task, np.flatnonzero(outcome == TROUBLE), parts)
    outcome[empty], bound[empty] = EMPTY, np.inf
    return Solved(points, outcome, spread(len(task), parts), bound)


def _on_whole(proofs: Proofs, cell: Cell) -> TangentProofs:
    """Return proofs about the convex rows as proofs about all: the others have no part in it."""
    assert isinstance(proofs, TangentProofs)
    n, convex = len(proofs), [row.is_convex for row in cell.quadratics]
    own = iter(proofs.tangents)
    tangents = tuple(
        next(own) if row.is_convex else np.zeros((n, len(row.plus))) for row in cell.quadratics
    )
    multipliers = np.zeros((n, len(cell.quadratics) + len(cell.G)))
    multipliers[:, np.append(convex, np.ones(len(cell.G), dtype=bool))] = proofs.multipliers
    return TangentProofs(tangents, multipliers, proofs.ray)


def _without_point(task: Task, rows: IntArray, parts: list[Part]) -> IntArray:
    """Return the rows for which a combination of rows proves that there is no point."""
    if not len(rows):
        return rows
    shifted, empty = shift(task.take(rows)), []
    known = _knows_point(shifted)
    for k, i in enumerate(rows):
        proof = None if known[k] else prove_empty(shifted, k)
        if proof is not None:
            empty.append(i)
            parts.append((np.array([i]), proof))
    return np.array(empty, dtype=np.int64)


def _knows_point(shifted: Shifted) -> BoolArray:
    """Return for which centers a point is at hand: a single change, or an anchor in reach."""
    task, known = shifted.task, np.isfinite(single_changes(shifted)[1])
    for k in np.flatnonzero(~known):
        near = np.clip(task.cell.anchors, task.lower[k], task.upper[k])
        known[k] = task.cell.contains(near).any()
    return np.asarray(known)


def _combine_rows(task: Task, so_far: Solved) -> Solved:
    """Return a bound from all rows together, for the points that are known."""
    n, shifted, parts = len(task), shift(task), list[Part]()
    bound = shifted.base.copy()
    for k in np.flatnonzero(so_far.outcome == SOLVED):
        found = prove_bound(shifted, int(k))
        if found is not None:
            proofs, bound[k] = found
            parts.append((np.array([k]), proofs))
    nothing = np.full(n, TROUBLE, dtype=np.int8)
    return Solved(np.full(task.centers.shape, np.nan), nothing, spread(n, parts), bound)


#: The convex rows alone, before the solvers of non-convex cells; and a bound after them.
CONVEX_ROWS, COMBINED_ROWS = Stage(_solve_convex_rows), Stage(_combine_rows)
