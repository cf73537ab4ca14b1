"""Every single check of the trusted base, left out: mutants that are read off the source.

In ``proofs/`` and ``checking/`` a check is a condition that refuses (``if ...: raise``, ``return
False``, a finding that refutes) or one of several conditions that must all hold (``and``, ``&``).
Each of them becomes a mutant without it. A test must notice: a proof or a file that is wrong in
exactly this way, and is accepted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from mutants.apply import functions
from mutants.catalogue import Mutant

FOLDERS = ("proofs", "checking")
#: What a function hands back to say that nothing is shown.
REFUSALS = ("False", "None", "none", "known", "proved", "closed")


def read(package: Path) -> list[Mutant]:
    """Return one mutant for each check, in the order of the files."""
    found: dict[tuple[str, str, str], Mutant] = {}
    for folder in FOLDERS:
        for path in sorted((package / folder).rglob("*.py")):
            text = path.read_text()
            for name, node in functions(ast.parse(text)):
                where = f"{path.relative_to(package)}:{name}"
                for mutant in _of_function(text, where, node):
                    found.setdefault(mutant[:3], mutant)
    return list(found.values())


def _of_function(text: str, where: str, function: ast.FunctionDef) -> Iterator[Mutant]:
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    data = text.encode()

    def span(node: ast.expr) -> tuple[int, int]:
        end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
        return lines[node.lineno - 1] + node.col_offset, lines[end_line - 1] + end

    inside = data[lines[function.lineno - 1] : lines[function.end_lineno or function.lineno]]
    for node, new, words in _checks(function):
        start, end = span(node)
        # The condition alone, or with the rest of its lines where it stands more than once.
        ends = data.find(b"\n", end)
        for first, last in ((start, end), (data.rfind(b"\n", 0, start) + 1, ends)):
            old = data[first:last]
            if inside.count(old) == 1:
                changed = data[first:start] + new.encode() + data[end:last]
                yield Mutant(where, old.decode(), changed.decode(), f"not checked: {words}")
                break


def _checks(function: ast.FunctionDef) -> Iterator[tuple[ast.expr, str, str]]:
    """Yield each condition, what it becomes, and its words."""
    for node in ast.walk(function):
        if isinstance(node, ast.If) and len(node.body) == 1 and _refuses(node.body[0]):
            yield node.test, "False", ast.unparse(node.test)
        elif isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for value in node.values:
                if not _tells_kinds_apart(value):
                    yield value, "True", ast.unparse(value)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
            for value in (node.left, node.right):
                if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.BitAnd):
                    yield value, "True", ast.unparse(value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitAnd):
            yield node.value, "True", ast.unparse(node.value)


def _refuses(body: ast.stmt) -> bool:
    if isinstance(body, ast.Raise):
        return True
    if not isinstance(body, ast.Return) or body.value is None:
        return False
    words = ast.unparse(body.value)
    return words in REFUSALS or "REFUTED" in words or "UNKNOWN" in words


def _tells_kinds_apart(value: ast.expr) -> bool:
    """Return whether a condition only says which code follows: ``x is None``, ``isinstance``."""
    words = ast.unparse(value)
    return " is None" in words or " is not None" in words or words.startswith(("isinstance", "len"))
