"""Answers judged: what the judge refuses is taken back, what it accepts is said as handed out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.gaps import is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.proofs import FAILED, FEASIBLE, OPTIMAL
from pertinent.setting.answers import Answers, Ask, Proposal
from pertinent.setting.judge import handed_out, judge
from pertinent.setting.reasons.reason import Reason
from pertinent.setting.setting import Setting

#: Up to this many points of several questions are predicted in one call: a call costs more.
FEW = 256


@dataclass(eq=False)
class Handed:
    """The points of a proposal as they will be handed out; ``rows`` are those that have one."""

    rows: IntArray
    ask: Ask
    points: FloatArray


def verify(prepared: Setting, proposals: Sequence[Proposal]) -> None:
    """Cast points to the form handed out, and let the model and the rules judge them."""
    handed = [handed_by(proposal) for proposal in proposals]
    for proposal, own, predicted in zip(
        proposals, handed, predict_all(prepared, handed), strict=True
    ):
        take_verdict(prepared, proposal, own, predicted)


def handed_by(proposal: Proposal) -> Handed:
    """Return the points of a proposal as they will be handed out."""
    ask, answers = proposal.ask, proposal.answers
    rows, points = answers.found.nonzero()[0], answers.points
    if len(rows) < len(ask):
        ask, points = ask.take(rows), points[rows]
    return Handed(rows, ask, handed_out(ask, points))


def predict_all(prepared: Setting, handed: Sequence[Handed]) -> Iterator[IntArray]:
    """Yield the predictions of each, from one call where they are few."""
    table, sizes = handed[0].ask.table, [len(h.points) for h in handed]
    if len(handed) == 1 or sum(sizes) > FEW or not table.takes_any_points:
        yield from (prepared.predict(h.ask.table, h.points) for h in handed)
        return
    predicted = prepared.predict(table, np.concatenate([h.points for h in handed]))
    start = 0
    for size in sizes:
        yield predicted[start : start + size]
        start += size


def take_verdict(
    prepared: Setting, proposal: Proposal, handed: Handed, predicted: IntArray
) -> None:
    """Note what the model and the rules say of the points; refused ones are dropped."""
    out, rows, ask, points = proposal.answers, handed.rows, handed.ask, handed.points
    some = slice(None) if len(rows) == len(out) else rows
    solved = out.objective[some], proposal.used[some]
    blends = out.blend[some] if isinstance(prepared.within, Hulls) else None
    judged = judge(prepared, ask, points, predicted, solved, blends)
    out.label[some] = predicted
    if points is not out.points:
        _restate(prepared, out, some, ask, points)
    valid = judged.valid
    if valid.all():
        return
    for j in (~valid).nonzero()[0]:
        _drop(out, rows[j], judged.reason(int(j), proposal.used[rows[j]]))


def _restate(
    prepared: Setting, out: Answers, some: slice | IntArray, ask: Ask, points: FloatArray
) -> None:
    """Say of points as they are handed out what was said of them as they were solved for."""
    cost, bound = distance(points, ask.centers, prepared.weights), out.bound[some]
    unit = rounding_unit(ask.table.single_precision, points.shape[1])
    closed = is_closed(cost, bound, points, ask.centers, prepared.weights, out.gap[some], unit)
    out.points[some], out.objective[some] = points, cost
    out.status[some] = np.where(closed, OPTIMAL, FEASIBLE)
    out.bound[some] = np.minimum(bound, cost)


def prefer_start(prepared: Setting, answers: Answers, ask: Ask, used: FloatArray) -> None:
    """Answer with the start itself where only the margin keeps it out.

    The point of the bounds nearest to the center cannot be undercut. If it lies exactly on
    the boundary and ``predict`` gives it the class asked for, it is the answer. Not if rounding
    alone decides: ``predict`` may then say otherwise in other company.
    """
    rows = _near_start(prepared, answers, ask, used)
    if not len(rows):
        return
    some = ask.take(rows)
    handed = handed_out(some, np.clip(some.centers, some.low, some.high))
    judged = judge(prepared, some, handed)
    exact = prepared.is_exact(ask.kind, some.labels, handed)
    right = judged.valid & (exact | ~answers.found[rows])
    for j in np.flatnonzero(right):
        i = rows[j]
        answers.points[i], answers.label[i] = handed[j], judged.predicted[j]
        answers.objective[i] = answers.bound[i] = distance(
            handed[j : j + 1], ask.centers[i : i + 1], prepared.weights
        )[0]
        answers.status[i], answers.unique[i], answers.reason[i] = OPTIMAL, 1, None
        answers.second.pop(int(i), None)


def _near_start(prepared: Setting, answers: Answers, ask: Ask, used: FloatArray) -> IntArray:
    """Return the rows without an answer, or with one no farther than its margin may explain."""
    asks_more = prepared.within is not None or prepared.min_proba is not None
    if ask.rules.domain is not None or asks_more or prepared.asked_margin > 0:
        return np.zeros(0, dtype=np.int64)
    # A margin is a distance in the units of the model's features; NaN where no point is.
    far = answers.objective > 100 * prepared.largest_weight * used
    rows: IntArray = (~far & (answers.objective != 0)).nonzero()[0]
    if not len(rows):
        return rows
    return np.asarray(rows[(ask.low[rows] <= ask.high[rows]).all(axis=1)])


def _drop(out: Answers, i: int, reason: Reason) -> None:
    """Take a point back."""
    out.points[i], out.objective[i], out.status[i] = np.nan, np.nan, FAILED
    out.unique[i], out.label[i], out.blend[i], out.reason[i] = -1, -1, None, reason
