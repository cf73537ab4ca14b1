"""What is shown, and so claimed, of negatives."""

from __future__ import annotations

import numpy as np

from pertinent.density.measure import measure
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX
from pertinent.geometry.running import is_over
from pertinent.geometry.task import distance
from pertinent.rules.obeyed import broken_rules
from pertinent.setting.claims.about import Goal, Subject
from pertinent.setting.claims.alternatives import Listed, Order, some_limits, with_order
from pertinent.setting.claims.bounds import (
    bounds_of,
    is_of_sets,
    number_of_changes,
    search_gaps,
    size_of_changes,
)
from pertinent.setting.claims.shown import (
    Measure,
    Shown,
    accepted,
    gaps_of,
    measured,
    of_samples,
    stated,
    within,
)
from pertinent.setting.judge import Ledger
from pertinent.setting.limits import allowing, counts_by_rules, negative_limits
from pertinent.setting.margins import ROUNDED
from pertinent.setting.question import NegativeQuestion, Norm
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Alternative, Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def stated_negatives(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: NegativeQuestion,
    found: Negatives,
    ledger: Ledger,
) -> Negatives:
    """Return negatives with what may be claimed of them.

    Parameters
    ----------
    setting : Setting
    table : Table
        Of n samples.
    labels : ndarray of int, shape (n,)
        What the samples are predicted as.
    question : NegativeQuestion
    found : Negatives
        As the search hands them out.
    ledger : Ledger
        The points that the judge accepted.
    """
    found = of_samples(found, table, labels, norm=question.norm, classes=setting.classes)
    shown = shown_negatives(setting, question, found, ledger)
    reached = np.where(shown.good, shown.predicted, -1)
    place = reached if question.target is None else question.target
    return stated(
        setting,
        found,
        shown,
        changed=shown.good[:, None] & setting.features.by_feature(found.values != table.values),
        target_place=place,
        alternatives=_alternatives(setting, question, found, shown, ledger),
        **_densities(setting, place, np.where(shown.good[:, None], found.values, np.nan)),
    )


def _densities(setting: Setting, place: IntArray, points: FloatArray) -> dict[str, FloatArray]:
    """Return how dense points are in their classes, whichever search found them."""
    log_density, threshold, percentile = measure(setting.within, place, points)
    if log_density is None or threshold is None or percentile is None:
        return {}
    names = ("log_density", "density_threshold", "density_percentile")
    return dict(zip(names, (log_density, threshold, percentile), strict=True))


def shown_negatives(
    setting: Setting, question: NegativeQuestion, found: Negatives, ledger: Ledger | None = None
) -> Shown:
    """Return what the points and the certificates of negatives show.

    Parameters
    ----------
    setting : Setting
    question : NegativeQuestion
    found : Negatives
        Their table and labels are those that were asked about.
    ledger : Ledger, optional
        The points that the judge accepted; without it every point is taken as it is.
    """
    samples = found.table.values
    kind, wanted = _asked(question, found)
    limits = negative_limits(setting, found.table, question.untouched)
    good, place = accepted(found, kind, wanted, limits, ledger)
    good &= _changes_few(setting, question, found.values, samples)
    if ledger is not None:
        good &= _as_in_data(setting, found.table, found.values)
    subject = Subject(setting, samples, kind, wanted)
    if found.norm is Norm.L0:
        count = np.where(good, changes_of(setting, found.values, samples), np.nan)
        return Shown(*_few_negatives(subject, question, found, limits, count), good, place)
    near = _near_negatives(subject, question, found, limits)
    return Shown(near, near, good, place)


def _asked(question: NegativeQuestion, found: Negatives) -> tuple[Kind, IntArray]:
    return (Kind.NOT, found.label) if question.target is None else (Kind.IS, question.target)


