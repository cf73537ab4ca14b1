"""Results: one answer for each sample, as plain arrays."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import (
    BY_KEY,
    OF_SOME,
    SHARED,
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    Rows,
)
from pertinent.proofs import FAILED, FEASIBLE, status_names
from pertinent.setting.answers import Certified
from pertinent.setting.margins import TIE
from pertinent.setting.question import Method, Norm
from pertinent.tables.notebook import card
from pertinent.tables.table import Table

_TRUTH = np.array([None, False, True], dtype=object)


class Uniqueness(IntEnum):
    """Whether an answer is the only one of its size, as arrays and files hold it."""

    UNKNOWN = -1
    SEVERAL = 0
    UNIQUE = 1


UNKNOWN, SEVERAL, UNIQUE = Uniqueness
_FAILED = bytes([FAILED])


def uniqueness(
    optimal: bool,
    objective: float,
    closeness: float,
    alternatives: tuple[Alternative, ...],
    within: int = UNIQUE,
) -> int:
    """Return whether an answer is the only best one, as far as its alternatives tell.

    Parameters
    ----------
    optimal : bool
    objective, closeness : float
    alternatives : tuple of Alternative
        The next best sets of features.
    within : int
        Whether the point is the only best one of its own set of features.
    """
    if not optimal:
        return UNKNOWN
    if within == SEVERAL or any(a.ties(objective, closeness) for a in alternatives):
        return SEVERAL
    # No feature kept or changed: there is one such point, and every other set is larger.
    none = objective == 0 and closeness == 0
    return within if none or (alternatives and alternatives[0].proved) else UNKNOWN


@dataclass(frozen=True, eq=False)
class LeftAlone:
    """A proof about all changes of one sample that leave some features alone.

    ``untouched`` tells which these are, ``part`` is about one row.
    """

    untouched: BoolArray
    part: Certified


@dataclass(frozen=True, eq=False)
class Alternative:
    """Another set of features that does it, next in the order of the objective.

    Attributes
    ----------
    features : ndarray of bool, shape (n_features,)
        Features that are kept (positives) or changed (negatives).
    values : ndarray of shape (n_features,)
        The point, in the model's order of features; it passed the model's ``predict``.
    objective : float
        Number of features for exact positives and ``norm="l0"``, else weighted L1.
    closeness : float
        Weighted L1 over the features, the second objective; equal to ``objective`` for
        negatives in weighted L1.
    proved : bool
        Whether every set of features not listed before, and not containing one that is, has
        been proved no better.
    label : int
        Place in ``classes`` of the class the point is predicted as.
    why : tuple of LeftAlone
        Together with those of the alternatives before: why that is so. Negatives of an `Explainer`
        in weighted L1 have them.
    """

    features: BoolArray
    values: FloatArray
    objective: float
    closeness: float
    proved: bool
    label: int
    why: tuple[LeftAlone, ...] = field(default=(), repr=False)

    def ties(self, objective: float, closeness: float) -> bool:
        """Return whether an answer of this objective and closeness is no better."""
        near = TIE * (1.0 + abs(closeness))
        return self.objective <= objective + near and self.closeness <= closeness + near

    def __repr__(self) -> str:
        which = ", ".join(str(j) for j in np.flatnonzero(self.features))
        word = "proved" if self.proved else "not proved"
        return f"<Alternative: features {{{which}}}, objective {self.objective:.6g}, {word}>"


@dataclass(frozen=True, eq=False)
class Results(Rows):
    """What positives and negatives have in common: one answer for each sample.

    Attributes
    ----------
    values : ndarray of shape (n, n_features)
        The points as numbers, in the model's order of features; NaN where there is none.
    status_code, unique_code : ndarray of int8
        Behind ``status`` and ``unique``.
    reasons : ndarray of object, shape (n,)
        The `Reason` where there is no point, else None.
    label : ndarray of int, shape (n,)
        Place in ``classes`` of the sample's own prediction.
    objective, bound : ndarray of shape (n,)
        Weighted L1 and its proved lower bound.
    second : dict of int to ndarray
        Another optimal point for rows whose optimum is not unique.
    closeness, closeness_bound : ndarray of shape (n,)
        The second objective, and the bound on it.
    closeness_certificates : tuple of Certified
        Why none of as few features is closer.
    alternatives : tuple of tuples of Alternative
        Further sets of features for each sample, in order; empty unless asked for.
    log_density, density_threshold : ndarray of shape (n,) or None
        With `Plausibility`: log-density of each point under the mixture of its class, and what
        was asked for. None without a mixture.
    density_percentile : ndarray of shape (n,) or None
        How many percent of the class's training points have a lower density than the point.
    blend : ndarray of object, shape (n,) or None
        With ``Plausibility(method="hull")``: the `Blend` that each point is.
    """

    table: Table = field(repr=False)
    classes: NDArray[Any] = field(metadata=SHARED)
    values: FloatArray
    status_code: CodeArray
    reasons: NDArray[np.object_]
    unique_code: CodeArray
    label: IntArray
    objective: FloatArray
    bound: FloatArray
    second: dict[int, FloatArray] = field(metadata=BY_KEY)
    certificates: tuple[Certified, ...] = field(repr=False, metadata=OF_SOME)
    _: KW_ONLY
    closeness: FloatArray = field(default=None)  # type: ignore[arg-type]
    closeness_bound: FloatArray = field(default=None)  # type: ignore[arg-type]
    closeness_certificates: tuple[Certified, ...] = field(default=(), repr=False, metadata=OF_SOME)
    alternatives: tuple[tuple[Alternative, ...], ...] = ()
    log_density: FloatArray | None = None
    density_threshold: FloatArray | None = None
    density_percentile: FloatArray | None = None
    blend: NDArray[np.object_] | None = None

    def __post_init__(self) -> None:
        if self.closeness is None:
            object.__setattr__(self, "closeness", self.objective)
            object.__setattr__(self, "closeness_bound", self.bound)
        if not self.alternatives:
            object.__setattr__(self, "alternatives", ((),) * len(self))
        if _FAILED in self.status_code.astype(np.int8, copy=False).tobytes():
            self._refuse_bold_reasons()

    def _refuse_bold_reasons(self) -> None:
        """Refuse reasons that say that there is no answer where that is not proved."""
        for why in self.reasons[self.status_code == FAILED]:
            if why is not None and why.kind.claims_none:
                raise InputError(
                    f"A reason of the kind {why.kind.value!r} says that there is no answer: its "
                    'status is "infeasible", not "failed".'
                )

    def __len__(self) -> int:
        return len(self.values)

    def forget(self) -> None:
        """Let certificates forget the batch that they were asked about last."""
        for part in self.about_some():
            part.certificate.forget()

    @property
    def points(self) -> Any:
        """The points, as the kind of table the samples came in."""
        return self.table.write(self.values)

    @property
    def status(self) -> NDArray[np.str_]:
        """One of "optimal", "feasible", "infeasible", "failed", "already" for each sample.

        "already": the sample is predicted as the target that was asked for.
        """
        return status_names(self.status_code)

    @property
    def found(self) -> BoolArray:
        """Whether there is a point."""
        return np.asarray(self.status_code <= FEASIBLE)

    @property
    def reason(self) -> NDArray[np.object_]:
        """Words where there is no point, else None."""
        words = [self.reason_of(row) for row in range(len(self.reasons))]
        return np.array([*words, None], dtype=object)[:-1]

    def reason_of(self, row: int) -> str | None:
        """Return why one sample has no point, in words; None where it has one."""
        why = self.reasons[row]
        return None if why is None else why.words(self.classes)

    @property
    def unique(self) -> NDArray[np.object_]:
        """True, False, or None where not decided."""
        decided: NDArray[np.object_] = _TRUTH[self.unique_code + 1]
        return decided

    @property
    def prediction(self) -> NDArray[Any]:
        """The sample's own prediction."""
        return np.asarray(self.classes[self.label])

    def _repr_html_(self) -> str:
        return card(repr(self)[1:-1], [])

    def _counts(self) -> str:
        if not len(self):
            return "0 samples"
        names, counts = np.unique(self.status, return_counts=True)
        return ", ".join(f"{c} {n}" for n, c in zip(names, counts, strict=True))

    def _average(self, chosen: BoolArray, verb: str) -> str:
        some = chosen[self.found].sum(axis=1)
        if not len(some):
            return ""
        return f", {some.mean():.3g} of {chosen.shape[1]} features {verb} on average"


