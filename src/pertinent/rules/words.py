"""Rules in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pertinent.rules.constraints import Constraints, Feature


def in_words(rules: Constraints) -> str:
    """Return all rules, one after the other."""
    parts = [f"{name} frozen" for name in rules.frozen]
    parts += [range_text(name, *pair) for name, pair in rules.bounds.items()]
    parts += [f"{name} may only increase" for name in rules.increase_only]
    parts += [f"{name} may only decrease" for name in rules.decrease_only]
    parts += [f"{name} is a whole number" for name in rules.integer]
    parts += [f"{name} has {_digits(count)}" for name, count in rules.decimals.items()]
    parts += [f"{n} is one of {', '.join(map(str, v))}" for n, v in rules.categories.items()]
    for name, rule in rules.transitions.items():
        if callable(rule):
            parts.append(f"{name} changes as its rule allows")
        else:
            moves = [f"{old} to {' or '.join(map(str, new))}" for old, new in rule.items() if new]
            parts.append(
                f"{name} changes only from {', '.join(moves)}" if moves else f"{name} stays"
            )
    parts += [str(relation) for relation in dict.fromkeys(r.text for r in rules._relations)]
    if rules.max_changes is not None:
        plural = "s change" if rules.max_changes != 1 else " changes"
        parts.append(f"at most {rules.max_changes} feature{plural}")
    parts += [f"{' and '.join(map(str, g))} change together" for g in rules.together]
    parts += [f"{name} costs {cost:g} times as much" for name, cost in rules.costs.items()]
    return "; ".join(parts)


def at_most(changes: int) -> str:
    """Return a limit on the number of changes."""
    return f"at most {changes} change{'' if changes == 1 else 's'}"


def _digits(count: int) -> str:
    if count < 0:
        return f"steps of {10**-count}"
    return f"at most {count} decimal{'' if count == 1 else 's'}" if count else "no decimals"


def range_text(name: Feature, low: float | None, high: float | None) -> str:
    """Return bounds as an inequality."""
    if low is None and high is None:
        return f"{name} free"
    if high is None:
        return f"{name} >= {low:g}"
    return f"{name} <= {high:g}" if low is None else f"{low:g} <= {name} <= {high:g}"
