"""Words for numbers, labels and lists, as every view writes them."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from pertinent.exceptions import visible
from pertinent.rules.wording import Wording
from pertinent.tables.words import counted, label_text, listed, percent, plain

__all__ = ["Wording", "counted", "label_text", "listed", "percent", "plain", "shown"]


def shown(summary: Any) -> Any:
    """Return a summary for a view: no text in it can do anything to a terminal or a page.

    Names, labels and categories come from tables and files of anybody (see `visible`).
    """
    if isinstance(summary, str):
        return visible(summary)
    if isinstance(summary, dict):
        return {shown(key): shown(value) for key, value in summary.items()}
    if isinstance(summary, list | tuple):
        return type(summary)(shown(item) for item in summary)
    if is_dataclass(summary) and not isinstance(summary, type):
        changed: dict[str, Any] = {f.name: shown(getattr(summary, f.name)) for f in fields(summary)}
        return replace(summary, **changed)
    return summary
