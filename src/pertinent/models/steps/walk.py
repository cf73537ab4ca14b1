"""Steps of a pipeline as maps: the columns after each step as functions of the raw features.

The walk keeps, for every column, how it follows from the raw columns: an `AffineMap`, or "still
the raw feature j", which an encoder of categories needs to know. A step is one function, found by
the qualified name of its class, so that nothing must be imported to be known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.arrays import FloatArray, Foreign, IntArray
from pertinent.geometry.region import AffineMap
from pertinent.models.registry import lineage, require_function, require_names
from pertinent.models.steps.products import Products
from pertinent.models.tolerances import SAME_EDGE
from pertinent.tables.features import Binned, Features
from pertinent.tables.numbers import is_missing


@dataclass(eq=False)
class Walk:
    """What a walk through the steps learns about the raw features.

    The first walk only records which features are met by encoders; the second one, over the
    features that result, gives the map.
    """

    features: Features
    recording: bool
    path: list[str] = field(default_factory=list)
    declared: dict[int, list[tuple[tuple[Any, ...], bool]]] = field(default_factory=dict)
    binned: dict[Binned, int] = field(default_factory=dict)
    fills: dict[int, list[Any]] = field(default_factory=dict)
    ambiguous: set[int] = field(default_factory=set)
    filled: set[int] = field(default_factory=set)
    told: set[int] = field(default_factory=set)

    def refuse(self, step: Foreign, why: str) -> UnsupportedModelError:
        """Return the error for a step that has no exact map."""
        where = ".".join(self.path) or "pipeline"
        return UnsupportedModelError(
            f"Step {where!r} ({type(step).__name__}) {why}",
            f"Supported steps: {', '.join(supported_transforms())}. Others can be added with "
            "pertinent.register_transform.",
        )

    def declare(
        self, feature: int, levels: Sequence[Any], takes_others: bool, tells_missing: bool = True
    ) -> None:
        """Note that an encoder reads a feature as categories.

        ``tells_missing``: whether it tells a missing value from a category that it does not know.
        """
        self.declared.setdefault(feature, []).append((tuple(levels), takes_others))
        if tells_missing:
            self.told.add(feature)

    def cut(self, step: Foreign, binned: Binned) -> None:
        """Note that a step cuts a feature off at two ends, the same ones wherever it does."""
        known = cut_of(tuple(self.binned), binned.feature)
        if known is None:
            self.binned[binned] = 1
        elif not np.allclose(known.edges, binned.edges, rtol=SAME_EDGE):
            name = self.features.names[binned.feature]
            raise self.refuse(
                step, f"cuts {name!r} off (clip=True) where another step does not: at "
                f"{binned.edges}, not {known.edges}. Fit one of them with clip=False.",
            )  # fmt: skip

    def stop_missing(self, columns: Columns) -> None:
        """Note that missing values of these columns need not be missing after a step."""
        used = columns.map.matrix != 0
        used = used if columns.map.is_diagonal else used.any(axis=0)
        self.filled.update(int(j) for j in columns.raw if j >= 0)
        self.filled.update(int(j) for j in columns.owners[used])

    def fill(self, feature: int, value: Any) -> None:
        """Note what an imputer puts in place of a missing value."""
        self.fills.setdefault(feature, []).append(value)


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns after some steps.

    Parameters
    ----------
    features : Features
    map : AffineMap
        Each column as a function of the raw columns; NaN in the rows of categories that are no
        numbers.
    raw : ndarray of int
        The raw feature that each column still is, -1 where a step has changed it.
    names : tuple of str
    products : Products, optional
        Products of columns, added to the affine map (see `pertinent.models.steps.products`).
    bends : tuple of Bent
        Columns that are bent by a function (see `pertinent.models.steps.monotone`): further inputs
        of the map, after the raw columns.
    """

    features: Features
    map: AffineMap
    raw: IntArray
    names: tuple[str, ...]
    products: Products | None = None
    bends: tuple[Any, ...] = ()

    @property
    def owners(self) -> IntArray:
        """The raw feature of each input of the map."""
        bent = np.array([b.feature for b in self.bends], dtype=np.int64)
        return np.concatenate([self.features.owner, bent])

    def require_unbent(self, walk: Walk, step: Foreign) -> None:
        """Refuse columns that an earlier step has bent."""
        used = self.map.matrix[:, self.features.dim :] if self.bends else np.zeros((1, 0))
        if used.any():
            raise walk.refuse(step, "comes after a step that bends its columns by a function.")

    @classmethod
    def start(cls, features: Features) -> Columns:
        """Return the raw columns themselves."""
        raw = np.arange(len(features))
        if features.is_plain:
            return cls(features, AffineMap.identity(len(features)), raw, features.names)
        matrix = np.zeros((len(features), features.dim))
        for j in range(len(features)):
            columns = features.columns_of(j)
            matrix[j, columns] = _numbers_of(features, j) if features.is_category(j) else 1.0
        return cls(features, AffineMap(matrix, np.zeros(len(features))), raw, features.names)

    def __len__(self) -> int:
        return len(self.raw)

    def take(self, places: IntArray) -> Columns:
        """Return some of the columns, which are rows of the map and of the products."""
        places = np.asarray(places, dtype=np.int64)
        if np.array_equal(places, np.arange(len(self))):
            return self
        return Columns(
            self.features,
            AffineMap(self.map.dense()[places], self.map.shift[places]),
            self.raw[places],
            tuple(self.names[p] for p in places) if self.names else (),
            None if self.products is None else self.products.take(places),
            self.bends,
        )

    def through(self, step: AffineMap, keep_raw: bool = False) -> Columns:
        """Return the columns after an affine step."""
        products = None if self.products is None else self.products.through(step)
        raw = self.raw if keep_raw else np.full(step.dim_out, -1)
        return Columns(self.features, step.after(self.map), raw, (), products, self.bends)

    def constant(self, values: FloatArray) -> Columns:
        """Return columns that do not depend on the sample."""
        matrix = np.zeros((len(values), self.map.dim_in))
        raw = np.full(len(values), -1)
        return Columns(self.features, AffineMap(matrix, values), raw, (), bends=self.bends)

    def require_numbers(self, walk: Walk, step: Foreign) -> None:
        """Refuse columns that are categories and no numbers."""
        if self.map.is_diagonal or walk.recording:
            return
        wrong = np.flatnonzero(np.isnan(self.map.matrix).any(axis=1))
        if len(wrong):
            name = self.features.names[self.raw[wrong[0]]]
            raise walk.refuse(step, f"needs numbers, and {name!r} holds categories.")


