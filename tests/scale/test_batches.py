"""One machine: batches, jobs, progress, threads."""

from __future__ import annotations

import joblib
import numpy as np
import pytest
import threadpoolctl
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.api.parallel import WINDOW, in_parallel
from pertinent.geometry.running import one_thread
from pertinent.lvq import LGMLVQ
from tests.shown import proved_of_negatives, proved_of_positives


@pytest.fixture(scope="module")
def explainer():
    X, y = load_iris(return_X_y=True)
    return pertinent.Explainer(LogisticRegression(max_iter=500).fit(X, y), data=X)


@pytest.fixture(scope="module")
def samples():
    return load_iris().data


def same(one, two) -> bool:
    pairs = [
        (getattr(a, name), getattr(b, name))
        for a, b in ((one.positive, two.positive), (one.negative, two.negative))
        for name in ("values", "objective", "bound", "status_code", "unique_code", "label")
    ]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


@pytest.mark.parametrize("batch_size", [1, 7, 64, 150, 1000])
def test_any_batch_size_gives_the_same_bytes(explainer, samples, batch_size):
    whole = explainer.explain(samples, batch_size=150)
    assert same(explainer.explain(samples, batch_size=batch_size), whole)


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky", "multiprocessing"])
def test_joblib_decides_where_batches_run(explainer, samples, backend):
    whole = explainer.explain(samples)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert same(explainer.explain(samples, batch_size=8), whole)  # more than one window


def test_parallel_config_is_seen(explainer, samples, monkeypatch):
    used = []
    inner = pertinent.api.parallel.Parallel

    def parallel(**settings):
        used.append(inner(**settings))
        return used[-1]

    monkeypatch.setattr(pertinent.api.parallel, "Parallel", parallel)
    explainer.explain(samples, batch_size=50)
    assert not used
    with joblib.parallel_config(backend="threading", n_jobs=3):
        explainer.explain(samples, batch_size=50)
    assert used[0].n_jobs == 3


def test_certificates_of_batches_prove_the_whole(explainer, samples):
    result = explainer.explain(samples, batch_size=16)
    bound, _ = proved_of_negatives(explainer.setting, result.negative)
    assert (bound >= result.negative.bound - 1e-9).all()
    first, _ = proved_of_positives(explainer.setting, explainer.question, result.positive)
    assert (first >= result.positive.bound - 1e-9).all()


def test_progress_counts_rows(explainer, samples):
    seen = []
    explainer.explain(samples, batch_size=60, progress=lambda *counts: seen.append(counts))
    assert seen == [(60, 150), (120, 150), (150, 150)]


def test_explain_iter_yields_the_same_rows(explainer, samples):
    whole = explainer.explain(samples)
    parts = list(explainer.explain_iter(samples, batch_size=40))
    assert [len(part) for part in parts] == [40, 40, 40, 30]
    points = np.vstack([part.negative.values for part in parts])
    assert points.tobytes() == whole.negative.values.tobytes()
    assert parts[1][0].text() == whole[40].text()


def test_no_samples(explainer, samples):
    assert len(explainer.explain(samples[:0])) == 0


def threads() -> list[int]:
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def test_linear_algebra_gets_one_thread_and_its_own_back():
    with threadpoolctl.threadpool_limits(2):
        before = threads()
        with one_thread:
            with one_thread:
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert threads() == before


def test_few_jobs_wait_for_a_backend_that_answers_all_at_once():
    begun = []

    def jobs():
        for k in range(3 * WINDOW):
            begun.append(k)
            yield (k,)

    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        answers = in_parallel(lambda k: k * k, jobs())
        assert next(answers) == 0
        assert len(begun) == WINDOW
        assert [0, *answers] == [k * k for k in range(3 * WINDOW)]


def test_the_pieces_of_one_row_may_be_solved_on_several_cores():
    """Curved pieces are slow one by one; where they are solved changes no bit."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with pytest.warns(ConvergenceWarning):  # a short fit will do
        model = LGMLVQ(2, max_iter=20, random_state=0).fit(X, y)
    alone = pertinent.pertinent_negatives(model, X[:1])
    assert alone.found.all()
    for backend in ("loky", "multiprocessing"):
        with joblib.parallel_config(backend=backend):
            apart = pertinent.pertinent_negatives(model, X[:1], n_jobs=2)
        assert alone.values.tobytes() == apart.values.tobytes()
        assert alone.bound.tobytes() == apart.bound.tobytes()


def test_jobs_share_few_rows_too():
    X, y = load_wine(return_X_y=True)
    model = LogisticRegression(max_iter=5000).fit(X, y)
    seen = []
    explainer = pertinent.Explainer(model, data=X)
    whole = explainer.explain(X[:10])
    shared = explainer.explain(X[:10], n_jobs=2, progress=lambda done, _: seen.append(done))
    assert seen == [5, 10]
    assert whole.negative.values.tobytes() == shared.negative.values.tobytes()
