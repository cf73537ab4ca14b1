"""The best piece of a union, with pieces that cannot win skipped.

The minimum over A and B is the smaller of the minima over A and over B; the bound over both is
the smaller of the two bounds, whether a piece was solved, cut short or skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import forms_of, pieces_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import deadline, one_thread, until
from pertinent.geometry.task import distance
from pertinent.proofs import Block, Certificate
from pertinent.solvers.cheap import piece_bounds
from pertinent.solvers.linear.uniqueness import Decision, decide_unique
from pertinent.solvers.problem import (
    CUT,
    SOLVED,
    TROUBLE,
    Method,
    Projections,
    Solved,
    Solver,
    Task,
    onto,
)
from pertinent.solvers.search.engine import Problem, search
from pertinent.solvers.select import choose_method
from pertinent.solvers.tolerances import SAME_COST


@dataclass(eq=False)
class PieceSearch(Problem[IntArray]):
    """The state of one search over the pieces of a region, for all rows at once.

    Parameters
    ----------
    task : Task
    pieces : sequence of Cell or Region
    methods : tuple of Method
        One for each piece.
    cheap : ndarray of shape (n, n_pieces)
        Lower bounds of each row and piece.
    blocks : list of Block
        What is proved so far.
    best, points, piece : ndarray
        The best point of each row so far, with its cost and its piece (-1: none).
    rival : ndarray of shape (n,)
        The smallest bound of any piece that was not solved to the end.
    answers : list
        Each solved piece with its rows, its task and what was found.
    tied : dict of int to ndarray
        A point as good as the best, of the rows that have one.
    """

    at_least = 1

    task: Task
    pieces: Sequence[Cell | Region]
    methods: tuple[Method, ...]
    cheap: FloatArray
    blocks: list[Block]
    best: FloatArray
    points: FloatArray
    piece: IntArray
    rival: FloatArray
    answers: list[tuple[int, IntArray, Task, Solved]] = field(default_factory=list)
    tied: dict[int, FloatArray] = field(default_factory=dict)
    solved: int = 0

    @classmethod
    def begin(
        cls, task: Task, skip: bool = True, methods: tuple[Method, ...] | None = None
    ) -> PieceSearch:
        """Return the search before its first piece; ``methods`` are chosen by the pieces' form."""
        n, pieces = len(task), pieces_of(task.region)
        cheap, blocks = np.zeros((n, len(pieces))), list[Block]()
        if skip and len(pieces) > 1 and (task.weights > 0).all():
            cheap, blocks = piece_bounds(task.region, task)
        if methods is None:
            alike = ((choose_method(p, task.domain), count) for p, count in forms_of(task.region))
            methods = tuple(method for method, count in alike for _ in range(count))
        return cls(
            task=task,
            pieces=pieces,
            methods=methods,
            cheap=cheap,
            blocks=blocks,
            best=np.full(n, np.inf),
            points=np.full(task.centers.shape, np.nan),
            piece=np.full(n, -1),
            rival=np.full(n, np.inf),
        )

    def run(self) -> None:
        """Solve each row's pieces in the order of their cheap bounds, until none can win.

        Where many rows cost little more than one, the best piece of each row is followed by its
        next four, and then by as many as were looked at so far: few rounds, each of many rows at
        once, in which what cannot win is cut short.
        """
        search(self, np.argsort(self.cheap, axis=1, kind="stable").T)

    def pick(self, waiting: IntArray) -> tuple[IntArray, IntArray]:
        """Return the next pieces of all rows, one line for each rank, and the others."""
        first = self.cheap.shape[1] - len(waiting)
        width = max(first, 4) if first and self._in_lock_step else 1
        return waiting[:width], waiting[width:]

    def leave(self, waiting: IntArray) -> None:
        """Note that pieces were not looked at."""
        self._skip(np.arange(waiting.shape[1]), self.cheap.min(axis=1))

    def joined(self, others: IntArray, fresh: IntArray) -> IntArray:
        """Return the others: solving a piece brings no new ones."""
        return others

    def advance(self, chosen: IntArray) -> IntArray | None:
        """Solve some pieces of each row; None once no piece can win."""
        ranked = chosen.T
        bound = np.take_along_axis(self.cheap, ranked, axis=1)
        # The order is ascending: once a bound loses, all later ones of that row lose too.
        open_ = bound <= self.best[:, None]
        self._skip(np.arange(len(bound)), np.where(open_, np.inf, bound).min(axis=1))
        groups = list(_groups(ranked, open_))
        if groups and (ranked.shape[1] == 1 or self._is_stacked):
            self._solve_together(groups)
            return chosen[:0]
        for p, rows in groups:
            cheap = self.cheap[rows, p]
            wins = cheap <= self.best[rows]  # which other pieces of this round may have lowered
            self._skip(rows[~wins], cheap[~wins])
            if wins.any():
                task = self._task(p, rows[wins])
                self._take(p, rows[wins], task, self.methods[p].solve(task))
        return chosen[:0] if groups else None

    @property
    def _is_stacked(self) -> bool:
        """Whether all pieces are solved in one lock step."""
        return self._in_lock_step and all(method.together for method in set(self.methods))

    @cached_property
    def _in_lock_step(self) -> bool:
        return all(method.in_lock_step for method in set(self.methods))

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
            jobs = (delayed(_elsewhere)(m.solve, task, deadline()) for m, task in solves)
            answers = Parallel()(jobs)
        else:
            answers = [method.solve(task) for method, task in zip(methods, tasks, strict=True)]
        for (p, rows, task), answer in zip(todo, answers, strict=True):
            self._take(p, rows, task, answer)

    def _take(self, p: int, rows: IntArray, task: Task, answer: Solved) -> None:
        """Note the answers of one piece."""
        self.solved += len(rows)
        self.blocks.append(Block(p, rows, answer.proofs))
        value = np.where(
            answer.outcome == SOLVED, distance(answer.points, task.centers, task.weights), np.inf
        )
        wins = (value < self.best[rows]) | (
            (value == self.best[rows]) & np.isfinite(value) & (p < self.piece[rows])
        )
        self._note_ties(rows, value, answer.points, wins)
        # A piece that was stopped early is worse than what stopped it; one given up need not be.
        self._skip(rows[answer.outcome == TROUBLE], np.zeros(1))
        cut = answer.outcome == CUT
        self._skip(rows[cut], task.cutoff[cut] * (1 - SAME_COST))
        won = rows[wins]
        self.best[won], self.points[won], self.piece[won] = value[wins], answer.points[wins], p
        self.answers.append((p, rows, task, answer))

    def _task(self, p: int, rows: IntArray) -> Task:
        # The cutoff lies a little above the best, so that ties are seen, and what is cut is none.
        cutoff = self.best[rows] * (1 + 4 * SAME_COST)
        some = self.task if len(rows) == len(self.task) else self.task.take(rows)
        return onto(some, self.pieces[p], cutoff)

    def _note_ties(
        self, rows: IntArray, value: FloatArray, points: FloatArray, wins: BoolArray
    ) -> None:
        """Remember a rival's point where it is as good as the best, forget it where it lost."""
        known = self.best[rows]
        with np.errstate(invalid="ignore"):
            close = np.abs(value - known) <= SAME_COST * np.maximum(value, known)
        at = np.flatnonzero(close & np.isfinite(known))
        if len(at):
            new, old = points[at], self.points[rows[at]]
            apart = np.abs(new - old).max(axis=1) > SAME_COST * (1 + np.abs(new).max(axis=1))
            self._skip(rows[at[~apart]], value[at[~apart]])
            for k in np.flatnonzero(apart):
                i = int(rows[at[k]])
                self.tied[i] = old[k] if wins[at[k]] else new[k]
        if self.tied:
            for i in rows[(value < known) & ~close]:
                self.tied.pop(int(i), None)

    def finish(self, proved_on: Cell | Region) -> Projections:
        """Return the answers; their certificate speaks of ``proved_on``."""
        found = self.piece >= 0
        decision, shown = self._uniqueness(found)
        return Projections(
            points=self.points,
            piece=self.piece,
            unique=decision.unique,
            second=decision.second,
            certificate=Certificate(len(found), (*self.blocks, *shown)),
            methods=self.methods,
            asked=replace(self.task, region=proved_on),
            believe=self._believed,
            solved=self.solved,
        )

    def _believed(self) -> FloatArray:
        """Return what no point of any piece costs less than."""
        known = self.cheap.copy()
        for p, rows, task, answer in self.answers:
            known[rows, p] = np.maximum(known[rows, p], answer.believed(task))
        return np.asarray(known.min(axis=1, initial=np.inf))

    def _uniqueness(self, found: BoolArray) -> tuple[Decision, list[Block]]:
        """Return which answers are the only ones, and what the certificate must hold to show it."""
        decision, shown = Decision.none(len(found)), list[Block]()
        if not self.task.options.decides_unique:
            return decision, shown
        for p, rows, task, answer in self.answers:
            own = np.flatnonzero(self.piece[rows] == p)
            if not len(own):
                continue
            mine, proofs = rows[own], answer.proofs
            if len(own) < len(rows):
                task, proofs = task.take(own), proofs.take(own)
            decided = decide_unique(task, self.points[mine], proofs)
            shown += [replace(block, rows=mine[block.rows]) for block in decided.block(p)]
            decision.update(mine, decided)
        # A piece that was not solved to the end might hold as good a point.
        near = self.rival <= self.best * (1 + SAME_COST)
        decision.unique[found & near & (decision.unique == 1)] = -1
        for i, point in self.tied.items():
            decision.unique[i], decision.second[i] = 0, point
        return decision, shown


def _elsewhere(solve: Solver, task: Task, end: float) -> Solved:
    """Solve in another process: on one thread, within the same time."""
    with one_thread, until(end):
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
