"""One row through a real pipeline, and one stored explanation checked, in calls of ``predict``.

Run with ``make bench NAME=pipelines``. The pipelines scale numbers and encode categories before a
logistic regression: the demo's credit model (13 columns), and a frame of 60 columns of which 20 are
categories. The `Explainer` has the training data, with the grids and ranges that it infers from
them. A row is asked for its positive and its negative; a check reads the stored form (JSON) of that
and judges every claim. Both are compared with one ``predict`` of the same pipeline on one row, in
turns, in processor time, without the garbage collector.

Views of many rows are compared with explaining them: a table, an Arrow table, a report.

Gaussian naive Bayes behind the same encoder is compared with the search that was there before, case
by case, in the same process: negatives of any numbers, and of whole ones with at most two changes.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from benchmarks.bars import Measure, no_collecting, print_measures
from pertinent.demo import train_credit_model
from pertinent.solvers.scip import mixed

#: At most so many times one ``predict`` of one row.
MOST = 3.0
ROWS = 15
#: A table or report of this many rows takes at most so many times as long as explaining them.
MANY, MOST_OF_VIEWS = 100_000, 2.0
#: Naive Bayes takes at least so many times less than before, which gets so many seconds a row.
FASTER, BEFORE_AT_MOST = 20.0, 10.0


@dataclass(frozen=True)
class Case:
    """A fitted pipeline with its training data and rows to explain."""

    name: str
    model: Any
    train: pd.DataFrame
    rows: pd.DataFrame


def credit() -> Case:
    """Return the demo's model: 9 numbers and 4 categories."""
    made = train_credit_model()
    return Case("credit, 13 columns", made.model, made.train, made.applicants[:ROWS])


def wide(n: int = 2000, numbers: int = 40, categories: int = 20) -> Case:
    """Return a pipeline on numbers of one to three digits and categories of 2 to 6 levels."""
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {
        f"number {j}": np.round(rng.gamma(2.0, 10.0 ** (j % 4), size=n), j % 3)
        for j in range(numbers)
    }
    for j in range(categories):
        columns[f"category {j}"] = rng.choice(list("abcdef")[: 2 + j % 5], size=n)
    frame = pd.DataFrame(columns)
    names = list(frame.columns)
    encode = make_column_transformer(
        (StandardScaler(), names[:numbers]), (OneHotEncoder(), names[numbers:])
    )
    seen = encode.fit_transform(frame)
    score = np.asarray(seen @ rng.normal(size=seen.shape[1])) + rng.normal(size=n)
    model = make_pipeline(encode, LogisticRegression(max_iter=1000))
    model.fit(frame[:-ROWS], np.where(score > np.median(score), "yes", "no")[:-ROWS])
    return Case("60 columns, 20 categories", model, frame[:-ROWS], frame[-ROWS:])


def in_turns(calls: Sequence[Callable[[int], object]], rows: int = ROWS) -> list[float]:
    """Return the median seconds of each call over the rows, taken in turns."""
    times: list[list[float]] = [[] for _ in calls]
    for call in calls:
        call(0)
    for i in range(rows):
        for call, taken in zip(calls, times, strict=True):
            start = time.process_time()
            call(i)
            taken.append(time.process_time() - start)
    return [float(np.median(taken)) for taken in times]


@no_collecting()
def measures_of(case: Case) -> list[Measure]:
    """Return the bars of one pipeline: one row explained, one stored explanation checked."""
    explainer = pertinent.Explainer(case.model, data=case.train)
    rows = [case.rows[i : i + 1] for i in range(len(case.rows))]
    found = [explainer.explain(row) for row in rows]
    files = [one[0].json() for one in found]
    verdicts = [pertinent.check(file, case.model).verdict for file in files]
    valid = [_is_valid(case.model, row, one) for row, one in zip(rows, found, strict=True)]
    asked, explained, checked = in_turns(
        [
            lambda i: case.model.predict(rows[i]),
            lambda i: explainer.explain(rows[i]),
            lambda i: pertinent.check(files[i], case.model),
        ]
    )
    note = f"one predict {asked * 1e3:.2f} ms, "
    held = all(verdict == "holds" for verdict in verdicts)
    return [
        _measure(f"{case.name}: one row", explained, asked, all(valid), note + "all valid"),
        _measure(f"{case.name}: check of one", checked, asked, held, note + "all hold"),
    ]


