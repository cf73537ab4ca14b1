"""Where the base values have the class already, another answer is told; each kind is true."""

from __future__ import annotations

import pickle
from itertools import count

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.api import instead
from pertinent.geometry import running
from pertinent.setting import effort
from pertinent.solvers.search import engine
from pertinent.views.phrases import typical

NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    return pd.DataFrame(X, columns=NAMES), names[y]


@pytest.fixture(scope="module")
def linear(iris):
    """Return a linear model, and the explanations of all rows."""
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return model, pertinent.Explainer(model, data=X).explain(X)


def empty(result):
    return [i for i, told in enumerate(result.instead(list(range(len(result))))) if told]


def test_a_sufficient_answer_holds_whatever_the_others_are(iris, linear):
    (X, _), (model, result) = iris, linear
    rows = [i for i in empty(result) if result[i].basis == "sufficient"]
    assert len(rows) > 20
    low, high, rng = X.min().to_numpy(), X.max().to_numpy(), np.random.default_rng(0)
    for i in rows:
        points = np.round(rng.uniform(low, high, size=(500, 4)), 1)
        points = np.where(rng.random((500, 4)) < 0.3, low, points)
        for name, value in result[i].kept.items():
            assert value == X.loc[i, name]
            points[:, NAMES.index(name)] = value
        assert (model.predict(pd.DataFrame(points, columns=NAMES)) == y_of(model, X, i)).all()


def y_of(model, X, i):
    return model.predict(X.iloc[[i]])[0]


def test_no_fewer_values_are_sufficient(iris, linear):
    """A grid of all corners of the data finds a counterexample for every smaller set."""
    (X, _), (model, result) = iris, linear
    corners = np.array(np.meshgrid(*[(X[n].min(), X[n].max()) for n in NAMES])).reshape(4, -1).T
    rows = [i for i in empty(result) if result[i].basis == "sufficient"]
    for i in rows:
        kept = list(result[i].kept)
        for left_out in kept:
            points = pd.DataFrame(corners, columns=NAMES)
            for name in kept:
                if name != left_out:
                    points[name] = X.loc[i, name]
            assert (model.predict(points) != y_of(model, X, i)).any()


def test_a_curved_model_is_compared_with_the_contrast_class(iris):
    X, y = iris
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    some = X[::4]
    result = pertinent.Explainer(model, data=X).explain(some)
    rows = empty(result)
    assert rows
    assert {result[i].basis for i in rows} == {"contrast"}
    own = model.predict(some)
    for i in rows:
        told = result[i].summary()["positive"]["instead"]
        usual = X[model.predict(X) == told["class"]].median().round(1)
        assert told["class"] == result[i].target
        assert told["baseline"] == pytest.approx(usual.tolist(), abs=0.051)
        assert model.predict(pd.DataFrame([told["baseline"]], columns=NAMES))[0] == told["class"]
        assert model.predict(pd.DataFrame([told["point"]], columns=NAMES))[0] == own[i]
        rest = [j for j, name in enumerate(NAMES) if name not in result[i].kept]
        assert [told["point"][j] for j in rest] == [told["baseline"][j] for j in rest]


def test_without_data_the_explanation_rests_on_the_negative(iris):
    X, y = iris
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    explainer = pertinent.Explainer(model, baseline=dict(zip(NAMES, X.median(), strict=True)))
    result = explainer.explain(X[::4])
    rows = empty(result)
    assert {result[i].basis for i in rows} == {"negative"}
    one = result[rows[0]]
    assert one.kept == {}
    assert "This explanation rests on what would have changed it." in one.text()
    assert pertinent.check(one.json(), model).ok


def test_nothing_is_said_of_rules_where_there_are_none(iris):
    X, y = iris
    models = (
        LogisticRegression(max_iter=1000),
        QuadraticDiscriminantAnalysis(),
        DecisionTreeClassifier(max_depth=3, random_state=0),
    )
    for model in models:
        explainer = pertinent.Explainer(
            model.fit(X, y), data=X, limits_from=None, steps_from=None, rare=0
        )
        result = explainer.explain(X[::10])
        assert explainer.asked.setting.constraints == pertinent.Constraints()
        for length in ("short", "medium", "long"):
            assert not [one.row for one in result if "rules" in one.text(length)]
        assert "rules" not in result.text()


