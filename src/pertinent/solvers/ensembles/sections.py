"""Where the trees of one row cut the ways that its leaves need: who may share which costs.

A leaf *needs* a column if the row's center does not meet its condition there: to reach the leaf, a
point crosses every cut of the leaf's tree between them. Between two such cuts the tree cannot tell
points apart, so it pays for all steps there at one rate: a *section* of the tree. Sections are
sorted by tree, column and cut; what a leaf needs of a column is a run of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import IntArray
from pertinent.solvers.ensembles.problem import RowProblem


@dataclass(frozen=True, eq=False)
class Sections:
    """The sections of one row.

    Parameters
    ----------
    tree, column, cut : ndarray of int, shape (n_sections,)
        ``cut`` is the choice on the lower side of the cut.
    low, high : ndarray of int, shape (n_sections,)
        The steps of a section, as places among all choices: step i leads from choice i to i + 1.
    need_start : ndarray of int, shape (n_leaves + 1,)
    need_low, need_high : ndarray of int, shape (n_needs,)
        What leaf l needs is ``need_start[l]:need_start[l + 1]``, runs of sections.
    """

    tree: IntArray
    column: IntArray
    cut: IntArray
    low: IntArray
    high: IntArray
    need_start: IntArray
    need_low: IntArray
    need_high: IntArray

    @classmethod
    def of(cls, problem: RowProblem) -> Sections:
        """Return the sections of a row's problem."""
        choices, n_leaves = problem.choices, len(problem.leaf)
        center = choices.center[problem.column]
        up, down = problem.first > center, problem.last < center
        some = np.flatnonzero(up | down)
        leaf = np.repeat(np.arange(n_leaves), np.diff(problem.start))[some]
        up, center = up[some], center[some]
        cut = np.where(up, problem.first[some] - 1, problem.last[some])
        tree = problem.leads.region.ensemble.leaves.tree[problem.leaf[leaf]]
        width = int(choices.offset[-1]) + 1
        way = tree * len(choices.center) + problem.column[some]
        keys, place = np.unique(way * width + cut, return_inverse=True)
        middle = np.searchsorted(keys, way * width + center)
        place = place.reshape(-1)
        start = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_leaves))])
        needs = start, np.where(up, middle, place), np.where(up, place + 1, middle)
        tree, column, cut, low, high = _extent(keys, width, problem)
        return cls(tree, column, cut, low, high, *needs)

    def lower_cell(self, problem: RowProblem) -> IntArray:
        """Return the cell on the lower side of each cut; of categories the value 0."""
        choices = problem.choices
        in_group = np.isin(self.column, np.concatenate([*problem.groups, np.zeros(0, int)]))
        cell = choices.cell[choices.offset[self.column] + self.cut]
        return np.where(in_group, self.cut, cell)


Extent = tuple[IntArray, IntArray, IntArray, IntArray, IntArray]


def _extent(keys: IntArray, width: int, problem: RowProblem) -> Extent:
    """Return tree, column, cut and steps of sections, from their sorted keys."""
    choices = problem.choices
    way, cut = keys // width, keys % width
    tree, column = way // len(choices.center), way % len(choices.center)
    center, at = choices.center[column], choices.offset[column]
    is_up = cut >= center
    same = way[1:] == way[:-1]
    before, after = center.copy(), center.copy()
    before[1:][same] = np.maximum(cut[:-1] + 1, center[1:])[same]
    after[:-1][same] = np.minimum(cut[1:], center[:-1])[same]
    low = np.where(is_up, before, cut)
    high = np.where(is_up, cut + 1, after)
    return tree, column, cut, at + low, at + high
