"""Explanations that look like data: points where the density of their class is high."""

from pertinent.density.hull import Blend, Hulls
from pertinent.density.mixture import ClassMixture, Densities, PlausibilityWarning
from pertinent.density.spec import Plausibility

__all__ = [
    "Blend",
    "ClassMixture",
    "Densities",
    "Hulls",
    "Plausibility",
    "PlausibilityWarning",
]
