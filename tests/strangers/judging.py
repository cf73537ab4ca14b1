"""A judge of what is printed that knows `predict`, the table and the list of rules, nothing else.

Counts stay whole, values stay where the table has some, no change is smaller than a step, what is
printed is predicted as said, and no printed value could have stopped one step earlier.
"""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd


def judge(result, model, X, rules):
    """Return how often each thing went wrong, and how many values and rows were looked at."""
    found = Counter()
    steps = {rule.feature: rule.numbers[0] for rule in rules if rule.kind == "step"}
    least = {rule.feature: rule.numbers[0] for rule in rules if rule.kind == "change"}
    for explanation in result:
        summary = explanation.summary()
        found["rows"] += 1
        found[summary["negative"]["status"]] += 1
        if summary["negative"]["values"]:
            found.update(_judged(summary, explanation.text("long"), model, X, steps, least))
    return found


def _judged(summary, text, model, X, steps, least):
    own = X.loc[[summary["id"]]]
    changes = {v["feature"]: v["value"] for v in summary["negative"]["values"]}
    point = _with(own, changes)
    wrong = Counter(values=len(changes))
    before, after = model.predict(own)[0], model.predict(point)[0]
    wrong["invalid"] += after != summary["negative"]["target"] or after == before
    for name, value in changes.items():
        column = X[name]
        if not pd.api.types.is_numeric_dtype(column):
            wrong["unseen"] += value not in set(column)
            continue
        old, numbers = own[name].iloc[0], column.to_numpy(dtype=float)
        wrong["fractional"] += bool((numbers % 1 == 0).all() and value % 1 != 0)
        wrong["out of range"] += not numbers.min() <= value <= numbers.max()
        step = steps.get(name)
        if step is None:  # of full precision: the last digit that is printed
            wrong["micro"] += abs(value - old) < 0.999e-3 * numbers.std()
            if f"{name.replace('_', ' ')} about" in text:
                wrong["about"] += 1
                continue
            step = 10.0 ** -_digits(value)
        else:
            wrong["off grid"] += (_exact(value) - 0) % _exact(step) != 0
            wrong["micro"] += abs(_exact(value) - _exact(old)) < _exact(step)
        closer = _closer(value, old, step)
        if abs(closer - old) < least.get(name, 0.0):  # a change so small is none
            closer = old
        wrong["not minimal"] += model.predict(_with(own, changes | {name: closer}))[0] != before
    return wrong


def _with(row, values):
    changed = row.copy()
    for name, value in values.items():
        changed[name] = np.array([value]) if not isinstance(value, str) else [value]
    return changed


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
    fine = ("rows", "values", "about", "optimal", "feasible", "infeasible")
    return {key: count for key, count in found.items() if key not in fine and count}
