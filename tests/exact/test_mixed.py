"""Fewest changes of categories and whole numbers, against every combination of them."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.exact.recheck import recheck_few_changes
from pertinent.exceptions import InputError

CHOICES = {
    "job": ["fixed", "part-time", "none"],
    "home": ["own", "rent"],
    "children": [0, 1, 2, 3],
    "loans": [0, 1, 2],
}


@pytest.fixture(scope="module")
def case():
    """A model of two categories and two counts; every possible customer can be listed."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.choice(values, 300) for name, values in CHOICES.items()})
    score = (
        1.6 * (data.job == "fixed")
        - 1.2 * (data.job == "none")
        + 0.9 * (data.home == "own")
        - 0.5 * data.children
        - 0.8 * data.loans
    )
    steps = ColumnTransformer(
        [
            ("words", OneHotEncoder(), ["job", "home"]),
            ("counts", StandardScaler(), ["children", "loans"]),
        ]
    )
    model = make_pipeline(steps, LogisticRegression(C=10))
    model.fit(data, (score + rng.normal(0, 0.3, 300) > 0).astype(int))
    everyone = pd.DataFrame(list(product(*CHOICES.values())), columns=list(CHOICES))
    return model, data, everyone


def rules(**more):
    bounds = {"children": (0, 3), "loans": (0, 2)}
    return pertinent.Constraints(integer=["children", "loans"], bounds=bounds, **more)


def test_fewest_changes_of_categories_and_whole_numbers(case):
    model, data, everyone = case
    found = pertinent.pertinent_negatives(
        model, everyone, norm="l0", constraints=rules(), data=data
    )
    labels = model.predict(everyone)
    assert (model.predict(found.points) != labels).all()
    sizes = []
    for i, (_, own) in enumerate(everyone.iterrows()):
        differs = (everyone != own).to_numpy().sum(axis=1)
        sizes.append(differs[labels != labels[i]].min())
    np.testing.assert_array_equal(found.objective, sizes)
    np.testing.assert_array_equal(found.bound, sizes)
    np.testing.assert_array_equal(found.changed.sum(axis=1), sizes)
    assert (found.status == "optimal").all()
    assert max(sizes) >= 2
    explainer = pertinent.Explainer(model, data=data, constraints=rules())
    np.testing.assert_array_equal(recheck_few_changes(explainer.prepared, found), sizes)


def test_the_closest_of_the_fewest(case):
    model, data, everyone = case
    found = pertinent.pertinent_negatives(
        model, everyone, norm="l0", constraints=rules(), data=data
    )
    most = pertinent.pertinent_negatives(model, everyone, constraints=rules(), data=data)
    # With as many changes as the nearest point has, nothing is closer than it.
    same = most.changed.sum(axis=1) == found.objective
    np.testing.assert_allclose(found.closeness[same], most.objective[same])
    assert (found.closeness >= most.objective - 1e-9).all()


def test_more_changes_than_allowed_are_proved_necessary(case):
    model, data, everyone = case
    free = pertinent.pertinent_negatives(model, everyone, norm="l0", constraints=rules(), data=data)
    found = pertinent.pertinent_negatives(
        model, everyone, norm="l0", max_changes=1, constraints=rules(), data=data
    )
    np.testing.assert_array_equal(found.status == "infeasible", free.objective > 1)
    assert all(found.reason[found.status == "infeasible"])


def test_features_that_change_together_count_as_one(case):
    model, data, everyone = case
    bound = rules(together=[["children", "loans"]])
    found = pertinent.pertinent_negatives(model, everyone, norm="l0", constraints=bound, data=data)
    both = found.changed[found.found][:, 2:]
    assert (both[:, 0] == both[:, 1]).all()


def test_what_is_not_known_is_refused(case):
    model, data, everyone = case
    with pytest.raises(InputError, match="alternatives"):
        pertinent.pertinent_negatives(
            model, everyone, norm="l0", alternatives=2, constraints=rules(), data=data
        )
    for method in ("exact", "sufficient"):
        with pytest.raises(InputError, match="categories or bins"):
            pertinent.pertinent_positives(
                model, everyone, method=method, baseline="median", data=data
            )


def subsets(names):
    return [s for k in range(len(names) + 1) for s in combinations(names, k)]


def test_strict_positives_keep_whole_categories(case):
    model, data, everyone = case
    found = pertinent.pertinent_positives(
        model, everyone, method="strict", baseline="median", data=data, alternatives=2
    )
    baseline = data.mode().iloc[0]
    baseline[["children", "loans"]] = data[["children", "loans"]].median()
    labels = model.predict(everyone)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == labels).all()
    for i, (_, own) in enumerate(everyone.iterrows()):
        tries = [{**baseline, **own[list(kept)]} for kept in subsets(everyone.columns)]
        same = model.predict(pd.DataFrame(tries)) == labels[i]
        sizes = [len(s) for s in subsets(everyone.columns)]
        assert found.objective[i] == found.bound[i] == np.min(np.array(sizes)[same])
        assert found.kept[i].sum() == found.objective[i]
