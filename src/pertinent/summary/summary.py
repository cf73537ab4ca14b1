"""One summary of each explanation; every view renders it and adds nothing to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pertinent.exceptions import InputError
from pertinent.geometry.arrays import FloatArray
from pertinent.models.steps.text import PassageClassifier
from pertinent.proofs import status_names
from pertinent.rules.constraints import Constraints
from pertinent.rules.inferred import STEP
from pertinent.rules.words import Speech, in_words, words_from_data
from pertinent.setting.answers import are_trusted
from pertinent.setting.claims.instead import Instead, fixed_by_rules
from pertinent.setting.claims.negatives import with_its_limit
from pertinent.setting.limits import negative_limits, positive_limits
from pertinent.setting.question import Overlap
from pertinent.setting.ranges import Room
from pertinent.summary.asked import Answered, Asked, Rooms
from pertinent.summary.chances import chance_columns, shown_chances
from pertinent.summary.instead import instead_summary, rounded_positive
from pertinent.summary.ranges.as_printed import as_printed, told_rooms
from pertinent.summary.ranges.shown import shown_range, shown_side
from pertinent.summary.rounding import first_steps, not_least, round_valid
from pertinent.tables.features import Features
from pertinent.tables.raw import (
    first_column,
    is_number,
    number_columns,
    raw_rows,
    row_names,
)

if TYPE_CHECKING:
    from pertinent.setting.results import Negatives, Positives, Results

#: Plain values only: what `json.dumps` takes.
Summary = dict[str, Any]
#: What the points of both answers are called as they are printed.
SHOWN_AS = {"positive": "kept", "negative": "changed"}


def summarize(
    explanations: Answered,
    rows: Sequence[int] | None = None,
    steps: FloatArray | None = None,
    instead: Sequence[Instead | None] | None = None,
    rooms: Sequence[Rooms] | None = None,
    *,
    at_once: bool = False,
) -> list[Summary]:
    """Return the summaries of some rows, or of all.

    Parameters
    ----------
    explanations : Answered
    rows : sequence of int, optional
    steps : ndarray of shape (n_features,), optional
        Coarsest rounding of each feature; by default from the spread of the data.
    instead : sequence of Instead or None, optional
        What stands in for the empty positives of the rows; by default it is asked for.
    rooms : sequence of Rooms, optional
        How far values of the rows may move; by default it is asked for.
    at_once : bool
        Whether the model may be asked for all its probabilities in one call, which may change
        their last digits.

    Returns
    -------
    list of dict
        The schema is in ``views/schema``. ``value`` is rounded as far as the model's own
        ``predict`` allows; ``exact`` is the number that was proved.
    """
    asked = asked_of(explanations)
    chosen = np.arange(len(explanations)) if rows is None else np.asarray(rows, dtype=np.int64)
    if steps is None:
        steps = rounding_steps(explanations)
    points = _points(explanations, asked, chosen, steps)
    tables = _decoded(explanations, asked, chosen, steps, points)
    if rooms is None:
        rooms = explanations.rooms(chosen.tolist())
    if instead is None:
        instead = explanations.instead(chosen.tolist())
    chances = _chances(explanations, asked, chosen, points, at_once)
    names = row_names(explanations.table.take(chosen))
    speech = asked.settings.wording.speech(explanations.table.features.names)
    rules, ends = _rules(asked), _steps_of_ends(asked, steps)
    both = (("positive", explanations.positive), ("negative", explanations.negative))
    shown = _rooms_as_printed(explanations, asked, chosen, points, rooms, ends)
    moves = [_Ranges(own, explanations.table.features, ends, speech) for own in shown]
    return [
        {
            **_summary(
                explanations,
                asked,
                int(row),
                name,
                {k: t[i] for k, t in tables.items()},
                moves[i],
                instead_summary(asked, instead[i], steps, moves[i].instead),
            ),
            "reasons": {name: _said(results, row, speech) for name, results in both},
            "rules": rules.copy(),
            "probability": chances[i],
        }
        for i, (row, name) in enumerate(zip(chosen, names, strict=True))
    ]


def _chances(
    explanations: Answered, asked: Asked, rows: Any, points: dict[str, FloatArray], at_once: bool
) -> list[Summary | None]:
    """Return the model's own numbers at the samples, and at the points as they are printed."""
    table = explanations.table.take(rows)
    shown = {part: table.as_held(points[name]) for part, name in SHOWN_AS.items()}
    places = explanations.positive.label[rows], explanations.negative.target_place[rows]
    found = chance_columns(asked.setting, table, shown, *places, at_once=at_once)
    return shown_chances(found, len(table))


