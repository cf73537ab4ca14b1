"""HiGHS on the same questions: objective equal, ties, whole numbers, categories, missing values."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees import models as of
from benchmarks.trees.results import Results
from benchmarks.trees.shares import command_of, lines_of

LINE, TYPED, CUTOFF = "judged", "typed", "cutoff"
LIMIT, CUTOFF_LIMIT = 60.0, 30.0
#: Objectives are equal up to this share of them.
EQUAL = 1e-9


@dataclass(frozen=True)
class Questions:
    """A model and its rows, and what is asked beside the target."""

    title: str
    make: Callable[[int], tuple[Any, Any, dict[str, Any]]]


def plain(title: str, table: str, make: Callable[[], Any]) -> Questions:
    """Return questions about the runner-up class on a table of numbers."""

    def asked(rows: int) -> tuple[Any, Any, dict[str, Any]]:
        model, some, targets = of.fitted(of.Case(title, table, make, ()), rows)
        return model, some, {"target": targets}

    return Questions(f"{table}: {title}", asked)


def typed(title: str, make: Callable[[], Any], gaps: bool) -> Questions:
    """Return questions about the credit table in raw units: whole numbers, categories, gaps."""

    def asked(rows: int) -> tuple[Any, Any, dict[str, Any]]:
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OneHotEncoder

        import pertinent
        from pertinent.datasets import load_credit

        credit = load_credit(drop_missing=True)
        frame, y = credit.frame.copy(), credit.target
        numbers = list(credit.numeric_names)
        if gaps:
            holes = np.random.default_rng(of.SEED).random((len(frame), len(numbers))) < 0.1
            frame[numbers] = frame[numbers].astype(float).mask(holes)
        encoder = OneHotEncoder(sparse_output=False)
        columns = make_column_transformer(
            (encoder, list(credit.categorical_names)), remainder="passthrough"
        )
        model = make_pipeline(columns, make()).fit(frame[rows:], y[rows:])
        rules = pertinent.Constraints(
            integer=numbers, costs={name: 0.3 for name in credit.categorical_names}
        )
        known = {"data": frame[rows:], "constraints": rules}
        if gaps:
            known["missing"] = "keep"
        return model, frame[:rows], known

    return Questions(f"credit, typed: {title}", asked)


def questions() -> list[Questions]:
    return [
        plain("gradient boosting 100 x depth 3", "cancer", of.boosted),
        plain("xgboost 20 x 31 leaves", "cancer", of.xgboost(20)),
        plain("lightgbm 20 x 31 leaves", "cancer", of.lightgbm(20)),
        plain("extra trees 30 x depth 3", "cancer", of.forest("ExtraTrees", 30, 3)),
        plain("forest 15 x depth 5", "cancer", of.forest("RandomForest", 15, 5)),
        plain("catboost 20 x depth 5", "wine", of.catboost(20)),
        plain("xgboost 40 x 31 leaves", "wine", of.xgboost(40)),
        plain("forest 30 x depth 4", "wine", of.forest("RandomForest", 30, 4)),
        plain("histogram boosting 10 x 31 leaves", "credit", of.histogram(10)),
        plain("forest 4 x depth 3", "digits", of.forest("RandomForest", 4, 3)),
        typed("histogram boosting 10 x 31 leaves", of.histogram(10), gaps=True),
        typed("forest 8 x depth 6", of.forest("RandomForest", 8, 6), gaps=False),
    ]


def measure(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Answer rows, and have HiGHS answer them in a process of its own."""
    command = command_of("highs")
    assert command is not None
    for one in questions():
        left = results.missing(LINE, one.title, rows)
        if not left or not only(f"{LINE}: {one.title}"):
            continue
        model, some, asked = one.make(rows)
        mine, tasks = list(_ours(model, some, asked, left)), []
        for answer, task in mine:
            tasks.append((task, LIMIT, answer["objective"] * (1 + 1e-6) + 1e-9))
        # A cost that is not to be passed helps HiGHS, and leaves out no point that is better.
        for i, (answer, _), theirs in zip(left, mine, lines_of(command, tasks), strict=False):
            numbers = {f"highs_{name}": float(value) for name, value in theirs.items()}
            results.note(LINE, one.title, i, {**answer, **numbers})
            if results.is_over():
                break


