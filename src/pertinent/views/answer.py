"""One answer of `pertinent_positives` or `pertinent_negatives` in sentences.

These results know neither an explainer nor its rules; what they know is what is said: the values,
what is proved of their number and size, and further sets of features. Own values are quoted, new
ones are printed in full, so that they are valid as printed.
"""

from __future__ import annotations

import numpy as np

from pertinent.geometry.gaps import GAP_NONCONVEX
from pertinent.summary.answer import Answer, Chosen
from pertinent.summary.words import FOUND, Method, Said, counted, listed
from pertinent.views.phrases import cut, own_value, with_unit
from pertinent.views.text import require_length


def answer_words(answer: Answer, length: str = "medium") -> str:
    """Return one positive or negative in words: see `pertinent.api.answer_text`."""
    require_length(length)
    words = _Positive(answer) if answer.method else _Negative(answer)
    if answer.status == Said.FAILED:
        return f"{words.what} {answer.label}: no answer, since {answer.reason}."
    if answer.status == Said.ALREADY:
        return f"{words.what} {answer.label}: nothing has to, {answer.reason}."
    if answer.status == Said.INFEASIBLE:
        why = f": {answer.reason}" if answer.reason else ""
        return f"{words.what} {answer.label}: proved that {words.none()}{why}."
    if length == "short":
        return words.short()
    parts = [words.answer(length), words.proof()]
    if length == "long":
        parts += [words.others(), words.numbers()]
    return " ".join(part for part in parts if part)


class _Words:
    """What sentences about both questions share."""

    what: str
    further: str

    def __init__(self, answer: Answer) -> None:
        self.row, self.method = answer, answer.method
        self.count = len(answer.chosen.features)

    @property
    def least(self) -> int:
        """The number of features that the bound proves to be needed."""
        return max(int(np.ceil(self.row.bound - GAP_NONCONVEX)), 0)

    def one(self, j: int, chosen: Chosen) -> str:
        """Return a feature with its value, in full where it is not the sample's own."""
        feature, value = self.row.features[j], chosen.point[j]
        return f"{feature['text']} {with_unit(feature, value, exact=value != feature['sample'])}"

    def values(self, length: str) -> str:
        chosen = self.row.chosen
        return cut([self.one(j, chosen) for j in chosen.features], length, "feature")

    def others(self) -> str:
        """Return the alternatives."""
        parts = [
            f"{listed([self.one(j, other) for j in other.features])} "
            f"({'proved' if other.proved else 'not proved'} next best)"
            for other in self.row.others
        ]
        return f"{self.further}, in this order: {'; '.join(parts)}." if parts else ""

    def proved(self) -> str:
        """Return in two or three words what is proved."""
        if not self.row.fewest:
            return "proved smallest" if self.row.status == Said.OPTIMAL else "not proved smallest"
        known = f"at least {self.least} proved" if self.least else FOUND
        return "proved fewest" if self.row.proved_number else known


