"""Numbers in steps, as a rule: of what is allowed, said, refused and stored."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent import Constraints
from pertinent.exceptions import InputError
from pertinent.rules.obeyed import broken_rules
from pertinent.tables.features import Features


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return LogisticRegression(tol=1e-10).fit(X, X @ [1.0, -2.0, 0.5] > 0.1)


def test_changed_values_are_on_their_steps_and_no_cheaper_point_is(model):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 3)).round(3)
    rules = Constraints(step={0: 0.5, 1: (0.3, 0.1)}, decimals={2: 1}, bounds={0: (-3, 3)})
    found = pertinent.pertinent_negatives(model, X, constraints=rules)
    assert (found.status == "optimal").all()
    for point, own in zip(found.points, X, strict=True):
        assert point[0] == own[0] or (2 * point[0]) % 1 == 0
        assert point[1] == own[1] or abs((point[1] - 0.1) / 0.3 % 1 - 0.5) > 0.5 - 1e-9
        assert point[2] == own[2] or point[2] == round(point[2], 1)
    assert (model.predict(found.points) != model.predict(X)).all()
    axes = np.arange(-6, 7) * 0.5, 0.1 + 0.3 * np.arange(-30, 30), np.arange(-60, 60) / 10
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    for k, own in enumerate(X):
        reach = [np.append(axis, value) for axis, value in zip(axes, own, strict=True)]
        grid = np.stack(np.meshgrid(*reach, indexing="ij"), axis=-1).reshape(-1, 3)
        flips = grid[model.predict(grid) != model.predict(own[None])]
        assert np.abs(flips - own).sum(axis=1).min() >= found.objective[k] - 1e-9


def test_a_stored_step_is_checked(model):
    rules = Constraints(step={0: 0.5, 1: (0.3, 0.1)})
    explainer = pertinent.Explainer(model, baseline=np.array([0.0, 0.1, 0.0]), constraints=rules)
    explanation = explainer.explain(np.array([[0.2, 0.4, -0.3]]))[0]
    assert pertinent.check(explanation.json(), model).verdict == "holds"


def test_a_broken_step_is_named():
    rules = Constraints(step={"a": 0.5, "b": (10, 3)})
    [(rule, rows)] = broken_rules(rules, Features(("a", "b")), np.array([[1.5, 14.0], [2.0, 13.0]]))
    assert (str(rule), rows.tolist()) == ("b in steps of 10", [True, False])


@pytest.mark.parametrize("step", [0, -1, "x", (1, 2, 3), float("nan"), 1 / 3, 1e-20])
def test_a_step_that_makes_no_sense_is_refused(step):
    with pytest.raises(InputError, match="The step of 'a' must be"):
        Constraints(step={"a": step})


def test_a_step_and_decimals_of_one_feature_are_refused(model):
    rules = Constraints(step={0: 0.5}, decimals={0: 1})
    with pytest.raises(InputError, match="a step and decimals"):
        pertinent.pertinent_negatives(model, np.zeros((1, 3)), constraints=rules)


def test_steps_in_words():
    assert str(Constraints(step={"a": 0.5, "b": (10, 3)})) == (
        "a has steps of 0.5; b has steps of 10 from 3"
    )


@pytest.mark.parametrize("method", ["two-phase", "strict", "exact"])
@pytest.mark.parametrize("base", [0.1, 0.7])
@pytest.mark.parametrize("between", [False, True])
def test_a_base_value_in_single_precision_is_one_of_the_steps(base, method, between):
    """Of 0.1 and 0.7 single precision lies above and below: x0 alone is enough for x0 > 1.5."""
    model = LogisticRegression()
    model.coef_, model.intercept_ = np.array([[1.0, 0.001]]), np.array([-1.5])
    model.classes_, model.n_features_in_ = np.array([0, 1]), 2
    X = np.array([[3.0, 0.4]], dtype=np.float32)
    rules = Constraints(integer=[0], decimals={1: 1}, bounds={0: (0, 4), 1: (0, 1)})
    given = {"constraints": rules, "baseline": [0.0, base], "between": between, "method": method}
    found = pertinent.pertinent_positives(model, X, **given)
    assert found.points[0].tolist() == [3.0, np.float32(base)]
    assert found.kept[0].tolist() == [True, False]
    size = 2.0 if method == "two-phase" else 1.0
    assert (found.status[0], found.objective[0]) == ("optimal", size)
    stored = pertinent.Explainer(model, **given).explain(X)[0].json()
    assert pertinent.check(stored, model).verdict == "holds"
