"""A conflict names no rule that is not needed: without any one of them there is a point."""

import json

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.rules.reference import RuleKind

pytestmark = pytest.mark.matrix(2)

FIELDS = {
    RuleKind.FROZEN: "frozen",
    RuleKind.INCREASE_ONLY: "increase_only",
    RuleKind.DECREASE_ONLY: "decrease_only",
}
MODELS = {
    "two classes": LogisticRegression(),
    "three classes": LogisticRegression(),
    "naive Bayes": GaussianNB(),
    "curved": QuadraticDiscriminantAnalysis(),
}


def random_rules(rng, X):
    """Return rules about most features, often two about the same one."""
    rules = {"frozen": [], "increase_only": [], "decrease_only": [], "bounds": {}}
    for j in range(X.shape[1]):
        for name in rng.choice(list(rules), size=rng.integers(1, 3), replace=False):
            if name == "bounds":
                low, high = np.quantile(X[:, j], rng.choice([[0.3, 0.7], [0.0, 0.5], [0.45, 0.55]]))
                rules["bounds"][j] = (float(low), float(high))
            else:
                rules[name].append(j)
    return rules


def only(refs):
    """Return just the rules that are named."""
    rules = {"frozen": [], "increase_only": [], "decrease_only": [], "bounds": {}}
    for ref in refs:
        j = int(ref.features[0][1:])
        if ref.kind in FIELDS:
            rules[FIELDS[ref.kind]].append(j)
        else:
            low, high = rules["bounds"].get(j, (None, None))
            pair = (ref.number, high) if ref.kind is RuleKind.AT_LEAST else (low, ref.number)
            rules["bounds"][j] = pair
    return pertinent.Constraints(**rules)


@pytest.mark.parametrize("name", MODELS)
def test_each_rule_of_a_conflict_is_needed(name):
    rng, conflicts, several = np.random.default_rng(7), 0, 0
    for _ in range(4):
        n_classes = 2 if name == "two classes" else 3
        y = rng.integers(n_classes, size=120)
        X = rng.normal(size=(120, 4)) * rng.uniform(0.5, 2, size=4) + 2 * np.eye(4)[y]
        model = MODELS[name].fit(X, y)
        rules = pertinent.Constraints(**random_rules(rng, X))
        found = pertinent.pertinent_negatives(model, X[:4], constraints=rules)
        for i in np.flatnonzero(found.status == "infeasible"):
            refs, one = found.reasons[i].rules, X[i : i + 1]
            conflicts, several = conflicts + 1, several + (len(refs) > 1)
            again = pertinent.pertinent_negatives(model, one, constraints=only(refs))
            assert again.status[0] == "infeasible", found.reason[i]
            for k in range(len(refs)):
                fewer = only(refs[:k] + refs[k + 1 :])
                left = pertinent.pertinent_negatives(model, one, constraints=fewer)
                # Curved models: that a rule is needed is not always proved.
                sure = left.status[0] != "infeasible" if name == "curved" else left.found[0]
                assert sure, (found.reason[i], str(refs[k]), left.status[0])
    assert conflicts >= 8
    assert several >= 5


@pytest.mark.parametrize("name", MODELS)
def test_a_smaller_conflict_is_checked_from_its_file(name):
    rng, checked = np.random.default_rng(3), 0
    for _ in range(2):
        y = rng.integers(2 if name == "two classes" else 3, size=120)
        X = rng.normal(size=(120, 4)) + 2 * np.eye(4)[y]
        model = MODELS[name].fit(X, y)
        rules = pertinent.Constraints(**random_rules(rng, X))
        explainer = pertinent.Explainer(model, X, constraints=rules)
        for explanation in explainer.explain(X[:3]):
            document = json.loads(explanation.json())
            stored = document["proof"]["negative"].get("reason")
            if stored and "proof" in stored:
                checked += 1
                report = pertinent.check(document, model)
                said = [f for f in report.findings if "changed it: the reason" in f.claim]
                assert [f.verdict for f in said] == ["holds"]
                del stored["rules"][0]
                report = pertinent.check(document, model)
                said = [f for f in report.findings if "changed it: the reason" in f.claim]
                assert [f.verdict for f in said] == ["refuted"]
    assert checked