def cut_of(binned: Sequence[Binned], feature: int) -> Binned | None:
    """Return where a feature is cut off; None if it is not."""
    return next((b for b in binned if b.clipped and b.feature == feature), None)


def _numbers_of(features: Features, j: int) -> FloatArray:
    """Return the categories of a feature as numbers, NaN where they are none."""
    out = np.full(len(features.columns_of(j)), np.nan)
    for k, value in enumerate(features.levels[j] or ()):
        if isinstance(value, int | float | np.number | np.bool_) and not is_missing([value])[0]:
            out[k] = float(value)
    return out


def join(parts: Sequence[Columns], like: Columns) -> Columns:
    """Return the columns of all parts, side by side."""
    if len(parts) == 1:
        return parts[0]
    bends = tuple(dict.fromkeys(b for part in (like, *parts) for b in part.bends))
    matrices = [_wider(part, bends) for part in parts]
    matrix = np.vstack(matrices) if parts else np.zeros((0, like.map.dim_in))
    shift = np.concatenate([part.map.shift for part in parts]) if parts else np.zeros(0)
    products = Products.joined([(p.products, len(p)) for p in parts])
    return Columns(
        like.features,
        _diagonal_where_possible(AffineMap(matrix, shift)),
        np.concatenate([p.raw for p in parts]) if parts else np.zeros(0, dtype=np.int64),
        tuple(name for p in parts for name in p.names)
        if all(len(p.names) == len(p) for p in parts)
        else (),
        products,
        bends,
    )


def _wider(part: Columns, bends: tuple[Any, ...]) -> FloatArray:
    """Return the matrix of a part with a column for each of all bends."""
    matrix, dim = part.map.dense(), part.features.dim
    if part.bends == bends:
        return matrix
    wide = np.zeros((len(matrix), dim + len(bends)))
    wide[:, :dim] = matrix[:, :dim]
    wide[:, [dim + bends.index(b) for b in part.bends]] = matrix[:, dim:]
    return wide


