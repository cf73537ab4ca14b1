"""What the point of an answer, its details and its certificates show, against what it claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pertinent.checking.findings import CHANGE, ENOUGH, HOLDS, REFUTED, UNKNOWN, Finding, judged
from pertinent.density.measure import measure
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.codec import unknown_kinds
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed, rounding_unit
from pertinent.geometry.task import distance
from pertinent.proofs import INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Certified
from pertinent.setting.judge import judge_points
from pertinent.setting.question import Method
from pertinent.setting.region_key import RegionKey
from pertinent.setting.results import Negatives, Positives, Results
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked


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


def valid(
    name: str, prepared: Setting, results: Results, key: RegionKey, label: int, limits: Limits
) -> list[Finding]:
    """Judge the point as it was handed out; nothing is said where there is none.

    ``key`` is the region that was asked for, ``label`` the class that the point is said to have.
    """
    if not results.found[0]:
        return []
    table = results.table
    blends = results.blend if isinstance(results, Positives | Negatives) else None
    found = judge_points(
        prepared,
        table,
        results.values,
        key.kind,
        np.array([key.place]),
        limits,
        changes=isinstance(results, Negatives),
        blends=blends,
    )
    says = f"predict says {prepared.classes.tolist()[int(found.predicted[0])]!r}"
    right = found.right[0] and found.predicted[0] == label
    obeys = found.obeys[0] and (found.points == results.values).all()
    out = [
        judged(f"{name} is predicted as said", right, says),
        judged(f"{name} obeys the rules", obeys),
    ]
    if prepared.within is not None and found.dense is not None:
        out.append(judged(f"{name} is {prepared.within.words()}", found.dense[0]))
    return out


def positive_details(asked: Asked, positive: Positives) -> Finding:
    """Judge which features are kept, and whether that is trivial."""
    prepared = asked.prepared
    right = {
        "trivial": bool(positive.trivial[0]) == bool(positive.objective[0] == 0),
        "fallback": not positive.fallback[0],
    }
    if positive.method is not Method.SUFFICIENT:
        on = np.abs(positive.values - asked.question.baseline) > asked.question.off_tol
        own = positive.found[:, None] & prepared.features.by_feature(on)
        right["kept"] = np.array_equal(positive.kept, own)
    if positive.method is Method.TWO_PHASE:
        at = positive.sparse_values
        same = prepared.predict(positive.table, at)[0] if positive.found[0] else None
        right["sparse_point"] = same is None or same == positive.label[0]
    else:
        right["sparse_point"] = np.array_equal(
            positive.sparse_values, positive.values, equal_nan=True
        )
    return _details(ENOUGH, prepared, positive, right)


def negative_details(prepared: Setting, negative: Negatives) -> Finding:
    """Judge which features are changed, and how close the change is said to be."""
    different = prepared.features.by_feature(negative.values != negative.table.values)
    size = distance(negative.values, negative.table.values, prepared.weights)
    same = np.isclose(negative.closeness, size, rtol=1e-9, atol=1e-12)
    right = {
        "changed": np.array_equal(negative.changed, negative.found[:, None] & different),
        "closeness": bool(same[0]) or not negative.found[0],
    }
    return _details(CHANGE, prepared, negative, right)


def _details(name: str, prepared: Setting, results: Results, right: dict[str, bool]) -> Finding:
    """Judge what both parts say, beside what was judged already (``right``, by field)."""
    label = results.target_place if isinstance(results, Negatives) else results.label
    measured = measure(prepared.within, label, results.values)
    names = ("log_density", "density_threshold", "density_percentile")
    for field, own in zip(names, measured, strict=True):
        told = getattr(results, field)
        if own is None or told is None:
            right[field] = own is told
        else:
            right[field] = np.allclose(own, told, rtol=1e-9, atol=1e-9, equal_nan=True)
    right["reason"] = not results.found[0] or results.reasons[0] is None
    right["alternatives"] = not any(getattr(results, "alternatives", ((),)))
    wrong = ", ".join(field for field, holds in right.items() if not holds)
    return judged(f"{name}: its details are as said", not wrong, f"differs in {wrong}")
