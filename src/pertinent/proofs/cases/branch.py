"""Proofs for whole numbers, categories and bins: a tree of cases, each with its multipliers.

A tree splits what is allowed (a `Domain` within bounds) into two cases again and again:

    column <= low   or   column >= high      where no allowed value lies between low and high,
    a feature keeps its own value   or   it changes.

Either way nothing is lost, so the smallest bound over the leaves holds for the whole. The boxes of
the leaves are not stored but derived again from the splits, and a split that loses a value proves
nothing. A leaf is bounded by weak duality: for multipliers ``y >= 0`` of ``G x <= h``,

    cost(x)  >=  min over the leaf's domain of  cost(x) + y'(G x - h),

and the minimum splits into one small problem for each number, group of categories or bin.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import SHARED, BoolArray, CodeArray, FloatArray, IntArray, Rows
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.task import Task
from pertinent.proofs.cases.leaves import leaf_bounds
from pertinent.proofs.cases.narrowing import CHANGED, UNCHANGED, Boxes, narrow
from pertinent.proofs.core import Proofs

LEAF, SPLIT, CHANGE = 0, 1, 2
#: Numbers of the boxes that are replayed at once.
_CHUNK = 2_000_000


@record_as("branch-tree")
@dataclass(frozen=True, eq=False)
class Tree(Rows):
    """The cases of all rows as one list of nodes.

    Parameters
    ----------
    kind : ndarray of int8
        LEAF, SPLIT (of a column) or CHANGE (of a unit of features that change together).
    place : ndarray of int
        The column or the unit.
    low, high : ndarray of float
        Ends of the gap of a SPLIT.
    left, right : ndarray of int
        Children: below the gap or unchanged; above the gap or changed.
    proof : ndarray of int
        For leaves, the row of multipliers.
    """

    kind: CodeArray
    place: IntArray
    low: FloatArray
    high: FloatArray
    left: IntArray
    right: IntArray
    proof: IntArray

    def require_sound(self) -> None:
        """Refuse a tree, perhaps from a file, that is none: children come later, each of one."""
        inner = np.flatnonzero(self.kind != LEAF)
        child = np.concatenate([self.left[inner], self.right[inner]])
        later = (child > np.concatenate([inner, inner])) & (child < len(self.kind))
        if not later.all() or len(np.unique(child)) < len(child):
            raise InputError("A stored tree of cases is not a tree.")


@dataclass(frozen=True, eq=False)
class TreeProofs(Proofs):
    """Trees of cases, one for each row; what is proved of their leaves is up to the kind.

    What values are allowed is up to the task: without its domain nothing is proved.

    Parameters
    ----------
    roots : ndarray of int, shape (n,)
    tree : Tree
    """

    roots: IntArray
    tree: Tree = field(metadata=SHARED)

    def bounds(self, task: Task) -> FloatArray:
        """Return the smallest bound over the leaves of each row; ``inf`` where all are empty."""
        out, domain = np.zeros(len(self)), task.domain
        if domain is None:
            return out
        size = max(1, _CHUNK // (64 * max(1, domain.dim)))
        for first in range(0, len(self), size):
            rows = np.arange(first, min(first + size, len(self)))
            own = self.take(rows)
            out[rows] = Replay(own, task.take(rows), domain.take(rows)).run(own.roots)
        return out

    def compact(self) -> Self:
        """Return the proofs with the cases of their own rows only, numbered from the roots down."""
        tree, order = self.tree, list(dict.fromkeys(self.roots.tolist()))
        for node in order:  # grows while it is read
            if tree.kind[node] != LEAF:
                order += [int(tree.left[node]), int(tree.right[node])]
        nodes = np.array(order, dtype=np.int64)
        place = np.full(len(tree.kind), -1)
        place[nodes] = np.arange(len(nodes))
        used, proof = np.unique(tree.proof[nodes], return_inverse=True)
        first = int(used[0] < 0)  # -1 where there is no proof
        own = tree.take(nodes)
        leaf = own.kind == LEAF
        left, right = (np.where(leaf, -1, place[child]) for child in (own.left, own.right))
        own = replace(own, left=left, right=right, proof=proof.reshape(-1) - first)
        return replace(self, roots=place[self.roots], tree=own, **self._kept(used[first:]))

    @abstractmethod
    def _kept(self, used: IntArray) -> dict[str, Any]:
        """Return the fields that hold the proofs of the leaves, with the used ones only."""

    @abstractmethod
    def leaf_bounds(self, used: IntArray, task: Task, domain: Domain, boxes: Boxes) -> FloatArray:
        """Return the bounds of narrowed leaves, whose proofs have the numbers ``used``.

        The task and its domain have the rows that ``boxes.row`` speaks of.
        """


@record_as("branch", retired=("domain",))
@dataclass(frozen=True, eq=False)
class BranchProofs(TreeProofs):
    """Trees of cases over linear rows: multipliers, or rays, for each leaf.

    Parameters
    ----------
    roots, tree
        As in `TreeProofs`.
    multipliers : ndarray of shape (n_proofs, n_rows)
    ray : ndarray of bool, shape (n_proofs,)
    """

    multipliers: FloatArray = field(metadata=SHARED)
    ray: BoolArray = field(metadata=SHARED)

    def leaf_bounds(self, used: IntArray, task: Task, domain: Domain, boxes: Boxes) -> FloatArray:
        """Return what rows of multipliers prove about leaves."""
        if self.multipliers.shape[1:] != task.cell.h.shape:
            return np.zeros(len(used))  # one for each row, or nothing is known of any
        y, ray, centers = self.multipliers[used], self.ray[used], task.centers[boxes.row]
        return leaf_bounds(y, ray, task.cell, centers, task.weights, boxes, domain)

    def _kept(self, used: IntArray) -> dict[str, Any]:
        return {"multipliers": self.multipliers[used], "ray": self.ray[used]}

    def leaves(self) -> IntArray:
        """Return the rows of multipliers that the leaves of these trees use."""
        nodes, found = self.roots, []
        while len(nodes):
            kind = self.tree.kind[nodes]
            found.append(self.tree.proof[nodes[kind == LEAF]])
            inner = nodes[kind != LEAF]
            nodes = np.concatenate([self.tree.left[inner], self.tree.right[inner]])
        used = np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
        return np.asarray(used[used >= 0])


@dataclass(eq=False)
class Replay:
    """The cases of some rows, derived again level by level."""

    proofs: TreeProofs
    task: Task
    domain: Domain

    def run(self, roots: IntArray) -> FloatArray:
        """Return the smallest bound over the leaves below each root."""
        n = len(roots)
        best = np.full(n, np.inf)
        units = len(self.domain.units)
        state = np.zeros((n, units if self.domain.counts_changes else 0), dtype=np.int8)
        boxes, nodes = Boxes(np.arange(n), self.task.lower, self.task.upper, state), roots
        while len(nodes):
            boxes, empty = narrow(self.domain, boxes)
            boxes, nodes = _only(boxes, nodes, ~empty)
            leaf = self.proofs.tree.kind[nodes] == LEAF
            self._note(best, *_only(boxes, nodes, leaf))
            boxes, nodes = _only(boxes, nodes, ~leaf)
            if not len(nodes):
                break
            lossless = self._is_lossless(boxes, nodes)
            np.minimum.at(best, boxes.row[~lossless], 0.0)
            boxes, nodes = children(self.proofs.tree, *_only(boxes, nodes, lossless))
        return best

    def _note(self, best: FloatArray, boxes: Boxes, nodes: IntArray) -> None:
        if not len(nodes):
            return
        proof = self.proofs.tree.proof[nodes]
        bound = np.zeros(len(nodes))
        known = np.flatnonzero(proof >= 0)
        if len(known):
            cases = boxes.take(known)
            bound[known] = self.proofs.leaf_bounds(proof[known], self.task, self.domain, cases)
        np.minimum.at(best, boxes.row, np.maximum(bound, 0.0))

    def _is_lossless(self, boxes: Boxes, nodes: IntArray) -> BoolArray:
        """Return whether no allowed value lies strictly between the two sides of each split."""
        tree, domain = self.proofs.tree, self.domain
        place, low, high = tree.place[nodes], tree.low[nodes], tree.high[nodes]
        split = tree.kind[nodes] == SPLIT
        units = boxes.state.shape[1]  # none where changes are not counted
        out = (tree.kind[nodes] == CHANGE) & (place >= 0) & (place < units)
        out |= split & (low >= high)  # both sides share an end
        column = np.where(split, place, 0)
        in_group = domain.in_group[column]
        out |= split & in_group & (low >= 0) & (high <= 1)
        k = np.flatnonzero(split & ~in_group & ~out)
        if len(k):
            out[k] = high[k] <= next_allowed(domain, column[k], low[k], boxes.row[k])
        for i in np.flatnonzero(split & ~out) if boxes.state.shape[1] else ():
            if domain.own is not None and _must_change(domain, boxes.state[i], int(place[i])):
                own = domain.own[boxes.row[i], place[i]]
                below, above = domain.next_to_own(int(place[i]), own)
                out[i] = low[i] >= below and high[i] <= above
        return np.asarray(out)


def _only(boxes: Boxes, nodes: IntArray, which: BoolArray) -> tuple[Boxes, IntArray]:
    """Return some of the cases, with their nodes."""
    return (boxes, nodes) if which.all() else (boxes.take(which), nodes[which])


def next_allowed(
    domain: Domain, columns: IntArray, values: FloatArray, rows: IntArray
) -> FloatArray:
    """Return the smallest allowed value of each column above a value.

    Allowed are the numbers of the column's lattice (any number, without one) outside the open gap
    around the row's own value, and that value itself.
    """
    found = domain.on_steps(columns, np.nextafter(values, np.inf), up=True)
    if domain.own is None:
        return found
    own = domain.own[rows, columns]
    if domain.gap is not None:
        below, above = (side[rows, columns] for side in domain.gap)
        inside = (below < found) & (found < above) & (found != own)
        found = np.where(inside, domain.on_steps(columns, above, up=True), found)
    return np.where(own > values, np.minimum(found, own), found)


def _must_change(domain: Domain, state: CodeArray, column: int) -> bool:
    unit = domain.unit_of_column[column]
    listed = any(domain.owner[column] in group for group in domain.together)
    return bool(listed and state[unit] == CHANGED)


def children(tree: Tree, boxes: Boxes, nodes: IntArray) -> tuple[Boxes, IntArray]:
    """Return the two cases of each inner node."""
    n = len(nodes)
    row = np.concatenate([boxes.row, boxes.row])
    lower, upper = np.vstack([boxes.lower] * 2), np.vstack([boxes.upper] * 2)
    state = np.vstack([boxes.state] * 2)
    split = np.flatnonzero(tree.kind[nodes] == SPLIT)
    j = tree.place[nodes[split]]
    upper[split, j] = np.minimum(upper[split, j], tree.low[nodes[split]])
    lower[n + split, j] = np.maximum(lower[n + split, j], tree.high[nodes[split]])
    change = np.flatnonzero(tree.kind[nodes] == CHANGE)
    unit = tree.place[nodes[change]]
    state[change, unit], state[n + change, unit] = UNCHANGED, CHANGED
    both = np.concatenate([tree.left[nodes], tree.right[nodes]])
    return Boxes(row, lower, upper, state), both
