"""Rows a second of a boosted credit model on two cores, and one row by itself."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees import models as of
from benchmarks.trees.results import Results

LINE, TITLE, ROWS = "rate", "credit: histogram boosting 100 x 31 leaves, typed", 1_000


def measure(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Answer 1,000 rows, and explain some by themselves; by processor time."""
    if not results.missing(LINE, TITLE, 1) or not only(f"{LINE}: {TITLE}"):
        return
    import pertinent
    from benchmarks.trees.judged import typed

    model, frame, known = typed("", of.histogram(100), gaps=False).make(ROWS)
    pertinent.pertinent_negatives(model, frame[:20], **known)
    start = time.process_time()
    found = pertinent.pertinent_negatives(model, frame, **known)
    seconds = time.process_time() - start
    wall = time.monotonic()
    both = pertinent.pertinent_negatives(model, frame, **known, n_jobs=2)
    wall = time.monotonic() - wall
    explainer = pertinent.Explainer(model, **known)
    explainer.explain(frame[:1])
    single, predicting = [], []
    for i in range(rows):
        x = frame.iloc[i : i + 1]
        start = time.process_time()
        explainer.explain(x)
        single.append(time.process_time() - start)
        start = time.process_time()
        model.predict(x)
        predicting.append(time.process_time() - start)
    numbers = {
        "seconds": seconds,
        "wall": wall,
        "proved": float(np.mean(found.status == "optimal")),
        "valid": float(np.mean(model.predict(found.points) == found.target)),
        "same": float(found.points.equals(both.points)),
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
    rate = 2 * ROWS / found["seconds"]  # one core's, doubled: a busy machine has no two to spare
    words = f"{rate:.0f} rows/s, {found['proved']:.1%} proved"
    note = (
        f"{ROWS / found['wall']:.0f} rows/s with n_jobs=2 by the clock on the wall, the same "
        f"points: {bool(found['same'])}; valid {found['valid']:.1%}"
    )
    single = f"median {1e3 * found['single']:.0f} ms"
    share = f"95% within {1e3 * found['single95']:.0f} ms; predict {1e3 * found['predict']:.1f} ms"
    return [
        Measure("1,000 rows, boosted, typed, 2 cores", words, ">= 100",
                rate >= 100 and found["proved"] == 1, note),
        Measure("one row: positive, negative, predict", single, "< 50 ms",
                found["single"] < 0.05, share),
    ]  # fmt: skip
