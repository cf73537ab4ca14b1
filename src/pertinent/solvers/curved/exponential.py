"""Softmax probabilities: exponential cones by Clarabel, made exact by tangents.

``log sum_k exp(W_k x + b_k) <= 0`` is convex and smooth. Clarabel finds the optimum to about eight
digits; a tangent there turns the cell into a polyhedron, whose optimum (by our own simplex, or by
branch and bound where there are categories) is the answer up to the curvature between the two.
Where that is still outside, another tangent is added at it (Kelley's method).
"""

from __future__ import annotations

from dataclasses import replace

import clarabel
import numpy as np
import scipy.sparse as sp

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell
from pertinent.proofs import Proofs
from pertinent.proofs.cuts import CutProofs, with_tangents
from pertinent.solvers.linear.polyhedron import solve_polyhedron
from pertinent.solvers.problem import SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.search.linear import solve_mixed

#: Tangents added to one row at most.
MAX_TANGENTS = 60
#: A point whose left-hand side exceeds 0 by no more than this is inside.
INSIDE = 1e-12
#: Where it exceeds 0 by no more than this, moving the tangents in costs next to nothing.
NEARLY = 1e-8


def solve_exponential(task: Task) -> Solved:
    """Return the optimum of every row, with tangents and the proofs of their polyhedra."""
    n = len(task)
    points, outcome = np.full(task.centers.shape, np.nan), np.full(n, TROUBLE, dtype=np.int8)
    touched: list[FloatArray] = []
    proofs: list[Proofs] = []
    for i in range(n):
        point, code, at, proof = _solve_row(task.take(np.array([i])))
        outcome[i] = code
        if point is not None:
            points[i] = point
        touched.append(at)
        proofs.append(proof)
    return Solved(points, outcome, CutProofs(tuple(touched), tuple(proofs)))


def _solve_row(task: Task) -> tuple[FloatArray | None, int, FloatArray, Proofs]:
    first = cone_optimum(task.cell, task.centers[0], task.weights, task.lower[0], task.upper[0])
    touched = np.zeros((0, task.cell.dim)) if first is None else first[None]
    while True:
        answer = _outer_optimum(task, touched, 0.0)
        if answer.outcome[0] != SOLVED:
            return None, int(answer.outcome[0]), touched, answer.proofs
        excess = _excess(task, answer.points)
        if excess <= INSIDE:
            return answer.points[0], SOLVED, touched, answer.proofs
        if excess <= NEARLY or len(touched) >= MAX_TANGENTS:
            # The polyhedron's optimum is the bound; a little further in lies a point of the cell.
            point = _pulled_in(task, touched, excess)
            if point is not None or len(touched) >= MAX_TANGENTS:
                return point, TROUBLE if point is None else SOLVED, touched, answer.proofs
        touched = np.vstack([touched, answer.points])


def _outer_optimum(task: Task, touched: FloatArray, further: float) -> Solved:
    """Return the optimum over the tangents' polyhedron, its tangents moved in by ``further``."""
    outer = with_tangents(task.cell, touched)
    h = outer.h.copy()
    h[len(task.cell.h) :] -= further
    moved = Task(
        replace(outer, h=h), task.centers, task.weights, task.lower, task.upper,
        np.full(1, np.inf), task.options, task.domain,
    )  # fmt: skip
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


def cone_optimum(
    cell: Cell, center: FloatArray, weights: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray | None:
    """Return the nearest point by exponential cones, to solver precision; None if it found none.

    With t >= |x - c| and one u for each term: ``exp(W_k x + b_k) <= u_k`` and ``sum_k u_k <= 1``.
    """
    d = cell.dim
    terms = [len(bend.b) for bend in cell.exponentials]
    n_u = sum(terms)
    width = 2 * d + n_u
    finite_low, finite_high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
    eye = sp.eye_array(d, format="csr")
    zero_u = sp.csr_array((d, n_u))
    inequalities = [
        (sp.hstack([sp.csr_array(cell.G), sp.csr_array((len(cell.G), d + n_u))]), cell.h),
        (sp.hstack([eye, -eye, zero_u]), center),
        (sp.hstack([-eye, -eye, zero_u]), -center),
        (sp.hstack([-eye, sp.csr_array((d, d + n_u))])[finite_low], -lower[finite_low]),
        (sp.hstack([eye, sp.csr_array((d, d + n_u))])[finite_high], upper[finite_high]),
    ]
    cones = []
    first = 2 * d
    for bend in cell.exponentials:
        total = np.zeros(width)
        total[first : first + len(bend.b)] = 1.0
        inequalities.append((sp.csr_array(total[None]), np.ones(1)))
        for k in range(len(bend.b)):
            # (W_k x + b_k, 1, u_k) in the exponential cone
            block = np.zeros((3, width))
            block[0, :d] = -bend.W[k]
            block[2, first + k] = -1.0
            cones.append((sp.csr_array(block), np.array([bend.b[k], 1.0, 0.0])))
        first += len(bend.b)
    inequalities = [(A, b) for A, b in inequalities if A.shape[0]]
    A = sp.vstack([a for a, _ in inequalities + cones], format="csc")
    b = np.concatenate([side for _, side in inequalities + cones])
    n_plain = sum(len(side) for _, side in inequalities)
    kinds = [clarabel.NonnegativeConeT(n_plain)] + [clarabel.ExponentialConeT()] * len(cones)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cost = np.concatenate([np.zeros(d), weights, np.zeros(n_u)])
    empty = sp.csc_matrix((width, width))
    solver = clarabel.DefaultSolver(empty, cost, sp.csc_matrix(A), b, kinds, settings)
    answer = solver.solve()
    if str(answer.status) not in ("Solved", "AlmostSolved"):
        return None
    return np.asarray(answer.x[:d])
