"""Further supports beside the best: the same search, with those already listed ruled out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pertinent._typing import BoolArray
from pertinent.certificate import OPTIMAL, FewestProofs
from pertinent.exact.alternative import Alternative
from pertinent.exact.engine import Best, Search

if TYPE_CHECKING:
    from pertinent.exact.fewest import Batch


def other_supports(batch: Batch, row: int) -> tuple[Alternative, ...]:
    """Return the next-best supports of one sample, each listed after its proof was re-checked.

    A support that contains one listed before says nothing new and is left out.
    """
    if not batch.out.found[row]:
        return ()
    region = batch.region(int(batch.ask.labels[row]))
    search = batch.searches.get(row) or batch.begin(row, region, [])
    search.limits, search.spent = batch.ask.effort.limits(), 0
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
        proved.append(first and not search.stopped and _holds(batch, search, row, best))
        search.listed = [*search.listed, best.mask]
    return _listed(batch, row, masks, proved)


def _holds(batch: Batch, search: Search, row: int, best: Best) -> bool:
    """Re-check that no support not listed is smaller, or as small and closer."""
    ask = batch.ask
    size = float(best.mask.sum() if ask.at_most is None else ask.at_most)
    cost = best.cost * (1 - 2 * search.gap)
    goals = {"cost": cost} if ask.at_most is not None else {"size": size, "cost": cost}
    for goal, wanted in goals.items():
        for pool in search.pools:
            proofs = FewestProofs(
                ask.rest[[row]],
                np.array([size]),
                np.array([cost]),
                (pool.argument(search.listed),),
                goal,
                ask.off_tol,
            )
            low = np.maximum(ask.lower[[row]], pool.cell.lower)
            high = np.minimum(ask.upper[[row]], pool.cell.upper)
            weights = batch.prepared.weights
            if proofs.bounds(pool.cell, batch.samples[[row]], weights, low, high)[0] < wanted:
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
    on = np.where(supports, batch.prepared.weights, 0.0)
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
