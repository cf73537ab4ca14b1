"""A stored explanation, judged again: by the model's own ``predict`` and without any solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pertinent._typing import FloatArray, Foreign
from pertinent.answers import Certified
from pertinent.asked import Asked
from pertinent.certificate import FAILED, INFEASIBLE, OPTIMAL
from pertinent.certificate._check import (
    GAP_CONVEX,
    GAP_NONCONVEX,
    is_closed,
    rounding_unit,
)
from pertinent.certificate._records import decode, unknown_kinds
from pertinent.conflicts import why_infeasible
from pertinent.exact.fewest import search_gap
from pertinent.exact.question import ExactQuestion
from pertinent.exact.recheck import recheck_exact_positives
from pertinent.exact.sufficient import holds_whatever, sufficient_limits
from pertinent.exceptions import InputError, PertinentError
from pertinent.explanation import Explanations, Negatives, Positives, Results
from pertinent.features import Table
from pertinent.negative import negative_limits
from pertinent.plausibility.conflict import why_implausible
from pertinent.plausibility.hull import Hulls
from pertinent.plausibility.judge import is_plausible, measure
from pertinent.positive import held_limits, positive_limits, turned_off
from pertinent.prepared import Prepared
from pertinent.projection.problem import distance
from pertinent.rebuilding import asked_target, domain_of, plausible_within, rebuild
from pertinent.recheck import is_only_one, not_about, recheck_negatives, recheck_positives
from pertinent.views.rounding import passes, rules_broken
from pertinent.views.single import Explanation
from pertinent.views.stored import read_document, require_document
from pertinent.views.summary import summarize

R = TypeVar("R", Positives, Negatives)

#: What the certificates of each method bound, by their field.
METHODS = {
    "two-phase": {"certificates": "distance", "closeness_certificates": "distance"},
    "strict": {"certificates": "strict", "closeness_certificates": "strict"},
    "exact": {"certificates": "size", "closeness_certificates": "cost"},
    "sufficient": {"certificates": "sufficient"},
}

HOLDS, REFUTED, UNKNOWN = "holds", "refuted", "not re-checkable here"
#: What no model can confirm or deny: part of the question, not of the answer.
GIVEN = "taken as given"

ENOUGH, CHANGE = "what was enough", "what would have changed it"


@dataclass(frozen=True)
class Finding:
    """One claim of an explanation, and whether it is true of the model."""

    claim: str
    verdict: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.verdict}: {self.claim}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True)
class Checked:
    """All claims of one explanation, judged.

    Attributes
    ----------
    findings : tuple of Finding
    """

    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """The worst of all claims: "refuted", "not re-checkable here", or "holds"."""
        found = {finding.verdict for finding in self.findings}
        return REFUTED if REFUTED in found else UNKNOWN if UNKNOWN in found else HOLDS

    @property
    def ok(self) -> bool:
        """Whether every claim was checked and holds."""
        return self.verdict == HOLDS

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


def check(explanation: Explanation | dict[str, Any] | str | Path, model: Foreign) -> Checked:
    """Return which claims of a stored explanation hold for a model.

    Points go through ``model.predict``; distances and bounds are recomputed from the model's
    decision regions and the stored certificates with plain NumPy. No solver is involved.

    Parameters
    ----------
    explanation : Explanation, dict, JSON text or path
    model : fitted classifier
        The one that was explained.

    Returns
    -------
    Checked
        ``ok`` only if every claim was checked and holds. A proof of a kind that is not known
        here, or one that repeats a solver's word, is "not re-checkable here". Names of features
        and where weights come from are no claims about the model: "taken as given".

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> stored = pertinent.Explainer(model, data=X).explain(X[:1])[0].json()
    >>> pertinent.check(stored, model).ok
    True
    >>> another = LogisticRegression(max_iter=1000, C=0.01).fit(X, y)
    >>> pertinent.check(stored, another).verdict
    'refuted'
    """
    if isinstance(explanation, Explanation):
        document = explanation.document()
    elif isinstance(explanation, dict):
        document = require_document(explanation)
    else:
        document = read_document(explanation)
    try:
        rebuilt = rebuild(document, model)
        return Checked(tuple(_findings(rebuilt, document)))
    except PertinentError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"The stored explanation is malformed: {error!r}.") from error


# -- The claims ------------------------------------------------------------------------------


def _findings(explanations: Explanations, document: dict[str, Any]) -> list[Finding]:
    asked, table = explanations.asked, explanations.table
    assert asked is not None
    unsure = plausible_within(document["proof"]["question"])[1]
    positive, negative = explanations.positive, explanations.negative
    predicted = asked.prepared.predict(table)[0]
    same = predicted == positive.label[0] == negative.label[0]
    out = [_judged("the sample is predicted as said", same)]
    label, target = int(predicted), asked_target(document["proof"]["question"], asked.prepared)
    positive, foreign = _about_the_question(asked, positive, label, None)
    limits = positive_limits(asked.prepared, table, asked.question)
    out += _valid(ENOUGH, asked.prepared, positive, int(positive.label[0]), limits)
    out += foreign + _positive_proofs(asked, positive, unsure)
    out += _reason(ENOUGH, asked, positive, asked.question.baseline[None], limits)
    negative, foreign = _about_the_question(asked, negative, label, target)
    untouched = positive.kept & explanations.avoided[:, None]
    limits = negative_limits(asked.prepared, table, untouched)
    out += _valid(CHANGE, asked.prepared, negative, int(negative.target_place[0]), limits)
    out.append(_target(negative, label, target))
    out += foreign + _negative_proofs(asked, negative, untouched, unsure)
    out += _reason(CHANGE, asked, negative, table.values, limits)
    out += _overlap(explanations)
    out.append(_as_shown(explanations, document))
    return [*out, _given()]


def _about_the_question(
    asked: Asked, results: R, label: int, target: int | None
) -> tuple[R, list[Finding]]:
    """Return answers without certificates that speak of something else, and a word on those."""
    sample = results.table.values[0]
    name = CHANGE if isinstance(results, Negatives) else ENOUGH
    keys = [("is", label)]
    if isinstance(results, Negatives):
        keys = [("not", label) if target is None else ("is", target)]
    elif results.method == "sufficient":
        keys = [("is", label), ("not", label)]
    goals: dict[str, str] = {"certificates": "distance"}
    if isinstance(results, Positives):
        if results.method not in METHODS:
            raise InputError(f"The stored method {results.method!r} is not known.")
        goals = METHODS[results.method]
    elif results.norm != "l1":
        raise InputError(f"The stored norm {results.norm!r} is not known.")
    out = []
    for field, goal in goals.items():
        parts: Sequence[Certified] = getattr(results, field)
        why = not_about(asked.prepared, asked.question, parts, keys, goal, sample)
        if why:
            out.append(Finding(f"{name}: its proof is about what was asked", REFUTED, why))
            none: dict[str, Any] = {field: ()}
            results = replace(results, **none)
    return results, out


def _target(negative: Negatives, label: int, target: int | None) -> Finding:
    """Judge the class that is reached: the one asked for, or any but the sample's own."""
    place = int(negative.target_place[0])
    if target is not None:
        right = place == target != label
    elif negative.found[0]:
        right = place not in (-1, label)
    else:
        right = place == -1 or negative.status_code[0] == FAILED
    return _judged(f"{CHANGE} is of the class asked for", right)


