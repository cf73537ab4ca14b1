"""Naive Bayes of counts, truth values and categories."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, OrdinalEncoder, StandardScaler

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.steps.pipeline import features_of
from pertinent.testing import check_independent_of_batches, probe_points, region_checks

X, y = load_iris(return_X_y=True)
CODES = np.floor(X).astype(float)
WORDS = pd.DataFrame(
    {"size": np.where(X[:, 0] > 6, "L", "S"), "hue": np.floor(X[:, 2]).astype(int)}
)


@pytest.mark.parametrize(
    "model",
    [MultinomialNB(), ComplementNB(norm=True), MultinomialNB(fit_prior=False, alpha=0.1)],
    ids=str,
)
def test_counts_pass_the_common_checks(model):
    model.fit(X, y)
    for check in region_checks():
        if check is not check_independent_of_batches:  # other processes: see test_common.py
            check(model, X)


def contained(model, points, label, margin):
    """Return which raw points lie in a region, its columns of bins and categories filled in."""
    features = features_of(model)
    wide = np.zeros((len(points), features.dim))
    for j in range(len(features)):
        columns = features.columns_of(j)
        if features.is_category(j):
            wide[:, columns] = points[:, [j]] == np.array(features.levels[j], dtype=float)
        else:
            wide[:, columns] = points[:, [j]]
    for bins in features.bins:
        bins.fill(wide)
    return pertinent.decision_region(model, label, margin).contains(wide)


STEPPED = {
    "bernoulli": (BernoulliNB(binarize=2.5), X),
    "bernoulli behind a scaler": (make_pipeline(StandardScaler(), BernoulliNB()), X),
    "truth values": (BernoulliNB(binarize=None), (X > 2.5).astype(float)),
    "truth values of bins": (
        make_pipeline(KBinsDiscretizer(3, encode="onehot-dense"), BernoulliNB()), X,
    ),
    "a threshold in codes of bins": (
        make_pipeline(KBinsDiscretizer(4, encode="ordinal"), BernoulliNB(binarize=1.0)), X,
    ),
    "codes": (CategoricalNB(min_categories=9), CODES),
    "codes of bins": (
        make_pipeline(
            KBinsDiscretizer(4, encode="ordinal", strategy="uniform"), CategoricalNB()
        ),
        X,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STEPPED)
def test_steps_agree_with_predict(name):
    model, data = STEPPED[name]
    model.fit(data, y)
    points = probe_points(model, data, 500) if data is X else data
    predicted = model.predict(points)
    for label in range(3):
        own = predicted == label
        assert contained(model, points[own], label, -1e-7).all()
        assert not contained(model, points[~own], label, 1e-7).any()


@pytest.mark.parametrize("encoder", [OneHotEncoder(), OrdinalEncoder()], ids=str)
def test_truth_values_of_categories_are_read(encoder):
    model = make_pipeline(encoder, BernoulliNB()).fit(WORDS, y)
    found = pertinent.pertinent_negatives(model, WORDS[::10])
    every = WORDS[["size"]].drop_duplicates().merge(WORDS[["hue"]].drop_duplicates(), how="cross")
    for i, row in enumerate(WORDS[::10].itertuples(index=False)):
        others = every[model.predict(every) != model.predict(WORDS[::10])[i]]
        fewest = (others != pd.Series(row._asdict())).sum(axis=1).min()
        assert found.changed[i].sum() == fewest
        assert found.status[i] == "optimal"


def nearest_by_listing(model, sample, values):
    """Return the least L1 change to another class, over all combinations of a few values each."""
    grid = np.stack(np.meshgrid(*values, indexing="ij"), axis=-1).reshape(-1, len(values))
    others = grid[model.predict(grid) != model.predict(sample[None])[0]]
    return np.abs(others - sample).sum(axis=1).min()


def test_negatives_of_truth_values_are_the_nearest():
    model = BernoulliNB(binarize=2.5).fit(X, y)
    found = pertinent.pertinent_negatives(model, X[::10])
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == found.target).all()
    above = np.nextafter(2.5, 3)
    for sample, cost in zip(X[::10], found.objective, strict=True):
        near = [[value, 2.5 if value > 2.5 else above] for value in sample]
        assert cost == pytest.approx(nearest_by_listing(model, sample, near), abs=1e-9)


def test_negatives_of_categories_change_the_fewest():
    """A category costs as much as any other: 1 for its feature, however codes differ."""
    model = CategoricalNB(min_categories=9).fit(CODES, y)
    found = pertinent.pertinent_negatives(model, CODES[::15])
    assert (found.status == "optimal").all()
    assert (model.predict(found.points.astype(float)) == found.target).all()
    grid = np.stack(np.meshgrid(*[np.arange(9.0)] * 4, indexing="ij"), -1).reshape(-1, 4)
    labels = model.predict(grid)
    for sample, cost in zip(CODES[::15], found.objective, strict=True):
        others = grid[labels != model.predict(sample[None])[0]]
        fewest = (others != sample).sum(axis=1).min()
        weights = cost / fewest
        assert weights == pytest.approx(round(weights))  # the same for each changed feature


def test_words_are_explained_behind_an_encoder():
    model = make_pipeline(OrdinalEncoder(), CategoricalNB()).fit(WORDS, y)
    explanation = pertinent.Explainer(model, data=WORDS).explain(WORDS.iloc[[0, 60, 120]])
    assert (explanation.negative.status == "optimal").all()
    assert (model.predict(explanation.negative.points) == explanation.negative.target).all()
    assert "size" in explanation[0].text() or "hue" in explanation[0].text()


def test_probabilities_are_those_of_a_softmax():
    for model in (MultinomialNB(), BernoulliNB(binarize=2.5)):
        model.fit(X, y == 1)
        found = pertinent.pertinent_negatives(model, X[::30], min_proba=0.8)
        chance = model.predict_proba(found.points[found.found])
        assert found.found.any()
        assert (chance.max(axis=1) >= 0.8).all()


def test_what_has_no_score_is_refused():
    never = (X > 2.5).astype(float)
    with pytest.warns(UserWarning, match="alpha"):
        model = BernoulliNB(alpha=0.0, force_alpha=False).fit(never, y)
    model.feature_log_prob_[0, 0] = -np.inf
    with pytest.raises(UnsupportedModelError, match="alpha > 0"):
        pertinent.pertinent_negatives(model, never)
    scaled = make_pipeline(StandardScaler(with_mean=False), CategoricalNB()).fit(CODES, y)
    with pytest.raises(UnsupportedModelError, match="needs categories"):
        pertinent.pertinent_negatives(scaled, CODES)
