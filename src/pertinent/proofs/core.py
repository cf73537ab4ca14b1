"""What a proof is, and how proofs of the pieces of a union prove the whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray, RowIndex, Rows
from pertinent.geometry.codec import record_as
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.task import Task


class Proofs(Rows, ABC):
    """Proofs about one cell, one for each of ``n`` centers."""

    @abstractmethod
    def bounds(self, task: Task) -> FloatArray:
        """Return what is proved: no point of the task's cell within the bounds costs less.

        ``inf`` says that the cell holds no point at all within the bounds.
        """

    def trusted(self) -> BoolArray:
        """Return whether `bounds` recomputes each bound, rather than repeating a solver's word."""
        return np.ones(len(self), dtype=bool)


class RegionProofs(Rows, ABC):
    """Proofs about all pieces of a region at once; its block has the piece `WHOLE`."""

    @abstractmethod
    def piece_bounds(self, task: Task) -> FloatArray:
        """Return what is proved of each center and piece, shape (n, n_pieces)."""

    def trusted(self) -> BoolArray:
        """Return whether each bound is recomputed, rather than repeating a solver's word."""
        return np.ones(len(self), dtype=bool)


#: The piece of a block whose proofs speak of every piece.
WHOLE = -1


@record_as("nothing")
@dataclass(frozen=True, eq=False)
class NoProofs(Proofs):
    """Nothing is known beyond that a distance is not negative."""

    n: int

    def __len__(self) -> int:
        return self.n

    def bounds(self, task: Task) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(task))

    def take(self, rows: RowIndex) -> Self:
        """Return as many nothings."""
        return replace(self, n=len(np.arange(self.n)[rows]))


@record_as("block")
@dataclass(frozen=True, eq=False)
class Block:
    """Proofs about one piece of a union (or about all: `WHOLE`), for some of the rows."""

    piece: int
    rows: IntArray
    proofs: Any


@record_as("certificate")
@dataclass(frozen=True, eq=False)
class Certificate:
    """The proofs behind ``n`` projections onto a region.

    The bound over a union is the smallest over its pieces, and a piece about which nothing
    was proved counts with 0; so skipping a piece without a proof can only lower the bound.
    """

    n: int
    blocks: tuple[Block, ...] = ()

    def bounds(self, task: Task) -> FloatArray:
        """Return the proved lower bound of each row of a task, recomputed from its region."""
        region = cast(Region, task.region)
        over_union = np.full(self.n, np.inf)
        by_piece = self._by_piece()
        cells = require_cells(region, "A certificate of pieces")
        whole = self._whole(by_piece.get(WHOLE, ()), task, len(cells))
        for piece in range(len(cells)):
            known = np.zeros(self.n) if whole is None else whole[:, piece]
            if piece in by_piece:
                self._raise(known, by_piece[piece], task, cells[piece])
            np.minimum(over_union, known, out=over_union)
        return over_union

    def _raise(self, known: FloatArray, blocks: Sequence[Block], task: Task, cell: Cell) -> None:
        """Raise what is known of one piece to what its proofs show."""
        for block in blocks:
            if _is_everything(block.rows, self.n):
                np.maximum(known, block.proofs.bounds(task.on(cell)), out=known)
            else:
                proved = block.proofs.bounds(task.on(cell, block.rows))
                known[block.rows] = np.maximum(known[block.rows], proved)

    def trusted(self) -> BoolArray:
        """Return False for the rows whose bound may rest on a solver's word (``exact=True``)."""
        if len(self.blocks) == 1 and len(self.blocks[0].rows) == self.n:
            return np.asarray(self.blocks[0].proofs.trusted())
        trusted = np.ones(self.n, dtype=bool)
        for block in self.blocks:
            trusted[block.rows] &= block.proofs.trusted()
        return trusted

    def _whole(self, blocks: Sequence[Block], task: Task, pieces: int) -> FloatArray | None:
        """Return what proofs about the whole region show of each piece, None without any."""
        if not blocks:
            return None
        known = np.zeros((self.n, pieces))
        for block in blocks:
            proved = block.proofs.piece_bounds(task.take(block.rows))
            known[block.rows] = np.maximum(known[block.rows], proved)
        return known

    def _by_piece(self) -> dict[int, list[Block]]:
        grouped: dict[int, list[Block]] = {}
        for block in self.blocks:
            grouped.setdefault(block.piece, []).append(block)
        return grouped

    def take(self, rows: IntArray) -> Certificate:
        """Return the certificate of the given rows, in their order; rows may repeat."""
        blocks = []
        for block in self.blocks:
            place = np.full(self.n, -1)
            place[block.rows] = np.arange(len(block.rows))
            here = np.flatnonzero(place[rows] >= 0)
            if len(here):
                proofs = block.proofs.take(place[rows[here]])
                blocks.append(replace(block, rows=here, proofs=proofs))
        return Certificate(len(rows), tuple(blocks))


def _is_everything(rows: IntArray, n: int) -> bool:
    return len(rows) == n and bool((rows == np.arange(n)).all())


def concatenate(certificates: Sequence[Certificate]) -> Certificate:
    """Return the certificate of all rows, one batch after the other."""
    blocks: list[Block] = []
    start = 0
    for certificate in certificates:
        blocks += [replace(b, rows=b.rows + start) for b in certificate.blocks]
        start += certificate.n
    return Certificate(start, tuple(blocks))


def scatter(n: int, parts: Iterable[tuple[IntArray, Certificate]]) -> Certificate:
    """Return the certificate of ``n`` rows made of parts that say which rows are theirs."""
    blocks = [
        replace(block, rows=rows[block.rows]) for rows, part in parts for block in part.blocks
    ]
    return Certificate(n, tuple(blocks))
