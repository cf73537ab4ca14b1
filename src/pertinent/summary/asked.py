"""Positives and negatives of the same samples, and with what they were asked for.

What a summary, a view or a check needs, and nothing that can solve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign, IntArray
from pertinent.models.combined.searched import unsearched
from pertinent.models.regressors import explained
from pertinent.models.steps.text import whole_model
from pertinent.setting.claims.instead import Instead
from pertinent.setting.options import Settings
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.ranges import Room
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


class Rooms(NamedTuple):
    """How far values of one explanation may move: those of each of its answers."""

    positive: Room = Room()
    negative: Room = Room()
    #: Of what stands in for an empty positive.
    instead: Room = Room()


@dataclass(frozen=True, eq=False)
class Asked:
    """Everything beside the answers themselves.

    Parameters
    ----------
    setting : Setting
    question : PositiveQuestion
    settings : Settings
        Without the training data.
    baseline : str
        Where the baseline comes from: "median", "mean" or "given".
    measure : str
        What the weights are: "spread" (1 / standard deviation), "units" (all 1) or "given".
    ranges : ndarray of shape (2, n_features), optional
        Where the middle 90% of the training data lie.
    typical : mapping of int to ndarray, optional
        The typical values of each class, by its place, where there are training data.
    """

    setting: Setting
    question: PositiveQuestion
    settings: Settings = field(default_factory=Settings)
    baseline: str = "given"
    measure: str = "given"
    ranges: FloatArray | None = None
    typical: Mapping[int, FloatArray] | None = None

    @property
    def model(self) -> Foreign:
        """The model as its user knows it, without the range, the text or the search around it."""
        return whole_model(explained(unsearched(self.setting.model)))


@dataclass(frozen=True, eq=False, repr=False)
class Answered:
    """Positives and negatives of the same samples; `Explanations` says what its fields are."""

    positive: Positives
    negative: Negatives
    avoided: BoolArray
    asked: Asked | None = None
    known_rooms: tuple[Rooms, ...] = field(default=(), repr=False)
    known_instead: tuple[Instead | None, ...] = field(default=(), repr=False)

    @property
    def table(self) -> Table:
        """The samples."""
        return self.positive.table

    @property
    def overlap(self) -> IntArray:
        """Number of features that are both kept by the positive and changed by the negative."""
        return np.asarray((self.positive.kept & self.negative.changed).sum(axis=1))

    def rooms(self, rows: list[int], parts: tuple[str, ...] = Rooms._fields) -> list[Rooms]:
        """Return how far the values of answers may move, for each of the rows.

        ``parts`` names the answers that are looked at. Nothing is searched for here: nothing is
        said of rows of which it is not known.
        """
        return [self.known_rooms[i] if self.known_rooms else Rooms() for i in rows]

    def instead(self, rows: list[int]) -> list[Instead | None]:
        """Return what stands in for the empty positives of the rows; None where none is empty.

        Nothing is searched for here either.
        """
        return [self.known_instead[i] if self.known_instead else None for i in rows]

    def __len__(self) -> int:
        return len(self.positive)
