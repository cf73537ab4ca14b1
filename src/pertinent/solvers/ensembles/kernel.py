"""Branch and bound over boxes of choices, one row at a time, compiled by numba.

Import it only where numba is. The rules R1-R6 and the shared-cost bound are explained in
`pertinent.solvers.ensembles.search`, which is the same search in NumPy. It is one long file for the
reason that `pertinent.solvers.jit` gives.

A box holds an interval of choices ``low[f]..high[f]`` of each column. Its *nearest point* takes
the choice next to the center in every column; cost is a sum over columns, so no point of the box
is cheaper. The leaves that some point of the box may still need are kept as a list, sorted by
tree, in one array (`State.leaves`) that serves as a stack.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.solvers.jit import compiled, entry

Small = NDArray[np.int32]
Singles = NDArray[np.float32]


class Forest(NamedTuple):
    """The leaves that one row can reach, with intervals of choices in place of cells."""

    tree: Small  # (n_leaves,)
    start: Small  # (n_leaves + 1,)
    column: Small  # (n_conditions,)
    first: Small
    last: Small
    lead: FloatArray  # (n_leaves, n_rivals)
    needed: FloatArray  # (n_rivals,)
    error: float
    n_trees: int
    # What a leaf needs, as runs of sections; see `pertinent.solvers.ensembles.sections`.
    need_start: Small  # (n_leaves + 1,)
    need_low: Small
    need_high: Small
    section_low: Small  # (n_sections,) the steps of each section
    section_high: Small
    section_column: Small


class Tally(NamedTuple):
    """How the library adds up, see `pertinent.geometry.ensembles.Tally`."""

    value: FloatArray  # (n_leaves, n_outputs)
    base: FloatArray
    single: bool
    divisor: float
    threshold: float
    has_threshold: bool
    doubt: float
    late: float
    least: float
    most: float
    label: int
    rivals: Small


class Costs(NamedTuple):
    """What each choice costs, and which choices go together."""

    cost: FloatArray  # of all choices, column by column
    offset: IntArray  # (n_columns + 1,)
    center: Small  # the choice next to the center
    group_start: Small
    group: Small
    unit: Small  # (n_columns,)
    n_units: int
    most_changes: int


class State(NamedTuple):
    """The stack of open boxes, and what was found; a search can be stopped and taken up."""

    numbers: IntArray  # see the places below
    floats: FloatArray
    low: Small  # (depth, n_columns)
    high: Small
    begin: IntArray  # (depth + 1,) where the list of leaves begins
    size: IntArray  # (depth,) and how long it is
    near: FloatArray  # (depth,) cost of the nearest point
    split: Small  # (depth, 3): column, last choice of the lower side, side that is left
    phase: Small  # (depth,)
    price: FloatArray  # (depth,)
    best: Small  # (n_columns,) choices of the best point
    leaves: Small  # the stack of lists
    weights: Small  # (depth, n_sections)


class Record(NamedTuple):
    """The branchings in the order in which they are made: -1 where a box is closed."""

    column: Small
    cut: Small
    price: Singles
    rival: Small
    end: IntArray  # where the weights of each box end
    section: Small  # weights that are not those of the box above, nor 0
    weight: Small


class Scratch(NamedTuple):
    """Arrays that are overwritten for every box."""

    most: FloatArray  # (n_trees, n_rivals)
    slack: FloatArray  # (n_rivals,)
    seen: Small  # (n_columns,)
    least_first: Small
    most_last: Small
    steps: FloatArray  # (n_choices + 1,)
    won: FloatArray  # (n_choices + 1,)
    weight: FloatArray  # (n_sections,)
    best: FloatArray  # (n_sections,)
    charged: FloatArray  # (n_sections + 1,) what all sections before one are charged
    begin: Small  # (n_sections,) the steps of each section that lie in the box
    end: Small
    marks: Small  # (n_sections + 1,)
    some: Small  # (n_sections + 1,) how many sections are needed, and which
    share: FloatArray  # (n_leaves,)
    winner: Small  # (n_trees,)
    keep: NDArray[np.bool_]  # (n_leaves,)
    changed: Small  # (n_units,)
    inside: NDArray[np.bool_]  # (n_leaves,)
    low: Small  # (n_columns,) a box as the rules leave it
    high: Small
    lead: FloatArray  # (n_leaves,) of a box's leaves
    run: Small  # (n_trees + 1,) where those of each tree begin
    ranked: FloatArray  # (2 * n_columns,) cuts to branch on: score, column and cut
    rank_column: Small
    rank_cut: Small


#: Places in `State.numbers`.
DEPTH, BOXES, RECORDED, FOUND, WEIGHTS, AGAIN = 0, 1, 2, 3, 4, 5
#: Places in `State.floats`: what a point must cost less than, the best one's cost, what the bound
#: of the whole box says that all cost; and `CLOSER` of the table of tolerances, which is handed in
#: because numba's cache would not notice a change of it.
BUDGET, BEST, LEAST, CLOSER = 0, 1, 2, 3
#: The rival `pertinent.geometry.ensembles.MOST`.
AT_MOST = -2
#: What `run` says: all boxes are closed; boxes are left; an array is too small.
DONE, LEFT, NARROW = 0, 1, 2
#: Rounds of rules for one box, and of prices. No price closes a box whose nearest point has all the
#: lead that is needed, so prices end where single precision, in which they are kept, has them.
ROUNDS, PRICES, LEAST_PRICE, MOST_PRICE = 20, 25, 1e-30, 1e30
#: A price is good enough if no other one covers more by this share.
NEARLY = 0.002
#: How weights move in the whole box, there again (with the next budget), and in other boxes: how
#: often, by how much, how that falls, and what share of what is missing `PATIENCE` turns must win.
FIRST_PLAN = (80, 4.0, 0.3, 0.03)
NEXT_PLAN = (24, 1.0, 0.1, 0.03)
PLAN = (12, 1.0, 0.1, 0.12)
PATIENCE = 6
#: Of so many cuts to branch on, both sides are looked at; a side that wins nothing counts as this.
TRIES, LITTLE = 8, 1e-3
#: Limits of weights, where they begin, and what counts as none.
LEAST_WEIGHT, MOST_WEIGHT, FIRST_WEIGHT, NOBODY = 1.0, 1e5, 300, 1e-3
#: What a sum of so many terms may be off by, as a share of it, is this times their number.
ROUNDED = 2.0**-51


@compiled
def clamp(c: int, low: int, high: int) -> int:
    """Return the choice of an interval next to c."""
    return low if c < low else (high if c > high else c)


@compiled
def one_of_each_group(c: Costs, low: Small, high: Small) -> bool:
    """R5: exactly one column of a group is 1. Return whether that is possible."""
    for g in range(len(c.group_start) - 1):
        ones, possible, which, last = 0, 0, -1, -1
        for x in range(c.group_start[g], c.group_start[g + 1]):
            f = c.group[x]
            if low[f] == 1:
                ones += 1
                which = f
            if high[f] == 1:
                possible += 1
                last = f
        if ones > 1 or possible == 0:
            return False
        if ones == 1:
            for x in range(c.group_start[g], c.group_start[g + 1]):
                if c.group[x] != which:
                    high[c.group[x]] = 0
        elif possible == 1:
            low[last] = 1
    return True


@compiled
def few_changes(c: Costs, low: Small, high: Small, changed: Small) -> int:
    """R6: at most so many units change. Return how many more may; -1 if already too many."""
    for u in range(c.n_units):
        changed[u] = 0
    n = 0
    for f in range(len(low)):
        if (c.center[f] < low[f] or c.center[f] > high[f]) and changed[c.unit[f]] == 0:
            changed[c.unit[f]] = 1
            n += 1
    if n == c.most_changes:
        for f in range(len(low)):
            if changed[c.unit[f]] == 0:
                low[f] = c.center[f]
                high[f] = c.center[f]
    return c.most_changes - n


@compiled
def nearest_cost(c: Costs, low: Small, high: Small) -> float:
    """Return the cost of the box's nearest point."""
    total = 0.0
    for f in range(len(low)):
        total += c.cost[c.offset[f] + clamp(c.center[f], low[f], high[f])]
    return total


