"""One row through a real pipeline, and one stored explanation checked, in calls of ``predict``.

Run with ``make bench NAME=pipelines``. The pipelines scale numbers and encode categories before a
logistic regression: the demo's credit model (13 columns), and a frame of 60 columns of which 20 are
categories. The `Explainer` has the training data, with the grids and ranges that it infers from
them. A row is asked for its positive and its negative; a check reads the stored form (JSON) of that
and judges every claim. Both are compared with one ``predict`` of the same pipeline on one row, in
turns, in processor time, without the garbage collector.

Views of many rows are compared with explaining them: a table, an Arrow table, a report.

Many rows are compared with HiGHS, which gets the same smallest change as a program with whole
numbers, row by row, at equal objective: with any numbers, and with whole ones and at most two
changes. The import is compared with scikit-learn's. Curved models over categories and whole numbers
get a second a row.

Gaussian naive Bayes behind the same encoder is compared with the search that was there before, case
by case, in the same process: negatives of any numbers, and of whole ones with at most two changes.
"""

from __future__ import annotations

import resource
import subprocess
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
from sklearn.datasets import load_breast_cancer
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from benchmarks.bars import Measure, no_collecting, print_measures
from benchmarks.expert import Expert
from pertinent.demo import train_credit_model
from pertinent.solvers.scip import mixed
from pertinent.tables.reading import read_table

#: At most so many times one ``predict`` of one row.
MOST = 3.0
ROWS = 15
#: A table or report of this many rows takes at most so many times as long as explaining them.
MANY, MOST_OF_VIEWS = 100_000, 2.0
#: HiGHS takes at least so many times as long as a row of this many.
MILP, MANY_ROWS = 100.0, 1000
#: The import takes at most so many times as long as scikit-learn's.
MOST_OF_IMPORT = 1.5
#: Seconds that a curved model gets a row, and how much longer a row may take to stop.
LIMIT, STOPPED = 1.0, 1.2
#: Each side of a ratio is measured so often, in turns.
TURNS = 9
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
    """Return the bars of tables and reports of many rows of one pipeline, and of numbers alone."""
    rows = case.train.sample(MANY, replace=True, random_state=0, ignore_index=True)
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    plain = np.random.default_rng(0).normal(scale=0.1, size=(MANY, X.shape[1]))
    plain += X[np.arange(MANY) % len(X)]
    explainer = pertinent.Explainer(case.model, data=case.train)
    numbers = pertinent.Explainer(LogisticRegression().fit(X, y), baseline=0.0)
    return [*_views(case.name, explainer, rows), *_views("30 numbers", numbers, plain)]


def _views(name: str, explainer: pertinent.Explainer, rows: Any) -> list[Measure]:
    explainer.explain(rows[:100])
    explaining, found = _timed(lambda: explainer.explain(rows))
    with tempfile.TemporaryDirectory() as folder:
        views: dict[str, Callable[[], object]] = {
            "to_frame": found.to_frame,
            "to_arrow": found.to_arrow,
            "report": lambda: found.report(Path(folder) / "report.html"),
        }
        times = {view: _timed(ask)[0] for view, ask in views.items()}
    return [
        Measure(
            f"{name}: {view} of {MANY:,} rows",
            f"{taken / explaining:.2f} x explaining ({taken:.1f} s)",
            f"<= {MOST_OF_VIEWS:g} x",
            taken <= MOST_OF_VIEWS * explaining,
            f"explaining {explaining:.1f} s",
        )
        for view, taken in times.items()
    ]


def programs_of(case: Case) -> list[Measure]:
    """Return the bars of many rows against programs with whole numbers."""
    numbers = list(case.train.select_dtypes("number"))
    ends = {n: (float(case.train[n].min()), float(case.train[n].max())) for n in numbers}
    rules = {
        "any numbers": pertinent.Constraints(bounds=ends),
        "whole, two changes": pertinent.Constraints(bounds=ends, integer=numbers, max_changes=2),
    }
    return [
        _against_expert(f"{case.name}: {MANY_ROWS:,} rows, {name}", case, own)
        for name, own in rules.items()
    ]


