"""Exact, strict and sufficient answers in words: nothing is said that is not proved."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import pertinent
from pertinent.api.answer_text import answer_text
from pertinent.proofs import FEASIBLE
from pertinent.views.text import LENGTHS

WORDING = pertinent.Wording(
    names={"petal length (cm)": "petal length", "petal width (cm)": "petal width"},
    units={"petal length (cm)": "cm"},
    labels={0: "setosa", 1: "versicolor", 2: "virginica"},
)
METHODS = ("two-phase", "strict", "exact", "sufficient")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, LogisticRegression(max_iter=1000).fit(X, y)


@pytest.fixture(scope="module")
def positives(iris):
    X, model = iris
    return {
        method: pertinent.pertinent_positives(
            model,
            X[::15],
            method=method,
            baseline="median",
            data=X,
            **({"alternatives": 3} if method in ("strict", "exact") else {}),
        )
        for method in METHODS
    }


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("method", METHODS)
def test_all_methods_in_all_lengths(positives, method, length):
    results = positives[method]
    for row in range(len(results)):
        words = answer_text(results, row, length, WORDING)
        assert words == answer_text(results, row, length, WORDING)
        assert WORDING.labels[results.prediction[row]] in words
        assert "(cm)" not in words.replace("sepal length (cm)", "").replace("sepal width (cm)", "")
        proved = "Proved fewest" in words or "proved fewest)" in words
        if results.kept[row].any() and method != "two-phase":
            assert proved == (results.bound[row] >= results.objective[row])


def test_lengths_grow(positives):
    for method in METHODS:
        short, medium, long = (answer_text(positives[method], 9, length) for length in LENGTHS)
        assert len(short) < len(medium) < len(long)
        assert long.startswith(medium.rstrip(".")[:40])


def test_what_the_methods_claim(positives):
    strict, exact, sufficient = (
        answer_text(positives[method], 9, "long", WORDING) for method in METHODS[1:]
    )
    assert "no fewer features at the sample's own values are enough" in strict
    assert "Proved closest: no other" in exact
    assert "whatever values the other" in sufficient
    assert "Proved closest" not in strict + sufficient
    assert "Also enough, in this order: " in strict


def test_one_feature_is_spoken_of_as_one(positives):
    one = positives["exact"]
    row = int(np.argmax(one.kept.sum(axis=1) == 1))
    kept = one.kept.copy()
    kept[row] = [True, True, False, False]
    two = replace(one, kept=kept, bound=np.full(len(one), 2.0), objective=np.full(len(one), 2.0))
    assert "no other feature comes closer to the sample's values" in answer_text(one, row)
    assert "no other 2 come closer to the sample's values" in answer_text(two, row)
    status, far = np.full_like(one.status_code, FEASIBLE), np.ones(len(one))
    unproved = {"status_code": status, "closeness": far, "closeness_bound": 0 * far}
    assert "closest: another feature might" in answer_text(replace(one, **unproved), row)
    assert "closest: other 2 might" in answer_text(replace(two, **unproved), row)
    fewer = replace(two, **unproved | {"bound": far})
    assert "at least 1 of them is needed" in answer_text(fewer, row)


def test_a_bound_that_is_not_reached_is_said_and_nothing_more(positives):
    results = positives["exact"]
    row = int(np.argmax(results.kept.sum(axis=1)))
    count = int(results.kept[row].sum())
    assert count > 0
    status, bound = results.status_code.copy(), results.bound.copy()
    status[row], bound[row] = FEASIBLE, count - 1
    open_ = replace(results, status_code=status, bound=bound)
    words = answer_text(open_, row, "long", WORDING)
    assert "not proved fewest" in words
    assert "Proved" not in words
    known = f"at least {count - 1} proved" if count > 1 else "found, not proved"
    assert known in answer_text(open_, row, "short")


def test_the_number_may_be_proved_without_the_closeness(positives):
    results = positives["exact"]
    row = int(np.argmax(results.kept.sum(axis=1)))
    status, closeness = results.status_code.copy(), results.closeness.copy()
    status[row], closeness[row] = FEASIBLE, 1.0
    words = answer_text(
        replace(
            results,
            status_code=status,
            closeness=closeness,
            closeness_bound=np.zeros(len(results)),
        ),
        row,
    )
    assert "Proved fewest" in words
    assert "Not proved closest" in words


def test_new_values_are_valid_as_printed(iris):
    """The values in the text, put into the sample, get the class that the text says."""
    X, model = iris
    results = pertinent.pertinent_negatives(model, X[::15], norm="l0", data=X)
    for row in range(len(results)):
        words = answer_text(results, row, "short")
        point = X[::15].iloc[[row]].copy()
        for name in X:
            if f"{name} " in words:
                point[name] = float(words.split(f"{name} ")[1].split()[0].replace(",", ""))
        assert words.startswith(f"For {model.predict(point)[0]}: ")
        assert "proved fewest" in words


def test_negatives_with_alternatives(iris):
    X, model = iris
    results = pertinent.pertinent_negatives(model, X.head(2), data=X, alternatives=2)
    words = answer_text(results, 0, "long", WORDING)
    assert "What would have changed setosa: " in words
    assert "Proved smallest: no smaller change that is allowed does." in words
    assert words.count("next best)") == len(results.alternatives[0]) > 0


def test_nothing_needed_and_nothing_possible(iris):
    X, model = iris
    trivial = pertinent.pertinent_positives(model, X[50:51], method="exact", baseline=X.iloc[50])
    assert "nothing in particular" in answer_text(trivial)
    frozen = pertinent.Constraints(frozen=list(X))
    stuck = pertinent.pertinent_negatives(model, X.head(1), constraints=frozen, norm="l0")
    assert "proved that nothing does: " in answer_text(stuck)


def test_no_strict_positive_and_its_fallback():
    """Own values and base values may never do together: that is said, and what is given instead."""
    # Class 1 lies around 0, class 0 between 2 and 4; the bounds exclude the sample's own value.
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.3, (200, 1)), rng.uniform(2, 4, (200, 1))])
    model = GaussianNB().fit(X, np.repeat([1, 0], 200))
    one = X[:1]
    outside = 3.0
    rules = pertinent.Constraints(bounds={0: (0.5, 4.0)})
    given = dict(method="strict", baseline=outside, constraints=rules)
    none = pertinent.pertinent_positives(model, one, **given)
    assert none.status[0] == "infeasible"
    assert "proved that no set of the sample's own values" in answer_text(none)
    other = pertinent.pertinent_positives(model, one, fallback=True, **given)
    assert other.fallback[0]
    assert "With other values, this is: x0 " in answer_text(other)
    assert answer_text(other, 0, "short").endswith("(1 of 1 feature, not proved fewest).")


def test_wrong_arguments(positives):
    with pytest.raises(pertinent.exceptions.InputError, match="length must be one of"):
        answer_text(positives["exact"], 0, "endless")
    with pytest.raises(IndexError, match="There are 10 answers; got index 10"):
        answer_text(positives["exact"], 10)
