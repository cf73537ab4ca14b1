"""The one form of a tree ensemble, whatever library it comes from.

A reader (`pertinent.models.trees`) fills two records, and everything else follows from them:

`Trees`
    The nodes of all trees, one tree after the other, in the order in which the library adds them
    up. A node sends a point to ``lower`` where ``x[column] <= cut``, else to ``upper``. ``cut`` is
    a double: the **largest double that goes to the lower side**. So what a library compares on is
    folded into the cut by its reader:

    ======================================  ====================================================
    the library compares                    ``cut``
    ======================================  ====================================================
    double ``x <= t``                       t
    double ``x < t``                        the double before t
    ``float32(x) <= t``                     the largest double whose rounding is at most t
    ``float32(x) < t``                      the largest double whose rounding is below t
    ======================================  ====================================================

    Rounding to single precision never changes the order of two numbers, so each of these is a
    half-line of doubles, and nothing about floats is left for the rest of the code to know.

    A node that sends a set of numbers to one side (categories, or zero as a missing value) is a
    chain of such nodes: several may share the nodes below them.

`Tally`
    How the library adds up the leaves of one point, and which class wins: the numbers it starts
    from, the precision it adds up in, what it divides by, who wins a tie. With these the sum is
    computed **to the bit**, in the order of the trees, so an exact tie is decided as ``predict``
    decides it. Where ``predict`` is not determined to the bit (threads that add up in any order)
    ``doubt`` says how far a sum may be off, and points closer than that to a decision belong to
    no class.

Cells. The cuts of a column divide its axis into cells: cell i holds ``cuts[i-1] < x <= cuts[i]``,
so a column with m cuts has the cells 0..m. A leaf is a product of intervals of cells, and a class
wins or loses in a product of cells as a whole: a search looks at cells, never at numbers.

To add a library: write the two records (see `pertinent.models.trees.forests` for the shortest
reader), give them to `EnsembleRegion`, and test `EnsembleRegion.contains` against ``predict`` on
points on the cuts, one float beside them, and at exact ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Rows

#: Unit roundoff of the precision that a library adds up in.
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}
#: The cell of a missing value.
MISSING = -1
#: Rivals that are no classes but numbers: see `Tally.least` and `Tally.most`.
LEAST, MOST = -1, -2
#: Points that are looked at together, times trees.
AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees, in the order in which their leaves are added up.

    Parameters
    ----------
    root : ndarray of int, shape (n_trees,)
        The first node of each tree.
    column : ndarray of int, shape (n_nodes,)
        The column that a node looks at; -1 at a leaf.
    cut : ndarray of shape (n_nodes,)
        The largest double that goes to the lower side; of no meaning at a leaf. ``inf``: every
        number does; ``-inf``: none.
    lower, upper : ndarray of int, shape (n_nodes,)
        The nodes below, numbered through all trees; of no meaning at a leaf.
    value : ndarray of shape (n_nodes, n_outputs)
        What a leaf adds to each output, as the library adds it; of no meaning at other nodes.
    missing : ndarray of bool, shape (n_nodes,), optional
        Where a missing value (NaN) goes to the lower side. None: it never does.
    """

    root: IntArray
    column: IntArray
    cut: FloatArray
    lower: IntArray
    upper: IntArray
    value: FloatArray
    missing: BoolArray | None = None

    def __len__(self) -> int:
        return len(self.root)


