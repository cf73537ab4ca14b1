"""What a newcomer passes in: a row, a mapping, gaps in the data, columns too many."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from palmerpenguins import load_penguins
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.exceptions import InputError
from tests.forgeries import refuted

NUMBERS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
CATEGORIES = ["island", "sex"]


@pytest.fixture(scope="module")
def penguins():
    """Penguins with their gaps: row 3 lacks all numbers and the sex."""
    table = load_penguins()
    return table[NUMBERS + CATEGORIES], table["species"]


@pytest.fixture(scope="module")
def model(penguins):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    steps = make_column_transformer((numbers, NUMBERS), (words, CATEGORIES))
    return make_pipeline(steps, LogisticRegression(max_iter=1000)).fit(*penguins)


@pytest.fixture(scope="module")
def explainer(model, penguins):
    return pertinent.Explainer(model, data=penguins[0])


def test_data_with_gaps_are_fine_where_the_model_fills_them(explainer, penguins, model):
    found = explainer.explain(penguins[0].iloc[[0, 3]])
    assert found.negative.status.tolist() == ["optimal", "optimal"]
    assert "was missing, read as" in found[1].text("long")
    strict = pertinent.Explainer(model, data=penguins[0], missing="error")
    with pytest.raises(InputError, match="missing='impute'"):
        strict.explain(penguins[0].iloc[[3]])
    plain = LogisticRegression(max_iter=1000).fit(penguins[0][NUMBERS].dropna(), np.arange(342) % 2)
    with pytest.raises(InputError, match="data has missing"):
        pertinent.Explainer(plain, data=penguins[0][NUMBERS])


@pytest.mark.parametrize("form", ["series", "mapping", "more columns", "other order"])
def test_one_sample_in_any_form_gets_the_same(explainer, penguins, form):
    row = penguins[0].iloc[[0]]
    given = {
        "series": row.iloc[0],
        "mapping": row.iloc[0].to_dict(),
        "more columns": row.assign(year=2007, note="ringed"),
        "other order": row[row.columns[::-1]],
    }[form]
    expected = explainer.explain(row)[0].text()
    if form == "more columns":
        with pytest.warns(UserWarning, match="Ignored columns of X .*: year, note"):
            assert explainer.explain(given)[0].text() == expected
    else:
        assert explainer.explain(given)[0].text() == expected


def test_columns_that_lack_are_named(explainer, penguins):
    with pytest.raises(InputError, match=r"X lacks the columns \['sex'\]"):
        explainer.explain(penguins[0].iloc[[0]].drop(columns="sex"))
    with pytest.raises(InputError, match="lacks the columns"):
        explainer.explain({"island": "Dream"})


def test_an_array_for_a_model_of_names_is_refused_with_the_line_to_write(explainer, penguins):
    with pytest.raises(InputError, match=r"pd.DataFrame\(X, columns=model.feature_names_in_\)"):
        explainer.explain(penguins[0].to_numpy()[:1])


@pytest.mark.parametrize("form", ["list", "dict"])
def test_several_samples_as_mappings_are_refused_with_the_line_to_write(explainer, penguins, form):
    rows = penguins[0].iloc[:2]
    given = rows.to_dict("records") if form == "list" else rows.to_dict("list")
    with pytest.raises(InputError, match=r"Write pd.DataFrame\(X\) instead"):
        explainer.explain(given)


def test_alternatives_of_a_sample_with_gaps_hold(model, penguins):
    X = penguins[0]
    explainer = pertinent.Explainer(model, data=X, missing="impute", alternatives=2)
    one = explainer.explain(X.iloc[[3]])[0]
    assert len(one.alternatives) == 2
    assert "instead of a missing value, read as" in one.text()
    assert pertinent.check(one.json(), model).ok


def test_a_missing_value_is_called_missing(model, penguins):
    X = penguins[0]
    explainer = pertinent.Explainer(model, data=X, missing="impute")
    explanation = explainer.explain(X.iloc[[3]])[0]
    text = explanation.text()
    assert "instead of a missing value, read as 43.9" in text
    assert "instead of 43.9" not in text
    features = {f["name"]: f for f in explanation.summary()["features"]}
    assert features["bill_length_mm"]["missing"]
    assert features["sex"]["missing"]
    assert "missing" not in features["island"]
    assert "(missing)" in explanation.html()
    stored = explanation.json()
    assert pertinent.check(stored, model).ok, str(pertinent.check(stored, model))
    assert pertinent.Explanation.from_json(stored).text() == text
    forged = json.loads(stored)
    forged["summary"]["features"][0]["missing"] = False
    assert refuted(forged, model)


def test_results_are_cut_and_compared(explainer, penguins):
    found = explainer.explain(penguins[0].iloc[[0, 1, 2]])
    some = found[1:]
    assert len(some) == 2
    assert [one.text() for one in some] == [found[1].text(), found[2].text()]
    assert pertinent.Explanation.from_json(found[0].json()) == found[0]
    assert found[0] != found[1]
    assert len({found[0], found[0], found[1]}) == 2


def test_an_explainer_says_what_it_is(explainer):
    assert repr(explainer).startswith("<Explainer of Pipeline: 6 features, 3 classes, ")


def test_a_series_keeps_its_numbers_as_they_are():
    X = pd.DataFrame({"a": [0.25, 1.5, 2.0, 3.25], "b": [1.0, 0.5, 4.0, 2.5]})
    model = LogisticRegression().fit(X, [0, 0, 1, 1])
    explainer = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None)
    one, row = explainer.explain(X.iloc[0]), explainer.explain(X.iloc[[0]])
    np.testing.assert_array_equal(one.negative.values, row.negative.values)


def test_a_column_that_the_model_does_not_use_gives_no_warning():
    """It has no limits: its infinite ends times no coefficient were no numbers."""
    rng, n = np.random.default_rng(0), 60
    size, weight = rng.integers(0, 40, n), rng.integers(0, 90, n)
    kind, year = rng.choice(["a", "b"], n), 2007 + rng.integers(0, 3, n)
    X = pd.DataFrame({"size": size, "weight": weight, "kind": kind, "year": year})
    y = np.where(size + weight / 3 + 10 * (kind == "a") > 40, "big", "small")
    numbers, words = (StandardScaler(), ["size", "weight"]), (OneHotEncoder(), ["kind"])
    model = make_pipeline(make_column_transformer(numbers, words), LogisticRegression()).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = pertinent.Explainer(model, data=X).explain(X.head(6))
    assert set(found.negative.status) == {"optimal"}
