"""An explanation in sentences, for people who never heard of a classifier.

Only a summary comes in. "Proved smallest" is said where the status is ``optimal`` and nowhere
else; the same summary always gives the same words.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from pertinent.exceptions import InputError
from pertinent.summary.instead import as_told
from pertinent.summary.rounding import LONG
from pertinent.summary.summary import Summary
from pertinent.summary.words import Said, counted, label_text, listed, percent, plain

#: Why a side of a box ends, where no class does it: "or more".
ENDLESS = ("open", "far", "rule")
LENGTHS = ("short", "medium", "long")
#: More features than this are counted, not listed.
LISTED = {"short": 3, "report": 6, "medium": 8, "long": 1000}

MEASURE = {
    "spread": "the sum of all changes, each divided by the usual spread of its feature",
    "units": "the sum of all changes, each in the units of its feature",
    "given": "the sum of all changes, each times the weight given to its feature",
}
#: What is said of sizes where the sample has missing values that the model takes itself.
GAPS = (
    "To fill in a missing value is a change from the median of the data (without data: from 0), "
    "and as much again as a change of category."
)
CAUTION = (
    "Shown numbers are rounded only as far as the model's answer stays the same. This says how the "
    "model decides, not what causes what in the world."
)


def text(summary: Summary, length: str = "medium") -> str:
    """Return the explanation in words.

    Parameters
    ----------
    summary : dict
    length : {"short", "medium", "long"}
        One sentence each, a paragraph each, or everything that is known.
    """
    require_length(length)
    if length == "short":
        return f"{opening(summary)} {_short_enough(summary)} {_short_change(summary)}"
    parts = [
        opening(summary),
        with_others(enough(summary, length), also_enough(summary, length)),
        with_others(change(summary, length), other_changes(summary, length)),
        chances(summary),
    ]
    if length == "long":
        parts += [moves(summary), proof_words(summary), rule_words(summary), CAUTION]
    return "\n\n".join(part for part in parts if part)


def require_length(length: str) -> None:
    """Refuse other lengths than the three."""
    if length not in LENGTHS:
        raise InputError(f"length must be one of {', '.join(LENGTHS)}. Got {length!r} instead.")


def prediction_words(summary: Summary) -> str:
    """Return the predicted class in words."""
    return summary["prediction_text"] or label_text(summary["prediction"])


def target_words(summary: Summary) -> str:
    """Return the contrast class in words."""
    negative = summary["negative"]
    if negative["target"] is None:
        return "another class"
    return negative["target_text"] or label_text(negative["target"])


def as_seen(summary: Summary) -> Summary:
    """Return the summary as it is told: what stands in for an empty positive takes its place."""
    told = as_told(summary["positive"])
    if told is summary["positive"]:
        return summary
    at_rest = zip(summary["features"], told["baseline"], strict=True)
    features = [feature | {"baseline": value} for feature, value in at_rest]
    return summary | {"positive": told, "features": features}


def typical(summary: Summary) -> str:
    """Return the adjective for the values that the others rest at."""
    positive = summary["positive"]
    if positive.get("basis") != "contrast":
        return "typical"
    return f"typical {positive['class_text'] or label_text(positive['class'])}"


def allowed(summary: Summary) -> str:
    """Return the words that limit a claim to the rules; "" where there are none."""
    return "" if summary["rules"]["constraints"] == "none" else " that the rules allow"


def reason(summary: Summary, part: str) -> str:
    """Return why there is no positive, or no negative, with features and classes by name."""
    return str(summary.get("reasons", {}).get(part) or summary[part]["reason"])


def opening(summary: Summary) -> str:
    """Return what the model predicts."""
    return f"The model predicts {prediction_words(summary)} for this {summary['subject']}."


# -- What was enough -------------------------------------------------------------------------


def _short_enough(summary: Summary) -> str:
    summary = as_seen(summary)
    positive = summary["positive"]
    basis = positive.get("basis")
    if basis == "sufficient":
        if not positive["values"]:
            return "No value matters for it, within their bounds."
        rest = len(summary["features"]) - len(positive["values"])
        ruled = " beside what the rules fix" if positive["free"] < rest else ""
        kept = _kept_list(summary, "short")
        return f"Enough for it{ruled}, whatever the other values are: {kept}."
    if basis == "contrast":
        return f"Enough for it, the others {typical(summary)}: {_kept_list(summary, 'short')}."
    if _kept(summary, fixed=False):
        return f"Enough for it: {_kept_list(summary, 'short')}."
    if positive["values"]:
        return "Enough for it: what the rules fix."
    if positive["trivial"]:
        return f"The {typical(summary)} {summary['subject']} gets the same."
    return "What was enough for it could not be said."


def _none(summary: Summary, part: str, what: str) -> str:
    """Return why there is no answer to one of the two questions; "" where there is one."""
    status = summary[part]["status"]
    if status == Said.ALREADY:
        return f"{what}: nothing has to, since the model predicts {target_words(summary)} already."
    if status == Said.INFEASIBLE:
        return f"{what}: nothing{allowed(summary)}. Proved: {reason(summary, part)}."
    return f"{what}: no answer, since {reason(summary, part)}." if status == Said.FAILED else ""


def enough(summary: Summary, length: str = "medium") -> str:
    """Return what was enough for the prediction: the pertinent positive."""
    none = _none(summary, "positive", "What was enough")
    if none:
        return none
    said = _enough(as_seen(summary), length)
    return f"{said}{_why_so(summary)}"


def _why_so(summary: Summary) -> str:
    """Return why another kind of answer is told, where the typical values have the class already.

    "" where the answer is of the usual kind.
    """
    positive, label = summary["positive"], prediction_words(summary)
    instead = positive.get("instead")
    if instead is None and not positive["trivial"]:
        return ""
    basis = "negative" if instead is None else instead["basis"]
    if basis == "negative":
        rests = " This explanation rests on what would have changed it."
        return rests if summary["negative"]["values"] else ""
    ruled = ", with what the rules fix," if positive["values"] else ""
    asked = "Asked so" if basis == "sufficient" else "Compared so"
    return f" ({asked} because the {typical(summary)} values{ruled} get {label} as well.)"


def _enough(summary: Summary, length: str) -> str:
    """Return what was enough, of a summary as it is told."""
    positive, usual = summary["positive"], typical(summary)
    label = prediction_words(summary)
    if positive["trivial"]:
        start = "What was enough: nothing in particular."
        if positive["method"] == "sufficient":
            return (
                f"{start} Proved: whatever the values are within their bounds, the model predicts "
                f"{label}."
            )
        return f"{start} With every value at its {usual} value the model predicts {label} too."
    kept, total = len(positive["values"]), len(summary["features"])
    rest = total - kept
    moved = _near_typical(summary)
    others = f" and the other {rest:,} at their {usual} values" if rest else ""
    if moved:
        others = f" and the other {rest:,} close to their {usual} values ({cut(moved, length)})"
    these = "this value" if kept == 1 else f"these {kept:,} values"
    if positive["method"] == "sufficient" and rest:
        free = positive.get("free", rest)
        others = f", whatever the other {free:,} are within their bounds"
        if free < rest:
            others += " beside what the rules fix"
    if not kept:
        return (
            f"What was enough: values close to the {usual} ones. With {cut(moved, length)}, the "
            f"model already predicts {label}. {_enough_proof(summary)}"
            f"{_plausible(summary)}"
        )
    return (
        f"What was enough: {_kept_list(summary, length)}. With {these}{others}, the model "
        f"already predicts {label}. {_enough_proof(summary)}"
        f"{_plausible(summary)}"
    )


def _plausible(summary: Summary) -> str:
    """Return why the values that were enough are so many, where they had to be plausible."""
    words = summary["rules"]["plausible"]
    if words is None:
        return ""
    return (
        f" They had to look like data of {prediction_words(summary)} ({words}), which takes more "
        "values than the prediction alone."
    )


def _near_typical(summary: Summary) -> list[str]:
    """Return the values that count as turned off, but are not quite at their typical value."""
    positive = summary["positive"]
    on = {value["feature"] for value in positive["values"]}
    if positive["method"] == "sufficient" or positive["point"] is None:
        return []
    return [
        f"{feature['text']} {with_unit(feature, value, exact=True)} "
        f"({typical(summary)} {plain(feature['baseline'])})"
        for feature, value in zip(summary["features"], positive["point"], strict=True)
        if feature["name"] not in on and value != feature["baseline"]
    ]


def _kept(summary: Summary, *, fixed: bool) -> list[Summary]:
    return [value for value in summary["positive"]["values"] if value["fixed"] is fixed]


def _enough_proof(summary: Summary) -> str:
    positive, usual = summary["positive"], typical(summary)
    exact = positive["method"] != "two-phase"
    if positive["status"] == Said.OPTIMAL:
        if exact:
            return "Proved smallest: no fewer values are enough."
        return f"Proved smallest: no smaller departure from the {usual} values is enough."
    noun = "fewer values" if exact else f"a smaller departure from the {usual} values"
    return f"Checked with the model, but not proved smallest: {noun} might be enough."


def _kept_list(summary: Summary, length: str) -> str:
    """Return the values that were enough; those that the rules fix come last, by themselves."""
    chosen = cut([_one_kept(summary, value) for value in _kept(summary, fixed=False)], length)
    fixed = cut([_one_kept(summary, value) for value in _kept(summary, fixed=True)], length)
    if not fixed:
        return chosen
    if length == "short":
        return f"{chosen}, beside what the rules fix"
    start = f"{chosen}; and" if chosen else "nothing but"
    return f"{start} what the rules fix: {fixed}"


def _one_kept(summary: Summary, entry: Summary) -> str:
    feature = next(f for f in summary["features"] if f["name"] == entry["feature"])
    own = entry["exact"] == feature["sample"]
    value = with_unit(feature, feature["sample"] if own else entry["value"], exact=not own)
    notes = [f"{typical(summary)} {plain(feature['baseline'])}"]
    if feature.get("missing") and feature["sample"] is not None:
        notes.insert(0, f"was missing, read as {plain(feature['sample'])}")
    elif feature.get("missing") and not own:
        notes.insert(0, "was missing")
    elif not own:
        notes.insert(0, f"own {plain(feature['sample'])}")
    return f"{feature['text']} {value} ({', '.join(notes)})"


def own_value(feature: Summary) -> str:
    """Return the sample's own value in words; one that it lacks is never called its own."""
    value = plain(feature["sample"])
    if not feature.get("missing"):
        return value
    return "a missing value" if feature["sample"] is None else f"a missing value, read as {value}"


