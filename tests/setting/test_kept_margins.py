"""Points keep the margin that was asked for: judged by the models' own numbers, not by regions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.answering import searching
from pertinent.proofs import FEASIBLE
from pertinent.setting import margins
from pertinent.setting.nearest.search import Found

X, y = load_iris(return_X_y=True)
SOME = np.arange(0, 150, 6)
ROWS = np.array([0, 55, 70, 110])


def linear_depth(model, point):
    """The least ``(s_k - s_j) / max |w_k - w_j|`` over all rivals j of the class k predicted."""
    scores, W = model.decision_function(point[None])[0], model.coef_
    k = scores.argmax()
    others = np.delete(np.arange(len(W)), k)
    return ((scores[k] - scores[others]) / np.abs(W[k] - W[others]).max(axis=1)).min()


def neighbour_depth(model, point):
    """The most that an own item p has: the least ``(d_j - d_p) / max |2 (p - j)|`` over rivals."""
    items, k = model._fit_X, model.predict(point[None])[0]
    own, rivals = items[model._y == k], items[model._y != k]
    away = ((point - rivals) ** 2).sum(axis=1) - ((point - own) ** 2).sum(axis=1)[:, None]
    slopes = 2 * np.abs(own[:, None] - rivals).max(axis=2)
    return (away / slopes).min(axis=1).max()


def tree_depth(model, point):
    """The least distance from any cut that decides, of any tree: its leaves stay the same."""
    trees = getattr(model, "estimators_", [model])
    cuts = [(t.tree_.feature, t.tree_.threshold) for t in trees]
    return min(np.abs(point[f[f >= 0]] - c[f >= 0]).min() for f, c in cuts)


FAMILIES = {
    "linear": (LinearDiscriminantAnalysis(), linear_depth),
    "neighbours": (KNeighborsClassifier(1), neighbour_depth),
    "tree": (DecisionTreeClassifier(max_depth=2, random_state=0), tree_depth),
    "forest": (RandomForestClassifier(4, max_depth=2, random_state=0), tree_depth),
}


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.matrix(2)
def test_points_keep_the_margin_asked_for(name, number, unit):
    model, depth = FAMILIES[name]
    model.fit(X[SOME] * unit, y[SOME])
    margin, rows = 0.03 * unit, (X[ROWS] * unit).astype(number)
    found = pertinent.pertinent_negatives(model, rows, margin=margin)
    kept = [depth(model, point.astype(float)) for point in found.values[found.found]]
    assert len(kept) == len(rows)
    single = number is np.float32 or depth is tree_depth  # trees round whatever they are given
    share = margins.KEPT_SINGLE if single else 1e-9
    assert min(kept) >= (1 - share) * margin


def test_no_point_is_looked_for_that_keeps_less(monkeypatch):
    """Where none is found, smaller margins are tried: none smaller than the one asked for."""
    asked = []
    found = searching.Projecting.find

    def find(self, setting, ask, key, margin):
        asked.append(margin)
        out = found(self, setting, ask, key, margin)
        return Found(np.full_like(out.points, np.nan), out.certificate, out.unique, {})

    monkeypatch.setattr(searching.Projecting, "find", find)
    model = FAMILIES["linear"][0].fit(X, y)
    answers = pertinent.pertinent_negatives(model, X[55:56], margin=0.1)
    assert not answers.found.any()
    assert min(asked) >= 0.1


def test_a_point_that_keeps_less_is_refused(monkeypatch):
    """A search that forgets the margin loses the answer, or finds it with a larger one."""
    found = searching.Projecting.find

    def find(self, setting, ask, key, margin):
        return found(self, setting, ask, key, margin - 0.07)

    monkeypatch.setattr(searching.Projecting, "find", find)
    model = FAMILIES["linear"][0].fit(X, y)
    answers = pertinent.pertinent_negatives(model, X[ROWS], margin=0.07)
    assert (answers.status_code >= FEASIBLE).all()
    kept = [linear_depth(model, point) for point in answers.values[answers.found]]
    assert min(kept, default=1.0) >= 0.07 * (1 - 1e-9)
