"""What is shown must be what these answers give, rounding included. Words are not compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pertinent.checking.findings import GIVEN, NOT_CHECKED, UNKNOWN, Finding, judged
from pertinent.proofs.records import decode
from pertinent.summary.asked import Answered
from pertinent.summary.summary import summarize

#: Keys of a summary whose values are sentences: a later version may say the same better.
SENTENCES = {"reason", "reasons", "text", "constraints", "plausible"}
#: Said where there is no rule: not a way of words.
NONE = "none"
#: Where the sample stood in its table: no claim about the model.
PLACES = {"row", "id"}


def as_shown(explanations: Answered, document: dict[str, Any], unsure: str) -> list[Finding]:
    """Judge the summary, by one made again from the answers."""
    claim = "what is shown is what was checked"
    if unsure:
        return [Finding(claim, UNKNOWN, unsure)]
    steps = decode(document["proof"]["question"]["steps"])
    own = summarize(explanations, [0], np.asarray(steps, dtype=float))[0]
    found = _Differences()
    found.between(own, document["summary"])
    classes = decode(document["proof"]["question"]["classes"])
    if np.asarray(classes).tolist() != own["classes"]:
        found.wrong.append("classes")
    wrong = f"differs in {', '.join(found.wrong)}"
    out = [judged(claim, not found.wrong, wrong)]
    if found.worded:
        words = f"this version words differently: {', '.join(found.worded)}"
        out.append(Finding("the words of what is shown", GIVEN, words))
    if found.strange:
        out.append(Finding(f"further parts shown: {', '.join(found.strange)}", NOT_CHECKED))
    return out


@dataclass
class _Differences:
    """Names of the parts that differ, in values or in words, and of those that are not known."""

    wrong: list[str] = field(default_factory=list)
    worded: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    def between(
        self, own: dict[str, Any], told: dict[str, Any], within: str = "", words: bool = False
    ) -> None:
        """Compare what is told; what is not told is no claim."""
        for key, value in told.items():
            name = f"{within}{key}"
            if key not in own:
                self.strange.append(name)
            elif key not in PLACES:
                self._values(own[key], value, name, words or key in SENTENCES)

    def _values(self, own: Any, told: Any, name: str, words: bool) -> None:
        if isinstance(own, dict) and isinstance(told, dict):
            self.between(own, told, f"{name}.", words)
        elif isinstance(own, list) and isinstance(told, list) and len(own) == len(told):
            for i, (one, other) in enumerate(zip(own, told, strict=True)):
                self._values(one, other, f"{name}[{i}]", words)
        elif own != told:
            both = words and not {own, told} & {None, NONE} and isinstance(told, str)
            (self.worded if both else self.wrong).append(name)
