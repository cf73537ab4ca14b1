"""When another answer may stand in for a positive that keeps nothing by choice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from pertinent.geometry.arrays import BoolArray
from pertinent.proofs import OPTIMAL
from pertinent.setting.limits import positive_limits, sufficient_limits
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.results import Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


class Basis(StrEnum):
    """What an answer to "what was enough" rests on."""

    TYPICAL = "typical"  #: the base values: with the others there, these values are enough
    SUFFICIENT = "sufficient"  #: no base values: these are enough whatever the others are
    CONTRAST = "contrast"  #: the typical values of the contrast class
    NEGATIVE = "negative"  #: nothing; what would have changed the prediction says more


@dataclass(frozen=True, eq=False)
class Instead:
    """What is told of one sample instead of an empty positive.

    Parameters
    ----------
    basis : Basis
        Not `TYPICAL`.
    positive : Positives, optional
        Of one sample; None where the explanation rests on the negative.
    place : int
        Place in ``classes`` of the contrast class; -1 where the answer needs none.
    """

    basis: Basis
    positive: Positives | None = None
    place: int = -1


#: How the answer of each kind was asked for.
METHODS = {Basis.SUFFICIENT: Method.SUFFICIENT, Basis.CONTRAST: Method.TWO_PHASE}


def method_of(setting: Setting, basis: Basis) -> Method:
    """Return how an answer is asked for: of a model that is searched, the sample's own values."""
    if setting.by_search and basis is Basis.CONTRAST:
        return Method.STRICT
    return METHODS[basis]


def fixed_by_rules(
    setting: Setting, question: PositiveQuestion, table: Table, method: Method
) -> BoolArray:
    """Return which features can have one value only in a positive, shape (n, n_features).

    That of "sufficient" speaks of every value that the rules allow, whatever is typical.
    """
    sufficient = method is Method.SUFFICIENT
    low, high = (sufficient_limits if sufficient else positive_limits)(setting, table, question)
    return ~setting.features.by_feature(np.broadcast_to(low != high, table.values.shape))


def is_empty(setting: Setting, question: PositiveQuestion, positive: Positives) -> BoolArray:
    """Return which positives stand at the base values, but for what the rules fix.

    The base values get the class already. That of "sufficient" says more: whatever values do.
    """
    if positive.method is Method.SUFFICIENT:
        return np.zeros(len(positive), dtype=bool)
    base = question.in_precision_of(positive.table).baseline
    free = ~fixed_by_rules(setting, question, positive.table, positive.method)
    moved = setting.features.by_feature(positive.values != base)
    return np.asarray(positive.found & ~(moved & free).any(axis=1))


def left_free(setting: Setting, question: PositiveQuestion, positive: Positives) -> BoolArray:
    """Return which features a sufficient positive lets vary, shape (n, n_features)."""
    low, high = sufficient_limits(setting, positive.table, question)
    return np.asarray(setting.features.by_feature(low != high) & ~positive.kept)


def fault(setting: Setting, question: PositiveQuestion, instead: Instead, target: int) -> str:
    """Return why an answer may not stand in for an empty positive; "" if it may.

    Parameters
    ----------
    setting : Setting
    question : PositiveQuestion
        Of the empty positive.
    instead : Instead
        Of one sample.
    target : int
        Place of the class that the sample's negative reaches, or was asked to reach.
    """
    found = instead.positive
    if instead.basis is Basis.NEGATIVE:
        return "" if found is None else "nothing was said to stand in"
    if instead.basis not in METHODS or found is None:
        return "there is no such answer"
    if found.method is not method_of(setting, instead.basis):
        return "it was asked for otherwise"
    if instead.basis is Basis.SUFFICIENT:
        if not setting.may_suffice:
            return "of these texts it is not said what is enough whatever the others are"
        if found.status_code[0] != OPTIMAL:
            return "it is not proved smallest"
        return "" if left_free(setting, question, found).any() else "it leaves nothing free"
    if instead.place < 0 or instead.place != target:
        return "it is about another class than the change"
    own = replace(question, baseline=found.baseline)
    if not found.found[0] or is_empty(setting, own, found)[0]:
        return "it keeps nothing"
    if setting.predict(found.table, found.baseline[None])[0] != instead.place:
        return "its base values are predicted otherwise"
    return ""
