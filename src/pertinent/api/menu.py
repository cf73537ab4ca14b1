"""A menu of levers: for every small set of features, whether changing only these can work."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb
from typing import Any

import narwhals as nw
import numpy as np

from pertinent.api.asking import negatives_of
from pertinent.exceptions import InputError, visible, visible_json
from pertinent.geometry.arrays import BoolArray, IntArray
from pertinent.geometry.running import one_thread
from pertinent.proofs import ALREADY
from pertinent.setting.effort import SEARCHING
from pertinent.setting.limits import negative_limits
from pertinent.setting.nearest.negative import target_places
from pertinent.setting.question import NegativeQuestion
from pertinent.setting.results import Negatives
from pertinent.summary.asked import Asked
from pertinent.summary.rounding import ROUNDING, first_steps, not_least, round_valid
from pertinent.summary.words import Said, counted, label_text, listed, plain, shown
from pertinent.tables.notebook import Card, card
from pertinent.tables.numbers import require_whole
from pertinent.tables.raw import Raw, number_columns, raw_rows
from pertinent.tables.table import Table, installed_backend

#: Most sets of features that one menu looks at.
MOST_SETS = 20_000
#: Sets named in one sentence about those that cannot work.
MOST_NAMED = 12
_FIRST = np.zeros(1, dtype=np.int64)


@dataclass(frozen=True)
class Lever(Card):
    """What changing only some features can do.

    Attributes
    ----------
    features : tuple of str
        The only features that may change.
    status : str
        "optimal": the smallest such change, proved; "feasible": one that works, not proved
        smallest; "infeasible": proved that none works; "failed": neither.
    values : dict of str to (value, value)
        For each feature that changes, the sample's own value and the new one, which is valid as
        it is printed.
    objective, bound : float or None
        Size of the change, and its proved lower bound.
    target : label or None
        The class that is reached.
    reason : str or None
        Why there is no such change.
    about : tuple of str
        Features of which a value a step closer does as well, for rounding in single precision.
    """

    features: tuple[str, ...]
    status: str
    values: dict[str, tuple[Raw, Raw]]
    objective: float | None
    bound: float | None
    target: Any
    reason: str | None
    about: tuple[str, ...] = ()

    @property
    def works(self) -> bool:
        """Whether changing only these features can work, as far as is known."""
        return self.status in (Said.OPTIMAL, Said.FEASIBLE)

    @property
    def needs_all(self) -> bool:
        """Whether the smallest change uses every one of these features."""
        return self.works and set(self.values) == set(self.features)

    def __str__(self) -> str:
        if not self.works:
            word: dict[str, str] = {
                Said.INFEASIBLE: "proved that this cannot work",
                Said.ALREADY: "nothing to change",
            }
            return visible(f"{' with '.join(self.features)}: {word.get(self.status, 'not known')}")
        size = f"size {self.objective:.3g}, {self.proof}"
        return visible(f"{self.words()} gives {label_text(self.target)} ({size})")

    @property
    def proof(self) -> str:
        """Whether the change is proved to be the smallest, in words."""
        least = f"smallest {ROUNDING}" if self.about else "smallest"
        return f"proved {least}" if self.status == Said.OPTIMAL else "not proved smallest"

    def words(self) -> str:
        """Return the change in words."""
        parts = [
            f"{name} {'about ' if name in self.about else ''}{plain(new, exact=True)} instead of "
            f"{'a missing value' if old is None else plain(old)}"
            for name, (old, new) in self.values.items()
        ]
        return listed(parts)


@dataclass(frozen=True, repr=False)
class Menu(Sequence[Lever]):
    """Every set of at most so many features, with what changing only these can do.

    Those that work come first, the smallest change before larger ones; then those that are proved
    not to work.

    Attributes
    ----------
    levers : tuple of Lever
    prediction : label
    target : label or None
        What was asked for; None for any other class.
    max_features : int
    frozen : tuple of str
        Features that the rules fix: no set of the menu has them.
    """

    levers: tuple[Lever, ...]
    prediction: Any
    target: Any
    max_features: int
    frozen: tuple[str, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.levers)

    def __getitem__(self, index: Any) -> Any:
        return self.levers[index]

    def __iter__(self) -> Iterator[Lever]:
        return iter(self.levers)

    def __repr__(self) -> str:
        can = sum(lever.works for lever in self)
        never = sum(lever.status == Said.INFEASIBLE for lever in self)
        return f"<Menu: {counted(len(self), 'set')} of features, {can} work, {never} proved not to>"

    def _repr_html_(self) -> str:
        first, changes, rest = self._told()
        return card(first, [(line,) for line in (*changes, *rest)])

    def text(self) -> str:
        """Return the menu in words: changes that need all their features, and what cannot work."""
        first, changes, rest = self._told()
        return "\n".join([first, *(f"- {line}" for line in changes), *rest])

    def _told(self) -> tuple[str, list[str], list[str]]:
        """Return what was asked, a line for each change that works, and lines about the others."""
        goal = "another class" if self.target is None else label_text(self.target)
        most = counted(self.max_features, "feature")
        if any(lever.status == Said.ALREADY for lever in self):
            return shown(f"The model predicts {goal} already: nothing has to change."), [], []
        own = label_text(self.prediction)
        first = f"Predicted {own}. What could give {goal}, changing at most {most}:"
        changes, rest = [], []
        for lever in (one for one in self if one.needs_all):
            to = f" gives {label_text(lever.target)}" if self.target is None else ""
            changes.append(f"{lever.words()}{to} (size {lever.objective:.3g}, {lever.proof})")
        never = [" with ".join(lever.features) for lever in self if lever.status == Said.INFEASIBLE]
        if never:
            more = len(never) - MOST_NAMED
            named = [*never[:MOST_NAMED], *([f"{more:,} more"] if more > 0 else [])]
            rest.append(f"Proved that these alone cannot: {'; '.join(named)}.")
        unknown = [" with ".join(lever.features) for lever in self if lever.status == Said.FAILED]
        if unknown:
            rest.append(f"Not known: {'; '.join(unknown[:MOST_NAMED])}.")
        if not changes and not rest:
            rest.append("Nothing may change.")
        return shown(first), shown(changes), shown(rest)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row for each set of features."""
        columns = {
            "features": [", ".join(lever.features) for lever in self],
            "status": [lever.status for lever in self],
            "size": [np.nan if lever.objective is None else lever.objective for lever in self],
            "bound": [np.nan if lever.bound is None else lever.bound for lever in self],
            "target": [None if lever.target is None else str(lever.target) for lever in self],
            "change": [lever.words() for lever in self],
            "reason": [lever.reason for lever in self],
        }
        chosen: Any = backend or installed_backend()
        return nw.from_dict(columns, backend=chosen).to_native()

    def json(self, *, indent: int | None = None) -> str:
        """Return the menu as JSON; its proofs are not part of it."""
        levers = [
            {
                "features": list(lever.features),
                "status": lever.status,
                "objective": lever.objective,
                "bound": lever.bound,
                "target": lever.target,
                "values": [
                    {"feature": name, "from": old, "to": new}
                    | ({"about": True} if name in lever.about else {})
                    for name, (old, new) in lever.values.items()
                ],
                "reason": lever.reason,
            }
            for lever in self
        ]
        document = {
            "format": "pertinent-menu",
            "version": 1,
            "prediction": self.prediction,
            "target": self.target,
            "max_features": self.max_features,
            "frozen": list(self.frozen),
            "levers": levers,
        }
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=indent)
        return visible_json(text)