def _overlap(explanations: Explanations) -> list[Finding]:
    """Judge whether the change keeps off what was enough, if that was asked for."""
    asked, avoided = explanations.asked, bool(explanations.avoided[0])
    assert asked is not None
    if asked.overlap == "allow":
        return [] if not avoided else [Finding("both parts may share features", REFUTED)]
    if avoided:
        both = (explanations.positive.kept & explanations.negative.changed).any()
        return [_judged(f"{CHANGE} keeps off {ENOUGH}", not both)]
    claim = f"no change keeps off {ENOUGH}"
    return [Finding(claim, UNKNOWN, "the explanation holds no proof of it")]


def _given() -> Finding:
    return Finding("names, and where typical values and weights come from", GIVEN)


def _judged(claim: str, holds: Any, detail: str = "") -> Finding:
    return Finding(claim, HOLDS if holds else REFUTED, "" if holds else detail)


def _valid(
    name: str,
    prepared: Prepared,
    results: Results,
    label: int,
    limits: tuple[FloatArray, FloatArray],
) -> list[Finding]:
    """Judge the point: its prediction and the rules."""
    if not results.found[0]:
        return []
    table: Table = results.table
    points = table.as_handed_out(results.values)
    predicted = int(prepared.predict(table, points)[0])
    good = passes(prepared, table, points, np.array([label]))[0]
    inside = ((points >= limits[0]) & (points <= limits[1])).all()
    broken = rules_broken(prepared, table, points, changes=isinstance(results, Negatives))
    says = f"predict says {prepared.classes.tolist()[predicted]!r}"
    return [
        _judged(f"{name} is predicted as said", good, says),
        _judged(
            f"{name} obeys the rules",
            inside and (points == results.values).all() and not broken.any(),
        ),
        *_plausible(name, prepared, label, points[0], results),
    ]


