"""What certificates prove, recomputed from the regions of the model; no solver is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import cells_of, forms_of, lone_cell, outline_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.task import Task
from pertinent.proofs import FewestProofs
from pertinent.proofs.supports.reach import pushes, splits_by_feature
from pertinent.proofs.tolerances import SUMS
from pertinent.setting.answers import Certified
from pertinent.setting.limits import allowing, discrete_domain, resting
from pertinent.setting.margins import CLOSED, CLOSED_QUADRATIC
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.region_key import Is, Kind, Not
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


def bounds_of(
    setting: Setting,
    certified: Sequence[Certified],
    centers: FloatArray,
    limits: Limits,
    domain: Domain | None,
    question: PositiveQuestion | None = None,
    *,
    of_rivals: bool = False,
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
    question : PositiveQuestion, optional
        Features that are off rest at its baseline, else at the center.
    of_rivals : bool
        Whether the proofs are of sufficient sets: what comes closer to another class than a margin
        that was asked for is a rival.
    """
    proved = np.zeros(len(centers))
    for part in certified:
        if not len(part.rows):
            continue
        if of_rivals and part.key.kind is Kind.NOT:
            region = setting.rivals(part.key.place, -setting.asked_margin)
        else:
            region = setting.region(part.key, setting.asked_margin)
        task = Task.of(region, centers, setting.weights, *limits, domain)
        if question is not None:
            rest = np.broadcast_to(resting(setting, question), centers.shape)
            task = replace(task, rest=rest, off_tol=question.off_tol)
        if len(part.rows) == len(centers) and (part.rows == np.arange(len(centers))).all():
            np.maximum(proved, part.certificate.proved(task), out=proved)
        else:
            bound = part.certificate.proved(task.take(part.rows))
            proved[part.rows] = np.maximum(proved[part.rows], bound)
    return proved


def limit_distances(setting: Setting, centers: FloatArray, limits: Limits) -> FloatArray:
    """Return how far the limits are from each center: no point is closer."""
    outside = np.maximum(np.maximum(limits[0] - centers, centers - limits[1]), 0.0)
    return np.asarray((setting.weights * outside).sum(axis=1))


def number_of_changes(
    setting: Setting, certified: Sequence[Certified], table: Table, limits: Limits
) -> FloatArray:
    """Return how many features are proved to change.

    Certificates speak of sets of features; or those of a sample say, one after the other, that 1,
    2, 3, ... changes are not enough.
    """
    if is_of_sets(certified):
        return bounds_of(setting, certified, table.values, limits, _domain(setting, table))
    low, high = (np.broadcast_to(side, table.values.shape) for side in limits)
    proved = np.ones(len(table))
    for part in certified:
        for k in np.unique(proved[part.rows]):
            here = part.among(part.rows[proved[part.rows] == k], len(table))
            rows, some, rules = here.rows, table.take(here.rows), allowing(setting, int(k))
            task = Task(
                rules.region(here.key, setting.asked_margin),
                some.values,
                setting.weights,
                low[rows],
                high[rows],
                domain=rules.domain_of(some, changes=True),
            )
            proved[rows[np.isinf(here.certificate.bounds(task))]] = k + 1
    return proved


def size_of_changes(
    setting: Setting,
    certified: Sequence[Certified],
    table: Table,
    limits: Limits,
    number: FloatArray | IntArray,
) -> FloatArray:
    """Return what is proved of the weighted L1 of changes of at most ``number`` features."""
    if is_of_sets(certified):
        return bounds_of(setting, certified, table.values, limits, _domain(setting, table))
    proved, near = np.zeros(len(table)), limit_distances(setting, table.values, limits)
    for k in np.unique(number[~np.isnan(number)]):
        rules = allowing(setting, int(k))
        domain = rules.domain_of(table, changes=True)
        bounds = bounds_of(rules, certified, table.values, limits, domain)
        proved = np.where(number == k, np.maximum(near, bounds), proved)
    return proved


def _domain(setting: Setting, table: Table) -> Domain | None:
    return setting.domain_of(table, changes=False)


def is_of_sets(certified: Sequence[Certified]) -> bool:
    """Return whether certificates speak of sets of features; else the rules count changes."""
    blocks = [block for part in certified for block in part.certificate.blocks]
    return bool(blocks) and all(isinstance(block.proofs, FewestProofs) for block in blocks)


def search_gap(region: Cell | Region) -> float:
    """Return how close to the best cost a proof about the region comes."""
    pieces = [(piece, outline_of(piece)) for piece, _ in forms_of(region)]
    linear = all(cell is piece and cell.is_linear for piece, cell in pieces)
    return CLOSED if linear else CLOSED_QUADRATIC


def search_gaps(setting: Setting, certified: Sequence[Certified], least: float) -> float:
    """Return the relative gap at which costs of sets of features are optimal; at least ``least``.

    Each bound may miss the cost by the gap of its region, about four times.
    """
    regions = [setting.region(part.key, setting.asked_margin) for part in certified]
    return max([least, *(4 * search_gap(region) for region in regions)])


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
    others = cells_of(setting.rivals(k, -setting.asked_margin))
    boxes = others is not None and all(cell.is_linear and not len(cell.G) for cell in others)
    if domain is not None or others is None or not boxes:
        about = [part for part in why if part.key == Not(k)]
        told = np.zeros(len(x), dtype=bool)
        for part in about:
            told[part.rows] = part.certificate.trusted()
        bound = bounds_of(setting, about, x, (low, high), domain, of_rivals=True)
        return told & np.isinf(bound), False
    meets = [((low <= cell.upper) & (high >= cell.lower)).all(axis=1) for cell in others]
    return np.asarray(~np.any([np.zeros(len(x), dtype=bool), *meets], axis=0)), True
