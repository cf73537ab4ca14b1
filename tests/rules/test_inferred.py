"""Rules that the data suggest: what is inferred, what takes their place, what is said of them."""

import html
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler

import pertinent
from pertinent import Constraints, Explainer
from pertinent.datasets import load_credit
from pertinent.exceptions import InputError
from pertinent.rules.inferred import Inferred
from pertinent.rules.unknown import are_unknown

JOBS = ["fixed"] * 150 + ["partly"] * 120 + ["unknown"] * 27 + ["clown"] * 3


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n = len(JOBS)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 70, n),
            "rooms": rng.integers(2, 12, n) / 2,
            "price": rng.integers(10, 90, n) * 10.0,
            "share": np.round(rng.random(n), 2),
            "score": rng.normal(size=n),
            "owner": rng.integers(0, 2, n),
            "job": rng.permutation(JOBS),
        }
    )


@pytest.fixture(scope="module")
def model(table):
    numbers = [c for c in table.columns if c != "job"]
    columns = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(), ["job"]))
    size = table["age"] / 20 + table["rooms"] - table["price"] / 300 + table["score"]
    y = size + 2 * (table["job"] == "unknown") + 9 * (table["job"] == "clown") > 4
    return make_pipeline(columns, LogisticRegression(tol=1e-8, max_iter=1000)).fit(table, y)


def said(explainer):
    return {str(rule) for rule in explainer.inferred}


def test_every_kind_of_column_is_known(model, table):
    assert said(Explainer(model, data=table)) == {
        "age stays whole",
        f"age stays between {table['age'].min()} and {table['age'].max()}",
        "rooms keeps steps of 0.5",
        "rooms stays between 1 and 5.5",
        "price keeps steps of 10",
        f"price stays between {table['price'].min():g} and {table['price'].max():g}",
        "share keeps 2 decimals",
        f"share stays between {table['share'].min():g} and {table['share'].max():g}",
        f"score changes by at least {table['score'].std(ddof=0) / 1000:.3g}",
        f"score stays between {table['score'].min():g} and {table['score'].max():g}",
        "owner stays whole",
        "owner stays between 0 and 1",
        "job is not changed to clown or unknown",
    }


def test_numbers_of_full_precision_alone_stay_free():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b", "c"])
    model = LogisticRegression().fit(data, data["a"] > 0)
    kinds = {rule.kind for rule in Explainer(model, data=data).inferred}
    assert kinds == {"range"}
    # Beside a number that jumps, the others are not there to make up for it.
    rules = Constraints(step={"b": 0.25})
    assert any(
        "changes by at least" in rule for rule in said(Explainer(model, data, constraints=rules))
    )
    last = LogisticRegression()
    in_bins = make_pipeline(KBinsDiscretizer(3), last).fit(data, data["a"] > 0)
    assert any("changes by at least" in rule for rule in said(Explainer(in_bins, data)))
    data["b"] = data["b"].round()
    assert any("changes by at least" in rule for rule in said(Explainer(model, data)))


def test_answers_obey_what_is_inferred_and_it_is_in_every_view(model, table):
    result = Explainer(model, data=table).explain(table.head(40))
    points = result.negative.points
    changed = result.negative.changed
    assert (result.negative.status == "optimal").all()
    assert (points["price"] % 10 == 0).all()
    assert (points["rooms"] % 0.5 == 0).all()
    assert (points["job"].isin(["fixed", "partly"]) | ~changed[:, 6]).all()
    assert (model.predict(points) != model.predict(table.head(40))).all()
    explanation = result[0]
    assert "from the data: steps of 0.5 (rooms)" in explanation.text("long")
    assert "not suggested (job “clown” and “unknown”)" in explanation.text("long")
    assert "rooms keeps steps of 0.5" in explanation.summary()["rules"]["inferred"]
    assert "steps of 0.5" in explanation.html()
    assert pertinent.check(explanation.json(), model).verdict == "holds"


