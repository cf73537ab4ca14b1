"""Everything that a stored explanation claims, and shows, one claim after the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pertinent.checking.alternatives import other_changes, other_kept
from pertinent.checking.chances import Rounded, rounded
from pertinent.checking.document import ContradictionError, asked_target, rebuild
from pertinent.checking.findings import (
    GIVEN,
    NOT_CHECKED,
    UNKNOWN,
    Checked,
    Finding,
    judged,
)
from pertinent.checking.foresight import foresee
from pertinent.checking.instead import instead_findings
from pertinent.checking.negatives import negative_findings, overlap_findings
from pertinent.checking.positives import positive_findings
from pertinent.checking.ranges import proposed_ranges, range_findings
from pertinent.checking.unknown import not_known, not_read
from pertinent.exceptions import InputError, PertinentError, one_line
from pertinent.geometry.arrays import Foreign
from pertinent.models.steps.once import reading_once
from pertinent.proofs.records import decode
from pertinent.setting.question import NegativeQuestion
from pertinent.setting.ranges import EndKind
from pertinent.summary.asked import Answered
from pertinent.summary.ranges.shown import with_ends_of
from pertinent.summary.stored import VERSIONS, read_document, require_document
from pertinent.summary.summary import asked_of, exact_chances, model_name, summarize

#: What a file leads to whose parts are of other kinds than they should be.
_MALFORMED = (
    LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError,
    MemoryError,
)  # fmt: skip


@runtime_checkable
class Documented(Protocol):
    """An explanation that can write itself down, such as `pertinent.Explanation`."""

    def document(self) -> dict[str, Any]:
        """Return the summary together with what is needed to check it again."""


def check(explanation: Documented | dict[str, Any] | str | Path, model: Foreign) -> Checked:
    """Return which claims of a stored explanation hold for a model.

    Points go through ``model.predict``; distances and bounds are recomputed from the model's
    decision regions and the stored certificates with plain NumPy. No solver is involved.

    Parameters
    ----------
    explanation : Explanation, dict, JSON text or path
    model : fitted classifier
        The one that was explained.

    Returns
    -------
    Checked
        ``ok`` only if every claim was checked and holds. A proof of a kind that is not known
        here, or one that repeats a solver's word, is "not re-checkable here", and so is a
        question with parts that are not known here. Names of features and where weights come
        from are no claims about the model: "taken as given". Parts of the summary that are not
        known here, and sentences that this version would not write so, are "not checked".

    Examples
    --------
    >>> import pertinent
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X, y)
    >>> stored = pertinent.Explainer(model, data=X).explain(X[:1])[0].json()
    >>> pertinent.check(stored, model).ok
    True
    >>> another = LogisticRegression(max_iter=1000, C=0.01).fit(X, y)
    >>> print(pertinent.check(stored, another).verdict)
    refuted
    """
    document = _document(explanation)
    try:
        with reading_once():
            findings = _findings(rebuild(document, model), document)
        return Checked(tuple(findings), VERSIONS[document["version"]])
    except ContradictionError as error:
        wrong = judged(error.claim, False, str(error))
        return Checked((wrong,), VERSIONS[document["version"]])
    except (PertinentError, *_MALFORMED) as error:
        strange = not_read(document)
        if strange:  # what this version cannot read is no fault of the file
            return Checked((_unsure(_not_known(strange)),), VERSIONS[document["version"]])
        if isinstance(error, PertinentError):
            raise
        told, own = document["summary"].get("model"), model_name(model)
        if told != own:
            raise InputError(
                f"The stored explanation is about a model of the kind {one_line(told)}, and this "
                f"one is a {own}: its proofs cannot be read. Check it with the model explained."
            ) from error
        why = f"{type(error).__name__}: {one_line(error)}"
        raise InputError(f"The stored explanation is malformed: {why}.") from error


def _document(explanation: Documented | dict[str, Any] | str | Path) -> dict[str, Any]:
    if isinstance(explanation, dict):
        return require_document(explanation)
    if isinstance(explanation, Documented):
        return explanation.document()
    return read_document(explanation)


def _findings(explanations: Answered, document: dict[str, Any]) -> list[Finding]:
    asked, question = explanations.asked, document["proof"]["question"]
    assert asked is not None
    strange = not_known(document)
    unsure = _not_known(strange) if strange else ""
    ranges = {} if unsure else proposed_ranges(explanations)
    foresee(explanations, ranges.values())
    label = asked.setting.predict(explanations.table)
    positive = replace(explanations.positive, label=label)
    negative = replace(explanations.negative, label=label)
    target = asked_target(question, asked.setting)
    same = label[0] == explanations.positive.label[0] == explanations.negative.label[0]
    explanations, moves = range_findings(explanations, ranges, unsure)
    untouched = positive.kept & explanations.avoided[:, None]
    place = None if target is None else np.array([target])
    asks = asked.settings.norm, asked.settings.max_changes
    change = NegativeQuestion(place, untouched, *asks)
    return [
        judged("the sample is predicted as said", same),
        *positive_findings(asked, positive, unsure),
        *instead_findings(replace(explanations, positive=positive), negative, unsure),
        *negative_findings(asked, negative, change, unsure),
        *other_kept(asked, positive, unsure),
        *other_changes(asked, negative, change, unsure),
        *overlap_findings(explanations, negative, change, unsure),
        *moves,
        *as_shown(explanations, document, unsure),
        *([_unsure(unsure)] if unsure else []),
        Finding("names, and where typical values and weights come from", GIVEN),
    ]


def _not_known(strange: list[str]) -> str:
    return f"not known here: {', '.join(strange)}"


def _unsure(why: str) -> Finding:
    return Finding("all parts of the question are known here", UNKNOWN, why)


#: Keys of a summary whose values are sentences: a later version may say the same better.
SENTENCES = {"reason", "reasons", "text", "constraints", "inferred", "plausible"}
#: Said where there is no rule: not a way of words.
NONE = "none"
#: The model's own probabilities: the last digits of a sum depend on the batch.
CHANCES = "probability."
#: Where the sample stood in its table: no claim about the model.
PLACES = {"row", "id"}
#: What a summary says only where it is so.
MARKS = {"missing", "search", "solver", "about"}


def as_shown(explanations: Answered, document: dict[str, Any], unsure: str) -> list[Finding]:
    """Judge the summary, by one made again from the answers."""
    claim = "what is shown is what was checked"
    if unsure:
        return [Finding(claim, UNKNOWN, unsure)]
    steps = decode(document["proof"]["question"]["steps"])
    own = summarize(explanations, [0], np.asarray(steps, dtype=float), at_once=True)[0]
    chances = own["probability"] or {}
    setting = asked_of(explanations).setting
    found = _Differences(rounded(explanations, setting), chances.get("kind", ""))
    found.between(own, document["summary"])
    if any(name.startswith(CHANCES) for name in found.wrong):
        found.take_back(exact_chances(explanations)[0], document["summary"]["probability"])
    classes = decode(document["proof"]["question"]["classes"])
    if np.asarray(classes).tolist() != own["classes"]:
        found.wrong.append("classes")
    wrong = f"differs in {', '.join(found.wrong)}"
    out = [judged(claim, not found.wrong, wrong)]
    if found.worded:
        words = f"this version says it in other words: {', '.join(found.worded)}"
        out.append(Finding("the words of what is shown", NOT_CHECKED, words))
    if found.strange:
        out.append(Finding(f"further parts shown: {', '.join(found.strange)}", NOT_CHECKED))
    return out


@dataclass
class _Differences:
    """Names of the parts that differ, in values or in words, and of those that are not known.

    ``close`` is by how much the model's own numbers may differ, which are of a ``kind``.
    """

    close: Rounded
    kind: str
    wrong: list[str] = field(default_factory=list)
    worded: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    def between(
        self, own: dict[str, Any], told: dict[str, Any], within: str = "", words: bool = False
    ) -> None:
        """Compare what is told; what is not told is no claim."""
        for key, value in told.items():
            name = f"{within}{key}"
            if key not in own and key not in MARKS:
                self.strange.append(name)
            elif key not in PLACES and not _is_exact(own, key, value):
                self._values(own.get(key, False), value, name, words or key in SENTENCES)

    def take_back(self, exact: Any, told: Any) -> None:
        """Take back what is wrong of the model's own numbers, and right of the exact points.

        Files of before tell those, and not those of the points as they are printed.
        """
        for name in [name for name in self.wrong if name.startswith(CHANCES)]:
            key = name.removeprefix(CHANCES)
            if self.close.explains(exact[key], told[key], self.kind):
                self.wrong.remove(name)

    def _values(self, own: Any, told: Any, name: str, words: bool) -> None:
        if name.startswith(CHANCES) and self.close.explains(own, told, self.kind):
            return
        if isinstance(own, dict) and isinstance(told, dict):
            self.between(with_ends_of(own, told), told, f"{name}.", words)
        elif isinstance(own, list) and isinstance(told, list) and len(own) == len(told):
            for i, (one, other) in enumerate(zip(own, told, strict=True)):
                self._values(one, other, f"{name}[{i}]", words)
        elif own != told:
            both = words and not {own, told} & {None, NONE} and isinstance(told, str)
            (self.worded if both or _is_unseen(name, own, told) else self.wrong).append(name)


def _is_unseen(name: str, own: Any, told: Any) -> bool:
    """Return whether the class is told to end a side of a box, beyond which nothing is shown.

    Files of before tell so: they looked for no point of another class there.
    """
    shown = own in (EndKind.SHOWN, EndKind.DENSITY) and told == EndKind.CLASS
    return shown and ".box." in name and name.endswith("_end.kind")


def _is_exact(own: dict[str, Any], key: str, told: Any) -> bool:
    """Return whether a number is told as it is: other versions may round it less."""
    return key == "value" and "exact" in own and bool(told == own["exact"])
