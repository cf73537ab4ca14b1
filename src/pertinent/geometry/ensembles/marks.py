"""Missing values before an ensemble: a column of 0 and 1 says where a number is missing.

A node that looks at a number which may be missing is two nodes: the first one looks at the number's
mark, and sends a missing value to the side that the library sends it to; the second one compares.
So a missing value is one more cell, that of its mark, and no column ever holds NaN.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.ensembles.form import Trees


def with_marks(
    trees: Trees, keep: FloatArray, columns: IntArray, marks: IntArray
) -> tuple[Trees, FloatArray]:
    """Return trees that ask for the mark of a number before they compare it.

    Parameters
    ----------
    trees : Trees
    keep : ndarray of shape (n_nodes,)
        The margins of their cuts; marks need none.
    columns : ndarray of int, shape (n_columns,)
        The new place of each column.
    marks : ndarray of int, shape (n_columns,)
        The mark of each column, a new place as well; -1: it is never missing.
    """
    inner = trees.column >= 0
    old = np.where(inner, trees.column, 0)
    asks = np.flatnonzero(inner & (marks[old] >= 0))
    after = len(trees.column) + np.arange(len(asks))
    column = np.where(inner, columns[old], -1)
    low = np.zeros(len(asks), dtype=bool) if trees.missing is None else trees.missing[asks]
    first, lower, upper, cut = column.copy(), trees.lower.copy(), trees.upper.copy(), trees.cut
    # mark = 1 leads to the side of missing values; mark = 0 on to the comparison.
    first[asks], lower[asks] = marks[old[asks]], after
    upper[asks] = np.where(low, trees.lower[asks], trees.upper[asks])
    new = replace(
        trees,
        column=np.concatenate([first, column[asks]]),
        cut=np.concatenate([np.where(np.isin(np.arange(len(cut)), asks), 0.5, cut), cut[asks]]),
        lower=np.concatenate([lower, trees.lower[asks]]),
        upper=np.concatenate([upper, trees.upper[asks]]),
        value=np.concatenate([trees.value, trees.value[asks]]),
        missing=None,
    )
    margins = np.concatenate([keep, keep[asks]])
    margins[asks] = 0.0
    return new, margins
