"""Models made of models: votes, pairs, codes, calibration, constants."""

import warnings

import imblearn.pipeline
import numpy as np
import pytest
from imblearn.under_sampling import RandomUnderSampler
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    IsolationForest,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.combined.duels import tournaments
from pertinent.models.combined.voting import winning_votes
from pertinent.models.families import OWN, family_of
from pertinent.testing import (
    check_certificates,
    check_negatives_are_valid,
    check_nothing_is_closer,
    check_positives_are_valid,
    check_region_agrees_with_predict,
    check_targets_are_reached,
    probe_points,
)

CHECKS = (
    check_region_agrees_with_predict,
    check_positives_are_valid,
    check_negatives_are_valid,
    check_targets_are_reached,
    check_certificates,
    check_nothing_is_closer,
)
iris, kinds = load_iris(return_X_y=True)
cancer, ill = load_breast_cancer(return_X_y=True)
cancer = StandardScaler().fit_transform(cancer)[:, :4]


def mixed(n_classes, d, seed=3):
    """Return classes that overlap, so that votes go round in circles."""
    return make_classification(
        200, d, n_informative=d, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1,
        random_state=seed, class_sep=0.2,
    )  # fmt: skip


def logistic(C=1.0):
    return LogisticRegression(C=C, max_iter=1000)


def tree(depth, seed=0):
    return DecisionTreeClassifier(max_depth=depth, max_features=2, random_state=seed)


CASES = {
    "NuSVC of two": (NuSVC(kernel="linear", nu=0.2), (cancer, ill)),
    "SVC of three": (SVC(kernel="linear"), mixed(3, 3)),
    "SVC of three, ties broken": (SVC(kernel="linear", break_ties=True), mixed(3, 3)),
    "NuSVC of four": (NuSVC(kernel="linear", nu=0.3), mixed(4, 3)),
    "pairs of two": (OneVsOneClassifier(logistic()), (cancer, ill)),
    "pairs of three": (
        OneVsOneClassifier(make_pipeline(StandardScaler(), LinearSVC())), mixed(3, 3)
    ),
    "codes": (OutputCodeClassifier(LinearSVC(), code_size=3, random_state=1), (iris, kinds)),
    "codes that coincide": (OutputCodeClassifier(logistic(), random_state=0), mixed(4, 4)),
    "votes": (
        VotingClassifier([("a", logistic()), ("b", MultinomialNB()), ("c", LinearSVC())]),
        (iris, kinds),
    ),
    "weighted votes, a tree among them": (
        VotingClassifier(
            [("a", logistic()), ("b", tree(2)), ("c", LinearSVC())], weights=[1, 1.5, 0.7]
        ),
        (iris, kinds),
    ),
    "isotonic": (
        CalibratedClassifierCV(logistic(), method="isotonic", ensemble=False, cv=3), (cancer, ill)
    ),
    "isotonic folds of one model": (
        CalibratedClassifierCV(
            FrozenEstimator(logistic().fit(cancer, ill)), method="isotonic", ensemble=True, cv=3
        ),
        (cancer, ill),
    ),
    "sigmoid folds of one model": (
        CalibratedClassifierCV(FrozenEstimator(logistic().fit(cancer, ill)), ensemble=True, cv=3),
        (cancer, ill),
    ),
    "temperature": (
        CalibratedClassifierCV(LinearSVC(), method="temperature", ensemble=False, cv=3),
        (iris, kinds),
    ),
}  # fmt: skip


def fitted(name):
    model, (X, y) = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short fits
        return model.fit(X, y), X


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", CASES)
def test_agrees_with_predict_and_nothing_is_closer(name):
    model, X = fitted(name)
    check_region_agrees_with_predict(model, X)
    check_negatives_are_valid(model, X[::40])
    check_nothing_is_closer(model, X[::60], 1000)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_common_checks(name):
    model, X = fitted(name)
    for check in CHECKS:
        check(model, X)


