"""One binary model for each class: the class of the largest score wins.

The binary models may be pipelines. If each of them ends in a linear score, that score is linear in
the raw columns too, and the scores of all classes can be compared there.
"""

from __future__ import annotations

from typing import Any

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Region
from pertinent.models.combined.members import raw_scores
from pertinent.models.linear import linear_region
from pertinent.models.registry import model_classes, register_model
from pertinent.models.steps.pipeline import ONE_VS_REST


@register_model(ONE_VS_REST)
def one_vs_rest_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of one-vs-rest over linear binary classifiers, or pipelines of them."""
    if getattr(model, "multilabel_", False):
        raise UnsupportedModelError("OneVsRestClassifier on several labels at once: not a class.")
    _require_classes(model)
    return linear_region(*raw_scores(model, model.estimators_), model, label, margin)


def _require_classes(model: Foreign) -> None:
    """Refuse one class: in place of its binary model there is a constant."""
    classes = model_classes(model).tolist()
    if len(classes) == 1:
        raise InputError(
            f"OneVsRestClassifier was fitted on one class only, {classes[0]!r}, and always "
            "predicts it. Fit it on samples of at least two classes."
        )
