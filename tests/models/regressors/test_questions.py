"""Questions about ranges: views, rules, checks and forgeries, tables, files, the command line."""

import copy
import json

import jsonschema
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import skops.io
from matplotlib.text import Text
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from typer.testing import CliRunner

import pertinent
from pertinent import RangeClassifier
from pertinent.cli import codes
from pertinent.cli.app import app
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.models.files import load_model
from pertinent.scale import explain_batches
from pertinent.scale.run import Job, run
from tests.forgeries import refuted, resummed, tampered
from tests.models.regressors.examples import X, Y, fitted

NAMES = ["rooms", "size", "noise"]
FRAME = pd.DataFrame(X, columns=NAMES)
PRICE = 1000 * Y
QUESTION = ("proof", "question")


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), Ridge()).fit(FRAME, PRICE)


@pytest.fixture(scope="module")
def explainer(model):
    return pertinent.Explainer(model, data=FRAME)


@pytest.fixture(scope="module")
def low(model):
    """A sample that is predicted below 100,000."""
    return FRAME.iloc[[int(model.predict(FRAME).argsort()[20])]]


@pytest.fixture(scope="module")
def stored(explainer, low):
    return json.loads(explainer.explain(low, target=(100_000, None))[0].json())


def test_texts_say_what_is_predicted(model, explainer, low):
    result = explainer.explain(low, target=(100_000, None))
    summary, text = result[0].summary(), result[0].text()
    now = model.predict(low)[0]
    assert repr(explainer).startswith("<Explainer of Pipeline: 3 features, a number")
    assert summary["model"] == "Ridge"
    assert text.startswith("The model predicts below 100,000 for this case.")
    assert f"The model predicts {now:,.0f}" in text
    assert "With the change it predicts 100,0" in text
    assert "(100,000 or more)" in text
    assert summary["probability"]["prediction"] == now
    after = summary["probability"]["after"]
    changes = {one["feature"]: one["value"] for one in summary["negative"]["values"]}
    assert after == pytest.approx(model.predict(low.assign(**changes))[0])  # as it is printed
    assert after >= 100_000
    frame = result.to_frame()
    assert frame["value"].tolist() == [now]
    assert frame["value_after"].iloc[0] >= 100_000
    assert "100,000 or more" in result[0].html()
    assert "1 predicted below 100,000" in result.text()


def test_what_keeps_a_prediction_within_a_band(model, explainer, low):
    now = float(model.predict(low)[0])
    result = explainer.explain(low, target=(now - 5_000, now + 5_000))
    assert result.negative.status.tolist() == ["already"]
    assert result.positive.status.tolist() == ["optimal"]
    kept, typical = result.positive.kept[0], FRAME.median()
    assert kept.any()
    assert abs(model.predict(result.positive.points)[0] - now) <= 5_000
    assert abs(model.predict(typical.to_frame().T)[0] - now) > 5_000
    assert "has to" in result[0].text()


def test_the_target_must_be_a_range(explainer, low):
    for target, match in (
        (None, "say which range"),
        (100_000, r"target=\(low, high\)"),
        ("high", r"target=\(low, high\)"),
        ((None, None), "every prediction lies in"),
        ((2, 1), "no prediction lies in"),
        ((np.inf, None), "no prediction lies in"),
        ((float("nan"), None), "is no number"),
        (("1", None), "is no number"),
    ):
        with pytest.raises(InputError, match=match):
            explainer.explain(low, target=target)


def test_functions_know_ranges(model, low):
    found = pertinent.pertinent_negatives(model, low, target=(100_000, 110_000))
    assert found.target.tolist() == ["100,000 to 110,000"]
    with pytest.raises(InputError, match="RangeClassifier"):
        pertinent.pertinent_positives(model, low)
    ranged = RangeClassifier(model, 100_000)
    kept = pertinent.pertinent_positives(ranged, low, baseline="median", data=FRAME)
    assert ranged.predict(kept.points).tolist() == ["below 100,000"]
    with pytest.raises(InputError, match="no regressor"):
        RangeClassifier(LogisticRegression().fit(X, Y > 100))
    with pytest.raises(InputError, match="not fitted"):
        RangeClassifier(Ridge())
    with pytest.raises(UnsupportedModelError, match="predict_proba"):
        pertinent.Explainer(model, min_proba=0.9)


def test_rules_and_proofs_that_there_is_none(model, low):
    rules = pertinent.Constraints(frozen=["size"], decrease_only=["rooms"], increase_only=["noise"])
    explainer = pertinent.Explainer(model, data=FRAME, constraints=rules)
    result = explainer.explain(low, target=(100_000, None))
    assert result.negative.status.tolist() == ["infeasible"]
    assert "no point is predicted as 100,000 or more" in result[0].text("long")
    assert pertinent.check(result[0].json(), model).ok
    tree = fitted("tree")
    least, most = tree.predict(X).min(), tree.predict(X).max()
    never = pertinent.Explainer(tree, data=X).explain(X[:1], target=(most + 1, None))
    assert never.negative.status.tolist() == ["infeasible"]
    assert pertinent.check(never[0].json(), tree).ok
    forest = pertinent.Explainer(fitted("forest"), data=X)
    never = forest.explain(X[:1], target=(least - 90, least - 80))
    assert never.negative.status.tolist() == ["infeasible"]
    assert pertinent.check(never[0].json(), fitted("forest")).ok


