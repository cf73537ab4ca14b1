"""Unions over prototypes: GLVQ against the paper's loop, skipping against none, 1-NN growing.

Run with ``make bench NAME=lvq``. One process, one thread. The paper's algorithm 2 solves a fresh
CVXPY + SCS problem for every prototype of the wanted class and keeps the best; it is timed on a
few samples and prototypes and scaled to all prototypes of the class.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import pertinent
from benchmarks.bars import Bar, print_bars, seconds_per_row
from benchmarks.linear import cvxpy_projection, excess
from pertinent.lvq import GLVQ
from pertinent.solvers import project

BARS = {5: 500.0, 20: 1000.0, 50: 2000.0}
TARGET = 3


def glvq(prototypes: int, rows: int = 2000, slow: int = 2) -> tuple[list[Bar], str]:
    """Negatives towards one class in the pixel box, our whole answer against the paper's loop."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a short fit: the prototypes come from k-means
        model = GLVQ(prototypes, init="kmeans", max_iter=5, random_state=0).fit(X, y)
    others = X[model.predict(X) != TARGET]
    some = np.tile(others, (rows // len(others) + 1, 1))[:rows]
    rules = pertinent.Constraints(bounds={i: (0.0, 1.0) for i in range(64)})

    def ours(engine: str = "numpy"):
        return pertinent.pertinent_negatives(
            model,
            some,
            target=TARGET,
            constraints=rules,
            options=pertinent.Options(engine=engine),
        )

    seconds = seconds_per_row(ours, len(some))
    compiled = seconds_per_row(lambda: ours("compiled"), len(some))
    found = ours()
    valid = float((model.predict(found.points) == TARGET).mean())
    region = pertinent.decision_region(model, TARGET, 1e-9)
    low, high = np.zeros(64), np.ones(64)
    paper, worst = _paper_loop(region, some[:slow], low, high, found.objective)
    case = f"GLVQ, {prototypes} prototypes per class, digits"
    other, needed = "CVXPY + SCS loop", BARS[prototypes]
    bars = [
        Bar(case, seconds * 1e6, other, paper * 1e6, needed, valid, worst),
        Bar(case, compiled * 1e6, other, paper * 1e6, None, valid, worst, "(extra 'fast')"),
    ]
    return bars, _skipping(region, some, low, high, case)


def _paper_loop(region, samples, low, high, ours) -> tuple[float, float]:
    """Seconds per sample of algorithm 2, and our worst excess over its best point."""
    per_piece, worst = [], 0.0
    for i, x in enumerate(samples):
        for cell in list(region.cells)[:10]:
            start = time.process_time()
            point = cvxpy_projection(cell, x, low, high)
            per_piece.append(time.process_time() - start)
            worst = max(worst, excess(ours[i : i + 1], [cell], x[None], [point]))
    return float(np.median(per_piece)) * len(region), worst


def _skipping(region, samples, low, high, case: str) -> str:
    timings = {}
    for skip in (True, False):
        start = time.process_time()
        found = project(samples, region, None, low, high, skip=skip)
        timings[skip] = time.process_time() - start, found
    (quick, one), (plain, all_) = timings[True], timings[False]
    same = np.allclose(one.objective, all_.objective, rtol=1e-9)
    share = 1 - one.solved / all_.solved
    return (
        f"{case}: {share:.1%} of pieces skipped ({one.solved / len(samples):.2f} of "
        f"{len(region)} solved), {plain / quick:.1f}x faster than solving all, "
        f"same optimum: {same}"
    )


def one_nearest_neighbour(points: int, rows: int = 10, d: int = 20) -> tuple[float, str]:
    """Exact negatives of 1-NN over random training points of two overlapping classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(points, d))
    y = (X[:, 0] + 0.5 * rng.normal(size=points) > 0).astype(int)
    model = KNeighborsClassifier(1).fit(X, y)
    some = rng.normal(size=(rows, d))
    start = time.process_time()
    found = pertinent.pertinent_negatives(model, some)
    seconds = (time.process_time() - start) / rows
    optimal = (found.status == "optimal").all()
    valid = (model.predict(found.points) != model.predict(some)).all()
    return seconds, (
        f"1-NN, {points:6,} points in {d} dimensions: {seconds * 1e3:8.1f} ms per row, "
        f"all proved optimal: {optimal}, all valid: {valid}"
    )


def main() -> int:
    warnings.filterwarnings("ignore", module="cvxpy|scs")
    bars, notes = zip(*(glvq(k) for k in BARS), strict=True)
    missed = print_bars("Prototypes", [bar for group in bars for bar in group])
    print("\n".join(["", *notes, ""]))
    sizes = (1_000, 3_000, 10_000)
    times = []
    for points in sizes:
        seconds, line = one_nearest_neighbour(points)
        times.append(seconds)
        print(line)
    power = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    print(f"1-NN: time per row grows like (training points) ^ {power:.2f}")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