@dataclass(frozen=True, eq=False, repr=False)
class Positives(Results):
    """Pertinent positives.

    Attributes
    ----------
    kept : ndarray of bool, shape (n, n_features)
        Features that are turned on.
    trivial : ndarray of bool, shape (n,)
        The baseline itself is already predicted as this class: the positive is empty, and the
        explanation rests on the negative.
    objective, bound : ndarray of shape (n,)
        Phase 1: weighted L1 of ``sparse_points`` to the baseline, and the bound on it.
    closeness, closeness_bound : ndarray of shape (n,)
        Phase 2: weighted L1 between point and sample over the features phase 1 turned on
        (eq. 8), and the bound on it for that set of features.
    method : {"two-phase", "strict", "exact", "sufficient"}
        For the last three ``objective`` is the number of kept features, ``bound`` its proved
        lower bound, and ``closeness_bound`` holds for every set of that many features.
        The ``closeness_certificates`` of "sufficient" prove that no point of another class has
        the kept values, for models where that cannot be read off their region.
    fallback : ndarray of bool, shape (n,)
        No strict positive exists, and this is the two-phase one instead.
    """

    sparse_values: FloatArray
    kept: BoolArray
    trivial: BoolArray
    baseline: FloatArray = field(metadata=SHARED)
    method: Method = Method.TWO_PHASE
    fallback: BoolArray = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fallback is None:
            object.__setattr__(self, "fallback", np.zeros(len(self), dtype=bool))

    @property
    def sparse_points(self) -> Any:
        """Phase 1's points, as the kind of table the samples came in."""
        return self.table.write(self.sparse_values)

    def __repr__(self) -> str:
        return f"<Positives: {self._counts()}{self._average(self.kept, 'kept')}>"


