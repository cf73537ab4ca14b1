"""How exact answers are asked for, and what an alternative is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import monotonic

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.questions.positive import PositiveQuestion
from pertinent.questions.supports.subsets import Limits
from pertinent.tables.numbers import is_number, require_number, require_whole
from pertinent.tables.table import Table


@dataclass(frozen=True)
class Effort:
    """How far an exact search goes before it hands out the best answer with its gap.

    Parameters
    ----------
    nodes : int
        Branches of the search, for each sample. The same on every machine, so answers are too.
    time_limit : float or None
        Seconds for each sample. What a slower machine leaves unproved comes as "feasible".
    gap : float
        Relative gap of the second objective at which it counts as optimal.
    """

    nodes: int = 50_000
    time_limit: float | None = None
    gap: float = 1e-6

    @classmethod
    def of(cls, time_limit: float | None, gap: float | None) -> Effort:
        """Return the effort asked for; None leaves the default."""
        return cls(time_limit=time_limit, gap=cls.gap if gap is None else gap)

    def __post_init__(self) -> None:
        limit = self.time_limit
        if limit is not None and not (is_number(limit) and limit > 0):
            raise InputError(f"time_limit must be a number above 0. Got {limit!r} instead.")
        require_number("gap", self.gap)

    def limits(self, samples: int = 1) -> Limits:
        """Return the limits of a search over so many samples that starts now."""
        if self.time_limit is None:
            return Limits(self.nodes)
        end = monotonic() + self.time_limit * max(1, samples)
        return Limits(self.nodes, end, self.time_limit)


@dataclass(frozen=True, eq=False)
class ExactQuestion(PositiveQuestion):
    """How exact positives are asked for.

    Parameters
    ----------
    fallback : bool
        Strict only: give the two-phase answer, marked as such, where no strict one exists.
    alternatives : int
        How many further supports to list.
    effort : Effort
    ranges : tuple of ndarray of shape (n_features,), optional
        Sufficient only: lowest and highest values in the training data.
    """

    fallback: bool = False
    alternatives: int = 0
    effort: Effort = field(default_factory=Effort)
    ranges: tuple[FloatArray, FloatArray] | None = None


def refuse_misplaced(method: str, fallback: bool, alternatives: int) -> None:
    """Say which method an argument belongs to, rather than ignore it."""
    require_whole("alternatives", alternatives, 0)
    if fallback and method != "strict":
        raise InputError(f'fallback=True belongs to method="strict". Got method={method!r}.')
    if alternatives and method not in ("strict", "exact"):
        raise InputError(
            f'alternatives belong to method="strict" and "exact". Got method={method!r}.'
        )


def data_ranges(train: FloatArray | None) -> tuple[FloatArray, FloatArray] | None:
    """Return the lowest and highest value of each feature in the training data."""
    if train is None or not len(train):
        return None
    return np.asarray(train.min(axis=0)), np.asarray(train.max(axis=0))


def in_precision_of(table: Table, question: ExactQuestion) -> ExactQuestion:
    """Return the question with a baseline that points can be handed out with."""
    return replace(question, baseline=table.as_handed_out(question.baseline[None])[0])
