"""Files that XGBoost, LightGBM and CatBoost write: the model is the library's own, to the bit."""

import json
import random
import re
import subprocess
import sys

import catboost
import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from typer.testing import CliRunner

import pertinent
from pertinent.cli import codes
from pertinent.cli.app import app
from pertinent.exceptions import UnsupportedModelError
from pertinent.models.files import UnsafeModelError, load_model
from pertinent.models.trees.files import checked
from tests.models.trees.on_cuts import assert_reads_right

CANCER = load_breast_cancer(return_X_y=True)
FRAME = load_breast_cancer(return_X_y=True, as_frame=True)
WINE, DIABETES = load_wine(return_X_y=True), load_diabetes(return_X_y=True)
NAMES = np.array(["red", "green", "blue"])


def _xgboost(data, objective, rounds=6, **more):
    options = {"objective": objective, "max_depth": 3, "nthread": 1, **more}
    booster = xgboost.train(options, xgboost.DMatrix(*data), rounds)
    return booster.save_model, lambda file: xgboost.Booster(model_file=file)


def _lightgbm(data, objective, **more):
    options = {"objective": objective, "verbose": -1, "num_threads": 1, "num_leaves": 7, **more}
    booster = lightgbm.train(options, lightgbm.Dataset(*data), 6)
    return booster.save_model, lambda file: lightgbm.Booster(model_file=file)


def _catboost(data, kind=catboost.CatBoostClassifier, **more):
    quiet = {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    model = kind(iterations=6, depth=3, **quiet, **more).fit(*data)
    form = {"cbm": "cbm", "json": "json"}
    return (
        lambda file: model.save_model(file, format=form[file.rpartition(".")[2]]),
        lambda file: kind().load_model(file, format=form[file.rpartition(".")[2]]),
    )


MULTI = {"num_class": 3}
FOREST = {"boosting": "rf", "bagging_fraction": 0.7, "bagging_freq": 1}
REGRESSOR = {"kind": catboost.CatBoostRegressor}
WRITTEN = {
    "two classes.json": lambda: (_xgboost(FRAME, "binary:logistic"), CANCER),
    "two classes.ubj": lambda: (_xgboost(CANCER, "binary:logistic", base_score=0.3), CANCER),
    "three classes.json": lambda: (_xgboost(WINE, "multi:softprob", **MULTI), WINE),
    "three classes.ubj": lambda: (
        _xgboost(WINE, "multi:softmax", num_parallel_tree=2, **MULTI),
        WINE,
    ),
    "pruned.ubj": lambda: (_xgboost(CANCER, "binary:hinge", tree_method="exact", gamma=9), CANCER),
    "numbers.json": lambda: (_xgboost(DIABETES, "reg:squarederror"), DIABETES),
    "counts.ubj": lambda: (_xgboost(DIABETES, "count:poisson"), DIABETES),
    "two classes.txt": lambda: (_lightgbm(FRAME, "binary", zero_as_missing=True), CANCER),
    "three classes.txt": lambda: (_lightgbm(WINE, "multiclass", **MULTI), WINE),
    "forest.txt": lambda: (_lightgbm(CANCER, "binary", **FOREST), CANCER),
    "one leaf.txt": lambda: (_lightgbm(CANCER, "binary", min_data_in_leaf=400), CANCER),
    "numbers.txt": lambda: (_lightgbm(DIABETES, "regression"), DIABETES),
    "two classes.cbm": lambda: (_catboost((CANCER[0], CANCER[1] == 1)), CANCER),
    "catboost.json": lambda: (_catboost(FRAME, grow_policy="Lossguide"), CANCER),
    "three classes.cbm": lambda: (
        _catboost((WINE[0], NAMES[WINE[1]]), grow_policy="Depthwise"),
        WINE,
    ),
    "catboost of three.json": lambda: (_catboost(WINE), WINE),
    "numbers.cbm": lambda: (_catboost(DIABETES, **REGRESSOR), DIABETES),
    "numbers of catboost.json": lambda: (_catboost(DIABETES, **REGRESSOR), DIABETES),
}


def _outputs(model, X):
    """Return the plain sums of a model of any of the libraries, and what it predicts."""
    inner = getattr(model, "booster", model)
    if isinstance(inner, xgboost.Booster):
        return [inner.inplace_predict(X, predict_type=t) for t in ("margin", "value")]
    if isinstance(inner, lightgbm.Booster):
        return [inner.predict(X, raw_score=raw) for raw in (True, False)]
    return [inner.predict(X, prediction_type="RawFormulaVal"), inner.predict(X)]


@pytest.mark.parametrize("name", WRITTEN)
def test_the_model_is_the_librarys_own_to_the_bit(name, tmp_path):
    (save, library), (X, _) = WRITTEN[name]()
    file = str(tmp_path / name)
    save(file)
    model, own = load_model(file), library(file)
    rng = np.random.default_rng(0)
    points = X[rng.integers(len(X), size=(500, X.shape[1])), np.arange(X.shape[1])]
    for found, expected in zip(_outputs(model, points), _outputs(own, points), strict=True):
        np.testing.assert_array_equal(found, expected)
    if not name.startswith(("one leaf", "numbers", "counts")):
        assert_reads_right(model, X, n=300)


def test_what_predicts_is_what_the_class_that_wrote_it_predicts(tmp_path):
    X, y = CANCER
    early = xgboost.XGBClassifier(n_estimators=60, early_stopping_rounds=2, n_jobs=1)
    early.fit(X[::2], y[::2], eval_set=[(X[1::2], y[1::2])], verbose=False)
    assert early.best_iteration + 1 < early.get_booster().num_boosted_rounds()
    early.save_model(tmp_path / "early.json")
    model = load_model(tmp_path / "early.json")
    np.testing.assert_array_equal(model.predict_proba(X), early.predict_proba(X))
    unsure = catboost.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False)
    unsure.fit(X, np.array([7, 3])[y]).set_probability_threshold(0.2)
    unsure.save_model(tmp_path / "unsure.cbm")
    model = load_model(tmp_path / "unsure.cbm")
    assert model.classes_.tolist() == [3, 7]
    np.testing.assert_array_equal(model.predict(X), unsure.predict(X))