# -- What would have changed it --------------------------------------------------------------


def _short_change(summary: Summary) -> str:
    negative = summary["negative"]
    if negative["values"]:
        best = "fewest changes" if negative.get("norm") == "l0" else "smallest change"
        proved = f" (proved {best})" if negative["status"] == Said.OPTIMAL else ""
        return f"For {target_words(summary)}: {_change_list(summary, 'short')}{proved}."
    if negative["status"] == Said.INFEASIBLE:
        return f"Proved: no change{allowed(summary)} would have changed it."
    if negative["status"] == Said.ALREADY:
        return f"Nothing has to change for {target_words(summary)}."
    return "What would have changed it could not be found."


def change(summary: Summary, length: str = "medium") -> str:
    """Return what would have changed the prediction: the pertinent negative."""
    none = _none(summary, "negative", "What would have changed it")
    if none:
        return none
    parts = (
        f"What would have changed it: {_change_list(summary, length)}. The model then predicts "
        f"{target_words(summary)}. {_change_proof(summary)}"
    )
    avoided = summary["avoided"]
    if summary["positive"].get("instead") is not None:
        return parts  # what is told above is not what the change had to keep off
    if avoided:
        return f"{parts} What was enough above is left as it is."
    if avoided is False:
        return f"{parts} No change was found that leaves all that was enough above as it is."
    return parts