@pytest.mark.parametrize("n_classes", [3, 4, 5])
@pytest.mark.parametrize("sums", [False, True])
def test_every_tournament_has_one_winner(n_classes, sums):
    """Where sums decide, a set of outcomes belongs to each of the classes that tie."""
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    rng = np.random.default_rng(0)
    for _ in range(200):
        ends = rng.random(len(pairs)) < 0.5
        votes = np.zeros(n_classes, dtype=int)
        for (i, j), first in zip(pairs, ends, strict=True):
            votes[i if first else j] += 1
        best = np.flatnonzero(votes == votes.max())
        for t in range(n_classes):
            sets = [
                tied
                for outcomes, tied in tournaments(n_classes, t, sums)
                if all(ends[p] == first for p, first in outcomes)
            ]
            if sums:
                assert sets == ([tuple(k for k in best if k != t)] if t in best else [])
            else:
                assert len(sets) == (t == best[0])


def test_winning_votes_are_those_of_numpy():
    """Among them 0.1 + 0.2 against 0.3, which NumPy adds up to more."""
    rng = np.random.default_rng(0)
    for weights, n_classes in ((np.array([0.1, 0.2, 0.3]), 2), (np.array([1, 2, 1, 1.0]), 3)):
        for _ in range(100):
            said = rng.integers(n_classes, size=len(weights))
            winner = np.argmax(np.bincount(said, weights=weights))
            for t in range(n_classes):
                wins = any(
                    all(said[m] == k for m, k in votes)
                    for votes in winning_votes(weights, n_classes, t)
                )
                assert wins == (t == winner)


@pytest.mark.parametrize(
    "model",
    [
        VotingClassifier(
            [("a", tree(3)), ("b", tree(2, 1)), ("c", tree(4, 2))], weights=[0.1, 0.2, 0.3]
        ),
        VotingClassifier(
            [
                ("a", tree(3)),
                ("b", RandomForestClassifier(5, max_depth=3, random_state=0)),
                ("c", BaggingClassifier(n_estimators=4, random_state=0)),
            ],
            voting="soft",
            weights=[0.1, 0.2, 0.3],
        ),
    ],
    ids=["hard", "soft"],
)  # fmt: skip
def test_votes_of_trees_are_sums_of_trees(model):
    model.fit(iris, kinds)
    points = probe_points(model, iris, 1000)
    predicted = model.predict(points)
    inside = np.array([pertinent.decision_region(model, k).contains(points) for k in range(3)])
    assert not inside[predicted != np.arange(3)[:, None]].any()
    # A tie that the last bit decides belongs to no class where forests divide before they add.
    left_out = ~inside.any(axis=0)
    assert left_out.mean() < 0.02
    assert not left_out.any() or model.voting == "soft"


def test_constants_are_proved():
    model = DummyClassifier(strategy="most_frequent").fit(cancer, ill)
    found = pertinent.pertinent_negatives(model, cancer[:3])
    assert (found.status == "infeasible").all()
    kept = pertinent.pertinent_positives(model, cancer[:3], baseline=0.0)
    assert kept.trivial.all()
    fixed = DummyClassifier(strategy="constant", constant=0).fit(cancer, ill)
    assert pertinent.decision_region(fixed, 0).contains(cancer).all()
    assert not pertinent.decision_region(fixed, 1).contains(cancer).any()


