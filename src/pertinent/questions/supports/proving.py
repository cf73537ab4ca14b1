"""What the search for the fewest features claims, and the proofs of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pertinent.answering.conflict import conflicts
from pertinent.answering.searching import SEARCH
from pertinent.geometry.arrays import BoolArray, IntArray
from pertinent.geometry.pieces import outline_of
from pertinent.geometry.running import is_late
from pertinent.proofs import (
    FEASIBLE,
    INFEASIBLE,
    OPTIMAL,
    Argument,
    Block,
    Certificate,
    FewestProofs,
    Goal,
)
from pertinent.questions.tolerances import COST_ROUNDING
from pertinent.setting.answers import Certified
from pertinent.setting.claims.bounds import search_gap
from pertinent.setting.limits import allowing
from pertinent.setting.reasons.conflicts import why_too_few
from pertinent.setting.reasons.reason import Reason
from pertinent.setting.region_key import RegionKey
from pertinent.setting.results import uniqueness

if TYPE_CHECKING:
    from pertinent.questions.supports.batch import Batch, FewestAsk
    from pertinent.setting.setting import Setting
    from pertinent.tables.table import Table


def prove(batch: Batch) -> None:
    """Collect the proofs of the search, and say what it claims."""
    sizes: list[Certified] = []
    costs: list[Certified] = []
    for k, rows in batch.by_label(np.arange(len(batch.samples))):
        lengths = _lengths(batch, k)
        for goal, parts in ((Goal.SIZE, sizes), (Goal.COST, costs)):
            key = RegionKey(batch.ask.kind, k)
            parts.append(Certified(key, rows, _certificate(batch, rows, lengths, goal)))
    batch.out.certificates, batch.out.cost_certificates = tuple(sizes), tuple(costs)
    _decide(batch)


def _lengths(batch: Batch, k: int) -> list[int]:
    """Return the number of linear rows of each piece; of the first ones where time is over.

    A piece that the proofs leave out counts as 0, and so does every piece in a check that is late.
    """
    lengths = list[int]()
    for piece in batch.pieces(k):
        lengths.append(len(outline_of(piece).G))
        if is_late():
            break
    return lengths


def _certificate(batch: Batch, rows: IntArray, lengths: list[int], goal: Goal) -> Certificate:
    claim, at_most = batch.claim[rows], batch.ask.at_most
    if goal is Goal.COST and at_most is not None:
        claim = np.full(len(rows), float(at_most))  # the cheapest of at most so many
    everyone = np.arange(len(rows))
    blocks = []
    for piece, n_rows in enumerate(lengths):
        arguments = tuple(_argument(batch, int(i), piece, n_rows) for i in rows)
        proofs = FewestProofs(claim, batch.value[rows], arguments, goal)
        blocks.append(Block(piece, everyone, proofs))
    return Certificate(len(rows), tuple(blocks))


def _argument(batch: Batch, row: int, piece: int, n_rows: int) -> Argument:
    search = batch.searches.get(row)
    if search is None or piece >= len(search.pools):  # the time was over before
        return Argument.empty(n_rows)
    return search.pools[piece].argument()


def _decide(batch: Batch) -> None:
    """Let the claims of the search decide; only what proofs show of them is handed out."""
    out, ask = batch.out, batch.ask
    found = out.status == FEASIBLE
    size = batch.mask.sum(axis=1)
    gap = np.array([search_gap(batch.region(int(k))) for k in ask.labels])
    tight = batch.value >= out.cost * (1 - np.maximum(ask.effort.gap, 4 * gap)) - COST_ROUNDING
    if ask.at_most is None:
        tight &= batch.claim >= size
        none = np.isinf(batch.claim)
    else:
        none = batch.claim > ask.at_most
    out.status[found & tight] = OPTIMAL
    none &= ~found
    # What the search said of its own failure is no reason once there is a proof.
    said = (out.status == INFEASIBLE) & np.array(
        [why is not None for why in out.reason], dtype=bool
    )
    why_none_of_few(batch.setting, batch.table, ask, none & ~said, ask.at_most, out.reason)
    out.status[none] = INFEASIBLE
    out.size_bound = np.where(found, np.fmin(batch.claim, size), np.inf)
    out.cost_bound = np.where(found, out.cost, np.inf)


def decide_unique(batch: Batch) -> None:
    """Let the next best support tell whether the best one is the only one."""
    out = batch.out
    size = batch.mask.sum(axis=1) if batch.ask.at_most is None else out.cost
    for i in range(len(batch.samples)):
        others = out.alternatives[i] if out.alternatives else ()
        optimal = bool(out.status[i] == OPTIMAL)
        within = int(out.unique[i])
        out.unique[i] = uniqueness(optimal, float(size[i]), float(out.cost[i]), others, within)


def why_none_of_few(
    setting: Setting,
    table: Table,
    ask: FewestAsk,
    none: BoolArray,
    most: int | None,
    reason: NDArray[np.object_],
) -> None:
    """Note why no set of features, of at most so many if that was asked, will do in some rows.

    The proof of that is about sets of features. Where the rules count them, and leave no point
    either, their conflict is named.
    """
    for k in np.unique(ask.labels[none]).tolist():
        key, rows = RegionKey(ask.kind, k), np.flatnonzero(none & (ask.labels == k))
        known: list[Reason | None] = [None] * len(rows)
        if most is not None and not ask.own_values:
            known = conflicts(SEARCH, allowing(setting, most), table.take(rows), key)
        region = setting.region(key, setting.asked_margin)
        for i, own in zip(rows.tolist(), known, strict=True):
            limits = ask.lower[i], ask.upper[i]
            reason[i] = own or why_too_few(setting, key, region, limits, most)
