"""Small questions of every kind, and what is handed out, measured by the model."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec

import numpy as np

import pertinent
from pertinent.api.preparing import prepare
from pertinent.geometry.gaps import GAP_NONCONVEX
from pertinent.setting.claims.bounds import holds_whatever
from pertinent.setting.options import Settings
from pertinent.setting.question import PositiveQuestion
from tests.proofs import planted_truth as truth_of
from tests.proofs.planted_problems import Claim, Problem
from tests.proofs.planted_truth import (
    DATA,
    HIGH,
    LABELS,
    LOW,
    SURE,
    X,
    bayes,
    blend_least,
    in_box,
    logistic,
    softmax,
    stern,
    tree,
)
from tests.shown import proved_of_negatives, proved_of_positives

#: SCIP is imported at once: to import it later would change how many functions the next run calls.
SCIP = find_spec("pyscipopt") and import_module("pyscipopt")
LIMITS = {j: (LOW, HIGH) for j in range(4)}
BOX = {"constraints": pertinent.Constraints(bounds=LIMITS)}
WHOLE = {"constraints": pertinent.Constraints(bounds=LIMITS, integer=[0, 1])}
STUCK = {"constraints": pertinent.Constraints(bounds=LIMITS, frozen=[0, 1, 2])}
BLENDS = {"plausibility": pertinent.Plausibility(DATA, LABELS, method="hull", n_neighbors=16)}


def said(model, points):
    """Return the predicted classes, -1 where a point is not finite or out of bounds."""
    fine = np.isfinite(points).all(axis=1) & in_box(points)
    return np.where(fine, model.predict(np.where(fine[:, None], points, 0.0)), -1)


def costs(setting, model, found):
    """Return the costs of negatives, NaN where a point is none."""
    label = said(model, found.values)
    valid = (label != model.predict(X)) & (label >= 0)
    return np.where(valid, np.abs(found.values - X).sum(axis=1), np.nan)


def probable(setting, model, found):
    """Return the costs of negatives with a probability of at least `SURE`."""
    cost = costs(setting, model, found)
    fine = np.isfinite(cost)
    chance = model.predict_proba(np.where(fine[:, None], found.values, 0.0)).max(axis=1)
    return np.where(chance >= SURE, cost, np.nan)


def blended(setting, model, found):
    """Return the costs of negatives that are blends of the data of their class."""
    cost, label = costs(setting, model, found), model.predict(X)
    for i in np.flatnonzero(np.isfinite(cost)):
        if blend_least(DATA[label[i] != LABELS], found.values[i]) > 1e-6:
            cost[i] = np.nan
    return cost


def few_costs(most):
    """Return a measure of the same where no more than so many features change."""

    def measure(setting, model, found):
        few = (found.values != X).sum(axis=1) <= most
        return np.where(few, costs(setting, model, found), np.nan)

    return measure


def changes(setting, model, found):
    """Return how many features negatives change, NaN where a point is none."""
    counted = (found.values != X).sum(axis=1)
    return np.where(np.isnan(costs(setting, model, found)), np.nan, counted)


def whole_changes(setting, model, found):
    """Return the same where changed values of the first two features are whole numbers."""
    some = found.values[:, :2]
    whole = ((some == X[:, :2]) | (some == np.round(some))).all(axis=1)
    return np.where(whole, changes(setting, model, found), np.nan)


def kept(setting, model, found):
    """Return how many features positives have off the baseline of 0, NaN where a point is none."""
    valid = said(model, found.values) == model.predict(X)
    return np.where(valid, (found.values != 0.0).sum(axis=1), np.nan)


def off_baseline(setting, model, found):
    """Return how far the first phase is from the baseline of 0, NaN where a point is none."""
    label = model.predict(X)
    valid = (said(model, found.values) == label) & (said(model, found.sparse_values) == label)
    return np.where(valid, np.abs(found.sparse_values).sum(axis=1), np.nan)


def strictly_kept(setting, model, found):
    """Return how many values are kept where each is the sample's own or the baseline."""
    own = ((found.values == X) | (found.values == 0.0)).all(axis=1)
    return np.where(own, kept(setting, model, found), np.nan)


def held(setting, model, found):
    """Return how many values are held, NaN where the others can change the class."""
    limits = np.full(4, LOW), np.full(4, HIGH)
    out = np.full(len(X), np.nan)
    for i, mask in enumerate(found.kept):
        table, label = found.table.take(np.array([i])), int(model.predict(X[[i]])[0])
        if holds_whatever(setting, label, table, mask[None], limits)[0]:
            out[i] = mask.sum()
    return out


# -- Alternatives ----------------------------------------------------------------------------


def other_change(model, i, other):
    """Return whether an alternative of negatives is another class at the cost that is said."""
    x, point, label = X[i], other.values, said(model, other.values[None])[0]
    right = label == model.classes_[other.label] and label not in (-1, model.predict(X[[i]])[0])
    size = np.abs(point - x).sum()
    same = np.allclose([other.objective, other.closeness], size, rtol=1e-9, atol=1e-12)
    return bool(right and same and ((point != x) == other.features).all())


