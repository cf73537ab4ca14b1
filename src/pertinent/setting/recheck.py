"""Results judged again: bounds recomputed from the model and the certificates, without a solver."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Limits
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import cells_of, lone_cell, outline_of, pieces_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.task import Task
from pertinent.proofs import FewestProofs
from pertinent.proofs.supports.reach import pushes, splits_by_feature
from pertinent.proofs.tolerances import SUMS
from pertinent.setting.answers import Certified
from pertinent.setting.effort import CLOSED, CLOSED_QUADRATIC
from pertinent.setting.limits import (
    allowing,
    at_rest,
    discrete_domain,
    held_limits,
    negative_limits,
    positive_limits,
    strict_limits,
    sufficient_limits,
    turned_off,
)
from pertinent.setting.question import Method, Norm, PositiveQuestion
from pertinent.setting.region_key import Is, Kind, Not
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def bounds_of(
    setting: Setting,
    certified: Sequence[Certified],
    centers: FloatArray,
    limits: Limits,
    domain: Domain | None,
    margin: float | None = None,
    question: PositiveQuestion | None = None,
) -> FloatArray:
    """Return what certificates prove of each center, recomputed from the regions; else 0.

    Parameters
    ----------
    setting : Setting
    certified : sequence of Certified
        Several for the same row: the best of them counts.
    centers : ndarray of shape (n, n_features)
    limits : tuple of ndarray broadcastable to (n, n_features)
    domain : Domain or None
        What values the question allows.
    margin : float, optional
        That of the regions the proofs speak of; by default the margin asked for.
    question : PositiveQuestion, optional
        Features that are off rest at its baseline, else at the center.
    """
    proved = np.zeros(len(centers))
    for part in certified:
        if not len(part.rows):
            continue
        region = setting.region(part.key, setting.asked_margin if margin is None else margin)
        task = Task.of(region, centers, setting.weights, *limits, domain)
        if question is not None:
            rest = np.broadcast_to(question.baseline, centers.shape)
            task = replace(task, rest=rest, off_tol=question.off_tol)
        if len(part.rows) == len(centers) and (part.rows == np.arange(len(centers))).all():
            np.maximum(proved, part.certificate.proved(task), out=proved)
        else:
            bound = part.certificate.proved(task.take(part.rows))
            proved[part.rows] = np.maximum(proved[part.rows], bound)
    return proved


def distance_bounds(
    setting: Setting,
    certified: Sequence[Certified],
    centers: FloatArray,
    limits: Limits,
    domain: Domain | None,
) -> FloatArray:
    """Return what is proved of distances: no point is closer than the nearest of its limits."""
    nearest = limit_distances(setting, centers, limits)
    return np.maximum(nearest, bounds_of(setting, certified, centers, limits, domain))


def limit_distances(setting: Setting, centers: FloatArray, limits: Limits) -> FloatArray:
    """Return how far the limits are from each center."""
    outside = np.maximum(np.maximum(limits[0] - centers, centers - limits[1]), 0.0)
    return np.asarray((setting.weights * outside).sum(axis=1))


def recheck_negatives(
    setting: Setting, negatives: Negatives, untouched: BoolArray | None = None
) -> FloatArray:
    """Return the lower bound that each row's certificate proves for its negative."""
    limits = negative_limits(setting, negatives.table, untouched)
    samples, domain = negatives.table.values, setting.domain_of(negatives.table, changes=True)
    return distance_bounds(setting, negatives.certificates, samples, limits, domain)


def recheck_positives(
    setting: Setting, question: PositiveQuestion, positives: Positives
) -> tuple[FloatArray, FloatArray]:
    """Return what the certificates prove: the bounds of phase 1 and of phase 2 (eq. 8)."""
    samples = positives.table.values
    question = question.in_precision_of(positives.table)
    lower, upper = positive_limits(setting, positives.table, question)
    centers = np.broadcast_to(question.baseline, samples.shape)
    domain = setting.domain_of(positives.table, changes=False)
    first = distance_bounds(setting, positives.certificates, centers, (lower, upper), domain)
    held = turned_off(setting, positives.sparse_values, question) & positives.found[:, None]
    limits = held_limits(lower, upper, question, held)
    second = distance_bounds(setting, positives.closeness_certificates, samples, limits, domain)
    apart = np.abs(samples - at_rest(lower, upper, question))
    spent = (np.where(held, setting.weights, 0.0) * apart).sum(axis=1)
    return first, second - spent


def recheck_exact_positives(
    setting: Setting, question: PositiveQuestion, positives: Positives
) -> tuple[FloatArray, FloatArray]:
    """Return the proved number of features, and the proved closeness, of each sample.

    For the methods "strict", "exact" and "sufficient".
    """
    samples, parts = positives.table.values, positives.certificates
    question = question.in_precision_of(positives.table)
    domain = setting.domain_of(positives.table, changes=False)
    if positives.method is Method.SUFFICIENT:
        limits = sufficient_limits(setting, positives.table, question)
        size = np.zeros(len(samples))
        for part in parts:
            margin = proof_margin(setting, part.key[0])
            np.maximum(size, bounds_of(setting, [part], samples, limits, domain, margin), out=size)
        return size, np.zeros(len(samples))
    limits_of = strict_limits if positives.method is Method.STRICT else positive_limits
    limits = limits_of(setting, positives.table, question)
    args = samples, limits, domain, None, question
    size = bounds_of(setting, parts, *args)
    return size, bounds_of(setting, positives.closeness_certificates, *args)