@compiled
def sift(
    forest: Forest,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    budget: float,
) -> tuple[int, float]:
    """Apply R5, R6, R1-R3 once. Return how many leaves are left (-1: closed), the cost."""
    near = 0.0
    n_rivals = forest.lead.shape[1]
    if not one_of_each_group(c, low, high):
        return -1, near
    more = c.n_units
    if c.most_changes < c.n_units:
        more = few_changes(c, low, high, w.changed)
        if more < 0:
            return -1, near
    near = nearest_cost(c, low, high)
    if near >= budget:
        return -1, near
    # R1 and R2: leaves that miss the box, or whose nearest point costs too much.
    for t in range(forest.n_trees):
        for j in range(n_rivals):
            w.most[t, j] = -np.inf
    k = 0
    for i in range(n):
        leaf = leaves[i]
        cost, changes, fits = near, 0, True
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            a, b = forest.first[q], forest.last[q]
            if a < low[f]:
                a = low[f]
            if b > high[f]:
                b = high[f]
            if a > b:
                fits = False
                break
            center = c.center[f]
            if center < a or center > b:
                at = c.offset[f]
                here = clamp(center, low[f], high[f])
                cost += c.cost[at + clamp(center, a, b)] - c.cost[at + here]
                if here == center and c.n_units == len(low):
                    changes += 1
        if not fits or cost >= budget or changes > more:
            continue
        leaves[k] = leaf
        k += 1
        t = forest.tree[leaf]
        for j in range(n_rivals):
            if forest.lead[leaf, j] > w.most[t, j]:
                w.most[t, j] = forest.lead[leaf, j]
    n = k
    # R3: the largest lead of each tree must be enough; leaves that are too far below it go.
    for j in range(n_rivals):
        total = forest.error - forest.needed[j]
        for t in range(forest.n_trees):
            total += w.most[t, j]
        if total < 0:
            return -1, near
        w.slack[j] = total
    k = 0
    for i in range(n):
        leaf = leaves[i]
        fits = True
        for j in range(n_rivals):
            if forest.lead[leaf, j] < w.most[forest.tree[leaf], j] - w.slack[j]:
                fits = False
                break
        if fits:
            leaves[k] = leaf
            k += 1
    return k, near


