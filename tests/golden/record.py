"""Compare the answers of all cases with those recorded: ``python -m tests.golden.record``.

``values.json`` holds what must stay, ``words.json`` the reasons, whose wording may change. Words
that differ are printed and do not count, unless ``--words`` is given.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

import pertinent
from pertinent.api import instead
from tests.golden.cases import CASES, Case
from tests.golden.models import fitted, record_learnt

FOLDER = Path(__file__).parent
VALUES, WORDS = FOLDER / "values.json", FOLDER / "words.json"
#: Relative differences allowed, for convex cells and for others.
OBJECTIVE, POINT, GAP = (1e-9, 1e-4), (1e-7, 1e-3), (1e-6, 1e-4)
#: Parts of a row by what is allowed of them; all others must be equal.
ALLOWED = {
    **dict.fromkeys(("objective", "closeness"), OBJECTIVE),
    **dict.fromkeys(("point", "sparse", "shares", "log_density"), POINT),
    **dict.fromkeys(("bound", "closeness_bound", "density_threshold"), GAP),
}
#: Parts that are not compared where other answers are as good.
OF_THE_POINT = ("point", "shares", "blended", "log_density")

Row = dict[str, Any]


# -- Answers as plain values ---------------------------------------------------------------------


def plain(value: Any) -> Any:
    """Return a number with 12 digits, or a word."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    return value if isinstance(value, bool | int | str | None) else str(value)


def rows_of(points: Any) -> list[list[Any]]:
    values = points.to_numpy(dtype=object) if hasattr(points, "iloc") else np.asarray(points)
    return [[plain(value) for value in row] for row in values.tolist()]


def places(mask: np.ndarray) -> list[int]:
    return np.flatnonzero(mask).tolist()


def answers(found: pertinent.Positives | pertinent.Negatives) -> list[Row]:
    """Return what is kept of each answer."""
    positive = isinstance(found, pertinent.Positives)
    points, out = rows_of(found.points), []
    sparse = rows_of(found.sparse_points) if positive and found.method == "two-phase" else None
    for i in range(len(found)):
        row: Row = {"status": plain(found.status[i]), "unique": found.unique[i]}
        names = ["objective", "bound", "closeness", "closeness_bound"]
        row |= {name: plain(getattr(found, name)[i]) for name in names}
        if positive:
            row |= {"kept": places(found.kept[i]), "trivial": plain(found.trivial[i])}
            row |= {"fallback": True} if found.fallback[i] else {}
        else:
            row |= {"changed": places(found.changed[i]), "target": plain(found.target[i])}
        if found.found[i]:
            row["point"] = points[i]
            if sparse and sparse[i] != points[i]:
                row["sparse"] = sparse[i]
        for name in ("log_density", "density_threshold"):
            if getattr(found, name) is not None:
                row[name] = plain(getattr(found, name)[i])
        if found.blend is not None and found.blend[i] is not None:
            row["blended"] = found.blend[i].rows.tolist()
            row["shares"] = [plain(share) for share in found.blend[i].shares]
        if found.alternatives[i]:
            row["alternatives"] = [
                {
                    "features": places(other.features),
                    "objective": plain(other.objective),
                    "closeness": plain(other.closeness),
                    "proved": plain(other.proved),
                }
                for other in found.alternatives[i]
            ]
        out.append(row)
    return out


def stand_in(told: instead.Instead) -> Row:
    """Return what is kept of an answer that is told instead of an empty positive."""
    found = [] if told.positive is None else answers(told.positive)
    return {"basis": str(told.basis), "place": told.place, **(found[0] if found else {})}


def answered(case: Case) -> tuple[list[Row], list[Any]]:
    """Return the values and the words of all rows of a case."""
    found = case.run()
    if not isinstance(found, pertinent.Explanations):
        return answers(found), [plain(reason) for reason in found.reason]
    told = found.instead(list(range(len(found))))
    values, words = [], []
    pairs = zip(answers(found.positive), answers(found.negative), strict=True)
    for i, (positive, negative) in enumerate(pairs):
        checked = pertinent.check(found[i].json(), fitted(case.model).model)
        values.append(
            {
                "positive": positive,
                "negative": negative,
                "avoided": plain(found.avoided[i]),
                "overlap": plain(found.overlap[i]),
                **({} if told[i] is None else {"instead": stand_in(told[i])}),
                "check": checked.verdict,
                "verdicts": [finding.verdict for finding in checked.findings],
            }
        )
        words.append(
            {
                "positive": plain(found.positive.reason[i]),
                "negative": plain(found.negative.reason[i]),
                "claims": [finding.claim for finding in checked.findings],
            }
        )
    return values, words


# -- Comparison ----------------------------------------------------------------------------------