def _change_proof(summary: Summary) -> str:
    negative = summary["negative"]
    rules = allowed(summary)
    if negative.get("norm") == "l0":  # files of format 1 do not say
        if negative["status"] == Said.OPTIMAL:
            return (
                f"Proved fewest: no fewer changes{rules} do, and no other change of as few "
                "features is smaller."
            )
        return "Checked with the model, but not proved fewest."
    if negative["status"] == Said.OPTIMAL:
        only = " It is the only one of its size." if negative["unique"] else ""
        if negative["unique"] is False:
            only = " There are other changes of the same size."
        return f"Proved smallest: no smaller change{rules} does.{only}"
    objective, bound = negative["objective"], negative["bound"]
    share = bound / objective if objective and bound else 0.0
    known = f"; proved is only that none below {percent(share)} of its size does" if share else ""
    return f"Checked with the model, but not proved smallest{known}."


def _change_list(summary: Summary, length: str) -> str:
    return _changes(summary, summary["negative"]["values"], length)


def _changes(summary: Summary, values: list[Summary], length: str) -> str:
    features = {feature["name"]: feature for feature in summary["features"]}
    parts = []
    for entry in values:
        feature = features[entry["feature"]]
        value = new_value(feature, entry)
        parts.append(f"{feature['text']} {value} instead of {own_value(feature)}")
    return cut(parts, length)


