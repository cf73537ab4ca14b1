"""What one look at all scores says is sure, the region of the class itself says, too."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.geometry.rounding import surely_win
from pertinent.lvq import GLVQ
from pertinent.models.steps.pipeline import features_of
from pertinent.setting.region_key import Is, Kind
from pertinent.setting.setting import Setting

UNITS = st.sampled_from([1e-9, 1.0, 1e7])


def _setting(model, d):
    return Setting(model, features_of(model, np.zeros((1, d)), False), np.ones(d))


def _held(setting, points, places):
    """Return which points the region of their own class holds however sums are rounded."""
    held = [
        setting.rounding(Is(int(k))).hold(x[None], False)[0]
        for x, k in zip(points, places, strict=True)
    ]
    return np.array(held)


def _drawn(seed, unit, W, b, n=40):
    """Return random points, and some where the two largest scores are next to equal."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, W.shape[1])) * unit
    scores = points @ W.T + b
    first, second = np.argsort(scores, axis=1)[:, :-3:-1].T
    g = W[first] - W[second]
    lead = scores[np.arange(n), first] - scores[np.arange(n), second]
    share = rng.choice([0.0, 0.5, 1 - 1e-13, 1.0], size=n)
    return points - (share * lead / (g * g).sum(axis=1))[:, None] * g


@given(st.integers(0, 10_000), UNITS)
@example(1502, 1.0)  # a lead that is just as large as what rounds
def test_linear_scores(seed, unit):
    rng = np.random.default_rng(seed)
    W, b = rng.normal(size=(4, 3)) / unit, rng.normal(size=4)
    model = LogisticRegression()
    model.coef_, model.intercept_, model.classes_, model.n_features_in_ = W, b, np.arange(4), 3
    points = _drawn(seed, unit, W, b)
    places = model.predict(points)
    sure = surely_win(W, b, places, points, False)
    assert sure.any()
    assert _held(_setting(model, 3), points[sure], places[sure]).all()
    single = surely_win(W, b, places, points, True)
    assert not (single & ~sure).any()


@given(st.integers(0, 10_000), UNITS)
def test_prototypes(seed, unit):
    rng = np.random.default_rng(seed)
    P = rng.normal(size=(6, 3)) * unit
    model = GLVQ(2)
    model.prototypes_, model.prototype_labels_ = P, np.repeat(np.arange(3), 2)
    model.classes_, model.n_features_in_ = np.arange(3), 3
    points = _drawn(seed, unit, 2 * P, -(P * P).sum(axis=1))
    places, setting = model.predict(points), _setting(model, 3)
    for k in range(3):  # any region tells the same
        sure = setting.rounding(Is(k)).decided(points)
        assert sure.any()
        assert _held(setting, points[sure], places[sure]).all()


def test_samples_on_a_boundary_are_looked_at_more_closely(monkeypatch):
    model = LogisticRegression()
    model.coef_ = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    model.intercept_, model.classes_, model.n_features_in_ = np.zeros(3), np.arange(3), 2
    asked = []
    is_sure = Setting.is_sure

    def noted(self, kind, labels, points, table):
        asked.append((kind, len(points)))
        return is_sure(self, kind, labels, points, table)

    monkeypatch.setattr(Setting, "is_sure", noted)
    samples = np.array([[3.0, 1.0], [0.1 + 0.2, 0.3], [1.0, 5.0]])
    pertinent.pertinent_negatives(model, samples, target=2)
    assert asked[0] == (Kind.IS, 1)  # the one in the middle, before any answer is judged
