"""Error-correcting codes: the class whose code word is nearest to the scores of binary models.

With ``s = W x + b`` the scores, ``|s - c_k|^2`` is smallest for the word c_k of the predicted
class, the first of those that tie: nearest prototypes in the space of scores, which is an affine
image of the raw columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import AffineMap, Region
from pertinent.models.combined.members import raw_score, require_plain_scores
from pertinent.models.prototype import first_nearest_region
from pertinent.models.registry import class_index, register_model
from pertinent.models.steps.pipeline import OUTPUT_CODE


@register_model(OUTPUT_CODE)
def output_code_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of output codes over linear binary classifiers, or pipelines of them."""
    require_plain_scores(model, model.estimators_)
    W, b = _scores(model)
    words = np.asarray(model.code_book_, dtype=float)
    own = np.arange(len(words)) == class_index(model, label)
    return first_nearest_region(words, own, margin).pull_back(AffineMap(W, b))


def _scores(model: Foreign) -> tuple[FloatArray, FloatArray]:
    """Return the scores; that of a column of the code book with one value only is this value."""
    found = [
        (None, float(np.ravel(one.y_)[0]))
        if type(one).__name__ == "_ConstantPredictor"
        else raw_score(model, one)
        for one in model.estimators_
    ]
    slopes = [row for row, _ in found if row is not None]
    if len({len(row) for row in slopes}) > 1:
        raise UnsupportedModelError(
            "The models in this OutputCodeClassifier read the raw features each in a way of its "
            "own. Put the steps that encode or bin in front of it."
        )
    flat = np.zeros(len(slopes[0]) if slopes else int(model.n_features_in_))
    return np.array([flat if row is None else row for row, _ in found]), np.array(
        [offset for _, offset in found]
    )