def _plausible(
    name: str, prepared: Prepared, label: int, point: FloatArray, results: Results
) -> list[Finding]:
    """Judge the density of the point, or whether it is the blend it is said to be."""
    if prepared.within is None:
        return []
    blends = results.blend if isinstance(results, Positives | Negatives) else None
    blend = None if blends is None else blends[0]
    holds = is_plausible(prepared.within, label, point, blend)
    return [_judged(f"{name} is {prepared.within.words()}", holds)]


def _details(name: str, prepared: Prepared, results: Results, right: dict[str, bool]) -> Finding:
    """Judge what is said beside the answer itself: which features, and how good the bounds are."""
    label = results.target_place if isinstance(results, Negatives) else results.label
    measured = measure(prepared.within, label, results.values)
    names = ("log_density", "density_threshold", "density_percentile")
    for field, own in zip(names, measured, strict=True):
        told = getattr(results, field)
        if own is None or told is None:
            right[field] = own is told
        else:
            right[field] = np.allclose(own, told, rtol=1e-9, atol=1e-9, equal_nan=True)
    right["reason"] = not results.found[0] or results.reason[0] is None
    right["alternatives"] = not any(getattr(results, "alternatives", ((),)))
    wrong = ", ".join(field for field, holds in right.items() if not holds)
    return _judged(f"{name}: its details are as said", not wrong, f"differs in {wrong}")


def _at_most(claimed: float, proved: float) -> bool:
    """Return whether no more is claimed than is proved."""
    return bool(claimed <= proved + 1e-9 * max(1.0, abs(proved)))


def _negative_proofs(
    asked: Asked, negative: Negatives, untouched: Any, unsure: str
) -> list[Finding]:
    prepared, table = asked.prepared, negative.table
    parts, samples = negative.certificates, table.values
    bound = recheck_negatives(prepared, negative, untouched)
    out = [_proved(CHANGE, prepared, negative, parts, samples, bound, unsure)]
    different = prepared.features.by_feature(negative.values != samples)
    same = np.isclose(negative.closeness, negative.objective, rtol=1e-9, atol=1e-12)
    right = {
        "changed": np.array_equal(negative.changed, negative.found[:, None] & different),
        "closeness": bool(same[0]) or not negative.found[0],
    }
    out.append(_details(CHANGE, prepared, negative, right))
    claims = (negative.bound[0], negative.closeness_bound[0])
    out += _claimed_bounds(CHANGE, [(c, bound[0], parts) for c in claims], unsure)
    limits = negative_limits(prepared, table, untouched)
    unit = _unit(negative)

    def only() -> bool:
        lattice = domain_of(prepared, table, changes=True) is not None
        return is_only_one(prepared, parts, samples, negative.values, limits, lattice, unit)

    def equally_good(other: FloatArray) -> bool:
        # Where any other class will do, the other one may be of a third.
        untargeted = negative.certificates[0].key[0] == "not" if parts else False
        own = prepared.predict(table, other)
        good = own[0] != negative.label[0] if untargeted else own[0] == negative.target_place[0]
        good = good and passes(prepared, table, other, own)[0]
        broken = rules_broken(prepared, table, other, changes=True).any()
        size = distance(other, samples, prepared.weights)[0]
        inside = ((other >= limits[0]) & (other <= limits[1])).all()
        return bool(good and inside and not broken) and _as_good(size, negative.objective[0])

    return out + _unique(CHANGE, negative, only, equally_good)


