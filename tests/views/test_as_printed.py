"""Ranges are shown where they hold beside the other values as these are printed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import pertinent
from pertinent.setting.ranges import Room, Span
from pertinent.summary.ranges.as_printed import as_printed
from pertinent.summary.summary import asked_of
from pertinent.views.phrases import new_value, told_together

TARGET = 1
EXACT = np.array([[0.5049, 0.4960]])
STEPS = np.array([0.01, 0.01])


@pytest.fixture(scope="module")
def asked():
    """Return what is asked of a model that predicts 1 where x0 + x1 > 1."""
    model = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([[1.0, 1.0]]), np.array([-1.0])
    found = pertinent.Explainer(model).explain(np.array([[0.2, 0.2]]))
    return asked_of(found).setting, found.table


@pytest.mark.parametrize(
    ("printed", "spans"),
    [
        # The end 0.4951 of x1 is printed as 0.50: 0.51 + 0.50 > 1, and 0.50 + 0.50 is not.
        ([0.51, 0.50], 1),
        ([0.50, 0.51], 0),
        # A printed value outside of its own range says nothing.
        ([0.52, 0.49], 0),
        # Printed as it is: the range was proved.
        ([0.5049, 0.4960], 1),
    ],
)
def test_ends_hold_beside_printed_values(asked, printed, spans):
    setting, table = asked
    room = Room(spans=(Span(1, 0.4951, np.inf),))
    points = np.array([printed]), EXACT
    [shown] = as_printed(setting, table, np.array([TARGET]), points, [room], STEPS)
    assert len(shown.spans) == spans


def test_categories_hold_beside_printed_values():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["u", "v"], 60)})
    steps = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    model = make_pipeline(steps, LogisticRegression()).fit(X, (X.a + (X.b == "u")) > 0.5)
    found = pertinent.Explainer(model, data=X).explain(X[:1])
    setting, table = asked_of(found).setting, found.table
    room = Room(choices={1: (0, 1)})
    columns = np.array([[0.0, 1.0, 0.0]])
    for value, both in ((9.0, True), (0.5, False)):  # far out, the category does not matter
        points = columns + np.array([value, 0, 0]), columns + np.array([value + 1e-3, 0, 0])
        given = (np.array([1]), points, [room], np.full(3, 0.01))
        [shown] = as_printed(setting, table, *given)
        assert (shown.choices == room.choices) is both


def test_no_side_of_a_box_is_told_in_place_of_a_printed_value():
    """The box ends at 314.66: "314 or less" would be told of the 314.7 that was found."""
    feature = {"text": "capital", "unit": None, "sample": 342.1}
    ends = {"low_end": {"kind": "open"}, "high_end": {"kind": "class"}}
    side = {"low": None, "high": 314.0, "exact_low": None, "exact_high": 314.66, **ends}
    told = told_together([{"value": 314.7, "box": side}, {"value": 673.0, "box": side}])
    assert [new_value(feature, entry) for entry in told] == ["314.7", "673"]


def _full_precision(scale):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": scale * rng.normal(5, 1, 80), "b": rng.normal(size=80)})
    return X, (X.a / scale + X.b) > 5


def _changes(one):
    return {v["feature"]: v["value"] for v in one.summary()["negative"]["values"]}


def test_large_numbers_are_told_to_the_unit():
    """440,000 with "no smaller change does" is wrong where 440,001 does as well."""
    X, y = _full_precision(1e6)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    for i, one in enumerate(pertinent.Explainer(model, data=X).explain(X[:20])):
        changes = _changes(one)
        if "a" in changes:
            closer = changes["a"] - np.sign(changes["a"] - X.a[i])
            there = X[i : i + 1].assign(**changes)
            back = there.assign(a=closer)
            assert model.predict(there) != model.predict(X[i : i + 1]) == model.predict(back)


def test_a_value_just_before_an_edge_is_printed_before_it():
    """The double before a bin's edge 5.1 was told as "about 5.1", which lies behind it."""
    X, y = _full_precision(1.0)
    bins = KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform").fit(X)
    bins.bin_edges_[0] = np.array([2.0, 4.3, 5.1, 6.7, 9.0])
    last = LogisticRegression().fit(bins.transform(X), y)
    model = make_pipeline(bins, last)
    for i, one in enumerate(pertinent.Explainer(model, data=X).explain(X[:30])):
        assert "about" not in one.text()
        told = model.predict(X[i : i + 1].assign(**_changes(one)))
        assert told == one.summary()["negative"]["target"]