@compiled
def propagate(
    forest: Forest,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    budget: float,
    is_sifted: bool,
) -> tuple[int, float]:
    """Apply R1-R6 until nothing changes. Return how many leaves are left (-1: closed), the cost."""
    near = 0.0
    for turn in range(ROUNDS):
        before = n
        if turn > 0 or not is_sifted:
            n, near = sift(forest, c, w, leaves, n, low, high, budget)
            if n < 0:
                return -1, near
        # R4: the box shrinks to what the leaves of each tree span.
        changed = hull_of_leaves(forest, w, leaves, n, low, high)
        if changed < 0:
            return -1, near
        if changed == 0 and (n == before or turn >= 1):
            break
    return n, nearest_cost(c, low, high)


@compiled
def hull_of_leaves(
    forest: Forest, w: Scratch, leaves: Small, n: int, low: Small, high: Small
) -> int:
    """R4. Return whether the box changed: 1 or 0; -1 if nothing is left of it."""
    changed, trees, i = 0, 0, 0
    while i < n:
        leaf = leaves[i]
        t, begin = forest.tree[leaf], i
        trees += 1
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            w.seen[f] = 1
            w.least_first[f], w.most_last[f] = forest.first[q], forest.last[q]
        i += 1
        while i < n and forest.tree[leaves[i]] == t:
            other = leaves[i]
            for q in range(forest.start[other], forest.start[other + 1]):
                f = forest.column[q]
                if w.seen[f] == i - begin:
                    w.seen[f] += 1
                    w.least_first[f] = min(w.least_first[f], forest.first[q])
                    w.most_last[f] = max(w.most_last[f], forest.last[q])
            i += 1
        empty = False
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            if w.seen[f] == i - begin:
                if w.least_first[f] > low[f]:
                    low[f] = w.least_first[f]
                    changed = 1
                if w.most_last[f] < high[f]:
                    high[f] = w.most_last[f]
                    changed = 1
                empty = empty or low[f] > high[f]
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            w.seen[forest.column[q]] = 0
        if empty:
            return -1
    return changed if trees == forest.n_trees else -1


@compiled
def note_center(
    forest: Forest, c: Costs, w: Scratch, leaves: Small, n: int, low: Small, high: Small
) -> int:
    """Note which leaves hold the box's nearest point. Return in how many trees there is one."""
    hits = 0
    for i in range(n):
        leaf = leaves[i]
        inside = True
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            p = clamp(c.center[f], low[f], high[f])
            if p < forest.first[q] or p > forest.last[q]:
                inside = False
                break
        w.inside[i] = inside
        if inside:
            hits += 1
    return hits


@compiled
def tightest_rival(forest: Forest, w: Scratch, leaves: Small, n: int) -> int:
    """Return the rival against which the box's nearest point lacks most."""
    best, which = np.inf, 0
    for j in range(forest.lead.shape[1]):
        total = -forest.needed[j]
        for i in range(n):
            if w.inside[i]:
                total += forest.lead[leaves[i], j]
        if total < best:
            best, which = total, j
    return which


@compiled
def begin_weights(
    forest: Forest,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    weights: Small,
) -> None:
    """Begin with the weights of the box above, of those sections that some leaf needs."""
    sections = len(forest.section_low)
    for k in range(sections + 1):
        w.marks[k] = 0
    for i in range(n):
        leaf = leaves[i]
        for q in range(forest.need_start[leaf], forest.need_start[leaf + 1]):
            w.marks[forest.need_low[q]] += 1
            w.marks[forest.need_high[q]] -= 1
    needed, x = 0, 0
    for k in range(sections):
        needed += w.marks[k]
        w.marks[k] = 0
        if needed > 0:
            x += 1
            w.some[x] = k
            w.weight[k] = float(weights[k])
            f = forest.section_column[k]
            at = c.offset[f]
            w.begin[k] = min(max(forest.section_low[k], at + low[f]), at + high[f])
            w.end[k] = max(min(forest.section_high[k], at + high[f]), w.begin[k])
    w.some[0] = x


