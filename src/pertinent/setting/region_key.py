"""Which region is asked for: that of a class, or that of all classes but one."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, IntArray


class Kind(StrEnum):
    """Whether a point must be predicted as a class, or as any other."""

    IS = "is"
    NOT = "not"

    def holds(self, predicted: IntArray, labels: IntArray) -> BoolArray:
        """Return whether each prediction is as asked, against the class in ``labels``."""
        return np.asarray(predicted == labels if self is Kind.IS else predicted != labels)


class RegionKey(NamedTuple):
    """The name of a region; equal to the pair ``("is", k)`` or ``("not", k)`` that files hold.

    Parameters
    ----------
    kind : Kind
    place : int
        The place of the class among the model's classes.

    Examples
    --------
    >>> Is(2) == ("is", 2), Is(2) == Not(2)
    (True, False)
    """

    kind: Kind
    place: int


def Is(place: int) -> RegionKey:
    """Return the name of the region of a class."""
    return RegionKey(Kind.IS, place)


def Not(place: int) -> RegionKey:
    """Return the name of the region of all classes but one."""
    return RegionKey(Kind.NOT, place)