def test_files_of_older_versions_are_read(tmp_path):
    save, library = _xgboost(WINE, "multi:softprob", **MULTI)
    save(tmp_path / "new.json")
    old = json.loads((tmp_path / "new.json").read_text())
    head, model = old["learner"]["learner_model_param"], _model_of(old)
    head["base_score"] = "5E-1"
    del model["cats"], model["iteration_indptr"]
    for tree in model["trees"]:
        tree["default_left"] = [bool(side) for side in tree["default_left"]]
        tree["tree_param"]["size_leaf_vector"] = "0"
    old["version"] = [1, 7, 6]
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old))
    for found, own in zip(
        _outputs(load_model(file), WINE[0]), _outputs(library(file), WINE[0]), strict=True
    ):
        np.testing.assert_array_equal(found, own)


@pytest.mark.parametrize("name", ["two classes.json", "two classes.txt", "catboost.json"])
def test_the_command_line_explains_them(name, tmp_path):
    (save, _), _ = WRITTEN[name]()
    save(str(tmp_path / name))
    model = load_model(tmp_path / name)
    table = FRAME[0].set_axis(list(model.feature_names_in_), axis=1)
    table.to_parquet(tmp_path / "rows.parquet")
    explanation = tmp_path / "explanation.json"
    arguments = [str(tmp_path / name), str(tmp_path / "rows.parquet"), "--rows", "3"]
    done = CliRunner().invoke(app, ["explain", *arguments, "--json", "-o", str(explanation)])
    assert done.exit_code == codes.DONE, done.output
    assert json.loads(explanation.read_text())["summary"]["prediction"] == int(
        np.ravel(model.predict(table[3:4]))[0]
    )
    done = CliRunner().invoke(app, ["check", str(explanation), str(tmp_path / name)])
    assert done.exit_code == codes.DONE, done.output


def test_a_file_of_numbers_is_asked_for_a_range(tmp_path):
    (save, _), (X, _) = WRITTEN["numbers.cbm"]()
    save(str(tmp_path / "numbers.cbm"))
    model = load_model(tmp_path / "numbers.cbm")
    found = pertinent.Explainer(model, data=X).explain(X[:2], target=(150, None))
    assert found.negative.status.tolist() == ["already", "optimal"]
    assert model.predict(found.negative.points[1:])[0] >= 150
    assert pertinent.check(found[1].json(), model).verdict == "holds"


# -- Files of strangers ----------------------------------------------------------------------


def _model_of(document):
    return document["learner"]["gradient_booster"]["model"]


def _in_tree(**parts):
    def edit(document):
        _model_of(document)["trees"][0].update(parts)

    return edit


def _at(name, place, value):
    def edit(document):
        _model_of(document)["trees"][0][name][place] = value

    return edit


def _in_head(**parts):
    return lambda document: document["learner"]["learner_model_param"].update(parts)


def _objective(document):
    document["learner"]["objective"]["reg_loss_param"]["scale_pos_weight"] = "%s%n"


