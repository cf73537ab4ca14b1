"""Break one line after the other until the time is over: ``make mutants MINUTES=60``.

Each mutant appends one line to ``mutants/results/mutants.jsonl``; the next run tries those that are
left, and those whose file was edited since. ``--only TEXT`` tries the mutants whose place or
description holds the text, ``--again survived`` those that survived, ``--fresh`` tries survivors
again in processes of their own, ``--checks`` leaves out the single checks of the trusted base
instead (`mutants.checks`), ``--list`` prints the results so far, ``--write`` puts
them into the page.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from mutants import checks, warm
from mutants.apply import Lost, found, key
from mutants.capabilities import EQUIVALENT, suite_for
from mutants.catalogue import MUTANTS, Mutant
from mutants.equivalent import reason_for
from mutants.run import EQUAL, KILLED, LOST, PACKAGE, ROOT, SURVIVED, scratch, try_mutant

RESULTS = Path(__file__).parent / "results" / "mutants.jsonl"
PAGE = ROOT / "docs" / "campaign.md"
BEGIN, END = "<!-- mutants: begin -->\n", "<!-- mutants: end -->"


def known(path: Path = RESULTS) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the last record of each mutant."""
    out: dict[tuple[str, str, str], dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        record = json.loads(line)
        out[record["where"], record["old"], record["new"]] = record
    return out


def left(mutants: list[Mutant], only: str, again: str) -> list[Mutant]:
    """Return the mutants that are to be tried."""
    records, todo = known(), []
    for mutant in mutants:
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
    first = ("proofs/", "checking/", "rules/", "setting/", "geometry/")
    return sorted(todo, key=lambda mutant: not mutant.where.startswith(first))


def run(todo: list[Mutant], minutes: float, jobs: int, budget: float) -> None:
    """Try the mutants in forks."""
    end = time.monotonic() + 60 * minutes
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    tests = sorted({test for mutant in todo for test in suite_for(mutant)})

    def then(session: warm.Session) -> None:
        known_tests, workers = warm.Tests(session, budget), []
        for job in range(jobs):
            worker = os.fork()
            if worker == 0:
                for mutant in todo[job::jobs]:
                    if time.monotonic() < end:
                        note(one(known_tests, mutant))
                os._exit(0)
            workers.append(worker)
        for worker in workers:
            os.waitpid(worker, 0)

    warm.session(tests, then)


def run_fresh(todo: list[Mutant], minutes: float) -> None:
    """Try the mutants that survived in forks again, each by all its tests in a new process."""
    end, records = time.monotonic() + 60 * minutes, known()
    with tempfile.TemporaryDirectory() as folder:
        copy = scratch(Path(folder))
        for mutant in todo:
            if records.get(mutant[:3], {}).get("outcome") == SURVIVED and time.monotonic() < end:
                note(try_mutant(mutant, copy))


def one(known_tests: warm.Tests, mutant: Mutant) -> dict[str, Any]:
    """Return what became of a mutant in a fork."""
    record: dict[str, Any] = dict(zip(Mutant._fields, mutant, strict=True))
    record["date"] = time.strftime("%Y-%m-%d")
    reason = EQUIVALENT.get(mutant[:3]) or reason_for(mutant)
    if reason is not None:
        return record | {"outcome": EQUAL, "by": reason}
    start = time.monotonic()
    try:
        record["key"] = key(mutant, found(mutant, PACKAGE)[1])
        noticed, count = known_tests.notices(mutant)
    except (Lost, warm.Untried) as error:
        return record | {"outcome": LOST, "by": str(error)}
    record["seconds"] = round(time.monotonic() - start, 1)
    if noticed:
        return record | {"outcome": KILLED, "by": noticed}
    return record | {"outcome": SURVIVED, "by": f"{count} tests"}


def note(record: dict[str, Any]) -> None:
    """Append a record, and print it."""
    with RESULTS.open("a") as file:
        file.write(json.dumps(record) + "\n")
    print(_line(record), flush=True)


def _line(record: dict[str, Any]) -> str:
    words = f"{record['outcome']:10s} {record['where']}: {record['breaks']} "
    return f"{words}({record['by']}, {record.get('seconds', 0.0)} s)"


def sections() -> dict[str, list[Mutant]]:
    """Return the kinds of mutants, by their title."""
    return {
        "Lines of the catalogue": MUTANTS,
        "Single checks of the trusted base, left out": checks.read(PACKAGE),
    }


def summary(before: str = "") -> str:
    """Return how many were killed, and every one that was not.

    Of a kind that was not tried here, what stood in the text ``before`` is kept: results are not
    part of the repository.
    """
    records, out = known(), []
    for title, mutants in sections().items():
        tried = any(mutant[:3] in records for mutant in mutants)
        old = [part for part in before.split("\n**") if part.startswith(f"{title}.**")]
        kept = f"**{old[0].strip()}\n" if old and not tried else ""
        out.append(kept or f"**{title}.** {_counted(mutants)}")
    return "\n\n".join(out)


def _counted(mutants: list[Mutant]) -> str:
    records = known()
    now = [records[m[:3]] for m in mutants if m[:3] in records]
    counts = Counter(record["outcome"] for record in now)
    dates = sorted({record["date"] for record in now}) or ["-"]
    lines = [
        f"{counts[KILLED]} of {len(mutants)} mutants killed, {counts[SURVIVED]} survived, "
        f"{counts[EQUAL]} equivalent, {counts[LOST]} lost, {len(mutants) - len(now)} not tried; "
        f"{dates[0]} to {dates[-1]}.",
        "",
    ]
    lines += [
        f"- {record['outcome']}: `{record['where']}`: {record['breaks']} ({record['by']})"
        for record in now
        if record["outcome"] != KILLED
    ]
    return "\n".join(lines)


def write() -> None:
    """Put the summary into the page of the documentation, between its two marks."""
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{summary(old)}\n\n{END}{after}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="text in the place or description")
    parser.add_argument("--again", default="", help="outcome of which to try all again")
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests a mutant")
    parser.add_argument("--most", type=int, default=10_000, help="try so many at most")
    parser.add_argument("--checks", action="store_true", help="leave out single checks instead")
    parser.add_argument("--fresh", action="store_true", help="try survivors in new processes")
    parser.add_argument("--list", action="store_true", help="print the results so far")
    parser.add_argument("--write", action="store_true", help="put them into the documentation")
    given = parser.parse_args()
    if given.write:
        write()
    elif not given.list:
        mutants = checks.read(PACKAGE) if given.checks else MUTANTS
        todo = left(mutants, given.only, given.again)[: given.most]
        if given.fresh:
            run_fresh(mutants, given.minutes)
        else:
            run(todo, given.minutes, given.jobs, given.budget)
    print(summary())
    sys.exit(any(record["outcome"] in (SURVIVED, LOST) for record in known().values()))


if __name__ == "__main__":
    main()
