"""A further answer beside the best one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent._typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another set of features that does it, next in the order of the objective.

    Attributes
    ----------
    features : ndarray of bool, shape (n_features,)
        Features that are kept (positives) or changed (negatives).
    values : ndarray of shape (n_features,)
        The point, in the model's order of features; it passed the model's ``predict``.
    objective : float
        Number of features for exact positives and ``norm="l0"``, else weighted L1.
    closeness : float
        Weighted L1 over the features, the second objective; equal to ``objective`` for
        negatives in weighted L1.
    proved : bool
        Whether every set of features not listed before, and not containing one that is, has
        been proved no better.
    label : int
        Place in ``classes`` of the class the point is predicted as.
    """

    features: BoolArray
    values: FloatArray
    objective: float
    closeness: float
    proved: bool
    label: int

    def __repr__(self) -> str:
        which = ", ".join(str(j) for j in np.flatnonzero(self.features))
        word = "proved" if self.proved else "not proved"
        return f"<Alternative: features {{{which}}}, objective {self.objective:.6g}, {word}>"