XGBOOST = {
    "a child out of range": (_at("left_children", 0, 10**6), "a node below that is none"),
    "a child before the first": (_at("right_children", 0, -5), "a node below that is none"),
    "a cycle": (_at("left_children", 1, 0), "a node below two others"),
    "a node of two": (_at("left_children", 0, 2), "a node below two others"),
    "one child": (_at("left_children", 0, -1), "one node below"),
    "no such column": (_at("split_indices", 0, 30), "a column that is none"),
    "a negative column": (_at("split_indices", 0, -1), "a column"),
    "not a number": (_at("split_conditions", 0, float("nan")), "a number of a node"),
    "too large": (_at("split_conditions", 0, 1e39), "a number of a node"),
    "a short list": (_in_tree(default_left=[0]), "the side of a missing value"),
    "no nodes": (_in_tree(left_children=[]), "without nodes"),
    "a text": (_in_tree(split_indices="0" * 7), "a column"),
    "no such class": (lambda d: _model_of(d).update(tree_info=[1] * 6), "classes of its trees"),
    "many columns": (_in_head(num_feature="999999999"), "its number of columns"),
    "many classes": (_in_head(num_class="3"), "its number of classes"),
    "no columns": (_in_head(num_feature="0"), "its number of columns"),
    "no base score": (_in_head(base_score="inf"), "its base score"),
    "a parameter": (_objective, "its objective"),
    "rounds": (lambda d: _model_of(d).update(iteration_indptr=[0, 9]), "ends of its rounds"),
    "another objective": (
        lambda d: d["learner"]["objective"].update(name="rank:map"),
        "predicts by no sum of trees",
    ),
    "another booster": (
        lambda d: d["learner"]["gradient_booster"].update(name="dart"),
        "'dart' is no plain sum",
    ),
}


@pytest.fixture
def no_library(monkeypatch):
    """Fail the test where a library is asked to read anything."""

    def read(*_, **__):
        pytest.fail("a library has seen the file")

    monkeypatch.setattr(xgboost.Booster, "load_model", read)
    monkeypatch.setattr(lightgbm.Booster, "__init__", read)
    monkeypatch.setattr(catboost.CatBoost, "load_model", read)


def _refused(file, words):
    with pytest.raises((UnsafeModelError, UnsupportedModelError), match=words) as told:
        load_model(file)
    assert str(told.value).startswith(f"{file.name}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return whole files, by name."""
    folder = tmp_path_factory.mktemp("whole")
    names = ["two classes.json", "two classes.ubj", "three classes.txt", "two classes.cbm",
             "catboost.json", "catboost of three.json", "three classes.cbm"]  # fmt: skip
    for name in names:
        WRITTEN[name]()[0][0](str(folder / name))
    return {name: (folder / name).read_bytes() for name in names}


@pytest.mark.parametrize("damage", XGBOOST)
def test_hostile_files_of_xgboost_are_refused_unseen(damage, whole, tmp_path, no_library):
    edit, words = XGBOOST[damage]
    document = json.loads(whole["two classes.json"])
    edit(document)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(document))
    _refused(file, words)


#: What is replaced in the text of LightGBM, by what, and what is said of it.
LIGHTGBM = {
    "a cycle": (rb"left_child=\S+", b"left_child=0", "below"),
    "no such leaf": (rb"right_child=-?\d+", b"right_child=-99", "a node below"),
    "no such column": (rb"split_feature=\d+", b"split_feature=13", "a column that is none"),
    "not a number": (rb"threshold=\S+", b"threshold=nan", "a threshold"),
    "no plain digits": (rb"leaf_value=\S+", b"leaf_value=0x10", "a leaf"),
    "too few leaves": (rb"leaf_value=\S+ ", b"leaf_value=", "a leaf"),
    "many leaves": (rb"num_leaves=\d+", b"num_leaves=99999999", "a leaf"),
    "many columns": (rb"max_feature_idx=\d+", b"max_feature_idx=999999999", "number of columns"),
    "many classes": (rb"num_class:3", b"num_class:9999", "number of classes"),
    "a decision": (rb"decision_type=\d+", b"decision_type=64", "a kind of decision"),
    "linear": (rb"is_linear=0", b"is_linear=1", "linear trees"),
    "categories": (rb"num_cat=0", b"num_cat=1", "own categories"),
    "no end": (rb"\nend of trees", b"", "no end of trees"),
    "an option": (rb"num_class:3", b"num_class:3 sigmoid:-1", "its objective"),
    "an objective": (rb"objective=multiclass", b"objective=%n;", "its objective"),
}


@pytest.mark.parametrize("damage", LIGHTGBM)
def test_hostile_files_of_lightgbm_are_refused_unseen(damage, whole, tmp_path, no_library):
    old, new, words = LIGHTGBM[damage]
    file = tmp_path / "model.txt"
    file.write_bytes(re.sub(old, new, whole["three classes.txt"], count=1))
    _refused(file, words)


def _symmetric(**parts):
    return lambda document: document["oblivious_trees"][0].update(parts)


