"""The order of alternatives, and conflicts of rules: what is said of them beside the answers."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
from scipy.optimize import linprog

import pertinent
from pertinent.rules.reference import RuleKind
from tests.proofs.planted_problems import Claim, Problem, linear_least
from tests.proofs.planted_questions import BOX
from tests.proofs.planted_truth import HIGH, LOW, B, W, X, logistic, softmax, wins

#: What is said of the answers themselves is judged elsewhere.
NOTHING = ("optimal", 0.0, 0.0, 0.0, True)
NEITHER = [0.0] * len(X)


# -- The next best sets of features ----------------------------------------------------------


@cache
def costs_by_set(i):
    """Return the least cost of another of three classes for each set of features that may move."""
    x, label = X[i], int(softmax().predict(X[[i]])[0])
    others = [wins(k) for k in range(3) if k != label]
    return {
        mask: min(
            linear_least(cell, x, None, np.where(mask, LOW, x), np.where(mask, HIGH, x))
            for cell in others
        )
        for mask in product([False, True], repeat=4)
    }


def comes_next(i, listed, cost):
    """Return whether no set is cheaper that contains none of those that are listed."""
    return all(
        least >= cost * (1 - 2e-4) - 1e-6
        for mask, least in costs_by_set(i).items()
        if not any((features <= np.array(mask)).all() for features in listed)
    )


def in_order(**how):
    """Return the problem of changes with alternatives, each of which may be said to come next."""

    def ask():
        explainer = pertinent.Explainer(softmax(), baseline=np.zeros(4), alternatives=3, **BOX)
        return explainer.explain(X, **how).negative

    def claims(found):
        out = []
        for i, others in enumerate(found.alternatives):
            listed, right = [found.values[i] != X[i]], True
            for one in others:
                cost = float(np.abs(one.values - X[i]).sum())
                right &= bool(np.isclose(one.objective, cost, rtol=1e-6))
                right &= not one.proved or comes_next(i, listed, cost)
                listed.append(one.values != X[i])
            out.append(Claim(*NOTHING, others_hold=right))
        return out

    return Problem(ask, claims, lambda: NEITHER, handed_out=True)


# -- Conflicts -------------------------------------------------------------------------------


def leave_a_point(rules, x, label):
    """Return whether rules about single numbers leave a point of the other class."""
    low, high = np.full(4, -np.inf), np.full(4, np.inf)
    for rule in rules:
        j = int(rule.features[0].removeprefix("x"))
        if rule.kind in (RuleKind.FROZEN, RuleKind.AT_LEAST, RuleKind.INCREASE_ONLY):
            low[j] = max(low[j], x[j] if rule.number is None else rule.number)
        if rule.kind in (RuleKind.FROZEN, RuleKind.AT_MOST, RuleKind.DECREASE_ONLY):
            high[j] = min(high[j], x[j] if rule.number is None else rule.number)
    sign = 1.0 if label else -1.0
    ends = np.column_stack([low, high])
    return linprog(np.zeros(4), sign * W[None], [-sign * B], bounds=ends).status == 0


def conflict(**rules):
    """Return the problem of rules that leave nothing, of which each may be said to be needed."""

    def ask():
        limits = pertinent.Constraints(**rules)
        return pertinent.pertinent_negatives(logistic(), X, constraints=limits)

    def claims(found):
        out = []
        for x, status, reason, label in zip(
            X, found.status, found.reasons, logistic().predict(X), strict=True
        ):
            named, right = () if reason is None else reason.rules, True
            if named:
                right = not leave_a_point(named, x, label)
            if named and reason.without is not None:
                fewer = [[one for one in named if one is not left] for left in named]
                right &= all(leave_a_point(some, x, label) for some in fewer)
            out.append(Claim(str(status), np.nan, 0.0, 0.0, True, others_hold=right))
        return out

    return Problem(ask, claims, lambda: [np.inf] * len(X), handed_out=True)


def order_questions():
    """Return all of them by name, the cheapest first."""
    return {
        "conflict": conflict(
            bounds={0: (1.0, None), 1: (None, 0.3), 2: (0.5, 2.0), 3: (0.6, None)}
        ),
        "conflict, directions": conflict(
            bounds={0: (1.0, None), 1: (None, 0.3)}, increase_only=[3], frozen=[2]
        ),
        "next best": in_order(),
    }
