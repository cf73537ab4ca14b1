"""Bars: a ratio measured in this very process, beside what it has to reach.

Times are processor time of this process, all on one thread: on a busy machine they are steadier
than the clock on the wall, and the same for both sides of a ratio. As with Python's own timeit, the
garbage collector is off meanwhile, on both sides.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Bar:
    """One line of a benchmark: how many times faster, and at what quality.

    ``needed`` is None for a line that informs and need not be met.
    """

    case: str
    ours_us: float
    other: str
    other_us: float
    needed: float | None
    valid: float
    worst_excess: float
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.other_us / self.ours_us

    @property
    def passed(self) -> bool | None:
        if self.needed is None:
            return None
        return self.ratio >= self.needed and self.valid == 1.0 and self.worst_excess <= 1e-6


def keep_memory() -> None:
    """Let this process keep the memory of freed arrays, as one does that has handled a large table.

    The C library hands memory back to the system, and asks for it again, where more is free than
    twice the largest array that was freed so far, of at most 32 MiB: which call pays for that is a
    matter of chance.
    """
    np.empty(2**22 - 2**12).fill(0.0)


@contextmanager
def no_collecting() -> Iterator[None]:
    """Time without the garbage collector, which would visit the objects of everyone's libraries."""
    keep_memory()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def seconds_per_row(call: Callable[[], object], rows: int, repeats: int = 3) -> float:
    """Return the median seconds per row of repeated calls, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return float(np.median(times)) / rows


def print_bars(title: str, bars: Sequence[Bar]) -> int:
    """Print the bars as a table; return how many were missed."""
    print(f"\n{title}")
    head = f"{'case':46} {'ours us/row':>12} {'other':>22} {'us/row':>12} {'ratio':>9} {'bar':>7}"
    print(head + f" {'valid':>6} {'excess':>8}  verdict")
    for bar in bars:
        verdict = {True: "pass", False: "MISS", None: "-"}[bar.passed]
        needed = "-" if bar.needed is None else f"{bar.needed:,.0f}x"
        print(
            f"{bar.case:46} {bar.ours_us:12,.1f} {bar.other:>22} {bar.other_us:12,.0f} "
            f"{bar.ratio:8,.0f}x {needed:>7} {bar.valid:6.1%} {bar.worst_excess:8.1e}  "
            f"{verdict} {bar.note}"
        )
    return sum(bar.passed is False for bar in bars)


@dataclass(frozen=True)
class Measure:
    """One bar in words: what was measured, what is needed, and whether that is met.

    ``passed`` is None where nothing was measured: ``note`` says why.
    """

    case: str
    measured: str
    needed: str
    passed: bool | None
    note: str = ""

    @classmethod
    def of(cls, bar: Bar) -> Measure:
        """Return a ratio as a measure."""
        quality = f"valid {bar.valid:.1%}, excess {bar.worst_excess:.0e} {bar.note}"
        needed = "-" if bar.needed is None else f">= {bar.needed:,.0f}x"
        measured = f"{bar.ratio:,.0f}x {bar.other}"
        passed = None if bar.passed is None else bool(bar.passed)
        return cls(bar.case, measured, needed, passed, quality.strip())


def print_measures(title: str, measures: Sequence[Measure]) -> int:
    """Print the measures as a table; return how many were missed or are missing."""
    print(f"\n{title}")
    print(f"{'verdict':8} {'case':54} {'measured':34} {'bar':>12}  note")
    words = {True: "pass", False: "MISS", None: "missing"}
    for one in measures:
        line = f"{words[one.passed]:8} {one.case:54} {one.measured:34} {one.needed:>12}"
        print(f"{line}  {one.note}")
    return sum(not one.passed for one in measures)
