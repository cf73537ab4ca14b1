"""Whole numbers, categories and bins under curved rows that the own search left open: SCIP.

The search over cases (`pertinent.solvers.search.curved`) proves what it finds. For what it leaves
open SCIP chooses what is discrete and claims a bound, which cannot be replayed and is kept apart as
`SolverBounds`. The numbers that are left are then solved for by the cell's own method, with
everything discrete fixed, so that the point satisfies its rows exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from pertinent.exceptions import MissingExtraError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain, from_steps
from pertinent.geometry.region import Cell
from pertinent.proofs import Proofs, SeveralProofs, SolverBounds
from pertinent.proofs.cases.branch import BranchProofs, Tree
from pertinent.solvers.problem import SOLVED, TROUBLE, Solved, Task, distance
from pertinent.solvers.scip.continuous import run_scip
from pertinent.solvers.search.curved import Continuous, leaf_of, solve_mixed_curved
from pertinent.solvers.search.narrow import CHANGED, UNCHANGED, Boxes, narrow, whole_boxes

#: SCIP's values count as unchanged if they are this close to the own ones, relatively.
SAME = 1e-5


def mixed_by_scip(continuous: Continuous) -> Callable[[Task], Solved]:
    """Return the solver; ``continuous`` says how a cell is solved once all else is fixed."""

    def solve(task: Task) -> Solved:
        answer, open_ = solve_mixed_curved(task, continuous)
        rows = _left_open(task, answer, open_)
        return _ask_about(task, answer, rows, continuous) if len(rows) else answer

    return solve


def _left_open(task: Task, answer: Solved, open_: BoolArray) -> IntArray:
    """Return the rows for SCIP: without a point, or worth another look.

    Numbers that change or stay are few cases for the own search. With much that is discrete it
    may end before it saw the best: SCIP looks again, if it is there.
    """
    assert task.domain is not None
    lost = answer.outcome == TROUBLE
    discrete = bool(task.domain.groups) or len(task.domain.lattice) > 0
    wanted = task.options.exact or (discrete and find_spec("pyscipopt") is not None)
    return np.flatnonzero(lost | open_ if wanted else lost)


def _ask_about(task: Task, answer: Solved, rows: IntArray, continuous: Continuous) -> Solved:
    """Return the answer with SCIP's points and claims for some rows."""
    points, outcome = answer.points.copy(), answer.outcome.copy()
    claimed = np.zeros(len(rows))
    for k, i in enumerate(rows):
        known = points[i] if outcome[i] == SOLVED else None
        point, claimed[k] = _solve_row(task.take(np.array([i])), known, continuous)
        if point is not None:
            points[i], outcome[i] = point, SOLVED
    # SCIP's bounds are repeated, but not its word that nothing exists: that needs a proof.
    parts: list[tuple[IntArray, Proofs]] = [(np.arange(len(task)), answer.proofs)]
    parts += _emptiness(task, rows[np.isinf(claimed)], continuous)
    claimed[np.isinf(claimed)] = 0.0
    parts.append((rows, SolverBounds(claimed, "SCIP")))
    return Solved(points, outcome, SeveralProofs(len(task), tuple(parts)))


def _emptiness(task: Task, rows: IntArray, continuous: Continuous) -> list[tuple[IntArray, Proofs]]:
    """Return what shows that rows have no point: the domain by itself, or the cell without it."""
    if not len(rows):
        return []
    some = task.take(rows)
    assert some.domain is not None
    one = np.zeros(1, dtype=np.int64)
    leaf = Tree(one.astype(np.int8), one, np.zeros(1), np.zeros(1), one - 1, one - 1, one - 1)
    nothing = np.zeros((0, len(task.cell.G))), np.zeros(0, dtype=bool)
    bare = BranchProofs(some.domain, np.zeros(len(rows), dtype=np.int64), leaf, *nothing)
    if not (task.weights > 0).all():
        return [(rows, bare)]
    free = continuous(task.cell).solve(replace(some, domain=None))
    return [(rows, bare), (rows, free.proofs)]


