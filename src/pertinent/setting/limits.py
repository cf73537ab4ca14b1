"""Between which values an answer may lie, column by column, and which values there are.

Limits are the rules' own, narrowed by what the question asks. They are what a solver searches,
what a proof speaks of and what the judge looks at, so they are made in one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.domain import Domain, Lattice
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.task import distance
from pertinent.proofs.cases.narrowing import Boxes, narrow
from pertinent.proofs.supports.fewest_mixed import is_discrete
from pertinent.setting.margins import NEARLY_FREE
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.setting.setting import Setting
from pertinent.tables.features import Features
from pertinent.tables.table import Table, values_of


def positive_limits(
    setting: Setting,
    table: Table | FloatArray,
    question: PositiveQuestion,
    allowed: Limits | None = None,
) -> Limits:
    """Return the allowed range of phase 1: a single row where it does not depend on the sample."""
    limits = allowed or setting.constraints.limits(setting.features, table)
    return narrowed(limits, beyond_rules(setting, table, question))


def beyond_rules(
    setting: Setting, table: Table | FloatArray, question: PositiveQuestion
) -> Limits | None:
    """Return what a question allows beyond the rules; None if everything."""
    if not question.between:
        return None
    samples, (first, last) = values_of(table), base_ends(setting, question)
    (low, _), (_, high) = (setting.features.between(samples, end) for end in (first, last))
    return low, high


def resting(setting: Setting, question: PositiveQuestion) -> FloatArray:
    """Return the number that is handed out as each base value, shape (n_columns,).

    It is the base value. In files of before, steps in single precision are decimal numbers, and a
    base value is not on them: the number on the steps is rounded to it when it is handed out.
    """
    if not setting.constraints.speaks_of_values or not question.in_binary:
        return question.baseline
    numbers = question.baseline.copy()
    for j, steps in setting.constraints.given_lattice(setting.features).items():
        number = steps.nearest(question.baseline[j : j + 1])
        if number.astype(np.float32) == question.baseline[j]:
            numbers[j] = number[0]
    return numbers


def base_ends(setting: Setting, question: PositiveQuestion) -> Limits:
    """Return the lower and the higher of each base value and the number handed out as it."""
    numbers = resting(setting, question)
    return np.minimum(numbers, question.baseline), np.maximum(numbers, question.baseline)


def narrowed(limits: Limits, beyond: Limits | None) -> Limits:
    """Return the limits of the rules, narrowed by what the question allows beyond them."""
    if beyond is None:
        return limits
    return np.maximum(limits[0], beyond[0]), np.minimum(limits[1], beyond[1])


def turned_off(setting: Setting, points: FloatArray, question: PositiveQuestion) -> BoolArray:
    """Return the columns of the features that are turned off.

    A category is on or off as a whole: all columns of its group, or none.
    """
    features = setting.features
    off = ~(away_from_base(features, points, question) | np.isnan(points))  # NaN: there is none
    return off if features.is_plain else ~features.by_column(features.by_feature(~off))


def away_from_base(features: Features, points: FloatArray, question: PositiveQuestion) -> BoolArray:
    """Return which columns of points are turned on: farther from the baseline than ``off_tol``.

    The tolerance is one of numbers: another category, or a missing value, is no small distance.
    """
    away = np.abs(points - question.baseline)
    on = away > question.off_tol
    if question.off_tol and not features.is_plain:
        for group in (*features.groups, np.array(list(features.marks.values()), dtype=np.int64)):
            on[..., group] = away[..., group] > 0.0
    return np.asarray(on)


def held_limits(
    setting: Setting,
    lower: FloatArray,
    upper: FloatArray,
    question: PositiveQuestion,
    held: BoolArray,
) -> Limits:
    """Return the allowed range of phase 2: what is turned off stays off, the others are free.

    Eq. 6: ``|x_i - b_i| <= off_tol`` for features that are off, as far as the rules allow. Columns
    of categories stay at the baseline, whatever the tolerance.
    """
    base, tol = question.baseline, question.off_tol
    if not tol:
        first, last = base_ends(setting, question)
        return np.where(held, first, lower), np.where(held, last, upper)
    ends = [base - tol, base + tol]
    for k, beyond in enumerate((base - ends[0] > tol, ends[1] - base > tol)):  # by rounding
        ends[k] = np.where(beyond, np.nextafter(ends[k], base), ends[k])
    marks = np.array(list(setting.features.marks.values()), dtype=np.int64)
    for group in (*setting.features.groups, marks):
        ends[0][group] = ends[1][group] = base[group]
    low = np.where(held, np.maximum(lower, ends[0]), lower)
    return low, np.where(held, np.minimum(upper, ends[1]), upper)


@dataclass(frozen=True, eq=False)
class SecondPhase:
    """Eq. 6 for the samples that hold the same features.

    Parameters
    ----------
    rows : ndarray of int, shape (m,)
    setting : Setting
        Its weights are those of phase 2.
    centers : ndarray of shape (m, n_features)
    limits : tuple of ndarray of shape (m, n_features)
    spent : ndarray of shape (m,)
        What no answer can cost less for the features that are held: no part of eq. 8.
    """

    rows: IntArray
    setting: Setting
    centers: FloatArray
    limits: Limits
    spent: FloatArray


def cost_at_rest(
    setting: Setting, question: PositiveQuestion, samples: FloatArray, held: BoolArray
) -> FloatArray:
    """Return what features cost that are held at the baseline."""
    return distance(samples, question.baseline, setting.weights, only=held)


def second_phases(
    setting: Setting,
    question: PositiveQuestion,
    samples: FloatArray,
    limits: Limits,
    held: BoolArray,
) -> Iterator[SecondPhase]:
    """Yield what phase 2 asks, for samples that hold the same features together.

    Without a tolerance, what is held stands at the baseline and costs the same whatever the answer
    is. With one it may move within it at no cost. Solvers want positive weights: it gets
    `NEARLY_FREE` of its own, counted from the baseline, which is what a bound may miss by.
    """
    low, high = held_limits(setting, *limits, question, held)
    low, high = np.broadcast_to(low, samples.shape), np.broadcast_to(high, samples.shape)
    weights = setting.weights
    if not question.off_tol:
        spent = cost_at_rest(setting, question, samples, held)
        yield SecondPhase(np.arange(len(samples)), setting, samples, (low, high), spent)
        return
    patterns, place = np.unique(held, axis=0, return_inverse=True)
    for k, off in enumerate(patterns):
        rows = np.flatnonzero(place.reshape(-1) == k)
        free = np.where(off, NEARLY_FREE * weights, weights)
        own = low[rows], high[rows]
        base = np.minimum(np.maximum(question.baseline, own[0]), own[1])
        centers = np.where(off, base, samples[rows])
        farthest = np.maximum(own[1] - base, base - own[0])
        most = (free * np.where(off, farthest, 0.0)).sum(axis=1)
        yield SecondPhase(rows, setting.weighing(free), centers, own, most)


def negative_limits(
    setting: Setting, table: Table | FloatArray, untouched: BoolArray | None = None
) -> Limits:
    """Return the allowed range of each sample's negative."""
    lower, upper = setting.constraints.limits(setting.features, table)
    if untouched is None:
        return lower, upper
    samples = values_of(table)
    untouched = setting.features.by_column(untouched)
    low = np.where(untouched, np.maximum(lower, samples), lower)
    return low, np.where(untouched, np.minimum(upper, samples), upper)


