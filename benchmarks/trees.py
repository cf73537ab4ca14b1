"""Tree ensembles: what share of rows is proved in 1 s and in 10 s, and HiGHS beside it.

Run with ``make bench NAME=trees``. Each row is a question of its own: the nearest point of the
runner-up class, in weighted L1 on features scaled to [0, 1], found, predicted by the model and
checked. Times are processor time. HiGHS solves the same rows as a mixed-integer program over leaves
in a process of its own. ``--rows`` and ``--oracle`` say how many rows each of them gets. What was
measured is kept in ``results/trees.csv``: a run goes on where the one before stopped, ``--minutes``
says when, and ``--again`` begins anew.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.bars import Measure, print_measures

SEED = 20_000
RESULTS = Path(__file__).parent / "results" / "trees.csv"
#: What is stored of an answer.
NUMBERS = ("seconds", "searching", "checking", "proved", "valid", "objective", "bound")


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


def ours(model: Any, x: np.ndarray, target: Any, limit: float) -> dict[str, Any]:
    """Answer one row: processor time in all, of searching alone and of checking alone.

    The limit is one of the clock on the wall, and generous: what counts is processor time.
    """
    import pertinent
    from pertinent.proofs.ensembles.proof import EnsembleProofs
    from pertinent.solvers.ensembles.solve import Row

    spent = {"searching": 0.0, "checking": 0.0}
    with (
        timed(Row, "solve", spent, "searching"),
        timed(EnsembleProofs, "bounds", spent, "checking"),
    ):
        start = time.process_time()
        found = pertinent.pertinent_negatives(model, x[None], target=target, time_limit=limit)
        seconds = time.process_time() - start
    return {
        "seconds": seconds,
        **spent,
        "proved": bool(found.status[0] == "optimal"),
        "valid": bool(model.predict(found.points)[0] == target),
        "objective": float(found.objective[0]),
        "bound": float(found.bound[0]),
    }


@contextmanager
def timed(owner: type, name: str, spent: dict[str, float], key: str) -> Iterator[None]:
    """Add up the processor time of a method."""
    method = getattr(owner, name)

    def call(*args: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return method(*args, **options)
        finally:
            spent[key] += time.process_time() - start

    with mock.patch.object(owner, name, call):
        yield


def interval(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's 95% interval of a share."""
    p, shift = hits / n, z * z / n
    middle = (p + shift / 2) / (1 + shift)
    half = z * np.sqrt(p * (1 - p) / n + shift / (4 * n)) / (1 + shift)
    return middle - half, middle + half


