"""What must hold between the numbers that stored explanations are compared with."""

import numpy as np

from pertinent.checking.tolerances import SAME, SAME_SIZE
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX
from pertinent.setting.margins import ROUNDED, TIE


def test_the_same_answer_computed_again_is_not_refuted():
    assert ROUNDED <= SAME_SIZE
    assert 100 * np.finfo(np.float64).eps < SAME_SIZE


def test_what_is_the_same_is_far_below_every_gap():
    assert SAME_SIZE < SAME <= TIE
    assert min(GAP_CONVEX, GAP_NONCONVEX) >= SAME