REFUSED = {
    "random": (DummyClassifier(strategy="uniform"), kinds, "draws classes at random"),
    "folds": (CalibratedClassifierCV(logistic(), cv=2), kinds == 0, "averages 2 models"),
    "classes": (
        CalibratedClassifierCV(logistic(), ensemble=False, cv=2), kinds, "more than two classes"
    ),
    "trees in pairs": (OneVsOneClassifier(tree(2)), kinds, "over DecisionTreeClassifier"),
    "calibrated pairs": (
        OneVsOneClassifier(CalibratedClassifierCV(logistic(), ensemble=False, cv=2)),
        kinds, "adds up probabilities",
    ),
    "thresholds": (
        OneVsRestClassifier(FixedThresholdClassifier(logistic(), threshold=0.3)),
        kinds, "over FixedThresholdClassifier",
    ),
    "soft votes": (
        VotingClassifier([("a", logistic()), ("b", GaussianNB())], voting="soft"),
        kinds, "mean of probabilities of several scores",
    ),
    "votes of boosting": (
        VotingClassifier([("a", logistic()), ("b", GradientBoostingClassifier(n_estimators=2))]),
        kinds, "no union of cells",
    ),
    "votes that bin": (
        VotingClassifier([("a", logistic()), ("b", BernoulliNB(binarize=2.0))]),
        kinds, "in a way of its own",
    ),
    "curved pairs": (SVC(kernel="poly", degree=2), kinds, "quadratic scores"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_region_is_refused_with_the_reason(name):
    model, y, match = REFUSED[name]
    model.fit(iris, y)
    with pytest.raises(UnsupportedModelError, match=match):
        pertinent.pertinent_negatives(model, iris[:3])


def test_votes_between_many_classes_are_refused():
    X, y = load_digits(return_X_y=True)
    with pytest.raises(UnsupportedModelError, match="45 pairs of 10 classes"):
        pertinent.pertinent_negatives(SVC(kernel="linear").fit(X[:300], y[:300]), X[:1])


def test_folds_that_turn_the_order_around_are_refused():
    model = CalibratedClassifierCV(
        FrozenEstimator(logistic().fit(cancer, ill)), ensemble=True, cv=2
    )
    model.fit(cancer, ill)
    model.calibrated_classifiers_[0].calibrators[0].a_ *= -1
    with pytest.raises(UnsupportedModelError, match="do not share the order"):
        pertinent.pertinent_negatives(model, cancer[:3])


def test_folds_that_all_fall_are_read():
    model = CalibratedClassifierCV(
        FrozenEstimator(logistic().fit(cancer, ill)), ensemble=True, cv=2
    )
    model.fit(cancer, ill == 0)
    check_region_agrees_with_predict(model, cancer)


def test_what_is_not_supported_is_told_in_three_lines():
    stacked = StackingClassifier([("a", logistic())]).fit(cancer, ill)
    for model, why, instead in (
        (MLPClassifier(max_iter=1), "a network adds up units", "HistGradientBoosting"),
        (stacked, "sees what the others say", "voting='hard'"),
        (KMeans(2), "it is a clusterer, not a classifier", "register_model"),
        (IsolationForest(), "it is an outlier detector, not a classifier", "register_model"),
        (StandardScaler(), "it has no predict", "register_model"),
    ):
        with pytest.raises(UnsupportedModelError) as told:
            pertinent.decision_region(model, 0)
        lines = str(told.value).splitlines()
        assert len(lines) == 3
        assert "is not supported" in lines[0]
        assert lines[1].startswith("Why there is no exact answer: ")
        assert lines[2].startswith("What to do: ")
        assert ("search=True" in lines[2]) == (instead != "register_model")
        assert " explain " in lines[2]
        assert why in lines[0] + lines[1]
        assert instead in lines[2]
        assert "Supported are: " in lines[2]


def test_every_supported_class_has_a_family():
    shipped = {"sklearn", "xgboost", "lightgbm", "catboost", "imblearn", "sklvq", "prosemble"}
    for name in pertinent.supported_models():
        if name.split(".")[0] in shipped:
            assert family_of(name) is not OWN


def test_samplers_of_imblearn_do_nothing_when_a_pipeline_predicts():
    model = imblearn.pipeline.make_pipeline(
        StandardScaler(), RandomUnderSampler(random_state=0), logistic()
    ).fit(iris, kinds == 1)
    check_region_agrees_with_predict(model, iris)
    check_nothing_is_closer(model, iris[::40], 500)
    frozen = FrozenEstimator(model)
    check_negatives_are_valid(frozen, iris[::10])
