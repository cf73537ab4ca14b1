"""Steps that bend single columns by rising functions: logarithms, roots, powers, quantiles.

A column is then ``u = f(slope z + offset)`` of one raw column z. Two cases are exact:

* z is a choice among categories or bins: u has one number for each of them, a linear map;
* what follows compares u with cuts (trees): ``f(z) <= cut`` is ``z <= c``, with c the last double
  at which f, as it is computed, is at most the cut.

A linear model behind it adds up bent columns: in raw units its boundary is no plane, and its rows
are those of `pertinent.geometry.affine`, bounded and branched on in raw units. Curved rows behind
it (quadratic discriminants, softmax probabilities) are refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.affine import BentRows
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.geometry.cell import Cell
from pertinent.geometry.ensembles import as_ensemble
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.geometry.pieces import cells_of
from pertinent.geometry.region import AffineMap, CellUnion, Region
from pertinent.models.steps.clip import group_of
from pertinent.models.steps.walk import Columns, Walk
from pertinent.models.tolerances import NEAR_END

#: Rising functions of NumPy, with the smallest and the largest number they take (finite results).
_ALL = (-np.inf, np.inf)
_ABOVE_ZERO = (float(np.nextafter(0.0, 1.0)), np.inf)
RISING: dict[str, tuple[float, float]] = {
    "log": _ABOVE_ZERO,
    "log2": _ABOVE_ZERO,
    "log10": _ABOVE_ZERO,
    "log1p": (float(np.nextafter(-1.0, 0.0)), np.inf),
    "sqrt": (0.0, np.inf),
    "cbrt": _ALL,
    "arcsinh": _ALL,
    "exp": (-np.inf, 709.0),
    "expm1": (-np.inf, 709.0),
}
#: Falling functions that come in two parts: one is read, and numbers stay in it.
#: What comes out fits into single precision, too.
FALLING: dict[str, tuple[float, float]] = {"reciprocal": (2.0**-120, np.inf)}

#: By how much a function of a function may steepen what the inner one rounds.
STEEPENED = 1e4


@dataclass(frozen=True, eq=False)
class Bent:
    """A column ``f(slope z + offset)`` of a raw number z, or of a column that is bent itself.

    Parameters
    ----------
    feature, column : int
        The raw feature, and its column.
    function : callable
        Of an array of numbers, rising.
    ends : tuple of float
        Between which numbers the function is defined.
    slope, offset : float
    inner : Bent, optional
        What z is, where it is no raw number.
    added : float
        The size of what the function adds up beside its value (see `Curve.beside`).
    quick : callable, optional
        The same function up to rounding, in less time: cuts are those of ``function``.
    is_part : bool
        Whether the step takes numbers beyond ``ends``, too: they are only not read.
    """

    feature: int
    column: int
    function: Callable[[FloatArray], FloatArray] = field(repr=False)
    ends: tuple[float, float]
    slope: float
    offset: float
    inner: Bent | None = None
    added: float = 0.0
    quick: Callable[[FloatArray], FloatArray] | None = field(default=None, repr=False)
    is_part: bool = False
    _known: dict[float, float] = field(default_factory=dict, repr=False)

    def last(self, most: FloatArray) -> FloatArray:
        """Return the last raw numbers at which `rising` is at most the given; asked for once."""
        new = np.array([v for v in np.unique(most).tolist() if v not in self._known])
        if len(new):
            self._known.update(zip(new.tolist(), last_at_most(self.rising, new), strict=True))
        return np.array([self._known[v] for v in most.ravel().tolist()]).reshape(most.shape)

    @property
    def sign(self) -> float:
        """1 where the column rises with the raw number, -1 where it falls."""
        own = 1.0 if self.slope > 0 else -1.0
        return own if self.inner is None else own * self.inner.sign

    @property
    def beside(self) -> float:
        """The size of what is added up beside the value: what an inner one rounds, steepened."""
        return self.added + (0.0 if self.inner is None else STEEPENED * (1.0 + self.inner.beside))

    @property
    def is_total(self) -> bool:
        """Whether every number may come."""
        return self.ends == _ALL and (self.inner is None or self.inner.is_total)

    @property
    def has_part(self) -> bool:
        """Whether rules keep the raw number in one part of those that the steps take."""
        return self.is_part or (self.inner is not None and self.inner.has_part)

    @cached_property
    def as_curve(self) -> Bent:
        """The column for rows that add it up, where rounding is allowed for."""
        inner = None if self.inner is None else self.inner.as_curve
        return replace(self, function=self.quick or self.function, inner=inner, _known={})

    def _before(self, z: FloatArray) -> FloatArray:
        below = z if self.inner is None else self.inner(z)
        return np.asarray(self.slope * below + self.offset)

    def __call__(self, z: FloatArray) -> FloatArray:
        """Return the column; infinite where the function is not defined."""
        if not len(z):
            return np.zeros(0)  # steps refuse tables without rows
        with np.errstate(all="ignore"):
            x = self._before(z)
            inside = np.clip(np.clip(x, -1e300, 1e300), *self.ends)
            u = np.asarray(self.function(inside), dtype=float)
        u = np.where(np.isnan(u), np.where(inside > 0, np.inf, -np.inf), u)
        return np.where(x < self.ends[0], -np.inf, np.where(x > self.ends[1], np.inf, u))

    def rising(self, z: FloatArray) -> FloatArray:
        """Return the column times its sign, which rises with z."""
        return self.sign * self(z)

    def limits(self) -> tuple[float, float]:
        """Return the smallest and the largest raw number at which all functions are defined."""
        low, high = _ALL if self.inner is None else self.inner.limits()
        for end, is_high in ((self.ends[0], False), (self.ends[1], True)):
            if np.isinf(end):
                continue
            before = 1.0 if self.slope > 0 else -1.0
            before *= 1.0 if self.inner is None else self.inner.sign
            if is_high == (before > 0):
                high = min(high, self._last(before, before * end))
            else:
                edge = float(np.nextafter(before * end, -np.inf))
                low = max(low, float(np.nextafter(self._last(before, edge), np.inf)))
        return low, high

    def _last(self, sign: float, most: float) -> float:
        return float(last_at_most(lambda z: sign * self._before(z), np.array([most]))[0])


def bend(
    step: Foreign,
    columns: Columns,
    walk: Walk,
    functions: Sequence[Callable[[FloatArray], FloatArray]],
    ends: tuple[float, float],
    added: Sequence[float] | None = None,
    quick: Sequence[Callable[[FloatArray], FloatArray]] | None = None,
    *,
    is_part: bool = False,
) -> Columns:
    """Return the columns bent by one function each, which add up so much beside their values."""
    columns.require_numbers(walk, step)
    if columns.products is not None:
        raise walk.refuse(step, "bends products of columns.")
    count, features = len(columns), columns.features
    width = columns.map.dim_in
    old, old_shift = columns.map.dense(), columns.map.shift
    matrix, shift, bends = np.zeros((count, width)), np.zeros(count), list(columns.bends)
    more: list[int] = []  # the row of each new bend
    for k, function in enumerate(functions):
        inputs = np.flatnonzero(old[k])
        group = group_of(columns, inputs) if len(inputs) and inputs.max() < features.dim else None
        if not len(inputs):
            shift[k] = float(function(np.array([old_shift[k]]))[0])
        elif group is not None:
            matrix[k, group] = function(np.clip(old[k, group] + old_shift[k], *ends))
        elif len(inputs) > 1:
            raise walk.refuse(step, "bends a column that mixes several raw features.")
        else:
            place = int(inputs[0])
            inner = columns.bends[place - features.dim] if place >= features.dim else None
            feature = int(features.owner[place]) if inner is None else inner.feature
            column = place if inner is None else inner.column
            slope, offset = float(old[k, place]), float(old_shift[k])
            beside = 0.0 if added is None else added[k]
            fast = None if quick is None else quick[k]
            how = function, ends, slope, offset, inner, beside, fast, is_part
            bends.append(Bent(feature, column, *how))
            more.append(k)
    wide = np.hstack([matrix, np.zeros((count, len(more)))])
    wide[more, width + np.arange(len(more))] = 1.0
    return Columns(
        features, AffineMap(wide, shift), np.full(count, -1), columns.names, bends=tuple(bends)
    )


def known_function(
    step: Foreign, known: dict[str, tuple[float, float]]
) -> tuple[Callable[[FloatArray], FloatArray], Any] | None:
    """Return the function of a FunctionTransformer, with its ends; None where it is not known."""
    name = getattr(step.func, "__name__", "")
    if name in known and step.func is getattr(np, name) and not step.kw_args:
        return step.func, known[name]
    return None


def bend_falling(
    step: Foreign,
    columns: Columns,
    walk: Walk,
    function: Callable[[FloatArray], FloatArray],
    ends: tuple[float, float],
) -> Columns:
    """Return the columns bent by a falling function: a rising one of what they are times -1."""
    count = len(columns)
    mirrored = columns.through(AffineMap(np.full(count, -1.0), np.zeros(count)))
    rising = _Mirrored(function)
    return bend(step, mirrored, walk, [rising] * count, (-ends[1], -ends[0]), is_part=True)


@dataclass(frozen=True)
class _Mirrored:
    """``f(-x)``, which rises where f falls."""

    function: Callable[[FloatArray], FloatArray]

    def __call__(self, x: FloatArray) -> FloatArray:
        return self.function(-x)


#: Steps are asked about numbers of this size at most (and at least, where they must be above 0):
#: beyond it powers overflow, and nobody has cuts there.
FAR = 1e15


def asked(step: Foreign, k: int, least: float = -FAR) -> Callable[[FloatArray], FloatArray]:
    """Return what a fitted step makes of its column k, by asking it."""

    def function(x: FloatArray) -> FloatArray:
        table = np.ones((len(x), int(step.n_features_in_)))
        table[:, k] = np.clip(x, least, FAR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was fitted on names; numbers beyond its range
            return np.asarray(step.transform(table), dtype=float)[:, k]

    return function


def power(step: Foreign, k: int, least: float) -> Callable[[FloatArray], FloatArray]:
    """Return what a fitted PowerTransformer makes of its column k, up to rounding."""
    exponent, is_box_cox = float(step.lambdas_[k]), step.method == "box-cox"
    mean = float(step._scaler.mean_[k]) if step.standardize else 0.0
    scale = float(step._scaler.scale_[k]) if step.standardize else 1.0

    def bent(x: FloatArray) -> FloatArray:
        x = np.clip(x, least, FAR)
        if is_box_cox:
            return (_risen(np.log(x), exponent) - mean) / scale
        up = _risen(np.log1p(np.maximum(x, 0.0)), exponent)
        down = _risen(np.log1p(np.maximum(-x, 0.0)), 2.0 - exponent)
        return np.asarray((np.where(x >= 0, up, -down) - mean) / scale)

    return bent


def _risen(logarithm: FloatArray, exponent: float) -> FloatArray:
    """Return ``(exp(exponent log) - 1) / exponent``, or the logarithm where the exponent is 0."""
    if abs(exponent) < np.spacing(1.0):
        return logarithm
    return np.asarray(np.expm1(exponent * logarithm) / exponent)


def quantiles(step: Foreign, k: int) -> Callable[[FloatArray], FloatArray]:
    """Return what a fitted QuantileTransformer makes of its column k, up to rounding."""
    knots, shares = np.asarray(step.quantiles_)[:, k], np.asarray(step.references_)
    normal = step.output_distribution == "normal"
    first, last = ndtri(np.array([NEAR_END - np.spacing(1.0), 1.0 - (NEAR_END - np.spacing(1.0))]))

    def bent(x: FloatArray) -> FloatArray:
        # Where quantiles are equal, the mean of what both sides say.
        up = np.interp(x, knots, shares)
        down = -np.interp(-x, -knots[::-1], -shares[::-1])
        share = 0.5 * (up + down)
        above = x + NEAR_END > knots[-1] if normal else x == knots[-1]
        below = x - NEAR_END < knots[0] if normal else x == knots[0]
        share = np.where(below, 0.0, np.where(above, 1.0, share))
        return np.clip(ndtri(share), first, last) if normal else np.asarray(share)

    return bent


def unbend(region: Region, bends: tuple[Bent, ...], dim: int) -> Region:
    """Return a region over raw columns and bent ones, which come last, over the raw ones alone."""
    ensemble = as_ensemble(region)
    if ensemble is not None:
        # No number is asked about at which a function is not defined: see `Features.ends`.
        return ensemble.behind([(b.column, b.last, b.sign) for b in bends], dim)
    cells = cells_of(region)
    if cells is None or not all(cell.is_linear and cell.sums is None for cell in cells):
        raise UnsupportedModelError(
            "Behind a step that bends columns (logarithms, powers, quantiles) trees and linear "
            "models are supported. This one decides by squares, distances, votes or a softmax "
            "probability of bent columns, of which no bound is known in raw units. Use "
            "search=True, a linear model, or put the step in front of the pipeline, and explain "
            "in its units."
        )
    return CellUnion(tuple(_unbent(cells, bends, dim)) if len(cells) else (), dim)


def _ends(bends: tuple[Bent, ...], dim: int) -> Cell | None:
    """Return where all functions are defined; None: everywhere."""
    if all(b.is_total for b in bends):
        return None
    whole = Cell.whole_space(dim)
    low, high = whole.lower.copy(), whole.upper.copy()
    for b in bends:
        first, last = b.limits()
        low[b.column], high[b.column] = max(low[b.column], first), min(high[b.column], last)
    return replace(whole, lower=low, upper=high)


def _unbent(cells: Sequence[Cell], bends: tuple[Bent, ...], dim: int) -> list[Cell]:
    """Return cells over raw and bent columns, which come last, as cells over raw ones."""
    low = np.array([cell.lower for cell in cells])
    high = np.array([cell.upper for cell in cells])
    for place, b in enumerate(bends, dim):
        # low <= u <= high, in terms of sign u, which rises with z
        least, most = low[:, place], high[:, place]
        if not (np.isfinite(least) | np.isfinite(most)).any():
            continue
        least, most = (least, most) if b.sign > 0 else (-most, -least)
        first, last = b.last(np.array([np.nextafter(least, -np.inf), most]))
        first = np.where(np.isfinite(least), np.nextafter(first, np.inf), -np.inf)
        last = np.where(np.isfinite(most), last, np.inf)
        low[:, b.column] = np.maximum(low[:, b.column], first)
        high[:, b.column] = np.minimum(high[:, b.column], last)
    ends = _ends(bends, dim)
    found = [
        _split(cell, bends, dim, one[:dim], other[:dim])
        for cell, one, other in zip(cells, low, high, strict=True)
    ]
    return found if ends is None else [cell.intersect(ends) for cell in found]


def _split(
    cell: Cell, bends: tuple[Bent, ...], dim: int, low: FloatArray, high: FloatArray
) -> Cell:
    """Return a cell whose rows over bent columns are kept apart from its linear ones."""
    bent, terms = cell.G[:, dim:].any(axis=1), cell.terms
    raw = np.delete(terms, np.s_[dim:-1], axis=1)
    plain = Cell(cell.G[~bent, :dim], cell.h[~bent], (), low, high, magnitudes=raw[~bent])
    if not bent.any():
        return plain
    used = np.flatnonzero(cell.G[:, dim:].any(axis=0))
    sizes = np.hstack([terms[:, :dim], terms[:, dim + used], terms[:, -1:]])
    curves = tuple(bends[m].as_curve for m in used)
    rows = BentRows(
        curves, cell.G[bent, :dim], cell.G[np.ix_(bent, dim + used)], cell.h[bent], sizes[bent]
    )
    return replace(plain, bent=(rows,))
