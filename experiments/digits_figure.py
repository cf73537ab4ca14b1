"""The paper's experiment on plausibility: digits under softmax regression (sec. IV, its figure).

Run with ``python -m experiments.digits_figure``: draws the four blocks (original; closest
negative towards 0; positive; plausible positive) and prints median log-densities with and without
plausibility over the whole test set.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import pertinent

#: The labels of the paper's five samples.
SHOWN = (4, 2, 7, 4, 9)
WHITE, CHANGED = 16.0, "#d62728"
FILE = Path("docs/figures/digits.png")


@dataclass(frozen=True)
class Setting:
    """Data, model and plausibility: 5 components a class on 40 principal components."""

    model: Any
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    plausibility: pertinent.Plausibility
    rules: pertinent.Constraints


def setting(quantile: float = 0.5) -> Setting:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, _ = train_test_split(X, y, test_size=0.3, random_state=0)
    model = LogisticRegression(max_iter=5000, C=0.01).fit(X_train, y_train)
    plausibility = pertinent.Plausibility(
        X_train, y_train, n_components=5, quantile=quantile, projection=40, standardize=False
    )
    rules = pertinent.Constraints(bounds={i: (0, WHITE) for i in range(X.shape[1])})
    return Setting(model, X_train, y_train, X_test, plausibility, rules)


def positives(s: Setting, X: np.ndarray, plausible: bool) -> pertinent.Positives:
    return pertinent.pertinent_positives(
        s.model, X, constraints=s.rules, plausibility=s.plausibility if plausible else None
    )


def negatives(s: Setting, X: np.ndarray, plausible: bool, target: Any = None) -> Any:
    return pertinent.pertinent_negatives(
        s.model,
        X,
        target=target,
        constraints=s.rules,
        plausibility=s.plausibility if plausible else None,
    )


def log_densities(s: Setting, points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return scikit-learn's log-density of each point under the mixture of its class."""
    out = np.empty(len(points))
    for label in np.unique(labels):
        own = labels == label
        mixture = s.plausibility.mixture(label)
        out[own] = mixture.score_samples(s.plausibility.transform(points[own]))
    return out


def measure(s: Setting) -> dict[str, float]:
    """Return what the experiment shows, over the whole test set."""
    X, labels = s.X_test, s.model.predict(s.X_test)
    with_, without = positives(s, X, True), positives(s, X, False)
    near, far = negatives(s, X, True), negatives(s, X, False)
    threshold = np.array([s.plausibility.threshold(k) for k in labels])
    reached = np.array([s.plausibility.threshold(k) for k in near.target])
    density = log_densities(s, with_.points, labels)
    density_near = log_densities(s, near.points, near.target)
    return {
        "samples": len(X),
        "accuracy of the model on its training data": s.model.score(s.X_train, s.y_train),
        "positives predicted as their sample": (s.model.predict(with_.points) == labels).mean(),
        "positives that reach the threshold": (density >= threshold).mean(),
        "positives proved optimal": (with_.status == "optimal").mean(),
        "median log-density, test samples": np.median(log_densities(s, X, labels)),
        "median log-density, positives": np.median(log_densities(s, without.points, labels)),
        "median log-density, plausible positives": np.median(density),
        "median percentile, plausible positives": np.median(with_.density_percentile),
        "pixels kept, positives": without.kept.sum(axis=1).mean(),
        "pixels kept, plausible positives": with_.kept.sum(axis=1).mean(),
        "negatives predicted otherwise": (s.model.predict(near.points) != labels).mean(),
        "negatives that reach the threshold": (density_near >= reached).mean(),
        "median log-density, negatives": np.median(
            log_densities(s, far.points, np.asarray(far.target))
        ),
        "median log-density, plausible negatives": np.median(density_near),
        "median distance, negatives": np.median(far.objective),
        "median distance, plausible negatives": np.median(near.objective),
    }


def chosen(s: Setting) -> np.ndarray:
    """Return the first test samples with the paper's labels, each sample once."""
    labels, rows = s.model.predict(s.X_test), []
    for label in SHOWN:
        rows.append(next(i for i in np.flatnonzero(labels == label) if i not in rows))
    return s.X_test[rows]


def draw(s: Setting, file: Path) -> None:
    """Draw the paper's four blocks."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    X = chosen(s)
    plain, plausible = positives(s, X, False), positives(s, X, True)
    towards_zero = negatives(s, X, False, target=0)
    blocks = [
        (
            "Original samples",
            X,
            [f"log-density {v:.0f}" for v in log_densities(s, X, s.model.predict(X))],
            None,
        ),
        (
            "Closest pertinent negative towards 0 (changed pixels outlined)",
            towards_zero.points,
            [f"{n} pixels changed" for n in towards_zero.changed.sum(axis=1)],
            towards_zero.changed,
        ),
        (
            "Pertinent positive (turned-off pixels are white)",
            plain.points,
            _notes(plain.kept, log_densities(s, plain.points, plain.prediction)),
            None,
        ),
        (
            "Plausible pertinent positive (as dense as the densest half of its class)",
            plausible.points,
            _notes(plausible.kept, plausible.log_density),
            None,
        ),
    ]
    figure, axes = plt.subplots(4, len(X), figsize=(9.6, 10.4), gridspec_kw={"hspace": 0.62})
    for row, (title, points, notes, outlined) in zip(axes, blocks, strict=True):
        for j, axis in enumerate(row):
            label = s.model.predict(points[j : j + 1])[0]
            _picture(axis, points[j], f"Label: {label}", notes[j])
            if outlined is not None:
                _outline(axis, outlined[j])
        top = row[0].get_position().y1
        figure.text(0.5, top + 0.012, title, ha="center", fontsize=12)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110, bbox_inches="tight", facecolor="white")
    plt.close(figure)


def _notes(kept: np.ndarray, log_density: np.ndarray) -> list[str]:
    counts = kept.sum(axis=1)
    return [
        f"{n} pixels kept\nlog-density {v:.0f}" for n, v in zip(counts, log_density, strict=True)
    ]


def _picture(axis: Any, values: np.ndarray, label: str, note: str) -> None:
    axis.imshow(values.reshape(8, 8), cmap="gray_r", vmin=0, vmax=WHITE, interpolation="nearest")
    axis.set_xticks([])
    axis.set_yticks([])
    axis.set_xlabel(f"{label}\n{note}", fontsize=9.5)


def _outline(axis: Any, changed: np.ndarray) -> None:
    from matplotlib.patches import Rectangle

    for place in np.flatnonzero(changed):
        corner = (place % 8 - 0.5, place // 8 - 0.5)
        axis.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=CHANGED, linewidth=1.5))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--only-picture", action="store_true")
    given = parser.parse_args()
    with warnings.catch_warnings():
        # 28 points for each component in 40 dimensions: regularised, as the warning says.
        warnings.simplefilter("ignore", pertinent.PlausibilityWarning)
        s = setting()
        draw(s, given.file)
        print(f"drawn: {given.file}")
        if not given.only_picture:
            for name, value in measure(s).items():
                print(f"{name:48} {value:10.4g}")


if __name__ == "__main__":
    main()
