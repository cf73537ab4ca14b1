"""HiGHS on the mixed-integer program over leaves: the judge of ``benchmarks.trees``.

Run in a process of its own: ``python -m benchmarks.tree_oracle rows.pickle``. Each line that it
prints is the answer of one row, as JSON.
"""

from __future__ import annotations

import json
import pickle
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

#: Seconds that HiGHS has for a row.
LIMIT = 60.0


def leaf_program(ensemble: Any, k: int, center: np.ndarray, limit: float) -> tuple[bool, float]:
    """HiGHS on the program over leaves: whether it proved its answer, and the distance.

    ``y[f, i] = 1`` says that x_f lies beyond cut i; z is 1 for the leaf of each tree. Leaves beyond
    a cut need ``sum z <= y``, those before it ``sum z <= 1 - y``. Ties that class k loses are
    excluded by 1e-7, which HiGHS can still tell.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    leaves, cuts = ensemble.leaves, ensemble.cuts
    place = np.cumsum([0, *(len(c) for c in cuts)])
    n_cuts, n_leaves = int(place[-1]), len(leaves.tree)
    cost, fixed = np.zeros(n_cuts + n_leaves), 0.0
    for f, c in enumerate(cuts):
        low = np.concatenate([[-np.inf], np.nextafter(c, np.inf)])
        high = np.concatenate([c, [np.inf]])
        away = np.abs(np.clip(center[f], low, high) - center[f])
        cost[place[f] : place[f + 1]] = np.diff(away)
        fixed += away[0]
    rows, columns, values, least, most = [], [], [], [], []

    def add(column: Any, value: Any, low: float, high: float) -> None:
        rows.extend([len(least)] * len(column))
        columns.extend(column)
        values.extend(value)
        least.append(low)
        most.append(high)

    for f in range(len(cuts)):
        for i in range(place[f], place[f + 1] - 1):
            add([i + 1, i], [1.0, -1.0], -np.inf, 0.0)
    for t in range(len(ensemble.trees)):
        own = np.flatnonzero(leaves.tree == t)
        add(n_cuts + own, np.ones(len(own)), 1.0, 1.0)
        beyond: dict[int, list[int]] = {}
        before: dict[int, list[int]] = {}
        for leaf in own:
            for q in range(leaves.start[leaf], leaves.start[leaf + 1]):
                f = leaves.column[q]
                if leaves.first[q] > 0:
                    beyond.setdefault(place[f] + leaves.first[q] - 1, []).append(n_cuts + leaf)
                if leaves.last[q] < len(cuts[f]):
                    before.setdefault(place[f] + leaves.last[q], []).append(n_cuts + leaf)
        for i, some in beyond.items():
            add([*some, i], [1.0] * len(some) + [-1.0], -np.inf, 0.0)
        for i, some in before.items():
            add([*some, i], [1.0] * len(some) + [1.0], -np.inf, 1.0)
    for rival in range(ensemble.tally.n_classes):
        if rival != k:
            lead, needed, _ = ensemble.lead(k, rival)
            loses = k > rival if ensemble.tally.threshold is None else k == 0
            add(n_cuts + np.arange(n_leaves), lead, needed + (1e-7 if loses else -1e-9), np.inf)
    matrix = csr_array((values, (rows, columns)), shape=(len(least), n_cuts + n_leaves))
    found = milp(
        cost,
        constraints=LinearConstraint(matrix, least, most),
        integrality=np.concatenate([np.ones(n_cuts), np.zeros(n_leaves)]),
        bounds=Bounds(0, 1),
        options={"time_limit": limit, "mip_rel_gap": 0.0},
    )
    return found.status == 0, float(found.fun + fixed) if found.x is not None else np.inf


def main() -> None:
    """Solve stored rows."""
    from pertinent.models import decision_region

    model, rows, targets = pickle.loads(Path(sys.argv[1]).read_bytes())
    for x, target in zip(rows, targets, strict=True):
        region: Any = decision_region(model, target)
        start = time.process_time()
        proved, objective = leaf_program(region.ensemble, region.label, x, LIMIT)
        seconds = time.process_time() - start
        line = {"seconds": seconds, "proved": proved, "objective": objective}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
