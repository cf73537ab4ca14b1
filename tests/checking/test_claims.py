"""What the library itself stores holds, and no more than it shows."""

import copy
import json

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
from pertinent.demo import explain_applicants, train_credit_model
from pertinent.geometry.codec import encode
from pertinent.lvq import GMLVQ

pytestmark = pytest.mark.matrix(2)


def test_linear_explanations_hold(iris):
    model, X = iris
    for overlap in ("allow", "avoid"):
        explainer = pertinent.Explainer(model, data=X, overlap=overlap)
        for explanation in explainer.explain(X[::15]):
            checked = pertinent.check(explanation.json(), model)
            assert checked.ok, checked


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(max_iter=1000), GaussianNB(), DecisionTreeClassifier(max_depth=4)],
    ids=lambda model: type(model).__name__,
)
def test_that_the_change_cannot_keep_off_what_was_enough_is_proved(model):
    X, y = load_iris(return_X_y=True)
    model = clone(model).fit(X, y)
    ranges = {j: (X[:, j].min(), X[:, j].max()) for j in range(4)}
    rules = pertinent.Constraints(bounds=ranges)
    explainer = pertinent.Explainer(model, data=X, overlap="avoid", constraints=rules)
    result = explainer.explain(X[::10], batch_size=4)
    assert not result.avoided.all()
    for explanation in result:
        checked = pertinent.check(explanation.json(), model)
        assert checked.ok, checked
    # The proof is needed, and is about this sample's positive.
    stored = json.loads(result[int(np.flatnonzero(~result.avoided)[0])].json())
    claim = "no change keeps off what was enough"
    nothing_kept = encode(np.zeros((1, 4), dtype=bool))
    for part, name, forged, verdict in (
        ("negative", "avoiding_certificates", [], "not re-checkable here"),
        ("positive", "kept", nothing_kept, "refuted"),
    ):
        document = copy.deepcopy(stored)
        document["proof"][part][name] = forged
        findings = {f.claim: f.verdict for f in pertinent.check(document, model).findings}
        assert findings[claim] == verdict


@pytest.mark.parametrize("margin", [1e-6, 1e-3, 0.05])
def test_explanations_with_a_margin_hold(iris, margin):
    """A margin makes pieces of the other classes: all but one are seen to lose."""
    model, X = iris
    for explanation in pertinent.Explainer(model, data=X, margin=margin).explain(X[::15]):
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


@pytest.mark.matrix(2)
@pytest.mark.parametrize("method", ["strict", "exact", "sufficient"])
@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=5000), DecisionTreeClassifier(random_state=0)]
)
def test_exact_positives_are_checked_by_their_number(method, model):
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = clone(model).fit(X, y)
    explanations = pertinent.Explainer(model, data=X, method=method).explain(X.iloc[::60])
    for explanation in explanations:
        stored = json.loads(explanation.json())
        checked = pertinent.check(stored, model)
        assert checked.ok, [f for f in checked.findings if f.verdict != "holds"]
        assert "no fewer values are enough" in [f.claim for f in checked.findings]
        # One feature more is claimed to be needed than is.
        stored["proof"]["positive"]["objective"]["values"][0] += 1
        assert not pertinent.check(stored, model).ok


def test_words_are_checked_and_what_nobody_can_check_is_listed(iris):
    model, X = iris
    wording = pertinent.Wording(names={"x0": "length"}, labels={0: "first"}, subject="flower")
    one = pertinent.Explainer(model, data=X, wording=wording).explain(X[:1])[0]
    checked = pertinent.check(one.json(), model)
    assert checked.ok
    assert [f.verdict for f in checked.findings].count("taken as given") == 1


def test_ties_are_shown_by_another_answer():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    model.coef_[:] = 1.0
    explainer = pertinent.Explainer(model, baseline=0.0, between=False)
    result = explainer.explain(X[:5])
    assert (result.negative.unique_code == 0).any()
    for explanation in result:
        assert pertinent.check(explanation.json(), model).verdict != "refuted"


