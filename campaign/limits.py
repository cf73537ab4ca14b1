"""Named conflicts are minimal, and a time limit is kept."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import Any

import numpy as np

from campaign.cases import NEGATIVE, POSITIVE, Case, Rule, ask
from campaign.judges import Tally

#: How the library's references call our rules.
_CALLED = {
    "frozen": ("frozen",),
    "at-least": ("at least",),
    "at-most": ("at most",),
    "bounds": ("at least", "at most"),
    "increase-only": ("increase",),
    "decrease-only": ("decrease",),
    "decimals": ("decimals", "integer"),
}
SECONDS = 0.2


def judge_conflicts(case: Case, found: Any, kind: str, tally: Tally) -> None:
    """Drop each rule of a named conflict: what is left must not be a conflict any more."""
    for row in np.flatnonzero(found.status == "infeasible").tolist():
        reason = found.reasons[row]
        if reason is None or reason.kind.value != "rules" or len(reason.rules) < 2:
            continue
        named = [_named(case.rules, ref) for ref in reason.rules]
        if not all(named):
            continue
        tally.counts["conflict is minimal"] += 1
        one = replace(case.rows([row]), ask=NEGATIVE if kind == "negative" else POSITIVE)
        if one.ask == POSITIVE:
            one = replace(one, target=None)
        one = replace(one, options={k: v for k, v in one.options.items() if k != "overlap"})
        for left_out, _ in enumerate(named):
            kept = [rule for i, some in enumerate(named) if i != left_out for rule in some]
            answer = ask(_only_own(replace(one, rules=kept)))
            answer = answer[1] if kind == "negative" else answer[0]
            if answer.status[0] == "infeasible":
                tally.fail(
                    "conflict is minimal", row,
                    f"{kind}: {[str(ref) for ref in reason.rules]} without "
                    f"{reason.rules[left_out]} is infeasible, too",
                )  # fmt: skip
                break


def _only_own(case: Case) -> Case:
    """Return the case without options that belong to the other question."""
    other = ("norm",) if case.ask == POSITIVE else ("baseline", "between", "method", "off_tol")
    return replace(case, options={k: v for k, v in case.options.items() if k not in other})


def _named(rules: list[Rule], ref: Any) -> list[Rule]:
    """Return our rules that a reference of the library means."""
    kind = ref.kind.value
    if kind == "relation":
        return [[r for r in rules if r[0] == "relation"][ref.place]]
    if kind == "max-changes":
        return [r for r in rules if r[0] == "max changes"]
    place = re.search(r"\d+$", ref.features[0]) if ref.features else None
    if place is None or kind not in _CALLED:
        return []
    return [r for r in rules if r[0] in _CALLED[kind] and r[1] == int(place[0])]


def judge_time(case: Case, tally: Tally) -> None:
    """Ask with a limit: processor time may exceed it by 20% and 50 ms, beside a plain answer."""
    one = case.rows([0])
    plain = replace(one, options={}, ask=NEGATIVE, rules=[])
    asked = [replace(one, ask=NEGATIVE, options={"norm": "l0"})]
    middle = {"baseline": case.X.astype(float).mean(axis=0).tolist()}
    asked += [replace(one, ask=POSITIVE, target=None, options={"method": m, **middle})
              for m in ("strict", "exact")]  # fmt: skip
    ask(plain)
    base = _seconds(plain)
    for question in asked:
        limited = replace(question, options={**question.options, "time_limit": SECONDS})
        spent = _seconds(limited)
        tally.counts["time limit kept"] += 1
        if spent > 1.2 * SECONDS + 0.05 + 3 * base:
            what = question.options.get("method") or "l0"
            tally.fail("time limit kept", 0, f"{what}: {spent:.2f} s of processor time for "
                       f"time_limit={SECONDS}; a plain answer takes {base:.3f} s")  # fmt: skip


def _seconds(case: Case) -> float:
    start = time.process_time()
    ask(case)
    return time.process_time() - start
