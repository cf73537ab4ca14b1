"""Conflicts of some rules: that these leave no point, and that each of them is needed.

The rules that a proof rests on may be more than are needed, or fewer than the user has to know of.
A conflict is named with a proof about just its rules: the question is asked again as if there were
no others. That a rule is needed is shown by a point: it is what was asked for, and obeys all rules
of the conflict but this one. Both are looked at here, whoever found them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.region import Region
from pertinent.geometry.task import Task
from pertinent.proofs import Certificate
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.rules.subsets import GIVEN, every_rule, only
from pertinent.setting.answers import Ask, Certified, RowRules
from pertinent.setting.claims.about import is_of_distances
from pertinent.setting.judge import handed_out, judge
from pertinent.setting.limits import narrowed
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class Ruled:
    """One question under some rules.

    Parameters
    ----------
    setting : Setting
        Its constraints are these rules.
    ask : Ask
        Of one row.
    region : Region
    """

    setting: Setting
    ask: Ask
    region: Region

    @property
    def limits(self) -> Limits:
        """The lowest and the highest allowed values, each of shape (n_features,)."""
        return self.ask.low[0], self.ask.high[0]

    def gives(self, named: RuleRef) -> bool:
        """Return whether a condition holds that is no rule, rather than one of a proof's cases."""
        if named.kind not in (RuleKind.LOWER_LIMIT, RuleKind.UPPER_LIMIT):
            return named.kind in GIVEN
        limit = self.limits[0 if named.kind is RuleKind.LOWER_LIMIT else 1]
        own = self.setting.features.owner == self.setting.features.index(named.features[0])
        return bool(np.isfinite(limit[own]).any())


@dataclass(frozen=True, eq=False)
class OneQuestion:
    """What is asked of one sample, so that it can be asked again under some of the rules.

    Parameters
    ----------
    setting : Setting
        With all rules, without plausibility.
    key : RegionKey
    table : Table
        The sample.
    center : ndarray of shape (n_features,)
    beyond : tuple of ndarray of shape (n_features,), or None
        What the question allows beyond the rules; None: everything.
    changes : bool
        Whether the rules about change apply.
    """

    setting: Setting
    key: RegionKey
    table: Table
    center: FloatArray
    beyond: Limits | None
    changes: bool

    @classmethod
    def of(cls, setting: Setting, ask: Ask, key: RegionKey) -> OneQuestion:
        """Return the question of one row."""
        return cls(
            setting.without_plausibility(), key, ask.table, ask.centers[0],
            ask.beyond, ask.rules.changes,
        )  # fmt: skip

    @cached_property
    def rules(self) -> tuple[RuleRef, ...]:
        """Every rule."""
        return every_rule(self.setting.constraints, self.setting.features, changes=self.changes)

    def under(self, rules: Collection[RuleRef]) -> Ruled:
        """Return the question as it is if only some of the rules hold."""
        features, table = self.setting.features, self.table
        setting = self.setting.under(only(self.setting.constraints, features, rules))
        limits = narrowed(setting.constraints.limits(features, table), self.beyond)
        low, high = (np.broadcast_to(limit, (1, features.dim)) for limit in limits)
        domain = RowRules(setting.domain_of(table, changes=self.changes), self.changes)
        labels = np.array([self.key.place])
        ask = Ask(table, self.center[None], self.key.kind, labels, low, high, domain, None, False)
        return Ruled(setting, ask, setting.region(self.key, setting.asked_margin))

    def shows(self, proof: Certificate, rules: Collection[RuleRef]) -> bool:
        """Return whether a proof shows that some rules leave no point."""
        if not set(rules) <= set(self.rules) or not proof.trusted().all() or proof.n != 1:
            return False
        ruled = self.under(rules)
        part = Certified(self.key, np.zeros(1, dtype=np.int64), proof)
        if not is_of_distances(ruled.setting, part, self.table.values):
            return False
        ask = ruled.ask
        where = ask.centers, ruled.setting.weights, ask.low, ask.high
        task = Task(ruled.region, *where, domain=ask.rules.domain)
        return bool(proof.bounds(task)[0] == np.inf)

    def reason(self, rules: Collection[RuleRef], proof: Certificate) -> Reason:
        """Return the reason that a proof about some rules shows.

        Beside the rules it names what else the proof rests on: the categories that there are, what
        the model reads, the limits that the question sets.
        """
        ruled = self.under(rules)
        read = why_infeasible(ruled.setting, self.key, proof, ruled.region, ruled.limits)
        if read.kind is Why.NEVER:
            return read
        named = (*rules, *(rule for rule in read.rules if ruled.gives(rule)))
        found = tuple(sorted(named, key=str))
        return Reason(Why.RULES if found else Why.MODEL, self.key, found, proof=proof)

    def is_needed(self, rule: RuleRef, rules: Collection[RuleRef], point: FloatArray) -> bool:
        """Return whether a point shows that a rule is needed: it obeys all the others."""
        ruled, points = self.under([one for one in rules if one != rule]), point[None]
        if points.shape != ruled.ask.centers.shape or not np.isfinite(points).all():
            return False
        same = handed_out(ruled.ask, points) == points
        return bool(same.all() and judge(ruled.setting, ruled.ask, points).valid[0])


def own_rules(rules: Collection[RuleRef]) -> tuple[RuleRef, ...]:
    """Return those that are rules, of the user or suggested by the data."""
    return tuple(rule for rule in rules if rule.kind not in GIVEN)


def shown_by(asked: OneQuestion, said: Reason, own: Certificate) -> Reason | None:
    """Return the reason that proofs show of the rules that are named; None if they show none.

    Parameters
    ----------
    asked : OneQuestion
    said : Reason
        Its own proof, if it has one, is about its rules alone.
    own : Certificate
        The proof of the answer: about all rules.
    """
    rules = own_rules(said.rules)
    if said.proof is None and _relations(rules) != _relations(asked.rules):
        return None  # it speaks of the rows of all relations
    proof = said.proof or own
    if not asked.shows(proof, rules):
        return None
    return replace(asked.reason(rules, proof), proof=said.proof, without=said.without)


def _relations(rules: Collection[RuleRef]) -> set[RuleRef]:
    return {rule for rule in rules if rule.kind is RuleKind.RELATION}


def each_is_needed(asked: OneQuestion, said: Reason) -> bool:
    """Return whether the points of a reason show that each of its rules is needed."""
    rules = own_rules(said.rules)
    if said.without is None or len(said.without) != len(rules):
        return False
    pairs = zip(rules, said.without, strict=True)
    return all(asked.is_needed(rule, rules, point) for rule, point in pairs)


def confirmed(asked: OneQuestion, said: Reason, own: Certificate) -> Reason:
    """Return a reason with what is shown of it: rules that are not needed are not said to be."""
    if said.without is None:
        return said
    shown = shown_by(asked, said, own) == said and each_is_needed(asked, said)
    return said if shown else replace(said, without=None)
