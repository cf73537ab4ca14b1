"""Other sets of features that work are stored with the proofs of their order, and checked."""

import copy
import json

import jsonschema
import numpy as np
import pytest
from forgeries import refuted, resummed, tampered
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError

pytestmark = pytest.mark.matrix(2)

X, y = load_iris(return_X_y=True)
LISTED = ("proof", "negative", "alternatives", 0)
EACH = "what would have changed it: each alternative"
ORDER = "what would have changed it: no alternative that is not listed before is better"


def explained(model, row=60, **how):
    explainer = pertinent.Explainer(model, data=X, alternatives=2, **how)
    return json.loads(explainer.explain(X[row : row + 1])[0].json())


@pytest.fixture(scope="module")
def linear():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    return model, explained(model)


@pytest.fixture(scope="module")
def strict():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    document = explained(model, row=100, method="strict")
    assert document["proof"]["positive"]["alternatives"][0]
    return model, document


def numbers(values):
    return {"type": "array", "of": "float", "shape": [len(values)], "values": values}


def flags(count):
    return {"type": "array", "of": "bool", "shape": [count], "values": [True] * count}


def listed(document, part="negative"):
    return document["proof"][part]["alternatives"][0]


@pytest.mark.matrix(2)
@pytest.mark.parametrize(
    "how",
    [{}, {"limits_from": None, "steps_from": None}, {"norm": "l0"}, {"max_changes": 2}],
    ids=str,
)
@pytest.mark.parametrize("target", [None, 2])
def test_alternatives_are_stored_and_hold(how, target):
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, alternatives=2, **how)
    result = explainer.explain(X[55:59], target=target)
    assert sum(map(len, result.negative.alternatives)) >= 3
    for one in result:
        document = json.loads(one.json())
        jsonschema.validate(document, pertinent.json_schema())
        checked = pertinent.check(document, model)
        assert checked.ok, checked
        assert pertinent.Explanation.from_json(one.json()) == one
    ordered = how.get("norm") != "l0"
    assert any(a.proved for some in result.negative.alternatives for a in some) or not ordered


@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminantAnalysis().fit(X, y),
        DecisionTreeClassifier(random_state=0).fit(X, y),
    ],
    ids=["curved", "tree"],
)
@pytest.mark.parametrize("how", [{}, {"limits_from": None, "steps_from": None}], ids=str)
def test_other_models(model, how):
    result = pertinent.Explainer(model, data=X, alternatives=2, **how).explain(X[48:52])
    assert any(result.negative.alternatives)
    for one in result:
        checked = pertinent.check(one.json(), model)
        assert checked.ok, checked


@pytest.mark.parametrize("method", ["strict", "exact"])
def test_alternatives_of_positives_hold(method):
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, alternatives=2, method=method)
    result = explainer.explain(X[100:104])
    assert any(result.positive.alternatives)
    for one in result:
        checked = pertinent.check(one.json(), model)
        assert checked.ok, checked
        assert one.kept_alternatives == [
            {v["feature"]: v["exact"] for v in other["values"]}
            for other in one.summary()["positive"]["alternatives"]
        ]


def test_the_order_is_among_the_claims(linear):
    model, document = linear
    claims = [finding.claim for finding in pertinent.check(document, model).findings]
    assert f"{EACH} is predicted as said" in claims
    assert (
        "what would have changed it: no alternative that is not listed before is better" in claims
    )


# -- Forgeries -------------------------------------------------------------------------------