@no_collecting()
def _against_expert(name: str, case: Case, allowed: pertinent.Constraints) -> Measure:
    explainer = pertinent.Explainer(
        case.model, data=case.train, constraints=allowed, limits_from=None, steps_from=None, rare=0
    )
    setting, rows = explainer.setting, case.train[:MANY_ROWS]
    table = read_table(setting.features, rows)
    labels, whole = setting.predict(table), np.zeros(setting.features.dim, dtype=bool)
    for group in setting.features.groups:
        whole[group] = True
    whole[[setting.features.column(one, "integer") for one in allowed.integer]] = True
    expert = Expert(setting, whole, allowed.max_changes)

    def ask() -> Any:
        return pertinent.pertinent_negatives(case.model, rows, data=case.train, constraints=allowed)

    found = ask()
    ours, theirs, worst = [], [], 0.0
    for turn in range(TURNS):
        ours.append(_timed(ask)[0] / len(rows))
        for i in (2 * turn, 2 * turn + 1):
            value, taken = expert.solve(table.take(np.array([i])), int(labels[i]))
            theirs.append(taken)
            worst = max(worst, (found.objective[i] - value) / value)
    valid = (case.model.predict(found.points) != case.model.predict(rows)).all()
    own, other = float(np.median(ours)), float(np.median(theirs))
    return Measure(
        name,
        f"{other / own:,.0f} x HiGHS ({own * 1e3:.2f} ms a row)",
        f">= {MILP:g} x",
        bool(other >= MILP * own and worst <= 1e-6 and valid),
        f"excess {worst:.0e}, proved {(found.status == 'optimal').mean():.0%}"
        f"{', all valid' if valid else ', NOT all valid'}",
    )


def imports() -> list[Measure]:
    """Return the bars of what is imported, in the processor time of processes of their own."""
    asked = {"sklearn": ["-c", "import sklearn"], "ours": ["-c", "import pertinent"]}
    times: dict[str, list[float]] = {name: [] for name in asked}
    for _ in range(TURNS):
        for name, arguments in asked.items():
            times[name].append(_of_a_process(arguments))
    ours, theirs = (float(np.median(times[name])) for name in ("ours", "sklearn"))
    help_ = [sys.executable, "-X", "importtime", "-m", "pertinent", "--help"]
    told = subprocess.run(help_, capture_output=True, text=True, check=True).stderr
    loaded = {line.rpartition("|")[2].strip() for line in told.splitlines()}
    return [
        Measure(
            "import pertinent",
            f"{ours / theirs:.2f} x import sklearn ({ours:.2f} s)",
            f"<= {MOST_OF_IMPORT:g} x",
            ours <= MOST_OF_IMPORT * theirs,
            f"import sklearn {theirs:.2f} s",
        ),
        Measure(
            "pertinent --help",
            f"{len(loaded)} modules",
            "no sklearn",
            "sklearn" not in loaded,
            "scikit-learn is loaded" if "sklearn" in loaded else "",
        ),
    ]


def _of_a_process(arguments: list[str]) -> float:
    """Return the processor time of a Python of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def curved_in_time(case: Case, rows: int = 12) -> list[Measure]:
    """Return the bars of curved models over categories and whole numbers, with a limit a row."""
    numbers = list(case.train.select_dtypes("number"))
    rules = pertinent.Constraints(integer=numbers)
    models = {"naive Bayes": GaussianNB(), "QDA": QuadraticDiscriminantAnalysis(reg_param=0.1)}
    out = []
    for name, last in models.items():
        model = _encoded(case, last)

        def ask(i: int, model: Any = model) -> str:
            row = case.train[i : i + 1]
            found = pertinent.pertinent_negatives(
                model, row, data=case.train, constraints=rules, time_limit=LIMIT
            )
            return str(found.status[0])

        ask(rows)  # once beforehand, for what is imported
        taken, status = [], []
        for i in range(rows):
            start = time.perf_counter()  # a limit is one of the clock on the wall
            status.append(ask(i))
            taken.append(time.perf_counter() - start)
        slowest = max(taken)
        out.append(
            Measure(
                f"{name}, one-hot, whole numbers: {LIMIT:g} s a row",
                f"{slowest:.2f} s at most",
                f"<= {STOPPED:g} s",
                slowest <= STOPPED,
                f"proved {np.mean([one == 'optimal' for one in status]):.0%} of {rows}",
            )
        )
    return out


def _encoded(case: Case, last: Any) -> Any:
    """Return a model over scaled numbers and encoded categories, of the case's own predictions."""
    numbers = list(case.train.select_dtypes("number"))
    names = [name for name in case.train if name not in numbers]
    encode = make_column_transformer(
        (StandardScaler(), numbers), (OneHotEncoder(), names), sparse_threshold=0.0
    )
    return make_pipeline(encode, last).fit(case.train, case.model.predict(case.train))


def sums_of(case: Case, rows: int = 12) -> list[Measure]:
    """Return the bars of naive Bayes over numbers and categories."""
    numbers, model = list(case.train.select_dtypes("number")), _encoded(case, GaussianNB())
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
    rows += programs_of(cases[0]) + sums_of(cases[0]) + curved_in_time(cases[0])
    return rows + views_of(cases[0]) + imports()


def main() -> int:
    return print_measures("One row through a pipeline", measures())


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
