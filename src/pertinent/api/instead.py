"""Where the base values have the class already: what to say instead, row by row.

In this order: the fewest values that are enough whatever the others are, where that is proved with
little work; the positive from the typical values of the contrast class; or nothing, and the
explanation rests on the negative. Like ranges, these are looked for when somebody looks at a row.

The work is counted and not timed: what is told must not depend on how busy a machine is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pertinent.api.asking import positives_of
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import BoolArray, IntArray
from pertinent.geometry.running import is_late, is_over, one_thread, working
from pertinent.setting.claims.instead import Basis, Instead, fault, is_empty, method_of
from pertinent.setting.question import Method, PositiveQuestion
from pertinent.setting.results import Positives
from pertinent.summary.asked import Answered, Asked

#: Looks at `is_over` that the search for a sufficient positive may take.
LOOKS = 3_000


def empty_rows(explanations: Answered, asked: Asked) -> BoolArray:
    """Return which rows have a positive that keeps nothing by choice."""
    return is_empty(asked.setting, asked.question, explanations.positive)


def instead_of(
    explanations: Answered, asked: Asked, rows: Sequence[int], *, alone: bool = True
) -> dict[int, Instead]:
    """Return what stands in for the empty positives of some rows.

    All are asked at once, with the work of one: what is enough for all is enough for each. Where
    it is not, each is asked by itself, so that the answer does not depend on the company of a row;
    without ``alone`` they are left out.
    """
    with one_thread, asked.question.effort.limiting(len(rows)):
        found, done = _sufficient(explanations, asked, rows)
        whole = done or len(rows) == 1
        if not whole and not alone:
            return {}
        if not whole:
            found = {}
            for row in rows:
                found |= _sufficient(explanations, asked, [row])[0]
        left = [row for row in rows if row not in found]
        found |= _contrast(explanations, asked, left)
        return {row: found.get(row, Instead(Basis.NEGATIVE)) for row in rows}


def _sufficient(
    explanations: Answered, asked: Asked, rows: Sequence[int]
) -> tuple[dict[int, Instead], bool]:
    """Return the proved sufficient positives by row, and whether no limit cut a search off."""
    question = replace(asked.question, fallback=False, alternatives=0)
    found: dict[int, Instead] = {}
    if asked.setting.by_search:  # nothing can be said of every value of the others
        return found, True
    with working(LOOKS):
        for here in _by(explanations.positive.label, rows):
            try:
                answer = _asked(explanations, asked, here, question, Method.SUFFICIENT)
            except (InputError, UnsupportedModelError):
                continue  # relations, a density, no bounds, or rows that mix features
            found |= _standing(explanations, asked, here, answer, Basis.SUFFICIENT)
        return found, not is_over()


def _contrast(explanations: Answered, asked: Asked, rows: Sequence[int]) -> dict[int, Instead]:
    """Return the positives from the typical values of the contrast classes, by row."""
    places = explanations.negative.target_place
    found: dict[int, Instead] = {}
    if asked.typical is None or not rows or is_late():
        return found
    for here in _by(places, rows):
        baseline = asked.typical.get(int(places[here[0]]))
        if baseline is None:
            continue
        question = replace(asked.question, baseline=baseline, fallback=False, alternatives=0)
        method = method_of(asked.setting, Basis.CONTRAST)
        answer = _asked(explanations, asked, here, question, method)
        found |= _standing(explanations, asked, here, answer, Basis.CONTRAST)
    return found


def _by(values: IntArray, rows: Sequence[int]) -> Iterator[list[int]]:
    """Yield the rows that have the same value."""
    some = values[list(rows)]
    for value in np.unique(some):
        yield [row for row, own in zip(rows, some, strict=True) if own == value]


def _asked(
    explanations: Answered,
    asked: Asked,
    rows: Sequence[int],
    question: PositiveQuestion,
    method: Method,
) -> Positives:
    positive, here = explanations.positive, np.array(rows)
    some = positive.table.take(here), positive.label[here]
    return positives_of(asked.setting, *some, question, method)


def _standing(
    explanations: Answered, asked: Asked, rows: Sequence[int], found: Positives, basis: Basis
) -> dict[int, Instead]:
    """Return the answers that may stand in for the empty positives, by row."""
    out = {}
    for i, row in enumerate(rows):
        target = int(explanations.negative.target_place[row])
        place = target if basis is Basis.CONTRAST else -1
        one = Instead(basis, found.take(np.array([i])), place)
        if not fault(asked.setting, asked.question, one, target):
            out[row] = one
    return out
