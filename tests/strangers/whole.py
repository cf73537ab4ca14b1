"""Whole tables, every row judged: `python -m tests.strangers.whole` prints the figures of the docs.

The figures are those of `docs/own_table.md`. Names of tables as arguments choose some of them.
"""

import sys
import time
import warnings
from collections import Counter

import numpy as np

import pertinent
from pertinent.summary.asked import Rooms
from pertinent.summary.summary import summarize
from pertinent.summary.words import shown
from pertinent.views.text import text
from tests.strangers.judging import judge_shown
from tests.strangers.tables import PIPELINES, TABLES

#: Rows explained and judged together.
BATCH = 500
#: Most rows of pipelines that take long for each.
MOST = {"nearest": 1000}
KINDS = (
    "invalid",
    "fractional",
    "unseen",
    "out of range",
    "micro",
    "off grid",
    "not minimal",
    "tie",
)


def printed(result):
    """Yield the summary and the text of each row; ranges and stand-ins are not looked for."""
    count = len(result)
    nothing = [Rooms()] * count
    for summary in summarize(result, instead=[None] * count, rooms=nothing):
        yield summary, text(shown(summary), "long")


def judge_whole(table, pipeline):
    """Return what the judge counts over all rows of one table, for one pipeline."""
    X, model = PIPELINES[pipeline](table)
    explainer = pertinent.Explainer(model, data=X)
    count = min(len(X), MOST.get(pipeline, len(X)))
    rows = np.linspace(0, len(X) - 1, count).astype(int)
    found = Counter()
    for start in range(0, count, BATCH):
        result = explainer.explain(X.iloc[rows[start : start + BATCH]])
        found.update(judge_shown(printed(result), model, X, explainer.inferred))
    return found


def _figures(found):
    answers = found["optimal"] + found["feasible"]
    numbers = (found["rows"], answers, found["values"], *(found[kind] for kind in KINDS))
    return " | ".join(f"{number:,}" for number in numbers)


def main(names):
    print(f"| table | pipeline | rows | answers | values | {' | '.join(KINDS)} |")
    print("|---" * (5 + len(KINDS)) + "|")
    for make in TABLES:
        if names and make.__name__ not in names:
            continue
        table = make()
        for pipeline in PIPELINES:
            start = time.perf_counter()
            found = judge_whole(table, pipeline)
            print(f"| {make.__name__} | {pipeline} | {_figures(found)} |", flush=True)
            seconds = time.perf_counter() - start
            print(f"{make.__name__} {pipeline}: {seconds:.0f} s {dict(found)}", file=sys.stderr)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1:])
