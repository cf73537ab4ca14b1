"""What a question asks, beside the samples themselves, and the words that name its kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.setting.effort import USUAL, Effort
from pertinent.tables.table import Table

K = TypeVar("K", bound=StrEnum)


class Method(StrEnum):
    """How positives are found."""

    TWO_PHASE = "two-phase"
    STRICT = "strict"
    EXACT = "exact"
    SUFFICIENT = "sufficient"


class Norm(StrEnum):
    """What a negative has least of: the weighted L1 of its change, or changed features."""

    L1 = "l1"
    L0 = "l0"


class Overlap(StrEnum):
    """Whether a negative may change the features that its positive keeps."""

    ALLOW = "allow"
    AVOID = "avoid"


class Missing(StrEnum):
    """What becomes of missing values."""

    ERROR = "error"
    IMPUTE = "impute"
    KEEP = "keep"
    ALLOW = "allow"

    @property
    def is_value(self) -> bool:
        """Whether a missing value is a value of its own, for models that take it."""
        return self in (Missing.KEEP, Missing.ALLOW)


def kind_of(kind: type[K], name: str, word: Any) -> K:
    """Return the kind that a word stands for; a word that stands for none is refused."""
    try:
        return kind(word)
    except ValueError as error:
        words = [str(one) for one in kind]
        listed = f"{words[0]!r} or {words[1]!r}" if len(words) == 2 else f"one of {sorted(words)}"
        end = " instead." if len(words) == 2 else "."
        raise InputError(f"{name} must be {listed}. Got {word!r}{end}") from error


@dataclass(frozen=True, eq=False)
class PositiveQuestion:
    """How positives are asked for.

    Parameters
    ----------
    baseline : ndarray of shape (n_features,)
        Values at which features count as turned off.
    between : bool
        Keep every value between the baseline and the sample's own.
    off_tol : float
        A feature within this distance of its baseline counts as turned off (the paper's
        epsilon); answers are exact, so 0 is right unless small deviations do not matter. Strict
        and exact sets are the fewest among points whose other features stand at the baseline.
    fallback : bool
        Strict only: give the two-phase answer, marked as such, where no strict one exists.
    alternatives : int
        Strict and exact only: how many further sets of features to list.
    effort : Effort
    ranges : tuple of ndarray of shape (n_features,), optional
        Sufficient only: lowest and highest values in the training data.
    in_binary : bool
        Whether numbers in single precision are told with all their digits: see `Table.in_binary`.
    """

    baseline: FloatArray
    between: bool = False
    off_tol: float = 0.0
    fallback: bool = False
    alternatives: int = 0
    effort: Effort = USUAL
    ranges: tuple[FloatArray, FloatArray] | None = None
    in_binary: bool = False

    def in_precision_of(self, table: Table) -> PositiveQuestion:
        """Return the question with base values that can be handed out exactly."""
        if not table.single_precision:
            return self
        baseline = table.as_handed_out(self.baseline[None])[0]
        return replace(self, baseline=baseline, in_binary=not table.decimal_columns.any())


@dataclass(frozen=True, eq=False)
class NegativeQuestion:
    """How negatives are asked for.

    Parameters
    ----------
    target : ndarray of int, shape (n,) or None
        Place of each sample's wanted class; None for the nearest of all others.
    untouched : ndarray of bool, shape (n, n_features), optional
        Features that each sample may not change, beyond the constraints.
    norm : Norm
        L0: the fewest changed features, then the closest.
    max_changes : int, optional
        How many features may change.
    alternatives : int
        How many further sets of changed features to list.
    effort : Effort
    with_proofs : bool
        Whether the proofs of their order are to be kept, for a check.
    """

    target: IntArray | None = None
    untouched: BoolArray | None = None
    norm: Norm = Norm.L1
    max_changes: int | None = None
    alternatives: int = 0
    effort: Effort = USUAL
    with_proofs: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether the nearest point is all that is asked for."""
        return self.norm is Norm.L1 and self.max_changes is None and not self.alternatives

    def take(self, rows: IntArray) -> NegativeQuestion:
        """Return what is asked of some of the samples: the same where nothing differs by sample."""
        if self.target is None and self.untouched is None:
            return self
        target = None if self.target is None else self.target[rows]
        untouched = None if self.untouched is None else self.untouched[rows]
        return replace(self, target=target, untouched=untouched)


def data_ranges(train: FloatArray | None) -> tuple[FloatArray, FloatArray] | None:
    """Return the lowest and highest value of each feature in the training data."""
    if train is None or not len(train):
        return None
    return np.asarray(train.min(axis=0)), np.asarray(train.max(axis=0))


def is_one_label(target: Any) -> bool:
    """Return whether a target is one label for all samples, not one for each."""
    return isinstance(target, str) or np.ndim(target) == 0