@dataclass(frozen=True, eq=False)
class Tally:
    """How a library adds up, and which class wins.

    With one output for each class (``threshold`` is None) the largest wins, the first of those
    that tie. With a single output for two classes, class 1 wins where it is at least
    ``threshold``: a library that asks for more than t has the next number as its threshold.

    Parameters
    ----------
    base : ndarray of shape (n_outputs,)
        What each sum starts from.
    dtype : {"float64", "float32"}
        The precision in which leaves are added, one tree after the other.
    divisor : float
        What the sums are divided by at the end, in the same precision: two different sums may
        then tie.
    threshold : float, optional
        Least output at which class 1 of two wins.
    doubt : float
        Class k wins only where its lead (before the division) is larger than this. 0 where sums
        are to the bit what the library computes; `summation_error` where any order is possible.
    late : float
        A class wins against an earlier one only where its output is larger by more than this.
        Between 0 and this the library's softmax may round both to the same number, which gives the
        tie to the earlier one, or not: the point belongs to no class.
    least : float, optional
        What the output of a class has to be at least where a probability is asked for: the
        "rival" `LEAST`. With a single output: its distance from 0 on the side of the class.
    most : float, optional
        Likewise what the output may be at most, where a range of outputs is asked for: the "rival"
        `MOST`.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.ensembles import Tally
    >>> votes = Tally(np.zeros(2), divisor=3.0)
    >>> sums = votes.totals(np.array([[[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]]))
    >>> votes.beats(sums, 0, 1), votes.beats(sums, 1, 0)  # a tie: the first class wins
    (array([ True]), array([False]))
    """

    base: FloatArray
    dtype: str = "float64"
    divisor: float = 1.0
    threshold: float | None = None
    doubt: float = 0.0
    late: float = 0.0
    least: float | None = None
    most: float | None = None

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.base) if self.threshold is None else 2

    def totals(self, values: FloatArray) -> FloatArray:
        """Return the sums of leaves, shape (n, n_trees, n_outputs), tree by tree; (n, n_outputs).

        In double precision, which holds every number of the library's own.
        """
        start = np.broadcast_to(self.base, (len(values), 1, len(self.base)))
        terms = np.concatenate([start, values], axis=1).astype(self.dtype)
        # `accumulate` adds one term after the other; `sum` would add in pairs.
        return np.add.accumulate(terms, axis=1)[:, -1].astype(np.float64)

    def outputs(self, totals: FloatArray) -> FloatArray:
        """Return the sums divided as the library divides them."""
        with np.errstate(over="ignore"):
            divided = totals.astype(self.dtype) / np.asarray(self.divisor, dtype=self.dtype)
        return np.asarray(divided, dtype=np.float64)

    def beats(self, totals: FloatArray, one: int, other: int) -> BoolArray:
        """Return where class ``one`` is ahead of ``other``, ties included that it wins."""
        if self.doubt > 0:
            lead, needed = self.lead(totals - self.base, one, other)
            return np.asarray(lead > needed + self.doubt)
        outputs = self.outputs(totals)
        if other in (LEAST, MOST):
            own = self._own(outputs, one)
            return np.asarray(own >= self._least if other == LEAST else own <= self._most)
        if self.threshold is not None:
            high = outputs[:, 0] >= self.threshold
            return np.asarray(high if one == 1 else ~high)
        mine, theirs = outputs[:, one], outputs[:, other]
        return np.asarray(mine >= theirs if one < other else mine - theirs > self.late)

    @property
    def _least(self) -> float:
        return -np.inf if self.least is None else self.least

    @property
    def _most(self) -> float:
        return np.inf if self.most is None else self.most

    def _own(self, outputs: FloatArray, one: int) -> FloatArray:
        """Return the output of a class; of a single one, its distance from 0 on that side."""
        if self.threshold is None:
            return outputs[:, one]
        return outputs[:, 0] if one == 1 else -outputs[:, 0]

    def lead(self, values: FloatArray, one: int, other: int) -> tuple[FloatArray, float]:
        """Return what each row of outputs adds to the lead of a class, and the lead it needs.

        Class ``one`` is ahead where the leads of all leaves add up to what is needed, in real
        numbers: see `Ensemble.lead` for how far rounding may be off.
        """
        if other in (LEAST, MOST):
            own, base = self._own(values, one), float(self._own(self.base[None], one)[0])
            if other == LEAST:
                return own, self._least * self.divisor - base
            return -own, base - self._most * self.divisor
        if self.threshold is None:
            needed = float(self.base[other] - self.base[one])
            late = self.late * self.divisor if one > other else 0.0
            return values[:, one] - values[:, other], needed + late
        needed = self.threshold * self.divisor - float(self.base[0])
        return (values[:, 0], needed) if one == 1 else (-values[:, 0], -needed)


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of all trees that some point reaches, as products of intervals of cells.

    Parameters
    ----------
    tree : ndarray of int, shape (n_leaves,)
        The tree of each leaf, ascending.
    value : ndarray of shape (n_leaves, n_outputs)
    start : ndarray of int, shape (n_leaves + 1,)
        The conditions of leaf l are ``start[l]:start[l + 1]``.
    column, first, last : ndarray of int, shape (n_conditions,)
        The leaf is reached only from the cells ``first <= cell <= last`` of the column; columns
        that a leaf does not ask about have no condition.
    """

    tree: IntArray
    value: FloatArray
    start: IntArray
    column: IntArray
    first: IntArray
    last: IntArray

    def __len__(self) -> int:
        return len(self.tree)

    @cached_property
    def owner(self) -> IntArray:
        """The leaf of each condition."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))


