"""Every mutant: where it is, what it breaks, and what the line becomes.

``catalogue.txt`` holds four lines for each: ``file:function`` below ``src/pertinent`` (methods with
their class), what is broken, the text, and what it becomes. A mutant is found by content: the text
must stand exactly once in the function. One that moved to another file is found all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FILE = Path(__file__).parent / "catalogue.txt"


class Mutant(NamedTuple):
    """One broken line: ``old`` becomes ``new``; ``breaks`` says what that means."""

    where: str
    old: str
    new: str
    breaks: str


def read(path: Path = FILE) -> list[Mutant]:
    """Return the mutants of a catalogue, in its order."""
    found = []
    for block in path.read_text().strip().split("\n\n"):
        where, breaks, old, new = block.split("\n")
        if not (old.startswith("    - ") and new.startswith("    +")):
            raise ValueError(f"This is not a mutant: {block!r}")
        found.append(Mutant(where, old[6:], new[6:], breaks.strip()))
    return found


MUTANTS = read()
