"""Steps that bend single columns by rising functions, before trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.models.steps.monotone import RISING
from pertinent.models.steps.once import reading_once

X, y = load_iris(return_X_y=True)


def tree():
    return DecisionTreeClassifier(max_depth=4, random_state=0)


def forest():
    return RandomForestClassifier(5, max_depth=3, random_state=0)


BENDS = {
    **{name: FunctionTransformer(getattr(np, name)) for name in RISING},
    "yeo-johnson": PowerTransformer(),
    "box-cox": PowerTransformer("box-cox", standardize=False),
    "quantiles": QuantileTransformer(n_quantiles=20),
    "normal quantiles": QuantileTransformer(n_quantiles=20, output_distribution="normal"),
    "one after the other": make_pipeline(
        FunctionTransformer(np.log1p), StandardScaler(), PowerTransformer(), StandardScaler()
    ),
    "some columns": make_column_transformer(
        (FunctionTransformer(np.sqrt), [0, 2]), (StandardScaler(), [1]), remainder="passthrough"
    ),
}  # fmt: skip


def positive_points(model):
    """Return samples, samples times random factors, and points close to the boundary between."""
    rng = np.random.default_rng(0)
    one = X[rng.integers(len(X), size=150)]
    two = one * np.exp(0.5 * rng.normal(size=one.shape))
    found, labels = [one, two], model.predict(one)
    one, two = one.copy(), two.copy()
    for _ in range(30):
        middle = (one + two) / 2
        same = model.predict(middle) == labels
        one[same], two[~same] = middle[same], middle[~same]
    return np.vstack([*found, one, two])


@pytest.mark.matrix(3)
@pytest.mark.parametrize(
    ("name", "last"),
    [*((name, tree) for name in BENDS), ("log1p", forest), ("box-cox", forest)],
)
def test_cuts_are_folded_as_they_are_computed(name, last):
    model = make_pipeline(BENDS[name], last()).fit(X, y)
    points = positive_points(model)
    predicted = model.predict(points)
    with reading_once():
        inside = np.array([pertinent.decision_region(model, k).contains(points) for k in range(3)])
    agree = inside == (predicted == np.arange(3)[:, None])
    # Points a rounding error beside a cut may fall on either side: a scaler rounds as well.
    assert agree.all() or ("one after" in name and agree.mean() > 0.99)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", ["log1p", "yeo-johnson", "quantiles", "some columns"])
def test_negatives_are_valid_and_nothing_is_closer(name):
    model = make_pipeline(BENDS[name], tree()).fit(X, y)
    samples = X[::50]
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == found.target).all()
    rng = np.random.default_rng(0)
    for x, bound in zip(samples, found.bound, strict=True):
        step = rng.dirichlet(np.full(4, 0.3), 500) * rng.choice([-1, 1], (500, 4))
        near = np.maximum(x + step * bound * (1 - 1e-9), 0.0)
        assert (model.predict(near) == model.predict(x[None])[0]).all()


def test_answers_stay_where_the_function_is_defined():
    """The raw column reaches down to 0.1, and its logarithm is cut far below."""
    model = make_pipeline(FunctionTransformer(np.log), tree()).fit(X, y)
    explained = pertinent.Explainer(model, data=X).explain(X[::50])
    points = explained.negative.points
    assert (points > 0).all()
    assert pertinent.check(explained[0].json(), model).verdict == "holds"


@pytest.mark.parametrize("last", [forest, LogisticRegression])
@pytest.mark.parametrize("function", [np.log, np.sqrt])
def test_no_number_is_asked_about_at_which_the_function_is_not_defined(function, last):
    """`predict` refuses it, and rules that reach below do not make a class of it."""
    samples = X[:100:50]
    model = make_pipeline(FunctionTransformer(function), last()).fit(X[:100], y[:100])
    rules = pertinent.Constraints(bounds={0: (-5, None), 2: (0, 9)})
    explainer = pertinent.Explainer(
        model, data=X, constraints=rules, limits_from=None, steps_from=None
    )
    explained = explainer.explain(samples)
    assert explained.negative.status.tolist() == ["optimal"] * 2
    for one in explained:
        assert one.text()
        assert pertinent.check(one.json(), model).ok
    single = pd.DataFrame(samples.astype(np.float32))
    assert explainer.explain(single)[0].text()
    from_zero = pertinent.pertinent_positives(model, samples)
    assert (model.predict(from_zero.points) == model.predict(samples)).all()


def test_a_model_is_read_once_whatever_is_asked(monkeypatch):
    """The cuts of a forest behind powers take long to find."""
    model = make_pipeline(PowerTransformer(), forest()).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, norm="l0", off_tol=0.5)
    explainer.explain(X[:1])
    monkeypatch.setattr(EnsembleRegion, "behind", None)
    assert explainer.explain(X[1:2]).negative.found.all()


def test_forests_behind_powers_are_explained_in_raw_units():
    model = make_pipeline(PowerTransformer(), forest()).fit(X, y)
    found = pertinent.pertinent_negatives(model, X[::50])
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == found.target).all()


def test_categories_are_looked_up_whatever_comes_last():
    table = pd.DataFrame({"size": np.where(X[:, 0] > 6, 3.0, 8.0), "width": X[:, 1]})
    log = make_pipeline(OrdinalEncoder(), FunctionTransformer(np.log1p))
    model = make_pipeline(
        make_column_transformer((log, ["size"]), remainder="passthrough"), LogisticRegression()
    ).fit(table, y == 2)
    found = pertinent.pertinent_negatives(model, table.iloc[::40])
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == found.target).all()


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (
            make_pipeline(FunctionTransformer(np.log1p), GaussianNB()),
            "decides by squares",
        ),
        (make_pipeline(SplineTransformer(), tree()), "rise and fall again"),
        (make_pipeline(FunctionTransformer(np.reciprocal), tree()), "to rise everywhere"),
        (
            make_pipeline(FunctionTransformer(np.log1p), OneHotEncoder(), tree()),
            "bends its columns",
        ),
    ],
    ids=["quadratic", "splines", "reciprocal", "encoder"],
)  # fmt: skip
def test_what_is_not_exact_is_refused_with_the_reason(model, match):
    model.fit(X, y)
    with pytest.raises(UnsupportedModelError, match=match):
        pertinent.pertinent_negatives(model, X[:2])
