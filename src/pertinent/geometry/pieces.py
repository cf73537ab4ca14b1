"""Regions taken together, and the pieces that a region is the union of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.affine import AffineMap
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, Limits
from pertinent.geometry.cell import Cell
from pertinent.geometry.region import CellUnion, Region, any_of, chain
from pertinent.geometry.rounding import JoinedRounding, Rounding


class Joined(Region):
    """The union of several regions, each with a label, e.g. of all classes but one.

    Parameters
    ----------
    parts : sequence of Region
    labels : sequence of int
        One for each part.
    dim : int
    """

    def __init__(self, parts: Sequence[Region], labels: Sequence[int], dim: int) -> None:
        self.parts, self.labels, self._dim = tuple(parts), tuple(labels), dim

    @property
    def dim(self) -> int:
        """Number of features."""
        return self._dim

    @cached_property
    def is_convex(self) -> bool:
        """Whether every piece of every part is convex by its form."""
        return all(part.is_convex for part in self.parts)

    @property
    def is_empty(self) -> bool:
        """Whether every part is empty by its form."""
        return all(part.is_empty for part in self.parts)

    @cached_property
    def pieces(self) -> Sequence[Cell | Region]:
        """The pieces of all parts, one part after the other."""
        pieces: Sequence[Cell | Region] = ()
        for part in self.parts:
            pieces = chain(pieces, pieces_of(part))
        return pieces

    @property
    def owners(self) -> IntArray:
        """The label of each piece."""
        return np.repeat(
            np.array(self.labels, dtype=np.int64), [len(pieces_of(part)) for part in self.parts]
        )

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return whether each point lies in any part."""
        points = np.atleast_2d(np.asarray(points, dtype=float))
        return any_of(len(points), (part.contains(points, tol) for part in self.parts))

    def _each(self, change: Callable[[Region], Region], dim: int | None = None) -> Joined:
        parts = [change(part) for part in self.parts]
        return Joined(parts, self.labels, self.dim if dim is None else dim)

    def tighten(self, margin: float) -> Joined:
        """Return the tightened parts."""
        return self._each(lambda part: part.tighten(margin))

    def pull_back(self, through: AffineMap) -> Joined:
        """Return the parts of the points whose image lies in this region."""
        return self._each(lambda part: part.pull_back(through), through.dim_in)

    def intersect(self, other: Cell) -> Joined:
        """Return the parts of the points that also lie in a cell."""
        return self._each(lambda part: part.intersect(other))

    def rounding(self, tight: Region) -> Rounding | None:
        """Return what rounds in any part."""
        if not isinstance(tight, Joined) or len(tight.parts) != len(self.parts):
            return None
        pairs = zip(self.parts, tight.parts, strict=True)
        parts = [part for part in (one.rounding(two) for one, two in pairs) if part is not None]
        return JoinedRounding(tuple(parts)) if len(parts) == len(self.parts) else None

    def surely_contains(self, points: FloatArray) -> BoolArray:
        """Return which points lie in a part by more than rounding."""
        return any_of(len(points), (part.surely_contains(points) for part in self.parts))

    def used_columns(self) -> BoolArray:
        """Return which columns any part depends on."""
        return any_of(self.dim, (part.used_columns() for part in self.parts))


def pieces_of(region: Cell | Region) -> Sequence[Cell | Region]:
    """Return the pieces that a region is the union of, in the order that certificates count them.

    A cell, or a region of another kind than a union, is its own only piece.
    """
    if isinstance(region, CellUnion):
        return region.cells
    return region.pieces if isinstance(region, Joined) else (region,)


def outline_of(piece: Cell | Region) -> Cell:
    """Return a cell around a piece: the piece itself if it is a cell, else all of space.

    What the rows of the outline ask for is necessary; for a cell it is also enough.
    """
    if isinstance(piece, Cell):
        return piece
    return Cell(np.zeros((0, piece.dim)), np.zeros(0))


def parts_of(region: Cell | Region) -> tuple[Cell | Region, ...]:
    """Return the regions that a region was joined from; itself where it was not."""
    if not isinstance(region, Joined):
        return (region,)
    return tuple(inner for part in region.parts for inner in parts_of(part))


def forms_of(region: Cell | Region) -> list[tuple[Cell | Region, int]]:
    """Return pieces that stand for all of the same form, and how many there are of each."""
    if isinstance(region, Joined):
        return [form for part in region.parts for form in forms_of(part)]
    pieces = pieces_of(region)
    if isinstance(region, CellUnion) and region.is_lazy:
        return [(pieces[0], len(pieces))] if len(pieces) else []
    return [(piece, 1) for piece in pieces]


def owners_of(region: Region, label: int) -> IntArray:
    """Return the label of each piece of a region; ``label`` where the region has none."""
    if isinstance(region, Joined):
        return region.owners
    return np.full(len(pieces_of(region)), label)


def cells_of(region: Region) -> Sequence[Cell] | None:
    """Return the cells that a region is the union of; None where it is not a union of cells."""
    if isinstance(region, CellUnion):
        return region.cells
    if not isinstance(region, Joined) or any(cells_of(part) is None for part in region.parts):
        return None
    return region.pieces  # type: ignore[return-value]


def as_cell(piece: Cell | Region) -> Cell | None:
    """Return a piece that is a cell; None for another kind of piece."""
    return piece if isinstance(piece, Cell) else None


def lone_cell(region: Region) -> Cell | None:
    """Return the cell that a region consists of; None where it is another kind, or several."""
    cells = cells_of(region)
    return None if cells is None or len(cells) != 1 else cells[0]


def anchored_cells(region: Region) -> tuple[Cell, ...]:
    """Return the cells of a region that know typical points; none of other kinds of regions."""
    return tuple(cell for cell in cells_of(region) or () if len(cell.anchors))


def cell_limits(region: Region) -> tuple[Limits, ...]:
    """Return between which values the points of each cell lie; nothing of other regions."""
    return tuple((cell.lower, cell.upper) for cell in cells_of(region) or ())


def each_cell(
    region: Region, change: Callable[[Cell], Cell], what: str, dim: int | None = None
) -> Region:
    """Return the union of a region's changed cells, in ``dim`` dimensions (as before by default).

    For changes that are known of cells only; see `require_cells`.
    """
    cells = require_cells(region, what)
    return CellUnion(cells, region.dim).each(change, dim)


def meet(region: Region, cells: CellUnion) -> Region:
    """Return the points of a region that lie in one of the cells."""
    if isinstance(region, CellUnion):
        return region.intersect(cells)
    parts = [region.intersect(cell) for cell in cells]
    return Joined(parts, [0] * len(parts), region.dim)


def require_cells(region: Region, what: str = "This question") -> Sequence[Cell]:
    """Return the cells of a region; refuse other kinds, of which ``what`` is not supported."""
    cells = cells_of(region)
    if cells is None:
        raise UnsupportedModelError(
            f"{what}: not supported for this kind of model.\n"
            "Why there is no exact answer: it needs a region that is a list of cells, and that of "
            "the model is none (a sum of trees has too many cells to list).\n"
            "What to do: leave it out, or explain a model whose cells are listed, such as "
            "LogisticRegression or DecisionTreeClassifier."
        )
    return cells