def _as_good(size: float, best: float) -> bool:
    return bool(size <= best * (1 + GAP_CONVEX) + 1e-12)


def _claimed_bounds(
    name: str, claims: Sequence[tuple[float, float, tuple[Certified, ...]]], unsure: str
) -> list[Finding]:
    """Judge bounds: no more may be claimed than is proved. Nothing is said where none is."""
    out = [
        _bounded(f"{name}: its bound is as said", _at_most(claimed, proved), parts, proved, unsure)
        for claimed, proved, parts in claims
    ]
    worst = [f for f in out if f.verdict == REFUTED] or [f for f in out if f.verdict == UNKNOWN]
    return (worst or out)[:1]


def _unique(
    name: str,
    results: Results,
    only: Callable[[], bool],
    equally_good: Callable[[FloatArray], bool],
) -> list[Finding]:
    """Judge whether there is another answer of the same size, where something is said of it."""
    code = results.unique_code[0]
    if code == 1:
        claim = f"{name} is the only one of its size"
        if results.status_code[0] != OPTIMAL:
            return [Finding(claim, REFUTED, "it is not proved smallest")]
        if only():
            return [Finding(claim, HOLDS)]
        return [Finding(claim, UNKNOWN, "the certificate alone does not show it")]
    if code == 0:
        claim = f"{name} is not the only one of its size"
        other = results.second.get(0)
        if other is None or np.shape(other) != results.values.shape[1:]:
            return [Finding(claim, REFUTED, "no other is shown")]
        other = results.table.as_handed_out(np.asarray(other, dtype=float)[None])
        if (other == results.values).all():
            return [Finding(claim, REFUTED, "the other is the same")]
        if equally_good(other):
            return [Finding(claim, HOLDS)]
        return [Finding(claim, UNKNOWN, "the other one stands on the very boundary, or beyond")]
    return []


def _reason(
    name: str,
    asked: Asked,
    results: Results,
    centers: FloatArray,
    limits: tuple[FloatArray, FloatArray],
) -> list[Finding]:
    """Judge the words for why there is no answer, by the rules that the proof rests on."""
    said, prepared, parts = results.reason[0], asked.prepared, results.certificates
    if said is None or results.found[0]:
        return []
    claim = f"{name}: the reason is as said"
    if results.status_code[0] == FAILED:
        return [Finding(claim, GIVEN, "it is about the search, not about the model")]
    plain = not isinstance(results, Positives) or results.method == "two-phase"
    if not plain or len(parts) != 1 or unknown_kinds(parts[0].certificate):
        return [Finding(claim, UNKNOWN, "the certificate alone does not show it")]
    low, high = (np.broadcast_to(limit, results.values.shape)[0] for limit in limits)
    key, proof, margin = parts[0].key, parts[0].certificate, prepared.asked_margin
    if prepared.within is not None:
        near = results.table.values if isinstance(prepared.within, Hulls) else centers
        own = why_implausible(prepared, key, proof, near[0], low, high, margin)
    else:
        region = prepared.region(*key, margin)[0]
        words = prepared.asked(key)
        own = why_infeasible(
            proof, region, low, high, words, prepared.features, prepared.constraints
        )
    return [_judged(claim, own == said, f"by the certificate: {own}")]


