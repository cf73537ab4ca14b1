"""Rules and reasons speak of features and classes as the wording does."""

import json

import jsonschema
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.rules.words import in_words
from pertinent.summary.population import summarize_population
from pertinent.views.report import report_html

NAMES = ("time_left", "amount", "records")
WORDING = pertinent.Wording(
    names={"amount": "loan amount", "records": "bad credit record"},
    labels={0: "refused (path C:\\no)", 10: "approved"},
)


@pytest.fixture(scope="module")
def stuck():
    """Nothing leads to approval: every rule is in the way."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list(NAMES))
    model = LogisticRegression().fit(frame, np.where(frame.sum(axis=1) > 0, 10, 0))
    rules = pertinent.Constraints(
        frozen=["records"],
        decrease_only=["time_left"],
        relations=["amount <= 0.1 * time_left - 5"],
    )
    explainer = pertinent.Explainer(model, data=frame, constraints=rules, wording=WORDING)
    rows = frame[model.predict(frame) == 0].head(3)
    return model, explainer.explain(rows)


def test_every_rule_is_renamed():
    rules = pertinent.Constraints(
        frozen=["records"],
        bounds={"amount": (0, 10), 0: (None, 3)},
        increase_only=["time_left"],
        decrease_only=["time_left"],
        integer=["amount"],
        decimals={"time_left": 1},
        categories={"records": ["yes"]},
        transitions={"records": {"no": ["yes"]}},
        relations=["amount <= 2 * time_left", ({"amount": 1.0, "records": 2.0}, 7)],
        max_changes=2,
        costs={"amount": 3.0},
        together=[["amount", "records"]],
    )
    lines = in_words(rules, WORDING.speech(NAMES))
    assert lines == [
        "bad credit record stays as it is",
        "loan amount is between 0 and 10",
        "time left is at most 3",
        "time left may only increase",
        "time left may only decrease",
        "loan amount is a whole number",
        "time left has at most 1 decimal",
        "bad credit record is one of “yes”",
        "bad credit record changes only from “no” to “yes”",
        "loan amount <= 2 * time left",
        "1 * loan amount + 2 * bad credit record <= 7",
        "at most 2 features change",
        "loan amount and bad credit record change together",
        "loan amount costs 3 times as much",
    ]


def test_features_that_are_called_the_same_keep_their_names():
    called = pertinent.Wording(names={"a": "size", "b": "size"}).speech(("a", "b", "c")).feature
    assert [called(name) for name in ("a", "b", "c", 1)] == ["a", "b", "c", "b"]


def test_no_raw_name_is_left(stuck):
    _, result = stuck
    assert set(result.negative.status) == {"infeasible"}
    assert "predicted as any class other than 0 and obeys: " in result.negative.reason[0]
    said = [
        result[0].text("long"),
        result.text(),
        report_html(result),
        result[0].html(),
        " ".join(text.get_text() for text in result[0].plot().texts),
        str(summarize_population(result)["negative"]["reasons"]),
    ]
    for words in said:
        assert "frozen" not in words
        assert "records" not in words
        assert "time_left may" not in words
    text = said[0]
    assert "other than refused (path C:\\no) and obeys: " in text
    assert "loan amount <= 0.1 * time left - 5" in text
    assert "time left may only decrease" in text
    assert "bad credit record stays as it is" in text


def test_a_stored_explanation_keeps_the_words_and_holds(stuck):
    model, result = stuck
    stored = result[0].json()
    jsonschema.validate(json.loads(stored), pertinent.json_schema())
    assert pertinent.check(stored, model).ok
    assert pertinent.Explanation.from_json(stored).text("long") == result[0].text("long")


def test_files_written_before_there_were_words_are_read(stuck):
    _, result = stuck
    document = json.loads(result[0].json())
    del document["summary"]["reasons"]
    text = pertinent.Explanation.from_json(json.dumps(document)).text()
    assert "other than 0 and obeys" in text


def test_a_name_with_separators_keeps_its_wording():
    """Words are made from data: a feature named like a list of rules is one feature."""
    import pandas as pd

    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a; b", "c frozen obeys: d"])
    model = LogisticRegression().fit(frame, (frame.sum(axis=1) > 0).astype(int))
    explainer = pertinent.Explainer(
        model,
        data=frame,
        constraints=pertinent.Constraints(frozen=list(frame.columns)),
        wording=pertinent.Wording(names={"a; b": "width", "c frozen obeys: d": "height"}),
    )
    result = explainer.explain(frame.head(1))
    words = "and obeys: width and height stay as they are (each of them is needed"
    assert words in result[0].summary()["reasons"]["negative"]
    assert "obeys: a; b frozen; c frozen obeys: d frozen (each" in result.negative.reason[0]
    assert [rule.features for rule in result.negative.reasons[0].rules] == [
        ("a; b",),
        ("c frozen obeys: d",),
    ]
