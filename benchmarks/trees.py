"""Tree ensembles: what share of rows is proved in 1 s and in 10 s, and HiGHS beside it.

Run with ``make bench NAME=trees``. Each row is a question of its own: the nearest point of the
runner-up class, in weighted L1 on features scaled to [0, 1], found, predicted by the model and
checked. Times are processor time. HiGHS solves the same rows as a mixed-integer program over leaves
in a process of its own. ``--rows`` and ``--oracle`` say how many rows each of them gets.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bars import Measure, print_measures

SEED, LIMIT = 20_000, 10.0


@dataclass(frozen=True)
class Case:
    """A model, its table, and what share of rows has to be proved in so many seconds."""

    name: str
    table: str
    make: Callable[[], Any]
    bars: tuple[tuple[float, float], ...]


def cases() -> list[Case]:
    from sklearn import ensemble as e

    def forest(kind: str, trees: int, depth: int | None) -> Callable[[], Any]:
        return lambda: getattr(e, f"{kind}Classifier")(trees, max_depth=depth, random_state=SEED)

    def boosted() -> Any:
        return e.GradientBoostingClassifier(n_estimators=100, max_depth=3, random_state=SEED)

    def histogram(rounds: int) -> Callable[[], Any]:
        return lambda: e.HistGradientBoostingClassifier(
            max_iter=rounds, max_leaf_nodes=31, early_stopping=False, random_state=SEED
        )

    return [
        Case("gradient boosting 100 x depth 3", "cancer", boosted, ((1.0, 0.99),)),
        Case("histogram boosting 300 x 31 leaves", "cancer", histogram(300), ((1.0, 0.99),)),
        Case("forest 100 x depth 5", "cancer", forest("RandomForest", 100, 5), ((1.0, 0.90),)),
        Case("extra trees 100 x depth 3", "cancer", forest("ExtraTrees", 100, 3), ((1.0, 0.85),)),
        Case("forest 100 x depth 8", "credit", forest("RandomForest", 100, 8), ((1.0, 0.95),)),
        Case("forest 200 unbounded", "cancer", forest("RandomForest", 200, None), ((10.0, 0.90),)),
        Case("extra trees 100 x depth 6", "cancer", forest("ExtraTrees", 100, 6), ((10.0, 0.80),)),
        Case("forest 100 x depth 8, 10 classes", "digits", forest("RandomForest", 100, 8),
             ((1.0, 0.70), (10.0, 0.90))),
        Case("forest 500 x depth 5", "cancer", forest("RandomForest", 500, 5), ((10.0, 0.60),)),
    ]  # fmt: skip


def table_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    from sklearn import datasets

    if name == "credit":
        from pertinent.datasets import load_credit

        data = load_credit(drop_missing=True)
        coded = [
            np.unique(column.astype(str), return_inverse=True)[1]
            if column.dtype == object
            else column
            for column in data.columns.values()
        ]
        X, y = np.column_stack(coded).astype(float), data.target
    else:
        load = {"cancer": datasets.load_breast_cancer, "digits": datasets.load_digits}[name]
        X, y = load(return_X_y=True)
    X = X[:, np.ptp(X, axis=0) > 0]
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


def fitted(case: Case, rows: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model, rows that it was not trained on, and the runner-up class of each."""
    X, y = table_of(case.table)
    order = np.random.default_rng(SEED).permutation(len(X))
    test = order[: min(len(X) // 2, max(rows, len(X) // 4))]
    model = case.make().fit(np.delete(X, test, axis=0), np.delete(y, test))
    some = X[test[:rows]]
    second = np.argsort(-model.predict_proba(some), axis=1, kind="stable")[:, 1]
    same = model.classes_[second] == model.predict(some)
    second[same] = np.argsort(-model.predict_proba(some), axis=1, kind="stable")[same, 0]
    return model, some, model.classes_[second]


def ours(model: Any, rows: np.ndarray, targets: np.ndarray, limit: float) -> list[dict[str, Any]]:
    """Answer each row by itself; what the first call does for all of them is not counted.

    The limit is one of the clock on the wall, and generous: what counts is processor time.
    """
    import pertinent

    ask = pertinent.pertinent_negatives
    ask(model, rows[:1], target=targets[:1], time_limit=1.0)
    out = []
    for x, target in zip(rows, targets, strict=True):
        start = time.process_time()
        found = ask(model, x[None], target=target, time_limit=limit)
        seconds = time.process_time() - start
        out.append(
            {
                "seconds": seconds,
                "proved": bool(found.status[0] == "optimal"),
                "valid": bool(model.predict(found.points)[0] == target),
                "objective": float(found.objective[0]),
                "bound": float(found.bound[0]),
            }
        )
    return out


def interval(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    p, shift = hits / n, z * z / n
    middle = (p + shift / 2) / (1 + shift)
    half = z * np.sqrt(p * (1 - p) / n + shift / (4 * n)) / (1 + shift)
    return middle - half, middle + half


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


def oracle(file: Path) -> list[dict[str, Any]]:
    """Solve stored rows by HiGHS in this process."""
    import pickle

    model, rows, targets = pickle.loads(file.read_bytes())
    from pertinent.models import decision_region

    out = []
    for x, target in zip(rows, targets, strict=True):
        region: Any = decision_region(model, target)
        start = time.process_time()
        proved, objective = leaf_program(region.ensemble, region.label, x, 3 * LIMIT)
        seconds = time.process_time() - start
        out.append({"seconds": seconds, "proved": proved, "objective": objective})
    return out


def by_highs(model: Any, rows: np.ndarray, targets: np.ndarray) -> list[dict[str, Any]]:
    """The same rows in a process of its own."""
    import pickle

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.pickle"
        file.write_bytes(pickle.dumps((model, rows, targets)))
        command = [sys.executable, "-m", "benchmarks.trees", "--solve", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def run(names: str, rows: int, beside: int) -> list[Measure]:
    measures = []
    for case in cases():
        if names not in f"{case.table} {case.name}":
            continue
        model, some, targets = fitted(case, rows)
        answers = ours(model, some, targets, 30 * max(limit for limit, _ in case.bars))
        seconds = np.array([a["seconds"] for a in answers])
        proved = np.array([a["proved"] for a in answers])
        invalid = sum(not a["valid"] for a in answers)
        name = f"{case.table}: {case.name}"
        for limit, needed in case.bars:
            hits = int((proved & (seconds <= limit)).sum())
            low, high = interval(hits, len(answers))
            share = hits / len(answers)
            print(
                f"{name}: proved in {limit:g} s {share:.0%} [{low:.0%}, {high:.0%}] of "
                f"{len(answers)}, median {1e3 * np.median(seconds):.0f} ms, "
                f"p95 {np.quantile(seconds, 0.95):.2f} s, invalid {invalid}",
                flush=True,
            )
            measures.append(
                Measure(name, f"{share:.0%} in {limit:g} s", f">= {needed:.0%}", share >= needed)
            )
        if beside:
            theirs = by_highs(model, some[:beside], targets[:beside])
            both = [
                (mine, highs)
                for mine, highs in zip(answers, theirs, strict=False)
                if mine["proved"] and highs["proved"]
            ]
            worse = [m for m, h in both if m["objective"] > h["objective"] * (1 + 1e-6) + 1e-9]
            ratio = np.median([h["seconds"] / m["seconds"] for m, h in both]) if both else np.nan
            print(
                f"  HiGHS proved {sum(h['proved'] for h in theirs)} of {len(theirs)} in "
                f"{3 * LIMIT:g} s; on {len(both)} rows of both it takes {ratio:.0f} times as long; "
                f"ours is above it on {len(worse)}",
                flush=True,
            )
    return measures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--oracle", type=int, default=20)
    parser.add_argument("--only", default="", help="part of a name, e.g. 'forest 100'")
    parser.add_argument("--solve", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.solve:
        print(json.dumps(oracle(args.solve)))
        return 0
    measures = run(args.only, args.rows, args.oracle)
    return int(print_measures("Tree ensembles: rows proved, checking included", measures) > 0)


if __name__ == "__main__":
    sys.exit(main())
