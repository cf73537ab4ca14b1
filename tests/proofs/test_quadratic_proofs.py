"""Proofs about quadratic cells: replayed as they are, refused when tampered with."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from quadratic_models import fitted, some

from pertinent.geometry.codec import decode, encode
from pertinent.geometry.region import Cell, Quadratic
from pertinent.geometry.task import Task
from pertinent.models import decision_region
from pertinent.proofs import (
    CopositiveProofs,
    SeparableProofs,
    SeveralProofs,
    Simplices,
    SolverBounds,
    SweepProofs,
    TangentProofs,
)
from pertinent.solvers import project

pytestmark = pytest.mark.matrix(2)


def bounds(proofs, cell, centers):
    free = np.full(centers.shape, np.inf)
    return proofs.bounds(Task.of(cell, centers, np.ones(cell.dim), -free, free))


@pytest.fixture(scope="module")
def copositive():
    model, X = fitted("qda 0.1", "iris")
    cell = decision_region(model, 1).cells[0]
    centers = some(X[model.predict(X) != 1], 8)
    found = project(centers, cell)
    proofs = found.certificate.blocks[0].proofs
    assert isinstance(proofs, CopositiveProofs)
    return cell, centers, found, proofs


def naive_bayes(boxed: bool):
    """Return a cell, centers, bounds, what was found, and the proofs by sweep or by boxes."""
    model, X = fitted("bayes", "breast_cancer")
    cell = decision_region(model, 1).cells[0]
    if boxed:
        cell = replace(cell, lower=X.min(axis=0) - 0.1, upper=X.max(axis=0) + 0.1)
    centers = X[model.predict(X) != 1][:30]
    found = project(centers, cell)
    kind = SeparableProofs if boxed else SweepProofs
    parts = found.certificate.blocks[0].proofs.parts
    rows, proofs = next(part for part in parts if isinstance(part[1], kind))
    centers = centers[rows]
    low = np.broadcast_to(cell.lower, centers.shape)
    high = np.broadcast_to(cell.upper, centers.shape)
    return cell, centers, (low, high), found.bound[rows], proofs


def test_replay_gives_the_bound(copositive):
    cell, centers, found, proofs = copositive
    np.testing.assert_array_equal(bounds(proofs, cell, centers), found.bound)
    rows = np.array([5, 2])
    np.testing.assert_array_equal(bounds(proofs.take(rows), cell, centers[rows]), found.bound[rows])


@pytest.fixture(scope="module")
def by_products():
    """Return proofs about rows of a model without regularisation, which need products."""
    model, X = fitted("qda 0", "breast_cancer")
    cell = decision_region(model, 1).cells[0]
    centers = X[model.predict(X) == 0][:3]
    found = project(centers, cell)
    proofs = found.certificate.blocks[0].proofs
    assert all(proof.products is not None for proof in proofs.proofs)
    return cell, centers, found, proofs


def test_products_prove_what_parts_alone_cannot(by_products):
    cell, centers, found, proofs = by_products
    np.testing.assert_array_equal(bounds(proofs, cell, centers), found.bound)
    assert (found.bound >= found.objective * (1 - 1e-4)).all()
    without = tuple(replace(p, products=None, product=None) for p in proofs.proofs)
    assert (bounds(CopositiveProofs(without), cell, centers) == 0).all()


def test_proofs_by_products_survive_storage(by_products):
    cell, centers, found, proofs = by_products
    again = decode(json.loads(json.dumps(encode(proofs))))
    np.testing.assert_array_equal(bounds(again, cell, centers), found.bound)


@pytest.mark.parametrize("how", ["negative", "too much", "of another row", "wrong shape", "nan"])
def test_tampered_products_prove_nothing(by_products, how):
    cell, centers, _, proofs = by_products
    for i, proof in enumerate(proofs.proofs):
        products, other = proof.products.copy(), proofs.proofs[i - 1].products
        if how == "negative":
            products -= 1e-6 * np.abs(products).max()
        elif how == "too much":
            products *= 2
        elif how == "of another row":
            products = other
        elif how == "wrong shape":
            products = products[:, 1:]
        else:
            products[0, 0] = np.nan
        broken = CopositiveProofs((replace(proof, products=products),))
        assert bounds(broken, cell, centers[i : i + 1])[0] == 0


def test_products_of_opposite_corners_are_free_only_while_both_are_whole(by_products):
    """After a split of a corner, the product with its opposite is no longer 0."""
    cell, centers, _, proofs = by_products
    proof, d = proofs.proofs[0], cell.dim
    n = 2 * d + 1
    i, j = np.tril_indices(n)
    free = (i - j == d) & (i < 2 * d)
    lowest = int(np.flatnonzero(free)[proof.products[0, free].argmin()])
    assert proof.products[0, lowest] < 0
    split = replace(
        proof,
        option=np.array([-1, 0, 0]),
        product=np.array([-1, 0, 0]),
        first=np.array([int(i[lowest]), 0, 0]),
        second=np.array([n - 1, 0, 0]),
        share=np.array([0.5, 0.0, 0.0]),
    )
    assert bounds(CopositiveProofs((split,)), cell, centers[:1])[0] == 0


@pytest.fixture(scope="module")
def by_varying():
    """Return proofs about rows between three classes that need multipliers that vary."""
    model, X = fitted("qda 0.1", "wine")
    cell = decision_region(model, 0).cells[0]
    centers = X[model.predict(X) == 2]
    found = project(centers, cell)
    proofs = found.certificate.blocks[0].proofs
    rows = np.array([k for k, p in enumerate(proofs.proofs) if p.varying is not None])
    assert len(rows) >= 3
    return cell, centers[rows], found.bound[rows], found.objective[rows], proofs.take(rows)


def test_varying_multipliers_prove_what_constant_ones_cannot(by_varying):
    cell, centers, bound, objective, proofs = by_varying
    np.testing.assert_array_equal(bounds(proofs, cell, centers), bound)
    assert (bound >= objective * (1 - 1e-4)).all()
    without = tuple(replace(p, varying=None, variation=None) for p in proofs.proofs)
    assert (bounds(CopositiveProofs(without), cell, centers) == 0).all()
    again = decode(json.loads(json.dumps(encode(proofs))))
    np.testing.assert_array_equal(bounds(again, cell, centers), bound)


@pytest.mark.parametrize("how", ["negative", "zero", "of one row", "radius", "wrong shape", "nan"])
def test_tampered_varying_multipliers_prove_nothing(by_varying, how):
    cell, centers, _, _, proofs = by_varying
    for i, proof in enumerate(proofs.proofs):
        varying, radius = proof.varying.copy(), proof.radius
        if how == "negative":
            varying[0, 0, 0] = -varying.max()
        elif how == "zero":
            varying[:] = 0
        elif how == "of one row":
            varying[:, 0] = 0
        elif how == "radius":
            radius *= 1.01
        elif how == "wrong shape":
            varying = varying[:, :, 1:]
        else:
            varying[0, 0, 0] = np.nan
        broken = CopositiveProofs((replace(proof, varying=varying, radius=radius),))
        assert bounds(broken, cell, centers[i : i + 1])[0] == 0


def tampered(proof: Simplices, how: str) -> Simplices:
    if how == "radius":
        return replace(proof, radius=proof.radius * 1.01)
    if how == "negative multiplier":
        return replace(proof, rows=-proof.rows)
    if how == "no rows":
        return replace(proof, rows=0 * proof.rows)
    if how == "part left out":
        return replace(
            proof,
            option=np.array([-1, 0]),
            first=np.array([0, 0]),
            second=np.array([1, 0]),
            share=np.array([0.5, 0.0]),
        )
    return replace(proof, radius=np.nan)


@pytest.mark.parametrize(
    "how", ["radius", "negative multiplier", "no rows", "part left out", "not a number"]
)
def test_tampered_simplices_prove_nothing(copositive, how):
    cell, centers, _, proofs = copositive
    for i, proof in enumerate(proofs.proofs):
        broken = CopositiveProofs((tampered(proof, how),))
        assert bounds(broken, cell, centers[i : i + 1])[0] == 0


def test_a_proof_does_not_hold_for_another_center(copositive):
    """The numbers belong to a center: at one closer to the cell they must fail."""
    cell, centers, found, proofs = copositive
    nearer = centers + 0.5 * (found.points - centers)
    proved = bounds(proofs, cell, nearer)
    assert (proved <= np.abs(found.points - nearer).sum(axis=1) * (1 + 1e-9)).all()


@pytest.mark.parametrize("boxed", [False, True])
def test_tampered_separable_proofs_prove_nothing(boxed):
    cell, centers, limits, bound, proofs = naive_bayes(boxed)
    weights = np.ones(cell.dim)
    np.testing.assert_array_equal(proofs.bounds(Task.of(cell, centers, weights, *limits)), bound)
    wide = replace(proofs, radius=proofs.radius * 1.01)
    assert (wide.bounds(Task.of(cell, centers, weights, *limits)) == 0).all()
    name = "multipliers" if boxed else "slopes"
    empty = replace(proofs, **{name: 0 * getattr(proofs, name)})
    assert (empty.bounds(Task.of(cell, centers, weights, *limits)) == 0).all()


@pytest.mark.parametrize("boxed", [False, True])
def test_separable_proofs_refuse_other_cells(boxed):
    cell, centers, limits, _, proofs = naive_bayes(boxed)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(cell.dim, cell.dim)))[0]
    row = cell.quadratics[0]
    mixed = Quadratic(row.plus @ turned, row.minus @ turned, row.q, row.c)
    other = replace(cell, quadratics=(mixed,))
    assert (proofs.bounds(Task.of(other, centers, np.ones(cell.dim), *limits)) == 0).all()


def test_a_sweep_needs_room_for_features_of_convex_gain():
    """With caps the lemma behind it fails, and so must the proof."""
    cell, centers, (low, high), _, proofs = naive_bayes(boxed=False)
    near = np.minimum(high, centers + proofs.radius[:, None] / 2)
    tight = np.maximum(low, centers - proofs.radius[:, None] / 2)
    assert (proofs.bounds(Task.of(cell, centers, np.ones(cell.dim), tight, near)) == 0).all()


def test_tangents_ignore_rows_that_are_not_convex():
    row = Quadratic(np.eye(2), np.array([[1.0, 1.0]]), np.zeros(2), 1.0)
    proof = TangentProofs((np.zeros((1, 2)),), np.array([[5.0]]), np.array([True]))
    assert bounds(proof, Cell(np.zeros((0, 2)), np.zeros(0), (row,)), np.zeros((1, 2)))[0] == 0


def test_several_proofs_take_the_stronger():
    cell = Cell(np.zeros((0, 1)), np.zeros(0))
    parts = (
        (np.array([0, 1]), SolverBounds(np.array([1.0, 2.0]), "SCIP")),
        (np.array([1, 2]), SolverBounds(np.array([3.0, 0.0]), "SCIP")),
    )
    proofs = SeveralProofs(3, parts)
    np.testing.assert_array_equal(bounds(proofs, cell, np.zeros((3, 1))), [1.0, 3.0, 0.0])
    np.testing.assert_array_equal(proofs.trusted(), [False, False, True])
    again = proofs.take(np.array([2, 1]))
    np.testing.assert_array_equal(bounds(again, cell, np.zeros((2, 1))), [0.0, 3.0])


@pytest.mark.parametrize(("excess", "proved"), [(1e-4, False), (10.0, True)])
def test_a_value_that_may_be_rounding_proves_nothing(excess, proved):
    """At 1e6, x1^2 - c is the difference of numbers of 1e12: 1e-4 of it is one unit of rounding."""
    row = Quadratic(np.eye(2), np.zeros((0, 2)), np.zeros(2), -(1e12 - excess))
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (row,))
    center = np.array([[1e6, 0.0]])
    radius = row.value(center) / 4e6  # half of what the slope of 2e6 leaves
    slope = np.array([[2e6]])
    option = np.array([[1.0]])
    none, one = np.zeros((1, 4)), np.zeros(1, dtype=int)
    simplices = Simplices(float(radius[0]), option, none, none, one, one, one, np.zeros(1))
    leaf = np.array([[1 / 2e6]])
    for proofs in (
        SweepProofs(radius, slope),
        SeparableProofs(radius, np.array([-1]), np.zeros(1), leaf),
        CopositiveProofs((simplices,)),
    ):
        assert (bounds(proofs, cell, center)[0] > 0) == proved


def one_part(radius, multiplier, dim=1, **more):
    """Return a proof of one part that is closed by a multiple of the only row."""
    none, zero = np.zeros((1, 2 * dim)), np.zeros(1, dtype=int)
    rows = np.array([[multiplier]])
    return Simplices(radius, rows, none, none, zero, zero, zero, np.zeros(1), **more)


@pytest.mark.parametrize("multiplier", [5e-324, 1e-310, 4.3e-162, 1e-150])
def test_multipliers_so_small_that_they_are_rounded_away_prove_nothing(multiplier):
    """Below 1e-308 products lose their digits, and squares do below 1e-154."""
    line = Cell(np.array([[-1.4]]), np.array([-0.6]))  # 0.6 - 1.4 x <= 0, from x = 0.43 on
    row = Quadratic(np.eye(1), np.zeros((0, 1)), np.array([-2.02]), 1.0)
    bowl = Cell(np.zeros((0, 1)), np.zeros(0), (row,))  # from x = 0.87 on
    for cell, nearest in ((line, 0.6 / 1.4), (bowl, 1.01 - np.sqrt(1.01**2 - 1))):
        assert bounds(CopositiveProofs((one_part(0.4, 1.0),)), cell, np.zeros((1, 1)))[0] == 0.4
        for radius in (1.001 * nearest, 1.0, 2.0):
            broken = CopositiveProofs((one_part(radius, multiplier),))
            assert bounds(broken, cell, np.zeros((1, 1)))[0] == 0


def test_what_is_left_of_two_factors_that_cancel_proves_nothing():
    """The form is the difference of numbers of 1e12, and its first digits are all it has."""
    plus = np.array([[1.3e6, 0.7e6]])
    minus = plus * [[1 + 1e-13, 1.0]]
    row = Quadratic(plus, minus, np.zeros(2), 1.0)
    bend = Fraction(plus[0, 0]) ** 2 - Fraction(minus[0, 0]) ** 2
    true = float(1 / -bend) ** 0.5
    computed = float(-1 / row.A[0, 0]) ** 0.5
    cell = Cell(np.zeros((0, 2)), np.zeros(0), (row,), np.array([0.0, 0.0]), np.array([np.inf, 0]))
    low, high = cell.lower[None], cell.upper[None]
    for radius in (0.1 * true, (1 - 1e-9) * computed):
        proofs = CopositiveProofs((one_part(radius, 1.0, dim=2),))
        proved = proofs.bounds(Task.of(cell, np.zeros((1, 2)), np.ones(2), low, high))[0]
        assert proved <= true
        assert (proved > 0) == (radius < 0.5 * true)


@pytest.mark.parametrize(
    "how",
    [
        {"option": np.array([0.0])},
        {"option": np.array([[0]])},
        {"option": None},
        {"rows": np.ones((1, 2))},
        {"rows": np.ones(1)},
        {"rows": np.array([["x"]], dtype=object)},
        {"caps": np.zeros((1, 1))},
        {"option": np.array([-1, 0, 0])},
        {"radius": "0.4"},
        {"radius": None},
        {"products": np.zeros((1, 6)), "product": np.array([0.0])},
        {"products": np.zeros(6), "product": np.array([0])},
        {"varying": np.ones(3), "variation": np.array([0])},
        {"varying": np.ones((1, 3, 3)), "variation": np.array([0, 0])},
        {"varying": (), "variation": "x"},
    ],
)
def test_malformed_simplices_prove_nothing(how):
    """A file may hold anything: what does not fit is no proof, and no error either."""
    line = Cell(np.array([[-1.4]]), np.array([-0.6]))
    broken = replace(one_part(0.4, 1.0), **how)
    assert bounds(CopositiveProofs((broken,)), line, np.zeros((1, 1)))[0] == 0


@pytest.mark.parametrize("place", [3, -4])
def test_edges_between_corners_that_are_not_there_prove_nothing(place):
    line = Cell(np.array([[-1.4]]), np.array([-0.6]))
    three, zeros = np.array([-1, 0, 0]), np.zeros(3, dtype=int)
    parts = replace(
        one_part(0.4, 1.0), option=three, first=zeros, second=zeros + 1, share=np.full(3, 0.5)
    )
    assert bounds(CopositiveProofs((parts,)), line, np.zeros((1, 1)))[0] == 0.4
    broken = replace(parts, second=np.array([place, 0, 0]))
    assert bounds(CopositiveProofs((broken,)), line, np.zeros((1, 1)))[0] == 0


def test_more_proofs_than_centers_and_other_things_prove_nothing():
    line = Cell(np.array([[-1.4]]), np.array([-0.6]))
    proof = one_part(0.4, 1.0)
    assert bounds(CopositiveProofs((proof, proof)), line, np.zeros((1, 1))).tolist() == [0.4]
    assert bounds(CopositiveProofs((3, proof)), line, np.zeros((2, 1))).tolist() == [0.0, 0.4]
