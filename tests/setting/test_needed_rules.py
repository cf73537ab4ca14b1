"""Each rule of a conflict is needed, whatever its kind: said only where points show it."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.lvq import GLVQ
from pertinent.rules.reference import RuleKind
from pertinent.setting.judge import noting
from pertinent.setting.reasons.fewer import Questions, RuleSets, confirmed, each_is_needed
from pertinent.setting.reasons.reason import Why

pytestmark = pytest.mark.matrix(2)

NUMBERS = ("x0", "x1", "x2", "x3")
MODELS = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "naive Bayes": GaussianNB(),
    "curved": QuadraticDiscriminantAnalysis(),
    "prototypes": GLVQ(random_state=0),
}
LISTS = {
    RuleKind.FROZEN: "frozen",
    RuleKind.INCREASE_ONLY: "increase_only",
    RuleKind.DECREASE_ONLY: "decrease_only",
    RuleKind.DECIMALS: "integer",
}


def random_rules(rng, X, steps):
    """Return rules of every kind that numbers know; those about steps only where asked for."""
    rules = {"bounds": {}, "frozen": [], "relations": [], "integer": [], "step": {}}
    for j, name in enumerate(NUMBERS):
        low, high = np.round(np.quantile(X[:, j], [rng.choice([0, 0.2]), 0.6]), 1).tolist()
        if rng.random() < 0.7:
            rules["bounds"][name] = (low, high)
        if rng.random() < 0.3:
            rules["frozen"].append(name)
        elif steps and rng.random() < 0.4:
            rules["integer"].append(name)
        elif steps and rng.random() < 0.3:
            rules["step"][name] = 0.5
    if rng.random() < 0.7:
        rules["relations"] = ["x0 + x1 <= x2 + 0.3", "0.1 <= x3 <= x1 + 1"][: rng.integers(1, 3)]
    if steps and rng.random() < 0.4:
        rules["max_changes"] = int(rng.integers(1, 3))
    if steps and rng.random() < 0.3:
        rules["together"] = [["x0", "x2"]]
    return rules


def only(refs, written):
    """Return just the rules that are named, written down by hand."""
    rules = {"bounds": {}, "frozen": [], "relations": [], "integer": [], "step": {}}
    rules |= {"increase_only": [], "decrease_only": []}
    for ref in refs:
        name = ref.features[0] if ref.features else None
        if ref.kind in LISTS:
            rules[LISTS[ref.kind]].append(name)
        elif ref.kind in (RuleKind.AT_LEAST, RuleKind.AT_MOST):
            low, high = rules["bounds"].get(name, (None, None))
            pair = (ref.number, high) if ref.kind is RuleKind.AT_LEAST else (low, ref.number)
            rules["bounds"][name] = pair
        elif ref.kind is RuleKind.STEP:
            rules["step"][name] = ref.number
        elif ref.kind is RuleKind.RELATION:
            rules["relations"].append(written["relations"][ref.place])
        elif ref.kind is RuleKind.MAX_CHANGES:
            rules["max_changes"] = int(ref.number)
        else:
            assert ref.kind is RuleKind.TOGETHER
            rules["together"] = written["together"]
    return pertinent.Constraints(**rules)


def verdicts(document, model):
    report = pertinent.check(document, model)
    return {f.claim.split(": ")[1]: f.verdict for f in report.findings if "changed it: " in f.claim}


def case(seed, name):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=90)
    X = pd.DataFrame(np.round(rng.normal(size=(90, 4)) + 2 * np.eye(4)[y], 2), columns=NUMBERS)
    return rng, X, MODELS[name].fit(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_each_rule_is_needed_whatever_its_kind(name):
    said, kinds = 0, set()
    for seed in (1, 3, 4):
        rng, X, model = case(seed, name)
        written = random_rules(rng, X.to_numpy(), steps=name in ("linear", "tree"))
        rules, one = pertinent.Constraints(**written), X[:3]
        found = pertinent.pertinent_negatives(model, one, constraints=rules)
        for i in np.flatnonzero(found.status == "infeasible"):
            why, row = found.reasons[i], one.iloc[[i]]
            if why.kind is not Why.RULES:
                continue
            again = only(why.rules, written)
            again = pertinent.pertinent_negatives(model, row, constraints=again)
            assert again.status[0] == "infeasible", found.reason[i]
            assert (why.without is not None) == (
                "needed" in found.reason[i] or "without this rule" in found.reason[i]
            )
            if why.without is None:
                continue
            said += 1
            for k, rule in enumerate(why.rules):
                kinds.add(rule.kind)
                fewer = only(why.rules[:k] + why.rules[k + 1 :], written)
                left = pertinent.pertinent_negatives(model, row, constraints=fewer)
                assert left.status[0] != "infeasible", (found.reason[i], str(rule))
                point = pd.DataFrame(why.without[[k]], columns=NUMBERS)
                assert model.predict(point)[0] != model.predict(row)[0]
    assert said >= 3
    assert len(kinds) >= 3


def test_rules_about_steps_changes_and_relations_are_named_where_they_conflict():
    """The limits alone leave points: without the other rule there would be no conflict."""
    _, X, model = case(0, "linear")
    one = X[:1].assign(x0=0.31, x1=0.2)
    for rules, expected in (
        ({"integer": ["x0"]}, "x0 is a whole number"),
        ({"step": {"x0": 2}}, "x0 in steps of 2"),
        ({"decimals": {"x0": -1}}, "x0 with -1 decimals"),
        ({"relations": ["x0 >= 3 * x1 + 2"]}, "x0 >= 3 * x1 + 2"),
        ({"max_changes": 1, "relations": ["x1 >= 1"]}, "at most 1 change"),
        ({"together": [["x0", "x3"]], "frozen": ["x3"]}, "x0 and x3 change together"),
    ):
        limits = {"bounds": {"x0": (0.5, 0.9), "x1": (0, 3)}}
        asked = pertinent.Constraints(**limits, **rules)
        found = pertinent.pertinent_negatives(model, one, constraints=asked)
        assert found.status[0] == "infeasible"
        assert expected in found.reason[0]
        assert "each of them is needed" in found.reason[0]


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "income": np.round(rng.normal(3, 1, 150), 1),
            "years": rng.integers(0, 9, 150),
            "job": rng.choice(["none", "part", "full"], 150, p=[0.3, 0.3, 0.4]),
        }
    )
    y = np.where(X["income"] + 0.2 * X["years"] + 2 * (X["job"] == "full") > 4.5, "yes", "no")
    prepared = make_column_transformer(
        (OneHotEncoder(), ["job"]), (StandardScaler(), ["income", "years"])
    )
    return X, make_pipeline(prepared, LogisticRegression()).fit(X, y)


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ({"frozen": ["income", "years"], "categories": {"job": ["none"]}}, "categories of job"),
        ({"frozen": ["income"], "transitions": {"job": {}}}, "allowed transitions of job"),
        ({"frozen": ["income", "job"]}, "years <= 8 as in the data"),
    ],
)
def test_categories_and_rules_of_the_data_are_needed_too(loans, rules, named):
    X, model = loans
    explainer = pertinent.Explainer(model, data=X, constraints=pertinent.Constraints(**rules))
    poor = pd.DataFrame({"income": [2.6], "years": [2], "job": ["none"]})
    explanation = explainer.explain(poor)[0]
    document = json.loads(explanation.json())
    why = explainer.explain(poor).negative.reason[0]
    assert named in why
    assert "needed: without it" in why
    assert verdicts(document, model)["each of the rules named is needed"] == "holds"


@pytest.fixture(scope="module")
def stored():
    _, X, model = case(0, "linear")
    rules = pertinent.Constraints(frozen=["x0"], bounds={"x1": (0.5, 0.9)}, integer=["x1"])
    explainer = pertinent.Explainer(model, data=X, constraints=rules)
    one = X[:1].assign(x1=0.2)
    return explainer.explain(one), model


@pytest.mark.parametrize(
    "forge",
    [
        lambda why: why["rules"].pop(0),
        lambda why: why["rules"].append({"kind": "frozen", "features": ["x0"]}),
        lambda why: why["rules"].reverse(),
        lambda why: why["rules"].append({"kind": "frozen", "features": ["x3"]}),
    ],
)
def test_a_forged_conflict_is_refuted(stored, forge):
    explanation, model = stored
    document = json.loads(explanation[0].json())
    honest = verdicts(document, model)
    assert honest["the reason is as said"] == honest["each of the rules named is needed"] == "holds"
    why = document["proof"]["negative"]["reason"]
    forge(why)
    claims = "the reason is as said", "each of the rules named is needed"
    assert "refuted" in {verdicts(document, model).get(name) for name in claims}


def test_a_conflict_without_points_is_not_said_to_be_minimal(stored):
    explanation, model = stored
    document = json.loads(explanation[0].json())
    del document["proof"]["negative"]["reason"]["without"]
    assert "each of the rules named is needed" not in verdicts(document, model)
    assert verdicts(document, model)["the reason is as said"] == "holds"
    # The words of the file still say that each is needed: nobody looked at that.
    (words,) = [f for f in pertinent.check(document, model).findings if f.verdict == "not checked"]
    assert "negative.reason" in words.detail
    plain = replace(explanation.negative.reasons[0], without=None)
    assert "needed" not in plain.words([0, 1, 2])


def test_points_that_show_nothing_are_refuted(stored):
    explanation, _ = stored
    why, own = explanation.negative.reasons[0], explanation.negative.certificates[0].certificate
    table = explanation.negative.table
    sets = RuleSets(explanation.asked.setting, changes=True)
    asked = Questions(sets, why.asked, table, table.values, None)
    assert each_is_needed(asked, [why]).all()
    wrong = (
        why.without[::-1],  # of other rules
        why.without[:1],
        np.repeat(table.values, len(why.without), axis=0),  # of the sample's own class
        np.full_like(why.without, np.nan),
        why.without[:, :-1],
    )
    for points in wrong:
        forged = replace(why, without=points)
        assert not each_is_needed(asked, [forged]).any()
        assert confirmed(asked, [forged], own)[0].without is None


def test_what_obeys_some_of_the_rules_only_is_no_answer(stored):
    explanation, _ = stored
    why, table = explanation.negative.reasons[0], explanation.negative.table
    asked = Questions(
        RuleSets(explanation.asked.setting, changes=True), why.asked, table, table.values, None
    )
    rules = [rule for rule in why.rules if rule != why.rules[0]]
    with noting() as ledger:
        assert asked.under(rules).allow(why.without[:1]).all()
    assert not ledger.known


@pytest.mark.parametrize("kind", ["limits", "whole numbers", "relations and changes"])
def test_many_samples_have_the_same_conflicts_as_one(kind):
    X, y = load_wine(return_X_y=True)
    X = np.round(X[:, :5], 1)
    model = LogisticRegression(max_iter=5000).fit(X, y)
    low, high = X.min(axis=0), X.max(axis=0)
    more = {
        "limits": {"frozen": [1, 2], "increase_only": [0]},
        "whole numbers": {"frozen": [1, 2], "integer": [0, 4]},
        "relations and changes": {"relations": ["x0 <= x4"], "max_changes": 1},
    }[kind]
    near = {j: (float(low[j]), float((low[j] + high[j]) / 2)) for j in range(5)}
    rules = pertinent.Constraints(bounds=near, **more)
    found = pertinent.pertinent_negatives(model, X[::9], constraints=rules)
    none = np.flatnonzero(found.status == "infeasible")
    assert len(none) >= 4
    for i in none:
        alone = pertinent.pertinent_negatives(model, X[::9][[i]], constraints=rules).reasons[0]
        assert alone == found.reasons[i]
        assert alone.without is not None, str(alone)
        np.testing.assert_array_equal(alone.without, found.reasons[i].without)
