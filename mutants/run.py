"""Run the tests against one broken copy of the source."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mutants.apply import Lost, found, key
from mutants.capabilities import EQUIVALENT, suite_for
from mutants.catalogue import Mutant

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "pertinent"
#: What a copy of the repository needs for its tests.
COPIED = ("src", "tests", "benchmarks", "experiments", "campaign", "docs", "examples", "mutants",
          "pyproject.toml", "README.md", "CHANGELOG.md", "Makefile")  # fmt: skip
#: Seconds for the tests of one mutant; a broken search that never ends is noticed, too.
LONGEST = 1200.0
KILLED, SURVIVED, EQUAL, LOST = "killed", "survived", "equivalent", "lost"


def scratch(folder: Path) -> Path:
    """Return a copy of the repository below a folder; a copy that is there is made anew."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    skipped = shutil.ignore_patterns("__pycache__", "results", "_build", "auto_examples")
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=skipped)
        elif source.exists():
            shutil.copy(source, copy / name)
    return copy


def try_mutant(mutant: Mutant, copy: Path, tests: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return what became of a mutant in a copy of the repository, which is left as it was."""
    record: dict[str, Any] = dict(zip(Mutant._fields, mutant, strict=True))
    record["date"] = time.strftime("%Y-%m-%d")
    reason = EQUIVALENT.get((mutant.where, mutant.old, mutant.new))
    if reason is not None:
        return record | {"outcome": EQUAL, "by": reason}
    try:
        path, text, broken = found(mutant, copy / "src" / "pertinent")
    except Lost as error:
        return record | {"outcome": LOST, "by": str(error)}
    start = time.monotonic()
    path.write_text(broken)
    try:
        outcome, by = run_tests(copy, tests or suite_for(mutant))
    finally:
        path.write_text(text)
    seconds = round(time.monotonic() - start, 1)
    return record | {"key": key(mutant, text), "outcome": outcome, "by": by, "seconds": seconds}


def run_tests(copy: Path, tests: tuple[str, ...]) -> tuple[str, str]:
    """Return whether a test fails, and which is the first."""
    there = [test for test in tests if (copy / test.split("::")[0]).exists()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider",
               "-p", "no:xdist", "-m", "not slow and not engines", *there]  # fmt: skip
    alone = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")}
    environment = {**os.environ, **alone, "PYTHONPATH": "src:.", "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        command, cwd=copy, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return KILLED, f"no end within {LONGEST:g} s"
    if process.returncode == 0:
        return SURVIVED, ", ".join(there)
    first = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    if process.returncode == 1 and first:
        return KILLED, first[1]
    # Imports that break end with another code: the tests noticed, but say so.
    return KILLED, f"pytest ended with {process.returncode}: {output.strip().splitlines()[-1]}"
