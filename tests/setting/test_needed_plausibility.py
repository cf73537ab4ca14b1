"""Plausibility in a conflict: it may be left out like a rule, and is said to be needed if it is."""

import json

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError
from pertinent.rules.reference import PLAUSIBLE, RuleKind
from pertinent.setting.reasons.reason import Why
from pertinent.summary.reasons import read_reason, write_reason

pytestmark = pytest.mark.matrix(2)

MODELS = {"linear": LogisticRegression(), "curved": QuadraticDiscriminantAnalysis()}
LIKE = {
    "density": {"n_components": 2, "quantile": 0.6},
    "blends": {"method": "hull", "n_neighbors": 5},
}
CASES = [("linear", "density"), ("linear", "blends"), ("curved", "density")]


def case(seed, name, like):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=90)
    X = np.round(rng.normal(size=(90, 3)) + 2.5 * np.eye(3)[y], 2)
    return rng, X, MODELS[name].fit(X, y), pertinent.Plausibility(X, y, **LIKE[like])


def random_rules(rng, X):
    rules = {"frozen": [], "bounds": {}, "relations": []}
    for j in range(3):
        if rng.random() < 0.4:
            rules["frozen"].append(j)
        if rng.random() < 0.8:
            low, high = np.round(np.quantile(X[:, j], [rng.choice([0, 0.3]), 0.7]), 1).tolist()
            rules["bounds"][j] = (low, high)
    if rng.random() < 0.5:
        rules["relations"] = ["x0 <= x1 + 1"]
    return rules


def only(refs, written):
    """Return just the rules that are named, and whether plausibility is one of them."""
    rules = {"frozen": [], "bounds": {}, "relations": []}
    for ref in refs:
        j = int(ref.features[0][1:]) if ref.features else -1
        if ref.kind is RuleKind.FROZEN:
            rules["frozen"].append(j)
        elif ref.kind is RuleKind.RELATION:
            rules["relations"] = written["relations"]
        elif ref != PLAUSIBLE:
            low, high = rules["bounds"].get(j, (None, None))
            pair = (ref.number, high) if ref.kind is RuleKind.AT_LEAST else (low, ref.number)
            rules["bounds"][j] = pair
    return pertinent.Constraints(**rules), PLAUSIBLE in refs


@pytest.mark.parametrize(("name", "like"), CASES)
def test_each_of_a_conflict_is_needed_plausibility_included(name, like):
    said, with_plausibility, kinds = 0, 0, set()
    for seed in range(4):
        rng, X, model, plausible = case(seed, name, like)
        written = random_rules(rng, X)

        def ask(row, refs, written=written, model=model, plausible=plausible):
            rules, dense = only(refs, written)
            asked = {"plausibility": plausible} if dense else {}
            return pertinent.pertinent_negatives(model, row, constraints=rules, **asked).status[0]

        rules = pertinent.Constraints(**written)
        found = pertinent.pertinent_negatives(
            model, X[:3], constraints=rules, plausibility=plausible
        )
        for i in np.flatnonzero(found.status == "infeasible"):
            why, row = found.reasons[i], X[[i]]
            assert ask(row, why.rules) == "infeasible", found.reason[i]
            if why.without is None:
                continue
            assert "needed" in found.reason[i] or "there is one" in found.reason[i]
            said, with_plausibility = said + 1, with_plausibility + (PLAUSIBLE in why.rules)
            kinds.add(why.kind)
            for k, rule in enumerate(why.rules):
                left = ask(row, why.rules[:k] + why.rules[k + 1 :])
                assert left != "infeasible", (found.reason[i], str(rule))
                assert model.predict(why.without[[k]])[0] != model.predict(row)[0]
    assert said >= 4
    assert with_plausibility >= 2
    assert len(kinds) >= 2


def conflict(like):
    """Return a sample that frozen features and plausibility leave without a contrast, stored."""
    _, X, model, plausible = case(0, "linear", like)
    far = np.array([[0.0, 0.0, 6.0]])
    rules = pertinent.Constraints(frozen=[2], bounds={0: (-90, 90)})
    explainer = pertinent.Explainer(model, data=X, constraints=rules, plausibility=plausible)
    found = explainer.explain(far)
    assert found.negative.status[0] == "infeasible"
    return found, model


@pytest.fixture(scope="module", params=LIKE)
def stored(request):
    return conflict(request.param)


