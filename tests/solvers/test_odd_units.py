"""Features in units that differ by many powers of ten are answered like those in usual units."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.setting.region_key import Is
from pertinent.solvers.curved.halving import closes
from pertinent.solvers.curved.shifted import in_units_of_rows
from pertinent.solvers.problem import Task as Asked

UNITS = np.array([1.0, 1e8, 1e-8])


def samples(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=200)
    return rng.normal(size=(200, 3)) * rng.uniform(0.5, 2, 3) + 1.5 * np.eye(3)[y], y


def rules(X, share):
    low, high = np.quantile(X, [share, 1 - share], axis=0).tolist()
    return pertinent.Constraints(bounds={j: (low[j], high[j]) for j in range(3)})


@pytest.mark.parametrize("share", [0.3, 0.45])
@pytest.mark.parametrize("weighted", [True, False])
def test_naive_bayes_in_odd_units_with_bounds_never_fails(share, weighted):
    """Weights of 1 measure the cost in units that differ by 1e16: one feature alone counts."""
    seen = set()
    for seed in range(2):
        X, y = samples(seed)
        Z = X * UNITS
        usual, odd = (GaussianNB(var_smoothing=0).fit(data, y) for data in (X, Z))
        for function, how in (
            (pertinent.pertinent_negatives, {}),
            (pertinent.pertinent_positives, {"baseline": Z.mean(axis=0)}),
        ):
            weights = 1 / Z.std(axis=0) if weighted else None
            limits = rules(Z, share)
            found = function(odd, Z[:3], constraints=limits, weights=weights, **how)
            how = {"baseline": X.mean(axis=0)} if how else {}
            plain = function(usual, X[:3], constraints=rules(X, share), **how)
            assert "failed" not in found.status
            seen |= set(found.status)
            none = found.status == "infeasible"
            assert none.tolist() == (plain.status == "infeasible").tolist()
    assert seen & {"optimal"}
    assert share < 0.4 or "infeasible" in seen


def test_boxes_are_cut_where_a_row_varies_not_where_it_costs():
    """No point of the box: cuts along the dearest feature alone never show it."""
    X, y = samples(1)
    Z = X * UNITS
    model = GaussianNB(var_smoothing=0).fit(Z, y)
    low, high = np.quantile(Z, [0.45, 0.55], axis=0)
    low[1] -= 30 * (high - low)[1]
    setting = pertinent.Explainer(model, data=Z).setting
    cell: Cell = setting.region(Is(0), 0.0).cells[0]
    where = cell, Z[:1], np.ones(3), low[None], high[None]
    assert HalvingProofs(np.array([np.inf])).bounds(Task(*where))[0] == np.inf
    task = Asked(*where, np.full(1, np.inf))
    assert closes(in_units_of_rows(task), np.inf)
    units = in_units_of_rows(task).weights * UNITS
    assert units.max() < 10 * units.min()
