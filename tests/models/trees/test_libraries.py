"""XGBoost, LightGBM and CatBoost: the region is what `predict` says."""

import json

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_wine

import pertinent
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.trees import of_catboost, of_lightgbm, of_xgboost
from tests.models.trees.on_cuts import assert_is_what_predict_says, assert_reads_right

WINE, CANCER = load_wine(return_X_y=True), load_breast_cancer(return_X_y=True)
NAMES = np.array(["red", "green", "blue"])


def _with_gaps(X, share=0.1):
    return np.where(np.random.default_rng(0).random(X.shape) < share, np.nan, X)


def _xgboost(**more):
    return xgboost.XGBClassifier(**{"n_estimators": 25, "max_depth": 4, "n_jobs": 1, **more})


def _lightgbm(**more):
    return lightgbm.LGBMClassifier(**{"n_estimators": 25, "verbose": -1, "n_jobs": 1, **more})


def _catboost(**more):
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    return catboost.CatBoostClassifier(**{"iterations": 25, "depth": 4, **quiet, **more})


RANDOM_FOREST = {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1}
MODELS = {
    "xgboost of two": (_xgboost(), *CANCER),
    "xgboost of three": (_xgboost(n_jobs=2), *WINE),
    "xgboost, softmax": (_xgboost(objective="multi:softmax"), *WINE),
    "xgboost, hinge": (_xgboost(objective="binary:hinge", base_score=0.3), *CANCER),
    "xgboost, raw": (_xgboost(objective="binary:logitraw"), *CANCER),
    "xgboost, base score": (_xgboost(base_score=0.9, scale_pos_weight=3.0), *CANCER),
    "xgboost, histograms": (_xgboost(tree_method="hist", grow_policy="lossguide"), *CANCER),
    "xgboost's forest": (xgboost.XGBRFClassifier(n_estimators=15, max_depth=4), *WINE),
    "lightgbm of two": (_lightgbm(), *CANCER),
    "lightgbm of three": (_lightgbm(n_jobs=2), WINE[0], NAMES[WINE[1]]),
    "lightgbm's forest": (_lightgbm(**RANDOM_FOREST), *CANCER),
    "lightgbm's forest of three": (_lightgbm(**RANDOM_FOREST), *WINE),
    "lightgbm, dart": (_lightgbm(boosting_type="dart"), *CANCER),
    "lightgbm, weights": (_lightgbm(class_weight="balanced", sigmoid=0.7), *CANCER),
    "catboost of two": (_catboost(), *CANCER),
    "catboost of three": (_catboost(iterations=11), WINE[0], NAMES[WINE[1]]),
    "catboost, one against all": (_catboost(loss_function="MultiClassOneVsAll"), *WINE),
    "catboost, threads": (_catboost(thread_count=2, iterations=7), *CANCER),
    "catboost, leaf by leaf": (_catboost(grow_policy="Lossguide"), *CANCER),
    "catboost, level by level": (_catboost(grow_policy="Depthwise"), *WINE),
    "catboost, weights": (_catboost(auto_class_weights="Balanced"), *WINE),
}
GAPS = {
    "xgboost": (_xgboost(), _with_gaps(CANCER[0]), CANCER[1]),
    "xgboost of three": (_xgboost(), _with_gaps(WINE[0]), WINE[1]),
    "xgboost, no gaps seen": (_xgboost(), *CANCER),
    "lightgbm": (_lightgbm(), _with_gaps(CANCER[0]), CANCER[1]),
    "lightgbm, no gaps seen": (_lightgbm(), *CANCER),
    "lightgbm, gaps not used": (_lightgbm(use_missing=False), _with_gaps(WINE[0]), WINE[1]),
    "lightgbm, negative": (_lightgbm(), CANCER[0] - CANCER[0].mean(axis=0), CANCER[1]),
    "catboost, least": (_catboost(), _with_gaps(CANCER[0]), CANCER[1]),
    "catboost, most": (_catboost(nan_mode="Max"), _with_gaps(WINE[0]), WINE[1]),
}


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", MODELS)
def test_the_region_is_what_predict_says_on_cuts_and_beside_them(name):
    model, X, y = MODELS[name]
    assert_reads_right(model.fit(X, y), X)


@pytest.mark.matrix(2)
@pytest.mark.parametrize("name", GAPS)
def test_missing_values_go_where_the_library_sends_them(name):
    model, X, y = GAPS[name]
    assert_reads_right(model.fit(X, y), np.nan_to_num(X), missing=0.3)


