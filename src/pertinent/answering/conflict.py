"""Why there is no point: the rules that conflict, and which of density, class and rules do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.answering.blends import nearest_blends
from pertinent.answering.fewer_rules import MOST_RULES, smallest_conflicts, under
from pertinent.density.hull import Hulls
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.pieces import anchored_cells
from pertinent.proofs import INFEASIBLE, Certificate
from pertinent.setting.answers import Ask, Certified
from pertinent.setting.nearest.search import Search
from pertinent.setting.reasons.fewer import Questions, RuleSets, confirmed, own_rules
from pertinent.setting.reasons.implausible import PAIRS, WITH_DENSITY, Pair, pair, why_pair
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.solvers import project
from pertinent.tables.table import Table


def why_none(search: Search, setting: Setting, part: Certified, ask: Ask) -> list[Reason]:
    """Return why there are no points, by rules that conflict.

    Parameters
    ----------
    search : Search
    setting : Setting
    part : Certified
        The proof of each row.
    ask : Ask
        The questions of these rows.
    """
    asked = Questions.of(setting, ask, part.key)
    found = smallest_conflicts(search, asked, part.certificate)
    if setting.within is None:
        return found
    for i, said in enumerate(found):
        row = np.array([i])
        if said.kind in WITH_DENSITY and len(said.rules) > MOST_RULES:
            own = part.certificate.take(row)
            found[i] = _implausible(setting, part.key, own, ask.take(row))
        else:
            found[i] = _whatever_class(asked.take(row), said)
    return found


def _implausible(setting: Setting, asked: RegionKey, own: Certificate, ask: Ask) -> Reason:
    """Return which of density, class and rules have no point in common, for one row.

    There are too many rules to look at each: those are named that the proofs rest on.
    """
    limits = ask.low[0], ask.high[0]
    # For blends of training points the sample decides which.
    near = ask.table.values[0] if isinstance(setting.within, Hulls) else ask.centers[0]
    for kind in PAIRS:
        proof = _impossible(setting, pair(setting, kind, asked, limits), near)
        if proof is not None:
            return why_pair(setting, kind, asked, proof, own, near, limits)
    return why_pair(setting, Why.DENSITY_CLASS_RULES, asked, own, own, near, limits)


def _whatever_class(asked: Questions, said: Reason) -> Reason:
    """Return whether density and rules conflict whatever the class is, of one sample."""
    if said.kind is not Why.DENSITY_CLASS_RULES:
        return said
    ruled = asked.under(own_rules(said.rules))
    two = pair(ruled.setting, Why.DENSITY_RULES, ruled.key, ruled.limits(0))
    proof = _impossible(ruled.setting, two, ruled.near(0))
    shown = None if proof is None else ruled.whatever_class(0, proof)
    return said if shown is None else replace(shown, without=said.without, blends=said.blends)


def _impossible(setting: Setting, two: Pair, sample: FloatArray) -> Certificate | None:
    """Return a proof that no point has both; None without one."""
    one, (low, high) = sample[None], two.limits
    if two.blends:
        assert isinstance(setting.within, Hulls)
        args = (one, low[None], high[None])
        found, _ = nearest_blends(setting.within, one, two.region, two.owner, setting.weights, args)
    elif any(
        cell.contains(np.clip(cell.anchors, low, high)).any() for cell in anchored_cells(two.region)
    ):
        return None  # the mean of a mixture is such a point
    else:
        found = project(one, two.region, setting.weights, low[None], high[None])
    return found.certificate if np.isinf(found.believed[0]) else None


def conflicts(
    search: Search, setting: Setting, table: Table, key: RegionKey
) -> list[Reason | None]:
    """Return the rules that leave samples without a contrast; None where that is not proved.

    Each reason holds its proof, whatever else was proved before.
    """
    asked = Questions(RuleSets(setting, changes=True), key, table, table.values, None)
    every = asked.under(asked.rules)
    found, reasons = under(search, every), list[Reason | None]([None] * len(table))
    for part in found.certificates:
        here = np.flatnonzero(found.status[part.rows] == INFEASIBLE)
        rows, proof = part.rows[here], part.certificate.take(here)
        shown = np.flatnonzero(every.take(rows).leave_nothing(proof))
        rows, proof = rows[shown], proof.take(shown)
        some = asked.take(rows)
        said = smallest_conflicts(search, some, proof)
        said = [
            replace(reason, proof=reason.proof or proof.take(np.array([k])))
            for k, reason in enumerate(said)
        ]
        for i, reason in zip(rows.tolist(), confirmed(some, said, proof), strict=True):
            reasons[i] = reason
    return reasons
