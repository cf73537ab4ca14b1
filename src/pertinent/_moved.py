"""Old import paths that the documentation named: they still work, and say the new one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType
from typing import Any

#: Old module -> new module, both below ``pertinent``.
MODULES = {
    "certificate": "proofs",
    "constraints": "rules.constraints",
    "explainer": "api.explainer",
    "explanation": "api.explanation",
    "model_files": "models.files",
    "models.transforms": "models.steps.walk",
    "plausibility": "density",
    "projection": "solvers",
    "regions": "geometry.region",
    "views.answer_text": "api.answer_text",
    "winners": "geometry.winners",
}
#: Names that stand for something else today: what the old module called a region is a kind of it.
RENAMED = {"regions": {"Region": "CellUnion"}}
#: Where the rest of an old module's names went, if it was divided.
REST = {"explanation": "setting.results", "plausibility": "density.measure"}


def _user() -> FrameType:
    """Return the innermost frame that is neither ours nor Python's import: who is to be told.

    ``import pertinent.old`` and ``pertinent.old`` have different frames between.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_between(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame


def _is_between(module: str) -> bool:
    return module.partition(".")[0] in ("pertinent", "importlib")


class _Forward(Loader):
    """Gives out the new module under the old name."""

    def __init__(self, old: str) -> None:
        self.old, self.new = old, f"pertinent.{MODULES[old]}"

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        user = _user()
        warnings.warn_explicit(
            f"{spec.name} has moved: import {self.new} instead.",
            DeprecationWarning,
            user.f_code.co_filename,
            user.f_lineno,
            user.f_globals.get("__name__", ""),
            user.f_globals.setdefault("__warningregistry__", {}),
        )
        return ModuleType(spec.name, f"Moved to `{self.new}`.")

    def exec_module(self, module: ModuleType) -> None:
        """Let every name be looked up in the new module."""
        new, renamed = import_module(self.new), RENAMED.get(self.old, {})
        rest = import_module(f"pertinent.{REST[self.old]}") if self.old in REST else new

        def look_up(name: str) -> Any:
            known = renamed.get(name, name)
            return getattr(new if hasattr(new, known) else rest, known)

        module.__dict__["__getattr__"] = look_up


class _Finder(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        old = fullname.removeprefix("pertinent.")
        if old == fullname or old not in MODULES:
            return None
        return ModuleSpec(fullname, _Forward(old))


def install() -> None:
    """Let the old paths be found; a second call changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
