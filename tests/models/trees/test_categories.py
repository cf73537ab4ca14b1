"""Categories before and inside sums of trees: each is a choice, as `predict` takes it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

import pertinent
from pertinent.exceptions import InputError
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.reading import read_table

COLOURS, SIZES = ["red", "green", "blue", "grey", "black"], ["S", "M", "L"]


def _table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.round(rng.uniform(18, 80, n), 1),
            "colour": rng.choice(COLOURS, n),
            "size": rng.choice(SIZES, n),
            "income": np.round(rng.normal(3000, 900, n)),
        }
    )
    score = frame["age"] / 20 + frame["colour"].isin(["green", "black"]) * 2
    score += (frame["size"] == "M") * (frame["income"] > 3000) * 2
    return frame, np.where(score + rng.normal(0, 0.5, n) > 4, "yes", "no")


def _encoded(encoder, model):
    step = make_column_transformer((encoder, ["colour", "size"]), remainder="passthrough")
    return make_pipeline(step, model)


def _histograms(**more):
    return HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=6, **more)


MODELS = {
    "ordinal, forest": _encoded(OrdinalEncoder(), RandomForestClassifier(8, random_state=0)),
    "ordinal, boosting": _encoded(OrdinalEncoder(), _histograms()),
    "target, forest": _encoded(
        TargetEncoder(cv=3), RandomForestClassifier(8, max_depth=4, random_state=0)
    ),
    "one-hot, boosting": _encoded(OneHotEncoder(sparse_output=False), _histograms()),
    "own categories": _histograms(categorical_features=["colour", "size"]),
    "own categories by place": _histograms(categorical_features=[1, 2], random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
def test_regions_are_what_predict_says(name):
    frame, y = _table()
    model = MODELS[name].fit(frame, y)
    fresh, _ = _table(1500, seed=1)
    points = read_table(features_of(model), fresh).values
    assert points.shape[1] >= 2 + len(COLOURS) + len(SIZES)  # one column for each category
    for label in ("yes", "no"):
        inside = pertinent.decision_region(model, label).contains(points)
        np.testing.assert_array_equal(inside, model.predict(fresh) == label)


@pytest.mark.parametrize("name", MODELS)
def test_nearest_points_are_those_of_brute_force(name):
    frame, y = _table()
    model = MODELS[name].fit(frame, y)
    samples = frame.head(6)
    rules = pertinent.Constraints(frozen=["age", "income"])
    found = pertinent.pertinent_negatives(model, samples, constraints=rules)
    for i, (_, row) in enumerate(samples.iterrows()):
        every = pd.DataFrame(
            [{**row, "colour": c, "size": s} for c in COLOURS for s in SIZES], columns=frame.columns
        )
        other = every[model.predict(every) != model.predict(samples)[i]]
        if not len(other):
            assert found.status[i] == "infeasible"
            continue
        changes = (other["colour"] != row["colour"]) * 1 + (other["size"] != row["size"]) * 1
        assert found.status[i] == "optimal"
        assert found.changed[i].sum() == changes.min()
        assert model.predict(found.points.iloc[[i]])[0] == found.target[i]


def test_a_category_that_was_never_seen_goes_where_missing_values_go():
    frame, y = _table()
    model = MODELS["own categories"].fit(frame, y)
    fresh, _ = _table(200, seed=2)
    fresh.loc[::3, "colour"] = "purple"
    points = read_table(features_of(model), fresh).values
    for label in ("yes", "no"):
        inside = pertinent.decision_region(model, label).contains(points)
        np.testing.assert_array_equal(inside, model.predict(fresh) == label)


def test_numbers_where_a_model_knows_text_are_refused_with_what_to_do():
    frame, y = _table()
    model = _histograms(categorical_features=[0]).fit(frame[["colour"]].to_numpy(dtype="U"), y)
    with pytest.raises(InputError, match="the type that it had in training"):
        pertinent.pertinent_negatives(model, np.ones((1, 1)))


@pytest.mark.parametrize("name", MODELS)
def test_categories_that_no_tree_looks_at_are_no_reason_to_refuse(name):
    frame, _ = _table()
    young = np.where(frame["age"] < 40, "yes", "no")
    frame = frame.assign(colour="red", size="S")
    model = MODELS[name].fit(frame, young)
    points = read_table(features_of(model), frame).values
    inside = pertinent.decision_region(model, "yes").contains(points)
    np.testing.assert_array_equal(inside, model.predict(frame) == "yes")


def test_an_explanation_of_own_categories_is_stored_and_checked():
    frame, y = _table()
    model = MODELS["own categories"].fit(frame, y)
    explanation = pertinent.Explainer(model, data=frame).explain(frame.head(1))[0]
    assert pertinent.check(explanation.json(), model).verdict == "holds"


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_a_category_that_cannot_change_is_not_counted_as_changed(engine):
    """Where one category is left, leaving it costs nothing more: it is still the nearest one."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "c": rng.choice(list("xyz"), 80)})
    columns = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    model = make_pipeline(columns, forest).fit(X, X["a"] + (X["c"] == "z") > 0)
    how = {"options": pertinent.Options(engine=engine), "weights": {"a": 1.0, "c": 1.0}}
    same = {"c": {one: [one] for one in "xyz"}}
    for rules in ({"transitions": same}, {"frozen": ["c"]}):
        free = pertinent.Constraints(**rules)
        few = pertinent.Constraints(**rules, max_changes=1)
        expected = pertinent.pertinent_negatives(model, X[:4], constraints=free, **how)
        found = pertinent.pertinent_negatives(model, X[:4], constraints=few, **how)
        np.testing.assert_allclose(found.objective, expected.objective)
        assert (found.status == "optimal").all()
