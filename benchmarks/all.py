"""Every bar of the project with pass or miss, measured here and now: ``make bench``.

Each line is measured by the benchmark of its family. What cannot be measured (a module or a
package is missing, or it fails) is "missing", which is never a pass.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.bars import Bar, Measure, print_measures

RESULTS = Path(__file__).parent / "results"


def needed(bars: Iterable[Bar]) -> list[Measure]:
    """Return those that have to be met."""
    return [Measure.of(bar) for bar in bars if bar.needed is not None]


def quadratic(module: Any) -> list[Measure]:
    """Return the bars on QDA and naive Bayes: both the ratio and the share proved count."""
    out = []
    for case in module.cases():
        if case.needed is not None:
            bar, _, enough = module.against_paper(case)
            (one,) = needed([bar])
            out.append(Measure(**{**asdict(one), "passed": bool(one.passed and enough)}))
    return out


def prototypes(module: Any) -> list[Measure]:
    return [one for count in module.BARS for one in needed(module.glvq(count)[0])]


#: What each family measures; the names are those of the modules here.
FAMILIES: dict[str, tuple[str, Callable[[Any], list[Measure]]]] = {
    "linear": ("binary linear; digits softmax; K=100, d=500", lambda m: needed(
        [*m.binary_box(), *m.digits(), *m.hundred_classes()])),
    "lvq": ("GLVQ 5 / 20 / 50 prototypes per class, digits", prototypes),
    "quadratic": ("QDA and Gaussian naive Bayes", quadratic),
    "exact": ("strict positives, digits softmax", lambda m: needed([m.strict_bar()])),
    "plausibility": ("plausible positives, digits, PCA 40", lambda m: needed(m.run())),
    "scale": ("1,000,000 rows x 30", lambda m: m.measures()),
}  # fmt: skip


def measured(family: str) -> list[Measure]:
    """Return the measures of a family, or one that says why there are none."""
    case, collect = FAMILIES[family]
    start = time.perf_counter()
    try:
        found = collect(importlib.import_module(f"benchmarks.{family}"))
    except Exception as error:
        traceback.print_exc()
        return [Measure(case, "-", "-", None, f"{type(error).__name__}: {error}")]
    print(f"{family}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return found


def save(measures: list[Measure], path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["case", "measured", "needed", "passed", "note"])
        writer.writeheader()
        writer.writerows(asdict(one) for one in measures)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", metavar="family", help=", ".join(FAMILIES))
    chosen = parser.parse_args().families or list(FAMILIES)
    unknown = sorted(set(chosen) - set(FAMILIES))
    if unknown:
        parser.error(f"there is no family {unknown[0]!r}: choose from {', '.join(FAMILIES)}")
    warnings.filterwarnings("ignore")
    measures = [one for family in chosen for one in measured(family)]
    missed = print_measures("Bars", measures)
    save(measures, RESULTS / "bars.csv")
    met = len(measures) - missed
    print(f"\n{met} of {len(measures)} bars met; results in {RESULTS / 'bars.csv'}")
    return missed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
