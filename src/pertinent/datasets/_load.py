"""Read the embedded CSV files with the standard library and NumPy alone."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from pertinent.exceptions import InputError, optional
from pertinent.geometry.arrays import BoolArray, FloatArray

if TYPE_CHECKING:
    import pandas as pd

Kind = type[int] | type[float] | type[str]

#: The features of the paper's section III-F, in its order.
AMES_PAPER: dict[str, Kind] = {
    "basement_area": int,
    "first_floor_area": int,
    "second_floor_area": int,
    "living_area": int,
    "deck_area": int,
    "open_porch_area": int,
    "three_season_porch_area": int,
    "screen_porch_area": int,
    "pool_area": int,
}

AMES_MORE: dict[str, Kind] = {
    "lot_area": int,
    "year_built": int,
    "garage_area": int,
    "bedrooms": int,
    "full_baths": int,
    "half_baths": int,
    "fireplaces": int,
}

#: Whole numbers with gaps are floats, since NaN is one.
CREDIT: dict[str, Kind] = {
    "seniority": int,
    "home": str,
    "time": int,
    "age": int,
    "marital": str,
    "records": str,
    "job": str,
    "expenses": int,
    "income": float,
    "assets": float,
    "debt": float,
    "amount": int,
    "price": int,
}


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with a target, as plain NumPy columns.

    Attributes
    ----------
    name : str
        Name of the data set.
    columns : mapping of str to ndarray of shape (n_rows,)
        The features: int64 or float64 for numbers, object (of str) for categories. A missing
        value is NaN in either.
    target : ndarray of shape (n_rows,)
        What is to be predicted.
    target_name : str
        What the target says.
    description : str
        Source, licence, columns and what was changed, in Markdown.
    """

    name: str
    columns: Mapping[str, NDArray[Any]]
    target: NDArray[Any]
    target_name: str
    description: str

    @property
    def feature_names(self) -> list[str]:
        """Names of all features, in column order."""
        return list(self.columns)

    @property
    def categorical_names(self) -> list[str]:
        """Names of the features that hold categories."""
        return [name for name, column in self.columns.items() if column.dtype == object]

    @property
    def numeric_names(self) -> list[str]:
        """Names of the features that hold numbers."""
        return [name for name, column in self.columns.items() if column.dtype != object]

    @property
    def X(self) -> FloatArray:
        """The features as an array of shape (n_rows, n_features), if all are numbers."""
        if self.categorical_names:
            raise InputError(
                f"The {self.name} data hold categories ({', '.join(self.categorical_names)}), "
                "which have no place in an array of numbers. Use 'frame' or 'columns' instead."
            )
        return np.column_stack([column.astype(np.float64) for column in self.columns.values()])

    @property
    def frame(self) -> pd.DataFrame:
        """The features as a new pandas DataFrame; pandas must be installed."""
        pandas = optional("pandas", "pandas", "The 'frame' of a data set")
        return pandas.DataFrame({name: column.copy() for name, column in self.columns.items()})

    def __len__(self) -> int:
        return len(self.target)

    def __repr__(self) -> str:
        return (
            f"<Dataset {self.name}: {len(self)} rows, {len(self.columns)} features, "
            f"target {self.target_name!r}>"
        )