def _solve_row(
    task: Task, known: FloatArray | None, continuous: Continuous
) -> tuple[FloatArray | None, float]:
    """Return the better of a known point and SCIP's, and the bound that SCIP claims."""
    assert task.domain is not None
    boxes, empty = narrow(task.domain, whole_boxes(task.domain, task.lower, task.upper))
    if empty[0]:
        return None, np.inf
    low, high = boxes.lower[0], boxes.upper[0]
    if known is not None:
        # No better point lies farther in any direction: |x_i - c_i| <= cost / w_i.
        cost = distance(known[None], task.centers, task.weights)[0] * (1 + 1e-6)
        paid = task.weights > 0  # bins cost nothing, and reach everywhere
        reach = np.where(paid, cost / np.where(paid, task.weights, 1.0), np.inf)
        low, high = (
            np.maximum(low, task.centers[0] - reach),
            np.minimum(high, task.centers[0] + reach),
        )
    near, bound = _ask_scip(task, task.domain, low, high)
    point = None if near is None else _completed(task, boxes, near, continuous)
    options = [p for p in (point, known) if p is not None]
    if not options:
        return None, bound
    costs = [distance(p[None], task.centers, task.weights)[0] for p in options]
    best = options[int(np.argmin(costs))]
    # Nothing within the known point's reach is better than it, if SCIP finds nothing there.
    return best, min(bound, min(costs))


def _completed(
    task: Task, boxes: Boxes, near: FloatArray, continuous: Continuous
) -> FloatArray | None:
    """Return SCIP's choices made exact, and the best numbers for them."""
    assert task.domain is not None
    domain = task.domain
    low, high, exact = boxes.lower.copy(), boxes.upper.copy(), near.copy()
    for j in domain.lattice:
        exact[j] = _nearest_allowed(domain, int(j), near[j], low[0, j], high[0, j])
        low[0, j] = high[0, j] = exact[j]
    for bins in domain.bins:
        # A number that was rounded may have left the bin that SCIP saw it in.
        if bins.column in domain.lattice:
            exact[bins.columns] = np.arange(len(bins.columns)) == bins.of(exact[bins.column])
    for group in domain.groups:
        low[0, group], high[0, group] = 0.0, 0.0
        chosen = group[exact[group].argmax()]
        low[0, chosen], high[0, chosen] = 1.0, 1.0
    boxes = replace(boxes, lower=low, upper=high)
    return _solved_within(task, _as_changed(task, boxes, exact), continuous)


def _as_changed(task: Task, boxes: Boxes, near: FloatArray) -> Boxes:
    """Return the box in which the units that SCIP changed, up to its tolerance, may change."""
    assert task.domain is not None
    domain = task.domain
    if not domain.counts_changes or domain.own is None:
        return boxes
    own, low, high = domain.own[0], boxes.lower.copy(), boxes.upper.copy()
    moved = np.abs(near - own) > SAME * (1.0 + np.abs(own))
    units = np.zeros(boxes.state.shape[1], dtype=bool)
    np.logical_or.at(units, domain.unit_of_column, moved & ~domain.follows)
    state = np.where(units, CHANGED, UNCHANGED).astype(np.int8)[None]
    for group in domain.together:
        for j in np.flatnonzero(np.isin(domain.owner, group) & ~domain.follows & ~domain.in_group):
            if units[domain.unit_of_column[j]]:
                # It changes to the side that SCIP chose.
                side = low if near[j] > own[j] else high
                side[0, j] = near[j] if j in domain.lattice else own[j]
    return replace(boxes, lower=low, upper=high, state=state)


