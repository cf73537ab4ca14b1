"""The points of a stored explanation that the model will be asked about, asked about at once.

A call of ``predict`` costs more than most claims. Nothing is claimed here: who judges a claim asks
for its points, and a point that was not foreseen goes to the model then.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pertinent.geometry.arrays import FloatArray
from pertinent.setting.claims.ranges import Proposals
from pertinent.setting.results import Positives, Results
from pertinent.summary.asked import Answered


def foresee(explanations: Answered, ranges: Iterable[Proposals | None]) -> None:
    """Ask the model about the sample and all points that the explanation names.

    ``ranges`` is what it says of how far values may move, as far as that is looked at.
    """
    asked, [instead] = explanations.asked, explanations.instead([0])
    assert asked is not None
    points = [*_points_of(explanations.positive), *_points_of(explanations.negative)]
    if instead is not None and instead.positive is not None:
        points += _points_of(instead.positive)
    points += [one.points_at_ends() for one in ranges if one is not None]
    every = np.concatenate(points)
    every = every[asked.setting.features.takes(every)]  # a step beyond the logarithm's end is none
    asked.setting.foresee(explanations.table, every)


def _points_of(results: Results) -> list[FloatArray]:
    """Return the answer, and others that are said to be as good or to work as well."""
    others = [*results.second.values(), *(one.values for one in results.alternatives[0])]
    wide = results.values.shape[1:]
    points = [results.values, *(one[None] for one in others if np.shape(one) == wide)]
    return [*points, results.sparse_values] if isinstance(results, Positives) else points
