"""How many prototypes there are, where they start, and the first omega."""

import numpy as np
import pytest

from pertinent.lvq._init import (
    drawn_prototypes,
    given_prototypes,
    initial_omega,
    prototype_counts,
)

LABELS = np.array(["a", "b", "c"])


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (2, [2, 2, 2]),
        (np.int32(1), [1, 1, 1]),
        ([1, 2, 3], [1, 2, 3]),
        ((1, 1, 2), [1, 1, 2]),
        (np.array([3, 1, 1]), [3, 1, 1]),
        ({"c": 1, "a": 2, "b": 3}, [2, 3, 1]),
        ({np.str_("a"): 2, "b": 1, "c": 1}, [2, 1, 1]),
    ],
)
def test_counts(asked, expected):
    assert prototype_counts(asked, LABELS).tolist() == expected


@pytest.mark.parametrize(
    "labels", [np.array([False, True]), np.array([-3, 7]), np.array([0.5, 2.5])]
)
def test_counts_by_label_of_any_type(labels):
    by_numpy_label = {labels[1]: 2, labels[0]: 1}
    by_python_label = {labels[1].item(): 2, labels[0].item(): 1}
    assert prototype_counts(by_numpy_label, labels).tolist() == [1, 2]
    assert prototype_counts(by_python_label, labels).tolist() == [1, 2]


@pytest.mark.parametrize("asked", [0, -1, 1.5, True, None, "two", [1, 0, 1], [1, 1.0, 1]])
def test_counts_that_are_no_counts(asked):
    with pytest.raises(ValueError, match=r"prototypes_per_class must be a positive int.*Got .*"):
        prototype_counts(asked, LABELS)


def test_counts_of_the_wrong_length():
    with pytest.raises(ValueError, match=r"each of the 3 classes \['a', 'b', 'c'\].*Got 2 entries"):
        prototype_counts([1, 1], LABELS)


def test_counts_of_the_wrong_labels():
    with pytest.raises(ValueError, match=r"Missing: \['c'\]; not a class: \['d'\]"):
        prototype_counts({"a": 1, "b": 1, "d": 1}, LABELS)


def test_given_prototypes_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"shape \(4, 2\).*\[1, 3\] rows each.*Got shape \(3, 2\)"):
        given_prototypes(np.zeros((3, 2)), np.array([1, 3]), n_features=2)


def test_given_prototypes_must_be_finite():
    with pytest.raises(ValueError, match="init contains NaN"):
        given_prototypes([[np.nan]], np.array([1]), n_features=1)


def two_blobs():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3)), np.repeat([0, 1], 20)


def draw(init, counts, seed=0):
    X, y = two_blobs()
    random_state = np.random.RandomState(seed)
    return drawn_prototypes(X, y, np.array(counts), init, np.array(["p", "q"]), random_state)


@pytest.mark.parametrize("init", ["kmeans", "mean"])
def test_one_prototype_starts_at_the_mean(init):
    X, y = two_blobs()
    means = [X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)]
    np.testing.assert_allclose(draw(init, [1, 1]), means)


def test_kmeans_starts_at_cluster_centres():
    X, y = two_blobs()
    centres = draw("kmeans", [3, 1])[:3]
    nearest = ((X[y == 0][:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    for k, centre in enumerate(centres):
        np.testing.assert_allclose(centre, X[y == 0][nearest == k].mean(axis=0))


def test_random_starts_at_different_samples_of_the_class():
    X, y = two_blobs()
    prototypes = draw("random", [4, 2])
    assert len(np.unique(prototypes, axis=0)) == 6
    for prototype, label in zip(prototypes, [0, 0, 0, 0, 1, 1], strict=True):
        assert (X[y == label] == prototype).all(axis=1).any()


def test_several_prototypes_at_the_mean_are_spread():
    X, y = two_blobs()
    prototypes = draw("mean", [2, 1])
    assert not np.allclose(prototypes[0], prototypes[1], atol=1e-3)
    np.testing.assert_allclose(prototypes[:2], [X[y == 0].mean(axis=0)] * 2, atol=0.5)


@pytest.mark.parametrize("init", ["kmeans", "mean", "random"])
def test_the_seed_decides(init):
    np.testing.assert_array_equal(draw(init, [3, 2], seed=1), draw(init, [3, 2], seed=1))
    assert not np.allclose(draw(init, [3, 2], seed=1), draw(init, [3, 2], seed=4))


@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_fewer_samples_than_prototypes(init):
    with pytest.raises(ValueError, match=r"class 'q' has 20 for 21 prototypes.*init='mean'"):
        draw(init, [1, 21])


@pytest.mark.parametrize("rank", [1, 3, 5])
def test_first_omega_has_trace_one_and_orthogonal_rows(rank):
    X = np.random.default_rng(0).normal(size=(40, 5))
    omega = initial_omega(X, rank, np.random.RandomState(0))
    np.testing.assert_allclose(omega @ omega.T, np.eye(rank) / rank, atol=1e-12)


def test_first_omega_of_low_rank_sees_the_direction_of_largest_variance():
    X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 1, 20, 1]
    omega = initial_omega(X - X.mean(axis=0), 1, np.random.RandomState(0))
    assert abs(omega[0, 2]) > 0.99


def test_first_omega_with_fewer_samples_than_rank():
    X = np.random.default_rng(0).normal(size=(2, 6))
    omega = initial_omega(X, 4, np.random.RandomState(0))
    np.testing.assert_allclose(omega @ omega.T, np.eye(4) / 4, atol=1e-12)