class _Positive(_Words):
    what, further = "What was enough for", "Also enough"

    def none(self) -> str:
        kinds = {
            "strict": "no set of the sample's own values, with the others at their typical values",
            "sufficient": "no set of values",
        }
        return f"{kinds.get(self.method, 'nothing')} is enough"

    def nothing(self) -> str:
        if self.method == Method.SUFFICIENT:
            return "nothing in particular, whatever all values are within their bounds"
        return "nothing in particular, the typical values get the same"

    def short(self) -> str:
        start = f"Enough for {self.row.label}"
        if not self.count:
            return f"{start}: {self.nothing()}."
        proof = "not proved fewest" if self.row.fallback else self.proved()
        total = counted(len(self.row.features), "feature")
        return f"{start}: {self.values('short')} ({self.count} of {total}, {proof})."

    def answer(self, length: str) -> str:
        moved = self.moved(length)
        if not self.count:
            nothing = f"values close to the base ones, {moved}" if moved else self.nothing()
            return f"{self.what} {self.row.label}: {nothing}."
        start = f"{self.what} {self.row.label}: {self.values(length)}."
        if self.row.fallback:
            start = (
                "Proved: no set of the sample's own values is enough, with the others at their "
                f"typical values. With other values, this is: {self.values(length)}."
            )
        rest, label = len(self.row.features) - self.count, self.row.label
        if not rest:
            return f"{start} All features are needed."
        these = "this value" if self.count == 1 else f"these {self.count:,} values"
        other, takes, where = f"the other {rest:,} features", "take", "their typical values"
        if rest == 1:
            other, takes, where = "the other feature", "takes", "its typical value"
        at = f"close to {where} ({moved})" if moved else f"at {where}"
        if self.method == Method.SUFFICIENT:
            return (
                f"{start} With {these} the model predicts {label} whatever values {other} {takes} "
                "within the bounds."
            )
        return f"{start} With {these}, and {other} {at}, the model predicts {label}."

    def moved(self, length: str) -> str:
        """Return the values that count as turned off, but are not quite at their typical value."""
        chosen, features = self.row.chosen, self.row.features
        off = [j for j in range(len(features)) if j not in chosen.features]
        off = [] if self.method == Method.SUFFICIENT else off
        near = [j for j in off if chosen.point[j] != features[j]["baseline"]]
        return cut([self.one(j, chosen) for j in near], length, "feature")

    def proof(self) -> str:
        row, count = self.row, self.count
        if not row.fewest:
            if row.status == Said.OPTIMAL:
                these = "this value" if count == 1 else f"these {count:,} values"
                which = f"the least departure from the typical values that is enough is in {these}"
                none = "no smaller departure from the typical values is enough"
                return f"Proved smallest: {which if count else none}."
            return "Checked with the model, but not proved smallest."
        if row.fallback:
            return "Checked with the model; fewer features might be enough."
        if not row.proved_number:
            verb = "is" if self.least == 1 else "are"
            proved = f"; proved is that at least {self.least} of them {verb} needed"
            known = proved if self.least else ""
            return f"Checked with the model, but not proved fewest of {count}{known}."
        if not count:
            return ""
        if self.method != Method.EXACT:
            return "Proved fewest: no fewer features at the sample's own values are enough."
        proof = "Proved fewest: no fewer features are enough."
        if row.proved_closeness:
            none = "feature comes" if count == 1 else f"{count:,} come"
            return f"{proof} Proved closest: no other {none} closer to the sample's values."
        others = "another feature" if count == 1 else f"other {count:,}"
        return f"{proof} Not proved closest: {others} might come closer."

    def numbers(self) -> str:
        row = self.row
        if not row.fewest:
            return f"Size {row.objective:.4g}, proved bound {row.bound:.4g}."
        numbers = f"Features: {row.objective:.0f}, proved bound {row.bound:.4g}."
        if row.closeness == 0:
            return f"{numbers} The values are the sample's own."
        return f"{numbers} They differ from the sample's own values by {row.closeness:.4g}."


class _Negative(_Words):
    what, further = "What would have changed", "Further changes that do"

    def none(self) -> str:
        return "nothing does"

    def values(self, length: str) -> str:
        features, chosen = self.row.features, self.row.chosen
        parts = [
            f"{self.one(j, chosen)} instead of {own_value(features[j])}" for j in chosen.features
        ]
        return cut(parts, length, "feature")

    def short(self) -> str:
        count = counted(self.count, "change")
        return f"For {self.row.target}: {self.values('short')} ({count}, {self.proved()})."

    def answer(self, length: str) -> str:
        return (
            f"{self.what} {self.row.label}: {self.values(length)}. The model then predicts "
            f"{self.row.target}."
        )

    def proof(self) -> str:
        row = self.row
        if not row.fewest:
            if row.status == Said.OPTIMAL:
                return "Proved smallest: no smaller change that is allowed does."
            return "Checked with the model, but not proved smallest."
        if not row.proved_number:
            least = counted(self.least, "change")
            return f"Checked with the model, but not proved fewest; at least {least} proved."
        proved = "Proved" if row.proved_closeness else "Not proved"
        return (
            "Proved fewest: no fewer changes that are allowed do. "
            f"{proved} smallest among changes of as many features."
        )

    def numbers(self) -> str:
        row = self.row
        if not row.fewest:
            return f"Size {row.objective:.4g}, proved bound {row.bound:.4g}."
        size = f"their size is {row.closeness:.4g}"
        return f"Changes: {row.objective:.0f}, proved bound {row.bound:.4g}; {size}."