def other_kept(model, i, other):
    """Return whether an alternative of strict positives keeps the class with its own values."""
    x, point, label = X[i], other.values, said(model, other.values[None])[0]
    right = label == model.classes_[other.label] == model.predict(X[[i]])[0]
    same = (point == np.where(other.features, x, 0.0)).all()
    return bool(right and same and other.objective == other.features.sum())


# -- The questions ---------------------------------------------------------------------------


def question(ask, recheck, measure, truth, model, holds=None, by_word=False, **given):
    """Return the problem of a question about the samples.

    The values are measured at the points handed out, by the model; what is proved of them is
    recomputed from their certificates. ``holds`` tells whether an alternative is right.
    """

    def claims(found):
        setting, _ = prepare(model(), X, None, Settings(**given))
        proved, values = recheck(setting, found), measure(setting, model(), found)
        out = []
        for i, status in enumerate(found.status):
            sure = proved[i] >= values[i] * (1 - GAP_NONCONVEX) - 1e-9
            sure = sure if status == "optimal" else np.isinf(proved[i])
            bound = float(np.fmax(found.bound[i], 0.0))
            if by_word and status == "feasible":
                bound = proved[i] = 0.0
            others = holds is None or all(holds(model(), i, one) for one in found.alternatives[i])
            told = float(values[i]), bound, float(proved[i]), bool(sure), others
            out.append(Claim(str(status), *told))
        return out

    return Problem(ask, claims, cache(truth), handed_out=True, by_word=by_word)


def negatives(truth, measure=costs, model=logistic, given=None, **how):
    """Return the problem of negatives; what is ``given`` is part of the setting."""
    given = BOX | (given or {})

    def ask():
        return pertinent.pertinent_negatives(model(), X, **given, **how)

    def proved(setting, found):
        return proved_of_negatives(setting, found, max_changes=how.get("max_changes"))[0]

    holds = other_change if "alternatives" in how else None
    by_word = how.get("exact", False)
    return question(ask, proved, measure, truth, model, holds, by_word, **given)


def positives(truth, measure, model=logistic, **how):
    """Return the problem of positives of the smallest size."""
    asked = PositiveQuestion(np.zeros(4))

    def ask():
        return pertinent.pertinent_positives(model(), X, **BOX, **how)

    def proved(setting, found):
        return proved_of_positives(setting, asked, found)[0]

    holds = other_kept if "alternatives" in how else None
    return question(ask, proved, measure, truth, model, holds, **BOX)


def scip_questions():
    """Return a question whose gap is smaller than what the own proof leaves open: SCIP is asked."""
    how = {"model": bayes, "exact": True, "gap": 1e-7}
    return {"curved, SCIP": negatives(truth_of.curved_costs, **how)}


def questions():
    """Return all questions by name, the cheapest first."""
    return {
        "negative": negatives(lambda: truth_of.change_costs(4)),
        "at most two changes": negatives(
            lambda: truth_of.change_costs(2), few_costs(2), max_changes=2
        ),
        "at most one change": negatives(
            lambda: truth_of.change_costs(1), few_costs(1), max_changes=1
        ),
        "negative, tree": negatives(truth_of.tree_change_costs, model=tree),
        "negative, three classes": negatives(truth_of.contrast_costs, model=softmax),
        "no change": negatives(
            lambda: truth_of.contrast_costs([0, 1, 2]), model=softmax, given=STUCK
        ),
        "probable change": negatives(
            truth_of.probable_costs, probable, softmax, {"min_proba": SURE}
        ),
        "blend": negatives(truth_of.blend_costs, blended, given=BLENDS),
        "positive, three classes": positives(truth_of.positive_costs, off_baseline, softmax),
        "strict, tree": positives(
            lambda: truth_of.strict_sizes(tree()), strictly_kept, tree, method="strict"
        ),
        "strict": positives(
            lambda: truth_of.strict_sizes(logistic()), strictly_kept, method="strict"
        ),
        "strict, three classes": positives(
            lambda: truth_of.strict_sizes(softmax()), strictly_kept, softmax, method="strict"
        ),
        "strict, curved": positives(
            lambda: truth_of.strict_sizes(bayes()), strictly_kept, bayes, method="strict"
        ),
        "sufficient": positives(truth_of.sufficient_sizes, held, method="sufficient"),
        "exact": positives(truth_of.kept_sizes, kept, stern, method="exact"),
        "exact, three classes": positives(truth_of.three_kept_sizes, kept, softmax, method="exact"),
        "sufficient, tree": positives(
            truth_of.tree_sufficient_sizes, held, tree, method="sufficient"
        ),
        "few changes": negatives(truth_of.change_sizes, changes, norm="l0"),
        "few changes, whole numbers": negatives(
            lambda: truth_of.change_sizes([0, 1]), whole_changes, given=WHOLE, norm="l0"
        ),
        "sufficient, three classes": positives(
            truth_of.three_sufficient_sizes, held, softmax, method="sufficient"
        ),
        "negative, curved": negatives(truth_of.curved_costs, model=bayes),
        "other changes": negatives(lambda: truth_of.change_costs(4), alternatives=2),
        "other kept values": positives(
            lambda: truth_of.strict_sizes(logistic()),
            strictly_kept,
            method="strict",
            alternatives=2,
        ),
        **(scip_questions() if SCIP else {}),
    }
