"""Named conflicts judged by points: the named rules leave none, and each of them is needed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from campaign.judges import Tally
from campaign.lattice.case import NEGATIVE, Case
from campaign.lattice.changes import changes_of
from campaign.lattice.grid import grid_of, labels_of, read
from campaign.lattice.kept import kept_of
from campaign.lattice.notes import Notes

#: How references call rules of single columns.
_LISTS = {
    "frozen": "frozen", "increase-only": "increase_only", "decrease-only": "decrease_only",
}  # fmt: skip
_MAPS = {"categories": "categories", "transitions": "transitions", "step": "step"}


def judge_conflicts(case: Case, found: Any, tally: Tally) -> None:
    """Judge the rules that are named for each sample without an answer."""
    for row in np.flatnonzero(found.status == "infeasible").tolist():
        reason = found.reasons[row]
        if (
            reason is None
            or reason.kind.value != "rules"
            or case.ask not in (NEGATIVE, "positives")
        ):
            continue
        if str(getattr(found, "method", "two-phase")) not in ("two-phase", "exact"):
            continue
        note = Notes(tally, f"{case.ask}: {[str(rule) for rule in reason.rules]}", row)
        named = only(case, reason.rules)
        if named is None:
            tally.counts["conflicts of other kinds"] += 1
            continue
        there = _good(named, row)
        note.holds("named rules conflict", not there, there)
        if reason.without is not None:
            _judge_needed(case, found, reason, row, note)


def _good(case: Case, row: int) -> list[Any]:
    """Return a point of a wide grid that would be an answer; none if there is none."""
    grid = grid_of(case, row, wide=True)
    good = (changes_of(grid) if case.ask == NEGATIVE else kept_of(grid, "two-phase")).sure
    return list(grid.points[good].head(1).to_dict("records"))


def only(case: Case, refs: Any) -> Case | None:
    """Return the case with the rules that are meant and no other; None if one is unknown here."""
    rules: dict[str, Any] = {"costs": case.rules.get("costs", {})}
    bounds: dict[str, list[float]] = {}
    for ref in refs:
        kind, names = ref.kind.value, ref.features
        if kind in _LISTS:
            rules.setdefault(_LISTS[kind], []).extend(names)
        elif kind in _MAPS:
            given = case.rules[_MAPS[kind]]
            rules.setdefault(_MAPS[kind], {}).update({name: given[name] for name in names})
        elif kind in ("at-least", "at-most", "bounds"):
            ends = bounds.setdefault(names[0], [-np.inf, np.inf])
            for side, ours in enumerate(("at-least", "at-most")):
                if kind in (ours, "bounds"):
                    ends[side] = case.rules["bounds"][names[0]][side]
        elif kind == "decimals":
            where = "integer" if names[0] in case.rules["integer"] else "decimals"
            if where == "integer":
                rules.setdefault("integer", []).append(names[0])
            else:
                rules.setdefault("decimals", {})[names[0]] = case.rules["decimals"][names[0]]
        elif kind == "relation":
            rules.setdefault("relations", []).append(case.rules["relations"][ref.place or 0])
        elif kind == "max-changes":
            rules["max_changes"] = case.rules["max_changes"]
        elif kind == "together":
            rules.setdefault("together", []).append(list(names))
        else:
            return None
    return replace(case, rules={**rules, "bounds": bounds})


def _judge_needed(case: Case, found: Any, reason: Any, row: int, note: Notes) -> None:
    """Judge the point for each named rule: of the class, and all other named rules hold."""
    points = found.table.write(np.asarray(reason.without))
    own = read(case, case.samples.iloc[row])
    (own_label,), _ = labels_of(case, case.samples.iloc[[row]])
    for place, left_out in enumerate(reason.rules):
        others = [rule for k, rule in enumerate(reason.rules) if k != place]
        rest, point = only(case, others), points.iloc[[place]]
        assert rest is not None
        label = labels_of(case, point)[0][0]
        if case.ask != NEGATIVE:
            right = label == own_label
        elif case.regressor:
            right = label == 0
        else:
            right = label != own_label if case.target is None else label == case.target
        broken = broken_rule(rest, own, read(case, point.iloc[0]))
        note.holds("each named rule is needed", right and broken is None,
                   str(left_out), point.iloc[0].to_dict(), label, broken)  # fmt: skip


def broken_rule(case: Case, own: list[Any], values: list[Any]) -> str | None:
    """Return a rule that a point breaks, be it on the lattice or not; None if it obeys all."""
    point = dict(zip(case.columns, values, strict=True))
    ours = dict(zip(case.columns, own, strict=True))
    moved = {name for name in case.columns if not _same(point[name], ours[name])}
    rules = case.rules
    for name in moved & set(rules.get("frozen", ())):
        return f"{name} is frozen"
    for name, (low, high) in rules["bounds"].items():
        if not (low <= point[name] <= high or _same(point[name], np.nan)):
            return f"bounds of {name}"
    for key, sign in (("increase_only", 1), ("decrease_only", -1)):
        for name in rules.get(key, ()):
            if sign * (point[name] - ours[name]) < 0:
                return f"{key} of {name}"
    for name, digits in _steps(rules).items():
        near = 1e-5 if case.single else 1e-9
        if name in moved and abs(point[name] / digits - round(point[name] / digits)) > near:
            return f"steps of {name}"
    return _broken_choice(case, point, ours, moved)


def _steps(rules: dict[str, Any]) -> dict[str, float]:
    steps = dict.fromkeys(rules.get("integer", ()), 1.0) | dict(rules.get("step", {}))
    return steps | {name: 10.0**-digits for name, digits in rules.get("decimals", {}).items()}


def _broken_choice(
    case: Case, point: dict[str, Any], own: dict[str, Any], moved: set[str]
) -> str | None:
    rules = case.rules
    for name, levels in rules.get("categories", {}).items():
        if point[name] not in levels:
            return f"categories of {name}"
    for name, onward in rules.get("transitions", {}).items():
        if name in moved and point[name] not in onward.get(own[name], ()):
            return f"transitions of {name}"
    for names, numbers, sense, most in rules.get("relations", ()):
        room = most - sum(u * point[k] for u, k in zip(numbers, names, strict=True))
        if (room if sense == "<=" else -room) < -1e-6:
            return "a relation"
    if case.ask != NEGATIVE:
        return None
    count, groups = len(moved), rules.get("together", ())
    for group in groups:
        if 0 < len(moved & set(group)) < len(group):
            return "together"
        count -= set(group) <= moved
    return "at most so many changes" if count > rules.get("max_changes", count) else None


def _same(value: Any, other: Any) -> bool:
    return bool(value == other or (value != value and other != other))
