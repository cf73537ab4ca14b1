"""What a proof is, how proofs of the pieces of a union prove the whole, and what one row gets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import BoolArray, CodeArray, FloatArray, IntArray, RowIndex, Rows
from pertinent.geometry.codec import record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.gaps import GAP_CONVEX, GAP_NONCONVEX, is_closed
from pertinent.geometry.pieces import as_cell, pieces_of
from pertinent.geometry.region import Cell
from pertinent.geometry.running import is_late
from pertinent.geometry.task import Task
from pertinent.proofs.cases.near import Near
from pertinent.proofs.rounding import model_rounding, rounding_unit
from pertinent.proofs.tolerances import INSIDE


class Status(IntEnum):
    """What is known of one row's answer; arrays of int8 hold the codes."""

    OPTIMAL = 0  #: valid, and the proved bound equals the objective within the gap
    FEASIBLE = 1  #: valid, but not proved optimal
    INFEASIBLE = 2  #: proved that no such point exists
    FAILED = 3  #: neither a valid point nor a proof; the reason says why
    ALREADY = 4  #: nothing to find: the sample is predicted as asked


#: The codes as plain numbers: an array is compared with an `IntEnum` ten times as slowly, and
#: becomes an array of int64.
OPTIMAL, FEASIBLE, INFEASIBLE, FAILED, ALREADY = (int(status) for status in Status)
_NAMES = np.array([status.name.lower() for status in Status])


def status_names(codes: CodeArray) -> NDArray[np.str_]:
    """Return the words for status codes.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.proofs import status_names
    >>> status_names(np.array([0, 2], dtype=np.int8)).tolist()
    ['optimal', 'infeasible']
    """
    names: NDArray[Any] = _NAMES[codes]
    return names


class Proofs(Rows, ABC):
    """Proofs about one piece of a region, one for each of ``n`` centers.

    The piece is a cell, or a region of a kind that is no union: it is its own only piece.
    """

    @abstractmethod
    def bounds(self, task: Task) -> FloatArray:
        """Return what is proved: no point of the task's piece within the bounds costs less.

        ``inf`` says that the piece holds no point at all within the bounds.
        """

    def bounds_of_model(self, task: Task) -> FloatArray:
        """Return what is proved of the model whose rows the piece has up to rounding.

        A model may decide by squares that cancel in its rows (`Cell.sums`): far out, what they
        round to may outweigh the rows.
        """
        proved, piece = self.bounds(task), as_cell(task.region)
        if piece is None or piece.sums is None or not self.speaks_of_cost:
            return proved
        offs, out = model_rounding(task, proved), np.array(proved)
        for off in np.unique(offs).tolist():
            rows = np.flatnonzero(offs == off)
            wide = replace(piece, h=piece.h + off, sums=None)
            out[rows] = self.take(rows).bounds(replace(task.take(rows), region=wide))
        return out

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return of which rows it is shown that all points that cost no more are near the answer.

        These are the points of the task's piece, within the bounds, of a cost up to ``near.cost``.
        """
        return np.zeros(len(near), dtype=bool)

    @property
    def speaks_of_cost(self) -> bool:
        """Whether bounds are costs, rather than numbers of features."""
        return True

    @property
    def speaks_of_all(self) -> bool:
        """Whether bounds are costs of all points, rather than of blends or of few features."""
        return True

    def trusted(self) -> BoolArray:
        """Return whether `bounds` recomputes each bound, rather than repeating a solver's word."""
        return np.ones(len(self), dtype=bool)


def _next_whole(found: FloatArray, task: Task) -> FloatArray:
    """Return bounds, the next whole number where they are clearly below it and costs are whole."""
    domain = task.domain
    if domain is None:
        return found
    known = np.where(np.isfinite(found), found, 0.0)
    least = np.ceil(known - GAP_CONVEX * np.maximum(known, 1.0))
    open_ = np.flatnonzero(known < least * (1.0 - GAP_NONCONVEX))
    if not len(open_):
        return found
    whole = open_[_costs_are_whole(domain.take(open_), task.weights, task.centers[open_])]
    out = found.copy()
    out[whole] = least[whole]
    return out


