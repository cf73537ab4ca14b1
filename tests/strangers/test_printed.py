"""Tables that are not ours, at the first try: what is printed is sensible, true and minimal."""

from collections import Counter

import numpy as np
import pytest

import pertinent
from tests.strangers.judging import faults, judge, judge_shown
from tests.strangers.tables import PIPELINES, TABLES, statsmodels_table
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
