"""The claims about further sets of features that do it as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pertinent.checking.evidence import is_same
from pertinent.checking.findings import CHANGE, ENOUGH, UNKNOWN, Finding, judged
from pertinent.density.measure import by_sample
from pertinent.geometry.arrays import BoolArray, FloatArray, Limits
from pertinent.geometry.codec import unknown_kinds
from pertinent.geometry.task import distance
from pertinent.setting.claims.negatives import next_best, with_its_limit
from pertinent.setting.claims.positives import turned_on
from pertinent.setting.judge import Judged, judge_points
from pertinent.setting.limits import (
    negative_limits,
    positive_limits,
    strict_limits,
)
from pertinent.setting.question import Method, NegativeQuestion, Norm
from pertinent.setting.region_key import Is, Not, RegionKey
from pertinent.setting.results import Alternative, Negatives, Positives
from pertinent.setting.setting import Setting
from pertinent.summary.asked import Asked


@dataclass(frozen=True, eq=False)
class _Listing:
    """The alternatives to one answer.

    Parameters
    ----------
    name : str
        What the answer is called.
    setting : Setting
        With the rules that count changes, where the question does.
    results : Positives or Negatives
        Of one sample.
    key : RegionKey
        The region that was asked for.
    limits : tuple of ndarray
    points : ndarray of shape (m, n_columns)
    features : ndarray of bool, shape (m, n_features)
        Those that the points keep or change.
    own : ndarray of bool, shape (n_features,)
        Those of the answer itself.
    counts : bool
        Whether sizes are numbers of features.
    """

    name: str
    setting: Setting
    results: Positives | Negatives
    key: RegionKey
    limits: Limits
    points: FloatArray
    features: BoolArray
    own: BoolArray
    counts: bool

    @property
    def others(self) -> tuple[Alternative, ...]:
        return self.results.alternatives[0]

    def findings(self) -> list[Finding]:
        """Judge the points, the sets of features and the sizes."""
        claim = f"{self.name}: each alternative"
        if not self.results.found[0]:
            return [judged(f"{self.name}: there is an answer to list alternatives to", False)]
        found = self._judge()
        same = found.predicted == np.array([one.label for one in self.others])
        obeys = found.obeys & (found.points == self.points).all(axis=1)
        out = [
            _each(f"{claim} is predicted as said", found.right & same),
            _each(f"{claim} obeys the rules", obeys),
            _each(f"{claim} is another set of features", self._is_new()),
            _each(f"{claim} has the size that is said", self._has_size()),
        ]
        if self.setting.asked_margin > 0:
            out.append(_each(f"{claim} lies inside its class by the margin", found.deep))
        if by_sample(self.setting.within):
            out.append(Finding(f"{claim} is plausible", UNKNOWN, "its blend is not stored"))
        elif found.dense is not None:
            out.append(_each(f"{claim} is plausible", found.dense))
        return out

    def _judge(self) -> Judged:
        rows = np.zeros(len(self.points), dtype=np.int64)
        labels = np.full(len(rows), self.key.place)
        changes = isinstance(self.results, Negatives)
        asked = self.results.table.take(rows), self.points, self.key.kind, labels, self.limits
        return judge_points(self.setting, *asked, changes=changes)

    def _is_new(self) -> BoolArray:
        """Return which sets are those of their points, and contain none listed before."""
        before, new = [self.own], []
        for one, features in zip(self.others, self.features, strict=True):
            inside = any((listed <= features).all() for listed in before)
            new.append(np.array_equal(one.features, features) and not inside)
            before.append(features)
        return np.array(new)

    def _has_size(self) -> BoolArray:
        on = self.setting.features.by_column(self.features)
        samples = np.broadcast_to(self.results.table.values, self.points.shape)
        sizes = distance(np.where(on, self.points, samples), samples, self.setting.weights)
        counts = self.features.sum(axis=1) if self.counts else sizes
        told = zip(self.others, counts.tolist(), sizes.tolist(), strict=True)
        return np.array(
            [is_same(count, a.objective) and is_same(size, a.closeness) for a, count, size in told]
        )

    def order(self, shown: BoolArray | None, unsure: str) -> list[Finding]:
        """Judge whether none that is not listed before is better, where that is said."""
        claim = f"{self.name}: no alternative that is not listed before is better"
        said = np.array([one.proved for one in self.others])
        if not said.any() or not self.results.found[0]:
            return []
        if unsure or shown is None:
            return [Finding(claim, UNKNOWN, unsure or "no proof of it is stored")]
        proofs = [left.part.certificate for one in self.others for left in one.why]
        if any(unknown_kinds(proof) or not proof.trusted().all() for proof in proofs):
            return [Finding(claim, UNKNOWN, "a proof is not known here, or a solver's word")]
        return [_each(claim, shown | ~said)]


def other_changes(
    asked: Asked, negative: Negatives, question: NegativeQuestion, unsure: str
) -> list[Finding]:
    """Judge the alternatives to a negative; nothing where there are none.

    Parameters
    ----------
    asked : Asked
    negative : Negatives
        Of one sample; its label is what the model predicts.
    question : NegativeQuestion
    unsure : str
        Why nothing can be proved here; "" if that is not so.
    """
    table, wanted = negative.table, question.target
    if not negative.alternatives[0]:
        return []
    points = np.array([one.values for one in negative.alternatives[0]])
    key = Not(int(negative.label[0])) if wanted is None else Is(int(wanted[0]))
    by_feature = asked.setting.features.by_feature
    listing = _Listing(
        CHANGE,
        with_its_limit(asked.setting, question),
        negative,
        key,
        negative_limits(asked.setting, table, question.untouched),
        points,
        by_feature(points != table.values),
        by_feature(negative.values != table.values)[0],
        negative.norm is Norm.L0,
    )
    shown = next_best(asked.setting, question, negative)[0]
    return [*listing.findings(), *listing.order(shown, unsure)]


def other_kept(asked: Asked, positive: Positives, unsure: str) -> list[Finding]:
    """Judge the alternatives to a positive; parameters as above."""
    setting, question, table = asked.setting, asked.question, positive.table
    if not positive.alternatives[0]:
        return []
    points = np.array([one.values for one in positive.alternatives[0]])
    strict = positive.method is Method.STRICT
    kept = turned_on(setting, question, points)
    listing = _Listing(
        ENOUGH,
        setting,
        positive,
        Is(int(positive.label[0])),
        (strict_limits if strict else positive_limits)(setting, table, question),
        points,
        kept,
        positive.kept[0],
        counts=True,
    )
    out = listing.findings()
    if strict:
        own = (points == table.values) | ~setting.features.by_column(kept)
        claim = f"{ENOUGH}: each alternative keeps the sample's own values"
        out.append(_each(claim, own.all(axis=1)))
    if positive.method in (Method.TWO_PHASE, Method.SUFFICIENT):
        out.append(judged(f"{ENOUGH}: its method lists alternatives", False))
    return [*out, *listing.order(None, unsure)]


def _each(claim: str, right: BoolArray) -> Finding:
    wrong = ", ".join(str(k + 1) for k in np.flatnonzero(~right))
    return judged(claim, not wrong, f"not number {wrong}")
