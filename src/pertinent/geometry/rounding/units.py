"""The unit of a margin: a row's slope, or what the row adds up where units of features differ."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.affine import row_products
from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.rounding.sums import ROUNDOFF


def has_own_units(cell: Cell) -> bool:
    """Return whether a cell's rows have a unit of margin that the features' units do not change.

    Slopes tell little of quadratic rows over features in unlike units: where one row holds a
    feature in units of 1e-9 and the next one does not, their slopes differ by 1e18, and what one of
    them needs leaves nothing of the other. The terms at the cell's anchors, e.g. one standard
    deviation from the mean of a class, do not change with the units.
    """
    return bool(len(cell.anchors) and cell.quadratics)


def in_own_units(plain: Cell, tight: Cell, margin: float) -> Cell:
    """Return a cell with each row lowered by ``margin`` times its terms at the anchors.

    ``tight`` is the cell with any margin: it tells which rows have one, and it is what comes back
    where the cell has no units of its own.
    """
    if not has_own_units(plain):
        return tight
    sizes = np.column_stack([np.abs(plain.anchors), np.ones(len(plain.anchors))])
    terms = row_products(sizes, plain.terms).max(axis=0, initial=0.0)
    h = np.where(tight.h != plain.h, plain.h - margin * terms, plain.h)
    curved = tuple(
        row.raised(margin * row.sizes(plain.anchors).max()) if row.c != other.c else row
        for row, other in zip(plain.quadratics, tight.quadratics, strict=True)
    )
    return replace(tight, h=h, quadratics=curved)


def shows_margin(plain: Cell, tight: Cell) -> bool:
    """Return whether every row of a cell is seen to be tightened.

    Features in units of 1e13 have slopes of 1e-13, and a margin of so many slopes may be lost in
    the rounding of a row's constant.
    """
    pairs = zip(plain.quadratics, tight.quadratics, strict=True)
    bent = zip(plain.bent, tight.bent, strict=True)
    shown = all(row.c != other.c for row, other in pairs)
    shown = shown and all(bool((one.h != other.h).all()) for one, other in bent)
    return bool((plain.h != tight.h).all()) and shown


def clearly_inside(cell: Cell, points: FloatArray) -> BoolArray:
    """Return which points lie in a cell by more than the rounding of its linear rows as written."""
    terms = row_products(np.abs(points), np.abs(cell.G)) + np.abs(cell.h)
    slack = cell.h - row_products(points, cell.G)
    far = (slack >= (cell.dim + 4) * ROUNDOFF * terms).all(axis=1)
    for block in cell.bent:
        unit = (cell.dim + len(block.curves) + 4) * ROUNDOFF
        far &= (-block.value(points) >= unit * block.sizes(points)).all(axis=1)
    return np.asarray(cell.contains(points) & far)
