"""Conflicts of some rules: that these leave no point, and that each of them is needed.

The rules that a proof rests on may be more than are needed, or fewer than the user has to know of.
A conflict is named with a proof about just its rules: the question is asked again as if there were
no others. That a rule is needed is shown by a point: it is what was asked for, and obeys each other
rule of the conflict. Both are looked at here, whoever found them. Plausibility is left out and kept
like one more rule.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pertinent.density.hull import Blend, Hulls
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.region import Region
from pertinent.geometry.task import Task
from pertinent.proofs import Certificate
from pertinent.rules.reference import PLAUSIBLE, RuleKind, RuleRef
from pertinent.rules.subsets import GIVEN, every_rule, only
from pertinent.setting.answers import Ask, Certified, RowRules
from pertinent.setting.claims.about import is_of_distances
from pertinent.setting.judge import handed_out, judge
from pertinent.setting.limits import narrowed
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.implausible import WITH_DENSITY, is_shown, pair, rules_used
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


class RuleSets:
    """Every rule of a setting, and the setting as it is if only some hold, each made once.

    Parameters
    ----------
    setting : Setting
        With all rules, and with what is plausible.
    changes : bool
        Whether the rules about change apply.
    """

    def __init__(self, setting: Setting, changes: bool) -> None:
        self.setting, self.changes = setting, changes
        self._made: dict[frozenset[RuleRef], Setting] = {}

    @cached_property
    def rules(self) -> tuple[RuleRef, ...]:
        """Every rule, and plausibility where it is asked for."""
        own = every_rule(self.setting.constraints, self.setting.features, changes=self.changes)
        return own if self.setting.within is None else (*own, PLAUSIBLE)

    def under(self, rules: Collection[RuleRef]) -> Setting:
        """Return the setting with some of the rules."""
        key = frozenset(rules)
        if key not in self._made:
            whole = self.setting
            some = only(whole.constraints, whole.features, key)
            base = whole if PLAUSIBLE in key else whole.without_plausibility()
            self._made[key] = base.under(some)
            self._made[key].is_partial = True
        return self._made[key]


@dataclass(frozen=True, eq=False)
class Ruled:
    """What is asked of n samples if only some rules hold.

    Parameters
    ----------
    rules : tuple of RuleRef
    setting : Setting
        With these rules.
    key : RegionKey
    ask : Ask
    """

    rules: tuple[RuleRef, ...]
    setting: Setting
    key: RegionKey
    ask: Ask

    @property
    def region(self) -> Region:
        """What is asked for."""
        return self.setting.region(self.key, self.setting.asked_margin)

    def take(self, rows: IntArray) -> Ruled:
        """Return the same of some of the samples, which the `ask` alone knows."""
        return replace(self, ask=self.ask.take(rows))

    def limits(self, row: int) -> Limits:
        """Return the lowest and the highest allowed values, each of shape (n_features,)."""
        return self.ask.low[row], self.ask.high[row]

    def leave_nothing(self, proof: Certificate) -> BoolArray:
        """Return of which samples a proof shows that the rules leave no point."""
        setting, ask, every = self.setting, self.ask, np.arange(len(self.ask))
        about = Certified(self.key, every, proof)
        if proof.n != len(ask) or not is_of_distances(setting, about, ask.table.values):
            return np.zeros(len(ask), dtype=bool)
        where = ask.centers, setting.weights, ask.low, ask.high
        proved = proof.bounds(Task(self.region, *where, domain=ask.rules.domain))
        return np.asarray((proved == np.inf) & proof.trusted())

    def allow(
        self,
        points: FloatArray,
        predicted: IntArray | None = None,
        blends: NDArray[np.object_] | None = None,
    ) -> BoolArray:
        """Return which points are what is asked for, as they are, and obey these rules."""
        same = (handed_out(self.ask, points) == points).all(axis=1)
        return np.asarray(same & judge(self.setting, self.ask, points, predicted, blends).valid)

    def reason(self, row: int, proof: Certificate) -> Reason:
        """Return the reason that a proof about these rules shows of one sample.

        Beside the rules it names what else the proof rests on: the categories that there are, what
        the model reads, the limits that the question sets.
        """
        if PLAUSIBLE in self.rules:
            return self._implausible(row, proof, self.region, Why.DENSITY_CLASS_RULES)
        limits = self.limits(row)
        read = why_infeasible(self.setting, self.key, proof, self.region, limits)
        if read.kind is Why.NEVER:
            return read
        found = self._and_given(read.rules, limits)
        return Reason(Why.RULES if found else Why.MODEL, self.key, found, proof=proof)

    def whatever_class(self, row: int, proof: Certificate) -> Reason | None:
        """Return that the rules leave no plausible point of whatever class; None if not shown.

        The proof is about `pair`: what is plausible, within the limits of these rules.
        """
        if PLAUSIBLE not in self.rules:
            return None
        limits, said = self.limits(row), Reason(Why.DENSITY_RULES, self.key, proof=proof)
        if not is_shown(self.setting, said, self.near(row), limits):
            return None
        region = pair(self.setting, said.kind, self.key, limits).region
        return self._implausible(row, proof, region, said.kind)

    def near(self, row: int) -> FloatArray:
        """Return what proofs about plausible points start from.

        For blends of training points the sample decides which.
        """
        blends = isinstance(self.setting.within, Hulls)
        return np.asarray((self.ask.table.values if blends else self.ask.centers)[row])

    def _implausible(self, row: int, proof: Certificate, region: Region, kind: Why) -> Reason:
        """Return the reason with plausibility among its rules."""
        assert self.setting.within is not None
        limits = self.limits(row)
        used = rules_used(self.setting, proof, region, self.near(row), limits)
        found = self._and_given(used, limits)
        kind = Why.DENSITY_CLASS if found == (PLAUSIBLE,) else kind
        words = self.setting.within.words()
        return Reason(kind, self.key, found, plausible=words, proof=proof)

    def _and_given(self, read: Collection[RuleRef], limits: Limits) -> tuple[RuleRef, ...]:
        """Return the rules, and what else a proof rests on, in their order."""
        given = (rule for rule in read if self._is_given(rule, limits))
        return tuple(sorted((*self.rules, *given), key=str))

    def _is_given(self, named: RuleRef, limits: Limits) -> bool:
        """Return whether a condition holds that is no rule, rather than one of a proof's cases."""
        if named.kind not in (RuleKind.LOWER_LIMIT, RuleKind.UPPER_LIMIT):
            return named.kind in GIVEN
        limit = limits[0 if named.kind is RuleKind.LOWER_LIMIT else 1]
        own = self.setting.features.owner == self.setting.features.index(named.features[0])
        return bool(np.isfinite(limit[own]).any())


