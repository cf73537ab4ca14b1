"""Every kind of proof has a name under which it is stored."""

import importlib
import inspect
import pkgutil

import pertinent.proofs
from pertinent.proofs import Proofs
from pertinent.proofs.records import UnknownProofs, _name_of


def test_every_kind_of_proof_can_be_stored():
    for module in pkgutil.iter_modules(pertinent.proofs.__path__):
        importlib.import_module(f"pertinent.proofs.{module.name}")
    waiting = [Proofs]
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        ours = cls.__module__.startswith("pertinent.")
        if ours and cls is not UnknownProofs and not inspect.isabstract(cls):
            assert _name_of(cls) is not None, f"{cls} needs a name in certificate/_records.py"
