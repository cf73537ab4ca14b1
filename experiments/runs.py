"""Running the protocol: one small file for each finished piece, so that a run can be resumed."""

from __future__ import annotations

import csv
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from experiments import missing_half
from experiments.measures import COLUMNS, measure
from experiments.missing_half import Half
from experiments.protocol import DATA, MODELS, PAPER_MODELS


@dataclass(frozen=True)
class Piece:
    """One repetition of one model on one data set."""

    data: str
    model: str
    seed: int

    columns = ("fold", "f1", *COLUMNS)

    def file(self, folder: Path) -> Path:
        return _file(folder, f"{self.data}-{self.model}-{self.seed}")

    def records(self) -> list[dict[str, Any]]:
        return measure(self.data, self.model, self.seed, self.model in PAPER_MODELS)


@dataclass(frozen=True)
class HalfPiece:
    """The evidence on the missing 1/2, for one model on one data set."""

    data: str
    model: str

    columns = missing_half.COLUMNS

    def file(self, folder: Path) -> Path:
        return _file(folder, f"half-{self.data}-{self.model}")

    def records(self) -> list[dict[str, Any]]:
        return missing_half.measure(self.data, self.model)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name.replace(' ', '_').replace(',', '')}.csv"


def half_pieces() -> Iterator[HalfPiece]:
    """Yield the pieces of the evidence, the longest first."""
    for model in reversed(missing_half.MODELS):
        for data in missing_half.DATA:
            yield HalfPiece(data, model)


def pieces(repetitions: int) -> Iterator[Piece]:
    """Yield all pieces, the paper's models first."""
    for model in MODELS:
        for data in DATA:
            for seed in range(repetitions):
                yield Piece(data, model, seed)


def run(folder: Path, repetitions: int, jobs: int) -> None:
    """Compute what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    everything = [*half_pieces(), *pieces(repetitions)]
    todo = [piece for piece in everything if not piece.file(folder).exists()]
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:
        task = progress.add_task("pieces of the table", total=len(todo))
        finished = Parallel(n_jobs=jobs, return_as="generator_unordered")(
            delayed(_solve)(piece, folder) for piece in todo
        )
        for piece in finished:
            progress.update(task, advance=1, description=f"{piece.data}, {piece.model}")


def _solve(piece: Piece | HalfPiece, folder: Path) -> Piece | HalfPiece:
    start = time.process_time()
    with warnings.catch_warnings():
        # QDA without regularisation says on every fit that variables are nearly collinear.
        warnings.simplefilter("ignore")
        records = piece.records()
    spent = (time.process_time() - start) / max(1, len(records))
    path = piece.file(folder)
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*piece.columns, "seconds"])
        writer.writeheader()
        writer.writerows({**record, "seconds": spent} for record in records)
    os.replace(unfinished, path)
    return piece


def load(folder: Path, repetitions: int) -> dict[tuple[str, str], list[list[dict[str, Any]]]]:
    """Return the records of each (data, model): one list a repetition."""
    out: dict[tuple[str, str], list[list[dict[str, Any]]]] = {}
    for piece in pieces(repetitions):
        rows = _read(piece.file(folder))
        if rows:
            out.setdefault((piece.data, piece.model), []).append(rows)
    return out


def load_halves(folder: Path) -> list[Half]:
    """Return the evidence on the missing 1/2, in the order of the models and the data."""
    found = {piece: _read(piece.file(folder)) for piece in half_pieces()}
    order = {(m, d): (i, j) for i, m in enumerate(missing_half.MODELS)
             for j, d in enumerate(missing_half.DATA)}  # fmt: skip
    return [
        missing_half.summarise(piece.data, piece.model, rows)
        for piece, rows in sorted(
            found.items(), key=lambda item: order[item[0].model, item[0].data]
        )
        if rows
    ]


def _read(path: Path) -> list[dict[str, Any]]:
    with path.open() as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
