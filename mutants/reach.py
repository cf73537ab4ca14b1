"""Which tests call which functions: a test that does not call a broken function cannot notice.

Every test is run once, by itself, with all its fixtures set up anew; the functions of the package
that it calls are noted in ``mutants/results/reach.json``. Tests that are noted already are not run
again: remove the file after larger changes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

#: Function as ``proofs/core.py:bounds``: methods without their class.
Reach = dict[str, set[str]]


def name_of(file: str, qualified: str) -> str:
    """Return how a function is noted."""
    return f"{file}:{qualified.rsplit('.', 1)[-1]}"


class Noting:
    """Note the functions below a folder that are called meanwhile."""

    def __init__(self, folder: Path) -> None:
        self.below, self.called = f"{folder}/", set[str]()

    def __enter__(self) -> set[str]:
        sys.setprofile(self._note)
        return self.called

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self.below):
            self.called.add(name_of(code.co_filename.removeprefix(self.below), code.co_name))


def read(path: Path) -> Reach:
    """Return what is noted so far: the functions that each test calls."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {test: set(called) for test, called in map(json.loads, lines)}


def note(path: Path, test: str, called: Iterable[str]) -> None:
    """Note what a test calls."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps([test, sorted(called)]) + "\n")
