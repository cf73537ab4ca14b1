"""Regions: where a classifier predicts a class, as a set of points with a few operations.

`Region` is a protocol: any object that keeps it can be explained. Its kinds are closed under the
operations: the winners of prototypes stay winners when a margin is asked for or a relation added.

- `CellUnion`: a union of cells, listed or made when they are asked for;
- `WinnerRegion` and `MetricRegion` (see `pertinent.geometry.winners`);
- `Joined` (see `pertinent.geometry.pieces`): several regions, each with a label;
- `Opaque`: whatever ``predict`` says, for models of which nothing else is known;
- any other class that keeps the protocol: see docs/add_a_model.md.

This module knows neither classifiers nor solvers. How a kind of region is solved for is registered
in `pertinent.solvers`, and how its proofs are checked is the business of the proofs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeGuard, overload

import numpy as np

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.affine import AffineMap, row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.cell import Cell, Exponential, require_same_dim
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.rounding import (
    PROBES,
    CellRounding,
    Rounding,
    clearly_inside,
    has_own_units,
    in_own_units,
    shows_margin,
)

__all__ = [
    "AffineMap",
    "Cell",
    "CellUnion",
    "Exponential",
    "LazyCells",
    "Opaque",
    "Quadratic",
    "Region",
    "missing_operations",
    "row_products",
]

#: Gives a region with the margin given.
Tightened = Callable[[float], "Region"]


class Region(Protocol):
    """A set of points in ``dim`` dimensions, closed under the operations below.

    A class that inherits from it gets what has a body here; the rest it must define.
    """

    @property
    def dim(self) -> int:
        """Number of features."""
        ...

    @property
    def is_convex(self) -> bool:
        """Whether every piece is convex by its form (their union need not be)."""
        return False

    @property
    def is_empty(self) -> bool:
        """Whether there is no point, by the region's form."""
        return False

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return whether each of the points, shape (n, dim), lies inside, up to ``tol``."""
        ...

    def tighten(self, margin: float) -> Region:
        """Return the points that lie inside by ``margin``, in units of the scores' slopes."""
        ...

    def pull_back(self, through: AffineMap) -> Region:
        """Return the points whose image lies in the region."""
        ...

    def pull_back_choices(self, through: AffineMap, groups: Sequence[IntArray]) -> Region:
        """Return the same where exactly one raw column of each group is 1."""
        return self.pull_back(through)

    def intersect(self, other: Cell) -> Region:
        """Return the points that lie in both."""
        ...

    def complement(self) -> Region | None:
        """Return the (closed) region of all other points, or None where its form is not known."""
        return None

    def with_margin(self, margin: float, tightened: Tightened) -> Region:
        """Return the region with a margin that only rounding needs.

        ``tightened(m)`` is the same region as the model gives it with the margin m. A kind of
        region may know a unit for its rows that does not depend on the units of the features.
        """
        return self if margin == 0 else tightened(margin)

    def rounding(self, tight: Region) -> Rounding | None:
        """Return what rounds where ``predict`` decides, from the region tightened by `STEP`.

        None: not known. The model's own word is then all that counts.
        """
        return None

    def surely_contains(self, points: FloatArray) -> BoolArray:
        """Return which points lie inside by more than the rounding of the region's rows."""
        return self.contains(points)

    def used_columns(self) -> BoolArray:
        """Return which columns the region depends on, as far as is known."""
        return np.ones(self.dim, dtype=bool)


def missing_operations(candidate: Any) -> list[str]:
    """Return what a candidate lacks to be a `Region`."""
    if Region in type(candidate).__mro__:  # it has the defaults for what it does not say
        return []
    needed = [name for name in vars(Region) if not name.startswith("_")]
    return [name for name in needed if not hasattr(candidate, name)]


class LazyCells(Sequence[Cell]):
    """Cells that are made when they are asked for: a union may have thousands of large ones."""

    def __init__(self, count: int, make: Callable[[int], Cell]) -> None:
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Cell]: ...
    def __getitem__(self, index: int | slice) -> Cell | Sequence[Cell]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._count)))
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return self._make(index % self._count)


def _each(cells: Sequence[Cell], change: Callable[[Cell], Cell]) -> Sequence[Cell]:
    """Return the changed cells, lazily where the given ones are lazy."""
    if isinstance(cells, LazyCells):
        return LazyCells(len(cells), lambda i: change(cells[i]))
    return tuple(change(cell) for cell in cells)