@dataclass(frozen=True, eq=False)
class Questions:
    """What is asked of n samples, so that it can be asked again under some of the rules.

    Parameters
    ----------
    sets : RuleSets
    key : RegionKey
    table : Table
        The samples.
    centers : ndarray of shape (n, n_features)
    beyond : tuple of ndarray of shape (n or 1, n_features), or None
        What the question allows beyond the rules; None: everything.
    """

    sets: RuleSets
    key: RegionKey
    table: Table
    centers: FloatArray
    beyond: Limits | None

    @classmethod
    def of(cls, setting: Setting, ask: Ask, key: RegionKey) -> Questions:
        """Return the questions of all rows."""
        sets = RuleSets(setting, ask.rules.changes)
        return cls(sets, key, ask.table, ask.centers, ask.beyond)

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def rules(self) -> tuple[RuleRef, ...]:
        """Every rule."""
        return self.sets.rules

    def take(self, rows: IntArray) -> Questions:
        """Return some of the questions; they may repeat, and limits that all share stay."""
        beyond = self.beyond
        if beyond is not None and len(beyond[0]) > 1:
            beyond = beyond[0][rows], beyond[1][rows]
        return replace(self, table=self.table.take(rows), centers=self.centers[rows], beyond=beyond)

    def under(self, rules: Collection[RuleRef]) -> Ruled:
        """Return the questions as they are if only some of the rules hold."""
        setting = self.sets.under(rules)
        limits = narrowed(setting.constraints.limits(setting.features, self.table), self.beyond)
        return self.within(tuple(rules), setting, limits)

    def within(self, rules: tuple[RuleRef, ...], setting: Setting, limits: Limits) -> Ruled:
        """Return the same with limits of its own."""
        low, high = (np.broadcast_to(limit, self.centers.shape) for limit in limits)
        changes = self.sets.changes
        domain = RowRules(setting.domain_of(self.table, changes=changes), changes)
        labels = np.full(len(self), self.key.place)
        where = self.table, self.centers, self.key.kind, labels, low, high
        return Ruled(rules, setting, self.key, Ask(*where, domain, None, False))


