import copy
import importlib
import inspect
import json
import pkgutil

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.tree import DecisionTreeClassifier

import pertinent
import pertinent.certificate
from pertinent.certificate import Proofs
from pertinent.certificate._records import UnknownProofs, _name_of, decode
from pertinent.demo import explain_applicants, train_credit_model
from pertinent.exceptions import InputError
from pertinent.lvq import GMLVQ
from pertinent.rebuilding import rebuild
from pertinent.views.summary import summarize


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
        if ours and cls is not UnknownProofs and not inspect.isabstract(cls):
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


# -- Forgeries: files that agree with themselves, and are false ------------------------------


def _resummed(document, model):
    """Make the summary say what the forged answers say."""
    rebuilt = rebuild(document, model)
    steps = np.asarray(decode(document["proof"]["question"]["steps"]), dtype=float)
    own = json.loads(json.dumps(summarize(rebuilt, [0], steps)[0]))
    document["summary"] = {**own, "id": document["summary"]["id"]}
    return document


def _refuted(document, model):
    checked = pertinent.check(document, model)
    assert checked.verdict == "refuted", checked
    return [f.claim for f in checked.findings if f.verdict == "refuted"]


@pytest.mark.parametrize("part", ["positive", "negative"])
@pytest.mark.parametrize("region", [["is", 0], ["is", 2], ["not", 0], ["not", 2]])
def test_a_proof_about_another_region_is_refuted(iris, stored, part, region):
    path = ("proof", part, "certificates", 0, "region")
    claims = _refuted(_tampered(stored, path, region), iris[0])
    assert any("its proof is about what was asked" in claim for claim in claims)


def test_what_was_asked_is_stored(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X)
    for target in (None, 2):
        one = explainer.explain(X[:1], target=target)[0]
        document = json.loads(one.json())
        assert document["proof"]["question"]["target"] == target
        assert pertinent.check(document, model).ok
    assert _refuted(_tampered(document, ("proof", "question", "target"), None), model)
    assert _refuted(_tampered(document, ("proof", "question", "target"), 1), model)
    del document["proof"]["question"]["target"]
    with pytest.raises(InputError, match="does not say which class was asked for"):
        pertinent.check(document, model)


def test_a_distant_class_does_not_prove_the_nearest(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X)
    document = json.loads(explainer.explain(X[:1], target=2)[0].json())
    negative, x = document["proof"]["negative"], X[0]
    weights = np.array(document["proof"]["question"]["weights"]["values"])
    size = negative["objective"]["values"][0]
    other = x.copy()
    for length in np.linspace(0, 5, 500):
        other[2] = x[2] + length
        other[1] = x[1] + (size - weights[2] * length) / weights[1]
        if other[1] >= x[1] and model.predict(other[None])[0] == 1:
            break
    assert model.predict(other[None])[0] == 1
    negative["values"]["values"] = other.tolist()
    negative["objective"]["values"] = [float(weights @ np.abs(other - x))]
    negative["closeness"]["values"] = negative["objective"]["values"]
    negative["target_place"]["values"] = [1]
    negative["changed"]["values"] = (other != x).tolist()
    assert _refuted(_resummed(document, model), model)
    document["proof"]["question"]["target"] = None
    assert _refuted(document, model)


def test_the_sample_itself_is_no_contrast(iris, stored):
    document, sample = copy.deepcopy(stored), stored["proof"]["question"]["sample"]
    negative = document["proof"]["negative"]
    negative["values"]["values"] = sample
    for key in ("objective", "closeness", "bound", "closeness_bound"):
        negative[key]["values"] = [0.0]
    negative["target_place"]["values"] = negative["label"]["values"]
    negative["changed"]["values"] = [False] * 4
    assert _refuted(_resummed(document, iris[0]), iris[0])


def test_the_same_proof_twice_proves_no_more(iris):
    model, X = iris
    explainer = pertinent.Explainer(model, data=X, method="sufficient")
    document = json.loads(explainer.explain(X[60:61])[0].json())
    positive = document["proof"]["positive"]
    assert positive["objective"]["values"][0] < 4
    positive["certificates"] *= 3
    positive["kept"]["values"], positive["objective"]["values"] = [True] * 4, [4.0]
    positive["values"]["values"] = positive["sparse_values"]["values"] = X[60].tolist()
    claims = _refuted(_resummed(document, model), model)
    assert "no fewer values are enough" in claims


