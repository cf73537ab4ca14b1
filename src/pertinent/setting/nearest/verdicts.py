"""Points judged, and what is claimed of them: status and bound, from the proofs alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, by_label, rows_of
from pertinent.geometry.gaps import (
    GAP_CONVEX,
    GAP_NONCONVEX,
    ROUNDING,
    is_closed,
    rounding_unit,
)
from pertinent.geometry.running import noting_end, share_of_time
from pertinent.geometry.task import Task, distance
from pertinent.proofs import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Answers, Ask, Certified
from pertinent.setting.claims.about import is_of_distances
from pertinent.setting.effort import SEARCHING
from pertinent.setting.judge import Judged, handed_out, handed_out_farther, judge
from pertinent.setting.nearest.search import Found, Search
from pertinent.setting.reasons.fewer import Questions, confirmed
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: The status of a point whose bound does not, or does, meet its cost.
_STATUS = np.array([FEASIBLE, OPTIMAL], dtype=np.int8)
#: Up to this many points of several questions are predicted in one call: a call costs more.
PREDICTED_TOGETHER = 256


@dataclass(eq=False)
class Part:
    """What was found for the rows that ask for the same region with the same margin."""

    ask: Ask
    found: Found
    certified: Certified

    @property
    def rows(self) -> IntArray:
        """Which rows of the batch."""
        return self.certified.rows


@dataclass(eq=False)
class Proposal:
    """Points for a batch of n questions, not yet judged.

    Parameters
    ----------
    ask : Ask
    used : ndarray of shape (n,)
        The margin beyond the one asked for that each row was solved with.
    parts : list of Part
        Each row belongs to one part.
    points : ndarray of shape (n, n_features)
        As they are handed out; NaN where there is none.
    cost : ndarray of shape (n,)
        Their distance from the centers; NaN where there is no point.
    rows : ndarray of int
        Those that have a point.
    limit : float, optional
        The time limit in seconds, where it ended the search.
    """

    ask: Ask
    used: FloatArray
    parts: list[Part]
    points: FloatArray
    cost: FloatArray
    rows: IntArray
    limit: float | None = None

    @property
    def given(self) -> tuple[Ask, FloatArray]:
        """The rows that have a point: their question, and the points."""
        if len(self.rows) == len(self.points):
            return self.ask, self.points
        return self.ask.take(self.rows), self.points[self.rows]


def proposal(search: Search, setting: Setting, ask: Ask, used: FloatArray) -> Proposal:
    """Return the points that a search finds, those of the same class and margin together."""
    parts, limit = [], None
    for k, margin, rows in _alike(ask.labels, used):
        key, some = RegionKey(ask.kind, k), _part(setting, ask, rows)
        with share_of_time(SEARCHING), noting_end() as ended:  # the rest is for the proofs
            found = search.find(setting, some, key, setting.asked_margin + margin)
        limit = ended.limit if ended.by_time else limit
        parts.append(Part(some, found, Certified(key, rows, found.certificate)))
    points = parts[0].found.points if len(parts) == 1 else np.full(ask.centers.shape, np.nan)
    if len(parts) > 1:
        for part in parts:
            points[part.rows] = part.found.points
    points = handed_out(ask, points)
    cost = distance(points, ask.centers, setting.weights)
    return Proposal(ask, used, parts, points, cost, (cost < np.inf).nonzero()[0], limit)


def _part(setting: Setting, ask: Ask, rows: IntArray) -> Ask:
    """Return some of the questions, their samples only where a search looks at them."""
    if len(rows) == len(ask):
        return ask
    if isinstance(setting.within, Hulls) or setting.by_search:
        return ask.take(rows)
    centers, low, high = (_of_some(array, rows) for array in (ask.centers, ask.low, ask.high))
    labels, rules = ask.labels[rows], ask.rules.take(rows)
    return Ask(ask.table, centers, ask.kind, labels, low, high, rules)


def _of_some(array: FloatArray, rows: IntArray) -> FloatArray:
    """Return some rows, to be looked at only: no copy of what is the same for every row."""
    if array.strides[0] == 0:
        return array[: len(rows)]
    return np.asarray(rows_of(array, rows))


def _alike(labels: IntArray, used: FloatArray) -> Iterator[tuple[int, float, IntArray]]:
    """Yield each class and margin with its rows."""
    n = len(labels)
    if n == 1 or (n and (labels == labels[0]).all() and (used == used[0]).all()):
        yield int(labels[0]), float(used[0]), np.arange(n)
        return
    for k, own in by_label(labels):
        theirs = used[own]
        if (theirs == theirs[0]).all():
            yield k, float(theirs[0]), own
            continue
        for margin in np.unique(theirs):
            yield k, float(margin), own[theirs == margin]


def predict_all(setting: Setting, asked: Sequence[tuple[Table, FloatArray]]) -> Iterator[IntArray]:
    """Yield the predictions of the points of each question, from one call where they are few."""
    table, sizes = asked[0][0], [len(points) for _, points in asked]
    few = len(asked) > 1 and sum(sizes) <= PREDICTED_TOGETHER
    if few and not table.takes_any_points:
        # A point goes to the model with what its own sample has beside numbers.
        few = all([own is table and len(points) == len(table) for own, points in asked])
    if not few:
        yield from (setting.predict(own, points) for own, points in asked)
        return
    predicted = setting.predict(table, np.concatenate([points for _, points in asked]))
    start = 0
    for size in sizes:
        yield predicted[start : start + size]
        start += size


def verdict(
    search: Search, setting: Setting, proposed: Proposal, predicted: IntArray | None = None
) -> Answers:
    """Return what may be claimed of the points; those that are refused are dropped.

    Parameters
    ----------
    search : Search
        Asked only why there is no point where that is proved.
    setting : Setting
    proposed : Proposal
    predicted : ndarray of int, optional
        What ``predict`` says of the points, where it was asked already.
    """
    judged = _judged(setting, proposed, predicted)
    if proposed.ask.table.single_precision and not judged.valid.all():
        proposed = _rounded_farther(setting, proposed, judged)
    points, cost, rows, n = proposed.points, proposed.cost, proposed.rows, len(proposed.points)
    bound, gap = _proved(setting, proposed)
    unit = rounding_unit(True, points.shape[1]) if proposed.ask.table.single_precision else ROUNDING
    centers, complete = proposed.ask.centers, len(rows) == n
    closed = is_closed(cost, bound, points, centers, setting.weights, gap, unit)
    status = _STATUS[closed.astype(np.int8)]
    unique, second, blend = _particulars(proposed)
    label, reason = judged.predicted, np.empty(n, dtype=object)
    if not complete:
        without = ~(cost < np.inf)
        bound = np.where(without & (gap < 0), 0.0, bound)  # a solver's word about nothing
        none = np.isinf(bound) & (gap >= 0)
        status[without] = np.where(none[without], INFEASIBLE, FAILED)
        label = np.full(n, -1)
        label[rows] = judged.predicted
    certificates = tuple([part.certified for part in proposed.parts])
    bound = np.fmin(bound, cost)  # the cost is NaN where there is no point
    answers = Answers(
        points, cost, bound, status, unique, label, reason, second, certificates, blend
    )
    valid = judged.valid
    if np.count_nonzero(valid) < len(valid):
        for j in (~valid).nonzero()[0].tolist():
            used = setting.asked_margin + proposed.used[rows[j]]
            _drop(answers, int(rows[j]), judged.reason(j, used))
    if not complete:
        _give_reasons(search, setting, proposed, answers, without)
    return answers


def _judged(setting: Setting, proposed: Proposal, predicted: IntArray | None) -> Judged:
    """Return the verdict of the model and the rules on the points that there are."""
    (ask, points), rows = proposed.given, proposed.rows
    blends = None
    if isinstance(setting.within, Hulls):
        blends = _particulars(proposed)[2][rows]
    return judge(setting, ask, points, predicted, blends)


def _rounded_farther(setting: Setting, proposed: Proposal, judged: Judged) -> Proposal:
    """Return the points with those that are refused rounded away from their centers.

    Where the model and the rules accept them so; ``judged`` is what is said of them then.
    """
    if isinstance(setting.within, Hulls) or setting.by_search:
        return proposed  # the point itself is part of what was found
    refused = np.flatnonzero(~judged.valid)
    rows = proposed.rows[refused]
    exact = np.full(proposed.points.shape, np.nan)
    for part in proposed.parts:
        exact[part.rows] = part.found.points
    some = proposed.ask.take(rows)
    farther = handed_out_farther(some, exact[rows])
    other = np.flatnonzero((farther != proposed.points[rows]).any(axis=1))
    if not len(other):
        return proposed
    again = judge(setting, some.take(other), farther[other])
    good = np.flatnonzero(again.valid)
    rows, better = rows[other[good]], farther[other[good]]
    judged.put(refused[other[good]], better, again.predicted[good])
    points, cost = proposed.points.copy(), proposed.cost.copy()
    points[rows] = better
    cost[rows] = distance(better, proposed.ask.centers[rows], setting.weights)
    return replace(proposed, points=points, cost=cost)


def _proved(setting: Setting, proposed: Proposal) -> tuple[FloatArray, float | FloatArray]:
    """Return the bound that is proved of each row, and the gap within which it is optimal.

    The gap is -1, which none meets, where a bound only repeats a solver's word.
    """
    n, parts = len(proposed.points), proposed.parts
    if len(parts) == 1:
        return _proved_of(setting, proposed, parts[0])
    bound, gap = np.zeros(n), np.full(n, -1.0)
    for part in parts:
        bound[part.rows], gap[part.rows] = _proved_of(setting, proposed, part)
    return bound, gap


def _proved_of(
    setting: Setting, proposed: Proposal, part: Part
) -> tuple[FloatArray, float | FloatArray]:
    """Return the same of the rows of one part."""
    ask, certified, certificate = part.ask, part.certified, part.certified.certificate
    of_distances = is_of_distances(setting, certified, proposed.ask.table.values)
    if setting.by_search or not of_distances:
        return np.zeros(len(ask)), np.full(len(ask), -1.0)
    region = setting.region(certified.key, setting.asked_margin)
    domain = ask.rules.domain
    task = Task(region, ask.centers, setting.weights, ask.low, ask.high, domain=domain)
    convex = region.is_convex and (domain is None or not domain.confines)
    gap: float | FloatArray = GAP_CONVEX if convex else GAP_NONCONVEX
    if not certificate.is_recomputed:
        gap = np.where(certificate.trusted(), gap, -1.0)
    return certificate.bounds(task), gap


def _particulars(
    proposed: Proposal,
) -> tuple[CodeArray, dict[int, FloatArray], NDArray[np.object_]]:
    """Return which points are the only best ones, others as good, and what blends they are."""
    n, parts = len(proposed.points), proposed.parts
    blend = np.empty(n, dtype=object)
    if len(parts) == 1 and not parts[0].found.blends:
        return parts[0].found.unique, parts[0].found.second, blend
    unique, second = np.full(n, -1, dtype=np.int8), dict[int, FloatArray]()
    for part in parts:
        unique[part.rows] = part.found.unique
        second.update({int(part.rows[i]): point for i, point in part.found.second.items()})
        for i, own in part.found.blends.items():
            blend[part.rows[i]] = own
    return unique, second, blend


def _give_reasons(
    search: Search, setting: Setting, proposed: Proposal, answers: Answers, without: BoolArray
) -> None:
    """Say why rows have no point."""
    ask = proposed.ask
    why = Why.NOT_FOUND if setting.by_search else Why.NO_PROOF
    answers.reason[without & (answers.status == FAILED)] = Reason(why, number=proposed.limit)
    none = answers.status == INFEASIBLE
    for part in answers.certificates:
        here = np.flatnonzero(none[part.rows])
        if len(here):
            own = Certified(part.key, np.arange(len(here)), part.certificate.take(here))
            rows = part.rows[here]
            answers.reason[rows] = _why_none(search, setting, own, ask.take(rows))


def _why_none(search: Search, setting: Setting, part: Certified, ask: Ask) -> NDArray[np.object_]:
    """Return why rows have no point; what a search says of the rules is looked at."""
    found = np.empty(len(ask), dtype=object)
    found[:] = Reason(Why.MODEL, part.key)
    if ask.says_why:
        said = search.why_none(setting, part, ask)
        found[:] = confirmed(Questions.of(setting, ask, part.key), said, part.certificate)
    return found


def prefer_start(setting: Setting, answers: Answers, ask: Ask, used: FloatArray) -> None:
    """Answer with the start itself where only the margin keeps it out.

    The point of the bounds nearest to the center cannot be undercut. If it lies exactly on
    the boundary and ``predict`` gives it the class asked for, it is the answer. Not if rounding
    alone decides: ``predict`` may then say otherwise in other company.
    """
    rows = _near_start(setting, answers, ask, used)
    if not len(rows):
        return
    some = ask.take(rows)
    handed = handed_out(some, np.clip(some.centers, some.low, some.high))
    judged = judge(setting, some, handed)
    exact = setting.is_exact(ask.kind, some.labels, handed)
    right = judged.valid & (exact | ~answers.found[rows])
    for j in np.flatnonzero(right):
        i = rows[j]
        answers.points[i], answers.label[i] = handed[j], judged.predicted[j]
        answers.objective[i] = answers.bound[i] = distance(
            handed[j : j + 1], ask.centers[i : i + 1], setting.weights
        )[0]
        answers.status[i], answers.unique[i], answers.reason[i] = OPTIMAL, 1, None
        answers.second.pop(int(i), None)


def _near_start(setting: Setting, answers: Answers, ask: Ask, used: FloatArray) -> IntArray:
    """Return the rows without an answer, or with one no farther than its margin may explain."""
    asks_more = setting.within is not None or setting.min_proba is not None
    asks_more |= setting.by_search  # its search looked at the start first
    if ask.rules.domain is not None or asks_more or setting.asked_margin > 0:
        return np.zeros(0, dtype=np.int64)
    far = far_from_start(setting, answers.objective, used)
    if np.count_nonzero(far) == len(far):  # most often
        return np.zeros(0, dtype=np.int64)
    rows: IntArray = (~far & (answers.objective != 0)).nonzero()[0]
    return np.asarray(rows[(ask.low[rows] <= ask.high[rows]).all(axis=1)])


def far_from_start(setting: Setting, cost: FloatArray, used: FloatArray) -> BoolArray:
    """Return which points cost more than the margin may explain that they were found with.

    A margin is a distance in the units of the model's features. False where there is no point.
    """
    return np.asarray(cost > 100 * setting.largest_weight * used)


def _drop(out: Answers, i: int, reason: Reason) -> None:
    """Take a point back."""
    out.points[i], out.objective[i], out.status[i] = np.nan, np.nan, FAILED
    out.unique[i], out.label[i], out.blend[i], out.reason[i] = -1, -1, None, reason