def proof_margin(setting: Setting, kind: Kind) -> float:
    """Return the margin of the region that the proof of a sufficient set speaks of.

    What comes closer to another class than a margin that was asked for is a rival.
    """
    return setting.asked_margin if kind is Kind.IS else -setting.asked_margin


def recheck_few_changes(setting: Setting, negatives: Negatives) -> FloatArray:
    """Return what the certificates of ``norm="l0"`` or ``max_changes`` prove of the objective."""
    if negatives.norm is Norm.L0 and not is_of_sets(negatives.certificates):
        return _recheck_counted(setting, negatives)
    limits = negative_limits(setting, negatives.table)
    samples, domain = negatives.table.values, setting.domain_of(negatives.table, changes=False)
    return bounds_of(setting, negatives.certificates, samples, limits, domain)


def recheck_few_closeness(setting: Setting, negatives: Negatives) -> FloatArray:
    """Return what is proved, with ``norm="l0"``, of the size of changes of as few features."""
    table, parts = negatives.table, negatives.closeness_certificates
    limits = negative_limits(setting, table)
    if is_of_sets(parts):
        domain = setting.domain_of(table, changes=False)
        return bounds_of(setting, parts, table.values, limits, domain)
    proved = np.zeros(len(table))
    for k in np.unique(negatives.objective[negatives.found]):
        rules = allowing(setting, int(k))
        domain = rules.domain_of(table, changes=True)
        bounds = distance_bounds(rules, parts, table.values, limits, domain)
        proved = np.where(negatives.objective == k, bounds, proved)
    return proved


def is_of_sets(certified: Sequence[Certified]) -> bool:
    """Return whether certificates speak of sets of features; else the rules count changes."""
    blocks = [block for part in certified for block in part.certificate.blocks]
    return bool(blocks) and all(isinstance(block.proofs, FewestProofs) for block in blocks)


def _recheck_counted(setting: Setting, negatives: Negatives) -> FloatArray:
    """Return how many changes are proved necessary, from the trees alone; no solver is called.

    The certificates of a sample say, one after the other, that 1, 2, 3, ... changes are not
    enough. What they speak of is taken from the question, not from them.
    """
    table = negatives.table
    low, high = (np.broadcast_to(s, table.values.shape) for s in negative_limits(setting, table))
    proved = np.ones(len(table))
    for part in negatives.certificates:
        for k in np.unique(proved[part.rows]):
            here = part.among(part.rows[proved[part.rows] == k], len(table))
            rows, some = here.rows, table.take(here.rows)
            rules = allowing(setting, int(k))
            domain = rules.domain_of(some, changes=True)
            region, ends = rules.region(here.key, setting.asked_margin), (low[rows], high[rows])
            task = Task(region, some.values, setting.weights, *ends, domain=domain)
            proved[rows[np.isinf(here.certificate.bounds(task))]] = k + 1
    return proved


def search_gap(region: Cell | Region) -> float:
    """Return how close to the best cost a proof about the region comes."""
    pieces = [(piece, outline_of(piece)) for piece in pieces_of(region)]
    linear = all(cell is piece and cell.is_linear for piece, cell in pieces)
    return CLOSED if linear else CLOSED_QUADRATIC


def holds_whatever(
    setting: Setting,
    k: int,
    table: Table,
    kept: BoolArray,
    limits: Limits,
    why: Sequence[Certified] = (),
) -> tuple[BoolArray, bool]:
    """Return for which samples it is shown that kept values give class k whatever the others are.

    And whether another class is possible for all the rest, rather than not ruled out.

    Parameters
    ----------
    setting : Setting
    k : int
    table : Table
        Of n samples.
    kept : ndarray of bool, shape (n, n_features)
    limits : tuple of ndarray of shape (n, n_columns)
        Lowest and highest values of the others.
    why : sequence of Certified
        Proofs that no point of another class has the kept values, for models that need them.
    """
    x, domain = table.values, discrete_domain(setting, table)
    held = setting.features.by_column(kept)
    low, high = (np.where(held, x, limit) for limit in limits)
    own = lone_cell(setting.region(Is(k), setting.asked_margin))
    if own is not None and splits_by_feature(own, domain):
        # All that the others can push each row by must be less than what it is short of.
        holds = np.zeros(len(x), dtype=bool)
        for i in range(len(x)):
            some = None if domain is None else domain.take(np.array([i]))
            push, over = pushes(own, x[i], low[i], high[i], some)
            holds[i] = (over <= SUMS * (np.abs(over) + push.sum(axis=1))).all()
        return holds, True
    others = cells_of(setting.region(Not(k), -setting.asked_margin))
    boxes = others is not None and all(cell.is_linear and not len(cell.G) for cell in others)
    if domain is not None or others is None or not boxes:
        about = [part for part in why if part.key == Not(k)]
        told = np.zeros(len(x), dtype=bool)
        for part in about:
            told[part.rows] = part.certificate.trusted()
        bound = bounds_of(setting, about, x, (low, high), domain, -setting.asked_margin)
        return told & np.isinf(bound), False
    meets = [((low <= cell.upper) & (high >= cell.lower)).all(axis=1) for cell in others]
    return np.asarray(~np.any([np.zeros(len(x), dtype=bool), *meets], axis=0)), True
