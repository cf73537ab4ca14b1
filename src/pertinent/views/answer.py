"""One answer of `pertinent_positives` or `pertinent_negatives` in sentences.

These results know neither an explainer nor its rules; what they know is what is said: the values,
what is proved of their number and size, and further sets of features. Own values are quoted, new
ones are printed in full, so that they are valid as printed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pertinent.exceptions import InputError
from pertinent.summary.answer import GAP, Answer
from pertinent.summary.raw import Raw
from pertinent.summary.words import counted, listed, plain
from pertinent.views.text import LENGTHS, LISTED, with_unit


def answer_words(answer: Answer, length: str = "medium") -> str:
    """Return one positive or negative in words: see `pertinent.api.answer_text`."""
    if length not in LENGTHS:
        raise InputError(f"length must be one of {', '.join(LENGTHS)}. Got {length!r} instead.")
    words = _Positive(answer) if answer.method else _Negative(answer)
    return words.text(length)


def _value(answer: Answer, j: int, point: Sequence[Raw]) -> str:
    """Return a feature with its value, in full where it is not the sample's own."""
    feature = answer.features[j]
    exact = point[j] != feature["sample"]
    return f"{feature['text']} {with_unit(feature, point[j], exact=exact)}"


def _others(answer: Answer, what: str, length: str) -> str:
    """Return the alternatives in words."""
    if not answer.others or length != "long":
        return ""
    parts = []
    for other in answer.others:
        values = listed([_value(answer, j, other.point) for j in other.features])
        parts.append(f"{values} ({'proved' if other.proved else 'not proved'} next best)")
    return f"{what}: {'; '.join(parts)}."


def _cut(parts: list[str], length: str) -> str:
    most = LISTED[length]
    if len(parts) > most + 1:
        parts = [*parts[:most], counted(len(parts) - most, "other feature")]
    return listed(parts)


def _least(bound: float) -> int:
    """Return the number of features that a bound proves to be needed."""
    return max(int(np.ceil(bound - GAP)), 0)


