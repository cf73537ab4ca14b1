"""The four answers a row can get."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import CodeArray


class Status(IntEnum):
    """What is known of one row's answer; arrays of int8 hold the codes."""

    OPTIMAL = 0  #: valid, and the proved bound equals the objective within the gap
    FEASIBLE = 1  #: valid, but not proved optimal
    INFEASIBLE = 2  #: proved that no such point exists
    FAILED = 3  #: neither a valid point nor a proof; the reason says why


#: The codes as plain numbers: an array is compared with an `IntEnum` ten times as slowly, and
#: becomes an array of int64.
OPTIMAL, FEASIBLE, INFEASIBLE, FAILED = (int(status) for status in Status)
_NAMES = np.array([status.name.lower() for status in Status])


def status_names(codes: CodeArray) -> NDArray[np.str_]:
    """Return the words for status codes.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.proofs import status_names
    >>> status_names(np.array([0, 2], dtype=np.int8)).tolist()
    ['optimal', 'infeasible']
    """
    names: NDArray[Any] = _NAMES[codes]
    return names