def new_value(feature: Summary, entry: Summary) -> str:
    """Return a new value in words: "763 or less" where every smaller one does as well.

    All such values of an explanation hold together: they are those of its box. A side that a rule
    ends is not spelled out; the rules are listed beside.
    """
    side, plainly = entry.get("box"), proposed(feature, entry["value"])
    if side is None or isinstance(entry["value"], bool) or side["low"] == side["high"]:
        return plainly
    if feature["sample"] is None:
        return plainly
    falls = entry["value"] < feature["sample"]
    near, far = (side["high"], side["low"]) if falls else (side["low"], side["high"])
    if near is None or _is_long(near):
        return plainly
    why = (side["low_end"] if falls else side["high_end"])["kind"]
    if why in ENDLESS:
        return f"{with_unit(feature, near, exact=True)} or {'less' if falls else 'more'}"
    if far is None or near == far:
        return plainly
    first, last = sorted((near, far))
    return f"{plain(first, exact=True)} to {with_unit(feature, last, exact=True)}"


# -- Other sets of features ------------------------------------------------------------------


def with_others(told: str, others: str) -> str:
    """Return what is told of an answer, followed by its alternatives."""
    return f"{told} {others}".rstrip()


def other_changes(summary: Summary, length: str = "medium") -> str:
    """Return the other changes that work, where they were asked for."""
    negative = summary["negative"]
    others = negative.get("alternatives", ())  # files of format 1 lack them
    if not others:
        return ""
    said = []
    for one in others:
        label = one.get("target_text") or label_text(one["target"])
        to = f" (for {label})" if one["target"] != negative["target"] else ""
        said.append(f"{_changes(summary, one['values'], length)}{to}")
    proof = "They were checked with the model; others might be smaller."
    if all(one["proved"] for one in others):
        within = " within the rules" if allowed(summary) else ""
        proof = (
            f"Proved in this order: whatever else works{within} is at least as large as the last "
            "of them, or changes all the features of one told here."
        )
    return f"Other changes that would have done it: {_one_by_one(said)}. {proof}"


def also_enough(summary: Summary, length: str = "medium") -> str:
    """Return the other sets of values that were enough, where they were asked for."""
    if summary["positive"].get("instead") is not None:
        return ""  # what is told is of another kind
    said = [
        cut([_one_kept(summary, value) for value in one["values"]], length)
        for one in summary["positive"].get("alternatives", ())
    ]
    return f"Also enough: {_one_by_one(said)}." if said else ""


def _one_by_one(said: list[str]) -> str:
    return "; or ".join(said)


# -- How far values may move, and how probable the model calls it ----------------------------


def moves(summary: Summary) -> str:
    """Return how far each value may move by itself, and why it ends there."""
    features = {feature["name"]: feature for feature in summary["features"]}
    parts = [
        (what, [_move(features[entry["feature"]], entry["range"]) for entry in entries])
        for what, entries in (
            (prediction_words(summary), _with_range(as_told(summary["positive"]))),
            (target_words(summary), _with_range(summary["negative"])),
        )
    ]
    said = [f"{what} stays with {listed(some)}" for what, some in parts if some]
    if not said:
        return ""
    return f"How far single values may move, all others as above: {'; '.join(said)}."


def _with_range(part: Summary) -> list[Summary]:
    """Return the values of which a range is told, and that the rules do not fix."""
    entries = [entry for entry in part["values"] if not entry["fixed"]]
    return [entry for entry in entries if entry.get("range") is not None]


def _move(feature: Summary, found: Summary) -> str:
    if "values" in found:
        return f"{feature['text']} {listed([plain(value) for value in found['values']], 'or')}"
    low, high = (
        None if found[f"{side}_end"]["kind"] in ("open", "far") else found[side]
        for side in ("low", "high")
    )
    rules = [found[f"{side}_end"]["rule"] for side in ("low", "high")]
    why = "; ".join(rule for rule in rules if rule)
    note = f" (rule: {why})" if why else ""
    if low is None and high is None:
        return f"any {feature['text']}"
    if low is None:
        return f"{feature['text']} up to {with_unit(feature, high, exact=True)}{note}"
    if high is None:
        return f"{feature['text']} from {with_unit(feature, low, exact=True)} on{note}"
    ends = f"{plain(low, exact=True)} to {with_unit(feature, high, exact=True)}"
    return f"{feature['text']} {ends}{note}"


