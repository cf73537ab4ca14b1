"""Rules in words: in short, as `print` shows them, or in full and in the reader's own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pertinent.rules.form import RuleFields, lattice_of
from pertinent.rules.relations import Feature
from pertinent.tables.words import label_text, listed, plain

#: Names in a relation: identifiers, or anything in backticks.
_NAME = re.compile(r"`([^`]+)`|\b([^\W\d]\w*)")


@dataclass(frozen=True)
class Speech:
    """How features, classes and rules are called in a sentence.

    Parameters
    ----------
    feature : callable
        From a feature, by name or position, to what it is called.
    label : callable
        From a class label to what it is called.
    in_full : bool
        Whether rules are sentences ("age stays as it is"), not notes ("age frozen").
    """

    feature: Callable[[Any], str] = str
    label: Callable[[Any], str] = repr
    in_full: bool = False

    def relation(self, text: str, features: Sequence[Feature]) -> str:
        """Return a relation as it was written, about features as they are called."""
        own = {str(name) for name in features}

        def name(match: re.Match[str]) -> str:
            found = match[1] or match[2]
            return self.feature(found) if self.in_full and found in own else match[0]

        return _NAME.sub(name, text)

    def together(self, group: Sequence[Feature]) -> str:
        """Return that features change together."""
        return f"{' and '.join(map(self.feature, group))} change together"

    def shared(self, names: Sequence[Feature], one: str, many: str) -> list[str]:
        """Return one sentence about all these features; none if there are none."""
        said = listed([self.feature(name) for name in names])
        return [f"{said} {one if len(names) == 1 else many}"] if names else []


TERSE = Speech()


def in_words(rules: RuleFields, speech: Speech = TERSE) -> list[str]:
    """Return all rules, one after the other; in full, features with the same rule share one.

    Examples
    --------
    >>> from pertinent import Constraints
    >>> from pertinent.rules.words import Speech, in_words
    >>> rules = Constraints(frozen=["age", "job"], bounds={"income": (0, None), "time": (6, 72)})
    >>> in_words(rules)
    ['age frozen', 'job frozen', 'income >= 0', '6 <= time <= 72']
    >>> in_words(rules, Speech(in_full=True))
    ['age and job stay as they are', 'income is at least 0', 'time is between 6 and 72']
    """
    called = speech.feature
    parts = _of_numbers_in_full(rules, speech) if speech.in_full else _of_numbers(rules)
    parts += [f"{called(name)} has {_digits(count)}" for name, count in rules.decimals.items()]
    parts += [f"{called(name)} has {_steps(name, given)}" for name, given in rules.step.items()]
    parts += [
        f"{called(n)} is {'any' if v is None else 'one of ' + ', '.join(map(label_text, v))}"
        for n, v in rules.categories.items()
    ]
    for name, rule in rules.transitions.items():
        if callable(rule):
            parts.append(f"{called(name)} changes as its rule allows")
        else:
            moves = [
                f"{label_text(old)} to {' or '.join(map(label_text, new))}"
                for old, new in rule.items()
                if new
            ]
            what = f"changes only from {', '.join(moves)}" if moves else "stays"
            parts.append(f"{called(name)} {what}")
    texts = {r.text: tuple(r.coefficients) for r in rules.read_relations}
    parts += [speech.relation(text, features) for text, features in texts.items()]
    if rules.max_changes is not None:
        plural = "s change" if rules.max_changes != 1 else " changes"
        parts.append(f"at most {rules.max_changes} feature{plural}")
    parts += [speech.together(group) for group in rules.together]
    return parts + [
        f"{called(name)} costs {cost:g} times as much" for name, cost in rules.costs.items()
    ]


def _of_numbers(rules: RuleFields) -> list[str]:
    parts = [f"{name} frozen" for name in rules.frozen]
    for name, (low, high) in rules.bounds.items():
        left = "" if low is None else f"{low:g} <= " if high is not None else f" >= {low:g}"
        right = "" if high is None else f" <= {high:g}"
        parts.append(f"{name}{left}" if high is None else f"{left}{name}{right}")
        if low is None and high is None:
            parts[-1] = f"{name} free"
    parts += [f"{name} may only increase" for name in rules.increase_only]
    parts += [f"{name} may only decrease" for name in rules.decrease_only]
    return parts + [f"{name} is a whole number" for name in rules.integer]


def _of_numbers_in_full(rules: RuleFields, speech: Speech) -> list[str]:
    parts = speech.shared(rules.frozen, "stays as it is", "stay as they are")
    by_range: dict[tuple[float | None, float | None], list[Feature]] = {}
    for name, (low, high) in rules.bounds.items():
        by_range.setdefault((low, high), []).append(name)
    for (low, high), names in by_range.items():
        words = _range(low, high)
        parts += speech.shared(names, f"is {words}", f"are {words}")
    for direction, some in (("increase", rules.increase_only), ("decrease", rules.decrease_only)):
        parts += speech.shared(some, f"may only {direction}", f"may only {direction}")
    return parts + speech.shared(rules.integer, "is a whole number", "are whole numbers")


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "free"
    if high is None:
        return f"at least {plain(low)}"
    if low is None:
        return f"at most {plain(high)}"
    return f"between {plain(low)} and {plain(high)}"


def _steps(name: Feature, given: Any) -> str:
    return "any number" if given is None else lattice_of(name, given).words()


def words_from_data(inferred: Sequence[Any], speech: Speech = TERSE) -> list[str]:
    """Return the rules that the data suggest, one sentence for each kind of them.

    Examples
    --------
    >>> from pertinent.rules.inferred import Inferred
    >>> from pertinent.rules.words import words_from_data
    >>> words_from_data([Inferred("step", "age", (1.0,)), Inferred("range", "age", (18.0, 68.0))])
    ['from the data: whole numbers (age)', 'from the data: ranges (age 18 to 68)']
    """
    kinds: dict[str, list[str]] = {}
    for rule in inferred:
        kind, more = rule.said()
        kinds.setdefault(kind, []).append(speech.feature(rule.feature) + more)
    return [f"from the data: {kind} ({', '.join(many)})" for kind, many in kinds.items()]


def _digits(count: int | None) -> str:
    if count is None:
        return "any number"
    if count < 0:
        return f"steps of {10**-count}"
    return f"at most {count} decimal{'' if count == 1 else 's'}" if count else "no decimals"