def exact_chances(explanations: Answered) -> list[Summary | None]:
    """Return the same at the points as they are handed out, which files of before tell."""
    positive, negative = explanations.positive, explanations.negative
    points = {"positive": positive.values, "negative": negative.values}
    places, setting = (positive.label, negative.target_place), asked_of(explanations).setting
    found = chance_columns(setting, explanations.table, points, *places, at_once=True)
    return shown_chances(found, len(explanations))


@dataclass(frozen=True)
class _Ranges:
    """How far the values of one row may move, ready to be shown."""

    rooms: Rooms
    features: Features
    steps: FloatArray
    speech: Speech

    def of(self, part: str, j: int, value: Any) -> Summary:
        """Return what is said of one value: by itself, and together with the others."""
        return self._of(self.rooms.negative if part == "changed" else self.rooms.positive, j, value)

    def _of(self, room: Room, j: int, value: Any) -> Summary:
        step = float(self.steps[first_column(self.features, j)])
        own = (room, self.features, j, value, step, self.speech)
        return {"range": shown_range(*own), "box": shown_side(*own)}

    def instead(self, j: int, value: Any) -> Summary | None:
        """Return how far a value of what stands in may move."""
        found: Summary | None = self._of(self.rooms.instead, j, value)["range"]
        return found


def _said(results: Results, row: int, speech: Speech) -> str | None:
    why = results.reasons[row]
    return None if why is None else str(why.words(results.classes, speech))


def asked_of(explanations: Answered) -> Asked:
    """Return what the explanations were asked with, which the views need."""
    if explanations.asked is None:
        raise InputError(
            "These explanations do not know how they were asked for. Views need the result of "
            "Explainer.explain."
        )
    asked = explanations.asked
    question = asked.question.in_precision_of(explanations.table)
    return asked if question is asked.question else replace(asked, question=question)


def model_name(model: Any) -> str:
    """Return the name of a model; of a pipeline, that of its last step."""
    steps = getattr(model, "steps", None)
    return type(steps[-1][1]).__name__ if steps else type(model).__name__


def rounding_steps(explanations: Answered) -> FloatArray:
    """Return the coarsest step at which the values of each feature are shown."""
    asked = asked_of(explanations)
    weights = asked.setting.weights
    # Columns that cost nothing are hidden ones, and never shown.
    scale = 1.0 / np.where(weights > 0, weights, 1.0)
    steps = first_steps(explanations.table.values, scale, asked.question.baseline)
    for rule in asked.setting.constraints.inferred:
        if rule.kind == STEP:
            j = asked.setting.features.column(rule.feature, STEP)
            steps[j] = max(steps[j], 10.0**-rule.lattice.decimals)
    return steps


def _steps_of_ends(asked: Asked, steps: FloatArray) -> FloatArray:
    """Return the coarsest step at which ends of ranges are shown: on a lattice, all its digits."""
    steps = np.minimum(steps, 1.0)
    for j, lattice in asked.setting.constraints.lattice(asked.setting.features).items():
        steps[j] = min(steps[j], 10.0**-lattice.decimals)
    return steps


