"""The results of all seeds, counted by family: what the documentation shows."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

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
    "brute force": ("brute force: strict",),
    "bounds attacked": ("bounds under attack",),
    "laws": ("law:",),
    "failures": (),
}


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


def write(page: Path, results: Path) -> None:
    """Put the summary into a page of the documentation, between its two marks."""
    text = page.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    page.write_text(f"{before}{BEGIN}\n{summary(results)}\n\n{END}{after}")


def summary(path: Path) -> str:
    """Return the table and the list of failures of a results' file."""
    records = read(path)
    if not records:
        return f"{path} holds no results yet."
    curved = sum(
        record["counts"].get("predict: alone", 0)
        for record in records
        if FAMILIES[record["family"]].curved
    )
    seeds = [record["seed"] for record in records]
    dates = sorted({record["date"] for record in records})
    lines = [
        table(records),
        "",
        f"Seeds {min(seeds)} to {max(seeds)} ({len(seeds)}), {dates[0]} to {dates[-1]}; "
        f"{curved:,} answers of curved and prototype models predicted alone; "
        f"{sum(r['counts'].get('points of attack', 0) for r in records):,} points of attack; "
        f"{sum(r['counts'].get('took too long', 0) for r in records)} questions left for time, "
        f"{sum(r['counts'].get('status: failed', 0) for r in records)} rows failed.",
        "",
    ]
    lines += [
        f"- {judge}, {family}: {n} of the seeds"
        for (judge, family), n in failures(records).most_common()
    ]
    return "\n".join(lines)