def test_zero_as_a_missing_value():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(600, 6)), 1)
    X[rng.random(X.shape) < 0.3] = 0.0
    y = ((X > 0.2).sum(axis=1) + (X == 0).sum(axis=1) * 2) % 3
    model = _lightgbm(zero_as_missing=True, min_child_samples=5).fit(X, y)
    assert_reads_right(model, X, missing=0.2)
    tiny = X * 10.0 ** rng.integers(-37, 1, X.shape)
    assert_is_what_predict_says(model, tiny)
    edges = rng.choice([of_lightgbm.ZERO, -of_lightgbm.ZERO], X.shape)
    beside = np.nextafter(edges, rng.choice([-1.0, 0.0, 1.0], X.shape))
    assert_is_what_predict_says(model, np.where(rng.random(X.shape) < 0.5, beside, X))


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        (_xgboost, {"early_stopping_rounds": 2, "n_estimators": 80}),
        (_lightgbm, {"early_stopping_rounds": 2, "n_estimators": 80}),
        (_catboost, {"early_stopping_rounds": 2, "iterations": 80}),
    ],
)
def test_trees_after_the_best_round_do_not_count(kind, more):
    X, y = CANCER
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.2, 1 - y, y)  # noise: it stops early
    model = kind(**more).fit(X[:300], y[:300], eval_set=[(X[300:], y[300:])])
    region = pertinent.decision_region(model, 0)
    assert 0 < len(region.ensemble.trees) < 80
    assert_reads_right(model, X)


# -- Exact ties, and the numbers beside them -------------------------------------------------


def _edited_xgboost(leaves, base_score=0.5):
    """Return a model of one cut at 0.5, whose leaves are given for each of its trees."""
    X, y = np.repeat([[0.0], [1.0]], 40, axis=0), np.repeat([0, 1], 40)
    model = _xgboost(n_estimators=len(leaves), max_depth=1, base_score=base_score).fit(X, y)
    document = json.loads(model.get_booster().save_raw("json"))
    for tree, (low, high) in zip(
        document["learner"]["gradient_booster"]["model"]["trees"], leaves, strict=True
    ):
        tree["split_conditions"][1:3] = [float(low), float(high)]
    model.get_booster().load_model(bytearray(json.dumps(document).encode()))
    return model


def test_xgboost_decides_on_a_sigmoid_in_single_precision():
    tiny = [0.0, 2e-8, 5e-8, 8e-8, 8.94e-8, 8.95e-8, 9e-8, 1e-7, 1.5e-7, 3e-7]
    decided = set()
    for number in tiny:
        model = _edited_xgboost([(number, -number)])
        decided |= {(number, int(c)) for c in assert_is_what_predict_says(model, np.eye(2)[:, :1])}
    assert {(0.0, 0), (5e-8, 0), (3e-7, 1)} <= decided
    model = _edited_xgboost([(0.1, 0.1)])
    threshold = pertinent.decision_region(model, 0).ensemble.tally.threshold
    for number, label in ((threshold, 1), (np.nextafter(np.float32(threshold), np.float32(0)), 0)):
        model = _edited_xgboost([(number, number)])
        assert set(assert_is_what_predict_says(model, np.eye(2)[:, :1])) == {label}


def test_sums_of_xgboost_that_cancel_tie_for_class_0():
    model = _edited_xgboost([(0.3, -0.2), (-0.3, 0.2)])
    assert set(assert_is_what_predict_says(model, np.eye(2)[:, :1])) == {0}
    # 0.1 + 0.2 - 0.3 is above 0 in single precision, and 0.3 - 0.2 - 0.1 below it.
    model = _edited_xgboost([(0.1, 0.3), (0.2, -0.2), (-0.3, -0.1)])
    assert_is_what_predict_says(model, np.eye(2)[:, :1])


@pytest.mark.parametrize("kind", [_xgboost, _lightgbm])
def test_classes_that_tie_go_to_the_first(kind):
    X, y = np.tile([[0.0], [1.0], [2.0]], (60, 1)), np.repeat([0, 1, 2], 60)
    assert set(assert_is_what_predict_says(kind(n_estimators=3).fit(X, y), X)) == {0}


@pytest.mark.parametrize("data", [WINE, CANCER])
def test_classes_of_catboost_that_tie_go_to_the_first(data, tmp_path):
    model, file = _catboost(iterations=4).fit(*data), str(tmp_path / "model.json")
    model.save_model(file, format="json")
    document = json.loads((tmp_path / "model.json").read_text())
    for k, tree in enumerate(document["oblivious_trees"]):
        tree["leaf_values"] = [0.3 * (-1) ** k] * len(tree["leaf_values"])
    (tmp_path / "model.json").write_text(json.dumps(document))
    model.load_model(file, format="json")
    assert set(assert_is_what_predict_says(model, data[0])) == {0}


def test_sums_of_xgboost_are_those_of_the_library_to_the_bit():
    X, y = CANCER
    model = _xgboost(n_estimators=60).fit(X, y)
    ensemble = of_xgboost.booster_of(model.get_booster())
    np.testing.assert_array_equal(ensemble.totals(X)[:, 0], model.predict(X, output_margin=True))


