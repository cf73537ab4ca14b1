"""How the package is built: the figures that its structure is judged by, ``make house``.

Nearly all is read off the syntax trees. ``--sites`` lists what was counted, ``--tree FOLDER``
measures another checkout's ``src/pertinent``. The column of before was measured by this very code
on commit eb96647, so that both columns count the same.
"""

from __future__ import annotations

import argparse
import ast
import json
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

from tests.house import contract

#: Files and folders that are wholly for what could not be asked at eb96647: their lines are not
#: compared. Those of what had a file then and has grown since (rules in every question, checks of
#: every claim) are.
NEW_SINCE = (
    # forests and boosting; `models/trees/one_tree` and the nodes it reads are what `tree.py` was
    "geometry/ensembles/", "models/trees/boosting", "models/trees/forests", "models/trees/native",
    "models/trees/of_", "proofs/ensembles/", "solvers/ensembles/",
    # missing values that trees take
    "models/trees/gaps",
    # models that were refused: regressors, votes, codes, counts, bent columns, constants
    "models/regressors/", "models/bayes/discrete", "models/combined/constant",
    "models/combined/one_vs_one", "models/combined/output_code", "models/combined/voting",
    "models/steps/monotone",
    # ranges around answers, and boxes of them
    "questions/ranges/", "proofs/boxes", "setting/ranges", "setting/claims/ranges",
    "setting/claims/boxes", "setting/claims/cuts", "setting/claims/rooms", "setting/claims/sums",
    "api/rooms", "checking/ranges", "summary/ranges",
    # rules read off the data, and which of them are needed where there is no answer
    "rules/infer", "rules/unknown", "rules/subsets", "setting/reasons/fewer",
    "answering/fewer_rules",
    # what stands in for an empty positive
    "api/instead", "setting/claims/instead", "summary/instead", "checking/instead",
    # whether a curved answer is the only one; alternatives checked; probabilities; menus of levers
    "proofs/cases/near", "proofs/cases/axis_boxes", "checking/alternatives", "checking/chances",
    "summary/chances", "api/menu", "api/progress",
    # pages, an HTTP API, and who asks it
    "server/", "client/", "cli/serving",
)  # fmt: skip

#: Where cases are searched, and where proofs of searches are checked; the last ones are old names.
SEARCHING = ("solvers", "answering", "questions", "projection", "exact")
SEARCHED = (*SEARCHING, "proofs", "certificate")
#: Where regions may be told apart and looked into.
GEOMETRY = ("geometry", "regions", "winners")


@dataclass(frozen=True)
class Source:
    """One file of the package; ``path`` is relative to it."""

    path: str
    tree: ast.Module

    def is_in(self, *places: str) -> bool:
        return contract.place_of(self.path) in places

    def at(self, node: ast.AST, words: str = "") -> str:
        return f"{self.path}:{getattr(node, 'lineno', 0)} {words}".strip()


def sources(root: Path) -> list[Source]:
    return [Source(*one) for one in contract.files(root)]


def words(*nodes: ast.AST) -> set[str]:
    """Return all names and attributes in some code."""
    found = set()
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                found.add(part.id)
            elif isinstance(part, ast.Attribute):
                found.add(part.attr)
    return found


def called(node: ast.AST) -> str:
    """Return the last name of what a call calls, else nothing."""
    if not isinstance(node, ast.Call):
        return ""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


# --- size and paths -----------------------------------------------------------------------


def root_files(root: Path) -> int:
    return contract.sizes(root)["."]


def largest_folder(root: Path) -> int:
    return max(count for folder, count in contract.sizes(root).items() if folder != ".")


def lines(root: Path) -> int:
    """Lines of all Python files, without what is new."""
    return _lines_of(root, lambda path: not path.startswith(NEW_SINCE))


def _lines_of(root: Path, counts: Callable[[str], bool]) -> int:
    paths = [root / one.path for one in sources(root) if counts(one.path)]
    return sum(path.read_bytes().count(b"\n") for path in paths)


def lines_in(root: Path, *folders: str) -> str:
    """Lines of some folders, in hundreds."""
    count = _lines_of(root, lambda path: path.startswith(tuple(f"{one}/" for one in folders)))
    return f"{round(count, -2):,}"


