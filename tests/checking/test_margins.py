"""A margin that is asked for is kept by every point of a file; one that is only claimed is not."""

import json
from functools import cache

import numpy as np
import pytest
from forgeries import resummed
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import pertinent
from pertinent.exceptions import InputError
from pertinent.lvq import GLVQ
from pertinent.proofs import FEASIBLE

pytestmark = pytest.mark.matrix(2)

X, y = load_iris(return_X_y=True)
SOME = np.arange(0, 150, 6)
ENOUGH, CHANGE = "what was enough", "what would have changed it"
INSIDE = "lies inside its class by the margin asked for"


def tree(seed):
    return DecisionTreeClassifier(max_depth=2, random_state=seed)


FAMILIES = {
    "linear": LogisticRegression(max_iter=1000),
    "discriminant": LinearDiscriminantAnalysis(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "quadratic": QuadraticDiscriminantAnalysis(reg_param=0.1),
    "separable": GaussianNB(),
    "prototypes": GLVQ(max_iter=20, random_state=0),
    "centroids": NearestCentroid(),
    "neighbours": KNeighborsClassifier(1),
    "tree": tree(0),
    "forest": RandomForestClassifier(5, max_depth=2, random_state=0),
    "votes": VotingClassifier([("one", tree(1)), ("two", tree(2)), ("three", tree(3))]),
    "counts": MultinomialNB(),
    "ridge": Ridge(),
    "regression tree": DecisionTreeRegressor(max_depth=2, random_state=0),
}


@cache
def fitted(name, unit=1.0):
    rows = SOME if name == "neighbours" else slice(None)
    target = X[:, 3] if name in ("ridge", "regression tree") else y
    model = clone(FAMILIES[name]).fit(X[rows] * unit, target[rows])
    return model if target is y else pertinent.RangeClassifier(model, 1.0, 1.6)


def explained(name, row=55, unit=1.0, number=np.float64, **how):
    """Return one explanation as it is stored, without ranges and what stands in."""
    data = (X * unit).astype(number)
    how = {"limits_from": None, "steps_from": None} | how
    explainer = pertinent.Explainer(fitted(name, unit), data=data, **how)
    return json.loads(explainer.explain(data[row : row + 1])[0].json())


def bare(document):
    for part in ("ranges", "instead"):
        document["proof"].pop(part, None)
    return document


def unproved(document, *parts):
    """Claim of the points that they are answers, and nothing more."""
    for part in parts:
        record = document["proof"][part]
        if record["status_code"]["values"][0] == 0:
            record["status_code"]["values"], record["unique_code"]["values"] = [FEASIBLE], [-1]
            record["bound"]["values"] = record["closeness_bound"]["values"] = [0.0]
    return document


def claiming(document, margin, model):
    document["proof"]["question"]["margin"] = margin
    return resummed(document, model)


def refuted(document, model):
    return [f.claim for f in pertinent.check(document, model).findings if f.verdict == "refuted"]


def claims_too_much(name, margin, **how):
    """Return what is refuted of points that are called no more than answers, with a margin."""
    document, model = bare(explained(name, **how)), fitted(name)
    return refuted(claiming(unproved(document, "positive", "negative"), margin, model), model)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_margin_that_is_only_claimed_is_refuted(name):
    assert claims_too_much(name, 0.0) == []
    assert f"{CHANGE} {INSIDE}" in claims_too_much(name, 1e-3)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.matrix(4)
def test_the_same_of_the_fewest_changes(name):
    assert claims_too_much(name, 0.0, norm="l0") == []
    assert f"{CHANGE} {INSIDE}" in claims_too_much(name, 0.1, norm="l0")


@pytest.mark.parametrize("method", ["two-phase", "strict", "exact"])
def test_what_was_enough_is_looked_at_too(method):
    assert f"{ENOUGH} {INSIDE}" in claims_too_much("linear", 1.0, row=100, method=method)


def test_what_is_enough_whatever_the_others_are():
    wrong = claims_too_much("linear", 3.0, row=0, method="sufficient")
    assert "it holds whatever the other values are" in wrong


def test_the_point_of_the_first_phase_is_looked_at_too():
    document = bare(explained("linear", 100, margin=0.1))
    model, record = fitted("linear"), document["proof"]["positive"]
    assert pertinent.check(resummed(document, model), model).ok
    plain = bare(explained("linear", 100))["proof"]["positive"]
    for part in ("sparse_values", "objective"):
        record[part] = plain[part]
    wrong = refuted(resummed(unproved(document, "positive"), model), model)
    assert f"{ENOUGH}: its details are as said" in wrong
    assert f"{ENOUGH} {INSIDE}" not in wrong


def test_each_alternative_is_looked_at():
    document = bare(explained("linear", margin=0.1, alternatives=2))
    model, record = fitted("linear"), document["proof"]["negative"]
    assert pertinent.check(resummed(document, model), model).ok
    assert len(record["alternatives"][0]) == 2
    plain = bare(explained("linear", alternatives=2))["proof"]["negative"]
    record["alternatives"] = plain["alternatives"]
    for other in record["alternatives"][0]:
        other["proved"], other["why"] = False, []
    wrong = refuted(resummed(document, model), model)
    assert wrong == [f"{CHANGE}: each alternative lies inside its class by the margin"]


def test_what_stands_in_is_looked_at():
    document, model = explained("linear"), fitted("linear")
    document["proof"].pop("ranges")
    assert pertinent.check(claiming(document, 0.0, model), model).ok
    wrong = refuted(claiming(document, 1.0, model), model)
    assert f"in its place: {ENOUGH} {INSIDE}" in wrong


@pytest.mark.parametrize("number", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(
    "name", ["discriminant", "pipeline", "separable", "tree", "forest", "centroids"]
)
@pytest.mark.matrix(4)
def test_a_margin_that_was_asked_for_holds_in_any_unit(name, unit, number):
    own = 1.0 if name == "pipeline" else unit  # its model's features have the unit 1
    for margin in (0.0, 0.05 * own):
        document = explained(name, unit=unit, number=number, margin=margin)
        assert document["proof"]["negative"]["status_code"]["values"][0] <= FEASIBLE
        checked = pertinent.check(document, fitted(name, unit))
        assert checked.verdict != "refuted", checked


def test_texts():
    texts = ["good film", "bad film", "good good plot", "bad plot bad", "good", "bad"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, [1, 0, 1, 0, 1, 0])
    counts = model[0].transform(texts).toarray().astype(float)
    explainer = pertinent.Explainer(model[1], data=counts, margin=0.2)
    document = json.loads(explainer.explain(counts[:1])[0].json())
    assert pertinent.check(document, model[1]).ok
    document = unproved(bare(document), "positive", "negative")
    wrong = refuted(claiming(document, 3.0, model[1]), model[1])
    assert f"{CHANGE} {INSIDE}" in wrong


@pytest.mark.parametrize("margin", [-1.0, float("nan"), float("inf")])
def test_what_is_no_margin_is_refused(margin):
    document = bare(explained("linear"))
    document["proof"]["question"]["margin"] = margin
    with pytest.raises(InputError, match="margin"):
        pertinent.check(document, fitted("linear"))
