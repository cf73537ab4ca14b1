"""Single points that are plausible, and single points that just are not, known by hand."""

import numpy as np
import pytest

from pertinent.density.hull import Blend, Hulls
from pertinent.density.measure import are_plausible
from pertinent.density.mixture import ClassMixture, Densities
from pertinent.geometry.region import AffineMap

ONE = np.ones(1)
#: The normal density with mean 1 and deviation 2, wanted as high as 3 deviations from the mean.
PEAK = -np.log(2.0) - np.log(2 * np.pi) / 2
NORMAL = ClassMixture(ONE, ONE[:, None], 0.5 * ONE[:, None, None], PEAK - 4.5, np.zeros(0))
#: Rows 5, 6, 7 and 8 of one class.
HULLS = Hulls((np.array([[0.0], [1.0], [5.0], [9.0]]),), (np.arange(5, 9),), 2)


def test_the_density_is_the_normal_one():
    away = np.array([[1.0], [3.0], [-5.0]])
    assert NORMAL.log_density(away).tolist() == pytest.approx([PEAK, PEAK - 0.5, PEAK - 4.5])


def test_where_the_density_is_high_enough():
    points = np.array([[6.99], [7.01], [-4.99], [-5.01]])
    within = Densities(AffineMap(ONE, np.zeros(1)), (NORMAL,), 0.2)
    places = np.zeros(4, dtype=np.int64)
    dense = are_plausible(within, places, points, None, None, ONE)
    assert dense.tolist() == [True, False, True, False]
    assert within.region(0, 0.0).contains(points).tolist() == dense.tolist()


@pytest.mark.parametrize(
    ("rows", "shares", "point", "right"),
    [
        ([5, 6], [0.25, 0.75], 0.75, True),
        ([5, 6], [-0.5, 1.5], 1.5, False),
        ([5, 6], [0.25, 0.5], 0.5, False),
        ([5, 6], [0.25, 0.75], 0.5, False),
        ([6, 7], [0.5, 0.5], 3.0, False),
    ],
    ids=["right", "negative", "less than all", "another point", "not the nearest"],
)
def test_what_a_blend_of_the_two_nearest_is(rows, shares, point, right):
    blends = np.array([Blend(np.array(rows), np.array(shares)), None], dtype=object)[:1]
    asked = np.zeros(1, dtype=np.int64), np.array([[point]]), blends, np.zeros((1, 1)), ONE
    assert are_plausible(HULLS, *asked).tolist() == [right]
