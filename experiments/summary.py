"""From samples to the table's cells, and the verdict on each of the paper's cells."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.paper_numbers import PAPER
from experiments.protocol import PAPER_MODELS

Records = Sequence[Sequence[Mapping[str, Any]]]

MEASURES = ("sparsity", "closeness", "closeness_plus", "overlap")
#: Also measured on the samples whose rounded positive keeps its class.
SURVIVING = ("sparsity", "closeness", "closeness_plus")


@dataclass(frozen=True)
class Cell:
    """One model on one data set: means and variances over samples, and shares."""

    data: str
    model: str
    repetitions: int
    samples: int
    sparsity: float
    sparsity_var: float
    closeness: float
    closeness_var: float
    closeness_plus: float
    closeness_plus_var: float
    closeness_plus_spread: float
    overlap: float
    overlap_var: float
    f1: float
    explained: float
    proved: float
    unique: float
    unique_decided: float
    negative_explained: float
    negative_proved: float
    negative_unique: float
    strict_sparsity: float
    strict_explained: float
    strict_equal: float
    strict_sparser: float
    strict_denser: float
    exact_sparsity: float
    exact_closeness: float
    exact_explained: float
    rounded_valid: float
    small_kept: float
    curved_rows: float
    surviving_sparsity: float
    surviving_closeness: float
    surviving_closeness_plus: float
    milliseconds: float
    #: NaN in files written before it was counted.
    negative_unique_decided: float = float("nan")


def summarise(results: Mapping[tuple[str, str], Records]) -> list[Cell]:
    """Return one cell for each data set and model."""
    return [_cell(data, model, runs) for (data, model), runs in results.items()]


def _cell(data: str, model: str, runs: Records) -> Cell:
    rows = [row for run in runs for row in run]
    column = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    strict = ~np.isnan(column["strict_sparsity"])
    difference = (column["strict_sparsity"] - column["sparsity"])[strict]
    per_run = [np.mean([row["closeness_plus"] for row in run]) for run in runs]
    values: dict[str, Any] = {
        name: _mean(column[name])
        for name in (
            *MEASURES, "f1", "explained", "proved", "unique", "negative_explained",
            "negative_proved", "negative_unique", "strict_sparsity", "strict_explained",
            "exact_sparsity", "exact_closeness", "exact_explained", "rounded_valid",
            "small_kept", "curved_rows",
        )
    }  # fmt: skip
    values |= {f"{name}_var": float(np.nanvar(column[name])) for name in MEASURES}
    # The paper's population: what its rounding to two decimals leaves over.
    left = (column["rounded_valid"] == 1) & (model in PAPER_MODELS)
    values |= {f"surviving_{name}": _mean(column[name][left]) for name in SURVIVING}
    return Cell(
        data=data,
        model=model,
        repetitions=len(runs),
        samples=len(rows),
        closeness_plus_spread=float(np.std(per_run)),
        unique_decided=float((~np.isnan(column["unique"])).mean()),
        negative_unique_decided=float((~np.isnan(column["negative_unique"])).mean()),
        strict_equal=_mean(difference == 0),
        strict_sparser=_mean(difference > 0),
        strict_denser=_mean(difference < 0),
        milliseconds=1e3 * _mean(column["seconds"]),
        **values,
    )


def _mean(values: np.ndarray) -> float:
    known = values[~np.isnan(values.astype(float))]
    return float(known.mean()) if len(known) else float("nan")


def verdict(cell: Cell) -> str:
    """Return one sentence on a cell of the paper: reached, or why it is not comparable.

    Means are compared as the paper prints them, with two decimals.
    """
    paper = PAPER.get(cell.data, {}).get(cell.model)
    if paper is None:
        return "not in the paper"
    wanted, close = paper["sparsity"][0], paper["closeness_plus"][0]
    if round(cell.sparsity, 2) >= wanted and round(cell.closeness_plus, 2) <= close:
        return "reached by the two phases, on every sample"
    exact = f"{cell.exact_sparsity:.2f} at closeness {cell.exact_closeness:.2f}"
    if round(cell.exact_sparsity, 2) >= wanted and round(cell.exact_closeness, 2) <= close:
        return (
            f"two-phase {cell.sparsity:.2f} at {cell.closeness_plus:.2f} on every sample (the "
            f"paper's means are over the samples that survived its rounding); eq. 3 solved "
            f"exactly reaches {exact} on {cell.exact_explained:.0%} of them"
        )
    if round(cell.strict_sparsity, 2) >= wanted:
        return (
            f"at another trade-off: {exact}, against {wanted:.2f} at {close:.2f} in the paper; "
            f"keeping exact values (closeness 0) reaches a sparsity of {cell.strict_sparsity:.2f} "
            f"on {cell.strict_explained:.0%} of all samples: better in both"
        )
    return (
        f"not reached: {exact}, against {wanted:.2f} at {close:.2f} in the paper on the samples "
        "that it kept"
    )


def write_csv(cells: Sequence[Cell], path: Path) -> None:
    """Write the cells, one a line."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(asdict(cells[0])))
        writer.writeheader()
        for cell in cells:
            writer.writerow(
                {k: f"{v:.6g}" if isinstance(v, float) else v for k, v in asdict(cell).items()}
            )


def read_csv(path: Path) -> list[Cell]:
    """Return the cells of a file written by `write_csv`."""
    types = {f: t for f, t in Cell.__annotations__.items()}
    convert = {"str": str, "int": int, "float": float}
    with path.open() as file:
        return [
            Cell(**{k: convert[types[k]](v) for k, v in row.items()})
            for row in csv.DictReader(file)
        ]
