"""Trees and forests of scikit-learn that predict numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import Foreign
from pertinent.geometry.ensembles import MOST, Ensemble, EnsembleRegion
from pertinent.geometry.region import Region
from pertinent.models.regressors.ranges import Link, Range
from pertinent.models.regressors.registry import register_regressor
from pertinent.models.steps.pipeline import columns_of, pull_back
from pertinent.models.trees.boosting import gradient_boosting_of, hist_boosting_of
from pertinent.models.trees.forests import forest_of
from pertinent.models.trees.one_tree import boxes_of

#: The least double: no sum is below it.
LEAST = float(-np.finfo(float).max)


def sum_in_range(ensemble: Ensemble, wanted: Range, margin: float) -> EnsembleRegion:
    """Return where the only output of an ensemble lies in a range, as the library adds up.

    At least low: class 1 of two with the threshold low. At most high: class 0 of two with the
    number after high as the threshold. Both: class 1, with an output of at most high.
    """
    ends, tally = wanted.ends, ensemble.tally
    doubt = max(tally.doubt, ends.off * tally.divisor)
    label, most = 1, None
    rivals: tuple[int, ...] = (0,)
    threshold = max(ends.low, LEAST)
    if ends.low == -np.inf and ends.high < np.inf:
        label, rivals, threshold = 0, (1,), float(np.nextafter(ends.high, np.inf))
    elif ends.high < np.inf:
        rivals, most = (0, MOST), ends.high
    tally = replace(tally, threshold=threshold, most=most, doubt=doubt)
    region = EnsembleRegion(replace(ensemble, tally=tally), label, rivals)
    return region.tighten(margin) if margin else region


@register_regressor("sklearn.tree.DecisionTreeRegressor", "sklearn.tree.ExtraTreeRegressor")
def tree_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return the boxes of the leaves with a value in the range."""
    _require_one_output(model)
    values = np.asarray(model.tree_.value, dtype=float)[:, 0, 0]
    return boxes_of(model.tree_, int(model.n_features_in_), wanted.holds(values), margin)


@register_regressor(
    "sklearn.ensemble.RandomForestRegressor", "sklearn.ensemble.ExtraTreesRegressor"
)
def forest_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where the mean of trees lies in the range."""
    _require_one_output(model)
    return sum_in_range(forest_of(model), wanted, margin)


@register_regressor("sklearn.ensemble.GradientBoostingRegressor")
def gradient_boosting_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where gradient boosting predicts within the range."""
    return sum_in_range(gradient_boosting_of(model), wanted, margin)


@register_regressor("sklearn.ensemble.HistGradientBoostingRegressor")
def hist_boosting_in_range(model: Foreign, wanted: Range, margin: float) -> Region:
    """Return where gradient boosting on histograms predicts within the range.

    With a loss for counts (poisson, gamma) the prediction is the exponential of the sum.
    """
    link = model._loss.link
    if type(link).__name__ != "IdentityLink":
        wanted = wanted.through(Link(link.inverse))
    region = sum_in_range(hist_boosting_of(model), wanted, margin)
    return pull_back(region, columns_of(model))


def _require_one_output(model: Foreign) -> None:
    if model.n_outputs_ != 1:
        raise UnsupportedModelError(
            f"This {type(model).__name__} predicts {model.n_outputs_} numbers at once; explain one "
            "number at a time with a regressor of its own."
        )