def test_menus_alternatives_and_ranges(model, low):
    explainer = pertinent.Explainer(model, data=FRAME, alternatives=2)
    menu = explainer.menu(low, max_features=1, target=(100_000, None))
    assert "100,000 or more" in menu.text()
    worked = [lever for lever in menu if lever.works]
    assert worked
    result = explainer.explain(low, target=(100_000, None))
    assert len(result.negative.alternatives[0]) == 2
    for name, (_, high) in result[0].ranges.items():
        point = result.negative.points.copy()
        point[name] = high if np.isfinite(high) else point[name]
        assert model.predict(point)[0] >= 100_000
    assert pertinent.check(result[0].json(), model).ok


def test_a_stored_explanation_says_what_was_asked(model, stored):
    jsonschema.validate(stored, pertinent.json_schema())
    assert stored["proof"]["question"]["range"] == [100_000, None]
    assert pertinent.check(stored, model).ok
    assert pertinent.check(stored, RangeClassifier(model, 1.0)).ok  # the range is the file's
    other = make_pipeline(StandardScaler(), Ridge(alpha=50)).fit(FRAME, PRICE)
    assert pertinent.check(stored, other).verdict == "refuted"


def moved(stored, end):
    """Ask for another range, and call all classes as they are called there."""
    text = json.dumps(stored).replace("100,000", f"{end:,}")
    return tampered(json.loads(text), (*QUESTION, "range"), [float(end), None])


def test_forged_ranges_are_refuted(model, stored):
    # Alone, the classes of the file are none of the model's.
    [claim] = refuted(tampered(stored, (*QUESTION, "range"), [99_000.0, None]), model)
    assert "classes are those of the range" in claim
    # Nearer: the change is no longer the smallest. Farther: the point is not there.
    assert refuted(moved(stored, 99_000), model)
    assert refuted(moved(stored, 101_000), model)
    nearer = resummed(moved(stored, 99_000), model)
    assert any("smaller" in claim or "bound" in claim for claim in refuted(nearer, model))
    for wrong in (None, [1.0], "all", [2.0, 1.0], [None, None], [True, None]):
        with pytest.raises(InputError, match="range"):
            pertinent.check(tampered(stored, (*QUESTION, "range"), wrong), model)


def test_forged_numbers_are_refuted(model, stored):
    for part in ("prediction", "after"):
        value = stored["summary"]["probability"][part]
        assert refuted(tampered(stored, ("summary", "probability", part), value + 1), model)
    ends = tampered(stored, ("summary", "probability", "low"), 90_000.0)
    assert refuted(ends, model)
    assert refuted(tampered(stored, ("summary", "prediction"), "100,000 or more"), model)


def test_classifiers_and_regressors_are_not_mixed_up(model, stored):
    classifier = LogisticRegression(max_iter=1000).fit(FRAME, PRICE > 100_000)
    with pytest.raises(InputError, match="no regressor"):
        pertinent.check(stored, classifier)
    other = json.loads(pertinent.Explainer(classifier, data=FRAME).explain(FRAME[:1])[0].json())
    with pytest.raises(InputError, match="does not say which range"):
        pertinent.check(other, model)
    with pytest.raises(InputError, match="no regressor: it predicts no numbers"):
        pertinent.check(tampered(other, (*QUESTION, "range"), [1.0, None]), classifier)


def test_plausible_changes_towards_a_range(low):
    model = LinearRegression().fit(FRAME, PRICE)
    for method in ("mixture", "hull"):
        near = pertinent.Plausibility(FRAME, PRICE, 1, method=method)
        explainer = pertinent.Explainer(model, data=FRAME, plausibility=near)
        result = explainer.explain(low, target=(100_000, None))
        assert result.negative.status.tolist() == ["optimal"]
        assert model.predict(result.negative.points)[0] >= 100_000
        assert pertinent.check(result[0].json(), model).ok
    words = pertinent.Plausibility(FRAME, PRICE.astype(str))
    explainer = pertinent.Explainer(model, plausibility=words)
    with pytest.raises(InputError, match="numbers that it learnt from"):
        explainer.explain(low, target=(100_000, None))


def test_categories_and_missing_values():
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingRegressor

    frame = FRAME.assign(town=np.where(X[:, 0] > 5, "north", "south"))
    encoder = make_column_transformer((OneHotEncoder(), ["town"]), remainder="passthrough")
    model = make_pipeline(encoder, LinearRegression()).fit(frame, PRICE + 30_000 * (X[:, 0] > 5))
    found = pertinent.Explainer(model, data=frame).explain(frame[:4], target=(120_000, None))
    here = found.negative.found
    assert here.any()
    assert (model.predict(found.negative.points[here]) >= 120_000).all()
    holes = X.copy()
    holes[::5, 1] = np.nan
    trees = HistGradientBoostingRegressor(max_iter=5, max_leaf_nodes=4).fit(holes, Y)
    result = pertinent.Explainer(trees, data=holes).explain(holes[:6], target=(110, None))
    here = result.negative.found
    assert here.any()
    assert (trees.predict(result.negative.points[here]) >= 110).all()