def chances(summary: Summary) -> str:
    """Return the model's own probabilities before and after, or its scores."""
    known = summary.get("probability")  # files of before lack it
    if known is None or known["prediction"] is None:
        return ""
    if known["kind"] == "value":
        return _predicted(summary, known)
    say = share if known["kind"] == "probability" else (lambda value: f"{value:.4g}")
    first = (
        f"The model's {known['kind']} of {prediction_words(summary)} is {say(known['prediction'])}"
    )
    if known["before"] is None or known["after"] is None:
        return f"{first}."
    return (
        f"{first}. With the change, that of {target_words(summary)} goes from "
        f"{say(known['before'])} to {say(known['after'])}."
    )


def _predicted(summary: Summary, known: Summary) -> str:
    """Return the numbers that a regressor predicts, before and after."""
    ends = known.get("low"), known.get("high")
    first = f"The model predicts {number(known['prediction'], *ends)}"
    positive = summary["positive"]
    told = positive["values"] and not (positive.get("instead") or positive.get("basis"))
    if told and known["enough"] is not None:
        first += f", and {number(known['enough'], *ends)} with what was enough alone"
    if known["before"] is None or known["after"] is None:
        return f"{first}."
    after = number(known["after"], *ends)
    return f"{first}. With the change it predicts {after} ({target_words(summary)})."


def number(value: float, low: float | None = None, high: float | None = None) -> str:
    """Return a prediction in as few digits as keep it on its side of the ends of a range.

    At least four, and the whole number; thousands are apart.

    Examples
    --------
    >>> from pertinent.views.text import number
    >>> number(163000.2), number(0.123456), number(2500.75), number(-3.0)
    ('163,000', '0.1235', '2,501', '-3')
    >>> number(159999.96, 160000.0), number(160000.04, 160000.0)
    ('159,999.96', '160,000')
    """
    whole = len(f"{abs(value):.0f}") if abs(value) < 1e15 else 4
    for digits in range(max(4, whole), 17):
        near = float(f"{value:.{digits}g}")
        above = low is None or (near >= low) == (value >= low)
        if above and (high is None or (near <= high) == (value <= high)):
            return f"{value:,.{digits}g}"
    return f"{value:,}"


def share(value: float) -> str:
    """Return a probability in percent, with a digit more next to one half.

    Examples
    --------
    >>> from pertinent.views.text import share
    >>> share(0.83), share(0.5004), share(0.50000001), share(0.9996)
    ('83%', '50.04%', 'just over 50%', 'over 99.9%')
    """
    if 0 < value < 0.001:
        return "under 0.1%"
    if 0.999 < value < 1:
        return "over 99.9%"
    away = abs(value - 0.5)
    if 0 < away < 5e-5:
        return f"just {'over' if value > 0.5 else 'under'} 50%"
    return f"{100 * value:.{0 if away > 0.01 else 1 if away > 0.001 else 2}f}%"


# -- Certificate and rules -------------------------------------------------------------------


def proof_words(summary: Summary) -> str:
    """Return what the certificates say, in words."""
    positive, negative = as_told(summary["positive"]), summary["negative"]
    parts = [f"The size of a change is {MEASURE[summary['rules']['measure']]}."]
    if any(f.get("missing") and f["sample"] is None for f in summary["features"]):
        parts.append(GAPS)
    parts.append(_answer_proof("What was enough", positive))
    if positive["closeness"] is not None and not positive["trivial"]:
        parts.append(_closeness(positive))
    parts.append(_answer_proof("What would have changed it", negative))
    if any(answer["status"] in (Said.OPTIMAL, Said.INFEASIBLE) for answer in (positive, negative)):
        parts.append(
            "These proofs were re-checked without the solver, and can be checked again by anyone "
            "who has the model: pertinent check."
        )
    return "Certificate. " + " ".join(parts)


