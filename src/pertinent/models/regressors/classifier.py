"""A regressor and a range as a classifier: a prediction lies below, within or above it.

Everything that is known of classes then holds for ranges: the smallest change that brings the
prediction into the range, what is enough to keep it there, rules, proofs and checks. ``predict`` is
the regressor's own; the range is compared with the number as it is handed out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.region import Region
from pertinent.models import linear
from pertinent.models.registry import (
    estimator_kind,
    predicted_labels,
    register_model,
    require_fitted,
)
from pertinent.models.regressors.linear import adds_up_in_double as linear_in_double
from pertinent.models.regressors.ranges import Range, number_words, range_words, read_range
from pertinent.models.regressors.registry import (
    inner_model,
    is_regressor,
    last_model,
    links_before,
    region_in_range,
)

RANGED = "pertinent.models.regressors.classifier.RangeClassifier"


class RangeClassifier:
    """A regressor as a classifier of its predictions: below, within and above a range.

    Parameters
    ----------
    regressor : fitted regressor
        See `supported_regressors`; of any other, or an object that predicts numbers, answers are
        searched for: ``search=True``.
    low, high : float, optional
        The range, both ends included; None where there is no end. Without both, every number is
        in the range.

    Attributes
    ----------
    classes_ : ndarray of str
        In ascending order what lies below the range, within and above it; those that exist.
    target : str
        The class within the range.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from pertinent.models.regressors import RangeClassifier
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RangeClassifier(Ridge(alpha=0.1).fit(X, y), low=100, high=150)
    >>> model.classes_.tolist()
    ['below 100', '100 to 150', 'above 150']
    >>> model.predict(X[:3]).tolist(), model.values(X[:3]).round().tolist()
    (['above 150', 'below 100', 'above 150'], [200.0, 73.0, 173.0])
    """

    def __init__(self, regressor: Foreign, low: float | None = None, high: float | None = None):
        if not _may_predict_numbers(regressor):
            raise InputError(f"{type(regressor).__name__} is no regressor: it predicts no numbers.")
        require_fitted(regressor)
        require_fitted(last_model(regressor))
        if low is not None or high is not None:
            low, high = read_range((low, high))
        self.regressor = regressor
        self.low, self.high = low, high
        self.target = range_words(low, high)
        parts = {
            f"below {number_words(low)}": None if low is None else (-np.inf, _before(low)),
            self.target: (-np.inf if low is None else low, np.inf if high is None else high),
            f"above {number_words(high)}": None if high is None else (_after(high), np.inf),
        }
        self._parts = {label: ends for label, ends in parts.items() if ends is not None}
        self.classes_: NDArray[Any] = np.array(list(self._parts))

    def __repr__(self) -> str:
        return f"<RangeClassifier of {type(self.regressor).__name__}: {self.target}>"

    @property
    def is_open(self) -> bool:
        """Whether no range was given yet."""
        return self.low is None and self.high is None

    @property
    def n_features_in_(self) -> int:
        """Number of features of the regressor."""
        # CatBoost says 0 of a model from a file or a pickle, and has the names.
        return int(self._known("n_features_in_") or len(self._known("feature_names_")))

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features of the regressor, where it has been trained on names."""
        return np.asarray(self._known("feature_names_in_"))

    def _known(self, name: str) -> Any:
        """Return what the regressor, or the first model inside that says it, says of itself."""
        model: Foreign | None = self.regressor
        while model is not None:
            if hasattr(model, name):
                return getattr(model, name)
            model = inner_model(model)
        raise AttributeError(name)

    def within(self, low: float | None, high: float | None) -> RangeClassifier:
        """Return the same regressor with another range."""
        return RangeClassifier(self.regressor, low, high)

    def range_of(self, label: str) -> Range:
        """Return the numbers that a class holds, as ends that both belong to it."""
        return Range(*self._parts[label])

    def values(self, table: Foreign) -> FloatArray:
        """Return the numbers that the regressor predicts."""
        found = np.asarray(predicted_labels(self.regressor, table), dtype=float)
        if found.ndim != 1:
            raise InputError(
                f"{type(self.regressor).__name__} predicts several numbers at once; explain one "
                "number at a time with a regressor of its own."
            )
        if np.isnan(found).any():
            raise InputError(f"{type(self.regressor).__name__} predicts no number (NaN).")
        return found

    def predict(self, table: Foreign) -> NDArray[Any]:
        """Return the class of each number that the regressor predicts."""
        return self.labels(self.values(table))

    def labels(self, numbers: FloatArray) -> NDArray[Any]:
        """Return the class of each number."""
        place = np.zeros(len(numbers), dtype=np.int64)
        if self.low is not None:
            place += numbers >= self.low
        if self.high is not None:
            place += numbers > self.high
        return np.asarray(self.classes_[place])

    def around(self, value: float, by: float) -> tuple[float, float]:
        """Return what is predicted where what the last model adds up is off by so much."""
        return links_before(self.regressor, Range()).around(value, by)


def _may_predict_numbers(model: Foreign) -> bool:
    """Return whether a model is a regressor, or an object that says no more than its predict."""
    if is_regressor(model):
        return True
    silent = not isinstance(model, type) and estimator_kind(last_model(model)) is None
    return silent and hasattr(model, "predict") and not hasattr(model, "classes_")


def _before(number: float) -> float:
    return float(np.nextafter(number, -np.inf))


def _after(number: float) -> float:
    return float(np.nextafter(number, np.inf))


@register_model(RANGED)
def range_region(model: Foreign, label: Any, margin: float) -> Region:
    """Return where the regressor predicts a number of a class."""
    return region_in_range(model.regressor, model.range_of(label), margin)


def explained(model: Foreign) -> Foreign:
    """Return the model as its user knows it: of a regressor and a range, the regressor."""
    return model.regressor if isinstance(model, RangeClassifier) else model


def as_classifier(model: Foreign) -> Foreign:
    """Return a regressor with an open range as a classifier; any other model as it is."""
    return RangeClassifier(model) if is_regressor(model) else model


def adds_up_in_double(model: Foreign) -> bool:
    """Return whether samples in single precision are added up in double precision."""
    if isinstance(model, RangeClassifier):
        return linear_in_double(model.regressor)
    return linear.adds_up_in_double(model)