def test_words_that_the_model_does_not_look_at_are_not_fixed_by_rules(iris):
    X, y = iris
    table = X.assign(garden="north", label=[f"flower {i}" for i in range(len(X))])
    model = make_pipeline(
        make_column_transformer(("passthrough", list(X))), LogisticRegression(max_iter=1000)
    ).fit(table, y)
    result = pertinent.Explainer(model, data=table).explain(table[50:150:25])
    told = [result[i] for i in empty(result)]
    found = [one for one in told if one.basis == "sufficient"]
    assert found
    assert not [one.row for one in found if "rules fix" in one.text()]
    rest = len(table.columns) - len(found[0].summary()["positive"]["instead"]["values"])
    assert found[0].summary()["positive"]["instead"]["free"] == rest
    assert pertinent.check(found[0].json(), model).ok


def test_rules_are_named_where_they_fix_something(iris):
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    rules = pertinent.Constraints(frozen=["petal length"])
    result = pertinent.Explainer(model, data=X, constraints=rules).explain(X)
    rows = empty(result)
    assert "with what the rules fix," in result.text()
    assert any(result.positive.kept[rows].any(axis=1))
    for i in rows:
        assert "petal length" not in result[i].kept or result[i].basis != "sufficient"
        if result[i].basis == "sufficient":
            assert "beside what the rules fix" in result[i].text()


def test_bulk_answers_are_the_paper_s_and_cost_no_search(iris, monkeypatch):
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    asked = []
    monkeypatch.setattr(instead, "positives_of", lambda *a: asked.append(a))
    result = pertinent.Explainer(model, data=X).explain(X)
    frame = result.to_frame()
    assert (frame["kept"] == "")[result.positive.trivial].all()
    assert "basis" not in frame.columns
    result.text(), result.summary()
    assert not asked


def test_a_table_can_hold_what_is_told_instead(iris, linear):
    (X, _), (_, result) = iris, linear
    frame = result.to_frame(instead=True)
    for i in range(0, len(X), 7):
        assert frame["basis"].iloc[i] == result[i].basis
        assert frame["enough"].iloc[i] == ", ".join(result[i].kept)


def test_the_company_of_a_row_changes_nothing(iris, monkeypatch):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=10000).fit(X, y)
    explainer = pertinent.Explainer(model, data=X)
    together = explainer.explain(X[:80])
    rows = empty(together)
    alone = [explainer.explain(X[i : i + 1])[0] for i in rows[:6]]
    # All at once is always too much work: each row is asked by itself.
    asked = instead._sufficient
    monkeypatch.setattr(instead, "_sufficient", lambda *some: (asked(*some)[0], False))
    one_by_one = explainer.explain(X[:80])
    for i, single in zip(rows, alone, strict=False):
        assert together[i].json() == one_by_one[i].json()
        assert together[i].document()["proof"] == single.document()["proof"]


def test_results_that_travel_hold_no_data(iris):
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = pertinent.Explainer(model, data=X)
    result = explainer.explain(X[50:60])
    again = pickle.loads(pickle.dumps(result))
    assert type(again.asked.typical) is dict
    assert [one.json() for one in again] == [one.json() for one in result]


def test_keeping_off_the_positive_is_not_said_of_what_stands_in(iris):
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    result = pertinent.Explainer(model, data=X, overlap="avoid").explain(X)
    for i in empty(result):
        assert "enough above" not in result[i].text()


