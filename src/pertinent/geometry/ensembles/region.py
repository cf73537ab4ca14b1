"""Where a sum of trees predicts a class: never a list of boxes, of which there are too many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.affine import AffineMap
from pertinent.geometry.arrays import BoolArray, FloatArray, IntArray
from pertinent.geometry.cell import Cell
from pertinent.geometry.ensembles.choices import with_choices
from pertinent.geometry.ensembles.folding import bent, folded, single_inputs
from pertinent.geometry.ensembles.form import LEAST, MOST, Ensemble
from pertinent.geometry.ensembles.marks import with_marks
from pertinent.geometry.pieces import Joined
from pertinent.geometry.region import Region, Tightened
from pertinent.geometry.rounding import Rounding

#: Maps that an ensemble is remembered behind, the newest ones.
PULLED_BACK = 2


@dataclass(frozen=True, eq=False)
class EnsembleRegion(Region):
    """The points at which class ``label`` of an ensemble is ahead of every one of ``rivals``.

    Parameters
    ----------
    ensemble : Ensemble
    label : int
        Place of the class.
    rivals : tuple of int
        All other classes: where the label is predicted. One of them: where it beats this one.
    keep : ndarray of shape (n_nodes,), optional
        How far points stay away from the cut of each node: the margin. Not above 0: not at all.
    common : Cell, optional
        What every point must satisfy besides, e.g. relations between features.

    Notes
    -----
    A margin that a user asks for is a distance from every cut, as for a single decision tree. One
    that only rounding needs is a share of each cut, see `with_margin`: points that are handed out
    in single precision, or go through a scaler, are themselves rounded by such a share.

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(10, random_state=0).fit(X, y)
    >>> region = pertinent.decision_region(model, 1)
    >>> region
    <EnsembleRegion of class 1 among 3, 10 trees over 4 columns>
    >>> bool((region.contains(X) == (model.predict(X) == 1)).all())
    True
    """

    ensemble: Ensemble
    label: int
    rivals: tuple[int, ...]
    keep: FloatArray | None = None
    common: Cell | None = None

    @classmethod
    def of(cls, ensemble: Ensemble, label: int, margin: float = 0.0) -> EnsembleRegion:
        """Return where a class is predicted, with a margin."""
        rivals = tuple(k for k in range(ensemble.tally.n_classes) if k != label)
        region = cls(ensemble, label, rivals)
        return region.tighten(margin) if margin else region

    def __repr__(self) -> str:
        e = self.ensemble
        among = f"class {self.label} among {e.tally.n_classes}"
        if len(set(self.rivals) - {LEAST, MOST}) + 1 < e.tally.n_classes:
            among = f"class {self.label} before {', '.join(map(str, self.rivals))}"
        return f"<EnsembleRegion of {among}, {len(e.trees)} trees over {e.dim} columns>"

    @property
    def dim(self) -> int:
        """Number of features."""
        return self.ensemble.dim

    @property
    def _kept(self) -> FloatArray:
        return np.zeros(len(self.ensemble.trees.cut)) if self.keep is None else self.keep

    @cached_property
    def ends(self) -> tuple[tuple[FloatArray, FloatArray], ...]:
        """For each column the smallest and the largest number of each cell, margin included.

        In a cell that the margin leaves nothing of, the smallest is above the largest.
        """
        cuts = np.concatenate(self.ensemble.cuts)
        margin, begin = np.zeros(len(cuts)), np.cumsum(self.ensemble.n_cells - 1)
        if self.keep is not None:
            nodes, rank = self.ensemble.trees, self.ensemble.rank
            own = np.flatnonzero((nodes.column >= 0) & np.isfinite(nodes.cut))
            first = np.concatenate([[0], begin[:-1]])[nodes.column[own]]
            np.maximum.at(margin, first + rank[own], self.keep[own])
        lows, highs = np.nextafter(cuts, np.inf) + margin, cuts - margin
        return tuple(
            (np.concatenate([[-np.inf], low]), np.concatenate([high, [np.inf]]))
            for low, high in zip(
                np.split(lows, begin[:-1]), np.split(highs, begin[:-1]), strict=True
            )
        )

    def contains(self, points: FloatArray, tol: float = 0.0) -> BoolArray:
        """Return where the label wins against every rival, the margin kept.

        A tolerance concerns the margin and the common inequalities: a sum of trees has steps.
        """
        points = np.atleast_2d(np.asarray(points, dtype=float))
        cells = self.ensemble.cells_of(points)
        totals = self.ensemble.totals_of(cells)
        inside = np.ones(len(points), dtype=bool)
        for rival in self.rivals:
            inside &= self.ensemble.tally.beats(totals, self.label, rival)
        if self.keep is not None:
            for j, (low, high) in enumerate(self.ends):
                x, cell = points[:, j], cells[:, j]
                kept = (x >= low[cell] - tol) & (x <= high[cell] + tol)
                inside &= kept | np.isnan(x)
        return inside if self.common is None else inside & self.common.contains(points, tol)

    def tighten(self, margin: float) -> EnsembleRegion:
        """Return the points that stay ``margin`` away from every cut."""
        common = None if self.common is None else self.common.tighten(margin)
        return replace(self, keep=self._kept + margin, common=common)

    def with_margin(self, margin: float, tightened: Tightened) -> Region:
        """Return the points that stay a share ``margin`` of each cut away from it.

        ``x`` and what a step makes of it are rounded by a share of them, so that no other margin
        is needed: the sums are those of the library, to the bit.
        """
        share = np.nan_to_num(np.abs(self.ensemble.trees.cut), posinf=0.0)
        return replace(self, keep=self._kept + margin * share)

    def pull_back(self, through: AffineMap) -> EnsembleRegion:
        """Return the points whose image lies in the region.

        Every column must follow from at most one of the raw ones: its cuts are then cuts of the
        raw column. A sum of columns has no cuts of its own.
        """
        return self.pull_back_choices(through, ())

    def pull_back_choices(self, through: AffineMap, groups: Sequence[IntArray]) -> EnsembleRegion:
        """Return the same where exactly one raw column of each group is 1.

        A column may then follow from several columns of a group: an encoder's number.
        """
        common = None if self.common is None else self.common.pull_back(through)
        known = self.ensemble.pulled_back
        arrays = (through.matrix, through.shift, self._kept, *groups)
        key = (through.matrix.shape, *(array.tobytes() for array in arrays))
        if key not in known:
            while len(known) >= PULLED_BACK:
                known.pop(next(iter(known)))
            known[key] = self._pulled_back(through, groups)
        ensemble, keep = known[key]
        kept = None if self.keep is None else keep
        return replace(self, ensemble=ensemble, keep=kept, common=common)

    def _pulled_back(
        self, through: AffineMap, groups: Sequence[IntArray]
    ) -> tuple[Ensemble, FloatArray]:
        """Return the ensemble over the inputs of a map, and the margins of its cuts."""
        dim = through.dim_in
        trees, keep, through = with_choices(self.ensemble.trees, self._kept, through, groups)
        inputs = single_inputs(through)
        if inputs is None:
            raise UnsupportedModelError(
                "Trees can be explained behind steps that change each column on its own (scale, "
                "select, encode). Here a step before them adds up several columns, as PCA does: "
                "leave it out, or put the trees in front of it."
            )
        trees, keep = folded(trees, keep, inputs)
        return Ensemble(trees, dim, self.ensemble.tally), keep

    def behind(
        self, bends: Sequence[tuple[int, Callable[[FloatArray], FloatArray], float]], dim: int
    ) -> EnsembleRegion:
        """Return the same over the first ``dim`` columns, of which the others are functions.

        Each of ``bends`` holds a column, where a rising function of it is at most given numbers
        for the last time, and the sign by which this function is multiplied to give one of the
        columns after the first ``dim``.
        """
        trees, keep = bent(self.ensemble.trees, self._kept, bends, dim)
        common = self.common
        if common is not None:
            raise UnsupportedModelError("Functions of columns come before common inequalities.")
        ensemble = Ensemble(trees, dim, self.ensemble.tally)
        return replace(self, ensemble=ensemble, keep=None if self.keep is None else keep)

    def with_marks(self, columns: IntArray, marks: IntArray, dim: int) -> EnsembleRegion:
        """Return the same over ``dim`` columns, some of which say where another one is missing.

        ``columns`` holds the new place of each column and ``marks`` that of its mark, which is 1
        where it is missing; -1: it never is.
        """
        trees, keep = with_marks(self.ensemble.trees, self._kept, columns, marks)
        ensemble = Ensemble(trees, dim, self.ensemble.tally)
        return replace(self, ensemble=ensemble, keep=None if self.keep is None else keep)

    def intersect(self, other: Cell) -> EnsembleRegion:
        """Return the points that also satisfy further inequalities, which are kept beside."""
        common = other if self.common is None else self.common.intersect(other)
        return replace(self, common=common)

    def at_least(self, output: float) -> EnsembleRegion:
        """Return the points at which the label's own output is at least so large, too.

        A probability of a forest is the output itself, one of a boosted binary model asks for the
        logarithm of the odds.
        """
        tally = replace(self.ensemble.tally, least=output)
        ensemble = replace(self.ensemble, tally=tally)
        return replace(self, ensemble=ensemble, rivals=(*self.rivals, LEAST))

    def complement(self) -> Region | None:
        """Return where a rival is ahead; None with ``common`` inequalities or ends of the output.

        Of several rivals each has a part: where it beats the label, whoever wins there.
        """
        if self.common is not None or {LEAST, MOST} & set(self.rivals):
            return None
        keep = None if self.keep is None else -self.keep
        parts = [
            replace(self, label=rival, rivals=(self.label,), keep=keep) for rival in self.rivals
        ]
        return parts[0] if len(parts) == 1 else Joined(parts, [-1] * len(parts), self.dim)

    def rounding(self, tight: Region) -> Rounding | None:
        """Return what rounds: the points themselves, and nothing else."""
        return EnsembleRounding(self)

    def used_columns(self) -> BoolArray:
        """Return which columns have a cut, or are part of a common inequality."""
        used = self.ensemble.n_cells > 1
        return used if self.common is None else used | self.common.used_columns()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def as_ensemble(region: Cell | Region) -> EnsembleRegion | None:
    """Return a region that is a class of an ensemble; None for another kind of region."""
    return region if isinstance(region, EnsembleRegion) else None


@dataclass(frozen=True, eq=False)
class EnsembleRounding(Rounding):
    """What rounds in a sum of trees, in units of `EnsembleRegion.with_margin`."""

    region: EnsembleRegion

    @property
    def knows_precision(self) -> bool:
        """The tally knows it."""
        return True

    def row_sizes(self, points: FloatArray) -> FloatArray:
        """Return 1: a point that is handed out in single precision is rounded by a share of it."""
        return np.ones(len(points))

    def sizes(self, points: FloatArray) -> FloatArray:
        """Return 0: sums are those of the library, to the bit."""
        return np.zeros(len(points))

    def hold(self, points: FloatArray, single: bool) -> BoolArray:
        """Return which points lie inside as the library adds up, or in any order (`Tally.doubt`).

        The points are those handed out: rounded already.
        """
        return self.region.contains(points)
