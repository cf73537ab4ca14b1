"""Winner-takes-all regions agree with their cells, their complements and their pull-backs."""

from __future__ import annotations

import numpy as np
import pytest

from pertinent.geometry.affine import Scores
from pertinent.geometry.pieces import Joined, cells_of, owners_of, pieces_of
from pertinent.geometry.region import AffineMap, Cell, CellUnion, Quadratic
from pertinent.geometry.winners import MetricRegion, WinnerRegion


@pytest.fixture
def region(rng):
    own = Scores(rng.normal(size=(4, 3)), rng.normal(size=4))
    rivals = Scores(rng.normal(size=(6, 3)), rng.normal(size=6))
    return WinnerRegion(own, rivals)


def by_cells(region, X):
    return CellUnion(tuple(region.cells), region.dim).contains(X)


def test_scores_say_the_same_as_cells(region, rng):
    X = rng.normal(size=(400, 3)) * 3
    assert region.contains(X).any()
    assert not region.contains(X).all()
    assert (region.contains(X) == by_cells(region, X)).all()
    tight = region.tighten(0.1)
    assert (tight.contains(X) == by_cells(tight, X)).all()
    assert tight.contains(X).sum() < region.contains(X).sum()


def test_the_complement_is_everything_else(region, rng):
    X = rng.normal(size=(400, 3)) * 3
    assert (region.complement().contains(X) != region.contains(X)).all()
    # Tightened the other way round: what lies between belongs to neither.
    outside = region.tighten(-0.05).complement()
    assert not (outside.contains(X) & region.contains(X)).any()
    assert not (outside.contains(X) & ~region.contains(X)).all()


def test_pull_back(region, rng):
    through = AffineMap(rng.normal(size=(3, 2)), rng.normal(size=3))
    Z = rng.normal(size=(300, 2)) * 3
    pulled = region.tighten(0.1).pull_back(through)
    assert (pulled.contains(Z) == region.tighten(0.1).contains(through(Z))).all()
    assert isinstance(pulled, WinnerRegion)


def test_a_relation_leaves_winners_implicit(region, rng):
    X = rng.normal(size=(500, 3)) * 2
    relation = Cell(np.array([[1.0, -1.0, 0.0]]), np.array([0.5]))
    through = AffineMap(rng.normal(size=3), rng.normal(size=3))
    both = region.intersect(relation)
    assert isinstance(both, WinnerRegion)
    assert (both.contains(X) == (region.contains(X) & relation.contains(X))).all()
    for changed in (both.tighten(0.1), both.pull_back(through), both.intersect(relation)):
        assert isinstance(changed, WinnerRegion)
        assert changed.contains(X).any()
        assert (changed.contains(X) == by_cells(changed, X)).all()
    assert both.complement() is None


def test_joined_regions_keep_their_parts_and_labels(region, rng):
    X = rng.normal(size=(500, 3)) * 2
    half = CellUnion((Cell(np.array([[1.0, 0.0, 0.0]]), np.array([-1.0])),))
    both = Joined([region, half], [7, 3], 3)
    assert owners_of(both, 0).tolist() == [7] * len(region) + [3]
    assert len(pieces_of(both)) == len(cells_of(both)) == len(region) + 1
    assert (both.contains(X) == (region.contains(X) | half.contains(X))).all()
    for changed in (both.tighten(0.1), both.intersect(half.cells[0])):
        assert isinstance(changed.parts[0], WinnerRegion)
        assert changed.labels == both.labels
    assert both.rounding(both.tighten(2.0**-10)) is None  # not known of the winners
    assert (both.surely_contains(X) <= both.contains(X)).all()


def test_rows_are_those_of_the_cells(region):
    rivals = np.array([0, 5, 2])
    g, h = region.row(1, rivals)
    np.testing.assert_array_equal(g, region.cells[1].G[rivals])
    np.testing.assert_array_equal(h, region.cells[1].h[rivals])


def test_a_cells_complement_reverses_one_row_at_a_time(rng):
    A = rng.normal(size=(3, 3))
    cell = Cell(
        rng.normal(size=(2, 3)),
        rng.normal(size=2),
        (Quadratic.from_matrix(A + A.T, rng.normal(size=3), 0.1),),
    )
    X = rng.normal(size=(500, 3))
    outside = CellUnion((cell,)).complement()
    assert len(outside) == 3
    assert (outside.contains(X) != cell.contains(X)).all()
    bounded = Cell(cell.G, cell.h, lower=np.zeros(3))
    assert CellUnion((bounded,)).complement() is None
    assert CellUnion((cell, cell)).complement() is None


def test_metric_regions(rng):
    items = [(F := rng.normal(size=(2, 3)), F @ (p := rng.normal(size=3)), p) for _ in range(5)]
    own, rivals = items[:2], items[2:]
    places = np.array([p for *_, p in own]), np.array([p for *_, p in rivals])
    region = MetricRegion(tuple(i[:2] for i in own), tuple(i[:2] for i in rivals), places)
    X = rng.normal(size=(400, 3)) * 2

    def distance(item):
        return ((X @ item[0].T - item[1]) ** 2).sum(axis=1)

    nearest_own = np.min([distance(i) for i in own], axis=0)
    nearest_rival = np.min([distance(i) for i in rivals], axis=0)
    assert (region.contains(X) == (nearest_own <= nearest_rival)).all()
    assert (region.complement().contains(X) != region.contains(X)).all()
    through = AffineMap(np.array([2.0, 0.5, -1.0]), rng.normal(size=3))
    pulled = region.tighten(1e-3).pull_back(through)
    assert isinstance(pulled, MetricRegion)
    assert (pulled.contains(X) == region.tighten(1e-3).contains(through(X))).all()
    same = MetricRegion((own[0][:2],), ((own[0][0], own[0][1] + 1),), (places[0][:1],) * 2)
    assert same.cells[0].is_linear


def test_lazy_cells_behave_like_a_sequence(region):
    assert len(region.cells) == 4
    np.testing.assert_array_equal(region.cells[-1].G, region.cells[3].G)
    assert len(region.cells[1:3]) == 2
    with pytest.raises(IndexError):
        region.cells[4]
    both = CellUnion(region.cells, 3).union(CellUnion((Cell.whole_space(3),)))
    assert len(both) == 5
    assert len(both.cells[4].G) == 0
