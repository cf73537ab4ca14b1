"""Answers on quadratic cells: valid, optimal, proved."""

from __future__ import annotations

import numpy as np
import pytest
from quadratic_models import KINDS, LOADERS, data, fitted, some
from scipy.optimize import linprog
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.geometry.region import Cell, Quadratic
from pertinent.models import decision_region
from pertinent.proofs import check
from pertinent.solvers import choose_method, project

pytestmark = pytest.mark.matrix(2)

#: Rows of each data set: in every run, and with ``make test SUITE=slow`` (all, but for digits).
COUNTS = {"iris": 9, "wine": 5, "breast_cancer": 6, "digits": 2}
MANY = {"iris": 150, "wine": 178, "breast_cancer": 569, "digits": 300}
VALIDITY = [
    pytest.param(kind, name, counts[name], id=f"{kind}-{name}-{counts[name]}", marks=marks)
    for counts, marks in ((COUNTS, ()), (MANY, pytest.mark.slow))
    for kind in KINDS
    for name in LOADERS
]


@pytest.mark.matrix(2)
@pytest.mark.parametrize(("kind", "name", "count"), VALIDITY)
def test_every_answer_is_valid(kind, name, count):
    model, X = fitted(kind, name)
    samples = some(X, count)
    own = model.predict(samples)
    negatives = pertinent.pertinent_negatives(model, samples)
    assert negatives.found.all(), negatives.reason
    assert (model.predict(negatives.points) == negatives.target).all()
    assert (negatives.target != own).all()
    assert (negatives.bound <= negatives.objective).all()
    positives = pertinent.pertinent_positives(model, samples, baseline=X.mean(axis=0))
    assert positives.found.all(), positives.reason
    assert (model.predict(positives.points) == own).all()
    assert (positives.bound <= positives.objective).all()


@pytest.mark.parametrize("name", LOADERS)
def test_every_class_is_reached(name):
    model, X = fitted("qda 0.1", name)
    sample = X[:1]
    for label in model.classes_:
        if label != model.predict(sample)[0]:
            found = pertinent.pertinent_negatives(model, sample, target=label)
            assert model.predict(found.points)[0] == label


@pytest.mark.parametrize("kind", ["qda 0.1", "bayes"])
def test_two_classes_are_proved(kind):
    model, X = fitted(kind, "breast_cancer")
    found = pertinent.pertinent_negatives(model, some(X, 30))
    assert (found.status == "optimal").all()


def test_identity_covariances_equal_the_linear_program():
    """reg_param=1.0 against linprog on coefficients written out by hand."""
    X, y = data("wine")
    model = QuadraticDiscriminantAnalysis(reg_param=1.0).fit(X, y)
    W = model.means_
    b = np.log(model.priors_) - 0.5 * (W**2).sum(axis=1)
    samples = some(X, 12)
    for t in range(3):
        rows = samples[model.predict(samples) != t]
        found = pertinent.pertinent_negatives(model, rows, target=t, margin=0.0)
        assert (found.status == "optimal").all()
        for x, objective in zip(rows, found.objective, strict=True):
            others = [k for k in range(3) if k != t]
            G = np.array([W[k] - W[t] for k in others])
            h = np.array([b[t] - b[k] for k in others]) - G @ x
            lp = linprog(np.ones(26), A_ub=np.c_[G, -G], b_ub=h, method="highs")
            assert objective == pytest.approx(lp.fun, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("kind", ["qda", "bayes"])
@pytest.mark.parametrize("target", [0, 1, 2])
def test_nothing_on_a_fine_grid_is_closer(kind, target):
    X, y = data("iris")
    X = np.ascontiguousarray(X[:, [0, 2]])
    model = (QuadraticDiscriminantAnalysis() if kind == "qda" else GaussianNB()).fit(X, y)
    centers = X[model.predict(X) != target][::12]
    cell = decision_region(model, target).cells[0]
    found = project(centers, cell)
    assert (found.status == 0).all()
    axis = np.linspace(-6, 6, 601)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    inside = grid[cell.contains(grid)]
    for center, objective, bound in zip(centers, found.objective, found.bound, strict=True):
        nearest = np.abs(inside - center).sum(axis=1).min()
        assert bound <= nearest
        assert objective <= nearest + 1e-9
        assert nearest <= objective + 0.05


@pytest.mark.parametrize("kind", ["qda 0", "qda 0.1", "bayes"])
@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_certificates_hold_under_the_independent_check(kind, name):
    model, X = fitted(kind, name)
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, X.shape[1])
    lower, upper = X.min(axis=0) - 1, X.max(axis=0) + 1
    label = model.classes_[0]
    centers = some(X[model.predict(X) != label], 5)
    cell = decision_region(model, label).cells[0]
    for low, high in ((None, None), (lower, upper)):
        found = project(centers, cell, weights, low, high)
        proofs = found.certificate.blocks[-1].proofs
        for i in range(len(centers)):
            proof = proofs.take(np.array([i]))
            verdict = check(
                cell, centers[i], weights, found.points[i], proof, lower=low, upper=high
            )
            assert verdict.feasible
            assert verdict.trusted
            assert verdict.bound == pytest.approx(found.bound[i], rel=1e-12)
            assert verdict.optimal == (found.status[i] == 0)


