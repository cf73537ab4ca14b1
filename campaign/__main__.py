"""Run seeds until the time is over: ``make campaign MINUTES=10``.

Each seed appends one line to ``campaign/results/seeds.jsonl``; the next run goes on with the next
seed. A failure is made small, and written to ``tests/campaign/reproducers``, where the tests read
it. ``--seed N`` runs one seed and prints all of it; ``--table`` prints what there is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import chain, count
from pathlib import Path
from typing import Any

import pertinent
from campaign import reproducers
from campaign.models import FAMILIES
from campaign.report import read, summary, write
from campaign.run import LATTICE, LATTICE_FROM, Outcome, family_of, run_seed

RESULTS = Path(__file__).parent / "results" / "seeds.jsonl"
PAGE = Path(__file__).parents[1] / "docs" / "campaign.md"
#: Reproducers written for one judge and family; more of a kind teach little.
MOST_OF_A_KIND = 1


def one(
    seed: int, rows: float, kept: frozenset[tuple[str, str]]
) -> tuple[dict[str, Any], list[str]]:
    """Return the record of a seed, and the files of its failures."""
    outcome = run_seed(seed, rows)
    return outcome.record(), _kept(outcome, kept)


def _kept(outcome: Outcome, known: frozenset[tuple[str, str]]) -> list[str]:
    files, done = [], set(known)
    for name, detail, case in outcome.shown:
        if (name, outcome.family) in done:
            continue
        done.add((name, outcome.family))
        smaller, why = reproducers.minimal(case, name, outcome.seed)
        saved = reproducers.save(smaller, name, why or detail, outcome.seed)
        files.append("nothing: too large" if saved is None else saved.name)
    return files


def _commit() -> str:
    """Return the commit whose code is judged, marked where the sources were edited since."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    asked = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() or "unknown"


def _load() -> None:
    """Import the whole package, so that edits during a long run do not mix two versions."""
    for info in pkgutil.walk_packages(pertinent.__path__, "pertinent."):
        if not info.name.startswith(("pertinent.cli", "pertinent.scale", "pertinent.__main__")):
            importlib.import_module(info.name)


def _enough() -> frozenset[tuple[str, str]]:
    """Return the judges and families of which there are reproducers enough."""
    kinds: Counter[tuple[str, str]] = Counter()
    for path in reproducers.FOLDER.glob("*.json"):
        record = json.loads(path.read_text())
        kinds[record["judge"], record["family"]] += 1
    return frozenset(kind for kind, n in kinds.items() if n >= MOST_OF_A_KIND)


def run(
    minutes: float, jobs: int, first: int | None, rows: float, results: Path = RESULTS,
    families: tuple[str, ...] = (*FAMILIES, LATTICE),
) -> int:  # fmt: skip
    """Run seed after seed of some families, and return how many failures there were."""
    results.parent.mkdir(parents=True, exist_ok=True)
    seeds = (seed for seed in _seeds(results, first) if family_of(seed) in families)
    commit, failed, end = _commit(), 0, time.monotonic() + 60 * minutes
    with ProcessPoolExecutor(jobs, initializer=_load) as pool, results.open("a") as file:
        waiting: set[Future[Any]] = set()
        while True:
            while len(waiting) < jobs and time.monotonic() < end:
                waiting.add(pool.submit(one, next(seeds), rows, _enough()))
            if not waiting:
                return failed
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                record, files = future.result()
                record |= {"commit": commit, "rows": rows}
                failed += len(record["failures"])
                file.write(json.dumps(record) + "\n")
                file.flush()
                print(_line(record, files), flush=True)


def _seeds(results: Path, first: int | None) -> Iterator[int]:
    """Yield seeds of the families and of the lattice in turn, each after the last that is known."""
    known = [record["seed"] for record in read(results)]
    plain = max((seed for seed in known if seed < LATTICE_FROM), default=-1) + 1
    lattice = max((seed for seed in known if seed >= LATTICE_FROM), default=LATTICE_FROM - 1) + 1
    if first is not None and first >= LATTICE_FROM:
        return count(first)
    return chain.from_iterable(zip(count(plain if first is None else first), count(lattice)))


def _line(record: dict[str, Any], files: list[str]) -> str:
    words = f"seed {record['seed']}: {record['family']}, {', '.join(record['traits'])}: "
    words += f"{record['counts'].get('answers', 0)} answers, {record['seconds']:.1f} s"
    words += "".join(f"\n  FAILED {name}: {detail[:200]}" for name, detail in record["failures"])
    return words + "".join(f"\n  kept as {name}" for name in files)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--first", type=int, help="the first seed; by default the next")
    parser.add_argument("--rows", type=float, default=5.0, help="times the usual number of samples")
    families = [*FAMILIES, LATTICE]
    parser.add_argument("--family", action="append", choices=families, help="only these")
    parser.add_argument("--seed", type=int, help="run one seed, and keep nothing")
    parser.add_argument("--table", action="store_true", help="print the results so far")
    parser.add_argument("--write", action="store_true", help="put them into the documentation")
    given = parser.parse_args()
    if given.write:
        write(PAGE, RESULTS)
    elif given.table:
        print(summary(RESULTS))
    elif given.seed is not None:
        record = run_seed(given.seed, given.rows).record()
        print(json.dumps(record, indent=1))
        sys.exit(bool(record["failures"]))
    else:
        chosen = tuple(given.family or families)
        failed = run(given.minutes, given.jobs, given.first, given.rows, RESULTS, chosen)
        print("\n" + summary(RESULTS))
        sys.exit(bool(failed))


if __name__ == "__main__":
    main()
