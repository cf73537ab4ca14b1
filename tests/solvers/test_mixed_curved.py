"""Rules of change, whole numbers and categories under curved rows, against every choice of them."""

import json
from dataclasses import replace
from itertools import combinations, product

import brute_force
import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

import pertinent
from pertinent.geometry.codec import decode, encode
from pertinent.geometry.domain import SMALLEST_CHANGE, Domain
from pertinent.geometry.region import Cell, CellUnion, Quadratic
from pertinent.geometry.task import Task
from pertinent.lvq import LGMLVQ
from pertinent.proofs import OPTIMAL
from pertinent.proofs.cases.curved import CurvedBranchProofs
from pertinent.proofs.cases.halving import HalvingProofs
from pertinent.solvers import Options, choose_method, project
from pertinent.solvers.curved.interior import ellipsoid
from pertinent.solvers.problem import Task as SolverTask
from pertinent.solvers.scip import mixed
from pertinent.solvers.search import curved as mixed_curved
from pertinent.solvers.search.near import moved_back

IRIS, SPECIES = load_iris(return_X_y=True)
IRIS = StandardScaler().fit_transform(IRIS)
LOW, HIGH = IRIS.min(axis=0), IRIS.max(axis=0)
FAMILIES = {
    "QDA": (QuadraticDiscriminantAnalysis(reg_param=0.1), SPECIES),
    "naive Bayes": (GaussianNB(), SPECIES),
    "SVC poly": (SVC(kernel="poly", degree=2, coef0=1.0), (SPECIES == 1).astype(int)),
    "LGMLVQ": (LGMLVQ(random_state=0), SPECIES),
}
RULES = {
    "one": {"max_changes": 1},
    "two": {"max_changes": 2},
    "together": {"together": [[0, 2]]},
    "both": {"together": [[1, 2]], "max_changes": 2},
}


def least_cost(pieces, x, rules):
    """Return the cost of the best choice of what changes, and of the side it changes to."""
    (pair,) = rules.get("together", [[]])
    units = [[j] for j in range(len(x)) if j not in pair] + [pair] * bool(pair)
    best = np.inf
    for size in range(min(rules.get("max_changes", len(units)), len(units)) + 1):
        for chosen in combinations(range(len(units)), size):
            on = [j for u in chosen for j in units[u]]
            must = pair if set(pair) <= set(on) else []
            for sides in product((-1, 1), repeat=len(must)):
                low, high = LOW.copy(), HIGH.copy()
                for j, side in zip(must, sides, strict=True):
                    end = x[j] + side * SMALLEST_CHANGE
                    low[j], high[j] = (max(low[j], end), high[j]) if side > 0 else (
                        low[j], min(high[j], end)
                    )  # fmt: skip
                for piece in pieces:
                    best = min(best, brute_force.closest(piece, x, on, x, low, high, best))
    return best


@pytest.mark.matrix(2)
@pytest.mark.parametrize("ruled", RULES)
@pytest.mark.parametrize("family", FAMILIES)
def test_equals_the_best_choice_of_changes(family, ruled):
    model, y = FAMILIES[family]
    model.fit(IRIS, y)
    samples = IRIS[[77, 101]]
    rules = pertinent.Constraints(
        bounds=dict(enumerate(zip(LOW, HIGH, strict=True))), **RULES[ruled]
    )
    found = pertinent.pertinent_negatives(model, samples, constraints=rules)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) != model.predict(samples)).all()
    for i, x in enumerate(samples):
        pieces = brute_force.other_pieces(model, model.predict(x[None])[0])
        cost = least_cost(pieces, x, RULES[ruled])
        assert found.objective[i] == pytest.approx(cost, rel=2e-4, abs=1e-6)
        # Points of the oracle may be 1e-9 outside of their rows (`brute_force.SLACK`).
        assert found.bound[i] <= cost * (1 + 1e-8)


CHOICES = {"job": ["fixed", "part-time", "none"], "months": range(0, 13, 3), "loans": range(4)}


