"""A mistake planted in a search for sets of features costs an answer, never a false claim."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.questions.sufficient import rivals, worst
from pertinent.questions.supports import batch, gains, pool, smallest, subsets
from pertinent.questions.supports.subsets import Candidates, Outcome

MODELS = {
    "softmax": LogisticRegression(),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "centroid": NearestCentroid(),
}


@cache
def case(name):
    """Return a fitted model, some rows, all rows and a baseline."""
    X, y = load_wine(return_X_y=True) if name == "softmax" else load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = MODELS[name].fit(X, y)
    other = X[y == 0].mean(axis=0)
    return model, X[y != 0][::20], X, other


def ask(method, name):
    model, rows, data, baseline = case(name)
    if method == "l0":
        return pertinent.pertinent_negatives(model, rows, norm="l0")
    return pertinent.pertinent_positives(model, rows, method=method, data=data, baseline=baseline)


@cache
def right(method, name):
    found = ask(method, name)
    assert (found.status == "optimal").all()
    return found.objective, found.closeness


def too_large(size):
    """Claim that one feature more is needed."""
    return lambda gains: (size(gains)[0] + 1, size(gains)[1])


def none_of_two(find):
    """Find no support of two features."""

    def planted(gains, size, *args):
        found = find(gains, size, *args)
        if size != 2:
            return found
        none = np.zeros((0, size), dtype=np.int64)
        return Candidates(none[:, 0], none, np.full(len(gains), Outcome.EXHAUSTED), found.nodes)

    return planted


def weaker(make):
    """Let features do only half of what they can."""

    def planted(*args):
        made = make(*args)
        return replace(made, gain=made.gain / 2)

    return planted


def stronger(make):
    """Let features do twice what they can."""

    def planted(*args):
        made = make(*args)
        return replace(made, gain=made.gain * 2)

    return planted


def reversed_masks(find):
    """Hand out the support of another sample."""

    def planted(*args):
        mask, found = find(*args)
        return mask[::-1], found

    return planted


def no_bounds(bounds):
    """Forget what features to come can add."""
    return lambda gain, size: 0.0 * bounds(gain, size)


SEARCHES = [
    ("strict", "softmax", smallest, "smallest_size", too_large),
    ("strict", "softmax", smallest, "find_supports", none_of_two),
    ("strict", "softmax", smallest, "cell_gains", weaker),
    ("strict", "softmax", smallest, "cell_gains", stronger),
    ("strict", "softmax", subsets, "suffix_bounds", no_bounds),
    ("strict", "bayes", gains, "best_alone", lambda f: lambda *a: f(*a) / 2),
    ("strict", "centroid", smallest, "cell_gains", weaker),
    ("exact", "softmax", smallest, "smallest_size", too_large),
    ("exact", "softmax", pool, "find_supports", none_of_two),
    ("exact", "softmax", pool, "with_forced", weaker),
    ("exact", "softmax", smallest, "cell_gains", weaker),
    ("exact", "bayes", pool, "closes", lambda f: lambda *a, **k: True),
    ("exact", "bayes", batch, "one_at_most", reversed_masks),
    ("exact", "tree", batch, "best_boxes", reversed_masks),
    ("l0", "softmax", batch, "one_at_most", reversed_masks),
    ("l0", "tree", batch, "best_boxes", reversed_masks),
    ("l0", "bayes", pool, "find_supports", none_of_two),
    ("sufficient", "softmax", smallest, "smallest_size", too_large),
    ("sufficient", "softmax", worst, "worst_gains", weaker),
    ("sufficient", "softmax", worst, "worst_gains", stronger),
    ("sufficient", "bayes", worst, "worst_gains", weaker),
    ("sufficient", "bayes", worst, "worst_gains", stronger),
    ("sufficient", "tree", rivals, "minimal_sets", lambda f: lambda sets: f(sets)[:1]),
    ("sufficient", "centroid", smallest, "find_supports", none_of_two),
]


@pytest.mark.parametrize(("method", "name", "module", "function", "plant"), SEARCHES)
def test_no_false_claim(monkeypatch, method, name, module, function, plant):
    size, closeness = right(method, name)
    monkeypatch.setattr(module, function, plant(getattr(module, function)))
    found = ask(method, name)
    assert not (found.status == "infeasible").any()
    claimed = found.status == "optimal"
    np.testing.assert_array_equal(found.objective[claimed], size[claimed])
    np.testing.assert_allclose(found.closeness[claimed], closeness[claimed], rtol=1e-4, atol=1e-9)
    assert (found.bound <= size).all()
    assert not (found.objective < size).any()


def test_no_fallback_where_a_strict_positive_exists(monkeypatch):
    size = smallest.smallest_size
    monkeypatch.setattr(smallest, "smallest_size", lambda gains: (size(gains)[0] + 99, 0))
    model, rows, _, baseline = case("softmax")
    how = {"method": "strict", "baseline": baseline, "fallback": True}
    found = pertinent.pertinent_positives(model, rows, **how)
    assert not found.fallback.any()
    assert (found.status == "failed").all()
