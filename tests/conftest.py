"""Shared fixtures, and hypothesis without deadlines: the machines that run this are noisy."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import settings

import pertinent
from pertinent.models.steps import walk

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("default", deadline=None, max_examples=40)
settings.load_profile("default")


@pytest.fixture(autouse=True)
def steps_of_this_test(request: pytest.FixtureRequest):
    """Steps that a test registers are not there for the next."""
    # Collecting doctests may import a module once more: tests then use another copy than this file.
    own = getattr(getattr(request, "module", None), "pertinent", pertinent)
    copies = [one.register_transform.__globals__["_TABLE"] for one in (pertinent, own)]
    tables = [walk._TABLE, *copies]
    known = [dict(table) for table in tables]
    yield
    for table, before in zip(tables, known, strict=True):
        table.clear()
        table.update(before)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Call all but one in so many cases of a matrix slow: which, their names decide.

    A module may be marked as well: its tests with parameters are then such cases.
    """
    for item in items:
        matrix = item.get_closest_marker("matrix")
        is_case = matrix and hasattr(item, "callspec")
        if is_case and crc32(item.name.encode()) % matrix.args[0]:
            item.add_marker(pytest.mark.slow)
    # First what takes minutes: at the end, one process would work on it while the others wait.
    items.sort(key=lambda item: "test_planted" not in item.nodeid)


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of every later garbage collection: they stay to the end."""
    gc.collect()
    gc.freeze()