def median_function(root: Path) -> int:
    """Lines of the median function, its docstring and decorators not counted."""
    found = [
        (node.end_lineno or 0) - body[0].lineno + 1
        for source in sources(root)
        for node in functions(source.tree)
        if (body := node.body[1:] if ast.get_docstring(node) is not None else node.body)
    ]
    return int(median(found))


_TRACE = """
import json, sys
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
import pertinent

X, y = load_iris(return_X_y=True)
X, y = X[y < 2], y[y < 2]
model, root = LogisticRegression().fit(X, y), pertinent.__path__[0]

def watch(frame, event, _):
    global depth, most
    if frame.f_code.co_filename.startswith(root) and event in ("call", "return"):
        depth += 1 if event == "call" else -1
        most = max(most, depth)
        codes.add(frame.f_code)

explainer = pertinent.Explainer(model, baseline=X.mean(axis=0))
for ask in (lambda: pertinent.pertinent_negatives(model, X[:1]), lambda: explainer.explain(X[:1])):
    ask()
    codes, depth, most = set(), 0, 0
    sys.setprofile(watch)
    ask()
    sys.setprofile(None)
    print(json.dumps([len({code.co_filename for code in codes}), len(codes), most]))
"""


@cache
def negative(root: Path) -> list[int]:
    """Files, functions and depth of one logistic negative, once all is warm.

    A function is a code object of ours that was called, comprehensions and lambdas included
    (Python 3.12 and later inline most comprehensions); its file is the one it is written in. The
    depth is the largest number of our own frames that are open at once. Counting the caller as
    well gives the 38 files and 218 functions that the plan of the folders speaks of.
    """
    return traced(root)[0]


@cache
def traced(root: Path) -> list[list[int]]:
    """The same of a negative, and of both questions that a prepared `Explainer` is asked."""
    lines = contract.in_fresh_interpreter(_TRACE, root=root).splitlines()
    return [list(json.loads(line)) for line in lines[-2:]]


@cache
def checking_loads(root: Path) -> list[str]:
    """All modules after importing the one that defines `pertinent.check`."""
    return contract.loaded_by(contract.behind_check(root), root)


def checking_modules(root: Path) -> list[str]:
    return [one for one in checking_loads(root) if one.split(".")[0] == contract.PACKAGE]


#: What checking an explanation may load, beside itself, names of before and errors.
NEEDED = {
    "geometry", "tables", "models", "rules", "density", "proofs", "setting", "summary", "checking",
    "exceptions", "_moved",
}  # fmt: skip


def checking_others(root: Path) -> list[str]:
    """Modules that it loads from elsewhere."""
    inner = [one.split(".") for one in checking_modules(root) if "." in one]
    return [".".join(one) for one in inner if one[1] not in NEEDED]


def checking_solvers(root: Path) -> list[str]:
    return contract.solvers_among(checking_loads(root), SEARCHING)


# --- several mechanisms for one thing ---------------------------------------------------------

FRONTIER = {
    "agenda", "cases", "frontier", "heap", "open", "pending", "queue", "stack", "todo", "waiting",
}  # fmt: skip
SPLITS = ("bisect", "branch", "children", "halve", "halv", "split")
ASKS_AGAIN = {"find_supports", "project", "search", "solve"}


def search_loops(root: Path) -> list[str]:
    """Loops that search over cases, in one of three forms.

    frontier: a ``while`` over a list of open cases (see FRONTIER) to which the same class, or else
    the same function, also adds; levels: a ``for`` over a range that replaces boxes by the parts
    they are split into; proposals: a ``while`` over open cases or for a better incumbent that
    calls a solver each time. Replays of stored trees are none: they add nothing and ask nobody.

    At eb96647 this finds the 13 loops that were named by hand.
    """
    found = []
    for source in sources(root):
        if source.is_in(*SEARCHED):
            for scope in _scopes(source.tree):
                loops = (n for n in ast.walk(scope) if isinstance(n, ast.While | ast.For))
                kinds = ((loop, _kind_of_search(loop, scope, source.tree)) for loop in loops)
                found += [source.at(loop, f"{scope.name} {kind}") for loop, kind in kinds if kind]
    return found


