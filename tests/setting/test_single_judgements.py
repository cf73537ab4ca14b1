"""Each single question of the judge: a point that is wrong in exactly this way is not valid."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pertinent import Constraints, Plausibility
from pertinent.geometry.arrays import FloatArray
from pertinent.models.steps.pipeline import features_of
from pertinent.setting.answers import Ask, RowRules
from pertinent.setting.claims.shown import at_most
from pertinent.setting.judge import handed_out, judge
from pertinent.setting.region_key import Kind
from pertinent.setting.setting import Setting
from pertinent.tables.reading import read_table

#: Two classes on a line: 1 where x0 > 0; x1 does not matter.
X = np.random.default_rng(0).normal(size=(60, 2))


def linear(coefficients):
    """Return a model of two classes or more with given coefficients, and no intercept."""
    model, classes = LogisticRegression(), max(2, len(coefficients))
    model.fit(X, np.arange(len(X)) % classes)
    model.coef_, model.intercept_ = np.array(coefficients), np.zeros(len(coefficients))
    return model


MODEL = linear([[1.0, 0.0]])


def verdicts(points, kind=Kind.IS, low=-np.inf, high=np.inf, rules=None, model=MODEL, **more):
    """Return what is said of points that are to have class 1, for samples at -1."""
    points: FloatArray = np.array(points, dtype=float)
    samples = np.full(points.shape, -1.0)
    features = features_of(model, samples, False)
    setting = Setting(model, features, np.ones(2), rules or Constraints(), 0.0, **more)
    labels = np.ones(len(points), dtype=int)
    ends = np.full(points.shape, low), np.full(points.shape, high)
    ask = Ask(read_table(features, samples), points, kind, labels, *ends, RowRules(None, True))
    return judge(setting, ask, points).valid.tolist()


def test_the_class():
    assert verdicts([[0.5, 0.0], [-0.5, 0.0]]) == [True, False]
    assert verdicts([[0.5, 0.0], [-0.5, 0.0]], kind=Kind.NOT) == [False, True]


def test_the_probability():
    """The log odds are x0: 1 is 73%."""
    assert verdicts([[1.0, 0.0], [0.5, 0.0]], min_proba=0.7) == [True, False]


def test_the_probability_among_several_classes():
    """Odds of exp(x0) to 2: at 2 they are 79%, at 1 they are 58%."""
    three = linear([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    assert verdicts([[2.0, 0.0], [1.0, 0.0]], model=three, min_proba=0.7) == [True, False]


def test_what_rounds():
    """At 1e-320 the score is rounded by as much as it is large."""
    assert verdicts([[1e-300, 0.0], [0.0, 0.0]]) == [True, False]


def test_what_rounds_whatever_is_predicted():
    """x0 - x1 > 0: between 1 and the next number, another order of summation may say otherwise."""
    next_one, steep = np.nextafter(1.0, 2.0), linear([[1.0, -1.0]])
    assert steep.predict([[next_one, 1.0]]).tolist() == [1]
    assert verdicts([[1.5, 1.0], [next_one, 1.0]], model=steep) == [True, False]


def test_points_are_judged_as_they_are_handed_out():
    """In single precision 1 + 2**-30 is 1, which is within the limits, and not above."""
    samples = np.full((1, 2), -1.0, dtype=np.float32)
    features = features_of(MODEL, samples, False)
    ends = np.full((1, 2), -np.inf), np.full((1, 2), np.inf)
    labels, point = np.ones(1, dtype=int), np.array([[1.0 + 2.0**-30, 0.0]])
    rules = RowRules(None, True)
    ask = Ask(read_table(features, samples), point, Kind.IS, labels, *ends, rules)
    assert handed_out(ask, point).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("point", [[2.1, 0.0], [0.5, 2.1]])
def test_the_limits(point):
    assert verdicts([[0.5, 0.0], point], high=2.0) == [True, False]
    assert verdicts([[0.5, 0.0], [0.5, -2.1]], low=-2.0) == [True, False]


def test_the_rules():
    assert verdicts([[2.0, 0.0], [2.5, 0.0]], rules=Constraints(relations=["x0 <= 2.2"])) == [
        True,
        False,
    ]
    assert verdicts([[2.0, 0.5], [2.5, 0.5]], rules=Constraints(integer=[0])) == [True, False]


def test_the_density():
    given = Plausibility(X, X[:, 0] > 0, n_components=1, quantile=0.1)
    within = given.bind(features_of(MODEL, X, False), MODEL.classes_)
    assert verdicts([[0.7, 0.0], [50.0, 0.0]], within=within) == [True, False]


def test_no_bound_is_larger_than_what_is_said_proved_or_reached():
    said, proved, size = np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0]), np.array([2.0] * 3)
    assert at_most(said, proved, size).tolist() == [1.0, 1.0, 2.0]
    none = np.array([np.nan] * 3)
    assert at_most(said, proved, none).tolist() == [1.0, 1.0, 2.0]
