"""A cell: the points that satisfy every one of some inequalities.

These are linear rows ``G x <= h``, quadratic rows ``x'Ax + q'x + c <= 0``, exponential rows, rows
of bent columns ``G x + B f(x) <= h`` and bounds ``lower <= x <= upper``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.affine import AffineMap, BentRows, joined, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, read_only
from pertinent.geometry.quadratic import Quadratic, Sums


@dataclass(frozen=True, eq=False)
class Exponential:
    """The convex inequality ``log sum_k exp(W_k x + b_k) <= 0``.

    It says that a softmax gives a class at least some probability.
    """

    W: FloatArray  # (n_terms, n_features)
    b: FloatArray  # (n_terms,)

    def value(self, points: FloatArray) -> FloatArray:
        """Return the left-hand side at each point."""
        terms = row_products(points, self.W) + self.b
        top = terms.max(axis=1, keepdims=True)
        return np.asarray(top[:, 0] + np.log(np.exp(terms - top).sum(axis=1)))

    def tangents(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``G x <= h`` that every point of the set satisfies, tight at each point."""
        terms = row_products(points, self.W) + self.b
        share = np.exp(terms - terms.max(axis=1, keepdims=True))
        G = row_products(share / share.sum(axis=1, keepdims=True), self.W.T)
        return G, (G * points).sum(axis=1) - self.value(points)

    def tighten(self, margin: float) -> Exponential:
        """Return the inequality asked for strictly, by ``margin`` times its slope."""
        return replace(self, b=self.b + margin * np.abs(self.W).max(initial=0.0))

    def pull_back(self, through: AffineMap) -> Exponential:
        """Return the inequality on ``z`` that says the same of ``x = M z + t``."""
        return Exponential(through.rows(self.W), self.b + self.W @ through.shift)


class PerCost:
    """How much the rows ``G x <= h`` of a cell change for each unit of cost.

    Parameters
    ----------
    cell : Cell
    weights : ndarray of shape (n_features,)
        What a unit of each feature costs.
    """

    def __init__(self, cell: Cell, weights: FloatArray) -> None:
        self.weights, self._G, self._h = weights, cell.G, cell.h

    def _ratios(self) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.abs(self._G) / self.weights)

    @cached_property
    def sizes(self) -> FloatArray:
        """``max_i |G_ki| / w_i`` and ``|h_k|`` of each row k; shape (2, n_rows)."""
        sizes = np.empty((2, len(self._h)))
        self._ratios().max(axis=1, initial=0.0, out=sizes[0])
        np.abs(self._h, out=sizes[1])
        return read_only(sizes)

    @cached_property
    def orders(self) -> tuple[tuple[int, ...], ...]:
        """For each row, the features that change it, those first that do so most per cost."""
        by_ratio = np.argsort(-self._ratios(), axis=1, kind="stable")
        pairs = zip(self._G, by_ratio, strict=True)
        return tuple(tuple(order[row[order] != 0].tolist()) for row, order in pairs)

    @cached_property
    def is_positive(self) -> bool:
        """Whether every feature costs something."""
        return bool((self.weights > 0).all())

    @cached_property
    def least_gap(self) -> float:
        """How far apart any two features are in what they change of a row, as a share of it."""
        ratios = np.sort(self._ratios(), axis=1)
        below, above = ratios[:, :-1], ratios[:, 1:]
        gaps = (above - below)[above > 0] / above[above > 0]
        return float(gaps.min(initial=1.0))


