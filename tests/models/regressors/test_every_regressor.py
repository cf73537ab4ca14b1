"""What holds for every regressor with a range of predictions."""

import json

import numpy as np
import pytest

import pertinent
from pertinent import RangeClassifier
from pertinent.models.registry import lineage
from pertinent.models.regressors.registry import inner_model
from pertinent.setting.claims.negatives import shown_negatives
from pertinent.setting.question import NegativeQuestion
from pertinent.testing import CLEAR, assert_valid_in_any_company, probe_points, region_checks
from tests.models.regressors.examples import EVERY, LINEAR, TREES, X, fitted

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.matrix(2)]
#: Both ends, one of them, the other; every model gets one of these.
RANGES = ((85.0, 110.0), (105.0, None), (None, 95.0))


def range_for(name):
    return RANGES[list(EVERY).index(name) % 3]


def test_every_regressor_has_an_example():
    found = set()
    for name in EVERY:
        model = fitted(name)
        while model is not None:
            found |= {known for _, known in lineage(type(model))}
            model = inner_model(model)
    assert set(pertinent.supported_regressors()) <= found


#: Of the linear ones, which differ in how they are fitted, some.
SOME = [name for name in EVERY if name not in LINEAR or name in ("linear", "huber", "ransac")]


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", SOME)
def test_answers_lie_in_the_range_and_hold_when_checked(name):
    model, ends = fitted(name), range_for(name)
    ranged = RangeClassifier(model, *ends)
    points = probe_points(ranged, X, 200)
    for label in ranged.classes_.tolist():
        own = ranged.predict(points) == label
        assert pertinent.decision_region(ranged, label, -CLEAR).contains(points[own]).all()
        assert not pertinent.decision_region(ranged, label, CLEAR).contains(points[~own]).any()
    rows = X[::20]
    ready = pertinent.Explainer(model, data=X, steps_from=None)
    result = ready.explain(rows, target=ends)
    negative, own = result.negative, ranged.predict(rows)
    there = own == ranged.target
    assert 0 < there.sum() < len(rows)
    np.testing.assert_array_equal(negative.status == "already", there)
    assert (negative.status[~there] == "optimal").all()
    wanted = np.repeat(ranged.target, (~there).sum())
    assert_valid_in_any_company(ranged, negative.points[~there], wanted)
    assert (result.positive.status == "optimal").all()
    assert_valid_in_any_company(ranged, result.positive.points, own)
    # Recomputed from the model, the proofs show what is claimed.
    explainer, label = ready.towards(ends)
    place = np.repeat(explainer.setting.classes.tolist().index(label), (~there).sum())
    left = negative.take(np.flatnonzero(~there))
    shown = shown_negatives(explainer.setting, NegativeQuestion(place), left).few.bound
    np.testing.assert_allclose(shown, left.bound, rtol=1e-6)
    row = int(np.flatnonzero(~there)[0])
    checked = pertinent.check(json.loads(result[row].json()), model)
    assert checked.ok, [f for f in checked.findings if f.verdict not in ("holds", "taken as given")]


@pytest.mark.slow
@pytest.mark.parametrize("ends", RANGES)
@pytest.mark.parametrize("name", EVERY)
def test_common_checks(name, ends):
    for check in region_checks():
        check(RangeClassifier(fitted(name), *ends), X)


@pytest.mark.parametrize("name", LINEAR)
def test_a_linear_change_is_as_small_as_the_formula_says(name):
    """``|gap| / max_j |w_j| / cost_j``, in raw units."""
    model, cost = fitted(name), 1 / X.std(axis=0)
    rows = X[:5]
    found = pertinent.pertinent_negatives(model, rows, target=(97, 103), weights=cost)
    slope = np.array([model.predict(np.eye(3)[[j]])[0] for j in range(3)])
    slope = np.abs(slope - model.predict(np.zeros((1, 3)))[0])
    now = model.predict(rows)
    gap = np.maximum(97 - now, 0) + np.maximum(now - 103, 0)
    np.testing.assert_allclose(found.objective, gap / (slope / cost).max(), rtol=1e-6)


def corners(model, ranged):
    """Return, for each column, both sides of every cut and the columns' own numbers."""
    from pertinent.geometry.ensembles import as_ensemble

    region = pertinent.decision_region(ranged, ranged.target)
    trees = as_ensemble(region)
    if trees is not None:
        cuts = trees.ensemble.cuts
    else:
        cuts = [np.unique(model.tree_.threshold[model.tree_.feature == j]) for j in range(3)]
    return [np.concatenate([c, np.nextafter(c, np.inf), c + 1e-6 * abs(c)]) for c in cuts]


@pytest.mark.parametrize("name", ["tree", "forest", "boosting", "histograms", "xgboost"])
def test_no_corner_of_any_cell_is_nearer(name):
    """Trees are constant in cells, whose nearest points have the sample's number or an end."""
    model = fitted(name)
    ranged = RangeClassifier(model, 88.0, 104.0)
    ends = corners(model, ranged)
    for x in X[3:9:2]:
        found = pertinent.pertinent_negatives(model, x[None], target=(88.0, 104.0))
        axes = [np.append(own, value) for own, value in zip(ends, x, strict=True)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        inside = grid[ranged.predict(grid) == ranged.target]
        best = np.abs(inside - x).sum(axis=1).min()
        assert found.objective[0] <= best * (1 + 1e-9) + 1e-9
        assert found.objective[0] >= best - 1e-4 * (1 + best)


@pytest.mark.parametrize(
    "name", ["linear", "poisson", "logarithms", *TREES, "forest", "boosting", "xgboost"]
)
def test_an_end_belongs_to_the_range(name):
    """The prediction itself as an end: the sample is there already, and beyond it is not."""
    model = fitted(name)
    x = X[[model.predict(X).argsort()[60]]]
    value = float(model.predict(x)[0])
    after, before = (float(np.nextafter(value, end)) for end in (np.inf, -np.inf))
    for ends, status in (
        ((value, None), "already"), ((None, value), "already"), ((value, value), "already"),
        ((after, None), "optimal"), ((None, before), "optimal"),
    ):  # fmt: skip
        found = pertinent.pertinent_negatives(model, x, target=ends)
        assert found.status[0] == status, ends
        if status == "optimal":
            reached = model.predict(found.points)[0]
            assert reached > value if ends[1] is None else reached < value


@pytest.mark.parametrize("name", ["linear", "poisson", "tree", "forest", "xgboost"])
def test_samples_in_single_precision(name):
    model, rows = fitted(name), X[:12].astype(np.float32)
    found = pertinent.pertinent_negatives(model, rows, target=(85, 105))
    here = found.found
    assert found.points.dtype == np.float32
    assert here.any()
    ranged = RangeClassifier(model, 85, 105)
    assert_valid_in_any_company(ranged, found.points[here], np.repeat(ranged.target, here.sum()))


def test_all_linear_ones_are_listed():
    assert sum("linear_model" in name for name in pertinent.supported_regressors()) >= len(LINEAR)
