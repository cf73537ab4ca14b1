"""The kind of a region, the structure of a cell pick their solver: one may ask which and why."""

from __future__ import annotations

from functools import singledispatch

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Region
from pertinent.solvers.curved.convex import solve_convex
from pertinent.solvers.curved.convex_rows import COMBINED_ROWS, CONVEX_ROWS, has_convex_row
from pertinent.solvers.curved.copositive.quadratic import solve_quadratic
from pertinent.solvers.curved.exponential import solve_exponential
from pertinent.solvers.curved.few import FEW_FREE, LINES
from pertinent.solvers.curved.interior.ellipsoid import ball_of, solve_ellipsoid, solve_ellipsoids
from pertinent.solvers.curved.separable.separable import (
    is_separable,
    solve_separable,
    solve_separable_row,
)
from pertinent.solvers.linear.knapsack import solve_bounds, solve_halfspace
from pertinent.solvers.linear.polyhedron import solve_polyhedra, solve_polyhedron
from pertinent.solvers.problem import Method, Solver
from pertinent.solvers.scip.continuous import EXACT_IF_ASKED
from pertinent.solvers.scip.mixed import mixed_by_scip
from pertinent.solvers.search.bent.search import solve_bent
from pertinent.solvers.search.linear import solve_mixed
from pertinent.solvers.stages import Stage, anew, staged

BOUNDS = Method("bounds", "no rows: clip into the bounds", solve_bounds, in_lock_step=True)
HALF_SPACE = Method(
    "half-space",
    "one linear row: fractional knapsack in closed form",
    solve_halfspace,
    in_lock_step=True,
)


@singledispatch
def choose_method(region: Cell | Region, domain: Domain | None = None) -> Method:
    """Return the method for a region, registered by its kind, or for a cell, by its structure.

    A union is solved piece by piece, the nearest first. For a cell:

    - rows over bent columns (logarithms, powers, quantiles): branch and bound over boxes;
    - a probability of a softmax: tangents, the first at the answer of a cone program;
    - whole numbers, categories, bins or rules of change: branch and bound over the dual simplex
      (linear rows) or over the methods below (quadratic ones), then SCIP for what that leaves open;
    - no rows: clip into the bounds;
    - one linear row: fractional knapsack, closed form;
    - linear rows: bounded dual simplex over all centers at once;
    - one quadratic row that is a sum over features: closed form, or branch and bound over boxes
      where bounds are in the way, all centers at once;
    - linear rows and one ellipsoid: an interior-point method over all centers at once;
    - convex and other quadratic rows: the convex ones first, then the methods below;
    - other convex quadratic rows: a cone program for each center;
    - other quadratic rows: the convex-concave procedure from several starts, with copositivity
      proofs (and boxes, where all rows are sums over features).

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.solvers import choose_method
    >>> from pertinent.geometry.region import Cell
    >>> choose_method(Cell(np.ones((1, 3)), np.zeros(1)))
    Method(name='half-space', why='one linear row: fractional knapsack in closed form')
    """
    raise UnsupportedModelError(
        f"There is no solver for regions of the kind {type(region).__name__}. Register one: "
        f"@pertinent.solvers.choose_method.register({type(region).__name__}); see "
        "docs/add_a_model.md."
    )


@singledispatch
def make_ready(region: Cell | Region) -> None:
    """Do what need be done once before regions of a kind are solved, such as to compile.

    It is asked for before the time limit of any row begins. Most kinds need nothing.
    """


@choose_method.register
def _method_of_cell(cell: Cell, domain: Domain | None = None) -> Method:
    if cell.bent:
        if cell.quadratics or cell.exponentials:
            raise UnsupportedModelError(
                "Behind a step that bends columns (logarithms, powers, quantiles) linear rows are "
                "supported, not together with curved ones: a density (plausibility) or a softmax "
                "probability (min_proba). Ask without it, or put the step in front of the "
                "pipeline, and explain in its units."
            )
        why = "sums of bent columns: branch and bound over boxes of raw numbers, proved by its tree"
        return Method("bent branch and bound", why, solve_bent)
    if cell.exponentials:
        why = "a softmax probability: exponential cones by Clarabel, made exact by tangents"
        return Method("tangents", why, solve_exponential)
    if domain is not None:
        return _mixed_method(cell)
    if cell.is_linear:
        if len(cell.G) == 0:
            return BOUNDS
        if len(cell.G) == 1:
            return HALF_SPACE
        why = f"{len(cell.G)} linear rows: dual simplex, all centers in lock step"
        return Method("dual simplex", why, solve_polyhedron, solve_polyhedra, in_lock_step=True)
    if is_separable(cell) and len(cell.quadratics) == 1 and not len(cell.G):
        why = "one separable quadratic row: closed form, or boxes where bounds are in the way"
        return Method("separable", why, _curved(anew(solve_separable_row)))
    if ball_of(cell) is not None:
        why = "linear rows and one ellipsoid: interior points, all centers at once"
        return Method("ellipsoid", why, solve_ellipsoid, solve_ellipsoids)
    if cell.is_convex:
        why = "convex quadratic rows: a cone program each, by Clarabel"
        return Method("cone program", why, solve_convex)
    if has_convex_row(cell):
        why = "convex and other rows: the convex ones first, then the convex-concave procedure"
        inner = solve_separable if is_separable(cell) else solve_quadratic
        return Method("convex rows first", why, _curved(CONVEX_ROWS, anew(inner), COMBINED_ROWS))
    if is_separable(cell):
        why = "separable quadratic rows: convex-concave procedure, bounds over boxes"
        return Method("convex-concave, separable", why, _curved(anew(solve_separable)))
    why = "non-convex quadratic rows: convex-concave procedure and copositivity proofs"
    return Method("convex-concave", why, _curved(anew(solve_quadratic)))


def _curved(*stages: Stage) -> Solver:
    """Return the solver of a curved cell: lines first; at last all of space, and SCIP if asked."""
    return staged(LINES, *stages, FEW_FREE, EXACT_IF_ASKED)


def _mixed_method(cell: Cell) -> Method:
    if cell.is_linear:
        why = "whole numbers, categories or rules of change: branch and bound, proved by its tree"
        return Method("branch and bound", why, solve_mixed)
    why = "whole numbers, categories or rules of change under curved rows: branch and bound, SCIP"
    return Method("curved branch and bound", why, mixed_by_scip(choose_method))
