"""What must hold between the numbers that densities and blends are judged with."""

import numpy as np

from pertinent.density import tolerances
from pertinent.geometry.gaps import GAP_CONVEX


def test_room_is_left_for_rounding_and_is_far_below_every_gap():
    assert 1e6 * np.finfo(np.float64).eps <= tolerances.TIGHTER <= GAP_CONVEX


def test_what_is_dust_changes_no_blend():
    assert tolerances.DUST < tolerances.BLEND < tolerances.BLEND_SINGLE
    assert np.finfo(np.float32).eps < tolerances.BLEND_SINGLE


def test_help_for_a_degenerate_component_ends_its_need():
    assert tolerances.REG_COVAR < tolerances.SINGULAR < tolerances.ADDED