class _Positive:
    """Sentences about what was enough."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.method, self.label = answer, answer.method, answer.label
        self.kept, self.fallback = answer.chosen.features, answer.fallback
        self.total = len(answer.features)

    def text(self, length: str) -> str:
        if self.answer.status in ("infeasible", "failed"):
            return self._none()
        if length == "short":
            return self._short()
        parts = [self._answer(length), self._proof()]
        parts.append(_others(self.answer, "Also enough, in this order", length))
        if length == "long":
            parts.append(self._numbers())
        return " ".join(part for part in parts if part)

    def _none(self) -> str:
        reason = self.answer.reason
        if self.answer.status == "failed":
            return f"What was enough for {self.label}: no answer, since {reason}."
        why = f": {reason}" if reason else ""
        kind = {
            "strict": "no set of the sample's own values, with the others at their base values",
            "sufficient": "no set of values",
        }
        none = kind.get(self.method, "nothing")
        return f"What was enough for {self.label}: proved that {none} is enough{why}."

    def _short(self) -> str:
        if not len(self.kept):
            return f"Enough for {self.label}: {self._nothing()}."
        count = f"{len(self.kept)} of {counted(self.total, 'feature')}"
        proof = f", {self._word()}" if self._word() else ""
        return f"Enough for {self.label}: {self._values('short')} ({count}{proof})."

    def _word(self) -> str:
        if self.method == "two-phase":
            return "proved smallest" if self.answer.status == "optimal" else "not proved smallest"
        if self.fallback:
            return "not proved fewest"
        if self.answer.proved_number:
            return "proved fewest"
        return f"at least {_least(self.answer.bound)} proved"

    def _nothing(self) -> str:
        if self.method == "sufficient":
            return "nothing in particular, whatever all values are within their bounds"
        return "nothing in particular, the base values get the same"

    def _values(self, length: str) -> str:
        point = self.answer.chosen.point
        return _cut([_value(self.answer, j, point) for j in self.kept], length)

    def _answer(self, length: str) -> str:
        if not len(self.kept):
            return f"What was enough for {self.label}: {self._nothing()}."
        rest = self.total - len(self.kept)
        start = f"What was enough for {self.label}: {self._values(length)}."
        if self.fallback:
            start = (
                "Proved: no set of the sample's own values is enough, with the others at their "
                f"base values. With other values, this is: {self._values(length)}."
            )
        these = "this value" if len(self.kept) == 1 else f"these {len(self.kept):,} values"
        if not rest:
            return f"{start} All features are needed."
        other = "the other feature" if rest == 1 else f"the other {rest:,} features"
        if self.method == "sufficient":
            takes = "takes" if rest == 1 else "take"
            return (
                f"{start} With {these} the model predicts {self.label} whatever values {other} "
                f"{takes} within the bounds."
            )
        at = "at its base value" if rest == 1 else "at their base values"
        return f"{start} With {these}, and {other} {at}, the model predicts {self.label}."

    def _proof(self) -> str:
        answer, count = self.answer, len(self.kept)
        if self.method == "two-phase":
            if answer.status == "optimal":
                return "Proved smallest: no smaller departure from the base values is enough."
            return "Checked with the model, but not proved smallest."
        if self.fallback:
            return "Checked with the model; fewer features might be enough."
        if not answer.proved_number:
            least = _least(answer.bound)
            verb = "is" if least == 1 else "are"
            needed = f"; proved is that at least {least} of them {verb} needed" if least else ""
            return f"Checked with the model, but not proved fewest of {count}{needed}."
        if not count:
            return ""
        own = " at the sample's own values" if self.method in ("strict", "sufficient") else ""
        proof = f"Proved fewest: no fewer features{own} are enough."
        if self.method != "exact":
            return proof
        if answer.proved_closeness:
            none = "feature comes" if count == 1 else f"{count:,} come"
            return f"{proof} Proved closest: no other {none} closer to the sample's values."
        others = "another feature" if count == 1 else f"other {count:,}"
        return f"{proof} Not proved closest: {others} might come closer."

    def _numbers(self) -> str:
        objective, bound = self.answer.objective, self.answer.bound
        if self.method == "two-phase":
            return f"Size {objective:.4g}, proved bound {bound:.4g}."
        numbers = f"Features: {objective:.0f}, proved bound {bound:.4g}."
        closeness = self.answer.closeness
        if closeness == 0:
            return f"{numbers} The values are the sample's own."
        return f"{numbers} They differ from the sample's own values by {closeness:.4g}."


class _Negative:
    """Sentences about what would have changed it."""

    def __init__(self, answer: Answer) -> None:
        self.answer, self.fewest = answer, answer.fewest
        self.changed = answer.chosen.features
        self.own, self.target = answer.label, answer.target

    def text(self, length: str) -> str:
        reason = self.answer.reason
        if self.answer.status == "failed":
            return f"What would have changed {self.own}: no answer, since {reason}."
        if self.answer.status == "infeasible":
            why = f": {reason}" if reason else ""
            return f"What would have changed {self.own}: proved that nothing does{why}."
        if length == "short":
            return f"For {self.target}: {self._values('short')} ({self._word()})."
        parts = [
            f"What would have changed {self.own}: {self._values(length)}. The model then predicts "
            f"{self.target}.",
            self._proof(),
            _others(self.answer, "Further changes that do, in this order", length),
        ]
        if length == "long":
            parts.append(self._numbers())
        return " ".join(part for part in parts if part)

    def _values(self, length: str) -> str:
        answer = self.answer
        parts = [
            f"{_value(answer, j, answer.chosen.point)} instead of "
            f"{plain(answer.features[j]['sample'])}"
            for j in self.changed
        ]
        return _cut(parts, length)

    def _word(self) -> str:
        count = counted(len(self.changed), "change")
        if self.fewest:
            if self.answer.proved_number:
                return f"{count}, proved fewest"
            return f"{count}, at least {_least(self.answer.bound)} proved"
        proved = "" if self.answer.status == "optimal" else "not "
        return f"{count}, {proved}proved smallest"

    def _proof(self) -> str:
        answer = self.answer
        if not self.fewest:
            if answer.status == "optimal":
                return "Proved smallest: no smaller change that is allowed does."
            return "Checked with the model, but not proved smallest."
        if not answer.proved_number:
            least = counted(_least(answer.bound), "change")
            return f"Checked with the model, but not proved fewest; at least {least} proved."
        proof = "Proved fewest: no fewer changes that are allowed do."
        if answer.proved_closeness:
            return f"{proof} Proved smallest among changes of as many features."
        return f"{proof} Not proved smallest among changes of as many features."

    def _numbers(self) -> str:
        objective, bound = self.answer.objective, self.answer.bound
        if not self.fewest:
            return f"Size {objective:.4g}, proved bound {bound:.4g}."
        size = self.answer.closeness
        return f"Changes: {objective:.0f}, proved bound {bound:.4g}; their size is {size:.4g}."
