"""What must hold between the tolerances of what is claimed, of rules and of regions."""

import numpy as np

from pertinent.geometry import gaps
from pertinent.geometry.domain import SMALLEST_CHANGE
from pertinent.proofs import tolerances as proofs
from pertinent.questions import tolerances as questions
from pertinent.rules import tolerances as rules
from pertinent.setting import margins
from pertinent.summary import tolerances as summary

EPS = np.finfo(np.float64).eps


def test_rounding_never_opens_a_gap_or_makes_a_tie():
    assert EPS < margins.ROUNDED <= gaps.ROUNDING < margins.TIE < gaps.GAP_CONVEX
    assert gaps.GAP_CONVEX <= gaps.GAP_NONCONVEX
    assert gaps.ROUNDING_SINGLE < gaps.GAP_CONVEX


def test_margins_that_rounding_needs_are_not_seen():
    assert margins.LEAST < margins.UNKNOWN < margins.SEEN < margins.MARGIN < gaps.GAP_CONVEX
    assert margins.SEEN < margins.SEEN_OF_ANY < gaps.GAP_CONVEX
    assert margins.UNKNOWN_SINGLE < margins.MARGIN_SINGLE <= gaps.TIES_COUNT


def test_smaller_margins_are_tried_until_two_are_close():
    """Halving an interval between two margins ends: it is wider than CLOSE at first."""
    assert EPS < margins.LEAST_SHARE < 1 / margins.CLOSE < 1 < margins.CLOSE


def test_what_is_shown_as_a_step_or_as_nothing():
    """A value off its grid by rounding stands on it, by what a gap may be it does not."""
    assert EPS < summary.LEAST_SHOWN < summary.ON_GRID < gaps.GAP_CONVEX
    assert margins.ROUNDED < summary.ON_GRID < SMALLEST_CHANGE
    assert gaps.GAP_NONCONVEX < summary.SLACK  # a gap that counts as closed is not seen


def test_a_margin_that_is_kept_is_missed_by_roundings_at_most():
    assert 100 * EPS < margins.KEPT <= margins.ROUNDED
    assert 100 * np.finfo(np.float32).eps < margins.KEPT_SINGLE < 1e-3


def test_what_excludes_a_set_of_features_closes_the_gap():
    assert margins.CLOSED < margins.CLOSED_QUADRATIC
    assert 4 * margins.CLOSED_QUADRATIC <= gaps.GAP_NONCONVEX


def test_what_is_nearly_free_outweighs_nothing_that_counts():
    assert EPS < margins.NEARLY_FREE <= margins.TIE
    assert gaps.TINY < EPS < gaps.TIED_SLOPE


def test_ranges_end_where_a_step_can_be_seen():
    assert margins.FAR * EPS < questions.PRECISION
    assert questions.NEAR < margins.STEP_FARTHER
    assert questions.PRECISION < margins.STEP_FARTHER
    assert margins.STEP_FARTHER < SMALLEST_CHANGE
    assert questions.LONG <= proofs.REACH
    assert list(questions.SHARES) == sorted(questions.SHARES)


def test_a_rule_is_missed_by_rounding_only():
    assert EPS < rules.SATISFIED <= margins.TIE
    assert EPS < rules.SLACK < SMALLEST_CHANGE
    assert rules.SLACK < rules.CHANGE_SLACK < SMALLEST_CHANGE


def test_the_only_answer_is_looked_for_farther_than_gaps_and_slopes_reach():
    assert gaps.GAP_NONCONVEX < margins.NEAR < 1
    assert margins.ROUNDED < margins.FLAT < gaps.GAP_CONVEX
