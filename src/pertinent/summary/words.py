"""Words for numbers, labels and lists, as every view writes them."""

from pertinent.rules.wording import Wording
from pertinent.tables.words import counted, label_text, listed, percent, plain

__all__ = ["Wording", "counted", "label_text", "listed", "percent", "plain"]