def _points(
    explanations: Answered, asked: Asked, rows: Any, steps: FloatArray
) -> dict[str, FloatArray]:
    """Return samples, baseline and points of the rows, exact and as they are printed."""
    table, features = explanations.table.take(rows), explanations.table.features
    positive, negative = explanations.positive, explanations.negative
    baseline = np.broadcast_to(asked.question.baseline, table.values.shape)
    kept = rounded_positive(asked, asked.question, positive, rows, steps)
    untouched = (positive.kept & explanations.avoided[:, None])[rows]
    limits = negative_limits(asked.setting, table, untouched)
    places = negative.target_place[rows]
    new = number_columns(features) & features.by_column(negative.changed[rows])
    changed = round_valid(
        asked.setting, table, negative.values[rows], new, table.values, places, limits, steps,
        changes=True,
    )  # fmt: skip
    about = not_least(asked.setting, table, changed, new, places)
    return {
        "about": about.astype(float),
        "sample": table.values,
        "baseline": baseline,
        "kept": kept,
        "positive": positive.values[rows],
        "sparse": positive.sparse_values[rows],
        "changed": changed,
        "negative": negative.values[rows],
    }


def _rooms_as_printed(
    explanations: Answered, asked: Asked, rows: Any, points: dict[str, FloatArray],
    rooms: Sequence[Rooms], ends: FloatArray,
) -> list[Rooms]:  # fmt: skip
    """Return how far values may move beside the others as they are printed."""
    table = explanations.table.take(rows)
    kept, changed, instead = (
        told_rooms(table, [getattr(own, part) for own in rooms]) for part in Rooms._fields
    )
    kept = as_printed(
        asked.setting, table, explanations.positive.label[rows],
        (points["kept"], points["positive"]), kept, ends,
    )  # fmt: skip
    changed = as_printed(
        asked.setting, table, explanations.negative.target_place[rows],
        (points["changed"], points["negative"]), changed, ends,
    )  # fmt: skip
    return [Rooms(*own) for own in zip(kept, changed, instead, strict=True)]


def _decoded(
    explanations: Answered, asked: Asked, rows: Any, steps: FloatArray,
    points: dict[str, FloatArray],
) -> dict[str, list[list[Any]]]:  # fmt: skip
    """Return the points of the rows as their owner knows them."""
    table, positive, negative = (
        explanations.table.take(rows), explanations.positive, explanations.negative
    )  # fmt: skip
    rounded = ("kept", "changed")  # these are told already
    features = explanations.table.features
    out: dict[str, list[list[Any]]] = {
        n: raw_rows(table, v, told=n in rounded) for n, v in points.items() if n != "about"
    }
    out["about"] = features.by_feature(points["about"] == 1).tolist()
    out["fixed"] = fixed_by_rules(asked.setting, asked.question, table, positive.method).tolist()
    for name, results in (("also_kept", positive), ("also_changed", negative)):
        out[name] = _alternatives(explanations, asked, results, rows, steps)
    return out


def _summary(
    explanations: Answered, asked: Asked, row: int, name: Any, raw: dict[str, list[Any]],
    ranges: _Ranges, instead: Summary | None,
) -> Summary:  # fmt: skip
    wording, keeps_off = asked.settings.wording, asked.settings.overlap is Overlap.AVOID
    positive, negative = explanations.positive, explanations.negative
    prediction = _label(positive.classes, int(positive.label[row]))
    both = positive.kept[row] & negative.changed[row]
    names = explanations.table.features.names
    parts = {
        "positive": _positive(explanations, row, raw, ranges) | {"instead": instead},
        "negative": _negative(explanations, asked, row, raw, ranges),
    }
    if asked.setting.by_search:
        for part in (*parts.values(), instead):
            if part is not None:
                part["search"] = True  # found by asking the model: nothing of it is proved
    for part, results in ((parts["positive"], positive), (parts["negative"], negative)):
        if part["bound"] and not are_trusted(results.certificates, row):
            part["solver"] = True  # the bound is a solver's word
    return {
        "row": row,
        "id": name,
        "subject": wording.subject,
        "model": model_name(asked.model),
        "classes": positive.classes.tolist(),
        "prediction": prediction,
        "prediction_text": wording.labels.get(prediction),
        "features": _features(explanations, asked, row, raw),
        **parts,
        "overlap": [names[j] for j in np.flatnonzero(both)],
        "avoided": bool(explanations.avoided[row]) if keeps_off else None,
        **_passage(explanations, asked, row),
    }


