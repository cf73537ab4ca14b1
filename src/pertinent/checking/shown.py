"""What is shown must be what these answers give, rounding included."""

from __future__ import annotations

from typing import Any

import numpy as np

from pertinent.checking.findings import Finding, judged
from pertinent.proofs.records import decode
from pertinent.summary.asked import Answered
from pertinent.summary.summary import summarize


def as_shown(explanations: Answered, document: dict[str, Any]) -> Finding:
    """Judge the summary, by one made again from the answers."""
    steps = decode(document["proof"]["question"]["steps"])
    own = summarize(explanations, [0], np.asarray(steps, dtype=float))[0]
    wrong = _different({**own, "row": 0, "id": 0}, {**document["summary"], "row": 0, "id": 0})
    classes = decode(document["proof"]["question"]["classes"])
    if np.asarray(classes).tolist() != own["classes"]:
        wrong.append("classes")
    return judged("what is shown is what was checked", not wrong, f"differs in {', '.join(wrong)}")


def _different(own: dict[str, Any], told: dict[str, Any], within: str = "") -> list[str]:
    """Return the names of the parts that differ, those of parts of parts with a dot."""
    wrong = [f"{within}{key}" for key in told if key not in own]
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(told.get(key), dict):
            wrong += _different(value, told[key], f"{within}{key}.")
        elif key not in told or told[key] != value:
            wrong.append(f"{within}{key}")
    return wrong
