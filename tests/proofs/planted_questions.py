"""Small questions of every kind, and what is handed out, measured by the model."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from unittest import mock

import numpy as np

import pertinent
from pertinent.api.gathering import gather
from pertinent.api.preparing import prepare
from pertinent.geometry.gaps import GAP_NONCONVEX
from pertinent.questions.supports import pool, smallest
from pertinent.setting.claims.bounds import holds_whatever
from pertinent.setting.options import Settings
from pertinent.setting.question import PositiveQuestion
from pertinent.tables.reading import read_table
from tests.proofs import planted_truth as truth_of
from tests.proofs.planted_problems import Claim, Problem, no_cases
from tests.proofs.planted_truth import (
    DATA,
    HIGH,
    LABELS,
    LOW,
    SURE,
    X,
    averaged,
    bayes,
    blend_least,
    in_box,
    logistic,
    softmax,
    stern,
    straight,
    tree,
)
from tests.shown import proved_of_negatives, proved_of_positives

#: SCIP is imported at once: to import it later would change how many functions the next run calls.
SCIP = find_spec("pyscipopt") and import_module("pyscipopt")
LIMITS = {j: (LOW, HIGH) for j in range(4)}
BOX = {"constraints": pertinent.Constraints(bounds=LIMITS)}
WHOLE = {"constraints": pertinent.Constraints(bounds=LIMITS, integer=[0, 1])}
NEITHER = {"constraints": pertinent.Constraints(bounds=LIMITS | {1: (0.2, HIGH)})}
STUCK = {"constraints": pertinent.Constraints(bounds=LIMITS, frozen=[0, 1, 2])}
BLENDS = {"plausibility": pertinent.Plausibility(DATA, LABELS, method="hull", n_neighbors=16)}


def said(model, points):
    """Return the predicted classes, -1 where a point is not finite or out of bounds."""
    fine = np.isfinite(points).all(axis=1) & in_box(points)
    return np.where(fine, model.predict(np.where(fine[:, None], points, 0.0)), -1)


def costs(setting, model, found):
    """Return the costs of negatives, NaN where a point is none."""
    points = np.asarray(found.points, dtype=float)
    label = said(model, points)
    valid = (label != model.predict(X)) & (label >= 0)
    return np.where(valid, np.abs(points - X).sum(axis=1), np.nan)


def into_range(setting, model, found):
    """Return the costs of negatives whose prediction lies in a regressor's range."""
    fine = np.isfinite(found.values).all(axis=1) & in_box(found.values)
    fine &= model.predict(np.where(fine[:, None], found.values, X)) == model.target
    return np.where(fine, np.abs(found.values - X).sum(axis=1), np.nan)


def with_chance(least):
    """Return a measure of the costs of negatives with so large a probability."""

    def measure(setting, model, found):
        cost = costs(setting, model, found)
        fine = np.isfinite(cost)
        chance = model.predict_proba(np.where(fine[:, None], found.values, 0.0)).max(axis=1)
        return np.where(chance >= least, cost, np.nan)

    return measure


probable, likely = with_chance(SURE), with_chance(0.55)


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


def single_costs(setting, model, found):
    """Return the costs of negatives that change one feature, in the box or not."""
    fine = np.isfinite(found.values).all(axis=1)
    label = model.predict(np.where(fine[:, None], found.values, X))
    fine &= (label != model.predict(X)) & ((found.values != X).sum(axis=1) <= 1)
    return np.where(fine, np.abs(found.values - X).sum(axis=1), np.nan)


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


def held_over(**how):
    """Return a measure of how many values are held, while the others take all of a grid."""

    def measure(setting, model, found):
        sizes, label = found.kept.sum(axis=1).astype(float), model.predict(X)
        for i, x in enumerate(X):
            tried = truth_of.values_of(x, **how)
            tried = [x[[j]] if found.kept[i, j] else tried[j] for j in range(4)]
            if (model.predict(np.array(list(product(*tried)))) != label[i]).any():
                sizes[i] = np.nan
        return sizes

    return measure


