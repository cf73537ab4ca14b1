"""A time limit: by how much it is passed, and how far apart bound and point are at a stop."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees.models import Case, cases, fitted
from benchmarks.trees.results import Results, on_processor_time

LINE = "limit"
LIMITS = (0.3, 1.0, 3.0)
MODELS = ("forest 100 x depth 5", "extra trees 100 x depth 6", "forest 500", "digits", "credit: f")


def models() -> list[Case]:
    return [case for case in cases() if any(word in case.title for word in MODELS)]


def measure(results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Answer rows within limits of processor time, which other programs do not use up."""
    import pertinent

    for case in models():
        names = [(limit, f"{case.title} in {limit:g} s") for limit in LIMITS]
        if not only(f"{LINE}: {case.title}") or not any(
            results.missing(LINE, name, rows) for _, name in names
        ):
            continue
        model, some, targets = fitted(case, rows)
        pertinent.pertinent_negatives(model, some[:1], target=targets[0], time_limit=0.5)
        for limit, name in names:
            for i in results.missing(LINE, name, rows):
                if i >= len(some) or results.is_over():
                    break
                with on_processor_time():
                    start = time.process_time()
                    found = pertinent.pertinent_negatives(
                        model, some[i : i + 1], target=targets[i], time_limit=limit
                    )
                    seconds = time.process_time() - start
                results.note(
                    LINE,
                    name,
                    i,
                    {
                        "seconds": seconds,
                        "limit": limit,
                        "proved": found.status[0] == "optimal",
                        "valid": model.predict(found.points)[0] == targets[i],
                        "objective": found.objective[0],
                        "bound": found.bound[0],
                    },
                )


def summary(results: Results) -> list[Measure]:
    """Return the bars: 20% and 50 ms beyond the limit; 1.5 in the median at a stop."""
    found = [answer for (line, _, _), answer in results.answers.items() if line == LINE]
    if not found:
        return []
    beyond = np.array([a["seconds"] - 1.2 * a["limit"] - 0.05 for a in found])
    ratios = [_ratio(a) for a in found if not a["proved"]]
    invalid = sum(not a["valid"] for a in found)
    worst = max((a["seconds"] / a["limit"] for a in found), default=0.0)
    late = f"{int((beyond > 0).sum())} of {len(found)} too late"
    measures = [
        Measure("time limit: at most 20% and 50 ms over", late, "0", bool((beyond <= 0).all()),
                f"worst {worst:.2f} times the limit"),
        Measure("time limit: valid points at a stop", f"{invalid} invalid", "0", invalid == 0),
    ]  # fmt: skip
    for limit in LIMITS:
        own = [_ratio(a) for a in found if a["limit"] == limit and not a["proved"]]
        if own:
            words = f"{np.median(own):.2f} on {len(own)} rows"
            measures.append(
                Measure(f"  objective / bound at {limit:g} s, median", words, "<= 1.5",
                        float(np.median(own)) <= 1.5)
            )  # fmt: skip
    if ratios:
        words = f"{np.median(ratios):.2f} on {len(ratios)} stops"
        measures.append(
            Measure("time limit: objective / bound, median", words, "<= 1.5",
                    float(np.median(ratios)) <= 1.5)
        )  # fmt: skip
    return measures


def _ratio(answer: dict[str, float]) -> float:
    return answer["objective"] / answer["bound"] if answer["bound"] > 0 else np.inf
