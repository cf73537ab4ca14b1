"""What is read as samples, and what is refused by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture(scope="module")
def frame():
    X, _ = load_iris(return_X_y=True)
    return pd.DataFrame(X, columns=NAMES, index=[f"flower {i}" for i in range(len(X))])


@pytest.fixture(scope="module")
def model(frame):
    _, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=500).fit(frame, y)


def test_lists_and_integers_are_samples_too(model):
    found = pertinent.pertinent_negatives(model, [[5, 3, 1, 0], [6, 3, 5, 2]])
    assert found.found.all()


def test_missing_values_are_named(model, frame):
    holed = frame.copy()
    holed.iloc[3, 1] = np.nan
    with pytest.raises(InputError, match=r"'sepal width'.*rows \['flower 3'\]"):
        pertinent.pertinent_negatives(model, holed)
    with pytest.raises(InputError, match="infinite"):
        pertinent.pertinent_negatives(model, np.full((1, 4), np.inf))


def test_rows_are_called_by_their_index(model, frame):
    chosen = frame.iloc[[7, 9]].copy()
    chosen.iloc[1, 1] = np.nan
    with pytest.raises(InputError, match=r"rows \['flower 9'\]"):
        pertinent.pertinent_negatives(model, chosen)
    with pytest.raises(InputError, match=r"rows \[2\]"):
        pertinent.pertinent_negatives(model, chosen.set_axis([4, 2]))
    with pytest.raises(InputError, match=r"rows \[1\]"):
        pertinent.pertinent_negatives(model, chosen.to_numpy())


def test_wrong_columns_are_named(model, frame):
    with pytest.raises(InputError, match="lacks the columns .'petal width'"):
        pertinent.pertinent_negatives(model, frame[NAMES[:3]])
    with pytest.warns(UserWarning, match="does not know: extra"):
        found = pertinent.pertinent_negatives(model, frame.assign(extra=1.0))
    assert list(found.points.columns) == NAMES
    with pytest.raises(InputError, match="holds .*String"):
        pertinent.pertinent_negatives(model, frame.assign(**{"petal width": "broad"}))


def test_wrong_shapes_are_explained(model):
    with pytest.raises(InputError, match="4 features, and X has 3 columns"):
        pertinent.pertinent_negatives(model, np.zeros((2, 3)))
    with pytest.raises(InputError, match=r"pass \[x\]"):
        pertinent.pertinent_negatives(model, np.zeros(4))
    with pytest.raises(InputError, match="X must hold numbers"):
        pertinent.pertinent_negatives(model, [["a", "b", "c", "d"]])


def test_training_data_are_called_data(model, frame):
    holed = frame.copy()
    holed.iloc[3, 1] = np.nan
    for data, words in (
        (holed, r"data has missing or infinite values in the columns \['sepal width'\]"),
        (frame[NAMES[:3]], r"data lacks the columns \['petal width'\]"),
        (np.zeros((2, 3)), "4 features, and data has 3 columns"),
        (np.zeros(4), "data must be a table with two dimensions"),
        (frame.assign(**{"petal width": "broad"}), "Column 'petal width' of data holds String"),
        ([["a", "b", "c", "d"]], "data must hold numbers"),
    ):
        with pytest.raises(InputError, match=words):
            pertinent.pertinent_negatives(model, frame, data=data)
        with pytest.raises(InputError, match=words):
            pertinent.Explainer(model, data=data)
    plausible = pertinent.Plausibility(holed, np.arange(len(frame)) % 3)
    with pytest.raises(InputError, match="^Plausibility's data has missing"):
        pertinent.pertinent_negatives(model, frame, plausibility=plausible)


def test_no_rows_give_no_answers(model):
    found = pertinent.pertinent_negatives(model, np.zeros((0, 4)))
    assert len(found) == 0
    assert found.points.shape == (0, 4)


@pytest.mark.parametrize("kind", ["pandas", "pyarrow"])
def test_a_column_that_is_there_twice_is_named(model, frame, kind):
    twice = pd.concat([frame, frame.iloc[:, :1]], axis=1)
    if kind == "pyarrow":
        twice = pa.Table.from_arrays(
            [pa.array(twice.iloc[:, j]) for j in range(twice.shape[1])], list(twice.columns)
        )
    with pytest.raises(InputError, match=f"more than one column named '{frame.columns[0]}'"):
        pertinent.pertinent_negatives(model, twice)


def test_masked_values_are_not_read_as_if_they_were_there(model, frame):
    X = np.ma.array(frame.to_numpy()[:2], mask=False)
    whole = pertinent.pertinent_negatives(model, X.data)
    assert pertinent.pertinent_negatives(model, X).values.tobytes() == whole.values.tobytes()
    X[0, 0] = np.ma.masked
    with pytest.raises(InputError, match="masked array with masked values"):
        pertinent.pertinent_negatives(model, X)


def test_numbers_that_came_as_objects_are_numbers(model, frame):
    """`X.values` of a table with words gives objects, and so does a frame of them."""
    rows = frame.head(3)
    objects = pd.DataFrame(rows.to_numpy(dtype=object), columns=NAMES)
    found = pertinent.Explainer(model, data=frame).explain(objects)
    expected = pertinent.Explainer(model, data=frame).explain(rows)
    np.testing.assert_array_equal(found.negative.points, expected.negative.points)
    with pytest.raises(InputError, match="'petal length' of X holds"):
        pertinent.pertinent_negatives(model, objects.assign(**{"petal length": "long"}))


def test_names_that_the_model_has_rewritten_are_told(frame):
    """LightGBM writes "_" for a space in a name."""
    renamed = LogisticRegression(max_iter=500).fit(*_rewritten(frame))
    with pytest.raises(InputError, match=r"Write X.rename\(columns=lambda name: name.replace\(' '"):
        pertinent.pertinent_negatives(renamed, frame)
    with pytest.raises(InputError, match=r"lacks the columns.*\]\.$"):
        pertinent.pertinent_negatives(renamed, frame[NAMES[:2]])


def _rewritten(frame):
    _, y = load_iris(return_X_y=True)
    return frame.rename(columns=lambda name: name.replace(" ", "_")), y
