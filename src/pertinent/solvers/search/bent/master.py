"""The cheapest mix of candidates that keeps all rows: a bound for a box, and where to look next.

    min  sum_p cost_p'z_p    s.t.   sum_p adds_p'z_p <= h,   z_p a mix of the candidates of part p

One row is solved by its multiplier alone: the least of ``cost + y adds`` over all mixes is a
concave function of y, whose top is where two of its lines meet. Several are a linear program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.solvers.problem import SOLVED
from pertinent.solvers.programs.linear import SIMPLEX, LinearProgram
from pertinent.solvers.search.bent.parts import Candidates
from pertinent.solvers.tolerances import MIX_EXCEEDED, MIX_ROUNDS, MIX_SAME, NO_SHARE


@dataclass(eq=False)
class Mix:
    """A mix of candidates.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Multipliers; of an empty box a ray.
    value : float
        What the mix costs, ``inf`` where there is none.
    shares : list of ndarray
        For each part, the share of each of its candidates.
    """

    y: FloatArray
    value: float
    shares: list[FloatArray]

    def options(self, p: int) -> IntArray:
        """Return the candidates of a part that have a share."""
        return np.flatnonzero(self.shares[p] > NO_SHARE)


def cheapest_mix(
    parts: Sequence[Candidates], h: FloatArray, near: FloatArray | None = None
) -> Mix | None:
    """Return the cheapest mix; None where the program has no answer.

    ``near`` are multipliers to begin with.
    """
    if not len(h):
        shares = [_one(part, int(part.cost.argmin())) for part in parts]
        return Mix(np.zeros(0), sum(float(part.cost.min()) for part in parts), shares)
    return _of_one_row(parts, h) if len(h) == 1 else _of_rows(parts, h, near)


def _one(part: Candidates, k: int) -> FloatArray:
    share = np.zeros(len(part.cost))
    share[k] = 1.0
    return share


@dataclass(frozen=True, eq=False)
class _Stack:
    """Costs and what is added of all candidates, one line for each part; filled up by ``inf``."""

    cost: FloatArray
    adds: FloatArray

    @classmethod
    def of(cls, parts: Sequence[Candidates]) -> _Stack:
        """Return the lines of all parts, for one row."""
        width = max(len(part.cost) for part in parts)
        cost, adds = np.full((len(parts), width), np.inf), np.zeros((len(parts), width))
        for p, part in enumerate(parts):
            cost[p, : len(part.cost)], adds[p, : len(part.cost)] = part.cost, part.adds[:, 0]
        return cls(cost, adds)

    def best(self, y: float) -> tuple[IntArray, float, float]:
        """Return the candidates of least ``cost + y adds``, what they cost, and what they add."""
        with np.errstate(invalid="ignore"):
            chosen = (self.cost + y * self.adds).argmin(axis=1)
        return chosen, *self.sums(chosen)

    def sums(self, chosen: IntArray) -> tuple[float, float]:
        """Return what some candidates cost and add."""
        every = np.arange(len(chosen))
        return float(self.cost[every, chosen].sum()), float(self.adds[every, chosen].sum())

    def least(self) -> IntArray:
        """Return the candidates that add least, of equal ones the cheapest."""
        known = np.where(np.isinf(self.cost), np.inf, self.adds)
        lowest = known.min(axis=1, keepdims=True)
        return np.asarray(np.where(known == lowest, self.cost, np.inf).argmin(axis=1))


def _of_one_row(parts: Sequence[Candidates], h: FloatArray) -> Mix:
    stack, most = _Stack.of(parts), float(h[0])
    size = MIX_EXCEEDED * float(
        np.abs(np.where(np.isinf(stack.cost), 0.0, stack.adds)).max(axis=1).sum()
    )
    over, cost, adds = stack.best(0.0)
    # Of equally cheap ones those that add least.
    if adds <= most:
        return Mix(np.zeros(1), cost, _shares(parts, over))
    under = stack.least()
    under_cost, under_adds = stack.sums(under)
    if under_adds > most + size:
        return Mix(np.ones(1), np.inf, _shares(parts, under))
    y = 0.0
    for _ in range(MIX_ROUNDS):
        if adds <= under_adds:
            break
        y = (under_cost - cost) / (adds - under_adds)
        chosen, new_cost, new_adds = stack.best(y)
        line = cost + y * (adds - most)
        if new_cost + y * (new_adds - most) >= line - MIX_SAME * max(abs(line), new_cost):
            break
        if new_adds > most:
            over, cost, adds = chosen, new_cost, new_adds
        else:
            under, under_cost, under_adds = chosen, new_cost, new_adds
    return _between(parts, stack, over, under, most, y)


def _between(
    parts: Sequence[Candidates],
    stack: _Stack,
    over: IntArray,
    under: IntArray,
    most: float,
    y: float,
) -> Mix:
    """Return the mix of two choices, one of which exceeds the row: of one part if that is enough.

    Both cost the same at the multiplier, part by part, so those of the parts may be changed one
    after the other, the largest first.
    """
    every = np.arange(len(over))
    gain = stack.adds[every, over] - stack.adds[every, under]
    chosen, need = over.copy(), float(stack.adds[every, over].sum()) - most
    shares = _shares(parts, chosen)
    for p in np.argsort(-gain, kind="stable").tolist():
        if need <= 0 or gain[p] <= 0:
            break
        share = min(1.0, need / gain[p])
        mixed = np.zeros(len(parts[p].cost))
        mixed[over[p]] += 1.0 - share
        mixed[under[p]] += share
        shares[p], need = mixed, need - gain[p]
    value = sum(float(s @ part.cost) for s, part in zip(shares, parts, strict=True))
    return Mix(np.array([y]), value, shares)


def _shares(parts: Sequence[Candidates], chosen: IntArray) -> list[FloatArray]:
    return [_one(part, int(k)) for part, k in zip(parts, chosen, strict=True)]


def _of_rows(parts: Sequence[Candidates], h: FloatArray, near: FloatArray | None) -> Mix | None:
    """Return the mix that a linear program finds over few candidates, and more where they help."""
    used, mix = [_useful(part, near) for part in parts], None
    for _ in range(MIX_ROUNDS):
        some = [
            Candidates(part.values[own], part.cost[own], part.adds[own])
            for part, own in zip(parts, used, strict=True)
        ]
        mix = _program(some, h)
        if mix is None or not _add_better(parts, some, used, mix):
            break
    if mix is None:
        return None
    shares = []
    for part, own, few in zip(parts, used, mix.shares, strict=True):
        share = np.zeros(len(part.cost))
        share[own] = few
        shares.append(share)
    return Mix(mix.y, mix.value, shares)


def _add_better(
    parts: Sequence[Candidates], some: Sequence[Candidates], used: list[IntArray], mix: Mix
) -> bool:
    """Use, in place, candidates that are better at the multipliers of a mix than those used."""
    more, weight = False, 0.0 if np.isinf(mix.value) else 1.0
    for p, (part, few) in enumerate(zip(parts, some, strict=True)):
        value, known = (weight * c.cost + c.adds @ mix.y for c in (part, few))
        best = int(value.argmin())
        size = abs(float(known.min())) + float(np.abs(part.adds[best]) @ mix.y)
        if value[best] < known.min() - MIX_SAME * size and best not in used[p]:
            used[p], more = np.union1d(used[p], [best]), True
    return more


def _useful(part: Candidates, near: FloatArray | None) -> IntArray:
    """Return the candidates that cost least, that add least to each row, and the best between."""
    few = [int(part.cost.argmin()), *part.adds.argmin(axis=0).tolist()]
    if near is not None:
        best = int((part.cost + part.adds @ near).argmin())
        few += [max(best - 1, 0), best, min(best + 1, len(part.cost) - 1)]
    return np.unique(few)


def _program(parts: Sequence[Candidates], h: FloatArray) -> Mix | None:
    """Return the mix that a linear program finds; of an empty box its ray."""
    sizes = [len(part.cost) for part in parts]
    ends, n, m = np.cumsum([0, *sizes]), sum(sizes), len(h)
    adds = np.vstack([part.adds for part in parts]).T
    scale = np.maximum(np.abs(adds).max(axis=1), 1e-300)
    cost = np.concatenate([part.cost for part in parts])
    unit = max(float(cost.max(initial=0.0)), 1e-300)
    picks = np.zeros((len(parts), n))
    for p in range(len(parts)):
        picks[p, ends[p] : ends[p + 1]] = 1.0
    upper = np.concatenate([h / scale, np.ones(len(parts))])
    lower = np.concatenate([np.full(m, -np.inf), np.ones(len(parts))])
    rows = np.vstack([adds / scale[:, None], picks])
    # First how much all rows must be exceeded by at least, each in its own unit.
    wide = np.hstack([rows, np.vstack([-np.eye(m), np.zeros((len(parts), m))])])
    for is_ray in (False, True):
        prices, columns = (np.repeat([0.0, 1.0], [n, m]), wide) if is_ray else (cost / unit, rows)
        program = LinearProgram(prices, columns, row_lower=lower, row_upper=upper, options=SIMPLEX)
        answer = program.solve()
        if answer.outcome == SOLVED:
            shares = [answer.v[ends[p] : ends[p + 1]] for p in range(len(parts))]
            y = np.maximum(-answer.prices[:m], 0.0) / scale
            value = np.inf if is_ray else float(answer.v[:n] @ cost)
            return Mix(y if is_ray else y * unit, value, shares)
    return None
