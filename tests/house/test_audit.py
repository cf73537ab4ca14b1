"""The lock file, the bill of materials and the licences speak of the same packages."""

import json
import re

from audit.__main__ import BILL, LICENCES, LOCK, installed, licence, lock


def locked():
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)$", LOCK.read_text(), re.MULTILINE))


def test_bill_and_licences_are_made_from_the_lock_file():
    bill = json.loads(BILL.read_text())
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    parts = {part["name"]: part["version"] for part in bill["components"]}
    assert parts == locked()
    assert {"numpy", "scikit-learn", "skops"} <= parts.keys()
    known = {part["bom-ref"] for part in (*bill["components"], bill["metadata"]["component"])}
    for one in bill["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= known
    rows = re.findall(r"^\| ([a-z0-9.-]+) \| (\S+) \|", LICENCES.read_text(), re.MULTILINE)
    assert dict(rows[1:]).items() >= parts.items() or dict(rows).items() >= parts.items()


def test_what_is_needed_is_found_in_what_is_installed():
    found = installed("pertinent", ())
    assert {"pertinent", "numpy", "scipy", "scikit-learn", "highspy"} <= found.keys()
    assert "skops" not in found
    assert "skops" in installed("pertinent", ("cli",))
    assert f"numpy=={found['numpy'][0].version}" in lock(found).splitlines()
    assert "BSD" in licence(found["numpy"][0])


def test_every_dependency_of_the_project_is_locked():
    assert installed("pertinent", ()).keys() - {"pertinent"} <= locked().keys()
