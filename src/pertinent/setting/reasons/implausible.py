"""Why no plausible point exists: which of density, class and rules cannot be had together.

The proof of the answer is about all three. Where two of them conflict already, the reason has a
proof of its own, about `Pair`; `is_shown` recomputes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.density.hull import Hulls
from pertinent.density.mixture import Densities
from pertinent.geometry.arrays import FloatArray, IntArray, Limits
from pertinent.geometry.codec import nested
from pertinent.geometry.pieces import owners_of, require_cells
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.geometry.task import Task
from pertinent.proofs import Certificate, Proofs, SeveralProofs
from pertinent.proofs.tangent import HullProofs
from pertinent.rules.reference import RuleKind, RuleRef
from pertinent.setting.margins import FLAT
from pertinent.setting.reasons.conflicts import HIGH, LOW, RowRules, why_infeasible
from pertinent.setting.reasons.reason import Reason, Why
from pertinent.setting.region_key import Kind, RegionKey

if TYPE_CHECKING:
    from pertinent.setting.setting import Setting

#: The kinds of reasons that rest on two of the three, in the order in which they are tried.
PAIRS = (Why.RULES, Why.DENSITY_CLASS, Why.DENSITY_RULES)
#: What `why_infeasible` may say of class and rules alone.
WITHOUT_DENSITY = (Why.NEVER, Why.RULES, Why.MODEL)
#: The kinds that plausibility has a part in.
WITH_DENSITY = (Why.DENSITY_CLASS, Why.DENSITY_RULES, Why.DENSITY_CLASS_RULES)


@dataclass(frozen=True, eq=False)
class Pair:
    """Two of density, class and rules: where their points would lie.

    Parameters
    ----------
    region : Region
    owner : ndarray of int
        The class of each cell, by its place.
    limits : tuple of ndarray of shape (n_features,)
    blends : bool
        Whether points must be blends of training points, too.
    """

    region: Region
    owner: IntArray
    limits: Limits
    blends: bool


def pair(setting: Setting, kind: Why, asked: RegionKey, limits: Limits) -> Pair:
    """Return the two that a kind of reason says are in conflict."""
    within, margin = setting.within, setting.asked_margin
    region = _of_class(setting, asked)
    owner = owners_of(region, asked.place)
    if kind in WITHOUT_DENSITY:
        return Pair(region, owner, limits, blends=False)
    if kind is Why.DENSITY_CLASS:
        free = np.full(region.dim, np.inf)
        limits = -free, free
    else:
        owner = np.unique(owner)
        region = CellUnion(tuple(Cell.whole_space(region.dim) for _ in owner), region.dim)
    if isinstance(within, Densities):
        cells = [
            cell.intersect(ball)
            for cell, k in zip(require_cells(region), owner, strict=True)
            for ball in within.region(int(k), margin)
        ]
        region = CellUnion(tuple(cells), region.dim)
    return Pair(region, owner, limits, isinstance(within, Hulls))


def _of_class(setting: Setting, asked: RegionKey) -> Region:
    plain, margin = setting.without_plausibility(), setting.asked_margin
    by_class = asked.kind is Kind.IS
    return plain.region(asked, margin) if by_class else plain.others(asked.place, margin)


def why_pair(
    setting: Setting,
    kind: Why,
    asked: RegionKey,
    proof: Certificate,
    own: Certificate,
    sample: FloatArray,
    limits: Limits,
) -> Reason:
    """Return the reason of a kind, with the rules that the proofs rest on.

    Parameters
    ----------
    setting : Setting
        With plausibility.
    kind : Why
    asked : RegionKey
    proof : Certificate
        That the pair has no point; for all three, the answer's own.
    own : Certificate
        The answer's own: about all three.
    sample : ndarray of shape (n_features,)
    limits : tuple of ndarray of shape (n_features,)
    """
    assert setting.within is not None
    if kind in WITHOUT_DENSITY:
        found = why_infeasible(
            setting, asked, proof, pair(setting, kind, asked, limits).region, limits
        )
        return Reason(found.kind, asked, found.rules, proof=proof)
    rules: tuple[RuleRef, ...] = ()
    if kind is not Why.DENSITY_CLASS:
        region = setting.region(asked, setting.asked_margin)
        rules = rules_used(setting, own, region, sample, limits)
    extra = None if kind is Why.DENSITY_CLASS_RULES else proof
    return Reason(kind, asked, rules, plausible=setting.within.words(), proof=extra)


def is_shown(
    setting: Setting,
    reason: Reason,
    sample: FloatArray,
    limits: Limits,
) -> bool:
    """Return whether a reason's own proof shows that its pair has no point."""
    assert reason.asked is not None
    if reason.kind is Why.DENSITY_CLASS_RULES:
        return True  # all three: the proof of the answer itself
    if reason.kind not in (*WITHOUT_DENSITY, *PAIRS) or reason.proof is None:
        return False
    if not reason.proof.trusted().all():
        return False  # a solver's word
    two = pair(setting, reason.kind, reason.asked, limits)
    if two.blends and not all(
        is_about_neighbours(setting, int(two.owner[block.piece]), block.proofs, sample)
        for block in reason.proof.blocks
    ):
        return False
    task = Task.of(two.region, sample[None], setting.weights, *two.limits)
    return bool(reason.proof.bounds(task)[0] == np.inf)


