"""Contrastive explanations of classifiers: valid or absent, proved, in raw units, fast.

Names are imported when they are first asked for, so that checking a stored explanation loads no
solver.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pertinent import _moved

if TYPE_CHECKING:
    from pertinent.api.explainer import Explainer
    from pertinent.api.explanation import Explanation, Explanations
    from pertinent.api.functions import pertinent_negatives, pertinent_positives
    from pertinent.api.text import TextExplainer
    from pertinent.checking import check
    from pertinent.density import Blend, Plausibility, PlausibilityWarning
    from pertinent.models import decision_region, register_model, supported_models
    from pertinent.models.regressors import RangeClassifier, supported_regressors
    from pertinent.models.steps.walk import register_transform
    from pertinent.rules.constraints import Constraints
    from pertinent.rules.wording import Wording
    from pertinent.setting.options import Options
    from pertinent.setting.results import Negatives, Positives
    from pertinent.summary.stored import json_schema

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
    "RangeClassifier",
    "TextExplainer",
    "Wording",
    "check",
    "decision_region",
    "json_schema",
    "pertinent_negatives",
    "pertinent_positives",
    "register_model",
    "register_transform",
    "supported_models",
    "supported_regressors",
]

_NAMES = {
    "api.explainer": ("Explainer",),
    "api.explanation": ("Explanation", "Explanations"),
    "api.functions": ("pertinent_negatives", "pertinent_positives"),
    "api.text": ("TextExplainer",),
    "checking": ("check",),
    "density": ("Blend", "Plausibility", "PlausibilityWarning"),
    "models": ("decision_region", "register_model", "supported_models"),
    "models.regressors": ("RangeClassifier", "supported_regressors"),
    "models.steps.walk": ("register_transform",),
    "rules.constraints": ("Constraints",),
    "rules.wording": ("Wording",),
    "setting.options": ("Options",),
    "setting.results": ("Negatives", "Positives"),
    "summary.stored": ("json_schema",),
}
_HOME = {name: module for module, names in _NAMES.items() for name in names}

_moved.install()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _moved.MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