def _is_valid(model: Any, row: pd.DataFrame, found: Any) -> bool:
    own, positive, negative = model.predict(row)[0], found.positive, found.negative
    kept = not positive.found[0] or model.predict(positive.points)[0] == own
    changed = not negative.found[0] or model.predict(negative.points)[0] != own
    return bool(kept and changed)


def _measure(case: str, ours: float, asked: float, good: bool, note: str) -> Measure:
    ratio = ours / asked
    measured = f"{ratio:.1f} x predict ({ours * 1e3:.1f} ms)"
    note = note if good else "NOT " + note
    return Measure(case, measured, f"<= {MOST:g} x", bool(ratio <= MOST and good), note)


def views_of(case: Case) -> list[Measure]:
    """Return the bars of tables and reports of many rows of one pipeline."""
    rows = case.train.sample(MANY, replace=True, random_state=0, ignore_index=True)
    explainer = pertinent.Explainer(case.model, data=case.train)
    explainer.explain(rows[:100])
    explaining, found = _timed(lambda: explainer.explain(rows))
    with tempfile.TemporaryDirectory() as folder:
        views: dict[str, Callable[[], object]] = {
            "to_frame": found.to_frame,
            "to_arrow": found.to_arrow,
            "report": lambda: found.report(Path(folder) / "report.html"),
        }
        times = {name: _timed(view)[0] for name, view in views.items()}
    return [
        Measure(
            f"{case.name}: {name} of {MANY:,} rows",
            f"{taken / explaining:.2f} x explaining ({taken:.1f} s)",
            f"<= {MOST_OF_VIEWS:g} x",
            taken <= MOST_OF_VIEWS * explaining,
            f"explaining {explaining:.1f} s",
        )
        for name, taken in times.items()
    ]


def sums_of(case: Case, rows: int = 12) -> list[Measure]:
    """Return the bars of naive Bayes over numbers and categories."""
    numbers = list(case.train.select_dtypes("number"))
    names = [name for name in case.train if name not in numbers]
    encode = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(), names), sparse_threshold=0.0
    )
    model = make_pipeline(encode, GaussianNB())
    model.fit(case.train, case.model.predict(case.train))
    rules = {
        "any numbers": pertinent.Constraints(),
        "whole, two changes": pertinent.Constraints(integer=numbers, max_changes=2),
    }
    return [
        _sums(f"naive Bayes, one-hot: {name}", model, case.train, case.train[:rows], constraints)
        for name, constraints in rules.items()
    ]


def _sums(
    name: str, model: Any, data: pd.DataFrame, rows: pd.DataFrame, rules: pertinent.Constraints
) -> Measure:
    def ask() -> Any:
        found = pertinent.pertinent_negatives(
            model, rows, data=data, constraints=rules, time_limit=BEFORE_AT_MOST
        )
        return found

    ask()
    ours, found = _timed(ask)
    with mock.patch.object(mixed, "is_separable_choice", return_value=False):
        before, other = _timed(ask)
    worse = np.nanmax(found.objective / other.objective, initial=0.0)
    proved = float((found.status == "optimal").mean())
    good = (
        proved == 1.0
        and worse <= 1 + 1e-4
        and (model.predict(found.points) != model.predict(rows)).all()
    )
    return Measure(
        name,
        f"{before / ours:,.0f} x ({1e3 * ours / len(rows):.1f} ms a row)",
        f">= {FASTER:g} x",
        bool(before >= FASTER * ours and good),
        f"proved {proved:.0%}, before {(other.status == 'optimal').mean():.0%}"
        f" in {before / len(rows):.2f} s a row",
    )


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def measures() -> list[Measure]:
    """Return every bar of this family."""
    cases = credit(), wide()
    rows = [one for case in cases for one in measures_of(case)]
    return rows + sums_of(cases[0]) + views_of(cases[0])


def main() -> int:
    return print_measures("One row through a pipeline", measures())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
