"""Linear models against the paper's formulation in CVXPY + SCS, SciPy's linprog, warm HiGHS.

Run with ``make bench NAME=linear``. Everything runs in this process, one thread, on the same models
and rows. Ours is end to end: regions, projection, the model's own predict on every point, the
certificate re-checked, the result assembled. The others solve the program only, a fresh problem
for each row as the paper's code does; HiGHS keeps its model and basis from row to row.

"excess" is the largest relative amount by which our objective lies above the other's; where the
other is inexact (SCS) its objective is taken as it is, if its point satisfies the constraints to
1e-9, and is otherwise compared with a slack of what it violates.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import pertinent
from benchmarks.bars import Bar, no_collecting, print_bars, seconds_per_row
from pertinent.geometry.region import Cell

MARGIN = 1e-9


def cvxpy_projection(cell: Cell, center, lower, upper, solver="SCS"):
    """The paper's program: a fresh CVXPY problem, min |x - c|_1 over the cell and the bounds."""
    import cvxpy as cp

    x = cp.Variable(cell.dim)
    rows = [cell.G @ x <= cell.h]
    for side, sign in ((lower, 1), (upper, -1)):
        finite = np.flatnonzero(np.isfinite(side))
        if len(finite):
            rows.append(sign * x[finite] >= sign * side[finite])
    problem = cp.Problem(cp.Minimize(cp.norm1(x - center)), rows)
    problem.solve(solver=solver)
    return x.value


def linprog_projection(cell: Cell, center, lower, upper):
    """The same by SciPy: x = b + p - n from the clipped center."""
    d, start = cell.dim, np.clip(center, lower, upper)
    found = linprog(
        np.ones(2 * d),
        A_ub=np.c_[cell.G, -cell.G],
        b_ub=cell.h - cell.G @ start,
        bounds=np.c_[np.zeros(2 * d), np.r_[upper - start, start - lower]],
        method="highs",
    )
    return start + found.x[:d] - found.x[d:] if found.status == 0 else None


