"""The import contract, on small trees written here and on the package itself."""

from __future__ import annotations

from functools import partial

import pytest

from tests.house import contract


@pytest.fixture
def house(tmp_path):
    """Return a function that writes files and returns the root of the package they make."""

    return partial(written, tmp_path / "pertinent")


def written(root, sources):
    for name, text in sources.items():
        file = root / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_importing_from_below_is_fine(house):
    root = house(
        {
            "geometry/cell": "from pertinent.exceptions import InputError",
            "exceptions": "class InputError(ValueError): ...",
            "solvers/select": "from pertinent.geometry.cell import Cell\nfrom . import stages",
            "solvers/stages": "import numpy",
            "api/explainer": "from pertinent.solvers import select\nimport pertinent.geometry.cell",
        }
    )
    assert contract.violations(root) == []


@pytest.mark.parametrize(
    ("file", "call", "fine"),
    [
        ("solvers/stages", "proofs.bounds(task)", False),
        ("questions/sufficient/rivals", "self.found.certificate.proved(task)", False),
        ("solvers/stages", "found.believed(task)", True),
        ("setting/claims", "proofs.bounds(task)", True),
        ("questions/supports/alternatives", "proofs.bounds(task)", True),
    ],
)
def test_no_search_asks_what_a_proof_shows(house, file, call, fine):
    root = house({file: f"def f(proofs, found, task, self):\n    return {call}"})
    name = call.split("(")[0].rsplit(".")[-1]
    said = [] if fine else [f"evaluates: {file}.py calls .{name}()"]
    assert contract.proofs_evaluated(root) == said


@pytest.mark.parametrize(
    "source",
    [
        "from pertinent.solvers.select import choose",
        "from pertinent.solvers import select",
        "import pertinent.solvers.select as s",
        "from ..solvers.select import choose",
        "from ..solvers import select",
        "def f():\n    from pertinent.solvers.select import choose",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pertinent.solvers.select",
        "import importlib\nimportlib.import_module('pertinent.solvers.select')",
    ],
)
def test_every_form_of_import_counts(house, source):
    root = house({"solvers/select": "def choose(): ...", "rules/form": source})
    assert contract.against_order(root) == ["order: rules/form.py imports solvers.select"]


@pytest.mark.parametrize(
    ("importer", "imported", "fine"),
    [
        ("geometry", "exceptions", True),
        ("geometry", "lvq", False),
        ("proofs", "geometry", True),
        ("proofs", "tables", False),
        ("views", "summary", True),
        ("views", "geometry", True),
        ("checking", "summary", True),
        ("checking", "setting", True),
        ("checking", "views", True),
        ("checking", "solvers", False),
        ("checking", "answering", False),
        ("checking", "questions", False),
        ("lvq", "geometry", True),
        ("lvq", "models", False),
        ("datasets", "tables", False),
        ("setting", "proofs", True),
        ("setting", "solvers", False),
        ("api", "checking", True),
        ("summary", "__init__", False),
        ("scale", "__init__", True),
        ("scale", "cli", False),
        ("demo", "datasets", True),
    ],
)
def test_who_may_import_whom(importer, imported, fine):
    assert (imported in contract.allowed(importer)) == fine


def test_the_package_itself_stands_above_its_parts(house):
    root = house(
        {
            "__init__": "__version__ = '1'",
            "summary/stored": "from pertinent import __version__",
            "scale/run": "import pertinent",
        }
    )
    assert contract.against_order(root) == ["order: summary/stored.py imports __init__"]


def test_solvers_take_classes_of_the_proofs_and_no_functions(house):
    root = house(
        {
            "proofs/cases": "class Tree: ...\ndef narrow(): ...\nLIMIT = 1",
            "proofs/linear": "def push(): ...",
            "solvers/good": "from pertinent.proofs.cases import LIMIT, Tree",
            "solvers/bad": "from pertinent.proofs.cases import Tree, narrow",
            "solvers/sly": "from pertinent.proofs import linear as l\nl.push()\nl.Linear()",
            "setting/judge": "from pertinent.proofs.cases import narrow",
        }
    )
    assert contract.functions_taken(root) == [
        "function: solvers/bad.py uses proofs.cases.narrow",
        "function: solvers/sly.py uses proofs.linear.push",
    ]


def test_private_names_stay_in_their_folder(house):
    root = house(
        {
            "proofs/_branch": "def children(): ...",
            "proofs/own": "from pertinent.proofs._branch import children",
            "proofs/deep/inner": "from pertinent.proofs._branch import children",
            "setting/one": "from pertinent.proofs._branch import children",
            "setting/two": "from pertinent.proofs.own import _hidden",
            "setting/three": "import __future__\nfrom pertinent import __version__",
            "proofs/four": "from pertinent.proofs.deep._inside import value",
            "setting/five": "from pertinent.proofs import own\nown._hidden()",
        }
    )
    assert contract.private_taken(root) == [
        "private: proofs/four.py imports proofs.deep._inside.value",
        "private: setting/five.py imports proofs.own._hidden",
        "private: setting/one.py imports proofs._branch.children",
        "private: setting/two.py imports proofs.own._hidden",
    ]


