"""Every kind of proof has a name under which it is stored."""

import importlib
import inspect
import json
import pkgutil
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import pertinent.proofs
from pertinent.exceptions import InputError
from pertinent.geometry.codec import decode, encode
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs import (
    Argument,
    BranchProofs,
    FewestProofs,
    LinearProofs,
    Proofs,
    RivalSetProofs,
    StrictProofs,
    SufficientProofs,
)
from pertinent.proofs.core import RegionProofs
from pertinent.proofs.records import UnknownProofs
from pertinent.proofs.records import decode as decode_proofs
from pertinent.setting.question import PositiveQuestion
from tests.shown import proved_of_negatives, proved_of_positives


def kinds():
    """Return the classes of proofs of this package."""
    for module in pkgutil.walk_packages(pertinent.proofs.__path__, "pertinent.proofs."):
        importlib.import_module(module.name)
    waiting, found = [Proofs, RegionProofs], []
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        ours = cls.__module__.startswith("pertinent.")
        if ours and cls is not UnknownProofs and not inspect.isabstract(cls):
            found.append(cls)
    return found


def test_every_kind_of_proof_can_be_stored():
    for cls in kinds():
        empty = object.__new__(cls)
        for name in cls.__dataclass_fields__:
            object.__setattr__(empty, name, None)
        empty.__dict__["compact"] = lambda empty=empty: empty
        assert "." not in encode(empty)["type"], f"{cls} needs a name: @record_as(...)"


def test_parts_that_files_of_before_have_are_not_read():
    record = {"type": "sufficient", "size": encode(np.ones(1)), "extra": None, "domain": None}
    assert decode(record).size.tolist() == [1.0]
    with pytest.raises(InputError, match="unknown parts"):
        decode(record | {"more": 1})


def test_a_proof_of_an_unknown_kind_proves_nothing_and_says_so():
    proofs = decode_proofs({"type": "from-the-future", "numbers": [1, 2]})
    assert encode(proofs) == {"type": "from-the-future"}
    cell = Cell(np.array([[-1.0]]), np.array([-1.0]))
    task = Task.of(cell, np.zeros((3, 1)), np.ones(1))
    three = proofs.take(np.array([0, 0, 0]))
    assert three.bounds(task).tolist() == [0.0, 0.0, 0.0]
    assert not three.trusted().any()


def test_numbers_come_back_to_the_last_bit():
    y = np.array([[0.1, np.inf, -np.inf], [1 / 3, 0.0, 5e-324]])
    again = decode(encode(LinearProofs(y, np.array([True, False]))))
    np.testing.assert_array_equal(again.multipliers, y)
    assert again.ray.tolist() == [True, False]


IRIS = load_iris()
X, SAMPLES = IRIS.data, IRIS.data[::15]
RANGES = X.min(axis=0), X.max(axis=0)
MEDIAN = PositiveQuestion(np.median(X, axis=0), ranges=RANGES)
LOGISTIC = LogisticRegression(max_iter=500).fit(X, IRIS.target)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, IRIS.target)
TOGETHER = pertinent.Constraints(together=[[0, 1]])


def positives(model, method):
    """Return answers, and what recomputes their bounds."""
    found = pertinent.pertinent_positives(model, SAMPLES, method=method, baseline="median", data=X)
    setting = pertinent.Explainer(model, data=X, baseline="median").setting
    return found, lambda some: proved_of_positives(setting, MEDIAN, some)


def negatives(model, rules=None, **how):
    """Return the same of negatives."""
    found = pertinent.pertinent_negatives(model, SAMPLES, constraints=rules, data=X, **how)
    setting = pertinent.Explainer(model, data=X, constraints=rules).setting
    asked = {"max_changes": how.get("max_changes")}
    return found, lambda some: proved_of_negatives(setting, some, **asked)


def from_a_file(certified):
    """Return certificates that were written to a file and read again."""
    for part in certified:
        text = json.dumps(encode(part.certificate), allow_nan=False)
        yield replace(part, certificate=decode_proofs(json.loads(text)))


ANSWERS = {
    "exact": (FewestProofs, lambda: positives(LOGISTIC, "exact")),
    "exact, a tree": (FewestProofs, lambda: positives(TREE, "exact")),
    "strict": (StrictProofs, lambda: positives(LOGISTIC, "strict")),
    "sufficient": (SufficientProofs, lambda: positives(LOGISTIC, "sufficient")),
    "sufficient, a tree": (RivalSetProofs, lambda: positives(TREE, "sufficient")),
    "l0": (FewestProofs, lambda: negatives(LOGISTIC, norm="l0")),
    "l0, counted": (BranchProofs, lambda: negatives(LOGISTIC, rules=TOGETHER, norm="l0")),
    "max_changes": (
        FewestProofs,
        lambda: negatives(LOGISTIC, max_changes=1, alternatives=1),
    ),
    "max_changes, counted": (
        BranchProofs,
        lambda: negatives(LOGISTIC, rules=TOGETHER, max_changes=1),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_bounds_of_proofs_from_a_file_are_those_before_bit_for_bit(name):
    kind, make = ANSWERS[name]
    found, recheck = make()
    fields = ("certificates", "closeness_certificates")
    parts = list(chain(*(getattr(found, field) or () for field in fields)))
    assert any(isinstance(b.proofs, kind) for part in parts for b in part.certificate.blocks)
    read = {field: tuple(from_a_file(getattr(found, field) or ())) for field in fields}
    again = replace(found, **read)
    before = recheck(found)
    np.testing.assert_array_equal(recheck(again), before)
    assert (before[0] > 0).any()
    size, _ = before
    optimal = found.status == "optimal"
    assert optimal.any()
    assert (size >= found.bound - 1e-9)[optimal].all()


@pytest.mark.parametrize("rest", [10.0, -10.0])
def test_where_features_rest_is_no_matter_of_the_proof(rest):
    """A file that says where features rest is read, and what it says of this is not believed."""
    found, recheck = positives(LOGISTIC, "exact")
    (part, *_) = found.certificates
    record = json.loads(json.dumps(encode(part.certificate)))
    for block in record["blocks"]:
        block["proofs"] |= {"rest": encode(np.full((len(part.rows), 4), rest)), "off_tol": 3.0}
    forged = replace(found, certificates=(replace(part, certificate=decode_proofs(record)),))
    honest = recheck(found)[0][part.rows]
    np.testing.assert_array_equal(recheck(forged)[0][part.rows], honest)


def test_a_proof_made_for_values_at_rest_that_were_not_asked_for_proves_nothing():
    """``x0 + x1 >= 1``: at rest in 0 one feature must move, in 1 none has to."""
    cell = Cell(np.array([[-1.0, -1.0]]), np.array([-1.0]))
    proofs = FewestProofs(np.array([1.0]), np.array([0.0]), (Argument.empty(1),))
    task = Task.of(cell, np.zeros((1, 2)), np.ones(2))
    assert proofs.bounds(task).tolist() == [1.0]
    assert proofs.bounds(replace(task, rest=np.ones((1, 2)))).tolist() == [0.0]