def _costs_are_whole(domain: Domain, weights: FloatArray, centers: FloatArray) -> BoolArray:
    """Return for which centers ``sum_j w_j |x_j - c_j|`` is a whole number at every allowed point.

    With whole weights, where each column that counts is on steps of whole numbers, or 0 or 1, and
    so are the center and the own value, which is always allowed.
    """
    priced = weights > 0
    with np.errstate(invalid="ignore"):
        on_steps = (domain.decimals <= 0) | domain.in_group
    if not (on_steps & (weights % 1 == 0))[priced].all():
        return np.zeros(len(centers), dtype=bool)
    whole = (centers[:, priced] % 1 == 0).all(axis=1)
    if domain.own is not None:
        whole &= (domain.own[:, priced] % 1 == 0).all(axis=1)
    return np.asarray(whole)


class RegionProofs(Rows, ABC):
    """Proofs about all pieces of a region at once; its block has the piece `WHOLE`."""

    @abstractmethod
    def piece_bounds(self, task: Task) -> FloatArray:
        """Return what is proved of each center and piece, shape (n, n_pieces)."""

    def trusted(self) -> BoolArray:
        """Return whether each bound is recomputed, rather than repeating a solver's word."""
        return np.ones(len(self), dtype=bool)


#: The methods of proofs that never repeat a solver's word.
_ALWAYS = Proofs.trusted, RegionProofs.trusted
#: The piece of a block whose proofs speak of every piece.
WHOLE = -1


class RaisingProofs(Proofs):
    """Proofs that raise what the bounds alone show: no point costs less than the start.

    The start is the point of the bounds nearest to the center.
    """

    def bounds(self, task: Task) -> FloatArray:
        """Return the cost up to which there is no point; ``inf`` where the bounds contradict."""
        start = task.start()
        known = (task.weights * np.abs(start - task.centers)).sum(axis=1)
        known *= 1.0 - rounding_unit(start.shape[1], 0)
        proved = np.asarray(self._raised(task, start, known))
        proved[(task.lower > task.upper).any(axis=1)] = np.inf
        return proved

    @abstractmethod
    def _raised(self, task: Task, start: FloatArray, known: FloatArray) -> FloatArray:
        """Return what is proved of each row, where ``known`` is the cost of the start."""


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

    def __getstate__(self) -> dict[str, Any]:
        return {"n": self.n, "blocks": self.blocks}

    def proved(self, task: Task) -> FloatArray:
        """Return the same as `bounds`; what was asked last is remembered until `forget`.

        The same proofs of the same task, number by number, show the same.
        """
        known = self.__dict__.get("_known")
        if known is not None and known[0].is_same(task):
            return np.array(known[1])
        found = self.bounds(task)
        self.__dict__["_known"] = task, found
        return found.copy()

    def forget(self) -> None:
        """Forget what was asked last."""
        self.__dict__.pop("_known", None)

    def bounds(self, task: Task) -> FloatArray:
        """Return the proved lower bound of each row of a task, recomputed from its region.

        Where every cost is a whole number, one that is proved to be more than 28.8 is at least 29.
        """
        return _next_whole(self._bounds(task), task)

    def _bounds(self, task: Task) -> FloatArray:
        pieces = pieces_of(task.region)
        if len(pieces) == 1 and all([block.piece == 0 for block in self.blocks]):
            alone = np.zeros(self.n)
            self._raise(alone, self.blocks, task.on(pieces[0]))
            return alone
        by_piece = self._by_piece()
        over_union = np.full(self.n, np.inf)
        whole = self._whole(by_piece.get(WHOLE, ()), task, len(pieces))
        for piece in range(len(pieces)):
            if piece and is_late():
                return np.zeros(self.n)
            known = np.zeros(self.n) if whole is None else whole[:, piece]
            if piece in by_piece:
                self._raise(known, by_piece[piece], task.on(pieces[piece]))
            np.minimum(over_union, known, out=over_union)
        return over_union

    def _raise(self, known: FloatArray, blocks: Sequence[Block], task: Task) -> None:
        """Raise what is known of the one piece that the task asks for to what its proofs show."""
        for block in blocks:
            if not speak_of(block.proofs, len(block.rows)):
                continue
            if _is_everything(block.rows, self.n):
                np.fmax(known, block.proofs.bounds_of_model(task), out=known)  # NaN proves nothing
            else:
                proved = block.proofs.bounds_of_model(task.take(block.rows))
                known[block.rows] = np.fmax(known[block.rows], proved)

    @property
    def is_recomputed(self) -> bool:
        """Whether every bound is recomputed: none of the proofs can repeat a solver's word."""
        return all([type(block.proofs).trusted in _ALWAYS for block in self.blocks])

    def trusted(self) -> BoolArray:
        """Return False for the rows whose bound may rest on a solver's word (``exact=True``)."""
        trusted = np.ones(self.n, dtype=bool)
        for block in self.blocks:
            fits = speak_of(block.proofs, len(block.rows))
            trusted[block.rows] &= block.proofs.trusted() if fits else False
        return trusted

    def _whole(self, blocks: Sequence[Block], task: Task, pieces: int) -> FloatArray | None:
        """Return what proofs about the whole region show of each piece, None without any."""
        if not blocks:
            return None
        known = np.zeros((self.n, pieces))
        for block in blocks:
            if speak_of(block.proofs, len(block.rows)):
                proved = block.proofs.piece_bounds(task.take(block.rows))
                if proved.shape[1] == pieces:  # else one piece's would speak for others
                    known[block.rows] = np.fmax(known[block.rows], proved)
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


