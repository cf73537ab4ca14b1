"""The inequalities that hold between tolerances: a search aims at more than a check asks for."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

import pertinent.solvers
from pertinent.geometry import gaps
from pertinent.proofs import tolerances as trusted
from pertinent.setting import margins
from pertinent.solvers import tolerances as own
from pertinent.solvers.curved import halving
from pertinent.solvers.curved.copositive import varying

UNIT = 2.0**-53


@pytest.mark.parametrize(
    "share",
    [own.PROVED_ON_LINE, own.PROVED, own.PROVED_AT_LAST, own.PROVED_BY_BOXES, own.CLAIMED_BY_BOXES],
)
def test_a_share_of_the_cost_that_is_proved_closes_the_gap(share):
    assert 1 - gaps.GAP_NONCONVEX < share < 1


def test_what_the_checker_may_lower_a_claim_by_stays_within_the_gap():
    lowest = 1 - max(trusted.LOWERED)
    assert own.PROVED * lowest > 1 - gaps.GAP_NONCONVEX
    assert own.PROVED_ON_LINE * lowest > 1 - gaps.GAP_NONCONVEX


def test_a_convex_row_is_proved_within_the_gap_of_a_convex_cell():
    assert 1 - gaps.GAP_CONVEX < own.PROVED_BY_CONVEX_BOXES < 1


def test_a_case_is_closed_only_within_the_gap_of_an_optimal_answer():
    assert trusted.SUMS < own.CASE_EXACT < own.CASE_CLOSED < gaps.GAP_NONCONVEX
    assert trusted.SUMS < margins.CLOSED
    assert 4 * margins.CLOSED < gaps.GAP_CONVEX
    assert 4 * margins.CLOSED_QUADRATIC <= gaps.GAP_NONCONVEX


def test_searches_allow_for_more_rounding_than_the_check():
    assert own.MIDDLE_ROUNDING > trusted.MIDDLE
    assert own.BOX_ROUNDING > trusted.CURVED
    assert own.ENTRY_ROUNDING > trusted.ENTRY
    assert own.RAY_ROUNDING > trusted.SUMS
    assert min(own.COMBINED_ROUNDING, own.ROW_ROUNDING) > trusted.CURVED
    assert own.CONVEX_ROUNDING > trusted.DEFINITE
    assert own.CANCELLED < trusted.CANCELLED
    assert own.FAR > trusted.REACH
    assert own.CHOSEN_DEFINITE > own.DEFINITE > trusted.DEFINITE
    assert own.NO_WIDTH < own.THIN < 1 - own.PROVED_BY_BOXES
    assert own.CASE_RAY_ROUNDING >= trusted.SUMS
    assert own.SHRUNK <= 1 - trusted.SCALED
    assert own.PROVED_BY_CONVEX_BOXES < own.CLAIMED_BY_BOXES < 1 - trusted.CURVED


def test_searches_look_no_farther_and_no_longer_than_the_check():
    assert own.RAY_REACH <= trusted.REACH
    assert varying.MOST_CORNERS <= trusted.MOST_CORNERS
    assert halving.MOST_FREE <= trusted.MOST_HALVED
    assert halving.PROOF_LIMITS.waiting <= trusted.MOST_BOXES
    assert halving.PROOF_LIMITS.rounds <= trusted.MOST_ROUNDS


def test_what_is_zero_to_a_search_is_zero_to_the_check():
    assert own.NEARLY_DIAGONAL <= trusted.NOTHING
    assert own.FLAT <= trusted.EQUAL
    assert own.INDEPENDENT >= trusted.INDEPENDENT
    assert own.APART > own.FLAT
    assert own.LEAST_GAIN == trusted.LEAST_GAIN
    assert own.NEVER_ZERO > trusted.SMALLEST


def test_a_method_arrives_well_before_its_answer_has_to_close():
    assert own.FIRST_AIM < max(own.AIMS) < own.LEFT_OVER < own.NEARLY_INSIDE <= own.CONVERGED
    assert own.AIMS[0] == 0.0
    assert own.INTERIOR_GAP < gaps.GAP_CONVEX
    assert own.SOFTMAX_INSIDE < own.SOFTMAX_NEARLY < gaps.GAP_CONVEX
    assert 4 * UNIT < own.NEWTON_DONE < own.NEWTON_NEAR <= own.LEFT_OVER
    assert own.NEARLY_INSIDE < own.TIGHT
    assert own.ROUNDED < own.INTERIOR_DUST < own.DUST < own.FINE_DUST[0] < max(own.COARSE_DUST)
    for levels in (own.AIMS, own.GROWTHS, own.SAFER, own.COARSE_DUST):
        assert list(levels) == sorted(set(levels))


def test_a_better_point_is_better_by_more_than_rounding_and_less_than_the_gap():
    assert gaps.ROUNDING <= own.PROGRESS < own.BETTER < gaps.GAP_CONVEX
    assert max(own.GROWTHS) < own.PROGRESS
    assert own.SAME_COST <= own.BETTER
    assert own.CONVERGED <= own.NO_WORSE <= gaps.GAP_CONVEX


def test_what_is_looked_at_holds_the_best_point_and_the_corners_of_a_box():
    assert min(own.SCIP_LARGER, own.SCIP_LARGER_BOX) > 1 + own.BETTER
    assert 8 * UNIT < own.WHOLE_SEPARABLE <= own.WHOLE


def test_the_simplex_tells_rounding_from_what_it_accepts():
    assert 8 * UNIT < own.BREAKPOINT < own.RATIO_TIE <= own.FEASIBILITY < own.PIVOT <= own.ACCEPT
    assert own.ACCEPT < gaps.GAP_CONVEX
    assert UNIT < own.BIAS < own.BREAKPOINT  # an order among those that stand on one breakpoint
    assert own.BIAS < own.BIAS_OF_ALL < own.PIVOT
    assert own.HIGHS <= own.ACCEPT


def test_no_tolerance_stands_outside_of_the_table():
    """A module's own numbers say how much work it does, not what counts as equal."""
    for module in pkgutil.walk_packages(pertinent.solvers.__path__, "pertinent.solvers."):
        if module.name.endswith(("kernel", "tolerances")):
            continue  # the compiled simplex needs numba; the table itself
        for name, value in vars(importlib.import_module(module.name)).items():
            small = isinstance(value, float) and 0 < min(value, abs(1 - value)) < 1e-3
            if name.isupper() and small:
                assert getattr(own, name, getattr(gaps, name, None)) == value, (module.name, name)
