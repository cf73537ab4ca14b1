"""A check asks the model about all points at once, reads it once, and keeps nothing of it."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pertinent
from pertinent.models.steps import encode, pipeline
from pertinent.setting.claims import ranges
from pertinent.setting.setting import Setting
from pertinent.tables.reading import read_table


def _frame():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "income": rng.integers(10, 90, 300),
            "debt": np.round(rng.normal(5, 2, 300), 1),
            "job": rng.choice(["clerk", "cook", "nurse"], 300),
            "note": [f"row {i}" for i in range(300)],
        }
    )
    score = frame["income"] / 20 - frame["debt"] + 2.0 * (frame["job"] == "nurse")
    return frame, np.where(score > score.median(), "yes", "no")


@pytest.fixture(scope="module")
def fitted():
    frame, y = _frame()
    columns = make_column_transformer(
        (StandardScaler(), ["income", "debt"]), (OneHotEncoder(handle_unknown="ignore"), ["job"])
    )
    return make_pipeline(columns, LogisticRegression()).fit(frame, y), frame, y


@pytest.fixture(scope="module")
def stored(fitted):
    model, frame, _ = fitted
    explainer = pertinent.Explainer(model, data=frame)
    return [one.json() for one in explainer.explain(frame[:6])]


class Counting:
    """Counts how often the methods of a class are called."""

    def __init__(self, monkeypatch, owner, *names):
        self.calls = dict.fromkeys(names, 0)
        for name in names:
            monkeypatch.setattr(owner, name, self._counted(name, getattr(owner, name)))

    def _counted(self, name, method):
        def counted(*args, **kwargs):
            self.calls[name] += 1
            return method(*args, **kwargs)

        return counted


def test_the_model_is_asked_once_and_its_steps_are_read_once(fitted, stored, monkeypatch):
    model, _, _ = fitted
    asked = Counting(monkeypatch, type(model), "predict", "predict_proba")
    read = Counting(monkeypatch, pipeline, "_walk")
    for explanation in stored:
        before = dict(asked.calls)
        assert pertinent.check(explanation, model).ok
        # What is printed may be tried at numbers that no file names.
        assert asked.calls["predict"] - before["predict"] <= 4
        assert asked.calls["predict_proba"] - before["predict_proba"] == 1
    assert asked.calls["predict"] <= 2 * len(stored)
    assert read.calls["_walk"] == 2 * len(stored)


def test_an_encoder_is_asked_once_for_all_its_categories(fitted, stored, monkeypatch):
    model, _, _ = fitted
    asked = Counting(monkeypatch, encode, "_transformed")
    for explanation in stored:
        assert pertinent.check(explanation, model).ok
    # One row for each category and one that it does not know; how it takes missing ones.
    assert asked.calls["_transformed"] == 2 * len(stored)


def test_what_a_file_says_of_ranges_is_read_once(fitted, stored, monkeypatch):
    model, _, _ = fitted
    read = Counting(monkeypatch, ranges, "_Stating")
    for explanation in stored:
        assert pertinent.check(explanation, model).ok
    told = sum(
        room is not None for one in stored for room in json.loads(one)["proof"]["ranges"].values()
    )
    assert 0 < read.calls["_Stating"] <= told


def test_a_model_that_is_fitted_again_in_place_is_read_again(fitted, stored):
    _, frame, y = fitted
    columns = make_column_transformer(
        (StandardScaler(), ["income", "debt"]), (OneHotEncoder(handle_unknown="ignore"), ["job"])
    )
    model = make_pipeline(columns, LogisticRegression()).fit(frame, y)
    assert pertinent.check(stored[0], model).ok
    other = np.where(y == "yes", "no", "yes")
    model.fit(frame, other)
    assert pertinent.check(stored[0], model).verdict == "refuted"
    model.fit(frame, y)
    assert pertinent.check(stored[0], model).ok


def test_what_is_foreseen_is_what_the_model_says_of_each_point_alone(fitted):
    model, frame, _ = fitted
    features = pipeline.features_of(model, frame)
    setting = Setting(model, features, np.ones(features.dim))
    table = read_table(features, frame[5:6].assign(job="pilot"))  # a job the model does not know
    points = np.repeat(table.values, 40, axis=0)
    points[:, 0] = np.linspace(0, 100, 40)
    points[7] = np.nan
    alone = [setting.predict(table, points[i : i + 1])[0] for i in range(40) if i != 7]
    setting.foresee(table, points)
    known = np.delete(points, 7, axis=0)
    model_was = setting.model
    setting.model = None  # nobody is asked again
    assert setting.predict(table, known).tolist() == alone
    setting.model = model_was
    assert len(set(alone)) == 2
