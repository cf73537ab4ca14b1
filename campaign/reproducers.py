"""A failure, made as small as it stays one, and kept as a file that the tests read."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from campaign.cases import Case, from_json, to_json
from campaign.lattice import run as lattice
from campaign.lattice.case import Case as LatticeCase
from campaign.lattice.case import to_json as lattice_to_json
from campaign.laws import COLUMNS
from campaign.run import JUDGES, judged
from campaign.tables import Array

FOLDER = Path(__file__).parents[1] / "tests" / "campaign" / "reproducers"
#: How many smaller cases are tried for one failure.
TRIES = 60
#: Characters of a file worth keeping; larger failures are found again by their seed.
LARGEST = 60_000
AnyCase = Case | LatticeCase


def failure_of(case: AnyCase, name: str, seed: int) -> str | None:
    """Return what the judge of this name finds wrong with a case, if anything."""
    if isinstance(case, LatticeCase):
        return lattice.failure_of(case, name)
    judges: Any = JUDGES[:-2]
    if name.startswith("law"):
        judges = ("laws",)
    elif name.startswith("time"):
        judges = ("time",)
    elif name.startswith("predict") or name in ("rules obeyed", "objective recomputed"):
        judges = ("points", "numbers")
    for found, _, detail in judged(case, judges, seed).failures:
        if found == name:
            return detail
    return None


def minimal(case: AnyCase, name: str, seed: int) -> tuple[AnyCase, str | None]:
    """Return a smaller case that still fails, and how; None if the case itself does not."""
    detail, tries = failure_of(case, name, seed), 0
    if detail is None:
        return case, None
    again = True
    while again and tries < TRIES:
        again = False
        for smaller in _smaller(case):
            tries += 1
            found = failure_of(smaller, name, seed)
            if found is not None:
                case, detail, again = smaller, found, True
                break
            if tries >= TRIES:
                break
    return case, detail


def _smaller(case: AnyCase) -> Iterator[AnyCase]:
    """Yield the case with samples, rules, options or features left out, the most first."""
    if isinstance(case, LatticeCase):
        yield from lattice.smaller(case)
        return
    n, d = case.X.shape
    if n > 1:
        for part in np.array_split(np.arange(n), 2):
            yield case.rows(part)
    for i in range(len(case.rules)):
        yield replace(case, rules=case.rules[:i] + case.rules[i + 1 :])
    if case.dtypes is not None:
        yield replace(case, dtypes=None)
    for name in case.options:
        yield replace(case, options={k: v for k, v in case.options.items() if k != name})
    if d > 1:
        for half in np.array_split(np.arange(d), 2) if d > 3 else [np.array([j]) for j in range(d)]:
            smaller = without_features(case, half)
            if smaller is not None:
                yield smaller


def without_features(case: Case, left_out: Array) -> Case | None:
    """Return the case for a model of fewer features, where the model is easily cut."""
    import copy

    names = COLUMNS.get(type(case.model).__name__)
    if names is None or case.rules or case.dtypes is not None:
        return None
    keep = np.setdiff1d(np.arange(case.X.shape[1]), left_out)
    model = copy.deepcopy(case.model)
    for name in names:
        setattr(model, name, np.ascontiguousarray(getattr(model, name)[..., keep]))
    model.n_features_in_ = len(keep)
    options = {
        k: [v[j] for j in keep.tolist()] if k in ("weights", "baseline") else v
        for k, v in case.options.items()
    }
    return replace(case, model=model, X=np.ascontiguousarray(case.X[:, keep]), options=options)


def save(case: AnyCase, name: str, detail: str, seed: int, folder: Path = FOLDER) -> Path | None:
    """Write a failing case beside the tests, and return where; None if it is too large to keep."""
    folder.mkdir(parents=True, exist_ok=True)
    about: dict[str, Any] = {"judge": name, "detail": detail, "seed": seed}
    if isinstance(case, LatticeCase):
        family, text = "", lattice_to_json(case, about)
    else:
        family, text = case.family, to_json(case, about | {"traits": list(case.traits)})
    if len(text) > LARGEST:
        return None
    word = re.sub(r"[^a-z0-9]+", "-", f"{name} {family}".lower()).strip("-")
    path = folder / f"{word}-{hashlib.sha256(text.encode()).hexdigest()[:6]}.json"
    path.write_text(text + "\n")
    return path


def still_fails(path: Path) -> str | None:
    """Return what is wrong with the answer to a kept case; None once it is mended."""
    if lattice.is_of_lattice(path):
        return lattice.still_fails(path)
    case, record = from_json(path)
    return failure_of(case, record["judge"], record["seed"])