@compiled
def share_costs(
    forest: Forest, c: Costs, w: Scratch, leaves: Small, n: int, low: Small, high: Small
) -> None:
    """Give each leaf its share of the cost of what it needs, in `Scratch.share`.

    The step from one choice to the next is paid by the trees that have a leaf beyond it, in
    proportion to the weights of the sections it lies in: no point pays more than it costs. Shares
    are differences of sums, which may be far larger: they are lowered by what these are rounded by.
    """
    for f in range(len(low)):
        for a in range(c.offset[f] + low[f], c.offset[f] + high[f] + 1):
            w.steps[a] = 0.0
    for x in range(1, w.some[0] + 1):
        k = w.some[x]
        w.steps[w.begin[k]] += w.weight[k]
        w.steps[w.end[k]] -= w.weight[k]
    for f in range(len(low)):
        total, paid = 0.0, 0.0
        for a in range(c.offset[f] + low[f], c.offset[f] + high[f] + 1):
            total += w.steps[a]
            w.steps[a] = paid
            if a < c.offset[f] + high[f] and total > NOBODY:
                paid += abs(c.cost[a + 1] - c.cost[a]) / total
    charged, off = 0.0, ROUNDED * (len(w.steps) + 4)
    for x in range(1, w.some[0] + 1):
        k = w.some[x]
        w.charged[k] = charged
        paid = w.steps[w.end[k]]
        charged += w.weight[k] * max(paid - w.steps[w.begin[k]] - off * paid, 0.0)
        w.charged[k + 1] = charged
    off = ROUNDED * (w.some[0] + 4)
    for i in range(n):
        leaf, share = leaves[i], 0.0
        for q in range(forest.need_start[leaf], forest.need_start[leaf + 1]):
            last = w.charged[forest.need_high[q]]
            share += max(last - w.charged[forest.need_low[q]] - off * last, 0.0)
        w.share[i] = share


@compiled
def line_up(forest: Forest, w: Scratch, leaves: Small, n: int, j: int) -> None:
    """Copy the leads of a box's leaves, and where each tree begins, next to each other."""
    t, tree = 0, -1
    for i in range(n):
        leaf = leaves[i]
        w.lead[i] = forest.lead[leaf, j]
        if forest.tree[leaf] != tree:
            tree = forest.tree[leaf]
            w.run[t] = i
            t += 1
    w.run[t] = n


@compiled
def at_price(forest: Forest, w: Scratch, j: int, price: float) -> tuple[float, float]:
    """Return the lead of the winners, less what is needed, and what they pay.

    The winner of each tree, which is noted, is its leaf of the largest ``lead - price share``.
    """
    lead, share = forest.error - forest.needed[j], 0.0
    for t in range(forest.n_trees):
        most, which = -np.inf, w.run[t]
        for i in range(w.run[t], w.run[t + 1]):
            value = w.lead[i] - price * w.share[i]
            if value > most:
                most, which = value, i
        lead += w.lead[which]
        share += w.share[which]
        w.winner[t] = which
    return lead, share


@compiled
def bound_at(forest: Forest, w: Scratch, j: int, room: float, price: float) -> float:
    """Return the bound on the lead at a price of cost, less what is needed.

    ``sum_t max_leaf (lead - price share) + price room``; the winner of each tree is noted.
    """
    total = price * room - forest.needed[j] + forest.error
    for t in range(forest.n_trees):
        most, which = -np.inf, w.run[t]
        for i in range(w.run[t], w.run[t + 1]):
            value = w.lead[i] - price * w.share[i]
            if value > most:
                most, which = value, i
        total += most
        w.winner[t] = which
    return float(total)


@compiled
def best_price(forest: Forest, w: Scratch, j: int, price: float) -> tuple[float, float]:
    """Return the price, begun at one, at which most cost is covered, and that much.

    Winners of lead L (less what is needed) and share S cover ``S - L / price``: a tangent of a
    concave function of ``1 / price``, whose most lies where those of both sides meet.
    """
    below, above, factor = 0.0, -1.0, 1.1
    lead_below, share_below, lead_above, share_above = 0.0, 0.0, 0.0, 0.0
    best, best_at = -np.inf, price
    x = price
    for _ in range(PRICES):
        lead, share = at_price(forest, w, j, x)
        covered = share - lead / x
        if covered > best:
            best, best_at = covered, x
        if lead < 0:
            above, lead_above, share_above = x, lead, share
        else:
            below, lead_below, share_below = x, lead, share
        if above > 0 and below > 0:
            most = (lead_below * share_above - lead_above * share_below) / (lead_below - lead_above)
            if most - best <= NEARLY * abs(most) or above - below < NEARLY * above:
                break
            x = (lead_below - lead_above) / (share_below - share_above)
            if not below < x < above:
                x = 0.5 * (below + above)
            continue
        x = x * factor if above < 0 else x / factor
        if not LEAST_PRICE < x < MOST_PRICE:
            break
        factor = min(factor * factor, 10.0)
    return best_at, best


@compiled
def growth(x: float) -> float:
    """Return about e^x for ``-8 < x < 8``: any positive factor is right."""
    y = 1.0 + 0.0625 * x
    y *= y
    y *= y
    y *= y
    return y * y


