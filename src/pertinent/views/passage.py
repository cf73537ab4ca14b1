"""An explanation of a document: its words in sentences, and the passage with the words marked."""

from __future__ import annotations

from itertools import groupby

from pertinent.exceptions import visible
from pertinent.summary.instead import as_told
from pertinent.summary.summary import Summary
from pertinent.summary.words import Basis, Said, counted, listed
from pertinent.views.beside import CAUTION, chances
from pertinent.views.html import own_file, templates
from pertinent.views.phrases import Heading, cut, prediction_words, reason, size, target_words
from pertinent.views.text import opening, require_length

#: What stands around the words in plain text.
KEPT, REMOVED = "*", "~~"
LEGEND = f"{KEPT}enough{KEPT}, {REMOVED}taken out{REMOVED}"


def passage_text(summary: Summary, length: str = "medium") -> str:
    """Return the explanation of a document in words, with the passage marked.

    Parameters
    ----------
    summary : dict
    length : {"short", "medium", "long"}
    """
    require_length(length)
    parts = [opening(summary), enough_words(summary, length), change_words(summary, length)]
    if length == "short":
        return " ".join(parts)
    parts += [chances(summary), f"The {summary['subject']} ({LEGEND}): {_marked(summary)}"]
    if length == "long":
        parts += [f"{Heading.PROOF}. {proof_words(summary)}", CAUTION]
    return "\n\n".join(part for part in parts if part)


def passage_html(summary: Summary) -> str:
    """Return the explanation of a document as a piece of HTML; everything in it is escaped."""
    template = templates().get_template("passage.html.jinja")
    return template.render(
        style=own_file(),
        opening=opening(summary),
        runs=_runs(summary),
        added=[visible(word) for word in summary["passage"]["added"]],
        enough=enough_words(summary),
        change=change_words(summary),
        chances=chances(summary),
        certificate=Heading.PROOF,
        proof=f"{proof_words(summary)} {CAUTION}",
    )


def enough_words(summary: Summary, length: str = "medium") -> str:
    """Return which words were enough."""
    positive, label = as_told(summary["positive"]), prediction_words(summary)
    if positive["status"] in (Said.INFEASIBLE, Said.FAILED):
        return Heading.ENOUGH.over(f"no answer, since {reason(summary, 'positive')}.")
    kept = [f"“{entry['feature']}”" for entry in positive["values"]]
    if not kept:
        return Heading.ENOUGH.over(f"no word: without all of them the model predicts {label} too.")
    others = "the others taken out"
    if positive.get("basis") == Basis.SUFFICIENT:
        others = "whichever of the others are there"
    proved = "Proved smallest: no fewer words are enough."
    if positive["status"] != Said.OPTIMAL:
        proved = "Checked with the model, but not proved smallest: fewer words might be enough."
    noun = "the word" if len(kept) == 1 else "the words"
    told = f"{noun} {cut(kept, length, 'word')}, {others}: the model already predicts {label}."
    return Heading.ENOUGH.over(f"{told} {proved}")


def change_words(summary: Summary, length: str = "medium") -> str:
    """Return which words to take out, or to add, for another class."""
    negative, label = summary["negative"], target_words(summary)
    if negative["status"] == Said.ALREADY:
        return Heading.CHANGE.over(f"nothing has to: the model predicts {label} already.")
    if negative["status"] == Said.INFEASIBLE:
        told = f"nothing. Proved: whichever of the words are taken out{_or_added(summary)}, the "
        return Heading.CHANGE.over(f"{told}model does not predict {label}.")
    if negative["status"] == Said.FAILED:
        return Heading.CHANGE.over(f"no answer, since {reason(summary, 'negative')}.")
    added = [f"“{word}”" for word in summary["passage"]["added"]]
    removed = [_times(summary, word) for word in _removed(summary)]
    parts = [f"without {cut(removed, length, 'word')}"] if removed else []
    parts += [f"with {cut(added, length, 'word')} added"] if added else []
    proved = "Proved smallest: no text with fewer words taken out does"
    if _may_add(summary):
        proved = "Proved smallest: no text with fewer words taken out or added does"
    if negative["status"] != Said.OPTIMAL:
        proved = "Checked with the model, but not proved smallest"
        if negative["bound"]:
            proved += f"; proved is that fewer than {size(negative['bound'])} words are too few"
    return Heading.CHANGE.over(f"{', '.join(parts)}, the model predicts {label}. {proved}.")


def proof_words(summary: Summary) -> str:
    """Return what the certificates say of the two answers."""
    positive, negative = as_told(summary["positive"]), summary["negative"]
    parts = ["A word stays or goes with all its occurrences; each occurrence counts as one word."]
    if positive["values"]:
        parts.append(
            f"{Heading.ENOUGH}: {counted(int(positive['objective']), 'word')}; proved is that "
            f"fewer than {size(positive['bound'])} are not enough."
        )
    if negative["values"]:
        parts.append(
            f"{Heading.CHANGE}: {counted(int(negative['objective']), 'occurrence')} of words; "
            f"proved is that below {size(negative['bound'])} none does."
        )
    parts.append(
        "Each text was put to the model's own predict. The proofs were re-checked without the "
        "solver, and can be checked again by anyone who has the model: pertinent.check."
    )
    return " ".join(parts)


def _may_add(summary: Summary) -> bool:
    return 0 in summary["passage"]["counts"]


def _or_added(summary: Summary) -> str:
    return " or added" if _may_add(summary) else ""


def _removed(summary: Summary) -> list[str]:
    added = set(summary["passage"]["added"])
    names = [entry["feature"] for entry in summary["negative"]["values"]]
    return [name for name in names if name not in added]


def _times(summary: Summary, word: str) -> str:
    place = [feature["name"] for feature in summary["features"]].index(word)
    count = summary["passage"]["counts"][place]
    return f"“{word}”" if count == 1 else f"“{word}” ({count} times)"


def _runs(summary: Summary) -> list[tuple[str, str]]:
    """Return the passage as runs of text, each with the marks of its words: "k", "c", both or none.

    Spaces of any kind are one space; other characters that do something are spelled out.
    """
    kept = {entry["feature"] for entry in as_told(summary["positive"])["values"]}
    gone = set(_removed(summary))
    marks = (
        (("k" if word in kept else "") + ("c" if word in gone else ""), piece)
        for piece, word in summary["passage"]["pieces"]
    )
    return [
        (mark, text)
        for mark, group in groupby(marks, key=lambda one: one[0] or "")
        for text in ([p for _, p in group] if mark else ["".join(p for _, p in group)])
    ]


def _marked(summary: Summary) -> str:
    around = {"": "", "k": KEPT, "c": REMOVED, "kc": REMOVED + KEPT}
    parts = [f"{around[m]}{text}{around[m][::-1]}" for m, text in _runs(summary)]
    added = summary["passage"]["added"]
    more = f" (added: {listed([f'“{word}”' for word in added])})" if added else ""
    return f"{''.join(parts)}{more}"