@pytest.mark.parametrize(
    ("source", "how"),
    [
        ("__import__('pertinent.solvers.select')", "__import__"),
        ("n = 'solvers'\nimport_module(f'pertinent.{n}.select')", "import_module"),
        ("import_module('.solvers.select', 'pertinent')", "import_module"),
        ("import sys\nsys.modules['pertinent.solvers']", "sys.modules"),
    ],
)
def test_no_import_is_hidden(house, source, how):
    root = house({"rules/form": source, "rules/fine": "import_module('json')", "_moved": source})
    assert contract.hidden_imports(root) == [f"hidden: rules/form.py imports by {how}"]


def test_the_trusted_base_is_plain(house):
    fine = "import ast\nimport numpy as np\nfrom pertinent.geometry import cell"
    root = house(
        {
            "proofs/fine": fine,
            "proofs/one": "import scipy.optimize",
            "proofs/two": "def f():\n    from highspy import Highs",
            "geometry/three": "from sklearn import tree",
            "geometry/cell": "import threadpoolctl",
            "solvers/four": "import highspy",
        }
    )
    assert contract.foreign_packages(root) == [
        "foreign: geometry/three.py imports sklearn",
        "foreign: proofs/one.py imports scipy",
        "foreign: proofs/two.py imports highspy",
    ]


def test_tolerances_stand_in_the_table_of_their_package(house):
    root = house(
        {
            "proofs/tolerances": "SUMS = 1e-13",
            "proofs/one": "def f(x):\n    return x < 3e-9 * (1 - 4e-16) + 1e-300 + 0.5",
            "solvers/ensembles/kernel": "LEAST_PRICE, CLOSER = 1e-30, 1e-10",
            "views/plot": "WIDTH = 1e-9",
            "testing": "CLOSE = 1e-9",
        }
    )
    assert contract.loose_tolerances(root) == [
        "tolerance: proofs/one.py has 3e-09",
        "tolerance: proofs/one.py has 4e-16",
        "tolerance: solvers/ensembles/kernel.py has 1e-10",
        "tolerance: views/plot.py has 1e-09",
    ]


def test_a_status_is_not_compared_with_a_bare_word(house):
    root = house(
        {
            "summary/words": "class Said(StrEnum):\n    OPTIMAL = 'optimal'",
            "api/one": "fine = self.status == Said.OPTIMAL\nbare = self.status == 'optimal'",
            "views/two": "answer.get('status', '') in ('optimal', 'other')\nname == 'optimal'",
            "solvers/programs/scip": "status == 'optimal'",
        }
    )
    assert contract.bare_words(root) == [
        "word: api/one.py compares self.status == 'optimal'",
        "word: views/two.py compares answer.get('status', '') in ('optimal', 'other')",
    ]


def test_sentences_are_not_cut(house):
    root = house(
        {
            "views/one": "proof_words(summary).removeprefix('Certificate. ')",
            "api/two": "first, *rest = self.text().split('\\n')\nname.split('.')",
        }
    )
    (root / "page.js").write_text('without(words.enough, "What was enough: ")')
    assert contract.sentences_cut(root) == [
        "cut: api/two.py has self.text().split",
        "cut: page.js knows a heading",
        "cut: views/one.py has proof_words(summary).removeprefix",
    ]


def test_what_has_no_place(house):
    root = house({"__init__": "", "demo": "", "helpers": "", "misc/things": ""})
    assert contract.without_place(root) == ["no place: helpers.py", "no place: misc/"]


def test_crowded_folders(house):
    many = {f"geometry/m{i}": "" for i in range(16)} | {f"f{i}": "" for i in range(7)}
    assert contract.crowded(house(many)) == [
        "crowded: . holds more than 6 entries",
        "crowded: geometry holds more than 15 entries",
    ]


def test_the_list_may_only_shrink():
    assert contract.differences(["a", "b"], ["b", "c", ""]) == (["a"], ["c"])


def test_solvers_among_loaded_modules():
    modules = ["clarabel", "highspy", "numpy", "pertinent.solvers", "pertinent.solvers.select"]
    assert contract.solvers_among([*modules, "pertinent.solverslike"]) == [
        module for module in modules if module != "numpy"
    ]


def test_what_comes_along_with_check(house):
    root = house(
        {
            "__init__": "from pertinent.checking import check",
            "checking/__init__": "import pertinent.solvers.select\ndef check(): ...",
            "solvers/select": "",
        }
    )
    assert contract.loaded_with_check(root) == ["loaded: pertinent.check loads solvers"]


def test_the_package_keeps_the_contract_but_for_known_violations():
    known = contract.KNOWN.read_text().splitlines()
    assert known == sorted(set(known)), f"{contract.KNOWN.name} is not sorted"
    new, gone = contract.differences(contract.everything(), known)
    assert not new, "new violations of the import contract:\n" + "\n".join(new)
    assert not gone, f"mended: delete from {contract.KNOWN.name}\n" + "\n".join(gone)
