"""Every question leaves here: its answer is claimed by `setting.nearest` or `setting.claims`."""

from __future__ import annotations

from functools import partial

from pertinent.answering.searching import SEARCH
from pertinent.api.preparing import be_ready
from pertinent.geometry.arrays import IntArray
from pertinent.questions.fewest_changed import few_changes
from pertinent.questions.fewest_kept import exact
from pertinent.questions.searched import kept_by_search
from pertinent.questions.strict import strict
from pertinent.questions.sufficient.sufficient import sufficient
from pertinent.setting.claims.negatives import stated_negatives
from pertinent.setting.claims.positives import stated_positives
from pertinent.setting.claims.unique import judged_changes, judged_pairs
from pertinent.setting.effort import SEARCHING
from pertinent.setting.judge import noting
from pertinent.setting.nearest.both import both_at_once
from pertinent.setting.nearest.negative import beside_already, nearest_contrast
from pertinent.setting.nearest.positive import two_phase
from pertinent.setting.question import Method, NegativeQuestion, PositiveQuestion
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

SEARCHES = {Method.STRICT: strict, Method.EXACT: exact, Method.SUFFICIENT: sufficient}


def positives_of(
    setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion, method: Method
) -> Positives:
    """Return the positives of samples predicted as ``labels``."""
    be_ready(setting)
    with question.effort.limiting(len(table)):
        if method is Method.TWO_PHASE:
            pair = two_phase(SEARCH, setting, table, labels, question)
            return judged_pairs(setting, question, pair)
        with question.effort.limiting(len(table), SEARCHING), noting() as ledger:
            search = kept_by_search if setting.by_search else SEARCHES[method]
            found = search(setting, table, labels, question)
        stated = stated_positives(setting, table, labels, question, method, found, ledger)
        return judged_pairs(setting, question, stated)


def negatives_of(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion
) -> Negatives:
    """Return the negatives of samples predicted as ``labels``."""
    return beside_already(setting, table, labels, question, partial(_negatives_of, setting))


def _negatives_of(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion
) -> Negatives:
    """Return the negatives of samples of which none is predicted as its target."""
    be_ready(setting)
    with question.effort.limiting(len(table)):
        if question.is_plain:
            nearest = nearest_contrast(SEARCH, setting, table, labels, question)
            return judged_changes(setting, question, nearest)
        with question.effort.limiting(len(table), SEARCHING), noting() as ledger:
            found = few_changes(setting, table, labels, question)
        stated = stated_negatives(setting, table, labels, question, found, ledger)
        return judged_changes(setting, question, stated)


def both_of(
    setting: Setting, table: Table, question: PositiveQuestion, contrast: NegativeQuestion
) -> tuple[Positives, Negatives]:
    """Return two-phase positives and nearest contrasts, asked at once."""
    positive, negative = both_at_once(SEARCH, setting, table, question, contrast.target)
    return (
        judged_pairs(setting, question, positive),
        judged_changes(setting, contrast, negative),
    )
