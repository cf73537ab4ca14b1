"""Projection onto a union: the best piece, with pieces that cannot win skipped.

The minimum over A and B is the smaller of the minima over A and over B; the bound over both is
the smaller of the two bounds, whether a piece was solved, cut short or skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed
from pertinent.geometry.pieces import as_region, lone_cell, pieces_of, require_cells
from pertinent.geometry.region import Cell, LazyCells, Region
from pertinent.geometry.task import as_bounds, distance
from pertinent.geometry.threads import one_thread
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import (
    FAILED,
    FEASIBLE,
    INFEASIBLE,
    OPTIMAL,
    Block,
    Certificate,
    Proofs,
)
from pertinent.proofs.core import WHOLE
from pertinent.setting.options import Options
from pertinent.solvers.cheap import cheap_bounds
from pertinent.solvers.curved.interior.ellipsoid import ball_bounds
from pertinent.solvers.linear.uniqueness import Decision, decide_unique
from pertinent.solvers.lone import project_onto_cell
from pertinent.solvers.problem import (
    CUT,
    SOLVED,
    TROUBLE,
    Method,
    Projections,
    Solved,
    Solver,
    Task,
)
from pertinent.solvers.select import choose_method
from pertinent.solvers.winners import winner_bounds

WHAT = "A projection"
#: Two objectives closer than this, relatively, are a tie.
TIE = 1e-9


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
    whole = as_region(region)
    centers = np.asarray(centers, dtype=float)
    centers = centers if centers.ndim == 2 else np.atleast_2d(centers)
    weights = np.ones(whole.dim) if weights is None else np.asarray(weights, dtype=float)
    low = as_bounds(lower, centers.shape, -np.inf)
    high = as_bounds(upper, centers.shape, np.inf)
    options = options or Options()
    cell = lone_cell(whole)
    if cell is not None and len(centers):
        cutoff = np.full(len(centers), np.inf)
        bounds = _within(cell, low, high)
        task = Task(cell, centers, weights, *bounds, cutoff, options, domain=domain)
        wide = None if proved_on is None else lone_cell(proved_on)
        wide = cell if wide is None else wide
        return project_onto_cell(task, choose_method(cell, domain), wide)
    search = _Search.begin(whole, centers, weights, low, high, options, skip, domain)
    search.run()
    return search.finish(whole if proved_on is None else proved_on)


@dataclass(eq=False)
class _Search:
    """The state of one search over the pieces, for all rows at once."""

    region: Region
    centers: FloatArray
    weights: FloatArray
    low: FloatArray
    high: FloatArray
    options: Options
    methods: tuple[Method, ...]
    cheap: FloatArray
    blocks: list[Block]
    best: FloatArray
    points: FloatArray
    piece: IntArray
    winners: list[tuple[int, IntArray, Task, Proofs]]
    rival: FloatArray
    tied: dict[int, FloatArray]
    domain: Domain | None = None
    solved: int = 0

    @classmethod
    def begin(
        cls,
        region: Region,
        centers: FloatArray,
        weights: FloatArray,
        low: FloatArray,
        high: FloatArray,
        options: Options,
        skip: bool,
        domain: Domain | None = None,
    ) -> _Search:
        n, pieces = len(centers), len(pieces_of(region))
        cheap = np.zeros((n, pieces))
        blocks: list[Block] = []
        if skip and pieces > 1 and (weights > 0).all():
            everyone = np.arange(n)
            if isinstance(region, WinnerRegion):
                cheap, rivals = winner_bounds(region, centers, weights, low, high)
                blocks.append(Block(WHOLE, everyone, rivals))
            else:
                for p, cell in enumerate(require_cells(region, WHAT)):
                    cheap[:, p], proofs = cheap_bounds(cell, centers, weights)
                    blocks.append(Block(p, everyone, proofs))
                    tangent = ball_bounds(cell, centers, weights, *_within(cell, low, high))
                    if tangent is not None:
                        np.maximum(cheap[:, p], tangent[0], out=cheap[:, p])
                        blocks.append(Block(p, everyone, tangent[1]))
        return cls(
            region=region,
            centers=centers,
            weights=weights,
            low=low,
            high=high,
            options=options,
            methods=_methods(region, domain),
            cheap=cheap,
            blocks=blocks,
            best=np.full(n, np.inf),
            points=np.full(centers.shape, np.nan),
            piece=np.full(n, -1),
            winners=[],
            rival=np.full(n, np.inf),
            tied={},
            domain=domain,
        )

    def run(self) -> None:
        """Solve each row's pieces in the order of their cheap bounds, until none can win.

        Where many rows cost little more than one, the best piece of each row is followed by its
        next four, and then by as many as were looked at so far: few rounds, each of many rows at
        once, in which what cannot win is cut short.
        """
        order = np.argsort(self.cheap, axis=1, kind="stable")
        doubling = all(method.in_lock_step for method in set(self.methods))
        first, width = 0, 1
        while first < order.shape[1] and self._round(order[:, first : first + width]):
            first, width = first + width, max(first + width, 4) if doubling else 1

    def _round(self, ranked: IntArray) -> bool:
        """Solve some pieces of each row; return False once no piece can win."""
        bound = np.take_along_axis(self.cheap, ranked, axis=1)
        # The order is ascending: once a bound loses, all later ones of that row lose too.
        open_ = bound <= self.best[:, None]
        self._skip(np.arange(len(bound)), np.where(open_, np.inf, bound).min(axis=1))
        groups = list(_groups(ranked, open_))
        if groups and (ranked.shape[1] == 1 or self._is_stacked):
            self._solve_together(groups)
            return True
        for p, rows in groups:
            cheap = self.cheap[rows, p]
            wins = cheap <= self.best[rows]  # which other pieces of this round may have lowered
            self._skip(rows[~wins], cheap[~wins])
            if wins.any():
                task = self._task(p, rows[wins])
                self._take(p, rows[wins], task, self.methods[p].solve(task))
        return bool(groups)

    @property
    def _is_stacked(self) -> bool:
        """Whether all pieces are solved in one lock step."""
        together = {method.together for method in set(self.methods)}
        return None not in together and all(method.in_lock_step for method in set(self.methods))

    def _skip(self, rows: IntArray, bound: FloatArray) -> None:
        """Note the bounds of pieces that are left out."""
        self.rival[rows] = np.minimum(self.rival[rows], bound)

    def _solve_together(self, groups: list[tuple[int, IntArray]]) -> None:
        """Solve one piece of each row: in any order, all at once, or on several cores."""
        todo = [(p, rows, self._task(p, rows)) for p, rows in groups]
        methods, tasks = [self.methods[p] for p, *_ in todo], [task for *_, task in todo]
        together = methods[0].together
        if together is not None and all(method.together is together for method in methods):
            answers = together(tasks)
        elif len(todo) > 1 and not methods[0].in_lock_step and effective_n_jobs() > 1:
            solves = zip(methods, tasks, strict=True)
            answers = Parallel()(delayed(_on_one_thread)(m.solve, task) for m, task in solves)
        else:
            answers = [method.solve(task) for method, task in zip(methods, tasks, strict=True)]
        for (p, rows, task), answer in zip(todo, answers, strict=True):
            self._take(p, rows, task, answer)

    def _take(self, p: int, rows: IntArray, task: Task, answer: Solved) -> None:
        """Note the answers of one piece."""
        self.solved += len(rows)
        self.blocks.append(Block(p, rows, answer.proofs))
        value = np.where(
            answer.outcome == SOLVED, distance(answer.points, task.centers, self.weights), np.inf
        )
        wins = (value < self.best[rows]) | (
            (value == self.best[rows]) & np.isfinite(value) & (p < self.piece[rows])
        )
        self._note_ties(rows, value, answer.points, wins)
        # A piece that was stopped early is worse than what stopped it; one given up need not be.
        self._skip(rows[answer.outcome == TROUBLE], np.zeros(1))
        cut = answer.outcome == CUT
        self._skip(rows[cut], task.cutoff[cut] * (1 - TIE))
        won = rows[wins]
        self.best[won], self.points[won], self.piece[won] = value[wins], answer.points[wins], p
        self.winners.append((p, rows, task, answer.proofs))

    def _task(self, p: int, rows: IntArray) -> Task:
        cell = require_cells(self.region, WHAT)[p]
        some = slice(None) if len(rows) == len(self.centers) else rows
        low, high = self.low[some], self.high[some]
        low, high = _within(cell, low, high)
        # The cutoff lies a little above the best, so that ties are seen, and what is cut is none.
        cutoff = self.best[rows] * (1 + 4 * TIE)
        domain = None if self.domain is None else self.domain.take(rows)
        args = cell, self.centers[some], self.weights, low, high, cutoff, self.options
        return Task(*args, domain=domain)

    def _note_ties(
        self, rows: IntArray, value: FloatArray, points: FloatArray, wins: BoolArray
    ) -> None:
        """Remember a rival's point where it is as good as the best, forget it where it lost."""
        known = self.best[rows]
        with np.errstate(invalid="ignore"):
            close = np.abs(value - known) <= TIE * np.maximum(value, known)
        at = np.flatnonzero(close & np.isfinite(known))
        if len(at):
            new, old = points[at], self.points[rows[at]]
            apart = np.abs(new - old).max(axis=1) > TIE * (1 + np.abs(new).max(axis=1))
            self._skip(rows[at[~apart]], value[at[~apart]])
            for k in np.flatnonzero(apart):
                i = int(rows[at[k]])
                self.tied[i] = old[k] if wins[at[k]] else new[k]
        if self.tied:
            for i in rows[(value < known) & ~close]:
                self.tied.pop(int(i), None)

    def finish(self, proved_on: Region) -> Projections:
        """Return the answers with their status, decided by the re-checked certificate."""
        n = len(self.centers)
        certificate = Certificate(n, tuple(self.blocks))
        bound = certificate.bounds(
            Task.of(proved_on, self.centers, self.weights, self.low, self.high, self.domain)
        )
        found = self.piece >= 0
        objective = np.where(found, self.best, np.nan)
        status = self._status(found, bound)
        bound = np.where(found, np.minimum(bound, objective), bound)
        decision, shown = self._uniqueness(found)
        return Projections(
            points=self.points,
            objective=objective,
            bound=bound,
            status=status,
            piece=self.piece,
            unique=decision.unique,
            second=decision.second,
            certificate=Certificate(n, (*self.blocks, *shown)),
            methods=self.methods,
            solved=self.solved,
        )

    def _status(self, found: BoolArray, bound: FloatArray) -> CodeArray:
        convex = self.region.is_convex and self.domain is None
        gap = GAP_CONVEX if convex else GAP_NONCONVEX
        status = np.where(np.isinf(bound), INFEASIBLE, FAILED).astype(np.int8)
        value, proved = np.where(found, self.best, 0.0), np.where(found, bound, 0.0)
        closed = is_closed(value, proved, self.points, self.centers, self.weights, gap)
        status[found] = np.where(closed[found], OPTIMAL, FEASIBLE)
        return status

    def _uniqueness(self, found: BoolArray) -> tuple[Decision, list[Block]]:
        """Return which answers are the only ones, and what the certificate must hold to show it."""
        decision, shown = Decision.none(len(found)), list[Block]()
        if not self.options.unique:
            return decision, shown
        for p, rows, task, proofs in self.winners:
            own = np.flatnonzero(self.piece[rows] == p)
            if not len(own):
                continue
            mine = rows[own]
            if len(own) < len(rows):
                task, proofs = task.take(own), proofs.take(own)
            decided = decide_unique(task, self.points[mine], proofs)
            shown += [replace(block, rows=mine[block.rows]) for block in decided.block(p)]
            decision.update(mine, decided)
        # A piece that was not solved to the end might hold as good a point.
        near = self.rival <= self.best * (1 + TIE)
        decision.unique[found & near & (decision.unique == 1)] = -1
        for i, point in self.tied.items():
            decision.unique[i], decision.second[i] = 0, point
        return decision, shown


def _methods(region: Region, domain: Domain | None) -> tuple[Method, ...]:
    """Return the method of each cell; cells that are made on demand are of one form."""
    cells = require_cells(region, WHAT)
    if isinstance(cells, LazyCells) and len(cells):
        return (choose_method(cells[0], domain),) * len(cells)
    return tuple(choose_method(cell, domain) for cell in cells)


def _within(cell: Cell, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return bounds with those of a cell included."""
    if not cell.has_bounds:
        return low, high
    return np.maximum(low, cell.lower), np.minimum(high, cell.upper)


def _on_one_thread(solve: Solver, task: Task) -> Solved:
    """Solve in another process, which must not start threads of its own."""
    with one_thread:
        return solve(task)


def _groups(ranked: IntArray, chosen: BoolArray) -> Iterator[tuple[int, IntArray]]:
    """Yield each piece with its rows, among the chosen (row, rank) pairs; pieces ascend."""
    rows, ranks = np.nonzero(chosen)
    if not len(rows):
        return
    pieces = ranked[rows, ranks]
    order = np.argsort(pieces, kind="stable")
    starts = np.flatnonzero(np.diff(pieces[order], prepend=-1))
    for group in np.split(order, starts[1:]):
        yield int(pieces[group[0]]), rows[group]
