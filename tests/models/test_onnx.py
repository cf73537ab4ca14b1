"""Classifiers in ONNX files; onnxruntime is what answers are judged by."""

import pickle

import numpy as np
import pytest
from skl2onnx import to_onnx
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.models.files import load_model
from pertinent.models.trees.of_onnx import OnnxClassifier
from pertinent.testing import probe_points

X, y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[y]


def exported(model, labels=y):
    return to_onnx(model.fit(X, labels), X[:1].astype(np.float32), options={"zipmap": False})


LINEAR = {
    "three classes": (LogisticRegression(max_iter=1000), y),
    "two classes": (LogisticRegression(max_iter=1000), y == 1),
    "names": (LogisticRegression(max_iter=1000), NAMES),
    "scaled": (make_pipeline(StandardScaler(), LogisticRegression()), y),
}
TREES = {
    "tree": (DecisionTreeClassifier(max_depth=4), y),
    "forest": (RandomForestClassifier(8, max_depth=3, random_state=0), NAMES),
    "two classes": (RandomForestClassifier(7, max_depth=3, random_state=0), (y == 1).astype(int)),
    "boosting": (GradientBoostingClassifier(n_estimators=4), y),
    "boosting of two": (GradientBoostingClassifier(n_estimators=4), (y == 1).astype(int)),
    "scaled": (make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)), y),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_regions_agree_with_the_runtime(name):
    model, labels = LINEAR[name]
    read = OnnxClassifier(exported(model, labels))
    points = probe_points(read, X, 500)
    predicted = read.predict(points)
    for label in read.classes_.tolist():
        own = predicted == label
        # Scores are rounded in single precision.
        assert pertinent.decision_region(read, label, -1e-4).contains(points[own]).all()
        assert not pertinent.decision_region(read, label, 1e-4).contains(points[~own]).any()
    found = pertinent.pertinent_negatives(read, X[::15])
    assert found.found.all()
    # Answers keep off the boundary by what single precision may round, which a scaler enlarges.
    assert (found.objective - found.bound < 1e-2 * (1 + found.objective)).all()
    assert (read.predict(found.points) == found.target).all()


@pytest.mark.parametrize("name", TREES)
def test_trees_agree_with_the_runtime(name):
    model, labels = TREES[name]
    read = OnnxClassifier(exported(model, labels))
    points = probe_points(read, X, 500)
    predicted = read.predict(points)
    inside = np.array(
        [pertinent.decision_region(read, k).contains(points) for k in read.classes_.tolist()]
    )
    wrong = inside & (predicted != read.classes_[:, None])
    assert not wrong.any()
    assert inside.any(axis=0).mean() > 0.95
    found = pertinent.pertinent_negatives(read, X[::30])
    assert found.found.all()
    assert (read.predict(found.points) == found.target).all()


def test_files_are_read_and_pickled(tmp_path):
    graph = exported(LogisticRegression(max_iter=1000), NAMES)
    (tmp_path / "model.onnx").write_bytes(graph.SerializeToString())
    read = load_model(tmp_path / "model.onnx")
    assert read.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    again = pickle.loads(pickle.dumps(read))
    assert (again.predict(X) == read.predict(X)).all()
    explained = pertinent.Explainer(read, data=X).explain(X[:1])
    assert pertinent.check(explained[0].json(), read).verdict == "holds"


def test_other_graphs_are_refused_in_three_lines():
    with pytest.raises(UnsupportedModelError, match="it holds") as told:
        OnnxClassifier(exported(MLPClassifier(max_iter=2)))
    assert len(str(told.value).splitlines()) == 3


def test_pmml_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "model.pmml").write_text("<PMML/>")
    with pytest.raises(InputError, match="PMML is not read"):
        load_model(tmp_path / "model.pmml")
