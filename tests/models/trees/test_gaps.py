"""Missing values as values of their own: judged by `predict`, and by trying every point."""

import itertools
import warnings

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError

RNG = np.random.default_rng(0)
FULL = np.round(RNG.normal(size=(240, 3)), 1)
X = np.where(RNG.random(FULL.shape) < 0.3, np.nan, FULL)
Y = (np.nan_to_num(X, nan=0.7) @ [1.0, -1.0, 0.5] + 0.8 * np.isnan(X[:, 0]) > 0.3).astype(int)
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
MODELS = {
    "histograms": HistGradientBoostingClassifier(max_iter=5, max_leaf_nodes=5),
    "forest": RandomForestClassifier(5, max_depth=3, random_state=0),
    "extra trees": ExtraTreesClassifier(5, max_depth=3, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0),
    "scaled": make_pipeline(
        StandardScaler(), RandomForestClassifier(4, max_depth=3, random_state=0)
    ),
    "xgboost": xgboost.XGBClassifier(n_estimators=5, max_depth=2, n_jobs=1),
    "lightgbm": lightgbm.LGBMClassifier(n_estimators=5, max_depth=2, verbose=-1, n_jobs=1),
    "catboost": catboost.CatBoostClassifier(iterations=5, depth=2, **QUIET),
}


def _predict(model, points):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.ravel(model.predict(points))


def _cuts(model):
    """Return the values at which predictions may change, column by column."""
    return pertinent.decision_region(model, 0).ensemble.cuts


