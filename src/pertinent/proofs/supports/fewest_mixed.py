"""Fewest features among categories, bins and whole numbers: the same rows, a feature at a time.

As in `supports.fewest`, but a feature may have several columns, which are on or off
together: what it can do for a linear row is the most over its own values
(`supports.reach`). Supports that meet all rows must be excluded by proofs of their
own, which speak of the same domain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pertinent.geometry.arrays import BoolArray, FloatArray
from pertinent.geometry.codec import nested, record_as
from pertinent.geometry.domain import Domain
from pertinent.geometry.region import Cell, Region
from pertinent.geometry.running import is_over
from pertinent.geometry.task import Task
from pertinent.proofs.cases.narrowing import Boxes, narrow
from pertinent.proofs.core import Certificate
from pertinent.proofs.rounding import least_excess, rounding_unit
from pertinent.proofs.supports.cardinality import not_all_of, refutes, without_infinity
from pertinent.proofs.supports.curves import most_of_curves
from pertinent.proofs.supports.reach import most_by_feature, stretches


@record_as("argument")
@dataclass(frozen=True, eq=False)
class Argument:
    """What the proof about one sample and one cell rests on.

    Parameters
    ----------
    multipliers : ndarray of shape (p, n_rows)
    ray : ndarray of bool, shape (p,)
        Whether the row speaks of feasibility alone, else of cost.
    excluded : tuple of (ndarray of bool, Certificate)
        Supports that hold no point of less cost, by a proof of their own; nor do their parts.
    listed : tuple of ndarray of bool
        Supports listed before: they, and what contains them, are not spoken of.
    """

    multipliers: FloatArray
    ray: BoolArray
    excluded: tuple[tuple[BoolArray, Certificate], ...] = ()
    listed: tuple[BoolArray, ...] = ()

    @classmethod
    def empty(cls, n_rows: int, listed: Sequence[BoolArray] = ()) -> Argument:
        """Return the argument that needs nothing beside the cell's own rows."""
        return cls(np.zeros((0, n_rows)), np.zeros(0, dtype=bool), (), tuple(listed))


class Held(NamedTuple):
    """A box within which only the columns of a support move; the others rest."""

    low: FloatArray
    high: FloatArray
    rest: FloatArray
    on: BoolArray


