"""Rules and reasons in the reader's words: features and classes by the names of the wording."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pertinent.rules.constraints import Constraints, Feature
from pertinent.rules.relations import Relation
from pertinent.summary.words import Wording, label_text, listed, plain

if TYPE_CHECKING:
    from pertinent.setting.setting import Setting
    from pertinent.summary.asked import Asked
    from pertinent.tables.features import Features

#: How the rules that a proof rests on are phrased around the name of a feature.
_FROZEN = " frozen"
_AFTER = (" may only increase", " may only decrease")
_BEFORE = (
    "allowed categories of ",
    "allowed transitions of ",
    "categories of ",
    "lower limit of ",
    "upper limit of ",
)
#: Names in a relation: identifiers, or anything in backticks.
_NAME = re.compile(r"`([^`]+)`|\b([^\W\d]\w*)")

Called = Callable[[Feature], str]


def called_by(wording: Wording, names: tuple[str, ...]) -> Called:
    """Return the function from a feature, by name or position, to what the reader calls it.

    Two features that are called the same keep their own names: a rule must say which one it means.

    Examples
    --------
    >>> from pertinent import Wording
    >>> from pertinent.summary.rule_words import called_by
    >>> called = called_by(Wording(names={"time": "loan term"}), ("time", "loan_amount"))
    >>> called("time"), called(1), called("unknown")
    ('loan term', 'loan amount', 'unknown')
    """
    texts = [feature_text(wording, name) for name in names]
    known = {
        name: text if texts.count(text) == 1 else name
        for name, text in zip(names, texts, strict=True)
    }

    def called(feature: Feature) -> str:
        name = names[feature] if isinstance(feature, int) else str(feature)
        return known.get(name, name)

    return called


def feature_text(wording: Wording, name: str) -> str:
    """Return what the reader calls a feature."""
    return wording.names.get(name, name.replace("_", " "))


def rules_text(prepared: Setting, called: Called) -> str:
    """Return all that points must obey beside the prediction, in words."""
    parts = rule_lines(renamed(prepared.constraints, called))
    if prepared.min_proba is not None:
        parts.append(f"a probability of at least {prepared.min_proba:g}")
    if prepared.within is not None:
        parts.append(f"every point is {prepared.within.words()}")
    return "; ".join(parts) or "none"


def rule_lines(rules: Constraints) -> list[str]:
    """Return the rules as short sentences; features with the same rule share one.

    Examples
    --------
    >>> from pertinent import Constraints
    >>> from pertinent.summary.rule_words import rule_lines
    >>> rules = Constraints(frozen=["age", "job"], bounds={"income": (0, None), "time": (6, 72)})
    >>> rule_lines(rules)
    ['age and job stay as they are', 'income is at least 0', 'time is between 6 and 72']
    """
    lines = _shared(rules.frozen, "stays as it is", "stay as they are")
    by_range: dict[tuple[float | None, float | None], list[Feature]] = {}
    for name, (low, high) in rules.bounds.items():
        by_range.setdefault((low, high), []).append(name)
    for (low, high), names in by_range.items():
        words = _range(low, high)
        lines += _shared(names, f"is {words}", f"are {words}")
    for direction, some in (("increase", rules.increase_only), ("decrease", rules.decrease_only)):
        lines += _shared(some, f"may only {direction}", f"may only {direction}")
    lines += _shared(rules.integer, "is a whole number", "are whole numbers")
    rest = replace(rules, frozen=(), bounds={}, increase_only=(), decrease_only=(), integer=())
    return lines if str(rest) == "none" else [*lines, *str(rest).split("; ")]


def _shared(names: Sequence[Feature], one: str, many: str) -> list[str]:
    if not names:
        return []
    return [f"{listed([str(name) for name in names])} {one if len(names) == 1 else many}"]


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "free"
    if high is None:
        return f"at least {plain(low)}"
    return f"at most {plain(high)}" if low is None else f"between {plain(low)} and {plain(high)}"


def renamed(rules: Constraints, called: Called) -> Constraints:
    """Return the same rules about features of other names."""

    def keys(mapping: Any) -> dict[Feature, Any]:
        return {called(name): value for name, value in mapping.items()}

    def names(features: Any) -> list[Feature]:
        return [called(name) for name in features]

    return replace(
        rules,
        frozen=names(rules.frozen),
        bounds=keys(rules.bounds),
        increase_only=names(rules.increase_only),
        decrease_only=names(rules.decrease_only),
        integer=names(rules.integer),
        decimals=keys(rules.decimals),
        categories=keys(rules.categories),
        transitions=keys(rules.transitions),
        relations=[_renamed_relation(relation, called) for relation in rules._relations],
        costs=keys(rules.costs),
        together=[names(group) for group in rules.together],
    )


def _renamed_relation(relation: Relation, called: Called) -> Relation:
    own = {str(name) for name in relation.coefficients}

    def name(match: re.Match[str]) -> str:
        found = match[1] or match[2]
        return called(found) if found in own else match[0]

    coefficients: dict[Feature, float] = {
        called(feature): c for feature, c in relation.coefficients.items()
    }
    return replace(relation, coefficients=coefficients, text=_NAME.sub(name, relation.text))


def _literal(words: str) -> str:
    """Return words for the right side of `re.sub`, which reads backslashes."""
    return words.replace("\\", r"\\")


class Reasons:
    """Reasons of missing answers, with features and classes as the reader calls them."""

    def __init__(self, asked: Asked, features: Features) -> None:
        rules = asked.prepared.constraints
        self.called = called_by(asked.wording, features.names)
        self.names = set(features.names)
        # Rules with several features are known by their whole text.
        self.whole = {
            relation.text: _renamed_relation(relation, self.called).text
            for relation in rules._relations
        }
        for group in rules.together:
            raw = f"{' and '.join(map(str, group))} change together"
            self.whole[raw] = f"{' and '.join(map(self.called, group))} change together"
        self.labels = {
            repr(label): asked.wording.labels.get(label) or label_text(label)
            for label in asked.prepared.classes.tolist()
        }

    def __call__(self, reason: str | None) -> str | None:
        """Return one reason in words."""
        if reason is None:
            return None
        start, obeys, rules = reason.partition(" obeys: ")
        return f"{self._predicted(start)}{obeys}{'; '.join(self._rules(rules.split('; ')))}"

    def _rules(self, rules: list[str]) -> list[str]:
        """Return the rules that conflict; frozen features share one sentence."""
        still = [rule.removesuffix(_FROZEN) for rule in rules if rule.endswith(_FROZEN)]
        frozen = [self.called(name) for name in still if name in self.names]
        rest = [
            self._rule(r) for r in rules if r.removesuffix(_FROZEN) not in set(still) & self.names
        ]
        return [*_shared(frozen, "stays as it is", "stay as they are"), *rest]

    def _predicted(self, text: str) -> str:
        for label, words in self.labels.items():
            what = rf"(predicted as(?: any class other than)?) {re.escape(label)}(?![\w.])"
            text = re.sub(what, rf"\1 {_literal(words)}", text)
        return text

    def _rule(self, rule: str) -> str:
        if rule in self.whole:
            return self.whole[rule]
        for tail in _AFTER:
            if rule.endswith(tail) and rule.removesuffix(tail) in self.names:
                return self.called(rule.removesuffix(tail)) + tail
        for head in _BEFORE:
            if rule.startswith(head) and rule.removeprefix(head) in self.names:
                return head + self.called(rule.removeprefix(head))
        for sense, words in ((" >= ", "is at least"), (" <= ", "is at most")):
            name, found, number = rule.rpartition(sense)
            if found and name in self.names:
                return f"{self.called(name)} {words} {number}"
        return rule
