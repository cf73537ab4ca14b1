"""A judge of what is printed that knows `predict`, the table and the list of rules, nothing else.

Counts stay whole, values stay where the table has some, no change is smaller than a step, what is
printed is predicted as said, and no printed value could have stopped one step earlier. One step
earlier may be a tie: moved on by a billionth, the model says the old class again. Nobody is sent
there, so it is counted apart.
"""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from math import copysign

import numpy as np
import pandas as pd

#: What is counted and is no fault.
FINE = ("rows", "values", "about", "tie", "optimal", "feasible", "infeasible")
#: How far a tie reaches, relatively: in double precision, and in single precision.
NEAR, NEAR_SINGLE = 1e-9, 1e-6


@dataclass(frozen=True)
class Rules:
    """What the judge knows of a table: its columns, and the steps that the rules list."""

    numbers: dict
    words: dict
    steps: dict
    least: dict
    near: dict

    @classmethod
    def of(cls, X, inferred, single=()):
        numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]
        return cls(
            {name: X[name].to_numpy(dtype=float) for name in numbers},
            {name: set(X[name]) for name in X if name not in numbers},
            {rule.feature: rule.numbers[0] for rule in inferred if rule.kind == "step"},
            {rule.feature: rule.numbers[0] for rule in inferred if rule.kind == "change"},
            {name: NEAR_SINGLE if name in single else NEAR for name in X},
        )


@dataclass(frozen=True)
class Asked:
    """One point that the model is asked about, and the answer that would be a fault."""

    row: object
    changes: dict
    fault: str
    wrong: object
    #: The same point moved a little more towards the own values; None if it may not be a tie.
    beyond: dict | None = None


def judge(result, model, X, inferred):
    """Return how often each thing went wrong, and how many values and rows were looked at."""
    shown = ((one.summary(), one.text("long")) for one in result)
    return judge_shown(shown, model, X, inferred)


def judge_shown(shown, model, X, inferred):
    """Return the same of summaries, each with its text."""
    found, asked = Counter(), []
    written, single = _as_written(X)
    rules = Rules.of(written, inferred, single)
    own = dict(zip(X.index, model.predict(X), strict=True))
    for summary, text in shown:
        found["rows"] += 1
        found[summary["negative"]["status"]] += 1
        if summary["negative"]["values"]:
            before = own[summary["id"]]
            row = written.loc[summary["id"]]
            found.update(_seen(summary, text, row, rules))
            asked += _questions(summary, text, row, before, rules)
    found.update(_predicted(model, X, asked))
    return found


def _as_written(X):
    """Return a table with the decimals that numbers in single precision are, and their names."""
    single = [name for name in X if X[name].dtype == np.float32]
    return X.assign(**{name: X[name].astype(str).astype(float) for name in single}), single


def _values(summary):
    return {v["feature"]: v["value"] for v in summary["negative"]["values"]}


def _seen(summary, text, row, rules):
    """Return what is wrong with the values themselves: no model is asked."""
    changes = _values(summary)
    wrong = Counter(values=len(changes))
    for name, value in changes.items():
        if name in rules.words:
            wrong["unseen"] += value not in rules.words[name]
            continue
        numbers, step = rules.numbers[name], rules.steps.get(name)
        if step is None or rules.near[name] == NEAR_SINGLE:
            wrong["about"] += _is_about(name, text)
        wrong["fractional"] += bool(value % 1 != 0 and (numbers % 1 == 0).all())
        wrong["out of range"] += not np.nanmin(numbers) <= value <= np.nanmax(numbers)
        if step is None:  # of full precision
            wrong["micro"] += abs(value - row[name]) < 0.999e-3 * numbers.std()
        else:
            wrong["off grid"] += _exact(value) % _exact(step) != 0
            if np.isfinite(row[name]):  # of one that was missing any number is far
                wrong["micro"] += abs(_exact(value) - _exact(row[name])) < _exact(step)
    return wrong


def _questions(summary, text, row, before, rules):
    """Yield the printed point, and the points with one number a step closer to the own one."""
    changes, target = _values(summary), summary["negative"]["target"]
    yield Asked(summary["id"], changes, "invalid", lambda said: said != target or said == before)
    for name, value in changes.items():
        if name in rules.words:
            continue
        step = rules.steps.get(name)
        if not np.isfinite(row[name]):  # it was missing: there is no way back
            continue
        if rules.near[name] == NEAR_SINGLE and _is_about(name, text):
            continue  # sums in single precision cannot tell the steps apart
        if step is None:  # of full precision: the last digit that is printed
            if _is_about(name, text):
                continue
            step = 10.0 ** -_digits(value)
        closer = _closer(value, row[name], step)
        if abs(closer - row[name]) < rules.least.get(name, 0.0):  # a change so small is none
            closer = row[name]
        fewer = changes | {name: closer}
        little = copysign(rules.near[name] * (1 + abs(closer)), row[name] - closer)
        beyond = None if closer == row[name] else changes | {name: closer + little}
        yield Asked(summary["id"], fewer, "not minimal", lambda said: said != before, beyond)


def _predicted(model, X, asked):
    """Return how many answers of the model are faults: asked together, then each alone."""
    found = Counter()
    if asked:
        for one, said in zip(asked, model.predict(_points(X, asked)), strict=True):
            if one.wrong(said) and one.wrong(model.predict(_points(X, [one]))[0]):
                found["tie" if _is_tie(model, X, one) else one.fault] += 1
    return found


def _is_tie(model, X, one):
    if one.beyond is None:
        return False
    return not one.wrong(model.predict(_points(X, [replace(one, changes=one.beyond)]))[0])


def _points(X, asked):
    points = X.loc[[one.row for one in asked]].reset_index(drop=True)
    for name in X:
        new = {i: one.changes[name] for i, one in enumerate(asked) if name in one.changes}
        if new:
            values = points[name].tolist()
            moved = [new.get(i, value) for i, value in enumerate(values)]
            # A printed number is put into a table as its owner has it.
            single = X[name].dtype == np.float32
            points[name] = np.array(moved, dtype=np.float32) if single else moved
    return points


def _is_about(name, text):
    return f"{name.replace('_', ' ')} about" in text


def _exact(number):
    return Fraction(repr(float(number)))


def _closer(value, own, step):
    """Return the value one step closer to the own one, as it would be written."""
    gone = _exact(own) - _exact(value)
    move = min(abs(gone), _exact(step))
    return float(_exact(value) + (move if gone > 0 else -move))


def _digits(value):
    text = repr(float(value))
    if "e" in text:
        head, power = text.split("e")
        return len(head.partition(".")[2]) - int(power)
    return len(text.partition(".")[2].rstrip("0"))


def faults(found):
    """Return what must not be, of a count of everything."""
    return {key: count for key, count in found.items() if key not in FINE and count}
