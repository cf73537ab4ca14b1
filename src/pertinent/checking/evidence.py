"""What the point of an answer, its details and its certificates show, against what it claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from pertinent.checking.findings import CHANGE, ENOUGH, HOLDS, REFUTED, UNKNOWN, Finding, judged
from pertinent.checking.tolerances import SAME, SAME_SIZE
from pertinent.density.measure import measure
from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.codec import unknown_kinds
from pertinent.geometry.task import distance
from pertinent.proofs import ALREADY, INFEASIBLE, OPTIMAL
from pertinent.setting.answers import Certified
from pertinent.setting.claims.positives import is_trivial, kept_features
from pertinent.setting.claims.shown import Measure, Shown
from pertinent.setting.judge import judge_points
from pertinent.setting.question import Method
from pertinent.setting.region_key import RegionKey
from pertinent.setting.results import Negatives, Positives, Results, Uniqueness
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked

R = TypeVar("R", Positives, Negatives)

NOT_SHOWN = "the certificate alone does not show it"


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the certificates of one answer show of its objective, or of its closeness.

    ``unsure`` says why nothing is certain here, whatever they prove; "" if that is not so.
    """

    certificates: Sequence[Certified]
    size: float
    bound: float
    closed: bool
    unsure: str

    @classmethod
    def of(cls, shown: Measure, unsure: str) -> Evidence:
        """Return what is shown of the first answer."""
        first = float(shown.size[0]), float(shown.bound[0]), bool(shown.closed[0])
        return cls(shown.parts, *first, unsure)

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
        return bool(claimed <= self.bound + SAME * max(1.0, abs(self.bound)))


def claimed_bounds(name: str, claims: Sequence[tuple[float, Evidence]]) -> list[Finding]:
    """Judge bounds: no more may be claimed than is proved. Nothing is said where none is."""
    claim = f"{name}: its bound is as said"
    out = [evidence.judge(claim, evidence.reaches(claimed)) for claimed, evidence in claims]
    worst = [f for f in out if f.verdict == REFUTED] or [f for f in out if f.verdict == UNKNOWN]
    return (worst or out)[:1]


def absent(name: str, results: Results, few: Evidence) -> Finding | None:
    """Judge that there is no answer, or that none was given; None where there is one."""
    if results.status_code[0] == INFEASIBLE:
        return few.judge(f"{name}: there is none", few.bound == np.inf)
    return None if results.found[0] else Finding(f"{name}: no answer was given", HOLDS)


def proved(name: str, results: Results, few: Evidence) -> Finding:
    """Judge what the certificates are said to prove of the distance of the answer."""
    if none := absent(name, results, few):
        return none
    size, claimed = few.size, results.bound[0]
    if not is_same(size, results.objective[0]):
        return Finding(f"{name} has the size that is said", REFUTED, f"it is {size:.6g}")
    if results.status_code[0] == OPTIMAL:
        return few.judge(f"{name} is proved smallest", few.closed)
    reached = few.bound >= claimed - SAME * max(1.0, abs(claimed))
    return few.judge(f"{name}: none is smaller than {claimed:.4g}", reached)


def is_same(size: float, said: float) -> bool:
    """Return whether a size is what is said, but for rounding."""
    return bool(np.isclose(size, said, rtol=SAME, atol=SAME_SIZE))


def about_the_question(name: str, results: R, shown: Shown) -> tuple[R, list[Finding]]:
    """Return answers without certificates that speak of something else, and a word on those."""
    fields = {"certificates": shown.few}
    if shown.near is not shown.few:
        fields["closeness_certificates"] = shown.near
    claim = f"{name}: its proof is about what was asked"
    out = [Finding(claim, REFUTED, own.foreign) for own in fields.values() if own.foreign]
    about: dict[str, Any] = {field: tuple(own.parts) for field, own in fields.items()}
    return replace(results, **about), out


def valid(
    name: str, setting: Setting, results: Results, key: RegionKey, label: int, limits: Limits
) -> list[Finding]:
    """Judge the point as it was handed out; nothing is said where there is none.

    ``key`` is the region that was asked for, ``label`` the class that the point is said to have.
    """
    if not results.found[0]:
        return []
    found = judge_points(
        setting,
        results.table,
        results.values,
        key.kind,
        np.array([key.place]),
        limits,
        changes=isinstance(results, Negatives),
        blends=results.blend,
    )
    says = f"predict says {setting.classes.tolist()[int(found.predicted[0])]!r}"
    right = found.right[0] and found.predicted[0] == label
    obeys = found.obeys[0] and (found.points == results.values).all()
    out = [
        judged(f"{name} is predicted as said", right, says),
        judged(f"{name} obeys the rules", obeys),
    ]
    if setting.asked_margin > 0:
        claim = f"{name} lies inside its class by the margin asked for"
        out.append(judged(claim, found.deep[0], f"not by {setting.asked_margin:g}"))
    if setting.within is not None and found.dense is not None:
        out.append(judged(f"{name} is {setting.within.words()}", found.dense[0]))
    return out