def test_the_value_one_step_closer_is_the_number_that_is_written():
    """5.43 + 0.01 is a double below the edge 5.44; nobody would try it."""
    X, y = _full_precision(1.0)
    X, edge = X.assign(b=(X.b + 5.44).round(2)), 5.44
    bins = KBinsDiscretizer(2, encode="onehot-dense", strategy="uniform").fit(X)
    bins.bin_edges_[0], bins.bin_edges_[1] = np.array([0.0, 5.1, 9.0]), np.array([0.0, edge, 9.0])
    model = make_pipeline(bins, LogisticRegression().fit(bins.transform(X), y))
    model[-1].coef_, model[-1].intercept_ = np.array([[0.0, 1.0, 0.0, 1.0]]), np.array([-0.5])
    high = np.flatnonzero((X.a > 5.1) & (X.b >= edge))[:3]
    for one in pertinent.Explainer(model, data=X).explain(X.iloc[high]):
        assert _changes(one) == {"a": 5.099, "b": 5.43}


def test_a_value_on_the_edge_of_a_bin_moves_as_far_as_others():
    """It moved by one rounding: "about 2 instead of 2", which as printed changes nothing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80).round() + 1 / 3})
    bins = KBinsDiscretizer(4, encode="onehot-dense").fit(X)
    model = make_pipeline(bins, LogisticRegression()).fit(X, X.a + X.b > 0.5)
    explainer, some = pertinent.Explainer(model, data=X), X.iloc[:30]
    least = {rule.feature: rule.numbers[0] for rule in explainer.inferred if rule.kind == "change"}
    on_edge, result = np.isin(some.b, bins.bin_edges_[1]), explainer.explain(some)
    assert (result.negative.status == "optimal").all()
    for i, one in enumerate(result):
        assert "about" not in one.text()
        told = _changes(one)
        assert model.predict(some[i : i + 1].assign(**told)) == one.summary()["negative"]["target"]
        assert all(abs(told[name] - some[name][i]) > 0.999 * least[name] for name in told)
    assert (on_edge & result.negative.changed[:, 1]).any()


def test_a_number_beside_what_was_filled_in_keeps_its_smallest_change():
    """68.4873 is filled in, and an edge: 68.4 is no reason to leave the others unrounded."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(5, 1, 80), "b": rng.normal(40, 9, 80).round(1)})
    X.loc[::4, "b"] = np.nan
    bins = KBinsDiscretizer(2, encode="onehot-dense", strategy="uniform")
    model = make_pipeline(SimpleImputer(), bins, LogisticRegression()).fit(X, X.a > 5)
    mean = model[0].statistics_[1]
    model[1].bin_edges_[0] = np.array([2.0, 5.1, 9.0])
    model[1].bin_edges_[1] = np.array([9.0, mean, 90.0])
    model[2].coef_, model[2].intercept_ = np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([-1.5])
    gone = X[X.b.isna() & (X.a > 5.1)][:3]
    assert len(gone)
    for one in pertinent.Explainer(model, data=X, missing="impute").explain(gone):
        assert "about" not in one.text()
        a, b = one.summary()["negative"]["values"]
        assert a["value"] in (5.099, 5.0999)
        assert mean - 0.2 < b["value"] < mean - 0.09
        assert b["range"]["high_end"]["kind"] == "rule"
