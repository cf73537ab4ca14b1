"""What a factor 1/2 missing from the constraint of QDA does to the positives.

With ``P_k = inv(covariance_k)``, class k beats the other class j at x where

    g(x) = x'(P_k - P_j)x / 2 + q'x + c <= 0,
    q = P_j mean_j - P_k mean_k,
    c = (mean_k'P_k mean_k - mean_j'P_j mean_j) / 2 + log(prior_j / prior_k)
        + log(det P_j / det P_k) / 2.

The published code writes this in ``delta = sample - x`` and leaves out one of the factors, that
of ``delta'P_k delta`` (``compute_approx_pertinent_positive`` in
https://github.com/andreArtelt/contrastive_explanations, commit 50880d7, file
``Implementation/quadratic_models.py``: ``cp.quad_form(x, sigma_inv[i])``). All other terms of its
phase 1 are right, and so is its phase 2. What it solves is therefore

    g(x) + (sample - x)'P_k (sample - x) / 2 <= 0.

The added term is never negative: answers stay valid, but all points are refused whose lead is
smaller than their squared distance to the sample. Here both constraints are solved by the same
solver, without rounding and without thresholds, so that nothing but the factor differs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pertinent
from experiments.protocol import Fold, folds
from pertinent.geometry.region import Cell, Quadratic, Region
from pertinent.solvers import Projections, project

#: The published code knows two classes only.
DATA = ("iris", "house prices", "breast cancer", "wine")
MODELS = ("QDA(1.0)", "QDA(0.1)", "QDA(0)")
SEED = 0
#: Samples of each fold: each of them has a region of its own.
SAMPLES = 40
MARGIN = 1e-9

COLUMNS = (
    "valid",
    "proved",
    "refused",
    "sparsity",
    "sparsity_right",
    "distance",
    "distance_right",
    "closeness",
    "closeness_right",
    "closeness_plus",
    "closeness_plus_right",
)


def lead(model: Any, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return P_k, P_j, q and c of the class at place k against the only other one."""
    j = 1 - k
    roots = [
        r.T / np.sqrt(s)[:, None] for r, s in zip(model.rotations_, model.scalings_, strict=True)
    ]
    P = [root.T @ root for root in roots]
    m = model.means_
    # log det P = -sum of the logs of the covariance's eigenvalues.
    offset = np.log(model.priors_) - 0.5 * np.array([np.log(s).sum() for s in model.scalings_])
    q = P[j] @ m[j] - P[k] @ m[k]
    c = 0.5 * (m[k] @ P[k] @ m[k] - m[j] @ P[j] @ m[j]) + offset[j] - offset[k]
    return P[k], P[j], q, float(c)


def without_half(model: Any, k: int, sample: np.ndarray) -> Quadratic:
    """Return the row that the published phase 1 solves for one sample."""
    own, other, q, c = lead(model, k)
    # g(x) + (s - x)'P(s - x)/2 = x'(P_k - P_j/2)x + (q - P_k s)'x + c + s'P_k s/2
    return Quadratic.from_matrix(
        own - 0.5 * other, q - own @ sample, c + 0.5 * sample @ own @ sample
    )


def measure(data: str, model: str) -> list[dict[str, float]]:
    """Return one record a sample."""
    return [record for fold in folds(data, model, SEED) for record in _fold(fold)]


def _fold(fold: Fold) -> Iterator[dict[str, float]]:
    X, model = fold.X[:SAMPLES], fold.model
    if not len(X):
        return
    right = pertinent.pertinent_positives(model, X)
    labels = model.predict(X)
    for i, sample in enumerate(X):
        k = model.classes_.tolist().index(labels[i])
        row = without_half(model, k, sample)
        found = _phase_one(row, sample)
        if not np.isfinite(found.points).all():
            # The sample itself always satisfies the row: this is a solver that gave up.
            yield {"valid": 0.0, **dict.fromkeys(COLUMNS[1:], float("nan"))}
            continue
        point = found.points[0]
        closest = _phase_two(pertinent.decision_region(model, labels[i], MARGIN), sample, point)
        yield {
            "valid": float(model.predict(point[None])[0] == labels[i]),
            "proved": float(found.status[0] == 0),
            "refused": float(row.value(right.sparse_values[i : i + 1])[0] > 0),
            "sparsity": _sparsity(sample, point),
            "sparsity_right": _sparsity(sample, right.sparse_values[i]),
            "distance": float(np.abs(point).sum()),
            "distance_right": float(right.objective[i]),
            "closeness": _closeness(sample, point),
            "closeness_right": _closeness(sample, right.sparse_values[i]),
            "closeness_plus": _closeness(sample, closest),
            "closeness_plus_right": float(right.closeness[i]),
        }


def _phase_one(row: Quadratic, sample: np.ndarray) -> Projections:
    """Return the projection of the zero vector onto the row."""
    d = len(sample)
    cell = Cell(np.zeros((0, d)), np.zeros(0), (row,), anchors=sample[None]).tighten(MARGIN)
    return project(np.zeros((1, d)), cell, np.ones(d))


def _phase_two(region: Region, sample: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Return the closest point to the sample among those with the same features off."""
    low = np.where(point == 0, 0.0, -np.inf)[None]
    found = project(sample[None], region, np.ones(len(sample)), low, -low)
    return np.asarray(found.points[0])


def _sparsity(sample: np.ndarray, point: np.ndarray) -> float:
    return float((sample != 0).sum() - (point != 0).sum())


def _closeness(sample: np.ndarray, point: np.ndarray) -> float:
    return float(np.abs(sample - point)[point != 0].sum())


@dataclass(frozen=True)
class Half:
    """Both constraints on one data set: means over its samples."""

    data: str
    model: str
    samples: int
    means: Mapping[str, float]


def summarise(data: str, model: str, records: Sequence[Mapping[str, float]]) -> Half:
    """Return the means over the samples that were solved."""
    means = {name: float(np.nanmean([r[name] for r in records])) for name in COLUMNS}
    return Half(data, model, len(records), means)


def write(halves: Sequence[Half], path: Path) -> None:
    """Write one line for each data set and model."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["data", "model", "samples", *COLUMNS])
        for half in halves:
            numbers = [f"{half.means[name]:.6g}" for name in COLUMNS]
            writer.writerow([half.data, half.model, half.samples, *numbers])


def read(path: Path) -> list[Half]:
    """Return what `write` wrote."""
    with path.open() as file:
        return [
            Half(
                row["data"],
                row["model"],
                int(row["samples"]),
                {name: float(row[name]) for name in COLUMNS},
            )
            for row in csv.DictReader(file)
        ]
