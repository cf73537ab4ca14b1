import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.lvq import GMLVQ
from pertinent.models.files import UnsafeModelError, load_model, require_sound

X = np.random.default_rng(0).normal(size=(60, 3))
y = X[:, 0] + X[:, 1] > 0


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        SVC(kernel="linear"),
        KNeighborsClassifier(1),
        KNeighborsClassifier(1, algorithm="ball_tree"),
        GMLVQ(max_iter=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_supported_models_come_back(model, tmp_path):
    model.fit(X, y)
    skops.io.dump(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    assert (again.predict(X) == model.predict(X)).all()


class Evil:
    def __reduce__(self):
        return os.system, ("false",)


def test_untrusted_types_are_refused_by_name(tmp_path):
    model = LogisticRegression().fit(X, y)
    model.extra_ = Evil()
    path = tmp_path / "model.skops"
    skops.io.dump(model, path)
    with pytest.raises(UnsafeModelError, match="types that are not trusted: .*Evil|cannot be read"):
        load_model(path)


def test_unsupported_models_are_refused(tmp_path):
    path = tmp_path / "model.skops"
    skops.io.dump(IsolationForest(n_estimators=2).fit(X), path)
    with pytest.raises((UnsupportedModelError, UnsafeModelError)):
        load_model(path)


def test_pickles_run_only_when_allowed(tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(LogisticRegression().fit(X, y)))
    with pytest.raises(UnsafeModelError, match="not a skops file"):
        load_model(path)
    with pytest.warns(UserWarning, match="runs whatever code it holds"):
        assert load_model(path, allow_pickle=True).predict(X[:1]) == y[:1]


def test_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        load_model(tmp_path / "absent.skops")
    path = tmp_path / "other.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(UnsafeModelError, match="cannot be read as a model"):
        load_model(path)


def _tree_with(**changes):
    """Return a fitted tree whose arrays were tampered with."""
    model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    state = model.tree_.__getstate__()
    nodes = state["nodes"].copy()
    for name, value in changes.items():
        nodes[name][0] = value
    model.tree_.__setstate__({**state, "nodes": nodes})
    return model


@pytest.mark.parametrize(
    "changes",
    [
        {"feature": 99_999},
        {"feature": -7},
        {"left_child": 10**6},
        {"right_child": 0},
        {"left_child": -1},
    ],
    ids=str,
)
def test_trees_that_would_crash_are_refused(changes):
    require_sound(DecisionTreeClassifier(max_depth=3).fit(X, y))
    with pytest.raises(UnsafeModelError, match="damaged: a tree"):
        require_sound(_tree_with(**changes))


def test_neighbours_with_unknown_labels_are_refused():
    model = KNeighborsClassifier(1, algorithm="brute").fit(X, y)
    require_sound(model)
    model._y = model._y + 5
    with pytest.raises(UnsafeModelError, match="unknown labels"):
        require_sound(model)


def test_support_vectors_that_do_not_fit_are_refused():
    model = SVC(kernel="linear").fit(X, y)
    require_sound(model)
    model._n_support = np.array([10**6, 1], dtype=np.int32)
    with pytest.raises(UnsafeModelError, match="support vectors of another shape"):
        require_sound(model)


def test_sparse_coefficients_out_of_range_are_refused():
    model = LogisticRegression().fit(X, y).sparsify()
    require_sound(model)
    model.coef_ = sparse.csr_matrix(model.coef_)
    model.coef_.indices[0] = 1000
    with pytest.raises(UnsafeModelError, match="damaged"):
        require_sound(model)


def test_coefficients_of_other_features_are_refused():
    model = LogisticRegression().fit(X, y)
    model.coef_ = np.ones((1, 7))
    with pytest.raises(UnsafeModelError, match="other features"):
        require_sound(model)