def test_values_close_to_the_typical_ones_are_not_the_typical_ones(iris):
    """With a tolerance nothing may count as kept, and yet the base values be of another class."""
    X, y = iris
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, off_tol=3.0)
    result = explainer.explain(X)
    base = pd.DataFrame([explainer.question.baseline], columns=NAMES)
    others = [i for i in range(len(X)) if not result.positive.kept[i].any()]
    others = [i for i in others if y_of(model, X, i) != model.predict(base)[0]]
    assert others
    assert not set(others) & set(empty(result))
    for i in others[:5]:
        assert result[i].basis == "typical"
        assert "as well" not in result[i].text()


def test_no_rule_is_said_to_fix_what_is_typical():
    """Both values are the typical ones, and nothing but the model asks for them."""
    people = pd.DataFrame({"age": ["adult", "adult", "child"] * 30, "sex": ["man", "woman"] * 45})
    people["class"] = np.random.default_rng(0).choice(["1st", "2nd", "3rd"], 90)
    y = np.where((people["age"] == "adult") & (people["sex"] == "man"), "no", "yes")
    columns = make_column_transformer((OneHotEncoder(), ["age", "sex", "class"]))
    model = make_pipeline(columns, LogisticRegression()).fit(people, y)
    explainer = pertinent.Explainer(model, data=people, baseline={"age": "adult", "sex": "man"})
    one = explainer.explain(people.head(1))[0]
    assert one.basis == "sufficient"
    for length in ("short", "medium", "long"):
        assert "the rules fix" not in one.text(length)
        assert "age “adult” (typical “adult”) and sex “man” (typical “man”)" in one.text(length)
    assert pertinent.check(one.json(), model).ok


def test_what_is_told_does_not_depend_on_the_clock(monkeypatch):
    """A busy machine may take minutes for what is a few rounds of a search."""
    X, y = load_wine(return_X_y=True)
    explainer = pertinent.Explainer(DecisionTreeClassifier(random_state=0).fit(X, y), data=X)
    quiet = explainer.explain(X[::5])
    rows = empty(quiet)
    ticks = count(10**9, 3600)
    for module in (running, effort, engine):
        monkeypatch.setattr(module, "monotonic", lambda: float(next(ticks)))
    busy = explainer.explain(X[::5])
    assert {busy[i].basis for i in rows} == {"sufficient"}
    assert [busy[i].summary() for i in rows] == [quiet[i].summary() for i in rows]


@pytest.mark.parametrize("looks", [10, 20, 60])
def test_work_that_is_cut_off_is_cut_off_in_any_company(monkeypatch, looks):
    X, y = load_wine(return_X_y=True)
    explainer = pertinent.Explainer(DecisionTreeClassifier(random_state=0).fit(X, y), data=X)
    monkeypatch.setattr(instead, "LOOKS", looks)
    together, alone = explainer.explain(X[::5]), explainer.explain(X[::5])
    rows = empty(together)
    told = [alone.instead([row])[0].basis.value for row in rows]
    assert [together.instead([row])[0].basis.value for row in rows] == told
    assert set(told) <= {"sufficient", "contrast"}
    assert ("contrast" in told, "sufficient" in told) == (looks < 60, looks > 10)


def test_one_row_asks_the_model_once_for_what_suffices(iris, linear, monkeypatch):
    """The worst cases and the point that is handed out go to ``predict`` together."""
    (X, _), (model, result) = iris, linear
    row = next(i for i in empty(result) if result[i].basis == "sufficient")
    alone, calls = pertinent.Explainer(model, data=X).explain(X.iloc[[row]]), []
    predict = LogisticRegression.predict

    def counted(self, points):
        calls.append(len(points))
        return predict(self, points)

    monkeypatch.setattr(LogisticRegression, "predict", counted)
    [told] = alone.instead([0])
    assert told.basis == "sufficient"
    assert len(calls) == 1
    assert list(alone[0].kept.items()) == list(result[row].kept.items())


def test_a_number_that_names_a_class_is_quoted_before_a_value():
    summary = {"positive": {"basis": "contrast", "class": 0, "class_text": None}}
    assert typical(summary) == "typical “0”"
    summary["positive"]["class_text"] = "refused"
    assert typical(summary) == "typical refused"
