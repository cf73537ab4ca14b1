"""Shared fixtures, and hypothesis without deadlines: the machines that run this are noisy."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import pertinent
from pertinent.models.steps import walk

sys.path.insert(0, str(Path(__file__).parent))

settings.register_profile("default", deadline=None, max_examples=40)
settings.load_profile("default")


@pytest.fixture(autouse=True)
def steps_of_this_test():
    """Steps that a test registers are not there for the next."""
    # Collecting doctests may import a module once more: tests then use another copy than this file.
    tables = [walk._TABLE, pertinent.register_transform.__globals__["_TABLE"]]
    known = [dict(table) for table in tables]
    yield
    for table, before in zip(tables, known, strict=True):
        table.clear()
        table.update(before)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def pytest_collection_finish() -> None:
    """Leave the tests themselves out of every later garbage collection: they stay to the end."""
    gc.collect()
    gc.freeze()