def test_optimal_answers_in_single_precision_hold():
    """The checker grants single precision what the answers were granted, and no more."""
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    model = LogisticRegression(max_iter=200).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None)
    result = explainer.explain(X[:6])
    assert (result.negative.status == "optimal").all()
    assert [pertinent.check(result[i], model).verdict for i in range(6)] == ["holds"] * 6


def test_another_model_refutes(iris, stored):
    model, X = iris
    other = LogisticRegression(max_iter=1000, C=0.01).fit(X, model.predict(X))
    assert pertinent.check(stored, other).verdict == "refuted"


def test_unknown_proofs_are_never_ok(iris, stored):
    document = copy.deepcopy(stored)
    for part in document["proof"]["negative"]["certificates"]:
        for block in part["certificate"]["blocks"]:
            block["proofs"] = {"type": "crystal-ball"}
    checked = pertinent.check(document, iris[0])
    assert checked.verdict == "not re-checkable here"
    assert not checked.ok
    assert "crystal-ball" in str(checked)


def test_an_answer_made_the_only_one_by_an_idle_row_is_shown_to_be():
    """Multipliers of the optimum alone leave ties; those stored with it charge for each of them."""
    model = LogisticRegression()
    model.n_features_in_ = 2
    model.coef_ = np.array([[0.0, -1.0], [-2.0, 1.0], [-2.0, -1.0], [0.0, 0.0], [-2.0, 2.0]])
    model.intercept_, model.classes_ = np.array([1.0, 2.0, -2.0, 1.0, -1.0]), np.arange(5)
    rules = pertinent.Constraints(bounds={0: (-3, 3), 1: (-3, 3)})
    explainer = pertinent.Explainer(model, baseline=0.0, constraints=rules)
    one = explainer.explain(np.array([[2.0, 0.0]]), target=1)[0]
    stored = json.loads(one.json())
    checked = pertinent.check(stored, model)
    claim = "what would have changed it is the only one of its size"
    assert claim in [f.claim for f in checked.findings]
    assert checked.ok, checked
    # Without those multipliers nothing shows it.
    blocks = stored["proof"]["negative"]["certificates"][0]["certificate"]["blocks"]
    del blocks[1:]
    checked = pertinent.check(stored, model)
    assert [f.claim for f in checked.findings if f.verdict == "not re-checkable here"] == [claim]


@pytest.mark.parametrize("seed", [0, 8, 20, 26, 58])
def test_the_library_never_claims_what_its_own_check_refutes(seed):
    """Small whole numbers: ties, corners, and samples on the very boundary."""
    rng = np.random.default_rng(seed)
    classes, d = rng.choice([1, 3, 4, 5]), rng.integers(2, 5)
    model = LogisticRegression()
    model.coef_ = rng.integers(-2, 3, (classes, d)).astype(float)
    model.intercept_ = rng.integers(-2, 3, classes).astype(float)
    model.classes_, model.n_features_in_ = np.arange(max(2, classes)), int(d)
    X = rng.integers(-2, 3, (4, d)).astype(rng.choice([np.float32, np.float64]))
    rules = pertinent.Constraints(bounds={0: (-3, 3), 1: (-3, 3)})
    explainer = pertinent.Explainer(model, baseline=0.0, between=seed % 2 == 1, constraints=rules)
    for explanation in explainer.explain(X):
        checked = pertinent.check(explanation, model)
        assert checked.verdict != "refuted", checked


def test_a_proof_about_fewer_features_than_the_answer_keeps_is_not_stored():
    """It says nothing of the answer, which is then "feasible"; its file holds all the same."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (20, 3)).astype(float), (rng.random(20) < 0.4).astype(int)
    model = KNeighborsClassifier(1).fit(X, y)
    rules = pertinent.Constraints(bounds={j: (0, 4) for j in range(3)}, integer=[0, 1, 2])
    how = {"baseline": np.full(3, 2.0), "between": False, "constraints": rules}
    explained = pertinent.Explainer(model, method="exact", **how).explain(X[:1])
    assert explained.positive.status.tolist() == ["feasible"]
    checked = pertinent.check(explained[0].json(), model)
    assert checked.verdict == "holds", str(checked)
