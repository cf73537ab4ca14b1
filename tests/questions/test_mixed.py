"""Fewest changes of categories and whole numbers, against every combination of them."""

from functools import cache
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError
from pertinent.lvq import GLVQ
from pertinent.setting.question import PositiveQuestion
from tests.shown import proved_of_negatives, proved_of_positives

pytestmark = pytest.mark.matrix(2)

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
    np.testing.assert_array_equal(proved_of_negatives(explainer.setting, found)[0], sizes)


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
    bound = rules(together=[["children", "loans"]])
    with pytest.raises(InputError, match="some change together"):
        pertinent.pertinent_negatives(
            model, everyone, norm="l0", alternatives=2, constraints=bound, data=data
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


# -- Exact and sufficient positives, for every family, against the list of all customers ---------

FAMILIES = {
    "binary": lambda: LogisticRegression(C=10),
    "linear": lambda: LogisticRegression(C=10),
    "tree": lambda: DecisionTreeClassifier(max_depth=4, random_state=0),
    "naive Bayes": GaussianNB,
    "GLVQ": lambda: GLVQ(prototypes_per_class=2, random_state=0),
    "QDA": lambda: QuadraticDiscriminantAnalysis(reg_param=0.2),
}
BASELINES = [
    {"job": "part-time", "home": "rent", "children": 2, "loans": 1},
    {"job": "none", "home": "own", "children": 0, "loans": 2},
]


@cache
def fitted(family, binned=False):
    """Return a model, its data, and all customers with what they are predicted as."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame({name: rng.choice(values, 300) for name, values in CHOICES.items()})
    score = (
        1.6 * (data.job == "fixed") - 1.2 * (data.job == "none") * (data.loans + 1)
        + 0.9 * (data.home == "own") - 0.5 * data.children + rng.normal(0, 0.5, 300)
    )  # fmt: skip
    cuts = [0.0] if family == "binary" else [-1.0, 0.5]
    counts = (
        make_pipeline(KBinsDiscretizer(2, encode="ordinal", strategy="uniform"))
        if binned
        else StandardScaler()
    )
    steps = ColumnTransformer(
        [
            ("words", OneHotEncoder(sparse_output=False), ["job", "home"]),
            ("children", counts, ["children"]),
            ("loans", StandardScaler(), ["loans"]),
        ]
    )
    model = make_pipeline(steps, FAMILIES[family]()).fit(data, np.digitize(score, cuts))
    everyone = pd.DataFrame(list(product(*CHOICES.values())), columns=list(CHOICES))
    return model, data, everyone, model.predict(everyone)


def sizes_and_costs(data, everyone, own, baseline):
    """Return which features of each customer are away from the baseline, and at what cost."""
    away = (everyone != pd.Series(baseline)).to_numpy()
    moved = (everyone[["job", "home"]] != own[["job", "home"]]).to_numpy().astype(float)
    numbers = ["children", "loans"]
    steps = np.abs(everyone[numbers] - own[numbers].astype(int)) / data[numbers].std(ddof=0)
    return away, np.where(away, np.hstack([moved, steps.to_numpy()]), 0.0).sum(axis=1)


@pytest.mark.matrix(3)
@pytest.mark.parametrize("baseline", BASELINES, ids=["common", "rare"])
@pytest.mark.parametrize("binned", [False, True], ids=["numbers", "bins"])
@pytest.mark.parametrize("family", FAMILIES)
def test_exact_positives(family, binned, baseline):
    model, data, everyone, labels = fitted(family, binned)
    rows = everyone.iloc[::11]
    found = pertinent.pertinent_positives(
        model, rows, method="exact", baseline=baseline, data=data, constraints=rules()
    )
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == labels[rows.index]).all()
    for i, (place, own) in enumerate(rows.iterrows()):
        away, cost = sizes_and_costs(data, everyone, own, baseline)
        size, same = away.sum(axis=1), labels == labels[place]
        least = size[same].min()
        assert found.objective[i] == found.bound[i] == least == found.kept[i].sum()
        closest = cost[same & (size == least)].min()
        assert found.closeness[i] == pytest.approx(closest, rel=2e-4, abs=1e-9)
        assert found.closeness_bound[i] <= found.closeness[i] + 1e-9
    explainer = pertinent.Explainer(model, data=data, constraints=rules())
    question = PositiveQuestion(found.baseline, False)
    size, close = proved_of_positives(explainer.setting, question, found)
    np.testing.assert_array_equal(size, found.objective)
    assert (close >= found.closeness * (1 - 1.1e-4) - 1e-9).all()


@pytest.mark.parametrize("family", ["binary", "linear", "tree", "naive Bayes"])
def test_alternatives_of_exact_positives(family):
    model, data, everyone, labels = fitted(family)
    rows, baseline = everyone.iloc[::17], BASELINES[1]
    found = pertinent.pertinent_positives(
        model, rows, method="exact", baseline=baseline, data=data, constraints=rules(),
        alternatives=2,
    )  # fmt: skip
    for i, (place, own) in enumerate(rows.iterrows()):
        away, cost = sizes_and_costs(data, everyone, own, baseline)
        same = labels == labels[place]
        expected = listed_in_order(away[same], cost[same], 3)
        others = found.alternatives[i]
        assert all(a.proved for a in others)
        for other, (size, price) in zip(others, expected[1:], strict=True):
            assert other.objective == size == other.features.sum()
            assert other.closeness == pytest.approx(price, abs=1e-6)


def listed_in_order(masks, costs, count):
    """Return size and cost of the best sets in order, none of which contains another."""
    best = {}
    for mask, cost in zip(masks, costs, strict=True):
        best[tuple(mask)] = min(cost, best.get(tuple(mask), np.inf))
    chosen = []
    for mask, cost in sorted(best.items(), key=lambda m: (sum(m[0]), m[1])):
        if not any((np.array(other) <= np.array(mask)).all() for other, _ in chosen):
            chosen.append((mask, cost))
    return [(sum(mask), cost) for mask, cost in chosen[:count]]


@pytest.mark.parametrize("family", ["binary", "linear", "tree", "QDA"])
def test_alternatives_of_fewest_changes(family):
    model, data, everyone, labels = fitted(family)
    rows = everyone.iloc[::19]
    found = pertinent.pertinent_negatives(
        model, rows, norm="l0", data=data, constraints=rules(), alternatives=2
    )
    explainer = pertinent.Explainer(model, data=data, constraints=rules())
    proved, _ = proved_of_negatives(explainer.setting, found)
    for i, (place, own) in enumerate(rows.iterrows()):
        away, cost = sizes_and_costs(data, everyone, own, own)
        other = labels != labels[place]
        expected = listed_in_order(away[other], cost[other], 3)
        assert (found.objective[i], found.bound[i], proved[i]) == (expected[0][0],) * 3
        assert found.closeness[i] == pytest.approx(expected[0][1], rel=2e-4)
        assert len(found.alternatives[i]) == len(expected) - 1
        for listed, (size, price) in zip(found.alternatives[i], expected[1:], strict=True):
            assert listed.objective == size == listed.features.sum()
            assert listed.closeness == pytest.approx(price, rel=2e-4)
            assert listed.proved


@pytest.mark.matrix(2)
@pytest.mark.parametrize("binned", [False, True], ids=["numbers", "bins"])
@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "QDA"])
def test_sufficient_positives(family, binned):
    model, data, everyone, labels = fitted(family, binned)
    rows = everyone.iloc[::8]
    found = pertinent.pertinent_positives(
        model, rows, method="sufficient", baseline=BASELINES[0], data=data, constraints=rules()
    )
    names = list(everyone.columns)
    assert (found.status == "optimal").all()
    for i, (place, own) in enumerate(rows.iterrows()):
        agrees = (everyone == own).to_numpy()

        def holds(kept, agrees=agrees, place=place):
            alike = agrees[:, list(kept)].all(axis=1)
            return (labels[alike] == labels[place]).all()

        least = min(len(s) for s in subsets(range(len(names))) if holds(s))
        assert found.objective[i] == found.bound[i] == least
        assert holds(np.flatnonzero(found.kept[i]))
    assert (model.predict(found.points) == labels[rows.index]).all()
    explainer = pertinent.Explainer(model, data=data, constraints=rules())
    question = PositiveQuestion(found.baseline, False, ranges=None)
    size, _ = proved_of_positives(explainer.setting, question, found)
    np.testing.assert_array_equal(size, found.objective)


def test_only_allowed_categories_can_overturn_a_sufficient_set():
    model, data, everyone, labels = fitted("binary")
    allowed = rules(categories={"job": ["fixed", "part-time"]})
    rows = everyone[everyone.job == "fixed"].iloc[::3]
    found = pertinent.pertinent_positives(
        model, rows, method="sufficient", baseline=BASELINES[0], data=data, constraints=allowed
    )
    possible = (everyone.job != "none").to_numpy()
    for i, (place, own) in enumerate(rows.iterrows()):
        agrees = (everyone == own).to_numpy()
        sizes = [
            len(s)
            for s in subsets(range(4))
            if (labels[agrees[:, list(s)].all(axis=1) & possible] == labels[place]).all()
        ]
        assert found.objective[i] == min(sizes)


@pytest.mark.parametrize("method", ["exact", "sufficient"])
@pytest.mark.parametrize("family", ["binary", "linear", "tree", "naive Bayes"])
def test_stored_answers_hold_without_a_solver(family, method):
    model, data, everyone, _ = fitted(family)
    explainer = pertinent.Explainer(
        model, data=data, constraints=rules(), baseline=BASELINES[1], method=method
    )
    explanation = explainer.explain(everyone.iloc[[10]])[0]
    checked = pertinent.check(explanation.json(), model)
    assert not [f for f in checked.findings if f.verdict == "refuted"]
    held = [f.claim for f in checked.findings if f.verdict == "holds"]
    assert "no fewer values are enough" in held
