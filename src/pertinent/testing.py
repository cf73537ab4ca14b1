"""Checks that hold for every supported model, for use in our tests and in those of adapters.

An adapter registered with `pertinent.register_model` can be put to the same test as our own::

    @parametrize_with_region_checks([(fitted_model, X)])
    def test_common(model, X, check):
        check(model, X)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

import pertinent
from pertinent.exceptions import PertinentError
from pertinent.geometry.arrays import FloatArray, Foreign
from pertinent.models import decision_region, model_classes
from pertinent.models.registry import predicted_labels
from pertinent.setting.claims.negatives import shown_negatives
from pertinent.setting.claims.positives import shown_positives
from pertinent.setting.question import NegativeQuestion
from pertinent.setting.results import Negatives, Positives
from pertinent.summary.words import Said

Check = Callable[[Foreign, FloatArray], None]

#: Points this far inside, in units of each row's slope, are told apart by every model.
CLEAR = 1e-7


def region_checks() -> Iterator[Check]:
    """Yield every check; each takes a fitted model and an array of samples."""
    yield check_region_agrees_with_predict
    yield check_positives_are_valid
    yield check_negatives_are_valid
    yield check_targets_are_reached
    yield check_constraints_are_obeyed
    yield check_certificates
    yield check_nothing_is_closer
    yield check_independent_of_batches
    yield check_bad_input_is_named


def parametrize_with_region_checks(cases: Sequence[tuple[Foreign, FloatArray]]) -> Any:
    """Return a pytest decorator that runs a test for every (model, X) and every check."""
    import pytest

    names = [
        f"{type(model).__name__}-{len(model_classes(model))}x{X.shape[1]}" for model, X in cases
    ]
    by_case = pytest.mark.parametrize(("model", "X"), cases, ids=names)
    by_check = pytest.mark.parametrize("check", list(region_checks()), ids=lambda c: c.__name__)
    return lambda function: by_check(by_case(function))


def probe_points(model: Foreign, X: FloatArray, count: int = 2000, seed: int = 0) -> FloatArray:
    """Return samples, noisy samples, far points, and points close to the decision boundary.

    The last are found by bisection between samples of different classes.
    """
    rng = np.random.default_rng(seed)
    spread = X.std(axis=0) + 1e-3
    base = X[rng.integers(len(X), size=count)]
    noisy = base + rng.normal(size=base.shape) * spread * rng.choice([0.1, 1, 10], (count, 1))
    one, two = base.copy(), noisy.copy()
    labels = predicted_labels(model, one)
    for _ in range(30):
        middle = (one + two) / 2
        same = predicted_labels(model, middle) == labels
        one[same], two[~same] = middle[same], middle[~same]
    return np.vstack([base, noisy, one, two])


def check_region_agrees_with_predict(model: Foreign, X: FloatArray) -> None:
    """Check that a point lies in the region of its prediction, and clearly inside no other."""
    points = probe_points(model, X)
    predicted = predicted_labels(model, points)
    for label in model_classes(model).tolist():
        own = np.asarray(predicted == label)
        wide = decision_region(model, label, margin=-CLEAR)
        narrow = decision_region(model, label, margin=CLEAR)
        assert wide.contains(points[own]).all(), f"{label!r} predicted outside its region"
        assert not narrow.contains(points[~own]).any(), f"{label!r} not predicted in its region"


def check_positives_are_valid(model: Foreign, X: FloatArray) -> None:
    """Check that positives get the sample's own class, and that turned off means the baseline."""
    samples = _sample(X)
    for between in (False, True):
        found = pertinent.pertinent_positives(model, samples, baseline=X.mean(0), between=between)
        _assert_sound(found)
        here = found.found
        assert_valid_in_any_company(
            model, found.points[here], predicted_labels(model, samples)[here]
        )
        off = here[:, None] & ~found.kept
        assert (found.values[off] == np.broadcast_to(X.mean(0), samples.shape)[off]).all()
        assert (found.closeness_bound[here] <= found.closeness[here] + 1e-9).all()
        if between:
            low, high = np.minimum(samples, X.mean(0)), np.maximum(samples, X.mean(0))
            assert ((found.values >= low) & (found.values <= high))[here].all()