def _scopes(tree: ast.Module) -> list[ast.ClassDef | ast.FunctionDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)]


def _kind_of_search(loop: ast.While | ast.For, scope: ast.AST, tree: ast.Module) -> str:
    if isinstance(loop, ast.For):
        return "levels" if called(loop.iter) == "range" and _splits(loop) else ""
    frontier = {word for word in words(loop.test) if word.strip("_") in FRONTIER}
    if any(_adds_to(scope, name) or _refills(loop, name) for name in frontier):
        return "frontier"
    goes_on = words(*_closure(loop.test, tree))
    if frontier or "best" in words(loop.test) | goes_on:
        asked = {called(part) for node in _closure(loop, tree) for part in ast.walk(node)}
        return "proposals" if asked & ASKS_AGAIN else ""
    return ""


def _refills(loop: ast.AST, name: str) -> bool:
    """Return whether a loop joins new cases to the ones that wait: `waiting = join(...)`."""
    return any(
        isinstance(node, ast.Assign)
        and any(_ends(target) == name for target in node.targets)
        and any("join" in called(part) for part in ast.walk(node.value))
        for node in ast.walk(loop)
    )


def _adds_to(scope: ast.AST, name: str) -> bool:
    for node in ast.walk(scope):
        if isinstance(node, ast.AugAssign) and _ends(node.target) == name:
            return True
        if isinstance(node, ast.Call):
            owner = getattr(node.func, "value", None)
            if called(node) in ("append", "extend", "push") and _ends(owner) == name:
                return True
            if called(node) == "heappush" and _ends(node.args[0]) == name:
                return True
        # waiting = joined(waiting, fresh)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            given = {_ends(one) for one in node.value.args}
            if name in given and name in {_ends(one) for one in node.targets}:
                return True
    return False


def _ends(node: ast.AST | None) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def _splits(loop: ast.For) -> bool:
    """Whether the loop replaces some variables by what they are split into."""
    for node in ast.walk(loop):
        if isinstance(node, ast.Assign) and any(word in called(node.value) for word in SPLITS):
            given = words(*node.value.args)
            if given & words(*node.targets):
                return True
    return False


def _closure(start: ast.AST, tree: ast.Module) -> list[ast.AST]:
    """Return code with the functions of the same module that it calls, directly or not."""
    known = {function.name: function for function in functions(tree)}
    seen, todo = {}, [start]
    while todo:
        for part in ast.walk(todo.pop()):
            name = called(part)
            if name in known and name not in seen:
                seen[name] = known[name]
                todo.append(known[name])
    return [start, *seen.values()]


def calls(*names: str, of: tuple[str, ...] = ()) -> Callable[[Path], list[str]]:
    """Return a count of the calls of some names, of certain modules if these are given."""

    def sites(root: Path) -> list[str]:
        return [
            source.at(node, ast.unparse(node.func))
            for source in sources(root)
            for node in contract.nodes(source.tree)
            if called(node) in names and (not of or _ends(getattr(node.func, "value", None)) in of)
        ]

    return sites


CRITERIA = {
    "are_plausible", "as_handed_out", "broken_rules", "is_dense", "is_steady", "is_sure",
    "predict_proba", "rules_broken",
}  # fmt: skip


def judges(root: Path) -> list[str]:
    """Functions that decide on points: by ``predict(table, points)`` and one more criterion.

    At eb96647 these are 8: the 6 that were named by hand, the judge of worst cases in
    ``exact/worst.py`` and that of an equally good second point in ``checking/negatives.py``.
    """
    return [
        source.at(function, function.name)
        for source in sources(root)
        for function in functions(source.tree)
        if words(*function.body) & CRITERIA and _judges_labels(function)
    ]


def _judges_labels(function: ast.FunctionDef) -> bool:
    given = {argument.arg for argument in function.args.args}
    asks = any(called(node) == "predict" and len(node.args) == 2 for node in _own_code(function))
    compares = any(isinstance(node, ast.Compare) for node in _own_code(function))
    return asks or ("predicted" in given and compares)


