"""Mixtures: thresholds, regularisation, the choice of components, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture

from pertinent import Plausibility, PlausibilityWarning
from pertinent.exceptions import InputError
from pertinent.tables.features import Features

X, y = load_iris(return_X_y=True)


def bound(plausibility, names=("a", "b", "c", "d"), classes=(0, 1, 2)):
    return plausibility.bind(Features(tuple(names)), np.array(classes))


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_density_is_that_of_scikit_learn(covariance_type):
    made = Plausibility(
        X, y, n_components=2, covariance_type=covariance_type, standardize=False, reg_covar=1e-4
    )
    own = GaussianMixture(2, covariance_type=covariance_type, reg_covar=1e-4, random_state=0).fit(
        X[y == 1]
    )
    np.testing.assert_allclose(made.score_samples(X, 1), own.score_samples(X), rtol=1e-9)
    mixture = bound(made).mixtures[1]
    np.testing.assert_allclose(
        mixture.log_density(made.transform(X)), own.score_samples(X), rtol=1e-9
    )


@pytest.mark.parametrize("quantile", [0.0, 0.25, 0.5, 0.9])
@pytest.mark.parametrize("projection", [None, 3, "pca"])
def test_ellipsoids_hold_the_densest_share_of_the_class(quantile, projection):
    made = Plausibility(X, y, n_components=2, quantile=quantile, projection=projection)
    region = bound(made).region(1, 0.0)
    own = X[y == 1]
    inside = region.contains(own)
    assert abs(inside.mean() - (1 - quantile)) <= 1.5 / len(own)
    # Inside any ellipsoid the mixture reaches the threshold, by scikit-learn's own account.
    some = np.random.default_rng(0).normal(own.mean(0), own.std(0), size=(4000, 4))
    dense = made.score_samples(some, 1) >= made.threshold(1)
    hits = region.contains(some)
    assert hits.any()
    assert dense[hits].all()


def test_the_radius_does_not_admit_every_training_point():
    region = bound(Plausibility(X, y, n_components=1)).region(0, 0.0)
    assert 0.4 < region.contains(X[y == 0]).mean() < 0.6


def test_a_component_below_the_threshold_has_no_ellipsoid():
    rng = np.random.default_rng(0)
    tight, wide = rng.normal(size=(80, 2)) * 0.01, rng.normal(size=(20, 2)) * 30 + 200
    data = np.vstack([tight, wide])
    made = Plausibility(data, np.zeros(100, int), n_components=2, quantile=0.5, reg_covar=1e-9)
    assert len(made.bind(Features(("a", "b")), np.array([0])).region(0, 0.0)) == 1


def test_units_do_not_matter_when_standardized():
    scale = np.array([1e-3, 1.0, 1e3, 1e6])
    one, other = Plausibility(X, y, 2), Plausibility(X * scale, y, 2)
    for k in (0, 1, 2):
        a, b = bound(one).region(k, 0.0), bound(other).region(k, 0.0)
        np.testing.assert_array_equal(a.contains(X), b.contains(X * scale))


def test_projection_is_the_principal_components():
    made = Plausibility(X, y, n_components=1, projection=2, standardize=False)
    np.testing.assert_allclose(
        made.transform(X), PCA(2, svd_solver="full").fit_transform(X), atol=1e-12
    )


def test_number_of_components_by_bic_and_by_cross_validation():
    rng = np.random.default_rng(1)
    data = np.vstack([rng.normal(size=(60, 2)) + shift for shift in ((0, 0), (20, 0), (0, 20))])
    for rule in ("bic", "cv"):
        made = Plausibility(data, np.zeros(len(data), int), n_components=rule)
        found = made.bind(Features(("a", "b")), np.array([0]))
        assert len(found.mixtures[0].weights) == 3


def test_degenerate_components_are_regularised_with_a_warning():
    data = np.c_[X, X[:, 0] + X[:, 1], np.full(len(X), 3.0)]  # a copy and a constant
    with pytest.warns(
        PlausibilityWarning, match=r"singular covariance \(50 points in 6 dim.*added"
    ):
        found = bound(Plausibility(data, y, n_components=2), "abcdef")
    roots = np.concatenate([m.roots for m in found.mixtures])
    assert np.linalg.norm(roots, 2, axis=(1, 2)).max() < 1e3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound(Plausibility(X, y, n_components=1))
        Plausibility(data, y, n_components=2, reg_covar=0.1).score_samples(data, 0)


def test_fewer_points_than_components():
    few = np.r_[:3, 50:150]
    made = Plausibility(X[few], y[few], n_components=5, reg_covar=0.1)
    with pytest.warns(PlausibilityWarning, match="3 components are fitted instead of 5"):
        found = bound(made)
    assert len(found.mixtures[0].weights) == 3


def test_columns_are_matched_by_name():
    frame = pd.DataFrame(X, columns=list("abcd"))
    straight, turned = Plausibility(frame, y, 1), Plausibility(frame[list("dcba")], y, 1)
    np.testing.assert_allclose(
        bound(straight).region(1, 0.0).cells[0].quadratics[0].A,
        bound(turned).region(1, 0.0).cells[0].quadratics[0].A,
    )


def test_percentile_counts_training_points_of_lower_density():
    mixture = bound(Plausibility(X, y, 1)).mixtures[2]
    own = mixture.reference
    np.testing.assert_allclose(mixture.percentile(own[[0, 25, 49]]), [0, 50, 98])
    assert np.isnan(mixture.percentile(np.array([np.nan]))).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_components": 0}, "n_components must be 'bic', 'cv' or an integer"),
        ({"n_components": "aic"}, "n_components must be"),
        ({"covariance_type": "round"}, "covariance_type must be one of"),
        ({"quantile": 1.5}, r"quantile must be a number in \[0, 1\]"),
        ({"projection": "umap"}, "projection must be None, 'pca' or an integer"),
        ({"method": "kde"}, "method must be one of"),
        ({"n_neighbors": 0}, "n_neighbors must be at least 1"),
        ({"reg_covar": -1.0}, "reg_covar must be at least 0"),
        ({"max_components": 0}, "max_components must be at least 1"),
    ],
)
def test_bad_parameters_are_refused(wrong, words):
    with pytest.raises(InputError, match=words):
        Plausibility(X, y, **wrong)


def test_bad_data_is_refused():
    with pytest.raises(InputError, match="one label for each of the 150 rows"):
        Plausibility(X, y[:-1])
    with pytest.raises(InputError, match=r"no training points of the classes \[7\]"):
        bound(Plausibility(X, y), classes=(0, 1, 7))
    with pytest.raises(InputError, match="Class 0 has 1 training points"):
        bound(Plausibility(X[49:], y[49:], 1))
    with pytest.raises(InputError, match="more directions than the data has"):
        bound(Plausibility(X, y, projection=9))
    with pytest.raises(InputError, match="no density"):
        Plausibility(X, y, method="hull").score_samples(X, 0)


def test_same_bytes_every_time():
    wine, kind = load_wine(return_X_y=True)
    names = Features(tuple(str(i) for i in range(13)))
    one, other = (
        Plausibility(wine, kind, 2, reg_covar=1e-3).bind(names, np.array([0, 1, 2]))
        for _ in range(2)
    )
    for a, b in zip(one.mixtures, other.mixtures, strict=True):
        assert a.threshold == b.threshold
        assert a.roots.tobytes() == b.roots.tobytes()


def test_a_margin_tightens_every_ellipsoid_and_drops_none():
    found = bound(Plausibility(X, y, n_components=2, quantile=0.9))
    wide, tight = found.region(1, 0.0), found.region(1, 10.0)
    assert len(wide) == len(tight)
    assert wide.contains(X).any()
    assert not tight.contains(X).any()
