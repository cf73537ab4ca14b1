"""What share of rows is proved in 1 s and in 10 s; HiGHS, treecf and OCEAN on the same rows."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees.models import Case, fitted
from benchmarks.trees.results import Numbers, Results, on_processor_time, share_of

LINE = "nearest"
HERE = Path(__file__).parents[1]
#: The others, what a run takes longer at least in the median, and on every model.
OTHERS = {"highs": (30.0, 5.0), "treecf": (10.0, 5.0), "ocean": (100.0, 5.0)}
#: Seconds that HiGHS has for a row.
HIGHS_LIMIT = 60.0
#: Models that each of the peers takes; HiGHS takes all.
TAKES = {"treecf": ("forest", "xgboost"), "ocean": ("forest", "xgboost")}


def ours(model: Any, x: np.ndarray, target: Any, limit: float) -> Numbers:
    """Answer one row: processor time in all, of searching alone and of checking alone.

    The limit, too, is processor time.
    """
    import pertinent
    from pertinent.proofs.ensembles.proof import EnsembleProofs
    from pertinent.solvers.ensembles.solve import Row

    spent = {"searching": 0.0, "checking": 0.0}
    with (
        on_processor_time(),
        timed(Row, "solve", spent, "searching"),
        timed(EnsembleProofs, "bounds", spent, "checking"),
    ):
        start = time.process_time()
        found = pertinent.pertinent_negatives(model, x[None], target=target, time_limit=limit)
        seconds = time.process_time() - start
    return {
        "seconds": seconds,
        **spent,
        "proved": found.status[0] == "optimal",
        "valid": np.ravel(model.predict(found.points))[0] == target,
        "objective": found.objective[0],
        "bound": found.bound[0],
    }


@contextmanager
def timed(owner: type, name: str, spent: dict[str, float], key: str) -> Iterator[None]:
    """Add up the processor time of a method."""
    method = getattr(owner, name)

    def call(*args: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return method(*args, **options)
        finally:
            spent[key] += time.process_time() - start

    with mock.patch.object(owner, name, call):
        yield


def command_of(other: str) -> list[str] | None:
    """Return what runs another solver on stored rows; None where it is not installed."""
    if other == "highs":
        return [sys.executable, "-m", "benchmarks.trees.oracle"]
    default = HERE.parent / f".venv-peers/{other}/bin/python"
    python = os.environ.get(f"PERTINENT_PEER_{other.upper()}", str(default))
    return [python, str(HERE / "peer_scripts" / f"{other}.py")] if Path(python).exists() else None


def answers_of(
    other: str, model: Any, rows: np.ndarray, targets: np.ndarray
) -> Iterator[dict[str, Any]]:
    """Yield the answers of a process of its own, row by row."""
    command = command_of(other)
    if command is None:
        return
    question = (model, rows, targets) if other != "highs" else asked_of(model, rows, targets)
    yield from lines_of(command, question)


def asked_of(model: Any, rows: np.ndarray, targets: np.ndarray) -> list[Any]:
    """Return the questions of rows as HiGHS gets them."""
    from pertinent.geometry.task import Task
    from pertinent.models import decision_region

    ones = np.ones(rows.shape[1])
    return [
        (Task.of(decision_region(model, target), x[None], ones), HIGHS_LIMIT, np.inf)
        for x, target in zip(rows, targets, strict=True)
    ]


def lines_of(command: list[str], question: Any) -> Iterator[dict[str, Any]]:
    """Yield the answers of a process of its own to what it finds in a file, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.pickle"
        file.write_bytes(pickle.dumps(question))
        with subprocess.Popen([*command, str(file)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("{"):
                    yield json.loads(line)
            process.terminate()


def measure(case: Case, results: Results, rows: int, beside: dict[str, int]) -> None:
    """Answer the rows of a model that were not answered before, until the time is over."""
    name = case.title
    left = results.missing(LINE, name, rows)
    others = {
        other: some
        for other, count in beside.items()
        if any(word in name for word in TAKES.get(other, ("",)))
        and (some := results.missing(other, name, count))
    }
    if not left and not others:
        return
    model, some, targets = fitted(case, max(rows, *beside.values()))
    limit = 2 * max(limit for limit, _ in case.bars)  # searches end after a part of it
    ours(model, some[0], targets[0], 1.0)  # what the first call does for all is not counted
    for i in left:
        if i >= len(some) or results.is_over():
            break
        results.note(LINE, name, i, ours(model, some[i], targets[i], limit))
    for other, missing in others.items():
        asked = [i for i in missing if i < len(some)]
        for i, answer in zip(
            asked, answers_of(other, model, some[asked], targets[asked]), strict=False
        ):
            results.note(other, name, i, _judged(answer, model, some[i], targets[i]))
            if results.is_over():
                return


def _judged(answer: dict[str, Any], model: Any, x: np.ndarray, target: Any) -> Numbers:
    """Return an answer with its distance, and whether `predict` agrees, where there is a point."""
    point = answer.pop("point", None)
    if point is not None:
        answer["objective"] = float(np.abs(np.array(point) - x).sum())
        answer["valid"] = bool(np.ravel(model.predict(np.array([point])))[0] == target)
    return answer


def summary(case: Case, results: Results) -> list[Measure]:
    """Return the bars of a model: shares, and what others take longer."""
    name, measures = case.title, []
    mine = results.of(LINE, name)
    if not mine:
        return []
    column = {key: results.column(LINE, name, key) for key in next(iter(mine.values()))}
    seconds, proved = column["seconds"], column["proved"] > 0
    for limit, needed in case.bars:
        hits = int((proved & (seconds <= limit)).sum())
        words = f"{share_of(hits, len(mine))} in {limit:g} s"
        note = (
            f"median {1e3 * np.median(seconds):.0f} ms, p95 {np.quantile(seconds, 0.95):.2f} s, "
            f"checking {column['checking'].sum() / column['searching'].sum():.2f} of searching, "
            f"invalid {int((column['valid'] == 0).sum())}"
        )
        met = hits / len(mine) >= needed and bool(column["valid"].all())
        measures.append(Measure(name, words, f">= {needed:.0%}", met, note))
    return measures + [
        line
        for other, (_, least) in OTHERS.items()
        for line in _beside(name, other, results, least)
    ]


def _beside(name: str, other: str, results: Results, least: float) -> list[Measure]:
    """Return how often ours is above another's point, and how long the other takes."""
    mine, theirs = results.of(LINE, name), results.of(other, name)
    pairs = [(mine[i], theirs[i]) for i in theirs if i in mine]
    if not pairs:
        return []
    above = sum(
        m["objective"] > t["objective"] * (1 + 1e-6) + 1e-9
        for m, t in pairs
        if np.isfinite(t.get("objective", np.nan)) and t.get("valid", 1.0)
    )
    both = [(m, t) for m, t in pairs if m["proved"] and t["proved"]]
    differ = sum(abs(m["objective"] - t["objective"]) > 1e-6 for m, t in both)
    proved = sum(t["proved"] > 0 for _, t in pairs)
    note = f"it proved {proved} of {len(pairs)}, and differs on {differ} of {len(both)}"
    measures = [Measure(f"{name}: above {other}", str(above), "0", above == 0, note)]
    if both:
        ratio = ratio_of(both)
        measures.append(
            Measure(f"{name}: {other} / ours", f"{ratio:.0f}", f">= {least:g}", ratio >= least)
        )
    return measures


def ratio_of(both: list[tuple[Numbers, Numbers]]) -> float:
    """Return the median ratio of processor times on rows that both prove."""
    return float(np.median([t["seconds"] / m["seconds"] for m, t in both]))


def overall(results: Results) -> list[Measure]:
    """Return the median ratio of each of the others, over the rows of all models."""
    measures = []
    for other, (needed, _) in OTHERS.items():
        names = {case for line, case, _ in results.answers if line == other}
        both = [
            (mine[i], theirs)
            for name in names
            for mine in [results.of(LINE, name)]
            for i, theirs in results.of(other, name).items()
            if i in mine and mine[i]["proved"] and theirs["proved"]
        ]
        if both:
            ratio = ratio_of(both)
            note = f"{len(both)} rows that both prove, {len(names)} models"
            words = f"{ratio:.0f}"
        else:
            ratio, note, words = 0.0, "nothing was measured", "-"
        met = ratio >= needed if both else None
        measures.append(Measure(f"{other} / ours, median", words, f">= {needed:g}", met, note))
    return measures
