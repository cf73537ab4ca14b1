"""Every supported model and step is read from its skops file by the command line."""

import importlib
import json
import subprocess
import sys

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RandomizedSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators
from typer.testing import CliRunner

from pertinent.cli import codes
from pertinent.cli.app import app
from pertinent.exceptions import InputError
from pertinent.models import supported_models
from pertinent.models.files import UnsafeModelError, load_model, require_sound
from pertinent.models.registry import lineage
from pertinent.models.sound import _parts
from pertinent.models.steps import walk
from pertinent.models.steps.walk import supported_transforms
from tests.models.damaged_parts import DAMAGES
from tests.models.whole_files import (
    KNOWS_TEMPERATURES,
    LABELS,
    NUMBERS,
    examples,
    imputers,
    logistic,
    selectors,
    thresholded,
)

EXAMPLES = examples()
#: These read their part of a file with code of their own, which ends the process where that part
#: is damaged: nothing can be checked before.
WITH_TRUST = {
    "catboost.core.CatBoostClassifier",
    "lightgbm.sklearn.LGBMClassifier",
    "pertinent.models.regressors.classifier.RangeClassifier",  # files hold the regressor itself
    "pertinent.models.steps.text.classifier.PassageClassifier",  # made of a document, in no file
    "pertinent.models.trees.of_onnx.OnnxClassifier",
    "pertinent.models.trees.native.BoosterClassifier",
    "xgboost.sklearn.XGBClassifier",
}
THRESHOLDS = {
    "sklearn.model_selection.FixedThresholdClassifier",
    "sklearn.model_selection.TunedThresholdClassifierCV",
}
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.matrix(2)]


def explained(folder, model, table, *options):
    """Return what the command line says of the first row, its model being read from a file."""
    skops.io.dump(model, folder / "model.skops")
    table.to_parquet(folder / "train.parquet")
    table.head(1).to_parquet(folder / "rows.parquet")
    names = [str(folder / name) for name in ("model.skops", "rows.parquet", "train.parquet")]
    arguments = ["explain", *names[:2], "--train", names[2], "--json", *options]
    return CliRunner().invoke(app, arguments)


@pytest.mark.matrix(4)
@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_read_and_explained(name, tmp_path):
    model, table = EXAMPLES[name]
    model.fit(table, LABELS)
    done = explained(tmp_path, model, table)
    assert done.exit_code == codes.DONE, (done.output, done.exception)
    assert json.loads(done.stdout)["summary"]["prediction"] == model.predict(table.head(1))[0]


#: Where the models come from that are supported without further ado.
PACKAGES = {
    "catboost", "imblearn", "lightgbm", "pertinent", "prosemble", "sklearn", "sklearn_lvq", "sklvq",
    "xgboost",
}  # fmt: skip


def test_every_model_and_every_step_has_an_example():
    parts = [part for model, _ in EXAMPLES.values() for part in _parts(model)]
    found = {name for part in parts for _, name in lineage(type(part))}
    # Other tests, and examples of docstrings, register models and steps of their own: these are not
    # shipped.
    shipped = {name for name in supported_models() if name.split(".")[0] in PACKAGES}
    listed = walk._TABLE.keys() - walk._UNLISTED
    steps = {name for name in listed if name.split(".")[0] in PACKAGES}
    assert {name.rpartition(".")[2] for name in steps} <= set(supported_transforms())
    missing = shipped - found - WITH_TRUST - THRESHOLDS
    for name in missing:  # of packages that are not installed
        with pytest.raises(ImportError):
            importlib.import_module(name.split(".")[0])
    names = {name.rpartition(".")[2] for name in found}
    assert len(steps) > 20
    assert {name.rpartition(".")[2] for name in steps} <= names


@pytest.mark.skipif(not KNOWS_TEMPERATURES, reason="this scikit-learn knows no temperature")
def test_one_temperature_stands_for_three_classes():
    model = CalibratedClassifierCV(LogisticRegression(), method="temperature", ensemble=False, cv=2)
    require_sound(model.fit(NUMBERS, np.arange(len(NUMBERS)) % 3))


def test_models_that_are_not_fitted_are_no_damage():
    """A search holds one."""
    for model, _ in EXAMPLES.values():
        require_sound(clone(model))


def test_every_selector_has_an_example():
    known = {kind for _, kind in all_estimators() if issubclass(kind, SelectorMixin)}
    assert known == {type(selector) for selector in selectors()}


@pytest.mark.parametrize("i", range(len(imputers())))
def test_imputers_from_files_fill_gaps(i, tmp_path):
    gaps = NUMBERS.copy()
    gaps.iloc[::7, 0] = np.nan
    model = make_pipeline(imputers()[i], logistic()).fit(gaps, LABELS)
    done = explained(tmp_path, model, NUMBERS)
    assert done.exit_code == codes.DONE, (done.output, done.exception)


@pytest.mark.parametrize("i", range(len(thresholded())))
def test_thresholds_are_refused_for_what_they_are(i, tmp_path):
    model = thresholded()[i].fit(NUMBERS, LABELS == "yes")
    done = explained(tmp_path, model, NUMBERS)
    assert done.exit_code == codes.REFUSED
    assert "decides by a threshold of its own" in done.stderr


