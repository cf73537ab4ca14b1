"""What is said of each claim, and of all of them together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pertinent.exceptions import visible
from pertinent.tables.notebook import Card, card
from pertinent.tables.words import counted


class Verdict(StrEnum):
    """What is said of one claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNKNOWN = "not re-checkable here"
    #: What no model can confirm or deny: part of the question, not of the answer.
    GIVEN = "taken as given"
    #: What this version does not know of; it is shown, and nobody looked at it.
    NOT_CHECKED = "not checked"


HOLDS, REFUTED, UNKNOWN, GIVEN, NOT_CHECKED = Verdict

#: The two parts of an explanation, as claims name them.
ENOUGH, CHANGE = "what was enough", "what would have changed it"


@dataclass(frozen=True)
class Finding(Card):
    """One claim of an explanation, and whether it is true of the model."""

    claim: str
    verdict: Verdict
    detail: str = ""

    def __str__(self) -> str:
        return visible(
            f"{self.verdict}: {self.claim}" + (f" ({self.detail})" if self.detail else "")
        )


@dataclass(frozen=True, repr=False)
class Checked:
    """All claims of one explanation, judged.

    Attributes
    ----------
    findings : tuple of Finding
    format : str
        One sentence: which format of files this was.
    """

    findings: tuple[Finding, ...]
    format: str = ""

    @property
    def verdict(self) -> Verdict:
        """The worst of all claims: "refuted", "not re-checkable here", or "holds"."""
        found = {finding.verdict for finding in self.findings}
        return REFUTED if REFUTED in found else UNKNOWN if UNKNOWN in found else HOLDS

    @property
    def ok(self) -> bool:
        """Whether every claim was checked and holds."""
        return self.verdict == HOLDS

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)

    def __repr__(self) -> str:
        return f"<Checked: {self._headline()}>"

    def _headline(self) -> str:
        return f"{counted(len(self.findings), 'claim')}: {self.verdict}"

    def _repr_html_(self) -> str:
        rows = [(one.verdict, one.claim, one.detail) for one in self.findings]
        return card(self._headline(), rows, self.format)


def judged(claim: str, holds: Any, detail: str = "") -> Finding:
    """Return that a claim holds, or that it is refuted, by which detail."""
    return Finding(claim, HOLDS if holds else REFUTED, "" if holds else detail)
