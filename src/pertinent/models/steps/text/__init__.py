"""Texts: a vectorizer that counts words, and a model that is linear in what it makes of them."""

from pertinent.models.steps.text.classifier import PassageClassifier, whole_model
from pertinent.models.steps.text.reading import TextModel, is_text_model

__all__ = ["PassageClassifier", "TextModel", "is_text_model", "whole_model"]
