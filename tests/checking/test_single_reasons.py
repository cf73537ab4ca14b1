"""One false reason for each single check of why there is no answer."""

import copy
import json
from functools import cache

import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pertinent

X, y = load_iris(return_X_y=True)
MODEL = LogisticRegression(max_iter=1000).fit(X, y)
WITHIN = {j: (float(X[:, j].min()), float(X[:, j].max())) for j in range(4)}
HELD = pertinent.Constraints(frozen=[2, 3], bounds=WITHIN)
SETOSA = pertinent.Constraints(bounds={0: (4, 8), 1: (2, 4.5), 2: (0.5, 2.5), 3: (0, 0.6)})
ONE = {"constraints": SETOSA, "between": False, "baseline": [5.0, 3.4, 1.5, 0.2]}
#: The base value 1.5 is below the bounds, what is looked at is above.
BEYOND = pertinent.Constraints(bounds={2: (2, 3)})
#: Setosa only, and neither the base value of x2 nor what is looked at.
SETOSA_BEYOND = pertinent.Constraints(bounds={**SETOSA.bounds, 2: (2, 2.5)})
HULL = pertinent.Plausibility(X, y, method="hull", n_neighbors=8)
#: The part without an answer, its row, the class asked for, and what else is.
ASKED = {
    "held": ("negative", 0, 2, {"constraints": HELD}),
    "fewest": ("negative", 0, 2, {"constraints": HELD, "norm": "l0"}),
    "two-phase": ("positive", 149, None, ONE),
    "two-phase beyond": ("positive", 149, None, {**ONE, "constraints": SETOSA_BEYOND}),
    "strict": ("positive", 149, None, {**ONE, "method": "strict"}),
    "neither": ("positive", 149, None, {**ONE, "constraints": BEYOND, "method": "strict"}),
    "exact": ("positive", 149, None, {**ONE, "method": "exact"}),
    "sufficient": ("positive", 70, None, {"method": "sufficient", "margin": 3.0}),
    "close": ("positive", 70, None, {"method": "strict", "margin": 3.0}),
    "hull": ("negative", 0, None, {"constraints": pertinent.Constraints(frozen=[0, 1]),
                                   "plausibility": HULL}),
}  # fmt: skip
REASON, NEEDED = "the reason is as said", "each of the rules named is needed"
HOLDS, REFUTED, UNKNOWN = "holds", "refuted", "not re-checkable here"


@cache
def _stored(name):
    _, row, target, how = ASKED[name]
    explainer = pertinent.Explainer(MODEL, data=X, limits_from=None, steps_from=None, **how)
    return explainer.explain(X[row : row + 1], target=target)[0].json()


def stored(name):
    return json.loads(_stored(name))


def verdicts(name, document):
    """Return what is said of the reason of the part without an answer, claim by claim."""
    part = "what was enough" if ASKED[name][0] == "positive" else "what would have changed it"
    found = pertinent.check(document, MODEL).findings
    own = [f for f in found if f.claim in (f"{part}: {REASON}", f"{part}: {NEEDED}")]
    return {f.claim.removeprefix(f"{part}: "): f.verdict for f in own}


def says(**parts):
    """Return the forgery that puts other parts into a reason; None takes one away."""

    def forge(document, answer):
        answer["reason"].update(parts)
        answer["reason"] = {k: v for k, v in answer["reason"].items() if v is not None}

    return forge


def instead(**reason):
    def forge(document, answer):
        answer["reason"] = reason

    return forge


def later(document, answer):
    document["proof"]["question"]["later"] = 1


def no_proof(document, answer):
    answer["certificates"] = []


def later_proof(document, answer):
    for block in answer["certificates"][0]["certificate"]["blocks"]:
        block["proofs"] = {"type": "later-kind", "n": 1}


def samples_own(document, answer):
    """The points are the sample itself, which is of its own class."""
    without = answer["reason"]["without"]
    without["values"] = document["proof"]["question"]["sample"] * without["shape"][0]


def own_proof(blocks):
    """Return the forgery that changes the blocks of the reason's own proof."""

    def forge(document, answer):
        for block in answer["reason"]["proof"]["blocks"]:
            block["proofs"] = blocks

    return forge


