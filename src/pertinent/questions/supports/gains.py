"""What turning a feature on can do for each inequality of a cell.

A feature that is *off* stands at its rest value; a feature that is *on* takes any value of its
own range (a single one for strict positives). For a row ``f(x) <= 0`` of a cell

    f(rest) - f(x)  <=  sum_{i on} gain_i,     so     sum_{i on} gain_i >= f(rest)  is needed.

For linear and diagonal rows the gains add up exactly; for other quadratic rows each feature is
also credited half of what its best partners can add, which is an upper bound. Where features own
several columns, only linear rows are looked at, which asks for less and so loses no support.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.geometry.affine import BentRows
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Quadratic, row_products
from pertinent.questions.supports.reach import corners, most_by_feature
from pertinent.questions.supports.subsets import Gains
from pertinent.solvers.curved.separable.separable import is_diagonal
from pertinent.solvers.search.narrow import Boxes, narrow
from pertinent.solvers.tolerances import NEARLY_DIAGONAL


@dataclass(frozen=True, eq=False)
class Choices:
    """Which features may be on, and where their columns may stand then, for n samples.

    A feature that is off has its columns at rest, one that is on has them within their range. Most
    features are one column; a category or a binned number owns several, all on or all off.

    Parameters
    ----------
    rest : ndarray of shape (n, n_columns)
        Value of the columns of a feature that is off.
    low, high : ndarray of shape (n, n_columns)
        Range of the columns of a feature that is on; one and the same array where a feature that
        is on has a single value (strict positives).
    forced : ndarray of bool, shape (n, n_features)
        Must be on: its rest value is not allowed.
    barred : ndarray of bool, shape (n, n_features)
        Must be off: turned on it would obey no rule, or be no different.
    owner : ndarray of int, shape (n_columns,), optional
        The feature of each column; None: every column is a feature.
    domain : Domain, optional
        Of the n samples: which values columns may take within their range.
    tol : float
        With a domain: how far from its rest value a feature may stand and still be off.
    """

    rest: FloatArray
    low: FloatArray
    high: FloatArray
    forced: BoolArray
    barred: BoolArray
    owner: IntArray | None = None
    domain: Domain | None = None
    tol: float = 0.0

    def __len__(self) -> int:
        return len(self.rest)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.forced.shape[1])

    def take(self, rows: IntArray) -> Choices:
        """Return the choices of some samples; rows may repeat, and one array stays one."""
        low = self.low[rows]
        high = low if self.low is self.high else self.high[rows]
        domain = None if self.domain is None else self.domain.take(rows)
        masks = self.forced[rows], self.barred[rows]
        return Choices(self.rest[rows], low, high, *masks, self.owner, domain, self.tol)

    @property
    def usable(self) -> BoolArray:
        """Features that may be on or off."""
        return ~(self.forced | self.barred)

    @property
    def impossible(self) -> BoolArray:
        """Samples with a feature that can be neither on nor off."""
        return np.asarray((self.forced & self.barred).any(axis=1))

    def columns(self, mask: BoolArray) -> BoolArray:
        """Return which columns a mask of features speaks of."""
        return mask if self.owner is None else np.asarray(mask[..., self.owner])

    def within(self, cell: Cell) -> Choices:
        """Return the choices that the cell's own bounds, and the domain, leave."""
        if self.domain is None and not cell.has_bounds:
            return self
        low, high = np.maximum(self.low, cell.lower), np.minimum(self.high, cell.upper)
        if self.domain is not None:
            return _allowed_choices(self, low, high, self.domain)
        out = any_of((self.rest < cell.lower) | (self.rest > cell.upper), self.owner)
        gone = any_of(low > high, self.owner)
        if self.low is self.high:
            low = high = self.low
        return Choices(self.rest, low, high, self.forced | out, self.barred | gone, self.owner)


def any_of(columns: BoolArray, owner: IntArray | None) -> BoolArray:
    """Return whether any column of each feature is set."""
    if owner is None:
        return columns
    return np.asarray(columns @ np.eye(owner.max() + 1, dtype=bool)[owner])