@compiled
def weigh_anew(
    forest: Forest, c: Costs, w: Scratch, leaves: Small, low: Small, high: Small, rate: float
) -> None:
    """Move weight to the sections that the winners need, away from where there are many of them.

    A step of exponentiated gradient: a section that a winner needs grows, as much as the winners'
    part of the weight along its steps falls short of all.
    """
    for t in range(forest.n_trees):
        leaf = leaves[w.winner[t]]
        for q in range(forest.need_start[leaf], forest.need_start[leaf + 1]):
            for k in range(forest.need_low[q], forest.need_high[q]):
                w.marks[k] = 1
    for f in range(len(low)):
        for a in range(c.offset[f] + low[f], c.offset[f] + high[f] + 1):
            w.won[a] = 0.0
    for x in range(1, w.some[0] + 1):
        k = w.some[x]
        if w.marks[k] == 1:
            w.won[w.begin[k]] += w.weight[k]
            w.won[w.end[k]] -= w.weight[k]
    for f in range(len(low)):
        won, part = 0.0, 0.0
        for a in range(c.offset[f] + low[f], c.offset[f] + high[f] + 1):
            won += w.won[a]
            w.won[a] = part
            if a < c.offset[f] + high[f]:
                part += (
                    w.steps[a + 1] - w.steps[a]
                ) * won  # a step paid for, by one of all weights
    for x in range(1, w.some[0] + 1):
        k = w.some[x]
        i, j = w.begin[k], w.end[k]
        length = abs(c.cost[j] - c.cost[i])
        if length > 0:  # else its weight does not matter
            mean = min((w.won[j] - w.won[i]) / length, 1.0)
            weight = w.weight[k] * growth(rate * (w.marks[k] - mean))
            w.weight[k] = min(max(weight, LEAST_WEIGHT), MOST_WEIGHT)
        w.marks[k] = 0


@compiled
def round_weights(w: Scratch, weights: Small) -> None:
    """Make whole numbers of the best weights."""
    for k in range(len(weights)):
        weights[k] = 0
    for x in range(1, w.some[0] + 1):
        k = w.some[x]
        weights[k] = int(w.best[k] + 0.5)
        w.weight[k] = float(weights[k])


@compiled
def shared_cost(
    forest: Forest,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    room: float,
    j: int,
    price: float,
    weights: Small,
    plan: tuple[int, float, float, float],
) -> tuple[bool, bool, float, float]:
    """Look for weights and a price that close a box, or leave out leaves: see `Scratch.keep`.

    Return whether the box is closed, whether the weights are others than before, the price, and
    how much of the room is covered.
    """
    room *= 1.0 + ROUNDED * (forest.n_trees + 8)
    price = min(max(price, LEAST_PRICE), MOST_PRICE)
    begin_weights(forest, c, w, leaves, n, low, high, weights)
    line_up(forest, w, leaves, n, j)
    share_costs(forest, c, w, leaves, n, low, high)
    price, covered = best_price(forest, w, j, price)
    price = float(np.float32(price))
    if bound_at(forest, w, j, room, price) < 0:
        return True, False, price, covered
    best, best_price_at, before = covered, price, -np.inf
    for x in range(1, w.some[0] + 1):
        w.weight[w.some[x]] = max(w.weight[w.some[x]], LEAST_WEIGHT)
        w.best[w.some[x]] = w.weight[w.some[x]]
    turns, step, slower, enough = plan
    for turn in range(turns):
        if covered > best:
            best, best_price_at = covered, price
            for x in range(1, w.some[0] + 1):
                w.best[w.some[x]] = w.weight[w.some[x]]
        if best > room:
            break
        if turn % PATIENCE == PATIENCE - 1:
            if best - before < enough * min(room - best, best):
                break
            before = best
        # The winners are those of the price that was tried last, which is close to the best one.
        weigh_anew(forest, c, w, leaves, low, high, step / (1.0 + slower * turn))
        share_costs(forest, c, w, leaves, n, low, high)
        if turn % 3 == 2:
            price, covered = best_price(forest, w, j, price)
        else:
            lead, share = at_price(forest, w, j, price)
            covered = share - lead / price
    round_weights(w, weights)
    share_costs(forest, c, w, leaves, n, low, high)
    price, covered = best_price(forest, w, j, best_price_at)
    price = float(np.float32(price))
    total = bound_at(forest, w, j, room, price)
    if total < 0:
        return True, True, price, covered
    for t in range(forest.n_trees):
        top = w.winner[t]
        most = w.lead[top] - price * w.share[top]
        for i in range(w.run[t], w.run[t + 1]):
            w.keep[i] = w.lead[i] - price * w.share[i] >= most - total
    return False, True, price, covered


@compiled
def wins(forest: Forest, tally: Tally, w: Scratch, leaves: Small, n: int) -> bool:
    """Return whether the label wins at the box's nearest point, which all trees have a leaf of."""
    sure = True
    for j in range(forest.lead.shape[1]):
        total = -forest.needed[j]
        for i in range(n):
            if w.inside[i]:
                total += forest.lead[leaves[i], j]
        if total < -forest.error:
            return False
        sure = sure and total > forest.error
    return sure or wins_to_the_bit(tally, w, leaves, n)


