"""Is a parameter the number it should be? True and False are not numbers here."""

from __future__ import annotations

from numbers import Integral, Real


def is_integer(value: object, at_least: int) -> bool:
    """Return whether value is an int (of Python or NumPy) and not below a limit.

    Examples
    --------
    >>> is_integer(3, at_least=1), is_integer(0, at_least=1), is_integer(True, at_least=1)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        return False
    return int(value) >= at_least


def is_real(value: object, above: float) -> bool:
    """Return whether value is a finite number strictly above a limit.

    Examples
    --------
    >>> is_real(0.1, above=0.0), is_real("0.1", above=0.0), is_real(float("inf"), above=0.0)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return above < float(value) < float("inf")