def strict_limits(
    setting: Setting, table: Table, question: PositiveQuestion
) -> tuple[FloatArray, FloatArray]:
    """Return the allowed range: what is confined to whole numbers cannot rest elsewhere."""
    lower, upper = setting.constraints.limits(setting.features, table)
    steps = {int(j): Lattice(0) for j in table.booleans}
    steps |= table.steps_held(setting.constraints.given_lattice(setting.features))
    base = resting(setting, question)
    stay = [j for j, grid in steps.items() if not grid.has(base[[j]]).all()]
    if not stay:
        return lower, upper
    lower, upper = (np.array(np.broadcast_to(s, table.values.shape)) for s in (lower, upper))
    lower[:, stay] = np.maximum(lower[:, stay], table.values[:, stay])
    upper[:, stay] = np.minimum(upper[:, stay], table.values[:, stay])
    return lower, upper


def without_value(setting: Setting, table: Table, question: PositiveQuestion) -> BoolArray:
    """Return the features that may neither keep the sample's value nor rest at the baseline."""
    question = question.in_precision_of(table)
    lower, upper = strict_limits(setting, table, question)
    base, own = question.baseline, table.values
    off_base = np.abs(np.clip(base, lower, upper) - base) > question.off_tol
    off_own = (own < lower) | (own > upper)
    by_feature = setting.features.by_feature
    return by_feature(off_base) & by_feature(off_own)


