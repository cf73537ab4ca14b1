"""Every question leaves here: searched for, then stated by `setting.claims`."""

from __future__ import annotations

from pertinent.geometry.arrays import IntArray
from pertinent.questions.fewest_changed import few_changes
from pertinent.questions.fewest_kept import exact
from pertinent.questions.negative import nearest_contrast
from pertinent.questions.positive import two_phase
from pertinent.questions.strict import strict
from pertinent.questions.sufficient.sufficient import sufficient
from pertinent.setting.claims.negatives import stated_negatives
from pertinent.setting.claims.positives import stated_positives
from pertinent.setting.judge import noting
from pertinent.setting.question import Method, NegativeQuestion, PositiveQuestion
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

POSITIVE_METHODS = {
    Method.TWO_PHASE: two_phase,
    Method.STRICT: strict,
    Method.EXACT: exact,
    Method.SUFFICIENT: sufficient,
}


def is_formula(setting: Setting, table: Table) -> bool:
    """Whether a nearest point is a formula, whose bound was recomputed from its proof.

    To decide it again here would take about as long as the answer; no search has pruned anything.
    """
    return setting.has_closed_form and not len(table.booleans)


def positives_of(
    setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion, method: Method
) -> Positives:
    """Return the positives of samples predicted as ``labels``."""
    if method is Method.TWO_PHASE and is_formula(setting, table):
        return two_phase(setting, table, labels, question)
    with noting() as ledger:
        found = POSITIVE_METHODS[method](setting, table, labels, question)
    return stated_positives(setting, table, labels, question, method, found, ledger)


def negatives_of(
    setting: Setting, table: Table, labels: IntArray, question: NegativeQuestion
) -> Negatives:
    """Return the negatives of samples predicted as ``labels``."""
    if question.is_plain and is_formula(setting, table):
        return nearest_contrast(setting, table, labels, question)
    solve = nearest_contrast if question.is_plain else few_changes
    with noting() as ledger:
        found = solve(setting, table, labels, question)
    return stated_negatives(setting, table, labels, question, found, ledger)
