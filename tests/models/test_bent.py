"""Linear models behind steps that bend single columns: logarithms, powers, quantiles."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import LinearSVC

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.geometry.task import Task
from pertinent.models.steps.monotone import FAR, Bent, asked, power, quantiles
from pertinent.proofs.cases.bent import BentProofs
from pertinent.solvers.search.bent import moving, parts, search
from pertinent.testing import parametrize_with_region_checks

X, y = load_iris(return_X_y=True)
TWO = np.ascontiguousarray(X[:, 2:])


def powers(last, labels, data=TWO):
    return make_pipeline(PowerTransformer(), last).fit(data, labels)


def steps(kind):
    return {
        "log1p": FunctionTransformer(np.log1p),
        "cbrt": FunctionTransformer(np.cbrt),
        "yeo-johnson": PowerTransformer(),
        "box-cox": PowerTransformer("box-cox"),
        "quantiles": QuantileTransformer(n_quantiles=10),
        "normal quantiles": QuantileTransformer(n_quantiles=10, output_distribution="normal"),
        "both": make_union(PowerTransformer(), StandardScaler()),
        "one after the other": make_pipeline(
            FunctionTransformer(np.log1p), StandardScaler(), PowerTransformer()
        ),
    }[kind]


#: Steps, last step, and whether there are two classes.
CASES = [
    ("yeo-johnson", LogisticRegression(), True),
    ("yeo-johnson", LinearDiscriminantAnalysis(), False),
    ("cbrt", LinearSVC(), False),
    ("quantiles", LogisticRegression(), True),
]


@pytest.mark.matrix(18)
@parametrize_with_region_checks(
    [
        (make_pipeline(steps(kind), last).fit(TWO, y == 2 if two else y), TWO)
        for kind, last, two in CASES
    ]
)
def test_common(model, X, check):
    check(model, X)


@pytest.mark.parametrize(
    "kind",
    ["log1p", "box-cox", "quantiles", "normal quantiles", "both", "one after the other"],
)
@pytest.mark.parametrize("two", [True, False], ids=["two", "three"])
@pytest.mark.matrix(6)
def test_nothing_on_a_grid_is_closer(kind, two):
    """Every point of a fine grid of raw numbers is asked about: none is closer than the bound."""
    labels = y == 2 if two else y
    model = make_pipeline(steps(kind), LogisticRegression()).fit(TWO, labels)
    samples = TWO[[3, 60, 77, 110, 140]]
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.status == "optimal").all()
    assert (model.predict(found.points) == found.target).all()
    first, second = np.meshgrid(np.linspace(0.05, 8, 321), np.linspace(0.02, 3.5, 321))
    grid = np.column_stack([first.ravel(), second.ravel()])
    other = model.predict(grid)[:, None] != model.predict(samples)
    cost = np.where(other, np.abs(grid[:, None] - samples).sum(axis=2), np.inf).min(axis=0)
    assert (found.bound <= cost + 1e-9).all()
    assert (found.objective <= cost + 1e-9).all()
    assert (found.objective - found.bound <= 1e-4 * found.objective).all()


def test_single_numbers_are_the_inverse():
    """Of one number the nearest other class begins where its score is 0: the known inverse."""
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression())
    model.fit(TWO[:, :1], y == 2)
    last = model[-1]
    edge = np.expm1(-last.intercept_[0] / last.coef_[0, 0])
    found = pertinent.pertinent_negatives(model, TWO[::10, :1])
    assert found.points[:, 0] == pytest.approx(edge, rel=1e-6)
    assert (found.status == "optimal").all()


@pytest.mark.parametrize("step", [PowerTransformer(), PowerTransformer(standardize=False),
    PowerTransformer("box-cox"), QuantileTransformer(n_quantiles=20),
    QuantileTransformer(n_quantiles=9, output_distribution="normal")])  # fmt: skip
def test_columns_are_evaluated_as_scikit_learn_does(step):
    step.fit(X)
    box_cox = getattr(step, "method", "") == "box-cox"
    least = 1 / FAR if box_cox else -FAR
    near = step.quantiles_.ravel() if hasattr(step, "quantiles_") else X.ravel()
    x = np.concatenate([np.linspace(-3, 12, 301), near, near + 1e-12])
    x = np.abs(x) + 1e-3 if box_cox else x
    for k in range(X.shape[1]):
        ours = quantiles(step, k) if hasattr(step, "quantiles_") else power(step, k, least)
        assert ours(x) == pytest.approx(asked(step, k, least)(x), rel=1e-12, abs=1e-12)


def test_categories_grids_and_rules_beside_bent_columns():
    rng = np.random.default_rng(0)
    size = rng.lognormal(3, 1, 300).round()
    table = pd.DataFrame({"size": size.astype(int), "kind": rng.choice(list("abc"), 300)})
    labels = np.log1p(size) + 2.0 * (table["kind"] == "a") > 3.5
    columns = make_column_transformer(
        (FunctionTransformer(np.log1p), ["size"]), (OneHotEncoder(), ["kind"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(table, labels)
    explainer = pertinent.Explainer(model, data=table)
    explained = explainer.explain(table.head(6))
    assert (explained.negative.status == "optimal").all()
    points = explained.negative.points
    assert points["size"].dtype == table["size"].dtype
    assert (model.predict(points) == explained.negative.target).all()
    # Every whole number and every kind is asked about: none costs less.
    sizes, kinds = np.arange(table["size"].min(), table["size"].max() + 1), list("abc")
    every = pd.DataFrame([(s, k) for s in sizes for k in kinds], columns=table.columns)
    said, weight = model.predict(every), explainer.setting.weights[0]
    for i in range(6):
        other = every[said != model.predict(table.iloc[[i]])[0]]
        moved = np.abs(other["size"] - table["size"][i]) * weight
        cost = moved + (other["kind"] != table["kind"][i])
        assert explained.negative.objective[i] == pytest.approx(cost.min(), rel=1e-9)
    assert pertinent.check(explained[0].json(), model).verdict == "holds"
    held = pertinent.Constraints(frozen=["kind"], bounds={"size": (0, 40)}, max_changes=1)
    found = pertinent.pertinent_negatives(model, table.head(6), constraints=held)
    assert set(found.status) <= {"optimal", "infeasible"}


def test_every_question_is_answered_and_holds():
    model = powers(LogisticRegression(), y == 2, X)
    samples, middle = X[[60, 77, 110]], np.median(X, axis=0)
    for method in ("two-phase", "strict", "exact", "sufficient"):
        found = pertinent.pertinent_positives(model, samples, method, middle, between=True, data=X)
        assert (found.status == "optimal").all(), method
        assert (model.predict(found.points) == model.predict(samples)).all()
    for one in pertinent.Explainer(model, data=X).explain(samples):
        assert one.ranges
        assert pertinent.check(one.json(), model).verdict == "holds"


@pytest.mark.slow
def test_ranges_end_where_the_class_does():
    model = powers(LogisticRegression(), y == 2, X)
    explained = pertinent.Explainer(model).explain(X[[60, 100]])
    for i, one in enumerate(explained):
        for name, (low, high) in one.ranges.items():
            column = int(name[1:])
            for end in (low, high):
                if abs(end) < 100:
                    point = explained.negative.points[[i]].copy()
                    point[0, column] = end
                    assert model.predict(point)[0] == explained.negative.target[i]
                    point[0, column] += 1e-3 * np.sign(end - explained.negative.points[i, column])
                    assert model.predict(point)[0] != explained.negative.target[i]


@pytest.mark.slow
def test_predictions_in_a_range_behind_powers():
    model = make_pipeline(PowerTransformer(), Ridge()).fit(X[:, :2], X[:, 2])
    explained = pertinent.Explainer(model).explain(X[:3, :2], target=(3.0, None))
    assert (explained.negative.status == "optimal").all()
    assert (model.predict(explained.negative.points) >= 3.0).all()
    assert pertinent.check(explained[0].json(), model).verdict == "holds"


@pytest.mark.parametrize(
    ("last", "ask", "match"),
    [
        (QuadraticDiscriminantAnalysis(), {}, "decides by squares"),
        (LogisticRegression(), {"min_proba": 0.6}, "softmax probability"),
        (
            LogisticRegression(),
            {"plausibility": pertinent.Plausibility(TWO, y, n_components=1)},
            "density",
        ),
    ],
    ids=["quadratic", "softmax", "density"],
)
def test_curved_rows_beside_are_refused_with_what_to_do(last, ask, match):
    with pytest.raises(UnsupportedModelError, match=match) as error:
        pertinent.pertinent_negatives(powers(last, y), TWO[:2], **ask)
    assert "in its units" in str(error.value)


# -- Proofs ----------------------------------------------------------------------------------


def test_a_search_that_errs_proves_nothing_wrong(monkeypatch):
    """Planted: numbers are seen at their ends and far away only, and nothing may be missed."""
    model = powers(LogisticRegression(), y == 2)
    samples = TWO[[60, 77, 110, 140]]
    truth = pertinent.pertinent_negatives(model, samples)
    coarse = lambda self, low, high, center: np.unique([low, center, center + 9, high])  # noqa: E731
    monkeypatch.setattr(parts.Number, "first", coarse)
    monkeypatch.setattr(search._Search, "_refine", lambda *_: (0.0, False, None))
    monkeypatch.setattr(moving.Places, "moved_back", lambda self, placed, i: placed.point)
    found = pertinent.pertinent_negatives(model, samples)
    assert (found.bound <= truth.objective * (1 + 1e-9)).all()
    worse = found.objective > truth.objective * (1 + 2e-4)
    assert worse.any()
    assert (found.status[worse] == "feasible").all()


def test_a_point_is_moved_back_column_by_column(monkeypatch):
    """A curve is asked about its own column, not once for each of all others."""
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(200, 8))
    model = powers(LogisticRegression(), np.log(X) @ rng.normal(size=8) > 0, X)
    asked, within = [], []
    bent, moved_back = Bent.__call__, moving.Places.moved_back

    def counted(self, placed, i):
        before = len(asked)
        point = moved_back(self, placed, i)
        within.append((len(asked) - before, len(self.numbers)))
        return point

    monkeypatch.setattr(Bent, "__call__", lambda self, z: asked.append(1) or bent(self, z))
    monkeypatch.setattr(moving.Places, "moved_back", counted)
    found = pertinent.pertinent_negatives(model, X[:3])
    assert (found.status == "optimal").all()
    assert within
    assert all(count <= (moving.BENT_ROUNDS + 2) * numbers for count, numbers in within)


def test_a_point_stays_where_it_is_when_the_time_is_over(monkeypatch):
    model = powers(LogisticRegression(), y == 2)
    free = pertinent.pertinent_negatives(model, TWO[[60]])
    kept, at = [], moving.Places.at
    monkeypatch.setattr(moving, "is_over", lambda: True)
    monkeypatch.setattr(
        moving.Places, "at", lambda self, point, near=None: kept.append(near) or at(self, point)
    )
    late = pertinent.pertinent_negatives(model, TWO[[60]])
    assert kept
    assert all(near is None for near in kept)
    assert late.objective[0] >= free.objective[0]
    assert model.predict(late.points)[0] != model.predict(TWO[[60]])[0]


def test_no_multipliers_or_caps_raise_a_bound_above_the_truth():
    """Forged leaves: whatever they hold, what they show is true."""
    model = powers(LogisticRegression(), y == 2)
    samples = TWO[[60, 77, 110, 140]]
    truth = pertinent.pertinent_negatives(model, samples)
    rng, seen = np.random.default_rng(0), 0.0
    with_proofs = [
        block.proofs
        for part in truth.certificates
        for block in part.certificate.blocks
        if isinstance(block.proofs, BentProofs)
    ]
    assert with_proofs
    for proofs in with_proofs:
        for k in (False, True):
            part = samples[np.asarray(model.predict(samples) == k)]
            if len(part) != len(proofs):
                continue
            best = truth.objective[model.predict(samples) == k]
            task = Task.of(pertinent.decision_region(model, not k).cells[0], part, np.ones(2))
            for _ in range(20):
                forged = replace(
                    proofs,
                    multipliers=proofs.multipliers * rng.lognormal(0, 2, proofs.multipliers.shape),
                    cap=proofs.cap * rng.lognormal(0, 1, len(proofs)),
                    ray=rng.random(len(proofs.ray)) < 0.2,
                )
                bound = forged.bounds(task)
                assert (bound <= best * (1 + 1e-9)).all()
                seen = max(seen, float(bound.max()))
    assert seen > 0


def test_a_stored_answer_that_was_moved_does_not_hold():
    model = powers(LogisticRegression(), y == 2)
    one = pertinent.Explainer(model).explain(TWO[[60]])[0]
    text = one.json()
    assert pertinent.check(text, model).verdict == "holds"
    stored = json.loads(text)
    point = float(one.summary()["negative"]["values"][0]["value"])
    moved = json.loads(text.replace(repr(point), repr(point + 0.5)))
    assert moved != stored
    assert pertinent.check(json.dumps(moved), model).verdict != "holds"