def _alternatives(
    setting: Setting, question: NegativeQuestion, found: Negatives, shown: Shown, ledger: Ledger
) -> tuple[tuple[Alternative, ...], ...]:
    """Return the alternatives whose points the judge accepted, with what these show."""
    listed = Listed.of(found)
    if not len(listed.rows):
        return found.alternatives
    rows, points, samples = listed.rows, listed.points, found.table.values[listed.rows]
    kind, wanted = _asked(question, found)
    place = ledger.predicted(points, samples, kind, wanted[rows])
    limits = negative_limits(setting, found.table, question.untouched)
    good = shown.good[rows] & (place >= 0) & within(points, some_limits(limits, found, rows))
    good &= _changes_few(setting, question, points, samples)
    good &= _as_in_data(setting, found.table.take(rows), points)
    features = setting.features.by_feature(points != samples)
    size = distance(points, samples, setting.weights)
    count = features.sum(axis=1) if found.norm is Norm.L0 else size
    return listed.stated(good, features, count, size, place)


def in_proved_order(setting: Setting, question: NegativeQuestion, found: Negatives) -> Negatives:
    """Return negatives that say "next best" of alternatives only where proofs at hand show it."""
    said = [any(one.proved for one in others) for others in found.alternatives]
    known: list[BoolArray | None] = [None] * len(said)
    rows = np.flatnonzero(np.array(said, dtype=bool))
    if len(rows) and not is_over():
        shown = next_best(setting, question.take(rows), found.take(rows))
        for i, of_row in zip(rows.tolist(), shown, strict=True):
            known[i] = of_row
    return with_order(found, known)


def next_best(
    setting: Setting, question: NegativeQuestion, found: Negatives
) -> list[BoolArray | None]:
    """Return which alternatives of each negative are shown to be the next best.

    None where no proofs of that are at hand: where changes are counted, or nobody kept them.
    """
    known: list[BoolArray | None] = [None] * len(found)
    rows = np.flatnonzero(_has_proofs_of_order(setting, question, found))
    if not len(rows):
        return known
    some, part = found.take(rows), question.take(rows)
    table = some.table
    kind, wanted = _asked(part, some)
    limits = negative_limits(setting, table, part.untouched)
    order = Order(
        with_its_limit(setting, question),
        table,
        Subject(setting, table.values, kind, wanted),
        limits,
    )
    own = setting.features.by_feature(some.values != table.values)
    for i, shown in zip(rows.tolist(), order.next_best(own, some.alternatives), strict=True):
        known[i] = shown
    return known


def _has_proofs_of_order(
    setting: Setting, question: NegativeQuestion, found: Negatives
) -> BoolArray:
    """Return of which negatives somebody kept proofs, of distances, about the order."""
    kept = np.array([any(one.why for one in others) for others in found.alternatives], dtype=bool)
    if found.norm is Norm.L0:
        return np.zeros_like(kept)
    if question.max_changes is not None:
        kind, wanted = _asked(question, found)
        for i in np.flatnonzero(kept):
            here = np.array([i])
            kept[i] = counts_by_rules(setting, found.table.take(here), kind, wanted[here])
    return kept


def _near_negatives(
    subject: Subject, question: NegativeQuestion, found: Negatives, limits: Limits
) -> Measure:
    """Look at the smallest changes, by their distance."""
    setting, table, samples = subject.setting, found.table, subject.samples
    most, counted = fewer_changes(setting, question), question.max_changes is not None
    by_rules = counted and counts_by_rules(setting, table, subject.kind, subject.labels)
    rules = allowing(setting, most) if by_rules else setting
    domain = rules.domain_of(table, changes=True)
    parts, foreign = subject.among(found.certificates, Goal.DISTANCE)
    gap = gaps_of(setting, parts, domain is not None and domain.confines, len(samples))
    bound = bounds_of(rules, parts, samples, limits, domain)
    if counted:
        sets, _ = subject.among(found.certificates, Goal.COST, least=most)
        either = Goal.DISTANCE, Goal.COST
        foreign = subject.among(found.certificates, *either, least=most)[1]
        whole = setting.domain_of(table, changes=False)
        np.maximum(bound, bounds_of(setting, sets, samples, limits, whole), out=bound)
        for part in sets:
            gap[part.rows] = search_gaps(setting, [part], max(question.effort.gap, GAP_CONVEX))
        parts = (*parts, *sets)
    single = table.single_precision
    at = (found.values, samples, limits, bound, found.bound)
    return measured(setting, parts, *at, single=single, gap=gap, foreign=foreign)


