"""Find the line of a mutant in the source, and break it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from mutants.catalogue import Mutant


class Lost(LookupError):
    """The text of a mutant is not in its function any more: the catalogue must follow."""


def functions(tree: ast.AST, before: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield every function and method with its name, methods with their class."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield before + node.name, node
            yield from functions(node, before)
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, f"{before}{node.name}.")
        else:
            yield from functions(node, before)


def found(mutant: Mutant, package: Path) -> tuple[Path, str, str]:
    """Return the file, its text, and the text with the mutant in it.

    Parameters
    ----------
    mutant : Mutant
    package : Path
        The folder ``src/pertinent``, of the repository or of a copy.
    """
    file, name = mutant.where.split(":")
    own = package / file
    places = list(_places(own, name, mutant.old)) if own.exists() else []
    # It moved: any function of this name with this text, then any function with this text.
    for called in (name, None):
        if not places:
            files = package.rglob("*.py")
            places = [place for file in files for place in _places(file, called, mutant.old)]
    places = sorted(set(places))  # a function inside of another one is seen twice
    if len(places) != 1:
        raise Lost(f"{mutant.where}: {mutant.old!r} stands {len(places)} times, and not once")
    path, start = places[0]
    text = path.read_text()
    return path, text, text[:start] + mutant.new + text[start + len(mutant.old) :]


def _places(path: Path, name: str | None, old: str) -> Iterator[tuple[Path, int]]:
    """Yield where the text stands in functions of a name (None: of any), as offsets."""
    text = path.read_text()
    if old not in text:
        return
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for called, node in functions(ast.parse(text)):
        if name in (called, None):
            first, last = lines[node.lineno - 1], lines[node.end_lineno or node.lineno]
            at = text.find(old, first, last)
            while at >= 0:
                yield path, at
                at = text.find(old, at + 1, last)


def key(mutant: Mutant, text: str) -> str:
    """Return a name for the mutant in the text of its file: an edited file is tried again."""
    whole = "\0".join([*mutant, text])
    return hashlib.sha256(whole.encode()).hexdigest()[:12]
