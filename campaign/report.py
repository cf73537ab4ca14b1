"""The results of all seeds, counted by family: what the documentation shows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from campaign.lattice import report as lattice
from campaign.models import FAMILIES

#: Columns of the table: a title, and the judgements that it counts.
COLUMNS: dict[str, tuple[str, ...]] = {
    "answers": ("answers",),
    "alone": ("predict: alone",),
    "in batches": ("predict: batch", "predict: reversed", "predict: Fortran order"),
    "from a file": ("checked from a file",),
    "HiGHS": ("second solver: HiGHS",),
    "Clarabel": ("second solver: Clarabel",),
    "SCIP": ("second solver: SCIP",),
    "brute force": ("brute force: ",),
    "bounds attacked": ("bounds under attack",),
    "laws": ("law:",),
    "failures": (),
}


STATUSES = ("optimal", "feasible", "infeasible", "failed")
#: What must never be broken, and the judgements that look at it.
PROMISES: dict[str, tuple[str, ...]] = {
    "a point is valid, alone and in every batch": ("predict: ",),
    "a point obeys the rules": ("rules obeyed",),
    '"optimal" has a proof that the checker accepts from a file': (
        "checked from a file", "optimal without an accepted proof",
    ),
    "no other solver, and no brute force, disagrees": ("second solver: ", "brute force: "),
    "no point lies below a bound": ("bounds under ",),
    "laws between answers hold": ("law: ",),
    "a named conflict is minimal": ("conflict is minimal",),
    "a time limit is kept": ("time limit kept",),
    "nothing ends in an error of another kind": ("error",),
}  # fmt: skip


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of all seeds, the last of each; a torn last line is left out."""
    found: dict[int, dict[str, Any]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            record = json.loads(line)
        except json.JSONDecodeError:
            continue
        found[record["seed"]] = record
    return [found[seed] for seed in sorted(found)]


def counted(records: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """Return the counts of each column by family, and failures by judge."""
    by_family: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        counts = by_family[record["family"]]
        for title, names in COLUMNS.items():
            counts[title] += sum(
                n for name, n in record["counts"].items() if name.startswith(names or ("-",))
            )
        counts["failures"] += len(record["failures"])
        counts["seeds"] += 1
    return by_family


def table(records: list[dict[str, Any]]) -> str:
    """Return a Markdown table, one line a family and one for all."""
    by_family = counted(records)
    everything: Counter[str] = Counter()
    titles = ["seeds", *COLUMNS]
    lines = ["| family | " + " | ".join(titles) + " |", "|---" * (len(titles) + 1) + "|"]
    for family in [name for name in FAMILIES if name in by_family]:
        everything.update(by_family[family])
        cells = [f"{by_family[family][title]:,}" for title in titles]
        lines.append(f"| {family} | " + " | ".join(cells) + " |")
    lines.append("| all | " + " | ".join(f"{everything[t]:,}" for t in titles) + " |")
    return "\n".join(lines)


def failures(records: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Return how many seeds failed, by judge and family."""
    found: Counter[tuple[str, str]] = Counter()
    for record in records:
        found.update({(name, record["family"]) for name, _ in record["failures"]})
    return found


BEGIN, END = "<!-- campaign: begin -->\n", "<!-- campaign: end -->"
LATTICE_BEGIN, LATTICE_END = "<!-- lattice: begin -->\n", "<!-- lattice: end -->"


def write(page: Path, results: Path) -> None:
    """Put the summaries into a page of the documentation, each between its two marks."""
    plain, small = _apart(read(results))
    if plain:
        _put(page, BEGIN, END, _summary(plain))
    if small:
        _put(page, LATTICE_BEGIN, LATTICE_END, lattice.summary(small))


def _put(page: Path, begin: str, end: str, words: str) -> None:
    text = page.read_text()
    before, after = text.split(begin)[0], text.split(end)[1]
    page.write_text(f"{before}{begin}\n{words}\n\n{end}{after}")


def _apart(records: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the records of the families, and those of the lattice."""
    plain = [record for record in records if record["family"] in FAMILIES]
    return plain, [record for record in records if record["family"] not in FAMILIES]


def summary(path: Path) -> str:
    """Return the tables and the list of failures of a results' file."""
    plain, small = _apart(read(path))
    told = ((_summary, plain), (lattice.summary, small))
    parts = [summed(records) for summed, records in told if records]
    return "\n\n".join(parts) or f"{path} holds no results yet."


def _summary(records: list[dict[str, Any]]) -> str:
    """Return the table of the families, and their failures."""
    curved = sum(
        record["counts"].get("predict: alone", 0)
        for record in records
        if FAMILIES[record["family"]].curved
    )
    seeds = [record["seed"] for record in records]
    dates = sorted({record["date"] for record in records})
    commits = Counter(record.get("commit", "unknown") for record in records)

    def total(start: str) -> int:
        return sum(n for r in records for name, n in r["counts"].items() if name.startswith(start))

    lines = [
        table(records),
        "",
        f"Seeds {min(seeds)} to {max(seeds)} ({len(seeds)}), {dates[0]} to {dates[-1]}, commits "
        + ", ".join(f"{commit} ({n})" for commit, n in commits.items())
        + f". {curved:,} answers of curved and prototype models predicted alone; "
        f"{total('points of attack'):,} points of attack; "
        f"{total('took too long')} questions left for time. Statuses: "
        + ", ".join(f"{total('status: ' + s):,} {s}" for s in STATUSES)
        + ".",
        "",
        "| promise | judged | broken, in seeds |",
        "|---|---|---|",
    ]
    for promise, names in PROMISES.items():
        broken = {r["seed"] for r in records for name, _ in r["failures"] if name.startswith(names)}
        judged = sum(total(name) for name in names)
        lines.append(f"| {promise} | {judged:,} | {len(broken)} |")
    lines.append("")
    lines += [
        f"- {judge}, {family}: {n} of the seeds"
        for (judge, family), n in failures(records).most_common()
    ]
    return "\n".join(lines)
