"""Sufficient sets for unions of polyhedra: hit every rival, found one after the other.

A rival is a point of another class, within the bounds, that agrees with the sample on the set
proposed so far. Each sufficient set contains a feature in which the rival differs; the smallest
set that hits all rivals found is proposed next. When there is no rival left, it is sufficient,
and no smaller set is, since it would miss one of the rivals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pertinent._typing import BoolArray, FloatArray
from pertinent.certificate import INFEASIBLE
from pertinent.exact.question import Effort
from pertinent.exact.subsets import FOUND, STOPPED, Gains, Limits, find_supports
from pertinent.exact.worst import Suffices
from pertinent.features import Table
from pertinent.prepared import Prepared
from pertinent.projection import project

#: Rivals after which a sample is given up.
MOST_RIVALS = 2_000


@dataclass(eq=False)
class _Row:
    """One sample: the rivals found, and the smallest set that hits them."""

    sample: FloatArray
    limits: Limits
    rivals: list[FloatArray] = field(default_factory=list)
    size: int = 0
    mask: BoolArray = field(default=None)  # type: ignore[arg-type]
    state: str = "open"

    def __post_init__(self) -> None:
        self.mask = np.zeros(len(self.sample), dtype=bool)

    def meet(self, rival: FloatArray) -> None:
        """Take in a rival, and propose the next smallest set."""
        if not (rival != self.sample).any():
            self.state = "none"
            return
        self.rivals.append(rival)
        if len(self.rivals) > MOST_RIVALS:
            self.state = "stopped"
            return
        differs = (np.array(self.rivals) != self.sample).astype(float)
        gains = Gains(differs[None], np.ones((1, len(differs))), differs.any(axis=0)[None])
        while self.size <= len(self.sample):
            result = find_supports(gains, self.size, self.limits)
            if result.outcome[0] == FOUND:
                self.mask = result.first(len(self.sample))[1][0]
                return
            if result.outcome[0] == STOPPED:
                self.state = "stopped"
                return
            self.size += 1


def hit_rivals(
    prepared: Prepared,
    table: Table,
    k: int,
    lower: FloatArray,
    upper: FloatArray,
    effort: Effort,
) -> Suffices:
    """Return the fewest features that leave no room for another class."""
    # Rivals may come as close to the boundary as the margin: sufficient sets stay clear of it.
    region, _ = prepared.region("not", k, -prepared.margin_for(table))
    options = replace(prepared.options, unique=False)
    rows = [_Row(x, effort.limits()) for x in table.values]
    waiting = np.arange(len(rows))
    while len(waiting):
        fixed = np.array([rows[i].mask for i in waiting])
        x = table.values[waiting]
        low, high = np.where(fixed, x, lower[waiting]), np.where(fixed, x, upper[waiting])
        found = project(x, region, prepared.weights, low, high, options)
        for j, i in enumerate(waiting):
            if found.status[j] == INFEASIBLE:
                rows[i].state = "done"
            elif np.isfinite(found.objective[j]):
                rows[i].meet(found.points[j])
            else:
                rows[i].state = "failed"
        waiting = np.array([i for i in waiting if rows[i].state == "open"], dtype=np.int64)
    return _answers(rows)


_REASONS = {
    "done": None,
    "none": "the sample lies closer to another class than the margin",
    "stopped": "the search reached its limit before it found a set that suffices",
    "failed": "the solvers found neither a rival nor a proof that there is none",
}


def _answers(rows: list[_Row]) -> Suffices:
    reason: NDArray[np.object_] = np.array([_REASONS[row.state] for row in rows], dtype=object)
    size = [np.inf if row.state == "none" else float(row.size) for row in rows]
    return Suffices(
        np.array([row.mask for row in rows]),
        np.array([row.state == "done" for row in rows]),
        np.array(size),
        reason,
        tuple(np.array(row.rivals).reshape(-1, len(row.sample)) for row in rows),
    )
