"""Samples with missing values explained: in words, tables and files, on the command line."""

import json
import pickle

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

import pertinent
from pertinent.cli import codes
from pertinent.cli.app import app
from pertinent.exceptions import InputError
from pertinent.scale import explain_batches
from pertinent.setting.claims.ranges import state_rooms
from pertinent.setting.ranges import Room, Span
from pertinent.summary.ranges.shown import changed_values


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 70, n),
            "income": np.round(rng.normal(3000, 900, n), -1),
            "job": rng.choice(["fixed", "none"], n),
        }
    )
    score = frame["income"] / 1000 + (frame["job"] == "fixed") + frame["age"] / 50
    frame.loc[rng.random(n) < 0.3, "income"] = np.nan
    label = np.where(score + rng.normal(0, 0.3, n) > 4.2, "yes", "no")
    model = HistGradientBoostingClassifier(
        max_iter=10, max_leaf_nodes=6, categorical_features=["job"]
    ).fit(frame, label)
    return model, frame, pertinent.Explainer(model, data=frame, missing="keep")


@pytest.fixture(scope="module")
def explained(fitted):
    """Return explanations of a sample without income, which do not and do fill it in."""
    _, frame, explainer = fitted
    result = explainer.explain(frame[frame["income"].isna()].head(12))
    filled = result.negative.changed[:, 1] & result.negative.found
    return [result[int(np.flatnonzero(filled == changed)[0])] for changed in (False, True)]


def test_words_say_missing(fitted, explained):
    filled = explained[True]
    assert "instead of a missing value" in filled.text()
    assert "read as" not in filled.text()
    for one in explained:
        said = [one.text(length) for length in ("short", "medium", "long")]
        for text in [*said, one.html()]:
            assert "nan" not in text.lower().replace("finance", "")
        assert "no value becomes missing" in one.text("long")
        assert "To fill in a missing value is a change from the median" in one.text("long")
        one.plot()
    kept = fitted[2].explain(fitted[1][fitted[1]["income"].isna()].head(12))
    assert any("income missing (typical" in one.text() for one in kept)


def test_a_menu_says_missing(fitted):
    _, frame, explainer = fitted
    menu = explainer.menu(frame[frame["income"].isna()].head(1), max_features=2)
    assert "instead of a missing value" in menu.text()


@pytest.mark.parametrize("changed", [True, False])
def test_files_are_checked_and_forgeries_refuted(fitted, explained, changed):
    model, text = fitted[0], explained[changed].json()
    assert "NaN" not in text
    stored = json.loads(text)
    jsonschema.validate(stored, pertinent.json_schema())
    assert stored["summary"]["features"][1]["sample"] is None
    assert stored["summary"]["features"][1]["missing"] is True
    assert stored["proof"]["question"]["missing_features"] == ["income"]
    assert pertinent.check(text, model).ok
    again = pertinent.Explanation.from_json(text)
    assert again.text() == explained[changed].text()
    # Another place of the missing value is another cost: the stated one is no longer right.
    if changed:
        stored["proof"]["question"]["missing_at"]["income"] += 100.0
        assert not pertinent.check(json.dumps(stored), model).ok
    del stored["proof"]["question"]["missing_at"]
    with pytest.raises(InputError, match="where missing values of the model stand"):
        pertinent.check(json.dumps(stored), model)


def test_what_is_missing_has_no_range_and_what_is_filled_in_has(fitted):
    model, frame, explainer = fitted
    samples = frame[frame["income"].isna()].head(12)
    result = explainer.explain(samples)
    filled = 0
    for place, one in enumerate(result):
        assert "income" not in one.kept_ranges or one.kept["income"] is not None
        if "income" in one.changed:
            low, high = one.ranges["income"]
            row = samples.iloc[[place]].assign(**{k: [v] for k, (_, v) in one.changed.items()})
            for income in np.linspace(low, high, 9):
                assert model.predict(row.assign(income=income))[0] == one.target
            filled += 1
    assert filled > 0
    # Nobody can claim one: while a value is missing, its number says nothing.
    answer = changed_values(result, result.asked, np.arange(len(result)))
    number, mark = explainer.setting.features.columns_of(1).tolist()
    proposed = [Room((Span(number, *(2 * [float(at[number])])),)) for at in answer.points]
    shown = state_rooms(explainer.setting, answer, proposed)
    gone = answer.points[:, mark] == 1
    assert gone.any()
    assert not any(room.spans for room, no in zip(shown, gone, strict=True) if no)


