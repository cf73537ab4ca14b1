"""Files whose proof is wrong in exactly one way: the claim that rests on it does not hold."""

import copy
import json

import numpy as np
import pytest
from forgeries import tampered
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.exceptions import InputError
from pertinent.geometry.codec import encode
from pertinent.proofs import HalvingProofs, LagrangeProofs, StrictProofs
from pertinent.proofs.core import SolverBounds
from pertinent.proofs.tangent import CutProofs

ENOUGH, CHANGE = "what was enough", "what would have changed it"
UNKNOWN = "not re-checkable here"


def verdict(document, model, claim):
    (found,) = [f.verdict for f in pertinent.check(document, model).findings if f.claim == claim]
    return found


def with_proofs(stored, part, proofs):
    """Return a file with other proofs in all certificates of a part."""
    document = copy.deepcopy(stored)
    for certificate in document["proof"][part]["certificates"]:
        for block in certificate["certificate"]["blocks"]:
            block["proofs"] = json.loads(json.dumps(encode(proofs)))
    return document


@pytest.mark.parametrize(("multiplier", "cut"), [(-1.0, 1.0), (1.0, 1.0), (-1.0, 0.0)])
def test_negative_multipliers_of_curved_rows_do_not_empty_a_class(multiplier, cut):
    """Between sample and baseline all is of the class: f < 0, and -f + z (x - l)(x - u) > 0."""
    X, y = np.array([[-1.0], [1.0], [8.0], [12.0]]), [0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    explainer = pertinent.Explainer(model, baseline=[0.25], limits_from=None, steps_from=None)
    stored = json.loads(explainer.explain(np.array([[0.5]]))[0].json())
    numbers = (np.array([[number]]) for number in (0.4, multiplier, cut))
    document = with_proofs(stored, "positive", LagrangeProofs(*numbers, np.array([True])))
    document["proof"]["positive"]["status_code"]["values"] = [2]
    assert verdict(document, model, f"{ENOUGH}: there is none") == "refuted"


def test_a_solvers_word_is_no_proof(iris, stored):
    claim = f"{CHANGE} is proved smallest"
    size = np.array(stored["proof"]["negative"]["objective"]["values"])
    document = with_proofs(stored, "negative", SolverBounds(size, "any"))
    assert verdict(stored, iris[0], claim) == "holds"
    assert verdict(document, iris[0], claim) == UNKNOWN


def test_the_nearest_of_one_class_is_not_the_only_one_if_another_class_is_as_near():
    """Scores 0, x - 1 and -x - 1: from 0, both 1 and -1 are as near."""
    model = LogisticRegression().fit(np.arange(6.0)[:, None], [0, 0, 1, 1, 2, 2])
    model.coef_, model.intercept_ = np.array([[0.0], [1.0], [-1.0]]), np.array([0.0, -1.0, -1.0])
    explainer = pertinent.Explainer(model, baseline=[0.0], limits_from=None, steps_from=None)
    document = json.loads(explainer.explain(np.zeros((1, 1)))[0].json())
    for target_place in (1, 2):
        document["proof"]["negative"]["unique_code"]["values"] = [1]
        document["proof"]["negative"]["target_place"]["values"] = [target_place]
        found = verdict(document, model, f"{CHANGE} is the only one of its size")
        assert found == UNKNOWN


@pytest.mark.parametrize("field", ["objective", "bound", "label", "unique_code"])
def test_an_array_of_two_samples_is_refused(iris, stored, field):
    array = stored["proof"]["negative"][field]
    twice = {**array, "shape": [2], "values": array["values"] * 2}
    with pytest.raises(InputError, match=rf"'{field}' has the shape \(2,\)"):
        pertinent.check(tampered(stored, ("proof", "negative", field), twice), iris[0])


def boxed(proof):
    """Return an array of objects that holds a proof."""
    out = np.empty(1, dtype=object)
    out[0] = proof
    return out


@pytest.mark.parametrize(
    "wrap",
    [lambda one: (one,), boxed, lambda one: {one: 0}],
    ids=["a tuple", "an array", "keys of a mapping"],
)
def test_a_number_of_features_hidden_in_a_proof_is_no_distance(wrap):
    """From 0, x = 1 is enough; the file says 3: no mix of sample and baseline has that class."""
    model = LogisticRegression().fit(np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1])
    model.coef_, model.intercept_ = np.array([[1.0]]), np.array([-1.0])
    explainer = pertinent.Explainer(model, baseline=[0.0], limits_from=None, steps_from=None)
    stored = json.loads(explainer.explain(np.zeros((1, 1)))[0].json())
    claim = f"{CHANGE} is proved smallest"
    assert verdict(stored, model, claim) == "holds"
    counted = CutProofs((np.zeros((0, 1)),), wrap(StrictProofs(np.zeros(1), np.array([3.0]))))
    document = with_proofs(stored, "negative", counted)
    for name in ("values", "objective", "closeness", "bound", "closeness_bound"):
        document["proof"]["negative"][name]["values"] = [3.0]
    assert verdict(document, model, claim) == "refuted"


@pytest.mark.parametrize("claim", [4.0, 1e160])
def test_a_claim_too_large_to_compute_with_is_no_proof(claim):
    """From -1 the class of 1 begins at 0; the file says 3, where boxes of 1e160 overflow."""
    model = GaussianNB().fit(np.array([[-1.5], [-0.5], [0.5], [1.5]]), [0, 0, 1, 1])
    model.var_ = np.array([[0.25], [0.5]])
    explainer = pertinent.Explainer(model, baseline=[-1.0], limits_from=None, steps_from=None)
    stored = json.loads(explainer.explain(np.array([[-1.0]]))[0].json())
    document = with_proofs(stored, "negative", HalvingProofs(np.array([claim])))
    assert model.predict([[3.0]])[0] == 1
    weight = document["proof"]["question"]["weights"]["values"][0]
    document["proof"]["negative"]["values"]["values"] = [3.0]
    for name in ("objective", "closeness", "bound", "closeness_bound"):
        document["proof"]["negative"][name]["values"] = [4.0 * weight]
    with np.errstate(over="ignore", invalid="ignore"):
        assert verdict(document, model, f"{CHANGE} is proved smallest") == "refuted"
