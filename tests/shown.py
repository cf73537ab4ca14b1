"""What the certificates of answers prove, recomputed from the model: shorthands for tests."""

from pertinent.setting.claims.negatives import shown_negatives
from pertinent.setting.claims.positives import shown_positives
from pertinent.setting.question import NegativeQuestion


def proved_of_negatives(setting, negatives, **asked):
    """Return what is proved of the objective, and of the closeness."""
    shown = shown_negatives(setting, NegativeQuestion(norm=negatives.norm, **asked), negatives)
    return shown.few.bound, shown.near.bound


def proved_of_positives(setting, question, positives):
    """Return what is proved of the objective, and of the closeness."""
    shown = shown_positives(setting, question, positives)
    return shown.few.bound, shown.near.bound
