"""Decision trees: exact edges, the common checks, ties, constant trees, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.trees.one_tree import last_left
from pertinent.testing import parametrize_with_region_checks

IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)


def _cases():
    few = DecisionTreeClassifier(max_depth=4, random_state=0)
    return [
        (DecisionTreeClassifier(random_state=0).fit(*IRIS), IRIS[0]),
        (ExtraTreeClassifier(max_depth=4, random_state=0).fit(*WINE), WINE[0]),
        (make_pipeline(StandardScaler(), few).fit(*CANCER), CANCER[0]),
    ]


@pytest.mark.matrix(2)
@parametrize_with_region_checks(_cases())
def test_common(model, X, check):
    check(model, X)


@given(st.floats(-1e30, 1e30))
def test_the_edge_is_the_last_double_that_goes_left(threshold):
    edge = last_left(threshold)
    assert float(np.float32(edge)) <= threshold
    assert float(np.float32(np.nextafter(edge, np.inf))) > threshold


def test_points_on_both_sides_of_every_edge_are_where_predict_puts_them():
    model = DecisionTreeClassifier(random_state=0).fit(*CANCER)
    X, tree = CANCER[0], model.tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    edges = np.array([last_left(tree.threshold[n]) for n in inner])
    points = np.repeat(X[::20], 2 * len(inner), axis=0)
    both = np.column_stack([edges, np.nextafter(edges, np.inf)]).ravel()
    where = np.tile(np.repeat(tree.feature[inner], 2), len(X[::20]))
    points[np.arange(len(points)), where] = np.tile(both, len(X[::20]))
    predicted = model.predict(points)
    for label in (0, 1):
        region = pertinent.decision_region(model, label)
        np.testing.assert_array_equal(region.contains(points), predicted == label)


@pytest.mark.parametrize("single", [False, True])
def test_the_nearest_point_stands_on_the_edge_itself(single):
    X, y = IRIS
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    samples = X.astype(np.float32) if single else X
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) != model.predict(samples)).all()
    if single:
        return
    # A hair less of every change is not enough.
    for i, j in zip(*np.nonzero(found.changed), strict=True):
        less = found.points[i].copy()
        less[j] = np.nextafter(less[j], X[i, j])
        assert model.predict(less[None]) == model.predict(X[i : i + 1])


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_pass_a_scaler_before_the_tree(scaler, dtype):
    X, y = CANCER[0].astype(dtype), CANCER[1]
    model = make_pipeline(scaler, DecisionTreeClassifier(random_state=0)).fit(X, y)
    samples = X[:25]
    for found in (
        pertinent.pertinent_negatives(model, samples),
        pertinent.pertinent_negatives(model, samples, norm="l0"),
    ):
        # What the scaler rounds in single precision may cost more than the gap of a proof.
        assert found.found.all()
        assert (found.status == "optimal").mean() > (0.99 if dtype == np.float64 else 0.8)
        assert (model.predict(found.points) != model.predict(samples)).all()
    for method in ("two-phase", "strict", "exact"):
        kept = pertinent.pertinent_positives(
            model, samples, method=method, baseline="median", data=X
        )
        assert kept.found.all()
        assert (kept.status == "optimal").mean() > (0.99 if dtype == np.float64 else 0.8)
        assert (model.predict(kept.points) == model.predict(samples)).all()


def test_a_tree_of_one_leaf_has_no_contrast():
    X, y = IRIS
    model = DecisionTreeClassifier(max_depth=1, min_samples_leaf=150).fit(X, y)
    assert model.tree_.node_count == 1
    found = pertinent.pertinent_negatives(model, X[:3])
    assert (found.status == "infeasible").all()
    enough = pertinent.pertinent_positives(model, X[:3], method="sufficient", data=X)
    assert (enough.status == "optimal").all()
    assert (enough.objective == 0).all()


def test_a_margin_that_is_asked_for_keeps_clear_of_every_edge():
    X, y = IRIS
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = pertinent.pertinent_negatives(model, X, margin=0.05)
    here = found.found
    assert here.any()
    for j in range(4):
        for step in (-0.049, 0.049):
            moved = found.points[here] + step * np.eye(4)[j]
            assert (model.predict(moved) == found.target[here]).all()


def test_sufficient_sets_are_stated_by_rivals_in_leaves_of_other_classes():
    X, y = WINE
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = pertinent.pertinent_positives(model, X, method="sufficient", data=X)
    assert (found.status == "optimal").all()
    rng, low, high = np.random.default_rng(0), X.min(axis=0), X.max(axis=0)
    for part in found.certificates:
        assert part.key[0] == "not"
        for row, rivals in zip(part.rows, part.certificate.blocks[0].proofs.rivals, strict=True):
            own = model.predict(X[row : row + 1])
            assert (model.predict(rivals) != own).all()
            # Every set of one feature less misses a rival.
            for j in np.flatnonzero(found.kept[row]):
                kept = found.kept[row].copy()
                kept[j] = False
                assert ((rivals == X[row]) | ~kept).all(axis=1).any()
            fill = np.where(found.kept[row], X[row], rng.uniform(low, high, (300, 13)))
            assert (model.predict(fill) == own).all()


def test_probabilities_are_refused():
    X, y = IRIS
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="min_proba"):
        pertinent.pertinent_negatives(model, X[:2], min_proba=0.9)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"frozen": [0, 1, 2, 3]}, "frozen"),
        ({"bounds": {2: (None, 2.0), 3: (None, 0.5)}}, "<="),
    ],
)
def test_rules_that_leave_no_leaf_are_named(rules, named):
    """Every leaf of another class is missed by a rule that is named."""
    X, y = load_iris(return_X_y=True)
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    rules = pertinent.Constraints(**rules)
    found = pertinent.pertinent_negatives(model, X[:3], constraints=rules)
    assert found.status.tolist() == ["infeasible"] * 3
    for words in found.reason:
        assert "obeys: " in words
        assert named in words