def strict_choices(
    samples: FloatArray,
    baseline: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tol: float,
    owner: IntArray | None = None,
) -> Choices:
    """Return the choices of a strict positive: the sample's value, or the baseline."""
    lower, upper = np.broadcast_to(lower, samples.shape), np.broadcast_to(upper, samples.shape)
    rest, forced = _rest(baseline, lower, upper, tol)
    away = np.abs(samples - rest) > tol
    if tol and owner is not None:  # of numbers: another category is no small distance
        several = (np.bincount(owner) > 1)[owner]
        choice = np.isin(samples, (0.0, 1.0)) & np.isin(rest, (0.0, 1.0)) & several
        away |= choice & (samples != rest)
    same = ~any_of(away, owner)
    barred = same | any_of((samples < lower) | (samples > upper), owner)
    return Choices(rest, samples, samples, any_of(forced, owner), barred, owner)


def ranged_choices(
    rest: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
    tol: float,
    domain: Domain | None = None,
) -> Choices:
    """Return the choices of values anywhere within the bounds, as far as a domain allows.

    With a domain, which features are forced and barred is only known within a cell.
    """
    lower, upper = np.broadcast_to(lower, rest.shape), np.broadcast_to(upper, rest.shape)
    if domain is not None:
        unknown = np.zeros((len(rest), int(domain.owner.max()) + 1), dtype=bool)
        return Choices(rest, lower, upper, unknown, unknown, domain.owner, domain, tol)
    held, forced = _rest(rest, lower, upper, tol)
    barred = (lower >= held) & (upper <= held)
    return Choices(held, lower, upper, forced, barred | (lower > upper))


def _allowed_choices(
    wide: Choices, lower: FloatArray, upper: FloatArray, domain: Domain
) -> Choices:
    """Return the choices of values that a domain allows within narrower bounds.

    A sample to which nothing at all is allowed has every feature both forced and barred.
    """
    rest, state = wide.rest, np.zeros((len(wide), 0), dtype=np.int8)
    tight, empty = narrow(domain, Boxes(np.arange(len(wide)), lower, upper, state))
    low, high = tight.lower, tight.upper
    shown, owner = ~domain.follows, domain.owner
    away = np.maximum(np.maximum(low - rest, rest - high), 0.0) > wide.tol
    forced = any_of(away & shown, owner) | empty[:, None]
    moves = any_of(((low != rest) | (high != rest)) & shown, owner)
    barred = (~forced & ~moves) | empty[:, None]
    return Choices(rest, low, high, forced, barred, owner, domain, wide.tol)


def _rest(
    wanted: FloatArray, lower: FloatArray, upper: FloatArray, tol: float
) -> tuple[FloatArray, BoolArray]:
    """Return where features rest, and which cannot: their bounds keep them away from it."""
    nearest = np.minimum(np.maximum(wanted, lower), upper)
    forced = np.abs(nearest - wanted) > tol
    return np.where(forced, np.broadcast_to(wanted, nearest.shape), nearest), forced


def cell_gains(cell: Cell, choices: Choices, size: int) -> Gains:
    """Return the gains of turning features on, with the forced ones already on.

    Parameters
    ----------
    cell : Cell
    choices : Choices
    size : int
        Number of features on in all: it limits how many partners a feature can have.
    """
    parts = [_linear(cell, choices), *(_bent(block, choices) for block in cell.bent)]
    if choices.owner is None:
        parts += [_quadratic(row, choices, size) for row in cell.quadratics]
    gain = np.concatenate([p[0] for p in parts], axis=1)
    need = np.concatenate([p[1] for p in parts], axis=1)
    return with_forced(gain, need, choices)


def with_forced(gain: FloatArray, need: FloatArray, choices: Choices) -> Gains:
    """Return finite gains, the forced features taken out and their gains granted."""
    usable = choices.usable
    if not choices.forced.any() and np.isfinite(gain).all():
        return Gains(gain if usable.all() else gain * usable[:, None, :], need, usable)
    finite = np.where(np.isfinite(gain), gain, 0.0)
    # An endless gain meets its row by itself, whatever the others take away.
    enough = np.abs(need) + np.abs(finite).sum(axis=2) + 1.0
    gain = np.where(np.isposinf(gain), enough[:, :, None], gain)
    granted = np.where(choices.forced[:, None, :], gain, 0.0).sum(axis=2)
    return Gains(np.where(usable[:, None, :], gain, 0.0), need - granted, usable)


def _linear(cell: Cell, choices: Choices) -> tuple[FloatArray, FloatArray]:
    """-G_ji (v - rest_i) is largest at an end of the range."""
    need = row_products(choices.rest, cell.G) - cell.h
    if choices.domain is not None:
        return _most_allowed(cell, choices, choices.domain), need
    if choices.low is choices.high:
        gain = _times(-cell.G, choices.low - choices.rest)
        owner = choices.owner
        return gain if owner is None else gain @ np.eye(choices.n_features)[owner], need
    ends = [_times(-cell.G, end - choices.rest) for end in (choices.low, choices.high)]
    return np.maximum(ends[0], ends[1]), need