held_whole, held_fine = held_over(whole=(0, 1), fine=13), held_over(fine=13)


# -- Alternatives ----------------------------------------------------------------------------


def other_change(model, i, other):
    """Return whether an alternative of negatives is another class at the size that is said."""
    x, point, label = X[i], other.values, said(model, other.values[None])[0]
    right = label == model.classes_[other.label] and label not in (-1, model.predict(X[[i]])[0])
    size, count = np.abs(point - x).sum(), (point != x).sum()
    same = np.isclose(other.closeness, size, rtol=1e-9, atol=1e-12)
    same &= other.objective in (other.closeness, count)
    return bool(right and same and ((point != x) == other.features).all())


def other_kept(model, i, other):
    """Return whether an alternative of strict positives keeps the class with its own values."""
    x, point, label = X[i], other.values, said(model, other.values[None])[0]
    right = label == model.classes_[other.label] == model.predict(X[[i]])[0]
    # Strict ones have their own values; exact ones may have others.
    same = ((point != 0.0) == other.features).all()
    same &= other.closeness > 0 or (point == np.where(other.features, x, 0.0)).all()
    return bool(right and same and other.objective == other.features.sum())


# -- The questions ---------------------------------------------------------------------------


def question(ask, recheck, measure, truth, model, holds=None, given=BOX, samples=X, **kind):
    """Return the problem of a question about the samples.

    The values are measured at the points handed out, by the model; what is proved of them is
    recomputed from their certificates. ``holds`` tells whether an alternative is right.
    """

    def claims(found):
        setting, _ = prepare(model(), samples, None, Settings(**given))
        proved, values = recheck(setting, found), measure(setting, model(), found)
        out = []
        for i, status in enumerate(found.status):
            sure = proved[i] >= values[i] * (1 - GAP_NONCONVEX) - 1e-9
            sure = sure if status == "optimal" else np.isinf(proved[i])
            bound = float(np.fmax(found.bound[i], 0.0))
            if kind.get("by_word") and status == "feasible":
                bound = proved[i] = 0.0
            others = holds is None or all(holds(model(), i, one) for one in found.alternatives[i])
            told = float(values[i]), bound, float(proved[i]), bool(sure), others
            out.append(Claim(str(status), *told))
        return out

    return Problem(ask, claims, cache(truth), handed_out=True, **kind)


def negatives(truth, measure=costs, model=logistic, given=None, under=nullcontext, **how):
    """Return the problem of negatives; what is ``given`` is part of the setting."""
    given = BOX | (given or {})

    def ask():
        with under():
            return pertinent.pertinent_negatives(model(), X, **given, **how)

    def proved(setting, found):
        asked = {"max_changes": how.get("max_changes")}
        if "target" in how:
            asked["target"] = np.repeat(np.flatnonzero(setting.classes == how["target"]), len(X))
        return proved_of_negatives(setting, found, **asked)[0]

    holds = other_change if "alternatives" in how else None
    by_word = how.get("exact", False) or under is no_cases
    kind = {"by_word": by_word, "stopped": "time_limit" in how}
    return question(ask, proved, measure, truth, model, holds, given, **kind)


def row_by_row(truth):
    """Return the problem of negatives that are asked one by one, together with positives."""

    def ask():
        explainer = pertinent.Explainer(logistic(), baseline=0.0, **BOX)
        parts = [explainer.explain(X[[i]]).negative for i in range(len(X))]
        return gather(parts, read_table(explainer.setting.features, X))

    def proved(setting, found):
        return proved_of_negatives(setting, found)[0]

    return question(ask, proved, costs, truth, logistic)


@contextmanager
def one_by_one():
    """Let the search of many samples at once give up, so that each is searched by itself."""
    with mock.patch.object(smallest, "EASY", 0):
        yield


