"""1-NN with coinciding training points: the model's own order decides, and the region knows it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.neighbors import KNeighborsClassifier

import pertinent
from pertinent.models.neighbours import possible_winners

SEARCHES = ("brute", "kd_tree", "ball_tree", "auto")
SIDE = 3
#: From a point between whole numbers no two of them are equally far.
OFFSET = np.array([1 / 32, 3 / 64])
#: Beyond this margin a class must win by more than the model's order: see `winners.TIES_COUNT`.
SURELY = 1e-4


def grid(dim: int) -> np.ndarray:
    """Points between and beyond the training points, none on the middle of two of them."""
    axis = np.arange(-1.0, SIDE + 1.0, 1 / 8 if dim == 1 else 1 / 4)
    return np.array(list(itertools.product(axis, repeat=dim))) + OFFSET[:dim]


@st.composite
def crowded(draw, leaf_size: int, largest: int):
    """A 1-NN model on few different places, most of them taken several times."""
    dim, n = draw(st.sampled_from([1, 2])), draw(st.integers(2, largest))
    places = st.lists(st.integers(0, SIDE - 1), min_size=dim, max_size=dim)
    X = np.array(draw(st.lists(places, min_size=n, max_size=n)))
    y = draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    y[0], y[1] = "a", "b"
    whole = draw(st.booleans())
    search = draw(st.sampled_from(SEARCHES))
    model = KNeighborsClassifier(1, algorithm=search, leaf_size=leaf_size)
    return model.fit(X if whole else X.astype(float), np.array(y))


def judged(model, dim):
    """Yield each other class of some samples: (answers, the grid's points of that class)."""
    points = grid(dim)
    predicted = model.predict(points)
    samples = np.vstack([points[::7][:4], np.unique(model._fit_X, axis=0)[:3]]).astype(float)
    for label in model.classes_:
        rows = samples[model.predict(samples) != label]
        if len(rows):
            found = pertinent.pertinent_negatives(model, rows, target=label)
            yield label, rows, found, points[predicted == label]


def assert_right(model, label, rows, found, there):
    """Compare with brute force: no better point, none where none is said to be."""
    for i, x in enumerate(rows):
        best = np.abs(there - x).sum(axis=1).min(initial=np.inf)
        assert found.bound[i] <= best + 1e-9
        if found.found[i]:
            assert model.predict(found.points[i : i + 1]).item() == label
        if found.status[i] == "optimal":
            assert found.objective[i] <= best + 1e-6
        if found.status[i] == "infeasible":
            assert not len(there)


@settings(max_examples=16, deadline=None)
@given(crowded(leaf_size=30, largest=20))
def test_where_one_point_of_each_place_always_wins_all_is_proved(model):
    assume(model._tree is not None or model._fit_X.dtype == float)  # else any of them may win
    for label, rows, found, there in judged(model, model.n_features_in_):
        assert_right(model, label, rows, found, there)
        assert set(found.status) <= {"optimal", "infeasible"}
    X, base = model._fit_X.astype(float), OFFSET[: model.n_features_in_]
    positive = pertinent.pertinent_positives(model, X, baseline=base)
    assert set(positive.status) == {"optimal"}


@settings(max_examples=8, deadline=None)
@given(crowded(leaf_size=1, largest=40))
def test_where_the_winner_depends_on_the_sample_nothing_false_is_claimed(model):
    for label, rows, found, there in judged(model, model.n_features_in_):
        assert_right(model, label, rows, found, there)
        if (found.status == "failed").any():
            # Only where no place is sure to be of this class.
            sure = pertinent.decision_region(model, label, SURELY)
            assert not sure.contains(grid(model.n_features_in_)).any()


@pytest.mark.parametrize("search", SEARCHES)
def test_a_class_whose_points_always_come_second_is_never_predicted(search):
    X = np.array([[0.0], [1.0], [1.0], [1.0], [9.0]])
    model = KNeighborsClassifier(1, algorithm=search).fit(X, list("cbcac"))
    found = pertinent.pertinent_negatives(model, [[0.0]])
    assert found.status.tolist() == ["optimal"]
    assert found.points.item() == pytest.approx(0.5, abs=1e-9)
    never = pertinent.pertinent_negatives(model, [[0.0]], target="a")
    assert never.status.tolist() == ["infeasible"]
    assert "never predicts" in never.reason[0]


def test_winners_follow_the_order_of_the_model(rng):
    X = rng.integers(0, 3, size=(300, 2)).astype(float)
    y = rng.integers(0, 100, size=300)  # copies of a point rarely share a class
    queries = rng.uniform(-1, 3, size=(2000, 2))
    for search, leaf_size in itertools.product(SEARCHES, (1, 5, 30, 400)):
        model = KNeighborsClassifier(1, algorithm=search, leaf_size=leaf_size).fit(X, y)
        kept = possible_winners(model, X, model._y)
        won = model.kneighbors(queries, return_distance=False).ravel()
        # Of points of the same place and class, one stands for all.
        keys = {(*X[i], y[i]) for i in kept}
        assert {(*X[i], y[i]) for i in won} <= keys
        if search == "brute" or leaf_size == 400:
            assert len(kept) == 9


def test_sparse_training_data_and_minus_zero(rng):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [2.0, 0.0]])
    model = KNeighborsClassifier(1).fit(csr_matrix(X), [0, 1, 1, 0])
    queries = rng.uniform(-1, 3, size=(500, 2))
    for label in (0, 1):
        region = pertinent.decision_region(model, label)
        assert (region.contains(queries) == (model.predict(queries) == label)).all()
        assert len(region) == 1