def check_negatives_are_valid(model: Foreign, X: FloatArray) -> None:
    """Check that negatives get another class, and the one they claim."""
    samples = _sample(X)
    found = pertinent.pertinent_negatives(model, samples)
    _assert_sound(found)
    assert found.found.all(), found.reason[~found.found][:3]
    assert (found.target != predicted_labels(model, samples)).all()
    assert_valid_in_any_company(model, found.points, found.target)


def assert_valid_in_any_company(model: Foreign, points: Any, labels: Any) -> None:
    """Assert that points are predicted as ``labels`` alone and in any batch, order or layout."""
    n = len(points)
    if not n:  # e.g. a class that is predicted nowhere
        return
    backwards = np.arange(n)[::-1]
    said = {
        "in a batch": predicted_labels(model, points),
        "backwards": predicted_labels(model, points[backwards])[backwards],
        "by columns": predicted_labels(model, np.asfortranarray(points)),
        "alone": [label for i in range(n) for label in predicted_labels(model, points[i : i + 1])],
        "in threes": [
            label for i in range(0, n, 3) for label in predicted_labels(model, points[i : i + 3])
        ],
        "in two threads": _in_two_threads(model, points),
    }
    for company, predicted in said.items():
        wrong = np.flatnonzero(np.asarray(predicted) != labels)
        assert not len(wrong), f"predicted otherwise {company}: {len(wrong)} of {n} points"