def _own_code(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without those of functions inside it."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if not isinstance(node, ast.FunctionDef):
            yield node
            todo += ast.iter_child_nodes(node)


def ladders(root: Path) -> list[str]:
    """Loops that solve again with a larger margin."""
    grows = {"GROWTH", "grown"}
    return [
        source.at(loop)
        for source in sources(root)
        for loop in contract.nodes(source.tree)
        if isinstance(loop, ast.For | ast.While) and words(*loop.body) & grows
    ]


# --- regions and imports --------------------------------------------------------------------

SET_ALGEBRA = {"contains", "pull_back", "tighten"}


def region_classes(root: Path) -> set[str]:
    """Cells, regions and collections of them: what defines the set algebra, or inherits."""
    classes = [
        node
        for source in sources(root)
        if source.is_in(*GEOMETRY)
        for node in contract.nodes(source.tree)
        if isinstance(node, ast.ClassDef)
    ]
    found: set[str] = set()
    while True:
        more = {
            node.name
            for node in classes
            if {f.name for f in functions(node)} >= SET_ALGEBRA or words(*node.bases) & found
        }
        if more <= found:
            return found
        found |= more


def regions_told_apart(root: Path) -> list[str]:
    """``isinstance`` or ``match`` on kinds of regions, outside geometry; by hand 10 were named."""
    kinds, found = region_classes(root), []
    for source in sources(root):
        if source.is_in(*GEOMETRY):
            continue
        for node in contract.nodes(source.tree):
            if called(node) == "isinstance" and words(node.args[1]) & kinds:
                found.append(source.at(node, ast.unparse(node)))
            if isinstance(node, ast.MatchClass) and words(node.cls) & kinds:
                found.append(source.at(node, ast.unparse(node.cls)))
    return found


def reading_cells(root: Path) -> list[str]:
    """Files outside geometry that look into ``.cells``."""
    return [
        source.path
        for source in sources(root)
        if not source.is_in(*GEOMETRY)
        and any(
            isinstance(n, ast.Attribute) and n.attr == "cells" for n in contract.nodes(source.tree)
        )
    ]


def private_imports(root: Path) -> list[str]:
    """Pairs of a file and a module of another folder from which it takes something private."""
    taken = {(one.file, one.module) for one in contract.imports(root) if contract.is_taken(one)}
    return [f"{file} imports {module}" for file, module in sorted(taken)]


def misplaced(root: Path) -> list[str]:
    return [*contract.without_place(root), *contract.against_order(root)]


def largest_cycle(root: Path) -> list[str]:
    """The largest set of modules that import each other, anywhere in them.

    What TYPE_CHECKING guards counts as well. An ``__init__`` counts where it is imported from, not
    where Python runs it on the way to another module: every folder that re-exports names would
    then be a cycle. The one import that the contract allows upwards does not count: by it
    `Explainer.serve` starts the server, which is made of explainers.
    """
    reach: dict[str, set[str]] = {}
    for one in contract.imports(root):
        if one.module != "__init__" and (one.file, one.imported) not in contract.UPWARD:
            reach.setdefault(contract.module_of(one.file), set()).add(one.module)
    every = {module: _reached(module, reach) for module in reach}
    cycles = [{two for two in every[one] if one in every.get(two, ())} for one in every]
    return sorted(max(cycles, key=len, default=set()))


def _reached(start: str, reach: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    todo = [start]
    while todo:
        fresh = reach.get(todo.pop(), set()) - seen
        seen |= fresh
        todo += fresh
    return seen


# --- the table ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """One line: ``most`` is the goal, None where the figure only informs."""

    measure: str
    before: int
    most: int | None
    count: Callable[[Path], int | list[str]]
    #: Why the goal is missed, where it is known to be, with the figures of the tree.
    why: Callable[[Path], str] | None = None


def why_lines(root: Path) -> str:
    return (
        "The goal is missed by far. What is trusted no longer shares code with what searches, and "
        "parts were written a second time: proofs and checking together have "
        f"{lines_in(root, 'proofs', 'checking')} lines. What is claimed of an answer is decided "
        f"apart from who found it (setting/claims, {lines_in(root, 'setting/claims')}), reasons "
        f"are data ({lines_in(root, 'setting/reasons')}), every stored claim is checked again, and "
        "damaged files are refused by name: none of that was there. Missing values, rules of every "
        "kind in every question and tables of every kind came since, in files that were there. "
        f"The median function has {median_function(root)} lines."
    )


def why_files(root: Path) -> str:
    files, called_, _ = traced(root)[1]
    return (
        "The call begins with a fitted model: half of the files read it and the rules, one kind of "
        f"thing a file. A prepared `Explainer` meets {files} for both questions of one row, in "
        f"{called_} functions."
    )


def why_depth(root: Path) -> str:
    return (
        "The deepest frames build a region when its margin is first asked for. A prepared "
        f"`Explainer` is {traced(root)[1][2]} deep: its first frames cut batches, the others pose, "
        "judge and prove."
    )


def why_loops(root: Path) -> str:
    new = [site for site in search_loops(root) if site.startswith(NEW_SINCE)]
    return (
        "Two of them search: the one engine, and boxes of trees, whose NumPy form must do what the "
        "compiled kernel does, step by step, and stop after as many boxes. The others are in "
        "proofs, which replay what a search did, each kind of proof in its own order; a loop in "
        f"common would have to be trusted by all. {len(new)} of them are for what could not be "
        "asked at eb96647."
    )


PLANTED = (
    "A planted bug in a search that yields a false claim: never, as tests/proofs/test_planted.py "
    "shows; at eb96647 it did."
)

FIGURES = (
    Figure("files at the root", 42, 6, root_files),
    Figure("entries of the largest folder", 49, 15, largest_folder),
    Figure("lines in src for what existed at eb96647", 36_720, 32_000, lines, why_lines),
    Figure("one logistic negative: files met", 37, 20, lambda root: negative(root)[0], why_files),
    Figure("one logistic negative: functions", 217, None, lambda root: negative(root)[1]),
    Figure("one logistic negative: call depth", 23, 14, lambda root: negative(root)[2], why_depth),
    Figure("modules that pertinent.check loads", 187, None, checking_modules),
    Figure("... of them from elsewhere than the folders it needs", 150, 0, checking_others),
    Figure("... of them searching, solvers' packages included", 75, 0, checking_solvers),
    Figure("search loops", 13, 4, search_loops, why_loops),
    Figure("LP builders", 6, 1, calls("Highs", "linprog")),
    Figure("cone builders", 3, 1, calls("DefaultSolver")),
    Figure("SCIP builders", 2, 1, calls("Model", of=("scip", "pyscipopt"))),
    Figure("judges", 8, 1, judges),
    Figure("ladders of margins", 4, 1, ladders),
    Figure("isinstance on regions outside geometry", 9, 0, regions_told_apart),
    Figure("files outside geometry that read .cells", 23, 0, reading_cells),
    Figure("imports of another folder's private names", 56, 0, private_imports),
    Figure("largest import cycle, Explainer.serve aside", 16, 0, largest_cycle),
    Figure("files without a place, imports against the order", 45, 0, misplaced),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", action="store_true", help="list what was counted")
    parser.add_argument("--tree", type=Path, default=contract.SOURCES)
    chosen = parser.parse_args()
    missed, reasons = 0, list[str]()
    print(f"{'measure':50} {'at eb96647':>10} {'goal':>8} {'now':>8}  reached?")
    for figure in FIGURES:
        sites = figure.count(chosen.tree)
        now = sites if isinstance(sites, int) else len(sites)
        goal = "-" if figure.most is None else f"<= {figure.most:,}"
        verdict = "-" if figure.most is None else "yes" if now <= figure.most else "no"
        missed += verdict == "no"
        print(f"{figure.measure:50} {figure.before:10,} {goal:>8} {now:8,}  {verdict}")
        if verdict == "no" and figure.why:
            reasons.append(f"{figure.measure}: {figure.why(chosen.tree)}")
        if chosen.sites and not isinstance(sites, int):
            print("".join(f"    {site}\n" for site in sites), end="")
    goals = sum(figure.most is not None for figure in FIGURES)
    print(f"\n{goals - missed} of {goals} goals reached")
    for reason in (*reasons, PLANTED):
        print("\n" + textwrap.fill(reason, 98))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
