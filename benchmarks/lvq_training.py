"""Time and memory of LVQ training on synthetic data of the size of MNIST.

Run with ``python -m benchmarks.lvq_training`` (add ``--help`` for sizes). The data are random
class patterns with noise, 60,000 x 784 in 10 classes. Printed are the seconds of the whole fit
(with start and few iterations), the same per iteration, and the medians of wall and processor
seconds of one evaluation of cost and gradient, of which an L-BFGS iteration needs a little more
than one. On a busy machine trust the processor seconds, with OMP_NUM_THREADS=1. The peak is the one
of the whole process so far, the data included.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ
from pertinent.lvq._cost import GLVQCost

# name, estimator, L-BFGS iterations to time
CASES: list[tuple[str, Any, int]] = [
    ("GLVQ, 1 prototype per class", GLVQ(), 20),
    ("GLVQ, 10 prototypes per class", GLVQ(10, init="random"), 20),
    ("GMLVQ, rank 50", GMLVQ(rank=50), 20),
    ("GMLVQ, full rank", GMLVQ(), 5),
    ("LGMLVQ, rank 10", LGMLVQ(rank=10), 10),
    ("LGMLVQ, rank 50", LGMLVQ(rank=50), 5),
    ("LGMLVQ, full rank", LGMLVQ(), 2),
]


def synthetic_digits(n_samples: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    """Return noisy copies of one random pattern per class, values in [0, 1]."""
    rng = np.random.default_rng(0)
    patterns = rng.random((n_classes, n_features))
    y = rng.integers(n_classes, size=n_samples)
    X = rng.normal(scale=0.6, size=(n_samples, n_features))
    X += patterns[y]
    return np.clip(X, 0.0, 1.0, out=X), y


@contextmanager
def timed_evaluations() -> Iterator[list[tuple[float, float]]]:
    """Collect the wall and the processor seconds of each evaluation of cost and gradient."""
    seconds: list[tuple[float, float]] = []
    evaluate = GLVQCost.__call__

    def timed(cost: GLVQCost, *arguments: Any) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        result = evaluate(cost, *arguments)
        seconds.append((time.perf_counter() - wall, time.process_time() - processor))
        return result

    with mock.patch.object(GLVQCost, "__call__", timed):
        yield seconds


def peak_megabytes() -> float:
    """Return the largest memory that this process has used so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def run(name: str, estimator: Any, max_iter: int | None, X: Any, y: Any) -> None:
    """Fit once, with the default end of training if max_iter is None; print a row of the table."""
    estimator.set_params(random_state=0)
    if max_iter is not None:
        estimator.set_params(max_iter=max_iter, tol=1e-12)
    with timed_evaluations() as evaluations, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        estimator.fit(X, y)
        seconds = time.perf_counter() - start
    wall, processor = np.median(evaluations, axis=0)
    print(
        f"{name:32s} {seconds:8.1f} {estimator.n_iter_:6d} {seconds / estimator.n_iter_:8.2f} "
        f"{len(evaluations):6d} {wall:8.2f} {processor:8.2f} {peak_megabytes():8.0f}",
        flush=True,
    )


def main() -> None:
    """Parse the sizes, make the data and time every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=60_000)
    parser.add_argument("--features", type=int, default=784)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    parser.add_argument("--settle", action="store_true", help="train until the loss settles")
    options = parser.parse_args()

    X, y = synthetic_digits(options.samples, options.features, options.classes)
    threads = max(pool["num_threads"] for pool in threadpool_info())
    print(f"X: {X.shape[0]} x {X.shape[1]} ({X.nbytes / 2**20:.0f} MB), {threads} threads")
    print(f"peak memory with the data only: {peak_megabytes():.0f} MB\n")
    print(
        f"{'':32s} {'seconds':>8s} {'iter.':>6s} {'s/iter.':>8s} "
        f"{'eval.':>6s} {'s/eval.':>8s} {'CPU s':>8s} {'peak MB':>8s}"
    )
    for name, estimator, max_iter in CASES:
        if options.only in name:
            run(name, estimator, None if options.settle else max_iter, X, y)


if __name__ == "__main__":
    main()
