"""A model with its regions, in the units of the samples; everything is computed once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from pertinent.density import Densities, Hulls
from pertinent.exceptions import InputError, unknown_name
from pertinent.geometry.affine import row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign, IntArray
from pertinent.geometry.region import Region
from pertinent.geometry.winners import MetricRegion
from pertinent.models import model_classes, region_function
from pertinent.models.confidence import confident
from pertinent.models.linear import adds_up_in_double
from pertinent.models.steps.pipeline import mixes_features
from pertinent.rules.constraints import Constraints
from pertinent.setting.margins import (
    PROBES,
    ROUNDOFF,
    STEP,
    SureRows,
    TermSizes,
    evened,
    first_margins,
    is_evened,
    shows_margin,
    sure_rows,
    surely_inside,
    term_sizes,
)
from pertinent.solvers import Options
from pertinent.tables.features import Features
from pertinent.tables.table import Table

#: With more classes than this, to look at all their regions costs more than it saves.
MANY = 12
#: Default margins: enough for ``predict`` to agree in double and in single precision.
MARGIN, MARGIN_SINGLE = 1e-9, 1e-5


@dataclass(eq=False)
class Setting:
    """A model with its regions, features, weights and rules.

    Parameters
    ----------
    model : fitted classifier
    features : Features
    weights : ndarray of shape (n_features,)
    constraints : Constraints
    margin : float or None
        None: what ``predict`` needs in the precision of the samples.
    options : Options
    min_proba : float, optional
        The probability that the model must give to the class of each point.
    within : Densities, Hulls or None
        Where points are plausible.
    """

    model: Foreign
    features: Features
    weights: FloatArray
    constraints: Constraints = field(default_factory=Constraints)
    margin: float | None = None
    options: Options = field(default_factory=Options)
    min_proba: float | None = None
    within: Densities | Hulls | None = None

    def __post_init__(self) -> None:
        # Kept, not looked up again: a process that solves a batch may not know the registration.
        self._region_of = region_function(self.model)
        if self.min_proba is not None:
            self._region_of = confident(self.min_proba)
        self._adds_up_in_double = adds_up_in_double(self.model)
        self.classes = model_classes(self.model)
        self._regions: dict[tuple[str, int, float], tuple[Region, IntArray]] = {}
        self._plain_regions: dict[int, Region] = {}
        self._bases: dict[int, Region] = {}
        self._probes: dict[int, Region] = {}
        self._sizes: dict[tuple[str, int], TermSizes | None] = {}
        self._growths: dict[tuple[str, int], float] = {}
        self._sure: dict[tuple[str, int], SureRows | None] = {}
        self._plain: Self | None = None
        self.largest_weight = float(self.weights.max(initial=0.0))
        self.region("is", 0, 0.0)  # an unsupported model fails here, before any work

    def without_plausibility(self) -> Self:
        """Return the same without plausibility; made once."""
        if self.within is None:
            return self
        if self._plain is None:
            self._plain = replace(self, within=None)
        return self._plain

    @property
    def pieces(self) -> int:
        """How many cells the region of a class has."""
        return max(1, len(self.region("is", 0, 0.0)[0]))

    @property
    def asked_margin(self) -> float:
        """The margin that bounds and statuses speak of: what the user asked for, 0 by default."""
        return 0.0 if self.margin is None else self.margin

    def first_margins(
        self, table: Table, centers: FloatArray, kind: str, labels: IntArray
    ) -> FloatArray:
        """Return the margin to solve each row with first: asked for, and enough for rounding."""
        precision = table.single_precision, self._sums_in_single(table)
        if len(labels) and (len(labels) == 1 or (labels == labels[0]).all()):
            sizes = self._term_sizes(kind, int(labels[0]))
            margins = first_margins(sizes, centers, *precision)
        else:
            margins = np.empty(len(centers))
            for k in np.unique(labels):
                rows = np.flatnonzero(labels == k)
                sizes = self._term_sizes(kind, int(k))
                margins[rows] = first_margins(sizes, centers[rows], *precision)
        return np.maximum(margins, self.asked_margin) if self.asked_margin > 0 else margins

    def is_exact(self, kind: str, labels: IntArray, points: FloatArray) -> BoolArray:
        """Return whether no term of any row of the regions asked for is rounded: all are zero."""
        exact = np.zeros(len(points), dtype=bool)
        for k in np.unique(labels):
            rows, sizes = np.flatnonzero(labels == k), self._term_sizes(kind, int(k))
            if sizes is not None:
                exact[rows] = sizes.of(points[rows]) == 0
        return exact

    def is_steady(
        self,
        kind: str,
        labels: IntArray,
        points: FloatArray,
        cost: FloatArray,
        used: FloatArray,
        table: Table,
    ) -> BoolArray:
        """Return `is_sure`, for points in double precision looked at only far from their start.

        The first margin covers four times what rounds at the center. The terms of a linear row
        grow by at most ``max |g_i| / w_i`` for each unit of cost: as long as that needs less than
        the other three quarters, the margin that was used is enough.
        """
        if table.single_precision or not len(points):
            return self.is_sure(kind, labels, points, table)
        growth: float | FloatArray
        if len(labels) == 1 or (labels == labels[0]).all():
            growth = self._growth(kind, int(labels[0]))
        else:
            classes, place = np.unique(labels, return_inverse=True)
            growth = np.array([self._growth(kind, int(k)) for k in classes])[place]
        unit = 4 / 3 * (points.shape[1] + 4) * ROUNDOFF
        far = np.asarray(cost * unit > used / growth)
        steady, rows = ~far, far.nonzero()[0]
        if len(rows):
            steady[rows] = self.is_sure(kind, labels[rows], points[rows], table)
        return steady

    def _growth(self, kind: str, k: int) -> float:
        """Return by how much the terms of a region's rows grow at most for each unit of cost."""
        key = (kind, k)
        if key not in self._growths:
            sizes = self._term_sizes(kind, k)
            growth = 0.0 if sizes is None else sizes.growth(self.weights)
            self._growths[key] = max(growth, 1e-200)
        return self._growths[key]

    def is_sure(self, kind: str, labels: IntArray, points: FloatArray, table: Table) -> BoolArray:
        """Return which points are predicted as asked however sums are rounded.

        What ``predict`` says of a batch it may take back of the same point alone: sums are then
        added up in another order. True where the regions are too many to look at.
        """
        if self.within is not None:  # densities are judged in double precision
            return self.without_plausibility().is_sure(kind, labels, points, table)
        sure = np.ones(len(points), dtype=bool)
        for k in np.unique(labels):
            rows, key = np.flatnonzero(labels == k), (kind, int(k))
            if key not in self._sure:
                self._sure[key] = sure_rows(*(self.region(*key, m)[0] for m in (0.0, STEP)))
            found = self._sure[key]
            if found is not None:
                sure[rows] = found.hold(points[rows], self._sums_in_single(table))
        return sure

    def _sums_in_single(self, table: Table) -> bool:
        """Return whether ``predict`` adds up in single precision, as far as is known."""
        return table.single_precision and not self._adds_up_in_double

    def _term_sizes(self, kind: str, k: int) -> TermSizes | None:
        key = (kind, k)
        if key not in self._sizes:
            plain, tight = (self.region(kind, k, margin)[0] for margin in (0.0, STEP))
            self._sizes[key] = term_sizes(plain, tight)
        return self._sizes[key]

    def margin_for(self, table: Table) -> float:
        """Return one margin for all rows, in the precision of the samples."""
        if self.margin is not None:
            return self.margin
        return MARGIN_SINGLE if table.single_precision else MARGIN

    def predict(self, table: Table, points: FloatArray | None = None) -> IntArray:
        """Return the places in ``classes`` of the model's own predictions."""
        own = points is None
        if points is None:
            points = table.values
        if not len(points):
            return np.zeros(0, dtype=np.int64)
        labels = np.asarray(self.model.predict(table.for_model(points)))
        if own and self.features.fills:
            self._require_same_when_filled(table, labels)
        if labels.ndim != 1:
            raise InputError(
                f"{type(self.model).__name__} predicts several outputs at once; explain one "
                "output at a time with a single-output classifier."
            )
        return self.places(labels)

    def by_regions(self, points: FloatArray) -> IntArray | None:
        """Return the class whose region holds each point, if each class is one linear cell.

        Not the model's word: a point on a boundary lies in two regions, or by rounding in none.
        """
        if self._rows_of_all is None:
            return None
        rows, right, starts = self._rows_of_all
        worst = np.maximum.reduceat(row_products(points, rows) - right, starts, axis=1)
        return np.asarray(worst.argmin(axis=1))

    @cached_property
    def _rows_of_all(self) -> tuple[FloatArray, FloatArray, IntArray] | None:
        """The rows of all classes one below the other, and where those of each begin."""
        if len(self.classes) > MANY:
            return None
        regions = [self._unruled(k) for k in range(len(self.classes))]
        if any(len(r) != 1 or not r.cells[0].is_linear or not len(r.cells[0].G) for r in regions):
            return None
        cells = [region.cells[0] for region in regions]
        starts = np.cumsum([0, *(len(cell.G) for cell in cells[:-1])])
        return np.vstack([c.G for c in cells]), np.concatenate([c.h for c in cells]), starts

    def _require_same_when_filled(self, table: Table, labels: Any) -> None:
        """Refuse samples that the model sees otherwise with their missing values filled in."""
        source = table.as_given()
        if source is None:
            return
        other = np.flatnonzero(np.asarray(self.model.predict(source)) != labels)
        if len(other):
            raise InputError(
                f"With its missing values filled in, a sample ({len(other)} of {len(table)}) is "
                "predicted otherwise: the model reads them in more ways than its imputer's. Fill "
                "them first."
            )

    @cached_property
    def may_fold_badly(self) -> bool:
        """Whether steps mix features, so that rounding may outweigh what the model looks at."""
        return mixes_features(self.model)

    def misplaced(self, table: Table) -> BoolArray:
        """Return the samples that do not lie, by more than rounding, where they are predicted."""
        own = self.predict(table, table.values)
        wrong = np.zeros(len(table), dtype=bool)
        for k in np.unique(own):
            rows = np.flatnonzero(own == k)
            wrong[rows] = ~surely_inside(self._unruled(int(k)), table.values[rows])
        return wrong

    def _unruled(self, k: int) -> Region:
        """Return where a class is predicted, whatever else is asked for."""
        if k not in self._plain_regions:
            label = self.classes.tolist()[k]
            self._plain_regions[k] = region_function(self.model)(self.model, label, 0.0)
        return self._plain_regions[k]

    def places(self, labels: Any) -> IntArray:
        """Return the places of labels in ``classes``."""
        labels = np.asarray(labels)
        if labels.dtype == self.classes.dtype and labels.dtype.kind in "iufUSb":
            place = self.classes.searchsorted(labels)
            if (self.classes.take(place, mode="clip") == labels).all():
                return np.asarray(place, dtype=np.int64)
        known = {label: k for k, label in enumerate(self.classes.tolist())}
        out = np.empty(len(labels), dtype=np.int64)
        for i, label in enumerate(labels.tolist()):
            if label not in known:
                raise unknown_name("label", label, self.classes.tolist())
            out[i] = known[label]
        return out

    def region(self, kind: str, k: int, margin: float) -> tuple[Region, IntArray]:
        """Return a region in the units of the samples, and the class of each of its cells."""
        key = (kind, k, margin)
        if key not in self._regions:
            self._regions[key] = self._build_region(kind, k, margin)
        return self._regions[key]

    def _build_region(self, kind: str, k: int, margin: float) -> tuple[Region, IntArray]:
        if kind == "is":
            region = self._tightened(k, margin)
            if region.dim != self.features.dim:
                raise InputError(
                    f"The model's regions have {region.dim} features, its samples "
                    f"{self.features.dim}."
                )
            related = self.constraints.relation_cell(self.features)
            if related is not None:
                region = region.intersect(related)
            if isinstance(self.within, Densities):
                region = self.within.inside(region, k, margin)
            return region, np.full(len(region), k)
        outside = self._outside(k, margin)
        if outside is not None:
            return outside, np.full(len(outside), -1)
        return self.others(k, margin)

    def _tightened(self, k: int, margin: float) -> Region:
        """Return where a class is predicted, by a margin asked for or needed for rounding only.

        The latter counts in units that do not depend on those of the features.
        """
        label = self.classes.tolist()[k]
        if self.asked_margin > 0:
            return self._region_of(self.model, label, margin)
        if k not in self._bases:
            self._bases[k] = self._region_of(self.model, label, 0.0)
        plain = self._bases[k]
        if margin == 0:
            return plain
        # Items with metrics of their own know what lies outside, their cells alone do not.
        if isinstance(plain, MetricRegion):
            return self._region_of(self.model, label, margin)
        if not is_evened(plain):
            return evened(plain, self._region_of(self.model, label, margin), margin)
        if k not in self._probes:
            self._probes[k] = self._probe(plain, label)
        return evened(plain, self._probes[k], margin)

    def _probe(self, plain: Region, label: Foreign) -> Region:
        """Return the region with a margin that shows in every row that has one."""
        region = plain
        for margin in PROBES:
            region = self._region_of(self.model, label, margin)
            pairs = zip(plain.cells, region.cells, strict=False)
            if len(region) != len(plain) or all(shows_margin(*pair) for pair in pairs):
                break
        return region

    def others(self, k: int, margin: float) -> tuple[Region, IntArray]:
        """Return the regions of all classes but one, and the class of each cell."""
        whole, labels = Region((), self.features.dim), np.zeros(0, dtype=np.int64)
        for other in range(len(self.classes)):
            if other != k:
                region, own = self.region("is", other, margin)
                whole, labels = whole.union(region), np.concatenate([labels, own])
        return whole, labels

    def _outside(self, k: int, margin: float) -> Region | None:
        """Return where class k does not win, by ``margin``; None where the form is not known.

        The points of all other classes are often easier to describe together than one by one:
        under linear scores they are half-spaces. Which class wins there, ``predict`` tells.
        What is plausible depends on the class, so they are then taken one by one.
        """
        if self.min_proba is not None:
            return None  # where one class is not likely enough, no other need be
        if self.within is not None or self.asked_margin > 0:
            return None  # a margin that was asked for holds against every class
        region = self._tightened(k, -margin).complement()
        related = self.constraints.relation_cell(self.features)
        if region is None or related is None:
            return region
        return region.intersect(related)

    def asked(self, key: tuple[str, int]) -> str:
        """Return what a region means, in words."""
        label = self.classes.tolist()[key[1]]
        if key[0] == "is":
            return f"is predicted as {label!r}"
        return f"is predicted as any class other than {label!r}"