def _bent(block: BentRows, choices: Choices) -> tuple[FloatArray, FloatArray]:
    """Each term is largest at an end of the range: of several of one column, at its own."""
    gain, need = _linear(Cell(block.G, block.h), choices)
    bent = block.image(choices.rest)
    need = need + row_products(bent, block.B)
    for m, curve in enumerate(block.curves):
        j, best = curve.column, np.zeros((len(need), len(block)))
        for end in (choices.low, choices.high):
            moved = curve(np.broadcast_to(end, choices.rest.shape)[:, j]) - bent[:, m]
            moved = np.where(np.isnan(moved), 0.0, moved)
            with np.errstate(invalid="ignore"):
                taken = np.where(block.B[:, m] == 0, 0.0, -moved[:, None] * block.B[:, m])
            best = taken if choices.low is choices.high else np.maximum(best, taken)
        gain[:, :, j if choices.owner is None else int(choices.owner[j])] += best
    return gain, need


def _most_allowed(cell: Cell, choices: Choices, domain: Domain) -> FloatArray:
    """Return the most over the allowed values of each feature, of shape (n, n_rows, n_features)."""
    out = np.zeros((len(choices), len(cell.G), choices.n_features))
    for i in np.flatnonzero(~choices.impossible):
        places = corners(domain.take(np.array([i])), choices.low[i], choices.high[i])
        out[i] = most_by_feature(-cell.G, choices.rest[i], places)
    return out


def _times(rows: FloatArray, steps: FloatArray) -> FloatArray:
    """Return ``rows[j, i] * steps[n, i]``, with 0 times infinity being 0."""
    if np.isfinite(steps).all():
        return np.asarray(rows[None] * steps[:, None, :])
    with np.errstate(invalid="ignore"):
        return np.where(rows[None] == 0, 0.0, rows[None] * steps[:, None, :])


def _quadratic(row: Quadratic, choices: Choices, size: int) -> tuple[FloatArray, FloatArray]:
    """With t = v - rest the row changes by ``slope't + t'At``."""
    A, rest = row.A, choices.rest
    slope = row.gradient(rest)
    low, high = choices.low - rest, choices.high - rest
    gain = best_alone(np.diag(A), slope, low, high)
    if not is_diagonal(row, NEARLY_DIAGONAL):
        gain = gain + _partners(A, low, high, size)
    return gain[:, None, :], row.value(rest)[:, None]


def best_alone(a: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the largest ``-(slope t + a t^2)`` for t within its range."""
    with np.errstate(invalid="ignore", divide="ignore"):
        inner = np.where(a > 0, np.clip(-slope / (2 * a), low, high), low)
        best = np.full(slope.shape, -np.inf)
        for t in (low, high, inner):
            # At an endless end the square decides, then the slope; both 0 leave nothing.
            endless = np.where(a != 0, -np.sign(a), -np.sign(slope * t))
            value = -(slope * t + a * t * t)
            value = np.where(np.isinf(t), np.where(endless == 0, 0.0, endless * np.inf), value)
            best = np.maximum(best, value)
    return best


def _partners(A: FloatArray, low: FloatArray, high: FloatArray, size: int) -> FloatArray:
    """Return half of the most that ``size - 1`` partners add to each feature's gain.

    Each pair of features that are on adds ``-2 A_ij t_i t_j``, half of which each is credited.
    """
    n, d = low.shape
    if size < 2:
        return np.zeros((n, d))
    out = np.empty((n, d))
    off = np.where(np.eye(d, dtype=bool), 0.0, A)
    for i in range(n):
        corners = [_products(off, s, t) for s in (low[i], high[i]) for t in (low[i], high[i])]
        pair = np.maximum(np.max(corners, axis=0), 0.0)
        top = -np.sort(-pair, axis=1)[:, : size - 1]
        out[i] = top.sum(axis=1) / 2
    return out


def _products(A: FloatArray, one: FloatArray, other: FloatArray) -> FloatArray:
    """Return ``-2 A_ij one_i other_j``, with 0 times infinity being 0."""
    with np.errstate(invalid="ignore"):
        pair = -2 * A * one[:, None] * other[None, :]
    return np.where(np.isnan(pair), 0.0, pair)