@compiled
def wins_to_the_bit(tally: Tally, w: Scratch, leaves: Small, n: int) -> bool:
    """Add up as the library does: tree by tree, in its precision."""
    outputs = len(tally.base)
    total = np.empty(outputs)
    for k in range(outputs):
        if tally.single:
            single = np.float32(tally.base[k])
            for i in range(n):
                if w.inside[i]:
                    single += np.float32(tally.value[leaves[i], k])
            total[k] = np.float64(single)
        else:
            double = tally.base[k]
            for i in range(n):
                if w.inside[i]:
                    double += tally.value[leaves[i], k]
            total[k] = double
    side = 1.0
    if tally.has_threshold and tally.label == 0:
        side = -1.0
    own = side * total[0] if tally.has_threshold else total[tally.label]
    for j in tally.rivals:
        if tally.doubt > 0:
            if j == AT_MOST:
                if not tally.most * tally.divisor - own > tally.doubt:
                    return False
                continue
            if j < 0:
                rest = tally.least * tally.divisor
            elif tally.has_threshold:
                rest = side * tally.threshold * tally.divisor
            else:
                rest = total[j]
            if not own - rest > tally.doubt:
                return False
        elif j == AT_MOST:
            if not divided(tally, own) <= tally.most:
                return False
        elif j < 0:
            if not divided(tally, own) >= tally.least:
                return False
        elif tally.has_threshold:
            if (divided(tally, total[0]) >= tally.threshold) != (tally.label == 1):
                return False
        else:
            mine, theirs = divided(tally, own), divided(tally, total[j])
            if mine < theirs or (j < tally.label and not mine - theirs > tally.late):
                return False
    return True


@compiled
def divided(tally: Tally, total: float) -> float:
    """Return a sum divided in the library's precision."""
    if tally.single:
        return float(np.float32(total) / np.float32(tally.divisor))
    return float(total / tally.divisor)


@compiled
def missing_choice(c: Costs, low: Small, high: Small) -> int:
    """Return a column of a group of which the nearest point chooses none; -1 if there is none."""
    for g in range(len(c.group_start) - 1):
        chosen, free = False, -1
        for x in range(c.group_start[g], c.group_start[g + 1]):
            f = c.group[x]
            if clamp(c.center[f], low[f], high[f]) == 1:
                chosen = True
            elif high[f] == 1:
                free = f
        if not chosen:
            return int(free)
    return -1


@compiled
def halves(
    forest: Forest,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    room: float,
    j: int,
    price: float,
    column: int,
    cut: int,
) -> tuple[float, float]:
    """Return the bounds on the lead, less what is needed, on both sides of a cut.

    First the side of the nearest point, then the other one, where all trees get back what they
    paid for the way to the cut. Weights and price are those of the box.
    """
    at = c.offset[column]
    p = clamp(c.center[column], low[column], high[column])
    is_up = p <= cut
    goal = cut + 1 if is_up else cut
    near = price * room - forest.needed[j] + forest.error
    far = near - price * (c.cost[at + goal] - c.cost[at + p])
    for t in range(forest.n_trees):
        most_near, most_far = -np.inf, -np.inf
        for i in range(w.run[t], w.run[t + 1]):
            leaf = leaves[i]
            value = w.lead[i] - price * w.share[i]
            low_side, high_side = True, True
            for q in range(forest.start[leaf], forest.start[leaf + 1]):
                if forest.column[q] >= column:  # they are sorted
                    if forest.column[q] == column:
                        low_side, high_side = forest.first[q] <= cut, forest.last[q] > cut
                    break
            if low_side if is_up else high_side:
                most_near = max(most_near, value)
            if high_side if is_up else low_side:
                if not (low_side and high_side):
                    value += price * paid_before(forest, w, leaf, column, at + goal, is_up)
                most_far = max(most_far, value)
        near += most_near
        far += most_far
    return near, far


@compiled
def paid_before(
    forest: Forest, w: Scratch, leaf: int, column: int, goal: int, is_up: bool
) -> float:
    """Return what a leaf pays for the way from the nearest point to a place of a column."""
    total = 0.0
    for q in range(forest.need_start[leaf], forest.need_start[leaf + 1]):
        k = forest.need_low[q]
        if k < forest.need_high[q] and forest.section_column[k] == column:
            for k in range(forest.need_low[q], forest.need_high[q]):
                a, b = w.begin[k], w.end[k]
                if is_up:
                    b = max(min(b, goal), a)
                else:
                    a = min(max(a, goal), b)
                total += w.weight[k] * (w.steps[b] - w.steps[a])
            break
    return total


