"""Tables of any kind in, the same kind out, matched by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from linear_models import data
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError
from pertinent.features import Features

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture(scope="module")
def frame():
    X, _ = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=NAMES, index=[f"flower {i}" for i in range(len(X))])


@pytest.fixture(scope="module")
def model(frame):
    _, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=500).fit(frame, y)


def test_a_pandas_frame_keeps_columns_and_index(model, frame):
    found = pertinent.pertinent_negatives(model, frame)
    assert isinstance(found.points, pd.DataFrame)
    assert list(found.points.columns) == NAMES
    assert (found.points.index == frame.index).all()
    assert (model.predict(found.points) == found.target).all()


def test_columns_in_another_order_are_matched_by_name(model, frame):
    shuffled = frame[NAMES[::-1]]
    found = pertinent.pertinent_negatives(model, shuffled)
    assert list(found.points.columns) == NAMES[::-1]
    straight = pertinent.pertinent_negatives(model, frame)
    pd.testing.assert_frame_equal(found.points[NAMES], straight.points)
    assert (found.changed == straight.changed).all()


@pytest.mark.parametrize("kind", [pl.DataFrame, pa.table])
def test_other_frames_come_back_as_their_own_kind(model, frame, kind):
    table = kind({name: frame[name].to_numpy() for name in NAMES})
    found = pertinent.pertinent_positives(model, table)
    assert isinstance(found.points, type(table))
    plain = pertinent.pertinent_positives(model, frame)
    values = np.stack([np.asarray(found.points[name]) for name in NAMES], axis=1)
    assert values.tobytes() == plain.points.to_numpy().tobytes()


def test_a_frame_for_a_model_without_names_goes_by_position(frame):
    _, y = load_iris(return_X_y=True)
    plain = LogisticRegression(max_iter=500).fit(frame.to_numpy(), y)
    found = pertinent.pertinent_negatives(
        plain, frame, constraints=pertinent.Constraints(frozen=["petal width"])
    )
    assert (found.points["petal width"] == frame["petal width"]).all()


def test_lists_and_integers_are_samples_too(model):
    found = pertinent.pertinent_negatives(model, [[5, 3, 1, 0], [6, 3, 5, 2]])
    assert found.found.all()


def test_missing_values_are_named(model, frame):
    holed = frame.copy()
    holed.iloc[3, 1] = np.nan
    with pytest.raises(InputError, match=r"'sepal width'.*rows \[3\]"):
        pertinent.pertinent_negatives(model, holed)
    with pytest.raises(InputError, match="infinite"):
        pertinent.pertinent_negatives(model, np.full((1, 4), np.inf))


def test_wrong_columns_are_named(model, frame):
    with pytest.raises(InputError, match="lacks the columns .'petal width'"):
        pertinent.pertinent_negatives(model, frame[NAMES[:3]])
    with pytest.raises(InputError, match="does not know: .'extra'"):
        pertinent.pertinent_negatives(model, frame.assign(extra=1.0))
    with pytest.raises(InputError, match="holds .*String"):
        pertinent.pertinent_negatives(model, frame.assign(**{"petal width": "broad"}))


def test_wrong_shapes_are_explained(model):
    with pytest.raises(InputError, match="4 features, and X has 3 columns"):
        pertinent.pertinent_negatives(model, np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"pass \[x\]"):
        pertinent.pertinent_negatives(model, np.zeros(4))
    with pytest.raises(InputError, match="must be numbers"):
        pertinent.pertinent_negatives(model, [["a", "b", "c", "d"]])


def test_no_rows_give_no_answers(model):
    found = pertinent.pertinent_negatives(model, np.zeros((0, 4)))
    assert len(found) == 0
    assert found.points.shape == (0, 4)


def test_features_by_position_and_name():
    features = Features(("age", "income"))
    assert features.index(-1) == 1
    assert features.indices(["income", 0]).tolist() == [1, 0]
    with pytest.raises(InputError, match="Did you mean 'income'"):
        features.index("incme")
    with pytest.raises(InputError, match="no feature 5"):
        features.index(5)
    with pytest.raises(InputError, match="list of features, got the text 'age'"):
        features.indices("age")


def test_unnamed_features_get_numbers():
    X, y = data("iris")
    model = LogisticRegression().fit(X, y)
    assert Features.of(model, X).names == ("x0", "x1", "x2", "x3")