def warm_highs(cell: Cell, centers: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds per row and objectives of HiGHS that keeps its model and basis."""
    import highspy

    m, d = cell.G.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * d, m
    lp.col_cost_, lp.col_lower_ = np.ones(2 * d), np.zeros(2 * d)
    lp.col_upper_ = np.full(2 * d, np.inf)
    lp.row_lower_, lp.row_upper_ = np.full(m, -np.inf), cell.h - cell.G @ centers[0]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(0, 2 * d * m + 1, m)
    lp.a_matrix_.index_ = np.tile(np.arange(m, dtype=np.int32), 2 * d)
    lp.a_matrix_.value_ = np.c_[cell.G, -cell.G].T.ravel()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("presolve", "off")
    solver.passModel(lp)
    solver.run()
    rows, open_ = np.arange(m, dtype=np.int32), np.full(m, -np.inf)
    values = []
    start = time.process_time()
    for center in centers:
        solver.changeRowsBounds(m, rows, open_, cell.h - cell.G @ center)
        solver.run()
        values.append(solver.getInfo().objective_function_value)
    return (time.process_time() - start) / len(centers), np.array(values)


def time_others(solve: Callable[[int], np.ndarray | None], rows: int) -> tuple[float, list]:
    """Median seconds of one solve, and the points."""
    solve(0)
    times, points = [], []
    for i in range(rows):
        start = time.process_time()
        points.append(solve(i))
        times.append(time.process_time() - start)
    return float(np.median(times)), points


def side_by_side(
    ours: Callable[[int], object], theirs: Callable[[int], object], rows: int
) -> tuple[float, float]:
    """Median seconds of both for a row, taken in turns: what slows the machine slows both."""
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for i in range(rows):
        for name, solve, often in (("ours", ours, 10), ("theirs", theirs, 1)):
            start = time.process_time()
            for _ in range(often):
                solve(i)
            times[name].append((time.process_time() - start) / often)
    return float(np.median(times["ours"])), float(np.median(times["theirs"]))


def excess(ours: np.ndarray, cells: list[Cell], centers: np.ndarray, points: list) -> float:
    """Largest relative amount by which our objective lies above a point's that others found."""
    worst = 0.0
    for value, cell, center, point in zip(ours, cells, centers, points, strict=False):
        if point is None:
            continue
        theirs = np.abs(point - center).sum()
        # A point that violates a row by v can be cheaper by v / max|g|.
        slack = max(0.0, float(((cell.G @ point - cell.h) / np.abs(cell.G).max(1)).max()))
        worst = max(worst, (value - theirs - slack * 1.01) / max(theirs, 1e-9))
    return max(0.0, worst)


@no_collecting()
def binary_box(rows: int = 10_000, slow_rows: int = 30) -> list[Bar]:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = LogisticRegression().fit(X, y)
    low, high = X.min(0), X.max(0)
    rules = pertinent.Constraints(bounds={i: (low[i], high[i]) for i in range(30)}, frozen=[0, 3])
    explainer = pertinent.Explainer(model, baseline=0.0, constraints=rules)
    many = np.tile(X, (rows // len(X) + 1, 1))[:rows]
    many = many + np.random.default_rng(0).normal(scale=0.1, size=many.shape)
    many = np.clip(many, low, high)
    ours = seconds_per_row(lambda: explainer.explain(many), rows)
    result = explainer.explain(many)
    own = model.predict(many)
    found_p, found_n = result.positive.found, result.negative.found
    valid = np.r_[
        model.predict(result.positive.points[found_p]) == own[found_p],
        model.predict(result.negative.points[found_n]) != own[found_n],
    ].mean()
    assert (result.positive.status_code != 3).all()
    assert (result.negative.status_code != 3).all()
    regions = {k: pertinent.decision_region(model, k, MARGIN).cells[0] for k in model.classes_}

    def both(i: int, solve: Callable) -> np.ndarray:
        """Phase 1, phase 2 and the negative, as three fresh problems."""
        x, label = many[i], own[i]
        frozen = np.isin(np.arange(30), [0, 3])
        lower, upper = np.where(frozen, x, low), np.where(frozen, x, high)
        below = np.maximum(lower, np.minimum(x, 0))
        above = np.minimum(upper, np.maximum(x, 0))
        first = solve(regions[label], np.zeros(30), below, above)
        if first is not None:
            off = np.abs(first) < 1e-6
            solve(regions[label], x, np.where(off, 0, below), np.where(off, 0, above))
        return solve(regions[1 - label], x, lower, upper)

    cells = [regions[1 - k] for k in own]
    bars = []
    for name, solve, needed in (
        ("CVXPY + SCS", cvxpy_projection, 2000.0),
        ("scipy linprog", linprog_projection, None),
    ):
        other, points = time_others(lambda i, solve=solve: both(i, solve), slow_rows)
        worst = excess(result.negative.objective, cells, many, points)
        case = "binary linear, 10,000 rows, box, both"
        bars.append(Bar(case, ours * 1e6, name, other * 1e6, needed, valid, worst))
    case = "one single row, prepared Explainer, both"
    single, scs = side_by_side(
        lambda i: explainer.explain(many[i : i + 1]), lambda i: both(i, cvxpy_projection), slow_rows
    )
    worst = bars[0].worst_excess
    bars.append(Bar(case, single * 1e6, "CVXPY + SCS", scs * 1e6, 20.0, valid, worst))
    return bars


def many_classes(case, model, X, target, slow_rows, needed, warm_needed=None) -> list[Bar]:
    rows = len(X)
    ours = seconds_per_row(lambda: pertinent.pertinent_negatives(model, X, target=target), rows)
    found = pertinent.pertinent_negatives(model, X, target=target)
    valid = (model.predict(found.points) == target).mean()
    cell = pertinent.decision_region(model, target, MARGIN).cells[0]
    free = np.full(cell.dim, -np.inf), np.full(cell.dim, np.inf)
    bars = []
    for name, solve, bar in (
        ("CVXPY + SCS", cvxpy_projection, needed),
        ("scipy linprog", linprog_projection, None),
    ):
        other, points = time_others(lambda i, solve=solve: solve(cell, X[i], *free), slow_rows)
        worst = excess(found.objective, [cell] * rows, X, points)
        bars.append(Bar(case, ours * 1e6, name, other * 1e6, bar, valid, worst))
    warm, values = warm_highs(cell, X[: slow_rows * 5])
    worst = float(((found.objective[: len(values)] - values) / np.maximum(values, 1e-9)).max())
    worst = max(0.0, worst)
    bars.append(Bar(case, ours * 1e6, "warm HiGHS", warm * 1e6, warm_needed, valid, worst))
    compiled = pertinent.Options(engine="compiled")
    fast = seconds_per_row(
        lambda: pertinent.pertinent_negatives(model, X, target=target, options=compiled), rows
    )
    note = "(extra 'fast')"
    bars.append(Bar(case, fast * 1e6, "CVXPY + SCS", bars[0].other_us, None, valid, worst, note))
    return bars


def digits(rows: int = 2000) -> list[Bar]:
    X, y = load_digits(return_X_y=True)
    X = X / 16
    model = LogisticRegression(max_iter=1000).fit(X, y)
    others = X[model.predict(X) != 3]
    many = np.tile(others, (rows // len(others) + 1, 1))[:rows]
    return many_classes("digits softmax K=10, negatives", model, many, 3, 40, 300.0, 5.0)


def hundred_classes(rows: int = 300) -> list[Bar]:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(100, 500)) * 0.35
    X = means[rng.integers(100, size=2000)] + rng.normal(size=(2000, 500))
    model = LogisticRegression()
    # A linear model with known coefficients: nearest class mean.
    model.coef_, model.intercept_ = means, -0.5 * (means**2).sum(1)
    model.classes_, model.n_features_in_ = np.arange(100), 500
    some = X[model.predict(X) != 3][:rows]
    return many_classes("K=100, d=500, negatives", model, some, 3, 12, 200.0)


def main() -> int:
    warnings.filterwarnings("ignore", module="cvxpy|scs")
    bars = [*binary_box(), *digits(), *hundred_classes()]
    return print_bars("Linear models", bars)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