def test_a_reason_names_the_categories_that_are_not_suggested(model, table):
    rules = Constraints(frozen=[c for c in table if c != "job"])
    some = table.head(20)
    clowns = model.predict(some.assign(job="clown")) != model.predict(some)
    result = Explainer(model, data=table, constraints=rules).explain(some[clowns].head(3))
    row = np.flatnonzero(result.negative.status == "infeasible")[0]
    told = "job is not changed to “clown” or “unknown” (as in the data)"
    assert told in result[row].text()
    assert told in html.unescape(result[row].html())
    stored = result[row].json()
    assert told in json.loads(stored)["summary"]["negative"]["reason"]
    assert pertinent.check(stored, model).verdict == "holds"


@pytest.mark.parametrize(
    ("given", "gone"),
    [
        ({"bounds": {"age": (None, None)}}, "age stays between"),
        ({"step": {"rooms": None}}, "rooms keeps"),
        ({"decimals": {"price": None}}, "price keeps"),
        ({"decimals": {"share": 1}}, "share keeps"),
        ({"integer": ["price"]}, "price keeps"),
        ({"step": {"score": None}}, "score changes"),
        ({"categories": {"job": None}}, "job is not"),
        ({"transitions": {"job": {"fixed": ["clown"]}}}, "job is not"),
        ({"frozen": ["age"]}, "age stays"),
    ],
)
def test_each_rule_has_a_switch_and_what_is_given_wins(model, table, given, gone):
    rules = said(Explainer(model, data=table, constraints=Constraints(**given)))
    assert not [rule for rule in rules if rule.startswith(gone)]
    lost = said(Explainer(model, data=table)) - rules
    assert lost
    assert all(rule.split()[0] == gone.split()[0] for rule in lost)


def test_sources(model, table):
    free = said(Explainer(model, data=table, limits_from=None, steps_from=None, rare=0))
    kinds = {"age stays at least 0", "owner stays between 0 and 1", "price stays at least 0"}
    assert free == kinds
    low, high = table["score"].min(), table["score"].max()
    wider = said(Explainer(model, data=table, limits_from=0.5))
    more = (high - low) / 2
    assert f"score stays between {low - more:g} and {high + more:g}" in wider
    assert "owner stays between 0 and 1" in wider


@pytest.mark.parametrize(
    ("name", "value"),
    [("limits_from", "train"), ("limits_from", -1), ("steps_from", 3), ("rare", -1)],
)
def test_odd_sources_are_refused(model, table, name, value):
    with pytest.raises(InputError, match=f"{name} must be"):
        Explainer(model, data=table, **{name: value})


def test_a_sample_off_the_data_keeps_its_own_values(model, table):
    row = table.head(1).assign(age=93, rooms=1.3, price=1234.5, job="clown")
    explainer = Explainer(model, data=table, constraints=Constraints(frozen=["score"]))
    result = explainer.explain(row)
    point = result.negative.points.iloc[0]
    assert result.negative.status[0] == "optimal"
    for name, value in row.iloc[0].items():
        if point[name] != value and name != "job":
            assert table[name].min() <= point[name] <= table[name].max()
    assert point["rooms"] in (1.3, *np.arange(2, 12) / 2)
    assert pertinent.check(result[0].json(), model).verdict == "holds"


def test_a_reason_names_what_was_inferred_and_the_line_that_lifts_it(model, table):
    rules = Constraints(frozen=["rooms", "price", "share", "score", "owner", "job"])
    rows = table[model.predict(table)].nlargest(1, "rooms")
    explainer = Explainer(model, data=table, constraints=rules)
    result = explainer.explain(rows)
    assert result.negative.status[0] == "infeasible"
    assert f"age >= {table['age'].min()} as in the data" in result.negative.reason[0]
    assert "Constraints(bounds={'age': (None, None)})" in result.negative.reason[0]
    assert pertinent.check(result[0].json(), model).verdict == "holds"
    lifted = Constraints(frozen=rules.frozen, bounds={"age": (None, None)})
    again = Explainer(model, data=table, constraints=lifted).explain(rows)
    assert again.negative.status[0] == "optimal"
    assert again.negative.points["age"].iloc[0] < table["age"].min()


def test_without_data_types_decide(model, table):
    whole = table.astype({"rooms": "float64"}).head(10)
    explainer = Explainer(model, baseline={**table.iloc[0].to_dict(), "age": 30, "owner": 0})
    assert explainer.inferred == ()
    result = explainer.explain(whole)
    points = result.negative.points
    assert (points["age"] % 1 == 0).all()
    assert (points["owner"] % 1 == 0).all()
    assert "age stays whole" in result[0].summary()["rules"]["inferred"]
    assert pertinent.check(result[0].json(), model).verdict == "holds"


