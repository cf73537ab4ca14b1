"""Nearest points for a batch of rows, with their certificates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pertinent.geometry.arrays import (
    BY_KEY,
    OF_SOME,
    BoolArray,
    CodeArray,
    FloatArray,
    IntArray,
    Limits,
    Rows,
    read_only,
)
from pertinent.geometry.domain import Domain
from pertinent.proofs import FAILED, FEASIBLE, OPTIMAL, Certificate
from pertinent.setting.region_key import Kind, RegionKey
from pertinent.tables.table import Table


@dataclass(eq=False)
class Answers(Rows):
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
    second: dict[int, FloatArray] = field(metadata=BY_KEY)
    certificates: tuple[Certified, ...] = field(metadata=OF_SOME)
    blend: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def found(self) -> BoolArray:
        """Whether there is a point."""
        return np.asarray(self.status <= FEASIBLE)

    def proof_of(self, row: int) -> Certificate | None:
        """Return the certificate of one row; None without any."""
        for part in self.certificates:
            here = np.flatnonzero(part.rows == row)
            if len(here):
                return part.certificate.take(here)
        return None


@dataclass(frozen=True, eq=False)
class Certified:
    """The certificate of the rows that asked for the same region.

    ``key`` names the region: Is(k) for class k, Not(k) for every class but k.
    """

    key: RegionKey
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


@dataclass(eq=False)
class RowRules:
    """What is asked of the points of a batch beyond bounds."""

    domain: Domain | None = None
    changes: bool = False

    def take(self, rows: IntArray) -> RowRules:
        """Return what is asked of some of the rows: the same where no domain differs by row."""
        return self if self.domain is None else replace(self, domain=self.domain.take(rows))


@dataclass(eq=False)
class Ask:
    """One batch of questions: see `pertinent.setting.nearest`."""

    table: Table
    centers: FloatArray
    kind: Kind
    labels: IntArray
    low: FloatArray
    high: FloatArray
    rules: RowRules
    #: What the question allows beyond the rules, shape (n or 1, n_features); None: everything.
    beyond: Limits | None = None
    #: Whether anybody wants to know why a row has no point.
    says_why: bool = True

    def __post_init__(self) -> None:
        self.centers, self.low = read_only(self.centers), read_only(self.low)
        self.high = read_only(self.high)

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def is_aligned(self) -> bool:
        """Whether each question belongs to a sample of the table."""
        return len(self.table) == len(self.centers)

    def take(self, rows: IntArray) -> Ask:
        """Return some of the questions; a table or limits that all share stay as they are."""
        return Ask(
            self.table.take(rows) if self.is_aligned else self.table,
            self.centers[rows],
            self.kind,
            self.labels[rows],
            self.low[rows],
            self.high[rows],
            self.rules.take(rows),
            self._beyond(rows),
            self.says_why,
        )

    def _beyond(self, rows: IntArray) -> Limits | None:
        if self.beyond is None or len(self.beyond[0]) == 1:
            return self.beyond
        low, high = self.beyond
        return low[rows], high[rows]


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


def blank(centers: FloatArray) -> Answers:
    """Return answers that say nothing yet."""
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


def claimed_unique(unique: CodeArray, status: CodeArray) -> CodeArray:
    """Return what is claimed of each answer: none is the only best one that is not proved best.

    Where the best value is approached but never reached, the answer keeps a margin from it, and
    was the only one for that margin.
    """
    doubtful = status != OPTIMAL
    if not np.count_nonzero(doubtful):
        return unique
    return np.where((unique == 1) & doubtful, -1, unique).astype(np.int8)


def are_trusted(certificates: Iterable[Certified], row: int) -> bool:
    """Return whether no certificate of a row repeats a solver's word."""
    about = ((part, part.rows == row) for part in certificates)  # of many rows: each is of a few
    return all(bool(part.certificate.trusted()[own].all()) for part, own in about if own.any())
