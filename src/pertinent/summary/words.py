"""Words for numbers, labels and lists, as every view writes them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Any

from pertinent.exceptions import visible
from pertinent.rules.wording import Wording
from pertinent.setting.claims.instead import Basis
from pertinent.setting.question import Method, Norm
from pertinent.setting.ranges import EndKind
from pertinent.tables.words import counted, label_text, listed, percent, plain

__all__ = [
    "Basis",
    "Chance",
    "EndKind",
    "Method",
    "Norm",
    "Said",
    "Wording",
    "counted",
    "label_text",
    "listed",
    "percent",
    "plain",
    "shown",
]


#: Of answers that were found by asking the model.
FOUND = "found, not proved"


class Said(StrEnum):
    """A status in words, as summaries and files hold it.

    Examples
    --------
    >>> from pertinent.summary.words import Said
    >>> "optimal" == Said.OPTIMAL
    True
    """

    OPTIMAL = "optimal"  #: valid, and proved smallest
    FEASIBLE = "feasible"  #: valid, not proved smallest
    INFEASIBLE = "infeasible"  #: proved that there is none
    FAILED = "failed"  #: neither found nor ruled out
    ALREADY = "already"  #: nothing to find: the sample is predicted as asked


class Chance(StrEnum):
    """What a model's own numbers are, as summaries and files name them."""

    PROBABILITY = "probability"  #: of ``predict_proba``
    SCORE = "score"  #: of ``decision_function``
    VALUE = "value"  #: of a regressor's ``predict``


_NUMBERS = (float, int, bool, type(None))


def shown(summary: Any) -> Any:
    """Return a summary for a view: no text in it can do anything to a terminal or a page.

    Names, labels and categories come from tables and files of anybody (see `visible`).
    """
    kind = type(summary)
    if kind is str:
        return summary if summary.isprintable() else visible(summary)
    if kind in _NUMBERS:
        return summary
    if kind is dict:
        return {shown(k): v if type(v) in _NUMBERS else shown(v) for k, v in summary.items()}
    if kind is list or kind is tuple:
        return kind([v if type(v) in _NUMBERS else shown(v) for v in summary])
    if is_dataclass(summary) and not isinstance(summary, type):
        changed: dict[str, Any] = {f.name: shown(getattr(summary, f.name)) for f in fields(summary)}
        return replace(summary, **changed)
    return summary
