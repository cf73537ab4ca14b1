"""Linear models: labels of any kind, sparse and single-precision coefficients, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from linear_models import data
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import pertinent
from pertinent.exceptions import InputError, UnsupportedModelError
from pertinent.models.linear import adds_up_in_double, linear_region
from pertinent.testing import region_checks

LABELS = {
    "strings": np.array(["setosa", "versicolor", "virginica"]),
    "negative": np.array([-7, 0, 3]),
    "floats": np.array([-1.0, 0.0, 4.0]),
    "unsorted objects": np.array(["z", "a", "m"], dtype=object),
}


@pytest.mark.parametrize("kind", list(LABELS))
def test_any_labels(kind):
    X, y = data("iris")
    labels = LABELS[kind][y]
    model = LogisticRegression().fit(X, labels)
    found = pertinent.pertinent_negatives(model, X)
    assert (model.predict(found.points) == found.target).all()
    wanted = LABELS[kind][(y + 1) % 3]
    rows = model.predict(X) != wanted
    given = pertinent.pertinent_negatives(model, X[rows], target=wanted[rows].tolist())
    assert (model.predict(given.points) == wanted[rows]).all()


def test_boolean_labels():
    X, y = data("breast_cancer")
    model = LogisticRegression().fit(X, y == 1)
    found = pertinent.pertinent_negatives(model, X[:20])
    assert found.target.dtype == bool
    assert (model.predict(found.points) != model.predict(X[:20])).all()
    some = X[model.predict(X)][:5]
    assert not model.predict(pertinent.pertinent_negatives(model, some, target=False).points).any()


def test_sparse_coefficients():
    X, y = data("digits")
    model = SGDClassifier(penalty="l1", random_state=0).fit(X, y)
    dense = pertinent.pertinent_negatives(model, X[:50])
    model.sparsify()
    sparse = pertinent.pertinent_negatives(model, X[:50])
    assert sparse.values.tobytes() == dense.values.tobytes()


@pytest.mark.parametrize("name", ["iris", "breast_cancer", "digits"])
def test_single_precision_in_single_precision_out(name):
    X, y = data(name)
    X = X.astype(np.float32)
    model = LogisticRegression(max_iter=300).fit(X, y)
    lowest, highest = X.min(axis=0), X.max(axis=0)
    rules = pertinent.Constraints(
        frozen=[0],
        bounds={i: (float(lowest[i]), float(highest[i])) for i in range(X.shape[1])},
    )
    found = pertinent.pertinent_negatives(model, X, constraints=rules)
    here = found.found
    assert here.mean() > 0.9
    assert found.points.dtype == np.float32
    assert (model.predict(found.points[here]) == found.target[here]).all()
    assert (found.points[here][:, 0] == X[here][:, 0]).all()
    assert ((found.points >= lowest) & (found.points <= highest))[here].all()
    positive = pertinent.pertinent_positives(model, X, baseline="mean", data=X)
    assert positive.found.all()
    assert (positive.status == "optimal").mean() > 0.99  # a few cannot be told from rounding
    assert (model.predict(positive.points) == model.predict(X)).all()


def test_one_vs_rest_with_two_classes():
    X, y = data("iris")
    model = OneVsRestClassifier(LogisticRegression()).fit(X, y > 1)
    for check in region_checks():
        check(model, X)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (MLPClassifier(max_iter=1), "(?s)not supported.*Supported are: .*LogisticReg"),
        (GaussianProcessClassifier(), "not supported"),
        (SVC(kernel="rbf"), "kernel='rbf'"),
        (OneVsRestClassifier(DecisionTreeClassifier()), "over DecisionTreeClassifier"),
    ],
)
def test_unsupported_models_say_what_is_supported(model, match):
    X, y = load_iris(return_X_y=True)
    model.fit(X, y)
    with pytest.raises(UnsupportedModelError, match=match):
        pertinent.pertinent_negatives(model, X)


def test_several_outputs_are_refused():
    X, y = data("iris")
    model = RidgeClassifier().fit(X, np.c_[y == 0, y == 1].astype(int))
    with pytest.raises(InputError, match="several outputs"):
        pertinent.pertinent_negatives(model, X)


def test_the_class_itself_is_not_a_model():
    with pytest.raises(UnsupportedModelError, match="got the class LogisticRegression"):
        pertinent.pertinent_negatives(LogisticRegression, np.zeros((1, 2)))


class QuietSubclass(LogisticRegression):
    """Adds nothing that matters for predictions."""

    def report(self) -> str:
        return "fitted"


class OtherRule(LogisticRegression):
    """Decides differently from its parent."""

    def predict(self, X):
        return super().predict(-X)


def test_subclasses_count_as_their_parent_only_if_they_decide_alike():
    X, y = data("iris")
    found = pertinent.pertinent_negatives(QuietSubclass().fit(X, y), X[:5])
    assert found.found.all()
    with pytest.raises(UnsupportedModelError, match="may decide differently"):
        pertinent.pertinent_negatives(OtherRule().fit(X, y), X[:5])


class Scorecard:
    """A model of an outside package: no scikit-learn, points that add up, a cut."""

    def __init__(self, points, cut):
        self.points_, self.cut_ = np.asarray(points, dtype=float), cut
        self.classes_ = np.array(["approve", "refuse"])
        self.n_features_in_ = len(points)

    def predict(self, X):
        return self.classes_[(np.asarray(X) @ self.points_ > self.cut_).astype(int)]


def test_an_outside_model_registers_by_name(rng):
    model, X = Scorecard([1.0, -2.0, 0.5], 0.3), rng.normal(size=(60, 3))
    with pytest.raises(UnsupportedModelError, match="register_model"):
        pertinent.pertinent_negatives(model, X)

    @pertinent.register_model(f"{Scorecard.__module__}.Scorecard")
    def scorecard_region(model, label, margin):
        return linear_region(model.points_[None], np.array([-model.cut_]), model, label, margin)

    for check in region_checks():
        check(model, X)
    assert any("Scorecard" in name for name in pertinent.supported_models())


def test_unknown_labels_are_named_with_the_closest():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, np.array(["setosa", "versi", "virgin"])[y])
    with pytest.raises(InputError, match="'setoza' is not a label .* Did you mean 'setosa'"):
        pertinent.decision_region(model, "setoza")
    with pytest.raises(InputError, match="Did you mean"):
        pertinent.pertinent_negatives(model, X[100:103], target="setoza")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("model", "known"),
    [
        (LogisticRegression(max_iter=1000), True),
        (RidgeClassifier(), True),
        (SGDClassifier(random_state=0), True),
        (LinearSVC(), True),
        (LinearDiscriminantAnalysis(), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_precision_of_scores_is_the_one_that_scikit_learn_adds_up_in(model, known, dtype):
    X, y = data("iris")
    single = X.astype(np.float32)
    model = clone(model).fit(X.astype(dtype), y)
    own, exact = model.decision_function(single), model.decision_function(single.astype(float))
    in_double = own.dtype == np.float64 and (own == exact).all()
    assert adds_up_in_double(model) == (known and in_double)
    assert in_double or dtype == np.float32 or not known


@pytest.mark.parametrize("model", [RidgeClassifier(), LinearDiscriminantAnalysis()])
def test_a_model_with_one_class_has_no_contrast(model, rng):
    X = rng.normal(size=(20, 3))
    model.fit(X, np.repeat("only", 20))
    found = pertinent.pertinent_negatives(model, X[:2])
    assert found.status.tolist() == ["infeasible", "infeasible"]
    assert "never predicts" in found.reason[0]
    assert (pertinent.pertinent_positives(model, X[:2]).status == "optimal").all()


@pytest.mark.parametrize("intercept", [-1.0, 1.0])
@pytest.mark.parametrize("slope", [0.0, 1.0])
def test_one_class_with_a_score_for_a_second_is_refused(slope, intercept):
    """Made by hand: scikit-learn's own predict then fails with an IndexError on some points."""
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array(["only"]), 2
    model.coef_, model.intercept_ = np.array([[slope, 0.0]]), np.array([intercept])
    ask = (pertinent.pertinent_negatives, pertinent.pertinent_positives)
    x = np.array([[-5.0, 0.0]])  # its own score may well be negative
    if slope == 0 and intercept < 0:
        assert [f(model, x).status[0] for f in ask] == ["infeasible", "optimal"]
        return
    for f in ask:
        with pytest.raises(InputError, match="one class only, 'only', and its predict fails"):
            f(model, x)
    with pytest.raises(InputError, match="at least two classes"):
        pertinent.Explainer(make_pipeline(StandardScaler().fit(np.eye(2)), model)).explain(x)