def test_best_of_two_holes_is_found():
    """Outside a ball, from a center off its middle: the nearest way out is the short one."""
    # 4 - x1^2 - x2^2 <= 0 and a second, farther way in is never taken.
    row = Quadratic(np.zeros((0, 2)), np.eye(2), np.zeros(2), 4.0)
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (row,))
    found = project(np.array([[0.5, 0.1]]), cell)
    # Moving x1 alone: sqrt(4 - 0.01) - 0.5.
    assert found.objective[0] == pytest.approx(np.sqrt(3.99) - 0.5, rel=1e-9)
    assert found.status[0] == 0


def test_coupled_row_with_linear_rows_and_bounds():
    """x1 x2 >= 1 with x1 <= 0.5: the optimum is at the corner (0.5, 2)."""
    row = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    cell = Cell(np.array([[1.0, 0.0]]), np.array([0.5]), (row,), lower=np.zeros(2))
    found = project(np.zeros((1, 2)), cell)
    np.testing.assert_allclose(found.points, [[0.5, 2.0]], rtol=1e-9)
    assert found.status[0] == 0


def test_an_empty_box_is_proved_empty():
    """x1 x2 >= 1 within [0, 0.9]^2: nothing."""
    row = Quadratic.from_matrix(np.array([[0.0, -0.5], [-0.5, 0.0]]), np.zeros(2), 1.0)
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (row,))
    found = project(np.zeros((1, 2)), cell, lower=np.zeros(2), upper=np.full(2, 0.9))
    assert found.status[0] == 2
    assert np.isinf(found.bound[0])


def test_frozen_features_stay():
    model, X = fitted("qda 0.1", "wine")
    samples = some(X, 4)
    rules = pertinent.Constraints(frozen=[0, 3, 5], increase_only=[1])
    found = pertinent.pertinent_negatives(model, samples, constraints=rules)
    here = found.found
    assert here.any()
    assert (found.values[here][:, [0, 3, 5]] == samples[here][:, [0, 3, 5]]).all()
    assert (found.values[here][:, 1] >= samples[here][:, 1]).all()


def test_answers_do_not_depend_on_the_batch():
    model, X = fitted("qda 0.1", "wine")
    cell = decision_region(model, 0).cells[0]
    centers = some(X[model.predict(X) != 0], 5)
    together = project(centers, cell)
    for i in range(5):
        alone = project(centers[i : i + 1], cell)
        assert alone.points.tobytes() == together.points[i : i + 1].tobytes()
        assert alone.bound[0] == together.bound[i]


def test_methods_explain_themselves():
    names = {}
    for kind, name in (("qda 0.1", "wine"), ("bayes", "breast_cancer"), ("bayes", "wine")):
        model, _ = fitted(kind, name)
        method = choose_method(decision_region(model, 0).cells[0])
        names[kind, name] = method.name
        assert method.why
    assert names["qda 0.1", "wine"] == "convex-concave"
    assert names["bayes", "breast_cancer"] == "separable"
    assert names["bayes", "wine"] == "convex-concave, separable"