def menu_of(asked: Asked, table: Table, target: Any, max_features: int) -> Menu:
    """Return what changing only few features can do for one sample; see `Explainer.menu`.

    All sets of features share the time of the sample.
    """
    with one_thread, asked.settings.effort.limiting(1):
        return _menu(asked, table, target, max_features)


def _menu(asked: Asked, table: Table, target: Any, max_features: int) -> Menu:
    require_whole("max_features", max_features, 1)
    if len(table) != 1:
        raise InputError(f"A menu is about one sample. Got {len(table)}: pass X.iloc[[0]].")
    setting = asked.setting
    low, high = (np.broadcast_to(s, table.values.shape) for s in negative_limits(setting, table))
    free = setting.features.by_feature((low != high) & ~setting.features.hidden)[0]
    sets = _sets(free, max_features)
    wanted = target_places(setting, target, 1)
    places = None if wanted is None else np.repeat(wanted, len(sets))
    many = table.take(np.zeros(len(sets), dtype=np.int64))
    labels: IntArray = np.repeat(setting.predict(table), len(sets))
    question = NegativeQuestion(places, ~sets, effort=asked.settings.effort)
    names = setting.features.names
    frozen = tuple(names[j] for j in np.flatnonzero(~free))
    levers: list[Lever] = []
    if len(sets):
        with asked.settings.effort.limiting(1, SEARCHING):
            found = negatives_of(setting, many, labels, question)
        if (found.status_code == ALREADY).all():
            found, sets = found.take(_FIRST), np.zeros_like(sets[:1])
            many = many.take(_FIRST)
        levers = _levers(asked, many, sets, found)
    classes = setting.classes.tolist()
    aim = None if wanted is None else classes[int(wanted[0])]
    own = classes[int(setting.predict(table)[0])]
    return Menu(tuple(sorted(levers, key=_order)), own, aim, int(max_features), frozen)