def speak_of(proofs: Any, n: int) -> bool:
    """Return whether proofs are of n rows: else NumPy would let one row's speak for others.

    Kinds with a length of their own hold something else beside one entry for each row.
    """
    if isinstance(proofs, Certificate):
        return proofs.n == n
    if type(proofs).__len__ is not Rows.__len__:
        return len(proofs) == n
    return proofs.misfit(n) is None


def _is_everything(rows: IntArray, n: int) -> bool:
    return len(rows) == n and (n == 1 or bool((rows == np.arange(n)).all()))


def concatenate(certificates: Sequence[Certificate]) -> Certificate:
    """Return the certificate of all rows, one batch after the other."""
    blocks: list[Block] = []
    start = 0
    for certificate in certificates:
        blocks += [replace(b, rows=b.rows + start) for b in certificate.blocks]
        start += certificate.n
    return Certificate(start, tuple(blocks))


def joined(certificates: Sequence[Certificate]) -> Certificate:
    """Return the same as `concatenate`, in few blocks: the same proofs, asked together.

    Proofs about one piece are put together where they are of one kind and share all that they do
    not hold row by row, such as a tree of cases. Others stay in blocks of their own.
    """
    alike: dict[Any, list[Block]] = {}
    start = 0
    for certificate in certificates:
        for k, block in enumerate(certificate.blocks):
            moved = replace(block, rows=block.rows + start)
            alike.setdefault((k, block.piece, _common(moved)), []).append(moved)
        start += certificate.n
    return Certificate(start, tuple([_one_block(blocks) for blocks in alike.values()]))


def _common(block: Block) -> Any:
    """Return what tells whether blocks can be one; itself where it must stay alone."""
    proofs = block.proofs
    if not isinstance(proofs, Rows) or not speak_of(proofs, len(block.rows)):
        return block  # one row's proofs would come to speak for others
    common = proofs.joins() if type(proofs).take is Rows.take else None
    return block if common is None else common


def _one_block(blocks: Sequence[Block]) -> Block:
    if len(blocks) == 1:
        return blocks[0]
    rows = np.concatenate([block.rows for block in blocks])
    proofs = type(blocks[0].proofs).stack([block.proofs for block in blocks])
    return replace(blocks[0], rows=rows, proofs=proofs)


@record_as("several")
@dataclass(frozen=True, eq=False)
class SeveralProofs(Proofs):
    """Proofs of some rows each; where two speak of the same row, the stronger one counts.

    Parameters
    ----------
    n : int
    parts : tuple of (ndarray of int, Proofs)
        Which rows, and their proofs in the same order.
    """

    n: int
    parts: tuple[tuple[IntArray, Proofs], ...]

    def __len__(self) -> int:
        return self.n

    def take(self, rows: RowIndex) -> Self:
        """Return the proofs of the given rows."""
        parts, wanted = [], np.arange(self.n)[rows]
        for own, proofs in self.parts:
            place = {int(row): k for k, row in enumerate(own)}
            here = [(new, place[int(row)]) for new, row in enumerate(wanted) if int(row) in place]
            if here:
                new, old = (np.array(column) for column in zip(*here, strict=True))
                parts.append((new, proofs.take(old)))
        return replace(self, n=len(wanted), parts=tuple(parts))

    def bounds(self, task: Task) -> FloatArray:
        """Return the largest bound that any part proves for each row."""
        best = np.zeros(self.n)
        for rows, proofs in self.parts:
            if speak_of(proofs, len(rows)):
                found = proofs.bounds(task.take(rows))
                best[rows] = np.fmax(best[rows], found)
        return best

    def only_near(self, task: Task, near: Near) -> BoolArray:
        """Return of which rows any part shows it."""
        shown = np.zeros(self.n, dtype=bool)
        for rows, proofs in self.parts:
            if speak_of(proofs, len(rows)):
                shown[rows] |= proofs.only_near(task.take(rows), near.take(rows))
        return shown

    def trusted(self) -> BoolArray:
        """Return False where any part rests on a solver's word, or is of another number of rows."""
        trusted = np.ones(self.n, dtype=bool)
        for rows, proofs in self.parts:
            trusted[rows] &= proofs.trusted() if speak_of(proofs, len(rows)) else False
        return trusted


