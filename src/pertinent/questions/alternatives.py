"""Several negatives for one sample: different sets of changed features, in order of cost.

The best point changes the features S. Any other set that does not contain S leaves at least one
feature of S alone, so the next best is the cheapest of |S| projections, each with one feature of
S frozen; and so on. Every branch is a projection with a bound of its own, so a set is proved next
best as soon as no open branch has a smaller bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pertinent.answering.nearest import nearest
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.proofs import INFEASIBLE, OPTIMAL
from pertinent.questions.tolerances import ALTERNATIVES_GAP
from pertinent.setting.alternative import Alternative
from pertinent.setting.answers import Answers
from pertinent.setting.region_key import Kind
from pertinent.setting.results import Negatives
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table


@dataclass(frozen=True, eq=False)
class _Branch:
    """The best point with some features frozen."""

    frozen: BoolArray
    point: FloatArray
    changed: BoolArray
    cost: float
    bound: float
    optimal: bool
    label: int


@dataclass(eq=False)
class _Row:
    """One sample's open branches, and the sets listed so far (the first is the best)."""

    open: list[_Branch]
    listed: list[BoolArray] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    found: list[Alternative] = field(default_factory=list)
    sure: bool = True

    def advance(self, count: int) -> list[BoolArray]:
        """List what is next; return the frozen sets to look at before going on."""
        while self.open and len(self.listed) <= count:
            best = min(range(len(self.open)), key=lambda b: self.open[b].cost)
            branch = self.open.pop(best)
            inside = next((t for t in self.listed if (t <= branch.changed).all()), None)
            if inside is None:
                self._list(branch)
                inside = branch.changed
            children = self._children(branch, inside)
            if children:
                return children
        return []

    def _list(self, branch: _Branch) -> None:
        others = min((b.bound for b in self.open), default=np.inf)
        proved = self.sure and branch.optimal and branch.cost * (1 - ALTERNATIVES_GAP) <= others
        self.listed.append(branch.changed)
        if len(self.listed) > 1:
            self.found.append(
                Alternative(
                    branch.changed, branch.point, branch.cost, branch.cost, proved, branch.label
                )
            )

    def _children(self, branch: _Branch, inside: BoolArray) -> list[BoolArray]:
        out = []
        for j in np.flatnonzero(inside):
            frozen = branch.frozen.copy()
            frozen[j] = True
            if frozen.tobytes() not in self.seen:
                self.seen.add(frozen.tobytes())
                out.append(frozen)
        return out

    def add(self, branch: _Branch | None, impossible: bool) -> None:
        """Take in a solved branch; one without point or proof leaves things unproved."""
        if branch is not None:
            self.open.append(branch)
        elif not impossible:
            self.sure = False


def further_contrasts(
    prepared: Setting,
    table: Table,
    negatives: Negatives,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    count: int,
) -> tuple[tuple[Alternative, ...], ...]:
    """Return up to ``count`` further sets of changed features for each sample.

    Parameters
    ----------
    prepared : Setting
    table : Table
    negatives : Negatives
        The best answers.
    kind, labels, lower, upper
        What they were asked with, see `pertinent.answering.nearest`.
    count : int
    """
    rows = [_first(negatives, i) for i in range(len(table))]
    waiting: dict[int, list[BoolArray]] = {i: row.advance(count) for i, row in enumerate(rows)}
    while any(waiting.values()):
        owner = np.array([i for i, frozen in waiting.items() for _ in frozen])
        frozen = np.array([mask for masks in waiting.values() for mask in masks])
        answers = _solve(prepared, table, kind, labels, lower, upper, owner, frozen)
        different = prepared.features.by_feature(answers.points != table.values[owner])
        for k, i in enumerate(owner):
            branch = _branch(answers, k, frozen[k], different[k])
            rows[i].add(branch, answers.status[k] == INFEASIBLE)
        waiting = {int(i): rows[i].advance(count) for i in np.unique(owner)}
    return tuple(tuple(row.found[:count]) for row in rows)


def _first(negatives: Negatives, i: int) -> _Row:
    if not negatives.found[i]:
        return _Row([])
    changed = negatives.changed[i]
    branch = _Branch(
        np.zeros(len(changed), dtype=bool),
        negatives.values[i],
        changed,
        float(negatives.objective[i]),
        float(negatives.bound[i]),
        bool(negatives.status_code[i] == OPTIMAL),
        int(negatives.target_place[i]),
    )
    return _Row([branch])


def _solve(
    prepared: Setting,
    table: Table,
    kind: Kind,
    labels: IntArray,
    lower: FloatArray,
    upper: FloatArray,
    owner: IntArray,
    frozen: BoolArray,
) -> Answers:
    samples = table.values[owner]
    held = prepared.features.by_column(frozen)
    low = np.where(held, np.maximum(lower[owner], samples), lower[owner])
    high = np.where(held, np.minimum(upper[owner], samples), upper[owner])
    some = table.take(owner)
    return nearest(prepared, some, samples, kind, labels[owner], low, high, changes=True)


def _branch(answers: Answers, k: int, frozen: BoolArray, changed: BoolArray) -> _Branch | None:
    if not answers.found[k]:
        return None
    return _Branch(
        frozen,
        answers.points[k],
        changed,
        float(answers.objective[k]),
        float(answers.bound[k]),
        bool(answers.status[k] == OPTIMAL),
        int(answers.label[k]),
    )
