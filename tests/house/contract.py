"""The import contract: which folder of the package may import from which, read off the sources.

Every import counts: at module level, inside a function, under TYPE_CHECKING, relative, or by
``importlib.import_module("...")``. A check returns its violations as sorted lines without line
numbers, so that an unrelated edit does not change them. ``python -m tests.house.contract`` prints
all of them, which is how ``known_violations.txt`` is written.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "pertinent"
SOURCES = Path(__file__).parents[2] / "src" / PACKAGE
KNOWN = Path(__file__).with_name("known_violations.txt")

#: The one-way order, from low to high: a folder may import from itself and from lower ones.
#: ``__init__`` stands for the public names, ``import pertinent``: users of them come after it.
ORDER = (
    "exceptions", "_moved", "client", "geometry", "lvq", "datasets", "tables", "models", "rules",
    "density", "proofs",
    "setting", "solvers", "answering", "questions", "summary", "views", "checking", "api",
    "__init__", "demo", "scale", "server", "cli", "testing", "__main__",
)  # fmt: skip

#: What may be imported from above, inside a function: `Explainer.serve` starts the server, which is
#: made of explainers. Nothing of it is loaded before it is called.
UPWARD = {("api/explainer.py", "server")}

#: Folders that may import from less than all below them.
ONLY = {
    "client": {"exceptions"},
    "geometry": {"exceptions"},
    "lvq": {"exceptions", "geometry"},
    "datasets": {"exceptions", "geometry"},
    "proofs": {"exceptions", "geometry"},
    "views": {"exceptions", "geometry", "summary"},
}
SEARCHING = {"solvers", "answering", "questions"}
NEVER = {"checking": SEARCHING}

#: The first may name classes of the second and none of its functions: a search that calls the
#: checker's functions agrees with the checker even where both are wrong.
CLASSES_ONLY = {("solvers", "proofs"), ("answering", "proofs"), ("questions", "proofs")}

#: Methods that evaluate a proof. What a search believes it knows by its own arithmetic: one that
#: asks a proof what it shows agrees with the checker even where both are wrong.
EVALUATES = {"bounds", "combined", "leaf_bounds", "piece_bounds", "proved", "refuted"}
#: Where answers are complete, and nothing is chosen any more: their bounds, for those who ask.
MAY_EVALUATE = {
    "solvers/problem.py", "questions/strict.py", "questions/supports/alternatives.py",
}  # fmt: skip

#: What may be imported beside Python's own library by what has to be trusted: numbers, and how many
#: threads they are computed on.
PLAIN = {"proofs": {"numpy"}, "geometry": {"numpy", "threadpoolctl"}}
#: Public names, and names of before, are looked up when they are asked for, and optional packages
#: by name; the last two look whether a user has loaded a notebook, or a kind of table.
MAY_HIDE = {
    "__init__.py", "_moved.py", "exceptions.py", "tables/progress.py", "tables/reading.py",
}  # fmt: skip

#: Where each package has its tolerances: in one table, so that the inequalities between them can be
#: tested. The last one is what LightGBM takes for 0.
TABLES = {"tolerances.py", "margins.py", "gaps.py", "of_lightgbm.py"}
#: Numbers between these are tolerances; smaller ones only keep a division from one by 0.
LEAST_TOLERANCE, MOST_TOLERANCE = 1e-200, 1e-5
#: Small numbers that are no tolerances: the least price that single precision holds.
NO_TOLERANCES = {("solvers/ensembles/kernel.py", 1e-30)}

ROOT_FILES = {"__init__", "__main__", "_moved", "exceptions", "demo", "testing"}
MOST_ROOT_FILES, MOST_ENTRIES = 6, 15

#: What an explanation has to be checked without.
SOLVER_PACKAGES = ("highspy", "clarabel", "pyscipopt", "numba")


@dataclass(frozen=True, order=True)
class Import:
    """One imported name: ``name`` is None where ``module`` itself is imported.

    ``module`` and ``file`` are relative to the package, as ``geometry.cell`` and
    ``geometry/cell.py``; the package itself is ``__init__``. ``alias`` is what the module is
    called in the file.
    """

    file: str
    module: str
    name: str | None = None
    alias: str | None = None

    @property
    def importer(self) -> str:
        """The folder or root file that imports."""
        return place_of(self.file)

    @property
    def imported(self) -> str:
        """The folder or root file that is imported from."""
        return self.module.split(".")[0]

    @property
    def target(self) -> str:
        return self.module if self.name is None else f"{self.module}.{self.name}"


@cache
def parsed(path: Path) -> ast.Module:
    """Return a file's syntax tree, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a file's syntax tree, walked once."""
    return tuple(ast.walk(tree))


def files(root: Path = SOURCES) -> list[tuple[str, ast.Module]]:
    """Return the package's files, relative to it, with their syntax trees."""
    found = sorted(path for path in root.rglob("*.py") if "__pycache__" not in path.parts)
    return [(path.relative_to(root).as_posix(), parsed(path)) for path in found]