def test_a_point_of_another_class_is_refuted(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    sample = np.array(document["proof"]["question"]["sample"])
    one = listed(document)[0]
    point = np.array(one["values"]["values"])
    half = sample + (point - sample) / 2
    size = float(np.array(document["proof"]["question"]["weights"]["values"]) @ abs(half - sample))
    one["values"]["values"] = half.tolist()
    one["objective"] = one["closeness"] = size
    assert f"{EACH} is predicted as said" in refuted(resummed(document, model), model)


def test_another_class_that_is_only_said_is_refuted(linear):
    model, stored = linear
    own = listed(stored)[0]["label"]
    other = ({0, 2} - {own}).pop()
    document = tampered(stored, (*LISTED, 0, "label"), other)
    assert f"{EACH} is predicted as said" in refuted(resummed(document, model), model)
    with pytest.raises(InputError, match="of the model's"):
        pertinent.check(tampered(stored, (*LISTED, 0, "label"), 7), model)


def test_a_point_that_breaks_a_rule_is_refuted(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    one = listed(document)[1]
    place = one["features"]["values"].index(True)
    sample = document["proof"]["question"]["sample"][place]
    way = np.sign(one["values"]["values"][place] - sample)
    one["values"]["values"][place] += 0.0123 * way  # the data have one decimal
    weight = document["proof"]["question"]["weights"]["values"][place]
    one["objective"] = one["closeness"] = one["objective"] + 0.0123 * weight
    assert f"{EACH} obeys the rules" in refuted(resummed(document, model), model)


@pytest.mark.parametrize("again", ["the answer", "the first"])
def test_the_same_set_again_is_refuted(linear, again):
    model, stored = linear
    document = copy.deepcopy(stored)
    first, second = listed(document)
    if again == "the first":
        listed(document)[1] = first | {"why": second["why"]}
    else:
        own = document["proof"]["negative"]
        for key in ("values", "objective", "closeness"):
            of = own[key]["values"]
            first[key] = {**first[key], "values": of} if key == "values" else of[0]
        first["features"]["values"] = own["changed"]["values"]
        first["label"] = own["target_place"]["values"][0]
    assert f"{EACH} is another set of features" in refuted(resummed(document, model), model)


def test_features_that_the_point_does_not_change_are_refuted(linear):
    model, stored = linear
    features = listed(stored)[0]["features"]["values"]
    document = tampered(stored, (*LISTED, 0, "features", "values"), [not f for f in features])
    assert f"{EACH} is another set of features" in refuted(resummed(document, model), model)


@pytest.mark.parametrize("key", ["objective", "closeness"])
def test_a_size_that_is_wrong_is_refuted(linear, key):
    model, stored = linear
    document = tampered(stored, (*LISTED, 0, key), 0.01)
    assert f"{EACH} has the size that is said" in refuted(resummed(document, model), model)


def test_alternatives_that_are_shown_only_are_refuted(linear):
    model, stored = linear
    path = ("summary", "negative", "alternatives", 0, "values", 0, "value")
    assert "what is shown is what was checked" in refuted(tampered(stored, path, 99.0), model)
    document = copy.deepcopy(stored)
    document["proof"]["negative"]["alternatives"] = [[]]
    assert "what is shown is what was checked" in refuted(document, model)


def test_alternatives_to_nothing_are_refuted(linear):
    model, stored = linear
    explainer = pertinent.Explainer(model, data=X)
    own = int(model.predict(X[60:61])[0])
    document = json.loads(explainer.explain(X[60:61], target=own)[0].json())
    assert document["summary"]["negative"]["status"] == "already"
    document["proof"]["negative"]["alternatives"] = copy.deepcopy([listed(stored)])
    claims = refuted(resummed(document, model), model)
    assert "what would have changed it: there is an answer to list alternatives to" in claims


def test_an_order_that_skips_the_next_best_is_refuted(linear):
    """The second set is not the next best after the answer, and its proofs do not say so."""
    model, stored = linear
    document = copy.deepcopy(stored)
    first, second = listed(document)
    second["why"] = first["why"] + second["why"]
    document["proof"]["negative"]["alternatives"] = [[second]]
    assert ORDER in refuted(resummed(document, model), model)


def test_proofs_about_other_features_left_alone_are_refuted(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    other = document["proof"]["negative"]["changed"]["values"].index(False)
    for one in listed(document):
        for part in one["why"]:
            part["untouched"]["values"] = [j == other for j in range(4)]
    assert refuted(document, model) == [ORDER]


def test_an_order_without_one_of_its_proofs_is_refuted(linear):
    model, stored = linear
    for place, one in enumerate(listed(stored)):
        document = copy.deepcopy(stored)
        for k in range(len(one["why"])):
            parts = [part for i, part in enumerate(one["why"]) if i != k]
            listed(document)[place]["why"] = parts
            assert pertinent.check(document, model).verdict != "holds"


def test_an_order_whose_proofs_are_of_another_region_is_refuted(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    for one in listed(document):
        for part in one["why"]:
            part["region"] = ["is", 2]
    assert ORDER in refuted(document, model)


def test_an_order_without_any_proof_is_not_known(linear):
    model, stored = linear
    document = copy.deepcopy(stored)
    for one in listed(document):
        one["why"] = []
    checked = pertinent.check(document, model)
    assert checked.verdict == "not re-checkable here"
    assert [f.claim for f in checked.findings if f.verdict == checked.verdict] == [ORDER]


def test_an_order_that_is_only_said_is_not_known():
    model = LogisticRegression(max_iter=1000).fit(X, y)
    document = explained(model, norm="l0")
    assert not any(one["proved"] for one in listed(document))
    listed(document)[0]["proved"] = True
    document["summary"]["negative"]["alternatives"][0]["proved"] = True
    checked = pertinent.check(document, model)
    assert checked.verdict == "not re-checkable here"


def test_kept_values_that_are_not_the_samples_own_are_refuted(strict):
    model, stored = strict
    document = copy.deepcopy(stored)
    one = listed(document, "positive")[0]
    place = one["features"]["values"].index(True)
    one["values"]["values"][place] += 0.1
    claims = refuted(resummed(document, model), model)
    assert "what was enough: each alternative keeps the sample's own values" in claims


def test_a_method_that_lists_none_is_refuted(strict):
    model, stored = strict
    two_phase = explained(model, row=100)
    two_phase["proof"]["positive"]["alternatives"] = [listed(stored, "positive")]
    claims = refuted(resummed(two_phase, model), model)
    assert "what was enough: its method lists alternatives" in claims


# -- What is not known here ------------------------------------------------------------------


@pytest.mark.parametrize("path", [("more",), ("why", 0, "more")])
def test_parts_that_are_not_known_prove_nothing(linear, path):
    model, stored = linear
    document = tampered(stored, (*LISTED, 0, *path), 1)
    assert pertinent.check(document, model).verdict == "not re-checkable here"


def test_a_kind_that_is_not_known_proves_nothing(linear):
    model, stored = linear
    document = tampered(stored, (*LISTED, 1, "type"), "dreamt")
    assert pertinent.check(document, model).verdict != "holds"


@pytest.mark.matrix(1)
@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ((0, "features"), flags(1), "no set of the model's features"),
        ((0, "features"), numbers([1.0] * 4), "no set of the model's features"),
        ((0, "values"), None, "no point of this model"),
        ((0, "values"), numbers([1.0] * 3), "no point of this model"),
        ((0, "values", "values"), ["nan"] * 4, "no point of this model"),
        ((0, "label"), -1, "has the class -1 of the model's"),
        ((0, "why", 0, "untouched"), 3, "no set of the model's features"),
        ((0,), 3, "malformed"),
    ],
)
def test_malformed_alternatives_are_refused(linear, path, value, words):
    model, stored = linear
    with pytest.raises(InputError, match=words):
        pertinent.check(tampered(stored, (*LISTED, *path), value), model)