@dataclass(frozen=True, eq=False)
class Cell:
    """A conjunction of linear rows, quadratic rows and bounds.

    Parameters
    ----------
    G : ndarray of shape (n_rows, n_features)
    h : ndarray of shape (n_rows,)
        ``G x <= h``.
    quadratics : tuple of Quadratic
    lower, upper : ndarray of shape (n_features,), optional
        Infinite where there is no bound.
    anchors : ndarray of shape (n_anchors, n_features), optional
        Points that should lie well inside, e.g. the mean of a class: hints where a local search
        may start. They change nothing about the cell.
    magnitudes : ndarray of shape (n_rows, n_features + 1), optional
        The terms that a model really adds up to decide a row, ``magnitudes (|x|, 1)``, where they
        are larger than those of the row, ``|G| |x| + |h|``: a row may be the small difference of
        two large scores. They change nothing about the cell.
    sums : Sums, optional
        What a model adds up beside that to decide any of the linear rows: squares that cancel. The
        rows are those of the model up to what these sums round to.
    bent : tuple of BentRows, optional
        Rows over columns that are bent by rising functions.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.cell import Cell
    >>> triangle = Cell(np.array([[1.0, 1.0]]), np.array([1.0]), lower=np.zeros(2))
    >>> triangle.contains(np.array([[0.2, 0.2], [0.9, 0.9]]))
    array([ True, False])
    """

    G: FloatArray
    h: FloatArray
    quadratics: tuple[Quadratic, ...] = ()
    lower: FloatArray = field(default=None)  # type: ignore[arg-type]
    upper: FloatArray = field(default=None)  # type: ignore[arg-type]
    anchors: FloatArray = field(default=None, repr=False)  # type: ignore[arg-type]
    exponentials: tuple[Exponential, ...] = ()
    magnitudes: FloatArray | None = field(default=None, repr=False)
    sums: Sums | None = field(default=None, repr=False)
    bent: tuple[BentRows, ...] = ()

    def __post_init__(self) -> None:
        G = np.atleast_2d(np.asarray(self.G, dtype=float))
        h = np.asarray(self.h, dtype=float).reshape(-1)
        if len(G) != len(h):
            raise InputError(f"G has {len(G)} rows and h has {len(h)}; they must agree.")
        set_ = object.__setattr__
        set_(self, "G", read_only(G))
        set_(self, "h", read_only(h))
        for name, default in (("lower", -np.inf), ("upper", np.inf)):
            value = getattr(self, name)
            full = np.full(self.dim, default) if value is None else np.asarray(value, dtype=float)
            if full.shape != (self.dim,):
                raise InputError(f"{name} has shape {full.shape}, expected ({self.dim},).")
            set_(self, name, read_only(full))
        if self.anchors is None:
            set_(self, "anchors", np.zeros((0, self.dim)))

    @classmethod
    def whole_space(cls, dim: int) -> Cell:
        """Return the cell without any inequality."""
        return cls(np.zeros((0, dim)), np.zeros(0))

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.G.shape[1])

    @property
    def is_linear(self) -> bool:
        """Whether there are no other rows than linear ones."""
        return not self.quadratics and not self.has_other_rows

    @property
    def has_other_rows(self) -> bool:
        """Whether there are rows that are neither linear nor quadratic."""
        return bool(self.exponentials or self.bent)

    @cached_property
    def sums_of_curves(self) -> BentRows:
        """The linear rows and those of bent columns, as one block of rows of bent columns."""
        return joined(self.bent, self.G, self.h, self.terms)

    @property
    def is_convex(self) -> bool:
        """Whether every row is convex by its form."""
        return not self.bent and all(row.is_convex for row in self.quadratics)

    @cached_property
    def has_bounds(self) -> bool:
        """Whether any feature is bounded."""
        return bool(np.isfinite(self.lower).any() or np.isfinite(self.upper).any())

    @property
    def terms(self) -> FloatArray:
        """What a model adds up to decide each linear row: ``terms (|x|, 1)``."""
        if self.magnitudes is not None:
            return self.magnitudes
        return np.abs(np.column_stack([self.G, self.h]))

    def per_cost(self, weights: FloatArray) -> PerCost:
        """Return what rows change per cost; kept for weights that nobody can write to."""
        known: PerCost | None = self.__dict__.get("_per_cost")
        if known is None or known.weights is not weights:
            known = PerCost(self, weights)
            if not weights.flags.writeable:
                self.__dict__["_per_cost"] = known
        return known

    def violation(self, points: FloatArray) -> FloatArray:
        """Return the largest violation of any inequality at each point (at most 0 inside)."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        worst = np.full(len(points), -np.inf)
        for excess in self._excesses(points):
            np.maximum(worst, excess.max(axis=1, initial=-np.inf), out=worst)
        return worst

    def _excesses(self, points: FloatArray) -> Iterator[FloatArray]:
        yield row_products(points, self.G) - self.h
        for row in self.quadratics:
            yield row.value(points)[:, None]
        for bend in self.exponentials:
            yield bend.value(points)[:, None]
        for block in self.bent:
            yield block.value(points)
        if self.has_bounds:
            yield self.lower - points
            yield points - self.upper

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return whether each point satisfies every inequality within ``tol``."""
        return np.asarray(self.violation(points) <= tol)

    def used_columns(self) -> BoolArray:
        """Return which columns any row or bound depends on."""
        used = (self.G != 0).any(axis=0) | np.isfinite(self.lower) | np.isfinite(self.upper)
        for row in self.quadratics:
            used |= (row.A != 0).any(axis=0) | (row.gradient(np.zeros((1, self.dim)))[0] != 0)
        for block in self.bent:
            used |= block.used_columns()
        return np.asarray(used)

    def tighten(self, margin: float) -> Cell:
        """Return the cell with each row asked for strictly, by ``margin`` times the row's slope.

        The slope of a linear row is its largest coefficient, so that the same margin means the
        same depth for every model, however its scores are scaled.
        """
        if margin == 0:
            return self
        slope = np.abs(self.G).max(axis=1, initial=0.0)
        rows = tuple(row.raised(margin * row.scale()) for row in self.quadratics)
        bends = tuple(bend.tighten(margin) for bend in self.exponentials)
        bent = tuple(block.tighten(margin) for block in self.bent)
        h = self.h - margin * slope
        return replace(self, h=h, quadratics=rows, exponentials=bends, bent=bent)

    def intersect(self, other: Cell) -> Cell:
        """Return the cell of the points that lie in both."""
        require_same_dim(self.dim, other.dim)
        return Cell(
            np.vstack([self.G, other.G]),
            np.concatenate([self.h, other.h]),
            self.quadratics + other.quadratics,
            np.maximum(self.lower, other.lower),
            np.minimum(self.upper, other.upper),
            np.vstack([self.anchors, other.anchors]),
            self.exponentials + other.exponentials,
            _joined_terms(self, other),
            _joined_sums(self, other),
            self.bent + other.bent,
        )

    def pull_back(self, through: AffineMap) -> Cell:
        """Return the cell of the ``z`` whose image ``M z + t`` lies in this one."""
        require_same_dim(self.dim, through.dim_out)
        G, h = through.rows(self.G), self.h - self.G @ through.shift
        rows = tuple(row.pull_back(through) for row in self.quadratics)
        bends = tuple(bend.pull_back(through) for bend in self.exponentials)
        anchors = _pull_back_anchors(self.anchors, through)
        terms = None if self.magnitudes is None else _pull_back_terms(self.magnitudes, through)
        sums = None
        if self.sums is not None:
            sums = self.sums.pull_back(through, self.sums.constant)[0]
        cell = Cell(G, h, rows, anchors=anchors, exponentials=bends, magnitudes=terms, sums=sums)
        if self.bent:
            cell = replace(cell, bent=tuple(block.pull_back(through) for block in self.bent))
        if not self.has_bounds:
            return cell
        return cell.intersect(_pull_back_bounds(self.lower, self.upper, through))

    def restrict(self, fixed: BoolArray, values: FloatArray) -> Cell:
        """Return the cell of the other features when the ``fixed`` ones hold ``values``.

        Both have shape (n_features,); ``values`` is read where ``fixed`` only.
        """
        free = ~fixed
        embed = np.zeros((self.dim, int(free.sum())))
        embed[np.flatnonzero(free), np.arange(embed.shape[1])] = 1.0
        inside = (values >= self.lower) & (values <= self.upper)
        kept = replace(
            self,
            lower=np.where(free, self.lower, -np.inf),
            upper=np.where(free, self.upper, np.inf),
        ).pull_back(AffineMap(embed, np.where(fixed, values, 0.0)))
        if inside[fixed].all():
            return kept
        # A fixed value out of its bounds leaves nothing: 0 <= -1.
        return kept.intersect(Cell(np.zeros((1, kept.dim)), np.array([-1.0])))


