"""Stored explanations: the checker must accept the library's own files."""

from __future__ import annotations

from typing import Any

import pertinent
from campaign.judges import Tally
from campaign.lattice.case import Case
from campaign.lattice.notes import Notes

#: Claims that a certificate need not show: words of a reason, that an answer is the only one, and
#: that no change keeps off the positive's columns, where the search for one gave up.
_MAY_STAY_OPEN = ("one of its size", "the reason is as said", "no change keeps off what was enough")


def judge_files(case: Case, answers: Any, tally: Tally) -> None:
    """Have the checker judge the file of each explanation for the model."""
    about = f"{case.options['method']}, {case.options['norm']}"
    for row in range(len(answers)):
        checked = pertinent.check(answers[row].json(), case.model)
        bad = [str(finding)[:600] for finding in checked.findings if not _passes(finding)]
        Notes(tally, about, row).holds("the own file is accepted", not bad, bad)


def _passes(finding: Any) -> bool:
    if finding.verdict == "not re-checkable here":
        return any(part in finding.claim for part in _MAY_STAY_OPEN)
    return str(finding.verdict) in ("holds", "taken as given")
