"""What is shown, and so claimed, of positives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.task import distance
from pertinent.setting.claims.about import Goal, Subject
from pertinent.setting.claims.alternatives import Listed, some_limits
from pertinent.setting.claims.bounds import bounds_of, holds_whatever, search_gaps
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
from pertinent.setting.limits import (
    away_from_base,
    base_ends,
    held_limits,
    positive_limits,
    second_phases,
    strict_limits,
    sufficient_limits,
    turned_off,
)
from pertinent.setting.margins import ROUNDED
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Alternative, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: What the certificates of each method bound, and those of its closeness.
GOALS = {
    Method.TWO_PHASE: (Goal.DISTANCE, Goal.DISTANCE),
    Method.STRICT: (Goal.STRICT, Goal.STRICT),
    Method.EXACT: (Goal.SIZE, Goal.COST),
    #: No point of another class has the values that are kept.
    Method.SUFFICIENT: (Goal.SUFFICIENT, Goal.DISTANCE),
}


def stated_positives(
    setting: Setting,
    table: Table,
    labels: IntArray,
    question: PositiveQuestion,
    method: Method,
    found: Positives,
    ledger: Ledger,
) -> Positives:
    """Return strict, exact or sufficient positives with what may be claimed of them.

    Parameters as in `stated_negatives`.
    """
    question = question.in_precision_of(table)
    how = {"method": method, "baseline": question.baseline, "classes": setting.classes}
    found = of_samples(found, table, labels, **how)
    found = of_samples(found, table, labels, fallback=_has_no_strict(setting, question, found))
    sparse = _sparse(setting, question, found, ledger)
    found = of_samples(found, table, labels, sparse_values=sparse)
    shown = shown_positives(setting, question, found, ledger)
    if method is Method.SUFFICIENT:
        shown = replace(shown, good=shown.good & _suffices(setting, question, found, shown))
    return stated(
        setting,
        found,
        shown,
        kept=kept_features(setting, question, found) & shown.good[:, None],
        trivial=shown.good & is_trivial(setting, question, found, shown.few.size),
        fallback=shown.good & found.fallback,
        sparse_values=sparse,
        alternatives=_alternatives(setting, question, found, shown, ledger),
    )


def _has_no_strict(setting: Setting, question: PositiveQuestion, found: Positives) -> BoolArray:
    """Return which answers may stand in for a strict one: it is proved that there is none."""
    none = np.zeros(len(found), dtype=bool)
    if found.method is not Method.STRICT or not question.fallback or not found.fallback.any():
        return none
    samples, label = found.table.values, found.label
    subject = Subject(setting, samples, Kind.IS, label, question)
    parts, _ = subject.among(found.certificates, Goal.STRICT)
    for part in parts:
        none[part.rows] |= part.certificate.trusted()
    limits = strict_limits(setting, found.table, question)
    domain = setting.domain_of(found.table, changes=False)
    bound = bounds_of(setting, parts, samples, limits, domain, question)
    return np.asarray(found.fallback & none & np.isinf(bound))


def _sparse(
    setting: Setting, question: PositiveQuestion, found: Positives, ledger: Ledger
) -> FloatArray:
    """Return the points of the first phase, for answers of two phases that the judge accepted."""
    if not found.fallback.any():
        return found.values
    sparse = found.sparse_values
    good = ledger.predicted(sparse, None, Kind.IS, found.label) >= 0
    good &= within(sparse, positive_limits(setting, found.table, question)) & found.fallback
    return np.where(good[:, None], sparse, found.values)


def _alternatives(
    setting: Setting, question: PositiveQuestion, found: Positives, shown: Shown, ledger: Ledger
) -> tuple[tuple[Alternative, ...], ...]:
    """Return the alternatives whose points the judge accepted, with what these show."""
    listed = Listed.of(found)
    if not len(listed.rows):
        return found.alternatives
    rows, points, samples = listed.rows, listed.points, found.table.values[listed.rows]
    place = ledger.predicted(points, samples, Kind.IS, found.label[rows])
    strict = found.method is Method.STRICT
    limits = (strict_limits if strict else positive_limits)(setting, found.table, question)
    good = shown.good[rows] & (place >= 0) & within(points, some_limits(limits, found, rows))
    features = turned_on(setting, question, points)
    on = setting.features.by_column(features)
    if strict:
        good &= ((points == samples) | ~on).all(axis=1)
    size = distance(np.where(on, points, samples), samples, setting.weights)
    return listed.stated(good, features, features.sum(axis=1), size, place)


def shown_positives(
    setting: Setting, question: PositiveQuestion, found: Positives, ledger: Ledger | None = None
) -> Shown:
    """Return what the points and the certificates of positives show; see `shown_negatives`."""
    question = question.in_precision_of(found.table)
    subject = Subject(setting, found.table.values, Kind.IS, found.label, question)
    if found.method is Method.TWO_PHASE:
        return _near_positives(subject, question, found)
    return _few_positives(subject, question, found, ledger)


def _near_positives(subject: Subject, question: PositiveQuestion, found: Positives) -> Shown:
    """Look at both phases."""
    setting, table, samples = subject.setting, found.table, subject.samples
    usual = positive_limits(setting, table, question)
    sparse, good = found.sparse_values, found.found
    domain = setting.domain_of(table, changes=False)
    how = domain is not None, len(samples)
    single = table.single_precision
    base = np.broadcast_to(question.baseline, samples.shape)
    parts, foreign = subject.among(found.certificates, Goal.DISTANCE)
    bound, gap = bounds_of(setting, parts, base, usual, domain), gaps_of(setting, parts, *how)
    at = (sparse, base, usual, bound, found.bound)
    few = measured(setting, parts, *at, single=single, gap=gap, foreign=foreign)
    # The second phase holds what the first one turned off.
    off = turned_off(setting, sparse, question) & good[:, None]
    parts, foreign = subject.among(found.closeness_certificates, Goal.DISTANCE)
    low, high = held_limits(setting, *usual, question, off)
    bound, points = np.zeros(len(samples)), found.values
    closed = np.asarray(((points >= low) & (points <= high)).all(axis=1))
    for phase in second_phases(setting, question, samples, usual, off):
        rows, own = phase.rows, tuple(part.expand(phase.rows) for part in parts)
        some = None if domain is None else domain.take(rows)
        proved = bounds_of(phase.setting, own, phase.centers, phase.limits, some)
        gap = gaps_of(phase.setting, own, domain is not None, len(rows))
        said = found.closeness_bound[rows] + phase.spent
        at = (points[rows], phase.centers, phase.limits, proved, said)
        one = measured(phase.setting, own, *at, single=single, gap=gap)
        bound[rows] = np.maximum(one.bound - phase.spent, 0.0)
        closed[rows] &= one.closed
    size = distance(np.where(off, samples, points), samples, setting.weights)
    near = Measure(size, bound, closed, parts=parts, foreign=foreign)
    return Shown(few, near, good, found.label)


def _few_positives(
    subject: Subject, question: PositiveQuestion, found: Positives, ledger: Ledger | None
) -> Shown:
    """Look at the methods "strict", "exact" and "sufficient"."""
    setting, table, samples, method = subject.setting, found.table, subject.samples, found.method
    usual = positive_limits(setting, table, question)
    limits = strict_limits(setting, table, question) if method is Method.STRICT else usual
    low, high = (np.where(found.fallback[:, None], *two) for two in zip(usual, limits, strict=True))
    good, place = accepted(found, Kind.IS, found.label, (low, high), ledger)
    kept = kept_features(setting, question, found) & good[:, None]
    count = np.where(good, kept.sum(axis=1).astype(float), np.nan)
    on = setting.features.by_column(kept)
    size = distance(np.where(on, found.values, samples), samples, setting.weights)
    few, foreign = subject.among(found.certificates, GOALS[method][0])
    of_rivals = method is Method.SUFFICIENT
    about = replace(subject, kind=Kind.NOT) if of_rivals else subject
    near, odd = about.among(found.closeness_certificates, GOALS[method][1], least=count)
    domain = setting.domain_of(table, changes=False)
    if of_rivals:
        limits = sufficient_limits(setting, table, question)
        proved = bounds_of(setting, few, samples, limits, domain, of_rivals=True)
        cost = np.zeros(len(samples))
    else:
        at = (samples, limits, domain, question)
        proved, cost = bounds_of(setting, few, *at), bounds_of(setting, near, *at)
    proved = np.where(found.fallback, 0.0, proved)
    nothing = setting.by_search  # what a search found is never called the smallest
    if method is Method.EXACT:
        gap = search_gaps(setting, few, question.effort.gap)
        closed = cost >= size * (1 - gap) - ROUNDED
    else:
        closed = ((found.values == samples) | ~on).all(axis=1)
        if ledger is not None:
            good = good & (closed | found.fallback)
    if found.fallback.any():
        off = turned_off(setting, found.sparse_values, question)
        other = distance(np.where(off, samples, found.values), samples, setting.weights)
        size = np.where(found.fallback, other, size)
    size = np.where(good, size, np.nan)
    return Shown(
        Measure(
            count,
            proved,
            (proved >= count) & ~found.fallback & (not nothing),
            parts=few,
            foreign=foreign,
        ),
        Measure(size, np.where(good, cost, 0.0), closed, parts=near, foreign=odd),
        good,
        place,
    )


def kept_features(setting: Setting, question: PositiveQuestion, found: Positives) -> BoolArray:
    """Return which features are kept, from the points where they tell."""
    if found.method is Method.SUFFICIENT:
        return found.kept
    return turned_on(setting, question, found.values)


def is_trivial(
    setting: Setting, question: PositiveQuestion, found: Positives, size: FloatArray
) -> BoolArray:
    """Return which positives of the given sizes say that the baseline itself has the class.

    Within ``off_tol`` of the baseline is not there: a model may tell the two apart. That of
    "sufficient" says that all values have the class.
    """
    if found.method is Method.SUFFICIENT:
        return np.asarray(size == 0)
    low, high = base_ends(setting, question)
    at = found.sparse_values
    return np.asarray((size == 0) & ((at >= low) & (at <= high)).all(axis=1))


def turned_on(setting: Setting, question: PositiveQuestion, points: FloatArray) -> BoolArray:
    """Return which features of points are not at their baseline."""
    return setting.features.by_feature(away_from_base(setting.features, points, question))


def _suffices(
    setting: Setting, question: PositiveQuestion, found: Positives, shown: Shown
) -> BoolArray:
    """Return where it is shown that kept values give the class whatever the others are."""
    table, out = found.table, np.zeros(len(found), dtype=bool)
    kept = found.kept & shown.good[:, None]
    lower, upper = sufficient_limits(setting, table, question)
    for k in np.unique(found.label):
        rows = np.flatnonzero(found.label == k)
        limits = lower[rows], upper[rows]
        why = [part.expand(rows) for part in shown.near.parts if part.key.place == k]
        out[rows], _ = holds_whatever(setting, int(k), table.take(rows), kept[rows], limits, why)
    return out