def _passage(explanations: Answered, asked: Asked, row: int) -> Summary:
    """Return a document and the texts that its answers are, under its key; nothing of others."""
    model, negative = asked.setting.model, explanations.negative
    if not isinstance(model, PassageClassifier):
        return {}
    [instead] = explanations.instead([row])
    stands_in = None if instead is None else instead.positive
    told, at = (explanations.positive, row) if stands_in is None else (stands_in, 0)
    enough = told.kept[at] if told.found[at] else None
    changed = negative.values[row] if negative.found[row] else None
    return {"passage": model.told(enough, changed)}


def _features(
    explanations: Answered, asked: Asked, row: int, raw: dict[str, list[Any]]
) -> list[Summary]:
    wording, ranges, known = asked.settings.wording, asked.ranges, explanations.table.features
    ranges = None if ranges is None else explanations.table.as_told(ranges)
    out = []
    for j, name in enumerate(known.names):
        number, at = is_number(known, j), first_column(known, j)
        out.append(
            {
                "name": name,
                "text": wording.feature(name),
                "unit": wording.units.get(name),
                "sample": raw["sample"][j],
                "baseline": raw["baseline"][j],
                "low": float(ranges[0, at]) if number and ranges is not None else None,
                "high": float(ranges[1, at]) if number and ranges is not None else None,
            }
        )
        if explanations.table.missing[row, j]:
            out[-1]["missing"] = True  # its value is what the model reads instead, or None
    return out


def _positive(
    explanations: Answered, row: int, raw: dict[str, list[Any]], ranges: _Ranges
) -> Summary:
    results = explanations.positive
    return {
        **_common(results, row),
        "alternatives": raw["also_kept"],
        "method": str(results.method),
        "trivial": bool(results.trivial[row]),
        "fallback": bool(results.fallback[row]),
        "values": _values(explanations, results.kept[row], raw, "kept", "positive", ranges),
        "point": raw["positive"] if results.found[row] else None,
        "sparse_point": raw["sparse"] if results.found[row] else None,
    }


def _negative(
    explanations: Answered, asked: Asked, row: int, raw: dict[str, list[Any]], ranges: _Ranges
) -> Summary:
    results = explanations.negative
    place = int(results.target_place[row])
    target = None if place < 0 else _label(results.classes, place)
    return {
        **_common(results, row),
        "alternatives": raw["also_changed"],
        "target": target,
        "target_text": asked.settings.wording.labels.get(target),
        "norm": str(results.norm),
        "values": _values(explanations, results.changed[row], raw, "changed", "negative", ranges),
        "point": raw["negative"] if results.found[row] else None,
    }


def _common(results: Positives | Negatives, row: int) -> Summary:
    decided = int(results.unique_code[row])  # by row: there may be many, and few are shown
    return {
        "status": str(status_names(results.status_code[row : row + 1])[0]),
        "reason": results.reason_of(row),
        "unique": None if decided < 0 else bool(decided),
        "objective": _finite(results.objective[row]),
        "bound": _finite(results.bound[row]),
        "closeness": _finite(results.closeness[row]),
        "closeness_bound": _finite(results.closeness_bound[row]),
    }


