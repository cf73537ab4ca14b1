"""The Explainer joins both questions and keeps them apart where asked."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature

import numpy as np
import pytest
from linear_models import data, fitted
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError
from pertinent.setting.options import Settings


@pytest.fixture(scope="module")
def frame():
    X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    return X.iloc[:, :8]


@pytest.fixture(scope="module")
def model(frame):
    _, y = load_breast_cancer(return_X_y=True)
    return LogisticRegression(max_iter=5000).fit(frame, np.array(["malignant", "benign"])[y])


def test_defaults_speak_to_readers(model, frame):
    explainer = pertinent.Explainer(model, data=frame)
    np.testing.assert_array_equal(explainer.question.baseline, frame.median())
    np.testing.assert_allclose(explainer.setting.weights, 1 / frame.std(ddof=0))
    assert explainer.question.between
    result = explainer.explain(frame.head(20))
    rows, middle = frame.head(20).to_numpy(), frame.median().to_numpy()
    points = result.positive.points.to_numpy()
    assert ((points >= np.minimum(rows, middle)) & (points <= np.maximum(rows, middle))).all()


def test_agrees_with_the_functions(model, frame):
    rows = frame.head(30)
    free = {"limits_from": None, "steps_from": None}  # what the functions do not infer
    result = pertinent.Explainer(model, data=frame, between=False, **free).explain(rows)
    positive = pertinent.pertinent_positives(model, rows, baseline="median", data=frame)
    negative = pertinent.pertinent_negatives(model, rows, data=frame)
    assert result.positive.values.tobytes() == positive.values.tobytes()
    assert result.negative.values.tobytes() == negative.values.tobytes()


def test_rows_can_be_looked_at_one_by_one(model, frame):
    rows = frame[model.predict(frame) == "malignant"].head(10)  # typical values are benign
    result = pertinent.Explainer(model, data=frame).explain(rows)
    assert len(result) == 10
    for i, one in enumerate(result):
        assert one.prediction == model.predict(rows.iloc[[i]])[0]
        assert one.target != one.prediction
        assert set(one.kept) == set(frame.columns[result.positive.kept[i]])
        for name, (own, new) in one.changed.items():
            assert own == rows.iloc[i][name]
            assert new == result.negative.points.iloc[i][name]
    assert result[-1].row == 9
    with pytest.raises(IndexError, match="10 explanations"):
        result[10]


def test_overlap_counts_shared_features(model, frame):
    result = pertinent.Explainer(model, data=frame).explain(frame.head(50))
    by_hand = (result.positive.kept & result.negative.changed).sum(axis=1)
    assert (result.overlap == by_hand).all()
    assert not result.avoided.any()


def test_overlap_can_be_avoided_where_possible(model, frame):
    plain = pertinent.Explainer(model, data=frame).explain(frame)
    assert (plain.overlap > 0).any()
    apart = pertinent.Explainer(model, data=frame, overlap="avoid").explain(frame)
    assert (apart.overlap[apart.avoided] == 0).all()
    assert apart.avoided.any()
    assert (apart.negative.objective >= plain.negative.objective - 1e-9).all()
    assert (model.predict(apart.negative.points) == apart.negative.target).all()


def test_where_overlap_cannot_be_avoided_it_is_said():
    X = np.linspace(-1, 1, 20)[:, None]
    model = LogisticRegression().fit(X, X[:, 0] > 0.2)
    result = pertinent.Explainer(model, baseline=0.0, overlap="avoid").explain(X)
    kept = result.positive.kept.any(axis=1)
    assert kept.any()
    assert not result.avoided[kept].any()
    assert result.avoided[~kept].all()
    assert result.negative.found.all()
    assert (model.predict(result.negative.points) != model.predict(X)).all()


def test_a_prepared_explainer_does_not_change_with_use(model, frame):
    explainer = pertinent.Explainer(model, data=frame)
    first = explainer.explain(frame.head(5))
    explainer.explain(frame.tail(50))
    again = explainer.explain(frame.head(5))
    assert first.negative.values.tobytes() == again.negative.values.tobytes()


def test_without_data_the_baseline_is_zero():
    model, X = fitted("logistic", "iris"), data("iris")[0]
    explainer = pertinent.Explainer(model)
    assert (explainer.question.baseline == 0).all()
    assert (explainer.setting.weights == 1).all()
    assert explainer.model is model
    assert (explainer.explain(X).negative.status == "optimal").all()


def test_targets(model, frame):
    explainer = pertinent.Explainer(model, data=frame)
    rows = frame[model.predict(frame) == "malignant"].head(7)
    assert (explainer.explain(rows, target="benign").negative.target == "benign").all()


def test_bad_arguments_are_explained(model, frame):
    with pytest.raises(InputError, match="overlap must be 'allow' or 'avoid'"):
        pertinent.Explainer(model, overlap="never")
    with pytest.raises(InputError, match="is not fitted yet"):
        pertinent.Explainer(LogisticRegression(), data=frame)
    with pytest.raises(InputError, match="Did you mean 'mean radius'"):
        pertinent.Explainer(model, constraints=pertinent.Constraints(frozen=["mean radiu"]))


def test_repr(model, frame):
    text = repr(pertinent.Explainer(model, data=frame).explain(frame.head(3)))
    assert text.startswith("<Explanations: 3 samples\n  <Positives: 3 optimal")


@pytest.mark.parametrize(
    "model", [LogisticRegression(max_iter=1000), RandomForestClassifier(10, random_state=0)]
)
def test_a_wrong_guess_of_the_label_changes_nothing(model, monkeypatch):
    """Few samples go to the model together with their answers; it has the last word on both."""
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    explainer = pertinent.Explainer(model, data=X)
    right = explainer.explain(X[50:54])
    assert (explainer.setting.by_regions(X) == model.predict(X)).all()
    monkeypatch.setattr(
        type(explainer.setting), "by_regions", lambda self, points: np.zeros(len(points), int)
    )
    wrong = explainer.explain(X[50:54])
    assert (wrong.negative.prediction == model.predict(X[50:54])).all()
    for one, two in ((right.positive, wrong.positive), (right.negative, wrong.negative)):
        assert one.values.tobytes() == two.values.tobytes()
        assert one.label.tobytes() == two.label.tobytes()


@pytest.mark.parametrize(
    ("odd", "word"),
    [
        ({"batch_size": "a"}, "batch_size"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"n_jobs": "a"}, "n_jobs"),
        ({"off_tol": "a"}, "off_tol"),
        ({"margin": True}, "margin"),
        ({"constraints": {"frozen": [0]}}, "pertinent.Constraints"),
    ],
    ids=str,
)
def test_odd_settings_are_refused_in_one_sentence(odd, word):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(InputError, match=word):
        pertinent.pertinent_positives(model, X[:3], **odd)


@pytest.mark.parametrize("target", [{}, {0: 1}, {0}, frozenset({1})], ids=str)
def test_a_target_that_is_no_label_is_refused(target):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(InputError, match=r"one label, or one for each sample. Got a"):
        pertinent.pertinent_negatives(model, X[:2], target=target)


def test_data_without_rows_is_refused():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(InputError, match="data has no rows"):
        pertinent.Explainer(model, data=X[:0])


def test_every_argument_that_is_a_choice_is_a_setting():
    """No argument of the public functions is left out of the settings, nor read twice."""
    inputs = {"self", "model", "X", "data", "target", "n_jobs", "batch_size", "progress"}
    names = {f.name for f in fields(Settings)}
    functions = (
        pertinent.pertinent_positives,
        pertinent.pertinent_negatives,
        pertinent.Explainer.__init__,
    )
    asked = set()
    for function in functions:
        chosen = set(signature(function).parameters) - inputs
        assert chosen <= names
        asked |= chosen
    assert asked == names


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"missing": "drop"}, "missing must be one of .'allow', 'error', 'impute', 'keep'"),
        ({"norm": None}, "norm must be 'l1' or 'l0'. Got None instead."),
        ({"overlap": ["avoid"]}, r"overlap must be 'allow' or 'avoid'. Got \['avoid'\] instead."),
        ({"method": None}, "method must be one of .*'two-phase'\\]. Got None."),
        ({"fallback": True}, "fallback=True belongs to method=\"strict\". Got method='two-phase'."),
        ({"wording": "plain"}, "wording must be a pertinent.Wording. Got 'plain' instead."),
        ({"norm": "l0", "overlap": "avoid"}, "norm='l0' goes with overlap='allow' only."),
    ],
)
def test_a_choice_that_cannot_be_is_named(given, said):
    with pytest.raises(InputError, match=said):
        Settings.of(given)


def test_results_keep_no_training_data_with_their_settings():
    X, y = load_iris(return_X_y=True)
    plausible = pertinent.Plausibility(X, y, n_components=1)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    explainer = pertinent.Explainer(model, plausibility=plausible)
    assert explainer.setting.within is not None
    assert explainer.explain(X[:1]).asked.settings.plausibility is None
