"""Contrastive explanations of classifiers: valid or absent, proved, in raw units, fast."""

from pertinent.checking import check
from pertinent.constraints import Constraints
from pertinent.explainer import Explainer
from pertinent.explanation import Explanations, Negatives, Positives
from pertinent.models import decision_region, register_model, supported_models
from pertinent.models.transforms import register_transform
from pertinent.plausibility import Blend, Plausibility, PlausibilityWarning
from pertinent.projection import Options
from pertinent.questions import pertinent_negatives, pertinent_positives
from pertinent.views.single import Explanation
from pertinent.views.stored import json_schema
from pertinent.views.words import Wording

__version__ = "0.1.0"

__all__ = [
    "Blend",
    "Constraints",
    "Explainer",
    "Explanation",
    "Explanations",
    "Negatives",
    "Options",
    "Plausibility",
    "PlausibilityWarning",
    "Positives",
    "Wording",
    "check",
    "decision_region",
    "json_schema",
    "pertinent_negatives",
    "pertinent_positives",
    "register_model",
    "register_transform",
    "supported_models",
]
