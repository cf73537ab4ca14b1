"""Arrow batches in, Arrow batches out."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.exceptions import InputError, MissingExtraError
from pertinent.scale import explain_batches, output_schema

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def frame():
    return load_iris(as_frame=True).data


@pytest.fixture(scope="module")
def explainer(frame):
    names = np.array(["setosa", "versicolor", "virginica"])[load_iris().target]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, names)
    return pertinent.Explainer(model, data=frame)


def explained(explainer, frame, rows=None, **settings):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    batches = table.to_batches(max_chunksize=rows)
    return pa.Table.from_batches(explain_batches(explainer, batches, **settings))


def test_the_declared_schema_is_kept(explainer, frame):
    assert explained(explainer, frame).schema == output_schema(explainer)


@pytest.mark.parametrize("rows", [1, 13, 150])
def test_any_cut_gives_the_same_rows(explainer, frame, rows):
    assert explained(explainer, frame, rows).equals(explained(explainer, frame))


def test_columns_are_those_of_to_frame(explainer, frame):
    ours = explained(explainer, frame).to_pandas()
    theirs = explainer.explain(frame).to_arrow().to_pandas()
    chances = ["probability", "target_probability_before", "target_probability_after"]
    theirs = theirs.drop(columns=chances)  # these ask the model once more for every row
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, check_exact=True)


def test_numbers_and_truths_are_those_of_the_answers(explainer, frame):
    found, answers = explained(explainer, frame[:20]), explainer.explain(frame[:20])
    for kind, results in (("positive", answers.positive), ("negative", answers.negative)):
        assert found[f"{kind}_size"].to_pylist() == results.objective.tolist()
        unique = [None if code < 0 else code == 1 for code in results.unique_code.tolist()]
        assert found[f"{kind}_unique"].to_pylist() == unique


def test_alternatives_are_a_column_of_lists(explainer, frame):
    """Each list holds the rows that `alternatives_frame` has for the sample, nested as declared."""
    lists = pertinent.Explainer(explainer.model, data=frame, alternatives=2)
    some = frame.iloc[[0, 60, 140]]
    broken = pd.concat([some, some.head(1).assign(**{frame.columns[0]: np.nan})])
    found = explained(lists, broken)
    assert found.schema == output_schema(lists)
    *known, unread = found["alternatives"].to_pylist()
    assert unread is None
    flat = [
        {"row": i, **{k: v for k, v in one.items() if k != "values"}}
        | {f"value.{name}": value for name, value in one["values"].items()}
        for i, listed in enumerate(known)
        for one in listed
    ]
    theirs = lists.explain(some).alternatives_frame("pandas").drop(columns="id")
    pd.testing.assert_frame_equal(pd.DataFrame(flat), theirs, check_exact=True)
    assert found.equals(explained(lists, broken, 1))


def test_alternatives_hold_categories_as_they_are():
    words = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0] * 5, "kind": ["a", "a", "b", "b"] * 5})
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression()).fit(words, words["size"] > 2)
    found = explained(pertinent.Explainer(model, data=words, alternatives=1), words.head(2))
    points = [one["values"] for some in found["alternatives"].to_pylist() for one in some]
    # The smallest change is that of the kind; the next one changes the size alone.
    assert {point["kind"] for point in points} == {"a"}


def test_a_key_is_handed_through(explainer, frame):
    keyed = frame.assign(key=[f"row {i}" for i in range(len(frame))])
    found = explained(explainer, keyed, 40, keep=["key"])
    assert found.column_names[0] == "key"
    assert found["key"].to_pylist() == keyed["key"].tolist()
    assert found.drop_columns(["key"]).equals(explained(explainer, frame))


def test_kept_columns_must_exist_and_not_clash(explainer, frame):
    with pytest.raises(InputError, match="'kye' is not a column .* mean 'key'"):
        explained(explainer, frame.assign(key=1), keep=["kye"])
    with pytest.raises(InputError, match="'prediction'.*Rename"):
        explained(explainer, frame.assign(prediction=1), keep=["prediction"])


def test_rows_that_cannot_be_read_are_failed_with_a_reason(explainer, frame):
    broken = frame.copy()
    broken.iloc[1, 2], broken.iloc[4, 0] = np.nan, np.inf
    found = explained(explainer, broken)
    whole = explained(explainer, frame)
    assert found["positive_status"].to_pylist()[1] == "failed"
    assert "petal length" in found["negative_reason"].to_pylist()[1]
    assert "sepal length" in found["negative_reason"].to_pylist()[4]
    kept = [i for i in range(len(frame)) if i not in (1, 4)]
    assert found.take(kept).equals(whole.take(kept))


def test_a_missing_column_is_raised(explainer, frame):
    with pytest.raises(InputError, match="lacks the columns"):
        explained(explainer, frame.drop(columns=frame.columns[0]))


def test_rows_of_the_target_class_keep_their_positive(explainer, frame):
    found = explained(explainer, frame, target="virginica").to_pandas()
    free = explained(explainer, frame).to_pandas()
    there = found["prediction"] == "virginica"
    assert there.any()
    assert (found["negative_status"][there] == "already").all()
    assert found["negative_reason"][there].str.contains("already").all()
    assert (found["target"] == "virginica").all()
    assert (found["kept"] == free["kept"]).all()
    assert (found["negative_status"][~there] == "optimal").all()


def test_numbers_of_other_types_are_read_as_doubles(explainer, frame):
    single = explained(explainer, frame.astype(np.float32))
    double = explained(explainer, frame.astype(np.float32).astype(float))
    assert single.equals(double)


def test_empty_batches(explainer, frame):
    found = list(explain_batches(explainer, [pa.RecordBatch.from_pandas(frame.head(0))]))
    assert found[0].num_rows == 0
    assert found[0].schema == output_schema(explainer)
    assert list(explain_batches(explainer, [])) == []


def test_categories_and_unknown_ones():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "color": rng.choice(["red", "green", "blue"], 200),
        "size": rng.normal(size=200),
    })  # fmt: skip
    y = (frame["size"] + (frame["color"] == "red") > 0.3).astype(int)
    encode = make_column_transformer((OneHotEncoder(), ["color"]), remainder="passthrough")
    model = make_pipeline(encode, LogisticRegression()).fit(frame, y)
    explainer = pertinent.Explainer(model, data=frame)
    frame.loc[3, "color"] = "violet"
    found = explained(explainer, frame.head(20)).to_pandas()
    assert "violet" in found["positive_reason"][3]
    good = found.drop(index=3)
    assert (good["negative_status"] == "optimal").all()
    changed = good[["negative.color", "negative.size"]].set_axis(["color", "size"], axis=1)
    assert (explainer.model.predict(changed) == good["target"].astype(int)).all()


def test_without_pyarrow_the_extra_is_named(explainer, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pertinent\[arrow\]"):
        output_schema(explainer)


def test_targets_of_each_row_are_refused(explainer, frame):
    batches = pa.Table.from_pandas(frame).to_batches()
    with pytest.raises(InputError, match="one target for all rows"):
        list(explain_batches(explainer, batches, target=[0] * len(frame)))


def test_a_column_of_nulls_fails_its_rows(explainer, frame):
    table = pa.Table.from_pandas(frame.head(3), preserve_index=False)
    table = table.set_column(0, table.column_names[0], pa.nulls(3))
    (answers,) = explain_batches(explainer, table.to_batches())
    assert answers.schema == output_schema(explainer)
    assert answers["negative_status"].to_pylist() == ["failed"] * 3
    reason = f"missing or infinite values in '{frame.columns[0]}'"
    assert answers["positive_reason"].to_pylist() == [reason] * 3


@pytest.mark.parametrize(
    ("classes", "target", "written"),
    [
        (np.array([1, 2, 3], dtype=np.float32), np.float32(2), "2.0"),
        (np.array([1, 2, 3]), 2.0, "2"),
        (np.array(["a", "b", "c"]), np.str_("b"), "'b'"),
        (np.array([1, 2, "c"], dtype=object), 2, "2"),
    ],
    ids=["single", "whole", "text", "mixed"],
)
def test_reasons_name_the_label_of_the_model(classes, target, written):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    model.classes_ = classes
    explainer = pertinent.Explainer(model, data=X)
    batch = pa.RecordBatch.from_arrays(list(X[50:60].T), [f"x{j}" for j in range(4)])
    (answers,) = explain_batches(explainer, [batch], target=target)
    plain = classes.tolist()[1]
    assert answers["negative_reason"][0].as_py() == f"the sample is predicted as {written} already"
    label = str(plain) if classes.dtype == object else plain
    assert answers["target"].to_pylist() == [label] * 10
    (again,) = explain_batches(explainer, [batch], target=plain)
    assert again.equals(answers)


def test_a_column_that_is_there_twice_is_named(explainer, frame):
    table = pa.Table.from_pandas(frame.head(3), preserve_index=False)
    name = table.column_names[0]
    with pytest.raises(InputError, match=re.escape(f"more than one column named '{name}'")):
        list(explain_batches(explainer, table.append_column(name, table[0]).to_batches()))
