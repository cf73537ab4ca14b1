"""Softmax probabilities: exponential cones by Clarabel, made exact by tangents.

``log sum_k exp(W_k x + b_k) <= 0`` is convex and smooth. Clarabel finds the optimum to about eight
digits; a tangent there turns the cell into a polyhedron, whose optimum (by our own simplex, or by
branch and bound where there are categories) is the answer up to the curvature between the two.
Where that is still outside, another tangent is added at it (Kelley's method).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.running import is_late
from pertinent.proofs import LinearProofs, Proofs
from pertinent.proofs.tangent import CutProofs
from pertinent.solvers.linear.polyhedron import solve_polyhedron
from pertinent.solvers.problem import SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.programs.conic import Block, Cone, solve_conic
from pertinent.solvers.search.linear import solve_mixed
from pertinent.solvers.tolerances import SOFTMAX_INSIDE, SOFTMAX_NEARLY

#: Tangents added to one row at most.
MAX_TANGENTS = 60


def solve_exponential(task: Task) -> Solved:
    """Return the optimum of every row, with tangents and the proofs of their polyhedra.

    Where time is over, rows after the first are not begun: a single one may be the only point.
    """
    n = len(task)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    touched: list[FloatArray] = []
    proofs: list[Proofs] = []
    for i in range(n):
        begin = _left_open if i and is_late() else _solve_row
        point, code, at, proof = begin(task.take(np.array([i])))
        outcome[i] = code
        if point is not None:
            points[i] = point
        touched.append(at)
        proofs.append(proof)
    return Solved(points, outcome, CutProofs(tuple(touched), tuple(proofs)))


Found = tuple[FloatArray | None, int, FloatArray, Proofs]


def _left_open(task: Task) -> Found:
    """Return no point, no tangents, and multipliers that show no more than the bounds do."""
    nothing = LinearProofs(np.zeros((1, len(task.cell.h))), np.zeros(1, dtype=bool))
    return None, TROUBLE, np.zeros((0, task.cell.dim)), nothing


def _solve_row(task: Task) -> Found:
    first = cone_optimum(task)
    touched = np.zeros((0, task.cell.dim)) if first is None else first[None]
    while True:
        answer = _outer_optimum(task, touched, 0.0)
        if answer.outcome[0] != SOLVED:
            return None, int(answer.outcome[0]), touched, answer.proofs
        excess = _excess(task, answer.points)
        if excess <= SOFTMAX_INSIDE:
            return answer.points[0], SOLVED, touched, answer.proofs
        if excess <= SOFTMAX_NEARLY or len(touched) >= MAX_TANGENTS:
            # The polyhedron's optimum is the bound; a little further in lies a point of the cell.
            point = _pulled_in(task, touched, excess)
            if point is not None or len(touched) >= MAX_TANGENTS:
                return point, TROUBLE if point is None else SOLVED, touched, answer.proofs
        touched = np.vstack([touched, answer.points])


def _outer_optimum(task: Task, touched: FloatArray, further: float) -> Solved:
    """Return the optimum over the tangents' polyhedron, its tangents moved in by ``further``."""
    cell = task.cell
    tangents = [bend.tangents(touched) for bend in cell.exponentials]
    G = np.vstack([cell.G, *(rows for rows, _ in tangents)])
    h = np.concatenate([cell.h, *(sides - further for _, sides in tangents)])
    outer = replace(cell, exponentials=(), magnitudes=None, G=G, h=h)
    moved = replace(task, region=outer, cutoff=np.full(1, np.inf))
    return solve_polyhedron(moved) if task.domain is None else solve_mixed(moved)


def _excess(task: Task, points: FloatArray) -> float:
    return max(float(bend.value(points)[0]) for bend in task.cell.exponentials)


def _pulled_in(task: Task, touched: FloatArray, excess: float) -> FloatArray | None:
    further = excess
    for _ in range(8):
        further *= 1.5
        answer = _outer_optimum(task, touched, further)
        if answer.outcome[0] == SOLVED and _excess(task, answer.points) <= 0.0:
            return np.asarray(answer.points[0])
    return None


def cone_optimum(task: Task) -> FloatArray | None:
    """Return the nearest point of one center, to solver precision; None if it found none.

    With t >= |x - c| and one u for each term: ``exp(W_k x + b_k) <= u_k`` and ``sum_k u_k <= 1``.
    """
    cell, center, lower, upper = task.cell, task.centers[0], task.lower[0], task.upper[0]
    d, terms = cell.dim, [len(bend.b) for bend in cell.exponentials]
    x, t, u = np.split(np.eye(2 * d + sum(terms)), [d, 2 * d])  # v = (x, t, u)
    low, high = np.isfinite(lower), np.isfinite(upper)
    sums = [own.sum(axis=0) for own in np.split(u, np.cumsum(terms)[:-1])]
    inequalities = np.vstack([cell.G @ x, x - t, -x - t, -x[low], x[high], *sums])
    sides = [cell.h, center, -center, -lower[low], upper[high], np.ones(len(sums))]
    blocks = [Block(Cone.NONNEGATIVE, inequalities, np.concatenate(sides))]
    slopes = np.vstack([bend.W for bend in cell.exponentials])
    shifts = np.concatenate([bend.b for bend in cell.exponentials])
    for slope, shift, own in zip(slopes, shifts, u, strict=True):
        # (W_k x + b_k, 1, u_k) in the exponential cone
        matrix = -np.stack([slope @ x, np.zeros(len(own)), own])
        blocks.append(Block(Cone.EXPONENTIAL, matrix, np.array([shift, 1.0, 0.0])))
    cost = task.weights @ t
    answer = solve_conic(cost, blocks)
    return answer.v[:d] if answer.outcome == SOLVED else None