@dataclass(frozen=True, eq=False)
class _Front(Rows):
    """Nodes with their trees, and the first and last cells that lead there, shape (n, 2, dim)."""

    node: IntArray
    tree: IntArray
    box: IntArray


@dataclass(frozen=True, eq=False)
class Ensemble:
    """A sum of trees over ``dim`` columns, and how it is added up.

    Examples
    --------
    A single tree that adds (1, 0) up to x = 2 and (0, 1) beyond it:

    >>> import numpy as np
    >>> from pertinent.geometry.ensembles import Ensemble, Tally, Trees
    >>> at = np.array
    >>> tree = Trees(
    ...     at([0]), at([0, -1, -1]), at([2.0, 0.0, 0.0]), at([1, 0, 0]), at([2, 0, 0]),
    ...     at([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
    ... )  # fmt: skip
    >>> stump = Ensemble(tree, 1, Tally(np.zeros(2)))
    >>> stump.cuts, stump.cells_of(np.array([[2.0], [2.5]])).tolist()
    ((array([2.]),), [[0], [1]])
    >>> stump.totals(np.array([[2.0], [2.5]]))
    array([[1., 0.],
           [0., 1.]])
    """

    trees: Trees
    dim: int
    tally: Tally

    @cached_property
    def cuts(self) -> tuple[FloatArray, ...]:
        """The different cuts of each column, ascending; those that divide nothing left out."""
        nodes = self.trees
        inner = (nodes.column >= 0) & np.isfinite(nodes.cut)
        column, cut = nodes.column[inner], nodes.cut[inner]
        return tuple(np.unique(cut[column == j]) for j in range(self.dim))

    @cached_property
    def n_cells(self) -> IntArray:
        """The number of cells of each column."""
        return np.array([len(cuts) + 1 for cuts in self.cuts], dtype=np.int64)

    @cached_property
    def rank(self) -> IntArray:
        """For each node, the last cell that goes to the lower side (-1: none)."""
        nodes, rank = self.trees, np.zeros(len(self.trees.column), dtype=np.int64)
        for j, cuts in enumerate(self.cuts):
            own = np.flatnonzero(nodes.column == j)
            rank[own] = np.searchsorted(cuts, nodes.cut[own])
        rank[nodes.cut == -np.inf] = -1
        return rank

    def cells_of(self, points: FloatArray) -> IntArray:
        """Return the cell of each value, shape (n, dim); `MISSING` for NaN."""
        out = np.zeros(points.shape, dtype=np.int64)
        for j, cuts in enumerate(self.cuts):
            out[:, j] = np.searchsorted(cuts, points[:, j])
        out[np.isnan(points)] = MISSING
        return out

    def totals(self, points: FloatArray) -> FloatArray:
        """Return what the library adds up for each point, shape (n, n_outputs)."""
        return self.totals_of(self.cells_of(points))

    def totals_of(self, cells: IntArray) -> FloatArray:
        """Return the same of points in given cells, shape (n, dim)."""
        nodes, size = self.trees, max(1, AT_ONCE // max(len(self.trees), 1))
        out = np.empty((len(cells), len(self.tally.base)))
        for first in range(0, len(cells), size):
            some = cells[first : first + size]
            out[first : first + size] = self.tally.totals(nodes.value[self._reached(some)])
        return out

    def _reached(self, cells: IntArray) -> IntArray:
        """Return the leaf node that each point reaches in each tree, shape (n, n_trees)."""
        nodes, row = self.trees, np.arange(len(cells))[:, None]
        at = np.broadcast_to(nodes.root, (len(cells), len(nodes)))
        inner, some_missing = nodes.column[at] >= 0, bool((cells == MISSING).any())
        while inner.any():
            cell = cells[row, nodes.column[at]]
            low = cell <= self.rank[at]
            if some_missing:
                goes = False if nodes.missing is None else nodes.missing[at]
                low = np.where(cell == MISSING, goes, low)
            at = np.where(inner, np.where(low, nodes.lower[at], nodes.upper[at]), at)
            inner = nodes.column[at] >= 0
        return np.asarray(at)

    @cached_property
    def pulled_back(self) -> dict[tuple[object, ...], tuple[Ensemble, FloatArray]]:
        """The same over the inputs of maps, with the margins of its cuts, by map and margins.

        The regions of all classes share it, and what is known of its leaves.
        """
        return {}

    @cached_property
    def leaves(self) -> Leaves:
        """The leaves as products of intervals of cells."""
        nodes = self.trees
        box = np.zeros((len(nodes), 2, self.dim), dtype=np.int64)
        box[:, 1] = self.n_cells - 1
        front, done = _Front(nodes.root, np.arange(len(nodes)), box), list[_Front]()
        while len(front):
            is_leaf = nodes.column[front.node] < 0
            done.append(front.take(np.flatnonzero(is_leaf)))
            front = self._below(front.take(np.flatnonzero(~is_leaf)))
        every = _Front.stack(done)
        every = every.take(np.lexsort((every.node, every.tree)))
        low, high = every.box[:, 0], every.box[:, 1]
        leaf, column = np.nonzero((low > 0) | (high < self.n_cells - 1))
        start = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=len(low)))])
        ends = low[leaf, column], high[leaf, column]
        return Leaves(every.tree, nodes.value[every.node], start, column, *ends)

    @cached_property
    def ends(self) -> tuple[IntArray, IntArray]:
        """The first and the last cell of each condition of the leaves, numbered through columns."""
        leaves, place = self.leaves, np.concatenate([[0], np.cumsum(self.n_cells)])
        return place[leaves.column] + leaves.first, place[leaves.column] + leaves.last

    def _below(self, front: _Front) -> _Front:
        """Return the nodes below some inner nodes, those left out that no cell leads to."""
        nodes, n = self.trees, len(front.node)
        row, column, rank = np.arange(n), nodes.column[front.node], self.rank[front.node]
        low, high = front.box.copy(), front.box.copy()
        # To the lower side go the cells up to the rank, to the upper side those above it.
        low[row, 1, column] = np.minimum(low[row, 1, column], rank)
        high[row, 0, column] = np.maximum(high[row, 0, column], rank + 1)
        both = _Front(
            np.concatenate([nodes.lower[front.node], nodes.upper[front.node]]),
            np.concatenate([front.tree, front.tree]),
            np.concatenate([low, high]),
        )
        row, column = np.arange(2 * n), np.concatenate([column, column])
        return both.take(np.flatnonzero(both.box[row, 0, column] <= both.box[row, 1, column]))

    def lead(self, one: int, other: int) -> tuple[FloatArray, float, float]:
        """Return what each leaf adds to the lead of a class, the lead needed, and the error.

        With V the values of the leaves that a point reaches: where ``sum V < needed - error``
        class ``one`` is not ahead, where ``sum V > needed + error`` it is, however V is added up.
        Between them the library's own order decides: `Tally.beats`.
        """
        values, needed = self.tally.lead(self.leaves.value, one, other)
        return values, needed + self.tally.doubt, self.lead_error

    @cached_property
    def lead_error(self) -> float:
        """By how much the lead of any class may be off; looked up by every question."""
        return summation_error(self.leaves.value, self.leaves.tree, self.tally)


def summation_error(values: FloatArray, tree: IntArray, tally: Tally) -> float:
    """Return how far the lead of a class may be off by rounding, in whichever order it is added.

    A sum of T + 1 terms in precision u is off by at most ``(T + 1) u S`` to first order, where S
    adds up the largest absolute value of each tree. Both sums, both divisions, our own sums in
    double precision and the differences of their terms: ``2 (T + 4) u S`` covers them.
    """
    largest = np.zeros(int(tree.max(initial=-1)) + 1)
    np.maximum.at(largest, tree, np.abs(values).sum(axis=1))
    sizes = float(largest.sum() + np.abs(tally.base).sum())
    numbers = (tally.threshold, tally.least, tally.most)
    sizes += sum(abs(number or 0.0) for number in numbers) * tally.divisor
    return 2.0 * (len(largest) + 4) * UNITS[tally.dtype] * sizes
