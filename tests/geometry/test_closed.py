"""Regions stay what they are: with a margin, with a relation, for all classes but one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import NearestCentroid

import pertinent
from pertinent import Constraints
from pertinent.geometry.pieces import parts_of
from pertinent.geometry.region import CellUnion
from pertinent.geometry.winners import WinnerRegion
from pertinent.proofs import RivalProofs
from pertinent.setting.region_key import Is, Not
from pertinent.solvers import choose_method, project

X, y = load_iris(return_X_y=True)
MODEL = NearestCentroid().fit(X, y)
SETTINGS = {
    "plain": {},
    "margin": {"margin": 1e-6},
    "relation": {"constraints": Constraints(relations=["x0 <= 3 * x1"])},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_prototypes_stay_implicit(name):
    explainer = pertinent.Explainer(MODEL, data=X, **SETTINGS[name])
    for key in (Is(1), Not(1)):
        region = explainer.setting.region(key, 1e-9)
        assert all(isinstance(part, WinnerRegion) for part in parts_of(region))


@pytest.mark.parametrize("name", SETTINGS)
def test_skipped_pieces_are_proved_by_rivals_and_checked_by_cells(name):
    """The answers are those of the same cells, listed; a bound never exceeds the listed one's."""
    explainer = pertinent.Explainer(MODEL, data=X, **SETTINGS[name])
    region = explainer.setting.region(Not(0), 1e-9)
    listed = CellUnion(tuple(cell for part in parts_of(region) for cell in part), 4)
    quick, slow = project(X[:50], region), project(X[:50], listed)
    np.testing.assert_allclose(quick.objective, slow.objective, rtol=1e-12)
    np.testing.assert_array_equal(quick.status, slow.status)
    assert any(isinstance(block.proofs, RivalProofs) for block in quick.certificate.blocks)
    assert "2 pieces" in choose_method(region).why
