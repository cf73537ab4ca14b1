"""Tables of any kind in, the same kind out, matched by name."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, KBinsDiscretizer, OneHotEncoder

import pertinent
from pertinent.exceptions import InputError
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.pandas_frames import pandas_column
from pertinent.tables.reading import read_table

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


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_whole_numbers_stay_whole_where_a_row_has_no_answer(kind):
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(18, 80, 60),
        "level": rng.integers(0, 9, 60).astype(np.uint8),
        "income": rng.normal(size=60),
    }
    frame = pd.DataFrame(columns)
    model = LogisticRegression(max_iter=5000).fit(
        frame, frame["age"] / 10 + frame["level"] + frame["income"] > 9
    )
    given = kind(columns)
    # Every coefficient is positive: who is above the boundary cannot get below it by increasing.
    rules = pertinent.Constraints(integer=["age", "level"], increase_only=list(columns))
    found = pertinent.pertinent_negatives(model, given, constraints=rules)
    assert (found.status == np.where(model.predict(frame), "infeasible", "optimal")).all()
    assert set(found.status) == {"infeasible", "optimal"}
    if kind is pd.DataFrame:  # the integers of NumPy cannot be missing, those of pandas can
        kinds = [str(dtype) for dtype in found.points.dtypes]
        assert kinds == ["Int64", "UInt8", "float64"]
        missing = found.points["age"].isna().tolist()
    else:
        assert found.points.schema == given.schema
        ages = found.points["age"]
        missing = (ages.is_null().to_pylist if kind is pa.table else ages.is_null().to_list)()
    assert missing == (~found.found).tolist()


def test_numbers_that_the_model_bins_come_back_as_numbers():
    X = np.arange(40.0).reshape(20, 2)
    model = make_pipeline(KBinsDiscretizer(3, encode="ordinal"), LogisticRegression())
    found = pertinent.pertinent_negatives(model.fit(X, X[:, 0] > 15), X)
    assert found.points.dtype == float


def test_categories_that_are_numbers_come_back_as_numbers():
    X = np.column_stack([np.arange(40) % 3, np.arange(40.0)])
    columns = ColumnTransformer([("c", OneHotEncoder(), [0]), ("n", "passthrough", [1])])
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, X[:, 1] > 15)
    found = pertinent.pertinent_negatives(model, X)
    assert found.points.dtype == float
    assert (model.predict(found.points) != model.predict(X)).all()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    "bins",
    [KBinsDiscretizer(3, encode="onehot-dense", strategy="uniform"), Binarizer(threshold=0.1)],
    ids=["bins", "binarized"],
)
def test_bins_give_the_same_answers_in_single_precision(bins, seed):
    """The double below an edge is the edge as a float32: answers keep to their own bin.

    Of float32 data `Binarizer` asks ``x > float32(0.1)``, which is more than 0.1.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = (rng.normal(size=(2, 3))[y] + rng.normal(size=(60, 3))) * [1e-2, 1.0, 300.0]
    X = X.astype(np.float32)
    model = make_pipeline(clone(bins), LogisticRegression()).fit(X, y)
    some = X[:12]
    single = pertinent.pertinent_negatives(model, some, data=X)
    double = pertinent.pertinent_negatives(model, some.astype(float), data=X)
    assert (double.status == "optimal").all()
    assert (single.status == "optimal").all()
    assert single.points.dtype == np.float32
    assert (model.predict(single.points) != model.predict(some)).all()
    np.testing.assert_allclose(single.objective, double.objective, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def truths():
    rng = np.random.default_rng(0)
    B = rng.random((120, 5)) > 0.5
    y = (B @ [2, 1, 1, -1, 0.5] + 0.4 * rng.normal(size=120) > 1.2).astype(int) + (
        B[:, 0] & B[:, 1]
    )
    return B, y, LogisticRegression().fit(B, y)


QUESTIONS = [
    ("negatives", {}),
    ("negatives", {"norm": "l0"}),
    ("negatives", {"max_changes": 1}),
    ("positives", {}),
    ("positives", {"method": "strict"}),
    ("positives", {"method": "exact"}),
    ("positives", {"method": "sufficient"}),
]


@pytest.mark.parametrize(("kind", "how"), QUESTIONS)
def test_an_array_of_truth_values_is_answered_like_a_frame_of_them(truths, kind, how):
    B, y, model = truths
    names = [f"x{j}" for j in range(5)]
    ask = getattr(pertinent, f"pertinent_{kind}")
    found = ask(model, B[:12], **how)
    frame = pd.DataFrame(B, columns=names)
    framed = ask(LogisticRegression().fit(frame, y), frame[:12], **how)
    assert found.status.tolist() == framed.status.tolist()
    assert found.values.tobytes() == framed.values.tobytes()
    assert found.found.any()
    assert set(np.unique(found.values[found.found])) <= {0.0, 1.0}
    assert found.points.dtype == (bool if found.found.all() else object)
    there = found.points[found.found].astype(bool)
    want = (found.target if kind == "negatives" else found.prediction)[found.found]
    assert (model.predict(there) == want).all()


def test_truth_values_without_an_answer_are_none(truths):
    B, _, model = truths
    rules = pertinent.Constraints(frozen=[0, 1, 2])
    found = pertinent.pertinent_negatives(model, B[:12], constraints=rules)
    assert 0 < found.found.sum() < 12
    assert found.points.dtype == object
    assert {type(v) for v in found.points[found.found].ravel()} == {bool}
    assert {v for v in found.points[~found.found].ravel()} == {None}


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_fewest_features_among_truth_values_by_trying_them_all(truths, kind):
    """Without the limits of 0 and 1 a search finds fewer, and no truth values to go with them."""
    B, y, _ = truths
    corners = np.array(list(product([False, True], repeat=5)))
    model = LogisticRegression().fit(kind(B), y)
    own, every = model.predict(kind(B)), model.predict(kind(corners))
    found = pertinent.pertinent_positives(model, kind(B[:40]), method="exact")
    fewest = [corners[every == label].sum(axis=1).min() for label in own[:40]]
    assert (found.status == "optimal").all()
    assert found.objective.tolist() == fewest
    away = pertinent.pertinent_negatives(model, kind(B[:40]), norm="l0")
    changes = [
        (corners[every != label] != row).sum(axis=1).min()
        for row, label in zip(B[:40], own[:40], strict=True)
    ]
    assert away.objective.tolist() == changes


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_stored_answers_about_truth_values_hold(truths, kind):
    B, y, _ = truths
    given = kind(B)
    model = LogisticRegression().fit(given, y)
    for explanation in pertinent.Explainer(model, data=given).explain(given[:6]):
        assert pertinent.check(explanation.json(), model).verdict == "holds"
        assert {type(v) for v in json.loads(explanation.json())["proof"]["question"]["sample"]} == {
            bool
        }


def test_a_stored_sample_cannot_pass_numbers_for_truth_values(truths):
    B, _, model = truths
    document = json.loads(pertinent.Explainer(model, data=B).explain(B[:1])[0].json())
    document["proof"]["question"]["sample"][0] = 0.5
    with pytest.raises(InputError, match="said to hold truth values, and does not"):
        pertinent.check(json.dumps(document), model)


def test_baselines_between_truth_values_are_not_rounded(truths):
    """One half is neither true nor false: the table keeps it a number for the model."""
    B, _, model = truths
    table = read_table(features_of(model), B[:2])
    assert table.for_model(np.full((1, 5), 0.5)).tolist() == [[0.5] * 5]
    assert table.for_model(np.ones((1, 5))).dtype == bool


@pytest.mark.parametrize(
    ("dtype", "values", "expected"),
    [
        ("int8", np.array([3, -4]), "int8"),
        ("int64", [3, None], "Int64"),
        ("bool", [True, False], "bool"),
        ("bool", [True, None], "object"),
        ("Int32", np.array([3, 4]), "Int32"),
        ("str", ["a", "b"], "str"),
        ("object", ["a", None], "object"),
        (pd.CategoricalDtype(["a", "b"], ordered=True), ["b", "c"], None),
    ],
)
def test_columns_of_pandas_are_as_pandas_makes_them(dtype, values, expected):
    source = pd.Series([], dtype=dtype)
    made = pd.Series(pandas_column(source.dtype, values, missing=None in list(values)))
    expected = pd.CategoricalDtype(["a", "b", "c"], ordered=True) if expected is None else expected
    pd.testing.assert_series_equal(made, pd.Series(list(values), dtype=expected))


def test_a_number_that_a_column_of_pandas_cannot_hold_is_not_cut_off():
    with pytest.raises((OverflowError, ValueError)):
        pandas_column(np.dtype("int8"), np.array([300]), missing=False)


def test_points_carry_what_the_model_does_not_read():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "name": ["a", "b", "c", "d"]})
    steps = ColumnTransformer([("numbers", "passthrough", ["size"])])
    model = make_pipeline(steps, LogisticRegression()).fit(frame, [0, 0, 1, 1])
    features = features_of(model, frame)
    table = read_table(features, frame[:2])
    points = np.repeat(table.values, 2, axis=0)
    assert table.for_model(points)["name"].tolist() == ["a", "b", "a", "b"]
    assert table.for_model(points[:3])["name"].tolist() == ["a", "a", "a"]
    none = read_table(features, frame[:0])
    assert none.write(none.values)["name"].tolist() == []