def own_rules(rules: Collection[RuleRef]) -> tuple[RuleRef, ...]:
    """Return those that are rules, of the user or suggested by the data, and plausibility."""
    return tuple(rule for rule in rules if rule.kind not in GIVEN)


def shown_by(asked: Questions, said: Reason, own: Certificate) -> Reason | None:
    """Return the reason that proofs show of the rules that are named; None if they show none.

    Parameters
    ----------
    asked : Questions
        Of one sample.
    said : Reason
        Its own proof, if it has one, is about its rules alone.
    own : Certificate
        The proof of the answer: about all rules.
    """
    return _shown(asked, asked.under(own_rules(said.rules)), said, own)


def _shown(asked: Questions, ruled: Ruled, said: Reason, own: Certificate) -> Reason | None:
    rules, proof = ruled.rules, said.proof or own
    if said.proof is None and _relations(rules) != _relations(asked.rules):
        return None  # it speaks of the rows of all relations
    if not set(rules) <= set(asked.rules) or (said.kind in WITH_DENSITY) != (PLAUSIBLE in rules):
        return None
    if said.kind is Why.DENSITY_RULES:
        shown = ruled.whatever_class(0, proof)
    else:
        shown = ruled.reason(0, proof) if ruled.leave_nothing(proof).all() else None
    return shown and replace(shown, proof=said.proof, without=said.without, blends=said.blends)


def _relations(rules: Collection[RuleRef]) -> set[RuleRef]:
    return {rule for rule in rules if rule.kind is RuleKind.RELATION}


def each_is_needed(asked: Questions, said: Sequence[Reason]) -> BoolArray:
    """Return of which samples the points of their reasons show that each rule named is needed.

    The point of a rule is what was asked for, and obeys each of the other rules.
    """
    shown, known, dim = np.zeros(len(asked), dtype=bool), set(asked.rules), asked.centers.shape[1]
    pairs: list[tuple[int, RuleRef]] = []
    points: list[FloatArray] = []
    blends: list[Blend | None] = []
    for i, reason in enumerate(said):
        rules, found = own_rules(reason.rules), reason.without
        if found is None or found.shape != (len(rules), dim) or not known.issuperset(rules):
            continue
        shown[i] = np.isfinite(found).all()
        if shown[i]:
            pairs += [(i, rule) for rule in rules]
            points.append(found)
            blends += _blends_of(reason)
    if not pairs:
        return shown
    owner, every = np.array([i for i, _ in pairs]), np.concatenate(points)
    predicted = asked.sets.setting.predict(asked.table.take(owner), every)
    good = asked.take(owner).under(()).allow(every, predicted)
    place = {rule: k for k, rule in enumerate(dict.fromkeys(rule for _, rule in pairs))}
    left_out = np.array([place[rule] for _, rule in pairs])
    named = np.zeros((len(asked), len(place)), dtype=bool)
    named[owner, left_out] = True
    made_of = np.empty(len(pairs), dtype=object)
    made_of[:] = blends
    for rule, k in place.items():
        rows = np.flatnonzero(named[owner, k] & (left_out != k))
        if len(rows):
            ruled = asked.take(owner[rows]).under((rule,))
            good[rows] &= ruled.allow(every[rows], predicted[rows], made_of[rows])
    shown[owner[~good]] = False
    return shown


def _blends_of(reason: Reason) -> tuple[Blend | None, ...]:
    """Return of which training points the points of a reason are made; none if it does not say."""
    assert reason.without is not None
    n = len(reason.without)
    return reason.blends if len(reason.blends) == n else (None,) * n


def confirmed(asked: Questions, said: Sequence[Reason], own: Certificate) -> list[Reason]:
    """Return reasons with what is shown of them: rules that are not needed are not said to be."""
    needed = each_is_needed(asked, said)
    same: dict[tuple[RuleRef, ...], list[int]] = {}
    for i in np.flatnonzero(needed).tolist():
        same.setdefault(own_rules(said[i].rules), []).append(i)
    for rules, rows in same.items():
        ruled = asked.take(np.array(rows)).under(rules)
        for k, i in enumerate(rows):
            one = ruled.take(np.array([k]))
            needed[i] = _shown(asked, one, said[i], own.take(np.array([i]))) == said[i]
    pairs = zip(said, needed, strict=True)
    return [
        reason if holds else replace(reason, without=None, blends=()) for reason, holds in pairs
    ]
