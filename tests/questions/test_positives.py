"""Strict, exact and sufficient positives: rules, refusals, proofs, batches."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.geometry.task import Task
from pertinent.proofs import FewestProofs, StrictProofs, refutes
from pertinent.questions.strict import next_best
from pertinent.questions.supports.cover import hard_cover
from pertinent.questions.supports.subsets import Budget, Gains, find_supports, smallest_size
from pertinent.setting.question import PositiveQuestion, data_ranges
from tests.shown import proved_of_negatives, proved_of_positives


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return LogisticRegression().fit(X, y), X


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return LogisticRegression(max_iter=500).fit(X / 16, y), X / 16


def fewest_by_milp(gain, need):
    """Return min |z| with gain z >= need, z in {0, 1}; None if there is none."""
    d = gain.shape[1]
    found = milp(
        np.ones(d),
        constraints=LinearConstraint(gain, lb=need),
        integrality=np.ones(d),
        bounds=Bounds(0, 1),
    )
    return round(found.fun) if found.success else None


def score_gains(model, x, baseline):
    """Return what each own value adds to the lead over each rival, and what is missing of it."""
    W, b = model.coef_, model.intercept_
    if len(W) == 1:
        W, b = np.vstack([-W, W]) / 2, np.append(-b, b) / 2
    own = int(model.predict(x[None])[0])
    rivals = np.arange(len(W)) != own
    lead = W[own] - W[rivals]
    return lead * (x - baseline), -(lead @ baseline + b[own] - b[rivals]) + 1e-9


def test_binary_strict_equals_the_milp(cancer):
    model, X = cancer
    baseline = np.full(30, 0.2)
    samples = X[::4]
    found = pertinent.pertinent_positives(model, samples, method="strict", baseline=baseline)
    for x, size in zip(samples, found.objective, strict=True):
        assert size == fewest_by_milp(*score_gains(model, x, baseline))
    assert (found.status == "optimal").all()


def test_multi_class_strict_equals_the_milp(digits):
    model, X = digits
    samples, baseline = X[:30], X.mean(axis=0)
    found = pertinent.pertinent_positives(model, samples, method="strict", baseline=baseline)
    for x, size in zip(samples, found.objective, strict=True):
        assert size == fewest_by_milp(*score_gains(model, x, baseline))
    assert (found.bound == found.objective).all()


def test_nothing_is_kept_where_the_intercept_suffices(cancer):
    model, X = cancer
    own = model.predict(np.zeros((1, 30)))
    found = pertinent.pertinent_positives(model, X[model.predict(X) == own][:5], method="strict")
    assert found.trivial.all()
    assert (found.objective == 0).all()
    assert not found.kept.any()


def test_no_strict_positive_exists_and_the_fallback_says_so(cancer):
    model, X = cancer
    far = X[model.predict(X) != model.predict(np.zeros((1, 30)))][:6]
    # Bounds that exclude the samples' own values: nothing may be kept.
    rules = pertinent.Constraints(
        bounds={j: (None, None) if j else (-1e-9, 1e-9) for j in range(30)}
    )
    margin = float(np.abs(model.decision_function(far)).max() / np.abs(model.coef_).max()) * 2
    found = pertinent.pertinent_positives(
        model, far, method="strict", constraints=rules, margin=margin
    )
    assert (found.status == "infeasible").all()
    assert np.isinf(found.bound).all()
    assert all("predicted as" in words for words in found.reason)
    assert np.isnan(found.points).all()
    other = pertinent.pertinent_positives(
        model, far, method="strict", constraints=rules, margin=margin, fallback=True
    )
    assert other.fallback.all()
    assert (other.status == "feasible").all()
    assert (model.predict(other.points) == model.predict(far)).all()
    two = pertinent.pertinent_positives(model, far, constraints=rules, margin=margin)
    np.testing.assert_array_equal(other.points, two.points)


def test_a_frozen_feature_stays_on_and_a_contradiction_is_named(cancer):
    model, X = cancer
    rules = pertinent.Constraints(frozen=[3])
    found = pertinent.pertinent_positives(model, X[:10], method="strict", constraints=rules)
    assert found.kept[:, 3].all()
    assert (found.points[:, 3] == X[:10, 3]).all()
    rules = pertinent.Constraints(bounds={3: (50.0, 60.0)})
    found = pertinent.pertinent_positives(model, X[:2], method="strict", constraints=rules)
    assert (found.status == "infeasible").all()
    assert "x3" in found.reason[0]


@pytest.mark.parametrize("method", ["strict", "exact", "sufficient"])
def test_answers_do_not_depend_on_the_batch(digits, method):
    model, X = digits
    samples = X[[1, 5, 9, 17]]
    kwargs = {"method": method, "between": True, "data": X, "weights": np.ones(64)}
    if method == "sufficient":
        kwargs["constraints"] = pertinent.Constraints(bounds={j: (0.4, 0.6) for j in range(64)})
    whole = pertinent.pertinent_positives(model, samples, **kwargs)
    for size in (1, 3):
        again = pertinent.pertinent_positives(model, samples, batch_size=size, **kwargs)
        assert again.values.tobytes() == whole.values.tobytes()
        np.testing.assert_array_equal(again.bound, whole.bound)
        assert again.method == whole.method == method


def test_exact_needs_no_more_than_two_phase_and_sometimes_fewer(digits):
    model, X = digits
    samples = X[:20]
    exact = pertinent.pertinent_positives(model, samples, method="exact", between=True)
    two = pertinent.pertinent_positives(model, samples, between=True)
    assert (exact.status == "optimal").all()
    assert (exact.objective <= two.kept.sum(axis=1)).all()
    assert (exact.objective < two.kept.sum(axis=1)).any()


def test_a_proof_that_claims_too_much_is_refused(digits):
    model, X = digits
    found = pertinent.pertinent_positives(model, X[:8], method="strict", baseline=0.3)
    for part in found.certificates:
        region = pertinent.decision_region(model, model.classes_[part.key[1]], 1e-9)
        (block,) = part.certificate.blocks
        open_ = np.full((len(part.rows), 64), np.inf)
        args = (region.cells[0], X[:8][part.rows], np.ones(64), -open_, open_)
        np.testing.assert_array_equal(block.proofs.bounds(Task.of(*args)), found.bound[part.rows])
        more = StrictProofs(block.proofs.baseline, block.proofs.size + 1)
        assert (more.bounds(Task.of(*args)) == 0).all()


def test_a_proof_of_closeness_that_claims_too_much_is_refused(digits):
    model, X = digits
    found = pertinent.pertinent_positives(
        model, X[:12], method="exact", baseline=X.mean(axis=0), constraints=_unit_box()
    )
    checked = 0
    for part in found.closeness_certificates:
        region = pertinent.decision_region(model, model.classes_[part.key[1]], 1e-9)
        (block,) = part.certificate.blocks
        proofs = block.proofs
        args = (region.cells[0], X[:12][part.rows], np.ones(64))
        ends = np.zeros((len(part.rows), 64)), np.ones((len(part.rows), 64))
        searched = (proofs.value > 0) & (proofs.size > 1)
        more = FewestProofs(proofs.size, proofs.value * 1.001, proofs.arguments, "cost")
        task = Task(*args, *ends, rest=np.tile(X.mean(axis=0), (len(part.rows), 1)))
        assert (more.bounds(task)[searched] == 0).all()
        checked += int(searched.sum())
    assert checked


def _unit_box():
    return pertinent.Constraints(bounds={j: (0.0, 1.0) for j in range(64)})


def test_alternatives_of_exact_positives(digits):
    model, X = digits
    found = pertinent.pertinent_positives(
        model, X[:6], method="exact", between=True, alternatives=3
    )
    for i, others in enumerate(found.alternatives):
        if found.trivial[i]:
            assert others == ()
            continue
        sizes = [found.objective[i], *(a.objective for a in others)]
        assert sizes == sorted(sizes)
        assert all(a.proved for a in others)
        listed = {found.kept[i].tobytes(), *(a.features.tobytes() for a in others)}
        assert len(listed) == 4
        points = np.array([a.values for a in others])
        assert (model.predict(points) == found.prediction[i]).all()


def test_a_time_limit_leaves_an_honest_gap(digits):
    model, X = digits
    found = pertinent.pertinent_positives(
        model, X[:4], method="sufficient", data=X, time_limit=1e-3
    )
    assert set(found.status) <= {"optimal", "feasible", "failed"}
    good = found.found
    assert (found.bound[good] <= found.objective[good]).all()
    assert (
        found.bound[found.status == "feasible"] < found.objective[found.status == "feasible"]
    ).all()


def test_sufficient_needs_bounds_and_says_where_it_cannot_be_proved(cancer):
    model, X = cancer
    with pytest.raises(InputError, match="data=X_train"):
        pertinent.pertinent_positives(model, X[:2], method="sufficient")
    Z, y = load_iris(return_X_y=True)
    qda = QuadraticDiscriminantAnalysis(reg_param=0.1).fit(Z, y)
    with pytest.raises(UnsupportedModelError, match="cannot be proved"):
        pertinent.pertinent_positives(qda, Z[:2], method="sufficient", data=Z)


def test_bad_arguments_are_named(cancer):
    model, X = cancer
    with pytest.raises(InputError, match="method must be one of"):
        pertinent.pertinent_positives(model, X[:2], method="fast")
    with pytest.raises(InputError, match="alternatives must be a whole number"):
        pertinent.pertinent_positives(model, X[:2], method="strict", alternatives=-1)
    with pytest.raises(InputError, match="fallback=True belongs to"):
        pertinent.pertinent_positives(model, X[:2], method="exact", fallback=True)
    with pytest.raises(InputError, match="alternatives belong to"):
        pertinent.pertinent_positives(model, X[:2], alternatives=2)
    with pytest.raises(InputError, match="time_limit must be"):
        pertinent.pertinent_positives(model, X[:2], method="strict", time_limit=0)
    with pytest.raises(InputError, match="norm must be 'l1' or 'l0'"):
        pertinent.pertinent_negatives(model, X[:2], norm="l2")
    with pytest.raises(InputError, match="max_changes must be"):
        pertinent.pertinent_negatives(model, X[:2], max_changes=0)


def test_single_precision_answers_pass_predict(digits):
    model, X = digits
    samples = X[:20].astype(np.float32)
    for method in ("strict", "exact"):
        found = pertinent.pertinent_positives(model, samples, method=method, baseline=0.2)
        assert found.points.dtype == np.float32
        assert (model.predict(found.points) == model.predict(samples)).all()


def random_gains(rng, n=40, rows=3, d=8):
    return Gains(rng.normal(size=(n, rows, d)), rng.uniform(0.2, 2.0, size=(n, rows)))


def test_the_search_agrees_with_the_milp_and_with_its_checker():
    gains = random_gains(np.random.default_rng(3))
    least, _ = smallest_size(gains)
    for i in range(len(gains)):
        one = gains.take(np.array([i]))
        expected = fewest_by_milp(gains.gain[i], gains.need[i])
        size = next((k for k in range(9) if len(find_supports(one, k).features)), None)
        assert size == expected
        cover = hard_cover(one, Budget())
        if expected is None:
            assert cover.mask is None
            assert refutes(gains.gain[i], gains.need[i], 8)
        else:
            assert least[i] <= expected
            assert cover.mask.sum() == cover.bound == expected
            assert refutes(gains.gain[i], gains.need[i], expected - 1)
            assert not refutes(gains.gain[i], gains.need[i], expected)


def test_supports_come_in_the_same_order_alone_and_in_a_batch():
    gains = random_gains(np.random.default_rng(4), n=30)
    together = find_supports(gains, 3, most=5)
    for i in range(len(gains)):
        alone = find_supports(gains.take(np.array([i])), 3, most=5)
        own = together.features[together.problem == i]
        np.testing.assert_array_equal(own, alone.features)


@pytest.mark.parametrize("method", ["strict", "exact", "sufficient"])
def test_certificates_replay(method):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    samples = X[::15]
    found = pertinent.pertinent_positives(
        model, samples, method=method, baseline="median", data=X, between=True
    )
    explainer = pertinent.Explainer(model, data=X, baseline="median")
    question = PositiveQuestion(np.median(X, axis=0), between=True, ranges=data_ranges(X))
    size, close = proved_of_positives(explainer.setting, question, found)
    assert (size >= found.objective).all()
    np.testing.assert_allclose(np.minimum(close, found.closeness), found.closeness_bound)
    changed = pertinent.pertinent_negatives(model, samples, norm="l0", data=X)
    np.testing.assert_array_equal(
        proved_of_negatives(explainer.setting, changed)[0], changed.objective
    )


def test_two_features_that_do_the_same_leave_no_unique_answer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Z = np.column_stack([X, X[:, 0]])  # the last repeats the first
    model = LogisticRegression().fit(Z, X @ [1.0, 0.2, 0.1] > 0)
    model.coef_[0, 3] = model.coef_[0, 0]
    kwargs = {"alternatives": 1}
    changed = pertinent.pertinent_negatives(model, Z, norm="l0", **kwargs)
    assert (changed.unique == False).all()  # noqa: E712 - an array of True, False and None
    alone = pertinent.pertinent_negatives(LogisticRegression().fit(X, Z[:, 0] > 0), X, **kwargs)
    assert len(alone.alternatives[0])
    one = LogisticRegression().fit(X, X @ [1.0, 0.2, 0.1] > 0)
    changed = pertinent.pertinent_negatives(one, X, norm="l0", **kwargs)
    assert (changed.unique == True).all()  # noqa: E712
    for method in ("strict", "exact"):
        kept = pertinent.pertinent_positives(one, X, method=method, baseline=-0.3, **kwargs)
        for i, others in enumerate(kept.alternatives):
            same = [a for a in others if a.objective == kept.objective[i]]
            if method == "strict" and same:
                assert kept.unique[i] is False
        assert kept.unique[kept.trivial].all()
        assert (kept.unique == None).mean() < 0.5  # noqa: E711
    undecided = pertinent.pertinent_negatives(one, X, norm="l0")
    assert (undecided.unique == None).all()  # noqa: E711


def test_rivals_that_are_none_prove_nothing():
    X, y = load_iris(return_X_y=True)
    model = KNeighborsClassifier(1).fit(X[::5], y[::5])
    found = pertinent.pertinent_positives(model, X[::10], method="sufficient", data=X)
    explainer = pertinent.Explainer(model, data=X)
    limits = np.broadcast_to(X.min(0), (len(X), 4)), np.broadcast_to(X.max(0), (len(X), 4))
    checked = 0
    for part in found.certificates:
        proofs = part.certificate.blocks[0].proofs
        region = explainer.setting.region(part.key, 0.0)
        samples = X[::10][part.rows]
        args = (region, samples, np.ones(4), limits[0][part.rows], limits[1][part.rows])
        np.testing.assert_array_equal(
            proofs.piece_bounds(Task.of(*args))[:, 0], found.bound[part.rows]
        )
        for i, row in enumerate(part.rows):
            # Points of the sample's own class are no rivals, however many features they change.
            own = model.predict(X) == model.predict(samples[[i]])
            false = np.where(np.eye(4, dtype=bool), X[own][-1], samples[i])
            own_rivals = false[model.predict(false) == model.predict(samples[[i]])]
            wrong = replace(proofs.take(np.array([i])), rivals=(own_rivals,))
            one = (region, samples[[i]], np.ones(4), limits[0][[row]], limits[1][[row]])
            assert wrong.piece_bounds(Task.of(*one))[0, 0] == 0
            endless = replace(proofs.take(np.array([i])), size=np.array([np.inf]))
            assert endless.piece_bounds(Task.of(*one))[0, 0] == 0
            checked += 1
    assert checked == 15


def test_an_alternative_that_skips_a_better_one_is_not_proved(digits):
    model, X = digits
    question = PositiveQuestion(np.full(64, 0.3))
    found = pertinent.pertinent_positives(
        model, X[:6], method="strict", baseline=0.3, alternatives=4
    )
    setting = pertinent.Explainer(model, baseline=0.3).setting
    endless = np.full(64, np.inf)
    larger = 0
    for i, others in enumerate(found.alternatives):
        label = int(found.label[i])
        supports = [found.kept[i], *(a.features for a in others)]
        proved = next_best(setting, question, X[i], label, supports, (-endless, endless))
        assert proved == [a.proved for a in others] == [True] * len(others)
        # Without the best one listed, a support of more features is no longer next best.
        more = np.zeros(64, dtype=bool)
        more[np.flatnonzero(~found.kept[i])[: int(found.kept[i].sum()) + 1]] = True
        if found.kept[i].any():
            other = np.zeros(64, dtype=bool)
            other[np.flatnonzero(~found.kept[i])[0]] = True
            skipped = next_best(setting, question, X[i], label, [other, more], (-endless, endless))
            assert skipped == [False]
            larger += 1
    assert larger