def _middle(data):
    """Return where missing numbers stand: at the lower one of the two middle values."""
    return np.array([np.sort(c[~np.isnan(c)])[(np.sum(~np.isnan(c)) - 1) // 2] for c in data.T])


def _cost(points, sample, weights, stand):
    """Return what points cost: to lose a value, or to fill one in, costs 1 beside its move."""
    own = np.where(np.isnan(sample), stand, sample)
    moved = weights * np.abs(np.where(np.isnan(points), own, points) - own)
    return (moved + (np.isnan(sample) != np.isnan(points))).sum(axis=1)


def _cheapest(model, sample, label, missing):
    """Return the smallest cost of all points of another class, at the ends of all cells."""
    # A scaler rounds: not on the cuts, but a little beside them.
    stand, ends = _middle(X), [np.append(c - 1e-8, c + 1e-8) for c in _cuts(model)]
    own = np.where(np.isnan(sample), stand, sample)
    gap = [[np.nan] if np.isnan(value) or missing == "allow" else [] for value in sample]
    points = itertools.product(*([*ends[j], own[j], *gap[j]] for j in range(3)))
    points = np.array(list(points))
    other = points[_predict(model, points) != label]
    return _cost(other, sample, 1 / np.nanstd(X, axis=0), stand).min(initial=np.inf)


@pytest.mark.parametrize(
    ("name", "missing"), [*((name, "keep") for name in MODELS), ("histograms", "allow")]
)
def test_nearest_points_are_those_of_brute_force(name, missing):
    model = MODELS[name].fit(X, Y)
    samples = X[np.isnan(X).any(axis=1)][:5]
    found = pertinent.pertinent_negatives(model, samples, data=X, missing=missing)
    labels = _predict(model, samples)
    for i, sample in enumerate(samples):
        best = _cheapest(model, sample, labels[i], missing)
        assert found.status[i] == "optimal"
        assert found.objective[i] == pytest.approx(best, abs=1e-6)
        assert found.bound[i] <= best + 1e-6
        assert missing == "allow" or not (np.isnan(found.points[i]) & ~np.isnan(sample)).any()
    assert (_predict(model, found.points) == found.target).all()
    alone = [_predict(model, point[None])[0] for point in found.points]
    assert alone == found.target.tolist()


def test_a_number_that_was_missing_is_filled_in_where_that_is_cheapest():
    model = MODELS["histograms"].fit(X, Y)
    some = X[:80]
    found = pertinent.pertinent_negatives(model, some, data=X, missing="keep")
    filled = np.isnan(some) & ~np.isnan(found.points)
    stay = np.isnan(some) & np.isnan(found.points)
    assert filled.any(axis=1).sum() > 5
    assert stay.any(axis=1).sum() > 5
    moved = ~np.isnan(some) & (found.points != some)
    np.testing.assert_array_equal(found.changed, filled | moved)
    alone = [pertinent.pertinent_negatives(model, x[None], data=X, missing="keep") for x in X[:10]]
    np.testing.assert_array_equal(np.vstack([one.points for one in alone]), found.points[:10])
    assert [one.objective[0] for one in alone] == found.objective[:10].tolist()


def test_a_value_becomes_missing_only_where_that_is_allowed():
    model = MODELS["histograms"].fit(X, Y)
    how = {"data": X, "constraints": pertinent.Constraints(frozen=[1])}
    kept = pertinent.pertinent_negatives(model, X[:60], missing="keep", **how)
    free = pertinent.pertinent_negatives(model, X[:60], missing="allow", **how)
    lost = ~np.isnan(X[:60]) & np.isnan(free.points) & free.found[:, None]
    assert lost[:, [0, 2]].any()
    assert not lost[:, 1].any()
    assert (free.objective[kept.found] <= kept.objective[kept.found] * (1 + 1e-9)).all()
    assert (_predict(model, free.points[free.found]) == free.target[free.found]).all()


def _only_missing(column, n=4):
    """Return samples of which this value alone is missing."""
    gone = np.isnan(X)
    return X[gone[:, column] & (gone.sum(axis=1) == 1)][:n]


def _free(**rules):
    """Return negatives of samples that lack the first value, and may change no other."""
    rules = pertinent.Constraints(frozen=[1, 2], **rules)
    how = {"data": X, "missing": "keep", "constraints": rules}
    model = MODELS["histograms"].fit(X, Y)
    return pertinent.pertinent_negatives(model, _only_missing(0, 16), **how)


def test_rules_of_direction_and_bounds_do_not_bind_a_value_that_is_missing():
    plain, rising, falling = _free(), _free(increase_only=[0]), _free(decrease_only=[0])
    assert plain.found.any()
    assert not plain.found.all()
    for ruled in (rising, falling):
        np.testing.assert_array_equal(plain.points, ruled.points)
    # The missing value itself is no number that could lie out of bounds.
    kept = _free(bounds={0: (50.0, 60.0)})
    assert np.isnan(_only_missing(0, 16)[:, 0]).all()
    assert ((kept.points[kept.found, 0] >= 50.0) & (kept.points[kept.found, 0] <= 60.0)).all()
    assert (_free(bounds={0: (50.0, 50.0)}).objective[kept.found] == 1.0).all()


def test_what_is_frozen_stays_missing():
    model = MODELS["histograms"].fit(X, Y)
    rules = pertinent.Constraints(frozen=[0])
    samples = _only_missing(0)
    found = pertinent.pertinent_negatives(model, samples, missing="keep", constraints=rules)
    assert np.isnan(found.points[:, 0]).all()
    assert (_predict(model, found.points) != _predict(model, samples)).all()


@pytest.mark.parametrize("norm", ["l0", "l1"])
def test_whole_numbers_are_filled_in_with_whole_numbers(norm):
    rng = np.random.default_rng(1)
    whole = rng.integers(0, 6, (200, 3)).astype(float)
    data = np.where(rng.random(whole.shape) < 0.25, np.nan, whole)
    label = np.nan_to_num(data, nan=1.0) @ [1.0, -1.0, 1.0] > 2
    model = HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=6).fit(data, label)
    samples = data[np.isnan(data).sum(axis=1) > 1][:6]
    explainer = pertinent.Explainer(model, data=data, missing="keep", norm=norm)
    assert {rule.words() for rule in explainer.inferred} == {"stays whole", "stays between 0 and 5"}
    found = explainer.explain(samples).negative
    stand, weights, numbers = _middle(data), 1 / np.nanstd(data, axis=0), list(range(6))
    for i, sample in enumerate(samples):
        values = [[*numbers, np.nan] if np.isnan(v) else numbers for v in sample]
        points = np.array(list(itertools.product(*values)))
        points = points[model.predict(points) != model.predict(sample[None])[0]]
        cost = _cost(points, sample, weights, stand)
        count = ((points != sample) & ~(np.isnan(points) & np.isnan(sample))).sum(axis=1)
        assert found.status[i] == "optimal"
        if norm == "l0":
            assert found.objective[i] == count.min()
            cost = cost[count == count.min()]
            assert found.closeness[i] == pytest.approx(cost.min())
        else:
            assert found.objective[i] == pytest.approx(cost.min())


@pytest.mark.parametrize("method", ["two-phase", "exact", "sufficient"])
def test_a_positive_may_keep_that_a_value_is_missing(method):
    model = MODELS["histograms"].fit(X, Y)
    samples = X[np.isnan(X[:, 0])][:10]
    how = {"method": method, "data": X, "missing": "keep", "baseline": {0: -1.0, 1: 1.0}}
    found = pertinent.pertinent_positives(model, samples, **how)
    assert set(found.status) <= {"optimal"}
    assert (_predict(model, found.points) == _predict(model, samples)).all()
    kept = found.kept[:, 0]
    assert kept.any()
    np.testing.assert_array_equal(np.isnan(found.points[:, 0]), kept)
    if method == "sufficient":
        rng = np.random.default_rng(0)
        for sample, keep in zip(samples, found.kept, strict=True):
            low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
            some = np.where(keep, sample, rng.uniform(low, high, (300, 3)))
            lost = rng.random(some.shape) < 0.3
            some[lost & np.isnan(sample)] = np.nan
            assert (_predict(model, some) == _predict(model, sample[None])[0]).all()


def test_features_that_a_step_fills_in_may_not_be_missing():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["colour"] = np.where(frame.index % 2, "red", "blue")
    steps = make_column_transformer(
        (SimpleImputer(), ["a"]), (OneHotEncoder(sparse_output=False), ["colour"]),
        remainder="passthrough",
    )  # fmt: skip
    model = make_pipeline(steps, HistGradientBoostingClassifier(max_iter=5)).fit(frame, Y)
    explainer = pertinent.Explainer(model, data=frame, missing="keep")
    assert list(explainer.setting.features.absent) == [1, 2]
    samples = frame[frame["a"].notna()].head(4)
    found = explainer.explain(samples).negative
    assert (model.predict(found.points) == found.target).all()
    stays = samples["b"].isna() & ~found.changed[:, 1]
    np.testing.assert_array_equal(found.points["b"].isna(), stays)
    with pytest.raises(InputError, match=r"missing or infinite values in the columns \['a'\]"):
        explainer.explain(frame[frame["a"].isna()].head(1))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (LogisticRegression(), "LogisticRegression is none that is known to take them"),
        (GradientBoostingClassifier(n_estimators=2), "GradientBoostingClassifier is none"),
        (DecisionTreeClassifier(max_depth=2), "DecisionTreeClassifier is none"),
        (make_pipeline(KNNImputer(), RandomForestClassifier(2)), "steps before it fill them in"),
    ],
)
def test_other_models_are_refused(model, said):
    with pytest.raises(InputError, match=said):
        pertinent.pertinent_negatives(model.fit(FULL, Y), FULL[:1], missing="keep")


