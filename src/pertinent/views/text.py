"""An explanation in sentences, for people who never heard of a classifier.

Only a summary comes in. "Proved smallest" is said where the status is ``optimal`` and nowhere
else; the same summary always gives the same words.
"""

from __future__ import annotations

from pertinent.exceptions import InputError
from pertinent.summary.instead import as_told
from pertinent.summary.rounding import ROUNDING
from pertinent.summary.summary import Summary
from pertinent.summary.words import (
    FOUND,
    Basis,
    Method,
    Norm,
    Said,
    counted,
    label_text,
    percent,
    plain,
)
from pertinent.views.beside import CAUTION, answer_proof, chances, moves, proof_words, rule_words
from pertinent.views.phrases import (
    Heading,
    allowed,
    as_seen,
    cut,
    is_about,
    new_value,
    own_value,
    prediction_words,
    proved_smallest,
    reason,
    target_words,
    told_together,
    typical,
    with_unit,
)

LENGTHS = ("short", "medium", "long")


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
        proof = f"{Heading.PROOF}. {proof_words(summary)}"
        parts += [moves(summary), proof, rule_words(summary), CAUTION]
    return "\n\n".join(part for part in parts if part)


def require_length(length: str) -> None:
    """Refuse other lengths than the three."""
    if length not in LENGTHS:
        raise InputError(f"length must be one of {', '.join(LENGTHS)}. Got {length!r} instead.")


def opening(summary: Summary) -> str:
    """Return what the model predicts."""
    return f"The model predicts {prediction_words(summary)} for this {summary['subject']}."


# -- What was enough -------------------------------------------------------------------------


def _short_enough(summary: Summary) -> str:
    summary = as_seen(summary)
    positive = summary["positive"]
    basis = positive.get("basis")
    if basis == Basis.SUFFICIENT:
        if not positive["values"]:
            return "No value matters for it, within their bounds."
        rest = len(summary["features"]) - len(positive["values"])
        ruled = " beside what the rules fix" if positive["free"] < rest else ""
        kept = _kept_list(summary, "short")
        return f"Enough for it{ruled}, whatever the other values are: {kept}."
    if basis == Basis.CONTRAST:
        return f"Enough for it, the others {typical(summary)}: {_kept_list(summary, 'short')}."
    if _kept(summary, fixed=False):
        return f"Enough for it: {_kept_list(summary, 'short')}."
    if positive["values"]:
        return "Enough for it: what the rules fix."
    if positive["trivial"]:
        return f"The {typical(summary)} {summary['subject']} gets the same."
    if positive["point"] is not None:
        return f"Values close to the {typical(summary)} ones are enough for it."
    return "What was enough for it could not be said."


def _none(summary: Summary, part: str) -> str:
    """Return why there is no answer to one of the two questions; "" where there is one."""
    status = summary[part]["status"]
    if status == Said.ALREADY:
        return f"nothing has to, since the model predicts {target_words(summary)} already."
    if status == Said.INFEASIBLE:
        return f"nothing{allowed(summary)}. Proved: {reason(summary, part)}."
    return f"no answer, since {reason(summary, part)}." if status == Said.FAILED else ""


def enough(summary: Summary, length: str = "medium") -> str:
    """Return what was enough for the prediction, the pertinent positive, under its heading."""
    return Heading.ENOUGH.over(what_was_enough(summary, length))


def what_was_enough(summary: Summary, length: str = "medium") -> str:
    """Return the sentences of `enough` without their heading."""
    none = _none(summary, "positive")
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
    basis = Basis.NEGATIVE if instead is None else instead["basis"]
    if basis == Basis.NEGATIVE:
        rests = " This explanation rests on what would have changed it."
        return rests if summary["negative"]["values"] else ""
    # At the typical values but for what the rules fix, which may count as turned off.
    fixed = positive["values"] or _near_typical(summary)
    ruled = ", with what the rules fix," if fixed else ""
    asked = "Asked so" if basis == Basis.SUFFICIENT else "Compared so"
    return f" ({asked} because the {typical(summary)} values{ruled} get {label} as well.)"


def _enough(summary: Summary, length: str) -> str:
    """Return what was enough, of a summary as it is told."""
    positive, usual = summary["positive"], typical(summary)
    label = prediction_words(summary)
    if positive["trivial"]:
        start = "nothing in particular."
        if positive["method"] == Method.SUFFICIENT:
            return (
                f"{start} Proved: whatever the values are within their bounds, the model predicts "
                f"{label}."
            )
        return f"{start} With every value at its {usual} value the model predicts {label} too."
    kept, total = len(positive["values"]), len(summary["features"])
    rest = total - kept
    moved = _near_typical(summary)
    others = f" and {_others(rest)} at {_at(rest, usual)}" if rest else ""
    if moved:
        others = f" and {_others(rest)} close to {_at(rest, usual)} ({cut(moved, length)})"
    these = "this value" if kept == 1 else f"these {kept:,} values"
    if positive["method"] == Method.SUFFICIENT and rest:
        free = positive.get("free", rest)
        within = "is within its" if free == 1 else "are within their"
        others = f", whatever {_others(free)} {within} bounds"
        if free < rest:
            others += " beside what the rules fix"
    if not kept:
        return (
            f"values close to the {usual} ones. With {cut(moved, length)}, the model already "
            f"predicts {label}. {_enough_proof(summary)}"
            f"{_plausible(summary)}"
        )
    return (
        f"{_kept_list(summary, length)}. With {these}{others}, the model already predicts "
        f"{label}. {_enough_proof(summary)}"
        f"{_plausible(summary)}"
    )


