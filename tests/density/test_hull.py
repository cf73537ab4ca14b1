"""Blends of real points: within the hull of the nearest training points, exact, and named."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent import Blend, Constraints, Plausibility
from pertinent.answering import searching
from pertinent.answering.blends import nearest_blends
from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.lvq import GLVQ
from pertinent.proofs.tangent import HullProofs
from pertinent.solvers.linear.blend import nearest_blend
from tests.shown import proved_of_negatives

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)
SOME = X[::8]


@pytest.fixture(scope="module")
def hull():
    return Plausibility(X, y, method="hull", n_neighbors=8)


def check_blends(result, labels, k=8):
    for point, blend, sample, label in zip(result.points, result.blend, SOME, labels, strict=True):
        assert isinstance(blend, Blend)
        assert blend.shares.sum() == pytest.approx(1)
        assert (blend.shares > 0).all()
        np.testing.assert_allclose(blend.shares @ X[blend.rows], point, atol=1e-8)
        assert (y[blend.rows] == label).all()
        own = np.flatnonzero(y == label)
        nearest = own[np.argsort(np.abs(X[own] - sample).sum(axis=1), kind="stable")[:k]]
        assert set(blend.rows) <= set(nearest)


def test_negatives_are_blends_of_the_nearest_points_of_their_class(hull):
    found = pertinent.pertinent_negatives(MODEL, SOME, plausibility=hull)
    assert set(found.status) == {"optimal"}
    assert (MODEL.predict(found.points) == found.target).all()
    assert found.log_density is None
    check_blends(found, found.target)


def test_positives_are_blends_close_to_the_sample(hull):
    found = pertinent.pertinent_positives(MODEL, SOME, plausibility=hull)
    assert set(found.status) == {"optimal"}
    assert (MODEL.predict(found.points) == MODEL.predict(SOME)).all()
    check_blends(found, MODEL.predict(SOME))


def test_a_search_that_blends_other_points_is_refused(hull, monkeypatch):
    """Neighbours of another place are training points of the class, but not the sample's own."""

    def elsewhere(hulls, samples, *asked):
        return nearest_blends(hulls, samples + 3.0, *asked)

    monkeypatch.setattr(searching, "nearest_blends", elsewhere)
    found = pertinent.pertinent_negatives(MODEL, SOME, plausibility=hull)
    assert "failed" in found.status
    some = np.flatnonzero(found.found)
    for i in some:
        own = np.flatnonzero(y == found.target[i])
        away = np.abs(X[own] - SOME[i]).sum(axis=1)
        assert set(found.blend[i].rows) <= set(own[np.argsort(away, kind="stable")[:8]])


def test_blends_agree_with_a_plain_linear_program(hull):
    found = pertinent.pertinent_negatives(MODEL, SOME, target=None, plausibility=hull)
    for i, sample in enumerate(SOME):
        best = np.inf
        for k in set(range(3)) - {int(found.label[i])}:
            cell = pertinent.decision_region(MODEL, k, 1e-9).cells[0]
            own = np.flatnonzero(y == k)
            Q = X[own[np.argsort(np.abs(X[own] - sample).sum(1), kind="stable")[:8]]]
            ones = np.eye(4)
            answer = linprog(
                np.r_[np.zeros(8), np.ones(4)],
                A_ub=np.block([[Q.T, -ones], [-Q.T, -ones], [cell.G @ Q.T, np.zeros((2, 4))]]),
                b_ub=np.r_[sample, -sample, cell.h],
                A_eq=np.r_[np.ones(8), np.zeros(4)][None],
                b_eq=[1],
            )
            best = min(best, answer.fun if answer.status == 0 else np.inf)
        assert found.objective[i] == pytest.approx(best, rel=1e-7)


def test_certificates_are_checked_in_plain_numpy(hull):
    explainer = pertinent.Explainer(MODEL, data=X, between=False, plausibility=hull)
    result = explainer.explain(SOME)
    proved, _ = proved_of_negatives(explainer.setting, result.negative)
    assert (proved >= result.negative.objective * (1 - 1e-6)).all()