def _feature(**parts):
    return lambda document: document["features_info"]["float_features"][0].update(parts)


CATBOOST = {
    "no such split": (
        lambda d: d["oblivious_trees"][0]["splits"][0].update(split_index=10**6),
        "a split that is none",
    ),
    "another split": (
        lambda d: d["oblivious_trees"][0]["splits"][0].update(border=0.125),
        "damaged: a split",
    ),
    "a deep tree": (
        lambda d: d["oblivious_trees"][0].update(splits=d["oblivious_trees"][0]["splits"] * 30),
        "its leaves|too deep",
    ),
    "too few leaves": (lambda d: d["oblivious_trees"][1].update(leaf_values=[1.0]), "its leaves"),
    "not a number": (_symmetric(leaf_values=[float("inf")] * 24), "its leaves"),
    "borders": (_feature(borders=[2.0, 1.0]), "a border"),
    "columns": (_feature(flat_feature_index=10**9), "order of its columns"),
    "missing": (_feature(nan_value_treatment="x"), "missing value"),
    "bias": (lambda d: d.update(scale_and_bias=[1, [0.5]]), "scale and bias"),
    "labels": (
        lambda d: d["model_info"]["class_params"].update(class_names=[0, 1]),
        "its labels",
    ),
    "categories": (
        lambda d: d["features_info"].update(categorical_features=[{}]),
        "own treatment of categorical_features",
    ),
    "a ranking": (
        lambda d: d["model_info"]["params"]["loss_function"].update(type="YetiRank"),
        "'YetiRank'",
    ),
}


@pytest.mark.parametrize("damage", CATBOOST)
def test_hostile_files_of_catboost_are_refused_unseen(damage, whole, tmp_path, no_library):
    edit, words = CATBOOST[damage]
    document = json.loads(whole["catboost of three.json"])
    edit(document)
    file = tmp_path / "model.json"
    file.write_text(json.dumps(document))
    _refused(file, words)


#: Beginnings of files that claim more than they hold.
CLAIMS = {
    "many numbers": (b"{L" + bytes(7) + b"\x01a[$L#L\x7f" + b"\xff" * 7, "ends too early"),
    "numbers without bytes": (b"{L" + bytes(7) + b"\x01a[$Z#L\x7f" + b"\xff" * 7, "unknown type"),
    "a negative length": (b"{L" + b"\xff" * 8 + b"}", "ends too early"),
    "levels of UBJSON": (b"{i\x01a" + b"[" * 5000, "too many parts"),
    "levels of JSON": (b'{"learner":' + b"[" * 100_000, "RecursionError|levels|nested"),
    "a buffer": (b"CBM1\xff\xff\xff\x7f\x08\x00\x00\x00", "ends too early"),
    "a place": (b"CBM1\x08\x00\x00\x00\xff\xff\xff\x7f\x00\x00\x00\x00", "outside"),
    "its own table": (b"CBM1" + b"\x08\x00\x00\x00" + bytes(8), "missing|form"),
    "nothing": (b"{", "JSON"),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_files_that_claim_more_than_they_hold_are_refused(claim, tmp_path, no_library):
    start, words = CLAIMS[claim]
    file = tmp_path / "model.bin"
    file.write_bytes(start)
    _refused(file, words)


def test_large_files_are_refused_before_they_are_built(tmp_path, monkeypatch, no_library):
    monkeypatch.setattr(checked, "MOST_COMMAS", 10)
    file = tmp_path / "model.json"
    file.write_text(json.dumps({"learner": [0] * 100}))
    _refused(file, "larger than any model")


DAMAGED = """
import pathlib, sys, warnings
warnings.simplefilter("ignore")
from pertinent.exceptions import PertinentError
from pertinent.models.files import load_model
for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    try:
        load_model(file)
        print("whole", file.name)
    except PertinentError as error:
        assert str(error).startswith(file.name) and "\\n" not in str(error), error
        print("refused", file.name)
"""


def test_cut_off_and_flipped_files_end_in_a_sentence(whole, tmp_path):
    rng = random.Random(5)
    for name, data in whole.items():
        stem, _, ending = name.rpartition(".")
        for k in range(12):
            damaged = bytearray(data[: rng.randrange(len(data))] if k % 3 == 0 else data)
            for _ in range(0 if k % 3 == 0 else k):
                damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
            (tmp_path / f"{stem}-{k}.{ending}").write_bytes(damaged)
    # A reader that a file brings down would take the tests with it: it has a process of its own.
    done = subprocess.run(
        [sys.executable, "-c", DAMAGED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout.split("\n")
    assert len(words) == 12 * len(whole) + 1
    assert sum(word.startswith("refused") for word in words) > 4 * len(whole)