def _positive_proofs(asked: Asked, positive: Positives, unsure: str) -> list[Finding]:
    if positive.method != "two-phase":
        return _exact_proofs(asked, positive, unsure)
    first, second = recheck_positives(asked.prepared, asked.question, positive)
    baseline = asked.question.baseline[None]
    name = "what was enough"
    out = [
        _proved(
            name, asked.prepared, positive, positive.certificates, baseline, first, unsure,
            positive.sparse_values,
        )
    ]  # fmt: skip
    out.append(_positive_details(asked, positive))
    bounds = [(positive.bound[0], first[0], positive.certificates)]
    if not positive.found[0]:
        return out + _claimed_bounds(name, bounds, unsure)
    close = (positive.closeness_bound[0], max(second[0], 0.0), positive.closeness_certificates)
    out += _claimed_bounds(name, [*bounds, close], unsure)
    out += _positive_unique(asked, positive)
    off = turned_off(asked.prepared, positive.sparse_values, asked.question)
    on = np.where(off, 0.0, asked.prepared.weights)[0]
    samples = positive.table.values
    claimed = positive.closeness[0]
    real = distance(positive.values, samples, on)[0]
    right = np.isclose(real, claimed, rtol=1e-9, atol=1e-12)
    out.append(_judged("its distance to the sample is as said", right, f"{real:.6g}"))
    if positive.status_code[0] == OPTIMAL:
        total = distance(positive.values, samples, asked.prepared.weights)
        gap = _gap(asked.prepared, positive, positive.closeness_certificates)
        # The bound is on the part of the distance that is not held fixed.
        proved = second + (total - real)
        closed = _closed(positive, total, proved, positive.values, samples, asked.prepared, gap)
        claim = "no valid answer with these features is closer to the sample"
        out.append(_bounded(claim, closed, positive.closeness_certificates, second[0], unsure))
    return out


def _positive_details(asked: Asked, positive: Positives) -> Finding:
    prepared = asked.prepared
    right = {
        "trivial": bool(positive.trivial[0]) == bool(positive.objective[0] == 0),
        "fallback": not positive.fallback[0],
    }
    if positive.method != "sufficient":
        on = np.abs(positive.values - asked.question.baseline) > asked.question.off_tol
        own = positive.found[:, None] & prepared.features.by_feature(on)
        right["kept"] = np.array_equal(positive.kept, own)
    if positive.method == "two-phase":
        at = positive.sparse_values
        same = prepared.predict(positive.table, at)[0] if positive.found[0] else None
        right["sparse_point"] = same is None or same == positive.label[0]
    else:
        right["sparse_point"] = np.array_equal(
            positive.sparse_values, positive.values, equal_nan=True
        )
    return _details(ENOUGH, prepared, positive, right)


def _positive_unique(asked: Asked, positive: Positives) -> list[Finding]:
    """Judge whether both phases have one optimum only."""
    prepared, table, question = asked.prepared, positive.table, asked.question
    baseline = np.broadcast_to(question.baseline, table.values.shape)
    low, high = positive_limits(prepared, table, question)
    held = turned_off(prepared, positive.sparse_values, question)
    lattice = domain_of(prepared, table, changes=False) is not None
    kept_limits = held_limits(low, high, question, held)

    def only() -> bool:
        first, second = positive.certificates, positive.closeness_certificates
        sparse, point = positive.sparse_values, positive.values
        how = (lattice, _unit(positive))
        if not is_only_one(prepared, first, baseline, sparse, (low, high), *how):
            return False
        return is_only_one(prepared, second, table.values, point, kept_limits, *how)

    def equally_good(other: FloatArray) -> bool:
        good = passes(prepared, table, other, positive.label)[0]
        good &= not rules_broken(prepared, table, other, changes=False).any()
        good &= ((other >= low) & (other <= high)).all()
        on = np.where(held, 0.0, prepared.weights)[0]
        as_sparse = _as_good(distance(other, baseline, prepared.weights)[0], positive.objective[0])
        inside = ((other >= kept_limits[0]) & (other <= kept_limits[1])).all()
        as_close = _as_good(distance(other, table.values, on)[0], positive.closeness[0])
        return bool(good and (as_sparse or (inside and as_close)))

    return _unique(ENOUGH, positive, only, equally_good)


