"""The results of the seeds of the lattice, by kind of model and by judgement."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from campaign.lattice.kinds import KINDS

_STATUSES = ("optimal", "feasible", "infeasible", "failed", "already")
_COLUMNS = ("seeds", "answers", *_STATUSES, "judgements", "failures")


def summary(records: list[dict[str, Any]]) -> str:
    """Return both tables, and which seeds they are about."""
    seeds = [record["seed"] for record in records]
    commits = Counter(record.get("commit", "unknown") for record in records)
    words = ", ".join(f"{commit} ({n})" for commit, n in commits.items())
    totals: Counter[str] = sum((Counter(r["counts"]) for r in records), Counter())
    return "\n".join(
        [
            *_by_kind(records),
            "",
            f"Seeds {min(seeds)} to {max(seeds)} ({len(seeds)}), commits {words}. "
            f"{totals['refused']} questions refused, {totals['took too long']} left for time.",
            "",
            *_by_judgement(records, totals),
        ]
    )


def _by_kind(records: list[dict[str, Any]]) -> list[str]:
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        counts = record["counts"]
        row = Counter({name: counts.get(f"status: {name}", 0) for name in _STATUSES})
        row["seeds"], row["failures"] = 1, len(record["failures"])
        row["answers"] = counts.get("answers", 0)
        row["judgements"] = sum(n for name, n in counts.items() if name.startswith("lattice: "))
        for name in (record["traits"][0], "all"):
            kinds[name].update(row)
    lines = ["| model | " + " | ".join(_COLUMNS) + " |", "|---" * (len(_COLUMNS) + 1) + "|"]
    return lines + [
        f"| {kind} | " + " | ".join(f"{kinds[kind][column]:,}" for column in _COLUMNS) + " |"
        for kind in (*KINDS, "all")
        if kind in kinds
    ]


def _by_judgement(records: list[dict[str, Any]], totals: Counter[str]) -> list[str]:
    broken = Counter(name for r in records for name in {name for name, _ in r["failures"]})
    names = sorted({name for name in (*totals, *broken) if name.startswith(("lattice: ", "error"))})
    lines = ["| judgement | judged | broken, in seeds |", "|---|---|---|"]
    return lines + [
        f"| {name.removeprefix('lattice: ')} | {totals[name]:,} | {broken[name]} |"
        for name in names
    ]
