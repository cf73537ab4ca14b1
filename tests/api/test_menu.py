"""A menu of levers, judged by the model alone: what works does, what is proved not to does not."""

import json
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError

BOUNDS = {j: (0.0, 8.0) for j in range(4)}


@pytest.fixture(
    scope="module",
    params=[LogisticRegression(max_iter=1000), DecisionTreeClassifier(random_state=0)],
)
def asked(request):
    X, y = load_iris(return_X_y=True)
    model = request.param.fit(X, y)
    rules = pertinent.Constraints(bounds=BOUNDS, frozen=[1])
    return model, X, pertinent.Explainer(model, data=X, constraints=rules)


def test_every_set_is_there_and_right(asked):
    model, X, explainer = asked
    grid = np.linspace(0, 8, 81)
    menu = explainer.menu(X[:1], max_features=2, target=1)
    sets = {lever.features for lever in menu}
    names = ("x0", "x2", "x3")
    assert sets == {(n,) for n in names} | set(combinations(names, 2))
    assert menu.frozen == ("x1",)
    for lever in menu:
        columns = [int(name[1:]) for name in lever.features]
        values = np.stack(np.meshgrid(*[grid] * len(columns)), axis=-1).reshape(-1, len(columns))
        points = np.repeat(X[:1], len(values), axis=0)
        points[:, columns] = values
        reaches = model.predict(points) == 1
        if not lever.works:
            assert lever.status == "infeasible"
            assert not reaches.any()
            assert lever.reason
            continue
        point = X[0].copy()
        for name, (old, new) in lever.values.items():
            assert old == X[0, int(name[1:])]
            point[int(name[1:])] = new
        assert set(lever.values) <= set(lever.features)
        assert model.predict(point[None])[0] == 1
        cost = (np.abs(points - X[0]) * explainer.setting.weights).sum(axis=1)[reaches]
        assert lever.objective <= cost.min(initial=np.inf) + 1e-9
    sizes = [lever.objective for lever in menu if lever.works]
    assert sizes == sorted(sizes)


def test_views(asked):
    _, X, explainer = asked
    menu = explainer.menu(X[:1], target=1)
    assert len(menu.to_frame()) == len(menu) == len(json.loads(menu.json())["levers"])
    text = menu.text()
    best = next(lever for lever in menu if lever.needs_all)
    assert text.splitlines()[0] == "Predicted 0. What could give 1, changing at most 2 features:"
    assert best.words() in text
    assert "already" in explainer.menu(X[:1], target=0).text()


def test_classes_and_categories_are_quoted():
    frame = pd.DataFrame({"job": ["fixed", "none"] * 10, "income": np.repeat([10.0, 90.0], 10)})
    paid = np.where(frame["income"] > 50, "yes", "no")
    columns = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["income"]))
    model = make_pipeline(columns, LogisticRegression()).fit(frame, paid)
    explainer = pertinent.Explainer(model, data=frame)
    text = explainer.menu(frame.head(1)).text()
    assert text.startswith("Predicted “no”. What could give another class")
    assert "gives “yes” (size" in text
    assert "What could give “yes”," in explainer.menu(frame.head(1), target="yes").text()
    already = explainer.menu(frame.head(1), target="no").text()
    assert already == "The model predicts “no” already: nothing has to change."


def test_refusals(asked):
    _, X, explainer = asked
    with pytest.raises(InputError, match="about one sample"):
        explainer.menu(X[:2])
    with pytest.raises(InputError, match="max_features"):
        explainer.menu(X[:1], max_features=0)
