"""Whether certificates speak of what was asked: of this region, these numbers, this goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np

from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.codec import nested
from pertinent.proofs import FewestProofs, LinearProofs, StrictProofs
from pertinent.proofs import Goal as Bounded
from pertinent.proofs.core import WHOLE, Block, NoProofs
from pertinent.proofs.linear import SingleRowProofs
from pertinent.proofs.records import UnknownProofs
from pertinent.proofs.supports.sufficient import RivalSetProofs, SufficientProofs
from pertinent.proofs.tangent import HullProofs
from pertinent.setting.answers import Certified
from pertinent.setting.limits import owner_of
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.reasons.implausible import is_about_neighbours
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.setting.setting import Setting

#: Proofs of a number of features, which must not be read as a distance.
COUNTS = (StrictProofs, FewestProofs, SufficientProofs, RivalSetProofs)


class Goal(Enum):
    """What certificates bound."""

    DISTANCE = auto()
    #: Features that are kept at the sample's own values, the others at the baseline.
    STRICT = auto()
    #: Features that are kept or changed, and the least cost of as many.
    SIZE = auto()
    COST = auto()
    #: Features that are kept, whatever the others are.
    SUFFICIENT = auto()


@dataclass(frozen=True, eq=False)
class Subject:
    """What certificates must speak of, sample by sample.

    Parameters
    ----------
    setting : Setting
    samples : ndarray of shape (n, n_features)
    kind : Kind
        Whether points must be of the class in ``labels``, or of any other.
    labels : ndarray of int, shape (n,)
    question : PositiveQuestion, optional
        Of which features rest at the baseline.
    """

    setting: Setting
    samples: FloatArray
    kind: Kind
    labels: IntArray
    question: PositiveQuestion | None = None

    def among(
        self, parts: Sequence[Certified], *goals: Goal, least: Any = 0
    ) -> tuple[tuple[Certified, ...], str]:
        """Return the certificates about one of the goals, and why the first other one is not.

        ``least`` is how many features a proof of their cost must speak of: where it speaks of
        fewer, it is left out for this sample, not for others.
        """
        own, foreign = [], ""
        least = np.broadcast_to(least, len(self.samples))
        for part in parts:
            why = self._misses(part, goals, least)
            if why and len(part.rows) > 1:
                here = [part.among(row[None], len(self.samples)) for row in part.rows]
                own += [one for one in here if not self._misses(one, goals, least)]
            elif not why:
                own.append(part)
            foreign = foreign or why
        return tuple(own), foreign

    def _misses(self, part: Certified, goals: Sequence[Goal], least: Any) -> str:
        right = part.key.kind is self.kind or Goal.SUFFICIENT in goals
        if not right or not (self.labels[part.rows] == part.key.place).all():
            return f"the certificate is about {_in_words(self.setting, part.key)}"
        for block in part.certificate.blocks:
            some = least[part.rows[block.rows]]
            if not any(self._fits(block.proofs, part.key, goal, some) for goal in goals):
                return "the certificate proves something else"
            if not _is_near(self.setting, part, block, self.samples):
                return "the certificate is about other training points"
        return ""

    def _fits(self, proofs: Any, key: RegionKey, goal: Goal, least: FloatArray) -> bool:
        """Return whether proofs are of the kind that answers the question, and of its numbers."""
        if isinstance(proofs, NoProofs | UnknownProofs):
            return True
        if goal is Goal.DISTANCE:
            return _is_distance(self.setting, proofs)
        if goal is Goal.SUFFICIENT:
            return isinstance(proofs, SufficientProofs if key.kind is Kind.IS else RivalSetProofs)
        if goal is Goal.STRICT:
            return isinstance(proofs, StrictProofs) and self._is_strict(proofs)
        if not isinstance(proofs, FewestProofs) or any(a.listed for a in proofs.arguments):
            return False
        # What is proved of sets of fewer features says nothing of those of as many.
        enough = goal is Goal.SIZE or not (proofs.size < least).any()
        right = proofs.goal == (Bounded.SIZE if goal is Goal.SIZE else Bounded.COST)
        return right and enough and not _holds(proofs.arguments, COUNTS)

    def _is_strict(self, proofs: StrictProofs) -> bool:
        assert self.question is not None
        owner, own = proofs.owner, owner_of(self.setting)
        return (
            not proofs.listed
            and np.array_equal(proofs.baseline, self.question.baseline)
            and proofs.off_tol == self.question.off_tol
            and (owner is own if own is None or owner is None else np.array_equal(owner, own))
        )


def is_of_distances(setting: Setting, part: Certified, samples: FloatArray) -> bool:
    """Return whether a certificate speaks of distances, and of the neighbours to be blended."""
    for block in part.certificate.blocks:
        if not _is_distance(setting, block.proofs) or not _is_near(setting, part, block, samples):
            return False
    return True


def _is_distance(setting: Setting, proofs: Any) -> bool:
    if isinstance(proofs, LinearProofs | SingleRowProofs):  # most often: nothing is inside
        return True
    hulls = isinstance(setting.within, Hulls)
    return not _holds(proofs, COUNTS if hulls else (*COUNTS, HullProofs))


def _is_near(setting: Setting, part: Certified, block: Block, samples: FloatArray) -> bool:
    """Return whether what is said of blends is about the neighbours that may be blended."""
    if not isinstance(setting.within, Hulls):
        return True
    owner = setting.owners(part.key, setting.asked_margin)
    place = int(owner[block.piece]) if block.piece != WHOLE else -1
    return all(
        is_about_neighbours(setting, place, block.proofs.take(np.array([i])), samples[row])
        for i, row in enumerate(part.rows[block.rows])
    )


def _holds(proofs: Any, kinds: tuple[type, ...]) -> bool:
    return any(isinstance(inner, kinds) for inner in nested(proofs))


def _in_words(setting: Setting, key: RegionKey) -> str:
    known = 0 <= key.place < len(setting.classes)
    name = repr(setting.classes.tolist()[key.place]) if known else f"number {key.place}"
    return f"class {name}" if key.kind is Kind.IS else f"all classes but {name}"
