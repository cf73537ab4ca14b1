"""What the certificates of an answer prove, against what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.checking.findings import HOLDS, REFUTED, UNKNOWN, Finding, judged
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.codec import unknown_kinds
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.proofs import INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Certified
from pertinent.setting.results import Negatives, Results
from pertinent.setting.setting import Setting


@dataclass(frozen=True, eq=False)
class Evidence:
    """Certificates of one answer.

    Parameters
    ----------
    certificates : tuple of Certified
    bound : float
        What they prove, recomputed.
    unsure : str
        Why nothing is certain here, whatever they prove; "" if that is not so.
    """

    certificates: tuple[Certified, ...]
    bound: float
    unsure: str

    def judge(self, claim: str, holds: Any) -> Finding:
        """Return whether a claim that rests on the bound holds; unknown if nobody could tell."""
        if self.unsure:
            return Finding(claim, UNKNOWN, self.unsure)
        own = [part.certificate for part in self.certificates]
        kinds = sorted(set().union(*(unknown_kinds(certificate) for certificate in own)))
        if kinds:
            return Finding(claim, UNKNOWN, f"proof of unknown kind: {', '.join(kinds)}")
        if not all(certificate.trusted().all() for certificate in own):
            return Finding(claim, UNKNOWN, "the bound repeats a solver's word")
        return judged(claim, holds, f"the certificate proves {self.bound:.6g} only")

    def reaches(self, claimed: float) -> bool:
        """Return whether no more is claimed than is proved, but for rounding."""
        return bool(claimed <= self.bound + 1e-9 * max(1.0, abs(self.bound)))


def claimed_bounds(name: str, claims: Sequence[tuple[float, Evidence]]) -> list[Finding]:
    """Judge bounds: no more may be claimed than is proved. Nothing is said where none is."""
    claim = f"{name}: its bound is as said"
    out = [evidence.judge(claim, evidence.reaches(claimed)) for claimed, evidence in claims]
    worst = [f for f in out if f.verdict == REFUTED] or [f for f in out if f.verdict == UNKNOWN]
    return (worst or out)[:1]


def proved(
    name: str,
    prepared: Setting,
    results: Results,
    evidence: Evidence,
    points: FloatArray,
    centers: FloatArray,
) -> Finding:
    """Judge what the certificates are said to prove of the distance from centers to points."""
    if results.status_code[0] == INFEASIBLE:
        return evidence.judge(f"{name}: there is none", evidence.bound == np.inf)
    if not results.found[0]:
        return Finding(f"{name}: no answer was given", HOLDS)
    size = distance(points, centers, prepared.weights)
    if not np.isclose(size[0], results.objective[0], rtol=1e-9, atol=1e-12):
        return Finding(f"{name} has the size that is said", REFUTED, f"it is {size[0]:.6g}")
    if results.status_code[0] == OPTIMAL:
        met = meets(evidence, prepared, results, size, points, centers)
        return evidence.judge(f"{name} is proved smallest", met)
    claimed = results.bound[0]
    reached = evidence.bound >= claimed - 1e-9 * max(1.0, abs(claimed))
    return evidence.judge(f"{name}: none is smaller than {claimed:.4g}", reached)


def meets(
    evidence: Evidence,
    prepared: Setting,
    results: Results,
    size: FloatArray,
    points: FloatArray,
    centers: FloatArray,
    spent: float = 0.0,
) -> bool:
    """Return whether the bound meets the size, in the precision of the samples.

    ``spent`` is the part of the size that the bound does not speak of.
    """
    bound = np.array([evidence.bound + spent])
    gap = _gap(prepared, results, evidence.certificates)
    closed = is_closed(size, bound, points, centers, prepared.weights, gap, unit_of(results))
    return bool(closed[0])


def unit_of(results: Results) -> float:
    """Return the share that rounding takes, in the precision of the samples."""
    return rounding_unit(results.table.single_precision, results.values.shape[1])


def _gap(prepared: Setting, results: Results, certificates: tuple[Certified, ...]) -> float:
    domain = prepared.domain_of(results.table, changes=isinstance(results, Negatives))
    convex = all(prepared.region(part.key, 0.0).is_convex for part in certificates)
    return GAP_CONVEX if convex and domain is None else GAP_NONCONVEX
