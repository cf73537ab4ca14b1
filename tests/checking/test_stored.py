"""Explanations that were stored once are checked as they were then, format by format."""

import json
from functools import cache
from pathlib import Path

import pytest

import pertinent
from pertinent.models.files import load_model
from tests.golden.record import recorded_with

FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob("stored/*/index.json"))
INDEX = {folder: json.loads((folder / "index.json").read_text("utf-8")) for folder in FOLDERS}
FILES = [(folder, name) for folder, index in INDEX.items() for name in index["files"]]
PARTS = ("positive", "negative")
#: Every kind of proof that the library can store, but a solver's word.
KINDS = {
    "argument", "branch", "branch-tree", "copositive", "curved-branch", "cuts", "fewest", "halving",
    "hull", "lagrange", "linear", "nothing", "rival-sets", "rivals", "separable", "several",
    "simplices", "single-row", "strict", "sufficient", "sweep", "tangent", "varying",
}  # fmt: skip


@cache
def model_of(path):
    return load_model(path)


@pytest.mark.parametrize(("folder", "name"), FILES, ids=[f"{f.name}-{n}" for f, n in FILES])
def test_stored_explanations_are_judged_as_ever(folder, name):
    if INDEX[folder]["with"] != recorded_with():
        pytest.skip(f"models were stored with {INDEX[folder]['with']}")
    about = INDEX[folder]["files"][name]
    checked = pertinent.check(
        (folder / name).read_text(encoding="utf-8"), model_of(folder / about["model"])
    )
    assert checked.verdict == about["verdict"], str(checked)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_stored_explanations_are_shown_as_ever(folder):
    for name in INDEX[folder]["files"]:
        one = pertinent.Explanation.from_json(folder / name)
        assert one.text("long").startswith("The model predicts")
        assert one.alternatives == one.kept_alternatives == []


def test_the_first_format_is_there_with_every_kind_of_proof():
    (index,) = [index for folder, index in INDEX.items() if folder.name == "format1"]
    stored = {kind for about in index["files"].values() for kind in about["proofs"]}
    assert stored >= KINDS
    statuses = {about[part][0] for about in index["files"].values() for part in PARTS}
    assert statuses == {"optimal", "feasible", "infeasible", "failed"}
    unique = {about[part][1] for about in index["files"].values() for part in PARTS}
    assert unique == {True, False, None}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_is_in_the_index(folder):
    about = INDEX[folder]["files"]
    named = {"index.json", *about, *(one["model"] for one in about.values())}
    assert {path.name for path in folder.iterdir()} == named
