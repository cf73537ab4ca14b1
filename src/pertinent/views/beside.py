"""What is told beside an answer: how far values may move, probabilities, certificates, rules."""

from __future__ import annotations

from pertinent.summary.instead import as_told
from pertinent.summary.rounding import ROUNDING
from pertinent.summary.summary import Summary
from pertinent.summary.words import FOUND, Chance, EndKind, Method, Said, counted, listed, plain
from pertinent.views.phrases import (
    Heading,
    is_about,
    number,
    prediction_words,
    share,
    size,
    target_words,
    typical,
    with_unit,
)

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
#: What is said where values are enough whatever the others are.
BOUNDS = "Where nothing else bounds a number, its bounds are the least and the largest of the data."
CAUTION = (
    "Shown numbers are rounded only as far as the model's answer stays the same. This says how the "
    "model decides, not what causes what in the world."
)


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
        None if found[f"{side}_end"]["kind"] in (EndKind.OPEN, EndKind.FAR) else found[side]
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
    if known["kind"] == Chance.VALUE:
        return _predicted(summary, known)
    say = share if known["kind"] == Chance.PROBABILITY else (lambda value: f"{value:.4g}")
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


def proof_words(summary: Summary) -> str:
    """Return what the certificates say, in words."""
    positive, negative = as_told(summary["positive"]), summary["negative"]
    parts = [f"The size of a change is {MEASURE[summary['rules']['measure']]}."]
    if any(f.get("missing") and f["sample"] is None for f in summary["features"]):
        parts.append(GAPS)
    parts.append(answer_proof(Heading.ENOUGH, positive))
    if positive["closeness"] is not None and not positive["trivial"]:
        parts.append(_closeness(positive))
    parts.append(answer_proof(Heading.CHANGE, negative))
    if any(answer["status"] in (Said.OPTIMAL, Said.INFEASIBLE) for answer in (positive, negative)):
        words = any(answer.get("solver") for answer in (positive, negative))
        parts.append(
            f"{'Proofs told of here' if words else 'These proofs'} were re-checked without the "
            "solver, and can be checked again by anyone who has the model: pertinent check."
        )
    return " ".join(parts)


def answer_proof(what: str, answer: Summary) -> str:
    """Return what the certificate of one of the two answers says."""
    if answer["status"] == Said.INFEASIBLE:
        return f"{what}: proved that there is none."
    if answer["status"] == Said.FAILED:
        return f"{what}: neither an answer nor a proof."
    if answer["status"] == Said.ALREADY:
        return f"{what}: nothing has to."
    length, bound = size(answer["objective"]), size(answer["bound"])
    if answer.get("search"):
        kept = answer.get("method") is not None and answer["objective"] is not None
        told = counted(int(answer["objective"]), "value") if kept else f"size {length}"
        return f"{what}: {told}, {FOUND}."
    if answer.get("method", Method.TWO_PHASE) != Method.TWO_PHASE:
        if answer["objective"] == 0:
            return f"{what}: no value is needed."
        count = counted(int(answer["objective"]), "value")
        proved = f"proved is that fewer than {bound} are not enough"
        return f"{what}: {count}; {proved}."
    if answer["status"] == Said.OPTIMAL:
        least = f"{ROUNDING}, no" if is_about(answer) else "no"
        return f"{what}: size {length}, and {least} valid answer is smaller (bound {bound})."
    if answer.get("solver"):
        word = "that is its word, and no proof"
        return f"{what}: size {length}. A solver says that none below {bound} exists: {word}."
    return f"{what}: size {length}, and none below {bound} exists; smaller ones in between might."


def _closeness(positive: Summary) -> str:
    if positive["closeness"] == 0:
        return "The values that were enough are the sample's own."
    return f"They differ from the sample's own values by {size(positive['closeness'])}."


def rule_words(summary: Summary) -> str:
    """Return the rules in force, those that the data suggest among them."""
    rules, usual = summary["rules"], typical(summary)
    parts = [] if rules["constraints"] == "none" else [f"Rules in force: {rules['constraints']}."]
    if as_told(summary["positive"])["method"] == Method.SUFFICIENT:
        parts.append(BOUNDS)
    if rules["between"]:
        parts.append(f"What was enough uses values between the {usual} and the own ones only.")
    return " ".join(parts)
