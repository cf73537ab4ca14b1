"""Each kind of rule, of sums of trees: proved and compared with every allowed point, or refused."""

import itertools
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import pertinent
from pertinent import Constraints
from pertinent.exceptions import UnsupportedModelError

NAMES = ["a", "b", "c"]
GRID = np.array(list(itertools.product(range(8), repeat=3)), dtype=float)
WITHIN = {name: (0, 7) for name in NAMES}
WHOLE = {"integer": NAMES, "bounds": WITHIN}
PLAIN = np.ones(3)

#: By field of `Constraints`: rules, which points obey them (x is the sample), and costs.
PROVED = {
    "frozen": ({"frozen": ["a"]}, lambda p, x: p[:, 0] == x[0], PLAIN),
    "bounds": ({"bounds": WITHIN | {"b": (2, 6)}}, lambda p, x: abs(p[:, 1] - 4) <= 2, PLAIN),
    "increase_only": ({"increase_only": ["b"]}, lambda p, x: p[:, 1] >= x[1], PLAIN),
    "decrease_only": ({"decrease_only": ["a"]}, lambda p, x: p[:, 0] <= x[0], PLAIN),
    "integer": ({}, lambda p, x: p[:, 0] >= 0, PLAIN),
    "decimals": (
        {"integer": ["a"], "decimals": {"b": 0, "c": 0}},
        lambda p, x: p[:, 0] >= 0,
        PLAIN,
    ),
    "step": (
        {"integer": ["a", "b"], "step": {"c": 2}},
        lambda p, x: (p[:, 2] % 2 == 0) | (p[:, 2] == x[2]),
        PLAIN,
    ),
    "max_changes": ({"max_changes": 1}, lambda p, x: (p != x).sum(axis=1) <= 1, PLAIN),
    "costs": ({"costs": {"a": 3.0}}, lambda p, x: p[:, 0] >= 0, np.array([3.0, 1.0, 1.0])),
}
REFUSED = {
    "relations": ({"relations": ["a <= b"]}, lambda p, x: p[:, 0] <= p[:, 1]),
    "together": (
        {"together": [["a", "b"]]},
        lambda p, x: (p[:, 0] != x[0]) == (p[:, 1] != x[1]),
    ),
}
#: Rules of categories are in test_categories.py; what is inferred is of all kinds.
ELSEWHERE = {"categories", "transitions", "inferred"}


@pytest.fixture(scope="module")
def trained():
    """Return a boosted model, its table, and its labels of all points."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 8, size=(300, 3)).astype(float), columns=NAMES)
    y = (X.a + X.b * (X.c > 3) + rng.normal(0, 1, len(X)) > 6).astype(int)
    model = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(X, y)
    return model, X, model.predict(pd.DataFrame(GRID, columns=NAMES))


def test_every_kind_of_rule_is_here():
    assert {field.name for field in fields(Constraints)} == {*PROVED, *REFUSED, *ELSEWHERE}


@pytest.mark.parametrize("kind", PROVED)
def test_what_is_proved_is_the_nearest_allowed_point(kind, trained):
    model, X, labels = trained
    given, allowed, costs = PROVED[kind]
    found = pertinent.pertinent_negatives(model, X[:10], constraints=Constraints(**WHOLE | given))
    for i, x in enumerate(X[:10].to_numpy()):
        points = GRID[(labels != model.predict(X[i : i + 1])[0]) & allowed(GRID, x)]
        if not len(points):
            assert found.status[i] == "infeasible"
            continue
        assert found.status[i] == "optimal"
        nearest = (np.abs(points - x) @ costs).min()
        np.testing.assert_allclose([found.objective[i], found.bound[i]], nearest)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_ties_features_is_refused_in_three_lines_or_searched(kind, trained):
    model, X, _ = trained
    given, allowed = REFUSED[kind]
    rules = Constraints(**WHOLE | given)
    with pytest.raises(UnsupportedModelError, match=f"Constraints.{kind}") as told:
        pertinent.Explainer(model, data=X, constraints=rules).explain(X[:1])
    assert len(str(told.value).splitlines()) == 3
    result = pertinent.Explainer(model, data=X, constraints=rules, search=True).explain(X[:10])
    found = result.negative
    assert (found.status == "feasible").all()
    assert (found.bound == 0).all()
    for i, x in enumerate(X[:10].to_numpy()):
        point = found.points.iloc[i].to_numpy()[None]
        assert allowed(point, x).all()
    assert (model.predict(found.points) != model.predict(X[:10])).all()
    assert pertinent.check(result[0].json(), model).verdict == "holds"


def test_relations_of_strict_positives_are_kept(trained):
    model, X, _ = trained
    rules = Constraints(relations=["a <= b"])
    found = pertinent.pertinent_positives(
        model, X[:20], method="strict", baseline=3.0, constraints=rules
    )
    for i, x in enumerate(X[:20].to_numpy()):
        sets = np.array(list(itertools.product([False, True], repeat=3)))
        points = np.where(sets, x, 3.0)
        own = model.predict(pd.DataFrame(points, columns=NAMES)) == model.predict(X[i : i + 1])[0]
        right = sets[own & (points[:, 0] <= points[:, 1])]
        if len(right):
            assert found.kept[i].sum() == right.sum(axis=1).min()
        assert found.status[i] == ("optimal" if len(right) else "infeasible")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", ["mixture", "hull"])
def test_plausibility_is_refused_in_three_lines(method, trained):
    model, X, _ = trained
    near = pertinent.Plausibility(X, model.predict(X), method=method)
    with pytest.raises(UnsupportedModelError, match="not supported for") as told:
        pertinent.pertinent_negatives(model, X[:1], plausibility=near)
    assert len(str(told.value).splitlines()) == 3
