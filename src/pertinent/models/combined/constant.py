"""Models that predict the same class whatever they see: all of space is the region of one class."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.models.registry import class_index, model_classes, register_model


@register_model("sklearn.dummy.DummyClassifier")
def constant_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return all of space for the class that is always predicted, nothing for the others."""
    del margin
    dim, classes = int(model.n_features_in_), model_classes(model).tolist()
    if model.strategy in ("stratified", "uniform"):
        raise UnsupportedModelError(
            f"DummyClassifier(strategy={model.strategy!r}) draws classes at random: it has no "
            "regions. strategy='prior', 'most_frequent' and 'constant' are supported."
        )
    winner = int(np.argmax(model.class_prior_))
    if model.strategy == "constant":
        winner = classes.index(np.ravel(model.constant)[0])
    own = class_index(model, label) == winner
    return CellUnion((Cell.whole_space(dim),) if own else (), dim)