@pytest.fixture(scope="module")
def listed():
    """Products of two counts and a category: every possible customer can be listed."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({name: rng.choice(list(v), 300) for name, v in CHOICES.items()})
    data["months"] = rng.integers(0, 13, 300)
    score = (data.months - 5.0) ** 2 / 8 - data.loans * (data.job == "none") - data.loans
    columns = ColumnTransformer(
        [
            ("words", OneHotEncoder(sparse_output=False), ["job"]),
            ("counts", StandardScaler(), ["months", "loans"]),
        ]
    )
    model = make_pipeline(columns, PolynomialFeatures(2), LogisticRegression(C=10))
    model.fit(data, (score > 0).astype(int))
    values = [CHOICES["job"], range(13), range(4)]
    return model, data, pd.DataFrame(list(product(*values)), columns=list(CHOICES))


@pytest.mark.parametrize(
    "rules",
    [{"max_changes": 1}, {"max_changes": 2}, {"together": [["job", "loans"]]}],
    ids=["one", "two", "together"],
)
def test_categories_and_whole_numbers_that_change(listed, rules):
    model, data, everyone = listed
    bounds = {"months": (0, 12), "loans": (0, 3)}
    whole = pertinent.Constraints(integer=["months", "loans"], bounds=bounds, **rules)
    samples = everyone.iloc[::29]
    found = pertinent.pertinent_negatives(model, samples, data=data, constraints=whole)
    labels, weights = model.predict(everyone), 1 / data[["months", "loans"]].std(ddof=0)
    for i, (place, own) in enumerate(samples.iterrows()):
        differs = (everyone != own).to_numpy()
        allowed = differs.sum(axis=1) <= rules.get("max_changes", 3)
        if "together" in rules:
            allowed &= differs[:, 0] == differs[:, 2]
        allowed &= labels != labels[place]
        moved = np.abs(everyone[["months", "loans"]] - own[["months", "loans"]].astype(int))
        cost = (moved * weights).sum(axis=1) + differs[:, 0]
        if not allowed.any():
            assert found.status[i] == "infeasible"
            continue
        assert found.status[i] == "optimal"
        assert found.objective[i] == pytest.approx(cost[allowed].min(), rel=1e-4)
    assert (found.status == "optimal").any()


def test_fewest_changes_under_curved_rows(listed):
    model, data, everyone = listed
    bounds = {"months": (0, 12), "loans": (0, 3)}
    rules = pertinent.Constraints(integer=["months", "loans"], bounds=bounds)
    samples, labels = everyone.iloc[::29], model.predict(everyone)
    found = pertinent.pertinent_negatives(model, samples, data=data, constraints=rules, norm="l0")
    for i, (place, own) in enumerate(samples.iterrows()):
        size = (everyone != own).to_numpy().sum(axis=1)[labels != labels[place]].min()
        assert found.objective[i] == found.bound[i] == size
        assert found.status[i] == "optimal"


def ring(dim):
    """Return the outside of a ball of radius 2: a curved cell whose nearest points are known."""
    outside = Quadratic.from_matrix(-np.eye(dim), np.zeros(dim), 4.0)
    return Cell(np.zeros((0, dim)), np.zeros(0), (outside,))


def test_a_stored_tree_proves_the_same_and_a_false_claim_nothing(monkeypatch):
    monkeypatch.setattr(mixed, "is_separable_choice", lambda task: False)
    center = np.array([[0.5, 0.0, 0.1]])
    domain = Domain(np.full(3, np.nan), max_changes=1, own=center)
    found = project(center, ring(3), lower=np.full(3, -3.0), upper=np.full(3, 3.0), domain=domain)
    # One number has to reach the sphere by itself: sqrt(4 - 0.1^2) - 0.5 is the least.
    assert found.objective[0] == pytest.approx(np.sqrt(3.99) - 0.5)
    assert found.bound[0] == pytest.approx(found.objective[0], rel=1e-4)
    proofs = found.certificate.blocks[0].proofs
    assert isinstance(proofs, CurvedBranchProofs)
    args = (
        CellUnion((ring(3),)).cells[0],
        center,
        np.ones(3),
        np.full((1, 3), -3.0),
        np.full((1, 3), 3.0),
    )
    task = Task.of(*args, domain)
    again = decode(encode(proofs))
    np.testing.assert_array_equal(again.bounds(task), proofs.bounds(task))
    boast = tuple(HalvingProofs(np.array([1.6])) for _ in proofs.leaves_by)
    lie = CurvedBranchProofs(proofs.roots, proofs.tree, boast)
    assert lie.bounds(task)[0] < found.objective[0] + 1e-9


@pytest.mark.parametrize("ruled", RULES)
def test_what_the_search_leaves_open_is_given_to_scip(monkeypatch, ruled):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(mixed_curved, "MAX_NODES", 0)
    model, y = FAMILIES["QDA"]
    model.fit(IRIS, y)
    sample = IRIS[[77]]
    bounds = dict(enumerate(zip(LOW, HIGH, strict=True)))
    rules = pertinent.Constraints(bounds=bounds, **RULES[ruled])
    found = pertinent.pertinent_negatives(model, sample, constraints=rules)
    assert found.status[0] == "feasible"  # SCIP's word is no proof
    pieces = brute_force.other_pieces(model, model.predict(sample)[0])
    assert found.objective[0] == pytest.approx(
        least_cost(pieces, sample[0], RULES[ruled]), rel=1e-3
    )
    assert 0 < found.bound[0] <= found.objective[0]


def test_a_solvers_word_is_told_as_such_and_never_as_proved(monkeypatch):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(mixed_curved, "MAX_NODES", 0)
    model, y = FAMILIES["QDA"]
    model.fit(IRIS, y)
    bounds = dict(enumerate(zip(LOW, HIGH, strict=True)))
    rules = pertinent.Constraints(bounds=bounds, integer=[0, 1, 2, 3])
    one = pertinent.Explainer(model, constraints=rules).explain(IRIS[[77]])[0]
    change, text = one.summary()["negative"], one.text("long")
    assert change["status"] == "feasible"
    assert change["solver"] is True
    assert change["bound"] > 0
    assert "proved is only" not in text
    assert "without a proof" in text
    assert "A solver says that none below" in text
    assert "exists; smaller ones" not in text
    stored = json.loads(one.json())
    jsonschema.validate(stored, pertinent.json_schema())
    assert pertinent.check(stored, model).verdict != "refuted"
    del stored["summary"]["negative"]["solver"]
    assert not pertinent.check(stored, model).ok


def test_a_search_that_ends_early_says_so(monkeypatch):
    monkeypatch.setattr(mixed_curved, "MAX_NODES", 2)
    model, y = FAMILIES["QDA"]
    model.fit(IRIS, y)
    samples = IRIS[[5, 77, 101, 140]]
    rules = pertinent.Constraints(together=[[0, 2], [1, 3]])
    found = pertinent.pertinent_negatives(model, samples, constraints=rules)
    assert set(found.status) <= {"feasible", "optimal", "failed"}
    good = found.found
    assert (model.predict(found.points[good]) != model.predict(samples[good])).all()
    assert (found.bound[good] <= found.objective[good]).all()
    assert "optimal" not in found.status[found.bound < found.objective * (1 - 1e-4)]


def leaning():
    """Return ``2 x + 1.2 y + 0.01 y^2 >= 1``: curved, and x gains most for its cost."""
    matrix, slope = np.diag([0.0, -0.01]), np.array([-2.0, -1.2])
    return Cell(np.zeros((0, 2)), np.zeros(0), (Quadratic.from_matrix(matrix, slope, 1.0),))


#: Where y alone is enough.
ALONE = (np.sqrt(1.2**2 + 0.04) - 1.2) / 0.02


def test_a_rounded_answer_is_not_the_last_word():
    """Half of x would do; rounded it costs 1, and y alone costs less."""
    center = np.zeros((1, 2))
    domain = Domain(np.array([0.0, np.nan]), own=center)
    sides = {"lower": np.zeros(2), "upper": np.full(2, 3.0), "domain": domain}
    found = project(center, leaning(), **sides, options=Options(round_steps=True))
    assert found.points[0] == pytest.approx([0.0, ALONE])
    assert found.status[0] == OPTIMAL


def test_numbers_without_steps_move_back_as_far_as_they_can():
    centers = np.zeros((3, 2))
    domain = Domain(np.array([0.0, np.nan]), own=centers)
    sides = np.zeros((3, 2)), np.full((3, 2), 3.0)
    task = SolverTask(leaning(), centers, np.ones(2), *sides, np.full(3, np.inf), domain=domain)
    start = np.array([[0.0, 2.0], [1.0, 0.5], [0.0, ALONE + 1e-12]])
    found = moved_back(task, start)
    assert found[0] == pytest.approx([0.0, ALONE], rel=1e-6)
    assert found[1].tolist() == [1.0, 0.0]
    assert found[2].tolist() == start[2].tolist()  # a billionth is worth no move
    assert leaning().contains(found).all()


def test_numbers_move_back_to_the_end_of_a_gap_or_all_the_way():
    """A change of less than 1 is none: the value stops there, or returns to its own."""
    centers = np.zeros((2, 2))
    gap = np.full((2, 2), -1.0), np.full((2, 2), 1.0)
    domain = Domain(np.array([0.0, np.nan]), own=centers, gap=gap)
    sides = np.array([[0.0, 0.0], [1.0, 0.0]]), np.full((2, 2), 3.0)  # x is fixed at 1 below
    task = SolverTask(leaning(), centers, np.ones(2), *sides, np.full(2, np.inf), domain=domain)
    found = moved_back(task, np.array([[0.0, 2.0], [1.0, 2.0]]))
    assert found[0] == pytest.approx([0.0, 1.0], rel=1e-6)
    assert found[1].tolist() == [1.0, 0.0]
    assert not domain.violation(found).any()


def whole_ellipsoid():
    """Return an ellipsoid askew and a half-space that cuts it: whole points in it take a search."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(4, 4)) / 3
    middle = np.array([6.3, 5.1, -4.7, 3.2])
    A = root.T @ root
    inside = Quadratic.from_matrix(A, -2 * A @ middle, float(middle @ A @ middle) - 1.5)
    return Cell(np.array([[1.0, 1.0, 1.0, 1.0]]), np.array([11.0]), (inside,))


