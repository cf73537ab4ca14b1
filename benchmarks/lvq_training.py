"""Time, memory and accuracy of LVQ training on data of the size of MNIST: 60,000 x 784, 10 classes.

Run with ``make bench NAME=lvq-training``; ``ARGS=--help`` lists sizes. The data are
scikit-learn's digits, enlarged to 28 x 28 pixels, each copy turned, stretched, shifted and made
noisy by chance; the accuracy is that on copies of digits that were not trained on. Training
ends by the estimators' own defaults. Printed are the seconds of the whole fit, wall and processor,
the evaluations of cost and gradient (an L-BFGS iteration needs a little more than one) and the
median of their processor seconds. The peak is the one of the whole process so far, data included.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info

from pertinent.lvq import GLVQ, GMLVQ, LGMLVQ
from pertinent.lvq._cost import GLVQCost

RESULTS = Path(__file__).parent / "results" / "lvq_training.md"
SIDE = 28
CASES: dict[str, Any] = {
    "GLVQ": GLVQ(),
    "GLVQ, 10 prototypes per class": GLVQ(10, init="random"),
    "GMLVQ, rank 50": GMLVQ(rank=50),
    "GMLVQ, full rank": GMLVQ(),
    "LGMLVQ, rank 10": LGMLVQ(rank=10),
    "LGMLVQ, full rank": LGMLVQ(),
}


def enlarged_digits(n_samples: int, of_test: bool, seed: int) -> tuple[Any, Any]:
    """Return distorted copies of digits as 28 x 28 pixels in [0, 1]; every fifth is for testing."""
    X, y = load_digits(return_X_y=True)
    chosen = (np.arange(len(X)) % 5 == 4) == of_test
    X, y, rng = X[chosen] / 16, y[chosen], np.random.default_rng(seed)
    pick = rng.integers(len(X), size=n_samples)
    turn = rng.normal(scale=0.15, size=n_samples)
    zoom = 8 / 20 * rng.normal(loc=1.0, scale=0.08, size=n_samples)
    middle = (SIDE - 1) / 2 + rng.normal(size=(n_samples, 2))
    images = np.empty((n_samples, SIDE, SIDE))
    for i, image in enumerate(images):
        c, s = np.cos(turn[i]), np.sin(turn[i])
        matrix = zoom[i] * np.array([[c, -s], [s, c]])
        offset = 3.5 - matrix @ middle[i]
        source = X[pick[i]].reshape(8, 8)
        ndimage.affine_transform(source, matrix, offset, image.shape, image, order=1)
    images += rng.normal(scale=0.05, size=images.shape) * (images > 0)
    return np.clip(images, 0.0, 1.0).reshape(n_samples, -1), y[pick]


@contextmanager
def timed_evaluations() -> Iterator[list[float]]:
    """Collect the processor seconds of each evaluation of cost and gradient."""
    seconds: list[float] = []
    evaluate = GLVQCost.__call__

    def timed(cost: GLVQCost, *arguments: Any) -> Any:
        start = time.process_time()
        result = evaluate(cost, *arguments)
        seconds.append(time.process_time() - start)
        return result

    with mock.patch.object(GLVQCost, "__call__", timed):
        yield seconds


def peak_megabytes() -> float:
    """Return the largest memory that this process has used so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def run(name: str, estimator: Any, train: tuple[Any, Any], test: tuple[Any, Any]) -> str:
    """Fit once; return a row of the table."""
    estimator.set_params(random_state=0)
    with timed_evaluations() as evaluations, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        wall, processor = time.perf_counter(), time.process_time()
        estimator.fit(*train)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    cells = (
        name,
        f"{wall:.0f} s",
        f"{processor:.0f} s",
        f"{len(evaluations)}",
        f"{np.median(evaluations):.2f} s",
        f"{100 * estimator.score(*test):.2f} %",
        f"{peak_megabytes():.0f} MB",
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Parse the sizes, make the data and time every case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=60_000)
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    options = parser.parse_args()

    train = enlarged_digits(options.samples, False, 0)
    test = enlarged_digits(max(1, options.samples // 6), True, 1)
    threads = max(pool["num_threads"] for pool in threadpool_info())
    rows = [
        f"{len(train[0]):,} samples of {train[0].shape[1]} features, BLAS threads: {threads}; "
        f"with the data alone {peak_megabytes():.0f} MB.",
        "",
        "| estimator | wall | processor | evaluations | each | test accuracy | peak memory |",
        "|---|---|---|---|---|---|---|",
    ]
    print("\n".join(rows), flush=True)
    for name, estimator in CASES.items():
        if options.only in name:
            rows.append(run(name, estimator, train, test))
            print(rows[-1], flush=True)
    if options.samples == parser.get_default("samples") and not options.only:
        RESULTS.write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
