"""The smallest supports over a union of cells, where a support fixes its point.

For sizes 0, 1, 2, ... every cell is searched; the first size with a support is the minimum, and
it is proved by the sizes below it having been searched in vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.pieces import require_cells
from pertinent.geometry.region import Cell, Region
from pertinent.questions.supports.cover import EASY, hard_cover
from pertinent.questions.supports.gains import Choices, Folded, cell_gains, is_separable
from pertinent.questions.supports.subsets import (
    STOPPED,
    Accept,
    Gains,
    Limits,
    find_supports,
    smallest_size,
)

#: Numbers held at once while searching: 16 MB.
BATCH_NUMBERS = 2_000_000


@dataclass(frozen=True, eq=False)
class Smallest:
    """The smallest supports of n samples.

    Attributes
    ----------
    mask : ndarray of bool, shape (n, n_features)
        Features that are on.
    found : ndarray of bool, shape (n,)
    bound : ndarray of shape (n,)
        No support has fewer features; ``inf`` where there is none at all.
    extra : dict of (int, int) to ndarray
        For samples and cells that needed them: multipliers of further rows of the proof.
    """

    mask: BoolArray
    found: BoolArray
    bound: FloatArray
    extra: dict[tuple[int, int], FloatArray] = field(default_factory=dict)


class CellSearch:
    """One cell, searched for supports of any size.

    Parameters
    ----------
    cell : Cell
    choices : Choices
        Of n samples; the cell's own bounds are added.
    """

    def __init__(self, cell: Cell, choices: Choices) -> None:
        self.cell = cell
        self.choices = choices.within(cell)
        self.separable = is_separable(cell)
        self.granted = self.choices.forced.sum(axis=1)
        self.most = self.granted + (~(self.choices.forced | self.choices.barred)).sum(axis=1)
        self._gains: dict[int, Gains] = {}
        # For other than separable rows the size that limits partners is left open here.
        gains = self.gains(self.cell.dim)
        smallest, self.row = smallest_size(gains)
        none = (smallest > gains.usable.sum(axis=1)) | self.choices.impossible
        self.least = np.where(none, np.inf, self.granted + smallest)

    @property
    def is_one_row(self) -> bool:
        """Whether a single separable row decides, so that sorting does."""
        return self.separable and len(self.cell.G) + len(self.cell.quadratics) == 1

    def gains(self, size: int) -> Gains:
        """Return the gains for supports of a size."""
        key = 0 if self.separable else size
        if key not in self._gains:
            self._gains[key] = cell_gains(self.cell, self.choices, size)
        return self._gains[key]

    def accept(self, samples: IntArray) -> Accept | None:
        """Return the judge of candidates, where gains alone do not decide."""
        if self.separable:
            return None

        def inside(problem: IntArray, features: IntArray) -> BoolArray:
            here = self.choices.take(samples[problem])
            on = here.forced.copy()
            on[np.arange(len(on))[:, None], features] = True
            return self.cell.contains(np.where(on, here.low, here.rest))

        return inside

    def groups(self, samples: IntArray, size: int) -> Iterator[tuple[IntArray, int]]:
        """Yield samples with the number of features to choose beside the forced ones."""
        more = size - self.granted[samples]
        for count in np.unique(more[more >= 0]):
            yield samples[more == count], int(count)


def smallest_supports(region: Region, choices: Choices, limits: Limits) -> Smallest:
    """Return the smallest supports of all samples, batch by batch."""
    rows = sum(len(cell.G) + len(cell.quadratics) for cell in require_cells(region))
    count = max(1, BATCH_NUMBERS // max(1, rows * region.dim))
    starts = range(0, len(choices), count)
    dim = choices.rest.shape[1]  # fewer than columns where features have several
    parts = [
        _smallest(region, choices.take(np.arange(s, min(s + count, len(choices)))), limits)
        for s in starts
    ]
    if len(parts) == 1:
        return parts[0]
    extra = {
        (row + start, piece): y
        for start, part in zip(starts, parts, strict=True)
        for (row, piece), y in part.extra.items()
    }
    return Smallest(
        np.concatenate([np.zeros((0, dim), dtype=bool)] + [p.mask for p in parts]),
        np.concatenate([np.zeros(0, dtype=bool)] + [p.found for p in parts]),
        np.concatenate([np.zeros(0)] + [p.bound for p in parts]),
        extra,
    )


def _smallest(region: Region, choices: Choices, limits: Limits) -> Smallest:
    searches = [CellSearch(cell, choices) for cell in require_cells(region)]
    if len(searches) == 1 and searches[0].is_one_row:
        return _by_sorting(searches[0])
    return _Levels(searches, len(choices), choices.rest.shape[1], limits).run()


def _by_sorting(search: CellSearch) -> Smallest:
    """One separable row: the largest gains first, until they suffice (sec. III-D)."""
    gains = search.gains(0)
    gain = np.where(gains.usable, gains.gain[:, 0, :], -np.inf)
    order = np.argsort(-gain, axis=1, kind="stable")
    found = np.isfinite(search.least)
    count = np.where(found, search.least, 0).astype(np.int64) - search.granted
    chosen = np.arange(gain.shape[1]) < np.maximum(count, 0)[:, None]
    mask = search.choices.forced.copy()
    np.put_along_axis(mask, order, np.take_along_axis(mask, order, 1) | chosen, axis=1)
    return Smallest(mask & found[:, None], found, search.least)


@dataclass(eq=False)
class _Levels:
    """Iterative deepening over all samples and cells at once; what is hard, one by one."""

    searches: list[CellSearch]
    n: int
    dim: int
    limits: Limits

    def run(self) -> Smallest:
        out = Smallest(
            np.zeros((self.n, self.dim), dtype=bool),
            np.zeros(self.n, dtype=bool),
            np.full(self.n, np.inf),
        )
        stopped = np.full(self.n, np.inf)
        for k in range(self.dim + 1):
            if not self._level(k, out, stopped):
                break
        for i in np.flatnonzero(~out.found & np.isfinite(stopped)):
            self._hard(int(i), int(stopped[i]), out)
        return out

    def _level(self, size: int, out: Smallest, stopped: FloatArray) -> bool:
        """Search supports of one size; return whether larger ones may be needed."""
        going = False
        easy = Limits(min(EASY, self.limits.nodes), self.limits.deadline)
        for search in self.searches:
            open_ = ~out.found & np.isinf(stopped) & np.isfinite(search.least)
            going |= bool((open_ & (search.most >= size)).any())
            active = np.flatnonzero(open_ & (search.least <= size) & (search.most >= size))
            for samples, count in search.groups(active, size):
                accept = search.accept(samples)
                result = find_supports(search.gains(size).take(samples), count, easy, accept)
                has, chosen = result.first(self.dim)
                stopped[samples[result.outcome == STOPPED]] = size
                won = samples[has]
                out.mask[won] = chosen[has] | search.choices.forced[won]
                out.found[won], out.bound[won] = True, np.minimum(size, stopped[won])
        return going

    def _hard(self, row: int, start: int, out: Smallest) -> None:
        """Search one sample with all means; sizes below ``start`` are known to be in vain."""
        bound, limits = np.inf, self.limits.alone()
        for piece, search in enumerate(self.searches):
            if not np.isfinite(search.least[row]):
                continue
            one = np.array([row])
            granted = int(search.granted[row])
            if search.separable:
                cover = hard_cover(search.gains(0).take(one), limits)
                out.extra[row, piece] = cover.multipliers
                mask, least = cover.mask, granted + cover.bound
            else:
                mask, least = self._deepen(search, one, start, limits)
            bound = min(bound, max(least, float(start)))
            if mask is None:
                mask = _turned_off(search, row, self.dim)
            if mask is None:
                continue
            mask = mask | search.choices.forced[row]
            if not out.found[row] or mask.sum() < out.mask[row].sum():
                out.mask[row], out.found[row] = mask, True
        out.bound[row] = bound

    def _deepen(
        self, search: CellSearch, one: IntArray, start: int, limits: Limits
    ) -> tuple[BoolArray | None, float]:
        """Go on size by size with all nodes; return a support and the size not ruled out."""
        for size in range(start, self.dim + 1):
            for _, count in search.groups(one, size):
                gains = search.gains(size).take(one)
                result = find_supports(gains, count, limits, search.accept(one))
                has, chosen = result.first(self.dim)
                if has[0]:
                    return chosen[0], float(size)
                if result.outcome[0] == STOPPED:
                    return None, float(size)
        return None, np.inf


def _turned_off(search: CellSearch, row: int, dim: int) -> BoolArray | None:
    """Return what is left when everything is on and what is not needed is turned off."""
    here = search.choices.take(np.array([row]))
    if isinstance(here, Folded):
        return None
    on: BoolArray = ~here.barred[0]
    point = np.where(on, here.low[0], here.rest[0])
    if not search.cell.contains(point[None])[0]:
        return None
    for j in _least_useful(search.gains(dim).take(np.array([row]))):
        trial = point.copy()
        trial[j] = here.rest[0, j]
        if on[j] and not here.forced[0, j] and search.cell.contains(trial[None])[0]:
            on[j], point = False, trial
    return on


def _least_useful(gains: Gains) -> IntArray:
    unmet = np.where(gains.need[0] > 0, gains.need[0], np.inf)
    return np.argsort((gains.gain[0] / unmet[:, None]).sum(axis=0), kind="stable")


def further_supports(
    region: Region, choices: Choices, first: BoolArray, count: int, limits: Limits
) -> list[BoolArray]:
    """Return the next smallest supports of one sample after its first.

    A support that contains a smaller one says nothing new and is left out: the supports listed
    are minimal ones, in the order of their size.
    """
    searches = [CellSearch(cell, choices) for cell in require_cells(region)]
    known, stopped = [first], False
    for k in range(int(first.sum()), choices.rest.shape[1] + 1):
        same: set[bytes] = {m.tobytes() for m in known}
        earlier = [m for m in known if m.sum() < k]
        for search in searches:
            for samples, more in search.groups(np.zeros(1, dtype=np.int64), k):
                if search.least[0] > k:
                    continue
                gains = exclude(search.gains(k), search.choices, earlier)
                wanted = count + 1 - len(known) + sum(m.sum() == k for m in known)
                result = find_supports(gains, more, limits, search.accept(samples), int(wanted))
                for features in result.features:
                    mask = search.choices.forced[0].copy()
                    mask[features] = True
                    if mask.tobytes() not in same and len(known) <= count:
                        same.add(mask.tobytes())
                        known.append(mask)
                stopped |= int(result.outcome[0]) == STOPPED
        if len(known) > count or stopped:
            break
    return known[1:]


def exclude(gains: Gains, choices: Choices, supports: list[BoolArray]) -> Gains:
    """Return the gains of one sample with each given support, and all around it, ruled out.

    Not all of T may be on:  sum_{i in T} -1  >=  -(|T| - 1).
    """
    if not supports:
        return gains
    masks = np.array(supports) & ~choices.forced[0]
    gain = np.concatenate([gains.gain, -masks[None].astype(float)], axis=1)
    need = np.concatenate([gains.need, 1.0 - masks.sum(axis=1)[None]], axis=1)
    return Gains(gain, need, gains.usable)
