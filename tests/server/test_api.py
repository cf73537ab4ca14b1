"""Every endpoint against the library's own answers."""

from __future__ import annotations

import json
import re

import jsonschema
import numpy as np
import pytest
from starlette.testclient import TestClient

import pertinent
from tests.server.inline import HOSTILE, application, recipe, small

AT = "http://127.0.0.1"


@pytest.fixture(scope="module")
def served():
    app, service = application()
    with TestClient(app, AT) as client:
        assert service.rows.scores.wait(600)
        yield client


@pytest.fixture(scope="module")
def explainer():
    return recipe().explainer()


def post(client, path, **body):
    return client.post(f"/api/v1/{path}", json=body)


def values_of(row):
    return json.loads(small().frame.iloc[row].to_json())


def test_the_model_is_described(served):
    found = served.get("/api/v1/model").json()
    kinds = {one["name"]: one["kind"] for one in found["features"]}
    assert kinds == {"income": "integer", "age": "integer", HOSTILE: "number", "job": "category"}
    assert found["classes"] == ["no", "yes"]
    assert found["rules"] == {"frozen": ["age"]}
    income = found["features"][0]
    assert (income["low"], income["high"]) == (
        small().frame["income"].min(), small().frame["income"].max(),
    )  # fmt: skip
    assert sum(income["distribution"]["counts"]) == len(small().frame)
    assert set(found["features"][3]["categories"]) == set(small().frame["job"])


@pytest.mark.parametrize(
    ("query", "chosen"),
    [
        ({}, lambda f: f),
        ({"filter": ["income:ge:200", "age:lt:40"]}, lambda f: f[(f.income >= 200) & (f.age < 40)]),
        ({"filter": "job:eq:fixed"}, lambda f: f[f.job == "fixed"]),
        ({"filter": "job:ne:=1+1"}, lambda f: f[f.job != "=1+1"]),
        ({"filter": "@class:eq:yes"}, lambda f: f[small().model.predict(f) == "yes"]),
        ({"filter": "@score:gt:0.9"},
         lambda f: f[small().model.predict_proba(f).max(axis=1) > 0.9]),
        ({"sort": "income", "order": "desc"},
         lambda f: f.sort_values("income", ascending=False, kind="stable")),
        ({"sort": "job"}, lambda f: f.sort_values("job", kind="stable")),
        ({"filter": "%3Cscript%3Ealert(1)%3C%2Fscript%3E:le:0"}, lambda f: f[f[HOSTILE] <= 0]),
        ({"filter": "@id:lt:7"}, lambda f: f[:7]),
    ],
)  # fmt: skip
def test_rows_are_filtered_and_sorted_as_pandas_does(served, query, chosen):
    found = served.get("/api/v1/rows", params={**query, "limit": 1000}).json()
    expected = chosen(small().frame)
    assert [row["id"] for row in found["rows"]] == expected.index.tolist()
    assert found["matching"] == len(expected)
    page = served.get("/api/v1/rows", params={**query, "limit": 3, "offset": 2}).json()
    assert [row["id"] for row in page["rows"]] == expected.index.tolist()[2:5]


def test_a_row_has_its_values_class_and_probability(served):
    row = served.get("/api/v1/rows/3").json()
    one = small().frame.iloc[[3]]
    assert row["values"] == values_of(3)
    assert row["predicted"] == small().model.predict(one)[0]
    assert row["probability"] == pytest.approx(small().model.predict_proba(one).max())
    assert served.get("/api/v1/rows/99999").status_code == 404
    random = served.get("/api/v1/rows", params={"random": 1, "filter": "age:lt:20"}).json()
    assert random["rows"][0]["values"]["age"] < 20


def test_predictions_are_the_models(served):
    rows = [values_of(0), values_of(1) | {"income": 399}]
    found = post(served, "predict", rows=rows).json()["predictions"]
    frame = small().frame.iloc[:2].copy()
    frame.iloc[1, 0] = 399
    chances = small().model.predict_proba(frame)
    assert [one["label"] for one in found] == small().model.predict(frame).tolist()
    assert [list(one["probabilities"].values()) for one in found] == chances.tolist()


