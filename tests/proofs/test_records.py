"""Every kind of proof has a name under which it is stored."""

import importlib
import inspect
import pkgutil

import numpy as np
import pytest

import pertinent.proofs
from pertinent.exceptions import InputError
from pertinent.geometry.codec import decode, encode
from pertinent.geometry.region import Cell
from pertinent.geometry.task import Task
from pertinent.proofs import LinearProofs, Proofs
from pertinent.proofs.core import RegionProofs
from pertinent.proofs.records import UnknownProofs
from pertinent.proofs.records import decode as decode_proofs


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
