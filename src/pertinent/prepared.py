"""A model made ready: everything that does not depend on the row, computed once.

`Prepared.nearest` is where regions, projection and the model's own ``predict`` meet. Every point
it returns went through ``predict`` in the form it is handed out; a point that fails is solved
again with a larger margin, and reported as failed if that does not help.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pertinent._typing import BoolArray, CodeArray, FloatArray, Foreign, IntArray
from pertinent.certificate import FAILED, FEASIBLE, INFEASIBLE, OPTIMAL, Certificate
from pertinent.certificate._check import (
    GAP_CONVEX,
    GAP_NONCONVEX,
    ROUNDING,
    ROUNDING_SINGLE,
    is_closed,
)
from pertinent.certificate._proofs import scatter
from pertinent.conflicts import why_infeasible
from pertinent.constraints import Constraints
from pertinent.domains import Domain
from pertinent.exceptions import InputError, unknown_name
from pertinent.features import Features, Table
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
#: ... at most this often.
RETRIES = 7


@dataclass(frozen=True, eq=False)
class Answers:
    """Nearest points for a batch of rows, checked against the model.

    ``label`` is the place in ``classes`` of the class each point is predicted as; -1 if none.
    """

    points: FloatArray
    objective: FloatArray
    bound: FloatArray
    status: CodeArray
    unique: CodeArray
    label: IntArray
    reason: NDArray[np.object_]
    second: dict[int, FloatArray]
    certificates: tuple[Certified, ...]
    blend: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def found(self) -> BoolArray:
        """Whether there is a point."""
        return np.asarray(self.status <= FEASIBLE)

    def expand(self, rows: IntArray) -> Answers:
        """Return the answers of the given rows, which may repeat."""
        places: dict[int, list[int]] = {}
        for new, old in enumerate(rows):
            if int(old) in self.second:
                places.setdefault(int(old), []).append(new)
        second = {new: self.second[old] for old, news in places.items() for new in news}
        return Answers(
            self.points[rows],
            self.objective[rows],
            self.bound[rows],
            self.status[rows],
            self.unique[rows],
            self.label[rows],
            self.reason[rows],
            second,
            tuple(c.expand(rows) for c in self.certificates),
            self.blend[rows],
        )


@dataclass(frozen=True, eq=False)
class Certified:
    """The certificate of the rows that asked for the same region.

    ``key`` names the region: ("is", k) for class k, ("not", k) for every class but k.
    """

    key: tuple[str, int]
    rows: IntArray
    certificate: Certificate

    def expand(self, rows: IntArray) -> Certified:
        """Return the certificate of the given rows of the batch, which may repeat."""
        last = max(int(self.rows.max(initial=-1)), int(rows.max(initial=-1)))
        place = np.full(last + 1, -1)
        place[self.rows] = np.arange(len(self.rows))
        here = np.flatnonzero(place[rows] >= 0)
        return Certified(self.key, here, self.certificate.take(place[rows[here]]))

    def among(self, rows: IntArray, n: int) -> Certified:
        """Return the certificate of those of its rows that are listed, out of ``n``."""
        wanted = np.zeros(n, dtype=bool)
        wanted[rows] = True
        here = np.flatnonzero(wanted[self.rows])
        return Certified(self.key, self.rows[here], self.certificate.take(here))


@dataclass(frozen=True, eq=False)
class RowRules:
    """What is asked of the points of a batch beyond bounds."""

    domain: Domain | None = None
    changes: bool = False

    def take(self, rows: IntArray) -> RowRules:
        """Return what is asked of some of the rows."""
        return self if self.domain is None else replace(self, domain=self.domain.take(rows))


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
        self._plain: Prepared | None = None
        self.region("is", 0, 0.0)  # an unsupported model fails here, before any work

    def without_plausibility(self) -> Prepared:
        """Return the same without plausibility; made once."""
        if self.within is None:
            return self
        if self._plain is None:
            self._plain = replace(self, within=None)
        return self._plain

    def margin_for(self, table: Table) -> float:
        """Return the margin asked for, in the precision of the samples."""
        if self.margin is not None:
            return self.margin
        return MARGIN_SINGLE if table.single_precision else MARGIN

    def predict(self, table: Table, points: FloatArray | None = None) -> IntArray:
        """Return the places in ``classes`` of the model's own predictions."""
        if points is None:
            points = table.values
        if not len(points):
            return np.zeros(0, dtype=np.int64)
        labels = np.asarray(self.model.predict(table.for_model(points)))
        if labels.ndim != 1:
            raise InputError(
                f"{type(self.model).__name__} predicts several outputs at once; explain one "
                "output at a time with a single-output classifier."
            )
        return self.places(labels)

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
        if self.within is not None:
            return None
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
        asked = self.margin_for(table)
        truths = table.booleans
        domain = self.constraints.domain(self.features, table.values, self.weights, truths, changes)
        if len(truths):
            low, high = low.copy(), high.copy()
            low[:, truths] = np.maximum(low[:, truths], 0.0)
            high[:, truths] = np.minimum(high[:, truths], 1.0)
        rules = RowRules(domain, changes)
        answers = self._attempt(table, centers, kind, labels, low, high, asked, asked, rules)
        used = asked
        for _ in range(RETRIES):
            wrong = np.flatnonzero(answers.status == FAILED)
            if not len(wrong):
                break
            used = max(used, 1e-9) * GROWTH
            some = table.take(wrong) if len(table) == len(centers) else table
            again = self._attempt(
                some,
                centers[wrong],
                kind,
                labels[wrong],
                low[wrong],
                high[wrong],
                asked,
                used,
                rules.take(wrong),
            )
            answers = _replaced(answers, wrong, again)
        return answers

    def _attempt(
        self,
        table: Table,
        centers: FloatArray,
        kind: str,
        labels: IntArray,
        low: FloatArray,
        high: FloatArray,
        asked: float,
        used: float,
        rules: RowRules,
    ) -> Answers:
        """Solve with the margin ``used``; bounds and status speak of the margin ``asked``."""
        n = len(centers)
        out = _blank(centers)
        gap = np.empty(n)
        certificates = []
        for k in np.unique(labels) if n > 1 else labels:
            rows = np.flatnonzero(labels == k)
            # A slice where it is everyone: nothing is copied.
            some = slice(None) if len(rows) == n else rows
            args = (centers[some], low[some], high[some])
            region, owner = self.region(kind, int(k), used)
            domain = rules.take(rows).domain
            if isinstance(self.within, Hulls):
                found, blends = nearest_blends(
                    self.within, table.values[rows], region, owner, self.weights, args
                )
                out.blend[rows[list(blends)]] = list(blends.values())
            else:
                found = project(
                    args[0], region, self.weights, args[1], args[2], self.options, domain=domain
                )
            bound, status = found.bound, found.status
            if used != asked:
                wide = self.region(kind, int(k), asked)[0]
                bound = found.certificate.bounds(wide, args[0], self.weights, args[1], args[2])
                # Nothing inside the tightened region does not mean nothing at all.
                status = np.where((status == INFEASIBLE) & np.isfinite(bound), FAILED, status)
            convex = region.is_convex and domain is None
            gap[some] = GAP_CONVEX if convex else GAP_NONCONVEX
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
        unit = ROUNDING_SINGLE if table.single_precision else ROUNDING
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


