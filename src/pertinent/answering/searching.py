"""Points found by projection onto the regions of the model."""

from __future__ import annotations

import numpy as np

from pertinent.answering.anything.closest import closest
from pertinent.answering.blends import nearest_blends
from pertinent.answering.conflict import why_none
from pertinent.density import Hulls
from pertinent.geometry import task as geometry
from pertinent.geometry.arrays import FloatArray
from pertinent.proofs import Block, Certificate, LinearProofs
from pertinent.proofs.core import NoProofs
from pertinent.setting.answers import Ask, Certified
from pertinent.setting.nearest.search import Found
from pertinent.setting.reasons.reason import Reason
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.solvers.linear.knapsack import look_at_halfspace
from pertinent.solvers.linear.uniqueness import is_clear
from pertinent.solvers.problem import Task
from pertinent.solvers.union import project_task

_FIRST, _NO_RAY = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=bool)


class Projecting:
    """The search of every question about distances: a projection by the solvers."""

    def find(self, setting: Setting, ask: Ask, key: RegionKey, margin: float) -> Found:
        """Return the nearest points of the region at a margin."""
        if setting.by_search:
            return _searched(setting, ask)
        region = setting.region(key, margin)
        if isinstance(setting.within, Hulls):
            owner = setting.owners(key, margin)
            args, samples = (ask.centers, ask.low, ask.high), ask.table.values
            blended = nearest_blends(setting.within, samples, region, owner, setting.weights, args)
            found, blends = blended
            return Found(found.points, found.certificate, found.unique, found.second, blends)
        every = np.empty(len(ask))
        every.fill(np.inf)
        found = project_task(
            Task(
                region,
                ask.centers,
                setting.weights,
                ask.low,
                ask.high,
                every,
                setting.options,
                domain=ask.rules.domain,
            )
        )
        return Found(found.points, found.certificate, found.unique, found.second)

    def look(self, task: geometry.Task) -> tuple[FloatArray, Certificate] | None:
        """Return the only nearest point of a half-space to one center, and its proof."""
        if not is_clear(task, np.ones((1, 1))):
            return None
        point, multiplier = look_at_halfspace(task)
        if multiplier is None:
            return None
        proofs = LinearProofs(np.array([[multiplier]]), _NO_RAY)
        return point, Certificate(1, (Block(0, _FIRST, proofs),))

    def why_none(self, setting: Setting, part: Certified, ask: Ask) -> list[Reason]:
        """Return why there are no points, row by row, by rules that conflict."""
        return why_none(self, setting, part, ask)


def _searched(setting: Setting, ask: Ask) -> Found:
    """Return the closest points that ``predict`` was seen to put where it is asked; no proof."""
    n = len(ask)
    nothing = Certificate(n, (Block(0, np.arange(n), NoProofs(n)),))
    return Found(closest(setting, ask), nothing, np.full(n, -1, dtype=np.int8), {})


SEARCH = Projecting()