def _solved_within(task: Task, boxes: Boxes, continuous: Continuous) -> FloatArray | None:
    assert task.domain is not None
    fixed, empty = narrow(task.domain, boxes)
    if empty[0]:
        return None
    leaf = leaf_of(task, fixed)
    limits = leaf.lower, leaf.upper, np.full(1, np.inf)
    rest = Task(leaf.cell, leaf.center, leaf.weights, *limits, task.options)
    answer = continuous(leaf.cell).solve(rest)
    if answer.outcome[0] != SOLVED:
        return None
    points = leaf.completed(answer.points)
    return None if task.domain.violation(points)[0] else np.asarray(points[0])


def _nearest_allowed(domain: Domain, j: int, value: float, low: float, high: float) -> float:
    """Return the allowed value nearest to SCIP's, which may miss its bounds by a tolerance."""
    own = None if domain.own is None else domain.own[:, j]
    at = np.array([np.clip(value, low, high)])
    below, above = domain.floor(j, at, own)[0], domain.ceil(j, at, own)[0]
    if below < low or (above <= high and above - at[0] < at[0] - below):
        return float(above)
    return float(below)


def _ask_scip(
    task: Task, domain: Domain, lower: FloatArray, upper: FloatArray
) -> tuple[FloatArray | None, float]:
    """Return SCIP's point and the bound it claims; None and ``inf`` if it says there is none."""
    scip = _import()
    model = scip.Model()
    model.hideOutput()
    for name, value in (
        ("limits/time", float(task.options.time_limit)),
        ("limits/gap", float(task.options.gap)),
        ("parallel/maxnthreads", 1),
        ("randomization/randomseedshift", 0),
    ):
        model.setParam(name, value)
    x = [_variable(model, domain, j, lower[j], upper[j], task) for j in range(domain.dim)]
    for j, c in enumerate(task.centers[0]):
        if task.weights[j] > 0:
            cost = model.addVar(lb=0.0, obj=float(task.weights[j]))
            model.addCons(cost >= x[j] - float(c))
            model.addCons(cost >= float(c) - x[j])
    for group in domain.groups:
        model.addCons(scip.quicksum(x[k] for k in group) == 1)
    for bins in domain.bins:
        for k, low, high in zip(bins.columns, *_allowed_ends(domain, bins), strict=True):
            if np.isfinite(low):
                model.addConsIndicator(-x[bins.column] <= -float(low), binvar=x[k])
            if np.isfinite(high):
                model.addConsIndicator(x[bins.column] <= float(high), binvar=x[k])
        if bins.excess is not None:
            _tie_excess(model, bins, x[bins.column], x[bins.excess], x)
    if domain.counts_changes:
        _add_rules_of_change(scip, model, domain, x)
    _add_rows(scip, model, task.cell, x)
    if not run_scip(model):
        return None, 0.0
    if str(model.getStatus()) == "infeasible":
        return None, np.inf
    bound = max(float(model.getDualbound()), 0.0)
    if not model.getNSols():
        return None, bound
    return np.array([model.getVal(v) for v in x]), bound


def _add_rules_of_change(scip: Any, model: Any, domain: Domain, x: list[Any]) -> None:
    """Say which units stay as they are, how many may change, and which change together."""
    assert domain.own is not None
    own = domain.own[0]
    stays = {int(u): model.addVar(vtype="B") for u in np.unique(domain.units)}
    for j in np.flatnonzero(~domain.follows):
        unit = int(domain.unit_of_column[j])
        model.addConsIndicator(x[j] <= float(own[j]), binvar=stays[unit])
        model.addConsIndicator(-x[j] <= -float(own[j]), binvar=stays[unit])
    if domain.max_changes is not None:
        model.addCons(scip.quicksum(1 - keep for keep in stays.values()) <= int(domain.max_changes))
    for group in domain.together:
        keep = stays[int(domain.units[group[0]])]
        for j in np.flatnonzero(np.isin(domain.owner, group) & ~domain.follows):
            if domain.in_group[j]:
                if own[j] == 1:
                    model.addCons(x[j] <= keep)  # the own category is given up
                continue
            # Unless the unit stays: x <= own - step, or x >= own + step.
            step, below, above = domain.smallest_change(int(j)), *_binaries(model, 2)
            model.addCons(below + above + keep == 1)
            model.addConsIndicator(x[j] <= float(own[j] - step), binvar=below)
            model.addConsIndicator(-x[j] <= -float(own[j] + step), binvar=above)


