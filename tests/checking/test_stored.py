"""Explanations that were stored once are checked as they were then, format by format."""

import json
import re
from functools import cache
from pathlib import Path

import jsonschema
import pytest

import pertinent
from pertinent.models.files import load_model
from tests.checking.stored.families import FAMILIES
from tests.golden.record import recorded_with

FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob("stored/*/index.json"))
INDEX = {folder: json.loads((folder / "index.json").read_text("utf-8")) for folder in FOLDERS}
FILES = [(folder, name) for folder, index in INDEX.items() for name in index["files"]]
PARTS = ("positive", "negative")
LATER = Path(__file__).parent / "stored" / "format2-later"
#: Every kind of proof that the library could store at first, but a solver's word.
KINDS = {
    "argument", "branch", "branch-tree", "copositive", "curved-branch", "cuts", "fewest", "halving",
    "hull", "lagrange", "linear", "nothing", "rival-sets", "rivals", "separable", "several",
    "simplices", "single-row", "strict", "sufficient", "sweep", "tangent", "varying",
}  # fmt: skip
#: Records of proofs that are in every file, or no proof.
NO_KINDS = {"certificate", "block", "solver-bounds"}


@cache
def model_of(path):
    return load_model(path)


def as_recorded(folder):
    """Skip where another version of scikit-learn would read the stored models."""
    if INDEX[folder]["with"] != recorded_with():
        pytest.skip(f"models were stored with {INDEX[folder]['with']}")


# Every file is judged without any solver, too, in each run: see `test_without_solvers`.
@pytest.mark.matrix(4)
@pytest.mark.parametrize(("folder", "name"), FILES, ids=[f"{f.name}-{n}" for f, n in FILES])
def test_stored_explanations_are_judged_as_ever(folder, name):
    as_recorded(folder)
    about = INDEX[folder]["files"][name]
    checked = pertinent.check(
        (folder / name).read_text(encoding="utf-8"), model_of(folder / about["model"])
    )
    assert checked.verdict == about["verdict"], str(checked)


@pytest.mark.parametrize(
    ("high", "verdict"),
    [(2643.98, "holds"), (2643.9, "holds"), (2643.0, "holds"), (2600.0, "refuted"),
     (2642.0, "refuted"), (2644.0, "refuted")],
)  # fmt: skip
def test_an_end_of_a_range_may_have_fewer_digits(high, verdict):
    """Its exact end is 2643.98; a version before showed 2643."""
    as_recorded(LATER)
    document = json.loads((LATER / "known-data-mixed.json").read_text(encoding="utf-8"))
    model = model_of(LATER / INDEX[LATER]["files"]["known-data-mixed.json"]["model"])
    document["summary"]["negative"]["values"][0]["range"]["high"] = high
    assert pertinent.check(json.dumps(document), model).verdict == verdict


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_stored_explanations_are_shown_as_ever(folder):
    for name in INDEX[folder]["files"]:
        one = pertinent.Explanation.from_json(folder / name)
        assert one.text("long").startswith("The model predicts")
        if folder != LATER:
            assert one.alternatives == one.kept_alternatives == []


def test_the_first_format_is_there_with_every_kind_of_proof():
    (index,) = [index for folder, index in INDEX.items() if folder.name == "format1"]
    stored = {kind for about in index["files"].values() for kind in about["proofs"]}
    assert stored >= KINDS
    statuses = {about[part][0] for about in index["files"].values() for part in PARTS}
    assert statuses == {"optimal", "feasible", "infeasible", "failed"}
    unique = {about[part][1] for about in index["files"].values() for part in PARTS}
    assert unique == {True, False, None}


def documents(folder):
    return {name: json.loads((folder / name).read_text("utf-8")) for name in INDEX[folder]["files"]}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_keeps_the_schema_of_its_format(folder):
    for name, document in documents(folder).items():
        schema = pertinent.json_schema(document["version"])
        jsonschema.Draft202012Validator(schema).validate(document)
        assert folder.name.startswith(f"format{document['version']}"), name


def test_every_kind_of_proof_that_can_be_stored_is():
    """A new kind of proof wants a file: see `tests.checking.stored.make`."""
    sources = Path(pertinent.__path__[0], "proofs").rglob("*.py")
    names = {
        name for path in sources for name in re.findall(r'record_as\("(.+?)"', path.read_text())
    }
    stored = {
        k for index in INDEX.values() for one in index["files"].values() for k in one["proofs"]
    }
    assert names - NO_KINDS - stored == set()


def test_what_came_to_the_second_format_later_is_there():
    """Alternatives with proofs, what stands in for a positive, ranges, trees, gaps, conflicts."""
    proofs = [document["proof"] for document in documents(LATER).values()]
    negatives, positives = ([proof[part] for proof in proofs] for part in ("negative", "positive"))
    assert any(other["why"] for one in negatives for other in one["alternatives"][0])
    assert any(one["alternatives"][0] for one in positives)
    assert {proof["instead"]["basis"] for proof in proofs if proof.get("instead")} == {
        "sufficient", "contrast", "negative",
    }  # fmt: skip
    assert all(proof["ranges"] for proof in proofs)
    assert {proof["question"]["missing"] for proof in proofs} == {
        "error", "impute", "keep", "allow",
    }  # fmt: skip
    reasons = [one["reason"] for one in negatives if one["reason"]]
    assert {"rules", "density-rules"} <= {reason["kind"] for reason in reasons}
    assert all(reason["without"]["values"] for reason in reasons)
    assert any(reason.get("blends") for reason in reasons)
    assert any(proof["question"]["constraints"].get("inferred") for proof in proofs)


def test_every_family_has_a_file_and_every_regressor_a_range():
    """Regressors, votes, duels, counts: see `tests.checking.stored.families`."""
    found = documents(LATER.with_name("format2-families"))
    assert found.keys() == {f"{name}.json" for name in FAMILIES}
    for name, family in FAMILIES.items():
        kind = found[f"{name}.json"]["summary"]["probability"]
        assert (kind is not None and kind["kind"] == "value") == family.is_about_numbers, name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_is_in_the_index(folder):
    about = INDEX[folder]["files"]
    named = {"index.json", *about, *(one["model"] for one in about.values())}
    assert {path.name for path in folder.iterdir()} == named