def test_no_multipliers_prove_too_much():
    rng = np.random.default_rng(0)
    for _ in range(60):
        corners = rng.normal(size=(5, 3))
        cell = Cell(rng.normal(size=(2, 3)), rng.normal(size=2) + 1)
        center, weights = rng.normal(size=3), rng.uniform(0.5, 2, size=3)
        low, high = np.full((1, 3), -0.8), np.full((1, 3), 0.8)
        proofs = HullProofs(
            corners[None],
            rng.normal(size=(1, 2)),
            rng.normal(size=(1, 3)),
            np.array([bool(rng.integers(2))]),
        )
        claimed = proofs.bounds(Task.of(cell, center[None], weights, low, high))[0]
        blends = rng.dirichlet(np.ones(5), size=3000) @ corners
        fit = cell.contains(blends) & ((blends >= low) & (blends <= high)).all(axis=1)
        costs = (np.abs(blends[fit] - center) * weights).sum(axis=1)
        assert claimed <= costs.min(initial=np.inf) + 1e-9


def test_emptiness_is_proved_by_a_ray():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-1.5]))  # x0 + x1 >= 1.5
    inf = np.full(2, np.inf)
    answer = nearest_blend(cell, corners, np.zeros(2), np.ones(2), -inf, inf)
    assert answer.point is None
    proofs = HullProofs(
        corners[None], answer.multipliers[None], answer.pull[None], np.array([answer.ray])
    )
    assert (
        proofs.bounds(Task.of(cell, np.zeros((1, 2)), np.ones(2), -inf[None], inf[None]))[0]
        == np.inf
    )


def test_infeasible_blends_say_what_conflicts(hull):
    rules = Constraints(bounds={0: (20, None)})
    found = pertinent.pertinent_negatives(MODEL, X[:2], plausibility=hull, constraints=rules)
    assert found.status.tolist() == ["infeasible", "infeasible"]
    assert found.reason[0].startswith("density and constraints conflict")
    assert "a blend of the 8 nearest training points of its class" in found.reason[0]
    assert found.blend[0] is None


def test_frozen_features_keep_their_exact_values(hull):
    rules = Constraints(frozen=[1])
    found = pertinent.pertinent_negatives(MODEL, SOME, plausibility=hull, constraints=rules)
    assert found.found.any()
    assert (found.points[found.found, 1] == SOME[found.found, 1]).all()
    assert set(found.status) <= {"optimal", "infeasible"}


def test_prototype_models_and_batches(hull):
    model = GLVQ(prototypes_per_class=2, random_state=0).fit(X, y)
    whole = pertinent.pertinent_negatives(model, SOME, plausibility=hull)
    parts = pertinent.pertinent_negatives(model, SOME, plausibility=hull, batch_size=4)
    assert set(whole.status) == {"optimal"}
    assert whole.values.tobytes() == parts.values.tobytes()
    assert [str(b) for b in whole.blend] == [str(b) for b in parts.blend]


def test_curved_regions_are_refused(hull):
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    with pytest.raises(UnsupportedModelError, match="Use Plausibility\\(method='mixture'\\)"):
        pertinent.pertinent_negatives(model, X[:1], plausibility=hull)


def test_blends_have_the_same_bytes_whatever_their_company():
    """Infeasible rows among the others must not change how distances are added up."""
    noisy = X + np.random.default_rng(0).normal(size=X.shape) * 0.2
    model = LogisticRegression(max_iter=200).fit(noisy, y)
    hulls = Plausibility(noisy, y, method="hull", n_neighbors=6)
    ask = {"data": noisy, "constraints": Constraints(bounds={2: (1.0, 4.0)}), "plausibility": hulls}
    many = pertinent.pertinent_positives(model, noisy[::25], **ask)
    alone = pertinent.pertinent_positives(model, noisy[::25], **ask, batch_size=1)
    assert {"optimal", "infeasible"} <= set(many.status)
    for name in ("values", "objective", "bound", "status_code"):
        assert getattr(many, name).tobytes() == getattr(alone, name).tobytes()
