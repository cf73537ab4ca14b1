import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pertinent.models.files import UnsafeModelError, load_model, require_sound
from tests.models.damaging import MODELS, X, write, y


@pytest.mark.parametrize(
    ("names", "every"),
    [
        (("kd_tree", "svc", "tree"), 4),
        *(pytest.param((name,), 1, marks=pytest.mark.slow) for name in MODELS),
    ],
    ids=str,
)
def test_every_damaged_file_is_refused_by_name_or_answered(names, every):
    """Of three models every fourth damage at once, of all models every one with the slow tests."""
    command = [sys.executable, "-m", "tests.models.damaging", str(every), *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    found = json.loads(done.stdout)
    assert found["tried"] > 50 * len(names) / every
    assert not found["wrong"], found["wrong"][:5]


def entries(model, path):
    skops.io.dump(model, path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def logistic():
    return LogisticRegression().fit(X, y)


def test_a_file_cut_anywhere_is_refused_by_name(logistic, tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(logistic, path)
    whole = path.read_bytes()
    for end in (0, 1, 10, len(whole) // 2, len(whole) - 100, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(UnsafeModelError, match="model.skops"):
            load_model(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(50) + whole[middle + 50 :])
    with pytest.raises(UnsafeModelError, match="model.skops"):
        load_model(path)


def test_a_pickle_cut_short_is_refused_by_name(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04\x95")
    with (
        pytest.warns(UserWarning, match="pickle"),
        pytest.raises(UnsafeModelError, match="model.pkl"),
    ):
        load_model(path, allow_pickle=True)


def test_an_array_that_claims_more_than_it_holds_is_refused_unread(logistic, tmp_path):
    path = tmp_path / "model.skops"
    content = entries(logistic, path)
    header = io.BytesIO()
    plain = {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    np.lib.format.write_array_header_1_0(header, plain)
    name = next(name for name in content if name.endswith(".npy"))
    write(path, {**content, name: header.getvalue()})
    with pytest.raises(UnsafeModelError, match="another size than it says"):
        load_model(path)


def test_an_archive_in_an_archive_counts_with_what_it_unpacks_to(logistic, tmp_path, monkeypatch):
    path, inner = tmp_path / "model.skops", io.BytesIO()
    content = entries(logistic, path)
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", bytes(10_000_000))
    write(path, {**content, "1.npz": inner.getvalue()})
    monkeypatch.setattr("pertinent.models.sound.require_sound_archive.__defaults__", (5_000_000,))
    with pytest.raises(UnsafeModelError, match="unpacks to more than"):
        load_model(path)


def test_a_schema_nested_too_deeply_is_refused(logistic, tmp_path):
    path = tmp_path / "model.skops"
    content = entries(logistic, path)
    write(path, {**content, "schema.json": b"[" * 100_000 + b"]" * 100_000})
    with pytest.raises(UnsafeModelError, match="model.skops"):
        load_model(path)


def test_a_tree_that_claims_more_nodes_than_it_has_is_refused():
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    state = model.tree_.__getstate__()
    model.tree_.__setstate__({**state, "node_count": 10**9})
    with pytest.raises(UnsafeModelError, match="another number of nodes"):
        require_sound(model)


def test_a_search_tree_is_made_again_from_its_points(tmp_path):
    model = KNeighborsClassifier(1, algorithm="kd_tree", leaf_size=5).fit(X, y)
    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    again, own = load_model(path)._tree, model._tree
    for one, other in zip(again.get_arrays(), own.get_arrays(), strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))
    points, order, nodes, bounds = (np.asarray(array) for array in own.get_arrays())
    model._tree.__setstate__((points, order, nodes[:1].copy(), bounds, *own.__getstate__()[4:]))
    require_sound(model)
    assert (model.predict(X) == y).all()  # with the tree of the file the process ends here


@pytest.mark.parametrize("odd", [{"_tree": [3]}, {"effective_metric_": np.hypot}], ids=str)
def test_a_search_tree_of_another_kind_is_not_made(odd):
    """Nothing but a KD tree or a ball tree, by the name of a metric, is made from the points."""
    model = KNeighborsClassifier(1, algorithm="kd_tree").fit(X, y)
    vars(model).update(odd)
    with pytest.raises(UnsafeModelError, match="a search tree"):
        require_sound(model)


@pytest.mark.parametrize("name", ["predict", "_validate_params"])
def test_nothing_in_a_file_stands_in_front_of_a_method(name, tmp_path):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    setattr(model[-1], name, np.abs)
    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    with pytest.raises(UnsafeModelError, match="has an attribute"):
        load_model(path)
