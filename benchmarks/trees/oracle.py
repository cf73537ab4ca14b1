"""HiGHS on the mixed-integer program over leaves: the judge of ``benchmarks.trees``.

Run in a process of its own: ``python -m benchmarks.trees.oracle tasks.pickle``, a list of questions
of one row each, with a cost that its points must stay below and a time limit. Each line that it
prints is the answer of one row, as JSON.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: Ties that a class loses are excluded by this, which HiGHS can still tell.
TIE = 1e-7


@dataclass
class Rows:
    """Rows of a program."""

    row: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)

    def add(self, column: Any, value: Any, low: float, high: float) -> None:
        self.row.extend([len(self.least)] * len(column))
        self.column.extend(int(j) for j in column)
        self.value.extend(float(v) for v in value)
        self.least.append(low)
        self.most.append(high)


def solved(task: Any, limit: float, cutoff: float = np.inf) -> tuple[bool, float]:
    """HiGHS on the program over leaves: whether it proved its answer, and the cost; inf: no point.

    ``y[f, i] = 1`` says that x_f lies beyond cut i; z is 1 for the leaf of each tree. Leaves beyond
    a cut need ``sum z <= y``, those before it ``sum z <= 1 - y``. A cell without an allowed value
    is none: y of both its cuts is the same. Of a group of categories exactly one column is 1.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    from pertinent.geometry.ensembles import as_ensemble

    region: Any = as_ensemble(task.region)
    ensemble = region.ensemble
    leaves, cuts = ensemble.leaves, ensemble.cuts
    in_group = np.zeros(len(cuts), dtype=bool)
    groups = () if task.domain is None else task.domain.groups
    for group in groups:
        in_group[group] = True
    place = np.cumsum([0, *(len(c) for c in cuts)])
    chosen = int(place[-1]) + np.arange(len(cuts))  # of categories: 1 where the column is
    first_leaf, n_leaves = int(chosen[-1]) + 1, len(leaves.tree)
    n = first_leaf + n_leaves
    cost, fixed, rows = np.zeros(n), 0.0, Rows()
    low, high = np.zeros(n), np.ones(n)
    for f, c in enumerate(cuts):
        if in_group[f]:
            own, weight = float(task.centers[0, f]), float(task.weights[f])
            fixed += weight * abs(own)
            cost[chosen[f]] = weight * (abs(1.0 - own) - abs(own))
            low[chosen[f]] = task.lower[0, f] > 0.0
            high[chosen[f]] = task.upper[0, f] >= 1.0
            zero, one = np.searchsorted(c, [0.0, 1.0])
            for i in range(len(c)):
                if i < zero:
                    low[place[f] + i] = 1.0
                elif i >= one:
                    high[place[f] + i] = 0.0
                else:
                    rows.add([place[f] + i, chosen[f]], [1.0, -1.0], 0.0, 0.0)
            continue
        high[chosen[f]] = 0.0
        away = _costs(task, f, c)
        allowed = np.flatnonzero(np.isfinite(away))
        if not len(allowed):
            return True, np.inf
        # Costs of cells that are none do not matter: those of the one before, or the first.
        before = allowed[np.maximum(np.searchsorted(allowed, np.arange(len(away)), "right") - 1, 0)]
        cost[place[f] : place[f + 1]] = np.diff(away[before])
        fixed += away[before][0]
        for i in range(len(c) - 1):
            rows.add([place[f] + i + 1, place[f] + i], [1.0, -1.0], -np.inf, 0.0)
        for cell in np.flatnonzero(np.isinf(away)).tolist():
            if cell == 0:
                low[place[f]] = 1.0
            elif cell == len(c):
                high[place[f] + cell - 1] = 0.0
            else:
                rows.add([place[f] + cell - 1, place[f] + cell], [1.0, -1.0], 0.0, 0.0)
    for group in groups:
        rows.add(chosen[group], np.ones(len(group)), 1.0, 1.0)
    for t in range(len(ensemble.trees)):
        _add_tree(rows, leaves, t, place, cuts, first_leaf)
    for rival in region.rivals:
        lead, needed, _ = ensemble.lead(region.label, rival)
        loses = region.label > rival if ensemble.tally.threshold is None else region.label == 0
        least = needed + (TIE if loses else -1e-9)
        rows.add(first_leaf + np.arange(n_leaves), lead, least, np.inf)
    if cutoff < np.inf:
        rows.add(np.arange(n), cost, -np.inf, cutoff - fixed)
    matrix = csr_array((rows.value, (rows.row, rows.column)), shape=(len(rows.least), n))
    found = milp(
        cost,
        constraints=LinearConstraint(matrix, rows.least, rows.most),
        integrality=np.concatenate([np.ones(first_leaf), np.zeros(n_leaves)]),
        bounds=Bounds(low, high),
        options={"time_limit": limit, "mip_rel_gap": 0.0},
    )
    proved = found.status in (0, 2)  # optimal; no point
    return proved, float(found.fun + fixed) if found.x is not None else np.inf


