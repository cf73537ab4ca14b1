"""Where a text of some words of a document has a class: rows in whether each word is present.

The rest of a pipeline has rows ``g x <= h`` over the vocabulary, with x_j = a + (f_j - a) z_j: z_j
is 1 if word j is present and 0 if not, f_j its value then, and a what stands there without it.

=========  ======================================================================================
no norm    ``sum_j g_j (f_j - a) z_j <= h - a sum_i g_i``: a row in z
"l1"       ``x / N`` with ``N = sum_j f_j z_j``: ``sum_j (g_j - h) f_j z_j <= 0`` where N > 0
"l2"       ``x / N`` with ``N = sqrt(t)``, ``t = sum_j f_j^2 z_j`` (since z_j^2 = z_j):
           ``sum_j g_j f_j z_j - h sqrt(t) <= 0``. With h = 0 that is a row in z. With h > 0 each
           line above sqrt(t), a tangent, gives a row that holds for every text of the class; with
           h < 0 a chord does, which lies below sqrt(t) between its ends ``s <= t <= e``: a part
           for each such range
=========  ======================================================================================

The empty text is not divided, and may lie on the boundary (classes of like frequency): then it is
left out of the rows, and is a part of its own in the class that ``predict`` gives it.

With an "l2" norm and h != 0 the parts together are a little **more** than the texts of the class:
lines differ from sqrt(t) by ``LOG_STEP**2 / 32`` of it at most, 0.3%. What is proved of all points
of the parts (that none is closer, that there is none) holds of the texts among them, and a text is
handed out only after ``predict``. What says that *all* points of a region have the class may not be
said, and is not: see `PassageClassifier`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell, CellUnion
from pertinent.models.steps.text.reading import Norm, Values
from pertinent.models.tolerances import EMPTY_TIE, RANGES_OVERLAP, ROWS_WIDER

#: Rows: left-hand sides, right-hand sides, and the terms that are added up for both.
Stack = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

#: Each range of t ends at ``exp(LOG_STEP)`` times its start, and tangents touch so far apart.
LOG_STEP = 0.3


def region_of_words(rest: Sequence[Cell], values: Values, *, empty: bool) -> CellUnion:
    """Return where texts of the words have a class, from the rows over the vocabulary.

    ``empty`` says whether the empty text has it.
    """
    every = [_Rows(cell, values) for cell in rest]
    apart = values.norm is not None or any(rows.tie for rows in every)
    cells = [part for rows in every for part in _parts(rows, values, apart=apart)]
    if apart and empty:
        none = np.zeros(len(values.places))
        cells.append(Cell(np.zeros((0, len(none))), np.zeros(0), lower=none, upper=none))
    return CellUnion(tuple(cells), len(values.places))


def _parts(rows: _Rows, values: Values, *, apart: bool) -> Iterator[Cell]:
    if values.norm is None:
        yield _stacked([rows.plain, *([_some_word(rows.present)] if apart else [])])
    elif values.norm is Norm.L1:
        yield rows.over([(0.0, 1.0)], rows.present)  # N is t itself
    elif not rows.h.any():
        yield rows.over([(0.0, 0.0)], rows.present)
    elif (rows.h >= 0).all():
        ends = _ends(rows.present**2)
        yield rows.over([_tangent(t) for t in ends], rows.present**2, ROWS_WIDER)
    else:
        ends = _ends(rows.present**2)
        for pair in zip(
            ends[:-1] * (1 - RANGES_OVERLAP), ends[1:] * (1 + RANGES_OVERLAP), strict=True
        ):
            yield rows.between(*pair)


def _ends(squares: FloatArray) -> FloatArray:
    """Return numbers from the least ``t`` of a text to the largest, each a like share above."""
    least, most = float(squares.min()), float(squares.sum())
    count = max(1, int(np.ceil(np.log(most / least) / LOG_STEP)))
    return np.asarray(least * (most / least) ** (np.arange(count + 1) / count))


def _tangent(t: float) -> tuple[float, float]:
    """Return p and r of the line ``p + r t`` that touches sqrt(t) there, and lies above it."""
    return float(np.sqrt(t) / 2), float(0.5 / np.sqrt(t))


def _chord(start: float, end: float) -> tuple[float, float]:
    """Return p and r of the line through sqrt(t) at both ends, below it in between."""
    slope = 1 / (np.sqrt(start) + np.sqrt(end))
    return float(np.sqrt(start) - start * slope), float(slope)


class _Rows:
    """The rows of a cell, over the words of a document."""

    def __init__(self, cell: Cell, values: Values) -> None:
        self.present, self.h, self.side = values.present, cell.h, cell.terms[:, -1]
        self.G, self.terms = cell.G[:, values.places], cell.terms[:, values.places]
        gain, away = values.present - values.absent, values.absent
        h = self.h - away * cell.G.sum(axis=1)
        side = self.side + abs(away) * cell.terms[:, :-1].sum(axis=1)
        #: The rows without a norm: left-hand sides, right-hand sides, and the terms of both.
        self.plain: Stack = (self.G * gain, h, self.terms * np.abs(gain), side)

    @property
    def tie(self) -> bool:
        """Whether the empty text lies on the boundary, or next to it."""
        _, h, _, side = self.plain
        return bool((np.abs(h) <= EMPTY_TIE * side).any())

    def over(self, lines: list[tuple[float, float]], parts: FloatArray, slack: float = 0.0) -> Cell:
        """Return ``G f z - h (p + r t) <= 0`` for each line and row, where a word is left at least.

        ``t`` is the sum of the parts of the words that are present.
        """
        every = [self._along(np.full(len(self.h), p), np.full(len(self.h), r), parts, slack)
                 for p, r in lines]  # fmt: skip
        return _stacked([*every, _some_word(parts)])

    def between(self, start: float, end: float) -> Cell:
        """Return the rows where ``start <= t <= end``: chords where h < 0, else two tangents."""
        squares = self.present**2
        lines = [(_chord(start, end), _tangent(t)) for t in (start, end)]
        below = self.h < 0
        every = [
            self._along(np.where(below, p, q), np.where(below, r, s), squares, ROWS_WIDER)
            for (p, r), (q, s) in lines
        ]
        ends = np.vstack([-squares, squares]) / end
        limits = np.array([-start / end, 1.0])
        return _stacked([*every, (ends, limits, np.abs(ends), np.abs(limits))])

    def _along(
        self, level: FloatArray, slope: FloatArray, parts: FloatArray, slack: float
    ) -> Stack:
        """Return the rows with lines ``level + slope t`` in place of the norm, and their terms."""
        rows = self.G * self.present - (self.h * slope)[:, None] * parts
        terms = self.terms * self.present + (self.side * slope)[:, None] * parts
        side = self.side * level
        return rows, self.h * level + slack * (terms.sum(axis=1) + side), terms, side


def _some_word(like: FloatArray) -> Stack:
    """Return the row that a word is left at least: ``sum_j z_j >= 1/2``."""
    one, half = np.ones((1, len(like))), np.array([0.5])
    return -one, -half, one, half


def _stacked(every: list[Stack]) -> Cell:
    """Return rows for words that are there or not; terms count twice, for weights and norm."""
    G, h, terms, side = (np.concatenate(parts) for parts in zip(*every, strict=True))
    none, magnitudes = np.zeros(G.shape[1]), 2 * np.column_stack([terms, side])
    return Cell(G, h, lower=none, upper=none + 1, magnitudes=magnitudes)