def by_highs(model: Any, rows: np.ndarray, targets: np.ndarray) -> Iterator[dict[str, Any]]:
    """The same rows in a process of its own, one after the other."""
    import pickle

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.pickle"
        file.write_bytes(pickle.dumps((model, rows, targets)))
        command = [sys.executable, "-m", "benchmarks.tree_oracle", str(file)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                yield json.loads(line)


@dataclass
class Results:
    """The rows that were measured so far: a measurement can be stopped and taken up again."""

    file: Path
    rows: dict[tuple[str, str, int], dict[str, float]]

    @classmethod
    def read(cls, file: Path, forget: str | None) -> Results:
        rows = {}
        if file.exists():
            with file.open(newline="") as text:
                for line in csv.DictReader(text):
                    key = line["model"], line["who"], int(line["row"])
                    if forget is None or forget not in key[0]:
                        rows[key] = {name: float(line[name]) for name in NUMBERS}
        return cls(file, rows)

    def note(self, model: str, who: str, row: int, answer: dict[str, Any]) -> None:
        self.rows[model, who, row] = {name: float(answer.get(name, np.nan)) for name in NUMBERS}
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("w", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(["model", "who", "row", *NUMBERS])
            for key, numbers in sorted(self.rows.items()):
                writer.writerow([*key, *(f"{numbers[name]:.10g}" for name in NUMBERS)])

    def of(self, model: str, who: str) -> dict[int, dict[str, float]]:
        return {row: n for (name, by, row), n in self.rows.items() if (name, by) == (model, who)}


def measure(case: Case, results: Results, rows: int, beside: int, end: float) -> None:
    """Answer the rows of a model that were not answered before, until the time is over."""
    name = f"{case.table}: {case.name}"
    mine, theirs = results.of(name, "ours"), results.of(name, "highs")
    if len(mine) >= rows and len(theirs) >= beside:
        return
    model, some, targets = fitted(case, max(rows, beside))
    limit = 30 * max(limit for limit, _ in case.bars)  # of a machine that others use, too
    ours(model, some[0], targets[0], 1.0)  # what the first call does for all is not counted
    for i in range(min(rows, len(some))):
        if time.monotonic() > end:
            return
        if i not in mine:
            results.note(name, "ours", i, ours(model, some[i], targets[i], limit))
    left = [i for i in range(beside) if i not in theirs]
    if left and time.monotonic() < end:
        for i, answer in zip(left, by_highs(model, some[left], targets[left]), strict=False):
            results.note(name, "highs", i, answer)
            if time.monotonic() > end:
                return


def summary(case: Case, results: Results) -> list[Measure]:
    """Print what is known of a model; return its bars."""
    name, measures = f"{case.table}: {case.name}", []
    mine, theirs = results.of(name, "ours"), results.of(name, "highs")
    if not mine:
        return []
    column = {key: np.array([mine[i][key] for i in mine]) for key in NUMBERS}
    seconds, proved, n = column["seconds"], column["proved"] > 0, len(mine)
    for limit, needed in case.bars:
        hits = int((proved & (seconds <= limit)).sum())
        low, high = interval(hits, n)
        share = hits / n
        print(
            f"{name}: proved in {limit:g} s {share:.0%} [{low:.0%}, {high:.0%}] of {n}, "
            f"median {1e3 * np.median(seconds):.0f} ms, p95 {np.quantile(seconds, 0.95):.2f} s, "
            f"checking {column['checking'].sum() / column['searching'].sum():.2f} of searching, "
            f"invalid {int((column['valid'] == 0).sum())}",
            flush=True,
        )
        text = f"{share:.0%} in {limit:g} s"
        measures.append(Measure(name, text, f">= {needed:.0%}", share >= needed))
    both = [
        (mine[i], theirs[i])
        for i in theirs
        if i in mine and mine[i]["proved"] and theirs[i]["proved"]
    ]
    if both:
        above = sum(m["objective"] > h["objective"] * (1 + 1e-6) + 1e-9 for m, h in both)
        differ = sum(abs(m["objective"] - h["objective"]) > 1e-6 for m, h in both)
        ratio = float(np.median([h["seconds"] / m["seconds"] for m, h in both]))
        print(
            f"  HiGHS proved {sum(h['proved'] > 0 for h in theirs.values())} of {len(theirs)}; on "
            f"{len(both)} rows of both it takes {ratio:.0f} times as long; ours is above it on "
            f"{above}, differs on {differ}",
            flush=True,
        )
        measures.append(Measure(f"{name}: above HiGHS", str(above), "0", above == 0))
        measures.append(Measure(f"{name}: HiGHS / ours", f"{ratio:.0f}", ">= 5", ratio >= 5))
    return measures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--oracle", type=int, default=20)
    parser.add_argument("--only", default="", help="part of a name, e.g. 'forest 100'")
    parser.add_argument("--minutes", type=float, default=np.inf, help="stop after so many")
    parser.add_argument("--again", action="store_true", help="forget what was measured of them")
    args = parser.parse_args()
    results = Results.read(RESULTS, args.only if args.again else None)
    end = time.monotonic() + 60 * args.minutes
    chosen = [case for case in cases() if args.only in f"{case.table}: {case.name}"]
    measures = []
    for case in chosen:
        measure(case, results, args.rows, args.oracle, end)
        measures += summary(case, results)
    return int(print_measures("Tree ensembles: rows proved, checking included", measures) > 0)


if __name__ == "__main__":
    sys.exit(main())
