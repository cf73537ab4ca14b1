"""The form of tree ensembles: cells, leaves, folding, margins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier

from pertinent.geometry.affine import AffineMap
from pertinent.geometry.cell import Cell
from pertinent.geometry.ensembles import EnsembleRegion
from pertinent.geometry.ensembles.folding import last_at_most
from pertinent.models.trees.forests import forest_of

X, Y = load_wine(return_X_y=True)
MODEL = RandomForestClassifier(12, random_state=0).fit(X, Y)
FOREST = forest_of(MODEL)


def test_every_point_lies_in_one_leaf_of_each_tree():
    leaves, cells = FOREST.leaves, FOREST.cells_of(X)
    at = cells[:, leaves.column]
    missed = (at < leaves.first) | (at > leaves.last)
    inside = np.ones((len(X), len(leaves)), dtype=bool)
    rows, conditions = np.nonzero(missed)
    inside[rows, leaves.owner[conditions]] = False
    for row, own in enumerate(inside):
        np.testing.assert_array_equal(leaves.tree[own], np.arange(12))
        np.testing.assert_allclose(leaves.value[own].sum(axis=0), FOREST.totals(X[[row]])[0])


def test_leads_tell_who_is_ahead():
    leaves, totals = FOREST.leaves, FOREST.totals(X)
    for one in range(3):
        for other in {0, 1, 2} - {one}:
            _, needed, error = FOREST.lead(one, other)
            lead = totals[:, one] - totals[:, other]
            ahead = FOREST.tally.beats(totals, one, other)
            assert ahead[lead > needed + error].all()
            assert not ahead[lead < needed - error].any()
    assert len(leaves) > 12


@given(st.floats(-1e300, 1e300), st.floats(1e-9, 1e9), st.floats(-1e9, 1e9))
def test_the_last_number_on_a_side_is_found_to_the_bit(most, slope, shift):
    z = last_at_most(lambda z: slope * z + shift, np.array([most]))[0]
    with np.errstate(over="ignore"):
        assert not np.isfinite(z) or slope * z + shift <= most
        assert z == np.inf or slope * np.nextafter(z, np.inf) + shift > most


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_pulled_back_regions_hold_the_same_points(sign):
    rng = np.random.default_rng(1)
    slope, shift = sign * rng.uniform(0.1, 10, 13), rng.normal(size=13) * 100
    slope[3] = 0.0
    through = AffineMap(slope, shift)
    z = (X - shift) / np.where(slope == 0, 1.0, slope)
    region = EnsembleRegion.of(FOREST, 1)
    back = region.pull_back(through)
    np.testing.assert_array_equal(back.contains(z), region.contains(through(z)))
    assert not back.used_columns()[3]
    tight = region.tighten(0.05).pull_back(through)
    np.testing.assert_array_equal(tight.contains(z), region.tighten(0.05).contains(through(z)))


def test_columns_may_be_chosen_and_repeated():
    matrix = np.zeros((13, 4))
    matrix[np.arange(13), np.arange(13) % 4] = 1.0
    z = X[:, :4] * 3
    region = EnsembleRegion.of(FOREST, 0)
    back = region.pull_back(AffineMap(matrix, np.zeros(13)))
    np.testing.assert_array_equal(back.contains(z), region.contains(z @ matrix.T))


def test_a_margin_keeps_away_from_cuts_and_rows_are_kept_beside():
    region = EnsembleRegion.of(FOREST, 0, 0.01)
    cut = FOREST.cuts[0][0]
    point = X[MODEL.predict(X) == 0][:1].copy()
    for away in (0.005, 0.02):
        point[0, 0] = cut - away
        assert region.contains(point)[0] == (
            away > 0.01
            and FOREST.tally.beats(FOREST.totals(point), 0, 1)[0]
            and all((np.abs(FOREST.cuts[j] - point[0, j]) >= 0.01).all() for j in range(13))
        )
    row = np.zeros((1, 13))
    row[0, 0] = 1.0
    both = EnsembleRegion.of(FOREST, 0).intersect(Cell(row, np.array([13.5])))
    np.testing.assert_array_equal(both.contains(X), (MODEL.predict(X) == 0) & (X[:, 0] <= 13.5))
    assert both.complement() is None