def test_the_functions_keep_the_papers_defaults(model, table):
    rules = Constraints(frozen=["score", "rooms"])
    found = pertinent.pertinent_negatives(model, table.head(20), data=table, constraints=rules)
    numbers = found.points[["age", "price"]].to_numpy(dtype=float)
    assert (numbers % 1 != 0).any()


def test_a_forged_rule_is_refuted_and_an_unknown_one_is_unknown(model, table):
    stored = json.loads(Explainer(model, data=table).explain(table.head(1))[0].json())
    rules = stored["proof"]["question"]["constraints"]["inferred"]
    changed = stored["summary"]["negative"]["values"][0]["feature"]
    [step] = [r for r in rules if r["feature"] == changed and r["kind"] in ("step", "change")]
    before = step["numbers"]
    step["numbers"] = [77.7]
    assert pertinent.check(json.dumps(stored), model).verdict == "refuted"
    step["numbers"] = before
    rules.append({"type": "inferred", "kind": "colour", "feature": "age", "numbers": []})
    assert pertinent.check(json.dumps(stored), model).verdict == "not re-checkable here"
    rules[-1] = {"type": "hunch", "feature": "age"}
    assert pertinent.check(json.dumps(stored), model).verdict == "not re-checkable here"


def test_missing_values_do_not_hide_whole_numbers():
    from sklearn.impute import SimpleImputer

    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.integers(0, 9, 80).astype(float), "b": rng.normal(size=80)})
    y = X["a"] + X["b"] > 4
    X.loc[::7, "a"] = np.nan
    model = make_pipeline(SimpleImputer(), LogisticRegression(tol=1e-8)).fit(X, y)
    explainer = Explainer(model, data=X, missing="impute")
    assert "a stays whole" in said(explainer)
    known = X[X["a"].notna()].head(10)
    assert (explainer.explain(known).negative.points["a"] % 1 == 0).all()


@pytest.mark.parametrize(
    "word",
    [
        "unknown", "Unknown", " UNKNOWN ", "(unknown)", "<unknown>", "Unknown/Invalid", "unk",
        "UNK.", "not known", "Not_Known", "not-known", "don't know", "don’t know", "ignore",
        "missing", "Missing value", "no data", "n/a", "N/A", "#N/A", "n.a.", "NA", "<NA>", "NaN",
        "null", "XNA", "not stated", "not specified", "unspecified", "Prefer not to say",
        "no answer", "non-response", "?", "??", "-", "--", ".", "...", "", " ", "unbekannt",
        "k. A.", "Non renseigné", "IGNORADO", None, float("nan"), pd.NA,
    ],
)  # fmt: skip
def test_words_that_mean_unknown(word):
    assert are_unknown(["rent", word]) == [False, True]


@pytest.mark.parametrize(
    "word",
    [
        "other", "others", "none", "no", "not applicable", "refused", "dk", "unsure", "0", "+",
        "nana", "missing teeth", "nullarbor", "not married", "never", "private", "!", "<", "naan",
        "answer unknown to us", 0, 1.5, True,
    ],
)  # fmt: skip
def test_words_that_mean_something(word):
    assert are_unknown(["rent", word]) == [False, False]


def test_a_minus_beside_a_plus_is_a_value():
    assert are_unknown(["+", "-", "?"]) == [False, False, True]


def test_the_credit_data_never_suggest_what_is_not_known():
    """The column of homes has "ignore": it says that nobody asked."""
    frame = load_credit(drop_missing=True).frame
    levels = {name: sorted(set(frame[name])) for name in ("home", "marital", "job", "records")}
    out = {
        name: [v for v, no in zip(some, are_unknown(some), strict=True) if no]
        for name, some in levels.items()
    }
    assert out == {"home": ["ignore"], "marital": [], "job": [], "records": []}


def test_a_category_that_stands_for_what_is_missing_is_called_so():
    rule = Inferred("categories", "job", categories=(None, "clown"))
    assert rule.said() == ("not suggested", " a missing value and “clown”")
    assert (
        rule.refs()[0].words()
        == "job is not changed to a missing value or “clown” (as in the data)"
    )