def _whatever(asked: Asked, positive: Positives) -> Finding:
    """Judge whether the kept values suffice, where no solver is needed to tell."""
    table, label = positive.table, int(positive.label[0])
    assert isinstance(asked.question, ExactQuestion)
    low, high = sufficient_limits(asked.prepared, table, asked.question)
    holds = holds_whatever(asked.prepared, label, table, positive.kept[0], (low[0], high[0]))
    claim = "it holds whatever the other values are"
    if holds is None:
        return Finding(claim, UNKNOWN, "a solver is needed to tell for this model")
    return _judged(claim, holds, "another class is possible")


def _exact_proofs(asked: Asked, positive: Positives, unsure: str) -> list[Finding]:
    """Judge the number of features, and how close they come, of the exact methods."""
    prepared, name = asked.prepared, "what was enough"
    assert isinstance(asked.question, ExactQuestion)
    size, close = recheck_exact_positives(prepared, asked.question, positive)
    if positive.status_code[0] == INFEASIBLE:
        none = size[0] == np.inf
        return [_bounded(f"{name}: there is none", none, positive.certificates, size[0], unsure)]
    bounds = [(positive.bound[0], size[0], positive.certificates)]
    if not positive.found[0]:
        claims = _claimed_bounds(name, bounds, unsure)
        return [Finding(f"{name}: no answer was given", HOLDS), *claims]
    samples, claimed = positive.table.values, positive.objective[0]
    away = np.abs(positive.values - asked.question.baseline) > asked.question.off_tol
    kept = prepared.features.by_feature(away)
    if positive.method == "sufficient":
        kept = positive.kept
    on = prepared.features.by_column(kept)
    out = [_judged("it keeps as many values as said", kept.sum() == claimed, f"{kept.sum()}")]
    if positive.method == "exact":
        real = distance(positive.values, samples, np.where(on, prepared.weights, 0.0)[0])[0]
        right = np.isclose(real, positive.closeness[0], rtol=1e-9, atol=1e-12)
        out.append(_judged("its distance to the sample is as said", right, f"{real:.6g}"))
    else:
        own = (positive.values == samples)[on].all()
        out.append(_judged("the values it keeps are the sample's own", own))
    if positive.method == "sufficient":
        out.append(_whatever(asked, positive))
    if positive.status_code[0] == OPTIMAL:
        certificates = positive.certificates
        fewer = size[0] >= claimed
        out.append(_bounded("no fewer values are enough", fewer, certificates, size[0], unsure))
    if positive.status_code[0] == OPTIMAL and positive.method == "exact":
        region, _ = prepared.region("is", int(positive.label[0]), prepared.asked_margin)
        gap = max(GAP_CONVEX, 4 * search_gap(region))
        closed = close[0] >= real * (1 - gap) - 1e-12
        claim = "no other set of as few values comes closer to the sample"
        out.append(_bounded(claim, closed, positive.closeness_certificates, close[0], unsure))
    out.append(_positive_details(asked, positive))
    bounds.append((positive.closeness_bound[0], close[0], positive.closeness_certificates))
    out += _claimed_bounds(name, bounds, unsure)
    if positive.unique_code[0] == 0:
        claim = f"{name} is not the only one of its size"
        return [*out, Finding(claim, UNKNOWN, "the certificate alone does not show it")]
    # The only set of no features is the empty one.
    return out + _unique(name, positive, lambda: claimed == 0, lambda other: False)


