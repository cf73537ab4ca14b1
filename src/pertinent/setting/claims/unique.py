"""Whether an answer is the only one of its size: what certificates and other points show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.domain import Domain
from pertinent.geometry.gaps import GAP_CONVEX, is_closed, rounding_unit
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task, distance
from pertinent.proofs import OPTIMAL, Certificate, HalvingProofs, LinearProofs
from pertinent.proofs.cases.near import Near
from pertinent.proofs.core import WHOLE, Block, speak_of
from pertinent.proofs.linear import leaves_one_point
from pertinent.proofs.records import UnknownProofs
from pertinent.proofs.rounding import model_rounding
from pertinent.setting.answers import Answers, Ask, Certified
from pertinent.setting.claims.negatives import with_its_limit
from pertinent.setting.judge import judge_points
from pertinent.setting.limits import held_limits, negative_limits, positive_limits, turned_off
from pertinent.setting.margins import NEAR, ROUNDED
from pertinent.setting.question import Method, NegativeQuestion, Norm, PositiveQuestion
from pertinent.setting.region_key import Kind
from pertinent.setting.results import SEVERAL, UNIQUE, UNKNOWN, Negatives, Positives, Results
from pertinent.setting.setting import Setting

R = TypeVar("R", Positives, Negatives)

SEVERAL_BYTE = bytes([SEVERAL])


def is_only_change(setting: Setting, negative: Negatives, limits: Limits) -> bool:
    """Return whether one negative is shown to be the only smallest change."""
    lattice = _is_lattice(setting.domain_of(negative.table, changes=True))
    how = limits, lattice, unit_of(negative)
    samples, parts = negative.table.values, negative.certificates
    return is_only_one(setting, parts, samples, negative.values, *how)


def is_only_pair(setting: Setting, question: PositiveQuestion, positive: Positives) -> bool:
    """Return whether both phases of one positive are shown to have one optimum only."""
    table, parts = positive.table, positive.certificates
    baseline = np.broadcast_to(question.baseline, table.values.shape)
    limits = positive_limits(setting, table, question)
    how = _is_lattice(setting.domain_of(table, changes=False)), unit_of(positive)
    if not is_only_one(setting, parts, baseline, positive.sparse_values, limits, *how):
        return False
    held = turned_off(setting, positive.sparse_values, question)
    limits, parts = held_limits(setting, *limits, question, held), positive.closeness_certificates
    return is_only_one(setting, parts, table.values, positive.values, limits, *how)


def only_with_another(results: R, is_as_good: Callable[[IntArray, R, FloatArray], BoolArray]) -> R:
    """Return results that say "not the only one" only where another point shows it.

    Parameters
    ----------
    results : Positives or Negatives
        As they are handed out.
    is_as_good : callable
        Given some rows, their results and other points for them, shape (n, n_features): which of
        these the judge accepts, and are as good.
    """
    if not results.second and SEVERAL_BYTE not in results.unique_code.tobytes():
        return results
    n, width = results.values.shape
    several = np.flatnonzero(results.unique_code == SEVERAL).tolist()
    known = {i: point for i, point in results.second.items() if np.isfinite(point).all()}
    rows = [i for i in several if i in known and known[i].shape == (width,)]
    second: dict[int, FloatArray] = {}
    if rows:
        here = np.array(rows)
        some = results.take(here)
        others = np.stack([known[i] for i in rows])
        others = some.table.as_handed_out(others.astype(np.float64))
        good = (others != some.values).any(axis=1) & is_as_good(here, some, others)
        second = {int(rows[k]): others[k] for k in np.flatnonzero(good)}
    shown = np.isin(np.arange(n), list(second)) | _tie(results)
    code = np.where((results.unique_code == SEVERAL) & ~shown, UNKNOWN, results.unique_code)
    return replace(results, unique_code=code.astype(np.int8), second=second)


def _tie(results: Results) -> BoolArray:
    """Return which answers have an alternative that is as good."""
    sizes = zip(results.objective.tolist(), results.closeness.tolist(), strict=True)
    listed = zip(sizes, results.alternatives, strict=True)
    return np.array([any(a.ties(*size) for a in others) for size, others in listed], dtype=bool)


def judged_changes(setting: Setting, question: NegativeQuestion, found: Negatives) -> Negatives:
    """Return negatives that say "not the only one" only where the judge accepts another."""

    def is_as_good(rows: IntArray, some: Negatives, others: FloatArray) -> BoolArray:
        return other_changes(setting, question.take(rows), some, others)

    return only_with_another(found, is_as_good)


def judged_pairs(setting: Setting, question: PositiveQuestion, found: Positives) -> Positives:
    """Return positives that say "not the only one" only where the judge accepts another."""

    def is_as_good(rows: IntArray, some: Positives, others: FloatArray) -> BoolArray:
        return other_pairs(setting, question, some, others)

    return only_with_another(found, is_as_good)


def other_changes(
    setting: Setting, question: NegativeQuestion, some: Negatives, others: FloatArray
) -> BoolArray:
    """Return which other points, one for each negative, are as small a change.

    Where any other class will do, the other one may be of a third.
    """
    table, target, setting = some.table, question.target, with_its_limit(setting, question)
    if some.norm is Norm.L0:
        return np.zeros(len(some), dtype=bool)  # what is another set of features is listed
    limits = negative_limits(setting, table, question.untouched)
    asked = (Kind.NOT, some.label) if target is None else (Kind.IS, target)
    good = judge_points(setting, table, others, *asked, limits, changes=True).valid
    return good & as_good(distance(others, table.values, setting.weights), some.objective)


def other_pairs(
    setting: Setting, question: PositiveQuestion, some: Positives, others: FloatArray
) -> BoolArray:
    """Return which other points are as good a positive: in the first phase, or in the second."""
    if some.method is not Method.TWO_PHASE:
        return np.zeros(len(some), dtype=bool)  # what is another set of features is listed
    table, question = some.table, question.in_precision_of(some.table)
    limits = positive_limits(setting, table, question)
    held = turned_off(setting, some.sparse_values, question)
    low, high = held_limits(setting, *limits, question, held)
    good = judge_points(setting, table, others, Kind.IS, some.label, limits).valid
    size = distance(others, np.broadcast_to(question.baseline, others.shape), setting.weights)
    inside = ((others >= low) & (others <= high)).all(axis=1)
    close = distance(np.where(held, table.values, others), table.values, setting.weights)
    as_close = inside & as_good(close, some.closeness)
    # The first phase's own point is not another one.
    as_few = (others != some.sparse_values).any(axis=1) & as_good(size, some.objective)
    return np.asarray(good & (as_few | as_close))


def as_good(size: FloatArray, best: FloatArray) -> BoolArray:
    """Return whether sizes are the best ones, but for the gap."""
    return np.asarray(size <= best * (1 + GAP_CONVEX) + ROUNDED)


def _is_lattice(domain: Domain | None) -> bool:
    """Return whether points are more than numbers; gaps only take points away from others."""
    return domain is not None and domain.confines


def unit_of(results: Results) -> float:
    """Return the share that rounding takes, in the precision of the samples."""
    return rounding_unit(results.table.single_precision, results.values.shape[1])


def decide_only(setting: Setting, ask: Ask, answers: Answers) -> None:
    """Say which optimal answers are the only ones, where nothing was said and it is shown."""
    single, lattice = ask.table.single_precision, _is_lattice(ask.rules.domain)
    unit = rounding_unit(single, ask.centers.shape[1])
    unique = answers.unique = answers.unique.copy()
    for i in np.flatnonzero((answers.status == OPTIMAL) & (unique == UNKNOWN)):
        if is_over():
            return
        row = np.array([i])
        one, asked = answers.take(row), ask.take(row)
        limits, parts = (asked.low, asked.high), one.certificates
        if is_only_one(setting, parts, asked.centers, one.points, limits, lattice, unit):
            unique[i] = UNIQUE


def is_only_one(
    setting: Setting,
    certified: Sequence[Certified],
    center: FloatArray,
    point: FloatArray,
    limits: Limits,
    lattice: bool,
    unit: float,
) -> bool:
    """Return whether one row's certificate shows that its point is the only nearest one.

    All arrays have one row. False says that this was not shown, not that there are others.
    """
    low, high = (np.broadcast_to(limit, center.shape) for limit in limits)
    if not ((setting.weights > 0) | (low == high)).all():
        return False
    if (point == np.clip(center, low, high)).all():
        return True
    certified = [part for part in certified if len(part.rows)]
    if lattice or len(certified) != 1:
        return False
    region = setting.region(certified[0].key, setting.asked_margin)
    cells = cells_of(region)
    if cells is None:
        return False
    # A bound that only repeats a solver's word rules out nothing.
    blocks = [b for b in certified[0].certificate.blocks if b.proofs.trusted().all()]
    # Rounding may put the bound of the point's own piece above its cost.
    cost = float(distance(point, center, setting.weights)[0]) * (1 + ROUNDED)
    whole, known = Task(region, center, setting.weights, low, high), np.zeros(len(cells))
    for block in blocks:
        if block.piece == WHOLE and not isinstance(block.proofs, UnknownProofs):
            known = np.maximum(known, block.proofs.piece_bounds(whole)[0])
    left = []
    for piece in np.flatnonzero(known <= cost).tolist():
        own = tuple(replace(block, piece=0) for block in blocks if block.piece == piece)
        alone = whole.on(cells[piece])
        if Certificate(1, own).bounds(alone)[0] <= cost:
            left.append((alone, own))
    if len(left) == 1 and any(_leaves_one_point(left[0][0], b, point, unit) for b in left[0][1]):
        return True
    near = _near(point, center, setting.weights, cost)
    return bool(left) and all(_is_near(alone, own, near) for alone, own in left)


def _near(point: FloatArray, center: FloatArray, weights: FloatArray, cost: float) -> Near:
    """Return the box around an answer in which other points are the same but for rounding."""
    with np.errstate(divide="ignore"):
        reach = np.where(weights > 0, NEAR * cost / weights, 0.0)
    return Near(point, np.array([cost]), point - reach, point + reach)


def _is_near(task: Task, blocks: Sequence[Block], near: Near) -> bool:
    """Return whether all points of one piece that cost no more are shown to be near."""
    cell = task.cell
    if cell.sums is not None:
        off = float(model_rounding(task, near.cost)[0])
        task = replace(task, region=replace(cell, h=cell.h + off, sums=None))
    own = [block.proofs for block in blocks if len(block.rows) == 1 and speak_of(block.proofs, 1)]
    if cell.quadratics:  # with few features that move the cost alone is proof enough
        own.append(HalvingProofs(near.cost))
    return any(proofs.only_near(task, near)[0] for proofs in own)


def _leaves_one_point(task: Task, block: Block, point: FloatArray, unit: float) -> bool:
    """Return whether one proof alone shows its point optimal, and leaves it nowhere to go.

    What else the certificate holds may be better, but says nothing of these multipliers.
    """
    cell, proofs = task.cell, block.proofs
    if not cell.is_linear or not isinstance(proofs, LinearProofs) or len(proofs) != 1:
        return False
    cost, bound = distance(point, task.centers, task.weights), Certificate(1, (block,)).bounds(task)
    if not is_closed(cost, bound, point, task.centers, task.weights, GAP_CONVEX, unit)[0]:
        return False
    multipliers, limits = np.maximum(proofs.multipliers[0], 0.0), (task.lower[0], task.upper[0])
    return leaves_one_point(cell, multipliers, task.centers[0], task.weights, *limits)