def positives(truth, measure, model=logistic, given=None, under=nullcontext, **how):
    """Return the problem of positives of the smallest size, asked ``under`` a context."""
    asked, given = PositiveQuestion(np.zeros(4)), BOX | (given or {})

    def ask():
        with under():
            return pertinent.pertinent_positives(model(), X, **given, **how)

    def proved(setting, found):
        return proved_of_positives(setting, asked, found)[0]

    holds = other_kept if "alternatives" in how else None
    kind = {"by_word": how.get("fallback", False), "stopped": "time_limit" in how}
    return question(ask, proved, measure, truth, model, holds, given, **kind)


def scip_questions():
    """Return a question whose gap is smaller than what the own proof leaves open: SCIP is asked."""
    how = {"model": bayes, "exact": True, "gap": 1e-7}
    clipped = {"model": lambda: truth_of.clipped(True), "under": no_cases}
    return {
        "curved, SCIP": negatives(truth_of.curved_costs, **how),
        "clipped, curved, SCIP": negatives(
            lambda: truth_of.plane_costs(truth_of.clipped(True)), **clipped
        ),
    }


def further_questions():
    """Return questions that take rarer ways: whole numbers, cut-off values, others, no time."""
    whole, now = {"whole": (0, 1)}, {"time_limit": 1e-9}
    free = {"constraints": pertinent.Constraints()}
    # Where x0 stays, no point is as dense as the densest one of the other class.
    densest = pertinent.Plausibility(DATA, LABELS, n_components=1, quantile=1.0)
    held = pertinent.Constraints(bounds=LIMITS, frozen=[0])
    dense = {"constraints": held, "plausibility": densest}
    count, curved = truth_of, truth_of.discriminant
    return {
        "no strict": positives(
            lambda: [np.inf, np.inf], strictly_kept, given=NEITHER, method="strict"
        ),
        "no strict, fallback": positives(
            lambda: [np.inf, np.inf], kept, given=NEITHER, method="strict", fallback=True
        ),
        "sufficient, whole numbers": positives(
            lambda: count.sufficient_by_grid(logistic(), **whole), held_whole,
            given=WHOLE, method="sufficient",
        ),
        "sufficient, curved, whole numbers": positives(
            lambda: count.sufficient_by_grid(bayes(), **whole), held_whole, bayes,
            given=WHOLE, method="sufficient",
        ),
        "exact, curved": positives(
            lambda: count.kept_by_grid(bayes(), fine=41), kept, bayes, method="exact"
        ),
        "exact, whole numbers": positives(
            lambda: count.kept_by_grid(logistic(), **whole), kept, given=WHOLE, method="exact"
        ),
        "exact, tree, others": positives(
            lambda: count.kept_by_grid(tree(), fine=49), kept, tree, method="exact", alternatives=2
        ),
        "few changes, others": negatives(
            truth_of.change_sizes, changes, norm="l0", alternatives=2
        ),
        "at most one change, unbounded": negatives(
            lambda: truth_of.single_costs(truth_of.three_bells()), single_costs,
            truth_of.three_bells, free, max_changes=1,
        ),
        "negative, no cells": negatives(truth_of.contrast_costs, model=truth_of.hidden),
        "exact, no cells": positives(
            truth_of.three_kept_sizes, kept, truth_of.hidden, method="exact"
        ),
        "no plausible change": negatives(lambda: [np.inf, np.inf], given=dense),
        "no blend": negatives(lambda: [np.inf, np.inf], blended, given={**STUCK, **BLENDS}),
        "clipped": negatives(truth_of.clipped_costs, model=truth_of.clipped),
        "sufficient, neighbours": positives(
            lambda: count.sufficient_by_grid(truth_of.neighbour(), fine=13), held_fine,
            truth_of.neighbour, method="sufficient",
        ),
        "sufficient, tree, whole numbers": positives(
            lambda: count.sufficient_by_grid(tree(), fine=49, **whole), held_whole, tree,
            given=WHOLE, method="sufficient",
        ),
        "probable change, whole numbers": negatives(
            lambda: truth_of.whole_probable_costs(0.55), likely,
            softmax, {**WHOLE, "min_proba": 0.55},
        ),
        "few changes, curved": negatives(
            lambda: count.changes_by_grid(curved(), fine=41), changes, curved, norm="l0"
        ),
        "few changes, in doubt": negatives(
            lambda: count.changes_by_grid(curved(), fine=41), changes, curved,
            under=in_doubt, norm="l0",
        ),
        "exact, three bells": positives(
            lambda: count.kept_by_grid(truth_of.three_bells(), fine=25), kept,
            truth_of.three_bells, method="exact",
        ),
        "exact, three tilted": positives(
            lambda: count.kept_by_grid(truth_of.three_tilted(), fine=41), kept,
            truth_of.three_tilted, method="exact",
        ),
        "strict, categories": strict_rooms(),
        "strict, three classes, one by one": positives(
            lambda: truth_of.strict_sizes(softmax()), strictly_kept, softmax, under=one_by_one,
            method="strict",
        ),
        "strict, curved, one by one": positives(
            lambda: truth_of.strict_sizes(truth_of.three_tilted()), strictly_kept,
            truth_of.three_tilted, under=one_by_one, method="strict",
        ),
        "few changes, others, no time": negatives(
            lambda: count.changes_by_grid(softmax(), fine=41), changes, softmax,
            norm="l0", alternatives=2, **now,
        ),
        "strict, no time": positives(
            lambda: truth_of.strict_sizes(softmax()), strictly_kept, softmax, method="strict", **now
        ),
        "strict, curved, no time": positives(
            lambda: truth_of.strict_sizes(curved()), strictly_kept, curved, method="strict", **now
        ),
        "sufficient, no time": positives(
            lambda: count.sufficient_by_grid(tree(), fine=49, **whole), held_whole, tree,
            given=WHOLE, method="sufficient", **now,
        ),
        "negative, curved, no time": negatives(truth_of.curved_costs, model=bayes, **now),
    }  # fmt: skip


