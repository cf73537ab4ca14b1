"""Sums of trees: one form for the ensembles of all libraries, and the regions of their classes."""

from pertinent.geometry.ensembles.form import MOST, Ensemble, Leaves, Tally, Trees, summation_error
from pertinent.geometry.ensembles.region import EnsembleRegion, as_ensemble

__all__ = [
    "MOST",
    "Ensemble",
    "EnsembleRegion",
    "Leaves",
    "Tally",
    "Trees",
    "as_ensemble",
    "summation_error",
]
