import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import pertinent
from pertinent.exceptions import InputError
from pertinent.geometry.codec import decode, encode


def test_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(pertinent.json_schema())


def test_json_obeys_the_schema(applicants, digits, impossible):
    validator = jsonschema.Draft202012Validator(pertinent.json_schema())
    for result in (applicants, digits, impossible):
        for explanation in list(result)[:5]:
            validator.validate(json.loads(explanation.json()))


def test_schema_notices_mistakes(applicants):
    document = json.loads(applicants[0].json())
    document["summary"]["positive"]["status"] = "perfect"
    with pytest.raises(jsonschema.ValidationError, match="perfect"):
        jsonschema.validate(document, pertinent.json_schema())


def test_round_trip(applicants, tmp_path):
    explanation = applicants[4]
    text = explanation.json()
    again = pertinent.Explanation.from_json(text)
    assert again.json() == text
    for length in ("short", "medium", "long"):
        assert again.text(length) == explanation.text(length)
    assert again.html() == explanation.html()
    assert again.kept == explanation.kept
    assert again.changed == explanation.changed
    assert (again.prediction, again.target) == (explanation.prediction, explanation.target)
    path = tmp_path / "explanation.json"
    path.write_text(explanation.json(indent=2), encoding="utf-8")
    assert pertinent.Explanation.from_json(path).json() == text


def test_a_stored_explanation_equals_the_one_it_was(applicants):
    again = pertinent.Explanation.from_json(applicants[4].json())
    assert again == applicants[4]
    assert hash(again) == hash(applicants[4])
    assert again != applicants[5]


def test_a_slice_of_a_result_is_a_result(applicants):
    some = applicants[0:2]
    assert isinstance(some, pertinent.Explanations)
    assert [one.text() for one in some] == [applicants[0].text(), applicants[1].text()]
    assert some.text().startswith("2 applicants explained")
    with pytest.raises(TypeError, match="Ask for result\\[3\\] or result\\[0:2\\]"):
        applicants[[0, 2]]


def test_json_is_deterministic(credit):
    from pertinent.demo import explain_applicants

    one, two = (explain_applicants(credit, 3)[1].json() for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"format": "other"}', 'Expected an explanation with "format"'),
        ('{"format": "pertinent-explanation", "version": 7}', "has version 7"),
        ('{"format": "pertinent-explanation", "version": 1}', "lacks row"),
        ("{", "Expected an explanation as JSON"),
        ("no-such-file.json", "cannot be read"),
    ],
)
def test_what_is_no_explanation_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        pertinent.Explanation.from_json(text)


@pytest.mark.parametrize(
    "value",
    [
        np.array([[1.5, -np.inf], [np.nan, 0.1 + 0.2]]),
        np.zeros((3, 50)),
        np.array([True, False]),
        np.array(["a", None, 3], dtype=object),
        np.inf,
        {1: (2.0, None), "a": (None, np.inf)},
    ],
)
def test_records_come_back_to_the_last_bit(value):
    again = decode(json.loads(json.dumps(encode(value))))
    if isinstance(value, np.ndarray):
        np.testing.assert_array_equal(again, value)
        assert again.dtype == value.dtype
    else:
        assert again == value


@pytest.mark.parametrize(
    "record",
    [
        {"type": "array", "of": "float", "shape": [2], "values": [1.0]},
        {"type": "array", "of": "float", "shape": [-1], "values": []},
        {"type": "array", "of": "float", "shape": [10**12], "values": []},
        {"type": "array", "of": "float", "shape": [2], "at": [5], "values": [1.0]},
        {"type": "array", "of": "float", "shape": [1], "values": ["os.system"]},
        {"type": "linear", "multipliers": 1, "ray": 2, "more": 3},
        {"type": "linear"},
        {"no": "type"},
    ],
)
def test_malformed_records_are_refused(record):
    with pytest.raises(InputError):
        decode(record)


def test_a_number_after_categories_has_its_own_column_in_the_table():
    frame = pd.DataFrame({"job": ["a", "b", "c"] * 20, "income": np.arange(60.0) * 1.5})
    steps = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(steps, LogisticRegression(max_iter=5000)).fit(frame, frame["income"] > 40)
    result = pertinent.Explainer(model, data=frame).explain(frame.head(3))
    table, points = result.to_frame(), result.negative.points
    assert (points["income"] > 30).all()
    assert table["negative.income"].tolist() == points["income"].tolist()
    assert table["negative.job"].tolist() == points["job"].tolist()


def test_to_frame(applicants, digits):
    frame = applicants.to_frame()
    assert len(frame) == len(applicants)
    assert (frame.index == applicants.table.source.to_native().index).all()
    assert frame["negative_status"].tolist() == applicants.negative.status.tolist()
    job = frame["negative.job"]
    assert set(job) <= {"fixed", "part-time", "freelance", "other"}
    assert digits.to_frame("polars").height == len(digits)
    with pytest.raises(InputError, match="backend must be one of pandas, polars, pyarrow"):
        digits.to_frame("dask")


def test_to_arrow(applicants, impossible):
    table = applicants.to_arrow()
    assert table.num_rows == len(applicants)
    assert str(table.schema.field("negative_reason").type) in ("string", "large_string")
    assert impossible.to_arrow().column("negative_reason").null_count == 0


def test_views_need_to_know_what_was_asked():
    from dataclasses import replace

    X = np.random.default_rng(0).normal(size=(20, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    bare = replace(pertinent.Explainer(model).explain(X[:1]), asked=None)
    with pytest.raises(InputError, match="Views need the result of Explainer.explain"):
        bare[0].text()
