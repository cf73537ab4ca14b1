"""A range of predictions, and the same range in front of what a regressor does last.

Many regressors apply an increasing function to a number at the end: a generalised linear model the
inverse of its link, a `TransformedTargetRegressor` the inverse of its transformer. Where f is
increasing, ``low <= f(s) <= high`` is a range of s. Its ends are doubles, found by halving with the
very function that the model calls, so that they are right as it rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.tables.numbers import is_number

#: An increasing function is taken to be right to so many units in the last place.
UNITS = 4.0


@dataclass(frozen=True, eq=False)
class Link:
    """An increasing function that is applied to every prediction.

    Parameters
    ----------
    function : callable
        From an array of shape (n,) to one of the same shape.
    exact : bool
        Whether a number gets the same result in every batch, and larger ones no smaller result.
    """

    function: Callable[[Any], Any]
    exact: bool = False

    def __call__(self, numbers: FloatArray) -> FloatArray:
        """Return the function of each number, of an array of any shape."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.asarray(self.function(numbers.reshape(-1)), dtype=float)
        return found.reshape(numbers.shape)


class Ends(NamedTuple):
    """The ends of a range of numbers, and how far each may be off by rounding."""

    low: float
    high: float
    low_off: float = 0.0
    high_off: float = 0.0

    @property
    def is_empty(self) -> bool:
        """Whether no number lies between the ends."""
        return self.low > self.high or self.low == np.inf or self.high == -np.inf

    @property
    def off(self) -> float:
        """The larger of both."""
        return max(self.low_off, self.high_off)


@dataclass(frozen=True, eq=False)
class Range:
    """The numbers from ``low`` to ``high``, both included, behind some increasing functions.

    Parameters
    ----------
    low, high : float
        Infinite where there is no end.
    links : tuple of Link
        What is applied to a number before it is compared: the last one first.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.models.regressors.ranges import Link, Range
    >>> counts = Range(1.0, 10.0).through(Link(np.exp))
    >>> counts.holds(np.array([-1.0, 0.0, 2.0, 3.0])).tolist()
    [False, True, True, False]
    >>> [round(end, 6) for end in counts.ends[:2]]
    [0.0, 2.302585]
    """

    low: float = -np.inf
    high: float = np.inf
    links: tuple[Link, ...] = ()

    def through(self, link: Link) -> Range:
        """Return the range of what a function is applied to."""
        return replace(self, links=(*self.links, link))

    def predicted(self, numbers: FloatArray) -> FloatArray:
        """Return what is predicted where these are the numbers in front of all functions."""
        for link in reversed(self.links):
            numbers = link(numbers)
        return numbers

    def holds(self, numbers: FloatArray) -> BoolArray:
        """Return which numbers lie in the range, as they are predicted."""
        found = self.predicted(np.asarray(numbers, dtype=float))
        return np.asarray((found >= self.low) & (found <= self.high))

    @cached_property
    def ends(self) -> Ends:
        """The same range of the numbers in front of all functions."""
        if not self.links:
            return Ends(self.low, self.high)
        off = 0.0 if all(link.exact for link in self.links) else UNITS
        before_low, low_off = self._last(np.nextafter(self.low, -np.inf), off)
        high, high_off = self._last(self.high, off)
        # The least number that is predicted as at least low comes after the last that is not.
        low = before_low if np.isinf(before_low) else float(np.nextafter(before_low, np.inf))
        return Ends(low, high, low_off, high_off)

    def _last(self, most: float, units: float) -> tuple[float, float]:
        """Return the last number that is predicted as at most so much, and how far it may be off.

        By as much as it would move if the prediction were some units in its last place larger or
        smaller.
        """
        if np.isinf(most):
            return float(most), 0.0
        step = units * float(np.spacing(abs(most)))
        found = last_at_most(self.predicted, np.array([most, most - step, most + step]))
        apart = np.abs(found[1:] - found[0]) if np.isfinite(found[0]) else np.zeros(2)
        return float(found[0]), float(apart[np.isfinite(apart)].max(initial=0.0))

    def around(self, value: float, by: float) -> tuple[float, float]:
        """Return what is predicted where the number in front is smaller or larger by so much."""
        if not self.links:
            return value - by, value + by
        last = last_at_most(self.predicted, np.array([value]))
        if not np.isfinite(last[0]):
            return value, value
        low, high = self.predicted(np.array([last[0] - by, last[0] + by]))
        return float(low), float(high)


def read_range(target: Any) -> tuple[float | None, float | None]:
    """Return the ends of a range of predictions that a user asks for: (low, high), either None.

    Examples
    --------
    >>> from pertinent.models.regressors.ranges import read_range
    >>> read_range((160_000, None))
    (160000.0, None)
    """
    words = (
        "A regressor is asked for a range of predictions: target=(low, high), where either end may "
        "be None."
    )
    if not isinstance(target, tuple | list) or len(target) != 2:
        raise InputError(f"{words} Got {target!r:.60}.")
    low, high = (_end(one, words) for one in target)
    low, high = None if low == -np.inf else low, None if high == np.inf else high
    if low is None and high is None:
        raise InputError(f"{words} Got {target!r:.60}, which every prediction lies in.")
    if low == np.inf or high == -np.inf or (low is not None and high is not None and low > high):
        raise InputError(f"{words} Got {target!r:.60}, which no prediction lies in.")
    return low, high


def _end(value: Any, words: str) -> float | None:
    if value is None:
        return None
    if not is_number(value) or np.isnan(value):
        raise InputError(f"{words} {value!r:.60} is no number.")
    return float(value) + 0.0  # -0.0 is 0.0


def range_words(low: float | None, high: float | None) -> str:
    """Return what a range of predictions is called.

    Examples
    --------
    >>> from pertinent.models.regressors.ranges import range_words
    >>> range_words(160_000.0, None), range_words(None, 0.25), range_words(1.0, 2.5)
    ('160,000 or more', '0.25 or less', '1 to 2.5')
    """
    if low is None and high is None:
        return "any number"
    if high is None:
        return f"{number_words(low)} or more"
    if low is None:
        return f"{number_words(high)} or less"
    return number_words(low) if low == high else f"{number_words(low)} to {number_words(high)}"


def number_words(value: float | None) -> str:
    """Return a number in all its digits, thousands apart."""
    return "" if value is None else f"{value:,}".removesuffix(".0")