def sufficient_limits(
    setting: Setting, table: Table, question: PositiveQuestion
) -> tuple[FloatArray, FloatArray]:
    """Return the range in which features may vary: the rules', and else that of the data.

    Numbers on a lattice and categories: what of that range is allowed.
    """
    features, samples = setting.features, table.values
    limits = setting.constraints.limits(features, table)
    lower, upper = (np.array(np.broadcast_to(limit, samples.shape)) for limit in limits)
    # Each column of a category is 0 or 1; those of truth values are limited so already.
    binary = [int(c) for group in features.groups for c in group]
    lower[:, binary] = np.maximum(lower[:, binary], 0.0)
    upper[:, binary] = np.minimum(upper[:, binary], 1.0)
    if question.ranges is not None:
        _open_ends(setting, lower, upper)
        lower = np.where(np.isinf(lower), question.ranges[0], lower)
        upper = np.where(np.isinf(upper), question.ranges[1], upper)
    lower[:, features.hidden], upper[:, features.hidden] = -np.inf, np.inf
    open_ = (np.isinf(lower) | np.isinf(upper)).any(axis=0) & ~features.hidden
    if open_.any():
        names = [features.names[features.owner[j]] for j in np.flatnonzero(open_)[:10]]
        raise InputError(
            'method="sufficient" asks what the other features can do within their bounds, and '
            f"these have none: {names}. Pass data=X_train to take their range from the data, or "
            "Constraints(bounds={...})."
        )
    # The sample itself is always among what may be.
    lower, upper = np.minimum(lower, samples), np.maximum(upper, samples)
    domain = discrete_domain(setting, table)
    if domain is None:
        return lower, upper
    state = np.zeros((len(table), 0), dtype=np.int8)
    tight, _ = narrow(domain, Boxes(np.arange(len(table)), lower, upper, state))
    return tight.lower, tight.upper


def _open_ends(setting: Setting, lower: FloatArray, upper: FloatArray) -> None:
    """Take back, in place, the ends at which a logarithm and the like is defined: no rules."""
    features = setting.features
    ruled = {features.index(name) for name in setting.constraints.bounds}
    for j, least, most in features.ends:
        if j not in ruled:
            column = features.first[j]
            lower[lower[:, column] == least, column] = -np.inf
            upper[upper[:, column] == most, column] = np.inf


def discrete_domain(setting: Setting, table: Table) -> Domain | None:
    """Return which values are allowed, rules of change aside; None where any number will do."""
    domain = setting.domain_of(table, changes=False)
    return domain if is_discrete(domain) else None


def is_mixed(setting: Setting, table: Table) -> bool:
    """Whether values are discrete, features bound together, or regions no unions of cells.

    Changes are then counted by the rules: a search over sets of features looks at cells.
    """
    rules = setting.constraints
    discrete = not setting.features.is_plain or rules.lattice(setting.features)
    return bool(discrete or rules.together or len(table.booleans) or not setting.has_cells)


def counts_by_rules(setting: Setting, table: Table, kind: Kind, labels: IntArray) -> bool:
    """Whether ``max_changes`` is a rule of the search, rather than a limit of sets of features."""
    counted = setting.constraints.max_changes is not None
    if counted or is_mixed(setting, table) or setting.within is not None:
        return True
    return not has_cells(setting, kind, labels)


def has_cells(setting: Setting, kind: Kind, labels: IntArray) -> bool:
    """Whether the regions asked for are unions of cells."""
    keys = (RegionKey(kind, int(k)) for k in np.unique(labels))
    regions = (setting.region(key, setting.asked_margin) for key in keys)
    return all(cells_of(region) is not None for region in regions)


def allowing(setting: Setting, changes: int) -> Setting:
    """Return the same with at most so many changes."""
    return setting.under(replace(setting.constraints, max_changes=changes))


def owner_of(setting: Setting) -> IntArray | None:
    """Return the feature of each column, None where each has one of its own."""
    return None if setting.features.is_plain else setting.features.owner