def verdicts(document, model):
    report = pertinent.check(document, model)
    claims = "the reason is as said", "each of the rules named is needed"
    said = {
        f.claim.removeprefix("what would have changed it: "): f.verdict for f in report.findings
    }
    return [said.get(claim) for claim in claims]


def test_an_honest_conflict_holds_from_its_file(stored):
    found, model = stored
    why = found.negative.reasons[0]
    assert why.kind in (Why.DENSITY_RULES, Why.DENSITY_CLASS_RULES)
    assert [str(rule) for rule in why.rules] == ["plausible", "x2 frozen"]
    assert "each of them, plausibility included, is needed" in found.negative.reason[0]
    document = json.loads(found[0].json())
    assert verdicts(document, model) == ["holds", "holds"]
    stored = document["proof"]["negative"]["reason"]
    assert write_reason(read_reason(stored)) == stored


@pytest.mark.parametrize(
    "forge",
    [
        lambda why: why["rules"].pop(0),  # plausibility is not named
        lambda why: why["rules"].pop(1),
        lambda why: why["rules"].append({"kind": "at-most", "features": ["x0"], "number": 9.0}),
        lambda why: why["without"]["values"].reverse(),
        lambda why: why["without"]["values"].__setitem__(slice(0, 3), why["without"]["values"][3:]),
    ],
)
def test_a_forged_conflict_is_refuted(stored, forge):
    found, model = stored
    document = json.loads(found[0].json())
    forge(document["proof"]["negative"]["reason"])
    assert "refuted" in verdicts(document, model)


def is_believed(document, model):
    """Return whether the reason holds; a proof about other rows may be refused as malformed."""
    try:
        return verdicts(document, model)[0] == "holds"
    except InputError:
        return False


@pytest.mark.parametrize("kind", ["rules", "model", "density-class", "density-class-rules"])
def test_a_conflict_of_another_kind_is_not_believed(stored, kind):
    """The proof is about all plausible points, not about those of a class."""
    found, model = stored
    document = json.loads(found[0].json())
    assert document["proof"]["negative"]["reason"]["kind"] == "density-rules"
    assert is_believed(document, model)
    document["proof"]["negative"]["reason"]["kind"] = kind
    assert not is_believed(document, model)


def test_blends_that_are_not_said_show_nothing():
    found, model = conflict("blends")
    document = json.loads(found[0].json())
    why = document["proof"]["negative"]["reason"]
    blends = why.pop("blends")
    assert verdicts(document, model) == ["holds", "refuted"]
    why["blends"] = blends[::-1]
    assert verdicts(document, model) == ["holds", "refuted"]
    for wrong in ([7], [{"type": "blend", "rows": "all", "shares": 1}], "none"):
        why["blends"] = wrong
        with pytest.raises(InputError, match="blend"):
            pertinent.check(document, model)


def test_density_and_class_alone():
    """Without rules: the model calls class 1 what lies far from the data of class 1."""
    model = LogisticRegression().fit(np.array([[0.0], [100.0]]), [0, 1])
    data = np.random.default_rng(0).normal(size=(60, 1))
    plausible = pertinent.Plausibility(data, np.arange(60) % 2, n_components=1)
    rules = pertinent.Constraints(bounds={0: (-500, 500)})
    found = pertinent.pertinent_negatives(
        model, np.zeros((1, 1)), plausibility=plausible, constraints=rules
    )
    why = found.reasons[0]
    assert (why.kind, why.rules) == (Why.DENSITY_CLASS, (PLAUSIBLE,))
    assert found.reason[0].endswith("(without plausibility there is one)")


@pytest.mark.parametrize("like", LIKE)
def test_many_samples_have_the_same_conflicts_as_one(like):
    rng, X, model, plausible = case(1, "linear", like)
    rules = pertinent.Constraints(**random_rules(rng, X), max_changes=None)
    asked = {"constraints": rules, "plausibility": plausible}
    found = pertinent.pertinent_negatives(model, X[:6], **asked)
    none = np.flatnonzero(found.status == "infeasible")
    assert len(none) >= 2
    for i in none:
        alone = pertinent.pertinent_negatives(model, X[[i]], **asked).reasons[0]
        assert alone == found.reasons[i]
        np.testing.assert_array_equal(alone.without, found.reasons[i].without)
