"""Which of many rules is at fault: the first one with which the rules before it make no sense.

Rules are refused one by one or because they do not go together. What is refused stays refused when
more is added, so halving finds the first part of a list of rules that cannot be added.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pertinent.exceptions import InputError
from pertinent.server.solving.refusal import Path, Refusal, path_text

#: One rule, or a part of it, with where it stands.
Part = tuple[Path, Any]
Rules = dict[str, Any]


def blamed(rules: Mapping[str, Any], make: Callable[[Rules], object]) -> Refusal | None:
    """Return the refusal that names the part at fault; None where ``make`` takes the rules.

    Examples
    --------
    >>> import pertinent
    >>> from pertinent.server.solving.blame import blamed
    >>> rules = {"frozen": ["age"], "costs": {"age": 2, "income": -1}}
    >>> print(blamed(rules, lambda some: pertinent.Constraints(**some)).field)
    rules.costs.income
    """
    parts = parts_of(rules)
    if _fault(parts, make) is None:
        return None
    good, bad = 0, len(parts)  # so many parts are taken, so many are not
    while bad - good > 1:
        middle = (good + bad) // 2
        if _fault(parts[:middle], make) is None:
            good = middle
        else:
            bad = middle
    path, value = parts[good]
    error = _fault(parts[:bad], make)
    assert error is not None
    if isinstance(value, list) and path[0] in ("together", "transitions"):
        path = _within(parts[:good], path, value, make)
    return Refusal(str(error), path_text(("rules", *path)))


def _within(
    before: list[Part], path: Path, value: list[Any], make: Callable[[Rules], object]
) -> Path:
    """Return which entry of a list is at fault by itself, or that the list is."""
    if path[0] == "transitions" and _fault([*before, (path, [])], make):
        return path  # what should change is not known, to whatever
    for i, one in enumerate(value):
        if _fault([*before, (path, [one])], make):
            return (*path, i)
    return path


def parts_of(rules: Mapping[str, Any]) -> list[Part]:
    """Return the parts of rules in their order; what holds others comes empty before these."""
    parts: list[Part] = []
    for kind, rule in rules.items():
        if rule is None:
            continue
        if isinstance(rule, Mapping):
            for feature, value in rule.items():
                parts += _parts_of_one((kind, feature), value)
        elif isinstance(rule, list):
            parts += [((kind, i), value) for i, value in enumerate(rule)]
        else:
            parts.append(((kind,), rule))
    return parts


def _parts_of_one(path: Path, value: Any) -> list[Part]:
    """Return the parts of a rule about one feature."""
    if path[0] == "transitions" and isinstance(value, Mapping):
        return [(path, {}), *(((*path, old), many) for old, many in value.items())]
    if path[0] == "categories" and isinstance(value, list):
        return [(path, []), *(((*path, i), one) for i, one in enumerate(value))]
    return [(path, value)]


def assembled(parts: list[Part]) -> Rules:
    """Return the rules that parts make up."""
    rules: Rules = {}
    for path, value in parts:
        kind, *inner = str(path[0]), *path[1:]
        if not inner:
            rules[kind] = value
        elif isinstance(inner[0], int):
            rules.setdefault(kind, []).append(value)
        elif len(inner) == 1:
            rules.setdefault(kind, {})[inner[0]] = value if value else _empty_like(value)
        elif isinstance(inner[1], int):
            rules[kind][inner[0]].append(value)
        else:
            rules[kind][inner[0]][inner[1]] = value
    return rules


def _empty_like(value: Any) -> Any:
    """Return an empty container of its own, to be filled; anything else as it is."""
    return type(value)() if isinstance(value, list | dict) else value


def _fault(parts: list[Part], make: Callable[[Rules], object]) -> InputError | None:
    try:
        make(assembled(parts))
    except InputError as error:
        return error
    return None