def excluded(
    support: BoolArray,
    certificate: Certificate,
    value: float,
    box: Held,
    piece: Cell | Region,
    center: FloatArray,
    weights: FloatArray,
    domain: Domain | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the row that demands a feature outside a support, where its own certificate holds.

    The certificate has to be about all points of the support. It holds if none costs less than
    ``value``, or, where that is ``inf``, if there is none.
    """
    outside = (~support)[None].astype(float)
    if is_over() or not all(getattr(one, "speaks_of_all", True) for one in nested(certificate)):
        return outside, np.zeros(1)
    low, high = np.where(box.on, box.low, box.rest), np.where(box.on, box.high, box.rest)
    proved = certificate.bounds(
        Task(piece, center[None], weights, low[None], high[None], domain=domain)
    )[0]
    spent = (weights * np.abs(box.rest - center))[~box.on].sum()
    off = rounding_unit(len(weights), 0) * spent
    holds = proved - spent - off >= value if np.isfinite(value) else np.isinf(proved)
    holds = holds and certificate.trusted().all()
    return outside, np.array([1.0 if holds else 0.0])


def is_discrete(domain: Domain | None) -> bool:
    """Whether a domain has values that cannot be chosen freely."""
    return domain is not None and bool(domain.groups or domain.bins or len(domain.lattice))


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """One sample, one cell: what each feature, turned on, can do for the linear rows.

    Attributes
    ----------
    low, high : ndarray of shape (n_columns,)
        Narrowed to what the domain leaves.
    rest : ndarray of shape (n_columns,)
    forced, free : ndarray of bool, shape (n_features,)
        Must be on, as the rest value is not allowed; may be on or off.
    stuck : bool
        Nothing at all is allowed.
    gain : ndarray of shape (n_rows, n_features)
        The most by which a feature lowers a row.
    need : ndarray of shape (n_rows,)
        By how much a row is too high at rest.
    """

    low: FloatArray
    high: FloatArray
    rest: FloatArray
    forced: BoolArray
    free: BoolArray
    stuck: bool
    gain: FloatArray
    need: FloatArray

    @classmethod
    def of(
        cls,
        cell: Cell,
        rest: FloatArray,
        low: FloatArray,
        high: FloatArray,
        tol: float,
        domain: Domain,
    ) -> FeatureRows:
        """Return the rows of one sample; ``domain`` is that of the sample."""
        state = np.zeros((1, 0), dtype=np.int8)
        box = Boxes(np.zeros(1, dtype=np.int64), low[None], high[None], state)
        tight, empty = narrow(domain, box)
        low, high = tight.lower[0], tight.upper[0]
        shown = ~domain.follows
        features = int(domain.owner.max()) + 1
        away = np.maximum(np.maximum(low - rest, rest - high), 0.0) > tol
        forced, moves = (np.zeros(features, dtype=bool) for _ in range(2))
        np.logical_or.at(forced, domain.owner[shown], away[shown])
        np.logical_or.at(moves, domain.owner[shown], ((low != rest) | (high != rest))[shown])
        free = ~forced & moves
        if empty[0]:
            none = np.zeros((len(cell.G), features))
            return cls(low, high, rest, forced, free, True, none, np.zeros(len(cell.G)))
        places = stretches(domain, rest, low, high)
        gain, need = most_by_feature(-cell.G, places), least_excess(cell, rest[None])[0]
        for block in cell.bent:
            # Bins and categories one by one, numbers as in `most_of_curves`.
            curves, short = most_of_curves(replace(block, G=0 * block.G), rest, low, high)
            own = np.zeros((len(block), features))
            np.add.at(own.T, domain.owner, curves.T)
            gain = np.vstack([gain, own + most_by_feature(-block.G, places)])
            need = np.concatenate([need, short + block.G @ rest])
        return cls(low, high, rest, forced, free, False, gain, need)


@dataclass(frozen=True, eq=False)
class MixedSample:
    """One sample, one piece, as `pertinent.proofs.supports.fewest` looks at it."""

    piece: Cell | Region
    center: FloatArray
    weights: FloatArray
    domain: Domain
    rows: FeatureRows
    #: There is no closed form for a single feature.
    has_closed_form: bool = False

    @property
    def forced(self) -> BoolArray:
        """Features that must be on."""
        return self.rows.forced

    @property
    def free(self) -> BoolArray:
        """Features that may be on or off."""
        return self.rows.free

    @property
    def stuck(self) -> bool:
        """Whether nothing at all is allowed."""
        return self.rows.stuck

    def toll(self) -> float:
        """Return what the features that cannot rest cost in any case."""
        low, high = self.rows.low, self.rows.high
        away = np.maximum(np.maximum(low - self.center, self.center - high), 0.0)
        return float((self.weights * away)[self.forced[self.domain.owner]].sum())

    def closest_single(self) -> float:
        """Return that nothing is known."""
        return 0.0

    def refuted(self, argument: Argument, size: int, value: float) -> bool:
        """Return whether no support of at most ``size`` features costs less than ``value``."""
        parts = [self._exclusion(*pair, value) for pair in argument.excluded]
        gain = np.concatenate([self.rows.gain, *(part[0] for part in parts)])
        need = np.concatenate([self.rows.need, *(part[1] for part in parts)])
        gain = without_infinity(gain, need)
        need = need - (gain * self.forced).sum(axis=1)
        gain, need = not_all_of(gain, need, argument.listed, ~self.forced)
        more = size - int(self.forced.sum())
        return refutes(np.where(self.free, gain, 0.0), need, more)

    def _exclusion(
        self, support: BoolArray, certificate: Certificate, value: float
    ) -> tuple[FloatArray, FloatArray]:
        """Demand a feature outside the support, where the support's own certificate holds."""
        rows = self.rows
        box = Held(rows.low, rows.high, rows.rest, support[self.domain.owner])
        about = self.piece, self.center, self.weights, self.domain
        return excluded(support, certificate, value, box, *about)
