"""Models of other kinds behind the server: answered, or refused in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from starlette.testclient import TestClient

import pertinent
from pertinent.exceptions import InputError, MissingExtraError, UnsupportedModelError
from pertinent.server import Recipe, ServerSettings
from pertinent.server.solving.engine import Engine
from pertinent.server.web.app import create_app
from pertinent.server.web.service import Service
from tests.server.inline import Inline, application

RNG = np.random.default_rng(0)
X = np.c_[RNG.normal(size=60), RNG.integers(0, 9, 60)].astype(float)
LABEL = np.where(X[:, 0] + X[:, 1] / 4 > 1, "hi", "lo")


@pytest.mark.parametrize(
    "model", [LinearRegression(), make_pipeline(StandardScaler(), RandomForestRegressor(3))]
)
def test_a_regressor_is_refused_before_anything_starts(model):
    explainer = pertinent.Explainer(model.fit(X, X[:, 1]), data=X)
    with pytest.raises(InputError, match="predicts a number, and the server answers about classes"):
        explainer.serve(port=0)


def test_so_is_what_no_worker_could_answer():
    forest = RandomForestClassifier(3, random_state=0).fit(X, LABEL)
    dense = pertinent.Plausibility(X, LABEL)
    with pytest.raises(UnsupportedModelError, match="density"):
        pertinent.Explainer(forest, data=X, plausibility=dense).serve(port=0)


@pytest.mark.parametrize(
    ("model", "body", "field"),
    [
        (RandomForestClassifier(3, random_state=0), {"plausible": True}, "plausible"),
        (DecisionTreeClassifier(max_depth=2), {"min_probability": 0.8}, "min_probability"),
        (DecisionTreeClassifier(max_depth=2),
         {"method": "exact", "min_probability": 0.8, "target": "hi"}, "min_probability"),
        (RandomForestClassifier(3, random_state=0),
         {"rules": {"relations": ["x0 <= x1"]}}, "rules"),
    ],
)  # fmt: skip
def test_an_option_that_a_model_cannot_be_asked_with_is_named(model, body, field):
    recipe = Recipe(model.fit(X, LABEL), X)
    service = Service(recipe, X, ServerSettings(), Inline(recipe))
    with TestClient(create_app(service), "http://127.0.0.1") as client:
        answer = client.post("/api/v1/explain", json={"ids": [0], **body})
        assert (answer.status_code, answer.json()["field"]) == (422, field)
        assert client.post("/api/v1/explain", json={"ids": [0]}).status_code == 200


@pytest.mark.parametrize(
    ("classes", "written"), [((0.0, 1.0), ["0", "1.0"]), ((False, True), ["false", "true"])]
)
def test_rows_are_filtered_by_classes_of_any_type(classes, written):
    label = np.where(LABEL == "hi", *classes[::-1])
    recipe = Recipe(LogisticRegression().fit(X, label), X)
    service = Service(recipe, X, ServerSettings(), Inline(recipe))
    with TestClient(create_app(service), "http://127.0.0.1") as client:
        assert service.rows.scores.wait(600)
        for name, own in zip(written, classes, strict=True):
            found = client.get("/api/v1/rows", params={"filter": f"@class:eq:{name}"})
            assert found.json()["matching"] == (recipe.model.predict(X) == own).sum()


def test_a_package_that_is_missing_is_named(monkeypatch):
    """Plausible answers may need SCIP, which not every installation of the library has."""
    explained = Engine._explained

    def without_scip(engine, request):
        if request.get("plausible"):
            raise MissingExtraError("pyscipopt", "global", "This search")
        return explained(engine, request)

    monkeypatch.setattr(Engine, "_explained", without_scip)
    app, _ = application()
    with TestClient(app, "http://127.0.0.1") as client:
        body = {"ids": [0], "norm": "l1", "plausible": True}
        answer = client.post("/api/v1/explain", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, "plausible")
    assert 'pip install "pertinent[global]"' in answer.json()["detail"]


def test_nullable_numbers_are_numbers():
    whole, flag = (
        pd.array(X[:, 1].astype(int), dtype="Int64"),
        pd.array(X[:, 1] > 4, dtype="boolean"),
    )
    frame = pd.DataFrame({"size": X[:, 0], "count": whole, "flag": flag})
    frame.loc[3, "count"] = pd.NA
    model = make_pipeline(SimpleImputer(), LogisticRegression()).fit(frame.astype(float), LABEL)
    recipe = Recipe(model, frame)
    service = Service(recipe, frame, ServerSettings(), Inline(recipe))
    assert service.form.table(service.form.read([service.row(3)["values"]])).dtypes.equals(
        frame.dtypes
    )
    assert [column.kind for column in service.form.columns] == ["number", "integer", "boolean"]
    assert service.listed(["count:missing"], "count", False, 0, 9, False)["matching"] == 1
    assert (
        service.listed(["count:ge:5"], "count", True, 0, 9, False)["matching"]
        == (frame["count"].fillna(0) >= 5).sum()
    )
    told = service.pool.submit("explain", service.question({"ids": [3], "plausible": None}))
    assert told.result()["explanations"][0]["summary"]["negative"]["status"] == "optimal"
