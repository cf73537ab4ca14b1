"""Votes between pairs of classes: a union over the tournaments that a class wins.

For each pair ``i < j`` a score ``s_ij(x)`` is linear; class i gets a vote where it is positive,
else class j. Which class has the most votes depends on the signs of all scores, so the region of a
class is a union of cells, one for each set of outcomes that makes it the winner whatever the other
duels end with. Two rules for equal votes:

* *first*: the first of them wins (libsvm);
* *sums*: the largest ``c_i = sum_j s_ij - sum_j s_ji`` wins, which is linear again (scikit-learn's
  OneVsOneClassifier, and SVC with ``break_ties``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.quadratic import Squares, Sums
from pertinent.geometry.region import Cell, CellUnion, Region

#: Most classes of which tournaments are listed, where the first of equals wins, and where sums
#: decide: one more class would have tens of times as many sets of outcomes as 1,095 and 151.
MOST_CLASSES, MOST_CLASSES_OF_SUMS = 6, 5


@dataclass(frozen=True, eq=False)
class Duels:
    """The scores of all pairs ``(0, 1), (0, 2), ..., (1, 2), ...``; positive: a vote for the first.

    Parameters
    ----------
    W : ndarray of shape (n_pairs, n_features)
    b : ndarray of shape (n_pairs,)
    terms : ndarray of shape (n_pairs, n_features + 1)
        What the model adds up for each score (see `Cell.magnitudes`).
    n_classes : int
    """

    W: FloatArray
    b: FloatArray
    terms: FloatArray
    n_classes: int

    def votes(self, outcomes: tuple[tuple[int, bool], ...]) -> Cell:
        """Return where duels end as given: (pair, whether its first class gets the vote)."""
        pairs = np.array([pair for pair, _ in outcomes], dtype=np.int64)
        sign = np.array([-1.0 if first else 1.0 for _, first in outcomes])
        # first: s >= 0, i.e. -W x <= b; second: W x <= -b
        return Cell(
            sign[:, None] * self.W[pairs], -sign * self.b[pairs], magnitudes=self.terms[pairs]
        )

    def signs(self, k: int) -> FloatArray:
        """Return with which sign each score counts in the sum ``c_k``."""
        pairs = combinations(range(self.n_classes), 2)
        return np.array([float(i == k) - float(j == k) for i, j in pairs])

    def ahead(self, t: int, rivals: tuple[int, ...]) -> Cell:
        """Return where ``c_t >= c_k`` for all rivals k, as rounded by ``c / (3 (|c| + 1))``."""
        own, rows, sides, terms = self.signs(t), [], [], []
        for k in rivals:
            other = self.signs(k)
            rows.append((other - own) @ self.W)
            sides.append((own - other) @ self.b)
            terms.append((np.abs(other) + np.abs(own)) @ self.terms)
        return Cell(
            np.array(rows), np.array(sides), magnitudes=np.array(terms), sums=self._squashed(t)
        )

    def _squashed(self, t: int) -> Sums:
        """Return what rounds where sums are squashed and added to votes.

        ``v + c / (3 (|c| + 1))`` is rounded by at most ``u (K + 1)``, which is a change of c by
        ``3 (|c| + 1)^2`` times that; c is at most the sum of all terms.
        """
        size, d = self.terms.sum(axis=0), self.W.shape[1]
        times = 3.0 * (self.n_classes + 1) / (d + 4)
        square = Squares(size[None, :-1], np.zeros(d), np.array([size[-1] + 1.0]))
        return Sums((square.times(times),), np.zeros(d), 0.0)


def voted_region(duels: Duels, t: int, margin: float, *, sums: bool) -> Region:
    """Return where class t wins, equal votes decided by sums or else by the order of classes."""
    _require_few_classes(duels.n_classes, MOST_CLASSES_OF_SUMS if sums else MOST_CLASSES)
    cells = []
    for outcomes, tied in tournaments(duels.n_classes, t, sums):
        cell = duels.votes(outcomes)
        cells.append(cell.intersect(duels.ahead(t, tied)) if tied else cell)
    return CellUnion(tuple(cell.tighten(margin) for cell in cells), duels.W.shape[1])


def _require_few_classes(n_classes: int, most: int) -> None:
    """Refuse more classes than tournaments can be listed for."""
    if n_classes > most:
        raise UnsupportedModelError(
            f"It votes between {n_classes * (n_classes - 1) // 2} pairs of {n_classes} classes, "
            "and a class wins by too many combinations of votes to list them: supported are at "
            f"most {most} classes. Use LinearSVC, or OneVsRestClassifier, which have one score "
            "for each class."
        )


Outcomes = tuple[tuple[int, bool], ...]


@lru_cache(maxsize=64)
def tournaments(n_classes: int, t: int, sums: bool) -> tuple[tuple[Outcomes, tuple[int, ...]], ...]:
    """Return the sets of outcomes by which class t wins, each with the classes it ties with.

    Every tournament that t wins has all outcomes of exactly one set, and no other tournament has.

    Examples
    --------
    Of three classes the first wins with two votes, or with one of three: it comes first.

    >>> for outcomes, tied in tournaments(3, 0, False):
    ...     print(outcomes, tied)
    ((0, True), (1, True)) ()
    ((0, False), (1, True), (2, False)) ()
    ((0, True), (1, False), (2, True)) ()
    >>> [len(tournaments(k, 0, False)) for k in (2, 3, 4, 5)]
    [1, 3, 7, 37]
    """
    pairs = list(combinations(range(n_classes), 2))
    own = [p for p, pair in enumerate(pairs) if t in pair]
    found: list[tuple[Outcomes, tuple[int, ...]]] = []
    for wins in range(2 ** len(own)):
        # Won first: bit 0 is a duel that is won.
        won = [not wins >> n & 1 for n in range(len(own))]
        votes = np.zeros(n_classes, dtype=np.int64)
        for p, is_won in zip(own, won, strict=True):
            votes[t if is_won else sum(pairs[p]) - t] += 1
        firsts = [(p, (pairs[p][0] == t) == is_won) for p, is_won in zip(own, won, strict=True)]
        most = [votes[t] if sums or k > t else votes[t] - 1 for k in range(n_classes)]
        rest = [p for p in range(len(pairs)) if p not in own]
        found += _complete(pairs, votes, firsts, rest, most, t, sums)
    return tuple(found)


def _complete(
    pairs: list[tuple[int, int]],
    votes: IntArray,
    outcomes: list[tuple[int, bool]],
    rest: list[int],
    most: list[int],
    t: int,
    sums: bool,
) -> Iterator[tuple[Outcomes, tuple[int, ...]]]:
    """Yield the ways in which the other duels may end so that no class has too many votes."""
    others = [k for k in range(len(votes)) if k != t]
    if any(votes[k] > most[k] for k in others):
        return
    left = {k: sum(k in pairs[p] for p in rest) for k in others}
    # A class that may come level must be known to do so where sums decide.
    unsure = [
        k
        for k in others
        if votes[k] + left[k] > most[k] or (sums and left[k] and votes[k] + left[k] == most[k])
    ]
    if not unsure:
        tied = tuple(k for k in others if sums and votes[k] == most[k])
        yield tuple(outcomes), tied
        return
    p = next(p for p in rest if unsure[0] in pairs[p])
    for first in (True, False):
        more = votes.copy()
        more[pairs[p][0 if first else 1]] += 1
        yield from _complete(
            pairs, more, [*outcomes, (p, first)], [q for q in rest if q != p], most, t, sums
        )
