"""What is asked of a search, and what it hands in; nothing of it is believed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from pertinent.density.hull import Blend
from pertinent.geometry.arrays import CodeArray, FloatArray
from pertinent.geometry.task import Task
from pertinent.proofs import Certificate
from pertinent.setting.answers import Ask, Certified
from pertinent.setting.reasons.reason import Reason
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting


@dataclass(eq=False)
class Found:
    """The nearest points of one region to n centers, as a search found them.

    Parameters
    ----------
    points : ndarray of shape (n, n_features)
        NaN where the search found none.
    certificate : Certificate
        The numbers that prove bounds.
    unique : ndarray of int8, shape (n,)
        1: the only nearest point, 0: another one is in ``second``, -1: not decided.
    second : dict of int to ndarray
    blends : dict of int to Blend
        With plausibility by hulls: what each point is made of.
    """

    points: FloatArray
    certificate: Certificate
    unique: CodeArray
    second: dict[int, FloatArray]
    blends: dict[int, Blend] = field(default_factory=dict)


class Search(Protocol):
    """Whatever finds points."""

    def find(self, setting: Setting, ask: Ask, key: RegionKey, margin: float) -> Found:
        """Return the nearest points of the region at a margin."""

    def look(self, task: Task) -> tuple[FloatArray, Certificate] | None:
        """Return the only nearest point of one cell to one center, and its proof.

        None where it cannot be told at a glance: there is no point, or there may be several.
        """

    def why_none(self, setting: Setting, part: Certified, ask: Ask) -> list[Reason]:
        """Return why there are no points, row by row, by rules that conflict."""
