"""Stored explanations are checked where no solver is installed at all."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.golden.record import recorded_with

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob("stored/*/index.json"))
BLOCKED = ("highspy", "clarabel", "pyscipopt", "numba")

WITHOUT = f"""
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled())
"""
CHECK = """
import json
from pathlib import Path

import pertinent
from pertinent.models.files import load_model

found = {}
for folder in map(Path, sys.argv[1:]):
    models = {}
    for name, about in json.loads((folder / "index.json").read_text("utf-8"))["files"].items():
        file = about["model"]
        if file not in models:
            models[file] = load_model(folder / file)
        checked = pertinent.check((folder / name).read_text("utf-8"), models[file])
        found[f"{folder.name}/{name}"] = checked.verdict
parts = ("solvers", "answering", "questions")
found["loaded"] = [name for name in sys.modules if name.startswith("pertinent.")
                   and name.split(".")[1] in parts]
print(json.dumps(found))
"""
#: The command carries what is found: a few files of each folder show that, and each model family.
COMMAND = """
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from pertinent.cli import main

folders, found = [Path(folder) for folder in sys.argv[1:]], {}
for folder in folders:
    files = json.loads((folder / "index.json").read_text("utf-8"))["files"]
    each = 1 if folder.name.endswith("families") else 6
    for name, about in list(files.items())[::each]:
        said = StringIO()
        with redirect_stdout(said):
            try:
                sys.argv = ["pertinent", "check", str(folder / name), str(folder / about["model"])]
                sys.argv.append("--json")
                main()
            except SystemExit:
                pass
        (one,) = json.loads(said.getvalue())["explanations"]
        found[f"{folder.name}/{name}"] = one["verdict"]
print(json.dumps(found))
"""


def run(program):
    """Return the verdicts of a program that is given all folders, and those that were stored."""
    known = {folder: json.loads((folder / "index.json").read_text("utf-8")) for folder in FOLDERS}
    now = [folder for folder in FOLDERS if known[folder]["with"] == recorded_with()]
    if not now:
        pytest.skip(f"models were stored with {known[FOLDERS[0]]['with']}")
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program, *map(str, now)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    verdicts = {
        f"{folder.name}/{name}": about["verdict"]
        for folder in now
        for name, about in known[folder]["files"].items()
    }
    return json.loads(done.stdout.splitlines()[-1]), verdicts


def test_every_kind_of_file_is_checked_without_a_solver():
    found, expected = run(CHECK)
    assert found.pop("loaded") == []
    assert found == expected


def test_the_command_checks_without_a_solver():
    found, expected = run(COMMAND)
    assert len(found) >= len(expected) / 6
    assert found == {name: expected[name] for name in found}


def test_the_blocked_packages_are_really_blocked():
    for package in BLOCKED:
        done = subprocess.run(
            [sys.executable, "-c", f"{WITHOUT}\nimport {package}"], capture_output=True, check=False
        )
        assert done.returncode == 1