def near(old: Any, new: Any, relative: float, scale: float = 0.0) -> bool:
    """Return whether two numbers, or two lists of numbers and words, are as near as allowed."""
    if isinstance(old, list) and isinstance(new, list):
        pairs = list(zip(old, new, strict=False))
        return len(old) == len(new) and all(near(a, b, relative, 1.0) for a, b in pairs)
    numbers = [v for v in (old, new) if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < 2:
        return bool(old == new)
    return bool(abs(old - new) <= relative * max(abs(old), scale) + 1e-12)


def differences(old: Any, new: Any, curved: bool, where: str = "") -> Iterator[str]:
    """Yield each difference between recorded and present values of a row."""
    if isinstance(old, dict) and isinstance(new, dict):
        skipped = OF_THE_POINT if old.get("unique") is False is new.get("unique") else ()
        scale = _scale(old)
        for name in [*old, *(name for name in new if name not in old)]:
            if name in skipped:
                continue
            before, after, here = old.get(name), new.get(name), f"{where} {name}".lstrip()
            if name in ALLOWED:
                if not near(before, after, ALLOWED[name][curved], scale.get(name, 0.0)):
                    yield f"{here}: {before} -> {after}"
            else:
                yield from differences(before, after, curved, here)
    elif isinstance(old, list) and isinstance(new, list) and any(isinstance(v, dict) for v in old):
        if len(old) != len(new):
            yield f"{where}: {len(old)} -> {len(new)} of them"
        for k, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from differences(before, after, curved, f"{where} [{k}]")
    elif old != new:
        yield f"{where}: {old} -> {new}"


def _scale(row: Row) -> dict[str, float]:
    """Return from what size on a bound is judged relative to itself: the size of its answer."""
    pairs = (("bound", "objective"), ("closeness_bound", "closeness"))
    sizes = {bound: row.get(size) for bound, size in pairs}
    found = {name: abs(size) for name, size in sizes.items() if isinstance(size, int | float)}
    return {"log_density": 1.0, "density_threshold": 1.0} | found


def compare(name: str, old: dict[str, Any], new: list[Row]) -> list[str]:
    """Return all differences of a case, in words."""
    recorded = old.get(name)
    if recorded is None:
        return [f"{name}: not recorded"]
    if len(recorded) != len(new):
        return [f"{name}: {len(recorded)} -> {len(new)} rows"]
    curved = CASES[name].is_curved
    return [
        f"{name}, row {i}, {words}"
        for i, (before, after) in enumerate(zip(recorded, new, strict=True))
        for words in differences(before, after, curved)
    ]


# -- Files ---------------------------------------------------------------------------------------


def recorded_with() -> str:
    """Return what models depend on beside this library: a fit may differ between versions."""
    return "scikit-learn " + ".".join(sklearn.__version__.split(".")[:2])


def load(path: Path) -> dict[str, Any]:
    """Return the recorded cases of a file."""
    return json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else {}


def recorded_versions() -> str:
    return json.loads(VALUES.read_text(encoding="utf-8"))["with"]


def dump(cases: dict[str, list[Any]], path: Path) -> None:
    """Write one line for each row, so that files can be compared by eye."""
    parts = [
        f"{json.dumps(name)}: [\n"
        + ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        + "\n]"
        for name, rows in cases.items()
    ]
    head = f'{{"with": {json.dumps(recorded_with())}, "cases": {{\n'
    path.write_text(head + ",\n".join(parts) + "\n}}\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="record the present answers")
    parser.add_argument("--only", metavar="NAME", help="only cases whose name contains this")
    parser.add_argument("--words", action="store_true", help="other words count as a difference")
    parser.add_argument("--times", action="store_true", help="print the seconds of each case")
    asked = parser.parse_args()
    chosen = [name for name in CASES if asked.only is None or asked.only in name]
    values, words = load(VALUES), load(WORDS)
    found, reworded = [], []
    for name in chosen:
        start = time.perf_counter()
        new, said = answered(CASES[name])
        if asked.times:
            print(f"{time.perf_counter() - start:7.2f} s  {name}", flush=True)
        found += compare(name, values, new)
        before = words.get(name)
        if before != said:
            reworded.append(f"{name}: {json.dumps(before)} -> {json.dumps(said)}")
        if asked.write:
            values[name], words[name] = new, said
    for line in found:
        print(line)
    for line in reworded:
        print("words of", line)
    print(f"{len(chosen)} cases, {len(found)} differences, {len(reworded)} with other words")
    if asked.write:
        record_learnt()
        dump({name: values[name] for name in CASES if name in values}, VALUES)
        dump({name: words[name] for name in CASES if name in words}, WORDS)
        return 0
    return int(bool(found or (asked.words and reworded)))


if __name__ == "__main__":
    sys.exit(main())
