"""Why there is no answer: the rules that a proof of infeasibility rests on, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.region import Cell, Region
from pertinent.proofs import Certificate, LinearProofs, SeveralProofs
from pertinent.proofs.cases.branch import CHANGE, BranchProofs
from pertinent.proofs.core import Proofs
from pertinent.proofs.cuts import CutProofs, with_tangents
from pertinent.rules.constraints import Constraints
from pertinent.rules.words import at_most
from pertinent.tables.features import Features


def why_infeasible(
    certificate: Certificate,
    region: Region,
    lower: FloatArray,
    upper: FloatArray,
    asked: str,
    features: Features,
    constraints: Constraints,
) -> str:
    """Return one sentence naming the rules that the proof of one row uses.

    A Farkas ray adds up rows of the region with slopes ``a``; it proves emptiness with the lower
    limit of the columns with ``a_i > 0`` and the upper limit of those with ``a_i < 0``, and with
    the relations among its rows. A tree of cases uses what its leaves use. A proof about curved
    rows looks at all of the box at once: every rule about a feature that the rows use counts.
    """
    if region.is_empty:
        return f"no point {asked}: the model never predicts it"
    known = constraints.named_limits(features)
    limits = _Limits(features, known, lower, upper)
    words = limits.contradictory()
    if not words:
        words = _of_proofs(certificate, region, constraints, limits)
    if not words:
        words = limits.beside(region)
    if not words and _is_curved(region):
        words = limits.all_rules(region.used_columns()) | set(constraints.relation_texts)
    return _sentence(asked, words)


def why_too_few(
    region: Region,
    lower: FloatArray,
    upper: FloatArray,
    asked: str,
    features: Features,
    constraints: Constraints,
    most: int | None,
) -> str:
    """Return one sentence naming the rules behind a proof that looked at sets of features.

    It is about all of them at once: every rule about a feature that the region uses counts.
    ``most`` is how many features may change.
    """
    limits = _Limits(features, constraints.named_limits(features), lower, upper)
    words = limits.all_rules(region.used_columns()) | set(constraints.relation_texts)
    if most is not None:
        words.add(at_most(most))
    return _sentence(asked, words)


def _sentence(asked: str, words: set[str]) -> str:
    if not words:
        return f"no point {asked}: its conditions contradict each other for this model"
    return f"no point {asked} and obeys: {'; '.join(sorted(words))}"


def _of_proofs(
    certificate: Certificate, region: Region, constraints: Constraints, limits: _Limits
) -> set[str]:
    words: set[str] = set()
    texts, cells = constraints.relation_texts, cells_of(region)
    for block in certificate.blocks:
        if cells is None or not isinstance(block.proofs, Proofs):
            continue
        for cell, y in _rays(block.proofs, cells[block.piece]):
            words |= limits.behind(y @ cell.G)
            # Relations are the last rows of a cell, tangents aside.
            own = len(cells[block.piece].G)
            words |= {
                text for text, m in zip(texts, y[own - len(texts) : own], strict=True) if m > 0
            }
        words |= _rules_of_change(block.proofs, constraints)
    return words


class _Limits:
    """The limits of one row's columns, with the rules behind them."""

    def __init__(
        self,
        features: Features,
        known: dict[tuple[int, str], list[str]],
        lower: FloatArray,
        upper: FloatArray,
    ) -> None:
        self.features, self.known, self.lower, self.upper = features, known, lower, upper

    def contradictory(self) -> set[str]:
        """Return the rules behind a range, or a group of categories, without any value."""
        words: set[str] = set()
        for i in np.flatnonzero(self.lower > self.upper):
            words |= self._words(int(i), "low") | self._words(int(i), "high")
        for group in self.features.groups:
            if (self.upper[group] < 1).all():
                for i in group:
                    words |= self._words(int(i), "high")
        return words

    def beside(self, region: Region) -> set[str]:
        """Return rules that between them keep every cell out, where each is a box they miss."""
        missed: list[set[tuple[int, str]]] = []
        for cell in cells_of(region) or ():
            above = {(int(i), "high") for i in np.flatnonzero(cell.lower > self.upper)}
            below = {(int(i), "low") for i in np.flatnonzero(cell.upper < self.lower)}
            if not above and not below:
                return set()
            missed.append(above | below)
        words: set[str] = set()
        while missed:
            # The limit that keeps most of the cells out comes first.
            count = Counter(limit for limits in missed for limit in limits)
            most = max(sorted(count), key=lambda limit: count[limit])
            words |= self._words(*most)
            missed = [limits for limits in missed if most not in limits]
        return words

    def all_rules(self, used: BoolArray) -> set[str]:
        """Return every rule behind a limit of the columns that are used."""
        ends = {"low": np.isfinite(self.lower), "high": np.isfinite(self.upper)}
        return {
            text
            for (column, side), texts in self.known.items()
            if used[column] and ends[side][column]
            for text in texts
        }

    def behind(self, slopes: FloatArray) -> set[str]:
        """Return the rules behind the limits that a combination of rows runs into."""
        size = 1e-12 * np.abs(slopes).max(initial=0.0)
        words: set[str] = set()
        grouped = np.zeros(len(slopes), dtype=bool)
        for group in self.features.groups:
            grouped[group] = True
            # A category that would help more than every allowed one is missed.
            allowed = slopes[group][self.upper[group] >= 1].min(initial=np.inf)
            for i in group[slopes[group] < allowed - size]:
                words |= self._words(int(i), "high")
        for i in np.flatnonzero((np.abs(slopes) > size) & ~grouped):
            words |= self._words(int(i), "low" if slopes[i] > 0 else "high")
        return words

    def _words(self, column: int, side: str) -> set[str]:
        if (column, side) in self.known:
            return set(self.known[column, side])
        j = int(self.features.owner[column])
        name = self.features.names[j]
        if self.features.is_category(j):
            return {f"categories of {name}"}
        for bins in self.features.bins:
            if column == bins.excess:
                return set()  # follows from the number, which is named
            if column == bins.column and bins.excess is not None:
                edge = bins.edges[0 if side == "low" else -1]
                most = "least" if side == "low" else "most"
                return {f"the model reads {name} as at {most} {edge:g}"}
        return {f"{'lower' if side == 'low' else 'upper'} limit of {name}"}


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


def _rules_of_change(proofs: Proofs, constraints: Constraints) -> set[str]:
    """Return the rules about changes, where the tree has a case that decides on one."""
    if not isinstance(proofs, BranchProofs):
        return set()
    nodes = proofs.roots
    while len(nodes):
        if (proofs.tree.kind[nodes] == CHANGE).any():
            words = {f"{' and '.join(map(str, g))} change together" for g in constraints.together}
            if constraints.max_changes is not None:
                words.add(at_most(constraints.max_changes))
            return words
        inner = nodes[proofs.tree.kind[nodes] > 0]
        nodes = np.concatenate([proofs.tree.left[inner], proofs.tree.right[inner]])
    return set()
