"""What every answer must keep, judged without the library: predict, rules, arithmetic, files."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import pertinent
from campaign.cases import Case
from campaign.tables import Array


@dataclass
class Tally:
    """How often each judge looked, and what it found.

    Attributes
    ----------
    counts : judgements by the judge's name; statuses by "status: ..."
    failures : judge, row of the case, and what was seen
    notes : questions that were refused, with the library's words, or left for time
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def judge(self, name: str, right: Any, detail: Any = "") -> None:
        """Note one judgement for each row of ``right``; ``detail(row)`` describes a failure."""
        right = np.atleast_1d(np.asarray(right, dtype=bool))
        self.counts[name] += len(right)
        for row in np.flatnonzero(~right).tolist():
            self.failures.append((name, row, detail(row) if callable(detail) else str(detail)))

    def fail(self, name: str, row: int, detail: str) -> None:
        """Note a failure of a judgement that is counted elsewhere."""
        self.failures.append((name, row, detail))


def alone(model: Any, points: Any) -> Array:
    """Return the prediction of each point, handed to the model by itself."""
    if hasattr(points, "iloc"):
        return np.array([model.predict(points.iloc[i : i + 1])[0] for i in range(len(points))])
    return np.array([model.predict(points[i : i + 1])[0] for i in range(len(points))])


def expected(found: Any, kind: str) -> Array:
    """Return the class that each point must be predicted as."""
    return np.asarray(found.prediction if kind == "positive" else found.target)


def judge_points(case: Case, found: Any, kind: str, tally: Tally) -> None:
    """Have the model predict every point alone, in the batch, reversed, in Fortran order."""
    here = np.flatnonzero(found.found)
    if not len(here):
        return
    model, points = case.model, found.points
    points = points.iloc[here] if hasattr(points, "iloc") else points[here]
    asked = expected(found, kind)[here]
    reverse = points.iloc[::-1] if hasattr(points, "iloc") else points[::-1].copy()
    ways = {"alone": alone(model, points), "batch": model.predict(points)}
    ways["reversed"] = np.asarray(model.predict(reverse))[::-1]
    if isinstance(points, np.ndarray):
        ways["Fortran order"] = model.predict(np.asfortranarray(points))
    for way, got in ways.items():
        right = np.asarray(got == asked)
        tally.counts[f"predict: {way}"] += len(here)
        for i in np.flatnonzero(~right):
            tally.fail(
                f"predict: {way}",
                int(here[i]),
                f"{kind} with status {found.status[here[i]]} is predicted as {got[i]!r}, not "
                f"{asked[i]!r}",
            )
    if kind == "negative":
        tally.judge("another class", np.asarray(found.target != found.prediction)[here])


def judge_numbers(case: Case, found: Any, kind: str, tally: Tally) -> None:
    """Recompute the objectives; compare bounds, statuses and reasons with each other."""
    here, n = found.found, len(found)
    values, status = found.values, found.status
    tally.counts.update(f"status: {s}" for s in status.tolist())
    tally.judge("points where said", np.isfinite(values).all(axis=1) == here)
    with np.errstate(all="ignore"):
        above = found.bound[here] <= found.objective[here] * (1 + 1e-9)
        tally.judge("bound at most objective", above)
        no = np.isinf(found.bound[status == "infeasible"])
        tally.judge("infeasible without bound", no)
    reasons = found.reason
    claims = [status[i] == "failed" and str(reasons[i]).startswith("no point") for i in range(n)]
    tally.judge("reason claims no more than the status", ~np.array(claims),
                lambda i: f"failed, and the reason says: {reasons[i]}")  # fmt: skip
    own = case.X.astype(float)
    if values.shape != own.shape:  # bins: what is added up are columns of the library's own
        return
    if kind == "negative" and found.norm.value == "l1":
        made = (case.weights * np.abs(values - own)).sum(axis=1)
        _same(case, tally, made, found.objective, here)
        moved = (values != own) == found.changed
        tally.judge("changed features", moved.all(axis=1)[here])
    if kind == "negative" and found.norm.value == "l0":
        tally.judge("changed features", (found.changed.sum(axis=1) == found.objective)[here])
    if kind == "positive" and found.method.value == "two-phase" and not case.options.get("off_tol"):
        made = (case.weights * np.abs(found.sparse_values - case.baseline)).sum(axis=1)
        _same(case, tally, made, found.objective, here)
    if kind == "positive" and found.method.value in ("strict", "exact"):
        whole = here & ~found.fallback
        tally.judge("kept features", (found.kept.sum(axis=1) == found.objective)[whole])


