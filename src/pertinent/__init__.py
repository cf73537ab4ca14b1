"""Contrastive explanations of classifiers: valid or absent, proved, in raw units, fast."""

from pertinent.constraints import Constraints
from pertinent.explainer import Explainer, pertinent_negatives, pertinent_positives
from pertinent.explanation import Explanation, Explanations, Negatives, Positives
from pertinent.models import decision_region, register_model, supported_models
from pertinent.projection import Options

__version__ = "0.1.0"

__all__ = [
    "Constraints",
    "Explainer",
    "Explanation",
    "Explanations",
    "Negatives",
    "Options",
    "Positives",
    "decision_region",
    "pertinent_negatives",
    "pertinent_positives",
    "register_model",
    "supported_models",
]