@dataclass(frozen=True, eq=False, repr=False)
class Negatives(Results):
    """Pertinent negatives.

    Attributes
    ----------
    changed : ndarray of bool, shape (n, n_features)
    target_place : ndarray of int, shape (n,)
        Place in ``classes`` of the class reached, or asked for; -1 where neither is known.
    norm : {"l1", "l0"}
        With "l0" ``objective`` and ``bound`` count changed features.
    closeness, closeness_bound : ndarray of shape (n,)
        Weighted L1 of the change, and the bound on it (with "l0": among all sets of that many
        features).
    avoiding_certificates : tuple of Certified
        With ``overlap="avoid"``: why no change keeps off the positive's features, for the samples
        of which that is proved.
    """

    changed: BoolArray
    target_place: IntArray
    norm: Norm = Norm.L1
    avoiding_certificates: tuple[Certified, ...] = field(default=(), repr=False, metadata=OF_SOME)

    @property
    def target(self) -> NDArray[Any]:
        """The class reached or asked for; None where there is none."""
        labels = np.array([*self.classes.tolist(), None], dtype=object)
        chosen: NDArray[Any] = labels[self.target_place]
        return chosen if (self.target_place < 0).any() else chosen.astype(self.classes.dtype)

    def __repr__(self) -> str:
        return f"<Negatives: {self._counts()}{self._average(self.changed, 'changed')}>"
