"""One file for each single way to be read: what it says is taken as it is, or refused."""

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from forgeries import tampered
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pertinent
from pertinent.exceptions import InputError

X, y = load_iris(return_X_y=True)
QUESTION = ("proof", "question")


def stored(model, data, row, **how):
    explainer = pertinent.Explainer(model, data=data, limits_from=None, steps_from=None, **how)
    return json.loads(explainer.explain(data[row : row + 1])[0].json())


def test_names_are_taken_as_given_where_the_model_has_none(iris):
    model, data = iris
    names = ["a", "b", "c", "d"]
    document = tampered(stored(model, data, 60), (*QUESTION, "features"), names)
    found = pertinent.check(document, model).findings
    assert found[0].verdict == "holds"


def test_typical_values_may_be_negative():
    model = LogisticRegression(max_iter=1000).fit(X - 10, y)
    document = stored(model, X - 10, 60)
    assert max(document["proof"]["question"]["baseline"]["values"]) < 0
    assert pertinent.check(document, model).ok


@pytest.fixture(scope="module")
def frame():
    data = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = LogisticRegression(max_iter=1000).fit(data, y)
    return model, stored(model, data, 60)


def test_numbers_of_a_frame_keep_their_digits(frame):
    """5.9 in single precision is another number, and that of another question."""
    model, document = frame
    assert pertinent.check(document, model).ok
    assert not document["proof"]["question"]["single_precision"]


def test_a_number_that_may_not_be_missing_is(frame):
    model, document = frame
    with pytest.raises(InputError):
        pertinent.check(tampered(document, (*QUESTION, "sample", 0), None), model)


