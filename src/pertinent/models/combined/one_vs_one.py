"""One binary model for each pair of classes: the class with the most votes wins.

Equal votes are decided by ``c / (3 (|c| + 1))``, with c the sum of a class's scores: it grows with
c, so the largest c wins, and c is linear where all scores are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Region
from pertinent.models.combined.duels import Duels, voted_region
from pertinent.models.combined.members import raw_scores, require_plain_scores
from pertinent.models.linear import linear_region
from pertinent.models.registry import class_index, model_classes, register_model
from pertinent.models.steps.pipeline import ONE_VS_ONE


@register_model(ONE_VS_ONE)
def one_vs_one_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of one-vs-one over linear binary classifiers, or pipelines of them."""
    if model.pairwise_indices_ is not None:
        raise UnsupportedModelError(
            "OneVsOneClassifier over a precomputed kernel sees distances to samples, not features."
        )
    members, n_classes = list(model.estimators_), len(model_classes(model))
    require_plain_scores(model, members)
    W, b = raw_scores(model, members)
    if n_classes == 2:
        return linear_region(W, b, model, label, margin)
    # A positive score is a vote for the second class of a pair.
    terms = np.abs(np.column_stack([W, b]))
    return voted_region(
        Duels(-W, -b, terms, n_classes), class_index(model, label), margin, sums=True
    )
