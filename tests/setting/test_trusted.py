"""Whose word a bound rests on is asked of the certificates of its row, and of no others."""

import numpy as np
import pytest

from pertinent.setting.answers import Certified, are_trusted
from pertinent.setting.region_key import Is


class Told:
    """A certificate that says which of its rows are recomputed, and counts how often."""

    def __init__(self, *trusted):
        self.told, self.asked = np.array(trusted), 0

    def trusted(self):
        self.asked += 1
        return self.told


@pytest.mark.parametrize(("row", "expected"), [(0, True), (1, False), (2, True), (3, False)])
def test_only_certificates_of_the_row_are_asked(row, expected):
    first, second, third = Told(True, False), Told(True, True), Told(False)
    certificates = [
        Certified(Is(0), np.array([0, 1]), first),
        Certified(Is(1), np.array([2, 3]), second),
        Certified(Is(0), np.array([3]), third),
    ]
    assert are_trusted(certificates, row) is expected
    assert first.asked == (row < 2)
    assert second.asked == (row > 1)
    assert third.asked == (row == 3)


def test_without_a_certificate_nothing_repeats_a_solver():
    assert are_trusted([], 0)
    assert are_trusted([Certified(Is(0), np.array([5]), Told(False))], 0)
