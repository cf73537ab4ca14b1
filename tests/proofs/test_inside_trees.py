"""Boxes of sums of trees: said to be inside only where every cell is, judged by ``predict``."""

import time
from itertools import product

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import pertinent
from pertinent.geometry.cell import Cell
from pertinent.geometry.quadratic import Quadratic
from pertinent.geometry.running import until
from pertinent.proofs.ensembles import inside
from tests.proofs.planted_bent import bent, log

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int) + (X[:, 1] > 1)
MODELS = {
    "forest": RandomForestClassifier(4, max_depth=3, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
}


@pytest.fixture(scope="module", params=MODELS)
def region(request):
    model = MODELS[request.param].fit(X, Y)
    return model, [pertinent.decision_region(model, label) for label in range(3)]


def every_cell(region, low, high):
    """Return a point in each product of cells that a box meets, and its corners."""
    axes = []
    for cuts, a, b in zip(region.ensemble.cuts, low, high, strict=True):
        inner = cuts[(cuts >= a) & (cuts < b)]
        axes.append(np.unique([a, b, *inner, *np.nextafter(inner, np.inf)]))
    return np.array(list(product(*axes)))


def boxes(count=60):
    """Return boxes around samples: some in one column, some in all."""
    for i in range(count):
        size = RNG.exponential(0.4, 3) * (RNG.random(3) < (0.4 if i % 2 else 1.0))
        yield X[i] - size, X[i] + size


@pytest.mark.parametrize("most", [1, 4096])
def test_inside_is_what_every_cell_says(region, most, monkeypatch):
    """One by one it is exact; by the smallest leads of trees it may be refused, never too much."""
    monkeypatch.setattr(inside, "MOST_CELLS", most)
    model, regions = region
    said = right = 0
    for low, high in boxes():
        label = int(model.predict((low + high)[None] / 2)[0])
        truth = (model.predict(every_cell(regions[label], low, high)) == label).all()
        found = inside.lies_inside(regions[label], low, high)
        assert truth or not found
        said, right = said + found, right + truth
    assert 5 < right < 55
    assert said == right if most > 1 else said >= right - 5


def test_open_ends_and_missing_values(region):
    _, regions = region
    everywhere = np.full(3, np.inf)
    assert not any(inside.lies_inside(one, -everywhere, everywhere) for one in regions)
    assert not inside.lies_inside(regions[0], np.array([np.nan, 0, 0]), np.zeros(3))
    assert not inside.lies_inside(regions[0], np.ones(3), np.zeros(3))


def test_next_to_a_cut_both_sides_count(region):
    """A step before the trees may round to the other side; a known point tells which it is not."""
    model, regions = region
    told = 0
    for point, j in product(X[:20], range(3)):
        cuts = regions[0].ensemble.cuts[j]
        at = point.copy()
        at[j] = cuts[np.abs(cuts - point[j]).argmin()]
        beyond = at.copy()
        beyond[j] = np.nextafter(at[j], np.inf)
        here, there = model.predict(np.stack([at, beyond])).tolist()
        assert inside.lies_inside(regions[here], at, at)
        assert inside.lies_inside(regions[here], at, at, 1e-12) == (here == there)
        # The model said so of this very point: it cannot be on the side where it would be lost.
        assert inside.lies_inside(regions[here], at, at, 1e-12, known=at)
        # Of a point with another number it tells nothing.
        off = beyond + 1e-3
        assert inside.lies_inside(regions[here], at, at, 1e-12, known=off) == (here == there)
        told += here != there
    assert told > 3


def test_margins_and_inequalities_are_kept(region):
    model, regions = region
    for point in X[:20]:
        one = regions[int(model.predict(point[None])[0])]
        pairs = zip(one.ensemble.cuts, point, strict=True)
        distance = min(np.abs(cuts - x).min() for cuts, x in pairs)
        for margin in (distance / 2, 2 * distance):
            assert inside.lies_inside(one.tighten(margin), point, point) == (margin < distance)
        for h in (-0.1, 0.1):
            half = Cell(np.array([[1.0, 1.0, 1.0]]), np.array([point.sum() + h]))
            assert inside.lies_inside(one.intersect(half), point, point) == (h > 0)


def test_beside_other_than_linear_inequalities_no_box_is_inside(region):
    """|x| <= 1e6 and log(1 + x_0) <= 1e6 hold in every box here, and nobody looks at them."""
    model, regions = region
    one = regions[int(model.predict(X[:1])[0])]
    square = Quadratic.from_matrix(np.eye(3), np.zeros(3), -1e12)
    beside = (
        Cell(np.zeros((0, 3)), np.zeros(0), (square,)),
        bent([log(0)], [0.0, 0.0, 0.0], [1.0], 1e6),
    )
    assert inside.lies_inside(one, X[0], X[0])
    for cell in beside:
        assert not inside.lies_inside(one.intersect(cell), X[0], X[0])


def test_a_box_is_not_inside_when_the_time_is_over(region, monkeypatch):
    """Where the leads do not say it at once, sums are added up as long as there is time."""
    model, regions = region
    one = regions[int(model.predict(X[:1])[0])]
    monkeypatch.setattr(inside._Part, "wins_by_far", lambda *_: False)
    assert inside.lies_inside(one, X[0], X[0])
    with until(time.monotonic() - 1.0):
        assert not inside.lies_inside(one, X[0], X[0])


@pytest.mark.parametrize("most", [1, 8, 256])
def test_categories_are_looked_at_one_after_the_other(most, monkeypatch):
    """Two groups of columns and a number: judged in all categories and every cell."""
    monkeypatch.setattr(inside, "MOST_CELLS", most)
    rng = np.random.default_rng(1)
    kinds, groups = rng.integers(0, [3, 4], (200, 2)), [np.arange(3), np.arange(3, 7)]
    table = np.hstack([np.eye(3)[kinds[:, 0]], np.eye(4)[kinds[:, 1]], rng.normal(size=(200, 1))])
    labels = (kinds[:, 0] == 1) & (kinds[:, 1] > 1) | (table[:, 7] > 0.5 + 0.3 * kinds[:, 0])
    model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(table, labels)
    regions = [pertinent.decision_region(model, label) for label in model.classes_]
    said = right = 0
    for row in table[:80]:
        allowed = [rng.random(len(g)) < 0.7 for g in groups]
        low, high = row.copy(), row.copy()
        for group, some in zip(groups, allowed, strict=True):
            some[np.flatnonzero(row[group])] = True
            if some.sum() > 1:
                low[group], high[group] = 0.0, some
        low[7], high[7] = row[7] - rng.exponential(0.3), row[7] + rng.exponential(0.3)
        numbers = every_cell(regions[0], low, high)[:, 7]
        choices = product(
            *([g[k] for k in np.flatnonzero(high[g])] for g in groups), np.unique(numbers)
        )
        points = np.zeros((0, 8))
        for one, other, number in choices:
            point = np.zeros(8)
            point[[one, other]], point[7] = 1.0, number
            points = np.vstack([points, point])
        label = int(model.predict(row[None])[0])
        truth = (model.predict(points) == bool(label)).all()
        found = inside.lies_inside(regions[label], low, high, groups=groups)
        assert truth or not found
        said, right = said + found, right + truth
    assert 10 < right < 70
    assert said == right
