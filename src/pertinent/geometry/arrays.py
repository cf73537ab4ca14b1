"""The handful of array types used throughout the package."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
CodeArray = NDArray[np.int8]
#: The lowest and the highest values allowed.
Limits = tuple[FloatArray, FloatArray]
#: A fitted classifier, or anything else that comes from outside without types.
Foreign = Any
