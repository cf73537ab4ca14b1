import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError
from pertinent.views.phrases import with_unit
from pertinent.views.text import LENGTHS, text


def test_lengths_grow_and_are_deterministic(applicants):
    texts = [applicants[4].text(length) for length in LENGTHS]
    assert [len(t) for t in texts] == sorted(len(t) for t in texts)
    assert texts == [applicants[4].text(length) for length in LENGTHS]


def test_words_units_and_categories(applicants):
    all_texts = " ".join(e.text() for e in applicants)
    assert "applicant" in all_texts
    assert "thousand pesetas" in all_texts
    assert "job" in all_texts  # a category, by its name
    assert "x0" not in all_texts


def test_unknown_length_is_refused(applicants):
    with pytest.raises(InputError, match="length must be one of short, medium, long"):
        applicants[0].text("tiny")


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("status", ["feasible", "infeasible", "failed"])
def test_proved_smallest_is_said_only_where_proved(applicants, length, status):
    summary = copy.deepcopy(applicants[4].summary())
    for part in ("positive", "negative"):
        summary[part].update(status=status, reason="of a reason")
        if status != "feasible":
            summary[part].update(values=[], point=None, objective=None, closeness=None)
    words = text(summary, length)
    assert "Proved smallest" not in words
    assert "(proved smallest" not in words


def test_proved_smallest_is_said_where_proved(applicants):
    assert (applicants.negative.status == "optimal").all()
    for explanation in applicants:
        assert "roved smallest" in explanation.text("short") + explanation.text()


def test_nothing_changes_it(impossible):
    words = impossible[0].text()
    assert "nothing that the rules allow. Proved: no point is predicted as" in words
    assert "obeys: x0, x1 and x2 stay as they are" in words


def test_a_label_in_other_words():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LogisticRegression().fit(X, (X[:, 0] > 0).astype(int))
    wording = pertinent.Wording(labels={0: "no loan", 1: "a loan"}, names={"x0": "income"})
    result = pertinent.Explainer(model, data=X, wording=wording).explain(X[:1])
    assert {"no loan", "a loan"} & {result[0].text().split("predicts ")[1].split(" for")[0]}
    assert "income" in result[0].text()


def test_printed_numbers_are_valid():
    """What is printed passes predict as printed, for every row, though optima are on the edge."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(200, 3)) * [1.0, 100.0, 0.01], columns=["a", "b", "c"])
    model = LogisticRegression().fit(X.to_numpy() / [1.0, 100.0, 0.01], X["a"] + X["c"] * 100 > 0)
    model.coef_ = model.coef_ / [1.0, 100.0, 0.01]
    result = pertinent.Explainer(model, data=X.to_numpy()).explain(X.to_numpy())
    for explanation in result:
        for part, label in (("negative", explanation.target), ("positive", explanation.prediction)):
            summary = explanation.summary()[part]
            point = np.array(summary["point"], dtype=float)
            for value in summary["values"]:
                point[int(value["feature"][1:])] = value["value"]
            assert model.predict(point[None])[0] == label
            for value in summary["values"]:
                if value["value"] != value["exact"]:
                    assert len(repr(value["value"]).lstrip("-0.")) <= 9  # short as printed


def test_repr(applicants, impossible):
    assert "proved smallest" in repr(applicants[0])
    assert "change: infeasible" in repr(impossible[0])


def test_what_is_shown_is_at_most_a_fiftieth_larger_than_what_is_proved():
    """Each shown value is farther than the proved one by at most 2% of the change, and valid."""
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    result = pertinent.Explainer(model, data=X, limits_from=None, steps_from=None).explain(X)
    rounded = 0
    for row, explanation in enumerate(result):
        changes = explanation.summary()["negative"]["values"]
        point = X[row].copy()
        size = exact = 0.0
        for change in changes:
            place = int(change["feature"][1:])
            scale = X[:, place].std()
            size += abs(change["value"] - X[row, place]) / scale
            exact += abs(change["exact"] - X[row, place]) / scale
            point[place] = change["value"]
            rounded += change["value"] != change["exact"]
        assert size <= 1.02 * exact * (1 + 1e-9)
        assert model.predict(point[None])[0] == result.negative.target[row]
    assert rounded > 100


@pytest.mark.parametrize(
    ("unit", "words"), [("years", "1 year"), ("cm", "1 cm"), ("ms", "1 ms"), ("°C", "1 °C")]
)
def test_a_unit_of_one_loses_its_plural_and_nothing_else(unit, words):
    assert with_unit({"unit": unit}, 1.0) == words
    assert with_unit({"unit": unit}, 2.0) == f"2 {unit}"


def test_where_no_value_is_needed_nobody_counts_fewer_than_none():
    """Within the range of the data the model knows one class."""
    X = np.arange(20.0)[:, None]
    model = LogisticRegression().fit(X, X[:, 0] > 9)
    model.intercept_[:] -= 100.0
    [one] = pertinent.Explainer(model, data=X).explain(X[:1])
    said = one.text("long")
    assert one.basis == "sufficient"
    assert "Proved: whatever the values are within their bounds, the model predicts False." in said
    assert "What was enough: no value is needed." in said
    assert "fewer" not in said


def test_what_is_proved_of_a_departure_is_true_of_the_printed_value():
    """The own value is told, though less is enough: only that this feature departs is proved."""
    model = LogisticRegression().fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
    model.coef_, model.intercept_ = np.array([[1.0, 0.5]]), np.array([-1.0])
    [one] = pertinent.Explainer(model, baseline=[0.0, 0.0]).explain(np.array([[3.0, 0.0]]))
    said = one.text()
    assert "x0 3 (typical 0)" in said  # x0 = 1.1 would do
    assert "no smaller departure" not in said
    assert "the least departure from the typical values that is enough is in this value" in said


def test_bounds_of_what_may_be_whatever_are_explained():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    free = pertinent.Explainer(model, data=X, method="sufficient", limits_from=None)
    said = free.explain(X[:1])[0].text("long")
    assert "its bounds are the least and the largest of the data" in said