def _costs(task: Any, f: int, cuts: np.ndarray) -> np.ndarray:
    """Return the cost of the nearest allowed value of each cell; inf where there is none."""
    low = np.concatenate([[-np.inf], np.nextafter(cuts, np.inf)])
    high = np.concatenate([cuts, [np.inf]])
    low, high = np.maximum(low, task.lower[0, f]), np.minimum(high, task.upper[0, f])
    center = float(task.centers[0, f])
    near = np.clip(center, low, high)
    candidates = [near]
    domain = task.domain
    if domain is not None and np.isfinite(domain.decimals[f]):
        multiple = 1.0 if domain.multiple is None else float(domain.multiple[f])
        offset = 0.0 if domain.offset is None else float(domain.offset[f])
        unit = 10.0 ** float(domain.decimals[f])
        steps = (near * unit - offset) / multiple
        candidates = [
            (np.floor(steps + shift) * multiple + offset) / unit for shift in (-1.0, 0.0, 1.0, 2.0)
        ]
        if domain.own is not None:
            candidates.append(np.full(len(near), float(domain.own[0, f])))
    best = np.full(len(near), np.inf)
    for value in candidates:
        fits = (value >= low) & (value <= high)
        if domain is not None and domain.own is not None and domain.gap is not None:
            below, above = (float(side[0, f]) for side in domain.gap)
            fits &= (value <= below) | (value >= above) | (value == float(domain.own[0, f]))
        best[fits] = np.minimum(best, float(task.weights[f]) * np.abs(value - center))[fits]
    return best


def _add_tree(rows: Rows, leaves: Any, t: int, place: Any, cuts: Any, first_leaf: int) -> None:
    """Add what a tree's leaves need: one of them, beyond and before their cuts."""
    own = np.flatnonzero(leaves.tree == t)
    rows.add(first_leaf + own, np.ones(len(own)), 1.0, 1.0)
    beyond: dict[int, list[int]] = {}
    before: dict[int, list[int]] = {}
    for leaf in own:
        for q in range(leaves.start[leaf], leaves.start[leaf + 1]):
            f = leaves.column[q]
            if leaves.first[q] > 0:
                beyond.setdefault(place[f] + leaves.first[q] - 1, []).append(first_leaf + leaf)
            if leaves.last[q] < len(cuts[f]):
                before.setdefault(place[f] + leaves.last[q], []).append(first_leaf + leaf)
    for i, some in beyond.items():
        rows.add([*some, i], [1.0] * len(some) + [-1.0], -np.inf, 0.0)
    for i, some in before.items():
        rows.add([*some, i], [1.0] * len(some) + [1.0], -np.inf, 1.0)


def main() -> None:
    """Solve stored questions."""
    for task, limit, cutoff in pickle.loads(Path(sys.argv[1]).read_bytes()):
        start = time.process_time()
        proved, objective = solved(task, limit, cutoff)
        seconds = time.process_time() - start
        line = {"seconds": seconds, "proved": proved, "objective": objective}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