def test_what_does_not_go_with_missing_values_is_refused():
    model = MODELS["histograms"].fit(X, Y)
    with pytest.raises(InputError, match="does not go with plausibility"):
        pertinent.Explainer(
            model, data=X, missing="keep", plausibility=pertinent.Plausibility(FULL, Y)
        )
    with pytest.raises(InputError, match="categories, bins or missing values"):
        pertinent.pertinent_positives(model, X[:1], missing="keep", method="strict")
    with pytest.raises(InputError, match="With missing='keep' they are left to trees"):
        pertinent.pertinent_negatives(model, X[:1])


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
def test_a_value_filled_in_is_one_change(engine):
    """The number and the mark that it is missing change together: one feature, not two."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] > 0.5).astype(int)
    X[rng.random(80) < 0.3, 0] = np.nan
    model = RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y)
    samples = X[np.isnan(X[:, 0])][:6]
    how = {"missing": "keep", "options": pertinent.Options(engine=engine)}
    held = pertinent.Constraints(frozen=[1, 2])
    alone = pertinent.pertinent_negatives(model, samples, constraints=held, **how)
    assert alone.found.all()
    found = pertinent.pertinent_negatives(model, samples, norm="l0", **how)
    assert (found.objective == 1).all()
    few = pertinent.Constraints(frozen=[1, 2], max_changes=1)
    found = pertinent.pertinent_negatives(model, samples, constraints=few, **how)
    np.testing.assert_allclose(found.objective, alone.objective)


def _with_words():
    """Return a table whose words may be missing, and a model that looks at that."""
    rng = np.random.default_rng(3)
    colour = rng.choice(["red", "green", "blue"], 300).astype(object)
    colour[rng.random(300) < 0.3] = None
    frame = pd.DataFrame({"size": rng.integers(0, 20, 300), "colour": pd.Categorical(colour)})
    y = (frame["size"] > 9) ^ frame["colour"].isin(["green"]) ^ frame["colour"].isna()
    model = HistGradientBoostingClassifier(
        max_iter=8, max_leaf_nodes=6, categorical_features="from_dtype"
    )
    return frame, model.fit(frame, y)


def test_missing_categories_are_kept_and_not_taken():
    """Judged by every point that the rules allow."""
    frame, model = _with_words()
    explainer = pertinent.Explainer(model, data=frame)
    gone = frame["colour"].isna()
    rows = [*np.flatnonzero(gone)[:4].tolist(), int(np.argmin(gone))]
    result = explainer.explain(frame.loc[rows])
    scale = frame["size"].std(ddof=0)
    for place, row in enumerate(rows):
        own = frame.loc[row]
        words = list(dict.fromkeys([own["colour"], "red", "green", "blue"]))
        tried = pd.DataFrame(itertools.product(range(20), words), columns=["size", "colour"])
        tried["colour"] = tried["colour"].astype(frame["colour"].dtype)
        moved = [word is not own["colour"] and word != own["colour"] for word in tried["colour"]]
        cost = (tried["size"] - own["size"]).abs() / scale
        cost += np.where(tried["colour"].isna() & pd.isna(own["colour"]), 0.0, moved)
        other = model.predict(tried) != model.predict(frame.loc[[row]])[0]
        negative = result.negative
        assert negative.status[place] == "optimal"
        assert negative.objective[place] == pytest.approx(cost[other].min())
        assert pertinent.check(result[place].json(), model).verdict == "holds"
    assert model.predict(result.negative.points).tolist() == result.negative.target.tolist()
    assert result[0].summary()["features"][1]["missing"]
    assert "missing" in result[0].text() or result[0].changed == {}


def test_missing_categories_are_refused_where_that_is_asked_for():
    frame, model = _with_words()
    with pytest.raises(InputError, match="columns \\['colour'\\]"):
        pertinent.Explainer(model, data=frame, missing="error")


def test_a_missing_category_that_is_told_from_an_unknown_one_is_refused():
    """The encoder writes -1 for the one and leaves the other out: no category of the two."""
    frame, _ = _with_words()
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((encoder, ["colour"]), remainder="passthrough")
    model = make_pipeline(columns, HistGradientBoostingClassifier(max_iter=3))
    model.fit(frame, frame["size"] > 9)
    with pytest.raises(InputError, match="columns \\['colour'\\]"):
        pertinent.Explainer(model, data=frame)
