"""Rows a second of a boosted credit model on two cores, and one row by itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees import models as of
from benchmarks.trees.results import Results

LINE, TITLE, ROWS = "rate", "credit: histogram boosting 100 x 31 leaves, typed", 1_000


def measure(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Explain 1,000 rows on two cores, and some by themselves; all by processor time."""
    if not results.missing(LINE, TITLE, 1) or not only(f"{LINE}: {TITLE}"):
        return
    import pertinent
    from benchmarks.trees.judged import typed

    model, frame, known = typed("", of.histogram(100), gaps=False).make(ROWS)
    pertinent.pertinent_negatives(model, frame[:20], **known, n_jobs=2)
    before, wall = sum(os.times()[:4]), time.monotonic()
    found = pertinent.pertinent_negatives(model, frame, **known, n_jobs=2)
    seconds, wall = sum(os.times()[:4]) - before, time.monotonic() - wall
    valid = float(np.mean(model.predict(found.points) == found.target))
    single, predicting = [], []
    for i in range(rows):
        x = frame.iloc[i : i + 1]
        start = time.process_time()
        pertinent.pertinent_negatives(model, x, **known)
        single.append(time.process_time() - start)
        start = time.process_time()
        model.predict(x)
        predicting.append(time.process_time() - start)
    numbers = {
        "seconds": seconds,
        "wall": wall,
        "proved": float(np.mean(found.status == "optimal")),
        "valid": valid,
        "single": float(np.median(single)),
        "single95": float(np.quantile(single, 0.95)),
        "predict": float(np.median(predicting)),
    }
    results.note(LINE, TITLE, 0, numbers)


def summary(results: Results) -> list[Measure]:
    """Return the bars: 100 rows a second, all proved; 50 ms for a row by itself."""
    found = results.of(LINE, TITLE).get(0)
    if not found:
        return []
    rate = ROWS / (found["seconds"] / 2)
    words = f"{rate:.0f} rows/s, {found['proved']:.1%} proved"
    note = f"{ROWS / found['wall']:.0f} rows/s by the clock on the wall; valid {found['valid']:.1%}"
    single = f"median {1e3 * found['single']:.0f} ms"
    share = f"95% within {1e3 * found['single95']:.0f} ms; predict {1e3 * found['predict']:.1f} ms"
    return [
        Measure(f"1,000 rows, {TITLE}", words, ">= 100", rate >= 100 and found["proved"] == 1, note),
        Measure("a single row, region and predict included", single, "< 50 ms",
                found["single"] < 0.05, share),
    ]  # fmt: skip
