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
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs, SeveralProofs, TangentProofs
from pertinent.proofs.verdict import GAP_NONCONVEX
from pertinent.solvers.curved.convex import solve_convex
from pertinent.solvers.curved.interior.ellipsoid import ball_of, solve_ellipsoid
from pertinent.solvers.curved.lagrange import prove_bound, prove_empty
from pertinent.solvers.curved.shifted import Shifted, shift
from pertinent.solvers.curved.single import lines_first, single_changes
from pertinent.solvers.problem import EMPTY, SOLVED, Solved, Solver, Task

Part = tuple[IntArray, Proofs]


def convex_part(cell: Cell) -> Cell:
    """Return the cell without its non-convex rows."""
    return replace(cell, quadratics=tuple(row for row in cell.quadratics if row.is_convex))


def has_convex_row(cell: Cell) -> bool:
    """Return whether some quadratic row is convex."""
    return any(row.is_convex for row in cell.quadratics)


def _solve_convex_part(task: Task) -> Solved:
    part = replace(task, region=convex_part(task.cell))
    return (solve_convex if ball_of(part.cell) is None else solve_ellipsoid)(part)


def convex_first(solver: Solver) -> Solver:
    """Return the solver, called only for the centers that the convex rows leave open."""

    @lines_first
    def solve(task: Task) -> Solved:
        easy = _solve_convex_part(task)
        proofs = _on_whole(easy.proofs, task.cell)
        bound = proofs.bounds(task)
        outcome = np.where(np.isinf(bound), EMPTY, easy.outcome).astype(np.int8)
        solved = outcome == SOLVED
        solved[solved] = task.cell.contains(easy.points[solved])
        points = np.where(solved[:, None], easy.points, np.nan)
        parts: list[Part] = [(np.arange(len(task)), proofs)]
        left = np.flatnonzero(~solved & np.isfinite(bound) & (bound < task.cutoff))
        left = _without_empty(task, left, parts)
        outcome[~solved] = EMPTY
        if len(left):
            answer = solver(task.take(left))
            points[left], outcome[left] = answer.points, answer.outcome
            parts.append((left, answer.proofs))
            _raise_bounds(task, answer, left, parts)
        return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)))

    return solve


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


def _without_empty(task: Task, rows: IntArray, parts: list[Part]) -> IntArray:
    """Return the rows for which no combination of rows proves that there is no point."""
    if not len(rows):
        return rows
    shifted, left = shift(task.take(rows)), []
    known = _knows_point(shifted)
    for k, i in enumerate(rows):
        proof = None if known[k] else prove_empty(shifted, k)
        if proof is None:
            left.append(i)
        else:
            parts.append((np.array([i]), proof))
    return np.array(left, dtype=np.int64)


def _knows_point(shifted: Shifted) -> BoolArray:
    """Return for which centers a point is at hand: a single change, or an anchor in reach."""
    task, known = shifted.task, np.isfinite(single_changes(shifted)[1])
    for k in np.flatnonzero(~known):
        near = np.clip(task.cell.anchors, task.lower[k], task.upper[k])
        known[k] = task.cell.contains(near).any()
    return np.asarray(known)


def _raise_bounds(task: Task, answer: Solved, rows: IntArray, parts: list[Part]) -> None:
    """Add a bound from all rows together where the gap is open."""
    some = task.take(rows)
    bound = SeveralProofs(len(task), tuple(parts)).take(rows)
    proved = bound.bounds(some)
    cost = distance(answer.points, some.centers, task.weights)
    wide = (answer.outcome == SOLVED) & (proved < cost * (1 - GAP_NONCONVEX))
    shifted = shift(some)
    for k in np.flatnonzero(wide):
        proof = prove_bound(shifted, int(k))
        if proof is not None:
            parts.append((rows[k : k + 1], proof))
