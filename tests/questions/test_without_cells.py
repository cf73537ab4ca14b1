"""Sets of features where a region has no cells: the same answers as cells give, with proofs."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.geometry.codec import record_as
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.proofs import INFEASIBLE, Certificate, Proofs
from pertinent.solvers import Method, Solved, choose_method, project
from pertinent.solvers.problem import EMPTY, SOLVED

X, y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
BASELINE = X[y == 0].mean(axis=0)
ROWS = X[5::16]


@dataclass(frozen=True, eq=False)
class Opaque(Region):
    """A union of cells that shows nobody its cells."""

    inside: CellUnion

    @property
    def dim(self):
        return self.inside.dim

    def contains(self, points, tol=0.0):
        return self.inside.contains(points, tol)

    def tighten(self, margin):
        return Opaque(self.inside.tighten(margin))

    def pull_back(self, through):
        return Opaque(self.inside.pull_back(through))

    def intersect(self, other: Cell):
        return Opaque(self.inside.intersect(other))


@record_as("test-opaque")
@dataclass(frozen=True, eq=False)
class OpaqueProofs(Proofs):
    """The proofs of the union inside."""

    inner: Certificate

    def __len__(self):
        return self.inner.n

    def take(self, rows):
        return replace(self, inner=self.inner.take(np.arange(self.inner.n)[rows]))

    def bounds(self, task):
        return self.inner.bounds(replace(task, region=task.region.inside))

    def trusted(self):
        return self.inner.trusted()


@choose_method.register
def opaque_method(region: Opaque, domain=None):
    def solve(task):
        args = task.centers, task.region.inside, task.weights, task.lower, task.upper
        found = project(*args, task.options, domain=task.domain)
        outcome = np.where(found.status == INFEASIBLE, EMPTY, SOLVED)
        points = np.where(np.isnan(found.points), task.centers, found.points)
        return Solved(points, outcome, OpaqueProofs(found.certificate))

    return Method("opaque", "as its union of cells", solve)


class Hidden:
    """A model whose regions are opaque."""

    def __init__(self, model):
        self.model_, self.classes_ = model, model.classes_
        self.n_features_in_ = model.n_features_in_

    def predict(self, rows):
        return self.model_.predict(rows)


@pertinent.register_model(f"{Hidden.__module__}.Hidden")
def hidden_region(model, label, margin):
    region = pertinent.decision_region(model.model_, label, margin=margin)
    return Opaque(CellUnion(tuple(region), region.dim))


MODELS = {
    "softmax": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=4, random_state=0),
    "bayes": GaussianNB(),
    "nearest": KNeighborsClassifier(n_neighbors=1),
}
CASES = [
    (name, method)
    for name in MODELS
    for method in ("strict", "exact", "sufficient")
    if (name, method) != ("bayes", "sufficient")  # nothing curved is proved to be empty
]


def fitted(name):
    return MODELS[name].fit(X[::7], y[::7])


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_answers_are_those_of_cells(name, method):
    model = fitted(name)
    how = {"baseline": BASELINE, "method": method, "data": X}
    by_cells = pertinent.pertinent_positives(model, ROWS, **how)
    found = pertinent.pertinent_positives(Hidden(model), ROWS, **how)
    np.testing.assert_array_equal(found.status, by_cells.status)
    assert (found.status == "optimal").any()
    np.testing.assert_array_equal(found.objective, by_cells.objective)
    np.testing.assert_array_equal(found.bound, by_cells.bound)
    np.testing.assert_allclose(found.closeness, by_cells.closeness, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("method", ["strict", "exact", "sufficient"])
def test_the_proofs_are_checked_from_the_file(method):
    model = Hidden(fitted("nearest"))
    explainer = pertinent.Explainer(model, data=X, method=method, baseline=BASELINE)
    for explanation in explainer.explain(X[70:73]):
        document = json.loads(explanation.json())
        assert pertinent.check(document, model).verdict == "holds"
        del document["proof"]["positive"]["certificates"][:]
        assert pertinent.check(document, model).verdict != "holds"


def test_alternatives_are_those_of_cells():
    model = fitted("softmax")
    for method in ("strict", "exact"):
        how = {"baseline": BASELINE, "method": method, "alternatives": 2}
        by_cells = pertinent.pertinent_positives(model, ROWS[:4], **how)
        found = pertinent.pertinent_positives(Hidden(model), ROWS[:4], **how)
        for one, other in zip(found.alternatives, by_cells.alternatives, strict=True):
            assert [a.objective for a in one] == [a.objective for a in other]
            assert [a.proved for a in one] == [a.proved for a in other]