def test_what_is_experimental_is_read_by_a_process_that_did_not_switch_it_on(tmp_path):
    kinds = ("HalvingGridSearchCV", "HalvingRandomSearchCV", "iterativeimputer")
    names = [name for name in EXAMPLES if any(kind in name for kind in kinds)]
    assert len(names) == 4
    for i, name in enumerate(names):
        model, table = EXAMPLES[name]
        skops.io.dump(model.fit(table, LABELS), tmp_path / f"{i}.skops")
    code = (
        "import sys; from pertinent.models.files import load_model; "
        "[load_model(name) for name in sys.argv[1:]]"
    )
    paths = [str(tmp_path / f"{i}.skops") for i in range(len(names))]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_damaged_parts_are_refused_by_name():
    command = [sys.executable, "-m", "tests.models.damaged_parts"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    said = dict(map(json.loads, done.stdout.splitlines()))
    assert done.returncode == 0, (done.stderr[-2000:], list(said)[-1:])
    for name, (_, _, words) in DAMAGES.items():
        assert said[name].startswith("model.skops"), (name, said[name])
        assert words in said[name], (name, said[name])


# -- Types that nobody vouches for -----------------------------------------------------------


OWN = """
from sklearn.linear_model import LogisticRegression

class Own(LogisticRegression):
    pass
"""


@pytest.fixture
def own_class(tmp_path, monkeypatch):
    (tmp_path / "scorecards.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "scorecards", raising=False)
    return importlib.import_module("scorecards").Own


def test_a_type_is_trusted_by_name(own_class, tmp_path):
    model = own_class().fit(NUMBERS, LABELS)
    done = explained(tmp_path, model, NUMBERS)
    assert done.exit_code == codes.REFUSED
    assert done.stderr.count("\n") == 1
    for part in ("model.skops", "scorecards.Own", "--trust scorecards.Own "):
        assert part in done.stderr
    done = explained(tmp_path, model, NUMBERS, "--trust", "scorecards.Own")
    assert done.exit_code == codes.DONE, done.output
    (tmp_path / "stored.json").write_text(done.stdout)
    check = ["check", str(tmp_path / "stored.json"), str(tmp_path / "model.skops")]
    assert CliRunner().invoke(app, check).exit_code == codes.REFUSED
    assert CliRunner().invoke(app, [*check, "--trust", "scorecards.Own"]).exit_code == codes.DONE


def test_a_type_is_trusted_by_name_in_python(own_class, tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(make_pipeline(own_class()).fit(NUMBERS, LABELS), path)
    with pytest.raises(UnsafeModelError, match=r"model.skops: .*trust=\['scorecards.Own'\]"):
        load_model(path)
    with pytest.raises(UnsafeModelError, match=r"--trust scorecards.Own \("):
        load_model(path, trust=["another.Type"])
    assert (load_model(path, trust=["scorecards.Own"]).predict(NUMBERS[:1]) == LABELS[:1]).all()
    with pytest.raises(InputError, match="a list of names"):
        load_model(path, trust="scorecards.Own")


def test_the_line_to_write_is_safe_to_write(own_class, tmp_path):
    own_class.__name__ = "Own; echo x"
    path = tmp_path / "model.skops"
    model = LogisticRegression().fit(NUMBERS, LABELS)
    model.extra_ = own_class()
    skops.io.dump(model, path)
    with pytest.raises(UnsafeModelError, match=r"--trust 'scorecards.Own; echo x' \("):
        load_model(path)


def test_the_checks_hold_for_trusted_types_too(own_class, tmp_path):
    model = own_class().fit(NUMBERS, LABELS)
    model.coef_ = np.ones((1, 7))
    skops.io.dump(model, tmp_path / "model.skops")
    with pytest.raises(UnsafeModelError, match="other features"):
        load_model(tmp_path / "model.skops", trust=["scorecards.Own"])


def test_distributions_are_refused_with_what_to_write_instead(tmp_path):
    """SciPy runs a text that they hold."""
    from scipy.stats import loguniform

    search = RandomizedSearchCV(LogisticRegression(), {"C": loguniform(0.1, 1)}, n_iter=1, cv=2)
    search.fit(NUMBERS, LABELS)
    skops.io.dump(search, tmp_path / "search.skops")
    with pytest.raises(UnsafeModelError, match=r"search.skops: .*the file of its best_estimator_"):
        load_model(tmp_path / "search.skops")
    skops.io.dump(search.best_estimator_, tmp_path / "model.skops")
    load_model(tmp_path / "model.skops")


def _boosters():
    def xgboost():
        package = pytest.importorskip("xgboost")
        return package.XGBClassifier(n_estimators=2, max_depth=2)

    def lightgbm():
        package = pytest.importorskip("lightgbm")
        return package.LGBMClassifier(n_estimators=2, max_depth=2, verbose=-1)

    def catboost():
        package = pytest.importorskip("catboost")
        return package.CatBoostClassifier(
            iterations=2, depth=2, verbose=False, allow_writing_files=False
        )

    return {
        "xgboost": (xgboost, ["xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"]),
        "lightgbm": (lightgbm, ["lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"]),
        "catboost": (catboost, ["catboost.core.CatBoostClassifier"]),
    }


@pytest.mark.parametrize("library", _boosters())
def test_other_libraries_are_read_where_their_types_are_trusted(library, tmp_path):
    make, types = _boosters()[library]
    model = make().fit(NUMBERS, (LABELS == "yes").astype(int))
    options = [word for name in types for word in ("--trust", name)]
    done = explained(tmp_path, model, NUMBERS)
    assert done.exit_code == codes.REFUSED
    assert " ".join(options) + " (" in done.stderr
    done = explained(tmp_path, model, NUMBERS, *options)
    assert done.exit_code == codes.DONE, done.output


def test_the_preprocessor_inside_is_read_as_it_was_written(tmp_path):
    name = next(reversed(EXAMPLES))
    model, table = EXAMPLES[name]
    assert isinstance(model, HistGradientBoostingClassifier)
    skops.io.dump(model.fit(table, LABELS), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