def _others(count: int) -> str:
    return "the other one" if count == 1 else f"the other {count:,}"


def _at(count: int, usual: str) -> str:
    """Return where so many features are, in words."""
    return f"its {usual} value" if count == 1 else f"their {usual} values"


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
    if positive["method"] == Method.SUFFICIENT or positive["point"] is None:
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
    exact = positive["method"] != Method.TWO_PHASE
    if positive["status"] == Said.OPTIMAL:
        if exact:
            return "Proved smallest: no fewer values are enough."
        return _least_departure(summary)
    noun = "fewer values" if exact else f"a smaller departure from the {usual} values"
    if positive.get("search"):
        return f"{FOUND.capitalize()}: checked with the model, and {noun} might be enough."
    return f"Checked with the model, but not proved smallest: {noun} might be enough."


def _least_departure(summary: Summary) -> str:
    """Return what is proved of a departure from the typical values.

    Which values depart is what the smallest one tells. How far they do is not: kept values are as
    close to the own ones as they can be.
    """
    kept, usual = len(summary["positive"]["values"]), typical(summary)
    if not kept:
        return f"Proved smallest: no smaller departure from the {usual} values is enough."
    these = "this value" if kept == 1 else f"these {kept:,} values"
    alone = "" if _near_typical(summary) else " alone"
    return (
        f"Proved smallest: the least departure from the {usual} values that is enough is in "
        f"{these}{alone}."
    )


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


# -- What would have changed it --------------------------------------------------------------


def _short_change(summary: Summary) -> str:
    negative = summary["negative"]
    if negative["values"]:
        best = "fewest changes" if negative.get("norm") == Norm.L0 else "smallest change"
        best += f" {ROUNDING}" if is_about(negative) else ""
        proved = f" (proved {best})" if negative["status"] == Said.OPTIMAL else ""
        proved = f" ({FOUND})" if negative.get("search") else proved
        return f"For {target_words(summary)}: {_change_list(summary, 'short')}{proved}."
    if negative["status"] == Said.INFEASIBLE:
        return f"Proved: no change{allowed(summary)} would have changed it."
    if negative["status"] == Said.ALREADY:
        return f"Nothing has to change for {target_words(summary)}."
    return "What would have changed it could not be found."


def change(summary: Summary, length: str = "medium") -> str:
    """Return what would have changed the prediction, the pertinent negative, under its heading."""
    return Heading.CHANGE.over(what_would_change(summary, length))


def what_would_change(summary: Summary, length: str = "medium") -> str:
    """Return the sentences of `change` without their heading."""
    none = _none(summary, "negative")
    if none:
        return none
    parts = (
        f"{_change_list(summary, length)}. The model then predicts {target_words(summary)}. "
        f"{_change_proof(summary)}"
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
    if negative["status"] == Said.OPTIMAL and is_about(negative):
        few = negative.get("norm") == Norm.L0
        return (
            f"Proved {'fewest' if few else 'smallest'} {ROUNDING}: where it is said to be about a "
            "value, one a step closer does as well."
        )
    if negative.get("norm") == Norm.L0:  # files of format 1 do not say
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
    if negative.get("search"):
        return f"{FOUND.capitalize()}: checked with the model, and a smaller change might do."
    objective, bound = negative["objective"], negative["bound"]
    share = bound / objective if objective and bound else 0.0
    known = f"; proved is only that none below {percent(share)} of its size does" if share else ""
    if share and negative.get("solver"):
        known = f"; a solver says so of none below {percent(share)} of its size, without a proof"
    return f"Checked with the model, but not proved smallest{known}."


def _change_list(summary: Summary, length: str) -> str:
    return _changes(summary, summary["negative"]["values"], length)


def _changes(summary: Summary, values: list[Summary], length: str) -> str:
    features = {feature["name"]: feature for feature in summary["features"]}
    parts = []
    for entry in told_together(values):
        feature = features[entry["feature"]]
        value = new_value(feature, entry)
        parts.append(f"{feature['text']} {value} instead of {own_value(feature)}")
    return cut(parts, length)


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
        rounded = f", {ROUNDING}" if any(map(is_about, [negative, *others])) else ""
        proof = (
            f"Proved in this order{rounded}: whatever else works{within} is at least as large "
            "as the last of them, or changes all the features of one told here."
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


def headline(summary: Summary) -> str:
    """Return the explanation in half a line."""
    positive, negative = as_told(summary["positive"]), summary["negative"]
    kept, total = len(positive["values"]), len(summary["features"])
    proved: dict[str, str] = {
        Said.OPTIMAL: " (proved smallest)",
        Said.FEASIBLE: " (not proved smallest)",
    }
    if negative.get("search"):
        proved[Said.FEASIBLE] = f" ({FOUND})"
    first = f"predicted {prediction_words(summary)}"
    if positive["status"] in proved:
        second = f"{kept} of {counted(total, 'value')} are enough{proved[positive['status']]}"
    else:
        second = f"enough: {positive['status']}"
    proved[Said.OPTIMAL] = f" ({proved_smallest(negative)})"
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
    first = answer_proof("Certificate of what was enough", as_told(summary["positive"]))
    return f"{first} {answer_proof('Of what would have changed it', summary['negative'])}"
