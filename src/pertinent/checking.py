"""A stored explanation, judged again: by the model's own ``predict`` and without any solver."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pertinent._typing import FloatArray, Foreign
from pertinent.answers import Certified
from pertinent.asked import Asked
from pertinent.certificate import INFEASIBLE, OPTIMAL
from pertinent.certificate._check import (
    GAP_CONVEX,
    GAP_NONCONVEX,
    ROUNDING,
    ROUNDING_SINGLE,
    is_closed,
)
from pertinent.certificate._records import decode, unknown_kinds
from pertinent.exact.fewest import search_gap
from pertinent.exact.question import ExactQuestion
from pertinent.exact.recheck import recheck_exact_positives
from pertinent.exact.sufficient import holds_whatever, sufficient_limits
from pertinent.exceptions import InputError
from pertinent.explanation import Explanations, Negatives, Positives, Results
from pertinent.features import Table
from pertinent.negative import negative_limits
from pertinent.plausibility.judge import is_plausible
from pertinent.positive import positive_limits, turned_off
from pertinent.prepared import Prepared
from pertinent.projection.problem import distance
from pertinent.rebuilding import domain_of, plausible_within, rebuild
from pertinent.recheck import recheck_negatives, recheck_positives
from pertinent.views.rounding import passes, rules_broken
from pertinent.views.single import Explanation
from pertinent.views.stored import read_document, require_document
from pertinent.views.summary import summarize

HOLDS, REFUTED, UNKNOWN = "holds", "refuted", "not re-checkable here"


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
        """The worst of all: "refuted", "not re-checkable here", or "holds"."""
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
        ``ok`` only if everything was checked and holds. A proof of a kind that is not known
        here, or one that repeats a solver's word, is "not re-checkable here".

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
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(f"The stored explanation is malformed: {error!r}.") from error


# -- The claims ------------------------------------------------------------------------------


def _findings(explanations: Explanations, document: dict[str, Any]) -> list[Finding]:
    asked, table = explanations.asked, explanations.table
    assert asked is not None
    unsure = plausible_within(document["proof"]["question"])[1]
    positive, negative = explanations.positive, explanations.negative
    predicted = asked.prepared.predict(table)[0]
    out = [_judged("the sample is predicted as said", predicted == positive.label[0])]
    limits = positive_limits(asked.prepared, table, asked.question)
    out += _valid("what was enough", asked.prepared, positive, int(positive.label[0]), limits)
    out += _positive_proofs(asked, positive, unsure)
    untouched = positive.kept & explanations.avoided[:, None]
    limits = negative_limits(asked.prepared, table, untouched)
    name = "what would have changed it"
    out += _valid(name, asked.prepared, negative, int(negative.target_place[0]), limits)
    bound = recheck_negatives(asked.prepared, negative, untouched)
    out.append(
        _proved(name, asked.prepared, negative, negative.certificates, table.values, bound, unsure)
    )
    out.append(_as_shown(explanations, document))
    return out


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
    if not positive.found[0]:
        return out
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


def _whatever(asked: Asked, positive: Positives) -> Finding:
    """Judge whether the kept values suffice, where no solver is needed to tell."""
    sample, label = positive.table.values, int(positive.label[0])
    assert isinstance(asked.question, ExactQuestion)
    low, high = sufficient_limits(asked.prepared, sample, asked.question)
    holds = holds_whatever(asked.prepared, label, sample[0], positive.kept[0], (low[0], high[0]))
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
    if not positive.found[0]:
        return [Finding(f"{name}: no answer was given", HOLDS)]
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
    return out


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
    unit = ROUNDING_SINGLE if results.table.single_precision else ROUNDING
    return bool(is_closed(size, bound, points, centers, prepared.weights, gap, unit)[0])


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
    stored = document["summary"]
    wrong = [key for key in ("prediction", "overlap", "avoided") if own[key] != stored[key]]
    for part in ("positive", "negative"):
        told = {key: value for key, value in stored[part].items() if key != "target_text"}
        same = {key: value for key, value in own[part].items() if key != "target_text"}
        wrong += [f"{part}.{key}" for key in same if same[key] != told.get(key)]
    shown = [(f["name"], f["sample"], f["baseline"]) for f in stored["features"]]
    if shown != [(f["name"], f["sample"], f["baseline"]) for f in own["features"]]:
        wrong.append("features")
    return _judged("what is shown is what was checked", not wrong, f"differs in {', '.join(wrong)}")
