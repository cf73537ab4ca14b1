"""Sufficient positives: the fewest features that give the prediction whatever the others do.

A set S of features, kept at the sample's values, is sufficient if every point that agrees with
the sample on S, and lies within the bounds, is predicted as the sample is. For one cell with
separable rows ``f_j(x) <= 0`` the worst case splits over the features: fixing feature i takes

    gain[j, i] = max_v f_ji(v) - f_ji(x_i)

off row j, and S suffices iff the gains of S reach ``f_j(x) + sum_i gain[j, i]`` in every row.
Elsewhere S must hit every *rival*: a point of another class, within the bounds, differs from the
sample in some feature of S. Rivals are found by projection, as long as there are any.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import cells_of, lone_cell
from pertinent.geometry.region import Region
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL, Block, Certificate
from pertinent.proofs.core import WHOLE
from pertinent.proofs.supports.sufficient import RivalSetProofs, SufficientProofs
from pertinent.questions.results import positives_by_number
from pertinent.questions.sufficient.rivals import hit_rivals
from pertinent.questions.sufficient.worst import Suffices, Varying, keep_worst_case
from pertinent.questions.supports.reach import splits_by_feature
from pertinent.questions.verify import doubted
from pertinent.setting.answers import Certified
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import discrete_domain, positive_limits, sufficient_limits
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Is, Kind, Not
from pertinent.setting.results import Positives
from pertinent.setting.setting import Setting
from pertinent.solvers.curved.separable.separable import is_separable
from pertinent.solvers.tolerances import NEARLY_DIAGONAL
from pertinent.tables.table import Table


def sufficient(
    setting: Setting, table: Table, labels: IntArray, question: PositiveQuestion
) -> Positives:
    """Return the fewest features whose values suffice for the prediction.

    The point handed out keeps them and has the others at the baseline, as far as the bounds
    allow: it is one of the points that are all predicted alike.
    """
    _refuse_rules(setting)
    question = question.in_precision_of(table)
    limits = sufficient_limits(setting, table, question)
    domain = discrete_domain(setting, table)
    rest = _at_rest(setting, table, question, *limits)
    varying = Varying(setting, table, -1, *limits, question.effort, domain)
    if len(table) == 1:
        setting = setting.for_one_sample()
        varying = replace(varying, setting=setting, rest=rest)
    n, d = len(table), len(setting.features)
    mask, found = np.zeros((n, d), dtype=bool), np.zeros(n, dtype=bool)
    size = np.zeros(n)
    reason: NDArray[np.object_] = np.full(n, None, dtype=object)
    certificates, none_left = [], []
    for k in np.unique(labels):
        rows = np.flatnonzero(labels == k)
        region = setting.region(Is(int(k)), setting.margin_for(table))
        solve = keep_worst_case if _splits(region, domain) else hit_rivals
        if solve is hit_rivals:
            _refuse_curved(setting, region)
        answer = solve(replace(varying.take(rows), k=int(k)))
        mask[rows], found[rows], reason[rows] = answer.mask, answer.found, answer.reason
        size[rows] = answer.size
        certificates.append(_certified(answer, int(k), rows))
        if answer.none_left is not None:
            none_left.append(Certified(Not(int(k)), rows, answer.none_left))
    kept = setting.features.by_column(mask)
    points = np.where(kept, table.values, rest)
    positives = _result(
        setting, table, labels, question, points, mask, found, size, reason, tuple(certificates)
    )
    return doubted(setting, replace(positives, closeness_certificates=tuple(none_left)))


def _at_rest(
    setting: Setting,
    table: Table,
    question: PositiveQuestion,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    """Return the baseline as far as the bounds allow; a category that they do not stays its own."""
    features = setting.features
    # Where the sample itself breaks a rule, the others still rest where the rules allow it.
    ruled = setting.constraints.limits(features, table)
    low, high = np.maximum(lower, ruled[0]), np.minimum(upper, ruled[1])
    empty = low > high
    near = np.clip(question.baseline, np.where(empty, lower, low), np.where(empty, upper, high))
    if features.is_plain:
        return np.asarray(near)
    categories = np.array([features.is_category(j) for j in range(len(features))], dtype=bool)
    gone = features.by_feature(near != question.baseline) & categories
    near = np.where(features.by_column(gone), table.values, near)
    domain = features.domain()
    return near if domain is None else domain.completed(near)


def _certified(answer: Suffices, k: int, rows: IntArray) -> Certified:
    """Return the proof: the worst case of the class's own rows, or points of other classes."""
    everyone = np.arange(len(rows))
    if answer.rivals is None:
        block = Block(0, everyone, SufficientProofs(answer.size, answer.extra))
        return Certified(Is(k), rows, Certificate(len(rows), (block,)))
    proofs = RivalSetProofs(answer.size, answer.rivals, answer.extra)
    block = Block(WHOLE, everyone, proofs)
    return Certified(Not(k), rows, Certificate(len(rows), (block,)))


def _refuse_rules(setting: Setting) -> None:
    if not setting.may_suffice:
        raise UnsupportedModelError(
            "What is enough whatever the other words are is not said of texts with an l2 norm, and "
            "not where words may be added."
        )
    if setting.constraints.relations or setting.within is not None:
        raise InputError(
            'method="sufficient" lets the other features vary within bounds; relations between '
            "them and plausibility cannot be taken into account. Leave them out."
        )


def _splits(region: Region, domain: Domain | None) -> bool:
    """Whether there is one cell, and its rows are sums over features."""
    cell = lone_cell(region)
    if cell is None or cell.bent:
        return False
    if domain is not None:
        return splits_by_feature(cell, domain)
    return is_separable(cell, NEARLY_DIAGONAL) and not cell.has_bounds


def _refuse_curved(setting: Setting, region: Region) -> None:
    cells = cells_of(region)
    if cells is not None and any(cell.quadratics or cell.exponentials for cell in cells):
        raise UnsupportedModelError(
            f'method="sufficient" cannot be proved for {type(setting.model).__name__}: its '
            "regions have quadratic rows that mix features. It is exact for linear models, "
            "Gaussian naive Bayes, and models with polyhedral or box-shaped cells. "
            'Use method="exact" or "strict" instead.'
        )


def _result(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    points: FloatArray,
    mask: BoolArray,
    found: BoolArray,
    size: FloatArray,
    reason: NDArray[np.object_],
    certificates: tuple[Certified, ...],
) -> Positives:
    rows, right = np.flatnonzero(found), found.copy()
    limits = positive_limits(setting, table, question)
    low, high = (np.broadcast_to(limit, points.shape)[rows] for limit in limits)
    judged = judge_points(
        setting, table.take(rows), points[rows], Kind.IS, labels[rows], (low, high)
    )
    right[rows] = judged.valid
    for j in np.flatnonzero(~judged.valid):
        told = int(j) in judged.broken or not judged.deep[j]
        why = judged.reason(int(j), setting.asked_margin)
        reason[rows[j]] = why if told else Reason(Why.REGION)
    # What the search claims: only what proofs show of it is handed out.
    status = np.where(right, np.where(size >= mask.sum(axis=1), OPTIMAL, FEASIBLE), FAILED)
    status[~right & np.isinf(size)] = INFEASIBLE
    values = np.full(points.shape, np.nan)
    values[rows] = np.where(judged.valid[:, None], judged.points, np.nan)
    return positives_by_number(
        setting,
        table,
        labels,
        question,
        Method.SUFFICIENT,
        values,
        mask,
        status,
        size,
        reasons=reason,
        unique=np.full(len(table), -1),
        certificates=certificates,
    )