def require_same_dim(one: int, other: int) -> None:
    """Refuse two sets of points in spaces of unlike dimension."""
    if one != other:
        raise InputError(f"Expected {one} features, got {other}.")


def _joined_terms(one: Cell, other: Cell) -> FloatArray | None:
    if one.magnitudes is None and other.magnitudes is None:
        return None
    return np.vstack([one.terms, other.terms])


def _joined_sums(one: Cell, other: Cell) -> Sums | None:
    if one.sums is None or other.sums is None:
        return one.sums if other.sums is None else other.sums
    return one.sums + other.sums


def _pull_back_terms(terms: FloatArray, through: AffineMap) -> FloatArray:
    """Return the terms in ``z`` of rows in ``x = M z + t``: ``|x| <= |M| |z| + |t|``."""
    size = AffineMap(np.abs(through.matrix), np.abs(through.shift))
    slopes = terms[:, :-1]
    return np.column_stack([size.rows(slopes), terms[:, -1] + slopes @ size.shift])


def _pull_back_anchors(anchors: FloatArray, through: AffineMap) -> FloatArray:
    """Return, for each anchor, the nearest ``z`` to the origin whose image comes closest to it."""
    if not len(anchors):
        return np.zeros((0, through.dim_in))
    if through.is_diagonal:
        safe = np.where(through.matrix == 0, 1.0, through.matrix)
        return np.where(through.matrix == 0, 0.0, (anchors - through.shift) / safe)
    return np.asarray((anchors - through.shift) @ np.linalg.pinv(through.matrix).T)


def _pull_back_bounds(lower: FloatArray, upper: FloatArray, through: AffineMap) -> Cell:
    """Bounds stay bounds where an output follows a single input, and become rows elsewhere."""
    matrix = through.dense()
    dim = through.dim_in
    low, high = np.full(dim, -np.inf), np.full(dim, np.inf)
    rows: list[FloatArray] = []
    sides: list[float] = []
    for row, lo, hi, shift in zip(matrix, lower, upper, through.shift, strict=True):
        inputs = np.flatnonzero(row)
        if len(inputs) == 1:
            j, slope = int(inputs[0]), float(row[inputs[0]])
            ends = sorted(((lo - shift) / slope, (hi - shift) / slope))
            low[j], high[j] = max(low[j], ends[0]), min(high[j], ends[1])
            continue
        if np.isfinite(hi):
            rows.append(row)
            sides.append(hi - shift)
        if np.isfinite(lo):
            rows.append(-row)
            sides.append(shift - lo)
    G = np.array(rows).reshape(len(rows), dim)
    return Cell(G, np.array(sides), (), low, high)
