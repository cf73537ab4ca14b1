"""1,000,000 rows x 30, scaler + logistic regression: rows per second and peak memory.

Run with ``make bench NAME=scale``. The measuring happens in a process of its own, so that the
peak of its resident memory is that of its first call: positives and negatives with bounds,
verified by the model's predict, certificates re-checked, all results in memory at the end. Rows
per second are per second of processor time, on one thread, and as in all bars the median of calls
after one that warms up: memory that a machine hands out for the first time has its own price,
0.1 to 9 seconds per GiB on virtual machines, and it is printed beside (``first_call``).
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.bars import Measure, keep_memory, print_measures

ROWS, FEATURES = 1_000_000, 30
#: Calls that are timed, after the first.
REPEATS = 3
NEEDED_SPEED, NEEDED_MEMORY = 100_000, 2.0


def problem(rows: int, d: int = FEATURES, **asked):
    """A fitted pipeline, rows in raw units, and an explainer with bounds on every feature."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import pertinent

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    train = X[:20_000]
    score = ((train - train.mean(0)) / train.std(0)) @ rng.normal(size=d)
    y = score + rng.normal(size=len(train)) > 0.5
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train, y)
    low, high = train.min(0), train.max(0)
    rules = pertinent.Constraints(bounds={i: (low[i], high[i]) for i in range(d)})
    return model, X, pertinent.Explainer(model, data=train, constraints=rules, **asked)


def peak_gib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def resident_gib() -> float:
    """Memory held now; where the system does not tell, the peak so far."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 2**30
    except FileNotFoundError:
        return peak_gib()


def measure(rows: int) -> dict[str, float]:
    """Explain all rows in this process."""
    model, X, explainer = problem(rows)
    keep_memory()
    explainer.explain(X[:100])
    before, seconds, wall = resident_gib(), [], time.perf_counter()
    for call in range(1 + REPEATS):
        found, start = None, time.process_time()
        found = explainer.explain(X)
        seconds.append(time.process_time() - start)
        if call == 0:
            memory, wall = peak_gib() - before, time.perf_counter() - wall
    some = slice(0, 100_000)
    own, p, n = model.predict(X[some]), found.positive, found.negative
    kept = model.predict(p.values[some][p.found[some]]) == own[p.found[some]]
    left = model.predict(n.values[some][n.found[some]]) != own[n.found[some]]
    return {
        "rows": rows,
        "rows_per_second": rows / float(np.median(seconds[1:])),
        "first_call": rows / seconds[0],
        "wall_seconds": wall,
        "memory_gib": memory,
        "valid": float(np.r_[kept, left].mean()),
        "optimal": float(((p.status_code == 0) & (n.status_code == 0)).mean()),
    }


def measures(rows: int = ROWS) -> list[Measure]:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--measure", str(rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(done.stdout.splitlines()[-1])
    case = f"{rows:,} rows x {FEATURES}, scaler + LR, both"
    speed, memory = found["rows_per_second"], found["memory_gib"]
    good = found["valid"] == 1.0 and found["optimal"] == 1.0
    return [
        Measure(
            case,
            f"{speed:,.0f} rows/s per core",
            f">= {NEEDED_SPEED:,}",
            bool(speed >= NEEDED_SPEED and good),
            f"valid {found['valid']:.1%}, optimal {found['optimal']:.1%}, "
            f"first call {found['first_call']:,.0f} rows/s in {found['wall_seconds']:.0f} s",
        ),
        Measure(
            f"{case}, memory",
            f"{memory:.2f} GiB above the input",
            f"< {NEEDED_MEMORY:g}",
            memory < NEEDED_MEMORY,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--measure", type=int)
    chosen = parser.parse_args()
    if chosen.measure is not None:
        print(json.dumps(measure(chosen.measure)))
        return 0
    return print_measures("Scale", measures(chosen.rows))


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
