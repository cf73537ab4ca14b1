"""Positives and negatives at once: few samples go to the model together with their answers."""

from __future__ import annotations

from functools import partial

from pertinent.geometry.arrays import IntArray
from pertinent.geometry.running import share_of_time
from pertinent.setting.nearest.flow import answered, answered_if_guessed, guess
from pertinent.setting.nearest.negative import (
    beside_already,
    nearest_contrast,
    propose_negatives,
)
from pertinent.setting.nearest.one_row import one_at_once
from pertinent.setting.nearest.positive import propose_positives, two_phase
from pertinent.setting.nearest.search import Search
from pertinent.setting.question import NegativeQuestion, PositiveQuestion
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def both_at_once(
    search: Search,
    setting: Setting,
    table: Table,
    question: PositiveQuestion,
    target: IntArray | None = None,
) -> tuple[Positives, Negatives]:
    """Return two-phase positives and nearest contrasts of a batch.

    Parameters
    ----------
    search : Search
    setting : Setting
    table : Table
        Of n samples.
    question : PositiveQuestion
    target : ndarray of int, shape (n,), optional
        Place of the wanted class of each sample; None for the nearest of all others.
    """
    if len(table) == 1 and target is None:
        alone = one_at_once(search, setting, table, question)
        if alone is not None:
            return alone
    labels = guess(setting, table) if target is None else None
    if labels is not None:
        found = _both(search, setting, table, labels, question, None, guessed=True)
        if found is not None:
            return found
    labels = setting.predict(table)
    if target is not None and (target == labels).any():
        return (
            two_phase(search, setting, table, labels, question),
            beside_already(
                setting, table, labels, NegativeQuestion(target),
                partial(nearest_contrast, search, setting),
            ),
        )  # fmt: skip
    found = _both(search, setting, table, labels, question, target, guessed=False)
    assert found is not None
    return found


def _both(
    search: Search,
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    target: IntArray | None,
    *,
    guessed: bool,
) -> tuple[Positives, Negatives] | None:
    """Return both for samples predicted as ``labels``; None where these were wrongly guessed."""
    allowed = setting.constraints.limits(setting.features, table)
    with share_of_time(0.5):  # a hard positive leaves the negative its time
        positive = propose_positives(search, setting, table, labels, question, allowed)
    contrast = NegativeQuestion(target)
    negative = propose_negatives(search, setting, table, labels, contrast, allowed)
    proposals = [*positive.proposals, negative.found]
    answers = (
        answered_if_guessed(search, setting, proposals, table, labels)
        if guessed
        else answered(search, setting, proposals)
    )
    if answers is None:
        return None
    *phases, found = answers
    return positive.judged(*phases), negative.judged(found)
