import copy
import importlib
import json
import pkgutil

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import pertinent
import pertinent.certificate
from pertinent.certificate import Proofs
from pertinent.certificate._records import UnknownProofs, _name_of
from pertinent.demo import explain_applicants, train_credit_model
from pertinent.exceptions import InputError
from pertinent.lvq import GMLVQ


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return LogisticRegression(max_iter=1000).fit(X, y), X


@pytest.fixture(scope="module")
def stored(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X)
    return json.loads(explainer.explain(X[60:61])[0].json())


def test_linear_explanations_hold(iris):
    model, X = iris
    for overlap in ("allow", "avoid"):
        explainer = pertinent.Explainer(model, data=X, overlap=overlap)
        for explanation in explainer.explain(X[::15]):
            checked = pertinent.check(explanation.json(), model)
            assert checked.ok, checked


def test_single_precision_explanations_hold(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X.astype(np.float32))
    for explanation in explainer.explain(X[::50].astype(np.float32)):
        assert pertinent.check(explanation, model).ok


def test_categories_and_whole_numbers_hold():
    credit = train_credit_model()
    for explanation in explain_applicants(credit, 6):
        checked = pertinent.check(explanation.json(), credit.model)
        assert checked.ok, checked


def test_proofs_of_absence_hold():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = LogisticRegression().fit(X, X[:, 0] + X[:, 1] > 0)
    rules = pertinent.Constraints(frozen=[0, 2], bounds={1: (-0.1, 0.1)})
    explainer = pertinent.Explainer(model, data=X, constraints=rules)
    result = explainer.explain(X)
    none = np.flatnonzero(result.negative.status == "infeasible")
    assert len(none)
    for row in none[:5]:
        checked = pertinent.check(result[int(row)].json(), model)
        assert checked.ok, checked


@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminantAnalysis(reg_param=0.1),
        GaussianNB(),
        KNeighborsClassifier(1),
        NearestCentroid(),
        GMLVQ(random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_explanations_of_every_family_hold(model):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    for explanation in pertinent.Explainer(model, data=X).explain(X[::50]):
        checked = pertinent.check(explanation.json(), model)
        assert checked.verdict == "holds", checked


def test_every_kind_of_proof_can_be_stored():
    for module in pkgutil.iter_modules(pertinent.certificate.__path__):
        importlib.import_module(f"pertinent.certificate.{module.name}")
    waiting = [Proofs]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        ours = cls.__module__.startswith("pertinent.")
        if ours and cls not in (Proofs, UnknownProofs):
            assert _name_of(cls) is not None, f"{cls} needs a name in certificate/_records.py"


def test_another_model_refutes(iris, stored):
    model, X = iris
    other = LogisticRegression(max_iter=1000, C=0.01).fit(X, model.predict(X))
    assert pertinent.check(stored, other).verdict == "refuted"


def _tampered(stored, path, value):
    document = copy.deepcopy(stored)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "claim"),
    [
        (("proof", "negative", "objective", "values", 0), 0.01, "has the size that is said"),
        (("proof", "negative", "values", "values", 2), 1.0, "what would have changed it"),
        (("proof", "positive", "label", "values", 0), 0, "the sample is predicted as said"),
        (("summary", "negative", "values", 0, "value"), 99.0, "what is shown"),
        (("summary", "features", 0, "sample"), 99.0, "what is shown"),
        (("summary", "prediction"), 2, "what is shown"),
    ],
)
def test_every_tampering_is_refuted(iris, stored, path, value, claim):
    checked = pertinent.check(_tampered(stored, path, value), iris[0])
    assert checked.verdict == "refuted"
    assert any(claim in f.claim for f in checked.findings if f.verdict == "refuted")


def test_false_multipliers_prove_nothing(iris, stored):
    document = copy.deepcopy(stored)
    for part in document["proof"]["negative"]["certificates"]:
        for block in part["certificate"]["blocks"]:
            for key in ("multipliers", "multiplier", "rival"):
                if key in block["proofs"]:
                    array = block["proofs"][key]
                    array["values"] = [0 for _ in array["values"]]
    checked = pertinent.check(document, iris[0])
    assert checked.verdict == "refuted"


def test_unknown_proofs_are_never_ok(iris, stored):
    document = copy.deepcopy(stored)
    for part in document["proof"]["negative"]["certificates"]:
        for block in part["certificate"]["blocks"]:
            block["proofs"] = {"type": "crystal-ball"}
    checked = pertinent.check(document, iris[0])
    assert checked.verdict == "not re-checkable here"
    assert not checked.ok
    assert "crystal-ball" in str(checked)


def test_malformed_files_are_refused(iris, stored):
    with pytest.raises(InputError, match="not one number for each"):
        pertinent.check(_tampered(stored, ("proof", "question", "weights"), [1.0, 2.0]), iris[0])
    with pytest.raises(InputError, match="malformed"):
        pertinent.check(_tampered(stored, ("proof", "positive"), {}), iris[0])


def test_a_model_with_other_features_is_refused(stored):
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    with pytest.raises(InputError):
        pertinent.check(stored, model)


def test_probabilities_and_plausibility_hold(iris):
    model, X = iris
    y = model.predict(X)
    sure = pertinent.Explainer(model, data=X, min_proba=0.7)
    for explanation in sure.explain(X[::40]):
        checked = pertinent.check(explanation.json(), model)
        assert checked.ok, checked
        assert "probability of at least 0.7" in explanation.text("long")
    likely = pertinent.Explainer(model, data=X, plausibility=pertinent.Plausibility(X, y))
    for explanation in likely.explain(X[::70]):
        checked = pertinent.check(explanation.json(), model)
        assert checked.ok, checked


def test_rules_that_are_functions_cannot_be_stored():
    credit = train_credit_model()
    rules = pertinent.Constraints(transitions={"job": lambda old, new: old == new})
    result = pertinent.Explainer(credit.model, data=credit.train, constraints=rules).explain(
        credit.applicants[:1]
    )
    with pytest.raises(InputError, match="a Python function, which a file cannot hold"):
        pertinent.check(result[0].json(), credit.model)


@pytest.mark.parametrize("method", ["strict", "exact", "sufficient"])
@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=5000), DecisionTreeClassifier(random_state=0)]
)
def test_exact_positives_are_checked_by_their_number(method, model):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = clone(model).fit(X, y)
    explanations = pertinent.Explainer(model, data=X, method=method).explain(X.iloc[::40])
    for explanation in explanations:
        stored = json.loads(explanation.json())
        checked = pertinent.check(stored, model)
        assert checked.ok, [f for f in checked.findings if f.verdict != "holds"]
        assert "no fewer values are enough" in [f.claim for f in checked.findings]
        # One feature more is claimed to be needed than is.
        stored["proof"]["positive"]["objective"]["values"][0] += 1
        assert not pertinent.check(stored, model).ok
