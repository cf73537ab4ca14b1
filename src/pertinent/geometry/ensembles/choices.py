"""Categories before an ensemble: an encoder's number, asked about by nodes on 0 and 1.

A column that an encoder makes of a feature with categories is ``x = sum_k v_k z_k + shift``, with
exactly one ``z_k = 1``. A node ``x <= cut`` sends the categories with ``v_k + shift <= cut`` to the
lower side, and those whose number is missing to the side of missing values. It becomes a chain of
nodes ``z_k <= 1/2``, one for each category of the smaller side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pertinent.geometry.affine import AffineMap
from pertinent.geometry.arrays import FloatArray, IntArray
from pertinent.geometry.ensembles.form import Trees


def with_choices(
    trees: Trees, keep: FloatArray, through: AffineMap, groups: Sequence[IntArray]
) -> tuple[Trees, FloatArray, AffineMap]:
    """Return trees that look at no column made of several columns of one group.

    Parameters
    ----------
    trees : Trees
        Over the outputs of the map.
    keep : ndarray of shape (n_nodes,)
        The margins of their cuts; the new ones need none.
    through : AffineMap
    groups : sequence of ndarray of int
        Inputs of the map of which exactly one is 1.

    Returns
    -------
    trees : Trees
        Over the outputs of the map that is returned.
    keep : ndarray
    through : AffineMap
        The same outputs, and all inputs after them. Outputs made of several inputs of a group,
        which no node looks at any more, are constant.
    """
    rows = {} if through.is_diagonal else _choices_of_rows(through.matrix, groups)
    if not rows:
        return trees, keep, through
    nodes = np.flatnonzero(np.isin(trees.column, list(rows)))
    column, cut = trees.column.tolist(), trees.cut.tolist()
    lower, upper = trees.lower.tolist(), trees.upper.tolist()
    for node in nodes.tolist():
        row = column[node]
        group = rows[row]
        number = through.matrix[row, group] + through.shift[row]
        missing_low = trees.missing is not None and bool(trees.missing[node])
        low = np.where(np.isnan(number), missing_low, number <= cut[node])
        few_low = bool(2 * low.sum() <= len(group))
        few = group[low == few_low].tolist()
        here, rest = (lower[node], upper[node]) if few_low else (upper[node], lower[node])
        chain = [node, *range(len(column), len(column) + len(few) - 1)]
        for part in (column, cut, lower, upper):
            part.extend([part[node]] * (len(chain) - 1))
        # z_k = 1 leads to the side of the few; z_k = 0 on to the next, and at last to the rest.
        ends = [0.5] * len(few) or [np.inf]
        for place, after, end, k in zip(chain, [*chain[1:], rest], ends, few or [0], strict=True):
            column[place], cut[place] = through.dim_out + k, end
            lower[place], upper[place] = after, here
    more = len(column) - len(trees.column)
    missing = None if trees.missing is None else np.pad(trees.missing, (0, more))
    new = replace(
        trees,
        column=np.array(column, dtype=np.int64),
        cut=np.array(cut),
        lower=np.array(lower, dtype=np.int64),
        upper=np.array(upper, dtype=np.int64),
        value=np.pad(trees.value, ((0, more), (0, 0))),
        missing=missing,
    )
    margins = np.pad(keep, (0, more))
    margins[nodes] = 0.0
    matrix = through.matrix.copy()
    matrix[list(rows)] = 0.0
    dim = through.dim_in
    wider = AffineMap(
        np.vstack([matrix, np.eye(dim)]), np.concatenate([through.shift, np.zeros(dim)])
    )
    return new, margins, wider


def _choices_of_rows(matrix: FloatArray, groups: Sequence[IntArray]) -> dict[int, IntArray]:
    """Return, for each output made of several inputs of one group only, that group."""
    found, used = dict[int, IntArray](), matrix != 0
    for group in groups:
        outside = np.ones(matrix.shape[1], dtype=bool)
        outside[group] = False
        alone = (used[:, group].sum(axis=1) > 1) & ~used[:, outside].any(axis=1)
        found |= {int(row): np.asarray(group) for row in np.flatnonzero(alone)}
    return found
