"""Proofs: genuine ones are accepted, changed ones refused, and what checking costs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees.models import Case, cases, fitted
from benchmarks.trees.results import Numbers, Results

LINE = "checker"
#: How much claims are raised by.
RAISED = (1.001, 1.05)
LONG = 1_000


def models() -> list[Case]:
    return [case for case in cases() if "unbounded" not in case.name and "500" not in case.name]


def measure(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Solve rows, and give their proofs, as they are and changed, to the checker."""
    for case in models():
        left = results.missing(LINE, case.title, rows)
        if not left or not only(f"{LINE}: {case.title}"):
            continue
        model, some, targets = fitted(case, rows)
        for i in left:
            if i >= len(some) or results.is_over():
                break
            results.note(LINE, case.title, i, _row(model, some[i : i + 1], targets[i], i))


def _row(model: Any, x: np.ndarray, target: Any, seed: int) -> Numbers:
    from pertinent.geometry.ensembles import as_ensemble
    from pertinent.geometry.task import Task
    from pertinent.models import decision_region
    from pertinent.solvers import project

    region = as_ensemble(decision_region(model, target))
    assert region is not None
    task = Task.of(region, x, np.ones(x.shape[1]))
    start = time.process_time()
    found = project(x, region)
    seconds = time.process_time() - start
    proofs, best = found.certificate.blocks[0].proofs, found.objective
    boxes = len(proofs.column[0])
    if not float(proofs.claimed[0]) >= float(best[0]) * (1 - 1e-6):
        return {"searching": seconds, "boxes": boxes, "complete": False}
    start = time.process_time()
    accepted = float(proofs.bounds(task)[0]) >= float(best[0]) * (1 - 1e-9)
    checking = time.process_time() - start
    raised = [
        float(replace(proofs, claimed=share * best).bounds(task)[0]) <= float(best[0])
        for share in RAISED
    ]
    out = {
        "searching": seconds,
        "checking": checking,
        "boxes": boxes,
        "complete": True,
        "accepted": accepted,
        "raised": all(raised),
        "leaf": _believes_nothing_of(_with_center_inside(region, x), proofs, task),
    }
    if boxes > 1:
        out["dropped"] = _without_a_branching(proofs, task, seed)
    return out


def _without_a_branching(proofs: Any, task: Any, seed: int) -> bool:
    """Return whether a proof that lost one entry of its list is refused."""
    column = proofs.column[0]
    inner = np.flatnonzero(column >= 0)
    lost = int(np.random.default_rng(seed).choice(inner))

    def without(values: np.ndarray) -> np.ndarray:
        return np.delete(values, lost)

    weights = proofs.weights
    if weights is not None:
        weights = replace(weights, count=(without(weights.count[0]),))
    damaged = replace(
        proofs,
        column=(without(column),),
        cut=(without(proofs.cut[0]),),
        rival=(without(proofs.rival[0]),),
        price=(without(proofs.price[0]),),
        weights=weights,
    )
    return bool(damaged.bounds(task)[0] < 1e-9)


def _with_center_inside(region: Any, x: np.ndarray) -> Any:
    """Return a region in which one leaf is changed such that the center lies in it."""
    ensemble = region.ensemble
    trees, tally = ensemble.trees, ensemble.tally
    node = int(trees.root[0])
    while trees.column[node] >= 0:
        low = x[0, trees.column[node]] <= trees.cut[node]
        node = int(trees.lower[node] if low else trees.upper[node])
    value = trees.value.copy()
    much = 10.0 * float(np.abs(value).sum(axis=1).max()) * len(trees)
    if tally.threshold is None:
        value[node] = 0.0
        value[node, region.label] = much
    else:
        value[node, 0] = much if region.label == 1 else -much
    changed = type(ensemble)(replace(trees, value=value), ensemble.dim, tally)
    inside = type(region).of(changed, region.label)
    assert inside.contains(x)[0]
    return inside


def _believes_nothing_of(region: Any, proofs: Any, task: Any) -> bool:
    return bool(proofs.bounds(replace(task, region=region))[0] <= 1e-9)


def summary(results: Results) -> list[Measure]:
    """Return the bars: all genuine proofs accepted, all changed ones refused, and the cost."""
    found = [answer for (line, _, _), answer in results.answers.items() if line == LINE]
    whole = [answer for answer in found if answer["complete"]]
    if not whole:
        return []
    n, long = len(whole), sum(a["boxes"] > LONG for a in whole)
    accepted = sum(a["accepted"] > 0 for a in whole)
    measures = [
        Measure("checker: genuine proofs accepted", f"{accepted} of {n}", "100% of 200",
                accepted == n and n >= 200 and long > 0,
                f"{long} with more than {LONG:,} boxes, at most "
                f"{max(a['boxes'] for a in whole):,.0f}; {len(found) - n} rows were not solved"),
    ]  # fmt: skip
    for name, words in (
        ("raised", "claims raised by 0.1% and 5%"),
        ("dropped", "lists that lost a branching"),
        ("leaf", "changed leaves"),
    ):
        some = [a[name] for a in whole if name in a]
        refused = f"{sum(v > 0 for v in some)} of {len(some)}"
        measures.append(Measure(f"checker: {words} refused", refused, "100%", all(some)))
    searching, checking = (np.array([a[k] for a in whole]) for k in ("searching", "checking"))
    ratio = float(checking.sum() / searching.sum())
    dear = (checking > searching) & (checking > 5e-3)
    words = f"{ratio:.2f} of solving"
    note = f"median {1e3 * np.median(checking):.1f} ms; {dear.sum()} of {n} rows above both"
    measures.append(Measure("checker: cost", words, "<= 1 or 5 ms", ratio <= 1, note))
    return measures
