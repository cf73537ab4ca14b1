"""Tables in single precision: 119.9 is 119.9, not what a float32 makes of it."""

import json

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from tests.strangers.judging import faults, judge
from tests.strangers.tables import penguins

MODELS = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
    "naive bayes": GaussianNB,
    "forest": lambda: RandomForestClassifier(20, max_depth=5, random_state=0),
    "bins": lambda: make_pipeline(
        KBinsDiscretizer(4, encode="onehot-dense"), LogisticRegression(max_iter=2000)
    ),
}
ROWS = [1, 60, 200, 330]


@pytest.fixture(scope="module")
def numbers():
    table = penguins()
    return table.X[table.numbers], table.y


def explained(X, y, model, rows=ROWS, **how):
    model = model.fit(X, y)
    explainer = pertinent.Explainer(model, data=X, **how)
    return explainer, explainer.explain(X.iloc[rows]), model


@pytest.mark.matrix(4)
@pytest.mark.parametrize("single", [4, 1], ids=["all", "some"])
@pytest.mark.parametrize("name", MODELS)
def test_the_steps_are_seen_and_what_is_printed_is_least(numbers, name, single):
    X, y = numbers
    X = X.astype(dict.fromkeys(X.columns[:single], np.float32))
    explainer, result, model = explained(X, y, MODELS[name]())
    assert "bill_length_mm keeps 1 decimal" in map(str, explainer.inferred)
    assert "bill_length_mm stays between 32.1 and 59.6" in map(str, explainer.inferred)
    found = judge(result, model, X, explainer.inferred)
    assert found["values"] >= 4
    assert not faults(found), found
    assert not found["about"]


def test_every_view_tells_decimals_that_read_back_as_the_same_numbers(numbers):
    X, y = numbers
    X = X.astype(np.float32)
    _, result, model = explained(X, y, MODELS["logistic"](), rows=[0, 60])
    told = result.to_frame(ranges=True)["negative.bill_length_mm"]
    assert told.tolist() == [round(value, 1) for value in told]
    for one in result:
        written = [one.json(), one.text("long"), one.html(), json.dumps(one.summary())]
        shown = json.loads(one.json())["summary"]
        assert not any("0001525" in text or "99984" in text for text in written[1:])
        for value in shown["negative"]["values"]:
            assert value["value"] == value["exact"] == round(value["value"], 1)
            ends = [value["range"]["low"], value["range"]["high"]]
            assert ends == [round(end, 1) for end in ends]
        point = np.array([shown["negative"]["point"]], dtype=np.float32)
        assert model.predict(X.iloc[:1].assign(**dict(zip(X, point.T, strict=True)))) == [
            shown["negative"]["target"]
        ]
        assert pertinent.check(one.json(), model).verdict == "holds"


@pytest.mark.parametrize("kind", ["numpy", "polars", "pyarrow"])
def test_tables_of_other_kinds(numbers, kind):
    X, y = numbers
    X = X.astype(np.float32)
    plain = X.to_numpy()
    model = MODELS["logistic"]().fit(plain, y)
    of_frame = pertinent.Explainer(model, data=plain).explain(plain[[1, 200]])
    if kind == "numpy":
        assert of_frame[0].summary()["negative"]["values"][0]["value"] * 10 % 1 == 0
        return
    columns = {name: X[name].to_numpy() for name in X}
    table = nw.from_dict(columns, backend=kind).to_native()
    own = pertinent.Explainer(model, data=table).explain(
        table[[1, 200]] if kind == "polars" else table.take([1, 200])
    )
    for one, other in zip(own, of_frame, strict=True):
        values = [[v["value"] for v in e.summary()["negative"]["values"]] for e in (one, other)]
        assert values[0] == values[1]


def test_missing_values_behind_an_imputer(numbers):
    X, y = numbers
    X = X.astype(np.float32)
    X.iloc[::7, 0] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=2000))
    explainer, result, model = explained(X, y, model, rows=[0, 7, 200], missing="impute")
    assert "bill_length_mm keeps 1 decimal" in map(str, explainer.inferred)
    found = judge(result, model, X, explainer.inferred)
    assert not faults(found), found
    assert all(pertinent.check(one.json(), model).verdict == "holds" for one in result)