def _diagonal_where_possible(affine: AffineMap) -> AffineMap:
    matrix = affine.matrix
    if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1]:
        diagonal = np.diag(matrix)
        if np.count_nonzero(matrix) == np.count_nonzero(diagonal):
            return AffineMap(diagonal.copy(), affine.shift)
    return affine


#: ``(step, columns, walk) -> columns``
Symbolic = Callable[[Foreign, Columns, Walk], Columns]
_TABLE: dict[str, Symbolic] = {}
#: Steps that are known for the reason why they are refused, or are part of a model.
_UNLISTED: set[str] = set()


def register_symbolic(
    *names: str, refused: bool = False, hidden: bool = False
) -> Callable[[Symbolic], Symbolic]:
    """Register a step that needs to know where its columns come from, or why it is refused.

    A hidden step is part of a model, and no step that a pipeline could have.
    """

    def add(function: Symbolic) -> Symbolic:
        for name in names:
            _TABLE[name] = function
            _UNLISTED.discard(name)
        if refused or hidden:
            _UNLISTED.update(names)
        return function

    return add


def register_transform(
    *names: str,
) -> Callable[[Callable[[Foreign], AffineMap]], Callable[[Foreign], AffineMap]]:
    """Register the affine map of pipeline steps, by the qualified name of their classes.

    Parameters
    ----------
    *names : str
        Module and class, e.g. ``"sklearn.preprocessing.StandardScaler"``; nothing is imported.

    Returns
    -------
    callable
        A decorator for ``step -> AffineMap``, the map that ``step.transform`` applies to a row
        of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import pertinent
    >>> from pertinent.geometry.region import AffineMap
    >>> @pertinent.register_transform("mypackage.Halver")
    ... def halver(step):
    ...     return AffineMap(np.full(step.n_features_in_, 0.5), np.zeros(step.n_features_in_))
    """
    require_names("register_transform", names)

    def add(function: Callable[[Foreign], AffineMap]) -> Callable[[Foreign], AffineMap]:
        require_function("register_transform", function)

        def symbolic(step: Foreign, columns: Columns, walk: Walk) -> Columns:
            columns.require_numbers(walk, step)
            if not type(step).__module__.startswith("sklearn."):
                walk.stop_missing(columns)  # nobody said what it does to them
            affine = function(step)
            if affine.dim_in != len(columns):
                raise InputError(
                    f"The map of {type(step).__name__} takes {affine.dim_in} columns, and "
                    f"{len(columns)} reach it."
                )
            return columns.through(affine)

        register_symbolic(*names)(symbolic)
        return function

    return add


def supported_transforms() -> list[str]:
    """Return the names of all pipeline steps with known maps, in alphabetical order."""
    return sorted({name.rsplit(".", 1)[-1] for name in _TABLE.keys() - _UNLISTED})


def apply_step(name: str, step: Foreign, columns: Columns, walk: Walk) -> Columns:
    """Return the columns after one step; an unknown one is refused by its name."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return columns
    walk.path.append(name)
    after = _named(step, columns, _find(step, walk)(step, columns, walk))
    walk.path.pop()
    return after


def _find(step: Foreign, walk: Walk) -> Symbolic:
    for ancestor, name in lineage(type(step)):
        if name in _TABLE:
            if ancestor is not type(step) and _transforms_anew(type(step), ancestor):
                raise walk.refuse(step, f"is a subclass of {name} with a transform of its own.")
            return _TABLE[name]
    raise walk.refuse(step, "has no known exact map.")


def _transforms_anew(own: type, ancestor: type) -> bool:
    theirs = getattr(ancestor, "transform", None)
    # A mixin without a transform of its own (selectors) says nothing about it.
    return theirs is not None and getattr(own, "transform", None) is not theirs


def _named(step: Foreign, before: Columns, after: Columns) -> Columns:
    """Return the columns with the names that the step gives them, for steps that select by name."""
    if after.names or not before.names or not hasattr(step, "get_feature_names_out"):
        return after
    try:
        names = tuple(str(n) for n in step.get_feature_names_out(list(before.names)))
    except (ValueError, AttributeError, TypeError, NotImplementedError):
        return after  # names are a convenience: a later selection by name then says what it lacks
    return replace(after, names=names) if len(names) == len(after) else after