def test_tables_hold_gaps(fitted):
    _, frame, explainer = fitted
    samples = frame.head(20)
    result = explainer.explain(samples)
    stays = samples["income"].isna() & ~result.negative.changed[:, 1]
    assert stays.any()
    table = result.to_frame()
    np.testing.assert_array_equal(table["negative.income"].isna(), stays)
    np.testing.assert_array_equal(result.negative.points["income"].isna(), stays)
    numbers = result.negative.points["income"][~stays].to_numpy()
    np.testing.assert_array_equal(table["negative.income"][~stays], numbers)
    batch = pa.RecordBatch.from_pandas(samples, preserve_index=False)
    [answers] = explain_batches(explainer, [batch])
    assert answers["negative.income"].is_null().to_pylist() == stays.tolist()
    assert set(answers["negative_status"].to_pylist()) == {"optimal"}


def test_the_command_line_has_the_same_switch(fitted, tmp_path):
    model, frame, _ = fitted
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    frame.to_csv(tmp_path / "rows.csv", index=False)
    row = str(int(np.flatnonzero(frame["income"].isna())[0]))
    common = ["explain", str(tmp_path / "model.pkl"), str(tmp_path / "rows.csv"), "--allow-pickle"]
    common += ["--train", str(tmp_path / "rows.csv"), "--rows", row]
    run = CliRunner().invoke
    refused = run(app, [*common, "--missing", "error"])
    assert refused.exit_code != codes.DONE
    assert "--missing keep" in refused.output
    stored, kept = tmp_path / "one.json", tmp_path / "kept.json"
    for more, file in (([], stored), (["--missing", "keep"], kept)):
        done = run(app, [*common, *more, "--json", "-o", str(file)])
        assert done.exit_code == codes.DONE, done.output
    assert stored.read_text() == kept.read_text()
    checked = run(app, ["check", str(stored), str(tmp_path / "model.pkl"), "--allow-pickle"])
    assert checked.exit_code == codes.DONE, checked.output


def test_trees_keep_missing_values_where_the_data_have_some(fitted):
    model, frame, kept = fitted
    alone = frame[frame["income"].isna()].head(3)
    usual = pertinent.Explainer(model, data=frame).explain(alone)
    assert usual[0].json() == kept.explain(alone)[0].json()
    complete = pertinent.Explainer(model, data=frame.dropna())
    with pytest.raises(InputError, match="missing='keep'"):
        complete.explain(alone)


def test_what_fills_a_gap_in_single_precision_is_stored_as_it_is_read():
    """The mean of a column of single precision is no number of single precision."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"a": rng.uniform(0, 1e7, 60).astype(np.float32), "b": rng.uniform(0, 9, 60)})
    y = X.a / 1e6 + X.b > 10
    X.loc[::5, "a"] = np.nan
    model = make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression()).fit(X, y)
    found = pertinent.Explainer(model, data=X).explain(X.iloc[::5])
    for explanation in found:
        checked = pertinent.check(explanation.json(), model)
        assert checked.verdict == "holds", str(checked)


def test_a_missing_category_among_those_that_would_do_is_stored_as_null():
    size, kind = np.tile([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], 20), ["a", np.nan, "b"] * 40
    frame = pd.DataFrame({"size": size, "kind": pd.Series(kind, dtype=object)})
    label = np.where(size + 2 * frame["kind"].isna() + (frame["kind"] == "b") > 3, "big", "small")
    columns = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression()).fit(frame, label)
    [one] = pertinent.Explainer(model, data=frame).explain(frame.iloc[[4]])
    told = {v["feature"]: v["range"] for v in one.summary()["positive"]["values"]}
    assert told["kind"] == {"values": ["b", None]}
    assert pertinent.check(one.json(), model).verdict == "holds"
