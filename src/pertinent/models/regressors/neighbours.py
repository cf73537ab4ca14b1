"""The value of the nearest neighbour: a union of the cells of training points in the range."""

from __future__ import annotations

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Region
from pertinent.models.neighbours import nearest_own
from pertinent.models.regressors.ranges import Range
from pertinent.models.regressors.registry import register_regressor


@register_regressor("sklearn.neighbors.KNeighborsRegressor")
def neighbour_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where the nearest training point has a value in the range."""
    values = np.asarray(model._y, dtype=float)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise UnsupportedModelError(
            "This KNeighborsRegressor predicts several numbers at once; explain one number at a "
            "time with a regressor of its own."
        )
    if model.weights not in ("uniform", None):
        raise UnsupportedModelError(
            f"KNeighborsRegressor(weights={model.weights!r}): supported is weights='uniform', "
            "which predicts the value of the neighbour itself."
        )
    own = wanted.holds(values)
    return nearest_own(model, own.astype(np.int64), own, margin)
