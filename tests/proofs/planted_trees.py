"""Small sums of trees, whose nearest points are known by trying every cell, and both searches."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from itertools import product
from unittest import mock

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.models import decision_region
from pertinent.solvers import ensembles
from pertinent.solvers.ensembles import moves, solve
from pertinent.solvers.ensembles.search import NumpySearch
from tests.proofs.planted_problems import projection
from tests.proofs.planting import plain_kernel

LOW, HIGH = -3.0, 3.0


def forest(columns: int = 3, classes: int = 2, trees: int = 12) -> RandomForestClassifier:
    """Return a forest over whole and other numbers, with ties among its votes."""
    rng = np.random.default_rng(columns + classes)
    X = rng.integers(-2, 3, size=(60, columns)).astype(float)
    y = (X @ rng.normal(size=columns) > 0).astype(int) + (classes > 2) * (X[:, 0] > 0)
    return RandomForestClassifier(trees, max_depth=4, random_state=0).fit(X, y)


def tied() -> RandomForestClassifier:
    """Return a forest whose votes are often two against two."""
    X = np.array(list(product([-1.0, 0.0, 1.0], repeat=3)))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    return RandomForestClassifier(4, random_state=1, max_features=1).fit(X, y)


def least(region: EnsembleRegion, center, domain: Domain | None = None) -> float:
    """Return the cost of the nearest point, by trying the nearest value of every cell."""
    values = []
    for j, cuts in enumerate(region.ensemble.cuts):
        ends = [*cuts, *np.nextafter(cuts, np.inf), center[j], LOW, HIGH]
        if domain is not None and np.isfinite(domain.decimals[j]):
            ends = [*np.arange(LOW, HIGH + 1), center[j]]
        if domain is not None and domain.in_group[j]:
            ends = [0.0, 1.0]
        values.append(sorted({v for v in ends if LOW <= v <= HIGH}))
    points = np.array(list(product(*values)))
    fine = region.contains(points)
    if domain is not None:
        own = np.broadcast_to(np.asarray(center), points.shape)
        fine &= ~Domain(
            domain.decimals, domain.groups, domain.owner, max_changes=domain.max_changes, own=own
        ).violation(points)
    return float(np.abs(points - center).sum(axis=1)[fine].min(initial=np.inf))


@contextmanager
def in_numpy():
    """Let the search in NumPy be used where numba is installed, too."""
    with mock.patch.object(solve, "search_class", return_value=NumpySearch):
        yield


@contextmanager
def in_plain_python():
    """Let the compiled search run as plain Python, so that bugs can be planted in it."""
    boxes = plain_kernel("pertinent.solvers.ensembles.kernel")
    points = plain_kernel("pertinent.solvers.ensembles.moves.kernel")
    name = "pertinent.solvers.ensembles.compiled"
    with (
        mock.patch.dict(sys.modules, {kernel.__name__: kernel for kernel in (boxes, points)}),
        mock.patch.object(ensembles, "kernel", boxes, create=True),
        mock.patch.object(moves, "kernel", points, create=True),
    ):
        sys.modules.pop(name, None)
        sys.modules.pop("pertinent.solvers.ensembles.moves.closer", None)
        ensembles.__dict__.pop("compiled", None)
        compiled = import_module(name)
        # Room for next to nothing, so that it has to grow.
        with mock.patch.multiple(compiled, DEPTH=2, RECORDED=2, LISTS=1):
            yield
    ensembles.__dict__.pop("compiled", None)


def grouped() -> Domain:
    """Return one whole number and a group of two columns, of which one feature may change."""
    return Domain(
        np.array([0.0, np.nan, np.nan]),
        groups=(np.array([1, 2]),),
        owner=np.array([0, 1, 1]),
        max_changes=1,
        own=np.array([[1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]),
    )


def whole() -> Domain:
    """Return a whole number and two others."""
    own = np.array([[1.0, -1.5, 2.0], [-1.0, 0.0, -1.0]])
    return Domain(np.array([0.0, np.nan, np.nan]), own=own)


def tree_projections():
    """Return all projections onto classes of forests by name, the cheapest first."""
    out = {}
    two, three = decision_region(forest(), 1), decision_region(forest(classes=3), 0)
    centers = np.array([[0.5, -1.5, 2.0], [-2.0, 0.0, -1.0]])
    choice = grouped()
    ties = decision_region(tied(), 0), decision_region(tied(), 1)
    asked = {
        "forest, ties lost": (ties[1], centers, None),
        "forest, ties won": (ties[0], centers, None),
        "forest": (two, centers, None),
        "forest, three classes": (three, centers, None),
        "forest, a choice": (two, choice.own, choice),
    }
    for engine, under in (("in NumPy", in_numpy), ("uncompiled", in_plain_python)):
        for name, (region, at, domain) in asked.items():
            truth = [least(region, c, domain) for c in at]
            out[f"{name}, {engine}"] = projection(
                region, at, LOW, HIGH, domain=domain, truth=truth, under=under
            )
    # Not closed by its first boxes: budgets grow, and cuts are chosen by what both sides show.
    wider, far = decision_region(forest(4), 0), np.array([[0.5, -1.5, 2.0, 0.3]])
    out["forest, four columns, uncompiled"] = projection(
        wider, far, LOW, HIGH, truth=[least(wider, far[0])], under=in_plain_python
    )
    # No whole number lies between the bounds.
    out["forest, nothing allowed"] = projection(
        two, whole().own, 0.2, 0.8, domain=whole(), truth=[np.inf, np.inf]
    )
    return out
