"""What the data, or the types of their columns, say of the values that a feature can have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.geometry.domain import SMALLEST_CHANGE
from pertinent.geometry.rounding.singles import as_decimals, single_spacing
from pertinent.rules.constraints import Constraints
from pertinent.rules.inferred import CATEGORIES, CHANGE, RANGE, STEP, Inferred
from pertinent.rules.unknown import are_unknown
from pertinent.tables.features import Features
from pertinent.tables.numbers import is_number, is_whole
from pertinent.tables.table import Table

#: Steps that columns are written in, the coarsest first.
STEPS = (1000, 500, 100, 50, 10, 5, 1, 0.5, 0.1, 0.05, 0.01)
#: Multiples of a step above 1 are no chance, with so many different values.
ENOUGH = 10
#: Steps of numbers in single precision are at least so many times what tells two of them apart.
COARSER = 4
#: A category of fewer rows than this is rare.
HANDFUL = 5


def require_sources(limits_from: Any, steps_from: Any, rare: Any) -> None:
    """Refuse what is no source of limits and steps, and no number of rows."""
    share = is_number(limits_from) and 0 <= limits_from < np.inf
    if not (limits_from in ("data", None) if isinstance(limits_from, str | None) else share):
        raise InputError(
            "limits_from must be 'data' (values stay in the range of the data), a share of that "
            f"range to widen it by, or None (no limits). Got {limits_from!r}."
        )
    if steps_from not in ("data", None):
        raise InputError(
            "steps_from must be 'data' (values are written as in the data) or None (any number). "
            f"Got {steps_from!r}."
        )
    if not is_whole(rare) or rare < 0:
        raise InputError(f"rare must be a number of rows, 0 to allow every category. Got {rare!r}.")


def infer(
    data: Table,
    given: Constraints,
    baseline: Any = None,
    limits_from: Any = "data",
    steps_from: Any = "data",
    rare: int = HANDFUL,
) -> tuple[Inferred, ...]:
    """Return the rules that the data suggest, without those that the user's own take the place of.

    Parameters
    ----------
    data : Table
    given : Constraints
        A feature that is frozen, or has bounds, decimals, a step, or categories of its own, keeps
        these: ``bounds={"age": (None, None)}``, ``step={"age": None}`` and
        ``categories={"job": None}`` say that all is allowed.
    baseline : optional
        As the user gave it: what it holds is allowed.
    limits_from : {"data", None} or float
        A number widens the range by this share of it, on both sides.
    steps_from : {"data", None}
    rare : int
        A category of fewer rows is not suggested; 0: all are.

    Examples
    --------
    >>> import numpy as np
    >>> from pertinent import Constraints
    >>> from pertinent.rules.inferring import infer
    >>> from pertinent.tables.features import Features
    >>> from pertinent.tables.reading import read_table
    >>> data = read_table(Features(("age", "share")), np.array([[18.0, 0.25], [68.0, 0.5]]))
    >>> for rule in infer(data, Constraints()):
    ...     print(rule)
    age stays whole
    age stays between 18 and 68
    share keeps steps of 0.05
    share stays between 0.25 and 0.5
    """
    features, own = data.features, _given(data.features, baseline)
    single = data.decimal_columns[features.first]
    ruled = _Ruled(features, given)
    found: list[Inferred] = []
    for j, name in enumerate(features.names):
        if j in features.unused or j in ruled.frozen:
            continue
        if features.is_category(j):
            if rare and j not in ruled.categories:
                found += _categories(data, j, name, rare, own.get(j))
            continue
        values = data.known_numbers(j)
        if not len(values):
            continue
        if single[j]:  # 119.9, not what a float32 makes of it
            values = as_decimals(values)
        step = _step(values, own.get(j), single=bool(single[j])) if steps_from == "data" else None
        if j not in ruled.steps and steps_from == "data":
            found += _precision(name, values, step)
        if j not in ruled.bounds:
            found += _range(name, values, limits_from, own.get(j))
    # Next to the edge of a bin the least change is one rounding, which nobody can make.
    jumps = ruled.steps or features.bins or any(map(features.is_category, range(len(features))))
    if jumps or any(rule.kind == STEP for rule in found):
        return tuple(found)
    # Where every number may take any value, none has to make up for what another one jumps.
    return tuple(rule for rule in found if rule.kind != CHANGE)


def infer_types(table: Table, given: Constraints) -> tuple[Inferred, ...]:
    """Return what the types of columns say: whole numbers stay whole, unsigned ones positive."""
    features, ruled = table.features, _Ruled(table.features, given)
    found: list[Inferred] = []
    for j, signed in table.whole_features().items():
        free = j not in ruled.frozen and j not in features.unused
        if free and j not in ruled.steps:
            found.append(Inferred(STEP, features.names[j], (1.0,)))
        if free and not signed and j not in ruled.bounds:
            found.append(Inferred(RANGE, features.names[j], (0.0, np.inf)))
    return tuple(found)


class _Ruled:
    """The features that rules of the user speak of, by what they say."""

    def __init__(self, features: Features, given: Constraints) -> None:
        def places(*names: Any) -> set[int]:
            return {features.index(name) for some in names for name in some}

        self.frozen = places(given.frozen)
        self.bounds = places(given.bounds)
        self.steps = places(given.integer, given.decimals, given.step)
        self.categories = places(given.categories, given.transitions)


def _given(features: Features, baseline: Any) -> dict[int, Any]:
    """Return the base values that a user gave, by feature."""
    if baseline is None or isinstance(baseline, str):
        return {}
    if isinstance(baseline, Mapping):
        return {features.index(name): value for name, value in baseline.items()}
    if np.ndim(baseline) == 0:
        return dict.fromkeys(range(len(features)), baseline)
    return dict(enumerate(baseline))


def _step(values: FloatArray, own: Any, *, single: bool = False) -> float | None:
    """Return the coarsest step that all values, and a base value, are multiples of.

    In single precision large numbers have few decimals whatever they are: a step is told apart
    only where it is coarser than that.
    """
    known = np.unique(values if own is None else np.append(values, float(own)))
    finest = COARSER * float(single_spacing(np.abs(known).max())) if single else 0.0
    for step in STEPS:
        if step > 1 and np.count_nonzero(known) < ENOUGH:
            continue
        if step < min(finest, 1.0):
            return None
        if Inferred(STEP, "", (float(step),)).lattice.has(known).all():
            return float(step)
    return None


def _precision(name: str, values: FloatArray, step: float | None) -> Iterator[Inferred]:
    """Yield the step of a column; where that is less than the smallest change, this, too."""
    least = SMALLEST_CHANGE * float(values.std()) if np.ptp(values) > 0 else 0.0
    if step is not None:
        yield Inferred(STEP, name, (step,))
    if max(step or 0.0, 0.0) < least < np.inf:
        yield Inferred(CHANGE, name, (least,))


def _range(name: str, values: FloatArray, limits_from: Any, own: Any) -> Iterator[Inferred]:
    """Yield the range of a column: of the data, wider, or what kind of number it is.

    Truth values, where both are seen, stay 0 or 1, and what is never negative stays so.
    """
    known = values if own is None else np.append(values, float(own))
    low, high = float(known.min()), float(known.max())
    whole = bool((known == np.round(known)).all())
    truths = whole and low == 0 and high == 1
    if limits_from is not None:
        more = 0.0 if limits_from == "data" or truths else float(limits_from) * (high - low)
        first = max(low - more, 0.0) if low >= 0 else low - more
        yield Inferred(RANGE, name, (first, high + more))
    elif truths or (whole and low >= 0):
        yield Inferred(RANGE, name, (0.0, 1.0 if truths else np.inf))


def _categories(data: Table, j: int, name: str, rare: int, own: Any) -> Iterator[Inferred]:
    """Yield the categories that are not suggested: rare ones, and those that mean "unknown"."""
    levels = list(data.features.levels[j] or ())
    if not levels:
        return
    count = data.values[:, data.features.columns_of(j)[: len(levels)]].sum(axis=0)
    out = (count < rare) | np.array(are_unknown(levels))
    # The base value is one to return to: as given, or the most frequent one.
    base = int(count.argmax()) if own is None else data.features.level(j, own)
    out[base] = False
    if out.any() and not out.all():
        yield Inferred(
            CATEGORIES, name, categories=tuple(v for v, no in zip(levels, out, strict=True) if no)
        )