def cut_off(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Look for a better point on rows that HiGHS cannot prove: less than ours is asked of it."""
    command = command_of("highs")
    assert command is not None
    hard = [case for case in of.cases() if "forest" in case.name or "extra" in case.name]
    for case in hard:
        left = results.missing(CUTOFF, case.title, rows)
        if not left or not only(f"{CUTOFF}: {case.title}"):
            continue
        model, some, targets = of.fitted(case, rows)
        tasks = []
        for answer, task in _ours(model, some, {"target": targets}, left):
            tasks.append((task, CUTOFF_LIMIT, answer["objective"] * (1 - 1e-6)))
        for i, theirs in zip(left, lines_of(command, tasks), strict=False):
            better = bool(np.isfinite(theirs["objective"]))
            numbers = {"better": better, "proved": theirs["proved"], "seconds": theirs["seconds"]}
            results.note(CUTOFF, case.title, i, numbers)
            if results.is_over():
                break


def _ours(
    model: Any, some: Any, asked: dict[str, Any], rows: list[int]
) -> Iterator[tuple[dict[str, float], Any]]:
    """Yield our answers with the questions that the search was asked."""
    import pertinent
    from pertinent.solvers.ensembles import solve

    for i in rows:
        x = some.iloc[i : i + 1] if hasattr(some, "iloc") else some[i : i + 1]
        target = asked["target"][i] if "target" in asked else None
        known = {name: value for name, value in asked.items() if name != "target"}
        caught, search = [], solve.solve_ensemble

        def noted(task: Any, caught: Any = caught, search: Any = search) -> Any:
            caught.append(task)
            return search(task)

        with mock.patch.object(solve, "solve_ensemble", noted):
            start = time.process_time()
            if "missing" in known:
                explained = pertinent.Explainer(model, **known, limits_from=None, steps_from=None)
                found = explained.explain(x).negative
            else:
                found = pertinent.pertinent_negatives(
                    model, x, target=target, time_limit=LIMIT, **known
                )
            seconds = time.process_time() - start
        task = caught[-1]
        category = [
            j for j, name in enumerate(getattr(x, "columns", [])) if x[name].dtype.kind == "O"
        ]
        switches = bool(category) and bool(np.asarray(found.changed)[0][category].any())
        yield (
            {
                "seconds": seconds,
                "proved": found.status[0] == "optimal",
                "objective": found.objective[0],
                "switches": switches,
            },
            task,
        )


def summary(results: Results) -> list[Measure]:
    """Return the bars: equal on 500 rows that HiGHS proves, 50 of which switch a category."""
    found = {key: a for key, a in results.answers.items() if key[0] == LINE}
    if not found:
        return []
    both = {k: a for k, a in found.items() if a["highs_proved"] and a["proved"]}
    unequal = sum(not _equal(a) for a in both.values())
    above = sum(a["objective"] > a["highs_objective"] * (1 + 1e-6) + 1e-9 for a in found.values())
    alone = sum(a["highs_proved"] > 0 and not a["proved"] for a in found.values())
    names = {case for _, case, _ in both}
    switched = [a for (_, case, _), a in both.items() if "typed" in case and a["switches"]]
    wrong = sum(not _equal(a) for a in switched)
    note = (
        f"{len(names)} models; HiGHS left {len(found) - len(both) - alone} open, we {alone} that it"
        " proved"
    )
    measures = [
        Measure("objective equal to HiGHS (1e-9)", f"{unequal} of {len(both)} differ", "0 of 500",
                unequal == 0 and len(both) >= 500 and len(names) >= 12, note),
        Measure("objective above HiGHS", str(above), "0", above == 0),
        Measure("typed: rows that switch a category", f"{len(switched)}, {wrong} differ",
                ">= 50, 0", wrong == 0 and len(switched) >= 50),
    ]  # fmt: skip
    tried = [a for (line, _, _), a in results.answers.items() if line == CUTOFF]
    open_ = [a for a in tried if not a["proved"] or a["better"]]
    if tried:
        better = sum(a["better"] > 0 for a in open_)
        note = f"of {len(tried)}; on the others HiGHS proved that there is none"
        measures.append(
            Measure("better points below our objective in 30 s", f"{better} of {len(open_)}",
                    "0 of 50", better == 0 and len(open_) >= 50, note)
        )  # fmt: skip
    return measures


def _equal(answer: dict[str, float]) -> bool:
    ours, theirs = answer["objective"], answer["highs_objective"]
    # HiGHS meets its rows up to 1e-7, and its costs add up with that.
    return bool(abs(ours - theirs) <= max(EQUAL * abs(theirs), 1e-7) or ours == theirs)
