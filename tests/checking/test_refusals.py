"""One odd file for each single reason to refuse it, or to say that it is not known here."""

import copy
import re

import numpy as np
import pytest
from forgeries import tampered
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import pertinent
from pertinent.exceptions import InputError

ONE = ("negative", "certificates", 0)
BLOCK = (*ONE, "certificate", "blocks", 0)


def array(values, of="float"):
    return {"type": "array", "of": of, "shape": list(np.shape(values)),
            "values": np.ravel(values).tolist()}  # fmt: skip


#: The path within "proof", what is put there, and how the refusal begins.
REFUSED = [
    (("question", "method"), "strict", "The question and the answer differ in their method"),
    (("question", "norm"), "l0", "The question and the answer differ in their norm"),
    (("question", "target"), "none", "The explanation asks for class 'none', which the model"),
    (("question", "range"), [1.0, None], "The explanation is about a range of predictions, and"),
    (("question", "between"), 1, "The stored 'between' is neither true nor false"),
    (("question", "constraints", "transitions"), {"type": "builtins.function"},
     "The rules of this explanation hold a Python function"),
    (("question", "features"), ["x0"], "The explanation has 1 features, and the model 4"),
    (("question", "truth_values"), True, "The stored sample is said to hold truth values"),
    (("question", "weights"), array([1.0, np.nan, 1.0, 1.0]), "The stored weights are not one"),
    (("question", "weights"), array([1.0, np.inf, 1.0, 1.0]), "The stored weights are not one"),
    (("question", "weights"), array([1.0, -1.0, 1.0, 1.0]), "The stored weights are not one"),
    (("question", "baseline"), array([[1.0] * 4]), "The stored baseline are not one number"),
    (("question", "baseline"), array([1.0, 1.0, 1.0]), "The stored baseline are not one number"),
    (("positive", "reason"), array(["a", "b"], "object"), "The stored reason is not one of one"),
    (("positive", "reason"), array([1.0]), "The stored reason is not one of one sample"),
    (("positive", "values"), array([1.0] * 4), "The stored 'values' has the shape (4,)"),
    (("positive", "sparse_values"), array([[1.0] * 3]), "The stored 'sparse_values' has the"),
    (("positive", "kept"), array([[True] * 5], "bool"), "The stored 'kept' has the shape (1, 5)"),
    (("negative", "changed"), array([True] * 4, "bool"), "The stored 'changed' has the shape"),
    (("negative", "objective"), array([1.0, 2.0]), "The stored 'objective' has the shape (2,)"),
    (("positive", "label"), array([3], "int"), "The stored 'label' is 3, and the model has no"),
    (("positive", "label"), array([-1], "int"), "The stored 'label' is -1, and the model has"),
    (("negative", "target_place"), array([-2], "int"), "The stored 'target_place' is -2"),
    (("negative", "target_place"), array([3], "int"), "The stored 'target_place' is 3"),
    (("positive", "status_code"), array([4], "int"), "The stored 'status_code' is [4], and 0 to 3"),
    (("negative", "status_code"), array([5], "int"), "The stored 'status_code' is [5], and 0 to 4"),
    (("negative", "status_code"), array([-1], "int"), "The stored 'status_code' is [-1]"),
    (("negative", "status_code"), array([256], "int"), "The stored 'status_code' is [256]"),
    (("negative", "unique_code"), array([2], "int"), "The stored 'unique_code' is [2], and -1 to"),
    (("negative", "unique_code"), array([-2], "int"), "The stored 'unique_code' is [-2]"),
    (("negative", "unique_code"), None, "The stored 'unique_code' is None"),
    ((*ONE, "region"), ["near", 1], "A stored certificate is about a region of unknown kind"),
    ((*ONE, "certificate", "n"), 2, "A stored certificate is not about one sample"),
    ((*BLOCK, "rows"), array([1], "int"), "A stored certificate is not about one sample"),
    ((*BLOCK, "rows"), array([0, 0], "int"), "A stored certificate is not about one sample"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "words"), REFUSED, ids=[f"{path[1]}-{i}" for i, (path, _, _) in
                                              enumerate(REFUSED)],
)  # fmt: skip
def test_what_cannot_be_is_refused(iris, stored, path, value, words):
    with pytest.raises(InputError, match=re.escape(words)):
        pertinent.check(tampered(stored, ("proof", *path), value), iris[0])


def test_a_file_that_does_not_say_which_class_was_asked_for_is_refused(iris, stored):
    document = copy.deepcopy(stored)
    del document["proof"]["question"]["target"]
    with pytest.raises(InputError, match="does not say which class was asked for"):
        pertinent.check(document, iris[0])


def test_too_many_rules_are_refused(iris, stored):
    document = copy.deepcopy(stored)
    document["proof"]["question"]["constraints"]["frozen"] = ["x0"] * 20_000
    with pytest.raises(InputError, match="rules; at most"):
        pertinent.check(document, iris[0])


def test_features_of_other_names_are_refused(stored):
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = LogisticRegression(max_iter=1000).fit(X, y)
    with pytest.raises(InputError, match="is about the features .* and the model knows"):
        pertinent.check(tampered(stored, ("proof", "question", "frame"), True), model)


#: Parts that no version knows yet: the verdict is never that all holds.
STRANGE = [
    (("later",), 1),
    (("proof", "later"), 1),
    (("proof", "question", "later"), 1),
    (("proof", "question", "constraints", "later"), [1]),
    (("proof", "question", "constraints", "relations"), ["x0 ~ x1"]),
    (("proof", "question", "wording", "later"), {}),
    (("proof", "question", "within"), {"type": "spheres"}),
    (("proof", "positive", "later"), 1),
    (("proof", "negative", "later"), 1),
    (("proof", *ONE, "later"), 1),
    (("proof", *BLOCK, "proofs", "type"), "later"),
]


@pytest.mark.parametrize(
    ("path", "value"), STRANGE, ids=[".".join(map(str, p)) for p, _ in STRANGE]
)
def test_what_is_not_known_is_not_confirmed(iris, stored, path, value):
    """Read as far as it is known, or refused; but it is not said to hold."""
    assert pertinent.check(stored, iris[0]).ok
    checked = pertinent.check(tampered(stored, path, value), iris[0])
    assert checked.verdict in ("not re-checkable here", "refuted")
    assert any(f.verdict == "not re-checkable here" for f in checked.findings)