def place_of(file: str) -> str:
    """Return the top folder of a file, or the name of a file at the root."""
    return file.split("/")[0].removesuffix(".py")


@cache
def imports(root: Path = SOURCES) -> tuple[Import, ...]:
    """Return every import of the package's own modules and names, anywhere in its files."""
    modules = {module_of(file) for file, _ in files(root)}
    return tuple(one for file, tree in files(root) for one in _imports_of(file, tree, modules))


def module_of(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _imports_of(file: str, tree: ast.Module, modules: set[str]) -> Iterator[Import]:
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    called = alias.asname or alias.name
                    yield Import(file, _inside(alias.name), alias=called)
        elif isinstance(node, ast.ImportFrom):
            start = _absolute(file, node)
            if not _is_ours(start):
                continue
            for alias in node.names:
                inner = _inside(f"{start}.{alias.name}")
                if inner in modules:
                    yield Import(file, inner, alias=alias.asname or alias.name)
                else:
                    yield Import(file, _inside(start), alias.name)
        elif isinstance(node, ast.Call) and _last_name(node.func) == "import_module":
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and _is_ours(str(first.value)):
                yield Import(file, _inside(str(first.value)))


def _is_ours(module: str) -> bool:
    return module.split(".")[0] == PACKAGE


def _inside(module: str) -> str:
    return module.removeprefix(PACKAGE).removeprefix(".") or "__init__"


def _absolute(file: str, node: ast.ImportFrom) -> str:
    """Return the module that names are imported from; one dot is the file's own folder."""
    if not node.level:
        return node.module or ""
    folders = [PACKAGE, *file.split("/")[:-1]]
    kept = folders[: len(folders) - node.level + 1]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _last_name(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def is_private(name: str) -> bool:
    """Return whether a name starts with one underscore: two on both sides is Python's own."""
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


# --- the checks ----------------------------------------------------------------------------


def without_place(root: Path = SOURCES) -> list[str]:
    """Return the files and folders at the root that the contract does not name."""
    folders = set(ORDER) - ROOT_FILES
    places = {(place_of(file), "/" not in file) for file, _ in files(root)}
    return sorted(
        f"no place: {place}{'.py' if is_file else '/'}"
        for place, is_file in places
        if place not in (ROOT_FILES if is_file else folders)
    )


def allowed(importer: str) -> set[str]:
    """Return what a place may import from, itself included."""
    below = set(ORDER[: ORDER.index(importer) + 1])
    return (ONLY.get(importer, below) - NEVER.get(importer, set())) | {importer}


def against_order(root: Path = SOURCES) -> list[str]:
    """Return the imports from a place that the importing one must not know.

    What has no place, see `without_place`, is not judged here.
    """
    return _lines(
        f"order: {one.file} imports {one.module}"
        for one in imports(root)
        if one.importer in ORDER
        and one.imported in ORDER
        and one.imported not in allowed(one.importer)
        and (one.file, one.imported) not in UPWARD
    )


def functions_taken(root: Path = SOURCES) -> list[str]:
    """Return the functions that a place names although only classes are open to it."""
    found = []
    trees = dict(files(root))
    for one in imports(root):
        if (one.importer, one.imported) not in CLASSES_ONLY:
            continue
        names = [one.name] if one.name else _attributes(trees[one.file], one.alias)
        found += [
            f"function: {one.file} uses {one.module}.{name}"
            for name in names
            if name == "*" or name.lstrip("_")[:1].islower()
        ]
    return _lines(found)


def proofs_evaluated(root: Path = SOURCES) -> list[str]:
    """Return the calls by which a search asks what a proof shows."""
    return _lines(
        f"evaluates: {file} calls .{node.func.attr}()"
        for file, tree in files(root)
        if place_of(file) in SEARCHING and file not in MAY_EVALUATE
        for node in nodes(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in EVALUATES
    )


def _attributes(tree: ast.Module, alias: str | None) -> list[str]:
    """Return which attributes of a module a file uses, under the name the file gives it."""
    return [
        node.attr
        for node in nodes(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == alias
    ]


def private_taken(root: Path = SOURCES) -> list[str]:
    """Return the imports of private modules or names from outside the folder that holds them."""
    trees = dict(files(root))
    used = (
        Import(one.file, one.module, attribute)
        for one in imports(root)
        if one.name is None
        for attribute in _attributes(trees[one.file], one.alias)
    )
    taken = [one for one in (*imports(root), *used) if is_taken(one)]
    return _lines(f"private: {one.file} imports {one.target}" for one in taken)


def is_taken(one: Import) -> bool:
    parts = one.module.split(".")
    holders = [parts[:k] for k, part in enumerate(parts) if is_private(part)]
    if one.name is not None and is_private(one.name):
        holders.append(parts[:-1])
    own = one.file.split("/")[:-1]
    return any(own[: len(holder)] != holder for holder in holders)


def hidden_imports(root: Path = SOURCES) -> list[str]:
    """Return imports that cannot be read off the source: by ``__import__``, or a name made up."""
    found = []
    for file, tree in files(root):
        for node in nodes(tree):
            if isinstance(node, ast.Call) and not _is_plain(node):
                found.append(f"hidden: {file} imports by {_last_name(node.func)}")
            if isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.modules":
                found.append(f"hidden: {file} imports by sys.modules")
    return _lines(line for line in found if line.split()[1] not in MAY_HIDE)


def _is_plain(call: ast.Call) -> bool:
    """Return whether a call imports nothing, or one module that it names in full."""
    if _last_name(call.func) != "import_module":
        return _last_name(call.func) != "__import__"
    first = call.args[0] if call.args else None
    named = isinstance(first, ast.Constant) and not str(first.value).startswith(".")
    return named and len(call.args) == 1 and not call.keywords


def foreign_packages(root: Path = SOURCES) -> list[str]:
    """Return what the trusted base imports beside NumPy and Python's own library."""
    found = []
    for file, tree in files(root):
        fine = PLAIN.get(place_of(file))
        for node in nodes(tree) if fine is not None else ():
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            tops = {name.split(".")[0] for name in names}
            strange = tops - fine - sys.stdlib_module_names - {PACKAGE} if fine else set()
            found += [f"foreign: {file} imports {name}" for name in strange]
    return _lines(found)


def loose_tolerances(root: Path = SOURCES) -> list[str]:
    """Return the tolerances that stand elsewhere than in the table of their package."""
    return _lines(
        f"tolerance: {file} has {node.value:g}"
        for file, tree in files(root)
        if "/" in file and file.split("/")[-1] not in TABLES
        for node in nodes(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, float)
        and LEAST_TOLERANCE < node.value < MOST_TOLERANCE
        and (file, node.value) not in NO_TOLERANCES
    )


#: What holds a member of an enumeration: these names are not compared with its bare word.
KINDS = {"status", "method", "norm", "basis", "overlap", "missing", "verdict", "kind"}
#: Where a word is another library's.
FOREIGN_WORDS = {"solvers/programs/scip.py"}


def enumerated(root: Path = SOURCES) -> set[str]:
    """Return the words of all enumerations of words in the package."""
    return {
        line.value.value
        for _, tree in files(root)
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef) and "StrEnum" in map(ast.unparse, node.bases)
        for line in node.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Constant)
    }


def bare_words(root: Path = SOURCES) -> list[str]:
    """Return where a status, method, norm, ... is compared with a bare word, not with its enum."""
    known = enumerated(root)
    return _lines(
        f"word: {file} compares {ast.unparse(node)}"
        for file, tree in files(root)
        if file not in FOREIGN_WORDS
        for node in nodes(tree)
        if isinstance(node, ast.Compare) and _names_in(node) & KINDS and _words_in(node) & known
    )


def _words_in(compared: ast.Compare) -> set[object]:
    """Return the constants that are compared, alone or in a tuple, list or set."""
    sides = [compared.left, *compared.comparators]
    parts = [part for side in sides for part in (side, *getattr(side, "elts", ()))]
    return {part.value for part in parts if isinstance(part, ast.Constant)}


def _names_in(compared: ast.Compare) -> set[str]:
    """Return the names, attributes and keys in a comparison."""
    parts = list(ast.walk(compared))
    found = {part.id for part in parts if isinstance(part, ast.Name)}
    found |= {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return found | {str(part.value) for part in parts if isinstance(part, ast.Constant)}


#: Sentences are made in one place, and nobody reads them again: what these return is not cut.
CUTS = {
    "removeprefix", "removesuffix", "split", "partition", "rpartition", "rsplit", "splitlines",
    "replace", "startswith", "endswith",
}  # fmt: skip
SAYS = {"text", "words", "enough", "change", "opening", "reason_of"}
#: The headings of our sentences: the pages get them from the server.
HEADINGS = re.compile(r"""["'`](What was enough|What would have changed|Certificate)""")


def sentences_cut(root: Path = SOURCES) -> list[str]:
    """Return where a sentence of ours is cut, and pages that know the headings of sentences."""
    cut = (
        f"cut: {file} has {ast.unparse(node.func)}"
        for file, tree in files(root)
        for node in nodes(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CUTS
        and isinstance(node.func.value, ast.Call)
        and _is_sentence(_last_name(node.func.value.func))
    )
    pages = (
        f"cut: {path.relative_to(root).as_posix()} knows a heading"
        for path in root.rglob("*.js")
        if HEADINGS.search(path.read_text(encoding="utf-8"))
    )
    return _lines((*cut, *pages))


def _is_sentence(name: str) -> bool:
    return name in SAYS or name.endswith("_words")


def sizes(root: Path = SOURCES) -> Counter[str]:
    """Return how many files and folders each folder holds; the root's files are ``.``."""
    counts: Counter[str] = Counter()
    for folder in [root, *root.rglob("*/")]:
        if "__pycache__" in folder.parts:
            continue
        entries = [entry for entry in folder.iterdir() if entry.name != "__pycache__"]
        if folder == root:  # its folders are the order, which may be long
            entries = [entry for entry in entries if entry.suffix == ".py"]
        counts[folder.relative_to(root).as_posix()] = len(entries)
    return counts


def crowded(root: Path = SOURCES) -> list[str]:
    """Return the folders that hold too much; without the count, which may shrink in steps."""
    most = {".": MOST_ROOT_FILES}
    return sorted(
        f"crowded: {folder} holds more than {most.get(folder, MOST_ENTRIES)} entries"
        for folder, count in sizes(root).items()
        if count > most.get(folder, MOST_ENTRIES)
    )


CHECKS = (
    without_place, against_order, functions_taken, proofs_evaluated, private_taken,
    hidden_imports, foreign_packages, loose_tolerances, bare_words, sentences_cut, crowded,
)  # fmt: skip


def violations(root: Path = SOURCES) -> list[str]:
    return sorted(line for check in CHECKS for line in check(root))


def _lines(found: Iterable[str]) -> list[str]:
    return sorted(set(found))


def differences(found: Iterable[str], known: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the violations that are not listed, and the listed ones that are none any more."""
    found, known = set(found), {line for line in known if line.strip()}
    return sorted(found - known), sorted(known - found)


# --- what an import loads ------------------------------------------------------------------

_LOADED = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
print(json.dumps(sorted(sys.modules)))
"""
_BEHIND_CHECK = "import pertinent; print(pertinent.check.__module__)"


def in_fresh_interpreter(code: str, *arguments: str, root: Path = SOURCES) -> str:
    """Return what a program prints that imports the package from ``root``."""
    path = os.pathsep.join([str(root.parent), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", code, *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, check=True, text=True, stdout=-1, env=environment).stdout


def loaded_by(module: str, root: Path = SOURCES) -> list[str]:
    """Return the names of all modules that importing one leaves in ``sys.modules``."""
    return list(json.loads(in_fresh_interpreter(_LOADED, module, root=root)))


def behind_check(root: Path = SOURCES) -> str:
    """Return the module that defines `pertinent.check`."""
    return in_fresh_interpreter(_BEHIND_CHECK, root=root).strip()


def solvers_among(modules: Iterable[str], searching: Iterable[str] = SEARCHING) -> list[str]:
    """Return those that search: modules of our searching folders, and the solvers' packages."""
    ours = tuple(f"{PACKAGE}.{folder}" for folder in searching)
    return [
        module
        for module in modules
        if module in SOLVER_PACKAGES or module.startswith(tuple(f"{one}." for one in ours))
        or module in ours
    ]  # fmt: skip


def loaded_with_check(root: Path = SOURCES) -> list[str]:
    """Return what must not come along with the module that defines `pertinent.check`."""
    found = solvers_among(loaded_by(behind_check(root), root))
    places = {one.removeprefix(f"{PACKAGE}.").split(".")[0] for one in found}
    return sorted(f"loaded: {PACKAGE}.check loads {place}" for place in places)


def everything(root: Path = SOURCES) -> list[str]:
    """Return all violations: of the sources, and of what they load."""
    return sorted([*violations(root), *loaded_with_check(root)])


if __name__ == "__main__":
    for line in everything():
        print(line)
