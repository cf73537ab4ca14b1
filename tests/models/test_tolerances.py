"""What must hold between the tolerances of models, of rounding and of gaps."""

import numpy as np

from pertinent.geometry import gaps
from pertinent.geometry.domain import SMALLEST_CHANGE
from pertinent.models import tolerances as models
from pertinent.models.bayes.quadratic import ROUNDS
from pertinent.models.sound import MOST_FEATURES
from pertinent.rules import tolerances as rules

DOUBLE, SINGLE = np.finfo(np.float64).eps, np.finfo(np.float32).eps


def test_what_is_written_as_one_form_is_no_rounding_for_a_thousand_features():
    assert ROUNDS * (1_000 + 4) * DOUBLE < models.CLEAR < 1
    assert MOST_FEATURES * DOUBLE < models.CLEAR


def test_what_is_cut_off_is_more_than_rounding_and_less_than_a_change():
    assert DOUBLE < models.CUT_OFF <= gaps.GAP_CONVEX
    assert rules.SATISFIED <= models.CUT_OFF < SMALLEST_CHANGE


def test_sums_that_differ_late_differ_in_their_own_precision():
    assert models.LATE_SINGLE == 2 * SINGLE
    assert models.LATE_DOUBLE == 2 * DOUBLE


def test_edges_are_kept_off_by_rounding_and_told_apart_by_more():
    assert 8 * DOUBLE < models.OFF_EDGE < models.SAME_EDGE <= models.CUT_OFF


def test_texts_are_given_more_room_than_rounding_and_less_than_a_word():
    words = 10_000
    assert words * DOUBLE < models.ROWS_WIDER < models.RANGES_OVERLAP < 1 / words
    assert words * DOUBLE < models.EMPTY_TIE <= models.ROWS_WIDER