@record_as("solver-bounds")
@dataclass(frozen=True, eq=False)
class SolverBounds(Proofs):
    """Lower bounds that a global solver claims; nothing here can be replayed.

    Parameters
    ----------
    claimed : ndarray of shape (n,)
    solver : str
    """

    claimed: FloatArray
    solver: str

    def bounds(self, task: Task) -> FloatArray:
        """Return what the solver claims; its word that there is no point counts for nothing."""
        return np.where(np.isfinite(self.claimed), self.claimed, 0.0)

    def trusted(self) -> BoolArray:
        """Return False for every claim that says more than that a distance is not negative."""
        return np.asarray(self.claimed <= 0)


@dataclass(frozen=True)
class Verdict:
    """What a certificate shows about one answer.

    Attributes
    ----------
    objective : float
        Weighted distance of the point, recomputed; ``inf`` if there is no point.
    bound : float
        What no point of the cell can undercut; ``inf`` if the cell is proved empty.
    violation : float
        Largest violation of any inequality or bound by the point.
    feasible, optimal, infeasible : bool
    trusted : bool
        False where the bound repeats a solver's word (``exact=True``): it was not recomputed.
    """

    objective: float
    bound: float
    violation: float
    feasible: bool
    optimal: bool
    infeasible: bool
    trusted: bool = True

    @property
    def gap(self) -> float:
        """Objective minus bound."""
        return self.objective - self.bound


def check(
    cell: Cell,
    center: FloatArray,
    weights: FloatArray,
    point: FloatArray | None,
    proof: Proofs,
    *,
    lower: FloatArray | None = None,
    upper: FloatArray | None = None,
    tol: float = INSIDE,
    domain: Domain | None = None,
) -> Verdict:
    """Return what the proof and the point show, recomputed from the cell in plain NumPy.

    Parameters
    ----------
    cell : Cell
    center : ndarray of shape (n_features,)
    weights : ndarray of shape (n_features,)
    point : ndarray of shape (n_features,) or None
        The answer; None where the claim is that none exists.
    proof : Proofs of length 1
    lower, upper : ndarray of shape (n_features,), optional
        The sample's own bounds, beyond those of the cell.
    tol : float
        Violation accepted, in the units of each inequality.
    domain : Domain, optional
        Whole numbers, categories and the like, where the proof speaks of them.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.proofs import LinearProofs, check
    >>> from pertinent.geometry.region import Cell
    >>> cell = Cell(np.array([[-1.0, -2.0]]), np.array([-2.0]))  # x1 + 2 x2 >= 2
    >>> proof = LinearProofs(np.array([[0.5]]), np.array([False]))
    >>> check(cell, np.zeros(2), np.ones(2), np.array([0.0, 1.0]), proof).optimal
    True
    """
    low = np.maximum(cell.lower, -np.inf if lower is None else lower)[None]
    high = np.minimum(cell.upper, np.inf if upper is None else upper)[None]
    centers = np.asarray(center, dtype=float)[None]
    bound = max(0.0, float(proof.bounds(Task(cell, centers, weights, low, high, domain=domain))[0]))
    trusted = bool(proof.trusted()[0])
    if point is None:
        return Verdict(np.inf, bound, np.inf, False, False, bound == np.inf, trusted)
    points = np.asarray(point, dtype=float)[None]
    objective = float((weights * np.abs(points - centers)).sum())
    outside = float(np.maximum(low - points, points - high).max(initial=0.0))
    violation = max(float(cell.violation(points)[0]), outside)
    feasible = violation <= tol
    gap = GAP_CONVEX if cell.is_convex else GAP_NONCONVEX
    close = is_closed(np.array([objective]), np.array([bound]), points, centers, weights, gap)
    optimal = feasible and bool(close[0])
    return Verdict(objective, bound, violation, feasible, optimal, False, trusted)
