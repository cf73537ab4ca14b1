"""A model made ready: everything that does not depend on the row, computed once.

`Prepared.nearest` is where regions, projection and the model's own ``predict`` meet. Every point
it returns went through ``predict`` in the form it is handed out; a point that fails is solved
again with a larger margin, and reported as failed if that does not help.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pertinent._typing import BoolArray, FloatArray, Foreign, IntArray
from pertinent.answers import Answers, Certified, RowRules, blank, into_bounds, replaced
from pertinent.certificate import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL
from pertinent.certificate._check import (
    GAP_CONVEX,
    GAP_NONCONVEX,
    ROUNDING,
    ROUNDING_SINGLE,
    is_closed,
)
from pertinent.conflicts import why_infeasible
from pertinent.constraints import Constraints
from pertinent.exceptions import InputError, unknown_name
from pertinent.features import Features, Table
from pertinent.margins import LEAST, ROUNDOFF_SINGLE, STEP, TermSizes, first_margins, term_sizes
from pertinent.models import model_classes, region_function
from pertinent.models.confidence import confident
from pertinent.plausibility import Densities, Hulls
from pertinent.plausibility.conflict import why_implausible
from pertinent.plausibility.judge import is_dense, nearest_blends
from pertinent.projection import Options, Projections, project
from pertinent.projection.problem import distance
from pertinent.regions import Region
from pertinent.rulecheck import broken_rules

#: Default margins: enough for ``predict`` to agree in double and in single precision.
MARGIN, MARGIN_SINGLE = 1e-9, 1e-5
#: A point that ``predict`` refuses is solved again with a margin this many times larger ...
GROWTH = 10.0
#: ... at most this often, from a margin for all rows, or from the row's own.
RETRIES, LADDER = 7, 12


@dataclass(frozen=True, eq=False)
class _Ask:
    """One batch of questions: see `Prepared.nearest`."""

    table: Table
    centers: FloatArray
    kind: str
    labels: IntArray
    low: FloatArray
    high: FloatArray
    rules: RowRules

    def take(self, rows: IntArray) -> _Ask:
        """Return some of the questions."""
        aligned = len(self.table) == len(self.centers)
        return _Ask(
            self.table.take(rows) if aligned else self.table,
            self.centers[rows],
            self.kind,
            self.labels[rows],
            self.low[rows],
            self.high[rows],
            self.rules.take(rows),
        )


@dataclass(eq=False)
class Prepared:
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
        self.classes = model_classes(self.model)
        self._regions: dict[tuple[str, int, float], tuple[Region, IntArray]] = {}
        self._sizes: dict[tuple[str, int], TermSizes | None] = {}
        self._plain: Prepared | None = None
        self.region("is", 0, 0.0)  # an unsupported model fails here, before any work

    def without_plausibility(self) -> Prepared:
        """Return the same without plausibility; made once."""
        if self.within is None:
            return self
        if self._plain is None:
            self._plain = replace(self, within=None)
        return self._plain

    @property
    def asked_margin(self) -> float:
        """The margin that bounds and statuses speak of: what the user asked for, 0 by default."""
        return 0.0 if self.margin is None else self.margin

    def first_margins(
        self, table: Table, centers: FloatArray, kind: str, labels: IntArray
    ) -> FloatArray:
        """Return the margin to solve each row with first: asked for, and enough for rounding."""
        margins = np.empty(len(centers))
        for k in np.unique(labels) if len(labels) > 1 else labels:
            rows = slice(None) if (labels == k).all() else np.flatnonzero(labels == k)
            key = (kind, int(k))
            if key not in self._sizes:
                plain, tight = (self.region(kind, int(k), m)[0] for m in (0.0, STEP))
                self._sizes[key] = term_sizes(plain, tight)
            margins[rows] = first_margins(self._sizes[key], centers[rows], table.single_precision)
        return np.maximum(margins, self.asked_margin)

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

    def places(self, labels: Any) -> IntArray:
        """Return the places of labels in ``classes``."""
        labels = np.asarray(labels)
        if labels.dtype == self.classes.dtype and labels.dtype.kind in "iufUSb":
            place = np.searchsorted(self.classes, labels).clip(0, len(self.classes) - 1)
            if (self.classes[place] == labels).all():
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
            region = self._region_of(self.model, self.classes.tolist()[k], margin)
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
        region = self._region_of(self.model, self.classes.tolist()[k], -margin).complement()
        related = self.constraints.relation_cell(self.features)
        if region is None or related is None:
            return region
        return region.intersect(related)

    def nearest(
        self,
        table: Table,
        centers: FloatArray,
        kind: str,
        labels: IntArray,
        lower: FloatArray,
        upper: FloatArray,
        *,
        changes: bool = False,
    ) -> Answers:
        """Return the nearest points to the centers that are predicted as asked.

        Parameters
        ----------
        table : Table
            Says in which form points are handed out and predicted.
        centers : ndarray of shape (n, n_features)
        kind : {"is", "not"}
            Whether the point must be predicted as the label, or as any other.
        labels : ndarray of int, shape (n,)
        lower, upper : ndarray broadcastable to (n, n_features)
        changes : bool
            Whether the rules about how many features change, and which together, apply.
        """
        low = np.broadcast_to(lower, centers.shape)
        high = np.broadcast_to(upper, centers.shape)
        truths = table.booleans
        domain = self.constraints.domain(self.features, table.values, self.weights, truths, changes)
        if len(truths):
            low, high = low.copy(), high.copy()
            low[:, truths] = np.maximum(low[:, truths], 0.0)
            high[:, truths] = np.minimum(high[:, truths], 1.0)
        ask = _Ask(table, centers, kind, labels, low, high, RowRules(domain, changes))
        used = self.first_margins(table, centers, kind, labels)
        answers = self._by_margin(ask, used)
        for _ in range(LADDER):
            wrong = np.flatnonzero(answers.status == FAILED)
            if not len(wrong):
                break
            used[wrong] = np.maximum(used[wrong] * GROWTH, LEAST)
            answers = replaced(answers, wrong, self._by_margin(ask.take(wrong), used[wrong]))
        self._prefer_start(answers, ask, used)
        return answers

    def _by_margin(self, ask: _Ask, used: FloatArray) -> Answers:
        """Solve the rows, those with the same margin together."""
        if (used == used[:1]).all():
            return self._attempt(ask, float(used[0]) if len(used) else self.asked_margin)
        answers = blank(ask.centers)
        for value in np.unique(used):
            rows = np.flatnonzero(used == value)
            answers = replaced(answers, rows, self._attempt(ask.take(rows), float(value)))
        return answers

    def _prefer_start(self, answers: Answers, ask: _Ask, used: FloatArray) -> None:
        """Answer with the start itself where only the margin keeps it out.

        The point of the bounds nearest to the center cannot be undercut. If ``predict`` already
        gives it the class asked for, on the very boundary, it is the answer.
        """
        if ask.rules.domain is not None or self.within is not None or self.min_proba is not None:
            return
        if self.asked_margin > 0:
            return
        with np.errstate(invalid="ignore"):
            # A margin is a distance in the units of the model's features.
            near = answers.objective <= 100 * used * self.weights.max()
        rows = np.flatnonzero((near & (answers.objective > 0)) | ~answers.found)
        if not len(rows):
            return
        rows = rows[(ask.low[rows] <= ask.high[rows]).all(axis=1)]
        if not len(rows):
            return
        some = ask.take(rows)
        start = np.clip(some.centers, some.low, some.high)
        handed = into_bounds(
            ask.table.as_handed_out(start), some.low, some.high, ask.table.single_precision
        )
        predicted = self.predict(some.table, handed)
        right = (predicted == some.labels) if ask.kind == "is" else (predicted != some.labels)
        right &= ((handed >= some.low) & (handed <= some.high)).all(axis=1)
        right &= self._related(handed)
        for j in np.flatnonzero(right):
            i = rows[j]
            answers.points[i], answers.label[i] = handed[j], predicted[j]
            answers.objective[i] = answers.bound[i] = distance(
                handed[j : j + 1], ask.centers[i : i + 1], self.weights
            )[0]
            answers.status[i], answers.unique[i], answers.reason[i] = OPTIMAL, 1, None
            answers.second.pop(int(i), None)

    def _related(self, points: FloatArray) -> BoolArray:
        related = self.constraints.relation_cell(self.features)
        if related is None:
            return np.ones(len(points), dtype=bool)
        return related.contains(points)

    def _attempt(self, ask: _Ask, used: float) -> Answers:
        """Solve with the margin ``used``; bounds and status speak of the margin asked for."""
        table, centers, kind, labels = ask.table, ask.centers, ask.kind, ask.labels
        low, high, rules, asked = ask.low, ask.high, ask.rules, self.asked_margin
        n = len(centers)
        out = blank(centers)
        gap = np.empty(n)
        certificates = []
        for k in np.unique(labels) if n > 1 else labels:
            rows = np.flatnonzero(labels == k)
            # A slice where it is everyone: nothing is copied.
            some = slice(None) if len(rows) == n else rows
            args = (centers[some], low[some], high[some])
            region, owner = self.region(kind, int(k), used)
            domain = rules.take(rows).domain
            wide = region if used == asked else self.region(kind, int(k), asked)[0]
            if isinstance(self.within, Hulls):
                found, blends = nearest_blends(
                    self.within, table.values[rows], region, owner, self.weights, args
                )
                out.blend[rows[list(blends)]] = list(blends.values())
                bound = found.certificate.bounds(wide, args[0], self.weights, args[1], args[2])
                # Nothing inside the tightened region does not mean nothing at all.
                gone = (found.status == INFEASIBLE) & np.isfinite(bound)
                status = np.where(gone, FAILED, found.status)
            else:
                found = project(
                    args[0],
                    region,
                    self.weights,
                    args[1],
                    args[2],
                    self.options,
                    domain=domain,
                    proved_on=wide,
                )
                bound, status = found.bound, found.status
            convex = region.is_convex and domain is None
            gap[some] = GAP_CONVEX if convex else GAP_NONCONVEX
            # A bound that only repeats a solver's word proves nothing: no gap counts as closed.
            gap[rows[~found.certificate.trusted()]] = -1.0
            out.points[some], out.bound[some], out.status[some] = found.points, bound, status
            out.unique[some] = found.unique
            out.label[some] = np.append(owner, -1)[found.piece]  # piece -1: none
            out.second.update({int(rows[i]): point for i, point in found.second.items()})
            certificates.append(Certified((kind, int(k)), rows, found.certificate))
            near = table.values if isinstance(self.within, Hulls) else centers
            self._give_reasons(out, rows, found, region, (kind, int(k)), args, near, asked)
        self._verify(out, table, centers, kind, labels, low, high, gap, used, rules)
        return replace(out, certificates=tuple(certificates))

    def _verify(
        self,
        out: Answers,
        table: Table,
        centers: FloatArray,
        kind: str,
        labels: IntArray,
        low: FloatArray,
        high: FloatArray,
        gap: FloatArray,
        used: float,
        rules: RowRules,
    ) -> None:
        """Cast points to the form handed out, and let the model and the rules judge them."""
        rows = np.flatnonzero(out.found)
        everyone = len(rows) == len(centers)
        some = slice(None) if everyone else rows
        points, lo, hi = out.points[some], low[some], high[some]
        handed = into_bounds(table.as_handed_out(points), lo, hi, table.single_precision)
        aligned = len(table) == len(centers)
        theirs = table if everyone or not aligned else table.take(rows)
        predicted = self.predict(theirs, handed)
        own, wanted = labels[some], out.label[some]
        valid = (predicted == own) if kind == "is" else (predicted != own)
        if self.min_proba is not None and len(handed):
            proba = np.asarray(self.model.predict_proba(theirs.for_model(handed)))
            valid &= proba[np.arange(len(handed)), predicted] >= self.min_proba
        obeys = np.asarray(((handed >= lo) & (handed <= hi)).all(axis=1))
        dense = is_dense(self.within, predicted, handed)
        if handed is not points or not everyone:
            out.points[some] = handed
        middle = centers[some]
        cost = distance(handed, middle, self.weights)
        out.objective[some] = cost
        out.label[some] = np.where(predicted == wanted, wanted, predicted)
        # Optimal is what the bound proves of the point in the form it is handed out.
        # In single precision the margin itself is as large as what it must cover.
        unit = ROUNDING
        if table.single_precision:
            unit = max(ROUNDING_SINGLE, 8 * (centers.shape[1] + 4) * ROUNDOFF_SINGLE)
        closed = is_closed(cost, out.bound[some], handed, middle, self.weights, gap[some], unit)
        out.status[some] = np.where(closed, OPTIMAL, FEASIBLE)
        out.bound[some] = np.minimum(out.bound[some], cost)
        for j in np.flatnonzero(~(valid & obeys & dense)):
            i = rows[j]
            out.points[i], out.objective[i], out.status[i] = np.nan, np.nan, FAILED
            out.unique[i], out.label[i], out.blend[i] = -1, -1, None
            judge = "the density asked for" if valid[j] and obeys[j] else "the model's predict"
            out.reason[i] = f"the point found does not pass {judge}, even with a margin of {used:g}"
        if self.constraints.speaks_of_values:
            self._refuse_broken(out, theirs, handed, rows, rules.changes, aligned)

    def _refuse_broken(
        self,
        out: Answers,
        table: Table,
        handed: FloatArray,
        rows: IntArray,
        changes: bool,
        aligned: bool,
    ) -> None:
        """Let the rules judge the points value by value, in raw units."""
        samples = table.raw(table.values) if aligned else None
        for words, wrong in broken_rules(
            self.constraints,
            self.features,
            table.raw(handed),
            samples,
            changes=changes,
            single=table.single_precision,
        ):
            for i in rows[wrong]:
                out.points[i], out.objective[i], out.status[i] = np.nan, np.nan, FAILED
                out.unique[i], out.label[i] = -1, -1
                out.reason[i] = f"the point found breaks a rule: {words}"

    def _give_reasons(
        self,
        out: Answers,
        rows: IntArray,
        found: Projections,
        region: Region,
        key: tuple[str, int],
        args: tuple[FloatArray, FloatArray, FloatArray],
        near: FloatArray,
        margin: float,
    ) -> None:
        for i in np.flatnonzero(found.status == INFEASIBLE):
            if self.within is not None:
                proof = found.certificate.take(np.array([i]))
                sample, limits = near[rows[i]], (args[1][i], args[2][i])
                out.reason[rows[i]] = why_implausible(self, key, proof, sample, *limits, margin)
                continue
            out.reason[rows[i]] = why_infeasible(
                found.certificate.take(np.array([i])),
                region,
                args[1][i],
                args[2][i],
                self.asked(key),
                self.features,
                self.constraints,
            )
        for i in np.flatnonzero(found.status == FAILED):
            out.reason[rows[i]] = "the solvers gave neither a point nor a proof that none exists"

    def asked(self, key: tuple[str, int]) -> str:
        """Return what a region means, in words."""
        label = self.classes.tolist()[key[1]]
        if key[0] == "is":
            return f"is predicted as {label!r}"
        return f"is predicted as any class other than {label!r}"
