"""Why there is no answer: the rules that a proof of infeasibility rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pertinent.geometry.arrays import FloatArray, Limits
from pertinent.geometry.pieces import cell_limits, cells_of
from pertinent.geometry.region import Cell, Region
from pertinent.proofs import Certificate, LinearProofs, SeveralProofs
from pertinent.proofs.cases.branch import CHANGE, BranchProofs
from pertinent.proofs.core import Proofs
from pertinent.proofs.tangent import CutProofs, with_tangents
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.margins import ROUNDED
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import RegionKey

if TYPE_CHECKING:
    from pertinent.setting.setting import Setting

#: Which end of a column's limits is meant.
LOW, HIGH = "low", "high"


def why_infeasible(
    setting: Setting,
    asked: RegionKey,
    certificate: Certificate,
    region: Region,
    limits: Limits,
    among: Container[RuleRef] | None = None,
) -> Reason:
    """Return the rules that the proof of one row uses.

    A Farkas ray adds up rows of the region with slopes ``a``; it proves emptiness with the lower
    limit of the columns with ``a_i > 0`` and the upper limit of those with ``a_i < 0``, and with
    the relations among its rows. A tree of cases uses what its leaves use. A proof about curved
    rows looks at all of the box at once: every rule about a feature that the rows use counts.
    ``among``: of the rules behind a limit, only these are in force.
    """
    if region.is_empty:
        return Reason(Why.NEVER, asked)
    rules = RowRules(setting, *limits, among)
    found = rules.contradictory() or rules.of_proofs(certificate, region) or rules.beside(region)
    if not found and _is_curved(region):
        found = rules.about(region)
    return _reason(asked, found)


def why_too_few(
    setting: Setting,
    asked: RegionKey,
    region: Region,
    limits: Limits,
    most: int | None,
) -> Reason:
    """Return the rules behind a proof that looked at sets of features.

    It is about all of them at once: every rule about a feature that the region uses counts.
    ``most`` is how many features may change.
    """
    found = RowRules(setting, *limits).about(region)
    if most is not None:
        found.add(RuleRef(RuleKind.MAX_CHANGES, number=most))
    return _reason(asked, found)


def _reason(asked: RegionKey, rules: Iterable[RuleRef]) -> Reason:
    found = tuple(sorted(rules, key=str))
    return Reason(Why.RULES if found else Why.MODEL, asked, found)


class RowRules:
    """The limits of one row's columns, with the rules behind them."""

    def __init__(
        self,
        setting: Setting,
        lower: FloatArray,
        upper: FloatArray,
        among: Container[RuleRef] | None = None,
    ) -> None:
        self.features, self.constraints = setting.features, setting.constraints
        self.lower, self.upper = lower, upper
        self.known = self.constraints.named_limits(self.features)
        if among is not None:
            some = {end: [r for r in rules if r in among] for end, rules in self.known.items()}
            self.known = {end: rules for end, rules in some.items() if rules}
        self.relations = self.constraints.named_relations(self.features)

    def contradictory(self) -> set[RuleRef]:
        """Return the rules behind a range, or a group of categories, without any value."""
        found: set[RuleRef] = set()
        for i in np.flatnonzero(self.lower > self.upper):
            found |= self.behind(int(i), LOW) | self.behind(int(i), HIGH)
        for group in self.features.groups:
            if (self.upper[group] < 1).all():
                for i in group:
                    found |= self.behind(int(i), HIGH)
        return found

    def of_proofs(self, certificate: Certificate, region: Region) -> set[RuleRef]:
        """Return the rules that the rays of a certificate run into."""
        found: set[RuleRef] = set()
        pairs = zip(self.relations, self.constraints.read_relations, strict=True)
        relations = [rule for rule, relation in pairs for _ in relation.rows()]
        cells = cells_of(region)
        for block in certificate.blocks:
            if cells is None or not isinstance(block.proofs, Proofs):
                continue
            for cell, y in _rays(block.proofs, cells[block.piece]):
                found |= self._met(y @ cell.G)
                # Relations are the last rows of a cell, tangents aside.
                own = len(cells[block.piece].G)
                weights = y[own - len(relations) : own]
                found |= {rule for rule, m in zip(relations, weights, strict=True) if m > 0}
            if _decides_on_change(block.proofs):
                found |= self._of_change()
        return found

    def beside(self, region: Region) -> set[RuleRef]:
        """Return rules that between them keep every cell out, where each is a box they miss."""
        missed: list[set[tuple[int, str]]] = []
        for lower, upper in cell_limits(region):
            above = {(int(i), HIGH) for i in np.flatnonzero(lower > self.upper)}
            below = {(int(i), LOW) for i in np.flatnonzero(upper < self.lower)}
            if not above and not below:
                return set()
            missed.append(above | below)
        found: set[RuleRef] = set()
        while missed:
            # The limit that keeps most of the cells out comes first.
            count = Counter(limit for limits in missed for limit in limits)
            most = max(sorted(count), key=lambda limit: count[limit])
            found |= self.behind(*most)
            missed = [limits for limits in missed if most not in limits]
        return found

    def about(self, region: Region) -> set[RuleRef]:
        """Return every rule about a column that the region uses, and every relation."""
        used = region.used_columns()
        ends = {LOW: np.isfinite(self.lower), HIGH: np.isfinite(self.upper)}
        of_limits = {
            rule
            for (column, side), rules in self.known.items()
            if used[column] and ends[side][column]
            for rule in rules
        }
        return of_limits | set(self.relations)

    def behind(self, column: int, side: str) -> set[RuleRef]:
        """Return the rules behind one limit of a column."""
        if (column, side) in self.known:
            return set(self.known[column, side])
        j = int(self.features.owner[column])
        name = (self.features.names[j],)
        if self.features.is_category(j):
            return {RuleRef(RuleKind.KNOWN_CATEGORIES, name)}
        for bins in self.features.bins:
            if column == bins.excess:
                return set()  # follows from the number, which is named
            if column == bins.column and bins.excess is not None:
                kind = RuleKind.READ_AT_LEAST if side == LOW else RuleKind.READ_AT_MOST
                return {RuleRef(kind, name, float(bins.edges[0 if side == LOW else -1]))}
        return {RuleRef(RuleKind.LOWER_LIMIT if side == LOW else RuleKind.UPPER_LIMIT, name)}

    def _met(self, slopes: FloatArray) -> set[RuleRef]:
        """Return the rules behind the limits that a combination of rows runs into."""
        size = ROUNDED * np.abs(slopes).max(initial=0.0)
        found: set[RuleRef] = set()
        grouped = np.zeros(len(slopes), dtype=bool)
        for group in self.features.groups:
            grouped[group] = True
            # A category that would help more than every allowed one is missed.
            allowed = slopes[group][self.upper[group] >= 1].min(initial=np.inf)
            for i in group[slopes[group] < allowed - size]:
                found |= self.behind(int(i), HIGH)
        for i in np.flatnonzero((np.abs(slopes) > size) & ~grouped):
            found |= self.behind(int(i), LOW if slopes[i] > 0 else HIGH)
        return found

    def _of_change(self) -> set[RuleRef]:
        found = set(self.constraints.named_groups(self.features))
        if self.constraints.max_changes is not None:
            found.add(RuleRef(RuleKind.MAX_CHANGES, number=self.constraints.max_changes))
        return found