def _alternatives(
    explanations: Answered, asked: Asked, results: Positives | Negatives, rows: Any,
    steps: FloatArray,
) -> list[list[Summary]]:  # fmt: skip
    """Return the further sets of features of some rows, rounded as far as predict allows."""
    listed = [(i, one) for i, row in enumerate(rows) for one in results.alternatives[row]]
    out: list[list[Summary]] = [[] for _ in rows]
    if not listed:
        return out
    at = rows[[i for i, _ in listed]]
    others = [one for _, one in listed]
    table, features = results.table.take(at), results.table.features
    exact = np.array([one.values for one in others])
    chosen = np.array([one.features for one in others])
    places = np.array([one.label for one in others])
    changes = results is explanations.negative
    origin, limits = np.broadcast_to(asked.question.baseline, exact.shape), None
    if changes:
        untouched = (explanations.positive.kept & explanations.avoided[:, None])[at]
        origin, limits = table.values, negative_limits(asked.setting, table, untouched)
    moved = number_columns(features) & features.by_column(chosen) & (exact != table.values)
    points = round_valid(
        asked.setting, table, exact, moved, origin, places,
        limits or positive_limits(asked.setting, table, asked.question), steps, changes=changes,
    )  # fmt: skip
    raw = raw_rows(table, points, told=True), raw_rows(table, exact)
    about = np.zeros_like(chosen)
    if changes:
        about = features.by_feature(not_least(asked.setting, table, points, moved, places))
    labels = [_label(results.classes, int(place)) for place in places]
    words = asked.settings.wording.labels
    for k, (i, one) in enumerate(listed):
        out[i].append(
            {
                "values": [
                    {
                        "feature": features.names[j],
                        "value": raw[0][k][j],
                        "exact": raw[1][k][j],
                        "fixed": False,
                        **({"about": True} if about[k, j] else {}),
                    }
                    for j in np.flatnonzero(one.features)
                ],
                "objective": _finite(one.objective),
                "closeness": _finite(one.closeness),
                "proved": bool(one.proved),
                "target": labels[k],
                "target_text": words.get(labels[k]),
            }
        )
    return out


def _values(
    explanations: Answered, mask: Any, raw: dict[str, list[Any]], shown: str, exact: str,
    ranges: _Ranges,
) -> list[Summary]:  # fmt: skip
    return [
        {
            "feature": explanations.table.features.names[j],
            "value": raw[shown][j],
            "exact": raw[exact][j],
            "fixed": shown == "kept" and raw["fixed"][j],
            **({"about": True} if shown == "changed" and raw["about"][j] else {}),
            **ranges.of(shown, int(j), raw[shown][j]),
        }
        for j in np.flatnonzero(mask)
    ]


def rule_lines(asked: Asked) -> list[str]:
    """Return all that points must obey beside the prediction; like rules share a sentence."""
    setting = asked.setting
    speech = asked.settings.wording.speech(setting.features.names)
    lines = in_words(_limited(asked), speech)
    lines += words_from_data(setting.constraints.inferred, speech)
    if setting.features.absent and not setting.features.may_lose:
        lines.append("no value becomes missing")
    lines += _kept_in_part(setting.features, speech)
    if setting.min_proba is not None:
        lines.append(f"a probability of at least {setting.min_proba:g}")
    if setting.within is not None:
        lines.append(f"every point is {setting.within.words()}")
    return lines


def _kept_in_part(features: Features, speech: Speech) -> list[str]:
    """Return where numbers stay of which a function is read in one part only."""
    named: dict[str, list[str]] = {}
    for j in sorted(features.parts):
        named.setdefault(features.ends_words(j), []).append(features.names[j])
    return [
        line
        for where, names in named.items()
        for line in speech.shared(names, f"stays {where}", f"stay {where}")
    ]


def rule_count(asked: Asked) -> int:
    """Return how many rules points must obey, each counted by itself."""
    more = (asked.setting.min_proba, asked.setting.within)
    known = asked.setting.features
    stays = bool(known.absent) and not known.may_lose  # no value becomes missing
    others = sum(one is not None for one in more) + stays + len(known.parts)
    return len(_limited(asked).single_rules) + others


def _limited(asked: Asked) -> Constraints:
    return with_its_limit(asked.setting, asked.settings.negative()).constraints


def _rules(asked: Asked) -> Summary:
    return {
        "constraints": "; ".join(rule_lines(asked)) or "none",
        "inferred": [str(rule) for rule in asked.setting.constraints.inferred],
        "plausible": None if asked.setting.within is None else asked.setting.within.words(),
        "between": bool(asked.question.between),
        "baseline": asked.baseline,
        "measure": asked.measure,
        "margin": float(asked.setting.asked_margin),
    }


def _label(classes: Any, place: int) -> Any:
    return classes.tolist()[place]


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