@pytest.fixture(scope="module")
def letters():
    """Two columns of letters, of which one lacks some, and a model that reads None as a letter."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "c": rng.choice(["x", "y", "z"], 120),
            "d": pd.Series(rng.choice(np.array(["u", "v", None], object), 120), dtype=object),
        }
    )
    data.loc[0, ["a", "c", "d"]] = [0.1, "z", None]
    y = 2 * data["a"] + (data["c"] == "x") > 0.5
    columns = make_column_transformer(("passthrough", ["a"]), (OneHotEncoder(), ["c", "d"]))
    model = make_pipeline(columns, LogisticRegression()).fit(data, y)
    return model, stored(model, data, 0)


def test_a_letter_that_is_missing_is_no_number(letters):
    model, document = letters
    assert document["proof"]["question"]["sample"] == [0.1, "z", None]
    assert pertinent.check(document, model).ok


@pytest.fixture(scope="module")
def gaps():
    """A file about four columns that may be missing, and a model of the same kind."""
    data = X.copy()
    data[::7] = np.nan
    model = HistGradientBoostingClassifier(max_iter=1, random_state=0).fit(data, y)
    file = Path(__file__).parent / "stored" / "format2-later" / "missing-allowed.json"
    return model, json.loads(file.read_text("utf-8"))


@pytest.mark.parametrize(
    "said",
    [
        None,
        [1.0, 2.0, 3.0, 4.0],
        {"x0": 1.0, "x1": 1.0, "x2": 1.0},
        {"x0": 1.0, "x1": 1.0, "x2": 1.0, "x3": 1.0, "x4": 1.0},
        {"x0": 1.0, "x1": 1.0, "x2": 1.0, "x3": "1"},
        {"x0": 1.0, "x1": 1.0, "x2": 1.0, "x3": True},
        {"x0": 1.0, "x1": 1.0, "x2": 1.0, "x3": np.inf},
    ],
)
def test_missing_values_stand_somewhere(gaps, said):
    model, document = gaps
    assert set(document["proof"]["question"]["missing_at"]) == {"x0", "x1", "x2", "x3"}
    with pytest.raises(InputError, match="does not say where missing values of the model stand"):
        pertinent.check(tampered(document, (*QUESTION, "missing_at"), said), model)


@pytest.mark.parametrize("said", ["a", ["a", "e"], {"a": 1}])
def test_values_are_missing_of_features_that_there_are(frame, said):
    model, document = frame
    with pytest.raises(InputError, match="lacks values of features that there are not"):
        pertinent.check(tampered(document, (*QUESTION, "missing_features"), said), model)


def test_a_value_that_is_there_is_not_shown_as_missing(frame):
    model, document = frame
    forged = tampered(document, ("summary", "features", 0, "missing"), True)
    found = {f.claim: f.verdict for f in pertinent.check(forged, model).findings}
    assert found["what is shown is what was checked"] == "refuted"


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_the_point_of_the_first_phase_is_of_the_class_and_keeps_the_margin(iris, margin):
    """The base values are of another class; those of a smaller margin are not deep enough."""
    model, data = iris
    document = stored(model, data, 130, margin=margin)
    assert pertinent.check(document, model).ok
    if margin:
        point = stored(model, data, 130, margin=0.0)["proof"]["positive"]["sparse_values"]["values"]
    else:
        point = document["proof"]["question"]["baseline"]["values"]
    where = ("proof", "positive", "sparse_values", "values")
    forged = tampered(document, where, point)
    found = {f.claim: f.verdict for f in pertinent.check(forged, model).findings}
    assert found["what was enough: its details are as said"] == "refuted"


# -- Ranges --------------------------------------------------------------------------------------


def test_a_range_of_no_answer_is_refuted(iris):
    model, data = iris
    document = stored(model, data, 60)
    negative = document["proof"]["negative"]
    negative["status_code"]["values"], negative["values"]["values"] = [3], ["nan"] * 4
    found = {f.claim: f.verdict for f in pertinent.check(document, model).findings}
    assert found["each value of what would have changed it may move within its range"] == "refuted"


def test_a_range_of_a_value_that_nobody_chose_is_refuted(iris):
    """It may move that far, too; but nothing was said to change it."""
    model, data = iris
    document = stored(model, data, 60)
    room = document["proof"]["ranges"]["negative"]
    still = document["proof"]["negative"]["changed"]["values"].index(False)
    value = document["proof"]["question"]["sample"][still]
    for part in ("spans", "box"):
        forged = copy.deepcopy(document)
        one = copy.deepcopy(room["spans"][0])
        one["column"], one["ends"]["values"] = still, [value, value]
        forged["proof"]["ranges"]["negative"] = {**room, "spans": [], "box": [], part: [one]}
        found = pertinent.check(forged, model).findings
        verdicts = [one.verdict for one in found if "changed it may move" in one.claim]
        assert verdicts == ["refuted"], part


def test_categories_of_a_feature_that_nobody_changed_are_refuted(letters):
    """With "x" or "z" in it the answer keeps its class; but nothing was said to change it."""
    model, document = letters
    negative = document["proof"]["negative"]
    assert negative["changed"]["values"] == [True, False, False]
    forged = copy.deepcopy(document)
    forged["proof"]["ranges"]["negative"]["choices"] = [{"feature": 1, "places": [0, 2]}]
    found = {f.claim: f.verdict for f in pertinent.check(forged, model).findings}
    assert found["the categories of what would have changed it are as said"] == "refuted"


@pytest.fixture(scope="module")
def ranged():
    model = pertinent.RangeClassifier(Ridge().fit(X, X[:, 3]), 1.0, 1.6)
    return model, stored(model, X, 55)


def test_a_range_is_asked_of_a_regressor_only(ranged, iris):
    model, data = iris
    document = tampered(stored(model, data, 60), (*QUESTION, "range"), [1.0, 1.6])
    with pytest.raises(InputError, match="LogisticRegression is no regressor"):
        pertinent.check(document, model)


def test_a_regressor_is_asked_about_a_range(ranged):
    model, document = ranged
    assert pertinent.check(document, model.regressor).ok
    with pytest.raises(InputError, match="does not say which range"):
        pertinent.check(tampered(document, (*QUESTION, "range"), None), model)


def test_the_classes_are_those_of_the_range(ranged):
    model, document = ranged
    told = copy.deepcopy(document["proof"]["question"]["classes"])
    told["values"] = told["values"][::-1]
    [found] = pertinent.check(tampered(document, (*QUESTION, "classes"), told), model).findings
    assert (found.verdict, found.claim) == (
        "refuted",
        "the classes are those of the range asked for",
    )
