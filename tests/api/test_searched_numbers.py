"""Any regressor with a predict, by search: a range is reached, and nothing is called proved."""

import json
import warnings
from functools import cache

import jsonschema
import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor, StackingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X = X[["age", "bmi", "bp", "s5"]]
ROWS = X.iloc[[22, 5, 7]]


class Hidden:
    """An object that can do nothing but predict numbers."""

    def __init__(self, model):
        self.model = model

    def predict(self, table):
        return self.model.predict(table)


MODELS = {
    "network": lambda: make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(6,), solver="lbfgs", max_iter=80, random_state=0),
    ),
    "kernel": lambda: make_pipeline(StandardScaler(), SVR(C=100)),
    "neighbours": lambda: KNeighborsRegressor(5),
    "stack": lambda: StackingRegressor([("a", Ridge()), ("b", KNeighborsRegressor(9))], cv=2),
    "logarithm": lambda: TransformedTargetRegressor(
        make_pipeline(StandardScaler(), SVR()), func=np.log, inverse_func=np.exp
    ),
}


@cache
def fitted(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few rounds are enough
        return MODELS[name]().fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_points_are_predicted_within_the_range(name):
    model = fitted(name)
    explainer = pertinent.Explainer(
        model, data=X, constraints=pertinent.Constraints(frozen=["age"]), search=True
    )
    low, high = 120.0, 135.0
    result = explainer.explain(ROWS, target=(low, high))
    here = np.asarray((model.predict(ROWS) >= low) & (model.predict(ROWS) <= high))
    assert (result.negative.status == np.where(here, "already", "feasible")).all()
    reached = model.predict(result.negative.points[~here])
    assert ((reached >= low) & (reached <= high)).all()
    assert (result.negative.points["age"] == ROWS["age"])[~here].all()
    kept = model.predict(result.positive.points)
    assert (np.sign(kept - low) == np.sign(model.predict(ROWS) - low)).all()
    assert ((kept <= high) == (model.predict(ROWS) <= high)).all()
    assert set(result.positive.status) == {"feasible"}
    assert not result.positive.bound.any()
    assert pertinent.check(result[0].json(), model).verdict == "holds"


def test_a_search_comes_close_to_the_smallest_change():
    model = make_pipeline(StandardScaler(), Ridge()).fit(X, y)
    smallest = pertinent.pertinent_negatives(model, ROWS, (140, None), data=X)
    hidden = pertinent.RangeClassifier(Hidden(model), 140, None)
    found = pertinent.pertinent_negatives(hidden, ROWS, "140 or more", data=X, search=True)
    here = smallest.found
    assert (found.objective[here] >= smallest.objective[here] * (1 - 1e-9)).all()
    assert (found.objective[here] <= smallest.objective[here] * 1.01).all()


def test_a_regressor_that_is_read_is_explained_as_without_search():
    model = RandomForestRegressor(3, max_depth=3, random_state=0).fit(X, y)
    plain = pertinent.Explainer(model, data=X).explain(ROWS, target=(140, None))
    asked = pertinent.Explainer(model, data=X, search=True).explain(ROWS, target=(140, None))
    assert set(asked.negative.status) <= {"optimal", "already"}
    assert [one.json() for one in asked] == [one.json() for one in plain]


def test_functions_take_a_range():
    model = fitted("kernel")
    found = pertinent.pertinent_negatives(model, ROWS, (160, None), data=X, search=True)
    assert (model.predict(found.points[found.found]) >= 160).all()
    with pytest.raises(InputError, match="RangeClassifier"):
        pertinent.pertinent_positives(model, ROWS, data=X, search=True)


def test_views_say_the_numbers_and_that_nothing_is_proved():
    model = fitted("kernel")
    [one] = pertinent.Explainer(model, data=X, search=True).explain(ROWS[:1], target=(140, None))
    for said in (one.text(), one.text("short"), one.text("long"), one.html()):
        assert "found, not proved" in said.lower()
        assert "Proved smallest" not in said
        assert "140 or more" in said
    summary = one.document()["summary"]
    assert summary["probability"]["kind"] == "value"
    assert summary["probability"]["after"] >= 140
    jsonschema.validate(one.document(), pertinent.json_schema())


def test_stored_explanations_are_judged_by_the_range_and_claim_no_proof():
    model = fitted("network")
    result = pertinent.Explainer(model, data=X, search=True).explain(ROWS[:1], target=(140, None))
    stored = result[0].json()
    for whose in (model, pertinent.RangeClassifier(model), result.asked.setting.model):
        assert pertinent.check(stored, whose).verdict == "holds"
    forged = json.loads(stored)
    forged["proof"]["question"]["range"] = [141.0, None]
    assert pertinent.check(forged, model).verdict == "refuted"
    forged = json.loads(stored)
    forged["summary"]["negative"]["status"] = "optimal"
    assert pertinent.check(forged, model).verdict == "refuted"
    forged = json.loads(stored)
    del forged["proof"]["question"]["search"]
    with pytest.raises(UnsupportedModelError, match="MLPRegressor is not supported"):
        pertinent.check(forged, model)
    with pytest.raises(InputError, match="no regressor"):
        pertinent.check(stored, LogisticRegression().fit(X, y > 140))


def test_an_object_that_predicts_numbers():
    hidden = Hidden(fitted("kernel"))
    with pytest.raises(InputError, match="predicts numbers such as"):
        pertinent.Explainer(hidden, data=X, search=True)
    explainer = pertinent.Explainer(pertinent.RangeClassifier(hidden), data=X, search=True)
    result = explainer.explain(ROWS[:1], target=(140, 160))
    assert 140 <= hidden.predict(result.negative.points)[0] <= 160
    assert pertinent.check(result[0].json(), hidden).verdict == "holds"


def test_without_search_there_are_three_lines():
    for name, said in {"network": "MLPRegressor", "kernel": "SVR", "stack": "Stacking"}.items():
        with pytest.raises(UnsupportedModelError) as raised:
            pertinent.Explainer(fitted(name), data=X)
        what, why, instead = str(raised.value).splitlines()
        assert said in what
        assert what.endswith("is not supported.")
        assert why.startswith("Why there is no exact answer: ")
        assert instead.startswith("What to do: search=True finds answers")
        assert "HistGradientBoostingRegressor" in instead
    with pytest.raises(UnsupportedModelError) as raised:
        pertinent.Explainer(fitted("neighbours"), data=X)
    assert len(str(raised.value).splitlines()) == 3
    assert "RangeClassifier" not in str(raised.value)
