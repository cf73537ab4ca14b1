"""Rules about categories, whole numbers, relations and changes, in raw units."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent import Constraints
from pertinent.exceptions import InputError
from pertinent.models.steps.pipeline import features_of
from pertinent.rules.obeyed import broken_rules
from pertinent.rules.relations import read_relation
from pertinent.tables.features import Features

NUMBERS = ["income", "debt", "months", "age"]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    n = 400
    return pd.DataFrame(
        {
            "income": rng.gamma(4, 500, n).round(2),
            "debt": rng.gamma(2, 300, n).round(2),
            "months": rng.integers(6, 72, n),
            "age": rng.integers(18, 80, n),
            "job": rng.choice(["fixed", "freelance", "part time", "none"], n),
            "education": rng.choice(["school", "bachelor", "master"], n),
        }
    )


@pytest.fixture(scope="module")
def model(X):
    score = (
        X["income"] / 1000
        - X["debt"] / 300
        - X["months"] / 30
        + X["job"].map({"fixed": 1.0, "freelance": 0.3, "part time": -0.5, "none": -1.5})
        + X["education"].map({"school": -0.5, "bachelor": 0.2, "master": 0.8})
    )
    y = np.where(score > score.median(), "good", "bad")
    columns = ColumnTransformer(
        [("n", StandardScaler(), NUMBERS), ("c", OneHotEncoder(), ["job", "education"])]
    )
    return make_pipeline(columns, LogisticRegression()).fit(X, y)


@pytest.fixture(scope="module")
def refused(model, X):
    return X[model.predict(X) == "bad"].head(25)


def negatives(model, rows, X, **rules):
    found = pertinent.pertinent_negatives(model, rows, data=X, constraints=Constraints(**rules))
    shown = found.points[found.found]
    if len(shown):
        assert (model.predict(shown) == "good").all()
    return found


def test_whole_numbers_keep_their_type(model, refused, X):
    found = negatives(model, refused, X, integer=["months", "age"])
    assert (found.status == "optimal").all()
    assert found.points.dtypes.equals(refused.dtypes)
    assert (found.points.index == refused.index).all()


def test_decimals_are_valid_as_they_are_shown(model, refused, X):
    found = negatives(model, refused, X, decimals={"income": 0, "debt": -1, "months": 1})
    for name, digits in {"income": 0, "debt": -1, "months": 1}.items():
        new, old = found.points[name].to_numpy(), refused[name].to_numpy()
        changed = new != old
        shown = np.array([float(f"{v:.{max(digits, 0)}f}") for v in new])
        assert (shown == new)[changed].all()
        if digits < 0:
            assert (new[changed] % 10 == 0).all()


def test_allowed_categories(model, refused, X):
    found = negatives(model, refused, X, categories={"job": ["freelance", "part time"]})
    assert set(found.points["job"]) <= {"freelance", "part time"}


@pytest.mark.parametrize("form", ["mapping", "callable"])
def test_allowed_transitions(model, refused, X, form):
    allowed = {"school": ["bachelor"], "bachelor": ["master"]}
    rule = allowed if form == "mapping" else lambda old, new: new in allowed.get(old, ())
    found = negatives(
        model, refused, X, transitions={"education": rule}, frozen=["job", "debt", "age"]
    )
    pairs = set(zip(refused["education"], found.points["education"], strict=True))
    assert pairs <= {
        ("school", "school"), ("school", "bachelor"), ("bachelor", "bachelor"),
        ("bachelor", "master"), ("master", "master"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "relation",
    [
        "debt <= 0.4 * income",
        ({"debt": 1, "income": -0.4}, 0),
        ({"income": 0.4, "debt": -1}, ">=", 0),
    ],
)
def test_relations(model, refused, X, relation):
    found = negatives(model, refused, X, relations=[relation])
    points = found.points
    assert (points["debt"] <= 0.4 * points["income"] * (1 + 1e-9)).all()
    free = negatives(model, refused, X)
    assert (found.objective >= free.objective - 1e-9).all()


def test_at_most_so_many_changes(model, refused, X):
    free = negatives(model, refused, X, bounds={"income": (0, 4000), "debt": (0, None)})
    for most in (1, 2):
        found = negatives(
            model, refused, X, bounds={"income": (0, 4000), "debt": (0, None)}, max_changes=most
        )
        assert (found.changed.sum(axis=1) <= most).all()
        both = found.found & free.found
        assert (found.objective[both] >= free.objective[both] * (1 - 1e-6)).all()


def test_features_that_change_together(model, refused, X):
    found = negatives(model, refused, X, together=[["income", "job"]])
    at = [list(X.columns).index(name) for name in ("income", "job")]
    changed = found.changed[:, at]
    assert (changed.all(axis=1) | ~changed.any(axis=1)).all()


def test_costs_move_the_change_elsewhere(model, refused, X):
    free = negatives(model, refused, X)
    dear = negatives(model, refused, X, costs={"job": 100.0, "education": 100.0})
    assert free.changed[:, 4:].any()
    assert not dear.changed[:, 4:].any()


def test_positives_keep_or_drop_a_category(model, X):
    good = X[model.predict(X) == "good"].head(40)
    found = pertinent.pertinent_positives(
        model, good, data=X, baseline={"job": "none", "education": "school"}, between=True
    )
    assert found.found.all()
    assert (model.predict(found.points) == "good").all()
    kept = found.kept[:, 4]
    assert (found.points["job"].to_numpy()[~kept] == "none").all()
    assert (found.points["job"].to_numpy()[kept] == good["job"].to_numpy()[kept]).all()
    assert kept.any()
    assert not kept.all()


def test_the_most_frequent_category_is_the_baseline(model, X):
    found = pertinent.pertinent_positives(model, X.head(3), data=X, baseline="median")
    first = features_of(model, X)
    shown = found.table.raw(found.baseline[None])[0]
    assert shown[4] == X["job"].mode()[0]
    assert len(found.baseline) == first.dim


def test_contradictions_name_their_rules(model, refused, X):
    found = negatives(
        model, refused, X,
        frozen=["income", "age", "education"],
        bounds={"debt": (0, None), "months": (60, None)},
        categories={"job": ["none"]},
        relations=["debt >= 0.4 * income"],
    )  # fmt: skip
    assert (found.status == "infeasible").any()
    reason = found.reason[found.status == "infeasible"][0]
    assert "months >= 60" in reason
    assert "income frozen" in reason or "debt >= 0.4 * income" in reason
    assert "job" in reason


def test_at_most_so_many_changes_is_named(model, refused, X):
    rules = {
        "bounds": {n: (X[n].min() * 0.99, X[n].max() * 1.01) for n in NUMBERS},
        "max_changes": 1,
    }
    found = negatives(model, refused.head(60), X, frozen=["income", "debt"], **rules)
    lost = found.status == "infeasible"
    assert lost.any()
    assert any("at most 1 change" in r for r in found.reason[lost])


def test_rules_in_words():
    rules = Constraints(
        frozen=["age"],
        integer=["months"],
        decimals={"income": 0},
        categories={"job": ["fixed", "freelance"]},
        transitions={"education": {"school": ["bachelor"]}},
        relations=["debt <= 0.4 * income"],
        max_changes=2,
        together=[["income", "debt"]],
        costs={"job": 2},
    )
    assert str(rules) == (
        "age frozen; months is a whole number; income has no decimals; job is one of “fixed”, "
        "“freelance”; education changes only from “school” to “bachelor”; debt <= 0.4 * income; "
        "at most 2 features change; income and debt change together; job costs 2 times as much"
    )


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"relations": ["debt * income <= 3"]}, "not linear"),
        ({"relations": ["__import__('os').system('ls') <= 3"]}, "not linear"),
        ({"relations": ["debt"]}, "compares nothing"),
        ({"relations": ["debt <="]}, "cannot be read"),
        ({"relations": ["1 <= 2"]}, "no feature"),
        ({"relations": "debt <= 1"}, "must be a list"),
        ({"max_changes": 0}, "at least 1"),
        ({"costs": {"job": -1}}, "positive"),
    ],
)
def test_wrong_rules_are_refused_at_once(rules, words):
    with pytest.raises(InputError, match=words):
        Constraints(**rules)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"relations": ["dept <= 3"]}, "Did you mean 'debt'"),
        ({"categories": {"job": ["fixd"]}}, "Did you mean 'fixed'"),
        ({"transitions": {"job": {"fixd": ["none"]}}}, "Did you mean 'fixed'"),
        ({"transitions": {"job": {"fixed": ["nun"]}}}, "'nun' is not a category of 'job'"),
        ({"categories": {"age": [1]}}, "holds numbers"),
        ({"integer": ["job"]}, "holds categories"),
        ({"bounds": {"job": (0, 1)}}, "holds categories"),
        ({"transitions": {"age": {}}}, "holds numbers"),
    ],
)
def test_rules_that_do_not_fit_the_data_are_refused(model, refused, X, rules, words):
    with pytest.raises(InputError, match=words):
        negatives(model, refused, X, **rules)


@pytest.fixture(scope="module")
def lenient(X, model):
    """Return a model that takes categories it does not know."""
    columns = ColumnTransformer(
        [
            ("n", StandardScaler(), NUMBERS),
            ("c", OneHotEncoder(handle_unknown="ignore"), ["job", "education"]),
        ]
    )
    return make_pipeline(columns, LogisticRegression()).fit(X, model.predict(X))


@pytest.mark.parametrize(
    "rule",
    [{"retired": ["part time", "fixed"]}, lambda old, new: old == "retired" and new != "freelance"],
    ids=["mapping", "function"],
)
def test_a_category_that_the_model_does_not_know_may_be_left(lenient, refused, X, rule):
    rows = refused.assign(job=["retired", "student"] * 6 + ["retired"] * 13)
    rows = rows[lenient.predict(rows) == "bad"]
    others = ["income", "debt", "months", "age", "education"]
    rules = Constraints(frozen=others, transitions={"job": rule})
    found = pertinent.pertinent_negatives(lenient, rows, data=X, constraints=rules)
    reach = ["part time", "fixed", "none"] if callable(rule) else ["part time", "fixed"]
    for i, own in enumerate(rows["job"]):
        options = pd.DataFrame([{**rows.iloc[i], "job": job} for job in reach], columns=list(rows))
        good = np.array(reach)[lenient.predict(options) == "good"] if own == "retired" else []
        assert found.status[i] == ("optimal" if len(good) else "infeasible")
        if len(good):
            assert found.points["job"].iloc[i] in good
    assert set(found.status) == {"optimal", "infeasible"}
    if not callable(rule):
        explainer = pertinent.Explainer(lenient, data=X, constraints=rules)
        for explanation in explainer.explain(rows[:3]):
            assert pertinent.check(explanation.json(), lenient).ok


def test_a_category_that_the_model_does_not_know_in_a_list_of_lists():
    X = np.array([[i % 7, "ab"[i % 2]] for i in range(60)], dtype=object)
    columns = ColumnTransformer(
        [("n", StandardScaler(), [0]), ("c", OneHotEncoder(handle_unknown="ignore"), [1])]
    )
    y = (X[:, 0].astype(int) + 3 * (X[:, 1] == "b") > 5).astype(int)
    model = make_pipeline(columns, LogisticRegression()).fit(X, y)
    rules = Constraints(frozen=[0], transitions={1: {"new": ["b"]}})
    found = pertinent.pertinent_negatives(model, [[4, "new"], [4, "odd"]], constraints=rules)
    assert found.status.tolist() == ["optimal", "infeasible"]
    assert found.points[0].tolist() == [4, "b"]


def test_a_misspelt_origin_is_refused_all_the_same(lenient, refused, X):
    with pytest.raises(InputError, match="Did you mean 'fixed'"):
        negatives(lenient, refused, X, transitions={"job": {"fixd": ["none"]}})


def test_allowed_categories_hold_for_the_sample_too(model, refused, X):
    """A sample whose own category is not listed must change it, as a number out of its bounds."""
    allowed = ["fixed", "freelance"]
    found = negatives(model, refused, X, categories={"job": allowed})
    assert (found.status == "optimal").all()
    assert found.points["job"].isin(allowed).all()
    outside = ~refused["job"].isin(allowed).to_numpy()
    assert outside.any()
    assert found.changed[outside, list(X).index("job")].all()
    held = negatives(model, refused, X, categories={"job": allowed}, frozen=["job"])
    assert (held.status[outside] == "infeasible").all()
    assert "allowed categories of job; job frozen" in held.reason[outside][0]
    assert (held.status[~outside] == "optimal").all()


def test_a_baseline_must_suit_the_rules(model, refused, X):
    with pytest.raises(InputError, match="decimals"):
        pertinent.Explainer(
            model, data=X, baseline={"months": 3.5}, constraints=Constraints(integer=["months"])
        )
    with pytest.raises(InputError, match="turned off"):
        pertinent.pertinent_positives(model, refused)


def test_relations_with_odd_names_and_chains():
    first, second = read_relation("0 <= `mean radius` / 2 - 3 <= `worst-radius`")
    assert first.coefficients == {"mean radius": -0.5}
    assert first.constant == -3
    assert second.coefficients == {"mean radius": 0.5, "worst-radius": -1.0}
    assert second.holds({"mean radius": 2.0, "worst-radius": 0.0})
    assert not second.holds({"mean radius": 8.0, "worst-radius": 0.0})


def test_the_independent_check_finds_each_broken_rule():
    features = Features(("a", "b", "c"), levels=(None, None, ("x", "y", "z")))
    rules = Constraints(
        frozen=["a"], bounds={"b": (0, 1)}, integer=["b"], categories={"c": ["x"]},
        transitions={"c": {"x": ["y"]}}, max_changes=1, together=[["a", "b"]],
    )  # fmt: skip
    sample = np.array([[1.0, 0.0, "x"]], dtype=object)
    point = np.array([[2.0, 1.5, "z"]], dtype=object)
    found = {str(rule) for rule, _ in broken_rules(rules, features, point, sample, changes=True)}
    assert found == {
        "a frozen", "bounds of b", "b is a whole number", "allowed categories of c",
        "allowed transitions of c", "at most 1 change",
    }  # fmt: skip
    assert not broken_rules(Constraints(), features, point, sample, changes=True)
