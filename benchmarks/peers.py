"""What a user would pick instead, on the same model and rows: ``make bench NAME=peers``.

Negatives of a logistic regression on standardised breast cancer data (30 features, no bounds).
CVXPY (SCS and its default solver) and SciPy's linprog run in this process, a fresh problem for
each row. DiCE and alibi's CEM need packages that do not go together with ours: each runs in an
environment of its own, given by PERTINENT_PEER_DICE and PERTINENT_PEER_ALIBI (a Python each; by
default those that ``make bench NAME=peers`` sets up). One that is not there is reported as missing.

A ratio counts only at equal or better quality: ours must be valid on every row, and nowhere have
a larger weighted L1 than a valid answer of the other.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import pertinent
from benchmarks.bars import seconds_per_row
from benchmarks.linear import MARGIN, cvxpy_projection, linprog_projection

HERE = Path(__file__).parent
RESULTS = HERE / "results"
#: Rows that each other solves; CEM takes seconds for one.
ROWS, CEM_ROWS = 20, 4


@dataclass(frozen=True)
class Line:
    """One system: milliseconds a row, share of valid answers, mean L1 and features changed."""

    system: str
    milliseconds: float | None
    valid: float | None = None
    l1: float | None = None
    changed: float | None = None
    never_better: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class Problem:
    model: LogisticRegression
    train: np.ndarray
    rows: np.ndarray
    labels: np.ndarray
    optimum: np.ndarray

    def line(self, system: str, seconds: list[float], points: list, note: str = "") -> Line:
        """Return the quality of answers, beside ours."""
        valid, l1, changed, better = [], [], [], False
        for i, point in enumerate(points):
            good = point is not None and self.model.predict([point])[0] != self.labels[i]
            valid.append(bool(good))
            if good:
                step = np.abs(np.asarray(point) - self.rows[i])
                l1.append(step.sum())
                changed.append((step > 1e-6).sum())
                better |= step.sum() < self.optimum[i] * (1 - 1e-6) - 1e-9
        mean = [float(np.mean(v)) if v else None for v in (l1, changed)]
        time_per_row = float(np.median(seconds)) * 1e3
        return Line(system, time_per_row, float(np.mean(valid)), *mean, not better, note)


def problem() -> Problem:
    X, y = load_breast_cancer(return_X_y=True)
    train, test, y_train, _ = train_test_split(X, y, random_state=0)
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    model = LogisticRegression().fit(train, y_train)
    rows = test[:ROWS]
    found = pertinent.pertinent_negatives(model, rows)
    return Problem(model, train, rows, model.predict(rows), found.objective)


def ours(given: Problem, copies: int) -> Line:
    many = np.tile(given.rows, (copies, 1))
    explainer = pertinent.pertinent_negatives
    seconds = seconds_per_row(lambda: explainer(given.model, many), len(many))
    found = explainer(given.model, given.rows)
    name = f"pertinent, {len(many):,} rows at once"
    return given.line(name, [seconds], list(found.points), "proved optimal")


def in_process(given: Problem, system: str, solve: Callable) -> Line:
    """Solve every row as a fresh problem."""
    cells = {k: pertinent.decision_region(given.model, k, MARGIN).cells[0] for k in (0, 1)}
    free = np.full(given.rows.shape[1], np.inf)
    seconds, points = [], []
    for row, label in zip(given.rows, given.labels, strict=True):
        start = time.process_time()
        points.append(solve(cells[1 - label], row, -free, free))
        seconds.append(time.process_time() - start)
    return given.line(system, seconds, points)


def elsewhere(given: Problem, system: str, name: str, rows: int, *options: str) -> Line:
    """Run a peer in its own environment."""
    default = HERE.parent / f".venv-peers/{name}/bin/python"
    python = os.environ.get(f"PERTINENT_PEER_{name.upper()}", str(default))
    if not Path(python).exists():
        return Line(system, None, note=f"missing: no environment at {python}")
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "problem.npz", Path(folder) / "answers.json"
        np.savez(files[0], train=given.train, rows=given.rows[:rows],
                 coef=given.model.coef_, intercept=given.model.intercept_)  # fmt: skip
        script = str(HERE / "peer_scripts" / f"{name}.py")
        command = [python, script, *map(str, files), *options]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        except subprocess.TimeoutExpired:
            return Line(system, None, note="missing: took more than 15 minutes")
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            return Line(system, None, note=f"missing: {last[:120]}")
        answers = json.loads(files[1].read_text())
    return given.line(system, answers["seconds"], answers["points"], f"{rows} rows")


def default_solver(cell, center, lower, upper):
    return cvxpy_projection(cell, center, lower, upper, solver=None)


def lines() -> list[Line]:
    given = problem()
    return [
        ours(given, 500),
        ours(given, 1),
        in_process(given, "CVXPY + SCS (the paper's)", cvxpy_projection),
        in_process(given, "CVXPY, default solver", default_solver),
        in_process(given, "scipy linprog", linprog_projection),
        elsewhere(given, "DiCE, random", "dice", ROWS, "random"),
        elsewhere(given, "DiCE, genetic", "dice", ROWS, "genetic"),
        elsewhere(given, "alibi CEM, 300 x 4 iterations", "alibi", CEM_ROWS, "300", "4"),
    ]


def shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def print_lines(found: list[Line]) -> None:
    print(f"{'system':34} {'ms/row':>10} {'times ours':>11} {'valid':>7} {'L1':>7} {'changed':>8}")
    for one in found:
        ratio = None
        if one.milliseconds is not None and one.never_better:
            ratio = one.milliseconds / found[0].milliseconds
        print(
            f"{one.system:34} {shown(one.milliseconds, '10.4f'):>10} {shown(ratio, ',.0f'):>11} "
            f"{shown(one.valid, '.0%'):>7} {shown(one.l1, '.3f'):>7} "
            f"{shown(one.changed, '.1f'):>8}  {one.note}"
        )


def save(found: list[Line]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "peers.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["system", "milliseconds_per_row", "valid", "l1", "changed", "note"])
        writer.writerows(
            [one.system, one.milliseconds, one.valid, one.l1, one.changed, one.note]
            for one in found
        )
    plot(found)


def plot(found: list[Line]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 0.5 * len(found) + 1.2))
    for i, one in enumerate(found):
        if one.milliseconds is None:
            axis.text(1e-3, i, "missing", va="center", color="#888888")
            continue
        axis.barh(i, one.milliseconds, color="#1f5f8b" if i < 2 else "#c9a25e")
        words = f" {one.milliseconds:,.4g} ms, {one.valid:.0%} valid, L1 {shown(one.l1, '.2f')}"
        axis.text(one.milliseconds, i, words, va="center", fontsize=8)
    axis.set_xscale("log")
    axis.set_xlim(5e-4, 3e7)
    axis.set_yticks(range(len(found)), [one.system for one in found])
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_xlabel("milliseconds of processor time per row (log scale)")
    axis.set_title("Negatives, logistic regression, breast cancer", fontsize=10)
    figure.tight_layout()
    figure.savefig(RESULTS / "peers.png", dpi=120)


def main() -> int:
    warnings.filterwarnings("ignore")
    found = lines()
    print_lines(found)
    save(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
