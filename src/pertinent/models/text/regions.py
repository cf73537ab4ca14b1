"""Where a text of some words of a document has a class: rows in whether each word is present.

The rest of a pipeline has rows ``g x <= h`` over the vocabulary, with x_j = a + (f_j - a) z_j: z_j is
1 if word j is present and 0 if not, f_j its value then, and a what stands there without it.

=========  =======================================================================================
no norm    ``sum_j g_j (f_j - a) z_j <= h - a sum_i g_i``: a row in z
"l1"       ``x / N`` with ``N = sum_j f_j z_j``: ``sum_j (g_j - h) f_j z_j <= 0`` where N > 0
"l2"       ``x / N`` with ``N = sqrt(t)``, ``t = sum_j f_j^2 z_j`` (since z_j^2 = z_j):
           ``sum_j g_j f_j z_j - h sqrt(t) <= 0``. With h = 0 a row in z. Else a part for each range
           ``s <= t <= e``: sqrt(t) lies above its chord and below its tangents there, so
           ``sum_j g_j f_j z_j - h (p + r t) <= 0`` with chord (h < 0) or tangent (h > 0) holds for
           every text of the class
=========  =======================================================================================

The empty text is not divided: it has the class if all h >= 0, and is a part of its own.

With an "l2" norm and h != 0 the parts together are a little **more** than the texts of the class, by
``LOG_STEP**2 / 32 = 3e-4`` of |h| at most. What is proved of all their points (that none is closer,
that there is none) holds of the texts among them, and a text is handed out only after ``predict``.
What says that *all* points of a region have the class may not be said, and is not: see
`PassageClassifier`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.region import Cell, CellUnion
from pertinent.models.text.reading import Values

#: Each range of t ends at ``exp(LOG_STEP)`` times its start.
LOG_STEP = 0.1
#: Ranges overlap by this share, and rows with a chord or tangent are wider by SLACK of their terms.
OVERLAP, SLACK = 1e-6, 1e-9


def region_of_words(rest: CellUnion, values: Values) -> CellUnion:
    """Return where texts of the words have a class, from the rows over the vocabulary."""
    count = len(values.places)
    cells = [part for cell in rest.cells for part in _parts(cell, values)]
    return CellUnion(tuple(cells), count)


def _parts(cell: Cell, values: Values) -> Iterator[Cell]:
    G, terms = cell.G[:, values.places], cell.terms[:, values.places]
    if values.norm is None:
        gain, away = values.present - values.absent, values.absent
        h = cell.h - away * cell.G.sum(axis=1)
        sizes = cell.terms[:, -1] + abs(away) * cell.terms[:, :-1].sum(axis=1)
        yield _cell(G * gain, h, terms * np.abs(gain), sizes)
        return
    if (cell.h >= 0).all():
        none = np.zeros(len(values.places))
        yield Cell(np.zeros((0, len(none))), np.zeros(0), lower=none, upper=none)
    G, terms = G * values.present, terms * values.present
    squares = values.present if values.norm == "l1" else values.present**2
    if values.norm == "l1":
        lines = [(0.0, np.inf, np.zeros_like(cell.h), np.ones_like(cell.h))]  # N = t
    elif not cell.h.any():
        lines = [(0.0, np.inf, cell.h, cell.h)]
    else:
        lines = list(_lines(cell.h, squares))
    for start, end, level, slope in lines:
        yield _within(G, terms, cell, squares, (start, end), level, slope)


def _lines(h: FloatArray, squares: FloatArray) -> Iterator[tuple[float, float, FloatArray, FloatArray]]:
    """Yield ranges of t, and for each row the line ``p + r t`` that takes the place of sqrt(t)."""
    least, most = float(squares.min(initial=np.inf)), float(squares.sum())
    if not 0 < least <= most:
        return
    count = max(1, int(np.ceil(np.log(most / least) / LOG_STEP)))
    ends = least * (most / least) ** (np.arange(count + 1) / count)
    for s, e in zip(ends[:-1] * (1 - OVERLAP), ends[1:] * (1 + OVERLAP), strict=True):
        chord = 1 / (np.sqrt(s) + np.sqrt(e))
        middle = np.sqrt(s * e)
        tangent = 0.5 / np.sqrt(middle)
        slope = np.where(h < 0, chord, tangent)
        yield s, e, np.where(h < 0, np.sqrt(s) - s * chord, np.sqrt(middle) / 2), slope


def _within(
    G: FloatArray, terms: FloatArray, cell: Cell, squares: FloatArray, ends: tuple[float, float],
    level: FloatArray, slope: FloatArray,
) -> Cell:  # fmt: skip
    """Return ``G z - h (level + slope t) <= 0`` where t lies between the ends and words are left."""
    rows = G - (cell.h * slope)[:, None] * squares
    sizes = terms + (np.abs(cell.terms[:, -1] * slope))[:, None] * squares
    rest, sides = np.abs(cell.terms[:, -1] * level), cell.h * level
    if np.isfinite(ends[1]):
        sides = sides + SLACK * (sizes.sum(axis=1) + rest)
        both = np.vstack([-squares, squares]) / ends[1]
        limits = np.array([-ends[0], ends[1]]) / ends[1]
    else:
        both, limits = -np.ones((1, len(squares))), np.array([-0.5])  # one word is left at least
    return _cell(
        np.vstack([rows, both]),
        np.concatenate([sides, limits]),
        np.vstack([sizes, np.abs(both)]),
        np.concatenate([rest, np.abs(limits)]),
    )


def _cell(G: FloatArray, h: FloatArray, terms: FloatArray, sizes: FloatArray) -> Cell:
    """Return rows for words that are there or not; terms count twice, for weights and norm."""
    none, magnitudes = np.zeros(G.shape[1]), 2 * np.column_stack([terms, sizes])
    return Cell(G, h, lower=none, upper=none + 1, magnitudes=magnitudes)
