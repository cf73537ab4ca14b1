"""The inequalities that hold between the tolerances of the trusted base."""

import pytest

from pertinent.geometry import gaps
from pertinent.proofs import tolerances as trusted

UNIT = 2.0**-53


@pytest.mark.parametrize("share", ["SUMS", "CURVED", "ENTRY", "MIDDLE", "END", "ROOT"])
def test_rounding_covers_at_least_a_few_operations(share):
    assert getattr(trusted, share) >= 8 * UNIT


def test_what_is_rounding_is_less_than_what_counts_as_equal():
    assert trusted.SCALED >= 2 * UNIT
    assert trusted.SUMS < trusted.SMALLER < trusted.EQUAL
    assert trusted.SUMS < trusted.CANCELLED
    assert trusted.NOTHING < trusted.INDEPENDENT < trusted.ELLIPSOID


def test_a_slope_that_cancellation_left_cannot_outweigh_its_terms_within_reach():
    assert trusted.CANCELLED * trusted.REACH <= 1e-3


def test_numbers_of_a_copositive_form_stay_where_rounding_is_relative():
    smallest = trusted.MULTIPLIERS[0] * trusted.RADII[0] ** 2
    assert trusted.SMALLEST > 1e-290
    assert smallest > 1e-290
    assert trusted.MULTIPLIERS[1] * trusted.RADII[1] ** 2 < 1e290


def test_claims_are_lowered_by_less_than_the_gap_of_an_optimal_answer():
    assert max(trusted.LOWERED) < gaps.GAP_NONCONVEX
    assert trusted.LOWERED[0] == 0.0
    assert gaps.ROUNDING < gaps.GAP_CONVEX < gaps.GAP_NONCONVEX


def test_claims_about_trees_are_lowered_step_by_step():
    assert list(trusted.LOWERED_TREES) == sorted(trusted.LOWERED_TREES)
    assert trusted.LOWERED_TREES[0] == 0.0
    assert gaps.ROUNDING_SINGLE < trusted.LOWERED_TREES[-1] < gaps.GAP_NONCONVEX
    assert trusted.SUMS < trusted.INSIDE < gaps.GAP_CONVEX


def test_what_rounds_in_a_form_or_a_sum_is_less_than_what_a_bound_is_made_larger_by():
    assert UNIT < gaps.SPLIT < gaps.ROUNDING
    assert 8 * UNIT < gaps.GENEROUS - 1 < gaps.GAP_CONVEX
    assert 0 < gaps.OF_THE_MEAN < 1