def test_one_class_against_no_rest_is_refused_in_words(rng):
    X = rng.normal(size=(20, 3))
    with pytest.warns(UserWarning, match="present in all training examples|not 0 is present"):
        model = OneVsRestClassifier(LogisticRegression()).fit(X, np.repeat("only", 20))
    words = "OneVsRestClassifier was fitted on one class only, 'only', and always predicts it"
    for ask in (pertinent.pertinent_negatives, pertinent.pertinent_positives):
        with pytest.raises(InputError, match=words):
            ask(model, X[:2])
    assert model.predict(X[:2]).tolist() == ["only", "only"]


def test_only_names_and_functions_are_registered():
    before = pertinent.supported_models()
    for names in (("a.B", linear_region), ("a.B", 3), (), ("",)):
        with pytest.raises(InputError, match=r"register_model\('package.Class'\)\(function\)"):
            pertinent.register_model(*names)
        with pytest.raises(InputError, match=r"register_transform\('package.Class'\)\(function\)"):
            pertinent.register_transform(*names)
    with pytest.raises(InputError, match="registers a function. Got 3"):
        pertinent.register_model("a.B")(3)
    with pytest.raises(InputError, match="registers a function. Got 3"):
        pertinent.register_transform("a.B")(3)
    assert pertinent.supported_models() == before