def weaker(document, answer):
    """The proof names the same rules, but adds rows up so that they do not conflict."""
    multipliers = answer["reason"]["proof"]["blocks"][0]["proofs"]["multipliers"]["values"]
    multipliers[0] *= 0.01


ENDLESS = {"type": "array", "of": "float", "shape": [1], "values": ["inf"]}
WORD = {"type": "solver-bounds", "claimed": ENDLESS, "solver": "oracle"}
NOTHING = {"type": "nothing", "n": 1}
#: The file, the forgery, the claim, and what is said of it.
FORGED = [
    ("held", later, REASON, UNKNOWN),
    ("held", no_proof, REASON, UNKNOWN),
    ("held", says(kind="later"), REASON, UNKNOWN),
    ("held", says(asked=["is", 0]), NEEDED, REFUTED),
    ("held", says(kind="model"), NEEDED, REFUTED),
    ("held", samples_own, NEEDED, REFUTED),
    ("held", instead(kind="own-values", asked=["is", 2]), REASON, REFUTED),
    ("held", instead(kind="never", asked=["is", 2]), REASON, REFUTED),
    ("held", later_proof, REASON, UNKNOWN),
    ("fewest", own_proof(WORD), REASON, UNKNOWN),
    ("fewest", own_proof(NOTHING), REASON, UNKNOWN),
    ("fewest", weaker, REASON, UNKNOWN),
    ("fewest", says(rules=[{"kind": "frozen", "features": ["x2"]}]), REASON, UNKNOWN),
    ("two-phase", says(rules=[{"kind": "at-most", "features": ["x2"], "number": 2.5}]), REASON,
     REFUTED),
    ("strict", says(asked=["is", 1]), REASON, UNKNOWN),
    ("strict", instead(kind="neither-value", features=["x2"]), REASON, REFUTED),
    ("strict", instead(kind="neither-value", features=[]), REASON, REFUTED),
    ("neither", says(features=["x3"]), REASON, REFUTED),
    ("neither", says(features=["x2", "x3"]), REASON, REFUTED),
    ("neither", later, REASON, UNKNOWN),
    ("two-phase", instead(kind="neither-value", features=["x2"]), REASON, REFUTED),
    ("two-phase beyond", instead(kind="neither-value", features=["x2"]), REASON, REFUTED),
    ("close", instead(kind="too-close"), REASON, UNKNOWN),
    ("strict", instead(kind="too-close"), REASON, UNKNOWN),
    ("exact", instead(kind="own-values", asked=["is", 2]), REASON, UNKNOWN),
    ("sufficient", instead(kind="own-values", asked=["is", 1]), REASON, UNKNOWN),
    ("sufficient", instead(kind="never"), REASON, UNKNOWN),
    ("hull", says(asked=["is", 1]), REASON, UNKNOWN),
    ("hull", says(blends=None), NEEDED, REFUTED),
]  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_the_honest_reason_holds(name):
    assert pertinent.check(stored(name), MODEL).ok
    assert set(verdicts(name, stored(name)).values()) == {HOLDS}


@pytest.mark.parametrize(
    ("name", "forge", "claim", "verdict"), FORGED, ids=[f"{i}-{f[0]}" for i, f in enumerate(FORGED)]
)
def test_what_is_said_of_a_forged_reason(name, forge, claim, verdict):
    document = copy.deepcopy(stored(name))
    forge(document, document["proof"][ASKED[name][0]])
    assert verdicts(name, document)[claim] == verdict


def test_a_class_that_is_never_predicted_has_no_other_reason():
    model = DecisionTreeClassifier(max_depth=1).fit(X, y)
    explainer = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None)
    document = json.loads(explainer.explain(X[:1], target=2)[0].json())
    assert document["proof"]["negative"]["reason"] == {"kind": "never", "asked": ["is", 2]}
    assert pertinent.check(document, model).ok
    document["proof"]["negative"]["reason"] = {"kind": "own-values", "asked": ["is", 2]}
    found = {f.claim: f.verdict for f in pertinent.check(document, model).findings}
    assert found[f"what would have changed it: {REASON}"] == REFUTED
