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
from pertinent.exceptions import InputError, UnsupportedModelError
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


@pytest.mark.parametrize("function", [np.log, np.reciprocal, np.expm1])
def test_what_is_enough_whatever_the_others_are_keeps_to_the_range_of_the_data(function):
    """The other values vary as the data do, not as far as the function is defined.

    Scores of single columns rise or fall, so that the worst is at a corner.
    """
    data, labels = X[50:, 2:], y[50:]
    model = make_pipeline(FunctionTransformer(function), StandardScaler(), LogisticRegression())
    model.fit(data, labels)
    low, high = data.min(axis=0), data.max(axis=0)
    rows = data[::20]
    found = pertinent.pertinent_positives(
        model, rows, "sufficient", np.median(data, axis=0), between=True, data=data
    )
    assert set(found.status) == {"optimal"}
    for x, kept in zip(rows, found.kept, strict=True):
        label, enough = model.predict(x[None]), [2]
        for subset in ([], [0], [1]):
            ends = [(x[j],) * 2 if j in subset else (low[j], high[j]) for j in range(2)]
            corners = np.array([(a, b) for a in ends[0] for b in ends[1]])
            if (model.predict(corners) == label).all():
                enough.append(len(subset))
        assert kept.sum() == min(enough)


@pytest.mark.filterwarnings("ignore")  # a short fit
def test_steep_functions_are_searched_nearby_first():
    """Far away an exponential is so large that all else vanishes beside it."""
    model = make_pipeline(FunctionTransformer(np.expm1), LogisticRegression(max_iter=50)).fit(X, y)
    rules = pertinent.Constraints(bounds={j: (0.01, 20) for j in range(4)})
    known = pertinent.pertinent_negatives(model, X[[0, 70]], constraints=rules)
    found = pertinent.pertinent_negatives(model, X[[0, 70]])
    assert set(known.status) == set(found.status) == {"optimal"}
    np.testing.assert_allclose(found.objective, known.objective, rtol=1e-4)


@pytest.mark.parametrize("last", [LogisticRegression, forest, tree])
def test_reciprocals_are_read_above_zero(last):
    """1 / x falls above 0 and below: numbers stay above, which is a rule like others."""
    model = make_pipeline(FunctionTransformer(np.reciprocal), last()).fit(X, y)
    rules = pertinent.Constraints(
        frozen=[0, 1], bounds={2: (0.1, 7), 3: (0.1, 7)}, decimals={2: 1, 3: 1}
    )
    rows = X[::25]
    found = pertinent.pertinent_negatives(model, rows, constraints=rules)
    grid = np.round(np.arange(1, 71) / 10, 1)
    for i, x in enumerate(rows):
        points = np.tile(x, (70 * 70, 1))
        points[:, 2], points[:, 3] = np.repeat(grid, 70), np.tile(grid, 70)
        others = points[model.predict(points) != model.predict(x[None])]
        least = np.abs(others - x).sum(axis=1).min()
        assert found.status[i] == "optimal"
        assert abs(found.objective[i] - least) < 1e-9
    explainer = pertinent.Explainer(model, data=X, limits_from=None)
    [one] = explainer.explain(X[:1])
    assert "stay above 0" in one.text("long")
    assert pertinent.check(one.json(), model).verdict == "holds"
    for refused in (lambda: explainer.explain(-X[:1]), lambda: pertinent.Explainer(model, data=-X)):
        with pytest.raises(InputError, match="explained for numbers above 0"):
            refused()


def test_numbers_without_a_logarithm_are_refused_by_name():
    model = make_pipeline(FunctionTransformer(np.log), LogisticRegression()).fit(X, y)
    with pytest.raises(InputError, match="'x0' is -5.1 in row 0 of X: the model takes a log"):
        pertinent.pertinent_negatives(model, -X[:1])


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
        (make_pipeline(FunctionTransformer(np.sin), tree()), "to rise everywhere"),
        (
            make_pipeline(FunctionTransformer(np.log1p), OneHotEncoder(), tree()),
            "bends its columns",
        ),
    ],
    ids=["quadratic", "splines", "waves", "encoder"],
)  # fmt: skip
def test_what_is_not_exact_is_refused_with_the_reason(model, match):
    model.fit(X, y)
    with pytest.raises(UnsupportedModelError, match=match):
        pertinent.pertinent_negatives(model, X[:2])
