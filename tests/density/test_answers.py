"""Plausible answers: dense by scikit-learn's own account, valid, proved, and best of all."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent import Constraints, Plausibility
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.lvq import GLVQ, GMLVQ
from pertinent.solvers.curved.interior.ellipsoid import ball_of
from tests.shown import proved_of_negatives

pytestmark = pytest.mark.matrix(2)

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)


def densities(plausibility, points, labels):
    """Scikit-learn's own score_samples, the judge."""
    out = np.empty(len(points))
    for label in np.unique(labels):
        own = labels == label
        out[own] = plausibility.mixture(label).score_samples(plausibility.transform(points[own]))
    return out


def thresholds(plausibility, labels):
    return np.array([plausibility.threshold(label) for label in labels])


def check_dense(plausibility, result, labels):
    found = densities(plausibility, result.points, np.asarray(labels))
    assert (found >= thresholds(plausibility, labels)).all()
    np.testing.assert_allclose(result.log_density, found, rtol=1e-9)
    np.testing.assert_allclose(result.density_threshold, thresholds(plausibility, labels))
    assert ((result.density_percentile >= 0) & (result.density_percentile <= 100)).all()


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("quantile", [0.2, 0.7])
def test_positives_and_negatives_are_valid_dense_and_proved(load, quantile):
    data, kind = load(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(data, kind)
    plausible = Plausibility(data, kind, 2, quantile=quantile, projection=4, reg_covar=1e-3)
    some = data[::15]
    own = model.predict(some)
    pp = pertinent.pertinent_positives(model, some, data=data, plausibility=plausible)
    pn = pertinent.pertinent_negatives(model, some, data=data, plausibility=plausible)
    assert set(pp.status) == set(pn.status) == {"optimal"}
    assert (model.predict(pp.points) == own).all()
    assert (model.predict(pn.points) == pn.target).all()
    assert (pn.target != own).all()
    check_dense(plausible, pp, own)
    check_dense(plausible, pn, pn.target)
    assert (pn.bound >= pn.objective * (1 - 1e-6)).all()


def test_the_nearest_of_all_components_agrees_with_a_cone_solver():
    cp = pytest.importorskip("cvxpy")
    plausible = Plausibility(X, y, n_components=3, reg_covar=1e-2)
    some = X[::12]
    found = pertinent.pertinent_negatives(MODEL, some, plausibility=plausible)
    within = plausible.bind(found.table.features, MODEL.classes_)
    for i, x in enumerate(some):
        best = np.inf
        for k in set(range(3)) - {int(found.label[i])}:
            cell = pertinent.decision_region(MODEL, k, 1e-9).cells[0]
            for ball in map(ball_of, within.region(k, 1e-9)):
                z = cp.Variable(4)
                seen = ball.P @ (z - ball.row.at) - ball.r
                inside = [cell.G @ z <= cell.h, cp.norm(seen) <= ball.radius]
                problem = cp.Problem(cp.Minimize(cp.norm1(z - x)), inside)
                best = min(best, problem.solve(solver="CLARABEL"))
        assert found.objective[i] == pytest.approx(best, rel=1e-6)


def test_closeness_is_measured_to_the_sample():
    plausible = Plausibility(X, y, n_components=1)
    some = X[::10]
    found = pertinent.pertinent_positives(MODEL, some, plausibility=plausible)
    away = np.abs(found.points - some).sum(axis=1)
    sparse = np.abs(found.sparse_points - some).sum(axis=1)
    assert (away <= sparse + 1e-9).all()
    assert away.mean() < 0.8 * sparse.mean()
    on = found.sparse_points != 0
    assert found.closeness == pytest.approx((np.abs(found.points - some) * on).sum(axis=1))
    # A plausible flower is not sparse: no measurement of it is near 0.
    assert found.kept.all()


def test_certificates_can_be_checked_again_without_a_solver():
    plausible = Plausibility(X, y, n_components=2)
    # On the grid of the data plausible answers are rounded, and not proved smallest.
    free = {"limits_from": None, "steps_from": None}
    explainer = pertinent.Explainer(MODEL, data=X, plausibility=plausible, **free)
    result = explainer.explain(X[::20])
    proved, _ = proved_of_negatives(explainer.setting, result.negative)
    assert (proved >= result.negative.objective * (1 - 1e-6)).all()


@pytest.mark.parametrize("options", [{"n_components": 2}, {"method": "hull"}])
def test_stored_explanations_are_checked_with_their_plausibility(options):
    explainer = pertinent.Explainer(
        MODEL, data=X, between=False, plausibility=Plausibility(X, y, **options)
    )
    one = explainer.explain(X[60:61])[0]
    checked = pertinent.check(one.json(), MODEL)
    assert checked.ok, str(checked)
    assert "of its class" in str(checked)
    document = one.document()
    moved = np.array(document["proof"]["negative"]["values"]["values"])
    document["proof"]["negative"]["values"]["values"] = np.add(moved, [3.0, 0, 0, 0]).tolist()
    assert pertinent.check(document, MODEL).verdict == "refuted"


def test_answers_do_not_depend_on_batches_or_processes():
    plausible = Plausibility(X, y, n_components=3, reg_covar=1e-2)
    whole = pertinent.pertinent_negatives(MODEL, X[::9], plausibility=plausible)
    for changes in ({"batch_size": 1}, {"batch_size": 5}, {"batch_size": 9, "n_jobs": 2}):
        parts = pertinent.pertinent_negatives(MODEL, X[::9], plausibility=plausible, **changes)
        assert parts.values.tobytes() == whole.values.tobytes()
        assert parts.bound.tobytes() == whole.bound.tobytes()
        assert parts.log_density.tobytes() == whole.log_density.tobytes()


def test_frames_come_back_as_frames_and_columns_go_by_name():
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    model = LogisticRegression(max_iter=1000).fit(frame, y)
    turned = Plausibility(frame[names[::-1]], y, n_components=1)
    found = pertinent.pertinent_negatives(model, frame.iloc[::30], plausibility=turned)
    plain = pertinent.pertinent_negatives(MODEL, X[::30], plausibility=Plausibility(X, y, 1))
    assert list(found.points.columns) == names
    np.testing.assert_allclose(found.objective, plain.objective, rtol=1e-6)


def test_single_precision_points_reach_the_threshold_as_handed_out():
    some = X[::10].astype(np.float32)
    plausible = Plausibility(X, y, n_components=1)
    found = pertinent.pertinent_negatives(MODEL, some, plausibility=plausible)
    assert found.points.dtype == np.float32
    assert found.found.all()
    got = densities(plausible, found.points.astype(float), np.asarray(found.target))
    assert (got >= thresholds(plausible, found.target)).all()


@pytest.mark.parametrize("kind", [GLVQ, GMLVQ])
def test_prototype_models(kind):
    model = kind(prototypes_per_class=2, random_state=0).fit(X, y)
    plausible = Plausibility(X, y, n_components=2)
    some = X[::15]
    found = pertinent.pertinent_negatives(model, some, target=None, plausibility=plausible)
    assert set(found.status) == {"optimal"}
    assert (model.predict(found.points) == found.target).all()
    check_dense(plausible, found, found.target)


def test_curved_regions_use_the_quadratic_machinery():
    model = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(X, y)
    plausible = Plausibility(X, y, n_components=1)
    some = X[::25]
    found = pertinent.pertinent_negatives(model, some, plausibility=plausible)
    assert found.found.all()
    assert (model.predict(found.points) == found.target).all()
    check_dense(plausible, found, found.target)
    assert (found.bound <= found.objective).all()


@pytest.mark.slow
def test_digits_in_a_projected_space_in_raw_units():
    data, kind = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=5000, C=0.01).fit(data, kind)
    rules = Constraints(bounds={i: (0, 16) for i in range(64)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pertinent.PlausibilityWarning)
        plausible = Plausibility(data, kind, 5, projection=40, standardize=False)
        plausible.threshold(0)
    some = data[:20]
    own = model.predict(some)
    asked = {"constraints": rules}
    with_ = pertinent.pertinent_positives(model, some, plausibility=plausible, **asked)
    without = pertinent.pertinent_positives(model, some, **asked)
    assert set(with_.status) == {"optimal"}
    assert (model.predict(with_.points) == own).all()
    assert ((with_.points >= 0) & (with_.points <= 16)).all()
    check_dense(plausible, with_, own)
    gain = with_.log_density - densities(plausible, without.points, own)
    assert np.median(gain) > 100
    assert with_.kept.sum(axis=1).mean() > 4 * without.kept.sum(axis=1).mean()


def test_conflicts_are_proved_and_named():
    dense = Plausibility(X, y, n_components=2, quantile=1.0)
    free = Plausibility(X, y, n_components=2, quantile=0.1)

    def reason(plausibility, **rules):
        found = pertinent.pertinent_negatives(
            MODEL, X[:1], target=1, plausibility=plausibility, constraints=Constraints(**rules)
        )
        assert found.status[0] == "infeasible"
        assert found.bound[0] == np.inf
        return found.reason[0]

    # Sepal width frozen leaves class 1, but no longer its densest point; length does not matter.
    words = reason(dense, frozen=[0, 1])
    assert words.startswith("density and constraints conflict")
    assert "obeys: x1 frozen (each of them, plausibility included, is needed" in words
    assert "as dense as the densest training point of its class" in words
    # With all but sepal length frozen the model never says 1: no density needed for that.
    words = reason(dense, frozen=[1, 2, 3], bounds={0: (4, 8)})
    assert words.startswith("no point is predicted as 1 and obeys")
    assert "dens" not in words.split("obeys")[0]
    assert reason(free, bounds={0: (9, None)}).startswith("density and constraints conflict")


def test_long_lists_of_rules_are_cut_short():
    data, kind = load_digits(return_X_y=True)
    model = LogisticRegression(max_iter=5000, C=0.01).fit(data, kind)
    plausible = Plausibility(data, kind, 1, quantile=1.0, projection=20, standardize=False)
    bounds = {i: (0, 16) for i in range(64)}
    rules = Constraints(frozen=list(range(10, 54)), bounds=bounds)
    found = pertinent.pertinent_negatives(
        model, data[:2], plausibility=plausible, constraints=rules
    )
    assert set(found.status) == {"infeasible"}
    for words in found.reason:
        assert words.startswith("density and constraints conflict")
        assert " frozen; " in words
        assert words.endswith("more rules")  # too many to look at each: not said to be needed
        assert len(words) < 300


def test_density_and_class_can_conflict():
    # A model that calls everything far from its data class 1 only beyond x0 = 50.
    model = LogisticRegression().fit(np.array([[0.0], [100.0]]), [0, 1])
    rng = np.random.default_rng(0)
    data = rng.normal(size=(60, 1))
    plausible = Plausibility(data, np.arange(60) % 2, n_components=1)
    found = pertinent.pertinent_negatives(model, np.zeros((1, 1)), plausibility=plausible)
    assert found.status[0] == "infeasible"
    assert found.reason[0].startswith("density and class conflict")


def test_all_three_can_conflict():
    # The class needs x0 > 0, density a disc around the origin, the rule x1 >= 0.9 * radius and
    # x0 <= 0.1 together with the disc leave x0 < 0.44 * radius: any two agree, not all three.
    model = LogisticRegression(C=1e3).fit(np.array([[-1.0, 0.0], [2.0, 0.0]]), [0, 1])
    edge = -model.intercept_[0] / model.coef_[0, 0]
    ring = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    data = np.c_[np.cos(ring), np.sin(ring)]
    plausible = Plausibility(
        np.vstack([data, data]), np.arange(80) // 40, 1, standardize=False, covariance_type="diag"
    )
    assert 0.4 < edge < 0.6

    def status(**bounds):
        rules = Constraints(bounds={int(k[1]): v for k, v in bounds.items()})
        found = pertinent.pertinent_negatives(
            model, np.zeros((1, 2)), plausibility=plausible, constraints=rules
        )
        return found.status[0], found.reason[0]

    assert status()[0] == "optimal"
    verdict, words = status(x1=(0.95, None))
    assert verdict == "infeasible"
    assert words.startswith("density, class and constraints conflict")
    assert "x1 >= 0.95" in words


def test_what_cannot_be_combined_is_refused():
    plausible = Plausibility(X, y, n_components=1)
    with pytest.raises(InputError, match="plausibility works with method='two-phase' only"):
        pertinent.pertinent_positives(MODEL, X[:1], method="strict", plausibility=plausible)
    with pytest.raises(InputError, match="no training points of the classes"):
        pertinent.pertinent_negatives(MODEL, X[:1], plausibility=Plausibility(X, y + 1, 1))


def test_a_probability_can_be_asked_for_of_two_classes():
    kind = (y > 0).astype(int)
    model = LogisticRegression().fit(X, kind)
    plausible = Plausibility(X, kind, n_components=1)
    asked = {"plausibility": plausible, "min_proba": 0.9}
    found = pertinent.pertinent_negatives(model, X[::20], **asked)
    assert found.found.all()
    assert (model.predict_proba(found.points).max(axis=1) >= 0.9).all()
    check_dense(plausible, found, found.target)
    with pytest.raises(UnsupportedModelError, match="Leave out one of them"):
        pertinent.pertinent_negatives(
            MODEL, X[:1], plausibility=Plausibility(X, y, 1), min_proba=0.9
        )


def test_without_plausibility_there_is_no_density():
    found = pertinent.pertinent_negatives(MODEL, X[:3])
    assert found.log_density is None
    assert found.density_threshold is None
    assert found.density_percentile is None
    assert found.blend is None


def test_the_text_says_why_a_plausible_positive_is_not_sparse():
    plausible = Plausibility(X, y, n_components=1)
    explainer = pertinent.Explainer(
        MODEL, data=X, baseline=0.0, between=False, plausibility=plausible
    )
    words = explainer.explain(X[60:61])[0].text("long")
    assert "as dense as the densest 50% of its class" in words
    assert "takes more values than the prediction alone" in words
    plain = pertinent.Explainer(MODEL, data=X, baseline=0.0).explain(X[60:61])[0]
    assert "takes more values" not in plain.text("long")


@pytest.mark.matrix(2)
@pytest.mark.parametrize(
    "model",
    [GaussianNB(), QuadraticDiscriminantAnalysis(reg_param=0.1)],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_infeasible_thresholds_under_curved_models_are_proved_and_named(load, model):
    data, kind = load(return_X_y=True)
    data = StandardScaler().fit_transform(data)
    model.fit(data, kind)
    half = data.shape[1] // 2
    plausible = Plausibility(data, kind, n_components=2, quantile=1.0, random_state=0)
    setting = pertinent.Explainer(
        model, data=data, plausibility=plausible, constraints=Constraints(frozen=list(range(half)))
    )
    some = data[::60]
    result = setting.explain(some).negative
    none = result.status == "infeasible"
    assert none.sum() > len(some) // 2
    assert (result.status != "failed").all()
    assert np.isinf(proved_of_negatives(setting.setting, result)[0][none]).all()
    for i in np.flatnonzero(none):
        assert result.reason[i].startswith("density and constraints conflict")
        assert " frozen" in result.reason[i]
        # Independently: with the frozen half held, no component of another class gets there.
        for label in set(model.classes_) - {model.predict(some[i : i + 1])[0]}:
            peaks = _peaks_given(plausible.mixture(label), some[i, :half])
            assert (peaks < plausible.threshold(label)).all()


def _peaks_given(mixture, held):
    """The largest weighted log-density of each component when the first features are held."""
    out = []
    for weight, mean, root in zip(
        mixture.weights_, mixture.means_, mixture.precisions_cholesky_, strict=True
    ):
        covariance = np.linalg.inv(root @ root.T)
        own = covariance[: len(held), : len(held)]
        away = held - mean[: len(held)]
        peak = np.log(weight) - 0.5 * len(mean) * np.log(2 * np.pi)
        peak -= 0.5 * np.linalg.slogdet(covariance)[1]
        out.append(peak - 0.5 * away @ np.linalg.solve(own, away))
    return np.array(out)


def test_mixtures_are_fitted_once_however_often_they_are_asked(monkeypatch):
    from pertinent.density import fit

    fitted, fit_class = [], fit.fit_class

    def counted(z, label, recipe):
        fitted.append(label)
        return fit_class(z, label, recipe)

    monkeypatch.setattr(fit, "fit_class", counted)
    plausible = Plausibility(X, y, n_components=1)
    for _ in range(3):
        pertinent.pertinent_negatives(MODEL, X[:1], target=1, plausibility=plausible)
        pertinent.Explainer(MODEL, data=X, plausibility=plausible).explain(X[:1])
    assert sorted(fitted) == [0, 1, 2]
