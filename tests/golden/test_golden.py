"""Answers are those that were recorded; see `tests.golden.record`."""

import json

import pytest

from tests.golden.cases import CASES
from tests.golden.record import (
    VALUES,
    answered,
    compare,
    differences,
    load,
    recorded_versions,
    recorded_with,
)


@pytest.fixture(scope="module")
def recorded():
    if recorded_versions() != recorded_with():
        pytest.skip(f"models were fitted with {recorded_versions()}")
    return load(VALUES)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", CASES)
def test_answers_are_as_recorded(name, recorded):
    values, _ = answered(CASES[name])
    found = compare(name, recorded, json.loads(json.dumps(values)))
    assert not found, "\n".join(found)


def test_every_recorded_case_is_still_asked():
    assert set(load(VALUES)) == set(CASES)


@pytest.mark.parametrize(
    ("old", "new", "curved", "count"),
    [
        ({"objective": 1.0}, {"objective": 1.0 + 1e-10}, False, 0),
        ({"objective": 1.0}, {"objective": 1.0 + 1e-7}, False, 1),
        ({"objective": 1.0}, {"objective": 1.0 + 1e-7}, True, 0),
        ({"bound": 1.0, "objective": 1.0}, {"bound": 1.0 - 1e-7, "objective": 1.0}, False, 0),
        ({"bound": "inf"}, {"bound": 1.0}, False, 1),
        ({"status": "optimal"}, {"status": "feasible"}, True, 1),
        ({"point": [1.0, "red"]}, {"point": [1.0, "blue"]}, False, 1),
        ({"point": [1.0], "unique": False}, {"point": [2.0], "unique": False}, False, 0),
        ({"point": [1.0], "unique": None}, {"point": [2.0], "unique": None}, False, 1),
        ({"alternatives": [{"proved": True}]}, {"alternatives": [{"proved": False}]}, False, 1),
        ({"kept": [0, 1]}, {"kept": [0]}, False, 1),
        ({"kept": [0, 1]}, {}, False, 1),
    ],
)
def test_differences_are_seen(old, new, curved, count):
    assert len(list(differences(old, new, curved))) == count