def test_sums_of_lightgbm_are_those_of_the_library_to_the_bit():
    X, y = WINE
    model = _lightgbm().fit(X, y)
    ensemble = of_lightgbm.ensemble_of(model.booster_.model_to_string())
    np.testing.assert_array_equal(ensemble.totals(X), model.predict(X, raw_score=True))


@pytest.mark.parametrize("grow_policy", ["SymmetricTree", "Lossguide"])
@pytest.mark.parametrize("data", [WINE, CANCER])
def test_sums_of_catboost_are_those_of_the_library_to_the_bit(grow_policy, data):
    X, y = data
    model = _catboost(grow_policy=grow_policy).fit(X, y)
    found = pertinent.decision_region(model, 0).ensemble.totals(X)
    raw = model.predict(X, prediction_type="RawFormulaVal")
    np.testing.assert_array_equal(found, raw.reshape(found.shape))


def _edited_lightgbm(value):
    """Return a model of one cut whose leaves are ``-value`` and ``value``."""
    X, y = np.repeat([[0.0], [1.0]], 40, axis=0), np.repeat([0, 1], 40)
    model = _lightgbm(n_estimators=1, num_leaves=2, min_child_samples=5).fit(X, y)
    text = model.booster_.model_to_string()
    line = next(line for line in text.splitlines() if line.startswith("leaf_value="))
    new = text.replace(line, f"leaf_value={-value!r} {value!r}")
    model._Booster = lightgbm.Booster(model_str=new)
    return model


def test_lightgbm_decides_on_a_sigmoid_in_double_precision():
    threshold = pertinent.decision_region(_edited_lightgbm(0.1), 0).ensemble.tally.threshold
    assert 1e-17 < threshold < 1e-15
    beside = [float(np.nextafter(threshold, to)) for to in (0.0, 1.0)]
    for number in (0.0, 1e-17, 1e-16, 3e-16, 1e-15, threshold, *beside):
        assert_is_what_predict_says(_edited_lightgbm(number), np.eye(2)[:, :1])


def test_a_threshold_that_was_set_moves_the_decision_of_catboost():
    X, y = CANCER
    model = _catboost().fit(X, y)
    before = model.predict(X)
    model.set_probability_threshold(0.9)
    assert (model.predict(X) != before).any()
    assert_reads_right(model, X)


def test_scale_and_bias_of_catboost():
    for X, y in (CANCER, WINE):
        model = _catboost().fit(X, y)
        model.set_scale_and_bias(0.7, 0.3 if len(set(y)) == 2 else [0.3, -0.2, 0.1])
        assert_reads_right(model, X)


# -- What is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (_xgboost(booster="dart"), "'dart' is no plain sum of trees"),
        (_xgboost(booster="gblinear"), "'gblinear' is no plain sum of trees"),
        (_xgboost(missing=-1.0), "takes a number for a missing value"),
        (_xgboost(objective="reg:squarederror"), "'reg:squarederror' does not decide"),
        (_lightgbm(objective="cross_entropy"), "'cross_entropy' does not decide"),
        (_lightgbm(linear_tree=True), "their leaves are not constant"),
    ],
)
def test_what_is_no_sum_of_trees_is_refused_with_the_reason(model, reason):
    with pytest.raises(UnsupportedModelError, match=reason):
        pertinent.decision_region(model.fit(*CANCER), 0)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (_lightgbm(objective="multiclassova"), "'multiclassova' does not decide"),
        (_xgboost(multi_strategy="multi_output_tree"), "trees with several outputs"),
    ],
)
def test_what_does_not_compare_sums_is_refused_with_the_reason(model, reason):
    with pytest.raises(UnsupportedModelError, match=reason):
        pertinent.decision_region(model.fit(*WINE), 0)


def test_categories_of_catboost_are_refused_with_the_reason():
    X = np.array([["a", 1.0], ["b", 2.0], ["c", 3.0]] * 20, dtype=object)
    model = _catboost(iterations=3, cat_features=[0]).fit(X, [0, 1, 1] * 20)
    with pytest.raises(UnsupportedModelError, match="encode categories in a step before"):
        pertinent.decision_region(model, 0)


def test_readers_do_not_import_a_library():
    names = ("of_catboost", "of_lightgbm", "of_xgboost")
    modules = (of_catboost, of_lightgbm, of_xgboost)
    for name, module in zip(names, modules, strict=True):
        assert not hasattr(module, name.removeprefix("of_"))


@pytest.mark.parametrize("data", [WINE, CANCER])
def test_a_catboost_model_from_a_file_is_the_same(data, tmp_path):
    model, file = _catboost(iterations=8).fit(*data), str(tmp_path / "model.cbm")
    model.save_model(file)
    again = catboost.CatBoostClassifier().load_model(file)
    assert_is_what_predict_says(again, data[0])
    found = pertinent.pertinent_negatives(again, data[0][:3])
    assert (found.target != np.ravel(model.predict(data[0][:3]))).all()
