"""Whether kept values give a class whatever the others are, told without a solver."""

from __future__ import annotations

import numpy as np

from pertinent.geometry.arrays import BoolArray, Limits
from pertinent.geometry.cell import Cell
from pertinent.geometry.domain import Domain
from pertinent.geometry.pieces import cells_of, lone_cell
from pertinent.proofs.supports.reach import pushes, splits_by_feature
from pertinent.proofs.supports.sufficient import worst_case
from pertinent.proofs.tolerances import SUMS
from pertinent.setting.limits import discrete_domain
from pertinent.setting.region_key import Is, Not
from pertinent.setting.setting import Setting
from pertinent.tables.table import Table

#: Entries of a matrix off its diagonal up to this share of the largest are rounding.
DIAGONAL = 1e-12


def holds_whatever(
    setting: Setting,
    k: int,
    table: Table,
    kept: BoolArray,
    limits: Limits,
) -> bool | None:
    """Return whether kept values give class k whatever the others are.

    None where only a solver can tell.

    Parameters
    ----------
    setting : Setting
    k : int
    table : Table
        Of one sample.
    kept : ndarray of bool, shape (n_features,)
    limits : tuple of ndarray of shape (n_columns,)
        Lowest and highest values of the others.
    """
    sample, domain = table.values[0], discrete_domain(setting, table)
    held = setting.features.by_column(kept)
    low, high = (np.where(held, sample, limit) for limit in limits)
    own = lone_cell(setting.region(Is(k), setting.asked_margin))
    if own is not None and _splits(own, domain):
        # All that the others can push each row by must be less than what it is short of.
        if domain is None:
            push, over = worst_case(own, sample, low, high)
        else:
            push, over = pushes(own, sample, low, high, domain)
        return bool((over <= SUMS * (np.abs(over) + push.sum(axis=1))).all())
    others = cells_of(setting.region(Not(k), -setting.asked_margin))
    boxes = others is not None and all(cell.is_linear and not len(cell.G) for cell in others)
    if domain is not None or others is None or not boxes:
        return None
    return not any(
        (np.maximum(low, cell.lower) <= np.minimum(high, cell.upper)).all() for cell in others
    )


def _splits(cell: Cell, domain: Domain | None) -> bool:
    """Whether the rows of a cell are sums over features."""
    if domain is not None:
        return splits_by_feature(cell, domain)
    if cell.exponentials or cell.has_bounds:
        return False
    return all(
        np.abs(row.A - np.diag(np.diag(row.A))).max(initial=0.0)
        <= DIAGONAL * np.abs(row.A).max(initial=0.0)
        for row in cell.quadratics
    )
