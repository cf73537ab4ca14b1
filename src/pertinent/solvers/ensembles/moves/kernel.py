"""Moves of points through the trees of one row, compiled by numba; import it only where numba is.

With all other columns fixed, a tree is a step function of one column, and one walk through it finds
all steps. So all moves of a single column are seen at once, and moves of two: one pulled closer,
another one pushed away by less. A search proves a point that is known in a third of the boxes in
which it would find and prove it. Nothing is claimed: a point that leads by more than rounding is of
the class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.solvers.jit import compiled, entry

Small = NDArray[np.int32]

#: Walks through trees, for each of two beginnings, after which a point is as good as it gets.
WALKS = 400_000


class Nodes(NamedTuple):
    """The trees of one row, whose nodes look at choices."""

    root: Small
    column: Small  # -1 at a leaf
    last: Small  # the last choice of the column that goes to the lower side
    lower: Small
    upper: Small
    lead: FloatArray  # (n_nodes, n_rivals)
    needed: FloatArray  # (n_rivals,) more than this is surely enough


class Columns(NamedTuple):
    """What the choices of each column cost, and which columns may move."""

    cost: FloatArray
    offset: IntArray
    center: Small
    first: Small
    last: Small
    moves: NDArray[np.bool_]


@compiled
def profile(nodes: Nodes, x: Small, f: int, size: int, lead: FloatArray, stack: Small) -> None:
    """Write the lead over each rival, less what is needed, for each choice of a column."""
    rivals = nodes.lead.shape[1]
    for c in range(size + 1):
        for j in range(rivals):
            lead[c, j] = 0.0
    for t in range(len(nodes.root)):
        stack[0, 0], stack[0, 1], stack[0, 2] = nodes.root[t], 0, size - 1
        top = 1
        while top > 0:
            top -= 1
            node, a, b = stack[top, 0], stack[top, 1], stack[top, 2]
            column = nodes.column[node]
            while column >= 0:
                last = nodes.last[node]
                if column != f:
                    node = nodes.lower[node] if x[column] <= last else nodes.upper[node]
                elif last < a:
                    node = nodes.upper[node]
                elif last >= b:
                    node = nodes.lower[node]
                else:
                    stack[top, 0], stack[top, 1], stack[top, 2] = nodes.upper[node], last + 1, b
                    top += 1
                    node, b = nodes.lower[node], last
                column = nodes.column[node]
            for j in range(rivals):
                lead[a, j] += nodes.lead[node, j]
                lead[b + 1, j] -= nodes.lead[node, j]
    for j in range(rivals):
        total = -nodes.needed[j]
        for c in range(size):
            total += lead[c, j]
            lead[c, j] = total


@compiled
def least_lead(lead: FloatArray, c: int) -> float:
    """Return the smallest lead of a choice."""
    least = np.inf
    for j in range(lead.shape[1]):
        least = min(least, lead[c, j])
    return least


@compiled
def best_move(
    nodes: Nodes, c: Columns, x: Small, fixed: int, saved: float, lead: FloatArray, stack: Small
) -> tuple[float, int, int]:
    """Return what the best move of one column, another than ``fixed``, saves beside; the move."""
    best, column, choice = saved, -1, -1
    for f in range(len(x)):
        at, size = c.offset[f], c.offset[f + 1] - c.offset[f]
        here = c.cost[at + x[f]]
        # Without anything saved elsewhere, only a column that is away can save.
        if not c.moves[f] or f == fixed or (fixed < 0 and x[f] == c.center[f]):
            continue
        profile(nodes, x, f, size, lead, stack)
        for d in range(c.first[f], c.last[f] + 1):
            cost = c.cost[at + d] - here
            if cost < best and least_lead(lead, d) > 0:
                best, column, choice = cost, f, d
    return best, column, choice


@entry
def pull(
    nodes: Nodes, c: Columns, x: Small, lead: FloatArray, stack: Small, walks: int, better: float
) -> None:
    """Move one column, or two, as long as that makes a point of the class cheaper; in place."""
    sweep = len(nodes.root) * len(x)
    while walks > 0:
        total = 0.0
        for f in range(len(x)):
            total += c.cost[c.offset[f] + x[f]]
        walks -= sweep
        tiny = better * total
        _, column, choice = best_move(nodes, c, x, -1, -tiny, lead, stack)
        if column >= 0:
            x[column] = choice
            continue
        best, first, nearer = -tiny, -1, -1
        for f in range(len(x)):
            if not c.moves[f] or x[f] == c.center[f]:
                continue
            own, way, step = x[f], c.center[f] - x[f], 1
            while walks > 0:
                x[f] = own + (min(step, way) if way > 0 else -min(step, -way))
                saved = c.cost[c.offset[f] + own] - c.cost[c.offset[f] + x[f]]
                if saved > -best:
                    walks -= sweep
                    rest, second, d = best_move(nodes, c, x, f, best + saved, lead, stack)
                    if second >= 0:
                        best, first, nearer = rest - saved, f, x[f]
                        column, choice = second, d
                if step >= abs(way):
                    break
                step *= 2
            x[f] = own
        if first < 0:
            return
        x[first], x[column] = nearer, choice


@entry
def reach(nodes: Nodes, c: Columns, x: Small, lead: FloatArray, stack: Small, free: float) -> bool:
    """Move the columns that gain most for what they cost, until a point is of the class."""
    lacks = -np.inf
    for _ in range(4 * len(x)):
        rate, column, choice, gained = 0.0, -1, -1, lacks
        for f in range(len(x)):
            if not c.moves[f]:
                continue
            at, size = c.offset[f], c.offset[f + 1] - c.offset[f]
            profile(nodes, x, f, size, lead, stack)
            lacks = least_lead(lead, x[f])
            if lacks > 0:
                return True
            for d in range(c.first[f], c.last[f] + 1):
                gain = min(least_lead(lead, d), 0.0) - lacks
                cost = max(c.cost[at + d] - c.cost[at + x[f]], free)
                if gain > 0 and gain / cost > rate:
                    rate, column, choice, gained = gain / cost, f, d, lacks + gain
        if column < 0:
            return False
        x[column], lacks = choice, gained
    return False


@entry
def is_inside(nodes: Nodes, c: Columns, x: Small, lead: FloatArray, stack: Small) -> bool:
    """Return whether a point surely lies in the class."""
    profile(nodes, x, 0, c.offset[1] - c.offset[0], lead, stack)
    return bool(least_lead(lead, x[0]) > 0)