def is_about_neighbours(setting: Setting, k: int, proofs: Any, sample: FloatArray) -> bool:
    """Return whether what proofs say of blends is about the neighbours that may be blended."""
    blends = [one for one in nested(proofs) if isinstance(one, HullProofs)]
    if not blends or not isinstance(setting.within, Hulls):
        return not blends
    near = setting.within.nearest(k, sample, setting.weights)
    corners = setting.within.points[k][near][None]
    return all(np.array_equal(one.corners, corners) for one in blends)


def rules_used(
    setting: Setting,
    certificate: Certificate,
    region: Region,
    sample: FloatArray,
    limits: Limits,
) -> tuple[RuleRef, ...]:
    """Return the rules behind the limits that the proofs rest on, those that weigh most first."""
    rules = RowRules(setting, *limits)
    sides = _limits_used(certificate, region, sample, *limits)
    found: dict[RuleRef, None] = {}
    for column, side in sorted(sides, key=lambda side: (-sides[side], side)):
        name = (setting.features.names[int(setting.features.owner[column])],)
        own = RuleRef(RuleKind.LOWER_LIMIT if side == LOW else RuleKind.UPPER_LIMIT, name)
        known = rules.known.get((column, side), [own])
        # A frozen feature stands at the sample's own value: its other limits do not matter.
        frozen = [rule for rule in known if rule.kind is RuleKind.FROZEN]
        found.update(dict.fromkeys(frozen or known))
    return tuple(found)


def _limits_used(
    certificate: Certificate,
    region: Region,
    sample: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> dict[tuple[int, str], float]:
    """Return the limits that the proofs of emptiness rest on, with their largest weight in any."""
    sides: dict[tuple[int, str], float] = {}
    cells = require_cells(region)
    for proofs, piece in _single_proofs(certificate):
        slopes = _slopes(proofs, cells[piece], np.clip(sample, lower, upper))
        if slopes is None:
            continue
        weights = np.abs(slopes) / max(float(np.abs(slopes).max(initial=0.0)), 1e-300)
        for i in np.flatnonzero(weights > FLAT):
            side = (int(i), LOW if slopes[i] > 0 else HIGH)
            if np.isfinite(lower[i] if slopes[i] > 0 else upper[i]):
                sides[side] = max(sides.get(side, 0.0), float(weights[i]))
    return sides


def _single_proofs(certificate: Certificate) -> Iterator[tuple[Proofs, int]]:
    """Yield every proof with its piece, those that stand together one by one."""
    for block in certificate.blocks:
        if isinstance(block.proofs, SeveralProofs):
            yield from ((proofs, block.piece) for _, proofs in block.proofs.parts)
        else:
            yield block.proofs, block.piece


def _slopes(proofs: object, cell: Cell, start: FloatArray) -> FloatArray | None:
    """Return the slope of the combination of rows that a ray adds up; None without a ray."""
    if not getattr(proofs, "ray", np.zeros(1)).any():
        return None
    if isinstance(proofs, HullProofs):
        return np.asarray((np.maximum(proofs.multipliers, 0.0) @ cell.G + proofs.pull)[0])
    combined = getattr(proofs, "combined", None)
    return None if combined is None else np.asarray(combined(cell, start[None])[0][0])