def _is_curved(region: Region) -> bool:
    """Return whether a region has other rows than linear ones, as far as is known."""
    cells = cells_of(region)
    return cells is None or any(cell.quadratics for cell in cells)


def _rays(proofs: Proofs, cell: Cell) -> Iterator[tuple[Cell, FloatArray]]:
    """Yield the Farkas rays of one row's proof, each with the cell it speaks of."""
    if isinstance(proofs, LinearProofs):
        if proofs.ray.any():
            yield cell, np.maximum(proofs.multipliers[0], 0.0)
    elif isinstance(proofs, BranchProofs):
        for k in proofs.leaves():
            if proofs.ray[k]:
                yield cell, np.maximum(proofs.multipliers[k], 0.0)
    elif isinstance(proofs, SeveralProofs):
        for _, part in proofs.parts:
            if len(part):
                yield from _rays(part, cell)
    elif isinstance(proofs, CutProofs):
        yield from _rays(proofs.inner[0], with_tangents(cell, proofs.touched[0]))


def _decides_on_change(proofs: Proofs) -> bool:
    """Return whether a tree has a case that decides on whether a feature changes."""
    if not isinstance(proofs, BranchProofs):
        return False
    nodes = proofs.roots
    while len(nodes):
        if (proofs.tree.kind[nodes] == CHANGE).any():
            return True
        inner = nodes[proofs.tree.kind[nodes] > 0]
        nodes = np.concatenate([proofs.tree.left[inner], proofs.tree.right[inner]])
    return False
