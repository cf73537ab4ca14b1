"""What the reader calls features, units and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pertinent.rules.words import Speech
from pertinent.tables.words import label_text


@dataclass(frozen=True)
class Wording:
    """How the views name things; it changes no answer.

    Parameters
    ----------
    names : mapping of feature to str
        What to call a feature, e.g. ``{"time": "loan term"}``.
    units : mapping of feature to str
        Written after its values, e.g. ``{"time": "months"}``.
    labels : mapping of label to str
        What to call a class, e.g. ``{0: "refused"}``.
    subject : str
        What one sample is.

    Examples
    --------
    >>> from pertinent import Wording
    >>> Wording(units={"time": "months"}, subject="applicant").subject
    'applicant'
    """

    names: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[Any, str] = field(default_factory=dict)
    subject: str = "case"

    def feature(self, name: str) -> str:
        """Return what the reader calls a feature."""
        return self.names.get(name, name.replace("_", " "))

    def label(self, label: Any) -> str:
        """Return what the reader calls a class."""
        return self.labels.get(label) or label_text(label)

    def speech(self, names: Sequence[str]) -> Speech:
        """Return how sentences speak of these features and of classes.

        Two features that are called the same keep their own names: a rule must say which one it
        means.

        Examples
        --------
        >>> from pertinent import Wording
        >>> speech = Wording(names={"time": "loan term"}).speech(("time", "loan_amount"))
        >>> speech.feature("time"), speech.feature(1), speech.feature("unknown")
        ('loan term', 'loan amount', 'unknown')
        """
        texts = [self.feature(name) for name in names]
        known = {
            name: text if texts.count(text) == 1 else name
            for name, text in zip(names, texts, strict=True)
        }

        def called(feature: str | int) -> str:
            name = names[feature] if isinstance(feature, int) else str(feature)
            return known.get(name, name)

        return Speech(called, self.label, in_full=True)