def _binaries(model: Any, count: int) -> list[Any]:
    return [model.addVar(vtype="B") for _ in range(count)]


def _allowed_ends(domain: Domain, bins: Bins) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest allowed number of each bin.

    Between two neighbours on a lattice an edge is out of the reach of SCIP's tolerance.
    """
    j = bins.column
    if j not in domain.lattice:
        return bins.low, bins.high
    own = None if domain.own is None else domain.own[:, j]
    return domain.ceil(j, bins.low, own), domain.floor(j, bins.high, own)


def _tie_excess(model: Any, bins: Bins, number: Any, excess: Any, x: list[Any]) -> None:
    """Say that in bin k what is cut off of a number is ``a_k x + b_k``."""
    for k, slope, shift in zip(bins.columns, bins.beyond_slope, bins.beyond_shift, strict=True):
        apart = excess - float(slope) * number
        model.addConsIndicator(apart <= float(shift), binvar=x[k])
        model.addConsIndicator(-apart <= -float(shift), binvar=x[k])


def _variable(model: Any, domain: Domain, j: int, low: float, high: float, task: Task) -> Any:
    """Return a column as a variable: binary, on its lattice (the own value aside), or free."""
    if domain.in_group[j]:
        return model.addVar(vtype="B", lb=float(low), ub=float(high))
    x = model.addVar(
        lb=float(low) if np.isfinite(low) else None, ub=float(high) if np.isfinite(high) else None
    )
    if np.isfinite(domain.decimals[j]):
        step = float(from_steps(np.array(1.0), domain.decimals[j]))
        count = model.addVar(vtype="I", lb=None)
        if domain.own is None:
            model.addCons(x == step * count)
            return x
        # On the lattice, or at the own value: x = step * count unless the own value is kept.
        keep, own = model.addVar(vtype="B"), float(domain.own[0, j])
        free = model.addVar(vtype="B")
        model.addCons(keep + free == 1)
        model.addConsIndicator(x <= own, binvar=keep)
        model.addConsIndicator(-x <= -own, binvar=keep)
        model.addConsIndicator(x - step * count <= 0, binvar=free)
        model.addConsIndicator(step * count - x <= 0, binvar=free)
    return x


def _add_rows(scip: Any, model: Any, cell: Cell, x: list[Any]) -> None:
    for g, h in zip(cell.G, cell.h, strict=True):
        size = float(np.abs(g).max()) or 1.0
        model.addCons(
            scip.quicksum(float(a / size) * v for a, v in zip(g, x, strict=True) if a)
            <= float(h / size)
        )
    for row in cell.quadratics:
        values, vectors = np.linalg.eigh(row.A)
        # SCIP's variables are the features themselves: slope and value at 0.
        zero = np.zeros((1, cell.dim))
        q, c = row.gradient(zero)[0], float(row.value(zero)[0])
        size = max(float(np.abs(q).max()), float(np.abs(values).max()), 1e-12)
        terms = [float(a / size) * v for a, v in zip(q, x, strict=True) if a]
        for value, vector in zip(values, vectors.T, strict=True):
            if abs(value) > 1e-14 * np.abs(values).max():
                z = model.addVar(lb=None)
                rotated = [float(a) * v for a, v in zip(vector, x, strict=True) if abs(a) > 1e-15]
                model.addCons(scip.quicksum(rotated) == z)
                terms.append(float(value / size) * z * z)
        model.addCons(scip.quicksum(terms) <= -float(c / size))


def _import() -> Any:
    try:
        import pyscipopt
    except ImportError as error:
        raise MissingExtraError(
            "pyscipopt", "global", "A curved region with categories or whole numbers"
        ) from error
    return pyscipopt