def strict_rooms():
    """Return the problem of strict positives where a feature is a category."""
    frame, model = truth_of.rooms()
    how = {"baseline": {"n": 0.0, "c": "a", "m": 0.0}, "method": "strict"}

    def ask():
        return pertinent.pertinent_positives(model, frame, **how)

    def proved(setting, found):
        return found.bound  # `pertinent.check` recomputes it, from other code

    def measure(setting, _, found):
        values, label = frame.to_numpy(), model.predict(frame)
        points, base = found.points.to_numpy(), np.array([0.0, "a", 0.0], dtype=object)
        fine = (points == np.where(found.kept, values, base)).all(axis=1)
        fine[fine] = model.predict(found.points[fine]) == label[fine]
        return np.where(fine, found.kept.sum(axis=1), np.nan)

    about = {"given": {}, "samples": frame}
    return question(ask, proved, measure, truth_of.rooms_sizes, lambda: model, **about)


@contextmanager
def in_doubt():
    """Let halving show nothing, so that the search over sets of features stays in doubt."""
    with mock.patch.object(pool, "closes", return_value=False):
        yield


def questions():
    """Return all questions by name, the cheapest first."""
    return {
        "negative": negatives(lambda: truth_of.change_costs(4)),
        "negative, row by row": row_by_row(lambda: truth_of.change_costs(4)),
        "at most two changes": negatives(
            lambda: truth_of.change_costs(2), few_costs(2), max_changes=2
        ),
        "at most one change": negatives(
            lambda: truth_of.change_costs(1), few_costs(1), max_changes=1
        ),
        "negative, tree": negatives(truth_of.tree_change_costs, model=tree),
        "into a range": negatives(
            truth_of.straight_costs, into_range, straight, target=straight().target
        ),
        "into a range, forest": negatives(
            truth_of.averaged_costs, into_range, averaged, target=averaged().target
        ),
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
        **further_questions(),
        **(scip_questions() if SCIP else {}),
    }
