"""Probabilities in single precision: the check grants what rounding explains, and no more."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pertinent
from pertinent.checking.chances import Rounded, rounded
from tests.forgeries import refuted, tampered

RNG = np.random.default_rng(0)
Y = np.arange(150) % 3
X = (RNG.normal(size=(150, 12)) + np.eye(3, 12)[Y] * 2).astype(np.float32)
MODELS = [
    LogisticRegression(),
    OneVsRestClassifier(LogisticRegression()),
    make_pipeline(StandardScaler(), LogisticRegression()),
    LinearDiscriminantAnalysis(),
    GaussianNB(),
    NearestCentroid(),
    SGDClassifier(loss="modified_huber", random_state=0),
]
NUMBERS = ("prediction", "enough", "before", "after")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_honest_probabilities_of_a_batch_hold_alone(model):
    model.fit(X, Y)
    found = pertinent.Explainer(model, data=X).explain(X[:40])
    for i in (0, 7, 23):
        checked = pertinent.check(found[i].json(), model)
        assert checked.verdict == "holds", str(checked)


@pytest.mark.parametrize("name", NUMBERS)
def test_a_probability_that_is_off_by_a_hundredthousandth_is_refuted(name):
    few = X[:, :4]
    model = LogisticRegression().fit(few, Y)
    # A fit in single precision, as scikit-learn from 1.8 on leaves it; older ones widen it.
    model.coef_, model.intercept_ = (
        part.astype(np.float32) for part in (model.coef_, model.intercept_)
    )
    stored = json.loads(pertinent.Explainer(model, data=few).explain(few[:1])[0].json())
    own = stored["summary"]["probability"][name]
    forged = tampered(stored, ("summary", "probability", name), own * (1 + 1e-5))
    assert refuted(forged, model) == ["what is shown is what was checked"]


def test_what_explains_a_difference():
    """Scores that differ by 1e-6: a probability of 1/2 by at most a quarter of that."""
    close = Rounded(scores=1e-6, share=0.0, least=0.0)
    assert close.explains(0.5, 0.5 + 2e-7, "probability")
    assert not close.explains(0.5, 0.5 + 3e-7, "probability")
    assert close.explains(7.0, 7.0 + 9e-7, "score")
    assert not close.explains(7.0, 7.0 + 2e-6, "score")
    relative = Rounded(scores=0.0, share=1e-6, least=0.0)
    assert relative.explains(0.01, 0.01 + 9e-9, "probability")
    assert not relative.explains(0.01, 0.01 + 2e-8, "probability")
    assert not close.explains(0.5, True, "probability")
    assert not close.explains(True, True, "probability")
    assert not close.explains("0.5", 0.5, "probability")


class Anything:
    """A regressor that may predict anything."""

    def around(self, own, by):
        return -np.inf, np.inf


def test_only_values_are_compared_by_what_a_regressor_predicts():
    close = Rounded(1e-6, 0.0, 0.0, Anything())
    assert close.explains(7.0, 8.0, "value")
    assert not close.explains(7.0, 8.0, "score")


@pytest.mark.parametrize(
    ("single", "knows", "unit"),
    [(True, False, 2.0**-24), (True, True, 2.0**-53), (False, False, 2.0**-53)],
)
def test_sums_are_rounded_as_the_model_adds_them_up(single, knows, unit):
    """Two features and terms of 10: two sums differ by ``2 (2 + 4) unit 10``."""
    piece = SimpleNamespace(added_up=lambda points: np.array([10.0]))
    own = SimpleNamespace(pieces=[piece], knows_precision=knows)
    setting = SimpleNamespace(
        model=None,
        classes=[0, 1],
        of_predict=SimpleNamespace(rounding=lambda key: own),
        sums_in_single=lambda table: single,
    )
    point = np.zeros((1, 2))
    answers = SimpleNamespace(
        table=SimpleNamespace(values=point, single_precision=True),
        positive=SimpleNamespace(values=point, label=[0]),
        negative=SimpleNamespace(values=point, target_place=[-1]),
    )
    assert rounded(answers, setting).scores == pytest.approx(120 * unit)
    own.pieces = []
    assert rounded(answers, setting).scores == 0.0


def test_a_model_that_cannot_say_its_probabilities_is_explained_without():
    """One sample a class: scikit-learn's centroids predict, and their predict_proba raises."""
    X = np.random.default_rng(0).normal(size=(3, 4))
    model = NearestCentroid().fit(X, [0, 1, 2])
    with pytest.raises(ValueError, match="NaN"):
        model.predict_proba(X)
    explanation = pertinent.Explainer(model, data=X).explain(X + 0.1)[0]
    assert explanation.summary()["probability"] is None
    assert "predicts" in explanation.text()
    assert pertinent.check(explanation.json(), model).ok


def test_what_is_told_is_of_the_printed_point_and_files_of_before_hold():
    """Printed numbers are rounded away from the border: at 50.08%, not at "just over 50%"."""
    wide = X.astype(float)
    model = GaussianNB().fit(wide, Y)
    rows = pd.DataFrame(wide[:6])
    for one in pertinent.Explainer(model, data=wide).explain(wide[:6]):
        stored = json.loads(one.json())
        told, negative = stored["summary"]["probability"], stored["summary"]["negative"]
        place = list(model.classes_).index(negative["target"])
        printed = rows.iloc[[stored["summary"]["row"]]].copy()
        for value in negative["values"]:
            printed[int(value["feature"][1:])] = value["value"]
        assert told["after"] == pytest.approx(model.predict_proba(printed)[0, place], rel=1e-12)
        exact = model.predict_proba([negative["point"]])[0, place]
        assert exact != told["after"]
        before = tampered(stored, ("summary", "probability", "after"), exact)
        assert pertinent.check(before, model).verdict == "holds"
