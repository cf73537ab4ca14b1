"""Nearest-prototype models: common checks, every data set, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from linear_models import LOADERS, data
from prototype_models import ESTIMATORS, LOCAL, fitted
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.lvq import GLVQ, GMLVQ
from pertinent.models.prototype import nearest_region
from pertinent.solvers import project
from pertinent.testing import check_region_agrees_with_predict, parametrize_with_region_checks

pytestmark = pytest.mark.matrix(2)

CASES = [(fitted(estimator, "iris"), data("iris")[0]) for estimator in (*ESTIMATORS, "lgmlvq_1")]
CASES += [(fitted(estimator, "breast_cancer"), data("breast_cancer")[0]) for estimator in (
    "glvq_3", "gmlvq_3", "centroid_priors", "lgmlvq_1")]  # fmt: skip


@pytest.mark.matrix(4)
@parametrize_with_region_checks(CASES)
def test_common(model, X, check):
    check(model, X)


@pytest.mark.matrix(2)
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        # A thousand prototypes in 64 dimensions.
        pytest.param(e, n, marks=[pytest.mark.slow] * ((e, n) == ("one_nn", "digits")))
        for e in ESTIMATORS
        for n in LOADERS
    ],
)
def test_every_answer_is_valid_and_proved(estimator, name):
    model, X = fitted(estimator, name), data(name)[0]
    check_region_agrees_with_predict(model, X)
    rows = X[:: max(1, len(X) // (8 if estimator == "one_nn" else 30))]
    own = model.predict(rows)
    negative = pertinent.pertinent_negatives(model, rows)
    assert (negative.status == "optimal").all()
    assert (model.predict(negative.points) != own).all()
    positive = pertinent.pertinent_positives(model, rows, between=True)
    assert (positive.status == "optimal").all()
    assert (model.predict(positive.points) == own).all()


# A hundred metrics in 64 dimensions: minutes, not seconds.
SLOW = {("lgmlvq_10", "digits"), ("lgmlvq_3", "digits"), ("lgmlvq_10", "iris")}


@pytest.mark.matrix(2)
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        pytest.param(e, n, marks=[pytest.mark.slow] * ((e, n) in SLOW))
        for e in LOCAL
        for n in LOADERS
    ],
)
def test_local_metrics_are_valid_and_bounded(estimator, name):
    model, X = fitted(estimator, name), data(name)[0]
    check_region_agrees_with_predict(model, X)
    count = 2 if name == "digits" else 3
    rows = X[:: len(X) // count][:count]
    negative = pertinent.pertinent_negatives(model, rows)
    assert negative.found.all()
    assert (model.predict(negative.points) != model.predict(rows)).all()
    assert (negative.bound <= negative.objective).all()
    assert (negative.bound > 0).all()
    positive = pertinent.pertinent_positives(model, rows)
    assert positive.found.all()
    assert (model.predict(positive.points) == model.predict(rows)).all()


@pytest.mark.parametrize("estimator", ["glvq_10", "gmlvq_10", "one_nn"])
def test_without_skipping_the_optimum_is_the_same(estimator):
    model, X = fitted(estimator, "wine"), data("wine")[0]
    for label in model.classes_:
        rows = X[model.predict(X) != label][::12]
        region = pertinent.decision_region(model, label, 1e-9)
        quick = project(rows, region)
        plain = project(rows, region, skip=False)
        np.testing.assert_allclose(quick.objective, plain.objective, rtol=1e-9)
        assert quick.solved < plain.solved / 2
        assert (quick.status == plain.status).all()
        # What was skipped or cut short is proved to be worse, so it leaves no doubt.
        assert (quick.unique == plain.unique).all()


def test_a_subclass_never_gets_its_parents_metric():
    class Weighted(GLVQ):
        pass

    X, y = data("iris")
    model = Weighted(random_state=0, max_iter=5).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="may decide differently"):
        pertinent.pertinent_negatives(model, X)
    assert not issubclass(GMLVQ, GLVQ)


def test_the_metric_of_gmlvq_matters(rng):
    """Using the identity for GMLVQ would give wrong regions."""
    model, X = fitted("gmlvq_3", "wine"), rng.normal(size=(500, 13))
    own = model.predict(X) == model.classes_[1]
    is_own = model.prototype_labels_ == model.classes_[1]
    assert (pertinent.decision_region(model, model.classes_[1]).contains(X) == own).all()
    assert (nearest_region(model.prototypes_, is_own, 0.0).contains(X) != own).any()


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (NearestCentroid(metric="manhattan"), "metric='manhattan'.*supported is metric='euclid"),
        (KNeighborsClassifier(3), "n_neighbors=3.*supported is n_neighbors=1"),
        (KNeighborsClassifier(1, p=1), "metric 'manhattan'"),
    ],
)
def test_refusals_give_the_reason(model, match):
    X, y = data("iris")
    with pytest.raises(UnsupportedModelError, match=match):
        pertinent.pertinent_negatives(model.fit(X, y), X[:3])


def test_identical_points_of_two_classes_leave_the_others_usable():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [0.0, 3.0]])
    model = KNeighborsClassifier(1).fit(X, [0, 1, 1, 0])
    found = pertinent.pertinent_negatives(model, np.array([[0.1, 2.9], [1.9, 0.1]]))
    assert found.found.all()
    assert (model.predict(found.points) == found.target).all()


FILES = [json.loads(f.read_text()) for f in sorted((Path(__file__).parent / "recorded").iterdir())]
RECORDED = {
    name: (record, np.array(file["points"]))
    for file in FILES
    for name, record in file["models"].items()
}


def rebuilt(name):
    """Return a fitted model of another package as recorded by ``lvq_peers.py --record``."""
    record = RECORDED[name][0]
    model = type(record["class"], (), {"__module__": record["module"]})()
    for attribute, value in record["attributes"].items():
        ragged = attribute == "omegas_" or isinstance(value, str | int)
        setattr(model, attribute, value if ragged else np.array(value))
    if hasattr(model, "distance_fn"):
        model.distance_fn = type(model.distance_fn, (), {})  # known by its name
    return model, record["predicted"]


@pytest.mark.matrix(1)
@pytest.mark.parametrize("name", list(RECORDED))
def test_models_of_other_packages_as_they_were_fitted(name):
    """Their labels are places in classes_ (sklvq) or labels; their matrices have many forms."""
    (model, predicted), X = rebuilt(name), RECORDED[name][1]
    assert len(set(predicted)) == 3
    for k, label in enumerate(model.classes_.tolist()):
        own = np.array([int(place) == k for place in predicted])
        assert (pertinent.decision_region(model, label).contains(X) == own).all()


def test_a_distance_of_another_package_that_we_do_not_know_is_refused():
    model, _ = rebuilt("sklvq GMLVQ")
    model.distance_type = "cosine"
    with pytest.raises(UnsupportedModelError, match="distance_type='cosine'"):
        pertinent.decision_region(model, "setosa")
    model, _ = rebuilt("prosemble GLVQ")
    model.distance_fn = type("manhattan_distance_matrix", (), {})
    with pytest.raises(UnsupportedModelError, match="distance_fn=manhattan_distance_matrix"):
        pertinent.decision_region(model, 0)
