"""The four answers a row can get."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import CodeArray

OPTIMAL = 0  #: valid, and the proved bound equals the objective within the gap
FEASIBLE = 1  #: valid, but not proved optimal
INFEASIBLE = 2  #: proved that no such point exists
FAILED = 3  #: neither a valid point nor a proof; the reason says why

_NAMES = np.array(["optimal", "feasible", "infeasible", "failed"])


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
