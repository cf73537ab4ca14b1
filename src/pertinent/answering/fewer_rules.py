"""The fewest rules that leave no point: rules are left out, of many samples at once.

If the other rules leave no point still, a rule is dropped for good; if there is a point, the rule
is needed, and stays so when others are dropped. Of many rules some are left out together: where
there is a point then that breaks just one of them, this one is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pertinent.density.hull import Blend, Hulls
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.cell import Cell
from pertinent.geometry.pieces import anchored_cells
from pertinent.geometry.running import is_over
from pertinent.proofs import INFEASIBLE, Certificate
from pertinent.rules.reference import PLAUSIBLE, RuleKind, RuleRef
from pertinent.setting.answers import Answers
from pertinent.setting.judge import handed_out, judge
from pertinent.setting.limits import narrowed
from pertinent.setting.nearest.flow import FEW_TRIES, nearest
from pertinent.setting.nearest.search import Search
from pertinent.setting.reasons.conflicts import why_infeasible
from pertinent.setting.reasons.fewer import Questions, Ruled, own_rules
from pertinent.setting.reasons.implausible import rules_used
from pertinent.setting.reasons.reason import Reason

#: Samples that are looked at together: the limits of every rule are kept for all of them.
AT_ONCE = 256
#: With more rules than this in a conflict, none is tried to be dropped.
MOST_RULES = 64
#: Of more rules than this, some are left out together.
FEW_RULES = 8
#: Rules that the data suggest are dropped first: a user knows the own ones.
_SUGGESTED = frozenset(
    {
        RuleKind.DATA_AT_LEAST,
        RuleKind.DATA_AT_MOST,
        RuleKind.DATA_STEP,
        RuleKind.DATA_CHANGE,
        RuleKind.DATA_CATEGORIES,
    }
)
#: Rules that leave some numbers only.
_STEPS = frozenset({RuleKind.DECIMALS, RuleKind.STEP, RuleKind.DATA_STEP, RuleKind.DATA_CHANGE})
#: Rules that are limits of columns, and nothing else: those of several are the narrowest.
_LIMITS = frozenset(
    {
        RuleKind.FROZEN,
        RuleKind.AT_LEAST,
        RuleKind.AT_MOST,
        RuleKind.INCREASE_ONLY,
        RuleKind.DECREASE_ONLY,
        RuleKind.CATEGORIES,
        RuleKind.TRANSITIONS,
        RuleKind.DATA_AT_LEAST,
        RuleKind.DATA_AT_MOST,
        RuleKind.DATA_CATEGORIES,
    }
)


def smallest_conflicts(search: Search, asked: Questions, own: Certificate) -> list[Reason]:
    """Return rules that leave no point, with a point for each without which there is one.

    Parameters
    ----------
    search : Search
    asked : Questions
    own : Certificate
        That there are no points, about all rules.
    """
    found: list[Reason] = []
    for first in range(0, len(asked), AT_ONCE):
        rows = np.arange(first, min(first + AT_ONCE, len(asked)))
        found += _Shrinking(search, asked.take(rows), own.take(rows)).run()
    return found


def under(search: Search, ruled: Ruled) -> Answers:
    """Return the nearest points under some of the rules."""
    setting, ask = copy(ruled.setting), ruled.ask
    setting.options = replace(setting.options, unique=False, exact=False, round_steps=True)
    where = ask.table, ask.centers, ask.kind, ask.labels, ask.low, ask.high
    changes = ask.rules.changes
    return nearest(search, setting, *where, changes=changes, says_why=False, tries=FEW_TRIES)


class _Met(NamedTuple):
    """A point that obeys some rules, and the training points that it is made of, if any."""

    point: FloatArray
    blend: Blend | None = None


class _Shrinking:
    """The rules that are left of each of n samples.

    Parameters
    ----------
    search : Search
    asked : Questions
    own : Certificate

    Attributes
    ----------
    left, open : ndarray of bool, shape (n, n_rules)
        Which rules are still there, and which of them are yet to be left out.
    size : ndarray of int, shape (n,)
        How many to leave out next.
    proof : list of Certificate
        That the rules that are left leave no point.
    points : list of dict
        For each rule that is needed a point that obeys the others.
    """

    def __init__(self, search: Search, asked: Questions, own: Certificate) -> None:
        self.search, self.asked = search, asked
        order = sorted(asked.rules, key=lambda rule: (rule.kind not in _SUGGESTED, str(rule)))
        self.every, n = tuple(order), len(asked)
        self.limits = np.array([rule.kind in _LIMITS for rule in order], dtype=bool)
        self.left = np.ones((n, len(order)), dtype=bool)
        self.open, self.size = np.zeros_like(self.left), np.ones(n, dtype=np.int64)
        self.proof = [own.take(np.array([i])) for i in range(n)]
        self.own = list(self.proof)
        self.points: list[dict[RuleRef, _Met]] = [{} for _ in range(n)]

    def run(self) -> list[Reason]:
        """Drop rules until each is known to be needed, or time is over."""
        self._begin()
        while not is_over():
            rows = np.flatnonzero(self.open.any(axis=1))
            if not len(rows):
                break
            self._leave_out(rows)
        return self._reasons()

    # --- rules as rows of truth values ----------------------------------------------------

    def _rules(self, mask: BoolArray) -> tuple[RuleRef, ...]:
        return tuple(rule for rule, holds in zip(self.every, mask, strict=True) if holds)

    @cached_property
    def _limits_of(self) -> dict[int, Limits]:
        """The limits that each rule sets by itself, by its place, for all samples."""
        asked, found = self.asked, {}
        for place in np.flatnonzero(self.limits):
            rules = asked.sets.under((self.every[place],)).constraints
            found[int(place)] = rules.limits(asked.sets.setting.features, asked.table)
        return found

    @cached_property
    def _has_typical(self) -> bool:
        """Whether typical points of the class are known."""
        return any(anchored_cells(self.asked.under(some).region) for some in ((), self.every))

    def _asked(self, rows: IntArray, masks: BoolArray) -> Iterator[tuple[IntArray, Ruled]]:
        """Yield the questions of some samples, each under its rules, those alike together."""
        if not len(self.every):
            yield np.arange(len(rows)), self.asked.take(rows).under(())
            return
        kinds, place = np.unique(masks[:, ~self.limits], axis=0, return_inverse=True)
        for k in range(len(kinds)):
            some = np.flatnonzero(place.reshape(-1) == k)
            mask = np.zeros(len(self.every), dtype=bool)
            mask[~self.limits] = kinds[k]
            yield some, self._within(rows[some], mask, masks[some])

    def _within(self, rows: IntArray, common: BoolArray, masks: BoolArray) -> Ruled:
        """Return questions with some rules in common, and limits of their own."""
        some = self.asked.take(rows)
        rules = self._rules(common)
        setting = some.sets.under(rules)
        limits = setting.constraints.limits(setting.features, some.table)
        low, high = (np.broadcast_to(limit, some.centers.shape).copy() for limit in limits)
        for place in np.flatnonzero(masks.any(axis=0) & self.limits).tolist():
            here = np.flatnonzero(masks[:, place])
            theirs = (
                limit if len(limit) == 1 else limit[rows[here]] for limit in self._limits_of[place]
            )
            least, most = theirs
            low[here] = np.maximum(low[here], least)
            high[here] = np.minimum(high[here], most)
        return some.within(rules, setting, narrowed((low, high), some.beyond))

    # --- steps --------------------------------------------------------------------------

    def _begin(self) -> None:
        """Begin with the rules that the proof of the answer rests on, if they will do."""
        n = len(self.asked)
        if PLAUSIBLE in self.every and not is_over():
            self._begin_with_plausibility()
        named = np.array([self._named(i) for i in range(n)]).reshape(self.left.shape)
        for i in range(n):
            self._read(i, named[i])
        rows = np.flatnonzero((named != self.left).any(axis=1))
        if len(rows) and not is_over():
            self._drop_where_shown(rows, named[rows])
        for i in range(n):
            if self.left[i].sum() <= MOST_RULES:
                known = [rule in self.points[i] for rule in self.every]
                self.open[i] = self.left[i] & ~np.array(known, dtype=bool)
            self.size[i] = self._at_once(i)

    def _begin_with_plausibility(self) -> None:
        """Leave plausibility out, else all the rules: most often one of both shows much."""
        place = self.every.index(PLAUSIBLE)
        alone = np.array([rule == PLAUSIBLE for rule in self.every], dtype=bool)
        for i, met in self._drop_where_shown(np.arange(len(self.left)), self.left & ~alone).items():
            if met is not None:
                self._note_needed(i, place, met)
        rows = np.flatnonzero(self.left[:, place] & (self.left.sum(axis=1) > 1))
        self._drop_where_shown(rows, self.left[rows] & alone)

    def _leave_out(self, rows: IntArray) -> None:
        """Leave the next rules out, and note what that shows."""
        place = self.open[rows].cumsum(axis=1)
        out = self.open[rows] & (place <= self.size[rows][:, None])
        left = self.left[rows] & ~out
        typical = self._typical(rows, left)
        for k, known in typical.items():
            self._note_needed(int(rows[k]), int(np.flatnonzero(out[k])[0]), _Met(known))
        rest = np.array([k for k in range(len(rows)) if k not in typical], dtype=np.int64)
        if not len(rest):
            return
        rows, out = rows[rest], out[rest]
        for k, met in self._drop_where_shown(rows, left[rest]).items():
            i, tried = int(rows[k]), np.flatnonzero(out[k])
            broken = tried if met is None or len(tried) == 1 else self._broken(i, tried, met.point)
            if met is not None and len(broken) == 1:
                self._note_needed(i, int(broken[0]), met)
            elif len(tried) > 1:
                self.size[i] //= 2
            else:
                self.open[i, tried] = False
                self.size[i] = self._at_once(i)

    def _drop_where_shown(self, rows: IntArray, left: BoolArray) -> dict[int, _Met | None]:
        """Drop all but some rules where these leave no point; else return what was found, by place.

        The nearest point, or None where there is neither one nor a proof.
        """
        others: dict[int, _Met | None] = {}
        for some, ruled in self._asked(rows, left):
            found = under(self.search, ruled)
            for k, place in enumerate(some.tolist()):
                proof = found.proof_of(k) if found.status[k] == INFEASIBLE else None
                if proof is None:
                    met = _Met(found.points[k], found.blend[k])
                    others[place] = met if found.found[k] else None
                    continue
                i = int(rows[place])
                self.left[i], self.proof[i] = left[place], proof
                self._read(i, self._named(i))
                self.open[i] &= self.left[i]
                self.size[i] = self._at_once(i)
        return others

    def _note_needed(self, i: int, place: int, met: _Met) -> None:
        self.points[i][self.every[place]] = met
        self.open[i, place] = False
        self.size[i] = self._at_once(i)

    def _broken(self, i: int, tried: IntArray, point: FloatArray) -> IntArray:
        """Return which of the rules left out a point breaks; all, where some are no limits."""
        if not self.limits[tried].all():
            return tried
        broken = []
        for place in tried.tolist():
            low, high = (limit[i if len(limit) > 1 else 0] for limit in self._limits_of[place])
            if ((point < low) | (point > high)).any():
                broken.append(place)
        return np.array(broken, dtype=np.int64)

    def _at_once(self, i: int) -> int:
        """Return how many rules to leave out together."""
        n = int(self.open[i].sum())
        return n // 3 if n > FEW_RULES else 1

    def _typical(self, rows: IntArray, left: BoolArray) -> dict[int, FloatArray]:
        """Return typical points of the class, moved into the limits, that will do: no search."""
        alone = np.flatnonzero(self.size[rows] == 1)
        found: dict[int, FloatArray] = {}
        if not self._has_typical or not len(alone):
            return found
        for some, ruled in self._asked(rows[alone], left[alone]):
            cells = anchored_cells(ruled.region)
            if ruled.ask.rules.domain is not None or not cells:
                continue
            for k, place in enumerate(some.tolist()):
                point = _typical_of(ruled.take(np.array([k])), cells)
                if point is not None:
                    found[int(alone[place])] = point
        return found

    # --- what proofs rest on ----------------------------------------------------------------

    def _named(self, i: int) -> BoolArray:
        """Return the rules that the proof of a sample rests on, as far as that can be read off."""
        asked = self.asked.take(np.array([i]))
        ruled = asked.under(self._rules(self.left[i]))
        read = _read_off(ruled, self.proof[i])
        # Relations are counted anew where some are left out: their texts tell which they are.
        texts = {rule.text for rule in read if rule.kind is RuleKind.RELATION}
        # The limits of numbers in steps are the last steps within them.
        limited = {name for rule in read for name in rule.features}

        def rests_on(rule: RuleRef) -> bool:
            if rule.kind is RuleKind.RELATION:
                return rule.text in texts
            return rule in read or (rule.kind in _STEPS and limited.issuperset(rule.features))

        named = np.array([rests_on(rule) for rule in self.every], dtype=bool)
        return np.asarray(self.left[i] & named)

    def _read(self, i: int, named: BoolArray) -> None:
        """Drop the rules that the proof of a sample does not rest on, if it is one without them."""
        # A proof speaks of the rows of all relations that were there.
        related = np.array([rule.kind is RuleKind.RELATION for rule in self.every], dtype=bool)
        some = named | (self.left[i] & related)
        if (some == self.left[i]).all():
            return
        ruled = self.asked.take(np.array([i])).under(self._rules(some))
        if ruled.leave_nothing(self.proof[i])[0]:
            self.left[i] = some

    def _reasons(self) -> list[Reason]:
        found = []
        for i in range(len(self.asked)):
            rules = self._rules(self.left[i])
            ruled = self.asked.take(np.array([i])).under(rules)
            reason, proof = ruled.reason(0, self.proof[i]), self.proof[i]
            reason = replace(reason, proof=None if proof is self.own[i] else proof)
            found.append(self._with_points(reason, self.points[i]))
        return found

    def _with_points(self, reason: Reason, points: Mapping[RuleRef, _Met]) -> Reason:
        """Return a reason with the points that show that each of its rules is needed, if known."""
        named = own_rules(reason.rules)
        if not named or not points.keys() >= set(named):
            return reason
        met = [points[rule] for rule in named]
        blended = isinstance(self.asked.sets.setting.within, Hulls)
        blends = tuple(one.blend for one in met) if blended else ()
        return replace(reason, without=np.array([one.point for one in met]), blends=blends)


def _read_off(ruled: Ruled, proof: Certificate) -> Collection[RuleRef]:
    """Return the rules that the proof of one sample rests on, as far as that can be read off."""
    limits, read = ruled.limits(0), tuple[RuleRef, ...]()
    if PLAUSIBLE in ruled.rules:
        read = rules_used(ruled.setting, proof, ruled.region, ruled.near(0), limits)
    read = read or why_infeasible(ruled.setting, ruled.key, proof, ruled.region, limits).rules
    return (*read, PLAUSIBLE)


def _typical_of(ruled: Ruled, cells: Sequence[Cell]) -> FloatArray | None:
    """Return a typical point of the class, moved into the limits of one sample, if it will do."""
    low, high = ruled.limits(0)
    if (low > high).any():
        return None
    for cell in cells:
        near = handed_out(ruled.ask, np.clip(cell.anchors, low, high))
        for point in near[cell.contains(near)]:
            if judge(ruled.setting, ruled.ask, point[None]).valid[0]:
                return np.asarray(point)
    return None
