"""The smallest sets of features, size by size: the one driver behind all exact answers.

A support must meet every row of one *piece*: of one cell of a region, or of the one list of rows
that a sufficient set has to meet. For sizes 0, 1, 2, ... every piece is searched, all samples at
once; the first size with a support is the minimum, and it is proved by the sizes below it having
been searched in vain. Samples that take too long are looked at one by one (`cover.hard_cover`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import outline_of, pieces_of
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import is_over
from pertinent.questions.supports.cover import deepen, hard_cover
from pertinent.questions.supports.gains import Choices, cell_gains
from pertinent.questions.supports.subsets import (
    Accept,
    Budget,
    Gains,
    Outcome,
    find_supports,
    smallest_size,
)
from pertinent.questions.tolerances import BATCH_NUMBERS, EASY
from pertinent.solvers.curved.separable.separable import is_separable
from pertinent.solvers.tolerances import NEARLY_DIAGONAL


@dataclass(frozen=True, eq=False)
class Supports:
    """The smallest supports of n samples.

    Attributes
    ----------
    mask : ndarray of bool, shape (n, n_features)
        Features that are on.
    found : ndarray of bool, shape (n,)
    bound : ndarray of shape (n,)
        No support has fewer features; ``inf`` where there is none at all.
    extra : dict of (int, int) to ndarray
        For samples and pieces that needed them: multipliers of further rows of the proof.
    """

    mask: BoolArray
    found: BoolArray
    bound: FloatArray
    extra: dict[tuple[int, int], FloatArray] = field(default_factory=dict)

    @classmethod
    def none(cls, n: int, n_features: int) -> Supports:
        """Return that no sample has a support."""
        return cls(np.zeros((n, n_features), bool), np.zeros(n, bool), np.full(n, np.inf))


class Piece:
    """Rows that a support must meet, for n samples.

    Parameters
    ----------
    gains : Gains
    forced : ndarray of bool, shape (n, n_features), optional
        Features that are on in any case; their gains are granted already.
    impossible : ndarray of bool, shape (n,), optional
        Samples for which nothing will do.

    Attributes
    ----------
    granted, most : ndarray of int, shape (n,)
        Number of forced features, and of all that may be on.
    least : ndarray of shape (n,)
        No support has fewer features; ``inf``: there is none.
    decides : bool
        Whether a set that meets every row is a support; else `accept` has the last word.
    """

    decides = True

    def __init__(
        self,
        gains: Gains,
        forced: BoolArray | None = None,
        impossible: BoolArray | None = None,
    ) -> None:
        usable = gains.usable.sum(axis=1)
        self.forced = np.zeros(gains.usable.shape, dtype=bool) if forced is None else forced
        self.granted = self.forced.sum(axis=1)
        self.most = self.granted + usable
        size, _ = smallest_size(gains)
        none = size > usable if impossible is None else (size > usable) | impossible
        self.least = np.where(none, np.inf, self.granted + size)
        self._gains = {0: gains}

    @property
    def is_one_row(self) -> bool:
        """Whether a single row decides, so that sorting does."""
        return self.decides and self.gains(0).gain.shape[1] == 1

    def gains(self, size: int) -> Gains:
        """Return the gains for supports of a size, forced features included."""
        return self._gains[0]

    def accept(self, samples: IntArray) -> Accept | None:
        """Return the judge of candidates for some samples, where gains alone do not decide."""
        return None

    def groups(self, samples: IntArray, size: int) -> Iterator[tuple[IntArray, int]]:
        """Yield samples with the number of features to choose beside the forced ones."""
        more = size - self.granted[samples]
        for count in np.unique(more[more >= 0]):
            yield samples[more == count], int(count)


class RegionPiece(Piece):
    """One piece of a region: the support of each sample must meet the rows of its outline.

    Parameters
    ----------
    region : Cell or Region
    choices : Choices
        Of n samples; the cell's own bounds are added.
    """

    def __init__(self, region: Cell | Region, choices: Choices) -> None:
        cell = outline_of(region)
        self.region, self.cell, self.choices = region, cell, choices.within(cell)
        self.decides = cell is region and is_separable(cell, NEARLY_DIAGONAL)
        # For other than separable rows the size that limits partners is left open here.
        gains = cell_gains(cell, self.choices, cell.dim)
        super().__init__(gains, self.choices.forced, self.choices.impossible)
        self._gains = {0 if self.decides else cell.dim: gains}

    def gains(self, size: int) -> Gains:
        """Return the gains for supports of a size, forced features included."""
        key = 0 if self.decides else size
        if key not in self._gains:
            self._gains[key] = cell_gains(self.cell, self.choices, size)
        return self._gains[key]

    def accept(self, samples: IntArray) -> Accept | None:
        """Return the judge of candidates for some samples, where gains alone do not decide."""
        if self.decides:
            return None

        def inside(problem: IntArray, features: IntArray) -> BoolArray:
            here = self.choices.take(samples[problem])
            on = here.forced.copy()
            on[np.arange(len(on))[:, None], features] = True
            return self.region.contains(np.where(here.columns(on), here.low, here.rest))

        return inside


def smallest(problem: Gains | Sequence[Piece], budget: Budget, start: int = 0) -> Supports:
    """Return the smallest supports of all samples, over one piece or several.

    Parameters
    ----------
    problem : Gains or sequence of Piece
        Gains alone are one piece that decides. A support must meet the rows of any one piece.
    budget : Budget
    start : int
        Smaller supports are known not to exist.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent.questions.supports.smallest import smallest
    >>> from pertinent.questions.supports.subsets import Gains, Budget
    >>> gains = Gains(np.array([[[3.0, 2.0, 1.0], [0.0, 2.0, 3.0]]]), np.array([[3.0, 3.0]]))
    >>> found = smallest(gains, Budget())
    >>> found.mask.tolist(), found.bound.tolist()
    ([[False, True, True]], [2.0])
    """
    pieces = [Piece(problem)] if isinstance(problem, Gains) else problem
    if len(pieces) == 1 and pieces[0].is_one_row:
        return _by_sorting(pieces[0])
    n, d = pieces[0].forced.shape
    out, stopped = Supports.none(n, d), np.full(n, np.inf)
    for size in range(start, d + 1):
        if not _level(pieces, size, budget, out, stopped):
            break
    for i in np.flatnonzero(~out.found & np.isfinite(stopped)):
        _hard(pieces, int(i), int(stopped[i]), budget.alone(), out)
    return out


def _by_sorting(piece: Piece) -> Supports:
    """One separable row: the largest gains first, until they suffice (sec. III-D)."""
    gains = piece.gains(0)
    gain = np.where(gains.usable, gains.gain[:, 0, :], -np.inf)
    order = np.argsort(-gain, axis=1, kind="stable")
    found = np.isfinite(piece.least)
    count = np.where(found, piece.least, 0).astype(np.int64) - piece.granted
    chosen = np.arange(gain.shape[1]) < np.maximum(count, 0)[:, None]
    mask = piece.forced.copy()
    np.put_along_axis(mask, order, np.take_along_axis(mask, order, 1) | chosen, axis=1)
    return Supports(mask & found[:, None], found, piece.least)


def _level(
    pieces: Sequence[Piece], size: int, budget: Budget, out: Supports, stopped: FloatArray
) -> bool:
    """Search supports of one size; return whether larger ones may be needed."""
    going = False
    easy = Budget(min(EASY, budget.nodes), budget.deadline)
    for piece in pieces:
        open_ = ~out.found & np.isinf(stopped) & np.isfinite(piece.least)
        going |= bool((open_ & (piece.most >= size)).any())
        active = np.flatnonzero(open_ & (piece.least <= size) & (piece.most >= size))
        for samples, count in piece.groups(active, size):
            gains, accept = piece.gains(size).take(samples), piece.accept(samples)
            result = find_supports(gains, count, easy, accept)
            has, chosen = result.first(out.mask.shape[1])
            stopped[samples[result.outcome == Outcome.STOPPED]] = size
            won = samples[has]
            out.mask[won] = chosen[has] | piece.forced[won]
            out.found[won], out.bound[won] = True, np.minimum(size, stopped[won])
    return going


def _hard(pieces: Sequence[Piece], row: int, start: int, budget: Budget, out: Supports) -> None:
    """Search one sample with all means; sizes below ``start`` are known to be in vain."""
    one, bound = np.array([row]), np.inf
    for place, piece in enumerate(pieces):
        if not np.isfinite(piece.least[row]):
            continue
        late = budget.expired()
        if out.found[row] and late:
            bound = min(bound, float(start))
            break
        granted = int(piece.granted[row])
        if late:  # any support will do
            mask, least = None, 0.0
        elif piece.decides:
            cover = hard_cover(piece.gains(0).take(one), budget)
            out.extra[row, place] = cover.multipliers
            mask, least = cover.mask, granted + cover.bound
        else:
            mask, least = _deepened(piece, one, start - granted, budget)
            least += granted
        bound = min(bound, max(least, float(start)))
        mask = _without_useless(piece, one) if mask is None else mask
        if mask is None:
            continue
        mask = mask | piece.forced[row]
        if not out.found[row] or mask.sum() < out.mask[row].sum():
            out.mask[row], out.found[row] = mask, True
    out.bound[row] = bound


def _deepened(
    piece: Piece, one: IntArray, start: int, budget: Budget
) -> tuple[BoolArray | None, float]:
    """Go on size by size with all nodes; return a support and the size not ruled out."""
    granted, most = int(piece.granted[one[0]]), int(piece.most[one[0]])
    sizes = range(max(start, 0), most - granted + 1)
    return deepen(lambda k: piece.gains(k + granted).take(one), sizes, budget, piece.accept(one))


def _without_useless(piece: Piece, one: IntArray) -> BoolArray | None:
    """Return what is left when everything is on and what is not needed is turned off.

    One pass over the gains takes little. Where more decides than they, time ends it.
    """
    gains, accept = piece.gains(piece.forced.shape[1]).take(one), piece.accept(one)
    gain, need = gains.gain[0], gains.slack_need()[0]
    on: BoolArray = gains.usable[0].copy()
    met = gain[:, on].sum(axis=1)

    def suffices(mask: BoolArray, met: FloatArray) -> bool:
        if not (met >= need).all():
            return False
        features = np.flatnonzero(mask)[None]
        return accept is None or bool(accept(np.zeros(1, dtype=np.int64), features)[0])

    if not suffices(on, met):
        return None
    unmet = np.where(gains.need[0] > 0, gains.need[0], np.inf)
    for j in np.argsort((gain / unmet[:, None]).sum(axis=0), kind="stable"):
        if not on[j]:
            continue
        if accept is not None and is_over():
            break
        less = met - gain[:, j]
        on[j] = False
        if suffices(on, less):
            met = less
        else:
            on[j] = True
    return on


def smallest_supports(
    pieces: Sequence[Cell | Region], choices: Choices, budget: Budget
) -> Supports:
    """Return the smallest supports over the pieces of a region, batch by batch."""
    outlines = (outline_of(piece) for piece in pieces)
    rows = sum(len(cell.G) + len(cell.quadratics) for cell in outlines)
    count = max(1, BATCH_NUMBERS // max(1, rows * choices.rest.shape[1]))
    out = Supports.none(len(choices), choices.n_features)
    for start in range(0, len(choices) if len(pieces) else 0, count):
        here = np.arange(start, min(start + count, len(choices)))
        some = choices if len(here) == len(choices) else choices.take(here)
        part = smallest([RegionPiece(piece, some) for piece in pieces], budget)
        out.mask[here], out.found[here], out.bound[here] = part.mask, part.found, part.bound
        out.extra.update({(row + start, place): y for (row, place), y in part.extra.items()})
    return out


def further_supports(
    region: Region, choices: Choices, first: BoolArray, count: int, budget: Budget
) -> list[BoolArray]:
    """Return the next smallest supports of one sample after its first.

    A support that contains a smaller one says nothing new and is left out: the supports listed
    are minimal ones, in the order of their size.
    """
    pieces = [RegionPiece(piece, choices) for piece in pieces_of(region)]
    known, stopped = [first], False
    for k in range(int(first.sum()), choices.n_features + 1):
        same: set[bytes] = {m.tobytes() for m in known}
        earlier = [m for m in known if m.sum() < k]
        for piece in pieces:
            for samples, more in piece.groups(np.zeros(1, dtype=np.int64), k):
                if piece.least[0] > k:
                    continue
                gains = exclude(piece.gains(k), piece.forced[0], earlier)
                wanted = count + 1 - len(known) + sum(m.sum() == k for m in known)
                result = find_supports(gains, more, budget, piece.accept(samples), int(wanted))
                for features in result.features:
                    mask = piece.forced[0].copy()
                    mask[features] = True
                    if mask.tobytes() not in same and len(known) <= count:
                        same.add(mask.tobytes())
                        known.append(mask)
                stopped |= int(result.outcome[0]) == Outcome.STOPPED
        if len(known) > count or stopped:
            break
    return known[1:]


def exclude(gains: Gains, forced: BoolArray, supports: list[BoolArray]) -> Gains:
    """Return the gains of one sample with each given support, and all around it, ruled out.

    Not all of T may be on:  sum_{i in T} -1  >=  -(|T| - 1).
    """
    if not supports:
        return gains
    masks = np.array(supports) & ~forced
    gain = np.concatenate([gains.gain, -masks[None].astype(float)], axis=1)
    need = np.concatenate([gains.need, 1.0 - masks.sum(axis=1)[None]], axis=1)
    return Gains(gain, need, gains.usable)
