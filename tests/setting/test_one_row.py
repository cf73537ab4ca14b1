"""One row takes a straight way, and says what it says in company, to the bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC

import pertinent
from pertinent import Constraints
from pertinent.setting.nearest import both

X, Y = load_breast_cancer(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)
ENDS = {j: (SCALED[:, j].min(), SCALED[:, j].max()) for j in range(30)}
RULES = {
    "none": {},
    "limits": {"constraints": Constraints(bounds=ENDS, frozen=[0, 3])},
    "directions": {"constraints": Constraints(increase_only=[2], decrease_only=[5])},
    "not between": {"between": False},
    "weights": {"weights": np.linspace(0.1, 3.0, 30)},
    # These leave the straight way.
    "impossible": {"constraints": Constraints(frozen=range(30))},
    "steps": {"constraints": Constraints(decimals={0: 1, 7: 0})},
    "tolerance": {"off_tol": 0.1},
    "margin": {"margin": 0.1},
    "probability": {"min_proba": 0.8},
    "outside": {"constraints": Constraints(bounds={0: (50.0, 60.0)})},
    "equal gains": {"weights": 1.0},
}
STRAIGHT = {"none", "limits", "directions", "not between", "weights"}
FIELDS = ("values", "status_code", "unique_code", "label", "objective", "bound", "closeness")


@pytest.fixture
def ways(monkeypatch):
    """Return a list that tells of each single row whether the straight way was taken."""
    taken, straight = [], both.one_at_once

    def noted(*asked):
        found = straight(*asked)
        taken.append(found is not None)
        return found

    monkeypatch.setattr(both, "one_at_once", noted)
    return taken


def _same_alone(explainer, samples):
    whole = explainer.explain(samples)
    for i in range(len(samples)):
        one = explainer.explain(samples[i : i + 1])
        for alone, company in ((one.positive, whole.positive), (one.negative, whole.negative)):
            for field in (*FIELDS, "closeness_bound"):
                own, theirs = (np.asarray(getattr(p, field)) for p in (alone, company))
                assert own[0].tobytes() == theirs[i].tobytes(), field
            assert str(alone.reasons[0]) == str(company.reasons[i])
    return whole


@pytest.mark.parametrize("rules", RULES)
def test_rules(ways, rules):
    model = LogisticRegression().fit(SCALED, Y)
    if rules == "equal gains":
        model.coef_ = np.sign(model.coef_)
    explainer = pertinent.Explainer(model, baseline=0.0, **RULES[rules])
    _same_alone(explainer, SCALED[::60])
    assert all(ways) == (rules in STRAIGHT)
    assert any(ways) == (rules in STRAIGHT)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), LinearDiscriminantAnalysis()], ids=str
)
def test_models_in_any_unit(ways, model, unit):
    model = make_pipeline(StandardScaler(), model).fit(X * unit, Y)
    explainer = pertinent.Explainer(model, baseline=np.median(X, axis=0) * unit)
    whole = _same_alone(explainer, X[::80] * unit)
    assert (model.predict(whole.negative.points) != model.predict(X[::80] * unit)).all()


def test_other_tables_go_the_long_way(ways):
    model = LogisticRegression().fit(SCALED, Y)
    explainer = pertinent.Explainer(model, baseline=0.0)
    for samples in (SCALED[:4].astype(np.float32), pd.DataFrame(SCALED[:4]), X[:4].astype(int)):
        _same_alone(explainer, samples)
    assert not any(ways)


def test_a_sample_on_the_boundary_is_left_to_the_model(ways):
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.array([[1.0, 2.0]]), np.zeros(1)
    model.classes_, model.n_features_in_ = np.array([0, 1]), 2
    explainer = pertinent.Explainer(model, baseline=np.array([1.0, 1.0]))
    _same_alone(explainer, np.array([[2.0, -1.0], [0.6, -0.3], [1e-300, 0.0], [0.0, 0.0]]))


def test_a_frame_with_categories_goes_to_the_model_once(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, 200),
            "city": rng.choice(["Aachen", "Bonn", "Celle"], 200),
            "size": np.round(rng.normal(170, 10, 200), 1),
            "name": [f"person {i}" for i in range(200)],
        }
    )
    score = frame["age"] / 20 + (frame["city"] == "Bonn") - frame["size"] / 60
    columns = make_column_transformer(
        (StandardScaler(), ["age", "size"]), (OneHotEncoder(handle_unknown="ignore"), ["city"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(frame, score > score.median())
    explainer = pertinent.Explainer(model, data=frame)
    samples = frame[:8].copy()
    samples.loc[2, "city"] = "Dresden"  # which the model does not know
    whole, asked = explainer.explain(samples), []
    predict = type(model).predict
    monkeypatch.setattr(type(model), "predict", lambda own, X: asked.append(X) or predict(own, X))
    for i in range(len(samples)):
        one = explainer.explain(samples[i : i + 1])
        assert len(asked) == i + 1
        assert (asked[-1]["name"] == samples["name"].iloc[i]).all()
        for alone, company in ((one.positive, whole.positive), (one.negative, whole.negative)):
            for field in (*FIELDS, "closeness_bound"):
                own, theirs = (np.asarray(getattr(p, field)) for p in (alone, company))
                assert own[0].tobytes() == theirs[i].tobytes(), field
    assert "Dresden" in asked[2]["city"].tolist()
