"""How cost grows with rows, features, classes and prototypes: ``make bench NAME=growth``.

Ours is end to end: regions, projection, predict, certificates, results. Each curve has the slope
of its last half on log-log axes: 1 is proportional. Tables and a plot go to ``results/``.
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

import pertinent

RESULTS = Path(__file__).parent / "results"
#: Processor seconds a single measurement may take before larger ones are left out.
PATIENCE = 20.0


def linear_model(classes: int, d: int, seed: int = 0) -> LogisticRegression:
    """A linear model with known coefficients: the nearest of random class means."""
    means = np.random.default_rng(seed).normal(size=(classes, d)) * (3 / np.sqrt(d))
    model = LogisticRegression()
    model.coef_, model.intercept_ = means, -0.5 * (means**2).sum(1)
    if classes == 2:
        model.coef_ = means[1:] - means[:1]
        model.intercept_ = np.array([-0.5 * ((means[1] ** 2).sum() - (means[0] ** 2).sum())])
    model.classes_, model.n_features_in_ = np.arange(classes), d
    return model


def samples(model: LogisticRegression, rows: int, target: int = 0) -> np.ndarray:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4 * rows + 200, model.n_features_in_))
    return X[model.predict(X) != target][:rows]


def seconds(call: Callable[[], object]) -> float:
    call()
    start = time.process_time()
    call()
    return time.process_time() - start


def negatives(model, X: np.ndarray, target: int) -> float:
    """Seconds per row."""
    return seconds(lambda: pertinent.pertinent_negatives(model, X, target=target)) / len(X)


def by_rows() -> Iterator[tuple[int, float]]:
    model = linear_model(2, 30)
    explainer = pertinent.Explainer(model)
    for rows in (1, 10, 100, 1_000, 10_000, 100_000):
        X = samples(model, rows)
        yield rows, seconds(lambda X=X: explainer.explain(X)) / rows


def by_features() -> Iterator[tuple[int, float]]:
    for d in (10, 30, 100, 300, 1_000, 3_000, 10_000):
        model, rows = linear_model(10, d), max(20, 20_000 // d)
        X = samples(model, rows)
        yield d, negatives(model, X, 0)


def by_classes() -> Iterator[tuple[int, float]]:
    for classes in (2, 5, 10, 30, 100, 300, 1_000):
        model = linear_model(classes, 50)
        X = samples(model, 200)
        yield classes, negatives(model, X, 0)


def by_prototypes() -> Iterator[tuple[int, float]]:
    from sklearn.datasets import load_digits

    from pertinent.lvq import GLVQ

    X, y = load_digits(return_X_y=True)
    X = X / 16
    for count in (1, 2, 5, 10, 20, 50):
        model = GLVQ(prototypes_per_class=count, max_iter=5, random_state=0).fit(X, y)
        yield count, negatives(model, X[model.predict(X) != 3][:100], 3)


CURVES = {
    "rows": ("rows at once (2 classes, 30 features, both questions)", by_rows),
    "features": ("features (10 classes, negatives)", by_features),
    "classes": ("classes (50 features, negatives)", by_classes),
    "prototypes": ("prototypes per class (GLVQ, digits, negatives)", by_prototypes),
}


def measured(name: str) -> list[tuple[int, float]]:
    """Return a curve; it ends where a point takes longer than anyone would wait."""
    points = []
    for size, per_row in CURVES[name][1]():
        points.append((size, per_row))
        print(f"{name:12} {size:8,} {per_row * 1e6:14,.1f} us/row", flush=True)
        if per_row * 20 > PATIENCE:
            break
    return points


def slope(points: list[tuple[int, float]]) -> float:
    half = np.log(np.array(points[len(points) // 2 :]))
    return float(np.polyfit(half[:, 0], half[:, 1], 1)[0]) if len(half) > 1 else float("nan")


def save(curves: dict[str, list[tuple[int, float]]]) -> None:
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "growth.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["by", "size", "microseconds_per_row"])
        for name, points in curves.items():
            writer.writerows([name, size, round(value * 1e6, 3)] for size, value in points)
    plot(curves)


def plot(curves: dict[str, list[tuple[int, float]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(curves), figsize=(4.2 * len(curves), 3.6), squeeze=False)
    for axis, (name, points) in zip(axes[0], curves.items(), strict=True):
        size, value = np.array(points).T
        axis.loglog(size, value * 1e6, "o-", color="#1f5f8b")
        words = CURVES[name][0].replace(" (", "\n(")
        axis.set_xlabel(words)
        axis.set_title(f"slope at the end: {slope(points):.2f}", fontsize=10)
        axis.grid(alpha=0.3, which="both")
    axes[0][0].set_ylabel("microseconds per row")
    figure.tight_layout()
    figure.savefig(RESULTS / "growth.png", dpi=120)


def main() -> int:
    warnings.filterwarnings("ignore")  # prototypes need not be well trained to be timed
    chosen = sys.argv[1:] or list(CURVES)
    save({name: measured(name) for name in chosen})
    return 0


if __name__ == "__main__":
    sys.exit(main())