@pytest.mark.parametrize("as_array", [False, True])
def test_all_rows_in_their_order_are_the_table_itself(model, frame, as_array):
    table = read_table(features_of(model), frame.to_numpy()[:2] if as_array else frame[:2])
    assert table.take(np.array([0, 1])) is table
    for rows in (np.array([1, 0]), np.array([False, True]), np.array([0]), np.array([0, 1, 0])):
        np.testing.assert_array_equal(table.take(rows).values, frame.to_numpy()[:2][rows])


def test_rows_that_are_taken_have_the_types_of_their_table(model, frame):
    mixed = frame[:4].assign(**{NAMES[1]: [1, 2, 3, 4]}).astype({NAMES[0]: "float32"})
    table = read_table(features_of(model), mixed)
    before = table.take(np.array([2, 1]))
    assert table.single_features == [NAMES[0]]
    assert table.whole_features() == {1: True}
    after = table.take(np.array([2, 1]))
    for taken in (before, after):
        written = taken.write(taken.values)
        pd.testing.assert_frame_equal(written, mixed.iloc[[2, 1]])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, pd.DataFrame.to_numpy])
def test_rows_that_are_lent_are_those_that_are_taken(kind):
    frame = pd.DataFrame({"number": [1.5, 2.0, 7.0], "job": ["cook", "pilot", "clerk"]})
    encode = ColumnTransformer([("job", OneHotEncoder(handle_unknown="ignore"), [1])])
    encode.fit(kind(frame) if kind is pd.DataFrame.to_numpy else frame)
    source = kind(frame.assign(job=["diver", "cook", "clerk"]))  # no encoder knows the first job
    table = read_table(features_of(encode_of(encode), source), source)
    rows = np.array([0, 0, 2])
    lent, taken = table.lend(rows), table.take(rows)
    assert (lent.values == taken.values).all()
    assert lent.own_raw.tolist() == taken.own_raw.tolist()
    assert [str(row) for row in lent.own_raw[:, 1]] == ["diver", "diver", "clerk"]
    assert str(lent.write(lent.values)) == str(taken.write(taken.values))
    assert type(lent.source) is type(taken.source)


def encode_of(columns):
    """Return a pipeline that begins with these columns."""
    return make_pipeline(columns, LogisticRegression())