def _same(case: Case, tally: Tally, made: Array, said: Array, here: Array) -> None:
    made, said = made[here], said[here]
    right = np.abs(made - said) <= 1e-9 * np.maximum(made, said)
    if case.single:  # the baseline is one in the precision of the samples
        right |= np.abs(made - said) <= 1e-6 * (made + (case.weights * np.abs(case.baseline)).sum())
    tally.judge("objective recomputed", right, lambda i: f"{said[i]!r} is said, {made[i]!r} is so")


def judge_rules(case: Case, found: Any, kind: str, tally: Tally) -> None:
    """Look at every rule by itself, with a rounding of relations only."""
    names = case.rules
    if not names or not found.found.any():
        return
    here = np.flatnonzero(found.found)
    own = case.X.astype(float)[here]
    # Rows without an answer are missing values, which whole numbers of a frame are objects beside.
    points = np.asarray(found.points[np.asarray(found.found)], dtype=float)
    for rule in names:
        right = obeys(rule, points, own, kind)
        tally.counts["rules obeyed"] += len(here)
        for i in np.flatnonzero(~right):
            tally.fail(
                "rules obeyed", int(here[i]), f"{kind}, {found.status[here[i]]}: {rule} is broken"
            )


def obeys(rule: list[Any], points: Array, own: Array, kind: str, slack: float = 1e-8) -> Array:
    """Return which points obey one rule; relations hold within a share of their terms."""
    name, j, *value = rule
    if name == "relation":
        terms = np.stack([points[:, k] * c for k, c in j])
        size = np.abs(terms).sum(axis=0) + abs(value[0])
        return terms.sum(axis=0) <= value[0] + slack * size
    if name == "max changes":
        few = (points != own).sum(axis=1) <= j
        return few if kind == "negative" else np.ones(len(points), dtype=bool)
    p, x = points[:, j], own[:, j]
    if name == "frozen":
        return p == x
    if name == "at least":
        return p >= value[0]
    if name == "at most":
        return p <= value[0]
    if name == "increase":
        return p >= x
    if name == "decrease":
        return p <= x
    digits = 0 if name == "integer" else value[0]
    # The nearest number with so many digits, in the precision of the sample.
    short = np.array([float(f"{v:.{digits}f}") for v in p])
    return (p == short) | (p == short.astype(np.float32)) | (p == x)


def judge_file(case: Case, answers: Any, tally: Tally) -> None:
    """Write each explanation to a file, and have the checker judge it for the model."""
    for row in range(len(answers)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "explanation.json"
            path.write_text(answers[row].json())
            checked = pertinent.check(path, case.model)
        tally.counts["checked from a file"] += 1
        if checked.verdict == "holds":
            continue
        bad = [finding for finding in checked.findings if finding.verdict == checked.verdict]
        words = "; ".join(map(str, bad))[:600]
        if checked.verdict == "refuted":
            tally.fail("checked from a file", row, words)
        elif all(finding.claim.endswith("one of its size") for finding in bad):
            # Whether an answer is the only one may stay open; that it is optimal may not.
            tally.counts["only one or not: not re-checkable"] += 1
        elif "optimal" in (answers.positive.status[row], answers.negative.status[row]):
            tally.fail("optimal without an accepted proof", row, words)
