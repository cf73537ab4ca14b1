"""Where no answer was found, none is described: it has no size, no features and no bound."""

import copy
import json

import pytest
from forgeries import refuted, resummed
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.proofs import FAILED, FEASIBLE

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)
ENOUGH, CHANGE = "what was enough", "what would have changed it"
#: What was asked, and the part that is forged.
ASKED = {
    "l1": ("negative", {}),
    "l0": ("negative", {"norm": "l0"}),
    "two-phase": ("positive", {}),
    "strict": ("positive", {"method": "strict"}),
    "exact": ("positive", {"method": "exact"}),
    "sufficient": ("positive", {"method": "sufficient"}),
}


@pytest.fixture(scope="module")
def honest():
    """Return one document for each question, without what is said of ranges."""
    out = {}
    for name, (_, how) in ASKED.items():
        explainer = pertinent.Explainer(MODEL, data=X, limits_from=None, steps_from=None, **how)
        out[name] = json.loads(explainer.explain(X[100:101])[0].json())
        del out[name]["proof"]["ranges"]
    return out


def put(document, part, **fields):
    """Return a document whose answer says something else, and shows it."""
    document = copy.deepcopy(document)
    for field, values in fields.items():
        document["proof"][part][field]["values"] = values
    return resummed(document, MODEL)


def failed(part, **said):
    """Return what a search writes down that found nothing, and some words of its own."""
    nothing, nowhere = ["nan"] * 4, [False] * 4
    own = {"sparse_values": nothing, "kept": nowhere, "trivial": [False]}
    if part == "negative":
        own = {"changed": nowhere, "target_place": [-1]}
    sizes = {"objective": ["nan"], "closeness": ["nan"], "bound": [0.0], "closeness_bound": [0.0]}
    rest = {"values": nothing, "status_code": [FAILED], "unique_code": [-1]}
    return {**own, **sizes, **rest, **said}


@pytest.mark.parametrize("name", ASKED)
def test_a_search_that_found_nothing_is_believed(honest, name):
    part = ASKED[name][0]
    checked = pertinent.check(put(honest[name], part, **failed(part)), MODEL)
    assert checked.ok, checked


@pytest.mark.parametrize("field", ["bound", "closeness_bound"])
@pytest.mark.parametrize("name", ASKED)
def test_a_bound_of_nothing_is_refuted(honest, name, field):
    """Whether or not there is an answer: no point is said to be farther than is proved."""
    part = ASKED[name][0]
    document = put(honest[name], part, **failed(part, **{field: [99.0]}))
    claim = f"{CHANGE if part == 'negative' else ENOUGH}: its bound is as said"
    assert refuted(document, MODEL) == [claim]


#: What is said of an answer that there is not; the last ones of positives or of negatives only.
SAID = {"objective": [2.0], "closeness": [2.0], "unique_code": [0]}
OWN = {
    "positive": {**SAID, "kept": [True] * 4, "trivial": [True], "fallback": [True]},
    "negative": {**SAID, "changed": [False, True, False, False]},
}


@pytest.mark.parametrize(
    ("name", "field"), [(name, field) for name in ASKED for field in OWN[ASKED[name][0]]]
)
def test_details_of_nothing_are_refuted(honest, name, field):
    part = ASKED[name][0]
    document = put(honest[name], part, **failed(part, **{field: OWN[part][field]}))
    claim = f"{CHANGE if part == 'negative' else ENOUGH}: its details are as said"
    assert claim in refuted(document, MODEL)


@pytest.mark.parametrize(
    ("name", "field", "claim"),
    [
        ("l0", "objective", "it changes as few features as said"),
        ("strict", "closeness", "its distance to the sample is as said"),
        ("sufficient", "closeness", "its distance to the sample is as said"),
    ],
)
def test_a_size_that_is_larger_than_it_is(honest, name, field, claim):
    """More features, or farther away, than the answer that is shown."""
    part, free = ASKED[name][0], {"status_code": [FEASIBLE], "unique_code": [-1]}
    document = put(honest[name], part, **free, **{field: [3.0]})
    assert refuted(document, MODEL) == [claim]


@pytest.fixture(scope="module")
def already():
    explainer = pertinent.Explainer(MODEL, data=X, limits_from=None, steps_from=None)
    document = json.loads(explainer.explain(X[100:101], target=2)[0].json())
    del document["proof"]["ranges"]
    return document


@pytest.mark.parametrize("field", ["objective", "bound", "closeness", "closeness_bound"])
def test_a_sample_that_is_there_already_has_no_way_to_go(already, field):
    assert pertinent.check(put(already, "negative"), MODEL).ok
    document = put(already, "negative", **{field: [1.0]})
    assert refuted(document, MODEL) == [f"{CHANGE}: nothing has to"]
