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

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Bins, Domain
from pertinent.geometry.region import Cell
from pertinent.geometry.running import is_over, share_of_time
from pertinent.geometry.task import distance
from pertinent.proofs import Proofs, SeveralProofs, SolverBounds
from pertinent.proofs.cases.branch import BranchProofs
from pertinent.solvers.curved.separable.separable import is_separable
from pertinent.solvers.problem import SOLVED, TROUBLE, Solved, Task
from pertinent.solvers.programs.scip import ScipAnswer, ScipProgram
from pertinent.solvers.search.cases import TreeBuilder
from pertinent.solvers.search.curved import Continuous, solve_mixed_curved
from pertinent.solvers.search.leaf import Leaf
from pertinent.solvers.search.narrow import CHANGED, UNCHANGED, Boxes, narrow, whole_boxes
from pertinent.solvers.search.near import moved_back, solve_near
from pertinent.solvers.search.separable.solve import is_separable_choice, solve_separable_choice
from pertinent.solvers.tolerances import CASE_CLOSED, LEAST_SIZE, SCIP_LARGER_BOX, SCIP_SAME

#: Cases of one row that are looked at where a rounded answer is known.
FEW_CASES = 30
#: The own search takes this share of the time: SCIP may find a point where it finds none.
OWN_SHARE = 0.5


def mixed_by_scip(continuous: Continuous) -> Callable[[Task], Solved]:
    """Return the solver; ``continuous`` says how a cell is solved once all else is fixed."""

    def search(task: Task) -> Solved:
        with share_of_time(OWN_SHARE):
            answer, open_ = solve_mixed_curved(task, continuous)
        rows = _left_open(task, answer, open_)
        return _ask_about(task, answer, rows, continuous) if len(rows) else answer

    def loosely(task: Task) -> Solved:
        return continuous(task.cell).solve(task) if task.domain is None else search(task)

    def solve(task: Task) -> Solved:
        if not is_separable_choice(task):
            return thoroughly(task)
        answer, open_ = solve_separable_choice(task)
        rows = np.flatnonzero(open_ | (answer.outcome == TROUBLE))
        return _put(task, answer, rows, thoroughly(task.take(rows))) if len(rows) else answer

    def thoroughly(task: Task) -> Solved:
        assert task.domain is not None
        rounds = task.options.round_steps and not task.options.exact
        if not (rounds and len(task.domain.confined)):
            return search(task)
        answer = solve_near(task, loosely)
        lost = np.flatnonzero(answer.outcome == TROUBLE)
        if len(lost):
            answer = _put(task, answer, lost, search(task.take(lost)))
        rows = _worth_a_look(task, answer)
        if len(rows):
            some, known = task.take(rows), answer.points[rows]
            found, open_ = solve_mixed_curved(some, continuous, known, FEW_CASES)
            believed = np.where(open_, answer.believed(task)[rows], found.believed(some))
            points = moved_back(some, found.points)
            again = Solved(points, found.outcome, found.proofs, believed)
            answer = _put(task, answer, rows, again)
        return answer

    return solve


def _worth_a_look(task: Task, answer: Solved) -> IntArray:
    """Return the rows with a point that, as far as is believed, may not be the nearest.

    Only separable rows: a case of any other takes about as long as the row did.
    """
    if not is_separable(task.cell):
        return np.zeros(0, dtype=np.int64)
    cost = distance(answer.points, task.centers, task.weights)
    reach = np.minimum(cost, task.cutoff) * (1.0 - CASE_CLOSED)
    return np.flatnonzero((answer.outcome == SOLVED) & (answer.believed(task) < reach))


def _put(task: Task, answer: Solved, rows: IntArray, again: Solved) -> Solved:
    """Return the answer with another one for some rows: the better points, the proofs of both."""
    some, before = task.take(rows), answer.take(rows)
    points, outcome, bound = answer.points.copy(), answer.outcome.copy(), answer.believed(task)
    cost, known = (distance(a.points, some.centers, some.weights) for a in (again, before))
    better = (before.outcome != SOLVED) | ((again.outcome == SOLVED) & (cost < known))
    points[rows[better]], outcome[rows[better]] = again.points[better], again.outcome[better]
    bound = bound.copy()
    bound[rows] = np.maximum(bound[rows], again.believed(some))
    parts = ((np.arange(len(task)), answer.proofs), (rows, again.proofs))
    return Solved(points, outcome, SeveralProofs(len(task), parts), bound)


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
        if is_over():
            break
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
    tree = TreeBuilder(len(task.cell.G))
    bare = BranchProofs(np.repeat(tree.add(1), len(rows)), *tree.finish())
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
        cost = distance(known[None], task.centers, task.weights)[0] * SCIP_LARGER_BOX
        paid = task.weights > 0  # bins cost nothing, and reach everywhere
        reach = np.where(paid, cost / np.where(paid, task.weights, 1.0), np.inf)
        low, high = (
            np.maximum(low, task.centers[0] - reach),
            np.minimum(high, task.centers[0] + reach),
        )
    said = _ask_scip(task, task.domain, low, high)
    point = None if said.values is None else _completed(task, boxes, said.values, continuous)
    options = [p for p in (point, known) if p is not None]
    if not options:
        return None, said.bound
    costs = [distance(p[None], task.centers, task.weights)[0] for p in options]
    best = options[int(np.argmin(costs))]
    # Nothing within the known point's reach is better than it, if SCIP finds nothing there.
    return best, min(said.bound, min(costs))


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
    moved = np.abs(near - own) > SCIP_SAME * (1.0 + np.abs(own))
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
    leaf = Leaf.of(task, fixed, 0, task.options)
    answer = continuous(leaf.task.cell).solve(leaf.task)
    if answer.outcome[0] != SOLVED:
        return None
    points = leaf.completed(answer.points)
    return None if task.domain.violation(points)[0] else np.asarray(points[0])


