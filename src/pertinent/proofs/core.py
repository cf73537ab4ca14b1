"""What a proof is, and how proofs of the pieces of a union prove the whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import pieces_of, require_cells
from pertinent.geometry.region import Cell, Region


class Proofs(ABC):
    """Proofs about one cell, one for each of ``n`` centers."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return what is proved: no point of the cell within the bounds costs less.

        ``inf`` says that the cell holds no point at all within the bounds. ``lower`` and
        ``upper`` have shape (n, n_features) and include the cell's own bounds.
        """

    @abstractmethod
    def take(self, rows: IntArray) -> Proofs:
        """Return the proofs of the given rows."""

    def trusted(self) -> BoolArray:
        """Return whether `bounds` recomputes each bound, rather than repeating a solver's word."""
        return np.ones(len(self), dtype=bool)


class RegionProofs(ABC):
    """Proofs about all pieces of a region at once; its block has the piece `WHOLE`."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def piece_bounds(
        self,
        region: Region,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return what is proved of each center and piece, shape (n, n_pieces)."""

    @abstractmethod
    def take(self, rows: IntArray) -> RegionProofs:
        """Return the proofs of the given rows."""

    def trusted(self) -> BoolArray:
        """Return whether each bound is recomputed, rather than repeating a solver's word."""
        return np.ones(len(self), dtype=bool)


#: The piece of a block whose proofs speak of every piece.
WHOLE = -1


@dataclass(frozen=True, eq=False)
class NoProofs(Proofs):
    """Nothing is known beyond that a distance is not negative."""

    n: int

    def __len__(self) -> int:
        return self.n

    def bounds(
        self,
        cell: Cell,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(centers))

    def take(self, rows: IntArray) -> NoProofs:
        """Return as many nothings."""
        return NoProofs(len(rows))


@dataclass(frozen=True, eq=False)
class Block:
    """Proofs about one piece of a union (or about all: `WHOLE`), for some of the rows."""

    piece: int
    rows: IntArray
    proofs: Any


@dataclass(frozen=True, eq=False)
class Certificate:
    """The proofs behind ``n`` projections onto a region.

    The bound over a union is the smallest over its pieces, and a piece about which nothing
    was proved counts with 0; so skipping a piece without a proof can only lower the bound.
    """

    n: int
    blocks: tuple[Block, ...] = ()

    def bounds(
        self,
        region: Region,
        centers: FloatArray,
        weights: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
    ) -> FloatArray:
        """Return the proved lower bound of each row, recomputed from the region.

        ``lower`` and ``upper`` broadcast to the shape of ``centers``.
        """
        low = np.broadcast_to(lower, centers.shape)
        high = np.broadcast_to(upper, centers.shape)
        over_union = np.full(self.n, np.inf)
        by_piece = self._by_piece()
        whole = self._whole(by_piece.get(WHOLE, ()), region, centers, weights, low, high)
        cells = require_cells(region, "A certificate of pieces")
        for piece in range(len(cells)):
            known = np.zeros(self.n) if whole is None else whole[:, piece]
            if piece not in by_piece:
                np.minimum(over_union, known, out=over_union)
                continue
            cell = cells[piece]
            for block in by_piece[piece]:
                rows = block.rows
                inside = slice(None) if _is_everything(rows, self.n) else rows
                lo, hi = low[inside], high[inside]
                if cell.has_bounds:
                    lo, hi = np.maximum(lo, cell.lower), np.minimum(hi, cell.upper)
                proved = block.proofs.bounds(cell, centers[inside], weights, lo, hi)
                known[inside] = np.maximum(known[inside], proved)
            np.minimum(over_union, known, out=over_union)
        return over_union

    def trusted(self) -> BoolArray:
        """Return False for the rows whose bound may rest on a solver's word (``exact=True``)."""
        if len(self.blocks) == 1 and len(self.blocks[0].rows) == self.n:
            return np.asarray(self.blocks[0].proofs.trusted())
        trusted = np.ones(self.n, dtype=bool)
        for block in self.blocks:
            trusted[block.rows] &= block.proofs.trusted()
        return trusted

    def _whole(
        self,
        blocks: Sequence[Block],
        region: Region,
        centers: FloatArray,
        weights: FloatArray,
        low: FloatArray,
        high: FloatArray,
    ) -> FloatArray | None:
        """Return what proofs about the whole region show of each piece, None without any."""
        if not blocks:
            return None
        known = np.zeros((self.n, len(pieces_of(region))))
        for block in blocks:
            rows = block.rows
            proved = block.proofs.piece_bounds(
                region, centers[rows], weights, low[rows], high[rows]
            )
            known[rows] = np.maximum(known[rows], proved)
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