@compiled
def branch(
    forest: Forest,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    room: float,
    j: int,
    price: float,
    weights: Small,
) -> tuple[int, int]:
    """Return the column, and the last choice of its lower side, on which most depends.

    The best leaf of each tree spreads what it gains over the directions that it needs; a cut gets
    what lies beyond it, the more the farther it is. Of the best cut of each direction a few are
    tried: that one is taken whose two sides fall most below the bound of the box.
    """
    i = 0
    while i < n:
        t, begin = forest.tree[leaves[i]], i
        here, most, top, least = -np.inf, -np.inf, -1, np.inf
        while i < n and forest.tree[leaves[i]] == t:
            value = forest.lead[leaves[i], j]
            if w.inside[i]:
                here = value
            if value > most:
                most, top = value, i
            least = min(least, value)
            i += 1
        gain = most - here if here > -np.inf else most - least + 1e-3
        if gain <= 0 or i == begin or w.inside[top]:
            continue
        leaf = leaves[top]
        needs = 0
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            p = clamp(c.center[f], low[f], high[f])
            if p < forest.first[q] or p > forest.last[q]:
                needs += 1
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            p = clamp(c.center[f], low[f], high[f])
            if p < forest.first[q]:
                w.steps[c.offset[f] + forest.first[q]] += gain / needs
            elif p > forest.last[q]:
                w.steps[c.offset[f] + forest.last[q]] += gain / needs
    candidates = 0
    best, column, cut = -np.inf, -1, -1
    for f in range(len(low)):
        at = c.offset[f]
        p = clamp(c.center[f], low[f], high[f])
        base = c.cost[at + p]
        for up in (True, False):
            rank, where, total = -np.inf, -1, 0.0
            first, end, by = (high[f], p, -1) if up else (low[f], p, 1)
            for a in range(first, end, by):
                if w.steps[at + a] > 0:
                    total += w.steps[at + a]
                    score = total * (0.1 + (c.cost[at + a] - base) / room)
                    if score > rank:
                        rank, where = score, a - 1 if up else a
            if where >= 0:
                w.ranked[candidates], w.rank_column[candidates] = rank, f
                w.rank_cut[candidates] = where
                candidates += 1
                if rank > best:
                    best, column, cut = rank, f, where
    if candidates > 1 and price > 0:
        begin_weights(forest, c, w, leaves, n, low, high, weights)
        share_costs(forest, c, w, leaves, n, low, high)
        line_up(forest, w, leaves, n, j)
        total = bound_at(forest, w, j, room, price)
        best = -np.inf
        for _ in range(min(candidates, TRIES)):
            x = int(np.argmax(w.ranked[:candidates]))
            w.ranked[x] = -np.inf
            f, a = w.rank_column[x], w.rank_cut[x]
            near, far = halves(forest, c, w, leaves, n, low, high, room, j, price, f, a)
            near, far = max(total - max(near, 0.0), 0.0), max(total - max(far, 0.0), 0.0)
            score = (near + LITTLE * total) * (far + LITTLE * total)
            if score > best:
                best, column, cut = score, f, a
    if column >= 0:
        return column, cut
    for i in range(n):  # any cut inside the box that a leaf asks about
        leaf = leaves[i]
        for q in range(forest.start[leaf], forest.start[leaf + 1]):
            f = forest.column[q]
            if low[f] < forest.first[q] <= high[f]:
                return f, forest.first[q] - 1
            if low[f] <= forest.last[q] < high[f]:
                return f, forest.last[q]
    return -1, -1


@compiled
def look_at(
    forest: Forest,
    tally: Tally,
    c: Costs,
    w: Scratch,
    leaves: Small,
    n: int,
    low: Small,
    high: Small,
    budget: float,
    price: float,
    weights: Small,
    plan: tuple[int, float, float, float],
) -> tuple[int, float, float, int, int, int, bool, float]:
    """Close a box whose leaves are sifted, find its best point, or say where to branch.

    Return the number of leaves left (-1: closed; -2: its nearest point is an answer), the cost of
    the nearest point, the price and the rival of the bound, column and cut to branch on, whether
    there are new weights, and what all points cost by the bound.
    """
    n, near = propagate(forest, c, w, leaves, n, low, high, budget, True)
    if n < 0:
        return -1, near, 0.0, 0, -1, -1, False, near
    hits = note_center(forest, c, w, leaves, n, low, high)
    rival = tightest_rival(forest, w, leaves, n)
    if hits == forest.n_trees and missing_choice(c, low, high) < 0:
        if wins(forest, tally, w, leaves, n):
            return -2, near, 0.0, rival, -1, -1, False, near
        if n == forest.n_trees:
            return -1, near, 0.0, 0, -1, -1, False, near
    new, least = False, near
    if not np.isfinite(budget):
        price = 0.0
    else:
        closed, new, price, covered = shared_cost(
            forest, c, w, leaves, n, low, high, budget - near, rival, price, weights, plan
        )
        least += covered
        if closed:
            return -1, near, price, rival, -1, -1, new, least
        k = 0
        for i in range(n):
            if w.keep[i]:
                leaves[k] = leaves[i]
                k += 1
        if k < n:
            n, near = propagate(forest, c, w, leaves, k, low, high, budget, False)
            if n < 0:
                return -1, near, price, rival, -1, -1, new, least
    hits = note_center(forest, c, w, leaves, n, low, high)
    column = missing_choice(c, low, high)
    if column >= 0:
        return n, near, price, rival, column, 0, new, least
    # The last rules may have moved the nearest point.
    if hits == forest.n_trees and wins(forest, tally, w, leaves, n):
        return -2, near, price, rival, -1, -1, new, least
    for f in range(len(low)):
        for a in range(c.offset[f] + low[f], c.offset[f] + high[f] + 1):
            w.steps[a] = 0.0
    room = budget - near if np.isfinite(budget) else 1.0
    column, cut = branch(forest, c, w, leaves, n, low, high, room, rival, price, weights)
    if column < 0:
        return -1, near, price, rival, -1, -1, new, least
    return n, near, price, rival, column, cut, new, least