def _in_two_threads(model: Foreign, points: Any) -> list[Any]:
    """Return the predictions of both halves, made at the same time."""
    halves = points[: len(points) // 2], points[len(points) // 2 :]
    with ThreadPoolExecutor(2) as threads:
        parts = threads.map(partial(predicted_labels, model), (h for h in halves if len(h)))
        return [label for part in parts for label in part]


def check_targets_are_reached(model: Foreign, X: FloatArray) -> None:
    """Check that a given target is what the negative is predicted as."""
    samples = _sample(X, 20)
    predicted = predicted_labels(model, samples)
    for label in model_classes(model).tolist():
        rows = np.asarray(predicted != label)
        if rows.any():
            found = pertinent.pertinent_negatives(model, samples[rows], target=label)
            _assert_sound(found)
            points = found.points[found.found]
            assert_valid_in_any_company(model, points, np.repeat(label, len(points)))


def check_constraints_are_obeyed(model: Foreign, X: FloatArray) -> None:
    """Check that frozen features keep their value, and that bounds and directions hold."""
    samples = _sample(X)
    rules = pertinent.Constraints(
        frozen=[0],
        bounds={i: (float(X[:, i].min()), float(X[:, i].max())) for i in range(1, X.shape[1])},
        increase_only=[1],
    )
    for found in (
        pertinent.pertinent_negatives(model, samples, constraints=rules),
        pertinent.pertinent_positives(model, samples, constraints=rules),
    ):
        _assert_sound(found)
        here = found.found
        points, own = found.values[here], samples[here]
        assert (points[:, 0] == own[:, 0]).all()
        assert (points[:, 1] >= own[:, 1]).all()
        assert ((points >= X.min(0)) & (points <= X.max(0)))[:, 1:].all()


def check_certificates(model: Foreign, X: FloatArray) -> None:
    """Check that certificates prove the bounds reported, recomputed from the model."""
    samples = _sample(X)
    explainer = pertinent.Explainer(model, data=X)
    result = explainer.explain(samples)
    shown = shown_negatives(explainer.setting, NegativeQuestion(), result.negative)
    _assert_proved(result.negative.bound, shown.few.bound)
    shown = shown_positives(explainer.setting, explainer.question, result.positive)
    _assert_proved(result.positive.bound, shown.few.bound)
    _assert_proved(result.positive.closeness_bound, shown.near.bound)


def check_nothing_is_closer(model: Foreign, X: FloatArray, tries: int = 4000) -> None:
    """Check that no random point nearer than the bound is predicted as another class.

    An L1 ball is sampled by sparse directions, where the nearest points of other classes are.
    """
    samples = _sample(X, 10)
    found = pertinent.pertinent_negatives(model, samples)
    rng = np.random.default_rng(0)
    d = X.shape[1]
    for x, bound in zip(samples, found.bound, strict=True):
        active = rng.random((tries, d)) < rng.choice([1.5 / d, 0.5, 1.0], (tries, 1))
        steps = rng.exponential(size=(tries, d)) * rng.choice([-1.0, 1.0], (tries, d)) * active
        size = np.abs(steps).sum(axis=1, keepdims=True)
        reach = bound * (1 - 1e-6) * rng.random((tries, 1)) ** (1 / max(1, d))
        near = x + steps / np.where(size > 0, size, 1.0) * reach
        assert (predicted_labels(model, near) == predicted_labels(model, x[None])[0]).all()


def check_independent_of_batches(model: Foreign, X: FloatArray) -> None:
    """Check that batch size and number of jobs do not change a bit of the answer."""
    samples = _sample(X, 14)
    whole = pertinent.pertinent_negatives(model, samples)
    kept = pertinent.pertinent_positives(model, samples, between=True)
    for batch_size, n_jobs in ((1, None), (5, 2)):
        again = pertinent.pertinent_negatives(model, samples, batch_size=batch_size, n_jobs=n_jobs)
        assert again.values.tobytes() == whole.values.tobytes()
        assert again.bound.tobytes() == whole.bound.tobytes()
        positive = pertinent.pertinent_positives(
            model, samples, between=True, batch_size=batch_size, n_jobs=n_jobs
        )
        assert positive.values.tobytes() == kept.values.tobytes()


def check_bad_input_is_named(model: Foreign, X: FloatArray) -> None:
    """Check that bad input is refused with an error of ours, not one from inside a solver."""
    holed = X[:3].copy()
    holed[1, 0] = np.nan
    ask = pertinent.pertinent_negatives
    _assert_refused(lambda: ask(model, holed), "missing")
    _assert_refused(lambda: ask(model, X[:3, :-1]), "features")
    _assert_refused(lambda: ask(model, X[0]), "two dimensions")
    _assert_refused(lambda: ask(model, X[:3], target="no such label"), "label")
    _assert_refused(lambda: ask(model, X[:3], weights=np.zeros(X.shape[1])), "positive")
    unknown = pertinent.Constraints(frozen=["no such feature"])
    _assert_refused(lambda: ask(model, X[:3], constraints=unknown), "feature")
    if hasattr(model, "get_params"):
        _assert_refused(lambda: ask(clone(model), X[:3]), "fit")


def _assert_refused(call: Callable[[], object], word: str) -> None:
    message = None
    try:
        call()
    except PertinentError as error:
        message = str(error)
    assert message is not None, f"bad input was accepted; expected an error with {word!r}"
    assert word in message, f"expected the word {word!r} in: {message}"


def _assert_sound(found: Positives | Negatives) -> None:
    """Check that points exist where the status says so, and bounds never exceed objectives."""
    here = found.found
    assert np.isfinite(found.values[here]).all()
    assert np.isnan(found.values[~here]).all()
    assert (found.status != Said.FAILED).all(), found.reason[found.status == Said.FAILED][:3]
    assert all(found.reason[i] for i in np.flatnonzero(~here))
    assert (found.bound[here] <= found.objective[here]).all()
    assert np.isinf(found.bound[found.status == Said.INFEASIBLE]).all()


def _assert_proved(reported: FloatArray, proved: FloatArray) -> None:
    slack = 1e-9 * (1.0 + np.where(np.isfinite(reported), np.abs(reported), 0.0))
    assert (proved >= reported - slack).all() or np.array_equal(proved, reported)


def _sample(X: FloatArray, count: int = 20) -> FloatArray:
    """Return rows spread evenly over the data (which may be sorted by class)."""
    rows = np.unique(np.linspace(0, len(X) - 1, count).astype(int))
    return np.ascontiguousarray(X[rows])
