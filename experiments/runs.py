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

from experiments.measures import COLUMNS, measure
from experiments.protocol import DATA, MODELS, PAPER_MODELS


@dataclass(frozen=True)
class Piece:
    """One repetition of one model on one data set."""

    data: str
    model: str
    seed: int

    def file(self, folder: Path) -> Path:
        name = f"{self.data}-{self.model}-{self.seed}".replace(" ", "_").replace(",", "")
        return folder / f"{name}.csv"


def pieces(repetitions: int) -> Iterator[Piece]:
    """Yield all pieces, the paper's models first."""
    for model in MODELS:
        for data in DATA:
            for seed in range(repetitions):
                yield Piece(data, model, seed)


def run(folder: Path, repetitions: int, jobs: int) -> None:
    """Compute what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    todo = [piece for piece in pieces(repetitions) if not piece.file(folder).exists()]
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


def _solve(piece: Piece, folder: Path) -> Piece:
    start = time.process_time()
    with warnings.catch_warnings():
        # QDA without regularisation says on every fit that variables are nearly collinear.
        warnings.simplefilter("ignore")
        records = measure(piece.data, piece.model, piece.seed, piece.model in PAPER_MODELS)
    spent = (time.process_time() - start) / max(1, len(records))
    path = piece.file(folder)
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["fold", "f1", *COLUMNS, "seconds"])
        writer.writeheader()
        writer.writerows({**record, "seconds": spent} for record in records)
    os.replace(unfinished, path)
    return piece


def load(folder: Path, repetitions: int) -> dict[tuple[str, str], list[list[dict[str, Any]]]]:
    """Return the records of each (data, model): one list a repetition."""
    out: dict[tuple[str, str], list[list[dict[str, Any]]]] = {}
    for piece in pieces(repetitions):
        with piece.file(folder).open() as file:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]
        if rows:
            out.setdefault((piece.data, piece.model), []).append(rows)
    return out