def _answer_proof(what: str, answer: Summary) -> str:
    if answer["status"] == Said.INFEASIBLE:
        return f"{what}: proved that there is none."
    if answer["status"] == Said.FAILED:
        return f"{what}: neither an answer nor a proof."
    if answer["status"] == Said.ALREADY:
        return f"{what}: nothing has to."
    size, bound = _size(answer["objective"]), _size(answer["bound"])
    if answer.get("method", "two-phase") != "two-phase":
        if answer["objective"] == 0:
            return f"{what}: no value is needed."
        number = counted(int(answer["objective"]), "value")
        proved = f"proved is that fewer than {bound} are not enough"
        return f"{what}: {number}; {proved}."
    if answer["status"] == Said.OPTIMAL:
        return f"{what}: size {size}, and no valid answer is smaller (bound {bound})."
    return f"{what}: size {size}, and none below {bound} exists; smaller ones in between might."


def _closeness(positive: Summary) -> str:
    if positive["closeness"] == 0:
        return "The values that were enough are the sample's own."
    return f"They differ from the sample's own values by {_size(positive['closeness'])}."


def rule_words(summary: Summary) -> str:
    """Return the rules in force, those that the data suggest among them."""
    rules, usual = summary["rules"], typical(summary)
    parts = [] if rules["constraints"] == "none" else [f"Rules in force: {rules['constraints']}."]
    if rules["between"]:
        parts.append(f"What was enough uses values between the {usual} and the own ones only.")
    return " ".join(parts)


def proposed(feature: Summary, value: Any) -> str:
    """Return a proposed value with its unit; one of more digits than anyone reads is said about."""
    if _is_long(value):
        return f"about {with_unit(feature, value)}"
    return with_unit(feature, value, exact=True)


def _is_long(value: Any) -> bool:
    return isinstance(value, float) and len(Decimal(repr(value)).as_tuple().digits) > LONG


def with_unit(feature: Summary, value: Any, *, exact: bool = False) -> str:
    """Return a value of a feature with its unit: "2 years", "1 year"."""
    words, unit = plain(value, exact=exact), feature["unit"]
    if not unit or value is None:
        return words
    return f"{words} {unit[:-1] if words == '1' and _is_plural(unit) else unit}"


def _is_plural(unit: str) -> bool:
    """Return whether a unit is a word in the plural, such as "years", and no symbol, such as "cm".

    Examples
    --------
    >>> from pertinent.views.text import _is_plural
    >>> [unit for unit in ("years", "cm", "ms", "celsius", "lbs", "°") if _is_plural(unit)]
    ['years', 'lbs']
    """
    return len(unit) > 2 and unit.isalpha() and unit[-1] == "s" and unit[-2] not in "su"


def _size(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"


def cut(parts: list[str], length: str, noun: str = "value") -> str:
    """Return the parts as an enumeration; those that are too many for the length are counted."""
    most = LISTED[length]
    if len(parts) > most + 1:
        parts = [*parts[:most], counted(len(parts) - most, f"other {noun}")]
    return listed(parts)


def headline(summary: Summary) -> str:
    """Return the explanation in half a line."""
    positive, negative = as_told(summary["positive"]), summary["negative"]
    kept, total = len(positive["values"]), len(summary["features"])
    proved = {Said.OPTIMAL: " (proved smallest)", Said.FEASIBLE: " (not proved smallest)"}
    first = f"predicted {prediction_words(summary)}"
    if positive["status"] in proved:
        second = f"{kept} of {counted(total, 'value')} are enough{proved[positive['status']]}"
    else:
        second = f"enough: {positive['status']}"
    if negative["status"] in proved:
        changes = counted(len(negative["values"]), "change")
        third = f"{changes} to {target_words(summary)}{proved[negative['status']]}"
    else:
        third = f"change: {negative['status']}"
    return "; ".join([first, second, third])


def row_line(summary: Summary) -> str:
    """Return the line of one explanation in a list of many."""
    name, negative = summary["id"], summary["negative"]
    start = f"{name}: {prediction_words(summary)}"
    if negative["values"]:
        return f"{start} → {target_words(summary)}: {_change_list(summary, 'short')}"
    return f"{start}; no change to another class: {negative['status']}"


def row_proof(summary: Summary) -> str:
    """Return the certificates of one explanation among many, in as few words as possible."""
    first = _answer_proof("Certificate of what was enough", as_told(summary["positive"]))
    return f"{first} {_answer_proof('Of what would have changed it', summary['negative'])}"