def _proved(
    name: str,
    prepared: Prepared,
    results: Results,
    certificates: tuple[Certified, ...],
    centers: FloatArray,
    bound: FloatArray,
    unsure: str,
    points: FloatArray | None = None,
) -> Finding:
    """Judge what the certificate is said to prove."""
    status = results.status_code[0]
    if status == INFEASIBLE:
        closed = bound[0] == np.inf
        return _bounded(f"{name}: there is none", closed, certificates, bound[0], unsure)
    if not results.found[0]:
        return Finding(f"{name}: no answer was given", HOLDS)
    at = results.values if points is None else points
    real = distance(at, centers, prepared.weights)
    if not np.isclose(real[0], results.objective[0], rtol=1e-9, atol=1e-12):
        return Finding(f"{name} has the size that is said", REFUTED, f"it is {real[0]:.6g}")
    if status == OPTIMAL:
        gap = _gap(prepared, results, certificates)
        closed = _closed(results, real, bound, at, centers, prepared, gap)
        return _bounded(f"{name} is proved smallest", closed, certificates, bound[0], unsure)
    claimed = results.bound[0]
    reached = bound[0] >= claimed - 1e-9 * max(1.0, abs(claimed))
    return _bounded(
        f"{name}: none is smaller than {claimed:.4g}", reached, certificates, bound[0], unsure
    )


def _closed(
    results: Results,
    size: FloatArray,
    bound: FloatArray,
    points: FloatArray,
    centers: FloatArray,
    prepared: Prepared,
    gap: float,
) -> bool:
    """Return whether the bound meets the size, in the precision of the samples."""
    unit = _unit(results)
    return bool(is_closed(size, bound, points, centers, prepared.weights, gap, unit)[0])


def _unit(results: Results) -> float:
    return rounding_unit(results.table.single_precision, results.values.shape[1])


def _gap(prepared: Prepared, results: Results, certificates: tuple[Certified, ...]) -> float:
    domain = domain_of(prepared, results.table, changes=isinstance(results, Negatives))
    convex = all(prepared.region(*part.key, 0.0)[0].is_convex for part in certificates)
    return GAP_CONVEX if convex and domain is None else GAP_NONCONVEX


def _bounded(
    claim: str, holds: Any, certificates: tuple[Certified, ...], bound: float, unsure: str
) -> Finding:
    if unsure:
        return Finding(claim, UNKNOWN, unsure)
    kinds = sorted(set().union(*(unknown_kinds(part.certificate) for part in certificates)))
    if kinds:
        return Finding(claim, UNKNOWN, f"proof of unknown kind: {', '.join(kinds)}")
    if not all(part.certificate.trusted().all() for part in certificates):
        return Finding(claim, UNKNOWN, "the bound repeats a solver's word")
    return _judged(claim, holds, f"the certificate proves {bound:.6g} only")


def _as_shown(explanations: Explanations, document: dict[str, Any]) -> Finding:
    """Judge the summary: it must be what these answers give, rounding included."""
    steps = decode(document["proof"]["question"]["steps"])
    own = summarize(explanations, [0], np.asarray(steps, dtype=float))[0]
    wrong = _different({**own, "row": 0, "id": 0}, {**document["summary"], "row": 0, "id": 0})
    classes = decode(document["proof"]["question"]["classes"])
    if np.asarray(classes).tolist() != own["classes"]:
        wrong.append("classes")
    return _judged("what is shown is what was checked", not wrong, f"differs in {', '.join(wrong)}")


def _different(own: dict[str, Any], told: dict[str, Any], within: str = "") -> list[str]:
    """Return the names of the parts that differ, those of parts of parts with a dot."""
    wrong = [f"{within}{key}" for key in told if key not in own]
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(told.get(key), dict):
            wrong += _different(value, told[key], f"{within}{key}.")
        elif key not in told or told[key] != value:
            wrong.append(f"{within}{key}")
    return wrong