def test_explanations_are_the_librarys_and_are_checked(served, explainer):
    told = post(served, "explain", ids=[0, 7], certificate=True).json()["explanations"]
    expected = explainer.explain(small().frame.iloc[[0, 7]])
    for one, own in zip(told, expected, strict=True):
        assert json.dumps(one["stored"]) == json.dumps(json.loads(own.json()))
        assert one["summary"] == json.loads(json.dumps(own.summary()))
        assert one["text"] == own.text()
        assert one["probability"]["after"] == own.probability[1]
        jsonschema.validate(one["stored"], pertinent.json_schema())
        verdict = post(served, "check", explanation=one["stored"]).json()
        assert verdict["ok"]
        assert verdict["words"] == str(pertinent.check(one["stored"], small().model))
    forged = told[0]["stored"]
    forged["summary"]["prediction"] = {"yes": "no", "no": "yes"}[forged["summary"]["prediction"]]
    assert post(served, "check", explanation=forged).json()["verdict"] == "refuted"


def test_a_new_row_is_explained_as_the_row_of_the_table_is(served):
    by_id = post(served, "explain", ids=[0]).json()["explanations"][0]
    anew = post(served, "explain", rows=[values_of(0)]).json()["explanations"][0]
    assert by_id | {"seconds": 0} == anew | {"seconds": 0}
    assert "stored" not in anew


def test_sentences_come_apart_from_their_headings(served):
    one = post(served, "explain", ids=[0]).json()["explanations"][0]
    assert one["headings"].keys() == {"enough", "change", "proof"}
    for part, heading in one["headings"].items():
        assert not one["words"][part].startswith(heading)
    for part in ("enough", "change"):
        assert f"{one['headings'][part]}: {one['words'][part]}" in one["text"]


def test_a_live_answer_says_the_same_and_leaves_ranges_for_later(served):
    full = post(served, "explain", ids=[0]).json()["explanations"][0]
    live = post(served, "explain", ids=[0], detail="live").json()["explanations"][0]
    assert live["words"]["moves"] == ""
    for part, name in (("positive", "objective"), ("negative", "point"), ("negative", "status")):
        assert live["summary"][part][name] == full["summary"][part][name]
    assert live["probability"] == pytest.approx(full["probability"])


@pytest.mark.parametrize(
    ("body", "arguments", "target"),
    [
        ({"rules": {"frozen": ["job"], "bounds": {"income": [0, 450]}, "max_changes": 1}},
         {"constraints": pertinent.Constraints(
             frozen=["job"], bounds={"income": (0, 450)}, max_changes=1)}, None),
        ({"rules": {"costs": {"income": 3}, "increase_only": ["income"]}, "target": "yes"},
         {"constraints": pertinent.Constraints(costs={"income": 3}, increase_only=["income"])},
         "yes"),
        ({"min_probability": 0.8, "method": "strict"},
         {"min_proba": 0.8, "method": "strict"}, None),
        ({"norm": "l0"}, {"norm": "l0"}, None),
    ],
)  # fmt: skip
def test_rules_and_options_are_those_of_the_library(served, body, arguments, target):
    told = post(served, "explain", ids=[5], **body).json()["explanations"][0]
    own = recipe(**arguments).explainer().explain(small().frame.iloc[[5]], target)[0]
    assert told["summary"] == json.loads(json.dumps(own.summary()))
    if "rules" in body:
        rules = eval(told["constraints_line"], {"Constraints": pertinent.Constraints})
        assert rules == arguments["constraints"]


def test_conflicting_locks_are_named_and_each_can_be_taken_back(served):
    row = int(np.flatnonzero(small().model.predict(small().frame) == "no")[0])
    locks = {"frozen": ["age", HOSTILE, "job"], "decrease_only": ["income"]}
    why = post(served, "explain", ids=[row], rules=locks, target="yes").json()["explanations"][0]
    rules = why["reason"]["rules"]
    assert why["reason"]["proved"]
    assert {"kind": "decrease-only", "features": ["income"]}.items() <= next(
        rule for rule in rules if "income" in rule["features"]
    ).items()
    freed = {**locks, "decrease_only": [], "bounds": {"income": [None, None]}}
    again = post(served, "explain", ids=[row], rules=freed, target="yes").json()["explanations"][0]
    assert again["reason"] is None
    assert again["summary"]["negative"]["status"] == "optimal"


