"""Projection onto a region: one piece at once, several by a search for the best of them."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import Joined, pieces_of
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.geometry.task import as_bounds, distance
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
from pertinent.solvers.search.near import moved_back
from pertinent.solvers.select import choose_method
from pertinent.solvers.tolerances import SAME_COST


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
    if task.domain is not None and not task.domain.confines:
        return _out_of_gaps(task, task.domain, proved_on, skip)
    pieces = pieces_of(task.region)
    if len(pieces) == 1 and len(task):
        return _alone(task, pieces[0], proved_on)
    search = PieceSearch.begin(task, skip)
    search.run()
    found = search.finish(task.region if proved_on is None else proved_on)
    return _closer(task, found) if task.options.round_steps else found


def _out_of_gaps(
    task: Task, domain: Domain, proved_on: Cell | Region | None, skip: bool
) -> Projections:
    """Return the nearest points that keep out of gaps.

    Where the nearest point of all does so, it is the nearest: gaps only take points away.
    """
    free = project_task(replace(task, domain=None), proved_on, skip)
    found = free.piece >= 0
    rows = np.flatnonzero(found)
    rows = rows[domain.take(rows).violation(free.points[rows])]
    free.asked = replace(free.asked, domain=domain)
    for i in [i for i, point in free.second.items() if not _is_allowed(domain, i, point)]:
        del free.second[i]  # the other optimum is no answer: there may be none
        free.unique[i] = -1
    if not len(rows):
        return free
    some = task.take(rows)
    search = PieceSearch.begin(some, skip)
    search.run()
    again = search.finish(task.region if proved_on is None else proved_on)
    points, piece, unique = free.points.copy(), free.piece.copy(), free.unique.copy()
    points[rows], piece[rows], unique[rows] = again.points, again.piece, again.unique
    second = {i: point for i, point in free.second.items() if i not in set(rows.tolist())}
    second |= {int(rows[i]): point for i, point in again.second.items()}
    blocks = [replace(block, rows=rows[block.rows]) for block in again.certificate.blocks]

    def believe() -> FloatArray:
        believed = np.array(free.believe())
        believed[rows] = np.maximum(believed[rows], again.believe())
        return believed

    return replace(
        free,
        points=points,
        piece=piece,
        unique=unique,
        second=second,
        certificate=Certificate(len(task), (*free.certificate.blocks, *blocks)),
        methods=tuple(dict.fromkeys((*free.methods, *again.methods))),
        believe=believe,
        solved=free.solved + again.solved,
    )


def _is_allowed(domain: Domain, row: int, point: FloatArray) -> bool:
    return not domain.take(np.array([row])).violation(point[None])[0]


def _closer(task: Task, found: Projections) -> Projections:
    """Move points on steps that may not be the nearest back to their centers.

    A point of one piece, one step closer, may lie in another.
    """
    if task.domain is None:
        return found
    cost = distance(found.points, task.centers, task.weights)
    rows = np.flatnonzero((found.piece >= 0) & (found.believe() < cost * (1.0 - SAME_COST)))
    if len(rows):
        found.points[rows] = moved_back(task.take(rows), found.points[rows])
    return found


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
        piece=np.zeros(n, dtype=np.int64) if everyone else np.where(found, 0, -1),
        unique=decision.unique,
        second=decision.second,
        certificate=Certificate(n, (block, *decision.block(0))),
        methods=(method,),
        asked=task if proved_on is None else replace(task, region=proved_on),
        believe=lambda: answer.believed(own),
        solved=n,
    )


def _unique(task: Task, found: BoolArray | None, points: FloatArray, answer: Solved) -> Decision:
    if found is None and task.options.decides_unique:
        return decide_unique(task, points, answer.proofs)
    decision = Decision.none(len(task))
    if found is not None and found.any() and task.options.decides_unique:
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
