"""Further supports beside the best: the same search, with those already listed ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pertinent.geometry.arrays import BoolArray
from pertinent.geometry.region import Cell, Region
from pertinent.proofs import OPTIMAL, Argument, FewestProofs, Goal
from pertinent.questions.supports.closed_forms import boxes_of, further_boxes
from pertinent.setting.margins import CLOSED
from pertinent.setting.results import Alternative

if TYPE_CHECKING:
    from pertinent.questions.supports.batch import Batch


def other_supports(batch: Batch, row: int) -> tuple[Alternative, ...]:
    """Return the next-best supports of one sample, each listed after its proof was re-checked.

    A support that contains one listed before says nothing new and is left out.
    """
    if not batch.out.found[row]:
        return ()
    k = int(batch.ask.labels[row])
    boxes = boxes_of(batch.region(k)) if batch.domain is None else None
    if boxes is not None:
        return _other_boxes(batch, row, boxes)
    search = batch.searches.get(row) or batch.begin(row, batch.pieces(k))
    search.budget, search.spent = batch.ask.effort.budget(), 0
    search.listed = [batch.mask[row]]
    first = bool(batch.out.status[row] == OPTIMAL)
    masks: list[BoolArray] = []
    proved: list[bool] = []
    size = int(batch.mask[row].sum())
    for _ in range(batch.ask.alternatives):
        for pool in search.pools:
            pool.doubtful.clear()  # not better than the best, but perhaps next
        best = batch.best(search, size)
        if best is None:
            break
        size = int(best.mask.sum()) if batch.ask.at_most is None else size
        masks.append(best.mask)
        known = [(pool.region, pool.argument(search.listed)) for pool in search.pools]
        wanted = best.cost * (1 - 2 * search.gap)
        proved.append(first and not search.stopped and _holds(batch, row, known, best.mask, wanted))
        search.listed = [*search.listed, best.mask]
    return _listed(batch, row, masks, proved)


def _other_boxes(batch: Batch, row: int, cells: Sequence[Cell]) -> tuple[Alternative, ...]:
    """Return the supports of the next-best boxes."""
    ask, first = batch.ask, batch.mask[row]
    further = further_boxes(
        cells,
        batch.choices(np.array([row])),
        batch.samples[row],
        batch.setting.weights,
        first,
        ask.alternatives,
        ask.at_most,
    )
    sure = bool(batch.out.status[row] == OPTIMAL)
    listed, proved = [first], []
    for mask, cost in further:
        known = [(cell, Argument.empty(0, listed)) for cell in cells]
        proved.append(sure and _holds(batch, row, known, mask, cost * (1 - 2 * CLOSED)))
        listed = [*listed, mask]
    return _listed(batch, row, listed[1:], proved)


def _holds(
    batch: Batch,
    row: int,
    known: Sequence[tuple[Cell | Region, Argument]],
    mask: BoolArray,
    cost: float,
) -> bool:
    """Re-check that no support not listed is smaller, or as small and closer."""
    ask, one = batch.ask, [row]
    size = float(mask.sum() if ask.at_most is None else ask.at_most)
    goals = {Goal.COST: cost} | ({Goal.SIZE: size} if ask.at_most is None else {})
    for goal, wanted in goals.items():
        claim = np.array([size]), np.array([cost])
        for piece, argument in known:
            proofs = FewestProofs(*claim, (argument,), goal)
            if proofs.bounds(batch.task(piece, np.array(one)).on(piece))[0] < wanted:
                return False
    return True


def _listed(
    batch: Batch, row: int, masks: list[BoolArray], proved: list[bool]
) -> tuple[Alternative, ...]:
    """Return the alternatives whose points passed the model's predict."""
    if not masks:
        return ()
    rows, supports = np.full(len(masks), row), np.array(masks)
    answers = batch.nearest(rows, supports)
    on = np.where(batch.columns(supports), batch.setting.weights, 0.0)
    cost = (on * np.abs(answers.points - batch.samples[rows])).sum(axis=1)
    count = batch.ask.at_most is None
    return tuple(
        Alternative(
            supports[j],
            answers.points[j],
            float(supports[j].sum()) if count else float(cost[j]),
            float(cost[j]),
            proved[j],
            int(answers.label[j]),
        )
        for j in np.flatnonzero(answers.found)
    )