def test_a_number_of_features_is_no_distance(iris, stored):
    model, X = iris
    for method in ("strict", "exact"):
        counted = pertinent.Explainer(model, data=X, method=method).explain(X[60:61])[0]
        other = json.loads(counted.json())["proof"]["positive"]["certificates"]
        path = ("proof", "positive", "certificates")
        claims = _refuted(_tampered(stored, path, other), model)
        assert any("its proof is about what was asked" in claim for claim in claims)


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("negative", "unique_code", [0]),
        ("positive", "unique_code", [0]),
        ("negative", "bound", [99.0]),
        ("positive", "bound", [99.0]),
        ("positive", "closeness_bound", [99.0]),
        ("negative", "closeness_bound", [99.0]),
        ("positive", "trivial", "flip"),
        ("positive", "kept", [True] * 4),
        ("negative", "changed", [True] * 4),
        ("negative", "reason", ["because"]),
        ("negative", "label", [0]),
    ],
)
def test_every_detail_of_the_answers_is_checked(iris, stored, part, field, value):
    document = copy.deepcopy(stored)
    record = document["proof"][part][field]
    record["values"] = [not record["values"][0]] if value == "flip" else value
    assert _refuted(_resummed(document, iris[0]), iris[0])


def test_overlap_that_nobody_asked_to_avoid_is_refuted(iris, stored):
    document = _tampered(stored, ("proof", "question", "avoided"), True)
    assert _refuted(_resummed(document, iris[0]), iris[0])


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("rules", "constraints"), "income frozen"),
        (("rules", "measure"), "units"),
        (("rules", "between"), False),
        (("rules", "baseline"), "mean"),
        (("rules", "margin"), 1.0),
        (("reasons",), {"positive": "x", "negative": "y"}),
        (("prediction_text",), "rejected"),
        (("subject",), "applicant"),
        (("model",), "SVC"),
        (("classes",), [2, 1, 0]),
        (("features", 0, "text"), "another"),
        (("features", 0, "unit"), "miles"),
        (("features", 0, "low"), -5.0),
        (("negative", "target_text"), "approved"),
        (("verified",), True),
    ],
)
def test_everything_shown_is_compared(iris, stored, path, value):
    claims = _refuted(_tampered(stored, ("summary", *path), value), iris[0])
    assert claims == ["what is shown is what was checked"]


def test_words_are_checked_and_what_nobody_can_check_is_listed(iris):
    model, X = iris
    wording = pertinent.Wording(names={"x0": "length"}, labels={0: "first"}, subject="flower")
    one = pertinent.Explainer(model, data=X, wording=wording).explain(X[:1])[0]
    checked = pertinent.check(one.json(), model)
    assert checked.ok
    assert [f.verdict for f in checked.findings].count("taken as given") == 1


def test_uniqueness_that_is_not_shown_is_never_ok():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X, y)
    document = json.loads(pertinent.Explainer(model, data=X).explain(X[60:61])[0].json())
    assert document["proof"]["negative"]["unique_code"]["values"] == [-1]
    document["proof"]["negative"]["unique_code"]["values"] = [1]
    assert not pertinent.check(_resummed(document, model), model).ok


def test_ties_are_shown_by_another_answer():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    model.coef_[:] = 1.0
    explainer = pertinent.Explainer(model, baseline=0.0, between=False)
    result = explainer.explain(X[:5])
    assert (result.negative.unique_code == 0).any()
    for explanation in result:
        assert pertinent.check(explanation.json(), model).verdict != "refuted"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("question", "margin"), "x"),
        (("question", "margin"), -1.0),
        (
            ("negative", "values"),
            {"type": "array", "of": "float", "shape": [1, 3], "values": [1, 2, 3]},
        ),
        (("negative", "target_place", "values"), [9]),
        (("positive", "method"), "magic"),
        (("negative", "norm"), "l7"),
        (("question", "steps"), None),
        (("question", "target"), "no such class"),
    ],
)
def test_odd_files_are_refused_in_words(iris, stored, path, value):
    with pytest.raises(InputError):
        pertinent.check(_tampered(stored, ("proof", *path), value), iris[0])


def test_optimal_answers_in_single_precision_hold():
    """The checker grants single precision what the answers were granted, and no more."""
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    model = LogisticRegression(max_iter=200).fit(X, y)
    result = pertinent.Explainer(model, data=X).explain(X[:6])
    assert (result.negative.status == "optimal").all()
    assert [pertinent.check(result[i], model).verdict for i in range(6)] == ["holds"] * 6