@compiled
def note(
    record: Record, numbers: IntArray, column: int, cut: int, price: float, rival: int
) -> None:
    """Write down one box."""
    i = numbers[RECORDED]
    record.column[i], record.cut[i] = column, cut
    record.price[i], record.rival[i] = price, rival
    record.end[i] = numbers[WEIGHTS]
    numbers[RECORDED] = i + 1


@compiled
def note_weights(record: Record, numbers: IntArray, weights: Small) -> None:
    """Write down the weights of the box that is noted next."""
    i = numbers[WEIGHTS]
    for k in range(len(weights)):
        if weights[k] > 0:
            record.section[i], record.weight[i] = k, weights[k]
            i += 1
    numbers[WEIGHTS] = i


@compiled
def plan_of(depth: int, again: int) -> tuple[int, float, float, float]:
    """Return how the weights of a box move: how often, by how much, how that falls, patience."""
    if depth > 0:
        return PLAN
    return NEXT_PLAN if again else FIRST_PLAN


@entry
def run(
    forest: Forest, tally: Tally, c: Costs, s: State, record: Record, w: Scratch, boxes: int
) -> int:
    """Look at so many boxes, depth first. Return DONE, LEFT or NARROW."""
    numbers, end = s.numbers, s.numbers[BOXES] + boxes
    while numbers[DEPTH] >= 0:
        d = numbers[DEPTH]
        if numbers[RECORDED] >= len(record.column) or d + 2 >= len(s.phase):
            return NARROW
        if s.phase[d] == 0:
            if numbers[BOXES] >= end:
                return LEFT
            # Room for the list of the box below.
            if s.begin[d] + 2 * s.size[d] > len(s.leaves):
                return NARROW
            if numbers[WEIGHTS] + s.weights.shape[1] > len(record.section):
                return NARROW
            numbers[BOXES] += 1
            sifted, at = sift(
                forest, c, w, s.leaves[s.begin[d] :], s.size[d], s.low[d], s.high[d],
                s.floats[BUDGET],
            )  # fmt: skip
            if sifted < 0:
                if d == 0:
                    s.floats[LEAST] = at
                note(record, numbers, -1, 0, 0.0, 0)
                numbers[DEPTH] -= 1
                continue
            # What else the rules find is not handed down: the check looks at each end by itself.
            s.size[d], s.near[d] = sifted, at
            leaves = s.leaves[s.begin[d] + sifted :]
            for i in range(sifted):
                leaves[i] = s.leaves[s.begin[d] + i]
            for f in range(s.low.shape[1]):
                w.low[f], w.high[f] = s.low[d, f], s.high[d, f]
            n, near, price, rival, column, cut, new, least = look_at(
                forest, tally, c, w, leaves, sifted, w.low, w.high,
                s.floats[BUDGET], s.price[d], s.weights[d], plan_of(d, numbers[AGAIN]),
            )  # fmt: skip
            if d == 0:
                s.floats[LEAST] = least
            if new or (d == 0 and np.isfinite(s.floats[BUDGET])):
                note_weights(record, numbers, s.weights[d])
            if n == -2:
                s.floats[BEST] = near
                s.floats[BUDGET] = near * (1.0 - s.floats[CLOSER])
                numbers[FOUND] += 1
                for f in range(s.low.shape[1]):
                    s.best[f] = clamp(c.center[f], w.low[f], w.high[f])
            if n < 0:
                note(record, numbers, -1, 0, price, rival)
                numbers[DEPTH] -= 1
                continue
            p = clamp(c.center[column], w.low[column], w.high[column])
            away = 1 if p <= cut else 0  # the side that the nearest point is not on comes first
            note(record, numbers, column, 2 * cut + away, price, rival)
            if price > 0:  # below an endless budget there is none
                s.price[d] = price
            s.split[d, 0], s.split[d, 1], s.split[d, 2] = column, cut, 1 - away
            s.phase[d], side = 1, away
        elif s.phase[d] == 1:
            s.phase[d], side = 2, s.split[d, 2]
            if s.near[d] >= s.floats[BUDGET]:
                note(record, numbers, -1, 0, 0.0, 0)
                numbers[DEPTH] -= 1
                continue
        else:
            numbers[DEPTH] -= 1
            continue
        descend(s, d, side)
    return DONE


@compiled
def descend(s: State, d: int, side: int) -> None:
    """Begin the box on one side of the cut of the box at depth d."""
    begin, n = s.begin[d] + s.size[d], s.size[d]
    for i in range(n):
        s.leaves[begin + i] = s.leaves[s.begin[d] + i]
    s.begin[d + 1], s.size[d + 1], s.price[d + 1] = begin, n, s.price[d]
    s.weights[d + 1] = s.weights[d]
    for f in range(s.low.shape[1]):
        s.low[d + 1, f], s.high[d + 1, f] = s.low[d, f], s.high[d, f]
    column, cut = s.split[d, 0], s.split[d, 1]
    if side == 0:
        s.high[d + 1, column] = min(s.high[d + 1, column], cut)
    else:
        s.low[d + 1, column] = max(s.low[d + 1, column], cut + 1)
    s.phase[d + 1] = 0
    s.numbers[DEPTH] = d + 1
