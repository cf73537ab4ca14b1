"""Projection onto a region: one piece at once, several by a search for the best of them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import Joined, pieces_of
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.geometry.task import as_bounds
from pertinent.proofs import Block, Certificate, Proofs
from pertinent.setting.options import Options
from pertinent.solvers.best_piece import PieceSearch
from pertinent.solvers.linear.uniqueness import Decision, decide_unique
from pertinent.solvers.problem import (
    EMPTY,
    SOLVED,
    TROUBLE,
    Method,
    Projections,
    Solved,
    Task,
    onto,
)
from pertinent.solvers.select import choose_method


def project(
    centers: FloatArray,
    region: Region | Cell,
    weights: FloatArray | None = None,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
    options: Options | None = None,
    skip: bool = True,
    domain: Domain | None = None,
    proved_on: Region | None = None,
) -> Projections:
    """Return the points of a region nearest to the centers in weighted L1.

    Parameters
    ----------
    centers : ndarray of shape (n, n_features)
    region : Region or Cell
    weights : ndarray of shape (n_features,), optional
        Positive; 1 for each feature by default.
    lower, upper : ndarray broadcastable to (n, n_features), optional
        Bounds of each center's own.
    options : Options, optional
    skip : bool
        Skip pieces whose lower bound already loses. The answer is the same without.
    domain : Domain, optional
        Whole numbers, categories and the like, beyond the region's inequalities.
    proved_on : Region, optional
        The region that bounds and statuses speak of: the same without its margin, say.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.solvers import project
    >>> from pertinent.geometry.region import Cell
    >>> half_plane = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))  # x1 + 2 x2 >= 2
    >>> found = project(np.zeros((1, 2)), half_plane)
    >>> found.points, found.objective, found.bound
    (array([[0., 1.]]), array([1.]), array([1.]))
    """
    centers = np.asarray(centers, dtype=float)
    centers = centers if centers.ndim == 2 else np.atleast_2d(centers)
    weights = np.ones(region.dim) if weights is None else np.asarray(weights, dtype=float)
    low = as_bounds(lower, centers.shape, -np.inf)
    high = as_bounds(upper, centers.shape, np.inf)
    every, options = np.full(len(centers), np.inf), options or Options()
    task = Task(region, centers, weights, low, high, every, options, domain=domain)
    return project_task(task, proved_on, skip)


def project_task(
    task: Task, proved_on: Cell | Region | None = None, skip: bool = True
) -> Projections:
    """Return the nearest points of the task's region; see `project`."""
    pieces = pieces_of(task.region)
    if len(pieces) == 1 and len(task):
        return _alone(task, pieces[0], proved_on)
    search = PieceSearch.begin(task, skip)
    search.run()
    return search.finish(task.region if proved_on is None else proved_on)


def _alone(task: Task, piece: Cell | Region, proved_on: Cell | Region | None) -> Projections:
    """Return the nearest points of a single piece; the same as a search over one piece gives."""
    n, method, own = len(task), choose_method(piece, task.domain), onto(task, piece)
    answer = method.solve(own)
    points, found = answer.points, answer.outcome == SOLVED
    everyone = np.count_nonzero(found) == n
    if not everyone:
        points = np.where(found[:, None], points, np.nan)
    decision = _unique(own, None if everyone else found, points, answer)
    block = Block(0, np.arange(n), answer.proofs)
    return Projections(
        points=points,
        piece=np.where(found, 0, -1),
        unique=decision.unique,
        second=decision.second,
        certificate=Certificate(n, (block, *decision.block(0))),
        methods=(method,),
        asked=task if proved_on is None else replace(task, region=proved_on),
        believe=lambda: answer.believed(own),
        solved=n,
    )


def _unique(task: Task, found: BoolArray | None, points: FloatArray, answer: Solved) -> Decision:
    if found is None and task.options.unique:
        return decide_unique(task, points, answer.proofs)
    decision = Decision.none(len(task))
    if found is not None and found.any() and task.options.unique:
        rows = np.flatnonzero(found)
        decision.update(
            rows, decide_unique(task.take(rows), points[rows], answer.proofs.take(rows))
        )
    return decision


@choose_method.register(CellUnion)
@choose_method.register(Joined)
def _method_of_union(region: CellUnion | Joined, domain: Domain | None = None) -> Method:
    """Return how a union is solved: as its only piece is, or by a search over the pieces."""
    pieces = pieces_of(region)
    if len(pieces) == 1:
        return choose_method(pieces[0], domain)
    why = f"a union of {len(pieces)} pieces: the nearest first, those that cannot win are skipped"
    return Method("best piece", why, _solve_union)


def _solve_union(task: Task) -> Solved:
    found = project_task(task)
    without = np.where(np.isinf(found.believed), EMPTY, TROUBLE)
    outcome = np.where(found.piece >= 0, SOLVED, without).astype(np.int8)
    proofs = cast(Proofs, found.certificate)  # it has their operations
    return Solved(found.points, outcome, proofs, found.believed)