def test_cases_that_can_be_solved_together_are_and_each_row_stands_for_itself(monkeypatch):
    cell, calls, domain = whole_ellipsoid(), [], Domain(np.zeros(4))
    together = ellipsoid.solve_ellipsoids
    low, high = np.full(4, -20.0), np.full(4, 20.0)
    grid = np.stack(np.meshgrid(*[np.arange(-12.0, 13.0)] * 4, indexing="ij"), -1).reshape(-1, 4)
    grid = grid[cell.violation(grid) <= 0]
    centers = np.array([[0.0, 0, 0, 0], [3, -2, 1, 0], [9, 9, -9, 2]])

    def counted(tasks):
        calls.append(len(tasks))
        return together(tasks)

    method = replace(choose_method(cell), together=counted)
    task = SolverTask(
        cell, centers, np.ones(4), np.tile(low, (3, 1)), np.tile(high, (3, 1)),
        np.full(3, np.inf), domain=domain,
    )  # fmt: skip
    found, open_ = mixed_curved.solve_mixed_curved(task, lambda _: method)
    assert not open_.any()
    assert max(calls) > 3
    nearest = np.abs(grid[None] - centers[:, None]).sum(axis=2).min(axis=1)
    np.testing.assert_allclose(np.abs(found.points - centers).sum(axis=1), nearest, rtol=1e-4)
    np.testing.assert_allclose(found.proofs.bounds(task), nearest, rtol=1e-4)
    for i in range(3):
        alone, _ = mixed_curved.solve_mixed_curved(task.take(np.array([i])), lambda _: method)
        assert alone.points[0].tobytes() == found.points[i].tobytes()