def into_bounds(points: FloatArray, low: FloatArray, high: FloatArray, single: bool) -> FloatArray:
    """Return points moved inside their bounds where rounding to single precision left them."""
    if not single:
        return points
    inside = points
    for bound, towards, outside in ((low, np.inf, points < low), (high, -np.inf, points > high)):
        if outside.any():
            nearest = bound.astype(np.float32)
            step = np.nextafter(nearest, np.float32(towards))
            wrong = nearest < bound if towards > 0 else nearest > bound
            inside = np.where(outside, np.where(wrong, step, nearest).astype(float), inside)
    return inside


def _blank(centers: FloatArray) -> Answers:
    n = len(centers)
    return Answers(
        points=np.full(centers.shape, np.nan),
        objective=np.full(n, np.nan),
        bound=np.zeros(n),
        status=np.full(n, FAILED, dtype=np.int8),
        unique=np.full(n, -1, dtype=np.int8),
        label=np.full(n, -1),
        reason=np.full(n, None, dtype=object),
        second={},
        certificates=(),
        blend=np.full(n, None, dtype=object),
    )


def _replaced(answers: Answers, rows: IntArray, again: Answers) -> Answers:
    """Return the answers with some rows solved anew."""
    for name in ("points", "objective", "bound", "status", "unique", "label", "reason", "blend"):
        getattr(answers, name)[rows] = getattr(again, name)
    second = {i: p for i, p in answers.second.items() if i not in set(rows.tolist())}
    second.update({int(rows[i]): p for i, p in again.second.items()})
    untouched = np.setdiff1d(np.arange(len(answers)), rows)
    old = [c.among(untouched, len(answers)) for c in answers.certificates]
    new = [Certified(c.key, rows[c.rows], c.certificate) for c in again.certificates]
    return replace(answers, second=second, certificates=tuple(old + new))


def merge_certificates(n: int, parts: list[Certified]) -> dict[tuple[str, int], Certificate]:
    """Return one certificate over all ``n`` rows for each region that was asked for."""
    keys = sorted({part.key for part in parts})
    return {
        key: scatter(n, [(p.rows, p.certificate) for p in parts if p.key == key]) for key in keys
    }
