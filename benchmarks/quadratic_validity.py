"""Every row of every data set: does the model itself accept each positive and each negative?

Run with ``make bench NAME=validity`` (most of it for the 1,797 digits), or for some of it, e.g.
``python -m benchmarks.quadratic_validity digits "qda 0.5" bayes``. Rows are answered in chunks, and
the table in ``results/quadratic_validity.csv`` is written after each model; lines of other data
sets and models are kept.

"valid" counts the rows whose point the model predicts as it must, "proved" those whose bound meets
the objective; a row without an answer is neither.
"""

from __future__ import annotations

import csv
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

import pertinent

RESULTS = Path(__file__).parent / "results" / "quadratic_validity.csv"
LOADERS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast_cancer": load_breast_cancer,
    "digits": load_digits,
}
KINDS = ("qda 1", "qda 0", "qda 0.5", "qda 0.1", "bayes")
CHUNK = 50
COLUMNS = ("data", "model", "rows", "positives valid", "negatives valid", "positives proved",
           "negatives proved", "seconds")  # fmt: skip


def fitted(kind: str, name: str):
    """Return a model and all samples; QDA without regularisation sees 20 components of digits."""
    X, y = LOADERS[name](return_X_y=True)
    X = X / 16 if name == "digits" else StandardScaler().fit_transform(X)
    if kind == "bayes":
        return GaussianNB().fit(X, y), X
    reg = float(kind.split()[1])
    if reg == 0 and name == "digits":
        X = np.ascontiguousarray(PCA(20, random_state=0).fit_transform(X))
    return QuadraticDiscriminantAnalysis(reg_param=reg, tol=1e-12).fit(X, y), X


def counted(kind: str, name: str) -> tuple[str, ...]:
    """Return one line of the table."""
    model, X = fitted(kind, name)
    counts, start = np.zeros(4, dtype=int), time.perf_counter()
    for first in range(0, len(X), CHUNK):
        samples = X[first : first + CHUNK]
        own = model.predict(samples)
        positive = pertinent.pertinent_positives(model, samples, baseline=X.mean(axis=0))
        negative = pertinent.pertinent_negatives(model, samples)
        right = np.zeros((2, len(samples)), dtype=bool)
        here = positive.found
        right[0, here] = model.predict(positive.points[here]) == own[here]
        here = negative.found
        right[1, here] = model.predict(negative.points[here]) != own[here]
        proved = positive.status == "optimal", negative.status == "optimal"
        counts += [right[0].sum(), right[1].sum(), proved[0].sum(), proved[1].sum()]
        print(f"\r{name}, {kind}: {first + len(samples)} of {len(X)}", end="", file=sys.stderr)
    print(file=sys.stderr)
    seconds = f"{time.perf_counter() - start:.0f}"
    return name, kind, str(len(X)), *map(str, counts.tolist()), seconds


def main(names: list[str]) -> None:
    """Print and store the table for the data sets and models named (all of them if none)."""
    kinds = [kind for kind in KINDS if kind in names] or KINDS
    sets = [name for name in LOADERS if name in names] or LOADERS
    known = {}
    if RESULTS.exists():
        with RESULTS.open() as file:
            known = {(row[0], row[1]): tuple(row) for row in list(csv.reader(file))[1:]}
    for name in sets:
        for kind in kinds:
            known[name, kind] = counted(kind, name)
            print("  ".join(known[name, kind]), flush=True)
            with RESULTS.open("w") as file:
                csv.writer(file, lineterminator="\n").writerows([COLUMNS, *known.values()])


if __name__ == "__main__":
    main(sys.argv[1:])
