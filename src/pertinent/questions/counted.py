"""Fewest changes where values are discrete, or a region has no cells: the rules count.

`Constraints.max_changes` limits changes in the mixed-integer search, with the tree as proof. So
the fewest changes come from allowing 1, 2, 3, ... of them: the first number that leaves a point
is the smallest, the search in vain with one less proves it, and the point is the closest of its
size. Features that change together count as one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pertinent.answering.searching import SEARCH
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Certified
from pertinent.setting.limits import allowing
from pertinent.setting.nearest.negative import nearest_contrast
from pertinent.setting.question import NegativeQuestion, Norm
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(eq=False)
class Counted:
    """Fewest changes for a batch.

    Attributes
    ----------
    negatives : Negatives
        Points by cost, for the number of changes each sample needs.
    size, bound : ndarray of shape (n,)
        Number of changes, and how many are proved necessary.
    proofs : dict of int to tuple of Certified
        For each number of changes, why it is not enough: certificates of the samples they name.
    """

    negatives: Negatives
    size: FloatArray
    bound: FloatArray
    proofs: dict[int, tuple[Certified, ...]]


def fewest_by_rules(
    prepared: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    most: int | None = None,
) -> Counted:
    """Return the fewest changes, then the closest point of that many.

    Parameters
    ----------
    prepared : Setting
    table : Table
    labels : ndarray of int, shape (n,)
    question : NegativeQuestion
    most : int, optional
        How many changes are allowed; all features by default.
    """
    last = len(prepared.features) if most is None else most
    out = Counted(
        nearest_contrast(SEARCH, allowing(prepared, 1), table, labels, question),
        np.full(len(table), np.nan),
        np.ones(len(table)),
        {},
    )
    for k in range(1, last + 1):
        status = out.negatives.status_code
        new = (status <= FEASIBLE) & np.isnan(out.size)
        out.size[new] = k
        left = np.flatnonzero(np.isnan(out.size))
        # One more is proved necessary only where all below it are.
        none = left[(status[left] == INFEASIBLE) & (out.bound[left] == k)]
        out.bound[none] = k + 1
        out.proofs[k] = tuple(part.among(none, len(table)) for part in out.negatives.certificates)
        if not len(left) or k == last:
            break
        some, part = table.take(left), question.take(left)
        again = nearest_contrast(SEARCH, allowing(prepared, k + 1), some, labels[left], part)
        out.negatives = out.negatives.overwritten(left, again)
    return out


def counted_negatives(
    prepared: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    most: int | None = None,
) -> Negatives:
    """Return negatives by the number of changes, then by cost."""
    found = fewest_by_rules(prepared, table, labels, question, most)
    negatives = found.negatives
    # Not even all features, or as many as are allowed: there is no negative.
    none = np.isnan(found.size) & (negatives.status_code == INFEASIBLE)
    last = len(prepared.features) if most is None else most
    proved = none & (found.bound > last)
    status = np.where(none & ~proved, FAILED, negatives.status_code)
    unproved = (status == OPTIMAL) & (found.bound < found.size)
    status = np.where(unproved, FEASIBLE, status)
    return replace(
        negatives,
        status_code=status.astype(np.int8),
        unique_code=np.full(len(table), -1, dtype=np.int8),
        objective=found.size,
        bound=np.where(proved, np.inf, np.fmin(found.bound, found.size)),
        closeness=negatives.objective,
        closeness_bound=negatives.bound,
        norm=Norm.L0,
        certificates=tuple(part for parts in found.proofs.values() for part in parts),
        closeness_certificates=negatives.certificates,
    )