def test_alternatives_are_the_librarys(served):
    found = post(served, "alternatives", ids=[5], count=2).json()
    own = recipe(alternatives=2).explainer().explain(small().frame.iloc[[5]])[0]
    told = [{v["feature"]: v["old"] for v in card["values"]} for card in found["cards"]]
    assert told == [{name: pair[0] for name, pair in one.items()} for one in own.alternatives]
    assert [card["objective"] for card in found["cards"]] == [
        one["objective"] for one in own.summary()["negative"]["alternatives"]
    ]


def test_the_menu_is_the_librarys(served, explainer):
    found = post(served, "menu", ids=[5], max_features=2).json()
    menu = explainer.menu(small().frame.iloc[[5]])
    assert found["words"] == menu.text()
    assert [one["features"] for one in found["sets"]] == [list(lever.features) for lever in menu]
    assert [one["works"] for one in found["sets"]] == [lever.works for lever in menu]


def test_cohorts_are_counted_over_the_librarys_answers(served, explainer):
    found = post(served, "cohorts", by="job", sample=5000, target="yes").json()
    negative = explainer.explain(small().frame, "yes").negative
    answered = negative.found | (negative.status == "already")
    cost = np.where(negative.status == "already", 0.0, negative.objective)
    assert found["rows"] == len(small().frame)
    for group in found["groups"]:
        job = group["filters"][0].removeprefix("job:eq:")
        rows = (small().frame["job"] == job).to_numpy()
        assert group["n"] == rows.sum()
        assert group["answered"] == answered[rows].sum()
        assert group["median_cost"] == pytest.approx(np.median(cost[rows & answered]))
        assert group["median_low"] <= group["median_cost"] <= group["median_high"]
        listed = served.get("/api/v1/rows", params={"filter": group["filters"], "limit": 1}).json()
        assert listed["matching"] == group["n"]
    gap = found["gap"]
    assert gap["share"]["low"] <= gap["share"]["difference"] <= gap["share"]["high"]
    by_number = post(served, "cohorts", by="income", filters=["age:lt:40"], sample=40).json()
    assert sum(group["n"] for group in by_number["groups"]) == by_number["rows"]
    assert by_number["total"] == (small().frame["age"] < 40).sum()


def test_letters_and_reports_escape_every_name(served):
    for path in ("letter", "report"):
        page = post(served, path, ids=[2], title=HOSTILE)
        assert page.headers["content-type"].startswith("text/html")
        assert HOSTILE not in page.text
        assert "\x1b" not in page.text
        assert "predicts" in page.text


def test_a_letter_says_nothing_twice(served):
    page = post(served, "letter", ids=[2]).text
    for heading in ("What would have changed", "What was enough"):
        assert re.search(f"<h2>{heading}[^<]*</h2>\n<p>[A-Z“]", page)


GOOD = values_of(0)


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("explain", {"rows": [GOOD | {"age": "old"}]}, 422, "rows[0].age"),
        ("explain", {"rows": [GOOD | {"age": None}]}, 422, "rows[0].age"),
        ("explain", {"rows": [GOOD | {"age": 10**400}]}, 422, "rows[0].age"),
        ("explain", {"rows": [GOOD, GOOD | {"job": "none"}]}, 422, "rows[1].job"),
        ("explain", {"rows": [GOOD | {"shoe": 1}]}, 422, "rows[0].shoe"),
        ("predict", {"rows": [{"age": 3}]}, 422, "rows[0].income"),
        ("explain", {"ids": [0, 9999]}, 422, "ids[1]"),
        ("explain", {"ids": [0], "target": "maybe"}, 422, "target"),
        ("explain", {"ids": [0], "rules": {"lock": ["age"]}}, 422, "rules.lock"),
        ("explain", {"ids": [0], "method": "magic"}, 422, "method"),
        ("explain", {"ids": [0], "min_probability": 2}, 422, "min_probability"),
        ("explain", {}, 422, None),
        ("explain", {"ids": list(range(201))}, 413, "ids"),
        ("menu", {"ids": [0, 1]}, 422, "rows"),
        ("cohorts", {"by": "shoe"}, 422, "by"),
        ("cohorts", {"by": "job", "filters": ["age:lt:0"]}, 422, "filters"),
        ("check", {"explanation": {"format": "other"}}, 422, "explanation"),
    ],
)
def test_what_is_wrong_is_named(served, path, body, status, field):
    answer = served.post(f"/api/v1/{path}", content=json.dumps(body),
                         headers={"Content-Type": "application/json"})  # fmt: skip
    problem = answer.json()
    assert (answer.status_code, problem["field"]) == (status, field)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["request_id"] == answer.headers["x-request-id"]


