"""Where things go in a picture of one explanation, for plots and HTML alike.

Each feature gets a strip with its own scale from 0 to 1. Marks on it: the baseline, the sample's
own value, the value that was enough, and the value that would change the prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pertinent.summary.summary import Summary
from pertinent.summary.words import plain
from pertinent.views.phrases import as_seen, proposed

#: Blue and vermilion of the Okabe-Ito palette: told apart with every kind of colour vision.
ENOUGH, CHANGE = "#0072B2", "#D55E00"


@dataclass(frozen=True)
class Strip:
    """One feature of a picture: places on its scale, and the words beside them.

    Attributes
    ----------
    name : str
    baseline, sample, kept, changed : float or None
        Places from 0 to 1; None where there is no such mark.
    texts : dict of str to str
        Words for each mark.
    typical : tuple of float, optional
        Places between which the middle 90% of the training data lie.
    room : tuple of float, optional
        Places between which the changed value may move, cut off at the ends of the scale.
    """

    name: str
    baseline: float
    sample: float
    kept: float | None
    changed: float | None
    texts: dict[str, str]
    typical: tuple[float, float] | None
    room: tuple[float, float] | None = None


def strips(summary: Summary, most: int = 12) -> tuple[list[Strip], int]:
    """Return the strips of the features that matter, and how many more there are.

    Changed features come first, then kept ones, each in the order of the model.
    """
    summary = as_seen(summary)
    kept = {value["feature"]: value for value in summary["positive"]["values"]}
    changed = {value["feature"]: value for value in summary["negative"]["values"]}
    matter = [f for f in summary["features"] if f["name"] in changed]
    matter += [f for f in summary["features"] if f["name"] in kept and f["name"] not in changed]
    shown = [_strip(f, kept.get(f["name"]), changed.get(f["name"])) for f in matter[:most]]
    return shown, len(matter) - len(shown)


def _strip(feature: Summary, kept: Summary | None, changed: Summary | None) -> Strip:
    marks = {"baseline": feature["baseline"], "sample": feature["sample"]}
    own = kept is not None and kept["exact"] == feature["sample"]
    if kept is not None:
        marks["kept"] = feature["sample"] if own else kept["value"]
    if changed is not None:
        marks["changed"] = changed["value"]
    words = any(isinstance(value, str) for value in marks.values())
    places = _by_name(marks) if words else _on_scale(feature, marks)
    texts = {name: _beside(value) for name, value in marks.items()}
    if feature.get("missing") and feature["sample"] is not None:
        texts["sample"] += " (missing)"
        texts |= {"kept": texts["sample"]} if own else {}
    # New values are valid as they are printed, so they are printed in full.
    if kept is not None and not own:
        texts["kept"] = _beside(kept["value"], exact=True)
    if changed is not None:
        texts["changed"] = (
            _beside(changed["value"])
            if words
            else proposed(feature, changed["value"], about=changed.get("about", False))
        )
    typical = None
    if not words and feature["low"] is not None:
        typical = (_clip(places["low"]), _clip(places["high"]))
    room = None if words or changed is None else _room(feature, marks, changed.get("range"))
    return Strip(
        feature["text"],
        places["baseline"],
        places["sample"],
        places.get("kept"),
        places.get("changed"),
        texts,
        typical,
        room,
    )


def _beside(value: Any, *, exact: bool = False) -> str:
    """Return what stands beside a mark: no sentence, so categories need no quotes."""
    return value if isinstance(value, str) else plain(value, exact=exact)


def _room(
    feature: Summary, marks: dict[str, Any], found: Summary | None
) -> tuple[float, float] | None:
    """Return where a range begins and ends on the scale; None where nothing is known."""
    if found is None or "values" in found:
        return None
    ends = [float(v) for v in marks.values() if v is not None]
    if feature["low"] is not None:
        ends += [feature["low"], feature["high"]]
    low, high = min(ends), max(ends)
    width = (high - low) or 1.0
    first = 0.0 if found["low"] is None else _clip((found["low"] - low) / width)
    last = 1.0 if found["high"] is None else _clip((found["high"] - low) / width)
    return (first, last) if first < last else None


def _on_scale(feature: Summary, marks: dict[str, Any]) -> dict[str, float]:
    """Return places of numbers on a scale from the smallest to the largest that occurs.

    A missing value has no place of its own: it is shown at that of the typical one.
    """
    base = marks["baseline"]
    values = {name: float(base if value is None else value) for name, value in marks.items()}
    if feature["low"] is not None:
        values |= {"low": feature["low"], "high": feature["high"]}
    low, high = min(values.values()), max(values.values())
    width = (high - low) or 1.0
    return {name: (value - low) / width for name, value in values.items()}


def _by_name(marks: dict[str, Any]) -> dict[str, float]:
    """Return places of categories, side by side in the order of their first occurrence."""
    known = list(dict.fromkeys(str(value) for value in marks.values()))
    last = max(len(known) - 1, 1)
    return {name: known.index(str(value)) / last for name, value in marks.items()}


def _clip(place: float) -> float:
    return min(max(place, 0.0), 1.0)
