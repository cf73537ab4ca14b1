"""A model with its regions, in the units of the samples; everything is computed once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np

from pertinent.density import Densities, Hulls
from pertinent.exceptions import InputError, UnsupportedModelError, unknown_name
from pertinent.geometry.affine import row_products
from pertinent.geometry.arrays import BoolArray, FloatArray, Foreign, IntArray, by_label, read_only
from pertinent.geometry.domain import Domain
from pertinent.geometry.ensembles import EnsembleRegion, as_ensemble
from pertinent.geometry.ensembles.region import EnsembleRounding
from pertinent.geometry.pieces import Joined, cells_of, lone_cell, meet, owners_of, pieces_of
from pertinent.geometry.region import Region
from pertinent.geometry.rounding import STEP, Rounding, surely_win
from pertinent.models import model_classes, region_function
from pertinent.models.combined.searched import Searched
from pertinent.models.confidence import confident
from pertinent.models.linear import winning_scores
from pertinent.models.registry import predicted_labels
from pertinent.models.regressors import adds_up_in_double
from pertinent.models.steps.pipeline import mixes_features
from pertinent.models.steps.text import PassageClassifier
from pertinent.models.trees.gaps import with_gaps
from pertinent.rules.constraints import Constraints
from pertinent.setting.margins import KEPT, KEPT_SINGLE, MARGIN, MARGIN_SINGLE, first_margins
from pertinent.setting.options import Options
from pertinent.setting.region_key import Is, Kind, Not, RegionKey
from pertinent.tables.features import Features
from pertinent.tables.foreseen import Foreseen
from pertinent.tables.table import Table

T = TypeVar("T")

#: With more classes than this, to look at all their regions costs more than it saves.
MANY_CLASSES = 12
#: What a model says of points by themselves is kept of so many.
MOST_ALONE = 10_000


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
    seeds : Table, optional
        Rows of the training data: where a search begins, for models that are searched.
    """

    model: Foreign
    features: Features
    weights: FloatArray
    constraints: Constraints = field(default_factory=Constraints)
    margin: float | None = None
    options: Options = field(default_factory=Options)
    min_proba: float | None = None
    within: Densities | Hulls | None = None
    seeds: Table | None = None

    def __post_init__(self) -> None:
        # Kept, not looked up again: a process that solves a batch may not know the registration.
        self._region_of = region_function(self.model)
        #: Whether nothing is known of the model but its ``predict``: nothing is ever proved.
        self.by_search = isinstance(self.model, Searched)
        if self.min_proba is not None and not self.by_search:
            self._region_of = confident(self.min_proba)
        self._adds_up_in_double = adds_up_in_double(self.model)
        self._scores = winning_scores(self.model)
        self.classes = model_classes(self.model)
        # Nothing that is kept refers to the setting: it is gone with its last user, not later.
        self._regions: dict[tuple[RegionKey, float], Region] = {}
        self._roundings: dict[RegionKey, Rounding | None] = {}
        self._made: dict[tuple[int, float, bool], Region] = {}
        self._inner: dict[tuple[int, float], Region] = {}
        self._plain: Self | None = None
        self._kept: dict[str, Any] = {}
        self._alone: dict[tuple[bytes, bytes], int] = {}
        self._foreseen: Foreseen | None = None
        #: Whether rules are left out: what the judge accepts is then no answer.
        self.is_partial = False
        self._weigh(self.weights)
        self.region(Is(0), 0.0)  # an unsupported model fails here, before any work

    def kept(self, name: str, make: Callable[[Setting], T]) -> T:
        """Return what is made of this setting once; ``name`` tells one such thing from another."""
        if name not in self._kept:
            self._kept[name] = make(self)
        made: T = self._kept[name]
        return made

    def without_plausibility(self) -> Self:
        """Return the same without plausibility; made once."""
        if self.within is None:
            return self
        if self._plain is None:
            self._plain = replace(self, within=None)
        return self._plain

    def without_chance(self) -> Setting:
        """Return the same however small probabilities are; made once."""
        if self.min_proba is None:
            return self
        return self.kept("without chance", lambda own: replace(own, min_proba=None))

    def under(self, constraints: Constraints) -> Self:
        """Return the same with other rules; what is known of the model is shared."""
        other = copy(self)
        other.constraints, other._kept = constraints, {}
        other._plain = None if self._plain is None else self._plain.under(constraints)
        if constraints.read_relations != self.constraints.read_relations:
            other._regions, other._roundings = {}, {}  # they hold relations, and no other rules
        return other

    def weighing(self, weights: FloatArray) -> Self:
        """Return the same with other weights; what is known of the model is shared."""
        other = copy(self)
        other._kept, other._plain = {}, None
        other._weigh(weights)
        return other

    def _weigh(self, weights: FloatArray) -> None:
        self.weights = read_only(weights)
        self.largest_weight = float(weights.max(initial=0.0))

    def domain_of(self, table: Table, *, changes: bool) -> Domain | None:
        """Return what values the rules allow; with ``changes``, how many may change as well."""
        return self.constraints.domain(self.features, table, self.weights, changes)

    @cached_property
    def pieces(self) -> int:
        """How many pieces the region of a class has."""
        return max(1, len(pieces_of(self.region(Is(0), 0.0))))

    @property
    def may_suffice(self) -> bool:
        """Whether features may be said to be enough whatever the others are.

        Of some texts they may not: their regions are too large to say what all their points are.
        """
        return not isinstance(self.model, PassageClassifier) or self.model.may_suffice

    @property
    def has_cells(self) -> bool:
        """Whether the region of a class is a union of cells."""
        return cells_of(self.region(Is(0), 0.0)) is not None

    @property
    def asked_margin(self) -> float:
        """The margin that bounds and statuses speak of: what the user asked for, 0 by default."""
        return 0.0 if self.margin is None else self.margin

    def first_margins(
        self,
        table: Table,
        centers: FloatArray,
        kind: Kind,
        labels: IntArray,
        domain: Domain | None = None,
    ) -> FloatArray:
        """Return the margin beyond the one asked for to solve each row with first.

        None where that is large enough for rounding, as far as is known of the center.
        """
        parts = self._by_key(kind, labels)
        # Trees are cut where numbers of the steps may lie: a margin would leave them out.
        hopeful = domain is not None and domain.single is not None
        hopeful = hopeful and all(_has_cuts(rounding) for rounding, _ in parts)
        needs = self.needed_margins(table, centers, kind, labels, domain, hopeful=hopeful)
        return np.where(needs > self.asked_margin, needs, 0.0) if self.asked_margin else needs

    def needed_margins(
        self,
        table: Table,
        centers: FloatArray,
        kind: Kind,
        labels: IntArray,
        domain: Domain | None = None,
        *,
        hopeful: bool = False,
    ) -> FloatArray:
        """Return the margin that rounding needs around each center.

        ``domain`` is what the points are confined to; None where it is not known. With ``hopeful``
        they are taken to be on the steps of their columns, wherever some have any, and compared
        with cuts, not added up.
        """
        on_steps = domain is not None and domain.is_single(table.single_columns)
        as_found = hopeful or on_steps
        how = table.single_precision, self.sums_in_single(table) and not hopeful, as_found
        parts = self._by_key(kind, labels)
        if len(parts) == 1:
            return first_margins(parts[0][0], centers, *how)
        margins = np.empty(len(centers))
        for rounding, rows in parts:
            margins[rows] = first_margins(rounding, centers[rows], *how)
        return margins

    def _by_key(
        self, kind: Kind, labels: IntArray
    ) -> list[tuple[Rounding | None, IntArray | slice]]:
        """Return what rounds in the region of each class in ``labels``, with its rows."""
        if len(labels) == 1 or (len(labels) and (labels == labels[0]).all()):
            return [(self.rounding(RegionKey(kind, int(labels[0]))), slice(None))]
        return [(self.rounding(RegionKey(kind, k)), rows) for k, rows in by_label(labels)]

    def is_exact(self, kind: Kind, labels: IntArray, points: FloatArray) -> BoolArray:
        """Return whether no term of any row of the regions asked for is rounded: all are zero."""
        exact = np.zeros(len(points), dtype=bool)
        for rounding, rows in self._by_key(kind, labels):
            if rounding is not None:
                exact[rows] = rounding.row_sizes(points[rows]) == 0
        return exact

    def is_sure(self, kind: Kind, labels: IntArray, points: FloatArray, table: Table) -> BoolArray:
        """Return which points are predicted as asked however sums are rounded.

        What ``predict`` says of a batch it may take back of the same point alone: sums are then
        added up in another order. True where it is not known what rounds.
        """
        if self.by_search:  # whatever rounds: it is asked
            return kind.holds(self.alone(table, points), labels)
        if self.within is not None:  # densities are judged in double precision
            return self.without_plausibility().is_sure(kind, labels, points, table)
        parts = self._by_key(kind, labels)
        if len(parts) == 1 and parts[0][0] is not None:
            return parts[0][0].hold(points, self.sums_in_single(table))
        sure = np.ones(len(points), dtype=bool)
        for rounding, rows in parts:
            if rounding is not None:
                sure[rows] = rounding.hold(points[rows], self.sums_in_single(table))
        return sure

    def alone(self, table: Table, points: FloatArray) -> IntArray:
        """Return what the model says of each point by itself, whatever a batch of them gets."""
        known = None if self._foreseen is None else self._foreseen.of(points)
        if known is not None:
            return known
        if len(self._alone) > MOST_ALONE:
            self._alone.clear()
        out = np.empty(len(points), dtype=np.int64)
        for i in range(len(points)):
            one, point = i % len(table), points[i : i + 1]
            key = table.values[one].tobytes(), point.tobytes()
            if key not in self._alone:
                self._alone[key] = int(self.predict(table.take(np.array([one])), point)[0])
            out[i] = self._alone[key]
        return out

    def sums_in_single(self, table: Table) -> bool:
        """Return whether ``predict`` adds up in single precision, as far as is known."""
        return table.single_precision and not self._adds_up_in_double

    def keep_margin(self, table: Table, points: FloatArray, places: IntArray) -> BoolArray:
        """Return which points lie inside their class by the margin asked for, but for rounding.

        With m the margin asked for and r(x) what rounding needs at x (`needed_margins`), x lies
        in the region of its class at the margin ``(1 - KEPT) m``, or at ``m - r(x)``. What else is
        asked of points (relations, a density) has no part in this.

        Parameters
        ----------
        table : Table
            Says in which precision points are handed out.
        points : ndarray of shape (n, n_features)
        places : ndarray of int, shape (n,)
            Places of the classes that they are predicted as.
        """
        kept, asked = np.ones(len(points), dtype=bool), self.asked_margin
        if asked == 0:
            return kept
        most = (1 - (KEPT_SINGLE if table.single_precision else KEPT)) * asked
        for k, rows in by_label(places):
            kept[rows] = self._of_model(k, most).contains(points[rows])
        left = np.flatnonzero(~kept)
        plain = self.without_plausibility()
        needs = plain.needed_margins(table, points[left], Kind.IS, places[left])
        for i, k, need in zip(left.tolist(), places[left].tolist(), needs.tolist(), strict=True):
            kept[i] = self._less(k, need).contains(points[i : i + 1])[0]
        return kept

    def margin_for(self, table: Table) -> float:
        """Return one margin for all rows, in the precision of the samples."""
        return self.enough_for_rounding(table) if self.margin is None else self.margin

    def enough_for_rounding(self, table: Table) -> float:
        """Return one margin beyond the one asked for that most rows will do with."""
        return MARGIN_SINGLE if table.single_precision else MARGIN

    def predict(self, table: Table, points: FloatArray | None = None) -> IntArray:
        """Return the places in ``classes`` of the model's own predictions.

        Samples (no ``points``) are predicted by themselves where their company may decide.
        """
        own = points is None
        if points is None:
            points = table.values
        if not len(points):
            return np.zeros(0, dtype=np.int64)
        known = None if self._foreseen is None else self._foreseen.of(points)
        if known is not None:
            return known
        labels = predicted_labels(self.model, table.for_model(points))
        if own and self.features.fills:
            self._require_same_when_filled(table, labels)
        if labels.ndim != 1:
            raise InputError(
                f"{type(self.model).__name__} predicts several outputs at once; explain one "
                "output at a time with a single-output classifier."
            )
        places = self.places(labels)
        return self.without_company(table, places) if own and len(places) > 1 else places

    def for_one_sample(self) -> Self:
        """Return the same, to `foresee` what the model says of one sample; regions are shared."""
        return copy(self)

    def foresee(self, table: Table, points: FloatArray) -> None:
        """Ask the model once about the only sample and points that are for it.

        `predict` then knows what it says of each of them by itself. Every table that this setting
        meets from now on must hold that sample and no other.
        """
        if len(table) != 1 or self.features.fills:
            return
        self._foreseen, foreseen = None, self._foreseen or Foreseen()
        every = foreseen.missing(np.concatenate([table.values, points]))
        if len(every):
            many = replace(table.lend(np.zeros(len(every), dtype=np.int64)), values=every)
            foreseen.note(every, self.predict(many))
        self._foreseen = foreseen

    def without_company(self, table: Table, places: IntArray) -> IntArray:
        """Return what samples are predicted as one by one, from what they are in any company.

        Sums are added up in another order in another batch. Where every order gives the same class
        the model need not be asked again.
        """
        rows = self._unclear(table, places)
        if not len(rows):
            return places
        some, alone = table if len(rows) == len(places) else table.take(rows), places.copy()
        plain, asked = self.of_predict, (Kind.IS, places[rows], some.values)
        sure = plain.is_sure(*asked, some)
        if np.count_nonzero(sure) == len(sure):
            return places
        for i in rows[~(sure | plain.is_exact(*asked))]:
            one = table.take(np.array([i]))
            alone[i] = self.places(predicted_labels(self.model, one.for_model(one.values)))[0]
        return alone

    def _unclear(self, table: Table, places: IntArray) -> IntArray:
        """Return the samples whose scores alone do not show that their class is sure.

        All scores are looked at in one go: to make the region of each class takes longer.
        """
        if self._scores is not None:
            wins = surely_win(*self._scores, places, table.values, self.sums_in_single(table))
            return np.asarray((~wins).nonzero()[0])
        rounding = self.of_predict.rounding(Is(0))
        if rounding is None or len(places) == 1:
            return np.arange(len(places))
        return np.asarray((~rounding.decided(table.values)).nonzero()[0])

    @property
    def of_predict(self) -> Setting:
        """The same with nothing asked for but the class itself."""
        asks = self.min_proba is not None or self.within is not None or self.margin is not None
        if not asks and self.constraints.relation_cell(self.features) is None:
            return self
        return self._bare

    @cached_property
    def _bare(self) -> Setting:
        bare = replace(self, min_proba=None, within=None, margin=None)
        return bare.under(Constraints())

    def by_regions(self, points: FloatArray) -> IntArray | None:
        """Return the class whose region holds each point, if it is one linear cell or of trees.

        Not the model's word: a point on a boundary lies in two regions, or by rounding in none.
        """
        if self._rows_of_all is None:
            return self._by_trees(points)
        rows, right, starts = self._rows_of_all
        worst = row_products(points, rows) - right
        if len(starts) < len(right):
            worst = np.maximum.reduceat(worst, starts, axis=1)
        return np.asarray(worst.argmin(axis=1))

    def _by_trees(self, points: FloatArray) -> IntArray | None:
        """Return the class whose sum of trees holds each point; None if unclear."""
        if not self._sums_of_all:
            return None
        holds = np.stack([region.contains(points) for region in self._sums_of_all])
        return holds.argmax(axis=0) if (holds.sum(axis=0) == 1).all() else None

    @cached_property
    def _sums_of_all(self) -> list[EnsembleRegion]:
        """The sums of trees of all classes; none if any class is something else."""
        if len(self.classes) > MANY_CLASSES:
            return []
        found = (as_ensemble(self._unruled(k)) for k in range(len(self.classes)))
        sums = [region for region in found if region is not None]
        return sums if len(sums) == len(self.classes) else []

    @cached_property
    def _rows_of_all(self) -> tuple[FloatArray, FloatArray, IntArray] | None:
        """The rows of all classes one below the other, and where those of each begin."""
        if len(self.classes) > MANY_CLASSES:
            return None
        found = (lone_cell(self._unruled(k)) for k in range(len(self.classes)))
        cells = [c for c in found if c is not None and c.is_linear and len(c.G)]
        if len(cells) < len(self.classes):
            return None
        starts = np.cumsum([0, *(len(cell.G) for cell in cells[:-1])])
        return np.vstack([c.G for c in cells]), np.concatenate([c.h for c in cells]), starts

    def _require_same_when_filled(self, table: Table, labels: Any) -> None:
        """Refuse samples that the model sees otherwise with their missing values filled in."""
        source = table.as_given()
        if source is None:
            return
        other = np.flatnonzero(predicted_labels(self.model, source) != labels)
        if len(other):
            raise InputError(
                f"With its missing values filled in, a sample ({len(other)} of {len(table)}) is "
                "predicted otherwise: the model reads them in more ways than its imputer's. Fill "
                "them first."
            )

    @cached_property
    def may_fold_badly(self) -> bool:
        """Whether steps mix features, so that rounding may outweigh what the model looks at."""
        return not self.by_search and mixes_features(self.model)

    def misplaced(self, table: Table, own: IntArray | None = None) -> BoolArray:
        """Return the samples that do not lie, by more than rounding, where they are predicted.

        ``own`` is what they are predicted as, where that is known.
        """
        own = self.predict(table, table.values) if own is None else own
        wrong = np.zeros(len(table), dtype=bool)
        for k in np.unique(own):
            rows = np.flatnonzero(own == k)
            wrong[rows] = ~self._unruled(int(k)).surely_contains(table.values[rows])
        return wrong

    def _unruled(self, k: int) -> Region:
        """Return where a class is predicted, whatever else is asked for."""
        return self._of_model(k, 0.0, by_chance=True)

    def _of_model(self, k: int, margin: float, by_chance: bool = False) -> Region:
        """Return where a class is predicted by a margin, as the model's function gives it.

        With ``by_chance``, however small the probability is.
        """
        by_chance = by_chance and self.min_proba is not None
        key = (k, margin, by_chance)
        if key not in self._made:
            region_of = region_function(self.model) if by_chance else self._region_of
            region = region_of(self.model, self.classes.tolist()[k], margin)
            self._made[key] = with_gaps(region, self.features)
        return self._made[key]

    def places(self, labels: Any) -> IntArray:
        """Return the places of labels in ``classes``."""
        labels = np.asarray(labels)
        if labels.dtype == self.classes.dtype and labels.dtype.kind in "iufUSb":
            place = self.classes.searchsorted(labels)
            if np.count_nonzero(self.classes.take(place, mode="clip") == labels) == len(labels):
                return np.asarray(place, dtype=np.int64)
        known = {label: k for k, label in enumerate(self.classes.tolist())}
        out = np.empty(len(labels), dtype=np.int64)
        for i, label in enumerate(labels.tolist()):
            if label not in known:
                raise unknown_name("label", label, self.classes.tolist())
            out[i] = known[label]
        return out

    def region(self, key: RegionKey, margin: float) -> Region:
        """Return a region in the units of the samples."""
        region = self._regions.get((key, margin))
        if region is None:
            make = self._ruled if key.kind is Kind.IS else self._elsewhere
            region = self._regions[key, margin] = make(key.place, margin)
        return region

    def owners(self, key: RegionKey, margin: float) -> IntArray:
        """Return the class of each piece of a region; -1 where several classes share a piece."""
        label = key.place if key.kind is Kind.IS else -1
        return owners_of(self.region(key, margin), label)

    def rounding(self, key: RegionKey) -> Rounding | None:
        """Return what rounds in a region; None where that is not known."""
        if key not in self._roundings:
            self._roundings[key] = self.region(key, 0.0).rounding(self.region(key, STEP))
        return self._roundings[key]

    def _ruled(self, k: int, margin: float) -> Region:
        """Return where a class is predicted, the rules are obeyed and points are dense enough."""
        region = self._tightened(k, margin)
        if region.dim != self.features.dim:
            raise InputError(
                f"The model's regions have {region.dim} features, its samples {self.features.dim}."
            )
        related = self.constraints.relation_cell(self.features)
        if related is not None:
            region = region.intersect(related)
        if not isinstance(self.within, Densities):
            return region
        if self.min_proba is not None and len(self.classes) > 2:
            raise UnsupportedModelError(
                "A density and min_proba of three or more classes cannot be asked for together. "
                "Leave out one of them."
            )
        return meet(region, self.within.region(k, margin))

    def _tightened(self, k: int, margin: float) -> Region:
        """Return where a class is predicted by a margin.

        What it has beyond the one asked for only rounding needs.
        """
        if 0 < self.asked_margin > margin:
            return self._of_model(k, margin)
        return self._beyond(k, margin - self.asked_margin)

    def _beyond(self, k: int, more: float) -> Region:
        """Return where a class is predicted by the margin asked for and more, for rounding."""
        asked = self.asked_margin
        return self._of_model(k, asked).with_margin(more, lambda m: self._of_model(k, asked + m))

    def _less(self, k: int, need: float) -> Region:
        """Return where a class is predicted by the margin asked for, less what rounding needs."""
        if (k, need) not in self._inner:
            self._inner[k, need] = self._beyond(k, -need)
        return self._inner[k, need]

    def _elsewhere(self, k: int, margin: float) -> Region:
        """Return where any class but one is predicted, together or class by class."""
        outside = self._outside(k, margin)
        return self.others(k, margin) if outside is None else outside

    def rivals(self, k: int, margin: float) -> Region:
        """Return what a sufficient set of class k has to rule out, by ``margin``.

        With a least probability: where the class is less likely. Of sums of trees that is not
        known as a region: where another class is predicted, however likely it is.
        """
        if self.min_proba is None:
            return self.region(Not(k), margin)
        outside = self._tightened(k, -margin).complement()
        return self.without_chance().region(Not(k), margin) if outside is None else outside

    def others(self, k: int, margin: float) -> Joined:
        """Return the regions of all classes but one, each with its class."""
        rest = [other for other in range(len(self.classes)) if other != k]
        parts = [self.region(Is(other), margin) for other in rest]
        return Joined(parts, rest, self.features.dim)

    def _outside(self, k: int, margin: float) -> Region | None:
        """Return where class k does not win, by ``margin``; None where the form is not known.

        The points of all other classes are often easier to describe together than one by one:
        under linear scores they are half-spaces. Which class wins there, ``predict`` tells.
        What is plausible depends on the class, so they are then taken one by one.
        """
        if self.min_proba is not None and not self.by_search:
            return None  # where one class is not likely enough, no other need be
        if self.within is not None or self.asked_margin > 0:
            return None  # a margin that was asked for holds against every class
        region = self._tightened(k, -margin).complement()
        related = self.constraints.relation_cell(self.features)
        if region is None or related is None:
            return region
        return region.intersect(related)


def _has_cuts(rounding: Rounding | None) -> bool:
    """Return whether a region is one of trees: a sum of them, or boxes of leaves."""
    if rounding is None or isinstance(rounding, EnsembleRounding):
        return rounding is not None
    return any(piece.ends is not None for piece in rounding.pieces)
