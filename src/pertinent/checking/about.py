"""Whether stored certificates speak of what was asked: of this region, these numbers, this goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from pertinent.checking.findings import REFUTED, Finding
from pertinent.geometry.arrays import FloatArray
from pertinent.proofs.core import WHOLE, NoProofs
from pertinent.proofs.records import UnknownProofs
from pertinent.proofs.supports.cardinality import StrictProofs
from pertinent.proofs.supports.fewest import FewestProofs
from pertinent.proofs.supports.sufficient import RivalSetProofs, SufficientProofs
from pertinent.setting.answers import Certified
from pertinent.setting.limits import owner_of
from pertinent.setting.question import PositiveQuestion
from pertinent.setting.reasons.implausible import is_about_neighbours, nested
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.setting.results import Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked

R = TypeVar("R", Positives, Negatives)

#: Proofs of a number of features, which must not be read as a distance.
COUNTS = (StrictProofs, FewestProofs, SufficientProofs, RivalSetProofs)


def about_the_question(
    name: str,
    asked: Asked,
    results: R,
    keys: Sequence[RegionKey],
    goals: Mapping[str, str],
    rest: FloatArray | None = None,
) -> tuple[R, list[Finding]]:
    """Return answers without certificates that speak of something else, and a word on those.

    Parameters
    ----------
    name : str
    asked : Asked
    results : Positives or Negatives
    keys : sequence of tuple
        The regions that certificates may speak of.
    goals : mapping of str to {"distance", "strict", "size", "cost", "sufficient", "steps"}
        What the certificates of each field must bound: numbers of features and distances must
        not be mixed up. "steps": one after the other, that 1, 2, 3, ... changes do not do.
    rest : ndarray of shape (n_features,), optional
        Where features rest that are not counted; by default the baseline.
    """
    sample, out = results.table.values[0], []
    question = asked.question
    if rest is not None:
        question = replace(question, baseline=rest, off_tol=0.0)
    for field, goal in goals.items():
        parts: Sequence[Certified] = getattr(results, field)
        why = _not_about(asked.prepared, question, parts, keys, goal, sample)
        if why:
            out.append(Finding(f"{name}: its proof is about what was asked", REFUTED, why))
            none: dict[str, Any] = {field: ()}
            results = replace(results, **none)
    return results, out


def _not_about(
    prepared: Setting,
    question: PositiveQuestion,
    certified: Sequence[Certified],
    keys: Sequence[RegionKey],
    goal: str,
    sample: FloatArray,
) -> str:
    """Return in words why certificates of one row do not speak of what was asked; "" if they do."""
    if len(certified) > 1 and goal != "steps":
        return "there is more than one certificate for one answer"
    for part in certified:
        if part.key not in keys:
            return f"the certificate is about {_in_words(prepared, part.key)}"
        for block in part.certificate.blocks:
            if not _fits(prepared, question, part.key, block.proofs, goal):
                return "the certificate proves something else"
            owner = prepared.owners(part.key, prepared.asked_margin)
            place = int(owner[block.piece]) if block.piece != WHOLE else -1
            if not is_about_neighbours(prepared, place, block.proofs, sample):
                return "the certificate is about other training points"
    return ""


def _in_words(prepared: Setting, key: RegionKey) -> str:
    kind, place = key
    known = 0 <= place < len(prepared.classes)
    name = repr(prepared.classes.tolist()[place]) if known else f"number {place}"
    return f"class {name}" if kind is Kind.IS else f"all classes but {name}"


def _fits(
    prepared: Setting,
    question: PositiveQuestion,
    key: RegionKey,
    proofs: Any,
    goal: str,
) -> bool:
    """Return whether proofs are of the kind that answers the question, and about its numbers."""
    if isinstance(proofs, NoProofs | UnknownProofs):
        return True
    if goal in ("distance", "steps"):
        return not any(isinstance(inner, COUNTS) for inner in nested(proofs))
    if goal == "sufficient":
        return isinstance(proofs, SufficientProofs if key.kind is Kind.IS else RivalSetProofs)
    if goal == "strict":
        if not isinstance(proofs, StrictProofs) or proofs.listed:
            return False
        same = np.array_equal(proofs.baseline, question.baseline)
        owner, own = proofs.owner, owner_of(prepared)
        grouped = owner is own if own is None or owner is None else np.array_equal(owner, own)
        return same and proofs.off_tol == question.off_tol and grouped
    if not isinstance(proofs, FewestProofs) or any(a.listed for a in proofs.arguments):
        return False
    return proofs.goal == goal
