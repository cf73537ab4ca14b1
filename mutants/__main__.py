"""Break one line after the other until the time is over: ``make mutants MINUTES=60``.

Each mutant appends one line to ``mutants/results/mutants.jsonl``; the next run tries those that
are left, and those whose file was edited since. ``--only TEXT`` tries the mutants whose place or
description holds the text, ``--again survived`` those that survived.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutants.apply import Lost, found, key
from mutants.catalogue import MUTANTS, Mutant
from mutants.run import EQUAL, KILLED, LOST, PACKAGE, SURVIVED, UNSOUND, run_tests, scratch
from mutants.run import try_mutant as attempt

RESULTS = Path(__file__).parent / "results" / "mutants.jsonl"


def known(path: Path = RESULTS) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the last record of each mutant."""
    out: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        record = json.loads(line)
        out[record["where"], record["old"], record["new"]] = record
    return out


def left(only: str, again: str) -> list[Mutant]:
    """Return the mutants that are to be tried."""
    records, todo = known(), []
    for mutant in MUTANTS:
        if only and not any(only in part for part in (mutant.where, mutant.breaks)):
            continue
        record = records.get(mutant[:3])
        try:
            same = record is not None and record.get("key") == key(
                mutant, found(mutant, PACKAGE)[1]
            )
        except Lost:
            same = False
        if record is None or not same or record["outcome"] == again:
            todo.append(mutant)
    return todo


def run(todo: list[Mutant], minutes: float, jobs: int) -> None:
    """Try the mutants, each in a copy of its own job."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    end, waiting, rest = time.monotonic() + 60 * minutes, set[Future[Any]](), list(todo)
    with (
        tempfile.TemporaryDirectory() as folder,
        ThreadPoolExecutor(jobs) as pool,
        RESULTS.open("a") as file,
    ):
        copies: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            copies.put(scratch(Path(folder) / str(job)))
        sound: dict[str, bool] = {}

        def one(mutant: Mutant) -> dict[str, Any]:
            copy = copies.get()
            try:
                record = attempt(mutant, copy)
                # Only a test that passes on the source as it is shows anything.
                test = record["by"].split("::")[0]
                if record["outcome"] == KILLED and test.startswith("tests/"):
                    if test not in sound:
                        sound[test] = run_tests(copy, (test,))[0] == SURVIVED
                    if not sound[test]:
                        record["outcome"] = UNSOUND
                return record
            finally:
                copies.put(copy)

        while rest or waiting:
            while rest and len(waiting) < jobs and time.monotonic() < end:
                waiting.add(pool.submit(one, rest.pop(0)))
            if not waiting:
                break
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                record = future.result()
                file.write(json.dumps(record) + "\n")
                file.flush()
                print(_line(record), flush=True)


def _line(record: dict[str, Any]) -> str:
    words = f"{record['outcome']:10s} {record['where']}: {record['breaks']} "
    return f"{words}({record['by']}, {record.get('seconds', 0.0)} s)"


def summary() -> str:
    """Return how many were killed, and every one that was not."""
    records = known()
    now = [records[m[:3]] for m in MUTANTS if m[:3] in records]
    counts = Counter(record["outcome"] for record in now)
    lines = [
        f"{counts[KILLED]} of {len(MUTANTS)} mutants killed, {counts[SURVIVED]} survived, "
        f"{counts[EQUAL]} equivalent, {counts[LOST]} lost, {counts[UNSOUND]} whose tests fail "
        f"unbroken, {len(MUTANTS) - len(now)} not tried."
    ]
    lines += [_line(record) for record in now if record["outcome"] != KILLED]
    return "\n".join(lines)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="text in the place or description")
    parser.add_argument("--again", default="", help="outcome of which to try all again")
    parser.add_argument("--most", type=int, default=len(MUTANTS), help="try so many at most")
    parser.add_argument("--list", action="store_true", help="print the results so far")
    given = parser.parse_args()
    if not given.list:
        run(left(given.only, given.again)[: given.most], given.minutes, given.jobs)
    print(summary())
    bad = (SURVIVED, LOST, UNSOUND)
    sys.exit(any(record["outcome"] in bad for record in known().values()))


if __name__ == "__main__":
    main()
