"""Tables that are not ours, at the first try: what is printed is sensible, true and minimal."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from tests.strangers.judging import faults, judge, judge_shown
from tests.strangers.ranges import faults as faults_of_ranges
from tests.strangers.ranges import judge_ranges
from tests.strangers.tables import PIPELINES, TABLES, penguins, statsmodels_table
from tests.strangers.whole import judge_whole, printed

#: Rows of each table and pipeline in the short run.
ROWS = 4


def explained(table, pipeline, count):
    X, model = PIPELINES[pipeline](table)
    rows = np.linspace(0, len(X) - 1, min(count, len(X))).astype(int)
    explainer = pertinent.Explainer(model, data=X)
    return judge(explainer.explain(X.iloc[rows]), model, X, explainer.inferred)


@pytest.fixture(scope="module", params=TABLES, ids=lambda make: make.__name__)
def table(request):
    return request.param()


@pytest.mark.matrix(4)
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_few_rows(table, pipeline):
    found = explained(table, pipeline, ROWS)
    assert not faults(found), found
    assert found["optimal"] + found["feasible"] >= ROWS - 2


def test_numbers_of_thousands_are_printed_to_the_last_one():
    """A printed 14,500 says that 14,499 does not do."""
    table = statsmodels_table("star98", lambda f: f["NABOVE"] > f["NBELOW"], ["NABOVE", "NBELOW"])
    X, model = PIPELINES["lda"](table)
    explainer = pertinent.Explainer(model, data=X)
    found = judge_shown(printed(explainer.explain(X.head(20))), model, X, explainer.inferred)
    assert found["values"] >= 20
    assert not faults(found), found


@pytest.mark.matrix(4)
@pytest.mark.parametrize("single", [False, True], ids=["double", "single"])
@pytest.mark.parametrize("pipeline", ["logistic", "tree", "naive bayes"])
def test_ranges_and_boxes_of_a_few_rows(pipeline, single):
    table = penguins()
    if single:
        kinds = dict.fromkeys(table.numbers, np.float32)
        table = replace(table, X=table.X.astype(kinds))
    X, model = PIPELINES[pipeline](table)
    explainer = pertinent.Explainer(model, data=X)
    result = explainer.explain(X.iloc[[0, 100, 200, 300]])
    judged = judge_ranges((one.summary() for one in result), model, X, explainer.inferred)
    assert judged.found["inside"] > 40
    assert judged.found["ends"] > 0
    assert not faults_of_ranges(judged.found), judged.wrong


def test_the_judge_of_ranges_sees_what_is_wrong():
    """A range that is a step too long, and one that is a step too short."""
    X, model = PIPELINES["logistic"](penguins())
    explainer = pertinent.Explainer(model, data=X)
    summary = explainer.explain(X.iloc[[0]])[0].summary()
    (value,) = summary["negative"]["values"]
    assert value["range"]["low_end"]["kind"] == "class"
    for step in (-0.5, 0.5):
        low = round(value["range"]["low"] + step, 1)
        wrong = value["range"] | {"low": low, "exact_low": low}
        told = summary | {"negative": summary["negative"] | {"values": [value | {"range": wrong}]}}
        judged = judge_ranges([told], model, X, explainer.inferred)
        assert faults_of_ranges(judged.found)


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_whole_tables(table, pipeline):
    found = judge_whole(table, pipeline)
    assert not faults(found), found


def test_the_judge_sees_what_is_wrong():
    """A judge that never complains proves nothing: without rules of the data it must."""
    from tests.strangers.tables import affairs

    table = affairs()
    X, model = PIPELINES["logistic"](table)
    free = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None)
    ruled = pertinent.Explainer(model, data=X)
    found = judge(free.explain(X.head(20)), model, X, ruled.inferred)
    assert Counter(faults(found)).total() > 0


def test_a_range_goes_on_where_two_leaves_meet_between_two_whole_numbers():
    """Behind a scaler, leaves that meet at 0.5 lie many roundings of 0.5 apart."""
    rng = np.random.default_rng(0)
    years = rng.integers(0, 40, 4000)
    often = np.where(years == 0, 0.95, np.where(years <= 10, 0.7, 0.1))
    X, y = pd.DataFrame({"years": years}), rng.random(4000) < often
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(max_leaf_nodes=3)).fit(X, y)
    explainer = pertinent.Explainer(model, data=X)
    one = explainer.explain(X[years == 20].head(1))[0]
    assert "years 10 or less instead of 20" in one.text()
    assert one.ranges == one.box == {"years": (0.0, 10.0)}
    assert pertinent.check(one.json(), model).verdict == "holds"
