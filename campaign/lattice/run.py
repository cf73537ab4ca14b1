"""One seed of the lattice: every question about one model, and every judge that applies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from campaign.judges import Tally
from campaign.lattice.case import BOTH, MENU, NEGATIVE, Case, ask, from_json
from campaign.lattice.changes import judge_negatives
from campaign.lattice.conflicts import judge_conflicts
from campaign.lattice.drawing import cases, kind_of
from campaign.lattice.files import judge_files
from campaign.lattice.kept import judge_positives
from campaign.lattice.menus import judge_menus
from campaign.lattice.notes import Notes
from campaign.lattice.rooms import judge_rooms
from campaign.patience import guarded


def run_lattice(seed: int) -> tuple[tuple[str, ...], list[tuple[Case, Tally]]]:
    """Return what is particular about a seed, and what judges noted of each of its questions."""
    asked = cases(seed)
    return traits(kind_of(seed), asked), [(case, judged(case)) for case in asked]


def traits(kind: str, asked: list[Case]) -> tuple[str, ...]:
    """Return the kind of model, and its rules."""
    if not asked:
        return (kind,)
    case = asked[0]
    rules = [name for name in case.rules if name not in ("bounds", "integer", "decimals", "step")]
    extra = ["float32"] if case.single else []
    missing = case.options["missing"]
    return (kind, *rules, *extra, *([] if missing == "error" else [f"missing: {missing}"]))


def judged(case: Case) -> Tally:
    """Ask a question, and have its answers judged."""
    return guarded(lambda tally: _judge(case, tally), f"{case.kind}: {case.ask}, {case.options}")


def _judge(case: Case, tally: Tally) -> None:
    found = ask(case)
    if case.ask == MENU:
        judge_menus(case, found, tally)
    elif case.ask == BOTH:
        _judge_both(case, found, tally)
    elif case.ask == NEGATIVE:
        judge_negatives(case, found, tally)
        judge_conflicts(case, found, tally)
        judge_alone(case, found, tally)
    else:
        judge_positives(case, found, tally)
        judge_conflicts(case, found, tally)


def _judge_both(case: Case, answers: Any, tally: Tally) -> None:
    """Judge explanations: those that keep off the positive's columns by what is left to them."""
    kept, avoided = answers.positive.kept, answers.avoided
    judge_negatives(case, answers.negative, tally, kept & avoided[:, None], ", explain")
    judge_positives(case, answers.positive, tally, ", explain")
    judge_rooms(case, answers, tally)
    judge_files(case, answers, tally)


def judge_alone(case: Case, found: Any, tally: Tally) -> None:
    """Judge that the last sample gets the same answer by itself."""
    if len(found) < 2:
        return
    row = len(found) - 1
    alone = ask(case.rows([row]))
    same = str(alone.status[0]) == str(found.status[row])
    same &= np.array_equal(alone.values[0], found.values[row], equal_nan=True)
    Notes(tally, "negatives", row).holds(
        "a row alone is as in the batch", same, found.status[row], alone.status[0],
        found.values[row], alone.values[0],
    )  # fmt: skip


# -- Reproducers -------------------------------------------------------------------------------


def failure_of(case: Case, name: str) -> str | None:
    """Return what the judge of this name finds wrong with a case, if anything."""
    return next((text for found, _, text in judged(case).failures if found == name), None)


def smaller(case: Case) -> Any:
    """Yield the case with samples, rules or options left out."""
    n = len(case.samples)
    for row in range(n if n > 1 else 0):
        yield case.rows([row])
    for name in case.rules:
        if name not in ("bounds", "integer", "decimals", "step"):
            yield replace(case, rules={k: v for k, v in case.rules.items() if k != name})
    for name in case.options:
        if name not in ("weights", "missing", "baseline", "method", "norm", "between"):
            yield replace(case, options={k: v for k, v in case.options.items() if k != name})


def still_fails(path: Path) -> str | None:
    """Return what is wrong with the answer to a kept case; None once it is mended."""
    case, record = from_json(path)
    return failure_of(case, record["judge"])


def is_of_lattice(path: Path) -> bool:
    """Return whether a file holds a case of the lattice."""
    return bool(json.loads(path.read_text())["family"] == "lattice")
