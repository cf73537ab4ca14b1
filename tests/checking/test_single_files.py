"""One file for each single check of a claim: wrong in this way only, and what is said of it."""

import json
import re
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)
NEAREST = KNeighborsClassifier(1).fit(X[::30], y[::30])
ENOUGH, CHANGE = "what was enough", "what would have changed it"
HOLDS, REFUTED, UNKNOWN = "holds", "refuted", "not re-checkable here"
SHOWN = "what is shown is what was checked"
FREE = {"limits_from": None, "steps_from": None}
#: The model, the row, what is asked, and the class asked for.
ASKED = {
    "plain": (MODEL, X[60:61], FREE, None),
    "single": (MODEL, X[60:61].astype(np.float32), FREE | {"alternatives": 2}, None),
    "others": (MODEL, X[60:61], FREE | {"alternatives": 2}, None),
    "kept": (MODEL, X[100:101], {"alternatives": 2, "method": "strict"}, None),
    "fewest": (MODEL, X[60:61], FREE | {"alternatives": 2, "norm": "l0"}, None),
    "off": (MODEL, X[100:101], FREE | {"overlap": "avoid"}, None),
    "already": (MODEL, X[60:61], FREE, 1),
    "apart": (
        MODEL,
        X[:1],
        {"overlap": "avoid", "constraints": pertinent.Constraints(frozen=[0, 1])},
        None,
    ),
    "sufficient": (MODEL, X[100:101], FREE | {"method": "sufficient"}, None),
    "nearest": (NEAREST, X[70:71], FREE | {"method": "sufficient"}, None),
}


@cache
def _stored(name):
    model, row, how, target = ASKED[name]
    explainer = pertinent.Explainer(model, data=X.astype(row.dtype), **how)
    return explainer.explain(row, target=target)[0].json()


def stored(name):
    return json.loads(_stored(name))


def put(*path, values=None, **parts):
    """Return the forgery that puts values into an array, or parts into a record, of the proof."""

    def forge(document):
        record = document["proof"]
        for key in path:
            record = record[key]
        record.update(parts if values is None else {"values": values})

    return forge


def shown(*path, to):
    """Return the forgery that shows something else."""

    def forge(document):
        *above, last = path
        record = document["summary"]
        for key in above:
            record = record[key]
        record[last] = to(record[last]) if callable(to) else to

    return forge


def both(*forgeries):
    def forge(document):
        for one in forgeries:
            one(document)

    return forge


def frozen(document):
    """The first alternative changes a feature that must stay."""
    one = document["proof"]["negative"]["alternatives"][0][0]
    place = one["features"]["values"].index(True)
    document["proof"]["question"]["constraints"]["frozen"] = [place]


def off_the_grid(*path):
    """Return the forgery that moves a point of single precision to a number between two."""

    def forge(document):
        record = document["proof"]
        for key in path:
            record = record[key]
        place = int(np.flatnonzero(np.array(record) != document["proof"]["question"]["sample"])[0])
        record[place] *= 1 + 1e-10

    return forge


def own_class(document):
    """The alternative is the sample itself, and says so."""
    one = document["proof"]["negative"]["alternatives"][0][0]
    one["values"]["values"] = document["proof"]["question"]["sample"]
    one["label"] = 1


def strange_order(document):
    for one in document["proof"]["negative"]["alternatives"][0]:
        for part in one["why"]:
            part["certificate"]["blocks"][0]["proofs"] = {"type": "later"}


def tie(code):
    """Return the forgery that says of another answer, in words only, that it is as good."""

    def forge(document):
        answer = document["proof"]["negative"]
        one = answer["alternatives"][0][0]
        one["objective"], one["closeness"] = (
            answer[key]["values"][0] for key in ("objective", "closeness")
        )
        answer["unique_code"]["values"] = [code]

    return forge


def others(change):
    """Return the forgery of the list of alternatives."""
    return lambda document: change(document["proof"]["negative"]["alternatives"][0])


def flipped(listed):
    listed[0]["features"]["values"] = [not on for on in listed[0]["features"]["values"]]


def again(listed):
    listed[1] = listed[0] | {"why": listed[1]["why"]}


def still(document):
    """A feature that the answer changes must stay."""
    place = document["proof"]["negative"]["changed"]["values"].index(True)
    document["proof"]["question"]["constraints"]["frozen"] = [place]


def word(document):
    """The proof is a solver's word."""
    size = document["proof"]["negative"]["objective"]
    block = document["proof"]["negative"]["certificates"][0]["certificate"]["blocks"][0]
    block["proofs"] = {"type": "solver-bounds", "claimed": size, "solver": "oracle"}


def second(*values):
    """Return the forgery that shows another answer, or the same one where none is given."""

    def forge(document):
        answer = document["proof"]["negative"]
        point = list(values) or answer["values"]["values"]
        answer["unique_code"]["values"] = [0]
        answer["second"] = {"type": "array", "of": "float", "shape": [len(point)], "values": point}

    return forge


