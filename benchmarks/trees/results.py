"""What was measured so far: a measurement can be stopped and taken up again."""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import numpy as np

FILE = Path(__file__).parents[1] / "results" / "trees.csv"
Numbers = dict[str, float]


@dataclass
class Results:
    """The answers of all lines, by line, model and row."""

    file: Path = FILE
    end: float = np.inf
    answers: dict[tuple[str, str, int], Numbers] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path, end: float, forget: str | None) -> Results:
        """Read a file; forget the lines whose name holds a word."""
        found = cls(file, end)
        if file.exists():
            with file.open(newline="") as text:
                for line, case, row, words in list(csv.reader(text))[1:]:
                    if forget is None or forget not in f"{line}: {case}":
                        pairs = (word.split("=") for word in words.split())
                        numbers = {name: float(value) for name, value in pairs}
                        found.answers[line, case, int(row)] = numbers
        return found

    def of(self, line: str, case: str) -> dict[int, Numbers]:
        """Return the answers of one line about one model, by row."""
        return {row: found for (a, b, row), found in self.answers.items() if (a, b) == (line, case)}

    def column(self, line: str, case: str, name: str) -> np.ndarray:
        """Return one number of all answers."""
        return np.array([numbers[name] for numbers in self.of(line, case).values()])

    def missing(self, line: str, case: str, rows: int) -> list[int]:
        """Return the rows that were not answered; none once the time is over."""
        if self.is_over():
            return []
        done = self.of(line, case)
        return [row for row in range(rows) if row not in done]

    def is_over(self) -> bool:
        """Return whether the time of this run is over."""
        return time.monotonic() > self.end

    def note(self, line: str, case: str, row: int, numbers: Numbers) -> None:
        """Keep an answer, and write all of them."""
        self.answers[line, case, row] = {name: float(value) for name, value in numbers.items()}
        self.file.parent.mkdir(exist_ok=True)
        with self.file.open("w", newline="") as text:
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(["line", "model", "row", "answer"])
            for key, found in sorted(self.answers.items()):
                words = " ".join(f"{name}={value:.10g}" for name, value in found.items())
                writer.writerow([*key, words])


@contextmanager
def on_processor_time() -> Iterator[None]:
    """Let time limits count processor time: what else the machine does must not matter."""
    with ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            clock = getattr(module, "monotonic", None) if name.startswith("pertinent.") else None
            if clock is time.monotonic:
                stack.enter_context(mock.patch.object(module, "monotonic", time.process_time))
        yield


def interval(hits: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share."""
    p, shift = hits / n, z * z / n
    middle = (p + shift / 2) / (1 + shift)
    half = z * np.sqrt(p * (1 - p) / n + shift / (4 * n)) / (1 + shift)
    return float(middle - half), float(middle + half)


def share_of(hits: int, n: int) -> str:
    """Return a share with its 95% interval in words."""
    low, high = interval(hits, n)
    return f"{hits / n:.0%} [{low:.0%}, {high:.0%}] of {n}"
