"""The nearest point where rows of bent columns hold: branch and bound over boxes of raw numbers.

The rows ``G x + B f(x) <= h`` are sums over numbers and groups of categories. In a box the
cheapest *mix* of candidates that keeps them (`pertinent.solvers.search.bent.master`) costs no more
than the nearest point, up to the distance of candidates; more come where a curve, which rises, may
still hide something cheaper between two of them. The multipliers of the mix are the proof of the
box (`pertinent.proofs.cases.bent`). A mix of two values of one number is no point: the larger
change is one where there is one row, moved back as far as it can, and the box is split between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.running import is_over
from pertinent.proofs.cases.bent import BentProofs
from pertinent.proofs.cases.branch import SPLIT
from pertinent.solvers.problem import Solved, Task
from pertinent.solvers.search.bent.master import Mix, cheapest_mix
from pertinent.solvers.search.bent.moving import Places
from pertinent.solvers.search.bent.parts import Candidates, Number, parts_of
from pertinent.solvers.search.cases import CaseSearch, Open, TreeBuilder
from pertinent.solvers.search.narrow import narrow, whole_boxes
from pertinent.solvers.search.split import Splits, choose_splits
from pertinent.solvers.tolerances import (
    BENT_CLOSED,
    BENT_LOOKS,
    BENT_LOPSIDED,
    BENT_MEANS,
    BENT_NODES,
    BENT_REACH,
    BENT_ROUNDS,
    BENT_STEEP,
    BENT_WIDTH,
    CASE_EXACT,
)


def solve_bent(task: Task) -> Solved:
    """Return the nearest point of every row, with a tree of boxes as proof."""
    domain = task.domain
    if domain is None:
        domain = Domain(np.full(task.centers.shape[1], np.nan))
    return _Search(replace(task, domain=domain)).solved()


@dataclass(eq=False)
class _Box:
    """One box with the candidates of its parts, the last mix of them, and what that may miss.

    ``hidden`` is the number that may miss most by itself, and between which two of its values.
    """

    candidates: list[Candidates]
    mix: Mix
    missed: float
    hidden: tuple[int, float] | None

    @property
    def bound(self) -> float:
        """What no point of the box costs less than, as far as the search knows."""
        return np.inf if np.isinf(self.mix.value) else max(0.0, self.mix.value - self.missed)


class _Search(CaseSearch):
    """The search of all rows, box by box."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, 1, BENT_NODES)
        self.rows = task.cell.sums_of_curves
        self.tree = TreeBuilder(len(self.rows))
        self.roots = self.tree.add(len(task))
        self.numbers, self.groups = parts_of(self.rows, task.weights, self.domain)
        self.places = Places(self.rows, self.numbers, task, self.domain)
        bent = [number.column for number in self.numbers if not number.is_simple]
        on_steps = np.isin(bent, self.domain.lattice).all() if bent else True
        #: On a grid there is nothing between two candidates: the best is found to the last digit.
        self.closed = CASE_EXACT if on_steps else BENT_CLOSED

    def solved(self) -> Solved:
        """Return points, outcomes and proofs."""
        for reach in BENT_LOOKS:
            rows = np.flatnonzero(np.isinf(self.best))
            if not len(rows) or not self._is_steep():
                break
            self._look_within(reach, rows)
        # What costs more than a point that is known is of no interest.
        self.run(*self._within(np.minimum(self.best, BENT_REACH)))
        # Without a point nothing is claimed beyond what all boxes cost; of empty ones, no cost.
        cap = np.where(np.isfinite(self.best), self.best, np.maximum(self.least, 0.0))
        proofs = BentProofs(self.roots, *self.tree.finish(), cap)
        return Solved(self.points, self.outcome(), proofs)

    def _within(self, cost: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return between which values each number costs no more than so much, row by row."""
        t = self.task
        with np.errstate(divide="ignore"):
            far = np.where(t.weights > 0, cost[:, None] / t.weights, np.inf)
        return np.maximum(t.lower, t.centers - far), np.minimum(t.upper, t.centers + far)

    def _is_steep(self) -> bool:
        """Return whether curves far away add so much that all else vanishes beside it: exp, 1/x."""
        far = self._within(np.full(len(self.task), BENT_REACH))
        for curve in self.rows.curves:
            here, *there = (
                np.abs(curve(np.clip(points[:, curve.column], -1e300, 1e300)))
                for points in (self.task.centers, *far)
            )
            if any((own > BENT_STEEP * (1.0 + here)).any() for own in there):
                return True
        return False

    def _look_within(self, cost: float, rows: IntArray) -> None:
        """Offer points that cost at most so much, where the first box has some."""
        boxes = whole_boxes(self.domain, *self._within(np.full(len(self.task), cost)))
        tight, empty = narrow(self.domain, boxes.take(rows))
        none = np.full(len(rows), -1)
        chosen = Open(tight.row, np.zeros(len(rows)), tight, none, none).take(~empty)
        for k in range(len(chosen)):
            box = None if is_over() else self._solve(chosen, k)
            if box is not None and np.isfinite(box.bound):
                self._offer_near(box, chosen, k)

    def gap(self, row: IntArray) -> float:
        """Return how close to the best, relatively, a box is of no interest."""
        return self.closed

    def advance(self, chosen: Open) -> Open:
        """Look at some boxes, and return those they are split into."""
        points, proof = np.empty(chosen.boxes.lower.shape), chosen.proof.copy()
        mixed = list[tuple[int, float] | None]()
        for k in range(len(chosen)):
            self.looked_at[chosen.row[k]] += 1
            box = None if k and is_over() else self._solve(chosen, k)
            if box is None:
                points[k] = chosen.boxes.lower[k]
                mixed.append(None)
                continue
            if box.bound >= chosen.bound[k]:
                chosen.bound[k] = box.bound
                ray = np.array([np.isinf(box.bound)])
                proof[k] = self.tree.keep_proofs(box.mix.y[None], ray)[0]
            points[k] = self._mean(box, chosen, k)
            mixed.append(self._widest(box, points[k]))
            if np.isfinite(box.bound) and chosen.bound[k] < self.limit(chosen.row[[k]])[0]:
                self._offer_near(box, chosen, k)
        chosen.proof[:] = proof
        self.tree.proof[chosen.node] = proof
        still = chosen.bound < self.limit(chosen.row)
        self.close(chosen.take(~still))
        some = chosen.take(still)
        splits = choose_splits(self.domain, some.boxes, points[still], self.task)
        self._between(splits, some, [m for m, s in zip(mixed, still, strict=True) if s])
        return self.split(some, splits)

    # -- One box -----------------------------------------------------------------------------

    def _solve(self, chosen: Open, k: int) -> _Box | None:
        """Return a box solved to the end; None where the linear program gave no answer."""
        i, t = int(chosen.row[k]), self.task
        low, high, center = chosen.boxes.lower[k], chosen.boxes.upper[k], t.centers[i]
        if np.isfinite(self.best[i]):  # what costs more than the best is of no interest
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = np.where(t.weights > 0, self.best[i] / t.weights, np.inf)
            low, high = np.maximum(low, center - reach), np.minimum(high, center + reach)
        low = np.where(np.isfinite(low), low, np.minimum(center, high) - 1.0)
        high = np.where(np.isfinite(high), high, np.maximum(center, low) + 1.0)
        parts = [self._first(number, i, low, high, center) for number in self.numbers]
        parts += [group.candidates(high, center) for group in self.groups]
        if not all(len(part.cost) for part in parts):
            return None
        mix, missed, hidden = cheapest_mix(parts, self.rows.h), 0.0, None
        for _ in range(BENT_ROUNDS):
            if mix is None:
                return None
            if np.isinf(mix.value) or is_over():
                break
            finer = list(parts)
            missed, more, hidden = self._refine(finer, mix, i, center)
            # As soon as the box is of no interest, or all that can be is found, it is enough.
            if not more or mix.value - missed >= self.limit(chosen.row[[k]])[0]:
                break
            parts = finer
            mix = cheapest_mix(parts, self.rows.h, mix.y)
        return None if mix is None else _Box(parts, mix, missed, hidden)

    def _first(
        self, number: Number, i: int, low: FloatArray, high: FloatArray, center: FloatArray
    ) -> Candidates:
        j = number.column
        x = number.first(float(low[j]), float(high[j]), float(center[j]))
        return number.at(self._allowed(j, i, x, float(low[j]), float(high[j])), float(center[j]))

    def _allowed(self, j: int, i: int, x: FloatArray, low: float, high: float) -> FloatArray:
        """Return the allowed numbers next to some, within the ends."""
        if j not in self.domain.confined:
            return x
        row = np.full(len(x), i)
        both = [self.domain.floor(j, x, row), self.domain.ceil(j, x, row)]
        near = np.unique(np.concatenate(both))
        return near[(near >= low) & (near <= high)]

    def _refine(
        self, parts: list[Candidates], mix: Mix, i: int, center: FloatArray
    ) -> tuple[float, bool, tuple[int, float] | None]:
        """Add candidates where something cheaper may lie between two; return what is missed.

        Between neighbours p < q a rising curve lies between its values there. Beside: whether any
        were added, and where most may be missed.
        """
        missed, more, share = 0.0, False, self.closed / 4 / max(1, len(self.numbers))
        most, hidden = 0.0, None
        enough = share * min(mix.value, float(self.best[i]))
        for p, number in enumerate(self.numbers):
            part = parts[p]
            if not number.curves or len(part.values) < 2:
                continue
            value = part.cost + part.adds @ mix.y
            below = value.min() - self._least_between(
                number, part, mix.y, float(center[number.column])
            )
            worst = int(below.argmax())
            if below[worst] > most:
                most = float(below[worst])
                hidden = number.column, float(part.values[[worst, worst + 1]].mean())
            open_ = np.flatnonzero(below > enough)
            if len(open_):
                left, right = part.values[open_], part.values[open_ + 1]
                new = (left + (right - left) * np.array([[0.25], [0.5], [0.75]])).ravel()
                near = self._allowed(number.column, i, new, float(left.min()), float(right.max()))
                x = np.union1d(part.values, near)
                if len(x) > len(part.values):
                    parts[p] = number.at(x, float(center[number.column]))
                    more = True
                    missed += max(0.0, float(below.max()))
                    continue
            # Allowed neighbours: nothing lies between them.
            if number.column not in self.domain.lattice:
                missed += max(0.0, float(below.max()))
        return missed, more, hidden

    def _least_between(
        self, number: Number, part: Candidates, y: FloatArray, center: float
    ) -> FloatArray:
        """Return less than ``cost + y adds`` is anywhere between each two neighbours."""
        x = part.values
        bent, straight = np.zeros(len(x) - 1), part.cost + x * float(number.slopes @ y)
        for curve, factor in zip(number.curves, number.factors, strict=True):
            slope = float(factor @ y)
            at = slope * curve(x) if slope else np.zeros(len(x))
            bent += np.minimum(at[:-1], at[1:])
        for bins, own, beyond in number.bins:
            price = own[bins.of(x)] @ y
            if bins.excess is not None:
                price = price + bins.beyond(x) * float(beyond @ y)
            bent += np.minimum(price[:-1], price[1:])
        return np.asarray(np.minimum(straight[:-1], straight[1:]) + bent)

    # -- Points and splits -------------------------------------------------------------------

    def _mean(self, box: _Box, chosen: Open, k: int) -> FloatArray:
        """Return the mix as a point, categories in parts."""
        point = chosen.boxes.lower[k].copy()
        for number, share, part in zip(self.numbers, box.mix.shares, box.candidates, strict=False):
            point[number.column] = share @ part.values
        for g, group in enumerate(self.groups, len(self.numbers)):
            point[group.columns] = 0.0
            places = group.columns[box.candidates[g].values.astype(np.int64)]
            point[places] = box.mix.shares[g]
        return np.asarray(self.domain.completed(point[None])[0])

    def _widest(self, box: _Box, point: FloatArray) -> tuple[int, float] | None:
        """Return the number whose mix misses its own rows by most, and where it may be split.

        At the mix itself; where that is nearly one of the values, the values between that are
        farthest from their chord: at the multipliers the mixed ones are all as good, others worse.
        """
        best, found = 0.0, None
        for p, number in enumerate(self.numbers):
            options = box.mix.options(p)
            if number.is_simple or len(options) < 2:
                continue
            part, x = box.candidates[p], point[[number.column]]
            own = number.adds(x)[0]
            away = float(np.ptp(part.values[options])) * number.weight
            wrong = (
                abs(float((own - box.mix.shares[p] @ part.adds) @ box.mix.y)) + BENT_WIDTH * away
            )
            if not np.isfinite(wrong) or wrong > best:
                value = part.cost + part.adds @ box.mix.y
                inner = np.arange(options[0] + 1, options[-1])
                at = float(x[0])
                if len(inner) and box.mix.shares[p].max() > BENT_LOPSIDED:
                    at = float(part.values[inner[value[inner].argmax()]])
                best, found = wrong, (number.column, at)
        return box.hidden if found is None else found

    def _between(self, splits: Splits, some: Open, mixed: list[tuple[int, float] | None]) -> None:
        """Split the numbers that are mixed, where the rules ask for no other split."""
        for k, found in enumerate(mixed):
            if found is None or not splits.is_leaf[k]:
                continue
            j, x = found
            row, box = some.row[[k]], some.boxes
            low, high = float(box.lower[k, j]), float(box.upper[k, j])
            if not low < high:
                continue
            if j in self.domain.confined:
                below = self.domain.floor(j, np.array([min(x, np.nextafter(high, low))]), row)
                above = self.domain.ceil(j, np.nextafter(below, np.inf), row)
            else:
                # Well inside, so that both sides are smaller.
                width = high - low
                if np.isfinite(width):
                    x = min(max(x, low + 0.01 * width), high - 0.01 * width)
                below = above = np.array([x])
            if low <= below[0] and above[0] <= high and (low < above[0] or below[0] < high):
                splits.choose(np.array([k]), SPLIT, j, below, above)

    def _offer_near(self, box: _Box, chosen: Open, k: int) -> None:
        """Offer points near the mix: each part as it is chosen most, or by what gains most."""
        i = int(chosen.row[k])
        picks = np.array([int(share.argmax()) for share in box.mix.shares])
        full = picks.copy()
        for p, part in enumerate(box.candidates):
            options = box.mix.options(p)
            if len(options) > 1 and len(box.mix.y):
                full[p] = int(options[(part.adds[options] @ box.mix.y).argmin()])
        self._offer(box, full, chosen, k, i)
        if (picks != full).any():
            self._offer(box, picks, chosen, k, i)
        if len(self.rows) > 1:
            self._offer_mean(box, chosen, k, i)

    def _offer_mean(self, box: _Box, chosen: Open, k: int, i: int) -> None:
        """Offer the mix itself as a point, of rows that are asked for the more they are missed.

        Where its values lie close together, the rows miss little.
        """
        asked, mix = self.rows.h.copy(), box.mix
        for _ in range(BENT_MEANS):
            point = self._mean(replace(box, mix=mix), chosen, k)
            if self._offer_moved(point, i) or is_over():
                return
            over = self.rows.value(point[None])[0]
            if not (np.isfinite(over).all() and (over > 0).any()):
                return
            asked = asked - np.where(over > 0, 2 * over, 0.0)
            again = cheapest_mix(box.candidates, asked, mix.y)
            if again is None or not again.value < self.best[i]:
                return
            mix = again

    def _offer(self, box: _Box, pick: IntArray, chosen: Open, k: int, i: int) -> None:
        point = chosen.boxes.lower[k].copy()
        for p, number in enumerate(self.numbers):
            point[number.column] = box.candidates[p].values[pick[p]]
        for g, group in enumerate(self.groups, len(self.numbers)):
            point[group.columns] = 0.0
            point[group.columns[int(box.candidates[g].values[pick[g]])]] = 1.0
        point = self.domain.completed(point[None])[0]
        self._offer_moved(point, i)

    def _offer_moved(self, point: FloatArray, i: int) -> bool:
        """Offer a point that keeps rows and rules, moved back; return whether it does."""
        placed = self.places.at(point)
        holds = self.places.hold(placed, i)
        if holds:
            self.offer(np.array([i]), self.places.moved_back(placed, i)[None])
        return holds