def _nearest_allowed(domain: Domain, j: int, value: float, low: float, high: float) -> float:
    """Return the allowed value nearest to SCIP's, which may miss its bounds by a tolerance."""
    at = np.array([np.clip(value, low, high)])
    below, above = domain.floor(j, at, 0)[0], domain.ceil(j, at, 0)[0]
    if below < low or (above <= high and above - at[0] < at[0] - below):
        return float(above)
    return float(below)


def _ask_scip(task: Task, domain: Domain, lower: FloatArray, upper: FloatArray) -> ScipAnswer:
    """Return SCIP's point and the bound it claims."""
    needed = "A curved region with categories or whole numbers"
    program = ScipProgram(needed, task.options.gap, task.options.time_limit)
    x = [_variable(program, domain, j, lower[j], upper[j]) for j in range(domain.dim)]
    for j, c in enumerate(task.centers[0]):
        if task.weights[j] > 0:
            program.distance(x[j], c, task.weights[j])
    for group in domain.groups:
        program.add(program.total(x[k] for k in group) == 1)
    for bins in domain.bins:
        for k, low, high in zip(bins.columns, *_allowed_ends(domain, bins), strict=True):
            if np.isfinite(low):
                program.add_if(x[k], -x[bins.column] <= -float(low))
            if np.isfinite(high):
                program.add_if(x[k], x[bins.column] <= float(high))
        if bins.excess is not None:
            _tie_excess(program, bins, x[bins.column], x[bins.excess], x)
    if domain.counts_changes:
        _add_rules_of_change(program, domain, x)
    _add_rows(program, task.cell, x)
    return program.solve(x)


def _add_rules_of_change(program: ScipProgram, domain: Domain, x: list[Any]) -> None:
    """Say which units stay as they are, how many may change, and which change together."""
    assert domain.own is not None
    own = domain.own[0]
    stays = {int(u): program.binary() for u in np.unique(domain.units)}
    for j in np.flatnonzero(~domain.follows):
        keep, at = stays[int(domain.unit_of_column[j])], float(own[j])
        program.add_if(keep, x[j] <= at, -x[j] <= -at)
    if domain.max_changes is not None:
        changes = program.total(1 - keep for keep in stays.values())
        program.add(changes <= int(domain.max_changes))
    for group in domain.together:
        keep = stays[int(domain.units[group[0]])]
        for j in np.flatnonzero(np.isin(domain.owner, group) & ~domain.follows):
            if domain.in_group[j]:
                if own[j] == 1:
                    program.add(x[j] <= keep)  # the own category is given up
                continue
            # Unless the unit stays: x is at most the next value below its own, or above it.
            low, high = domain.next_to_own(int(j), own[j])
            falls, rises = program.binary(), program.binary()
            program.add(falls + rises + keep == 1)
            program.add_if(falls, x[j] <= float(low))
            program.add_if(rises, -x[j] <= -float(high))


def _allowed_ends(domain: Domain, bins: Bins) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest allowed number of each bin.

    Between two neighbours on a lattice an edge is out of the reach of SCIP's tolerance.
    """
    j = bins.column
    if j not in domain.lattice:
        return bins.low, bins.high
    return domain.ceil(j, bins.low, 0), domain.floor(j, bins.high, 0)


def _tie_excess(program: ScipProgram, bins: Bins, number: Any, excess: Any, x: list[Any]) -> None:
    """Say that in bin k what is cut off of a number is ``a_k x + b_k``."""
    for k, slope, shift in zip(bins.columns, bins.beyond_slope, bins.beyond_shift, strict=True):
        apart = excess - float(slope) * number
        program.add_if(x[k], apart <= float(shift), -apart <= -float(shift))


def _variable(program: ScipProgram, domain: Domain, j: int, low: float, high: float) -> Any:
    """Return a column as a variable: binary, on its lattice (the own value aside), or free."""
    if domain.in_group[j]:
        return program.variable(low, high, "B")
    x = program.variable(low, high)
    if j in domain.steps:
        grid, count = domain.steps[j], program.variable(kind="I")
        first, step = float(grid.at(np.array(0.0))), grid.step
        if domain.own is None:
            program.add(x == first + step * count)
            return x
        # On the lattice, or at the own value: x = first + step * count unless that is kept.
        keep, own = program.binary(), float(domain.own[0, j])
        free = program.binary()
        program.add(keep + free == 1)
        program.add_if(keep, x <= own, -x <= -own)
        program.add_if(free, x - step * count <= first, step * count - x <= -first)
    return x


def _add_rows(program: ScipProgram, cell: Cell, x: list[Any]) -> None:
    for g, h in zip(cell.G, cell.h, strict=True):
        program.add_quadratic(None, g, -h, float(np.abs(g).max()) or 1.0, x)
    # SCIP's variables are the features themselves: slope and value at 0.
    zero = np.zeros((1, cell.dim))
    for row in cell.quadratics:
        slope, value = row.gradient(zero)[0], float(row.value(zero)[0])
        curves = np.linalg.eigvalsh(row.A)
        size = max(float(np.abs(slope).max()), float(np.abs(curves).max()), LEAST_SIZE)
        program.add_quadratic(row.A, slope, value, size, x)