@pytest.mark.parametrize(
    ("regressor", "match"),
    [
        (TransformedTargetRegressor(Ridge(), func=np.sqrt, inverse_func=np.square), "increases"),
        (TransformedTargetRegressor(Ridge(), func=np.exp, inverse_func=np.log, check_inverse=False),
         "increases"),
        (TransformedTargetRegressor(Ridge(), transformer=FunctionTransformer(
            np.log1p, inverse_func=lambda z: np.expm1(z))), "increases"),
        (KNeighborsRegressor(3), "n_neighbors=1"),
        (KNeighborsRegressor(1, weights="distance"), "uniform"),
        (GradientBoostingRegressor(n_estimators=2, init=Ridge()), "init=Ridge"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_is_refused_says_why(regressor, match):
    model = regressor.fit(X / 100, Y / 100)
    with pytest.raises(UnsupportedModelError, match=match):
        pertinent.Explainer(model).explain(X[:1], target=(1, None))


def test_several_numbers_at_once_are_refused():
    both = np.column_stack([Y, Y])
    for model in (LinearRegression(), RandomForestRegressor(2), KNeighborsRegressor(1)):
        with pytest.raises(UnsupportedModelError, match="numbers at once"):
            pertinent.Explainer(model.fit(X, both)).explain(X[:1], target=(1, None))


@pytest.mark.parametrize(
    "name",
    ["linear", "descent", "poisson", "powers", "tree", "neighbour", "forest", "boosting",
     "histograms"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_models_from_files(name, tmp_path):
    model = fitted(name)
    skops.io.dump(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_batches_of_a_data_set(explainer, model):
    pa = pytest.importorskip("pyarrow")
    batches = pa.Table.from_pandas(FRAME[:40], preserve_index=False).to_batches(max_chunksize=25)
    found = pa.Table.from_batches(list(explain_batches(explainer, batches, (100_000, None))))
    whole = explainer.explain(FRAME[:40], target=(100_000, None))
    assert (
        found["prediction"].to_pylist() == RangeClassifier(model, 1e5).predict(FRAME[:40]).tolist()
    )
    np.testing.assert_array_equal(
        found["negative.size"].to_numpy(), whole.negative.points["size"].to_numpy()
    )


def test_a_run_over_files_goes_on_where_it_stopped(explainer, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "data").mkdir()
    FRAME[:30].to_parquet(tmp_path / "data" / "rows.parquet")
    job = Job(explainer, "a model", {}, (100_000, None))
    first = run(job, tmp_path / "data", tmp_path / "out", batch_rows=20)
    again = run(job, tmp_path / "data", tmp_path / "out", batch_rows=20)
    assert (first.found_done, again.found_done, again.rows) == (0, 2, 30)
    assert set(again.statuses["negative"]) == {"already", "optimal"}
    other = Job(explainer, "a model", {}, (90_000, None))
    with pytest.raises(InputError, match="another settings"):
        run(other, tmp_path / "data", tmp_path / "out", batch_rows=20)


def test_pictures_and_reports(explainer, model, low, tmp_path):
    result = explainer.explain(FRAME[:6], target=(100_000, 120_000))
    page = result.report(tmp_path / "report.html").read_text()
    assert "100,000 to 120,000" in page
    assert "RangeClassifier" not in page
    explainer.explain(low, target=(100_000, None))[0].plot()
    words = [text.get_text() for text in plt.gcf().findobj(Text)]
    assert any("below 100,000" in text for text in words)
    plt.close("all")


def test_the_command_line(model, low, stored, tmp_path):
    skops.io.dump(model, tmp_path / "model.skops")
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    files = [str(tmp_path / "model.skops"), str(tmp_path / "rows.csv")]
    runner, row = CliRunner(), str(int(low.index[0]))
    done = runner.invoke(app, ["explain", *files, "--rows", row, "--target", "100000:"])
    assert done.exit_code == codes.DONE, done.output
    assert "The model then predicts 100,000 or more." in done.output
    out = tmp_path / "out.json"
    options = ["--rows", row, "--target", "100000:120000", "--json", "-o", str(out)]
    assert runner.invoke(app, ["explain", *files, *options]).exit_code == codes.DONE
    assert json.loads(out.read_text())["proof"]["question"]["range"] == [100_000, 120_000]
    assert runner.invoke(app, ["check", str(out), files[0]]).exit_code == codes.DONE
    for target, said in ((["--target", "high"], "Expected a range"), ([], "which range")):
        refused = runner.invoke(app, ["explain", *files, "--rows", row, *target])
        assert refused.exit_code == codes.REFUSED
        assert said in refused.output
    assert "RandomForestRegressor" in runner.invoke(app, ["models", "--json"]).output


def test_a_document_is_not_changed_by_its_check(model, stored):
    before = copy.deepcopy(stored)
    pertinent.check(stored, model)
    assert stored == before