FAULTS = [
    ({"categories": {"age": None}}, "categories.age"),
    ({"frozen": ["age", "incme"]}, "frozen[1]"),
    ({"frozen": "age"}, "frozen"),
    ({"frozen": ["age", 3]}, "frozen[1]"),
    ({"bounds": {"age": [0, 9], "income": [2, 1]}}, "bounds.income"),
    ({"bounds": {"income": [1]}}, "bounds.income[1]"),
    ({"bounds": {"income": [1, "a"]}}, "bounds.income[1]"),
    ({"bounds": {"job": [0, 1]}}, "bounds.job"),
    ({"increase_only": ["age", "job"]}, "increase_only[1]"),
    ({"decrease_only": ["shoe"]}, "decrease_only[0]"),
    ({"integer": ["age", "job"]}, "integer[1]"),
    ({"decimals": {"income": 99}}, "decimals.income"),
    ({"decimals": {"age": 1, "shoe": 1}}, "decimals.shoe"),
    ({"step": {"income": -1}}, "step.income"),
    ({"step": {"income": "a"}}, "step.income"),
    ({"step": {"income": 5}, "decimals": {"age": 1, "income": 1}}, "step.income"),
    ({"integer": ["age", "income"], "step": {"income": 5}}, "step.income"),
    ({"categories": {"job": ["fixed", "none"]}}, "categories.job[1]"),
    ({"categories": {"age": [1]}}, "categories.age"),
    ({"transitions": {"job": {"fixed": ["part-time", "none"]}}}, "transitions.job.fixed[1]"),
    ({"transitions": {"job": {"fixed": [], "none": ["fixed"]}}}, "transitions.job.none"),
    ({"transitions": {"age": {"fixed": []}}}, "transitions.age"),
    ({"relations": ["age <= income", "age <="]}, "relations[1]"),
    ({"relations": ["age <= shoe"]}, "relations[0]"),
    ({"max_changes": 0}, "max_changes"),
    ({"costs": {"age": 2, "income": -1}}, "costs.income"),
    ({"costs": {"income": "a"}}, "costs.income"),
    ({"together": [["age", "job"], ["income", "shoe"]]}, "together[1][1]"),
    ({"together": [["age", "job"], []]}, "together[1]"),
    ({"lock": ["age"]}, "lock"),
]


@pytest.mark.parametrize(("rules", "field"), FAULTS)
def test_the_very_part_of_the_rules_that_is_wrong_is_named(served, rules, field):
    sound = {"frozen": [HOSTILE], "max_changes": 3, "costs": {HOSTILE: 2}}
    for given in (rules, sound | rules, rules | {k: sound[k] for k in sound if k not in rules}):
        answer = post(served, "explain", ids=[0], rules=given)
        assert (answer.status_code, answer.json()["field"]) == (422, f"rules.{field}")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"method": "exact", "rules": {"frozen": ["age"]}, "plausible": True}, "plausible"),
        ({"target": [1]}, "target"),
        ({"time_limit": 0}, "time_limit"),
    ],
)
def test_the_very_option_that_is_wrong_is_named(served, body, field):
    answer = post(served, "explain", ids=[0], **body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


@pytest.mark.parametrize(
    "query", ["filter=age", "filter=shoe:eq:1", "filter=age:lt:x", "filter=job:lt:a", "sort=shoe",
              "filter=@class:eq:maybe", "order=up", "limit=0", "limit=100000"],
)  # fmt: skip
def test_odd_lists_are_refused(served, query):
    assert served.get(f"/api/v1/rows?{query}").status_code == 422


def test_schemas_hold_of_what_is_served(served):
    schema = served.get("/api/v1/schema").json()
    jsonschema.validate(GOOD, schema["row"])
    jsonschema.validate(served.get("/api/v1/model").json()["rules"], schema["rules"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(GOOD | {"job": "none"}, schema["row"])


def test_metrics_count_requests_by_route_and_never_by_address(served):
    served.get("/api/v1/rows/4")
    text = served.get("/metrics").text
    assert 'route="/api/v1/rows/{id}",status="200"' in text
    assert "pertinent_workers_ready 1.0" in text
    assert "rows/4" not in text
