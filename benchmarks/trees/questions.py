"""Positives: between, strict, and enough whatever the other values are."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.bars import Measure
from benchmarks.trees.models import Case, cases, fitted, table_of
from benchmarks.trees.results import Results, on_processor_time, share_of

#: Of each line: what is asked, seconds, the share that has to be proved, and of which models.
ASKED: dict[str, dict[str, Any]] = {
    "between": {"method": "two-phase", "between": True},
    "strict": {"method": "strict"},
    "sufficient": {"method": "sufficient"},
}
SECONDS = {"between": 1.0, "strict": 1.0, "sufficient": 10.0}


def models(line: str) -> list[tuple[Case, float | None]]:
    """Return the models of a line, and the share that has to be proved; None: any."""
    if line != "sufficient":
        return [(case, 1.0) for case in cases() if " 100 x" in case.title]
    some = [case for case in cases() if "credit" not in case.table and case.table != "digits"]
    boosted = [case for case in some if "boost" in case.name]
    forests = [case for case in some if case.name == "forest 100 x depth 5"]
    return [(case, 0.95) for case in boosted] + [(case, None) for case in forests]


def measure(line: str, results: Results, rows: int, only: Callable[[str], bool]) -> None:
    """Ask about the rows of each model that were not asked about before."""
    import pertinent

    for case, _ in models(line):
        left = results.missing(line, case.title, rows)
        if not left or not only(f"{line}: {case.title}"):
            continue
        model, some, _targets = fitted(case, rows)
        table = table_of(case.table)[0]
        known = {"baseline": np.median(table, axis=0), "data": table, **ASKED[line]}
        pertinent.pertinent_positives(model, some[:1], **known, time_limit=0.5)
        for i in left:
            if i >= len(some) or results.is_over():
                break
            x = some[i : i + 1]
            with on_processor_time():
                start = time.process_time()
                found = pertinent.pertinent_positives(
                    model, x, **known, time_limit=2 * SECONDS[line]
                )
                seconds = time.process_time() - start
            has = not np.isnan(found.points).any()
            results.note(
                line,
                case.title,
                i,
                {
                    "seconds": seconds,
                    "proved": found.status[0] == "optimal",
                    "none": found.status[0] == "infeasible",
                    "valid": has and np.all(model.predict(found.points) == model.predict(x)),
                    "objective": found.objective[0],
                    "bound": found.bound[0],
                },
            )


def summary(line: str, results: Results) -> list[Measure]:
    """Return the bars of a line."""
    measures = []
    for case, needed in models(line):
        found = list(results.of(line, case.title).values())
        if not found:
            continue
        limit = SECONDS[line]
        settled = [a for a in found if (a["proved"] or a["none"]) and a["seconds"] <= limit]
        seconds = np.array([a["seconds"] for a in found])
        invalid = sum(not a["valid"] and not a["none"] for a in found)
        wrong = sum(a["bound"] > a["objective"] * (1 + 1e-9) for a in found)
        open_ = [a for a in found if not a["proved"] and not a["none"]]
        early = sum(a["bound"] >= a["objective"] for a in open_)  # proved, and not called so
        met = None if needed is None else len(settled) / len(found) >= needed and not invalid
        if needed is None:
            met = not (invalid or wrong)
        measures.append(
            Measure(
                f"{line}: {case.title}",
                f"{share_of(len(settled), len(found))} in {limit:g} s",
                "-" if needed is None else f">= {needed:.0%}",
                met,
                f"median {1e3 * np.median(seconds):.0f} ms, invalid {invalid}, open {len(open_)} "
                f"of which {early} are fewest nevertheless",
            )
        )
    return measures
