"""Any model with a ``predict``: nothing is read, so answers are searched for, never proved.

A regressor is searched as the classifier that a range of its predictions makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.region import Opaque, Region
from pertinent.models.registry import (
    SEARCHED,
    decision_region,
    model_classes,
    predicted_labels,
    region_function,
    register_model,
    require_classifier,
    require_fitted,
)
from pertinent.models.steps.pipeline import features_of
from pertinent.tables.table import as_frame

#: For each feature its categories, or None for a number.
Levels = tuple[tuple[Any, ...] | None, ...]


class Searched:
    """A classifier of which nothing is known but what its ``predict`` says.

    Parameters
    ----------
    model : fitted classifier, or RangeClassifier
    classes : ndarray
        Its labels.
    levels : tuple, optional
        For each feature its categories as the data have them, None for a number; () if all are
        numbers. None: the steps of a pipeline say it.
    gaps : tuple of int
        Numbers that may be missing: the data have such gaps, and no step fills them.
    names : sequence of str, optional
        Names of the features, where the data have some; one that says nothing of its features
        itself is then asked with tables that have them.
    """

    def __init__(
        self,
        model: Foreign,
        classes: NDArray[Any],
        levels: Levels | None = None,
        gaps: tuple[int, ...] = (),
        names: Sequence[str] | None = None,
    ) -> None:
        self.model, self.classes_ = model, classes
        self.searched_levels, self.searched_gaps, self.searched_names = levels, gaps, names
        silent = not hasattr(model, "feature_names_in_") and not hasattr(model, "n_features_in_")
        if silent and names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":  # not there yet while a copy is made
            raise AttributeError(name)
        return getattr(self.model, name)

    def __repr__(self) -> str:
        return f"<Searched {type(self.model).__name__}>"

    def within(self, low: float | None, high: float | None) -> Searched:
        """Return the same of a `RangeClassifier` with another range."""
        ranged = self.model.within(low, high)
        known = self.searched_levels, self.searched_gaps, self.searched_names
        return Searched(ranged, ranged.classes_, *known)

    def predict(self, table: Foreign) -> NDArray[Any]:
        """Return the model's own predictions; a label that is not known is refused."""
        labels = predicted_labels(self.model, table)
        strange = set(np.ravel(labels).tolist()) - set(self.classes_.tolist())
        if strange:
            raise InputError(
                f"{type(self.model).__name__} predicts {min(strange, key=str)!r}, which is none of "
                f"its labels {self.classes_.tolist()!r:.200}. Give it a classes_ attribute with "
                "all its labels."
            )
        return labels


@register_model(SEARCHED)
def opaque_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return the region of which ``predict`` alone tells."""
    return Opaque(0)  # of how many columns, the features say: see `models.trees.gaps.with_gaps`


def unsearched(model: Foreign) -> Foreign:
    """Return a model without the search around it."""
    return model.model if isinstance(model, Searched) else model


def is_read(model: Foreign, example: Any = None) -> bool:
    """Return whether the regions of a fitted model are known: its answers can be proved."""
    try:
        region_function(model)
        if example is not None:
            features_of(model, example)
        decision_region(model, model_classes(model).tolist()[0])
    except UnsupportedModelError:
        return False
    return True


def searched(model: Foreign, data: Any) -> Searched:
    """Return a classifier as one to be searched, with what the training data tell of it."""
    if isinstance(model, Searched):
        return model
    require_classifier(model)
    require_fitted(model)
    if data is None:
        raise InputError(
            "search=True begins at real points: pass data=X_train, samples of the training data."
        )
    if getattr(model, "classes_", None) is None:
        classes = _labels_seen(model, data)
    else:
        classes = model_classes(model)
    levels = _levels(model, data)
    frame = as_frame(data)
    names = None if frame is None else frame.columns
    return Searched(model, classes, levels, _gaps(model, data, levels), names)


def _labels_seen(model: Foreign, data: Any) -> NDArray[Any]:
    """Return the labels that a model without classes_ gives to the data; numbers are none."""
    found = np.unique(predicted_labels(model, data))
    if found.dtype.kind == "f" and (found % 1 != 0).any():
        raise InputError(
            f"{type(model).__name__} predicts numbers such as {found[0]:.6g}, and a question about "
            "numbers needs a range: Explainer(pertinent.RangeClassifier(model), ...)"
            ".explain(X, target=(low, high))."
        )
    return found


def _levels(model: Foreign, data: Any) -> Levels | None:
    """Return the categories of columns of text, as the data have them; None: as steps say."""
    try:
        if features_of(model, data).levels:
            return None
    except UnsupportedModelError:  # a step that is not read: its columns are taken as they are
        steps_are_read = False
    else:
        steps_are_read = True
    frame = as_frame(data)
    if frame is None:
        return None if steps_are_read else ()
    found = tuple(_categories(frame.get_column(name)) for name in frame.columns)
    if any(own is not None for own in found):
        return found
    return None if steps_are_read else ()


def _categories(column: nw.Series[Any]) -> tuple[Any, ...] | None:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return None
    return tuple(sorted({value for value in column.to_list() if isinstance(value, str)}))


def _gaps(model: Foreign, data: Any, levels: Levels | None) -> tuple[int, ...]:
    """Return the numbers of which the data lack some."""
    frame = as_frame(data)
    if frame is None:
        array = np.asarray(data)
        gone = np.isnan(array) if array.dtype.kind == "f" else np.zeros((0, 0), dtype=bool)
        return tuple(np.flatnonzero(gone.any(axis=0)).tolist())
    known = features_of(model, data) if levels is None else None
    names = frame.columns if known is None else [n for n in known.names if n in frame.columns]
    return tuple(j for j, name in enumerate(names) if _has_gap(frame.get_column(name)))


def _has_gap(column: nw.Series[Any]) -> bool:
    if not column.dtype.is_numeric():
        return False
    return bool(np.isnan(np.asarray(column.to_numpy(), dtype=float)).any())
