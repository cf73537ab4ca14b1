"""Laws that tie answers to each other, whatever the model."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from campaign.cases import NEGATIVE, Case, ask
from campaign.judges import Tally
from campaign.models import Rng
from campaign.tables import Array
from campaign.trees import TREES, rewritten

#: Two optima agree within this share; curved ones within the gap of an optimal answer, twice.
SAME, SAME_CURVED, SAME_SINGLE = 1e-6, 2.5e-4, 1e-2


def judge_laws(case: Case, rng: Rng, tally: Tally) -> None:
    """Ask the plain negative question in other ways, and compare."""
    options = {k: v for k, v in case.options.items() if k in ("weights",)}
    base = replace(case, ask=NEGATIVE, options=options, target=None)
    found = ask(base)[1]
    _rules_never_help(base, found, tally)
    _batch_is_single(base, found, tally)
    _nearest_is_least(base, found, tally)
    free = replace(base, rules=[])
    if case.dtypes is None:
        loose = ask(free)[1] if case.rules else found
        d = case.X.shape[1]
        order, scale = rng.permutation(d), 2.0 ** rng.integers(-8, 9, d)
        _compare(free, loose, "permuting features", permuted(free, order), tally)
        _compare(free, loose, "scaling features", scaled(free, scale), tally)


def _tolerance(case: Case) -> float:
    if case.single:
        return SAME_SINGLE
    return SAME if type(case.model).__name__ in (*LINEAR, *TREES) else SAME_CURVED


def _disagree(case: Case, one: Any, two: Any, row: int) -> str | None:
    """Return how two answers to the same question contradict each other, if they do."""
    tol = _tolerance(case)
    # A margin for rounding is kept from the boundary, whatever the distance to it.
    floor = 1e-7 * float((case.weights * np.abs(case.X[row])).max(initial=0.0))
    for a, b in ((one, two), (two, one)):
        bound, objective = float(a.bound[row]), float(b.objective[row])
        if b.found[row] and bound > objective * (1 + tol) + floor:
            return (
                f"bound {bound!r} with status {a.status[row]}, and the other answer has "
                f"{objective!r} with status {b.status[row]}"
            )
    return None


def _compare(case: Case, found: Any, name: str, other: Case | None, tally: Tally) -> None:
    if other is None:
        return
    again = ask(other)[1]
    for row in range(len(found)):
        tally.counts[f"law: {name}"] += 1
        wrong = _disagree(case, found, again, row)
        if wrong:
            tally.fail(f"law: {name}", row, wrong)


def _rules_never_help(case: Case, found: Any, tally: Tally) -> None:
    if not case.rules:
        return
    free = ask(replace(case, rules=[]))[1]
    floor = 1e-7 * (case.weights * np.abs(case.X)).max(axis=1, initial=0.0)
    tol = _tolerance(case)
    helped = found.found & (free.bound > found.objective * (1 + tol) + floor)

    def words(i: int) -> str:
        return f"{found.objective[i]!r} with rules, bound {free.bound[i]!r} without"

    tally.judge("law: a rule never improves", ~helped, words)


def _batch_is_single(case: Case, found: Any, tally: Tally) -> None:
    for row in range(len(found)):
        lone = ask(case.rows([row]))[1]
        same = (
            lone.values[0].tobytes() == found.values[row].tobytes()
            and lone.bound[0].tobytes() == found.bound[row].tobytes()
            and lone.status[0] == found.status[row]
        )
        tally.counts["law: batch = single"] += 1
        if not same:
            tally.fail(
                "law: batch = single", row,
                f"{found.values[row].tolist()}, {found.status[row]} in the batch, "
                f"{lone.values[0].tolist()}, {lone.status[0]} alone",
            )  # fmt: skip


def _nearest_is_least(case: Case, found: Any, tally: Tally) -> None:
    labels = case.model.classes_.tolist()
    if len(labels) > 5:
        return
    each = []
    for label in labels:
        there = np.flatnonzero(found.prediction != label)
        if len(there):
            each.append((there, ask(replace(case.rows(there), target=label))[1]))
    for row in range(len(found)):
        pairs = [(a, int(np.flatnonzero(there == row)[0])) for there, a in each if row in there]
        bound = min((float(a.bound[i]) for a, i in pairs), default=np.inf)
        least = min((float(a.objective[i]) for a, i in pairs if a.found[i]), default=np.inf)
        tol = _tolerance(case)
        floor = 1e-7 * float((case.weights * np.abs(case.X[row])).max(initial=0.0))
        tally.counts["law: nearest = least of all targets"] += 1
        ours, our_bound = float(found.objective[row]), float(found.bound[row])
        if (found.found[row] and bound > ours * (1 + tol) + floor) or (
            np.isfinite(least) and our_bound > least * (1 + tol) + floor
        ):
            tally.fail(
                "law: nearest = least of all targets", row,
                f"nearest {ours!r} (bound {our_bound!r}), least of the targets {least!r} "
                f"(bound {bound!r})",
            )  # fmt: skip


# -- The same model, in other units or another order ---------------------------------------------

LINEAR = (
    "LogisticRegression", "LinearSVC", "RidgeClassifier", "SGDClassifier", "Perceptron",
    "LinearDiscriminantAnalysis",
)  # fmt: skip
#: Attributes with one column for each feature, and the power of the scale each is multiplied by.
COLUMNS: dict[str, dict[str, int]] = {
    **{name: {"coef_": -1} for name in LINEAR},
    "GaussianNB": {"theta_": 1, "var_": 2},
    "NearestCentroid": {"centroids_": 1},
    "GLVQ": {"prototypes_": 1},
    "GMLVQ": {"prototypes_": 1, "omega_": -1},
    "LGMLVQ": {"prototypes_": 1, "omega_": -1},
}
#: Their distance is that of the samples as they are: one scale for all features.
_ONE_SCALE = ("NearestCentroid", "GLVQ")


def permuted(case: Case, order: Array) -> Case | None:
    """Return the question with its features in another order; None if the model is not known."""
    if type(case.model).__name__ in TREES:
        model = rewritten(case.model, order, None)
    else:
        model = _with(case.model, lambda values, power: values[..., order])
    if model is None:
        return None
    options = {**case.options}
    if options.get("weights") is not None:
        options["weights"] = [options["weights"][j] for j in order.tolist()]
    return replace(case, model=model, X=np.ascontiguousarray(case.X[:, order]), options=options)


def scaled(case: Case, scale: Array) -> Case | None:
    """Return the question with each feature in units of another power of two."""
    if type(case.model).__name__ in _ONE_SCALE:
        scale = np.full_like(scale, scale[0])
    if type(case.model).__name__ in TREES:
        model = rewritten(case.model, None, scale)
    else:
        model = _with(case.model, lambda values, power: values * scale**power)
    if model is None:
        return None
    X = (case.X * scale).astype(case.X.dtype)
    return replace(case, model=model, X=X, options={"weights": (case.weights / scale).tolist()})


def _with(model: Any, change: Any) -> Any:
    names = COLUMNS.get(type(model).__name__)
    if names is None or getattr(model, "shrink_threshold", None):
        return None
    made = copy.deepcopy(model)
    for name, power in names.items():
        value = np.asarray(getattr(made, name))
        setattr(made, name, np.ascontiguousarray(change(value, power)).astype(value.dtype))
    return made
