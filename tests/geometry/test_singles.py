"""Numbers in single precision: their decimals, and the steps of columns that hold them."""

import numpy as np
import pytest

from pertinent.geometry.domain import Domain, Lattice
from pertinent.geometry.rounding.singles import as_decimals, as_singles, bounds_as_singles


def numbers():
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.integers(-40, 38, 2000)
    special = [0.0, -0.0, np.inf, -np.inf, 1e-45, 2.0**24, 2.0**24 + 2, 2.0**-5, 123456792.0]
    parts = [rng.normal(size=2000) * sizes, rng.integers(-20000, 20000, 2000) / 10, special]
    return as_singles(np.concatenate(parts))


def test_decimals_are_those_that_numpy_writes():
    values = numbers()
    written = values.astype(np.float32).astype(str).astype(float)
    assert (as_decimals(values) == written).all()
    assert (as_singles(as_decimals(values)) == values).all()
    assert np.isnan(as_decimals(np.array([[np.nan]]))).all()


@pytest.mark.parametrize("scale", [1.0, 100.0, 1.3e5, 1e6, 1e9])
@pytest.mark.parametrize(
    "grid", [(1, 1, 0), (2, 5, 0), (2, 1, 0), (0, 1, 0), (1, 25, 3), (-1, 1, 0)]
)
def test_steps_in_single_precision_are_the_nearest_float32(grid, scale):
    steps = Lattice(*grid, single=True)
    rng = np.random.default_rng(1)
    values = rng.normal(size=3000) * scale
    values[:1000] = steps.nearest(values[:1000])
    values[1000:2000] = np.nextafter(values[:1000], np.inf)
    above, below = steps.ceil(values), steps.floor(values)
    assert ((below <= values) & (values <= above)).all()
    assert (steps.has(above) & steps.has(below)).all()
    assert (as_singles(above) == above).all()
    assert (above[:1000] == values[:1000]).all()
    # Nothing of the steps lies between.
    assert (steps.ceil(np.nextafter(below, np.inf)) >= values).all()
    assert (steps.floor(np.nextafter(above, -np.inf)) <= values).all()
    each = (np.array([float(part)]) for part in grid)
    domain = Domain(next(each), multiple=next(each), offset=next(each), single=np.array([True]))
    assert domain.steps == {0: steps}
    assert (domain.on_steps(0, values, up=True) == above).all()
    assert (domain.on_steps(0, values, up=False) == below).all()


def test_bounds_are_decimal_numbers():
    low, high = bounds_as_singles(np.array([0.3, 1 / 3, -np.inf]), np.array([0.3, 1 / 3, np.inf]))
    assert low[0] == high[0] == float(np.float32(0.3)) > 0.3
    assert as_decimals(low)[1] >= 1 / 3 >= as_decimals(high)[1]
    assert (low[2], high[2]) == (-np.inf, np.inf)
