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

folder = Path(sys.argv[1])
found, models = {}, {}
for name, about in json.loads((folder / "index.json").read_text("utf-8"))["files"].items():
    file = about["model"]
    if file not in models:
        models[file] = load_model(folder / file)
    found[name] = pertinent.check((folder / name).read_text("utf-8"), models[file]).verdict
parts = ("solvers", "answering", "questions")
found["loaded"] = [name for name in sys.modules if name.startswith("pertinent.")
                   and name.split(".")[1] in parts]
print(json.dumps(found))
"""
COMMAND = """
import json
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from pertinent.cli import main

folder, found = Path(sys.argv[1]), {}
for name, about in json.loads((folder / "index.json").read_text("utf-8"))["files"].items():
    said = StringIO()
    with redirect_stdout(said):
        try:
            sys.argv = ["pertinent", "check", str(folder / name), str(folder / about["model"])]
            sys.argv.append("--json")
            main()
        except SystemExit:
            pass
    (one,) = json.loads(said.getvalue())["explanations"]
    found[name] = one["verdict"]
print(json.dumps(found))
"""


def run(program, folder):
    known = json.loads((folder / "index.json").read_text("utf-8"))
    if known["with"] != recorded_with():
        pytest.skip(f"models were stored with {known['with']}")
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT + program, str(folder)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    verdicts = {name: about["verdict"] for name, about in known["files"].items()}
    return json.loads(done.stdout.splitlines()[-1]), verdicts


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_kind_of_file_is_checked_without_a_solver(folder):
    found, expected = run(CHECK, folder)
    assert found.pop("loaded") == []
    assert found == expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_command_checks_without_a_solver(folder):
    found, expected = run(COMMAND, folder)
    assert found == expected


def test_the_blocked_packages_are_really_blocked():
    for package in BLOCKED:
        done = subprocess.run(
            [sys.executable, "-c", f"{WITHOUT}\nimport {package}"], capture_output=True, check=False
        )
        assert done.returncode == 1
