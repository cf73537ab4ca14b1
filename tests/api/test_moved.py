"""Old import paths that the documentation named: they work, and say what to import instead."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

import pertinent

#: Every path that guides, README and CONTRIBUTING named before the modules moved.
NAMED = {
    "pertinent.certificate": ("check", "refutes"),
    "pertinent.explanation": ("Explanations", "Negatives", "Positives"),
    "pertinent.model_files": ("load_model",),
    "pertinent.projection": ("Options", "choose_method", "project"),
    "pertinent.regions": ("Cell", "Region"),
    "pertinent.views.answer_text": ("answer_text",),
}
STILL_THERE = {
    "pertinent.datasets": ("load_credit",),
    "pertinent.demo": ("train_credit_model",),
    "pertinent.lvq": ("GLVQ",),
    "pertinent.scale": ("explain_batches", "output_schema", "run"),
    "pertinent.testing": (),
}


@pytest.mark.parametrize("old", NAMED)
def test_an_old_path_works_and_names_the_new_one(old: str) -> None:
    sys.modules.pop(old, None)
    with pytest.warns(DeprecationWarning, match=rf"{old} has moved: import pertinent\."):
        module = import_module(old)
    for name in NAMED[old]:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("how", ["import_module('pertinent.regions')", "pertinent.regions"])
def test_the_one_who_used_an_old_path_is_told(how: str) -> None:
    """Python shows a DeprecationWarning by itself only where the user's own line is to blame."""
    sys.modules.pop("pertinent.regions", None)
    vars(pertinent).pop("regions", None)
    code = compile(how, "the user's file", "eval")
    with pytest.warns(DeprecationWarning, match="has moved") as told:
        eval(code, {"pertinent": pertinent, "import_module": import_module, "__name__": "user"})
    assert [warning.filename for warning in told] == ["the user's file"]


@pytest.mark.parametrize("path", STILL_THERE)
def test_a_path_that_did_not_move_warns_of_nothing(
    path: str, recwarn: pytest.WarningsRecorder
) -> None:
    module = import_module(path)
    assert all(hasattr(module, name) for name in STILL_THERE[path])
    assert not [w for w in recwarn if "has moved" in str(w.message)]


def test_an_unknown_name_of_an_old_path_is_unknown() -> None:
    sys.modules.pop("pertinent.regions", None)
    with pytest.warns(DeprecationWarning, match="has moved"):
        module = import_module("pertinent.regions")
    with pytest.raises(AttributeError, match="Nothing"):
        _ = module.Nothing


def test_a_region_of_old_is_made_of_cells() -> None:
    sys.modules.pop("pertinent.regions", None)
    with pytest.warns(DeprecationWarning, match="has moved"):
        old = import_module("pertinent.regions")
    region = old.Region((old.Cell.whole_space(2),))
    assert region.contains([[0.0, 1.0]]).all()