def test_bounds_and_steps_given_by_hand_are_decimals_too(numbers):
    """As a float32, 0.3 is a little more than 0.3: it is allowed all the same."""
    X, y = numbers
    X = X.astype(np.float32)
    bounds, step = {"bill_length_mm": (40.1, 45.3)}, {"bill_depth_mm": 0.3}
    rules = pertinent.Constraints(bounds=bounds, step=step)
    _, result, _ = explained(X, y, MODELS["logistic"](), constraints=rules, rows=range(0, 300, 40))
    ends, depths = set(), []
    for one in result:
        for value in one.summary()["negative"]["values"]:
            if value["feature"] == "bill_length_mm":
                assert 40.1 <= value["value"] <= 45.3
                ends.add(value["value"])
            if value["feature"] == "bill_depth_mm":
                depths.append(value["value"])
    assert ends & {40.1, 45.3}
    assert all(round(depth * 10) % 3 == 0 for depth in depths)


def test_large_numbers_in_single_precision_have_no_steps_of_their_own():
    """Float32 of five million are half a unit apart: that is no step of the data."""
    rng = np.random.default_rng(0)
    X = rng.uniform(4.2e6, 8.3e6, (200, 1)).astype(np.float32)
    assert (X * 100 % 1 == 0).all()
    model = LogisticRegression().fit(X / 1e6, X[:, 0] > 6e6)
    model.coef_ /= 1e6
    explainer = pertinent.Explainer(model, data=X)
    assert not [rule for rule in explainer.inferred if rule.kind == "step"]


def test_ends_of_cells_are_the_next_number_in_single_precision():
    """Longitudes of -118 are 8e-6 apart: an end between two of them leaves the cell if rounded."""
    from vega_datasets import local_data

    table = local_data.la_riots()[["age", "longitude", "latitude", "type"]].dropna()
    X = table.drop(columns="type").astype(np.float32)
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    model = make_pipeline(StandardScaler(), tree)
    explainer, result, model = explained(X, table["type"].eq("Homicide"), model, range(0, 60, 3))
    assert (result.negative.status == "optimal").all()
    found = judge(result, model, X, explainer.inferred)
    assert not faults(found), found
    assert all(pertinent.check(one.json(), model).verdict == "holds" for one in result)


@pytest.fixture(scope="module")
def sums():
    """Return a table of which sums in single precision cannot tell the last digits apart."""
    X = np.random.default_rng(0).uniform(100, 101, (200, 3)).astype(np.float32)
    X = pd.DataFrame(X, columns=list("abc"))
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1000))
    model.fit(X, X["a"] + X["b"] > 201)
    return X, model, pertinent.Explainer(model, data=X, alternatives=2)


def test_a_value_that_is_only_about_is_not_said_to_be_the_smallest(sums):
    """Sums in single precision cannot tell 100.728 from 100.727: every sentence says so."""
    X, model, explainer = sums
    one, *_ = result = explainer.explain(X.iloc[[0, 2]])
    about, plain = (each.summary()["negative"]["values"] for each in result)
    assert about[0]["about"]
    assert "about" not in plain[0]
    for told in (one.text("short"), one.text("long"), one.html(), repr(one)):
        assert "smallest change)" not in told
        assert "no smaller change" not in told
        assert "but for rounding in single precision" in told
    assert "a about 100.728" in one.text()
    assert "no smaller change that the rules allow does" in result[1].text()
    assert pertinent.check(one.json(), model).verdict == "holds"


def test_alternatives_and_menus_say_about_as_the_answer_does(sums):
    X, _, explainer = sums
    judged = 0
    for one in explainer.explain(X.iloc[:20]):
        told = [v for other in one.summary()["negative"]["alternatives"] for v in other["values"]]
        text = one.text("long")
        for value in told:
            about = "about " if value.get("about") else ""
            assert f"{value['feature']} {about}{value['value']:.10g}" in text
            judged += value.get("about", False)
    menu = explainer.menu(X.iloc[[0]])
    assert [lever.about for lever in menu if lever.features == ("a",)] == [("a",)]
    assert "a about 100.728 instead of" in menu.text()
    assert judged


def test_cuts_of_one_tree_on_whole_numbers_are_answers():
    """No margin is taken from a cut beside a category: 220 does, and 219 would be a step more."""
    rng = np.random.default_rng(0)
    size, air = rng.integers(100, 400, 300), rng.choice(["yes", "no"], 300)
    X = pd.DataFrame({"size": size.astype(np.float32), "air": air})
    columns = make_column_transformer(
        (StandardScaler(), ["size"]), (OneHotEncoder(handle_unknown="ignore"), ["air"])
    )
    tree = DecisionTreeClassifier(max_depth=6, random_state=0)
    y = (size // 37) % 2 == (air == "yes")
    _, result, model = explained(X, y, make_pipeline(columns, tree), range(60))
    told = [value for one in result for value in one.summary()["negative"]["values"]]
    about = sum(value.get("about", False) for value in told)
    assert pertinent.check(result[12].json(), model).verdict == "holds"
    assert about <= 5  # a scaler in single precision moves some cuts past a whole number
