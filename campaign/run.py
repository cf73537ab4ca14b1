"""One seed: a random model, questions about it, and every judge that applies."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from campaign.attacks import judge_bounds
from campaign.cases import Case, ask, plain, random_case, stored
from campaign.judges import Tally, judge_file, judge_numbers, judge_points, judge_rules
from campaign.lattice.run import run_lattice
from campaign.laws import judge_laws
from campaign.limits import judge_conflicts, judge_time
from campaign.models import FAMILIES, Problem, problem
from campaign.patience import guarded
from campaign.second import judge_brute, judge_second
from campaign.trees import judge_cells

#: Samples of a question that every judge looks at.
FEW = 4
#: Samples of a plain question whose bounds are attacked, and that other solvers look at.
SOME, SOME_CURVED, SECOND = 40, 20, 700
#: Samples whose explanations are stored and checked from the file.
STORED = 250

#: Seeds from here on are questions on a lattice: a line of their own, beside that of the others.
LATTICE, LATTICE_FROM = "lattice", 1_000_000
#: Seeds below the second number were drawn when there were so many families.
OLDER, NEWER_FROM = 15, 150

JUDGES = ("points", "numbers", "rules", "conflicts", "second", "brute", "bounds", "file", "laws",
          "time")  # fmt: skip


@dataclass
class Outcome:
    """What one seed gave: counts by judge, failures with the case that shows them."""

    seed: int
    family: str
    traits: tuple[str, ...] = ()
    tally: Tally = field(default_factory=Tally)
    shown: list[tuple[str, str, Any]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, tally: Tally, case: Any) -> None:
        """Add what judges noted of one question."""
        self.tally.counts.update(tally.counts)
        self.tally.notes += tally.notes
        for name, row, text in _first_of_each(tally):
            self.shown.append((name, text, case.rows([row]) if _lone(name) else case))

    def record(self) -> dict[str, Any]:
        """Return the line of the results' file."""
        return {
            "seed": self.seed,
            "family": self.family,
            "traits": list(self.traits),
            "counts": dict(sorted(self.tally.counts.items())),
            "failures": [[name, detail] for name, detail, _ in self.shown],
            "notes": self.tally.notes,
            "seconds": round(self.seconds, 2),
            "date": time.strftime("%Y-%m-%d"),
        }


def family_of(seed: int) -> str:
    """Return the family of a seed: all in turn, and for older seeds those that there were."""
    if seed >= LATTICE_FROM:
        return LATTICE
    families = list(FAMILIES)[:OLDER] if seed < NEWER_FROM else list(FAMILIES)
    return families[seed % len(families)]


def run_seed(seed: int, rows: float = 1.0) -> Outcome:
    """Judge a random model; the seed decides everything.

    Parameters
    ----------
    seed : int
    rows : float
        How many times the usual number of samples are asked about in bulk; all else stays.
    """
    start, outcome = time.perf_counter(), Outcome(seed, family_of(seed))
    if outcome.family == LATTICE:
        outcome.traits, answered = run_lattice(seed - LATTICE_FROM)
        for question, tally in answered:
            outcome.add(tally, question)
        outcome.seconds = time.perf_counter() - start
        return outcome
    made = problem(np.random.default_rng([seed, 0]), outcome.family)
    if made is None:
        outcome.tally.counts["no such model"] += 1
        return outcome
    outcome.traits = made.traits
    for case, judges in _cases(seed, made, rows):
        outcome.add(judged(case, judges, seed), case)
    outcome.seconds = time.perf_counter() - start
    return outcome


def _cases(seed: int, made: Problem, rows: float) -> Iterator[tuple[Case, Any]]:
    kind, d = FAMILIES[made.family], made.X.shape[1]
    bulk, rng = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    many = max(FEW, int(kind.rows * rows * min(1.0, 40 / (d + len(made.model.classes_)))))
    for case in plain(bulk, made, many):
        yield case, ("points", "numbers", "second", "bounds")
    few = FEW if d <= 100 else 2
    kept = max(few, int(STORED * min(rows, 1.0))) if d <= 30 else few
    yield stored(np.random.default_rng([seed, 3]), made, kept), ("file",)
    yield random_case(rng, made, few), JUDGES[:-2]
    yield random_case(rng, made, few), JUDGES[:-2]
    yield random_case(rng, made, few), ("laws",)
    if d <= 8 and rng.random() < 0.2:
        yield random_case(rng, made, 1), ("time",)


def _lone(name: str) -> bool:
    """Return whether one sample shows a failure; a batch is needed for the others."""
    return not name.startswith(("law: batch = single", "predict:", "error", "lattice: a row alone"))


def _first_of_each(tally: Tally) -> list[tuple[str, int, str]]:
    """Return one failure of each judge."""
    first: dict[str, tuple[str, int, str]] = {}
    for failure in tally.failures:
        first.setdefault(failure[0], failure)
    return list(first.values())


def judged(case: Case, judges: Any, seed: int = 0) -> Tally:
    """Ask a question, and have its answers judged; what takes too long is only noted."""
    return guarded(
        lambda tally: _judge(case, judges, np.random.default_rng(seed), tally),
        f"{case.ask}, {len(case.X)} samples, {judges}",
    )


def _judge(case: Case, judges: Any, rng: np.random.Generator, tally: Tally) -> None:
    if judges in (("laws",), ("time",)):
        (judge_laws(case, rng, tally) if judges == ("laws",) else judge_time(case, tally))
        return
    positives, negatives, answers = ask(case)
    for found, kind in ((positives, "positive"), (negatives, "negative")):
        if found is None:
            continue
        tally.counts["answers"] += len(found)
        judge_points(case, found, kind, tally)
        judge_numbers(case, found, kind, tally)
        judge_rules(case, found, kind, tally)
        if "conflicts" in judges:
            judge_conflicts(case, found, kind, tally)
        if "second" in judges:
            judge_second(*first(case, found, SECOND), kind, rng, tally)
            judge_brute(case, found, kind, tally)
            judge_cells(case, found, kind, tally)
        if "bounds" in judges:
            some = SOME_CURVED if FAMILIES[case.family].curved else SOME
            judge_bounds(*first(case, found, some), kind, rng, tally)
    if answers is not None and "file" in judges:
        judge_file(case, answers, tally)


def first(case: Case, found: Any, n: int) -> tuple[Case, Any]:
    """Return a case and its answers for the first n samples."""
    if len(found) <= n:
        return case, found
    return case.rows(slice(n)), found.take(np.arange(n))
