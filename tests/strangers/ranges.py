"""A judge of ranges that knows `predict`, the table and the list of rules, nothing else.

Every value of a range, and every point of a box, must get the class that is said; one step outside
of an end that the class makes, it must be left. A step is that of the column, or a millionth of
what the column spans.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from tests.strangers.judging import NEAR, NEAR_SINGLE

#: Values inside a range, and points of a box, that the model is asked about.
INSIDE = 12
#: Corners of a box at which a step to the outside is tried.
CORNERS = 64
#: What is counted and is no fault.
FINE = ("rows", "ranges", "boxes", "inside", "ends", "ties")


@dataclass(frozen=True)
class Told:
    """What is told of one answer: its point, the class it keeps, and the ranges of its values."""

    name: str
    row: int
    point: dict
    exact: dict
    label: object
    values: list
    own: dict
    #: Features of which every value will do.
    free: tuple = ()


def judge_ranges(summaries, model, X, inferred, seed=0):
    """Return how often each thing went wrong, and how much was looked at."""
    steps, least = (
        {rule.feature: rule.numbers[0] for rule in inferred if rule.kind == kind}
        for kind in ("step", "change")
    )
    avoided = {rule.feature: rule.categories for rule in inferred if rule.kind == "categories"}
    limits = {name: (X[name].min(), X[name].max()) for name in X if _is_number(X, name)}
    judge = _Judge(model, X, steps, least, avoided, limits, np.random.default_rng(seed))
    for place, summary in enumerate(summaries):
        judge.found["rows"] += 1
        for told in _told(summary, place, X):
            judge.look_at(told)
    judge.ask()
    return judge


def faults(found):
    """Return what must not be, of a count of everything."""
    return {key: count for key, count in found.items() if key not in FINE and count}


def _is_number(X, name):
    return pd.api.types.is_numeric_dtype(X[name])


def _told(summary, place, X):
    negative, positive = summary["negative"], summary["positive"]
    own = {f["name"]: f["sample"] for f in summary["features"]}
    if negative["values"]:
        printed = own | {v["feature"]: v["value"] for v in negative["values"]}
        exact = dict(zip(X, negative["point"], strict=True))
        yield Told("negative", place, printed, exact, negative["target"], negative["values"], own)
    for name, one in (("positive", positive), ("instead", positive.get("instead"))):
        if one is None or not one.get("values") or one.get("point") is None:
            continue
        kept = {v["feature"]: v["value"] for v in one["values"]}
        exact = dict(zip(X, one["point"], strict=True))
        free = tuple(set(X) - set(kept)) if one.get("method") == "sufficient" else ()
        label = summary["prediction"]
        yield Told(name, place, exact | kept, exact, label, one["values"], own, free)


class _Judge:
    def __init__(self, model, X, steps, least, avoided, limits, rng):
        self.model, self.X, self.limits, self.rng = model, X, limits, rng
        self.steps, self.least, self.avoided = steps, least, avoided
        self.found, self.wrong = Counter(), []
        self.asked = []

    def look_at(self, told):
        for value in told.values:
            span = value.get("range")
            if span is None:
                continue
            name = value["feature"]
            self.found["ranges"] += 1
            if "values" in span:
                for level in span["values"]:
                    self.inside(told, told.point | {name: level}, "category")
                continue
            for number in self._within(name, span):
                self.inside(told, told.point | {name: number}, "range")
            for end, way in (("low", -1), ("high", 1)):
                out = self._outside(told, name, span, end, way)
                if out is not None:
                    self.found["ends"] += 1
                    self.asked.append(([told.exact | {name: out}], told, f"end {name}", False))
        boxed = {v["feature"]: v["box"] for v in told.values if v.get("box")}
        boxed = {name: side for name, side in boxed.items() if "low" in side}
        if boxed:
            self.found["boxes"] += 1
            for _ in range(INSIDE):
                moved = {name: self._one(name, side) for name, side in boxed.items()}
                self.inside(told, told.point | moved, "box")
            self._sides(told, boxed)

    def _sides(self, told, boxed):
        for name, side in boxed.items():
            for end, way in (("low", -1), ("high", 1)):
                out = self._outside(told, name, side, end, way)
                if out is None:
                    continue
                self.found["ends"] += 1
                points = []
                for _ in range(CORNERS):
                    corner = {
                        other: s[f"exact_{'low' if self.rng.random() < 0.5 else 'high'}"]
                        for other, s in boxed.items()
                    }
                    known = {n: v for n, v in corner.items() if v is not None}
                    points.append(told.exact | known | {name: out})
                self.asked.append((points, told, f"box end {name}", False))

    def inside(self, told, point, what):
        self.found["inside"] += 1
        points = [point]
        if told.free:
            points = [point | {name: self._any(told, name) for name in told.free} for _ in range(3)]
        self.asked.append((points, told, f"inside {what}", True))

    def _any(self, told, name):
        """Return a value of the table; one that no sample is changed to is not asked about."""
        value = self.rng.choice(self.X[name].to_numpy())
        return told.own[name] if value in self.avoided.get(name, ()) else value

    def _ends(self, name, span):
        low, high = span["low"], span["high"]
        first, last = self.limits[name]
        return (first if low is None else low), (last if high is None else high)

    def _within(self, name, span):
        low, high = self._ends(name, span)
        return [low, high] + [self._one(name, span) for _ in range(INSIDE - 2)]

    def _one(self, name, span):
        low, high = self._ends(name, span)
        step = self.steps.get(name)
        if low >= high:
            return low
        if self.rng.random() < 0.2:
            return low if self.rng.random() < 0.5 else high
        if step is None:
            return float(self.rng.uniform(low, high))
        first, last = (Fraction(repr(float(end))) / _exact(step) for end in (low, high))
        first, last = -(-first // 1), last // 1
        return float(self.rng.integers(first, last + 1) * _exact(step)) if first <= last else low

    def _outside(self, told, name, span, end, way):
        out = self._farther(name, span, end, way)
        own = told.own[name]
        if out is None or own is None or told.name != "negative":
            return out
        # A change so small is none: the next value that is left is the own one.
        return own if abs(out - own) < self.least.get(name, 0.0) else out

    def _farther(self, name, span, end, way):
        exact = span[f"exact_{end}"]
        if exact is None or span[f"{end}_end"]["kind"] != "class":
            return None
        step = self.steps.get(name)
        if step is not None:
            out = float(_exact(span[end]) + way * _exact(step))
            # An end that was proved keeps farther from the border than sums can round.
            near = NEAR_SINGLE if self.X[name].dtype == np.float32 else NEAR
            tie = abs(out - exact) <= near * (1 + abs(out))
            self.found["ties"] += tie
            return None if tie else out
        first, last = self.limits[name]
        # Sums in single precision round by more than a millionth.
        share = 1e-3 if self.X[name].dtype == np.float32 else 1e-6
        return exact + way * share * float(last - first)

    def ask(self):
        points = [point for many, *_ in self.asked for point in many]
        if not points:
            return
        said = iter(self.model.predict(self._frame(points)))
        for many, told, what, inside in self.asked:
            labels = [next(said) for _ in many]
            if inside:
                bad = any(label != told.label for label in labels)
            else:
                bad = all(label == told.label for label in labels)
            if bad:
                self.found[f"{told.name} {what.split()[0] if not inside else what}"] += 1
                self.wrong.append((told, what, many[0]))

    def _frame(self, points):
        frame = pd.DataFrame(points, columns=list(self.X))
        return frame.astype(
            {name: self.X[name].dtype for name in self.X if self.X[name].dtype == np.float32}
        )


def _exact(number):
    return Fraction(repr(float(number)))