def load_ames(
    binary_at: float | None = 160_000, *, features: Literal["paper", "all"] = "paper"
) -> Dataset:
    """Return 2,930 house sales of Ames, Iowa, split at a price as in the paper.

    Parameters
    ----------
    binary_at : float or None, default=160_000
        The target is 1 if the price in dollars is at least this, else 0. None gives the prices
        themselves.
    features : {"paper", "all"}, default="paper"
        The nine areas that the paper uses, or these and seven more features (year of
        construction, bedrooms, ...).

    Returns
    -------
    Dataset
        All features are integers; none is missing.

    Notes
    -----
    The paper used a 1,460-row excerpt of these records.

    Examples
    --------
    >>> from pertinent.datasets import load_ames
    >>> ames = load_ames()
    >>> ames
    <Dataset ames: 2930 rows, 9 features, target 'sale_price >= 160000'>
    >>> ames.X.shape
    (2930, 9)
    >>> print(ames.target.mean().round(3))
    0.507
    >>> print(load_ames(binary_at=None).target.max())
    755000
    >>> load_ames(binary_at=1)
    Traceback (most recent call last):
    ...
    pertinent.exceptions.InputError: The 'binary_at' parameter of load_ames must be None or ...
    """
    if features not in ("paper", "all"):
        raise InputError(
            f"The 'features' parameter of load_ames must be 'paper' or 'all'. "
            f"Got {features!r} instead."
        )
    chosen = AMES_PAPER if features == "paper" else AMES_PAPER | AMES_MORE
    columns = _read("ames.csv", chosen | {"sale_price": int})
    prices = columns.pop("sale_price")
    if binary_at is None:
        target, target_name = prices, "sale_price"
    else:
        target = _at_least(prices, binary_at)
        target_name = f"sale_price >= {binary_at:.15g}"
    return Dataset("ames", columns, target, target_name, _description("ames.csv"))


def load_credit(*, drop_missing: bool = False) -> Dataset:
    """Return 4,454 loan applications in raw units, assessed as "good" or "bad".

    Parameters
    ----------
    drop_missing : bool, default=False
        Leave out the 415 rows in which a value is missing.

    Returns
    -------
    Dataset
        Whole years, months and thousands of pesetas, and four categories. Columns that have
        missing values in the full table (income, assets, debt) are floats in either case.

    Notes
    -----
    The target is the lender's assessment of the application. Whether a loan was paid back is
    not recorded.

    Examples
    --------
    >>> from pertinent.datasets import load_credit
    >>> credit = load_credit()
    >>> credit
    <Dataset credit: 4454 rows, 13 features, target 'status'>
    >>> print(credit.columns["job"][0], credit.columns["time"][0])
    freelance 60
    >>> credit.categorical_names
    ['home', 'marital', 'records', 'job']
    >>> print((credit.target == "good").sum())
    3200
    >>> len(load_credit(drop_missing=True))
    4039
    """
    columns = _read("credit.csv", CREDIT | {"status": str})
    if drop_missing:
        complete = ~np.logical_or.reduce([_is_missing(column) for column in columns.values()])
        columns = {name: column[complete] for name, column in columns.items()}
    target = columns.pop("status").astype(str)
    return Dataset("credit", columns, target, "status", _description("credit.csv"))


def _read(file: str, kinds: Mapping[str, Kind]) -> dict[str, NDArray[Any]]:
    """Return the columns named in `kinds` of an embedded CSV file."""
    rows = list(csv.DictReader(_text(file).splitlines()))
    return {name: _column((row[name] for row in rows), kind) for name, kind in kinds.items()}


def _column(cells: Iterable[str], kind: Kind) -> NDArray[Any]:
    if kind is int:  # int("") raises: a column declared complete is complete
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    if kind is float:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    return np.array([cell if cell else np.nan for cell in cells], dtype=object)


def _is_missing(column: NDArray[Any]) -> BoolArray:
    return np.asarray(column != column, dtype=np.bool_)  # NaN alone differs from itself


def _at_least(prices: NDArray[Any], threshold: float) -> NDArray[np.int64]:
    """Return 1 where the price reaches the threshold, else 0; both must occur."""
    if not (isinstance(threshold, Real) and prices.min() < threshold <= prices.max()):
        raise InputError(
            f"The 'binary_at' parameter of load_ames must be None or a price in "
            f"({prices.min()}, {prices.max()}], so that both classes occur. "
            f"Got {threshold!r} instead."
        )
    return (prices >= threshold).astype(np.int64)


def _description(title: str) -> str:
    """Return the section `title` of the README beside the data, so that there is one truth."""
    sections = dict(part.split("\n", 1) for part in _text("README.md").split("\n## ")[1:])
    return sections[title].strip()


def _text(file: str) -> str:
    return (files("pertinent.datasets") / "data" / file).read_text(encoding="utf-8")
