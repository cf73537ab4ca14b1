"""Linear relations between features, read from text such as ``"debt <= 0.4 * income"``."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from pertinent.exceptions import InputError, one_line
from pertinent.geometry.arrays import FloatArray
from pertinent.rules.tolerances import SATISFIED

Feature = str | int
_SENSES: dict[type[ast.cmpop], str] = {
    ast.LtE: "<=", ast.GtE: ">=", ast.Eq: "==",
}  # fmt: skip


@dataclass(frozen=True)
class Relation:
    """``sum_i coefficients[i] x_i <= constant`` (or >=, or ==).

    Examples
    --------
    >>> from pertinent.rules.relations import read_relation
    >>> read_relation("debt <= 0.4 * income")[0].coefficients
    {'debt': 1.0, 'income': -0.4}
    """

    coefficients: Mapping[Feature, float]
    sense: str
    constant: float
    text: str

    def __str__(self) -> str:
        return self.text

    def rows(self) -> list[tuple[dict[Feature, float], float]]:
        """Return the relation as inequalities ``sum <= constant``."""
        up = (dict(self.coefficients), self.constant)
        down = ({name: -c for name, c in self.coefficients.items()}, -self.constant)
        return {"<=": [up], ">=": [down], "==": [up, down]}[self.sense]

    def holds(self, values: Mapping[Feature, float]) -> bool:
        """Return whether the relation holds, within rounding."""
        terms = [c * float(values[name]) for name, c in self.coefficients.items()]
        excess = sum(terms) - self.constant
        slack = SATISFIED * (sum(abs(t) for t in terms) + abs(self.constant))
        above, below = excess > slack, excess < -slack
        return not {"<=": above, ">=": below, "==": above or below}[self.sense]


def read_relation(relation: Any) -> list[Relation]:
    """Return the relations that a text or a coefficient mapping states.

    Parameters
    ----------
    relation : str, or tuple of (mapping, number) or (mapping, sense, number)
        A text compares linear expressions of features and numbers, e.g. ``"0 <= debt <= income"``;
        names that are no Python identifiers stand in backticks. A mapping gives the coefficients
        of ``sum <= number``, or of another sense.
    """
    if isinstance(relation, Relation):
        return [relation]
    if isinstance(relation, str):
        return _from_text(relation)
    if isinstance(relation, tuple) and len(relation) in (2, 3) and isinstance(relation[0], Mapping):
        coefficients, sense, constant = (
            relation if len(relation) == 3 else (relation[0], "<=", relation[1])
        )
        if sense not in ("<=", ">=", "=="):
            raise InputError(f"A relation's sense must be '<=', '>=' or '=='. Got {sense!r}.")
        numbers = {name: _finite(c, relation) for name, c in coefficients.items()}
        side = _finite(constant, relation)
        words = " + ".join(f"{c:g} * {name}" for name, c in numbers.items())
        return [_one(numbers, sense, side, f"{words} {sense} {side:g}")]
    raise InputError(
        "A relation is a text such as 'debt <= 0.4 * income', or a tuple of coefficients and a "
        f"number such as ({{'debt': 1, 'income': -0.4}}, 0). Got {relation!r} instead."
    )


def _from_text(text: str) -> list[Relation]:
    names: dict[str, str] = {}

    def stand_in(match: re.Match[str]) -> str:
        key = f"_feature_{len(names)}"
        names[key] = match.group(1)
        return key

    plain = re.sub(r"`([^`]+)`", stand_in, text)
    try:
        tree = ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = getattr(error, "msg", error)
        raise InputError(f"The relation {one_line(text)!r} cannot be read: {why}.") from error
    if not isinstance(tree, ast.Compare):
        raise InputError(f"The relation {text!r} compares nothing: use <=, >= or ==.")
    sides = [_linear(side, text, names) for side in (tree.left, *tree.comparators)]
    found = []
    for operator, left, right in zip(tree.ops, sides, sides[1:], strict=False):
        sense = _SENSES.get(type(operator))
        if sense is None:
            raise InputError(
                f"The relation {text!r} must use <=, >= or ==. A strict inequality has no nearest "
                "point: say how far inside, e.g. 'a <= 2.99'."
            )
        both = _add(left, right, -1.0)
        constant = -both.pop(None, 0.0)
        terms: dict[Feature, float] = {str(n): _finite(c, text) for n, c in both.items()}
        found.append(_one(terms, sense, _finite(constant, text), text))
    return found


def _one(terms: Mapping[Feature, float], sense: str, constant: float, text: str) -> Relation:
    coefficients = {name: c for name, c in terms.items() if c != 0.0}
    if not coefficients:
        raise InputError(f"The relation {text!r} speaks of no feature.")
    return Relation(coefficients, sense, constant, text)


def _finite(value: Any, relation: Any) -> float:
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    raise InputError(f"A relation's numbers must be finite. Got {value!r} in {relation!r}.")


_Terms = dict[str | None, float]


def _add(one: _Terms, other: _Terms, times: float = 1.0) -> _Terms:
    total = dict(one)
    for name, value in other.items():
        total[name] = total.get(name, 0.0) + times * value
    return total


def _linear(node: ast.expr, text: str, names: Mapping[str, str]) -> _Terms:
    """Return an expression as coefficients, the constant under None; nothing is evaluated."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return {None: float(value)}
        case ast.Name(id=name):
            return {names.get(name, name): 1.0}
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _add({}, _linear(inner, text, names), -1.0)
        case ast.UnaryOp(op=ast.UAdd(), operand=inner):
            return _linear(inner, text, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _add(_linear(left, text, names), _linear(right, text, names))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _add(_linear(left, text, names), _linear(right, text, names), -1.0)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            one, other = _linear(left, text, names), _linear(right, text, names)
            if set(one) <= {None}:
                return _add({}, other, one.get(None, 0.0))
            if set(other) <= {None}:
                return _add({}, one, other.get(None, 0.0))
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            divisor = _linear(right, text, names)
            if set(divisor) <= {None} and divisor.get(None):
                return _add({}, _linear(left, text, names), 1.0 / divisor[None])
    raise InputError(
        f"The relation {text!r} is not linear in the features: {ast.unparse(node)!r} is none of "
        "+, -, a number times a feature, or a feature divided by a number."
    )


def relation_rows(
    relations: list[Relation], columns: Mapping[Feature, int], dim: int
) -> tuple[FloatArray, FloatArray]:
    """Return all relations as ``G x <= h``."""
    rows = [row for relation in relations for row in relation.rows()]
    G, h = np.zeros((len(rows), dim)), np.zeros(len(rows))
    for k, (coefficients, constant) in enumerate(rows):
        for name, value in coefficients.items():
            G[k, columns[name]] += value
        h[k] = constant
    return G, h
