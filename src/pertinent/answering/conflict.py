"""Which two of density, class and rules cannot be had together already: asked of the solvers."""

from __future__ import annotations

import numpy as np

from pertinent.answering.blends import nearest_blends
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.pieces import cells_of
from pertinent.proofs import Certificate
from pertinent.setting.answers import Certified
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.implausible import PAIRS, Pair, pair, why_pair
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.setting import Setting
from pertinent.solvers import project


def why_none(setting: Setting, part: Certified, near: FloatArray, limits: Limits) -> Reason:
    """Return why there is no point, by the rules that the proof of one row rests on.

    Parameters
    ----------
    setting : Setting
    part : Certified
        The proof of this one row.
    near : ndarray of shape (n_features,)
        The center; for blends of training points, the sample that decides which.
    limits : tuple of ndarray of shape (n_features,)
    """
    asked, own = part.key, part.certificate
    if setting.within is None:
        region = setting.region(asked, setting.asked_margin)
        return why_infeasible(setting, asked, own, region, limits)
    for kind in PAIRS:
        proof = _impossible(setting, pair(setting, kind, asked, limits), near)
        if proof is not None:
            return why_pair(setting, kind, asked, proof, own, near, limits)
    return why_pair(setting, Why.DENSITY_CLASS_RULES, asked, own, own, near, limits)


def _impossible(setting: Setting, two: Pair, sample: FloatArray) -> Certificate | None:
    """Return a proof that no point has both; None without one."""
    one, (low, high) = sample[None], two.limits
    if two.blends:
        assert isinstance(setting.within, Hulls)
        args = (one, low[None], high[None])
        found, _ = nearest_blends(setting.within, one, two.region, two.owner, setting.weights, args)
    elif any(
        cell.contains(np.clip(cell.anchors, low, high)).any() for cell in cells_of(two.region) or ()
    ):
        return None  # the mean of a mixture is such a point
    else:
        found = project(one, two.region, setting.weights, low[None], high[None])
    return found.certificate if np.isinf(found.believed[0]) else None