OTHERS = f"{CHANGE}: each alternative"
FIRST = ("negative", "alternatives", 0, 0)
SIZE = f"{CHANGE} is not the only one of its size"
LATER = put("question", later=1)
POINT = ("negative", "values", "values")
OTHER = ("negative", "alternatives", 0, 0, "values", "values")
#: The file, the forgery, the claim, and what is said of it.
FORGED = [
    ("others", frozen, f"{OTHERS} obeys the rules", REFUTED),
    ("single", off_the_grid(*OTHER), f"{OTHERS} obeys the rules", REFUTED),
    ("single", off_the_grid(*POINT), f"{CHANGE} obeys the rules", REFUTED),
    ("others", own_class, f"{OTHERS} is predicted as said", REFUTED),
    ("others", put(*FIRST, label=0), f"{OTHERS} is predicted as said", REFUTED),
    ("others", others(flipped), f"{OTHERS} is another set of features", REFUTED),
    ("others", others(again), f"{OTHERS} is another set of features", REFUTED),
    ("others", put(*FIRST, objective=0.01), f"{OTHERS} has the size that is said", REFUTED),
    ("others", put(*FIRST, closeness=0.01), f"{OTHERS} has the size that is said", REFUTED),
    ("others", strange_order, f"{CHANGE}: no alternative that is not listed before is better",
     UNKNOWN),
    ("others", LATER, f"{CHANGE}: no alternative that is not listed before is better", UNKNOWN),
    ("plain", LATER, SHOWN, UNKNOWN),
    ("plain", word, f"{CHANGE} is proved smallest", UNKNOWN),
    ("plain", still, f"{CHANGE} obeys the rules", REFUTED),
    ("plain", put("question", min_proba=0.9999), f"{CHANGE} is predicted as said", REFUTED),
    ("plain", put("negative", "target_place", values=[2]), f"{CHANGE} is predicted as said",
     REFUTED),
    ("plain", put("negative", "objective", values=[0.5]), f"{CHANGE} has the size that is said",
     REFUTED),
    ("plain", put("negative", "changed", values=[False] * 4), f"{CHANGE}: its details are as said",
     REFUTED),
    ("plain", put("negative", "status_code", values=[1]), f"{CHANGE} is the only one of its size",
     REFUTED),
    ("plain", second(), SIZE, REFUTED),
    ("plain", second(1.0, 2.0, 3.0), SIZE, REFUTED),
    ("plain", LATER, f"{CHANGE} is proved smallest", UNKNOWN),
    ("plain", shown("negative", "objective", to=lambda size: size * (1 + 1e-12)), SHOWN, REFUTED),
    ("plain", shown("probability", "after", to=lambda p: p + 1e-7), SHOWN, REFUTED),
    ("plain", shown("negative", "reason", to="It had to be."), SHOWN, REFUTED),
    ("plain", shown("rules", "constraints", to="x0 stays"), SHOWN, REFUTED),
    ("plain", shown("negative", "status", to="feasible"), SHOWN, REFUTED),
    ("plain", put("negative", "unique_code", values=[0]), SIZE, REFUTED),
    ("fewest", put("negative", "unique_code", values=[0]), SIZE, UNKNOWN),
    ("fewest", tie(0), SIZE, HOLDS),
    ("fewest", tie(1), f"{CHANGE} is the only one of its size", UNKNOWN),
    ("already", put("question", target=2), f"{CHANGE}: the sample is predicted as asked already",
     REFUTED),
    ("already", put("negative", "target_place", values=[2]),
     f"{CHANGE}: the sample is predicted as asked already", REFUTED),
    ("already", put("negative", "values", values=[5.0, 3.0, 3.0, 1.0]), f"{CHANGE}: nothing has to",
     REFUTED),
    ("already", put("negative", "unique_code", values=[1]), f"{CHANGE}: nothing has to", REFUTED),
    ("already", put("negative", "reason", asked=["is", 2]), f"{CHANGE}: nothing has to", REFUTED),
    ("already", put("negative", "bound", values=[1.0]), f"{CHANGE}: nothing has to", REFUTED),
    ("apart", put("negative", avoiding_certificates=[]), f"no change keeps off {ENOUGH}", UNKNOWN),
    ("sufficient", LATER, "it holds whatever the other values are", UNKNOWN),
    ("sufficient", put("positive", "kept", values=[False] * 4),
     "it holds whatever the other values are", REFUTED),
    ("nearest", put("positive", closeness_certificates=[]),
     "it holds whatever the other values are", UNKNOWN),
]  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_the_honest_file_holds(name):
    checked = pertinent.check(stored(name), ASKED[name][0])
    assert checked.ok, checked


@pytest.mark.parametrize(
    ("name", "forge", "claim", "verdict"), FORGED, ids=[f"{i}-{f[0]}" for i, f in enumerate(FORGED)]
)
def test_what_is_said_of_a_forged_file(name, forge, claim, verdict):
    document = stored(name)
    forge(document)
    found = pertinent.check(json.loads(json.dumps(document)), ASKED[name][0]).findings
    assert [f.verdict for f in found if f.claim == claim] == [verdict], found


def test_the_kind_of_a_proof_that_is_not_known_is_named():
    document = stored("plain")
    block = document["proof"]["negative"]["certificates"][0]["certificate"]["blocks"][0]
    block["proofs"] = {"type": "later"}
    found = pertinent.check(document, MODEL).findings
    assert {f.detail for f in found if f.verdict == UNKNOWN} == {"proof of unknown kind: later"}


def test_a_model_that_is_not_known_is_refused_as_ever():
    """In its own words, not as a fault of the file."""
    net = MLPClassifier((2,), max_iter=5, random_state=0)
    with pytest.warns(ConvergenceWarning):
        net.fit(X, y)
    with pytest.raises(UnsupportedModelError):
        pertinent.check(stored("plain"), net)


def test_a_file_about_another_kind_of_model():
    """Its proofs cannot be read: that is said, and not that the file is malformed."""
    document = stored("plain")
    del document["proof"]["question"]["middle"]
    with pytest.raises(InputError, match="malformed"):
        pertinent.check(document, MODEL)
    document["summary"]["model"] = "SVC"
    with pytest.raises(InputError, match=re.escape("is about a model of the kind SVC, and this")):
        pertinent.check(document, MODEL)