def _few_negatives(
    subject: Subject,
    question: NegativeQuestion,
    found: Negatives,
    limits: Limits,
    count: FloatArray,
) -> tuple[Measure, Measure]:
    """Look at the changes of the fewest features."""
    setting, table = subject.setting, found.table
    size = distance(found.values, subject.samples, setting.weights)
    few, foreign = subject.among(found.certificates, Goal.SIZE, Goal.DISTANCE)
    close = found.closeness_certificates
    near, odd = subject.among(close, Goal.COST, Goal.DISTANCE, least=count)
    number = number_of_changes(setting, few, table, limits)
    cost = size_of_changes(setting, near, table, limits, count)
    none, gap = number > fewer_changes(setting, question), GAP_NONCONVEX
    if is_of_sets(near):
        gap = search_gaps(setting, few, max(gap, question.effort.gap))
    number, cost = np.where(none, np.inf, number), np.where(none, np.inf, cost)
    closed = cost >= size * (1 - gap) - ROUNDED
    return (
        Measure(count, number, number >= count, parts=few, foreign=foreign),
        Measure(size, cost, closed, parts=near, foreign=odd),
    )


def fewer_changes(setting: Setting, question: NegativeQuestion) -> int:
    """Return how many features may change by the question and by the rules; at most all."""
    asked = (setting.constraints.max_changes, question.max_changes, len(setting.features))
    return min(most for most in asked if most is not None)


def with_its_limit(setting: Setting, question: NegativeQuestion) -> Setting:
    """Return the setting with how many features may change, as the question asks, for a rule."""
    if question.max_changes is None:
        return setting
    return allowing(setting, fewer_changes(setting, question))


def changes_of(setting: Setting, points: FloatArray, samples: FloatArray) -> IntArray:
    """Return how many features each point changes; those that change together count as one."""
    different = setting.features.by_feature(points != samples)
    for group in setting.constraints.together:
        places = setting.features.indices(group)
        different[:, places[0]] = different[:, places].any(axis=1)
        different[:, places[1:]] = False
    return np.asarray(different.sum(axis=1))


def _changes_few(
    setting: Setting, question: NegativeQuestion, points: FloatArray, samples: FloatArray
) -> BoolArray:
    """Return which points change no more features than allowed, and none of a group alone.

    The judge may have been asked with other limits, or about a few features only.
    """
    good = changes_of(setting, points, samples) <= fewer_changes(setting, question)
    for group in setting.constraints.together:
        places = setting.features.indices(group)
        different = setting.features.by_feature(points != samples)[:, places]
        good &= different.all(axis=1) | ~different.any(axis=1)
    return np.asarray(good)


def _as_in_data(setting: Setting, table: Table, points: FloatArray) -> BoolArray:
    """Return which points obey the rules that the data suggest, which are about changes.

    The judge may have been asked about values alone.
    """
    good, there = np.ones(len(points), dtype=bool), ~np.isnan(points).any(axis=1)
    rows = np.flatnonzero(there)
    if not setting.constraints.inferred or not len(rows):
        return good
    some, single = table.take(rows), table.single_precision
    values = some.raw(some.as_told(points[rows])), some.own_raw
    held = some.raw(points[rows]) if single else None
    broken = broken_rules(
        setting.constraints, setting.features, *values, changes=True, single=single, held=held
    )
    for _, wrong in broken:
        good[rows[wrong]] = False
    return good