def chain(one: Sequence[Any], two: Sequence[Any]) -> Sequence[Any]:
    """Return both sequences one after the other, lazily where either is lazy."""
    if isinstance(one, LazyCells) or isinstance(two, LazyCells):
        first = len(one)
        return LazyCells(first + len(two), lambda i: one[i] if i < first else two[i - first])
    return (*one, *two)


def _with_terms(cell: Cell) -> Cell:
    """Return a cell that says of each linear row what is added up to decide it."""
    if cell.magnitudes is not None or not len(cell.G):
        return cell
    return replace(cell, magnitudes=cell.terms)


def any_of(n: int, masks: Iterable[BoolArray]) -> BoolArray:
    """Return which of n entries are true in any of the masks."""
    out = np.zeros(n, dtype=bool)
    for mask in masks:
        out |= mask
    return out


class CellUnion(Region):
    """A union of cells; no cells at all is the empty set.

    Parameters
    ----------
    cells : sequence of Cell
    dim : int, optional
        Number of features; needed where there are no cells.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import Cell, CellUnion
    >>> left = Cell(np.array([[1.0]]), np.array([-1.0]))
    >>> right = Cell(np.array([[-1.0]]), np.array([-1.0]))
    >>> CellUnion((left, right)).contains(np.array([[-2.0], [0.0], [2.0]]))
    array([ True, False,  True])
    """

    def __init__(self, cells: Sequence[Cell], dim: int = -1) -> None:
        if dim < 0 and not len(cells):
            raise InputError("A region without cells must be given its number of features.")
        self._cells = cells
        self._dim = cells[0].dim if dim < 0 else dim

    @property
    def cells(self) -> Sequence[Cell]:
        """The cells; some kinds of regions make them on demand."""
        return self._cells

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} cells in {self.dim} dimensions>"

    def __len__(self) -> int:
        return len(self.cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    @property
    def dim(self) -> int:
        """Number of features."""
        return self._dim

    @property
    def is_lazy(self) -> bool:
        """Whether cells are made when they are asked for; they are then of one form."""
        return isinstance(self.cells, LazyCells)

    @cached_property
    def is_convex(self) -> bool:
        """Whether every cell is convex by its form (their union need not be)."""
        if self.is_lazy:
            return not len(self) or self.cells[0].is_convex
        return all(cell.is_convex for cell in self.cells)

    @property
    def is_empty(self) -> bool:
        """Whether there are no cells."""
        return not len(self.cells)

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return whether each point lies in any of the cells."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        return any_of(len(points), (cell.contains(points, tol) for cell in self.cells))

    def tighten(self, margin: float) -> CellUnion:
        """Return the union of the tightened cells."""
        return self.each(lambda cell: cell.tighten(margin))

    def each(self, change: Callable[[Cell], Cell], dim: int | None = None) -> CellUnion:
        """Return the union of the changed cells, in ``dim`` dimensions (as before by default)."""
        return CellUnion(_each(self.cells, change), self.dim if dim is None else dim)

    def union(self, other: CellUnion) -> CellUnion:
        """Return the region of the points that lie in either."""
        require_same_dim(self.dim, other.dim)
        return CellUnion(chain(self.cells, other.cells), self.dim)

    def intersect(self, other: CellUnion | Cell) -> CellUnion:
        """Return the region of the points that lie in both."""
        if isinstance(other, Cell):
            return self.each(lambda cell: cell.intersect(other))
        return CellUnion(tuple(a.intersect(b) for a in self.cells for b in other.cells), self.dim)

    def pull_back(self, through: AffineMap) -> CellUnion:
        """Return the region of the points whose image lies in this one.

        What a model adds up in its own space is kept: in the other it may cancel.
        """
        return self.each(lambda cell: _with_terms(cell).pull_back(through), through.dim_in)

    def restrict(self, fixed: BoolArray, values: FloatArray) -> CellUnion:
        """Return the region of the other features when the ``fixed`` ones hold ``values``."""
        return self.each(lambda cell: cell.restrict(fixed, values), int((~fixed).sum()))

    def complement(self) -> CellUnion | None:
        """Return the (closed) region of all other points, or None where its form is not known.

        Outside a single cell without bounds at least one of its rows is reversed: a union of
        cells with one row each, which are much easier to project on than the other classes.
        """
        if len(self) != 1 or self.cells[0].has_bounds:
            return None
        cell = self.cells[0]
        # 0 <= h always holds: what ties with it everywhere is not outside.
        terms = [None] * len(cell.G) if cell.magnitudes is None else cell.magnitudes[:, None]
        linear = [
            Cell(-g[None], np.array([-h]), magnitudes=size, sums=cell.sums)
            for g, h, size in zip(cell.G, cell.h, terms, strict=True)
            if g.any() or h < 0
        ]
        space = Cell.whole_space(self.dim)
        curved = [replace(space, quadratics=(row.reversed(),)) for row in cell.quadratics]
        bent = [replace(space, bent=(row,)) for block in cell.bent for row in block.reversed()]
        return CellUnion((*linear, *curved, *bent), self.dim)

    def with_margin(self, margin: float, tightened: Tightened) -> Region:
        """Return the region with a margin, in units of the cells' own where they have some."""
        if margin == 0:
            return self
        own = not self.is_lazy and [has_own_units(cell) for cell in self.cells]
        if not own or not any(own):
            return tightened(margin)
        # Units of its own make a row the same whatever margin told which rows have one.
        same = all(own) and not any(cell.exponentials for cell in self.cells)
        tight = self._probe(tightened) if same else tightened(margin)
        if not self._pairs_with(tight):
            return tightened(margin)
        pairs = zip(self.cells, tight.cells, strict=True)
        return CellUnion(tuple(in_own_units(*pair, margin) for pair in pairs), self.dim)

    def _probe(self, tightened: Tightened) -> Region:
        """Return the region with a margin that shows in every row that has one."""
        region: Region = self
        for margin in PROBES:
            region = tightened(margin)
            if not self._pairs_with(region):
                break
            if all(shows_margin(*pair) for pair in zip(self.cells, region.cells, strict=True)):
                break
        return region

    def _pairs_with(self, other: Region) -> TypeGuard[CellUnion]:
        return isinstance(other, CellUnion) and len(other) == len(self)

    def rounding(self, tight: Region) -> Rounding | None:
        """Return what rounds in the rows; None where cells are made on demand: too many rows."""
        if self.is_lazy or not self._pairs_with(tight):
            return None
        return CellRounding.of(self.cells, tight.cells, self.dim)

    def surely_contains(self, points: FloatArray) -> BoolArray:
        """Return which points lie in a cell by more than the rounding of its linear rows.

        Examples
        --------
        >>> import numpy as np
        >>> from pertinent.geometry.region import Cell, CellUnion
        >>> region = CellUnion((Cell(np.array([[1e17, -1e17]]), np.array([1.0])),))
        >>> region.surely_contains(np.array([[1.0, 1.0], [1.0, 2.0]]))
        array([False,  True])
        """
        return any_of(len(points), (clearly_inside(cell, points) for cell in self.cells))

    def used_columns(self) -> BoolArray:
        """Return which columns any row or bound of a cell depends on."""
        return any_of(self.dim, (cell.used_columns() for cell in self.cells))


@dataclass(frozen=True, eq=False)
class Opaque(Region):
    """Points of which ``predict`` alone tells whether they lie inside.

    Parameters
    ----------
    columns : int
        Number of columns.
    common : Cell, optional
        What else is asked of every point: relations between features.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.geometry.region import Opaque
    >>> Opaque(2).contains(np.zeros((1, 2)))
    array([ True])
    """

    columns: int
    common: Cell | None = None

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.columns

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return which points are not known to lie outside: those that obey the relations."""
        if self.common is None:
            return np.ones(len(points), dtype=bool)
        return self.common.contains(points, tol)

    def tighten(self, margin: float) -> Opaque:
        """Return the region: how far inside a point lies is not known."""
        return self

    def pull_back(self, through: AffineMap) -> Opaque:
        """Refuse: ``predict`` reads raw values itself."""
        raise UnsupportedModelError("A model that is searched cannot be a step of another one.")

    def intersect(self, other: Cell) -> Opaque:
        """Return the points that also lie in a cell."""
        return replace(self, common=other if self.common is None else self.common.intersect(other))

    def complement(self) -> Opaque:
        """Return where other classes are predicted: as little is known of it."""
        return replace(self, common=None)


def as_opaque(region: Region) -> Opaque | None:
    """Return a region of which ``predict`` alone tells; None for another kind of region."""
    return region if isinstance(region, Opaque) else None
