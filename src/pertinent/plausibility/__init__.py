"""Explanations that look like data: points where the density of their class is high."""

from pertinent.plausibility.hull import Blend, Hulls
from pertinent.plausibility.mixture import ClassMixture, Densities, PlausibilityWarning
from pertinent.plausibility.spec import Plausibility

__all__ = [
    "Blend",
    "ClassMixture",
    "Densities",
    "Hulls",
    "Plausibility",
    "PlausibilityWarning",
]
