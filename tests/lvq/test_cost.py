"""The cost equals its definition, and its gradient equals finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from pertinent.lvq import _cost
from pertinent.lvq._cost import GLVQCost, Layout, relative_difference, squared_distances
from pertinent.lvq._training import Packing, normalised_objective

STEEPNESS = 3.0
CLASSES = np.array([0, 0, 1, 1, 2, 2])  # of six prototypes
ONE_FOR_ALL = np.zeros(6, dtype=int)
ONE_EACH = np.arange(6)

# name: (which omega each prototype uses, rank of the omegas; None for the Euclidean metric)
METRICS = {
    "GLVQ": (ONE_FOR_ALL, None),
    "GMLVQ": (ONE_FOR_ALL, 4),
    "GMLVQ, rank 2": (ONE_FOR_ALL, 2),
    "LGMLVQ by prototype": (ONE_EACH, 4),
    "LGMLVQ by prototype, rank 1": (ONE_EACH, 1),
    "LGMLVQ by class": (CLASSES, 3),
}


def random_problem(metric, n_samples=30, n_features=4):
    prototype_omega, rank = METRICS[metric]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    y = rng.integers(3, size=n_samples)
    prototypes = rng.normal(size=(6, n_features))
    shape = (prototype_omega.max() + 1, rank, n_features)
    omegas = None if rank is None else rng.normal(size=shape)
    return X, y, Layout(CLASSES, prototype_omega), prototypes, omegas


def finite_differences(function, point, step=1e-6):
    gradient = np.empty_like(point)
    for i in range(point.size):
        shift = np.zeros_like(point)
        shift.flat[i] = step
        gradient.flat[i] = (function(point + shift) - function(point - shift)) / (2 * step)
    return gradient


def assert_gradient_is_right(cost, prototypes, omegas):
    _, by_prototypes, by_omegas = cost(prototypes, omegas)
    expected = finite_differences(lambda W: cost(W, omegas).cost, prototypes)
    np.testing.assert_allclose(by_prototypes, expected, rtol=1e-5, atol=1e-7)
    if omegas is not None:
        expected = finite_differences(lambda o: cost(prototypes, o).cost, omegas)
        np.testing.assert_allclose(by_omegas, expected, rtol=1e-5, atol=1e-7)


def cost_by_definition(X, y, layout, prototypes, omegas):
    """The formula sample by sample, without the ε for degenerate samples."""
    total = 0.0
    for x, label in zip(X, y, strict=True):
        distances = []
        for w, k in zip(prototypes, layout.prototype_omega, strict=True):
            difference = x - w if omegas is None else omegas[k] @ (x - w)
            distances.append(difference @ difference)
        distances = np.array(distances)
        plus = distances[layout.prototype_class == label].min()
        minus = distances[layout.prototype_class != label].min()
        total += 1 / (1 + np.exp(-STEEPNESS * (plus - minus) / (plus + minus)))
    return total / len(X)


@pytest.fixture(params=["as it is", "by triangular factors"])
def way(request, monkeypatch):
    """Large square omegas are measured by their triangular factors; here small ones are, too."""
    if request.param == "by triangular factors":
        monkeypatch.setattr(_cost, "LARGE", 1)
        monkeypatch.setattr(_cost, "HEAD", 2)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("metric", METRICS)
def test_cost_is_its_definition(metric):
    X, y, layout, prototypes, omegas = random_problem(metric)
    cost = GLVQCost(X, y, layout, STEEPNESS)(prototypes, omegas).cost
    assert cost == pytest.approx(cost_by_definition(X, y, layout, prototypes, omegas), rel=1e-6)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("metric", METRICS)
def test_gradient_is_the_slope_of_the_cost(metric):
    X, y, layout, prototypes, omegas = random_problem(metric)
    assert_gradient_is_right(GLVQCost(X, y, layout, STEEPNESS), prototypes, omegas)


@pytest.mark.parametrize("metric", METRICS)
def test_gradient_where_a_sample_meets_prototypes_of_both_kinds(metric):
    """d+ = d- = 0 for sample 0: it coincides with a prototype of its own and of another class."""
    X, y, layout, prototypes, omegas = random_problem(metric)
    y[y == 2] = 1  # to a sample of class 2, the two would be equally near: a kink of the minimum
    y[0] = 0
    # At the origin, where rounding of d+ and d- does not blur the finite differences.
    X[0] = prototypes[0] = prototypes[2] = 0.0
    assert_gradient_is_right(GLVQCost(X, y, layout, STEEPNESS), prototypes, omegas)


@pytest.mark.parametrize("metric", METRICS)
def test_gradient_where_a_sample_meets_its_own_prototype(metric):
    """d+ = 0 < d-: the cost is smooth there, without any special case."""
    X, y, layout, prototypes, omegas = random_problem(metric)
    y[0] = 0
    prototypes[0] = X[0]
    assert_gradient_is_right(GLVQCost(X, y, layout, STEEPNESS), prototypes, omegas)


@pytest.mark.parametrize("metric", METRICS)
def test_cost_where_everything_coincides(metric):
    X, y, layout, prototypes, omegas = random_problem(metric)
    X[:], prototypes[:] = X[0], X[0]
    value, by_prototypes, by_omegas = GLVQCost(X, y, layout, STEEPNESS)(prototypes, omegas)
    assert value == pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(by_prototypes, 0.0, atol=1e-5)
    if by_omegas is not None:
        np.testing.assert_allclose(by_omegas, 0.0, atol=1e-5)


def test_gradient_where_omega_hides_every_difference():
    """d+ = d- = 0 for all samples although no sample is a prototype."""
    X, y, layout, prototypes, omegas = random_problem("GMLVQ, rank 2")
    X[:, :2] = prototypes[:, :2] = 0.0
    omegas[:, :, 2:] = 0.0
    cost = GLVQCost(X, y, layout, STEEPNESS)
    assert cost(prototypes, omegas).cost == pytest.approx(0.5)
    assert_gradient_is_right(cost, prototypes, omegas)


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "GLVQ"])
def test_objective_of_the_optimiser(metric):
    """It ignores the size of the omegas, and its gradient is right for omegas of any size."""
    X, y, layout, prototypes, omegas = random_problem(metric)
    cost = GLVQCost(X, y, layout, STEEPNESS)
    packing = Packing(prototypes.shape, omegas.shape)
    value, gradient = normalised_objective(cost, packing, packing.join(prototypes, omegas))
    doubled, _ = normalised_objective(cost, packing, packing.join(prototypes, 2 * omegas))
    assert value == pytest.approx(doubled, rel=1e-12)

    expected = finite_differences(
        lambda vector: normalised_objective(cost, packing, vector)[0],
        packing.join(prototypes, omegas),
    )
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("metric", METRICS)
def test_chunks_do_not_change_the_result(metric):
    X, y, layout, prototypes, omegas = random_problem(metric)
    whole = GLVQCost(X, y, layout, STEEPNESS)(prototypes, omegas)
    pieces = GLVQCost(X, y, layout, STEEPNESS, chunk_bytes=2000)
    assert 1 <= pieces._chunk_rows(prototypes, omegas) < len(X) / 3
    parts = pieces(prototypes, omegas)
    assert parts.cost == pytest.approx(whole.cost, rel=1e-12)
    np.testing.assert_allclose(parts.prototypes, whole.prototypes, rtol=1e-9, atol=1e-12)
    if omegas is not None:
        np.testing.assert_allclose(parts.omegas, whole.omegas, rtol=1e-9, atol=1e-12)


def test_mu_is_between_minus_one_and_one():
    mu, by_plus, by_minus = relative_difference(
        np.array([0.0, 5.0, 2.0]), np.array([5.0, 0.0, 2.0])
    )
    np.testing.assert_allclose(mu, [-1, 1, 0], atol=1e-8)
    assert (by_plus > 0).all()
    assert (by_minus < 0).all()


def test_squared_distances_are_never_negative():
    Z = np.random.default_rng(0).normal(size=(50, 7)) + 100
    distances = squared_distances(Z, Z)
    assert (distances >= 0).all()
    np.testing.assert_allclose(distances, ((Z[:, None] - Z) ** 2).sum(axis=2), atol=1e-9)


def large_problem(prototype_omega, n_features=_cost.LARGE + 2):
    """Features of falling variance, as principal components have."""
    rng = np.random.default_rng(0)
    spread = 0.95 ** np.arange(n_features)
    X = rng.normal(size=(400, n_features)) * spread
    y = rng.integers(3, size=400)
    layout = Layout(CLASSES, prototype_omega)
    omegas = rng.normal(size=(layout.n_omegas, n_features, n_features)) / n_features
    omegas[0, :, 5:9] = 0.0  # features that do not count: the factor is singular
    prototypes = rng.normal(size=(6, n_features)) * spread
    cost = GLVQCost(X, y, layout, STEEPNESS, chunk_bytes=10**6)  # several chunks
    return cost, prototypes, omegas


def assert_close(one, two, tolerance):
    """Assert that cost and gradients differ by no more than ``tolerance`` of the largest entry."""
    assert one.cost == pytest.approx(two.cost, rel=tolerance)
    for a, b in ((one.prototypes, two.prototypes), (one.omegas, two.omegas)):
        assert a.dtype == np.float64
        np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.abs(b).max())


@pytest.mark.parametrize("prototype_omega", [ONE_FOR_ALL, ONE_EACH, CLASSES])
def test_triangular_factors_change_nothing_but_rounding(prototype_omega, monkeypatch):
    cost, prototypes, omegas = large_problem(prototype_omega)
    quick = cost(prototypes, omegas)
    monkeypatch.setattr(_cost, "LARGE", 10**6)
    assert_close(quick, cost(prototypes, omegas), 1e-13)


@pytest.mark.parametrize("prototype_omega", [ONE_FOR_ALL, ONE_EACH, CLASSES])
def test_single_precision_is_close_to_double(prototype_omega):
    cost, prototypes, omegas = large_problem(prototype_omega)
    single = replace(cost, X=cost.X.astype(np.float32))(prototypes, omegas)
    double = cost(prototypes, omegas)
    assert_close(single, double, 2e-6)
    assert (single.omegas != double.omegas).any()  # i.e. it was single precision


def test_single_precision_gradient_is_the_slope_of_the_double_cost():
    cost, prototypes, omegas = large_problem(CLASSES)
    single = replace(cost, X=cost.X.astype(np.float32))(prototypes, omegas)
    rng = np.random.default_rng(1)
    for _ in range(5):
        W, o = rng.normal(size=prototypes.shape), rng.normal(size=omegas.shape) / 100
        slope = np.vdot(single.prototypes, W) + np.vdot(single.omegas, o)
        ahead, behind = (cost(prototypes + h * W, omegas + h * o).cost for h in (1e-6, -1e-6))
        assert slope == pytest.approx((ahead - behind) / 2e-6, rel=1e-4)


@pytest.mark.parametrize("prototype_omega", [ONE_EACH, CLASSES])
def test_distances_are_complete_for_the_nearest_two_and_spared_for_others(prototype_omega):
    cost, prototypes, omegas = large_problem(prototype_omega)
    layout, own_class = cost.layout, cost.y[:, None] == CLASSES
    exact, _ = _cost._project_and_measure(cost.X, layout, prototypes, omegas)
    factors = _cost._triangular_factors(omegas, np.float64)
    found = _cost._nearest_by_factors(cost.X, layout, own_class, prototypes, factors)
    assert (found <= exact * (1 + 1e-12)).all()
    for kind in (own_class, ~own_class):
        nearest = np.where(kind, found, np.inf).min(axis=1)
        np.testing.assert_allclose(nearest, np.where(kind, exact, np.inf).min(axis=1), rtol=1e-12)
    assert np.mean(found < exact * (1 - 1e-6)) > 0.2
