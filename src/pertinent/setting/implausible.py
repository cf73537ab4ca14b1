"""Why no plausible point exists: which of density, class and rules cannot be had together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from pertinent.answering.blends import nearest_blends
from pertinent.density.hull import Hulls
from pertinent.density.mixture import Densities
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.pieces import owners_of, require_cells
from pertinent.geometry.region import Cell, CellUnion, Region
from pertinent.proofs import INFEASIBLE, Certificate, Proofs, SeveralProofs
from pertinent.proofs.hull import HullProofs
from pertinent.setting.conflicts import why_infeasible
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.solvers import project

if TYPE_CHECKING:
    from pertinent.setting.setting import Setting

#: Limits of columns, (column, "low" or "high"), with their weight in a proof.
Sides = dict[tuple[int, str], float]

#: Rules named in one sentence.
MOST = 8

#: Slopes of a proof below this share of the largest are rounding.
FLAT = 1e-7


def why_implausible(
    prepared: Setting,
    key: RegionKey,
    certificate: Certificate,
    sample: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    margin: float,
) -> str:
    """Return one sentence naming what conflicts, each part left out proved to be innocent.

    Parameters
    ----------
    prepared : Setting
        With plausibility.
    key : (str, int)
        The region that was asked for.
    certificate : Certificate
        The proof of this one row.
    sample, lower, upper : ndarray of shape (n_features,)
    """
    within = prepared.within
    assert within is not None
    plain = prepared.without_plausibility()
    asked = prepared.asked(key)
    by_class = key.kind is Kind.IS
    region = plain.region(key, margin) if by_class else plain.others(key.place, margin)
    owner = owners_of(region, key.place)
    model_only = project(sample[None], region, prepared.weights, lower[None], upper[None])
    if model_only.status[0] == INFEASIBLE:
        return why_infeasible(
            model_only.certificate, region, lower, upper, asked, prepared.features,
            prepared.constraints,
        )  # fmt: skip
    space = Cell.whole_space(region.dim)
    everywhere = CellUnion(tuple(space for _ in np.unique(owner)), region.dim)
    impossible = _tester(prepared, sample, margin)
    used = _limits_used(certificate, prepared.region(key, margin), sample, lower, upper)
    rules = _words(prepared, used)
    free = np.full(region.dim, np.inf)
    if impossible(region, owner, -free, free):
        return f"density and class conflict: no point that {asked} is {within.words()}"
    bounded = f" obeys: {rules}" if rules else " obeys the rules"
    if impossible(everywhere, np.unique(owner), lower, upper):
        return f"density and constraints conflict: no point that is {within.words()}{bounded}"
    return (
        f"density, class and constraints conflict: no point {asked}, is {within.words()} "
        f"and{bounded}"
    )


Tester = Callable[[Region, IntArray, FloatArray, FloatArray], bool]


def _tester(prepared: Setting, sample: FloatArray, margin: float) -> Tester:
    """Return a function that says whether no plausible point lies in a region, with a proof."""
    within = prepared.within

    def impossible(region: Region, owner: IntArray, lower: FloatArray, upper: FloatArray) -> bool:
        one, limits = sample[None], (lower[None], upper[None])
        if isinstance(within, Hulls):
            args = (one, *limits)
            found, _ = nearest_blends(within, one, region, owner, prepared.weights, args)
        else:
            assert isinstance(within, Densities)
            cells = [
                cell.intersect(ball)
                for cell, k in zip(require_cells(region), owner, strict=True)
                for ball in within.region(int(k), margin)
            ]
            if any(cell.contains(np.clip(cell.anchors, lower, upper)).any() for cell in cells):
                return False  # a mean is such a point
            found = project(one, CellUnion(tuple(cells), region.dim), prepared.weights, *limits)
        return bool(found.status[0] == INFEASIBLE)

    return impossible


def _limits_used(
    certificate: Certificate,
    region: Region,
    sample: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> Sides:
    """Return the limits that the proofs of emptiness rest on, with their largest weight in any."""
    sides: Sides = {}
    cells = require_cells(region)
    for proofs, piece in _single_proofs(certificate):
        slopes = _slopes(proofs, cells[piece], np.clip(sample, lower, upper))
        if slopes is None:
            continue
        weights = np.abs(slopes) / max(float(np.abs(slopes).max(initial=0.0)), 1e-300)
        for i in np.flatnonzero(weights > FLAT):
            side = (int(i), "low" if slopes[i] > 0 else "high")
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


def _words(prepared: Setting, sides: Sides) -> str:
    """Return the rules behind some limits in words, those that weigh most first."""
    known = prepared.constraints.named_limits(prepared.features)
    words: dict[str, None] = {}
    for column, side in sorted(sides, key=lambda side: (-sides[side], side)):
        own = f"{'lower' if side == 'low' else 'upper'} limit of {_name(prepared, column)}"
        rules = known.get((column, side), [own])
        # A frozen feature stands at the sample's own value: its other limits do not matter.
        frozen = [rule for rule in rules if rule.endswith(" frozen")]
        words.update(dict.fromkeys(frozen or rules))
    shown = list(words)[:MOST]
    rest = len(words) - len(shown)
    return "; ".join(shown) + (f"; and {rest} more rules" if rest else "")


def _name(prepared: Setting, column: int) -> str:
    return prepared.features.names[int(prepared.features.owner[column])]


def _slopes(proofs: object, cell: Cell, start: FloatArray) -> FloatArray | None:
    """Return the slope of the combination of rows that a ray adds up; None without a ray."""
    if not getattr(proofs, "ray", np.zeros(1)).any():
        return None
    if isinstance(proofs, HullProofs):
        return np.asarray((np.maximum(proofs.multipliers, 0.0) @ cell.G + proofs.pull)[0])
    combined = getattr(proofs, "combined", None)
    return None if combined is None else np.asarray(combined(cell, start[None])[0][0])