def positive_details(asked: Asked, positive: Positives) -> Finding:
    """Judge which features are kept, and whether that is trivial."""
    setting = asked.setting
    question = asked.question.in_precision_of(positive.table)
    trivial = is_trivial(setting, question, positive, positive.objective)
    right = {
        "trivial": bool(positive.trivial[0]) == bool(trivial[0]),
        "fallback": not positive.fallback[0],
    }
    own = kept_features(setting, asked.question, positive) & positive.found[:, None]
    right["kept"] = np.array_equal(positive.kept, own)
    if positive.method is Method.TWO_PHASE:
        at = positive.sparse_values
        right["sparse_point"] = not positive.found[0] or _is_inside(setting, positive, at)
    else:
        right["sparse_point"] = np.array_equal(
            positive.sparse_values, positive.values, equal_nan=True
        )
    return _details(ENOUGH, setting, positive, right)


def _is_inside(setting: Setting, positive: Positives, at: FloatArray) -> bool:
    """Return whether points, of shape (1, n_columns), have the class, and keep the margin."""
    same = setting.predict(positive.table, at) == positive.label
    return bool(same[0] and setting.keep_margin(positive.table, at, positive.label)[0])


def negative_details(setting: Setting, negative: Negatives) -> Finding:
    """Judge which features are changed, and how close the change is said to be."""
    different = setting.features.by_feature(negative.values != negative.table.values)
    size = distance(negative.values, negative.table.values, setting.weights)
    right = {
        "changed": np.array_equal(negative.changed, negative.found[:, None] & different),
        "closeness": is_same(negative.closeness[0], size[0]) or not negative.found[0],
    }
    return _details(CHANGE, setting, negative, right)


def _details(name: str, setting: Setting, results: Results, right: dict[str, bool]) -> Finding:
    """Judge what both parts say, beside what was judged already (``right``, by field)."""
    label = results.target_place if isinstance(results, Negatives) else results.label
    measured = measure(setting.within, label, results.values)
    names = ("log_density", "density_threshold", "density_percentile")
    for field, own in zip(names, measured, strict=True):
        told = getattr(results, field)
        if own is None or told is None:
            right[field] = own is told
        else:
            right[field] = np.allclose(own, told, rtol=SAME, atol=SAME, equal_nan=True)
    if results.found[0]:
        right["reason"] = results.reasons[0] is None
    else:  # nothing is said of an answer that there is not
        sizes = np.array([results.objective[0], results.closeness[0]])
        right["size"] = results.status_code[0] == ALREADY or bool(np.isnan(sizes).all())
        right["unique"] = results.unique_code[0] == Uniqueness.UNKNOWN
    wrong = ", ".join(field for field, holds in right.items() if not holds)
    return judged(f"{name}: its details are as said", not wrong, f"differs in {wrong}")


def unique(
    name: str,
    results: Results,
    only: Callable[[], bool],
    equally_good: Callable[[FloatArray], bool],
) -> list[Finding]:
    """Judge whether there is another answer of the same size, where something is said of it.

    Parameters
    ----------
    name : str
    results : Results
    only : callable
        Whether the certificates show that there is none.
    equally_good : callable
        Whether another point, of shape (1, n_features), is as good an answer.
    """
    code = results.unique_code[0]
    if code == Uniqueness.UNIQUE:
        return [_the_only_one(f"{name} is the only one of its size", results, only)]
    if code == Uniqueness.SEVERAL:
        return [_not_the_only_one(f"{name} is not the only one of its size", results, equally_good)]
    return []


def has_tie(results: Results) -> bool:
    """Return whether an alternative, which is judged by itself, is as good as the answer."""
    size = results.objective[0], results.closeness[0]
    return any(one.ties(*size) for one in results.alternatives[0])


def _the_only_one(claim: str, results: Results, only: Callable[[], bool]) -> Finding:
    if results.status_code[0] != OPTIMAL:
        return Finding(claim, REFUTED, "it is not proved smallest")
    if only():
        return Finding(claim, HOLDS)
    return Finding(claim, UNKNOWN, NOT_SHOWN)


def _not_the_only_one(
    claim: str, results: Results, equally_good: Callable[[FloatArray], bool]
) -> Finding:
    other = results.second.get(0)
    if other is None and has_tie(results):
        return Finding(claim, HOLDS)
    if other is None or np.shape(other) != results.values.shape[1:]:
        return Finding(claim, REFUTED, "no other is shown")
    other = results.table.as_handed_out(np.asarray(other, dtype=float)[None])
    if (other == results.values).all():
        return Finding(claim, REFUTED, "the other is the same")
    if equally_good(other):
        return Finding(claim, HOLDS)
    return Finding(claim, UNKNOWN, "the other one stands on the very boundary, or beyond")
