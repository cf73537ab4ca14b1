"""Points where a tree ensemble is most easily read wrongly, and the judge: the model's predict."""

import numpy as np

import pertinent


def points_on_cuts(region, X, n=1200, missing=0.0, seed=0):
    """Return samples with values moved onto cuts, beside them, and some of them missing.

    Beside means: one double up or down, the nearest single, one single up or down, and the middle
    of two singles, which rounds to the even one.
    """
    rng = np.random.default_rng(seed)
    points = X[rng.integers(len(X), size=(n, X.shape[1])), np.arange(X.shape[1])].astype(float)
    for j, cuts in enumerate(region.ensemble.cuts):
        if not len(cuts):
            continue
        cut = rng.choice(cuts, n)
        with np.errstate(over="ignore"):
            single = cut.astype(np.float32)
            up, down = (np.nextafter(single, np.float32(to)) for to in (np.inf, -np.inf))
        kinds = [cut, np.nextafter(cut, np.inf), np.nextafter(cut, -np.inf)]
        kinds += [single.astype(float), up.astype(float), down.astype(float)]
        kinds += [(single.astype(float) + up.astype(float)) / 2]
        kinds = [np.where(np.isfinite(kind), kind, points[:, j]) for kind in kinds]
        some = rng.integers(0, 2 * len(kinds), n)
        points[:, j] = np.choose(some, [*kinds, *[points[:, j]] * len(kinds)])
    points[rng.random(points.shape) < missing] = np.nan
    return points


def assert_is_what_predict_says(model, points, asked=None):
    """Assert that every region, and what is outside of it, is what the model predicts.

    ``asked`` is what the model is asked about, if not the points: the same in another type.
    """
    predicted = np.ravel(model.predict(points if asked is None else asked))
    for place, label in enumerate(np.asarray(model.classes_).tolist()):
        region = pertinent.decision_region(model, label)
        assert region.label == place
        np.testing.assert_array_equal(region.contains(points), predicted == label)
        np.testing.assert_array_equal(region.complement().contains(points), predicted != label)
    return predicted


def assert_reads_right(model, X, missing=0.0, n=1200):
    """Assert it on cuts and beside them, of numbers of every type, in batches and alone."""
    region = pertinent.decision_region(model, np.asarray(model.classes_).tolist()[0])
    points = points_on_cuts(region, X, n)
    predicted = assert_is_what_predict_says(model, points)
    assert len(np.unique(predicted)) > 1  # the points say something
    assert [np.ravel(model.predict(p[None]))[0] for p in points[:50]] == predicted[:50].tolist()
    with np.errstate(over="ignore"):
        single = points.astype(np.float32)
    assert_is_what_predict_says(model, single.astype(float), single)
    whole = np.clip(np.round(points), -1e6, 1e6).astype(np.int64)
    assert_is_what_predict_says(model, whole.astype(float), whole)
    if missing:
        assert_is_what_predict_says(model, points_on_cuts(region, X, n, missing))