def _sets(free: BoolArray, most: int) -> BoolArray:
    """Return every set of at most so many of the free features, smaller ones first."""
    places = np.flatnonzero(free).tolist()
    sizes = range(1, min(most, len(places)) + 1)
    count = sum(comb(len(places), size) for size in sizes)
    if count > MOST_SETS:
        raise InputError(
            f"There are {count:,} sets of at most {most} of {len(places)} features, and a menu "
            f"looks at {MOST_SETS:,} at most. Ask for fewer features, or freeze some."
        )
    chosen = [some for size in sizes for some in combinations(places, size)]
    sets = np.zeros((len(chosen), len(free)), dtype=bool)
    for i, some in enumerate(chosen):
        sets[i, list(some)] = True
    return sets


def _levers(asked: Asked, many: Table, sets: BoolArray, found: Negatives) -> list[Lever]:
    setting, features = asked.setting, asked.setting.features
    weights = np.where(setting.weights > 0, setting.weights, 1.0)
    steps = first_steps(many.values, 1.0 / weights, asked.question.baseline)
    moved = number_columns(features) & features.by_column(found.changed)
    limits = negative_limits(setting, many, ~sets)
    printed = round_valid(
        setting, many, found.values, moved, many.values, found.target_place, limits, steps,
        changes=True,
    )  # fmt: skip
    about = features.by_feature(not_least(setting, many, printed, moved, found.target_place))
    given = np.flatnonzero(found.found)
    some = many.take(given)
    new = dict(zip(given.tolist(), raw_rows(some, printed[given], told=True), strict=True))
    old = raw_rows(many.take(_FIRST), many.values[_FIRST])[0]
    reasons, status, target = found.reason, found.status, found.target.tolist()
    return [
        Lever(
            tuple(features.names[j] for j in np.flatnonzero(sets[i])),
            str(status[i]),
            {features.names[j]: (old[j], new[i][j]) for j in np.flatnonzero(found.changed[i])},
            _finite(found.objective[i]),
            _finite(found.bound[i]),
            target[i] if found.found[i] else None,
            reasons[i],
            tuple(features.names[j] for j in np.flatnonzero(about[i] & found.changed[i])),
        )
        for i in range(len(sets))
    ]


def _order(lever: Lever) -> tuple[bool, float, int]:
    size = np.inf if lever.objective is None else lever.objective
    return not lever.works, size, len(lever.features)


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
