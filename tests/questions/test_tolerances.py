"""What must hold between the numbers that searches and the checker are tuned with."""

from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX
from pertinent.proofs.tolerances import SUMS
from pertinent.questions import tolerances
from pertinent.setting.effort import Effort
from pertinent.setting.margins import CLOSED, CLOSED_QUADRATIC


def test_what_the_search_rules_out_the_checker_can_refute():
    assert tolerances.SLACK >= SUMS


def test_ties_are_finer_than_what_counts_as_excluded():
    assert tolerances.TIE < CLOSED < CLOSED_QUADRATIC


def test_what_a_search_leaves_open_is_within_the_gap_of_an_optimum():
    # A claim is 2 gaps below the best, and it is proved within 2 gaps.
    assert min(GAP_CONVEX, Effort().gap) >= 4 * CLOSED
    assert 4 * CLOSED_QUADRATIC <= GAP_NONCONVEX


def test_rounding_is_far_below_every_gap():
    rounding = (tolerances.SLACK, tolerances.ROOT_ROUNDING, tolerances.COST_ROUNDING)
    assert 100 * max(rounding) <= tolerances.TIE
    assert tolerances.AT_BOUND < tolerances.ROOT_ROUNDING


def test_a_sample_is_hard_long_before_it_is_given_up():
    assert Effort().nodes >= 10 * tolerances.EASY
    assert tolerances.STEP_NUMBERS <= tolerances.BATCH_NUMBERS


def test_spans_are_made_smaller_with_every_refusal():
    rooms, shares, insets = zip(*tolerances.SMALLER_SPANS, strict=True)
    assert list(rooms) == sorted(rooms)
    assert rooms[0] > 1 + tolerances.SPAN_SLACK
    assert list(shares) == sorted(shares, reverse=True)
    assert shares[0] < 1
    assert list(insets) == sorted(insets)
    assert insets[-1] < GAP_NONCONVEX


def test_units_of_rounding_are_those_of_a_few_operations():
    unit = 2.0**-53
    for share in (tolerances.RELATION_UNIT, tolerances.RELATION_BOX_UNIT, tolerances.SCALED):
        assert 2 * unit <= share < tolerances.SLACK
    assert tolerances.SLACK < tolerances.EXPONENTIAL < tolerances.PRECISION