class Wordy(Scorecard):
    """Registered with a function that gives no region."""


def test_a_registered_function_must_return_a_region(rng):
    pertinent.register_model(f"{Wordy.__module__}.Wordy")(lambda model, label, margin: "a region")
    model, X = Wordy([1.0, -2.0], 0.3), rng.normal(size=(4, 2))
    for ask in (pertinent.pertinent_negatives, lambda m, _: pertinent.decision_region(m, "refuse")):
        with pytest.raises(InputError, match="Wordy must return a pertinent.geometry.*Region. It"):
            ask(model, X)


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "m8[s]", "date", "tuple"])
def test_labels_that_no_file_holds_are_refused_at_the_door(kind):
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    model.classes_ = np.array([None] * 3, dtype=object)
    if kind == "tuple":
        model.classes_[:] = [(0, 1), (1, 2), (2, 3)]
    elif kind == "date":
        model.classes_[:] = np.arange(3).astype("M8[D]").tolist()
    else:
        model.classes_ = np.arange(3).astype(kind)
    for ask in (pertinent.Explainer, lambda m: pertinent.pertinent_negatives(m, X[:2])):
        with pytest.raises(UnsupportedModelError, match="must be text, numbers or truth values"):
            ask(model)


@pytest.mark.parametrize("number", [1e308, -1.7e308, 1e200, np.inf, np.nan])
@pytest.mark.parametrize("part", ["coef_", "intercept_"])
def test_coefficients_that_overflow_are_refused(number, part):
    """Behind categories they once ended in an IndexError of a solver."""
    D = pd.DataFrame({"job": list("abcd") * 15, "x": np.arange(60.0)})
    columns = make_column_transformer((OneHotEncoder(), ["job"]), remainder=StandardScaler())
    model = make_pipeline(columns, LogisticRegression()).fit(D, np.arange(60) % 3)
    getattr(model[-1], part).flat[0] = number
    words = r"LogisticRegression has the coefficient .*at most 1e\+150: .*overflow"
    with pytest.raises(UnsupportedModelError, match=words):
        pertinent.Explainer(model, data=D)
    regressor = Ridge().fit(D[["x"]], D["x"])
    setattr(regressor, part, np.array([number]))
    with pytest.raises(UnsupportedModelError, match="Ridge has the coefficient"):
        pertinent.Explainer(regressor).explain(D[["x"]], target=(3.0, None))
