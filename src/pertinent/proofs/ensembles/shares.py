"""The shared-cost bound: each tree pays its share of what a point costs.

Let x be a point of a box, of the region and below the claim: ``cost(x) - near < room``. Split the
cost of every step from one place of a column to the next among the trees that have a leaf beyond
it, in any proportion. Then tree t pays ``share(l)`` for its leaf l, at most what reaching the leaf
costs, and all trees together no more than x costs. So for every price ``>= 0``

    needed - error  <=  sum_t lead(l_t)
                    <=  sum_t (lead(l_t) - price share(l_t)) + price room
                    <=  sum_t max over leaves (lead - price share) + price room,

and where the right-hand side is below the left one there is no such point. Likewise no such point
lies in a leaf that is smaller than its tree's maximum by more than the difference.

Any proportion is right; a good one gives a step to the trees that gain by it. Weights begin with
what the leaves of a tree gain over the nearest point, spread over the directions they need, and
move to the directions that the winners at the price need. Sums are rounded towards smaller shares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs.ensembles.boxes import Boxes, Rules, heads
from pertinent.proofs.tolerances import LEAST_GAIN, NEGLIGIBLE, ROUNDED

#: How often weights move, and by which factors.
WEIGHINGS, LESS, MORE = 7, 0.6, 2.0
_LONG = np.longdouble


@dataclass(eq=False)
class Shares:
    """The leaves of some boxes, and how their trees share costs.

    A *way* is a tree, a column and a direction that leaves of the tree need; a *road* a box, a
    column and a direction. Ways of one road are sorted by how far they reach.
    """

    boxes: Boxes
    run: IntArray  # where the leaves of each tree begin
    of_tree: IntArray  # (n_pairs,)
    lead: FloatArray  # (n_pairs,) over the rival asked about
    room: FloatArray  # (n_boxes,)
    needed: FloatArray  # (n_boxes,)
    pair: IntArray  # the pair of each condition that needs a way
    way: IntArray  # its way
    stop: IntArray  # the first way of its road that reaches as far
    short: FloatArray  # what its own place costs less than where that way ends
    order: IntArray  # ways sorted by road and reach
    road_end: IntArray  # (n_ways,) in that order: where the road ends
    road_start: IntArray
    step: FloatArray  # in that order: cost from the way before
    of_box: IntArray  # in that order
    weight: FloatArray  # of each way

    @classmethod
    def of(cls, rules: Rules, boxes: Boxes, rival: IntArray) -> Shares:
        """Return the shares to begin with, against one rival for each box."""
        c, t, dim = rules.conditions, rules.tables, boxes.low.shape[1]
        places = rules.nearest(boxes)
        cost = rules.costs(boxes, places)
        run = heads(boxes.box * c.n_trees + c.tree[boxes.leaf])
        of_tree = np.repeat(np.arange(len(run)), np.diff(np.append(run, len(boxes.leaf))))
        lead = c.lead[boxes.leaf, rival[boxes.box]]
        # Conditions that the nearest point does not meet: upwards first, then downwards.
        column, box = c.column[boxes.place], boxes.box[boxes.pair]
        flat = box * dim + column
        p = places.reshape(-1)[flat]
        up = np.flatnonzero(p < c.first[boxes.place])
        down = np.flatnonzero(p > c.last[boxes.place])
        both = np.concatenate([up, down])
        own, spot = boxes.row[box[both]], t.offset[column[both]]
        end = np.concatenate(
            [
                t.up[own[: len(up)], spot[: len(up)] + c.first[boxes.place[up]]],
                t.down[own[len(up) :], spot[len(up) :] + c.last[boxes.place[down]]],
            ]
        )
        end_cost = t.cost[own, spot + end]
        extra = np.maximum(end_cost - cost.reshape(-1)[flat[both]], 0.0)
        pair = boxes.pair[both]
        # The gain of each leaf over the nearest point, spread by cost.
        spent = np.bincount(pair, extra, len(boxes.leaf))
        here = np.minimum.reduceat(lead, run)
        inside = np.ones(len(boxes.leaf), dtype=bool)
        inside[pair] = False
        here[of_tree[inside]] = lead[inside]
        gain = np.maximum(lead - here[of_tree], LEAST_GAIN)
        part = gain[pair] * extra / np.maximum(spent[pair], np.finfo(float).tiny)
        # Ways: runs of equal tree and column, one block for each direction.
        key = of_tree[pair] * dim + column[both]
        key[len(up) :] += dim * (len(run) + 1)
        first = heads(key)
        way = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(key))))
        if not len(first):
            none = np.zeros(0, dtype=np.int64)
            nothing = np.zeros(0)
            return cls(
                boxes, run, of_tree, lead, rules.claim[boxes.row] - cost.sum(axis=1),
                c.needed[rival], none, none, none, nothing, none, none, none, nothing, none,
                nothing,
            )  # fmt: skip
        signed = np.where(np.arange(len(both)) < len(up), end, -end)
        reach = np.maximum.reduceat(signed, first)
        weight = np.maximum.reduceat(part, first)
        width = int(np.diff(t.offset).max()) + 1
        road = box[both[first]] * (2 * dim) + 2 * column[both[first]] + (first >= len(up))
        far = road * (2 * width) + reach + width  # sorts by road, then by distance
        order = np.argsort(far, kind="stable")
        sorted_road, sorted_far = road[order], far[order]
        starts = heads(sorted_road)
        sizes = np.diff(np.append(starts, len(order)))
        road_start = np.repeat(starts, sizes)
        reach_cost = t.cost[
            boxes.row[box[both[first]]], t.offset[column[both[first]]] + np.abs(reach)
        ][order]
        before = np.concatenate([[0.0], reach_cost[:-1]])
        begin = cost.reshape(-1)[flat[both[first]]][order]
        step = np.maximum(
            reach_cost - np.where(np.arange(len(order)) == road_start, begin, before), 0.0
        )
        asked = road[way] * (2 * width) + signed + width
        stop = np.searchsorted(sorted_far, asked)
        return cls(
            boxes=boxes, run=run, of_tree=of_tree, lead=lead,
            room=rules.claim[boxes.row] - cost.sum(axis=1), needed=c.needed[rival],
            pair=pair, way=way, stop=stop,
            short=np.maximum(reach_cost[stop] - end_cost, 0.0),
            order=order, road_end=np.repeat(starts + sizes, sizes) - 1, road_start=road_start,
            step=step, of_box=box[both[first]][order], weight=weight,
        )  # fmt: skip

    def shares(self) -> FloatArray:
        """Return what each leaf pays, in units of cost; never too much."""
        if not len(self.order):
            return np.zeros(len(self.lead))
        scale = np.bincount(self.of_box, self.weight[self.order], len(self.boxes))
        weight = self.weight[self.order] / np.maximum(scale, np.finfo(float).tiny)[self.of_box]
        unit = 4 * len(weight) * float(np.finfo(_LONG).eps)
        sums = np.cumsum(weight, dtype=_LONG)
        # Who reaches at least as far: the rest of the road; rounded up.
        beyond = sums[self.road_end] - sums + weight + unit * sums[-1]
        some = beyond > NEGLIGIBLE
        beyond = np.where(some, beyond, _LONG(1.0))
        each = np.where(some, self.step / beyond, _LONG(0.0))
        paid = np.cumsum(each)
        before = paid - paid[self.road_start] + each[self.road_start]
        at_stop = before[self.stop] - unit * paid[self.stop]
        slope = np.where(some, 1.0 / beyond, 0.0)[self.stop]
        rate = np.maximum(at_stop - self.short * slope * (1 + ROUNDED), 0.0)
        own = np.empty(len(weight))
        own[self.order] = weight
        share = (own[self.way] * rate).astype(float) * (1 - ROUNDED)
        return np.asarray(np.bincount(self.pair, share, len(self.lead)), dtype=float)

    def at(self, price: FloatArray, share: FloatArray, error: float) -> Priced:
        """Return the bound of each box at a price."""
        value = self.lead - price[self.boxes.box] * share
        most = np.maximum.reduceat(value, self.run)
        box = self.boxes.box[self.run]
        paid = price * self.room
        total = np.bincount(box, most, len(self.boxes)) + paid - self.needed + error
        size = np.bincount(box, np.abs(most), len(self.boxes)) + paid + np.abs(self.needed)
        return Priced(total + ROUNDED * size, value, most[self.of_tree], paid)

    def move_weights(self, priced: Priced) -> None:
        """Move weight to the ways that the winners need."""
        needed = np.zeros(len(self.weight), dtype=bool)
        wins = priced.value == priced.most
        needed[self.way[wins[self.pair]]] = True
        self.weight *= np.where(needed, LESS * MORE, LESS)

    def slopes(self, priced: Priced, share: FloatArray) -> FloatArray:
        """Return how the bound of each box grows with the price."""
        wins = np.where(priced.value == priced.most, share, -1.0)
        paid = np.maximum.reduceat(wins, self.run)
        return self.room - np.bincount(self.boxes.box[self.run], paid, len(self.boxes))


@dataclass(frozen=True, eq=False)
class Priced:
    """The bound of each box at a price: below 0 there is no point. Values of leaves, their most."""

    total: FloatArray
    value: FloatArray
    most: FloatArray
    paid: FloatArray

    def dropped(self, box: IntArray) -> BoolArray:
        """Return the leaves that no point can lie in."""
        return np.asarray(self.value < self.most - self.total[box])


def close_by_shares(
    rules: Rules, boxes: Boxes, closed: BoolArray, price: FloatArray, rival: IntArray
) -> Boxes:
    """Note boxes that the bound closes at a price; return them without leaves it leaves out."""
    if not len(boxes.leaf):
        return boxes
    shares = Shares.of(rules, boxes, rival)
    dropped = closed[boxes.box]
    for turn in range(WEIGHINGS + 1):
        share = shares.shares()
        priced = shares.at(price, share, rules.conditions.error)
        closed |= priced.total < 0
        dropped |= priced.dropped(boxes.box)
        if turn < WEIGHINGS:
            shares.move_weights(priced)
    return boxes.without(dropped | closed[boxes.box])


def best_prices(rules: Rules, boxes: Boxes, price: FloatArray, rival: IntArray) -> FloatArray:
    """Return prices at which the first bound is about least: it is convex in the price."""
    shares = Shares.of(rules, boxes, rival)
    share = shares.shares()
    below, above, x = np.zeros(len(boxes)), np.full(len(boxes), np.inf), price.copy()
    for _ in range(14):
        rising = shares.slopes(shares.at(x, share, rules.conditions.error), share) > 0
        above, below = np.where(rising, x, above), np.where(rising, below, x)
        farther = np.where(np.isinf(above), 3.0 * x, x / 3.0)
        inner = np.isfinite(above) & (below > 0)
        x = np.where(inner, 0.5 * (below + np.where(inner, above, 0.0)), farther)
    return x
