"""A further answer beside the best one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray

#: Two costs closer than this, relatively, are a tie.
TIE = 1e-9
UNKNOWN, SEVERAL, UNIQUE = -1, 0, 1


def uniqueness(
    optimal: bool,
    objective: float,
    closeness: float,
    alternatives: tuple[Alternative, ...],
    within: int = UNIQUE,
) -> int:
    """Return whether an answer is the only best one, as far as its alternatives tell.

    Parameters
    ----------
    optimal : bool
    objective, closeness : float
    alternatives : tuple of Alternative
        The next best sets of features.
    within : int
        Whether the point is the only best one of its own set of features.
    """
    if not optimal:
        return UNKNOWN
    if within == SEVERAL or any(a.ties(objective, closeness) for a in alternatives):
        return SEVERAL
    # No feature kept or changed: there is one such point, and every other set is larger.
    none = objective == 0 and closeness == 0
    return within if none or (alternatives and alternatives[0].proved) else UNKNOWN


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

    def ties(self, objective: float, closeness: float) -> bool:
        """Return whether an answer of this objective and closeness is no better."""
        near = TIE * (1.0 + abs(closeness))
        return self.objective <= objective + near and self.closeness <= closeness + near

    def __repr__(self) -> str:
        which = ", ".join(str(j) for j in np.flatnonzero(self.features))
        word = "proved" if self.proved else "not proved"
        return f"<Alternative: features {{{which}}}, objective {self.objective:.6g}, {word}>"
