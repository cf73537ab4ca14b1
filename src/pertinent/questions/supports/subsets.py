"""The walk behind all exact answers: sets of features whose gains meet every need.

Strict positives, fewest changes, and sufficient reasons all come down to

    find S with |S| = k   such that   sum_{i in S} gain[j, i] >= need[j]   for every row j.

The search walks over the supports of each problem depth first, in a fixed order of features,
many problems at once. A branch is left as soon as one row proves it hopeless: even the q largest
gains among the features still to come do not meet what that row needs (the top-q bound).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows
from pertinent.questions.tolerances import BLOCK, FIRST, JUDGED_AT_ONCE, SLACK, STEP_NUMBERS
from pertinent.setting.effort import Budget as Budget
from pertinent.solvers.search.engine import LastFirst, search


class Outcome(IntEnum):
    """How the search for supports of one size ended."""

    EXHAUSTED = 0  #: no support of this size exists (or no further one)
    FOUND = 1  #: as many supports as were asked for
    STOPPED = 2  #: the limit of nodes or of time was reached first


#: ``(problems, supports of shape (t, k)) -> bool of shape (t,)``: the last word on a candidate.
Accept = Callable[[IntArray, IntArray], BoolArray]


@dataclass(frozen=True, eq=False)
class Gains(Rows):
    """What each feature adds to each row, for several problems at once.

    Parameters
    ----------
    gain : ndarray of shape (n, n_rows, n_features)
    need : ndarray of shape (n, n_rows)
    usable : ndarray of bool, shape (n, n_features), optional
        Features that may be chosen.
    """

    gain: FloatArray
    need: FloatArray
    usable: BoolArray = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.usable is None:
            n, _, d = self.gain.shape
            object.__setattr__(self, "usable", np.ones((n, d), dtype=bool))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.gain.shape[2])

    def slack_need(self) -> FloatArray:
        """Return the needs, lowered by what rounding can change."""
        size = np.abs(self.need) + np.abs(self.gain).sum(axis=2)
        return self.need - SLACK * np.where(np.isfinite(size), size, 0.0)


def smallest_size(gains: Gains) -> tuple[IntArray, IntArray]:
    """Return how many features the most demanding row alone asks for, and that row.

    Row j needs at least as many features as its largest gains need to reach ``need[j]``; where
    all its gains together do not, the size returned is n_features + 1.
    """
    n, rows, _ = gains.gain.shape
    if rows == 0:
        return np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    positive = np.where(gains.usable[:, None, :], np.maximum(gains.gain, 0.0), 0.0)
    reach = np.cumsum(-np.sort(-positive, axis=2), axis=2)
    need = gains.slack_need()[:, :, None]
    size = np.where(need[:, :, 0] <= 0, 0, 1 + (reach < need).sum(axis=2))
    row = size.argmax(axis=1)
    return size[np.arange(n), row], row


@dataclass(frozen=True, eq=False)
class Candidates:
    """Supports of one size: which problem, which features.

    Attributes
    ----------
    problem : ndarray of int, shape (t,)
    features : ndarray of int, shape (t, k)
    outcome : ndarray of int8, shape (n,)
        An `Outcome` for each problem.
    nodes : ndarray of int, shape (n,)
    """

    problem: IntArray
    features: IntArray
    outcome: IntArray
    nodes: IntArray

    def first(self, n_features: int) -> tuple[BoolArray, BoolArray]:
        """Return which problems have a support, and the mask of the first of each."""
        masks = np.zeros((len(self.outcome), n_features), dtype=bool)
        have, where = np.unique(self.problem, return_index=True)
        found = np.zeros(len(self.outcome), dtype=bool)
        found[have] = True
        masks[have[:, None], self.features[where]] = True
        return found, masks


def find_supports(
    gains: Gains,
    size: int,
    budget: Budget | None = None,
    accept: Accept | None = None,
    most: int = 1,
) -> Candidates:
    """Return supports of exactly ``size`` features that meet every need.

    Parameters
    ----------
    gains : Gains
    size : int
    budget : Budget, optional
    accept : callable, optional
        Judges candidates where the rows of ``gains`` are necessary but not sufficient.
    most : int
        Stop a problem after this many supports. They come in the order of the walk, which is
        that of usefulness, ties in the order of features, whatever else is in the batch.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.questions.supports.subsets import Gains, find_supports
    >>> gains = Gains(np.array([[[3.0, 2.0, 1.0], [0.0, 2.0, 3.0]]]), np.array([[3.0, 3.0]]))
    >>> find_supports(gains, 1).features.tolist()
    []
    >>> sorted(find_supports(gains, 2).features[0].tolist())
    [1, 2]
    """
    walk = _Walk(gains, size, budget or Budget(), accept, most)
    search(walk, walk.roots())
    return walk.finish()


def walking_order(gains: Gains) -> IntArray:
    """Return the order in which features are tried: the most useful to the unmet rows first."""
    need = gains.need
    unmet = np.where(need > 0, need, np.inf)
    useful = (gains.gain / unmet[:, :, None]).sum(axis=1)
    return np.argsort(np.where(gains.usable, -useful, np.inf), axis=1, kind="stable")


def suffix_bounds(gain: FloatArray, size: int) -> FloatArray:
    """Return ``best[n, B, j, q]``: the most that q features from block B on add to row j.

    Only positive gains are added up, since a support may always do without. A block has
    ``BLOCK`` places; the bound of a place is that of the block it stands in.
    """
    n, rows, d = gain.shape
    blocks = -(-d // BLOCK)
    best = np.zeros((n, blocks + 1, rows, size + 1))
    top = np.zeros((n, rows, size))  # the largest gains so far, in descending order
    for block in range(blocks - 1, -1, -1):
        more = np.maximum(gain[:, :, block * BLOCK : (block + 1) * BLOCK], 0.0)
        top = -np.sort(-np.concatenate([top, more], axis=2), axis=2)[:, :, :size]
        np.cumsum(top, axis=2, out=best[:, block, :, 1:])
    return best


@dataclass(eq=False)
class _Nodes:
    """Branches at the same depth: their problem, next place, unmet needs, chosen places."""

    problem: IntArray
    start: IntArray
    need: FloatArray
    chosen: IntArray

    def __len__(self) -> int:
        return len(self.problem)

    def take(self, rows: IntArray | slice) -> _Nodes:  # a slice copies nothing
        return _Nodes(self.problem[rows], self.start[rows], self.need[rows], self.chosen[rows])


def _rank(problem: IntArray) -> IntArray:
    """Return the number of each branch within its problem, in the order of the walk."""
    starts = np.flatnonzero(np.diff(problem, prepend=-1))
    lengths = np.diff(np.append(starts, len(problem)))
    return np.asarray(np.arange(len(problem)) - np.repeat(starts, lengths))


class _Walk(LastFirst[_Nodes]):
    """The state of one search: branches wait, the first of them on top."""

    def __init__(
        self, gains: Gains, size: int, budget: Budget, accept: Accept | None, most: int
    ) -> None:
        n, rows, d = gains.gain.shape
        self.size, self.budget, self.accept, self.most = size, budget, accept, most
        self.order = walking_order(gains)
        self.gain = np.take_along_axis(gains.gain, self.order[:, None, :], axis=2)
        self.need, self.room = gains.slack_need(), gains.usable.sum(axis=1)
        self.best = suffix_bounds(self.gain, max(size - 1, 0))
        self.chunk = max(1, STEP_NUMBERS // max(1, max(1, rows) * d))
        self.outcome = np.full(n, Outcome.EXHAUSTED)
        self.nodes, self.count = np.zeros((2, n), dtype=np.int64)
        self.problems: list[IntArray] = []
        self.supports: list[IntArray] = []

    def roots(self) -> list[_Nodes]:
        """Return the branches that have chosen nothing yet, or judge them if nothing more is."""
        open_ = np.flatnonzero(self.room >= self.size)
        none = np.zeros((len(open_), 0), dtype=np.int64)
        root = _Nodes(open_, np.zeros(len(open_), dtype=np.int64), self.need[open_], none)
        if self.size:
            return [root]
        self._judge(root.take(np.flatnonzero((root.need <= 0).all(axis=1))))
        return []

    def advance(self, chosen: list[_Nodes]) -> list[_Nodes]:
        """Look at the first branches; return the others, and then their children."""
        nodes = chosen[0]
        nodes = nodes.take(np.flatnonzero(self.outcome[nodes.problem] == Outcome.EXHAUSTED))
        later = [nodes.take(slice(self.chunk, None))] if len(nodes) > self.chunk else []
        return later + self._expand(nodes.take(slice(self.chunk))) if len(nodes) else []

    def leave(self, waiting: list[_Nodes]) -> None:
        """Note that the branches that wait were not looked at."""
        for nodes in waiting:
            open_ = self.outcome[nodes.problem] == Outcome.EXHAUSTED
            self.outcome[nodes.problem[open_]] = Outcome.STOPPED

    def _expand(self, nodes: _Nodes) -> list[_Nodes]:
        """Add one more feature to each branch; return the children that no row rules out."""
        d = self.gain.shape[2]
        left = self.size - nodes.chosen.shape[1] - 1
        places = np.arange(d)
        possible = (places >= nodes.start[:, None]) & (
            places < self.room[nodes.problem][:, None] - left
        )
        need = nodes.need[:, :, None] - self.gain[nodes.problem]
        if left:
            # q = left more features from place i + 1 on must be able to meet what remains.
            bound = self.best[:, :, :, left][nodes.problem][:, (places + 1) // BLOCK]
            bound = bound.transpose(0, 2, 1)
            possible &= (need <= bound).all(axis=1)
        else:
            possible &= (need <= 0).all(axis=1)
        parent, place = np.nonzero(possible)
        children = _Nodes(
            nodes.problem[parent],
            place + 1,
            need[parent, :, place],
            np.concatenate([nodes.chosen[parent], place[:, None]], axis=1),
        )
        self._spend(nodes)
        if not left:
            self._judge(children)
            return []
        # Mostly one of the first children leads to a support: look at the others later.
        soon = _rank(children.problem) < FIRST
        return [children.take(np.flatnonzero(part)) for part in (~soon, soon) if part.any()]

    def _spend(self, nodes: _Nodes) -> None:
        self.nodes += np.bincount(nodes.problem, minlength=len(self.nodes))
        over = (self.nodes > self.budget.nodes) & (self.outcome == Outcome.EXHAUSTED)
        if self.budget.expired():
            over = self.outcome == Outcome.EXHAUSTED
        self.outcome[over] = Outcome.STOPPED

    def _judge(self, nodes: _Nodes) -> None:
        """Take the candidates that pass, up to as many as were asked for."""
        if self.accept is None:
            self._take_those_that_pass(nodes)
            return
        for first in range(0, len(nodes.problem), JUDGED_AT_ONCE):
            if first and self.budget.expired():
                self.leave([nodes.take(slice(first, None))])
                return
            self._take_those_that_pass(nodes.take(slice(first, first + JUDGED_AT_ONCE)))

    def _take_those_that_pass(self, nodes: _Nodes) -> None:
        features = np.take_along_axis(self.order[nodes.problem], nodes.chosen, axis=1)
        problem = nodes.problem
        if self.accept is not None and len(problem):
            good = self.accept(problem, features)
            problem, features = problem[good], features[good]
        if not len(problem):
            return
        wanted = _rank(problem) < self.most - self.count[problem]
        self.problems.append(problem[wanted])
        self.supports.append(features[wanted])
        self.count += np.bincount(problem[wanted], minlength=len(self.count))
        self.outcome[self.count >= self.most] = Outcome.FOUND

    def finish(self) -> Candidates:
        if not self.problems:
            empty = np.zeros(0, dtype=np.int64)
            return Candidates(empty, np.zeros((0, self.size), np.int64), self.outcome, self.nodes)
        problem, features = np.concatenate(self.problems), np.concatenate(self.supports)
        return Candidates(problem, np.sort(features, axis=1), self.outcome, self.nodes)
